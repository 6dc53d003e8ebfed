#include "trace/event/uvm_event.h"

#include "trace/base/testing.h"

static const struct uvm_event move = {UVM_COUNTER_BYTES_H2D, 100, 250, 0x7f0000010000, 65536, RECORD_CAUSE_PREFETCH};

START_TEST(a_migration_keeps_its_bytes_address_cause_and_span)
{
    struct record r;
    ck_assert_ptr_null(uvm_event_record(&move, &r));
    ck_assert_uint_eq(r.kind, RECORD_MIGRATE_H2D);
    ck_assert_int_eq(r.time, 100);
    ck_assert_int_eq(r.duration, 150);
    ck_assert_uint_eq(r.addr, 0x7f0000010000);
    ck_assert_uint_eq(r.bytes, 65536);
    ck_assert_uint_eq(r.flags, RECORD_CAUSE_PREFETCH);
}
END_TEST

START_TEST(the_value_of_a_cpu_fault_is_a_program_counter_and_it_has_no_end)
{
    struct uvm_event e = {UVM_COUNTER_CPU_FAULT, 100, 7, 0x1000, 0x401234, RECORD_WRITE};
    struct record r;
    ck_assert_ptr_null(uvm_event_record(&e, &r));
    ck_assert_uint_eq(r.kind, RECORD_CPU_FAULT);
    ck_assert_uint_eq(r.id, 0x401234);
    ck_assert_uint_eq(r.bytes, 0);
    ck_assert_int_eq(r.duration, 0);
}
END_TEST

START_TEST(every_counter_kind_has_its_record_kind)
{
    static const uint32_t expected[] = {RECORD_MIGRATE_H2D, RECORD_MIGRATE_D2H, RECORD_CPU_FAULT,  RECORD_FAULT,
                                        RECORD_THRASH,      RECORD_THROTTLE,    RECORD_REMOTE_MAP, RECORD_MIGRATE_D2D};
    for (uint64_t k = 1; k < UVM_COUNTER_KINDS; k++) {
        struct uvm_event e = {k, 1, 2, 4096, 4096, 0};
        struct record r;
        ck_assert_ptr_null(uvm_event_record(&e, &r));
        ck_assert_uint_eq(r.kind, expected[k - 1]);
    }
}
END_TEST

START_TEST(events_that_cannot_be_true_are_left_out_with_the_reason)
{
    struct record r;
    struct uvm_event e = move;
    e.kind = 9;
    ck_assert_str_eq(uvm_event_record(&e, &r), "unknown counter kind");
    e = move, e.start = 0;
    ck_assert_str_eq(uvm_event_record(&e, &r), "no start time");
    e = move, e.end = 99;
    ck_assert_str_eq(uvm_event_record(&e, &r), "ends before it starts");
    e = move, e.value = 0;
    ck_assert_str_eq(uvm_event_record(&e, &r), "migration of 0 bytes");
    e = move, e.addr = UINT64_MAX - 10;
    ck_assert_str_eq(uvm_event_record(&e, &r), "migration beyond the address space");
    e = move, e.end = UINT64_MAX;
    ck_assert_str_eq(uvm_event_record(&e, &r), "time out of range");
}
END_TEST

START_TEST(a_record_names_the_gpus_that_its_bytes_leave_and_reach)
{
    static const struct {
        enum record_kind kind;
        uint32_t flags;
        int64_t src, dst;
    } cases[] = {{RECORD_COPY, RECORD_COPY_H2D, 0, 3}, {RECORD_COPY, RECORD_COPY_D2H, 2, 0},
                 {RECORD_COPY, RECORD_COPY_P2P, 2, 3}, {RECORD_COPY, RECORD_COPY_H2H, 0, 0},
                 {RECORD_MIGRATE_H2D, 2, 0, 3},        {RECORD_KERNEL, 0, 2, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct record r = {.kind = cases[i].kind, .flags = cases[i].flags};
        int64_t extra[3];
        uvm_event_owner(&r, 7, 2, 3, extra);
        ck_assert(extra[0] == 7 && extra[1] == cases[i].src && extra[2] == cases[i].dst);
    }
}
END_TEST

TEST_MAIN("uvm_event")
