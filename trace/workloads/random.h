/* random: numbers from a seed, the same on every machine (splitmix64). */
#ifndef TRACE_WORKLOADS_RANDOM_H
#define TRACE_WORKLOADS_RANDOM_H

#include <stdint.h>

struct random {
    uint64_t state;
};

static inline uint64_t random_next(struct random *r)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* 0 to n - 1. */
static inline uint32_t random_below(struct random *r, uint32_t n)
{
    return (uint32_t)((random_next(r) >> 32) * n >> 32);
}

/* True with probability p. */
static inline int random_chance(struct random *r, double p)
{
    return (double)(random_next(r) >> 11) * 0x1p-53 < p;
}

#endif
