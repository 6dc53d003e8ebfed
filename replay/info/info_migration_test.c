#include "replay/info/info_migration.h"

#include "trace/base/testing.h"
#include "trace/uvm/batches.h"

static struct err err;

/* What info says of copies {time, address, bytes, cause} and fault records. */
static json_t *said(const struct record *records, const int64_t *extra, size_t n, bool columns)
{
    const char *path = testing_file("t.db");
    struct store *store = store_create(path, OUTPUT_REPLACE, "test", &err);
    struct stream stream = {.name = "uvm", .unit = TIME_NS};
    int index;
    if (columns) {
        (void)snprintf(stream.extra[0], sizeof stream.extra[0], "process_id");
        (void)snprintf(stream.extra[1], sizeof stream.extra[1], "dst_id");
    }
    ck_assert_msg(store && store_stream_add(store, &stream, &index, &err) == 0 &&
                      store_append(store, index, records, extra, n, &err) == 0 &&
                      batches_write(store, NULL, NULL, &err) == 0 && store_finish(store, &err) == 0,
                  "%s", err.msg);
    store_close(store);
    store = store_open(path, &err);
    json_t *root = json_object();
    ck_assert_msg(store && info_migration_json(store, &root, &err) == 0, "%s", err.msg);
    store_close(store);
    return root;
}

static struct record copy(int64_t time, uint64_t addr, uint64_t bytes, enum record_cause cause)
{
    return (struct record){
        .kind = RECORD_MIGRATE_H2D, .time = time, .duration = 100, .addr = addr, .bytes = bytes, .flags = cause};
}

/* The example of the header; two fault records, 500 and 900 ns before their first copy. */
START_TEST(bytes_moved_again_bytes_per_fault_and_the_delay)
{
    const struct record records[] = {
        {.kind = RECORD_FAULT, .time = 1000, .duration = 5000, .addr = 0x40000000, .bytes = 1},
        copy(1500, 0x40000000, 8192, RECORD_CAUSE_FAULT),
        copy(1700, 0x40002000, 65536 - 8192, RECORD_CAUSE_PREFETCH),
        {.kind = RECORD_FAULT, .time = 100000, .duration = 5000, .addr = 0x40000000, .bytes = 1},
        copy(100900, 0x40000000, 4096, RECORD_CAUSE_FAULT)};
    json_t *root = said(records, NULL, 5, false), *m = json_object_get(root, "migration");
    ck_assert_int_eq(json_integer_value(json_object_get(m, "h2d_bytes")), 69632);
    ck_assert_int_eq(json_integer_value(json_object_get(m, "h2d_distinct_bytes")), 65536);
    ck_assert_double_eq(json_real_value(json_object_get(m, "remigration_ratio")), 1.0625);
    ck_assert_double_eq_tol(json_real_value(json_object_get(m, "bytes_per_fault")), 69632 / 3.0, 1e-9);
    json_t *delay = json_object_get(m, "fault_to_migration_ns");
    ck_assert_int_eq(json_integer_value(json_object_get(delay, "batches")), 2);
    ck_assert_int_eq(json_integer_value(json_object_get(delay, "min")), 500);
    ck_assert_int_eq(json_integer_value(json_object_get(delay, "max")), 900);
    json_decref(root);
}
END_TEST

/* The same page to another GPU, or of another process, is not moved again; across a block's edge each page counts. */
START_TEST(pages_are_of_a_gpu_and_a_process)
{
    const struct record records[] = {
        copy(1, 0x401ff000, 8192, RECORD_CAUSE_FAULT), copy(2, 0x401ff000, 8192, RECORD_CAUSE_FAULT),
        copy(3, 0x401ff000, 8192, RECORD_CAUSE_FAULT), copy(4, 0x401ff000, 4096, RECORD_CAUSE_FAULT)};
    static const int64_t extra[] = {7, 7, 8, 8, 0, 1, 0, 0};
    json_t *root = said(records, extra, 4, true), *m = json_object_get(root, "migration");
    ck_assert_int_eq(json_integer_value(json_object_get(m, "h2d_distinct_bytes")), 3 * 8192);
    ck_assert_double_eq_tol(json_real_value(json_object_get(m, "remigration_ratio")), 28672.0 / 24576, 1e-12);
    ck_assert(json_is_null(json_object_get(m, "fault_to_migration_ns")));
    json_decref(root);
}
END_TEST

START_TEST(without_migrations_there_is_no_key)
{
    const struct record fault = {.kind = RECORD_CPU_FAULT, .time = 5};
    json_t *root = said(&fault, NULL, 1, false);
    ck_assert_uint_eq(json_object_size(root), 0);
    json_decref(root);
}
END_TEST

TEST_MAIN("info_migration", bytes_moved_again_bytes_per_fault_and_the_delay, pages_are_of_a_gpu_and_a_process,
          without_migrations_there_is_no_key)
