#include "trace/recorder/record_order.h"

#include "trace/base/testing.h"

START_TEST(messages_come_out_by_time_and_equal_times_by_arrival)
{
    static const int64_t times[] = {5, 3, 9, 3, 1, 9, 3, 0, 7};
    struct record_order order = {0};
    struct err err;
    for (size_t i = 0; i < 9; i++) {
        struct record_pipe_message m = {.id = i};
        m.time = times[i];
        ck_assert_int_eq(record_order_put(&order, &m, &err), 0);
    }
    static const uint64_t expected[] = {7, 4, 1, 3, 6, 0, 8, 2, 5};
    struct record_pipe_message m;
    for (size_t i = 0; i < 9; i++) {
        ck_assert(record_order_take(&order, 0, &m));
        ck_assert_uint_eq(m.id, expected[i]);
    }
    ck_assert(!record_order_take(&order, 0, &m));
    record_order_release(&order);
}
END_TEST

START_TEST(at_most_the_kept_number_is_held_back)
{
    struct record_order order = {0};
    struct err err;
    struct record_pipe_message m = {0};
    for (int i = 0; i < 10; i++) {
        m.time = 10 - i;
        ck_assert_int_eq(record_order_put(&order, &m, &err), 0);
        if (i < 4)
            ck_assert(!record_order_take(&order, 4, &m));
        else
            ck_assert(record_order_take(&order, 4, &m));
    }
    ck_assert_uint_eq(order.n, 4);
    record_order_release(&order);
}
END_TEST

TEST_MAIN("record_order", messages_come_out_by_time_and_equal_times_by_arrival, at_most_the_kept_number_is_held_back)
