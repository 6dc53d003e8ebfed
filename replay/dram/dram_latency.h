/* dram_latency: a histogram of cycle counts with an exact sum.
 *
 * Counts below 4096 have a bucket each; above, a bucket is 1/128 of its power of two wide. */
#ifndef REPLAY_DRAM_DRAM_LATENCY_H
#define REPLAY_DRAM_DRAM_LATENCY_H

#include <stdint.h>

enum { LATENCY_EXACT = 4096, LATENCY_STEPS = 128, LATENCY_BUCKETS = LATENCY_EXACT + LATENCY_STEPS * 51 };

struct dram_latency {
    int64_t count, sum;
    int64_t buckets[LATENCY_BUCKETS];
};

static inline uint32_t dram_latency_bucket(int64_t cycles)
{
    if (cycles < LATENCY_EXACT)
        return cycles < 0 ? 0 : (uint32_t)cycles;
    const int power = 63 ^ __builtin_clzll((unsigned long long)cycles); /* at least 12 */
    return (uint32_t)(LATENCY_EXACT + (power - 12) * LATENCY_STEPS + ((cycles >> (power - 7)) & (LATENCY_STEPS - 1)));
}

static inline void dram_latency_add(struct dram_latency *l, int64_t cycles)
{
    l->count++;
    l->sum += cycles;
    l->buckets[dram_latency_bucket(cycles)]++;
}

/* Add all of b to a. */
void dram_latency_merge(struct dram_latency *a, const struct dram_latency *b);

/* The least count of a bucket. */
int64_t dram_latency_least(int bucket);

#endif
