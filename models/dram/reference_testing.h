/* reference_testing: a channel and its controller written as slowly and plainly as can be, to compare the loop with.
 *
 * Every cycle is looked at. A command is given in the first cycle in which models/dram/command_checker.h finds no row
 * that forbids it; nothing is computed ahead and no counter is kept. Policies: fcfs, mem-first, pim-first, frfcfs;
 * requests enter as in models/dram/dram_policy.h.
 *
 * A cycle, in order: a PIM request whose column command was given leaves the slots; a refresh that is due takes hold of
 * its banks, unless a PIM request is in the slots; mode update; selection of one request; commands: of the PIM request,
 * or one column command and one row command of MEM requests whose banks are not held. Held banks are closed together
 * and refreshed before any other row command of that cycle; then they are let go. A PIM request gives no command
 * meanwhile. Last, one request enters. */
#pragma once

#include <string.h>

#include "models/dram/channel.h"
#include "models/dram/command_checker.h"
#include "models/dram/dram_platform.h"

enum reference_policy { REFERENCE_FCFS, REFERENCE_MEM_FIRST, REFERENCE_PIM_FIRST, REFERENCE_FRFCFS };
static const char *const reference_policies[] = {"fcfs", "mem-first", "pim-first", "frfcfs"};

enum { REFERENCE_QUEUE = 512 };

struct reference {
    struct dram_platform hw;
    enum reference_policy policy;
    const struct dram_request *request;
    struct command_checker watch;
    struct dram_timestamps timestamps; /* by request, -1: never */
    /* Waiting, oldest first; fcfs has one queue, [DRAM_MEM]. */
    uint32_t queue[2][REFERENCE_QUEUE];
    int waiting[2]; /* of the queues */
    int of_class[2];
    enum dram_class mode;
    int prio;
    int64_t slot[DRAM_BANKS]; /* request of a bank; -1: none */
    int columns[DRAM_BANKS];  /* column commands left */
    int64_t pim;              /* request in all slots; -1: none */
    bool pim_gave;            /* its column command */
    uint32_t reg[DRAM_BANKS]; /* row opened last */
    bool streak[DRAM_BANKS];
    uint32_t streak_row[DRAM_BANKS];
    dram_banks held; /* by a refresh */
    int64_t due;
    int refreshed; /* bank refreshed last */
    /* frfcfs */
    dram_banks polled, ready;
    uint32_t pim_row; /* row + 1 */
    /* Counted: */
    int64_t switches[2], hits, activates, precharges, refreshes, out[2];
};

static inline dram_banks reference_all(const struct reference *c)
{
    return DRAM_BANK(c->hw.banks) - 1;
}

static inline void reference_init(struct reference *c, const struct dram_platform *hw, enum reference_policy policy,
                                  const struct dram_request *requests, struct dram_timestamps timestamps)
{
    memset(c, 0, sizeof *c);
    c->hw = *hw;
    c->policy = policy;
    c->request = requests;
    c->timestamps = timestamps;
    command_checker_init(&c->watch, hw);
    c->pim = c->refreshed = -1;
    for (int b = 0; b < DRAM_BANKS; b++) {
        c->slot[b] = -1;
        c->reg[b] = DRAM_NO_ROW;
    }
    c->due = hw->refresh == DRAM_REFRESH_NONE  ? INT64_MAX
             : hw->refresh == DRAM_REFRESH_ALL ? hw->refi
                                               : hw->refi / hw->banks;
}

/* --- queues --- */

static inline bool reference_is_pim(const struct reference *c, int64_t id)
{
    return c->request[id].flags & DRAM_IS_PIM;
}

static inline int reference_queue_of(const struct reference *c, int64_t id)
{
    return c->policy != REFERENCE_FCFS && reference_is_pim(c, id) ? DRAM_PIM : DRAM_MEM;
}

static inline uint32_t reference_take(struct reference *c, int queue, int at)
{
    const uint32_t id = c->queue[queue][at];
    memmove(&c->queue[queue][at], &c->queue[queue][at + 1], sizeof(uint32_t) * (size_t)(c->waiting[queue] - at - 1));
    c->waiting[queue]--;
    c->of_class[reference_is_pim(c, id)]--;
    return id;
}

/* Position of a bank's oldest waiting request, of one row if `row` is not DRAM_NO_ROW; -1: none. */
static inline int reference_find(const struct reference *c, int bank, uint32_t row)
{
    for (int i = 0; i < c->waiting[DRAM_MEM]; i++) {
        const struct dram_request *r = &c->request[c->queue[DRAM_MEM][i]];
        if (r->bank == bank && (row == DRAM_NO_ROW || r->row == row))
            return i;
    }
    return -1;
}

static inline bool reference_next_hits(const struct reference *c, int bank)
{
    return c->streak[bank] || (c->reg[bank] != DRAM_NO_ROW && reference_find(c, bank, c->reg[bank]) >= 0);
}

/* --- mode --- */

/* Whether the bank's oldest is older than the oldest PIM request; ids are in the order of entry for each class only. */
static inline bool reference_older(const struct reference *c, int bank)
{
    const int i = reference_find(c, bank, DRAM_NO_ROW);
    if (i < 0 || !c->waiting[DRAM_PIM])
        return false;
    const uint32_t mem = c->queue[DRAM_MEM][i], pim = c->queue[DRAM_PIM][0];
    return c->timestamps.enter[mem] < c->timestamps.enter[pim];
}

static inline bool reference_frfcfs_switches(struct reference *c)
{
    bool older = false;
    if (c->mode == DRAM_PIM) {
        for (int b = 0; b < c->hw.banks; b++)
            older |= reference_older(c, b);
        return !c->waiting[DRAM_PIM] ||
               (c->pim_row && c->request[c->queue[DRAM_PIM][0]].row + 1 != c->pim_row && older);
    }
    if (!c->waiting[DRAM_MEM])
        return true;
    for (int b = 0; b < c->hw.banks; b++)
        if (reference_find(c, b, DRAM_NO_ROW) < 0 ||
            (c->polled >> b & 1 && !reference_next_hits(c, b) && !reference_older(c, b)))
            c->ready |= DRAM_BANK(b);
    return c->ready == reference_all(c);
}

static inline bool reference_switches(struct reference *c)
{
    const bool mem = c->waiting[DRAM_MEM], pim = c->waiting[DRAM_PIM];
    switch (c->policy) {
    case REFERENCE_FCFS:
        return mem && reference_is_pim(c, c->queue[DRAM_MEM][0]) != (c->mode == DRAM_PIM);
    case REFERENCE_MEM_FIRST:
        return c->mode == DRAM_PIM ? mem : !mem && pim;
    case REFERENCE_PIM_FIRST:
        return c->mode == DRAM_PIM ? !pim && mem : pim;
    default:
        return (c->mode == DRAM_PIM ? mem : pim) && reference_frfcfs_switches(c);
    }
}

static inline void reference_mode(struct reference *c)
{
    if (!reference_switches(c))
        return;
    if (c->mode == DRAM_MEM)
        memset(c->streak, 0, sizeof c->streak);
    c->mode = c->mode == DRAM_MEM ? DRAM_PIM : DRAM_MEM;
    c->switches[c->mode]++;
    c->polled = c->ready = c->pim_row = 0;
}

/* --- selection --- */

static inline bool reference_slots_empty(const struct reference *c)
{
    for (int b = 0; b < c->hw.banks; b++)
        if (c->slot[b] >= 0)
            return false;
    return c->pim < 0;
}

static inline void reference_fill(struct reference *c, int bank, uint32_t id, bool hit, int64_t t)
{
    c->slot[bank] = id;
    c->columns[bank] = c->request[id].flags & DRAM_COLUMNS;
    c->hits += hit;
    c->timestamps.sched[id] = t;
}

static inline void reference_start_pim(struct reference *c, uint32_t id, int64_t t)
{
    c->pim = id;
    c->pim_gave = false;
    c->pim_row = c->request[id].row + 1;
    c->timestamps.sched[id] = t;
}

static inline void reference_select_mem(struct reference *c, int64_t t)
{
    for (int k = 0; k < c->hw.banks && c->pim < 0; k++) {
        const int b = (c->prio + k) % (int)c->hw.banks;
        if (c->slot[b] >= 0)
            continue;
        c->polled |= DRAM_BANK(b);
        if (c->ready >> b & 1 && c->policy == REFERENCE_FRFCFS)
            continue;
        int at = c->streak[b] ? reference_find(c, b, c->streak_row[b]) : -1;
        if (at < 0 && c->reg[b] != DRAM_NO_ROW)
            at = reference_find(c, b, c->reg[b]);
        const bool hit = at >= 0;
        if (!hit)
            at = reference_find(c, b, DRAM_NO_ROW);
        if (at < 0)
            continue;
        const uint32_t id = reference_take(c, DRAM_MEM, at);
        c->streak_row[b] = c->request[id].row;
        c->streak[b] = reference_find(c, b, c->streak_row[b]) >= 0;
        reference_fill(c, b, id, hit, t);
        c->prio = (c->prio + 1) % (int)c->hw.banks;
        return;
    }
}

static inline void reference_select(struct reference *c, int64_t t)
{
    if (c->policy == REFERENCE_FCFS) {
        if (!c->waiting[DRAM_MEM])
            return;
        const uint32_t id = c->queue[DRAM_MEM][0];
        const int b = c->request[id].bank;
        if (reference_is_pim(c, id) ? !reference_slots_empty(c) : c->pim >= 0 || c->slot[b] >= 0)
            return;
        reference_take(c, DRAM_MEM, 0);
        if (reference_is_pim(c, id))
            reference_start_pim(c, id, t);
        else
            reference_fill(c, b, id, c->reg[b] == c->request[id].row, t);
    } else if (c->mode == DRAM_MEM) {
        reference_select_mem(c, t);
    } else if (c->waiting[DRAM_PIM] && reference_slots_empty(c)) {
        reference_start_pim(c, reference_take(c, DRAM_PIM, 0), t);
    }
}

/* --- commands --- */

static inline bool reference_give(struct reference *c, enum dram_command command, dram_banks banks, uint32_t row,
                                  int64_t t)
{
    if (command_checker_forbids(&c->watch, command, banks, t))
        return false;
    command_checker_command(&c->watch, command, banks, row, t);
    c->activates += command == DRAM_ACT;
    c->precharges += command == DRAM_PRE;
    for (int b = 0; b < c->hw.banks; b++)
        if (command == DRAM_ACT && banks >> b & 1)
            c->reg[b] = row;
    return true;
}

static inline dram_banks reference_open(const struct reference *c)
{
    dram_banks open = 0;
    for (int b = 0; b < c->hw.banks; b++)
        open |= (dram_banks)(c->watch.row[b] != UINT32_MAX) << b;
    return open;
}

/* One step of the refresh; whether a command was given. */
static inline bool reference_refresh(struct reference *c, int64_t t)
{
    const dram_banks open = reference_open(c) & c->held;
    if (open)
        return reference_give(c, DRAM_PRE, open, 0, t);
    if (!c->held || !reference_give(c, c->hw.refresh == DRAM_REFRESH_ALL ? DRAM_REF : DRAM_REFB, c->held, 0, t))
        return false;
    c->held = 0;
    c->refreshes++;
    return true;
}

static inline void reference_done(struct reference *c, int64_t id, int64_t t)
{
    const bool read = !(c->request[id].flags & DRAM_IS_WRITE);
    c->timestamps.column[id] = t;
    c->timestamps.done[id] = t + (read ? c->hw.cl : c->hw.wl);
    c->out[reference_is_pim(c, id)]++;
}

static inline void reference_issue_pim(struct reference *c, int64_t t)
{
    const dram_banks all = reference_all(c), open = reference_open(c);
    const uint32_t row = c->request[c->pim].row;
    dram_banks other = 0;
    for (int b = 0; b < c->hw.banks; b++)
        other |= (dram_banks)(open >> b & 1 && c->watch.row[b] != row) << b;
    if (c->held) {
        reference_refresh(c, t);
    } else if (other) {
        if (reference_give(c, DRAM_PRE, other, 0, t))
            c->prio = 0;
    } else if (open != all) {
        if (reference_give(c, DRAM_ACT, all & ~open, row, t))
            c->prio = 0;
    } else if (reference_give(c, DRAM_WR, all, row, t)) {
        reference_done(c, c->pim, t);
        c->pim_gave = true;
    }
}

static inline bool reference_column(struct reference *c, int b, int64_t t)
{
    const struct dram_request *r = &c->request[c->slot[b]];
    if (c->watch.row[b] != r->row ||
        !reference_give(c, r->flags & DRAM_IS_WRITE ? DRAM_WR : DRAM_RD, DRAM_BANK(b), r->row, t))
        return false;
    if (--c->columns[b] == 0) {
        reference_done(c, c->slot[b], t);
        c->slot[b] = -1;
    }
    return true;
}

static inline bool reference_row(struct reference *c, int b, int64_t t)
{
    const uint32_t row = c->request[c->slot[b]].row;
    const bool open = c->watch.row[b] != UINT32_MAX;
    if ((open && c->watch.row[b] == row) || !reference_give(c, open ? DRAM_PRE : DRAM_ACT, DRAM_BANK(b), row, t))
        return false;
    c->prio = (b + 1) % (int)c->hw.banks;
    return true;
}

static inline void reference_issue_mem(struct reference *c, int64_t t)
{
    const int prio = c->prio, banks = (int)c->hw.banks;
    bool gave = false;
    for (int k = 0; k < banks && !gave; k++) {
        const int b = (prio + k) % banks;
        gave = c->slot[b] >= 0 && !(c->held >> b & 1) && reference_column(c, b, t);
    }
    gave = reference_refresh(c, t);
    for (int k = 0; k < banks && !gave; k++) {
        const int b = (prio + k) % banks;
        gave = c->slot[b] >= 0 && !(c->held >> b & 1) && reference_row(c, b, t);
    }
}

/* --- the cycle --- */

static inline void reference_cycle(struct reference *c, int64_t t)
{
    if (c->pim >= 0 && c->pim_gave)
        c->pim = -1;
    if (t >= c->due && c->pim < 0 && !c->held) {
        c->refreshed = (c->refreshed + 1) % (int)c->hw.banks;
        c->held = c->hw.refresh == DRAM_REFRESH_ALL ? reference_all(c) : DRAM_BANK(c->refreshed);
        c->due += c->hw.refresh == DRAM_REFRESH_ALL ? c->hw.refi : c->hw.refi / c->hw.banks;
    }
    reference_mode(c);
    reference_select(c, t);
    if (c->pim >= 0)
        reference_issue_pim(c, t);
    else
        reference_issue_mem(c, t);
}

/* Room for one more of a class, and its entry at the end of cycle t. */
static inline bool reference_room(const struct reference *c, uint32_t id)
{
    int at_bank[DRAM_BANKS] = {0}, most = 0;
    for (int i = 0; c->policy != REFERENCE_FCFS && i < c->waiting[DRAM_MEM]; i++) {
        const int n = ++at_bank[c->request[c->queue[DRAM_MEM][i]].bank];
        most = n > most ? n : most;
    }
    return c->of_class[reference_is_pim(c, id)] < c->hw.queue && (most < 64 || reference_is_pim(c, id));
}

static inline void reference_enter(struct reference *c, uint32_t id, int64_t t)
{
    const int q = reference_queue_of(c, id);
    c->queue[q][c->waiting[q]++] = id;
    c->of_class[reference_is_pim(c, id)]++;
    c->timestamps.enter[id] = t;
}

/* The first request from position i on that goes through virtual channel v. */
static inline uint32_t reference_next(const struct reference *c, uint32_t i, uint32_t n, int vcs, int v)
{
    while (i < n && vcs == 2 && v != reference_is_pim(c, i))
        i++;
    return i;
}

/* n requests, in their order (vcs 1) or the classes in turn (vcs 2), for `limit` cycles at most. */
static inline void reference_run(struct reference *c, uint32_t n, int vcs, int64_t limit)
{
    uint32_t head[2] = {reference_next(c, 0, n, vcs, 0), reference_next(c, 0, n, vcs, 1)};
    int turn = 0;
    for (int64_t t = 0; t < limit && c->out[0] + c->out[1] < (int64_t)n; t++) {
        reference_cycle(c, t);
        for (int k = 0; k < vcs; k++) {
            const int v = vcs == 1 ? 0 : k == 0 ? !turn : turn;
            if (head[v] == n || c->request[head[v]].arrival > t || !reference_room(c, head[v]))
                continue;
            reference_enter(c, head[v], t);
            head[v] = reference_next(c, head[v] + 1, n, vcs, v);
            turn = v;
            break;
        }
    }
}
