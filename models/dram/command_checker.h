/* command_checker: checks a command trace without any controller, by the rules of models/dram/timing.h, when each
 * command was given, and which row each bank has open.
 *
 * A command goes to a mask of banks: one, or all that a PIM request or a refresh works on, which count once in a
 * channel's rules. It is illegal if a rule is not yet fulfilled or a bank's state does not fit: ACT and refresh need it
 * closed, PRE open, RD and WR their row. The first illegal command is kept.
 *
 * Call order: command_checker_init(), then command_checker_command() in order of time. Holds no resources. */
#pragma once

#include "models/dram/timing.h"

enum { DRAM_WATCH_TIMES = 3 * DRAM_COMMANDS * DRAM_BANKS };

/* Position in command_checker.at of a command to a bank, a group (i is its number) or the channel (i is 0). */
static inline size_t command_checker_at(enum dram_scope scope, enum dram_command command, int i)
{
    return (size_t)(((int)scope * DRAM_COMMANDS + (int)command) * DRAM_BANKS + i);
}

/* A row as a command to one bank looks it up: at[base + (bank & of_bank) + (group & of_group)] + cycles. */
struct command_checker_row {
    uint16_t base;
    uint8_t of_bank, of_group;
    int32_t cycles;
};

struct command_checker {
    struct dram_rule rule[DRAM_RULES_MAX]; /* by `after` */
    uint8_t first[DRAM_COMMANDS + 1];      /* position of a command's first row */
    /* The same for one bank: of rows that differ in nothing but their cycles the longest; without that of four ACT. */
    struct command_checker_row row_of_one[DRAM_RULES_MAX];
    uint8_t first_of_one[DRAM_COMMANDS + 1];
    int64_t faw;  /* that of four ACT; 0: none */
    int32_t ccdr; /* that of reads in another stack identifier; 0: none */
    uint8_t group_of[DRAM_BANKS], stack_of[DRAM_BANKS];
    /* When each command was given last, by command_checker_at(); of the last four ACT, by number modulo four. */
    int64_t at[DRAM_WATCH_TIMES];
    int64_t fourth[4];
    int64_t read[DRAM_STACKS]; /* the last of each stack identifier; with ccdr */
    uint32_t row[DRAM_BANKS];  /* open; UINT32_MAX: closed */
    int64_t count[DRAM_COMMANDS];
    /* The first illegal command; bad NULL: none. */
    const char *bad; /* "tRCD", or what the bank's state should have been */
    int64_t bad_cycle;
    enum dram_command bad_command;
    int bad_bank;
};

void command_checker_init(struct command_checker *watch, const struct dram_platform *platform);

/* The row that forbids the command at cycle t, NULL if none does. States of banks are not looked at. */
const struct dram_rule *command_checker_forbids(const struct command_checker *watch, enum dram_command command,
                                                dram_banks banks, int64_t t);

/* Keep what is wrong with a command, if anything is and it is the first. */
void command_checker_blame(struct command_checker *watch, enum dram_command command, dram_banks banks, uint32_t row,
                           int64_t t);

/* Check a command at cycle t and take note of it. `row` is looked at for ACT, RD and WR. */
void command_checker_command(struct command_checker *watch, enum dram_command command, dram_banks banks, uint32_t row,
                             int64_t t);

/* The last read in a stack identifier that is not this bank's. */
static inline int64_t command_checker_elsewhere(const struct command_checker *w, int bank)
{
    int64_t latest = INT64_MIN / 2;
    for (int i = 0; i < DRAM_STACKS; i++)
        latest = i != w->stack_of[bank] && w->read[i] > latest ? w->read[i] : latest;
    return latest;
}

/* The same of a command to one bank, of whose group the number is known: fast. */
static inline __attribute__((always_inline)) void
command_checker_one(struct command_checker *w, enum dram_command command, int bank, int group, uint32_t row, int64_t t)
{
    int64_t slack = 0; /* negative if a row has cycles left to run */
    for (int i = w->first_of_one[command]; i < w->first_of_one[command + 1]; i++) {
        const struct command_checker_row *r = &w->row_of_one[i];
        slack |= t - w->at[r->base + (bank & r->of_bank) + (group & r->of_group)] - r->cycles;
    }
    if (command == DRAM_RD && w->ccdr) {
        slack |= t - command_checker_elsewhere(w, bank) - w->ccdr;
        w->read[w->stack_of[bank]] = t;
    }
    const uint32_t open = w->row[bank];
    bool fits = open == row;
    if (command == DRAM_ACT) {
        slack |= t - w->fourth[w->count[DRAM_ACT] & 3] - w->faw;
        fits = open == UINT32_MAX;
    } else if (command == DRAM_PRE) {
        fits = open != UINT32_MAX;
    }
    if (__builtin_expect(slack < 0 || !fits, 0))
        command_checker_blame(w, command, UINT64_C(1) << bank, row, t);
    if (command == DRAM_ACT)
        w->fourth[w->count[DRAM_ACT] & 3] = t;
    if (command == DRAM_ACT || command == DRAM_PRE)
        w->row[bank] = command == DRAM_ACT ? row : UINT32_MAX;
    w->count[command]++;
    w->at[command_checker_at(DRAM_SAME_BANK, command, bank)] = t;
    w->at[command_checker_at(DRAM_SAME_GROUP, command, group)] = t;
    w->at[command_checker_at(DRAM_SAME_CHANNEL, command, 0)] = t;
}

/* -1 with *err set if an illegal command was seen. */
int command_checker_check(const struct command_checker *watch, struct err *err);

/* dram_legal: an independent watch over the commands of a channel, on in every run.
 *
 * It keeps the cycles of the commands given, not the earliest legal ones that the channel computes, and compares each
 * command with every rule of models/dram/timing.h that ends in it, and with the state of the bank. The first command
 * that is too early, or meets the wrong row, is kept; dram_channel_check() makes it an error. */

/* "Long ago", far enough that no rule applies, near enough that differences do not overflow. */
#define DRAM_LONG_AGO (-(1 << 28))

struct dram_legal {
    _Alignas(64) int32_t act[DRAM_BANKS]; /* cycle of the last command of each kind, by bank */
    _Alignas(64) int32_t pre[DRAM_BANKS];
    _Alignas(64) int32_t rd[DRAM_BANKS];
    _Alignas(64) int32_t wr[DRAM_BANKS];
    _Alignas(64) uint32_t row[DRAM_BANKS]; /* open row; UINT32_MAX: precharged */
    int32_t group_column[DRAM_BANKS], group_rd[DRAM_BANKS];
    int32_t any_act, any_rd, any_wr, pim;
    int32_t refreshed[DRAM_BANKS], any_refreshed; /* from which cycle on a refresh allows ACT */
    uint32_t
        all_row; /* that the last PIM column command found open in every bank, until a row command; UINT32_MAX: none */
    int32_t bad_cycle; /* offset of the first illegal command */
    int32_t bad_bank;
    const char *bad; /* what is wrong with it, NULL: nothing */
};

void dram_legal_init(struct dram_legal *legal);
void dram_legal_rebase(struct dram_legal *legal, int64_t by);

static inline void dram_legal_blame(struct dram_legal *l, int32_t t, int bank, const char *what)
{
    if (!l->bad) {
        l->bad = what;
        l->bad_cycle = t;
        l->bad_bank = bank;
    }
}

/* In each of these, `slack` is negative if a rule has cycles left to run: any of the differences is. */
static inline void dram_legal_act(struct dram_legal *l, const struct dram_timing *tm, int32_t t, int b, uint32_t row)
{
    const int32_t slack = (t - l->pre[b] - tm->rp) | (t - l->act[b] - tm->rc) | (t - l->any_act - tm->rrd) |
                          (t - l->refreshed[b]) | (t - l->any_refreshed);
    if (__builtin_expect((l->row[b] != UINT32_MAX) | (slack < 0), 0))
        dram_legal_blame(l, t, b, "ACT");
    l->all_row = UINT32_MAX;
    l->act[b] = l->any_act = t;
    l->row[b] = row;
}

static inline void dram_legal_pre(struct dram_legal *l, const struct dram_timing *tm, int32_t t, int b, int group)
{
    const int32_t slack = (t - l->act[b] - tm->ras) | (t - l->rd[b] - tm->rtp) | (t - l->wr[b] - tm->wtp) |
                          (t - l->pim - tm->wtp) | (t - l->group_rd[group] - tm->rtpl);
    if (__builtin_expect((l->row[b] == UINT32_MAX) | (slack < 0), 0))
        dram_legal_blame(l, t, b, "PRE");
    l->all_row = UINT32_MAX;
    l->pre[b] = t;
    l->row[b] = UINT32_MAX;
}

static inline void dram_legal_rd(struct dram_legal *l, const struct dram_timing *tm, int32_t t, int b, int group,
                                 uint32_t row)
{
    const int32_t slack = (t - l->act[b] - tm->rcd) | (t - l->any_rd - tm->ccd) |
                          (t - l->group_column[group] - tm->ccdl) | (t - l->pim - tm->ccdl) |
                          (t - l->any_wr - tm->wtr) | (t - l->pim - tm->wtr);
    if (__builtin_expect((l->row[b] != row) | (slack < 0), 0))
        dram_legal_blame(l, t, b, "RD");
    l->rd[b] = l->any_rd = l->group_rd[group] = l->group_column[group] = t;
}

static inline void dram_legal_wr(struct dram_legal *l, const struct dram_timing *tm, int32_t t, int b, int group,
                                 uint32_t row)
{
    const int32_t slack = (t - l->act[b] - tm->rcdwr) | (t - l->any_wr - tm->ccd) | (t - l->pim - tm->ccd) |
                          (t - l->group_column[group] - tm->ccdl) | (t - l->pim - tm->ccdl) | (t - l->any_rd - tm->rtw);
    if (__builtin_expect((l->row[b] != row) | (slack < 0), 0))
        dram_legal_blame(l, t, b, "WR");
    l->wr[b] = l->any_wr = l->group_column[group] = t;
}

/* A PIM request's commands to many banks: PRE of `precharged` at `pre`, ACT of `activated` at `act` (masks may be 0),
 * column at `t`. Out of line: once per row change. */
void dram_legal_pim_rows(struct dram_legal *l, const struct dram_timing *tm, const uint8_t *group_of,
                         dram_banks precharged, int32_t pre, dram_banks activated, int32_t act, uint32_t row);

/* A refresh closes banks at t; it allows them ACT from `over` on, other banks from `others`. That its own commands are
 * legal is checked by struct command_checker. */
void dram_legal_close(struct dram_legal *l, dram_banks banks, int32_t t);
void dram_legal_refresh(struct dram_legal *l, dram_banks banks, int32_t over, int32_t others);

/* The column command to all banks. */
static inline void dram_legal_pim(struct dram_legal *l, const struct dram_timing *tm, int32_t t, uint32_t row)
{
    const int32_t wr = dram_later(l->any_wr, l->pim), column = dram_later(wr, l->any_rd);
    uint32_t differs = 0;
    if (l->all_row != row)
        for (int b = 0; b < 16; b++)
            differs |= l->row[b] ^ row;
    if (__builtin_expect((differs != 0) | (t - l->any_act < tm->rcdwr) | (t - wr < tm->ccd) | (t - column < tm->ccdl) |
                             (t - l->any_rd < tm->rtw),
                         0))
        dram_legal_blame(l, t, 0, "PIM");
    l->all_row = row;
    l->pim = t;
}
