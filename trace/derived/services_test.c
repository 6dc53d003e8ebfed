#include "trace/derived/services.h"

#include "trace/base/testing.h"

static const uint64_t block = 0x7f0000000000;

static struct record move(int64_t start, int64_t end, uint64_t page, uint64_t pages, uint32_t cause)
{
    return (struct record){.kind = RECORD_MIGRATE_H2D,
                           .time = start,
                           .duration = end - start,
                           .addr = block + page * 4096,
                           .bytes = pages * 4096,
                           .flags = cause};
}

START_TEST(a_service_ends_at_a_gap_a_new_block_or_a_lower_address)
{
    /* Out of order on purpose. */
    const struct record records[] = {
        move(400, 410, 512, 1, RECORD_CAUSE_FAULT), /* next block, contiguous in time: a third service */
        move(100, 110, 0, 4, RECORD_CAUSE_FAULT),   /* first service */
        move(110, 130, 4, 12, RECORD_CAUSE_PREFETCH),
        move(130, 140, 20, 1, RECORD_CAUSE_FAULT),  /* a gap in address stays in it */
        move(150, 400, 100, 2, RECORD_CAUSE_FAULT), /* a gap in time: second */
        move(410, 420, 511 + 512, 1, RECORD_CAUSE_PREFETCH),
        move(420, 430, 513, 1, RECORD_CAUSE_FAULT), /* a lower address: fourth */
        move(430, 440, 600, 1, RECORD_CAUSE_USER),  /* not the fault path */
    };
    struct err err;
    struct services s;
    services_init(&s, RECORD_MIGRATE_H2D);
    ck_assert_int_eq(services_add(&s, records, 3, &err), 0);
    ck_assert_int_eq(services_add(&s, records + 3, 5, &err), 0);
    ck_assert_int_eq(services_rebuild(&s, &err), 0);
    ck_assert_uint_eq(s.count, 4);
    static const struct {
        int64_t start, end;
        uint32_t records, faults, prefetched;
    } want[] = {{100, 140, 3, 5, 12}, {150, 400, 1, 2, 0}, {400, 420, 2, 1, 1}, {420, 430, 1, 1, 0}};
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq(s.items[i].start_ns, want[i].start);
        ck_assert_int_eq(s.items[i].end_ns, want[i].end);
        ck_assert_uint_eq(s.items[i].records, want[i].records);
        ck_assert_uint_eq(s.items[i].fault_pages, want[i].faults);
        ck_assert_uint_eq(s.items[i].prefetch_pages, want[i].prefetched);
    }
    ck_assert_uint_eq(s.items[2].block_addr, block + 512 * 4096);
    services_release(&s);
}
END_TEST

START_TEST(the_other_direction_and_impossible_records_are_passed_over)
{
    struct record records[] = {move(1, 2, 0, 1, RECORD_CAUSE_FAULT), move(1, 2, 0, 0, RECORD_CAUSE_FAULT),
                               move(1, 2, 0, 1, RECORD_CAUSE_FAULT)};
    records[0].kind = RECORD_MIGRATE_D2H;
    records[2].addr = UINT64_MAX - 10;
    struct err err;
    struct services s;
    services_init(&s, RECORD_MIGRATE_H2D);
    ck_assert_int_eq(services_add(&s, records, 3, &err), 0);
    ck_assert_int_eq(services_rebuild(&s, &err), 0);
    ck_assert_uint_eq(s.count, 0);
    services_release(&s);
}
END_TEST

TEST_MAIN("services", a_service_ends_at_a_gap_a_new_block_or_a_lower_address,
          the_other_direction_and_impossible_records_are_passed_over)
