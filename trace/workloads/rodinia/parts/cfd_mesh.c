#include "trace/workloads/rodinia/parts/cfd_mesh.h"

#include "trace/base/random.h"

/* Where place `at` of a window goes: rounds of multiplying, adding and folding, each one to one. */
static uint64_t permuted(const struct cfd_mesh *s, uint64_t window, uint64_t at)
{
    struct random r = {(uint64_t)s->seed << 32 ^ window};
    unsigned bits = (unsigned)__builtin_ctzll((uint64_t)s->window); /* of a place */
    for (int round = 0; round < 3; round++) {
        at = (at * (random_next(&r) | 1) + random_next(&r)) & (uint64_t)(s->window - 1);
        at ^= at >> (bits + 1) / 2;
    }
    return at;
}

int64_t cfd_neighbour(const struct cfd_mesh *s, int64_t element, unsigned j)
{
    int64_t apart = j < 2 ? 1 : s->x, i = (element < s->n ? element : s->n - 1) + (j % 2 ? apart : -apart);
    if (i < 0 || i >= s->n)
        return -1;
    int64_t first = i & ~(s->window - 1), at = i - first;
    if (s->window == 1)
        return i;
    do
        at = (int64_t)permuted(s, (uint64_t)first, (uint64_t)at);
    while (first + at >= s->n); /* the last window is no whole one */
    return first + at;
}
