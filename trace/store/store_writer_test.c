#include "trace/store/store.h"

#include "trace/base/testing.h"

START_TEST(records_and_extra_columns_come_back_as_they_went_in)
{
    static const char *const names[] = {"a", "b"};
    static const size_t sizes[] = {1, STORE_BATCH - 1, STORE_BATCH, STORE_BATCH + 1, 3 * STORE_BATCH + 7};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct err err = {""};
        const char *path = testing_file("writer.db");
        struct store *store = store_create(path, true, "test", &err);
        struct writer w;
        int stream = writer_stream(store, "touches", TIME_NONE, names, 2, &err);
        ck_assert_int_ge(stream, 0);
        ck_assert_int_eq(writer_stream(store, "touches", TIME_NONE, names, 2, &err), stream);
        ck_assert_int_eq(writer_open(&w, store, stream, 2, &err), 0);
        for (size_t i = 0; i < sizes[s]; i++) {
            struct record r = {.kind = RECORD_TOUCH, .addr = i * 4096};
            ck_assert_int_eq(writer_add(&w, &r, (int64_t[]){(int64_t)i, -(int64_t)i}, &err), 0);
        }
        ck_assert_int_eq(writer_flush(&w, &err), 0);
        ck_assert_uint_eq(w.total, sizes[s]);
        writer_close(&w);
        ck_assert_int_eq(store_finish(store, &err), 0);
        store_close(store);
        store = store_open(path, &err);
        struct store_cursor *cursor = store_cursor_open(store, 0, &err);
        const struct record *r;
        const int64_t *extra;
        size_t n, seen = 0;
        while (store_cursor_next(cursor, &r, &extra, &n, &err) == 1)
            for (size_t i = 0; i < n; i++, seen++) {
                ck_assert_uint_eq(r[i].addr, seen * 4096);
                ck_assert_int_eq(extra[i], (int64_t)seen);
                ck_assert_int_eq(extra[n + i], -(int64_t)seen);
            }
        ck_assert_uint_eq(seen, sizes[s]);
        store_cursor_close(cursor);
        store_close(store);
    }
}
END_TEST

TEST_MAIN("store_writer")
