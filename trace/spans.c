#include "trace/spans.h"

#include <stdlib.h>
#include <string.h>

#include "trace/mem.h"

void spans_release(struct spans *spans)
{
    free(spans->items);
    memset(spans, 0, sizeof *spans);
}

static int push(struct spans *spans, int64_t lo, int64_t hi, int64_t row, struct err *err)
{
    if (lo >= hi)
        return 0;
    if (spans->count > 0) {
        struct span *last = &spans->items[spans->count - 1];
        if (last->row == row && last->hi == lo) {
            last->hi = hi;
            return 0;
        }
    }
    if (mem_grow((void **)&spans->items, &spans->cap, spans->count + 1, sizeof *spans->items, err))
        return -1;
    spans->items[spans->count++] = (struct span){lo, hi, row};
    return 0;
}

int spans_add(struct spans *spans, int64_t lo, int64_t hi, int64_t row, struct err *err)
{
    if (lo >= hi)
        return 0;
    if (mem_grow((void **)&spans->items, &spans->cap, spans->count + 1, sizeof *spans->items, err))
        return -1;
    spans->items[spans->count++] = (struct span){lo, hi, row};
    return 0;
}

/* A row begins (delta 1) or ends (delta -1) at a point. */
struct edge {
    int64_t point, row;
    int delta;
};

static int by_point(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return x->point < y->point ? -1 : x->point > y->point;
}

/* Walk the edges in order. Which rows are open is known from their number, the sum of their numbers and the sum of the
 * squares: n equal numbers r have sum n r and squares n r^2, and only they do (Cauchy-Schwarz). Sums wrap. */
static int walk(struct spans *built, const struct edge *edges, size_t n, struct err *err)
{
    uint64_t open = 0;
    unsigned __int128 sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && open > 0 && edges[i].point > edges[i - 1].point) {
            int64_t row = SPANS_SEVERAL;
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

int spans_build(struct spans *spans, struct err *err)
{
    struct edge *edges = mem_zalloc(spans->count, 2 * sizeof *edges, err);
    if (!edges)
        return -1;
    size_t n = 0;
    for (size_t i = 0; i < spans->count; i++) {
        edges[n++] = (struct edge){spans->items[i].lo, spans->items[i].row, 1};
        edges[n++] = (struct edge){spans->items[i].hi, spans->items[i].row, -1};
    }
    qsort(edges, n, sizeof *edges, by_point);
    struct spans built = {0};
    int rc = walk(&built, edges, n, err);
    free(edges);
    if (rc) {
        spans_release(&built);
        return -1;
    }
    spans_release(spans);
    *spans = built;
    return 0;
}

int64_t spans_find(const struct spans *spans, int64_t point)
{
    size_t lo = 0, hi = spans->count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (spans->items[mid].hi <= point)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < spans->count && spans->items[lo].lo <= point ? spans->items[lo].row : SPANS_NONE;
}
