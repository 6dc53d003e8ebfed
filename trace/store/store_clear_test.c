#include "trace/store/testing_store.h"

#include "trace/base/testing.h"

START_TEST(a_trace_in_memory_is_read_like_any_other_and_can_be_emptied)
{
    struct err err = {""};
    struct store *store = store_create_temporary(":memory:", &err);
    ck_assert_msg(store, "%s", err.msg);
    for (int round = 0; round < 3; round++) {
        const struct stream stream = {.name = "s", .unit = TIME_NS, .extra = {"x"}};
        const struct store_value row[] = {STORE_V_INT(1), STORE_V_TEXT("a")};
        int index;
        ck_assert_int_eq(store_stream_count(store), 0);
        ck_assert_str_eq(store_origin_get(store, "state"), "incomplete");
        ck_assert_ptr_null(store_origin_get(store, "round"));
        ck_assert_int_eq(store_origin(store, "round", "x", &err), 0);
        ck_assert_int_eq(store_row(store, "strings", row, 2, &err), 0);
        ck_assert_int_eq(store_skip(store, "why", 1, &err), 0);
        ck_assert_int_eq(store_stream_add(store, &stream, &index, &err), 0);
        for (int64_t i = 0; i < 70000; i++) { /* more than a chunk */
            const struct record r = {.kind = RECORD_COPY, .time = i * (round + 1)};
            ck_assert_int_eq(store_append(store, index, &r, &i, 1, &err), 0);
        }
        if (round == 1) /* what fails in one round is forgotten in the next */
            ck_assert_int_eq(store_row(store, "strings", row, 2, &err), -1);
        ck_assert_int_eq(store_finish(store, &err), 0);
        struct store_cursor *cursor = store_cursor_open(store, index, &err);
        const struct record *records;
        const int64_t *extra;
        int64_t next = 0;
        size_t n;
        while (store_cursor_next(cursor, &records, &extra, &n, &err) == 1)
            for (size_t i = 0; i < n; i++, next++) {
                ck_assert_int_eq(records[i].time, next * (round + 1));
                ck_assert_int_eq(extra[i], next);
            }
        ck_assert_int_eq(next, 70000);
        store_cursor_close(cursor);
        ck_assert_msg(store_clear(store, &err) == 0, "%s", err.msg);
    }
    store_close(store);
}
END_TEST

TEST_MAIN("store_clear")
