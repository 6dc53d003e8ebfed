#include "models/zerocopy/window.h"

#include "models/policies.h"
#include "trace/base/random.h"
#include "trace/base/testing.h"

static uint64_t state = 1;

static uint64_t draw(uint64_t below)
{
    state = random_mix(state);
    return state % below;
}

static void same(const struct request_mix *a, const struct request_mix *b)
{
    for (int i = 0; i < LINE_SECTORS; i++)
        ck_assert_uint_eq(a->by_size[i], b->by_size[i]);
    ck_assert_uint_eq(a->host_lines, b->host_lines);
}

/* One random view and a launch of `lists` random lists, counted in closed form and by the exact coalescer. */
static void compare(size_t lists)
{
    static const struct zerocopy_pattern *const patterns[] = {&zerocopy_merged, &zerocopy_aligned, &zerocopy_chunk};
    static const enum scan_reuse rules[] = {REUSE_NONE, REUSE_WARP, REUSE_PREVWARP};
    const struct zerocopy_pattern *p = patterns[draw(3)];
    uint32_t element = draw(16) ? draw(2) ? 8 : 4 : 1u << draw(5);
    struct pattern_view view = {.shape = SCAN_LISTS,
                                .reuse = rules[draw(8) ? draw(2) : 2],
                                .base = 4096 + draw(64) * 4,
                                .element = element,
                                .round = draw(2) ? 16 : 128 / element,
                                .unmasked_head = draw(3) == 0,
                                .block_warps = 4};
    struct err err = {""};
    struct pattern_counter *counter = p->counter_new(&view, &err);
    struct coalescer exact;
    coalescer_init(&exact, view.reuse, NULL, NULL);
    struct scan scans[64];
    uint64_t at = draw(1000) + 32, lane = draw(100);
    for (size_t i = 0; i < lists; i++) {
        scans[i] = (struct scan){at, 1 + (draw(8) ? draw(80) : draw(700)), lane};
        at += scans[i].count + (draw(4) ? 0 : draw(50));
        lane += 1 + draw(2);
    }
    struct pattern_carry carry = {0};
    struct pattern_count count;
    ck_assert_int_eq(p->count(counter, scans, lists, &err), 0);
    ck_assert_int_eq(p->finish(counter, &count, &err), 0);
    ck_assert_int_eq(p->expand(&view, scans, lists, &carry, &exact, &err), 0);
    same(&count.mix, &exact.mix);
    coalescer_release(&exact);
    p->counter_free(counter);
}

START_TEST(the_closed_form_equals_the_exact_coalescer_on_a_million_random_lists)
{
    for (int i = 0; i < 16384; i++)
        compare(62);
}
END_TEST

/* By hand: 4,096 elements of 1 B from byte 0 are 128 windows of a sector each; of 2 B 128 of 64 B; from byte 16 on a
 * window of 1 B elements touches two sectors, of which four windows' lie across a line's end. */
START_TEST(windows_of_small_elements_are_counted_one_by_one)
{
    static const struct {
        uint32_t element;
        uint64_t base, requests[LINE_SECTORS];
    } given[] = {{1, 4096, {128}}, {2, 4096, {0, 128}}, {1, 4112, {64, 96}}, {2, 4104, {64, 64, 64}}};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        struct pattern_view view = {.shape = SCAN_ARRAY,
                                    .reuse = REUSE_NONE,
                                    .base = given[i].base,
                                    .element = given[i].element,
                                    .block_warps = 8};
        struct pattern_counter *counter = zerocopy_merged.counter_new(&view, NULL);
        struct scan array = {0, 4096, 0};
        struct pattern_count count;
        ck_assert_int_eq(zerocopy_merged.count(counter, &array, 1, NULL), 0);
        ck_assert_int_eq(zerocopy_merged.finish(counter, &count, NULL), 0);
        for (int k = 0; k < LINE_SECTORS; k++)
            ck_assert_uint_eq(count.mix.by_size[k], given[i].requests[k]);
        ck_assert_uint_eq(count.loads, 128);
        ck_assert_uint_eq(count.lane_loads, 4096);
        zerocopy_merged.counter_free(counter);
    }
}
END_TEST

START_TEST(single_lists_agree_too)
{
    for (int i = 0; i < 100000; i++)
        compare(1);
}
END_TEST

/* The example of window.h: 40 elements of 8 B from byte 48 on. */
START_TEST(a_misaligned_list_is_cut_at_windows_and_lines)
{
    struct pattern_view view = {.shape = SCAN_LISTS, .reuse = REUSE_NONE, .element = 8, .block_warps = 4};
    struct scan list = {6, 40, 0};
    struct pattern_counter *counter = zerocopy_merged.counter_new(&view, NULL);
    struct pattern_count count;
    ck_assert_int_eq(zerocopy_merged.count(counter, &list, 1, NULL), 0);
    ck_assert_int_eq(zerocopy_merged.finish(counter, &count, NULL), 0);
    const struct request_mix want = {{0, 1, 2, 1}, 7};
    same(&count.mix, &want);
    ck_assert_uint_eq(count.loads, 2);
    zerocopy_merged.counter_free(counter);
}
END_TEST

/* A grid-stride loop over 64 MiB from element 8 on: 524,287 full windows of 32 + 96 B and one of 24 lanes (findings of
 * the H200 counters: 1,046,918 counted). */
START_TEST(a_shifted_array_makes_1048575_requests)
{
    struct pattern_view view = {.shape = SCAN_ARRAY, .reuse = REUSE_NONE, .element = 4, .block_warps = 8};
    struct scan array = {8, (64 << 20) / 4 - 8, 0};
    struct pattern_counter *counter = zerocopy_merged.counter_new(&view, NULL);
    struct pattern_count count;
    ck_assert_int_eq(zerocopy_merged.count(counter, &array, 1, NULL), 0);
    ck_assert_int_eq(zerocopy_merged.finish(counter, &count, NULL), 0);
    ck_assert_uint_eq(count.mix.by_size[0], 524287);
    ck_assert_uint_eq(count.mix.by_size[2], 524288);
    ck_assert_uint_eq(mix_payload(&count.mix), (64 << 20) - 32);
    zerocopy_merged.counter_free(counter);
}
END_TEST

/* From byte 36 on, 512 MiB, measured on an H200, 2026-11: nearer two requests that overlap than two of 64 B. */
START_TEST(neighbouring_warps_both_ask_for_the_sector_between_them)
{
    struct pattern_view view = {.shape = SCAN_ARRAY, .reuse = REUSE_L1, .element = 4, .block_warps = 8};
    struct scan array = {9, (512 << 20) / 4 - 9, 0};
    struct pattern_counter *counter = zerocopy_merged.counter_new(&view, NULL);
    struct pattern_count count;
    ck_assert_int_eq(zerocopy_merged.count(counter, &array, 1, NULL), 0);
    ck_assert_int_eq(zerocopy_merged.finish(counter, &count, NULL), 0);
    ck_assert_uint_eq(count.mix.by_size[1], 4194303);
    ck_assert_uint_eq(count.mix.by_size[2], 4194304);
    zerocopy_merged.counter_free(counter);
}
END_TEST

TEST_MAIN("window")
