/* progress: how far long work has come. The replay side only counts; cmd/ decides whether and how to show it. */
#ifndef REPLAY_RUN_PROGRESS_H
#define REPLAY_RUN_PROGRESS_H

#include <stdatomic.h>
#include <stdint.h>

struct progress {
    _Atomic uint64_t done;  /* units of work finished */
    _Atomic uint64_t total; /* 0: unknown */
    _Atomic int cancelled;  /* set by ^C: engines stop at the next batch with an error */
};

static inline void progress_add(struct progress *p, uint64_t units)
{
    if (p)
        atomic_fetch_add_explicit(&p->done, units, memory_order_relaxed);
}

#endif
