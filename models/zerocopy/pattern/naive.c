/* naive: one thread for each list (or row element, or chunk of an array), walking it element by element.
 *
 * Worked example: 4-byte elements, chunks of 32 from a line boundary: each load of a warp touches 32 lines, one sector
 * each: 32 requests of 32 B, and eight loads in a row touch the same sectors.
 * Source: dissertation, section 2.3.3 (strided), listing 2.1; EMOGI 382dbcc, the baseline kernels. */
#include <stdlib.h>
#include <string.h>

#include "models/zerocopy/lane.h"
#include "trace/base/mem.h"

struct pattern_counter {
    struct pattern_view view;
    struct pattern_counter *rows; /* SCAN_ROWS: another counter does it */
    struct lane_reader reader;
    struct coalescer exact; /* prevwarp */
};

static struct pattern_counter *counter_new(const struct pattern_view *view, struct err *err)
{
    struct pattern_counter *c = mem_zalloc(1, sizeof *c, err);
    if (!c)
        return NULL;
    c->view = *view;
    c->reader.view = &c->view;
    coalescer_init(&c->exact, view->reuse, NULL, NULL);
    c->exact.request = view->request;
    if (view->shape == SCAN_ROWS && !(c->rows = row_counter_new(view, false, err))) {
        free(c);
        return NULL;
    }
    return c;
}

static void counter_free(struct pattern_counter *c)
{
    if (!c)
        return;
    row_counter_free(c->rows);
    lane_reader_release(&c->reader);
    coalescer_release(&c->exact);
    free(c);
}

/* The lists of one warp, load by load. */
static int count_warp(struct pattern_counter *c, const struct scan *lists, size_t n, struct err *err)
{
    uint64_t longest = 0;
    for (size_t i = 0; i < n; i++) {
        longest = lists[i].count > longest ? lists[i].count : longest;
        c->reader.lane_loads += lists[i].count;
    }
    c->reader.loads += longest;
    c->reader.longest = longest > c->reader.longest ? longest : c->reader.longest;
    return lane_expand(&c->view, lists, n, &c->exact, err);
}

static int count_lists(struct pattern_counter *c, const struct scan *scans, size_t n, struct err *err)
{
    uint64_t lanes = WARP_LANES * (c->view.reuse == REUSE_L1 ? c->view.block_warps : 1);
    for (size_t i = 0; i < n;) {
        size_t end = i;
        while (end < n && scans[end].lane / lanes == scans[i].lane / lanes)
            end++;
        if (c->view.reuse == REUSE_PREVWARP ? count_warp(c, scans + i, end - i, err)
                                            : lane_read_block(&c->reader, scans + i, end - i, err))
            return -1;
        i = end;
    }
    return 0;
}

/* The threads of one warp of an array's kernel, from element `first` on, as lists; the last may be short. */
static size_t warp_of(const struct pattern_view *view, const struct scan *array, uint64_t first, struct scan *lists)
{
    size_t k = 0;
    uint64_t end = array->first + array->count;
    for (uint64_t at = first; k < WARP_LANES && at < end; at += view->chunk, k++)
        lists[k] =
            (struct scan){at, end - at < view->chunk ? end - at : view->chunk, (at - array->first) / view->chunk};
    return k;
}

/* Warp by warp; c: of a counter, else NULL. */
static int expand_array(const struct pattern_view *view, const struct scan *array, struct pattern_counter *c,
                        struct coalescer *into, struct err *err)
{
    struct scan lists[WARP_LANES];
    for (uint64_t at = 0; at < array->count; at += WARP_LANES * view->chunk) {
        size_t k = warp_of(view, array, array->first + at, lists);
        if (c ? count_warp(c, lists, k, err) : lane_expand(view, lists, k, into, err))
            return -1;
    }
    return 0;
}

/* All full warps of an array ask for the same, shifted by whole lines: count one. */
static int count_array(struct pattern_counter *c, const struct scan *array, struct err *err)
{
    struct scan lists[WARP_LANES];
    uint64_t per_warp = WARP_LANES * c->view.chunk, full = array->count / per_warp;
    struct lane_reader one = {.view = &c->view};
    int rc = 0;
    if (full) {
        rc = lane_read_block(&one, lists, warp_of(&c->view, array, array->first, lists), err);
        for (int i = 0; i < LINE_SECTORS; i++)
            c->reader.mix.by_size[i] += full * one.mix.by_size[i];
        c->reader.mix.host_lines += full * one.mix.host_lines;
        c->reader.loads += full * one.loads;
        c->reader.lane_loads += full * one.lane_loads;
        c->reader.longest = one.longest;
    }
    lane_reader_release(&one);
    size_t rest = warp_of(&c->view, array, array->first + full * per_warp, lists);
    if (!rc && rest)
        rc = lane_read_block(&c->reader, lists, rest, err);
    return rc;
}

static int expand(const struct pattern_view *view, const struct scan *scans, size_t n, struct pattern_carry *carry,
                  struct coalescer *c, struct err *err)
{
    if (view->shape == SCAN_ROWS)
        return row_expand(view, false, scans, n, carry, c, err);
    if (view->shape == SCAN_LISTS)
        return lane_expand(view, scans, n, c, err);
    for (size_t i = 0; i < n; i++)
        if (expand_array(view, &scans[i], NULL, c, err))
            return -1;
    return 0;
}

static int count(struct pattern_counter *c, const struct scan *scans, size_t n, struct err *err)
{
    if (c->rows)
        return row_count(c->rows, scans, n, err);
    if (c->view.shape == SCAN_LISTS)
        return count_lists(c, scans, n, err);
    for (size_t i = 0; i < n; i++)
        if (c->view.reuse == REUSE_PREVWARP ? expand_array(&c->view, &scans[i], c, NULL, err)
                                            : count_array(c, &scans[i], err))
            return -1;
    return 0;
}

static int finish(struct pattern_counter *c, struct pattern_count *out, struct err *err)
{
    if (c->rows)
        return row_finish(c->rows, out, err);
    struct lane_reader *r = &c->reader;
    *out = (struct pattern_count){.mix = r->mix,
                                  .loads = r->loads,
                                  .lane_loads = r->lane_loads,
                                  .longest = r->longest,
                                  .longest_load = r->longest};
    mix_add(&out->mix, &c->exact.mix);
    r->mix = c->exact.mix = (struct request_mix){0};
    r->loads = r->lane_loads = r->longest = 0;
    coalescer_launch(&c->exact);
    return 0;
}

const struct zerocopy_pattern zerocopy_naive = {
    .head = {.name = "naive",
             .summary = "a thread for each list, row element or chunk, one element at a time",
             .source = "dissertation, sections 2.3.3 (strided) and 2.4.2; EMOGI 382dbcc, baseline kernels"},
    .shapes = 1 << SCAN_LISTS | 1 << SCAN_ROWS | 1 << SCAN_ARRAY,
    .default_reuse = {REUSE_GROUP4, REUSE_PREVWARP, REUSE_L1},
    .lane_walks = true,
    .counter_new = counter_new,
    .counter_free = counter_free,
    .count = count,
    .finish = finish,
    .expand = expand,
};
