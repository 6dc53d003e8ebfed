/* clock: the system's clocks as one number, and the deadlines that waits take. */
#pragma once

#include <stdint.h>
#include <time.h>

static inline int64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline int64_t clock_ms(clockid_t clock)
{
    return clock_ns(clock) / 1000000;
}

/* So many ns from now on, as pthread_cond_timedwait() and the like take it. */
static inline struct timespec clock_after(clockid_t clock, int64_t ns)
{
    const int64_t at = clock_ns(clock) + ns;
    return (struct timespec){at / 1000000000, at % 1000000000};
}
