#include "replay/dram/dram_source.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

/* The class's requests in an array of their own. A write-back goes with the request right before it, as L2 makes it
 * when that misses. One that follows another, or is the first (of a stream behind an L2 whose victims lie on other
 * channels), is a write by itself: it takes a place in the window until it is done. What L2 still has after the last
 * launch goes out right behind it: that is no further launch. */
static int take_class(struct dram_source *s, const struct dram_stream_channel *c, struct err *err)
{
    const bool pim = s->class == DRAM_PIM;
    struct dram_request *own = mem_zalloc(c->class_count[pim] + 1, sizeof *own, err);
    if (!own)
        return -1;
    bool attaches = false; /* the request before is one that a write-back can go with */
    uint32_t last = 0;     /* that is no write-back */
    s->count = 0;
    for (size_t i = 0; i < c->count; i++) {
        if (((c->requests[i].flags & DRAM_IS_PIM) != 0) != pim)
            continue;
        const bool posted = c->requests[i].flags & DRAM_IS_POSTED;
        own[s->count] = c->requests[i];
        if (posted && !attaches)
            own[s->count].flags &= (uint8_t)~DRAM_IS_POSTED;
        if (!posted)
            last = s->count;
        s->count++;
        attaches = !posted;
    }
    for (uint32_t i = last; i < s->count; i++)
        own[i].flags &= (uint8_t)~DRAM_LAUNCH_END;
    s->requests = own;
    return 0;
}

int dram_source_init(struct dram_source *s, const struct dram_stream *stream, uint32_t c, enum dram_class class,
                     struct err *err)
{
    memset(s, 0, sizeof *s);
    s->class = class;
    s->window = INT64_MAX;
    s->period = 1;
    if (take_class(s, &stream->channel[c], err))
        return -1;
    for (uint32_t i = 0; i < s->count; i++)
        s->work += !(s->requests[i].flags & DRAM_IS_POSTED);
    s->issued = mem_zalloc(s->count + 1, sizeof *s->issued, err);
    if (!s->issued) {
        dram_source_release(s);
        return -1;
    }
    dram_source_rewind(s);
    return 0;
}

void dram_source_release(struct dram_source *s)
{
    free((void *)(uintptr_t)s->requests);
    free(s->issued);
    s->requests = NULL;
    s->issued = NULL;
}

void dram_source_rewind(struct dram_source *s)
{
    s->next = 0;
    s->base = s->offset = s->earliest = 0;
    s->drains = s->ended = false;
    s->in_flight = 0;
    s->done = 0;
    s->passes = 0;
    s->first_done = -1;
}

uint32_t dram_source_issue(struct dram_source *s, int64_t t)
{
    const uint32_t i = s->next++;
    s->issued[i] = t;
    s->in_flight++;
    s->earliest = t + s->period;
    bool end = s->requests[i].flags & DRAM_LAUNCH_END;
    if (s->next < s->count && s->requests[s->next].flags & DRAM_IS_POSTED)
        end |= (s->requests[s->next++].flags & DRAM_LAUNCH_END) != 0;
    s->drains = end;
    return i;
}

void dram_source_answer(struct dram_source *s, int64_t t)
{
    s->in_flight--;
    s->done++;
    if (s->done == s->work) {
        s->passes++;
        if (s->first_done < 0)
            s->first_done = t;
        s->ended = !s->repeat;
        s->drains = false;
        s->done = 0;
        s->next = s->ended ? s->count : 0;
        s->offset = 0;
        s->base = t + 1 + s->relaunch_gap;
    } else if (s->drains && !s->in_flight) {
        s->drains = false;
        s->base = t + 1 + s->launch_gap;
        s->offset = s->next < s->count ? s->requests[s->next].arrival : 0;
    }
}
