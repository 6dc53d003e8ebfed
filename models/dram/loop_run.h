/* loop_run: what the outside calls, over the cycle of models/dram/loop_body.h. Included by models/dram/loop.h, no
 * guard. */

/* Requests that are done leave; their latency counts from arrival. */
LOOP_TARGET void LOOP(drain)(struct dram_channel *ch, struct dram_feed *feed)
{
    while (ch->completion_head != ch->completion_tail) {
        const struct dram_completion *c = &ch->completions[ch->completion_head++ % DRAM_COMPLETIONS];
        dram_latency_add(&feed->latency[c->flags & DRAM_IS_PIM ? DRAM_PIM : DRAM_MEM],
                         c->done - feed->requests[c->id].arrival);
    }
}

/* One request may enter after cycle `now`; returns the next cycle to visit. */
LOOP_TARGET int64_t LOOP(feed_one)(struct dram_channel *ch, const struct dram_feed *feed, uint32_t *head, int64_t now,
                                   int64_t next)
{
    if (*head == feed->count)
        return next;
    const struct dram_request *r = &feed->requests[*head];
    if (r->arrival > now)
        return r->arrival < next ? r->arrival : next;
    const enum dram_class class = r->flags & DRAM_IS_PIM ? DRAM_PIM : DRAM_MEM;
    if (!dram_channel_room(ch, class))
        return next;
    LOOP(enter)(ch, (int32_t)(now - ch->base), r->row, r->bank, r->flags, (*head)++);
    if (LOOP(entry_matters)(ch, class))
        return now + 1;
    if (*head == feed->count)
        return next;
    r++; /* the next one may enter in the next cycle */
    if (r->arrival <= now)
        return dram_channel_room(ch, r->flags & DRAM_IS_PIM ? DRAM_PIM : DRAM_MEM) ? now + 1 : next;
    return r->arrival < next ? r->arrival : next;
}

/* The same with two virtual channels. */
LOOP_TARGET int64_t LOOP(feed_two)(struct dram_channel *ch, const struct dram_feed *feed, struct dram_feed_heads *h,
                                   int64_t now, int64_t next)
{
    enum dram_class class = !h->last;
    if (h->arrival[class] > now || !dram_channel_room(ch, class)) {
        class = h->last;
        if (h->arrival[class] > now || !dram_channel_room(ch, class)) {
            for (int k = 0; k < 2; k++)
                next = h->arrival[k] > now && h->arrival[k] < next ? h->arrival[k] : next;
            return next;
        }
    }
    const uint32_t id = feed->ids[class][h->head[class]++];
    const struct dram_request *r = &feed->requests[id];
    LOOP(enter)(ch, (int32_t)(now - ch->base), r->row, r->bank, r->flags, id);
    h->last = class;
    h->arrival[class] = dram_feed_arrival(feed, class, h->head[class]);
    if (LOOP(entry_matters)(ch, class))
        return now + 1;
    for (int k = 0; k < 2; k++) { /* the next one may enter in the next cycle */
        if (h->arrival[k] <= now + 1 && dram_channel_room(ch, (enum dram_class)k))
            return now + 1;
        next = h->arrival[k] > now && h->arrival[k] < next ? h->arrival[k] : next;
    }
    return next;
}

static void LOOP(feed)(struct dram_channel *ch, void *state, struct dram_feed *feed)
{
    struct DRAM_LOOP_POLICY *policy = state;
    uint32_t head = 0;
    struct dram_feed_heads heads = {{0, 0}, {INT64_MAX, INT64_MAX}, DRAM_MEM};
    for (int k = 0; k < 2 && feed->vcs == 2; k++)
        heads.arrival[k] = dram_feed_arrival(feed, k, 0);
    int64_t now = 0;
    while (ch->stats.out[DRAM_MEM] + ch->stats.out[DRAM_PIM] < feed->count) {
        int64_t next = LOOP(visit)(ch, policy, now);
        LOOP(drain)(ch, feed);
        if (feed->vcs == 1)
            next = LOOP(feed_one)(ch, feed, &head, now, next);
        else
            next = LOOP(feed_two)(ch, feed, &heads, now, next);
        if (__builtin_expect(next >= feed->limit, 0)) {
            const int64_t left = feed->limit == INT64_MAX ? 0 : feed->limit - now - 1;
            if (ch->stats.out[DRAM_MEM] + ch->stats.out[DRAM_PIM] < feed->count) {
                LOOP(count)(ch, left);
                feed->stuck = next == INT64_MAX;
            }
            break;
        }
        now = next;
    }
    dram_feed_end(ch, feed, now);
}

/* Cycle `now` of a channel whose requests come from elsewhere: enter them by push() after it. */
static int64_t LOOP(step)(struct dram_channel *ch, void *state, int64_t now)
{
    struct DRAM_LOOP_POLICY *policy = state;
    return LOOP(visit)(ch, policy, now);
}

/* A request enters at the end of cycle `now`, the cycle stepped last or one nothing happens in. */
static void LOOP(push)(struct dram_channel *ch, int64_t now, uint32_t row, uint32_t bank, uint8_t flags, uint32_t id)
{
    LOOP(enter)(ch, (int32_t)(now - ch->base), row, bank, flags, id);
}
