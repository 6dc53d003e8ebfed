#include "trace/derived/summary.h"

#include "trace/base/testing.h"

static void add_batch(struct store *store, int64_t number, int64_t services, struct store_value end, int64_t raw,
                      const char *rule)
{
    const struct store_value row[9] = {
        STORE_V_INT(number), STORE_V_INT(0),   STORE_V_INT(services), STORE_V_INT(100), end,
        STORE_V_INT(raw),    STORE_V_INT(raw), STORE_V_TEXT(rule),    STORE_V_REAL(0.9)};
    WORKS(store_row(store, "batches", row, 9, &err));
}

static struct store *finish(struct store *store)
{
    WORKS(store_finish(store, &err));
    store_close(store);
    return GIVES(store_open(testing_file("b.db"), &err));
}

/* Batch 0: five reads of uTLBs 0 and 3, one of them of another GPC; batch 1: two writes, an atomic, a prefetch access.
 */
START_TEST(faults_of_a_drivers_log_are_counted_by_kind_and_utlb)
{
    struct store *store = GIVES(store_create(testing_file("b.db"), true, "test", &err));
    const struct stream stream = {.name = "faults", .unit = TIME_NS, .extra = {"utlb", "gpc", "client", "fault_type"}};
    static const struct {
        uint32_t batch, flags;
        uint64_t id;
    } faults[] = {{0, RECORD_READ, 0},  {0, RECORD_READ, 3},       {0, RECORD_READ, 0},
                  {0, RECORD_READ, 3},  {0, RECORD_READ, 0x10003}, {1, RECORD_WRITE, 7},
                  {1, RECORD_WRITE, 7}, {1, RECORD_ATOMIC, 7},     {1, RECORD_PREFETCH_ACCESS, 7}};
    int64_t extra[4] = {0};
    int index;
    WORKS(store_stream_add(store, &stream, &index, &err));
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const struct record r = {.kind = RECORD_FAULT,
                                 .time = (int64_t)i,
                                 .group = faults[i].batch,
                                 .flags = faults[i].flags,
                                 .id = faults[i].id};
        WORKS(store_append(store, index, &r, extra, 1, &err));
    }
    add_batch(store, 1, 2, STORE_V_INT(150), 4, "driver-log");
    add_batch(store, 0, 1, STORE_V_NULL, 5, "driver-log");
    store = finish(store);
    struct batch_rows rows;
    WORKS(batch_rows_init(&rows, store, &err));
    ck_assert_uint_eq(rows.count, 2);
    const struct batch_row *a = &rows.items[0], *b = &rows.items[1];
    ck_assert_int_eq(a->batch, 0);
    ck_assert_int_eq(a->reads, 5);
    ck_assert_int_eq(a->writes, 0);
    ck_assert_int_eq(a->utlbs, 3);
    ck_assert_int_eq(a->time_ns, BATCH_UNKNOWN);
    ck_assert_int_eq(b->reads, 0);
    ck_assert_int_eq(b->writes, 2);
    ck_assert_int_eq(b->atomics, 1);
    ck_assert_int_eq(b->utlbs, 1);
    ck_assert_int_eq(b->blocks, 2);
    ck_assert_int_eq(b->time_ns, 50);
    ck_assert_str_eq(b->rule, "driver-log");
    batch_rows_release(&rows);
    store_close(store);
}
END_TEST

/* CUPTI's fault records are batches, not faults: what their faults were is not known. */
START_TEST(a_recording_of_cupti_does_not_say_reads_and_utlbs)
{
    struct store *store = GIVES(store_create(testing_file("b.db"), true, "test", &err));
    const struct stream stream = {.name = "uvm", .unit = TIME_NS};
    int index;
    WORKS(store_stream_add(store, &stream, &index, &err));
    const struct record r = {.kind = RECORD_FAULT, .flags = RECORD_READ, .bytes = 1};
    WORKS(store_append(store, index, &r, NULL, 1, &err));
    add_batch(store, 0, 3, STORE_V_INT(120), 10, "fault-record");
    store = finish(store);
    struct batch_rows rows;
    WORKS(batch_rows_init(&rows, store, &err));
    ck_assert_uint_eq(rows.count, 1);
    ck_assert_int_eq(rows.items[0].reads, BATCH_UNKNOWN);
    ck_assert_int_eq(rows.items[0].utlbs, BATCH_UNKNOWN);
    ck_assert_int_eq(rows.items[0].blocks, 3);
    ck_assert_double_eq(rows.items[0].confidence, 0.9);
    batch_rows_release(&rows);
    store_close(store);
}
END_TEST

TEST_MAIN("summary_batches")
