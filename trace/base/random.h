/* random: numbers from a seed, the same on every machine. Source: SplitMix64 (Steele, Lea, Flood: Fast Splittable
 * Pseudorandom Number Generators, OOPSLA 2014). */
#pragma once

#include <stdint.h>

struct random {
    uint64_t state;
};

#define RANDOM_STEP UINT64_C(0x9e3779b97f4a7c15)

/* A number of which every bit of x decides: that which a generator with this state comes to next. */
static inline uint64_t random_mix(uint64_t x)
{
    x += RANDOM_STEP;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static inline uint64_t random_next(struct random *r)
{
    const uint64_t x = r->state;
    r->state += RANDOM_STEP;
    return random_mix(x);
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

/* The numbers in another order (Fisher and Yates). */
static inline void random_shuffle(uint32_t *list, uint64_t n, uint64_t seed)
{
    uint64_t s = random_mix(seed);
    for (uint64_t i = n; i > 1; i--) {
        s = random_mix(s);
        uint64_t j = s % i;
        uint32_t kept = list[i - 1];
        list[i - 1] = list[j];
        list[j] = kept;
    }
}
