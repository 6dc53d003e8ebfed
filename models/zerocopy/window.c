#include "models/zerocopy/window.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

enum { PHASES = LINE_BYTES / 4, KINDS = WARP_LANES + 1 };

/* Whether a window's first sector, if it starts inside one, is requested. */
enum first_sector { FIRST_WANTED, FIRST_HELD };

struct pattern_counter {
    struct pattern_view view;
    uint32_t round, mask; /* mask: phases - 1 */
    uint32_t base_phase;  /* of element 0 */
    uint64_t lists_per_warp;
    bool exact; /* prevwarp: through the coalescer */
    struct coalescer coalescer;
    uint64_t loads, longest_load, small_lanes;
    /* [enum first_sector][phase][lanes]: windows of that kind */
    uint64_t kinds[2][PHASES][KINDS];
};

/* Windows of 1- and 2-byte elements are no whole lines, so that each is looked at. */
static bool is_small(const struct pattern_counter *c)
{
    return WARP_LANES * c->view.element < LINE_BYTES;
}

struct pattern_counter *window_counter_new(const struct pattern_view *view, uint32_t round, uint64_t lists_per_warp,
                                           struct err *err)
{
    struct pattern_counter *c = mem_zalloc(1, sizeof *c, err);
    if (!c)
        return NULL;
    c->view = *view;
    c->round = round;
    c->mask = is_small(c) ? 0 : LINE_BYTES / view->element - 1; /* small: no kinds are counted */
    c->base_phase = (uint32_t)(view->base / view->element) & c->mask;
    c->lists_per_warp = lists_per_warp;
    c->exact = view->reuse == REUSE_PREVWARP || (view->reuse == REUSE_WARP && lists_per_warp > 1);
    coalescer_init(&c->coalescer, view->reuse, NULL, NULL);
    c->coalescer.request = view->request;
    return c;
}

void window_counter_free(struct pattern_counter *c)
{
    if (c)
        coalescer_release(&c->coalescer);
    free(c);
}

/* How a list falls into windows. */
struct cut {
    uint32_t phase, lanes; /* of the first window */
    uint32_t later_phase;
    uint64_t left; /* elements after it */
};

static inline struct cut cut_list(const struct pattern_counter *c, const struct scan *s)
{
    uint32_t head = c->round ? (uint32_t)s->first & (c->round - 1) : 0, room = WARP_LANES - head;
    struct cut cut = {.phase = ((uint32_t)s->first + c->base_phase) & c->mask,
                      .later_phase = ((uint32_t)s->first - head + c->base_phase) & c->mask};
    cut.lanes = s->count < room ? (uint32_t)s->count : room;
    cut.left = s->count - cut.lanes;
    if (c->view.unmasked_head) {
        cut.phase = cut.later_phase;
        cut.lanes += head;
    }
    return cut;
}

static inline void note_longest(struct pattern_counter *c, uint64_t windows)
{
    c->loads += windows;
    if (windows > c->longest_load)
        c->longest_load = windows;
}

/* Count the windows of a list; returns how many there are. `later`: of the first sectors of all but the first. */
static inline uint64_t count_list(struct pattern_counter *c, const struct scan *s, enum first_sector later)
{
    struct cut cut = cut_list(c, s);
    c->kinds[FIRST_WANTED][cut.phase][cut.lanes]++;
    c->kinds[later][cut.later_phase][WARP_LANES] += cut.left / WARP_LANES;
    c->kinds[later][cut.later_phase][cut.left % WARP_LANES]++; /* kind 0 requests nothing */
    return 1 + (cut.left + WARP_LANES - 1) / WARP_LANES;
}

static int count_small(struct pattern_counter *c, const struct scan *s, struct err *err)
{
    uint64_t at = c->round ? s->first - s->first % c->round : s->first;
    uint64_t windows = (s->first + s->count - at + WARP_LANES - 1) / WARP_LANES;
    c->small_lanes += c->view.unmasked_head ? s->first + s->count - at : s->count;
    note_longest(c, windows);
    if (c->view.shape == SCAN_ARRAY)
        c->longest_load = 1;
    else if (c->view.reuse == REUSE_L1)
        c->coalescer.reuse = REUSE_WARP; /* a warp's own windows; those of others in its block are not known to stay */
    return window_expand(&c->view, c->round, c->lists_per_warp, s, 1, &c->coalescer, err);
}

int window_count(struct pattern_counter *c, const struct scan *scans, size_t n, struct err *err)
{
    const bool array = c->view.shape == SCAN_ARRAY; /* a grid-stride loop: window w is read by warp w */
    const enum first_sector later = c->view.reuse == (array ? REUSE_PREVWARP : REUSE_WARP) ? FIRST_HELD : FIRST_WANTED;
    if (is_small(c)) {
        for (size_t i = 0; i < n; i++)
            if (count_small(c, &scans[i], err))
                return -1;
        return 0;
    }
    if (c->exact && !array) {
        for (size_t i = 0; i < n; i++)
            note_longest(c, (cut_list(c, &scans[i]).left + UINT64_C(2) * WARP_LANES - 1) / WARP_LANES);
        return window_expand(&c->view, c->round, c->lists_per_warp, scans, n, &c->coalescer, err);
    }
    for (size_t i = 0; i < n; i++) {
        note_longest(c, count_list(c, &scans[i], later));
        c->longest_load = array ? 1 : c->longest_load;
    }
    return 0;
}

/* What one window of a kind requests. */
static struct request_mix window_mix(const struct pattern_view *view, bool first_held, uint64_t phase, uint64_t lanes)
{
    struct request_mix mix = {0};
    uint64_t from = phase * view->element + view->base % view->element, to = from + lanes * view->element;
    uint64_t first = from / SECTOR_BYTES;
    first += first_held && from % SECTOR_BYTES != 0;
    mix_range(&mix, first, (to - 1) / SECTOR_BYTES);
    return mix;
}

int window_finish(struct pattern_counter *c, struct pattern_count *count, struct err *err)
{
    (void)err;
    *count = (struct pattern_count){
        .mix = c->coalescer.mix, .loads = c->loads, .lane_loads = c->small_lanes, .longest_load = c->longest_load};
    for (int f = FIRST_WANTED; f <= FIRST_HELD; f++)
        for (uint64_t phase = 0; phase <= c->mask; phase++)
            for (uint64_t lanes = 1; lanes <= WARP_LANES; lanes++) {
                uint64_t windows = c->kinds[f][phase][lanes];
                if (!windows)
                    continue;
                struct request_mix mix = window_mix(&c->view, f == FIRST_HELD, phase, lanes);
                for (int i = 0; i < LINE_SECTORS; i++)
                    count->mix.by_size[i] += windows * mix.by_size[i];
                count->mix.host_lines += windows * mix.host_lines;
                count->lane_loads += windows * lanes;
            }
    count->longest = c->longest_load;
    memset(c->kinds, 0, sizeof c->kinds);
    c->loads = c->longest_load = c->small_lanes = 0;
    coalescer_launch(&c->coalescer);
    c->coalescer.mix = (struct request_mix){0};
    return 0;
}

int window_expand(const struct pattern_view *view, uint32_t round, uint64_t lists_per_warp, const struct scan *scans,
                  size_t n, struct coalescer *c, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t start = scans[i].first, end = start + scans[i].count;
        uint64_t warp = scans[i].lane / lists_per_warp;
        for (uint64_t at = round ? start - start % round : start; at < end; at += WARP_LANES) {
            uint64_t sectors[2 * WARP_LANES * 2];
            size_t k = 0;
            for (uint64_t e = at; e < at + WARP_LANES && e < end; e++)
                if (e >= start || view->unmasked_head)
                    k = pattern_add_sectors(sectors, k, view->base + e * view->element, view->element);
            if (view->shape == SCAN_ARRAY)
                warp = (at - start) / WARP_LANES;
            if (coalescer_load(c, warp, sectors, k, err))
                return -1;
        }
    }
    return 0;
}
