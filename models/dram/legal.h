/* legal: an independent watch over the commands of a channel, on in every run.
 *
 * It keeps the cycles of the commands given, not the earliest legal ones that the channel computes, and compares each
 * command with every rule of models/dram/timing.h that ends in it, and with the state of the bank. The first command
 * that is too early, or meets the wrong row, is kept; dram_channel_check() makes it an error. */
#ifndef MODELS_DRAM_LEGAL_H
#define MODELS_DRAM_LEGAL_H

#include <stdbool.h>
#include <stdint.h>

#include "models/dram/timing.h"

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

static inline int32_t dram_legal_max(int32_t a, int32_t b)
{
    return a > b ? a : b;
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

/* A run of reads, with no write, no PIM command and no ACT in between, may begin at t, as far as writes are concerned:
 * then dram_legal_rd_again() is enough for each of them. */
static inline bool dram_legal_reads_begin(const struct dram_legal *l, const struct dram_timing *tm, int32_t t)
{
    return ((t - l->any_wr - tm->wtr) | (t - l->pim - tm->ccdl) | (t - l->pim - tm->wtr)) >= 0;
}

static inline void dram_legal_rd_again(struct dram_legal *l, const struct dram_timing *tm, int32_t t, int b, int group,
                                       uint32_t row)
{
    const int32_t slack =
        (t - l->act[b] - tm->rcd) | (t - l->any_rd - tm->ccd) | (t - l->group_column[group] - tm->ccdl);
    if (__builtin_expect((l->row[b] != row) | (slack < 0), 0))
        dram_legal_blame(l, t, b, "RD");
    l->rd[b] = l->any_rd = l->group_rd[group] = l->group_column[group] = t;
}

/* A run of such reads, one a cycle, `apart` cycles at least between two of a group, the first of all at t: as good as
 * each of them, with dram_legal_run_bank() of each bank. */
static inline void dram_legal_run(struct dram_legal *l, const struct dram_timing *tm, int32_t t, int b, int group,
                                  int apart)
{
    const int32_t slack =
        (t - l->any_rd - tm->ccd) | (t - l->group_column[group] - tm->ccdl) | (1 - tm->ccd) | (apart - tm->ccdl);
    if (__builtin_expect(slack < 0, 0))
        dram_legal_blame(l, t, b, "RD");
}

/* The bank's reads in it: the first, the last, their row; `differs`: bits in which one's row is another. */
static inline void dram_legal_run_bank(struct dram_legal *l, const struct dram_timing *tm, int32_t first, int32_t last,
                                       int b, int group, uint32_t row, uint32_t differs)
{
    if (__builtin_expect((l->row[b] != row) | (differs != 0) | (first - l->act[b] - tm->rcd < 0), 0))
        dram_legal_blame(l, first, b, "RD");
    l->rd[b] = last;
    l->any_rd = dram_legal_max(l->any_rd, last);
    l->group_rd[group] = dram_legal_max(l->group_rd[group], last);
    l->group_column[group] = dram_legal_max(l->group_column[group], last);
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
 * legal is checked by models/dram/command_checker.h. */
void dram_legal_close(struct dram_legal *l, dram_banks banks, int32_t t);
void dram_legal_refresh(struct dram_legal *l, dram_banks banks, int32_t over, int32_t others);

/* The column command to all banks. */
static inline void dram_legal_pim(struct dram_legal *l, const struct dram_timing *tm, int32_t t, uint32_t row)
{
    const int32_t wr = dram_legal_max(l->any_wr, l->pim), column = dram_legal_max(wr, l->any_rd);
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

#endif
