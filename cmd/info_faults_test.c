#include "cmd/info.h"

#include "trace/base/testing.h"
#include "trace/store/store.h"

static struct err err;

static struct record entry(uint64_t addr, uint64_t written, uint32_t batch)
{
    return (struct record){.kind = RECORD_FAULT_ENTRY, .addr = addr, .id = written, .group = batch, .time = 1};
}

static struct record replay(uint64_t at, uint32_t batch)
{
    return (struct record){.kind = RECORD_REPLAY, .id = at, .group = batch, .time = 1};
}

/* What info says; extra: process_id of each, then client. */
static json_t *said(const struct record *records, const int64_t *extra, size_t n)
{
    struct store *store = store_create(testing_file("t.db"), OUTPUT_REPLACE, "test", &err);
    struct stream stream = {.name = "uvm", .unit = TIME_NS, .extra = {"process_id", "client"}};
    int index;
    json_t *root = json_object();
    ck_assert_msg(store && store_stream_add(store, &stream, &index, &err) == 0 &&
                      store_append(store, index, records, extra, n, &err) == 0 && store_finish(store, &err) == 0,
                  "%s", err.msg);
    store_close(store);
    store = store_open(testing_file("t.db"), &err);
    ck_assert_msg(store && info_faults_json(store, &root, &err) == 0, "%s", err.msg);
    store_close(store);
    return root;
}

static json_int_t number(const json_t *o, const char *key)
{
    ck_assert_msg(json_is_integer(json_object_get(o, key)), "%s", key);
    return json_integer_value(json_object_get(o, key));
}

/* The example of the header, from two clients. */
START_TEST(duplicates_leftovers_and_the_wait)
{
    const struct record records[] = {entry(0x1000, 10, 1), entry(0x1fff, 20, 1), replay(100, 1), entry(0x1000, 90, 2),
                                     replay(150, 2)};
    static const int64_t extra[] = {7, 7, 7, 7, 7, 5, 2 << 16 | 33, 0, 5, 0};
    json_t *root = said(records, extra, 5), *f = json_object_get(root, "single_faults");
    ck_assert_int_eq(number(f, "faults"), 3);
    ck_assert_int_eq(number(f, "duplicates"), 1);
    ck_assert_int_eq(number(f, "leftovers"), 1);
    ck_assert_int_eq(number(f, "batches"), 2);
    ck_assert_int_eq(number(f, "clients"), 2);
    ck_assert_int_eq(number(f, "replay_min_ns"), 60);
    ck_assert_int_eq(number(f, "replay_median_ns"), 80);
    ck_assert_int_eq(number(f, "replay_max_ns"), 90);
    const json_t *rows = json_object_get(root, "by_client");
    ck_assert_uint_eq(json_array_size(rows), 2);
    ck_assert_int_eq(number(json_array_get(rows, 0), "client"), 5);
    ck_assert_int_eq(number(json_array_get(rows, 0), "faults"), 2);
    ck_assert_int_eq(number(json_array_get(rows, 0), "leftovers"), 1);
    ck_assert_int_eq(number(json_array_get(rows, 1), "gpc"), 2);
    ck_assert_int_eq(number(json_array_get(rows, 1), "client"), 33);
    ck_assert_int_eq(number(json_array_get(rows, 1), "duplicates"), 1);
    json_decref(root);
}
END_TEST

/* Written at or behind the replay it is a new fault; without a replay nobody knows; another process's is another. */
START_TEST(what_is_no_leftover)
{
    static const struct {
        uint64_t replayed, written;
        int64_t process;
        json_int_t leftovers, waits;
    } rows[] = {{100, 99, 7, 1, 1}, {100, 100, 7, 0, 1}, {100, 101, 7, 0, 1}, {0, 99, 7, 0, 0}, {100, 99, 8, 0, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct record records[] = {entry(0x1000, 10, 1), replay(rows[i].replayed, 1),
                                         entry(0x1000, rows[i].written, 2)};
        const int64_t extra[] = {7, 7, rows[i].process, 0, 0, 0};
        json_t *root = said(records, extra, 3), *f = json_object_get(root, "single_faults");
        ck_assert_msg(number(f, "leftovers") == rows[i].leftovers, "row %zu", i);
        ck_assert_int_eq(number(f, "duplicates"), 0);
        ck_assert_msg(json_is_null(json_object_get(f, "replay_min_ns")) == !rows[i].waits, "row %zu", i);
        json_decref(root);
    }
}
END_TEST

START_TEST(without_single_faults_there_is_no_key)
{
    const struct record fault = {.kind = RECORD_FAULT, .time = 5};
    static const int64_t extra[] = {7, 0};
    json_t *root = said(&fault, extra, 1);
    ck_assert_uint_eq(json_object_size(root), 0);
    json_decref(root);
}
END_TEST

TEST_MAIN("info_faults")
