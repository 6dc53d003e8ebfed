#include "trace/workloads/rodinia/parts/btree_paths.h"

void btree_tree(struct btree_tree *t, uint32_t n, uint32_t fan)
{
    uint32_t size[BTREE_LEVELS], levels = 0; /* from the leaves up */
    do {
        n = n / fan + (n % fan != 0);
        size[levels++] = n;
    } while (n > 1);
    *t = (struct btree_tree){.fan = fan, .height = levels - 1};
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
