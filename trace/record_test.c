#include "trace/record.h"

#include "trace/testing.h"

START_TEST(every_kind_has_a_name_that_finds_it)
{
    for (int k = RECORD_KERNEL; k < RECORD_SKIPPED; k++) {
        ck_assert_ptr_nonnull(record_kinds[k].name);
        ck_assert_int_eq(record_kind_find(record_kinds[k].name), k);
    }
    ck_assert_int_eq(record_kind_find("NOTHING"), RECORD_NONE);
    ck_assert_int_eq(record_kind_find("SKIPPED"), RECORD_NONE);
}
END_TEST

START_TEST(a_record_is_56_bytes)
{
    ck_assert_uint_eq(sizeof(struct record), 56);
}
END_TEST

TEST_MAIN("record", every_kind_has_a_name_that_finds_it, a_record_is_56_bytes)
