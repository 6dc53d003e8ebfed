/* The counts of naive against its definition: lane by lane, load by load, sector by sector. */
#include "models/policies.h"
#include "models/zerocopy/lane.h"
#include "trace/base/random.h"
#include "trace/base/testing.h"

enum { MAX_SCANS = 120, SECTORS_MOST = 1 << 13 };

static struct random rng = {1};
static bool seen[SECTORS_MOST], touched[SECTORS_MOST], before[SECTORS_MOST];

/* --- the definition --- */

static void forget(bool *of)
{
    memset(of, 0, SECTORS_MOST * sizeof *of);
}

/* Requests for the touched sectors that are not held. */
static void ask(const struct pattern_view *view, struct request_mix *mix)
{
    for (uint64_t line = 0; line < SECTORS_MOST; line += LINE_SECTORS) {
        int64_t from = -1, to = -1;
        for (uint64_t s = line; s < line + LINE_SECTORS; s++) {
            const bool held = view->reuse == REUSE_PREVWARP ? before[s] : seen[s];
            if (!touched[s] || held)
                continue;
            if (from >= 0 && view->request == REQUEST_RUN && (int64_t)s != to + 1) {
                mix_run(mix, (uint64_t)from, (uint64_t)to);
                from = -1;
            }
            from = from < 0 ? (int64_t)s : from;
            to = (int64_t)s;
        }
        if (from >= 0)
            mix_run(mix, (uint64_t)from, (uint64_t)to);
    }
}

/* Load j of the lanes of a warp; how many of them have one. */
static uint64_t load(const struct pattern_view *view, const struct scan *lane, size_t n, uint64_t j,
                     struct request_mix *mix)
{
    uint64_t active = 0;
    bool any = false;
    forget(touched);
    for (size_t i = 0; i < n; i++) {
        if (lane[i].count <= j)
            continue;
        active++;
        const uint64_t at = view->base + (lane[i].first + j) * view->element, last = at + view->element - 1;
        /* one of four loads issued together, whose sector is the one before's */
        if (view->reuse == REUSE_GROUP4 && j % 4 && j / 4 < lane[i].count / 4 &&
            last / SECTOR_BYTES == (at - 1) / SECTOR_BYTES)
            continue;
        any = touched[at / SECTOR_BYTES] = touched[last / SECTOR_BYTES] = true;
    }
    ask(view, mix);
    for (size_t s = 0; s < SECTORS_MOST && (view->reuse == REUSE_WARP || view->reuse == REUSE_L1); s++)
        seen[s] |= touched[s];
    if (any)
        memcpy(before, touched, sizeof before);
    return active;
}

/* A launch of lists, one a lane. */
static struct pattern_count defined(const struct pattern_view *view, const struct scan *lists, size_t n)
{
    struct pattern_count c = {0};
    forget(before);
    forget(seen);
    for (size_t i = 0, end; i < n; i = end) {
        const uint64_t warp = lists[i].lane / WARP_LANES;
        for (end = i; end < n && lists[end].lane / WARP_LANES == warp; end++)
            c.longest = lists[end].count > c.longest ? lists[end].count : c.longest;
        if (view->reuse == REUSE_WARP ||
            (i && lists[i - 1].lane / WARP_LANES / view->block_warps != warp / view->block_warps))
            forget(seen);
        for (uint64_t j = 0, active; (active = load(view, lists + i, end - i, j, &c.mix)); j++) {
            c.loads++;
            c.lane_loads += active;
        }
    }
    c.longest_load = c.longest;
    return c;
}

/* --- against it --- */

static void same_mix(const struct request_mix *a, const struct request_mix *b)
{
    for (int i = 0; i < LINE_SECTORS; i++)
        ck_assert_uint_eq(a->by_size[i], b->by_size[i]);
    ck_assert_uint_eq(a->host_lines, b->host_lines);
}

static struct pattern_count counted(struct pattern_counter *counter, const struct scan *scans, size_t n)
{
    struct pattern_count c;
    ck_assert_int_eq(zerocopy_naive.count(counter, scans, n, NULL), 0);
    ck_assert_int_eq(zerocopy_naive.finish(counter, &c, NULL), 0);
    return c;
}

static void agrees(const struct pattern_view *view, struct pattern_counter *counter, const struct scan *scans, size_t n,
                   const struct pattern_count *expected)
{
    const struct pattern_count c = counted(counter, scans, n);
    same_mix(&c.mix, &expected->mix);
    ck_assert_uint_eq(c.loads, expected->loads);
    ck_assert_uint_eq(c.lane_loads, expected->lane_loads);
    ck_assert_uint_eq(c.longest, expected->longest);
    ck_assert_uint_eq(c.longest_load, expected->longest_load);
    if (view->reuse == REUSE_L1)
        return;
    struct coalescer one;
    coalescer_init(&one, view->reuse, NULL, NULL);
    one.request = view->request;
    ck_assert_int_eq(zerocopy_naive.expand(view, scans, n, NULL, &one, NULL), 0);
    same_mix(&one.mix, &expected->mix);
    coalescer_release(&one);
}

static const enum scan_reuse rules[] = {REUSE_NONE, REUSE_WARP, REUSE_GROUP4, REUSE_PREVWARP, REUSE_L1};

static struct pattern_view any_view(int round, enum scan_shape shape)
{
    return (struct pattern_view){.shape = shape,
                                 .reuse = rules[round % 5],
                                 .request = random_below(&rng, 2) ? REQUEST_LINE : REQUEST_RUN,
                                 .base = 4096 + (uint64_t)random_below(&rng, 3) * LINE_BYTES,
                                 .element = 4u << random_below(&rng, 3),
                                 .chunk = 1 + random_below(&rng, 40),
                                 .block_warps = 1 + random_below(&rng, 3)};
}

START_TEST(lists_are_counted_as_they_are_defined)
{
    for (int round = 0; round < 200; round++) {
        struct pattern_view view = any_view(round, SCAN_LISTS);
        view.base += view.element * random_below(&rng, 32);
        struct pattern_counter *counter = zerocopy_naive.counter_new(&view, NULL);
        for (int launch = 0; launch < 2; launch++) {
            struct scan lists[MAX_SCANS];
            const size_t n = 1 + random_below(&rng, MAX_SCANS);
            uint64_t at = random_below(&rng, 100), lane = random_below(&rng, 70);
            for (size_t i = 0; i < n; i++) {
                lists[i] = (struct scan){at, 1 + random_below(&rng, random_below(&rng, 10) ? 12 : 60), lane};
                at += lists[i].count + (random_below(&rng, 3) ? 0 : random_below(&rng, 40));
                lane += 1 + random_below(&rng, 2);
            }
            const struct pattern_count expected = defined(&view, lists, n);
            agrees(&view, counter, lists, n, &expected);
        }
        zerocopy_naive.counter_free(counter);
    }
}
END_TEST

/* A list for each chunk of the array; counted as one warp many times over. */
START_TEST(an_array_is_counted_as_the_lists_of_its_chunks)
{
    static struct scan lists[4000];
    for (int round = 0; round < 150; round++) {
        struct pattern_view view = any_view(round, SCAN_ARRAY);
        struct pattern_counter *counter = zerocopy_naive.counter_new(&view, NULL);
        for (int launch = 0; launch < 2; launch++) {
            const uint64_t lanes = 1 + random_below(&rng, 100), short_by = random_below(&rng, (uint32_t)view.chunk);
            const struct scan array = {(uint64_t)random_below(&rng, 4) * LINE_BYTES, lanes * view.chunk - short_by, 0};
            for (uint64_t i = 0; i < lanes; i++)
                lists[i] = (struct scan){array.first + i * view.chunk, view.chunk - (i + 1 == lanes ? short_by : 0), i};
            const struct pattern_count expected = defined(&view, lists, lanes);
            agrees(&view, counter, &array, 1, &expected);
        }
        zerocopy_naive.counter_free(counter);
    }
}
END_TEST

START_TEST(rows_are_those_of_the_pattern_that_copies_them)
{
    for (int round = 0; round < 40; round++) {
        struct pattern_view view = any_view(round, SCAN_ROWS);
        struct scan rows[20];
        struct pattern_count expected;
        view.row = 8 + random_below(&rng, 60);
        for (uint64_t i = 0; i < 20; i++)
            rows[i] = (struct scan){view.row * random_below(&rng, 50), view.row, i};
        struct pattern_counter *counter = zerocopy_naive.counter_new(&view, NULL),
                               *row = row_counter_new(&view, false, NULL);
        ck_assert_int_eq(row_count(row, rows, 20, NULL), 0);
        ck_assert_int_eq(row_finish(row, &expected, NULL), 0);
        const struct pattern_count c = counted(counter, rows, 20);
        same_mix(&c.mix, &expected.mix);
        ck_assert_uint_gt(mix_requests(&c.mix), 0);
        ck_assert_uint_eq(c.loads, expected.loads);
        row_counter_free(row);
        zerocopy_naive.counter_free(counter);
    }
}
END_TEST

/* A coalescer that has no room left and cannot have more. */
START_TEST(what_the_coalescer_has_no_memory_for_is_an_error)
{
    static const enum scan_shape shapes[] = {SCAN_LISTS, SCAN_ROWS, SCAN_ARRAY};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct pattern_view view = {
            .shape = shapes[i], .reuse = REUSE_WARP, .element = 4, .chunk = 32, .row = 32, .block_warps = 1};
        const struct scan scans[] = {{0, 32 * WARP_LANES, 0}};
        struct pattern_carry carry = {0};
        struct coalescer full;
        coalescer_init(&full, REUSE_WARP, NULL, NULL);
        full.seen_size = (SIZE_MAX >> 2) + 1;
        full.used = full.seen_size / 2;
        full.warp = 0;
        FAILS_WITH(zerocopy_naive.expand(&view, scans, 1, &carry, &full, &err), "out of memory");
    }
}
END_TEST

TEST_MAIN("naive")
