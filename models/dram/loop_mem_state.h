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
    int64_t count, latency_sum;
    int32_t last; /* offset; -1: none in this run */
};

/* What a slot needs next. Slots stand in one word by what they need, sixteen banks each: mem_slot(), mem_banks(). */
enum mem_need { MEM_RD, MEM_WR, MEM_ACT, MEM_PRE };

/* The local state: the fields of struct dram_channel of the same names, unless said. No pointer to it leaves this
 * file's inlined functions, so that the compiler may keep it where it likes. */
struct dram_mem {
    struct mem_line in;
    struct mem_out out;
    uint64_t due;  /* slots whose own time has come */
    unsigned scan; /* prio: mem_first() */
    unsigned occupied, active, streak;
    unsigned longer;  /* slots that need more than one column command; only theirs is slot_columns kept */
    unsigned unasked; /* banks that no scan of idle banks asked yet */
    int32_t ccd_ok, rrd_ok, rtw_ok, wtr_ok;
    int64_t slot_sum; /* as if what is in the slots had been filled at offset 0 */
    int64_t empty;    /* cycles with nothing in the slots */
    int64_t columns, activates, precharges;
    int64_t served, hits; /* MEM requests selected */
    unsigned calm;        /* how likely reads of open rows are to come: MEM_CALM */
    int32_t stopped;      /* where the last run of them ended */
};

/* What stays the same in a run. */
struct mem_source {
    const struct dram_request *requests;
    const uint32_t *ids; /* NULL: the position is the id */
    uint32_t count;
    int32_t queue;
    int64_t base;
    uint32_t first; /* id of the first request that enters in this run; UINT32_MAX: none is left */
    bool one;       /* one virtual channel: PIM requests stand in the same line */
    int bank_mask;
    unsigned all_banks;
    bool fates;  /* the channel has some of struct dram_fate */
    bool device; /* and its device has `rules` (models/dram/device.h) */
};

DRAM_INLINE uint64_t mem_slot(enum mem_need need, int bank)
{
    return UINT64_C(1) << (DRAM_NARROW * (int)need + bank);
}

DRAM_INLINE unsigned mem_banks(uint64_t slots, enum mem_need need)
{
    return (uint16_t)(slots >> DRAM_NARROW * (int)need);
}

/* --- the wheel: which slots become ready at which cycle, modulo its size --- */

struct mem_wheel {
    uint64_t slots[DRAM_WHEEL];
};

DRAM_INLINE void wheel_add(struct mem_wheel *w, int32_t at, uint64_t slot)
{
    w->slots[(unsigned)at % DRAM_WHEEL] |= slot;
}

DRAM_INLINE uint64_t wheel_take(struct mem_wheel *w, int32_t t)
{
    uint64_t *entry = &w->slots[(unsigned)t % DRAM_WHEEL];
    const uint64_t slots = *entry;
    *entry = 0;
    return slots;
}

/* The first cycle after t with an entry; `end`, or where the wheel ends, if none comes before. */
DRAM_INLINE int32_t wheel_next(const struct mem_wheel *w, int32_t t, int32_t end)
{
    end = end - t < DRAM_WHEEL ? end : t + DRAM_WHEEL;
    do
        t++;
    while (t < end && !w->slots[(unsigned)t % DRAM_WHEEL]);
    return t;
}

/* A slot may go on from cycle `at` as far as its bank is concerned; t is now. */
DRAM_INLINE void mem_ready(struct dram_mem *m, struct mem_wheel *w, int32_t t, uint64_t slot, int32_t at)
{
    if (at <= t)
        m->due |= slot;
    else
        wheel_add(w, at, slot);
}

/* The same of one that needs ACT, which a refresh puts off for longer than the wheel reaches: it comes early then, see
 * mem_issue_row(). */
DRAM_INLINE void mem_ready_to_act(struct dram_mem *m, struct mem_wheel *w, int32_t t, int bank, int32_t at)
{
    mem_ready(m, w, t, mem_slot(MEM_ACT, bank), at - t < DRAM_WHEEL ? at : t + DRAM_WHEEL - 1);
}

/* --- where scans of banks begin: the banks from there on; none of them is as good as all --- */

DRAM_INLINE unsigned mem_scan_from(int bank)
{
    return ~0u << bank;
}

/* The first of `banks`. */
DRAM_INLINE int mem_first(unsigned banks, unsigned scan)
{
    return __builtin_ctz(banks & scan ? banks & scan : banks);
}

/* The scan begins a bank further on. */
DRAM_INLINE unsigned mem_scan_on(unsigned scan, const struct mem_source *from)
{
    return (scan & from->all_banks ? scan : ~0u) << 1;
}

DRAM_INLINE int32_t mem_scan_bank(unsigned scan, const struct mem_source *from)
{
    return scan & from->all_banks ? __builtin_ctz(scan) : 0;
}

#endif
