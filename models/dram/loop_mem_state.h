/* loop_mem_state: what models/dram/loop_mem.c keeps while it runs; the wheel of ready slots. Its parts are
 * loop_mem_queue.h (entering, selection), loop_mem_issue.h (commands), loop_mem_stream.h (runs of reads of open rows),
 * loop_mem_steady.h (the steady cycles of them) and loop_mem_single.h (a request alone).
 */
#ifndef MODELS_DRAM_LOOP_MEM_STATE_H
#define MODELS_DRAM_LOOP_MEM_STATE_H

#include "models/dram/feed.h"
#include "models/dram/loop_device.h"

/* Keeps the compiler from computing an address anew for each use of it: measured, a tenth of the time. */
#define ONCE(pointer) __asm__("" : "+r"(pointer))

/* Requests that come, and how many wait: the fields of struct dram_channel of the same names, unless said. */
struct mem_line {
    uint32_t head;   /* position of the next MEM request, as in struct dram_feed_heads */
    uint32_t id;     /* of it */
    int64_t arrival; /* of it, an offset; INT64_MAX: there is none for this run */
    int64_t columns_in;
    int32_t stop; /* the cycle not to be visited here */
    int32_t waiting;
    unsigned pending;
};

/* Requests that are done. */
struct mem_out {
    int64_t count, latency_sum, latency_largest;
    int32_t last; /* offset; -1: none in this run */
};

/* The local state: the fields of struct dram_channel of the same names, unless said. No pointer to it leaves this
 * file's inlined functions, so that the compiler may keep it where it likes. */
struct dram_mem {
    struct mem_line in;
    struct mem_out out;
    int32_t prio;
    unsigned occupied, active, due, streak;
    unsigned want_rd, want_wr, want_act, want_pre;
    unsigned writes; /* slots that hold a write */
    unsigned longer; /* slots that need more than one column command */
    unsigned asked;  /* banks that a scan of idle banks asked */
    int32_t ccd_ok, rrd_ok, rtw_ok, wtr_ok;
    int64_t slot_sum, slot_cycles; /* as if what is in the slots had been filled at offset 0 */
    int64_t columns, activates, precharges, visits;
    int64_t served[4]; /* MEM requests selected: + 1 for a hit, + 2 for a write */
    int calm;          /* how likely reads of open rows are to come: MEM_CALM */
    int32_t stopped;   /* where the last run of them ended */
};

/* What stays the same in a run. */
struct mem_source {
    const struct dram_request *requests;
    const uint32_t *ids; /* NULL: the position is the id */
    uint32_t count;
    int32_t queue;
    int64_t base;
    int64_t *buckets; /* of the latency */
    uint32_t first;   /* id of the first request that enters in this run; UINT32_MAX: none is left */
    bool one;         /* one virtual channel: PIM requests stand in the same line */
    int bank_mask;
    bool fates;  /* the channel has some of struct dram_fate */
    bool device; /* and its device has `rules` (models/dram/device.h) */
};

/* --- the wheel: which slots become ready at which cycle, modulo its size --- */

struct mem_wheel {
    uint64_t ahead[DRAM_WHEEL / 64]; /* entries that hold banks */
    uint16_t banks[DRAM_WHEEL];
};

DRAM_INLINE void wheel_add(struct mem_wheel *w, int32_t at, unsigned bank_bit)
{
    const unsigned i = (unsigned)at % DRAM_WHEEL;
    w->banks[i] |= (uint16_t)bank_bit;
    w->ahead[i / 64] |= UINT64_C(1) << i % 64;
}

DRAM_INLINE unsigned wheel_take(struct mem_wheel *w, int32_t t)
{
    const unsigned i = (unsigned)t % DRAM_WHEEL, banks = w->banks[i];
    w->banks[i] = 0;
    w->ahead[i / 64] &= ~(UINT64_C(1) << i % 64);
    return banks;
}

/* The next cycle after t with an entry; INT32_MAX: none. */
DRAM_INLINE int32_t wheel_next(const struct mem_wheel *w, int32_t t)
{
    const unsigned from = (unsigned)(t + 1) % DRAM_WHEEL;
    const uint64_t first = w->ahead[from / 64] >> from % 64;
    if (first)
        return t + 1 + __builtin_ctzll(first);
    for (unsigned k = 1; k <= DRAM_WHEEL / 64; k++) {
        const uint64_t word = w->ahead[(from / 64 + k) % (DRAM_WHEEL / 64)];
        if (word)
            return t + 1 - (int32_t)(from % 64) + (int32_t)(64 * k) + __builtin_ctzll(word);
    }
    return INT32_MAX;
}

/* A slot may go on from cycle `at` as far as its bank is concerned; t is now. */
DRAM_INLINE void mem_ready(struct dram_mem *m, struct mem_wheel *w, int32_t t, unsigned bit, int32_t at)
{
    if (at <= t) {
        m->due |= bit;
        return;
    }
    m->due &= ~bit;
    wheel_add(w, at, bit);
}

/* The first of `banks` from `prio` on. */
DRAM_INLINE int mem_first(unsigned banks, int prio)
{
    return (prio + __builtin_ctz((banks | banks << 16) >> prio)) & 15;
}

#endif
