#include "trace/base/range_map.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/sorted.h"

void range_map_release(struct range_map *ranges)
{
    free(ranges->items);
    memset(ranges, 0, sizeof *ranges);
}

int range_map_add(struct range_map *ranges, int64_t lo, int64_t hi, int64_t row, struct err *err)
{
    if (lo >= hi)
        return 0;
    return MEM_ADD(ranges->items, ranges->count, ranges->cap, err, (struct range){lo, hi, row});
}

/* Add it to the last stretch where it goes on. */
static int push(struct range_map *ranges, int64_t lo, int64_t hi, int64_t row, struct err *err)
{
    struct range *last = ranges->count ? &ranges->items[ranges->count - 1] : NULL;
    if (!last || last->row != row || last->hi != lo)
        return range_map_add(ranges, lo, hi, row, err);
    last->hi = hi;
    return 0;
}

/* A row begins (delta 1) or ends (delta -1) at a point. */
struct edge {
    int64_t point, row;
    int delta;
};

/* Walk the edges in order. Which rows are open is known from their number, the sum of their numbers and the sum of the
 * squares: n equal numbers r have sum n r and squares n r^2, and only they do (Cauchy-Schwarz). Sums wrap. */
static int walk(struct range_map *built, const struct edge *edges, size_t n, struct err *err)
{
    uint64_t open = 0;
    unsigned __int128 sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && open > 0 && edges[i].point > edges[i - 1].point) {
            int64_t row = RANGE_MAP_SEVERAL;
            if (squares * open == sum * sum)
                row = (int64_t)(sum / open);
            if (push(built, edges[i - 1].point, edges[i].point, row, err))
                return -1;
        }
        unsigned __int128 r = (uint64_t)edges[i].row;
        open += (uint64_t)(int64_t)edges[i].delta;
        sum = edges[i].delta > 0 ? sum + r : sum - r;
        squares = edges[i].delta > 0 ? squares + r * r : squares - r * r;
    }
    return 0;
}

int range_map_build(struct range_map *ranges, struct err *err)
{
    struct edge *edges = mem_zalloc(ranges->count, 2 * sizeof *edges, err);
    if (!edges)
        return -1;
    size_t n = 0;
    for (size_t i = 0; i < ranges->count; i++) {
        edges[n++] = (struct edge){ranges->items[i].lo, ranges->items[i].row, 1};
        edges[n++] = (struct edge){ranges->items[i].hi, ranges->items[i].row, -1};
    }
    sort_items(edges, n, sizeof *edges, sorted_by_i64);
    struct range_map built = {0};
    int rc = walk(&built, edges, n, err);
    free(edges);
    range_map_release(rc ? &built : ranges);
    if (!rc)
        *ranges = built;
    return rc;
}

int64_t range_map_find(const struct range_map *ranges, int64_t point)
{
    size_t at = 0;
    SORTED_FIRST(at, ranges->count, i, ranges->items[i].hi <= point);
    return at < ranges->count && ranges->items[at].lo <= point ? ranges->items[at].row : RANGE_MAP_NONE;
}
