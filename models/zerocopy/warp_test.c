#include "models/zerocopy/warp.h"

#include "trace/base/testing.h"

static size_t lanes(uint64_t *sectors, uint64_t from, uint64_t step, int n)
{
    for (int i = 0; i < n; i++)
        sectors[i] = (from + (uint64_t)i * step) / SECTOR_BYTES;
    return (size_t)n;
}

/* Dissertation, figure 2.4: (a) strided, (b) merged and aligned, (c) shifted by 32 B. */
START_TEST(the_three_toy_patterns_make_the_published_requests)
{
    struct coalescer c;
    uint64_t s[WARP_LANES];
    coalescer_init(&c, REUSE_NONE, NULL, NULL);
    ck_assert_int_eq(coalescer_load(&c, 0, s, lanes(s, 0, 128, 32), NULL), 0);
    ck_assert_uint_eq(c.mix.by_size[0], 32);
    c.mix = (struct request_mix){0};
    ck_assert_int_eq(coalescer_load(&c, 0, s, lanes(s, 0, 4, 32), NULL), 0);
    ck_assert_uint_eq(c.mix.by_size[3], 1);
    ck_assert_uint_eq(mix_requests(&c.mix), 1);
    c.mix = (struct request_mix){0};
    ck_assert_int_eq(coalescer_load(&c, 0, s, lanes(s, 32, 4, 32), NULL), 0);
    ck_assert_uint_eq(c.mix.by_size[2], 1);
    ck_assert_uint_eq(c.mix.by_size[0], 1);
    ck_assert_uint_eq(c.mix.host_lines, 3);
    ck_assert_uint_eq(mix_payload(&c.mix), 128);
    coalescer_release(&c);
}
END_TEST

START_TEST(requests_never_cross_a_line)
{
    struct request_mix m = {0};
    mix_range(&m, 2, 9);
    ck_assert_uint_eq(m.by_size[1], 2);
    ck_assert_uint_eq(m.by_size[3], 1);
    ck_assert_uint_eq(mix_payload(&m), 8 * 32);
}
END_TEST

/* Loads of sectors 0 and 2 of every other line, and of 1, 3 of one and 0 of the next: 96 B and 96 + 32 B by lines. */
START_TEST(a_read_of_a_line_spans_what_nobody_asked_for)
{
    static const uint64_t holes[] = {0, 2, 8, 10}, across[] = {5, 7, 8};
    for (int rule = REQUEST_RUN; rule <= REQUEST_LINE; rule++) {
        struct coalescer c;
        coalescer_init(&c, REUSE_NONE, NULL, NULL);
        c.request = (enum request_rule)rule;
        ck_assert_int_eq(coalescer_load(&c, 0, holes, 4, NULL), 0);
        ck_assert_int_eq(coalescer_load(&c, 0, across, 3, NULL), 0);
        ck_assert_uint_eq(mix_requests(&c.mix), rule == REQUEST_LINE ? 4 : 7);
        ck_assert_uint_eq(c.mix.by_size[0], rule == REQUEST_LINE ? 1 : 7);
        ck_assert_uint_eq(c.mix.by_size[2], rule == REQUEST_LINE ? 3 : 0);
        ck_assert_uint_eq(c.mix.host_lines, 7);
        coalescer_release(&c);
    }
}
END_TEST

static void remember(void *user, uint64_t addr, uint32_t bytes)
{
    uint64_t *last = user;
    last[0] = addr;
    last[1] = bytes;
}

START_TEST(reuse_rules_remove_what_they_say)
{
    uint64_t a[] = {7, 4, 5}, b[] = {5, 6, 5}, seen[2];
    static const enum scan_reuse rules[] = {REUSE_NONE, REUSE_PREVWARP, REUSE_WARP};
    static const uint64_t second[] = {2, 1, 1}, third[] = {2, 0, 0}, by_other[] = {2, 0, 2};
    for (int i = 0; i < 3; i++) {
        struct coalescer c;
        coalescer_init(&c, rules[i], remember, seen);
        ck_assert_int_eq(coalescer_load(&c, 1, a, 3, NULL), 0);
        ck_assert_uint_eq(mix_payload(&c.mix), 96);
        c.mix = (struct request_mix){0};
        (void)coalescer_load(&c, 1, b, 3, NULL);
        ck_assert_uint_eq(mix_payload(&c.mix) / 32, second[i]);
        ck_assert_uint_eq(seen[0] + seen[1], 7 * 32);
        c.mix = (struct request_mix){0};
        (void)coalescer_load(&c, 1, b, 3, NULL);
        ck_assert_uint_eq(mix_payload(&c.mix) / 32, third[i]);
        c.mix = (struct request_mix){0};
        (void)coalescer_load(&c, 2, b, 3, NULL);
        ck_assert_uint_eq(mix_payload(&c.mix) / 32, by_other[i]);
        coalescer_release(&c);
    }
}
END_TEST

TEST_MAIN("warp")
