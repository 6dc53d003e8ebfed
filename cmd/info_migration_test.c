#include "cmd/info.h"

#include "trace/base/testing.h"
#include "trace/derived/batches.h"

static struct err err;

/* A trace of copies {time, address, bytes, cause} and fault records. */
static struct store *begin(const struct record *records, const int64_t *extra, size_t n, bool columns)
{
    struct store *store = store_create(testing_file("t.db"), OUTPUT_REPLACE, "test", &err);
    struct stream stream = {.name = "uvm", .unit = TIME_NS};
    int index;
    if (columns) {
        (void)snprintf(stream.extra[0], sizeof stream.extra[0], "process_id");
        (void)snprintf(stream.extra[1], sizeof stream.extra[1], "dst_id");
    }
    ck_assert_msg(store && store_stream_add(store, &stream, &index, &err) == 0 &&
                      store_append(store, index, records, extra, n, &err) == 0,
                  "%s", err.msg);
    return store;
}

/* What info says of it. */
static json_t *end(struct store *store)
{
    ck_assert_msg(store_finish(store, &err) == 0, "%s", err.msg);
    store_close(store);
    store = store_open(testing_file("t.db"), &err);
    json_t *root = json_object();
    ck_assert_msg(store && info_migration_json(store, &root, &err) == 0, "%s", err.msg);
    store_close(store);
    return root;
}

static json_t *said(const struct record *records, const int64_t *extra, size_t n, bool columns)
{
    struct store *store = begin(records, extra, n, columns);
    ck_assert_msg(batches_write(store, NULL, NULL, &err) == 0, "%s", err.msg);
    return end(store);
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

enum { NONE = -1 }; /* NULL in the file */

static struct store_value value(int64_t v)
{
    return v == NONE ? STORE_V_NULL : STORE_V_INT(v);
}

/* A batch of a fault record, with its start, and a first copy behind it, 100 ns later or before it: what is not known
 * is left out, and so is what the record cannot have caused. */
START_TEST(only_batches_of_fault_records_that_say_when_have_a_delay)
{
    static const struct {
        int64_t batch_start, service_batch, service_start, fault_pages, fault_bytes, prefetch_bytes;
        const char *rule;
        bool delay, bytes;
    } rows[] = {{1000, 0, 1100, 2, 8192, 4096, "fault-record", true, true},
                {NONE, 0, 1100, 2, 8192, 4096, "fault-record", false, true},
                {1000, NONE, 1100, 2, 8192, 4096, "fault-record", false, true},
                {1000, 7, 1100, 2, 8192, 4096, "fault-record", false, true},
                {1000, 0, NONE, 2, 8192, 4096, "fault-record", false, true},
                {1000, 0, 1100, 2, 8192, 4096, "gap", false, true},
                {1100, 0, 1100, 2, 8192, 4096, "fault-record", true, true},
                {1101, 0, 1100, 2, 8192, 4096, "fault-record", false, true},
                {1000, 0, 1100, NONE, 8192, 4096, "fault-record", false, false},
                {1000, 0, 1100, 2, NONE, 4096, "fault-record", false, false},
                {1000, 0, 1100, 2, 8192, NONE, "fault-record", false, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct record moved = copy(1100, 0x40000000, 12288, RECORD_CAUSE_FAULT);
        struct store *store = begin(&moved, NULL, 1, false);
        const struct store_value batch[] = {
            STORE_V_INT(0),    STORE_V_INT(0), STORE_V_INT(1), value(rows[i].batch_start),
            STORE_V_INT(2000), STORE_V_INT(2), STORE_V_NULL,   STORE_V_TEXT(rows[i].rule),
            STORE_V_REAL(1)};
        const struct store_value service[] = {STORE_V_INT(0),
                                              value(rows[i].service_batch),
                                              STORE_V_INT(0x40000000),
                                              value(rows[i].service_start),
                                              STORE_V_INT(1200),
                                              value(rows[i].fault_pages),
                                              STORE_V_INT(1),
                                              value(rows[i].fault_bytes),
                                              value(rows[i].prefetch_bytes),
                                              STORE_V_INT(1),
                                              STORE_V_TEXT("gap"),
                                              STORE_V_REAL(1)};
        ck_assert_msg(store_row(store, "batches", batch, 9, &err) == 0 &&
                          store_row(store, "services", service, 12, &err) == 0,
                      "%s", err.msg);
        json_t *root = end(store), *m = json_object_get(root, "migration");
        json_t *delay = json_object_get(m, "fault_to_migration_ns"), *each = json_object_get(m, "bytes_per_fault");
        ck_assert_msg(json_is_null(delay) == !rows[i].delay, "row %zu", i);
        ck_assert_msg(json_is_null(each) == !rows[i].bytes, "row %zu", i);
        ck_assert(!rows[i].bytes || json_real_value(each) == 6144);
        ck_assert(!rows[i].delay || json_integer_value(json_object_get(delay, "median")) == 1100 - rows[i].batch_start);
        json_decref(root);
    }
}
END_TEST

/* Pages are looked at for 2 MiB of a copy at most, its bytes are counted all. */
START_TEST(a_copy_larger_than_a_block_makes_no_work)
{
    const struct record records[] = {copy(1, 0x40000000, 2 << 20, RECORD_CAUSE_FAULT),
                                     copy(2, 0x80000000, UINT64_C(1) << 50, RECORD_CAUSE_FAULT)};
    json_t *root = said(records, NULL, 2, false), *m = json_object_get(root, "migration");
    ck_assert_int_eq(json_integer_value(json_object_get(m, "h2d_bytes")), (INT64_C(1) << 50) + (2 << 20));
    ck_assert_int_eq(json_integer_value(json_object_get(m, "h2d_distinct_bytes")), 4 << 20);
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

TEST_MAIN("info_migration")
