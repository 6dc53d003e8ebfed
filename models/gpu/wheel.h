/* wheel: a calendar of cycles: which actors have something to do in which cycle.
 *
 * A ring of cycles has a mask of actors each, and a mask says which cycles have any. Setting takes one bit, finding the
 * next cycle a few words. An actor may be set for several cycles. Times beyond the ring are cut to its end: an actor
 * that wakes with nothing to do sets itself again. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/err.h"

enum { WHEEL_CYCLES = 512 };

struct wheel {
    int64_t now;    /* cycles up to this one have been taken */
    int64_t next;   /* the first cycle after it with an actor; INT64_MAX: none */
    uint32_t words; /* of a mask of actors */
    uint64_t used[WHEEL_CYCLES / 64];
    uint64_t *actors; /* WHEEL_CYCLES x words */
};

int wheel_init(struct wheel *w, uint32_t actors, struct err *err);
void wheel_release(struct wheel *w);

/* Forget everything; the first cycle is `now`. */
void wheel_reset(struct wheel *w, int64_t now);

/* Wake the actor in cycle t, which has not been taken. */
static inline void wheel_set(struct wheel *w, uint32_t actor, int64_t t)
{
    if (t > w->now + WHEEL_CYCLES)
        t = w->now + WHEEL_CYCLES;
    if (t < w->next)
        w->next = t;
    uint64_t slot = (uint64_t)t % WHEEL_CYCLES;
    w->used[slot / 64] |= UINT64_C(1) << slot % 64;
    w->actors[slot * w->words + actor / 64] |= UINT64_C(1) << actor % 64;
}

/* The same, where there are any. */
void wheel_take_some(struct wheel *w, int64_t t, uint64_t *due);

/* Take all cycles up to t: due[] (words of them) gets their actors. False: there are none, and due[] is as it was. */
static inline bool wheel_take(struct wheel *w, int64_t t, uint64_t *due)
{
    const bool some = w->next <= t;
    if (some)
        wheel_take_some(w, t, due);
    else
        w->now = t;
    return some;
}
