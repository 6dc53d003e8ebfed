/* counter: the block that the GPU's access counters speak of least; what goes stays mapped, and comes back by them.
 *
 * Rule. Fewest notifications in the last `window` batches; equal ones: least recently serviced. What is evicted stays
 * mapped by the GPU, for reading over the link, and comes back after `threshold` accesses to its 2 MiB (a notification:
 * the 64 KiB regions that were asked for, and what the prefetcher adds), or at once when it is written. With t > 0 the
 * threshold follows the memory: 1 + t x occupancy while it suffices, t x p x (round trips + 1) from the first eviction
 * on, a block's round trips being its evictions.
 * Example. t=10: at half occupancy 6 accesses; oversubscribed with p=2, a block that has left three times needs 80.
 * Source: Ganguly, Zhang, Yang, Melhem: Adaptive page migration for irregular data-intensive applications under GPU
 * memory oversubscription, IPDPS 2020; gpgpu-sim_UVMSmart, commit bafab5d; counters and their threshold of 256: driver
 * 525 to 595, uvm_gpu_access_counters.c; remote mapping on eviction: its uvm_perf_map_remote_on_eviction.
 * Differs: there every page starts remote and counters are per 64 KiB; the driver sends a notification for migration on
 * x86 only when told to, as this policy does. */
#include <stdlib.h>

#include "models/uvm/uvm_evict.h"
#include "models/uvm/uvm_evict_index.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"

struct notice {
    uint32_t batch, block;
};

struct uvm_evict_counter_state {
    int64_t capacity, window, threshold, t, p;
    uint32_t *recent; /* notifications in the window, by block; NULL: there was none yet */
    struct notice *queue;
    size_t first, count, cap;
};

static const struct param params[] = {
    PARAM_INT_ROW(uvm_evict_counter_state, window, "batches", 1, 1e6, 100,
                  "notifications older than this are forgotten"),
    PARAM_INT_ROW(uvm_evict_counter_state, threshold, "", 1, 65535, 256,
                  "accesses that bring a block back (uvm_perf_access_counter_threshold)"),
    PARAM_INT_ROW(uvm_evict_counter_state, t, "", 0, 1e6, 0,
                  "0: by `threshold`; else the threshold follows the memory"),
    PARAM_INT_ROW(uvm_evict_counter_state, p, "", 1, 1e6, 2, "how hard round trips count, with t"),
    UVM_EVICT_CAPACITY_ROW(uvm_evict_counter_state, UVM_EVICT_CHUNK),
    {0}};

/* How many remote accesses bring a block back, by the paper. occupancy: share of the memory in use, 0 to 1. */
static double uvm_evict_counter_threshold(int64_t t, int64_t p, double occupancy, bool oversubscribed,
                                          uint32_t round_trips)
{
    return oversubscribed ? (double)t * (double)p * (round_trips + 1.0) : 1 + (double)t * occupancy;
}

static void forget(struct uvm_evict_counter_state *s, const struct uvm_evict_view *view)
{
    while (s->count && view->batch - s->queue[s->first].batch >= s->window) {
        s->recent[s->queue[s->first].block]--;
        uvm_evict_index_note(view, s->queue[s->first].block, false);
        s->first++;
        s->count--;
    }
}

static int on_access_counter(void *state, const struct uvm_evict_view *view, uint32_t block, uint32_t regions,
                             struct err *err)
{
    struct uvm_evict_counter_state *s = state;
    (void)regions;
    if (!s->recent && !(s->recent = mem_zalloc(view->block_count, sizeof *s->recent, err)))
        return -1;
    forget(s, view);
    if (s->first > s->count) {
        for (size_t i = 0; i < s->count; i++)
            s->queue[i] = s->queue[s->first + i];
        s->first = 0;
    }
    if (mem_grow((void **)&s->queue, &s->cap, s->first + s->count + 1, sizeof *s->queue, err))
        return -1;
    s->queue[s->first + s->count++] = (struct notice){view->batch, block};
    s->recent[block]++;
    uvm_evict_index_note(view, block, false);
    return 0;
}

static uint32_t recent(const void *state, const struct uvm_evict_view *view, uint32_t block)
{
    const struct uvm_evict_counter_state *s = state;
    (void)view;
    return s->recent ? s->recent[block] : 0;
}

static struct uvm_victim pick(void *state, const struct uvm_evict_view *view)
{
    struct uvm_evict_counter_state *s = state;
    forget(s, view);
    return uvm_evict_pick_least(s, view);
}

static int64_t access_counter_threshold(const void *state, const struct uvm_evict_view *view, uint32_t block)
{
    const struct uvm_evict_counter_state *s = state;
    if (!s->t)
        return s->threshold;
    double full = view->total_pieces ? 1 - (double)view->free_pieces / (double)view->total_pieces : 0;
    return (int64_t)uvm_evict_counter_threshold(s->t, s->p, full, view->blocks[block].evictions > 0,
                                                view->blocks[block].evictions);
}

static void release(void *state)
{
    struct uvm_evict_counter_state *s = state;
    free(s->recent);
    free(s->queue);
}

const struct uvm_evict_policy uvm_evict_counter = {
    .head = {.name = "counter",
             .summary = "fewest notifications of access counters; what goes stays mapped and comes back by them",
             .source = "Ganguly et al., IPDPS 2020; driver 525 to 595, uvm_gpu_access_counters.c",
             .params = params,
             .state_size = sizeof(struct uvm_evict_counter_state)},
    .pick = pick,
    .key = recent,
    .access_counter_threshold = access_counter_threshold,
    .on_access_counter = on_access_counter,
    .release = release};
