#include "models/zerocopy/counter_model.h"

#include "models/zerocopy/link.h"
#include "trace/base/testing.h"

/* Every way to make s sectors of n requests. */
static void enumerate(uint64_t n, uint64_t s, struct counter_sizes *b, int *ways)
{
    *ways = 0;
    for (uint64_t a = 0; a <= n; a++)
        for (uint64_t c = 0; a + c <= n; c++)
            for (uint64_t d = 0; a + c + d <= n; d++) {
                const uint64_t count[LINE_SECTORS] = {a, c, d, n - a - c - d};
                if (count[0] + 2 * count[1] + 3 * count[2] + 4 * count[3] != s)
                    continue;
                for (int k = 0; k < LINE_SECTORS; k++) {
                    b->least[k] = *ways == 0 || count[k] < b->least[k] ? count[k] : b->least[k];
                    b->most[k] = *ways == 0 || count[k] > b->most[k] ? count[k] : b->most[k];
                }
                ++*ways;
            }
}

START_TEST(bounds_are_those_of_all_ways_to_make_the_sectors)
{
    for (uint64_t n = 0; n <= 12; n++)
        for (uint64_t s = 0; s <= 4 * n + 2; s++) {
            struct counter_sizes found = {0}, expected = {0};
            int ways;
            enumerate(n, s, &expected, &ways);
            ck_assert_int_eq(counter_sizes(n, s, &found), ways > 0);
            for (int k = 0; k < LINE_SECTORS; k++) {
                ck_assert_msg(found.least[k] == expected.least[k] && found.most[k] == expected.most[k],
                              "%lu requests, %lu sectors, size %d", (unsigned long)n, (unsigned long)s, k + 1);
                /* One way, or none: the bounds meet. */
                ck_assert(ways > 1 || found.least[k] == found.most[k]);
            }
        }
}
END_TEST

/* Measured: H200, driver 580.159.04, 64 MiB of u32: aligned and strided. */
START_TEST(the_measured_aligned_and_strided_sweeps_have_one_size)
{
    struct counter_sizes b;
    ck_assert(counter_sizes(524288, 2097152, &b));
    ck_assert_uint_eq(b.least[3], 524288);
    ck_assert_uint_eq(b.most[3], 524288);
    ck_assert_uint_eq(b.most[0] + b.most[1] + b.most[2], 0);
    ck_assert(counter_sizes(3244883, 3244883, &b));
    ck_assert_uint_eq(b.least[0], 3244883);
    ck_assert_uint_eq(b.most[3], 0);
    ck_assert(!counter_sizes(UINT64_MAX, UINT64_MAX, &b));
}
END_TEST

/* The same two sweeps' bytes on the link, and the model's own way there and back. */
START_TEST(link_bytes_give_the_requests_and_the_payload)
{
    ck_assert_double_eq_tol(counter_link_requests(8390000), 524288, 524288 * 1e-3);
    ck_assert_double_eq_tol(counter_link_payload(8390000, 73400000), 67108864, 67108864 * 1e-3);
    ck_assert_double_eq_tol(counter_link_requests(51920000), 3244883, 3244883 * 1e-3);
    ck_assert_double_eq_tol(counter_link_payload(51920000, 142780000), 3244883.0 * 32, 3244883 * 32e-3);
    const struct request_mix mix = {.by_size = {5, 3, 2, 7}};
    ck_assert_double_eq(counter_link_requests((double)link_up_bytes(&mix)), 17);
    ck_assert_double_eq(counter_link_payload((double)link_up_bytes(&mix), (double)link_down_bytes(&mix)),
                        (double)mix_payload(&mix));
}
END_TEST

TEST_MAIN("counter_model", bounds_are_those_of_all_ways_to_make_the_sectors,
          the_measured_aligned_and_strided_sweeps_have_one_size, link_bytes_give_the_requests_and_the_payload)
