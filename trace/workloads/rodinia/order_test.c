#include "trace/workloads/rodinia/order.h"

#include "trace/base/testing.h"

static struct program_body body;
static const struct program_alloc alloc = {.name = "a", .addr = 4096, .bytes = 65536};

static void loads(uint32_t n)
{
    memset(&body, 0, sizeof body);
    body.turns = 1;
    for (uint32_t i = 0; i < n; i++)
        program_load(&body, &alloc, 0, 128 * i, 4)->before = 2;
    program_store(&body, &alloc, 0, 0, 4);
}

START_TEST(ptx_changes_nothing)
{
    loads(3);
    rodinia_order(&body, 0, ORDER_PTX);
    ck_assert_uint_eq(program_stalls(&body), 0xe);
}
END_TEST

START_TEST(hoisted_waits_once_behind_the_last_load)
{
    loads(3);
    body.count = 3; /* the basic block's loads, then its store */
    rodinia_order(&body, 0, ORDER_HOISTED);
    body.count = 4;
    ck_assert_uint_eq(program_stalls(&body), 0x8);
}
END_TEST

START_TEST(loads_before_the_block_and_values_needed_later_stay)
{
    loads(4);
    body.count = 4;
    body.access[2].use = 100;
    rodinia_order(&body, 1, ORDER_HOISTED);
    body.count = 5;
    ck_assert_uint_eq(body.access[2].use, 100);
    ck_assert_uint_eq(program_stalls(&body), 0x12);
}
END_TEST

TEST_MAIN("order", ptx_changes_nothing, hoisted_waits_once_behind_the_last_load,
          loads_before_the_block_and_values_needed_later_stay)
