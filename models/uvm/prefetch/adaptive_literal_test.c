#include "models/policies.h"
#include "models/uvm/prefetch/adaptive.h"
#include "trace/base/param_value.h"
#include "trace/base/testing.h"

enum { KIB = 1024, MIB = 1048576 };

static struct adaptive *make(void)
{
    struct adaptive *s = calloc(1, sizeof *s);
    param_defaults(uvm_adaptive_literal.head.params, s);
    ck_assert_int_eq(uvm_adaptive_literal.init(s, NULL), 0);
    return s;
}

/* A routine of one batch with one VA block. */
static void routine(struct adaptive *s, uint64_t number)
{
    struct uvm_batch_block b = {.number = number, .faults = 3};
    uvm_adaptive_literal.on_batch_end(s, &(struct uvm_batch){.blocks = &b, .block_count = 1, .routine_end = true});
}

START_TEST(the_example_of_the_rule_shrinks_three_times_and_then_grows)
{
    static const int64_t want[] = {MIB, 512 * KIB, 256 * KIB, 512 * KIB, MIB, 2 * MIB, 2 * MIB};
    struct adaptive *s = make();
    for (uint64_t i = 0; i < 7; i++) {
        routine(s, i);
        ck_assert_int_eq(uvm_adaptive_literal.granularity(s), want[i]);
    }
    free(s);
}
END_TEST

START_TEST(abundant_memory_is_no_reason_for_2_mib)
{
    struct adaptive *s = make();
    ck_assert_int_eq(s->gate, 0);
    struct uvm_batch_block b[40];
    for (int r = 0; r < 12; r++) { /* R = 40: A to -4, then down the ladder, though nothing is evicted */
        for (uint64_t i = 0; i < 40; i++)
            b[i] = (struct uvm_batch_block){.number = i, .faults = 1};
        uvm_adaptive_literal.on_batch_end(s, &(struct uvm_batch){.blocks = b, .block_count = 40, .routine_end = true});
    }
    ck_assert_int_eq(uvm_adaptive_literal.granularity(s), 4 * KIB);
    free(s);
}
END_TEST

START_TEST(a_routine_without_an_end_mark_closes_when_the_window_is_full)
{
    struct adaptive *s = make();
    struct uvm_batch_block b = {.number = 1, .faults = 3};
    for (int i = 0; i < UVM_LOCALITY_MAX_BATCHES; i++)
        uvm_adaptive_literal.on_batch_end(s, &(struct uvm_batch){.blocks = &b, .block_count = 1});
    ck_assert_int_eq(s->windows, 1);
    free(s);
}
END_TEST

TEST_MAIN("adaptive_literal")
