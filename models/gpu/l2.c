#include "models/gpu/l2.h"

#include <stdlib.h>

#include "trace/base/mem.h"

struct way {
    uint64_t line; /* line number + 1, 0: empty */
    uint64_t used; /* when, in accesses */
    uint8_t valid, dirty;
};

struct l2 {
    uint64_t sets, ways, now;
    struct way *way;
};

struct l2 *l2_new(int64_t bytes, int64_t ways, struct err *err)
{
    if (bytes < 0 || ways < 1) {
        err_set(err, "an L2 of %lld bytes and %lld ways; expected at least 0 and 1", (long long)bytes, (long long)ways);
        return NULL;
    }
    if (bytes && bytes / L2_LINE < ways) {
        err_set(err, "an L2 of %lld bytes has fewer lines than its %lld ways", (long long)bytes, (long long)ways);
        return NULL;
    }
    struct l2 *l2 = mem_zalloc(1, sizeof *l2, err);
    if (!l2)
        return NULL;
    l2->ways = (uint64_t)ways;
    l2->sets = (uint64_t)(bytes / L2_LINE / ways);
    l2->way = mem_zalloc((size_t)(l2->sets * l2->ways), sizeof *l2->way, err);
    if (!l2->way) {
        free(l2);
        return NULL;
    }
    return l2;
}

void l2_free(struct l2 *l2)
{
    if (!l2)
        return;
    free(l2->way);
    free(l2);
}

/* The way that holds the line, or the one to be used for it: empty, else used longest ago. */
static struct way *find(const struct l2 *l2, uint64_t line)
{
    struct way *set = &l2->way[line % l2->sets * l2->ways], *oldest = set;
    for (uint64_t i = 0; i < l2->ways; i++) {
        if (set[i].line == line + 1)
            return &set[i];
        if (set[i].used < oldest->used)
            oldest = &set[i];
    }
    return oldest;
}

struct l2_result l2_access(struct l2 *l2, uint64_t addr, uint32_t sectors, bool reads, bool writes)
{
    struct l2_result r = {0};
    if (!l2->sets) {
        r.fetch = reads ? sectors : 0;
        r.write_back = writes ? sectors : 0;
        r.victim = addr;
        return r;
    }
    uint64_t line = addr / L2_LINE;
    struct way *w = find(l2, line);
    if (w->line != line + 1) {
        r.write_back = w->dirty;
        r.victim = (w->line - 1) * L2_LINE;
        w->line = line + 1;
        w->valid = w->dirty = 0;
    }
    w->used = ++l2->now;
    if (reads)
        r.fetch = sectors & ~(uint32_t)w->valid;
    w->valid |= (uint8_t)sectors;
    if (writes)
        w->dirty |= (uint8_t)sectors;
    return r;
}

int l2_flush(struct l2 *l2, int (*fn)(void *ctx, uint64_t addr, uint32_t sectors), void *ctx)
{
    for (uint64_t i = 0; i < l2->sets * l2->ways; i++) {
        struct way *w = &l2->way[i];
        uint32_t dirty = w->dirty;
        w->dirty = 0;
        int rc = dirty ? fn(ctx, (w->line - 1) * L2_LINE, dirty) : 0;
        if (rc)
            return rc;
    }
    return 0;
}
