#include "models/zerocopy/row.h"

#include "trace/base/testing.h"

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

TEST_MAIN("row", row_1_of_480_bytes_takes_8_requests_straight_and_5_shifted, aligned_rows_need_no_shift,
          resident_rows_cost_no_request)
