/* shared: what runs beside each other share: how far they have come, and what they find out once. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"

/* progress: how far long work has come. The replay side only counts; cmd/ decides whether and how to show it. */
struct progress {
    _Atomic uint64_t done;  /* units of work finished */
    _Atomic uint64_t total; /* 0: unknown */
    _Atomic int cancelled;  /* set by ^C: engines stop at the next batch with an error */
    _Atomic uint64_t best;  /* the least so far, ns x 256 + the number of its name; 0: none yet */
    const char *const *names;
};

static inline void progress_add(struct progress *p, uint64_t units)
{
    if (p)
        atomic_fetch_add_explicit(&p->done, units, memory_order_relaxed);
}

/* p NULL: nobody asks; a time that is NAN is none. */
static inline void progress_best(struct progress *p, unsigned name, double ns)
{
    const uint64_t new = ns >= 1 && ns < 0x1p55 ? (uint64_t)ns << 8 | name : 0;
    uint64_t best = p && new ? atomic_load(&p->best) : 0;
    while (p && new && (!best || new < best) && !atomic_compare_exchange_weak(&p->best, &best, new))
        ;
}

/* What the points of one sweep find out once and use again: a pair of numbers by a text that says what they depend on.
 * The answers of a run are the same with and without. Any number of threads; two that ask at once both compute. */
enum { SWEEP_CACHE_MAX = 1 << 16 /* answers; later ones are not kept */ };

struct sweep_cache_value {
    int64_t whole;
    double real;
};

struct sweep_cache;

struct sweep_cache *sweep_cache_new(struct err *err);
void sweep_cache_free(struct sweep_cache *s); /* NULL is allowed */

/* Whether the answer for this text is there; then *value is. s NULL: it is not. */
bool sweep_cache_get(struct sweep_cache *s, const char *text, struct sweep_cache_value *value);

/* Keep an answer; no memory, or s NULL: it is not kept. */
void sweep_cache_put(struct sweep_cache *s, const char *text, struct sweep_cache_value value);

/* Answers kept. */
size_t sweep_cache_count(struct sweep_cache *s);

/* What is larger: the object kept under the text, which nobody changes, valid as long as s; NULL: there is none. */
void *sweep_cache_object(struct sweep_cache *s, const char *text);

/* Leave an object behind, or, if there is one of that text already, release it. Returns the one that is kept now,
 * which sweep_cache_free() releases; NULL: none is, and the object stays the caller's. */
void *sweep_cache_keep(struct sweep_cache *s, const char *text, void *object, void (*release)(void *object));
