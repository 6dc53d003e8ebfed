#include "replay/dram/dram_latency.h"

void dram_latency_merge(struct dram_latency *a, const struct dram_latency *b)
{
    a->count += b->count;
    a->sum += b->sum;
    for (int i = 0; i < LATENCY_BUCKETS; i++)
        a->buckets[i] += b->buckets[i];
}

int64_t dram_latency_least(int i)
{
    if (i < LATENCY_EXACT)
        return i;
    const int power = 12 + (i - LATENCY_EXACT) / LATENCY_STEPS;
    return (INT64_C(1) << power) + ((int64_t)((i - LATENCY_EXACT) % LATENCY_STEPS) << (power - 7));
}
