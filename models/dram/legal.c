#include "models/dram/legal.h"

#include <string.h>

void dram_legal_init(struct dram_legal *l)
{
    memset(l, 0, sizeof *l);
    for (int i = 0; i < DRAM_BANKS; i++) {
        l->act[i] = l->pre[i] = l->rd[i] = l->wr[i] = l->group_column[i] = l->group_rd[i] = l->refreshed[i] =
            DRAM_LONG_AGO;
        l->row[i] = UINT32_MAX;
    }
    l->all_row = UINT32_MAX;
    l->any_act = l->any_rd = l->any_wr = l->pim = l->any_refreshed = DRAM_LONG_AGO;
}

static void shift(int32_t *cycle, int64_t by)
{
    const int64_t moved = (int64_t)*cycle - by;
    *cycle = moved < DRAM_LONG_AGO ? DRAM_LONG_AGO : (int32_t)moved;
}

void dram_legal_rebase(struct dram_legal *l, int64_t by)
{
    for (int i = 0; i < DRAM_BANKS; i++) {
        shift(&l->act[i], by);
        shift(&l->pre[i], by);
        shift(&l->rd[i], by);
        shift(&l->wr[i], by);
        shift(&l->group_column[i], by);
        shift(&l->group_rd[i], by);
        shift(&l->refreshed[i], by);
    }
    shift(&l->any_act, by);
    shift(&l->any_rd, by);
    shift(&l->any_wr, by);
    shift(&l->pim, by);
    shift(&l->any_refreshed, by);
}

/* All banks together: the same tests as bank by bank, without branches. */
static void all_rows(struct dram_legal *l, const struct dram_timing *tm, int32_t pre, int32_t act, uint32_t row)
{
    int32_t bad = 0;
    for (int b = 0; b < 16; b++) {
        const int32_t wr = dram_legal_max(l->wr[b], l->pim);
        bad |= (l->row[b] == UINT32_MAX) | (pre - l->act[b] < tm->ras) | (pre - l->rd[b] < tm->rtp) |
               (pre - wr < tm->wtp) | (pre - l->group_rd[b] < tm->rtpl) | (act - l->act[b] < tm->rc) |
               (act < l->refreshed[b]);
        l->pre[b] = pre;
        l->act[b] = act;
        l->row[b] = row;
    }
    bad |= (act - pre < tm->rp) | (act - l->any_act < tm->rrd) | (act < l->any_refreshed);
    if (bad)
        dram_legal_blame(l, pre, 0, "PRE and ACT of all banks");
    l->any_act = act;
    l->all_row = UINT32_MAX;
}

void dram_legal_pim_rows(struct dram_legal *l, const struct dram_timing *tm, const uint8_t *group_of,
                         dram_banks precharged, int32_t pre, dram_banks activated, int32_t act, uint32_t row)
{
    if (precharged == 0xffff && activated == 0xffff) {
        all_rows(l, tm, pre, act, row);
        return;
    }
    for (dram_banks m = precharged; m; m &= m - 1) {
        const int b = __builtin_ctzll(m);
        dram_legal_pre(l, tm, pre, b, group_of[b]);
    }
    if (!activated)
        return;
    /* One ACT to many banks arms and obeys tRRD once. */
    const int32_t before = l->any_act;
    for (dram_banks m = activated; m; m &= m - 1) {
        l->any_act = before;
        dram_legal_act(l, tm, act, __builtin_ctzll(m), row);
    }
}

void dram_legal_refresh(struct dram_legal *l, dram_banks banks, int32_t over, int32_t others)
{
    for (; banks; banks &= banks - 1)
        l->refreshed[__builtin_ctzll(banks)] = over;
    l->any_refreshed = others;
}

void dram_legal_close(struct dram_legal *l, dram_banks banks, int32_t t)
{
    for (; banks; banks &= banks - 1) {
        l->pre[__builtin_ctzll(banks)] = t;
        l->row[__builtin_ctzll(banks)] = UINT32_MAX;
    }
    l->all_row = UINT32_MAX;
}
