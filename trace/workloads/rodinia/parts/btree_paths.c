#include "trace/workloads/rodinia/parts/btree_paths.h"

#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/base/random.h"

void btree_tree(struct btree_tree *t, uint32_t n, uint32_t fan)
{
    uint32_t size[BTREE_LEVELS], levels = 0, keys = n; /* from the leaves up */
    do {
        n = n / fan + (n % fan != 0);
        size[levels++] = n;
    } while (n > 1);
    *t = (struct btree_tree){.n = keys, .fan = fan, .height = levels - 1};
    for (uint32_t i = 0; i < levels; i++)
        t->first[i + 1] = t->first[i] + size[levels - 1 - i];
}

struct btree_path btree_path(const struct btree_tree *t, uint32_t key)
{
    struct btree_path p = {.record = key};
    for (uint32_t level = t->height + 1, at = key; level-- > 0;) {
        p.slot[level] = (uint16_t)(at % t->fan + (level == t->height));
        at /= t->fan;
        p.node[level] = t->first[level] + at;
    }
    return p;
}

int btree_queries_draw(struct btree_queries *q, const struct btree_tree *t, uint64_t seed, uint64_t ranges,
                       uint64_t range, uint64_t keys, struct err *err)
{
    struct random r = {seed};
    uint32_t apart = range < t->n ? (uint32_t)range : t->n;
    q->start = mem_zalloc(2 * ranges + keys, sizeof *q->start, err);
    if (!q->start)
        return -1;
    q->end = q->start + ranges;
    q->find = q->end + ranges;
    for (uint64_t i = 0; i < ranges; i++) {
        uint32_t start = random_below(&r, t->n), end = start + apart;
        if (end >= t->n) {
            start = t->n - apart;
            end = t->n - 1;
        }
        q->start[i] = btree_path(t, start);
        q->end[i] = btree_path(t, end);
    }
    for (uint64_t i = 0; i < keys; i++)
        q->find[i] = btree_path(t, random_below(&r, t->n));
    return 0;
}

void btree_queries_release(struct btree_queries *q)
{
    free(q->start);
}
