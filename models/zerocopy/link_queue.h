/* link_queue: the link as a queue: how long it is busy with each request, one after the other.
 *
 * Wire, tags and host memory work side by side: while one request waits for lines of host memory, another's payload is
 * on the wire. So a request costs what it adds to the time of those around it. With W, T, H the sums of the bounds
 * (link.h) over the requests that may be under way with it and f = (W^s + T^s + H^s)^(1/s) their joined time, it adds
 * (W/f)^(s-1) w + (T/f)^(s-1) t + (H/f)^(s-1) h of its own bounds w, t, h. f being homogeneous of degree one, these add
 * up to f (Euler): any number of requests in a steady mix takes link_service_ns() of the mix, in whatever order.
 * Around it: the last requests, between half as many as there are tags and as many (no tags: 256).
 * Worked example, H200: requests of 96 B (2.0 ns of wire, 2.2 of host memory) and of 32 B (0.9, 1.1) in turn take
 * 3.3 ns a pair, 38.5 GB/s; each for itself would take longer.
 * Source: link.h. Differs: the weights are looked up anew at every 64th request. */
#ifndef MODELS_ZEROCOPY_LINK_QUEUE_H
#define MODELS_ZEROCOPY_LINK_QUEUE_H

#include "models/zerocopy/link.h"

struct link_queue {
    double of[LINE_SECTORS][LINE_SECTORS][LINK_ISSUE]; /* a request's bounds in ns, by its first and last sector */
    double weight[LINK_ISSUE];
    double now[LINK_ISSUE], before[LINK_ISSUE]; /* sums: of the half of the window that fills, and of the one before */
    double sharpness;
    uint32_t half;    /* requests of half a window */
    uint32_t n, look; /* requests in `now`; the weights are looked up when there are so many */
};

void link_queue_init(struct link_queue *q, const struct pcie *p);

/* What a request from sector `from` to sector `to` of a line adds, in ns. */
double link_queue_add(struct link_queue *q, uint32_t from, uint32_t to);

/* A request, added a while ago, grows to from..to: what that adds. */
double link_queue_grow(struct link_queue *q, uint32_t had_from, uint32_t had_to, uint32_t from, uint32_t to);

#endif
