#include "trace/workloads/rodinia/rodinia_btree_paths.h"

void rodinia_btree_tree(struct rodinia_btree_tree *t, uint32_t n, uint32_t fan)
{
    uint32_t size[BTREE_LEVELS], levels = 0; /* from the leaves up */
    do {
        n = n / fan + (n % fan != 0);
        size[levels++] = n;
    } while (n > 1);
    *t = (struct rodinia_btree_tree){.fan = fan, .height = levels - 1};
    for (uint32_t i = 0; i < levels; i++)
        t->first[i + 1] = t->first[i] + size[levels - 1 - i];
}

struct rodinia_btree_path rodinia_btree_path(const struct rodinia_btree_tree *t, uint32_t key)
{
    struct rodinia_btree_path p = {.record = key};
    for (uint32_t level = t->height + 1, at = key; level-- > 0;) {
        p.slot[level] = (uint16_t)(at % t->fan + (level == t->height));
        at /= t->fan;
        p.node[level] = t->first[level] + at;
    }
    return p;
}
