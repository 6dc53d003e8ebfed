/* loop_mem: the controller loop while a channel is in MEM mode and no PIM request waits.
 *
 * Then no policy changes the mode and only the channel's own cycles decide what happens next. Each cycle is that of
 * models/dram/loop_cycle.h; what is left out is its cost: the state is local, a cycle in which nothing can change is
 * not visited, requests enter in between without a visit, and what is counted by the cycle is added when a slot fills
 * and when it empties (filled at f, its last column at c: c + 1 - f cycles). The times at which slots become ready
 * stand in a wheel of cycles. Before and after, the channel is what the general loop would have made of it (loop_test.c
 * compares). */
#ifndef MODELS_DRAM_LOOP_MEM_H
#define MODELS_DRAM_LOOP_MEM_H

#include "models/dram/channel.h"
#include "models/dram/feed.h"

/* Whether dram_mem_run() may run the channel as it is. */
static inline bool dram_mem_may_run(const struct dram_channel *ch)
{
    return ch->mode == DRAM_MEM && !ch->waiting[DRAM_PIM] && !ch->pim_in_slots && ch->pim_activate == INT32_MAX &&
           ch->near && !ch->device.held && ch->explain <= 0;
}

/* What a run tells the policy. */
struct dram_mem_result {
    unsigned asked; /* banks that a scan of idle banks asked */
    int64_t served; /* requests selected */
};

/* Visit the cycles from `now` on, with their entries, up to the one in which a PIM request may enter, a refresh falls
 * due, the limit comes near or all requests of the feed were served. Returns the cycle to go on with: `now` if there
 * was nothing to do. */
int64_t dram_mem_run(struct dram_channel *channel, struct dram_feed *feed, struct dram_feed_heads *heads, int64_t now,
                     struct dram_mem_result *result);

#endif
