#include "models/zerocopy/lane.h"

#include "models/base/platform.h"
#include "models/policies.h"
#include "trace/base/random.h"
#include "trace/base/testing.h"

static uint64_t state = 1;

static uint64_t draw(uint64_t below)
{
    state = random_mix(state);
    return state % below;
}

/* Lists of a graph; or as an array's are, so many elements each and so far apart, but for a shorter one here and there.
 */
static void draw_lists(struct scan scans[100])
{
    uint64_t least = draw(3) ? 0 : 32; /* a line or longer */
    uint64_t at = draw(1000) + 8, lane = draw(2) * 32 + draw(3), length = 2 + least + draw(40),
             apart = length + draw(3);
    bool array = draw(2);
    for (size_t i = 0; i < 100; i++) {
        uint64_t other = 1 + least + (draw(8) ? draw(20) : draw(300));
        scans[i] = (struct scan){at, array ? length - (draw(50) == 0) : other, lane};
        at += array ? apart : other + (draw(4) ? 0 : draw(50));
        lane += array ? 1 : 1 + draw(2);
    }
}

START_TEST(the_quick_count_equals_the_exact_coalescer)
{
    static const enum scan_reuse rules[] = {REUSE_NONE, REUSE_WARP, REUSE_GROUP4, REUSE_PREVWARP};
    for (int round = 0; round < 3000; round++) {
        struct pattern_view view = {.shape = SCAN_LISTS,
                                    .reuse = rules[draw(4)],
                                    .request = draw(2) ? REQUEST_LINE : REQUEST_RUN,
                                    .base = 4096 + draw(32) * 4,
                                    .element = draw(4) ? draw(2) ? 8 : 4 : 1u << draw(5),
                                    .block_warps = 4};
        view.base -= view.base % view.element;
        struct scan scans[100];
        draw_lists(scans);
        struct pattern_counter *counter = zerocopy_naive.counter_new(&view, NULL);
        struct coalescer exact;
        struct pattern_count count;
        coalescer_init(&exact, view.reuse, NULL, NULL);
        exact.request = view.request;
        ck_assert_int_eq(zerocopy_naive.count(counter, scans, 100, NULL), 0);
        ck_assert_int_eq(zerocopy_naive.finish(counter, &count, NULL), 0);
        ck_assert_int_eq(zerocopy_naive.expand(&view, scans, 100, NULL, &exact, NULL), 0);
        for (int i = 0; i < LINE_SECTORS; i++)
            ck_assert_uint_eq(count.mix.by_size[i], exact.mix.by_size[i]);
        ck_assert_uint_eq(count.mix.host_lines, exact.mix.host_lines);
        coalescer_release(&exact);
        zerocopy_naive.counter_free(counter);
    }
}
END_TEST

START_TEST(what_a_launch_held_is_gone_at_the_next)
{
    static const enum scan_reuse rules[] = {REUSE_NONE, REUSE_WARP, REUSE_GROUP4, REUSE_PREVWARP};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct pattern_view view = {.shape = SCAN_LISTS, .reuse = rules[i], .element = 4, .block_warps = 4};
        struct scan one = {8, 1, 0};
        struct pattern_counter *counter = zerocopy_naive.counter_new(&view, NULL);
        struct pattern_count count;
        for (int launch = 0; launch < 2; launch++) {
            ck_assert_int_eq(zerocopy_naive.count(counter, &one, 1, NULL), 0);
            ck_assert_int_eq(zerocopy_naive.finish(counter, &count, NULL), 0);
            ck_assert_uint_eq(mix_requests(&count.mix), 1);
        }
        zerocopy_naive.counter_free(counter);
    }
}
END_TEST

/* Threads of 32 4-byte elements: 8 loads touch each sector. */
static uint64_t strided(enum scan_reuse reuse, uint64_t elements)
{
    struct pattern_view view = {.shape = SCAN_ARRAY, .reuse = reuse, .element = 4, .chunk = 32, .block_warps = 8};
    struct scan array = {0, elements, 0};
    struct pattern_counter *counter = zerocopy_naive.counter_new(&view, NULL);
    struct pattern_count count;
    ck_assert_int_eq(zerocopy_naive.count(counter, &array, 1, NULL), 0);
    ck_assert_int_eq(zerocopy_naive.finish(counter, &count, NULL), 0);
    zerocopy_naive.counter_free(counter);
    ck_assert_uint_eq(count.mix.by_size[0], mix_requests(&count.mix));
    return count.mix.by_size[0];
}

START_TEST(a_strided_array_asks_for_each_sector_once_twice_or_eight_times)
{
    ck_assert_uint_eq(strided(REUSE_WARP, 1 << 20), (1 << 20) / 8);
    ck_assert_uint_eq(strided(REUSE_GROUP4, 1 << 20), (1 << 20) / 4);
    ck_assert_uint_eq(strided(REUSE_NONE, 1 << 20), 1 << 20);
    ck_assert_uint_eq(strided(REUSE_WARP, (1 << 20) + 40), (1 << 20) / 8 + 5);
}
END_TEST

/* H200, 2026-11: chunks of 32 4-byte elements, blocks of 256 threads. */
START_TEST(l1_refetches_are_the_measured_ones)
{
    struct platform *platform = platform_load("h200", NULL);
    const struct pcie *p = platform_section_get(platform, "pcie");
    const struct gpu *gpu = platform_section_get(platform, "gpu");
    struct l1_kernel k = {.blocks = 2048, .warps = 8, .lines_per_warp = 32, .sector_loads = 8};
    ck_assert_double_eq_tol(l1_fetches(p, gpu, &k), 1.547, 0.03);
    k.blocks = 16384;
    ck_assert_double_eq_tol(l1_fetches(p, gpu, &k), 1.323, 0.03);
    k.blocks_per_sm = 4;
    ck_assert_double_eq_tol(l1_fetches(p, gpu, &k), 3.7, 0.2);
    k.blocks_per_sm = 0;
    k.lines_per_warp = 16;
    ck_assert_double_eq_tol(l1_fetches(p, gpu, &k), 1, 0.1);
    platform_free(platform);
}
END_TEST

/* The last wave's places that stay empty change nothing: what comes with the first wave is all of a small launch. */
START_TEST(launches_of_as_many_blocks_a_multiprocessor_fetch_alike)
{
    struct platform *platform = platform_load("h200", NULL);
    const struct pcie *p = platform_section_get(platform, "pcie");
    const struct gpu *gpu = platform_section_get(platform, "gpu");
    double before = 0;
    for (int per_sm = 1; per_sm <= 8; per_sm++) {
        struct l1_kernel k = {.warps = 8, .lines_per_warp = 32, .sector_loads = 8};
        k.blocks = (double)gpu->sms * per_sm;
        const double full = l1_fetches(p, gpu, &k);
        k.blocks = (double)gpu->sms * (per_sm - 1) + 1;
        ck_assert_double_eq(l1_fetches(p, gpu, &k), full);
        ck_assert_double_ge(full, before);
        before = full;
    }
    ck_assert_double_gt(before, 1);
    platform_free(platform);
}
END_TEST

static uint64_t requests(uint64_t row_bytes, bool shift, const uint64_t *rows, size_t n, const struct residency *where)
{
    struct pattern_view view = {
        .shape = SCAN_ROWS, .reuse = REUSE_NONE, .element = 4, .row = row_bytes / 4, .residency = where};
    struct pattern_counter *c = row_counter_new(&view, shift, NULL);
    struct pattern_count count;
    for (size_t i = 0; i < n; i++) {
        struct scan scan = {rows[i] * view.row, view.row, i};
        ck_assert_int_eq(row_count(c, &scan, 1, NULL), 0);
    }
    ck_assert_int_eq(row_finish(c, &count, NULL), 0);
    row_counter_free(c);
    return mix_requests(&count.mix);
}

/* Dissertation, section 3.3: rows of 480 B. */
START_TEST(row_1_of_480_bytes_takes_8_requests_straight_and_5_shifted)
{
    const uint64_t one = 1, zero = 0, three = 3;
    ck_assert_uint_eq(requests(480, false, &one, 1, NULL), 8);
    ck_assert_uint_eq(requests(480, true, &one, 1, NULL), 5);
    ck_assert_uint_eq(requests(480, false, &zero, 1, NULL), 4);
    ck_assert_uint_eq(requests(480, true, &zero, 1, NULL), 4);
    ck_assert_uint_eq(requests(480, false, &three, 1, NULL), 7);
    ck_assert_uint_eq(requests(480, true, &three, 1, NULL), 4);
}
END_TEST

START_TEST(aligned_rows_need_no_shift)
{
    const uint64_t rows[] = {5, 0, 1000, 7};
    ck_assert_uint_eq(requests(1024, false, rows, 4, NULL), 32);
    ck_assert_uint_eq(requests(1024, true, rows, 4, NULL), 32);
}
END_TEST

START_TEST(resident_rows_cost_no_request)
{
    const uint64_t rows[] = {5, 0, 1000, 7};
    static uint32_t rank[1001]; /* even rows first */
    for (uint32_t r = 0; r <= 1000; r++)
        rank[r] = r / 2 + (r % 2 ? 501 : 0);
    struct residency where;
    residency_init(&where, rank, 1001, 50.1, 0, 1, RESIDENCY_INTERLEAVE);
    ck_assert_uint_eq(requests(1024, false, rows, 4, &where), 16);
}
END_TEST

TEST_MAIN("lane")
