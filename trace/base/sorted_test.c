#include "trace/base/sorted.h"

#include <stdlib.h>

#include "trace/base/testing.h"

START_TEST(the_first_index_that_is_not_before_is_found)
{
    static const uint64_t rows[] = {2, 3, 3, 7};
    static const size_t first[] = {0, 0, 0, 1, 3, 3, 3, 3, 4, 4}; /* of those >= 0, 1, ... */
    for (uint64_t sought = 0; sought < 10; sought++) {
        size_t at = 0;
        SORTED_FIRST(at, 4, i, rows[i] < sought);
        ck_assert_uint_eq(at, first[sought]);
    }
    size_t none = 0, from = 2;
    SORTED_FIRST(none, 0, i, rows[i] < 5);
    ck_assert_uint_eq(none, 0);
    SORTED_FIRST(from, 4, i, rows[i] < 3); /* not before where it began */
    ck_assert_uint_eq(from, 2);
}
END_TEST

START_TEST(rows_are_in_order_of_the_number_they_begin_with)
{
    struct {
        uint64_t key;
        int value;
    } rows[] = {{UINT64_MAX, 1}, {0, 2}, {5, 3}};
    int64_t times[] = {3, INT64_MIN, INT64_MAX, -1};
    uint32_t pages[] = {UINT32_MAX, 0, 7};
    sort_items(rows, 3, sizeof *rows, sorted_by_u64);
    sort_items(times, 4, sizeof *times, sorted_by_i64);
    sort_items(pages, 3, sizeof *pages, sorted_by_u32);
    ck_assert(rows[0].value == 2 && rows[1].value == 3 && rows[2].value == 1);
    ck_assert(times[0] == INT64_MIN && times[1] == -1 && times[2] == 3 && times[3] == INT64_MAX);
    ck_assert(pages[0] == 0 && pages[1] == 7 && pages[2] == UINT32_MAX);
}
END_TEST

/* UBSan of `make asan` sees that qsort() and bsearch() are not called; `make lint`, that nobody else calls them. */
START_TEST(an_array_without_items_may_be_null)
{
    const uint64_t key = 1, one[] = {1};
    sort_items(NULL, 0, sizeof key, sorted_by_u64);
    ck_assert_ptr_null(sort_find(&key, NULL, 0, sizeof key, sorted_by_u64));
    ck_assert_ptr_eq(sort_find(&key, one, 1, sizeof key, sorted_by_u64), one);
}
END_TEST

TEST_MAIN("base/sorted")
