/* feed: requests that wait in files' order before one channel and enter it as soon as there is room.
 *
 * Open loop with back-pressure: after each controller cycle at most one request enters; it must have arrived and its
 * class must have room. With one virtual channel only the oldest is tried; with two the oldest of each class, round
 * robin, PIM first at the start. This is the front end `direct`. */
#ifndef MODELS_DRAM_FEED_H
#define MODELS_DRAM_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "models/dram/channel.h"

struct dram_feed {
    const struct dram_request *requests; /* ascending arrival; ids are positions */
    uint32_t count;
    const uint32_t *ids[2]; /* two virtual channels: positions by class; else NULL */
    uint32_t ids_count[2];
    int vcs;       /* 1 or 2 */
    int64_t limit; /* cycles at most; INT64_MAX: none */
    /* Results: */
    int64_t cycles; /* last completion + 1, or the limit, or where nothing could happen any more */
    bool finished;  /* every request was served */
    bool stuck;     /* nothing can ever happen again */
};

/* Used by the loops: the next request of each class, with two virtual channels; with one, head[0] is the next request.
 */
struct dram_feed_heads {
    uint32_t head[2];
    int64_t arrival[2];   /* INT64_MAX: none left */
    enum dram_class last; /* the class that entered last */
};

static inline int64_t dram_feed_arrival(const struct dram_feed *feed, int class, uint32_t head)
{
    return head == feed->ids_count[class] ? INT64_MAX : feed->requests[feed->ids[class][head]].arrival;
}

#endif
