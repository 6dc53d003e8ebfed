#include "trace/base/quantile.h"

#include <math.h>
#include <stdlib.h>

#include "trace/base/mem.h"

enum { EXACT_BITS = 22, FINE_BITS = 12, BUCKETS = (1 << EXACT_BITS) + (63 - EXACT_BITS) * (1 << FINE_BITS) };

struct quantile {
    uint64_t count;
    int64_t least, most;
    size_t first, last; /* buckets hit */
    uint64_t buckets[BUCKETS];
};

struct quantile *quantile_new(struct err *err)
{
    struct quantile *q = mem_zalloc(1, sizeof *q, err);
    if (q) {
        q->least = INT64_MAX;
        q->first = BUCKETS;
    }
    return q;
}

void quantile_free(struct quantile *q)
{
    free(q);
}

static size_t bucket_of(int64_t value)
{
    if (value < 1 << EXACT_BITS)
        return (size_t)value;
    int top = 63 - __builtin_clzll((unsigned long long)value);
    size_t fine = (size_t)(value >> (top - FINE_BITS)) & ((1 << FINE_BITS) - 1);
    return (1u << EXACT_BITS) + (size_t)(top - EXACT_BITS) * (1 << FINE_BITS) + fine;
}

/* The smallest value of a bucket. */
static int64_t value_of(size_t bucket)
{
    if (bucket < 1 << EXACT_BITS)
        return (int64_t)bucket;
    size_t above = bucket - (1u << EXACT_BITS);
    int top = EXACT_BITS + (int)(above >> FINE_BITS);
    int64_t fine = (int64_t)(above & ((1 << FINE_BITS) - 1));
    return (int64_t)1 << top | fine << (top - FINE_BITS);
}

void quantile_add(struct quantile *q, int64_t value)
{
    if (value < 0)
        value = 0;
    size_t b = bucket_of(value);
    q->buckets[b]++;
    q->count++;
    if (value < q->least)
        q->least = value;
    if (value > q->most)
        q->most = value;
    if (b < q->first)
        q->first = b;
    if (b > q->last)
        q->last = b;
}

uint64_t quantile_count(const struct quantile *q)
{
    return q->count;
}

static int64_t clamp(const struct quantile *q, int64_t value)
{
    return value < q->least ? q->least : value > q->most ? q->most : value;
}

int64_t quantile_at(const struct quantile *q, double share)
{
    if (share <= 0)
        return q->least;
    const double below = ceil((double)q->count * share - 1e-9);
    uint64_t rank = below > 1 ? (uint64_t)below - 1 : 0, seen = 0;
    if (rank >= q->count - 1)
        return q->most;
    for (size_t b = q->first; b <= q->last; b++) {
        seen += q->buckets[b];
        if (seen > rank)
            return clamp(q, value_of(b));
    }
    return q->most;
}

void quantile_walk(const struct quantile *q, void (*fn)(void *ctx, int64_t value, uint64_t at_or_below), void *ctx)
{
    uint64_t seen = 0;
    for (size_t b = q->first; q->count && b <= q->last; b++)
        if (q->buckets[b]) {
            seen += q->buckets[b];
            fn(ctx, clamp(q, value_of(b)), seen);
        }
}

double quantile_between(const double *sorted, size_t n, double share)
{
    const double at = share * (double)(n - 1);
    const size_t i = (size_t)at;
    return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}
