#include "models/zerocopy/window.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

enum { PHASES = LINE_BYTES / 4, KINDS = WARP_LANES + 1 };

/* Fragments of one line that a second load finds still on their way, so that one request serves both (reuse=l1).
 *
 * Of two warps' fragments 12 % join: between 2 % (sweep) and 25 % (a launch of short lists). Of two windows of one list
 * a share of exp(-0.36 x (mean windows of the launch's lists - 1)): 0.96, 0.68 and 0 at 1.2, 2.1 and 7.4 windows.
 * Measured: H200, driver 580.159.04, 2026-11, requests of a BFS and a sweep over kron scale 18; what makes it so is not
 * known. */
static const double join_warps = 0.12, join_windows_decay = 0.42;

/* Where every element makes the warp read GPU memory, this share of the sectors that two windows share is gone when the
 * second comes. Measured likewise: 31,000 more sectors in a launch of 163,000 such pairs. */
static const double lost_windows = 0.2;

/* Counts of fragment pairs: [sectors of the former][of the latter][does a 64 B line hold parts of both]. */
typedef uint64_t fragment_pairs[LINE_SECTORS][LINE_SECTORS][2];

/* A list whose successor may still take its last sector over. */
struct pending {
    struct scan scan;
    bool held; /* its first sector is served already */
};

/* Whether a window's first sector, if it starts inside one, is requested: yes; no, another warp's list brought it; no,
 * the window before did. */
enum first_sector { FIRST_WANTED, FIRST_OF_WARP, FIRST_OF_WINDOW };

struct pattern_counter {
    struct pattern_view view;
    uint32_t round, mask; /* mask: phases - 1 */
    uint32_t base_phase;  /* of element 0 */
    uint64_t lists_per_warp, lanes_per_block;
    bool exact; /* prevwarp: through the coalescer */
    struct coalescer coalescer;
    bool waiting;
    struct pending pending;
    uint64_t loads, longest_load, lists, small_lanes;
    fragment_pairs of_warps, of_windows;
    /* [enum first_sector][last sector held][phase][lanes]: windows of that kind */
    uint64_t kinds[3][2][PHASES][KINDS];
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
    c->lanes_per_block = lists_per_warp * view->block_warps;
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

static void count_none(struct pattern_counter *c, const struct scan *scans, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct cut cut = cut_list(c, &scans[i]);
        uint64_t full = cut.left / WARP_LANES;
        c->kinds[0][0][cut.phase][cut.lanes]++;
        c->kinds[0][0][cut.later_phase][WARP_LANES] += full;
        c->kinds[0][0][cut.later_phase][cut.left % WARP_LANES]++; /* kind 0 requests nothing */
        note_longest(c, 1 + full + (cut.left % WARP_LANES != 0));
    }
}

/* One list; later windows share their first sector with the one before. */
static void count_held(struct pattern_counter *c, const struct scan *s, bool first_held, bool last_held)
{
    struct cut cut = cut_list(c, s);
    uint64_t windows = (cut.left + WARP_LANES - 1) / WARP_LANES;
    note_longest(c, 1 + windows);
    if (windows == 0) {
        c->kinds[first_held][last_held][cut.phase][cut.lanes]++;
        return;
    }
    uint64_t rest = cut.left - (windows - 1) * WARP_LANES;
    c->kinds[first_held][0][cut.phase][cut.lanes]++;
    c->kinds[FIRST_OF_WINDOW][0][cut.later_phase][WARP_LANES] += windows - 1;
    c->kinds[FIRST_OF_WINDOW][last_held][cut.later_phase][rest]++;
}

static inline uint64_t sector_of(const struct pattern_counter *c, uint64_t element, uint64_t byte)
{
    return (c->view.base + element * c->view.element + byte) / SECTOR_BYTES;
}

/* Fragments either side of the boundary between two adjacent sectors `last` and `last + 1`: one ends with `last` and
 * began at sector `from` or before, the other ends with `to` or later. */
static void pair(fragment_pairs pairs, uint64_t from, uint64_t last, uint64_t to, uint64_t times)
{
    uint64_t line = last & ~(uint64_t)(LINE_SECTORS - 1), before = last - (from > line ? from : line) + 1;
    uint64_t after = (to < line + 3 ? to : line + 3) - last;
    if (last % LINE_SECTORS != LINE_SECTORS - 1 && to > last && last >= from)
        pairs[before][after][(last + 1) % 2] += times;
}

/* Between the windows of one list. */
static void pair_windows(struct pattern_counter *c, const struct scan *s)
{
    struct cut cut = cut_list(c, s);
    uint64_t windows = (cut.left + WARP_LANES - 1) / WARP_LANES;
    if (windows == 0)
        return;
    uint64_t second = s->first + cut.lanes, end = sector_of(c, s->first + s->count - 1, c->view.element - 1);
    uint64_t last = sector_of(c, second - 1, c->view.element - 1);
    pair(c->of_windows, sector_of(c, s->first, 0), last, windows > 1 ? last + LINE_SECTORS : end, 1);
    if (windows > 1) {
        last = sector_of(c, second + (windows - 1) * WARP_LANES - 1, c->view.element - 1);
        pair(c->of_windows, last - LINE_SECTORS, last, last + LINE_SECTORS, windows - 2);
        pair(c->of_windows, last - LINE_SECTORS, last, end, 1);
    }
}

/* Warps of a block share the L1: the boundary sector of two lists is requested once. */
static void count_block(struct pattern_counter *c, const struct scan *s)
{
    bool held = false;
    c->lists++;
    pair_windows(c, s);
    if (c->waiting) {
        const struct scan *p = &c->pending.scan;
        bool shared = p->lane / c->lanes_per_block == s->lane / c->lanes_per_block &&
                      sector_of(c, p->first + p->count - 1, c->view.element - 1) == sector_of(c, s->first, 0);
        bool late = shared && cut_list(c, p).left > 0 && p->lane / c->lists_per_warp != s->lane / c->lists_per_warp;
        held = shared && !late;
        if (p->lane / c->lanes_per_block == s->lane / c->lanes_per_block && p->first + p->count == s->first)
            pair(c->of_warps, sector_of(c, p->first, 0), sector_of(c, s->first - 1, c->view.element - 1),
                 sector_of(c, s->first + s->count - 1, c->view.element - 1), 1);
        count_held(c, p, c->pending.held, late);
    }
    c->pending = (struct pending){*s, held};
    c->waiting = true;
}

/* A grid-stride loop: window w is read by warp w; of the windows of a block only the first starts anew. */
static void count_array(struct pattern_counter *c, const struct scan *s)
{
    struct cut cut = cut_list(c, s);
    uint64_t windows = (cut.left + WARP_LANES - 1) / WARP_LANES, full = cut.left / WARP_LANES;
    bool l1 = c->view.reuse == REUSE_L1 || c->view.reuse == REUSE_PREVWARP;
    uint64_t block = c->view.reuse == REUSE_L1 ? c->view.block_warps : UINT64_MAX;
    uint64_t anew = l1 ? full / block : full; /* windows block, 2 block, ... start a block */
    c->kinds[0][0][cut.phase][cut.lanes]++;
    c->kinds[0][0][cut.later_phase][WARP_LANES] += anew;
    c->kinds[1][0][cut.later_phase][WARP_LANES] += full - anew;
    bool held = l1 && windows % block != 0;
    c->kinds[held][0][cut.later_phase][cut.left % WARP_LANES]++;
    c->loads += 1 + windows;
    c->longest_load = 1;
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
    for (size_t i = 0; is_small(c) && i < n; i++)
        if (count_small(c, &scans[i], err))
            return -1;
    if (is_small(c))
        return 0;
    if (c->view.shape == SCAN_ARRAY) {
        for (size_t i = 0; i < n; i++)
            count_array(c, &scans[i]);
        return 0;
    }
    if (c->exact) {
        for (size_t i = 0; i < n; i++)
            note_longest(c, (cut_list(c, &scans[i]).left + 2 * WARP_LANES - 1) / WARP_LANES);
        return window_expand(&c->view, c->round, c->lists_per_warp, scans, n, &c->coalescer, err);
    }
    if (c->view.reuse == REUSE_L1) {
        for (size_t i = 0; i < n; i++)
            count_block(c, &scans[i]);
    } else if (c->view.reuse == REUSE_WARP) {
        for (size_t i = 0; i < n; i++)
            count_held(c, &scans[i], false, false);
    } else {
        count_none(c, scans, n);
    }
    return 0;
}

/* What one window of a kind requests. */
static struct request_mix window_mix(const struct pattern_view *view, bool first_held, bool last_held, uint64_t phase,
                                     uint64_t lanes)
{
    struct request_mix mix = {0};
    uint64_t from = phase * view->element + view->base % view->element, to = from + lanes * view->element;
    uint64_t first = from / SECTOR_BYTES, last = (to - 1) / SECTOR_BYTES;
    first += first_held && from % SECTOR_BYTES != 0;
    if (last_held && to % SECTOR_BYTES != 0) {
        if (last == 0)
            return mix;
        last--;
    }
    mix_range(&mix, first, last);
    return mix;
}

/* Some later windows fetch the sector that they share with the one before. */
static void lose_windows(struct pattern_counter *c)
{
    for (int l = 0; l < 2; l++)
        for (uint64_t phase = 0; phase <= c->mask; phase++)
            for (uint64_t lanes = 1; lanes <= WARP_LANES; lanes++) {
                uint64_t n = (uint64_t)(lost_windows * (double)c->kinds[FIRST_OF_WINDOW][l][phase][lanes] + 0.5);
                c->kinds[FIRST_OF_WINDOW][l][phase][lanes] -= n;
                c->kinds[FIRST_WANTED][l][phase][lanes] += n;
            }
}

/* Join a share of the pairs: two requests become one. Both fragments are requests of their own as they were counted,
 * except where a short list's fragment touches both its neighbours: never join more than there are. */
static void join_pairs(struct request_mix *mix, fragment_pairs pairs, double share)
{
    for (uint64_t i = 1; i < LINE_SECTORS; i++)
        for (uint64_t j = 1; i + j <= LINE_SECTORS; j++)
            for (int odd = 0; odd < 2; odd++) {
                uint64_t n = (uint64_t)(share * (double)pairs[i][j][odd] + 0.5);
                uint64_t most = i == j ? mix->by_size[i - 1] / 2 : mix->by_size[i - 1];
                n = n < most ? n : most;
                n = i != j && n > mix->by_size[j - 1] ? mix->by_size[j - 1] : n;
                mix->by_size[i - 1] -= n;
                mix->by_size[j - 1] -= n;
                mix->by_size[i + j - 1] += n;
                mix->host_lines -= odd ? n : 0;
                pairs[i][j][odd] = 0;
            }
}

int window_finish(struct pattern_counter *c, struct pattern_count *count, struct err *err)
{
    (void)err;
    if (c->waiting)
        count_held(c, &c->pending.scan, c->pending.held, false);
    c->waiting = false;
    if (c->lists && c->view.visits)
        lose_windows(c);
    *count = (struct pattern_count){
        .mix = c->coalescer.mix, .loads = c->loads, .lane_loads = c->small_lanes, .longest_load = c->longest_load};
    for (int f = FIRST_WANTED; f <= FIRST_OF_WINDOW; f++)
        for (int l = 0; l < 2; l++)
            for (uint64_t phase = 0; phase <= c->mask; phase++)
                for (uint64_t lanes = 1; lanes <= WARP_LANES; lanes++) {
                    uint64_t windows = c->kinds[f][l][phase][lanes];
                    if (!windows)
                        continue;
                    struct request_mix mix = window_mix(&c->view, f != FIRST_WANTED, l, phase, lanes);
                    for (int i = 0; i < LINE_SECTORS; i++)
                        count->mix.by_size[i] += windows * mix.by_size[i];
                    count->mix.host_lines += windows * mix.host_lines;
                    count->lane_loads += windows * lanes;
                }
    if (c->lists) {
        double windows = (double)c->loads / (double)c->lists;
        join_pairs(&count->mix, c->of_warps, join_warps);
        join_pairs(&count->mix, c->of_windows, exp(-join_windows_decay * (windows - 1)));
    }
    count->longest = c->longest_load;
    memset(c->kinds, 0, sizeof c->kinds);
    c->loads = c->longest_load = c->lists = c->small_lanes = 0;
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
                    k = pattern_touch(sectors, k, view->base + e * view->element, view->element);
            if (view->shape == SCAN_ARRAY)
                warp = (at - start) / WARP_LANES;
            if (coalescer_load(c, warp, sectors, k, err))
                return -1;
        }
    }
    return 0;
}
