/* watch: a checker of command traces that knows nothing of a controller: the rows of models/dram/timing.h, when each
 * command was given, and which row is open in each bank.
 *
 * A command goes to the banks of a mask: one bank, or all that a PIM request or a refresh works on, which count once in
 * a channel's rules. It is illegal if a row that ends in it is not yet over, or if a bank's state does not fit: ACT and
 * refresh find it closed, PRE finds it open, RD and WR find their row. The first illegal one is kept.
 *
 * Call order: command_checker_init(), then command_checker_command() in the order of time. Holds no resources. */
#ifndef MODELS_DRAM_COMMAND_CHECKER_H
#define MODELS_DRAM_COMMAND_CHECKER_H

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
    /* When each command was given last, by command_checker_at(); fourth[] of the last four ACT, by number modulo four.
     */
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

#endif
