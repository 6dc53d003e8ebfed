#include "models/dram/dram_policy.h"

const struct dram_policy *dram_policy_alone(void)
{
    size_t i = 0;
    while (!((const struct dram_policy *)dram_policies[i])->alone)
        i++;
    return (const struct dram_policy *)dram_policies[i];
}

/* What the loop wrote ahead of time and the limit cut off did not happen. */
static void take_back(struct dram_channel *ch, const struct dram_completion *c, int64_t limit)
{
    const enum dram_class class = c->flags & DRAM_IS_PIM ? DRAM_PIM : DRAM_MEM;
    if (ch->fate.done)
        ch->fate.done[c->id] = -1;
    if (class == DRAM_PIM && c->done - ch->timing.wl >= limit && ch->fate.column)
        ch->fate.column[c->id] = -1;
}

void dram_feed_end(struct dram_channel *ch, struct dram_feed *feed, int64_t now)
{
    const struct dram_stats *s = &ch->stats;
    const int64_t last = s->last_out[0] > s->last_out[1] ? s->last_out[0] : s->last_out[1];
    feed->finished = s->out[DRAM_MEM] + s->out[DRAM_PIM] == feed->count;
    if (feed->finished) {
        feed->cycles = last + 1;
        if (feed->cycles <= feed->limit)
            return;
    }
    feed->finished = false;
    if (feed->limit == INT64_MAX) { /* stalled; what was issued ends all the same */
        feed->cycles = last > now ? last + 1 : now + 1;
        return;
    }
    feed->cycles = feed->limit;
    for (uint32_t i = ch->completion_tail; i > 0 && i + DRAM_COMPLETIONS > ch->completion_tail; i--) {
        const struct dram_completion *c = &ch->completions[(i - 1) % DRAM_COMPLETIONS];
        if (c->done < feed->cycles)
            break;
        take_back(ch, c, feed->cycles);
    }
}
