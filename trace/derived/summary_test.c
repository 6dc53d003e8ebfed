#include "trace/derived/summary.h"

#include "trace/base/testing.h"

/* Two launches of kernel a, one of b that overlaps the second, two allocations, six records. */
static struct store *make(void)
{
    struct store *store = GIVES(store_create(testing_file("s.db"), true, "test", &err));
    static const struct {
        const char *name;
        int64_t start, duration;
    } kernels[] = {{"a", 100, 100}, {"a", 300, 100}, {"b", 350, 100}};
    for (int64_t i = 0; i < 3; i++) {
        struct store_value row[16] = {STORE_V_INT(i), STORE_V_TEXT(kernels[i].name), STORE_V_INT(i),
                                      STORE_V_INT(kernels[i].start), STORE_V_INT(kernels[i].duration)};
        WORKS(store_row(store, "kernels", row, 16, &err));
    }
    for (int64_t i = 0; i < 2; i++) {
        struct store_value row[7] = {STORE_V_INT(i), STORE_V_INT(i * 0x10000), STORE_V_INT(0x8000),
                                     STORE_V_TEXT("managed")};
        WORKS(store_row(store, "allocations", row, 7, &err));
    }
    static const struct record records[] = {
        {.kind = RECORD_MIGRATE_H2D, .time = 150, .addr = 0x1000, .bytes = 4096, .flags = RECORD_CAUSE_FAULT},
        {.kind = RECORD_MIGRATE_H2D, .time = 310, .addr = 0x10000, .bytes = 8192, .flags = RECORD_CAUSE_PREFETCH},
        {.kind = RECORD_MIGRATE_D2H,
         .time = 360,
         .duration = 20,
         .addr = 0x1000,
         .bytes = 4096,
         .flags = RECORD_CAUSE_EVICTION},
        {.kind = RECORD_FAULT, .time = 420, .addr = 0x1000},
        {.kind = RECORD_CPU_FAULT, .time = 50, .addr = 0x9000},
        {.kind = RECORD_CPU_FAULT, .time = 500, .addr = 0x9000},
    };
    struct stream stream = {.name = "uvm", .unit = TIME_NS};
    int index;
    WORKS(store_stream_add(store, &stream, &index, &err));
    WORKS(store_append(store, index, records, NULL, 6, &err));
    WORKS(store_finish(store, &err));
    store_close(store);
    return GIVES(store_open(testing_file("s.db"), &err));
}

START_TEST(kinds_are_counted_with_bytes_and_span)
{
    struct summary s;
    struct store *store = make();
    WORKS(summary_init(&s, store, ATTRIBUTION_NONE, &err));
    ck_assert_uint_eq(s.stream_count, 1);
    ck_assert_uint_eq(s.streams[0].kinds[RECORD_MIGRATE_H2D].records, 2);
    ck_assert_uint_eq(s.streams[0].kinds[RECORD_MIGRATE_H2D].bytes, 12288);
    ck_assert_int_eq(s.streams[0].kinds[RECORD_MIGRATE_D2H].time_last, 380);
    ck_assert_int_eq(s.streams[0].time_first, 50);
    ck_assert_int_eq(s.streams[0].time_last, 500);
    summary_release(&s);
    store_close(store);
}
END_TEST

START_TEST(kernels_by_name_with_a_row_for_overlaps_and_one_for_the_rest)
{
    struct summary s;
    struct store *store = make();
    WORKS(summary_init(&s, store, ATTRIBUTION_KERNEL, &err));
    ck_assert_uint_eq(s.row_count, 4);
    ck_assert_str_eq(s.owners.items[0].name, "a");
    ck_assert_uint_eq(s.owners.items[0].launches, 2);
    ck_assert_int_eq(s.owners.items[0].time_ns, 200);
    ck_assert_uint_eq(s.rows[0].fault_bytes, 4096);
    ck_assert_uint_eq(s.rows[0].prefetch_bytes, 8192);
    ck_assert_uint_eq(s.rows[1].fault_records, 1);
    ck_assert_uint_eq(s.rows[2].evicted_bytes, 4096); /* while both ran */
    ck_assert_uint_eq(s.rows[3].cpu_faults, 2);
    summary_release(&s);
    store_close(store);
}
END_TEST

START_TEST(allocations_by_address_with_a_row_for_the_rest)
{
    struct summary s;
    struct store *store = make();
    WORKS(summary_init(&s, store, ATTRIBUTION_ALLOCATION, &err));
    ck_assert_uint_eq(s.row_count, 4);
    ck_assert_uint_eq(s.rows[0].records, 3);
    ck_assert_uint_eq(s.rows[1].h2d_bytes, 8192);
    ck_assert_uint_eq(s.rows[3].cpu_faults, 2);
    summary_release(&s);
    store_close(store);
}
END_TEST

START_TEST(sums_of_impossible_sizes_do_not_come_round)
{
    ck_assert_uint_eq(summary_bytes(1, 2), 3);
    ck_assert_uint_eq(summary_bytes(0, UINT64_MAX), UINT64_MAX);
    ck_assert_uint_eq(summary_bytes(UINT64_MAX - 1, 1), UINT64_MAX);
    ck_assert_uint_eq(summary_bytes(UINT64_MAX, UINT64_MAX), UINT64_MAX);
}
END_TEST

TEST_MAIN("summary")
