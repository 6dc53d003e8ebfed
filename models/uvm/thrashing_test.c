/* The driver's worked examples; times in us. */
#include "models/uvm/thrashing.h"

#include "trace/base/testing.h"

static struct uvm_thrashing t;
static enum uvm_processor place;

static void event(int64_t us, enum uvm_processor to)
{
    struct page_mask pages = {{1u << 5}};
    uvm_thrashing_event(&t, 0, &pages, to, us * 1000);
}

static enum uvm_hint hint(int64_t us, enum uvm_processor by)
{
    return uvm_thrashing_hint(&t, 0, 5, by, us * 1000, &place);
}

/* Nothing has happened; then n events so far apart, the GPU's first. */
static void take_turns(int n, int64_t apart_us)
{
    ck_assert_int_eq(uvm_thrashing_init(&t, 1, UVM_LAPSE_FIXED, NULL), 0);
    for (int i = 0; i < n; i++)
        event(1000 + apart_us * i, i % 2 ? UVM_CPU : UVM_GPU);
}

/* T1: thrashing at 1400. */
static void fight(void)
{
    ck_assert_int_eq(uvm_thrashing_init(&t, 1, UVM_LAPSE_FIXED, NULL), 0);
    event(1000, UVM_GPU);
    ck_assert_ptr_null(t.blocks[0].pages);
    ck_assert(!uvm_thrashing_unpin(&t, 0, 5, 1000000));
    event(1100, UVM_CPU);
    ck_assert_uint_eq(t.blocks[0].pages[5].count, 0);
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(t.thrashing, 0);
        event(1200 + 100 * i, i % 2 ? UVM_CPU : UVM_GPU);
        ck_assert_uint_eq(t.blocks[0].pages[5].count, i + 1);
    }
    ck_assert_uint_eq(t.thrashing, 1);
    ck_assert(page_mask_test(&t.blocks[0].thrashing, 5));
}

START_TEST(t1_to_t4_one_is_free_the_other_throttled_turn_by_turn)
{
    fight();
    ck_assert_int_eq(hint(1500, UVM_CPU), UVM_HINT_NONE); /* T2 */
    event(1510, UVM_CPU);
    ck_assert_uint_eq(t.blocks[0].pages[5].count, 4);
    ck_assert_int_eq(hint(1600, UVM_GPU), UVM_HINT_THROTTLE); /* T3 */
    ck_assert_int_eq(hint(1990, UVM_GPU), UVM_HINT_THROTTLE);
    ck_assert_uint_eq(t.blocks[0].pages[5].throttles, 1);
    ck_assert_int_eq(hint(2000, UVM_GPU), UVM_HINT_THROTTLE); /* at the end still, and not counted again */
    ck_assert_uint_eq(t.throttles, 1);
    ck_assert_int_eq(hint(2001, UVM_GPU), UVM_HINT_NONE); /* T4 */
    ck_assert_int_eq(t.blocks[0].pages[5].end_ns, 2501000);
    ck_assert_uint_eq(t.blocks[0].pages[5].free, UVM_GPU);
    uvm_thrashing_release(&t);
}
END_TEST

/* Who was free and comes again in the next period is not free at once; the first other one is. */
START_TEST(nobody_is_free_until_somebody_else_comes)
{
    fight();
    ck_assert_int_eq(hint(1500, UVM_CPU), UVM_HINT_NONE); /* free until 2000 */
    event(1600, UVM_CPU);
    ck_assert_int_eq(hint(2001, UVM_CPU), UVM_HINT_THROTTLE);
    ck_assert_uint_eq(t.blocks[0].pages[5].free, UVM_NOBODY);
    ck_assert_int_eq(hint(2050, UVM_GPU), UVM_HINT_NONE);
    ck_assert_uint_eq(t.blocks[0].pages[5].free, UVM_GPU);
    ck_assert_int_eq(hint(2090, UVM_CPU), UVM_HINT_THROTTLE);
    ck_assert_int_eq(hint(2100, UVM_GPU), UVM_HINT_NONE);
    ck_assert_uint_eq(t.throttles, 1);
    uvm_thrashing_release(&t);
}
END_TEST

START_TEST(what_is_not_thrashing_yet_starts_no_period)
{
    take_turns(4, 100);
    ck_assert_uint_eq(t.blocks[0].pages[5].count, 2);
    ck_assert_int_eq(hint(1350, UVM_CPU), UVM_HINT_NONE);
    ck_assert_int_eq(t.blocks[0].pages[5].end_ns, 0);
    event(1400, UVM_GPU);
    ck_assert_int_eq(hint(1450, UVM_CPU), UVM_HINT_NONE);
    ck_assert_int_eq(t.blocks[0].pages[5].end_ns, 1950000);
    uvm_thrashing_release(&t);
}
END_TEST

START_TEST(t5_a_lapse_later_it_is_forgotten)
{
    fight();
    ck_assert_int_eq(hint(1490, UVM_CPU), UVM_HINT_NONE);
    event(1500, UVM_CPU);
    ck_assert_int_eq(hint(2001, UVM_GPU), UVM_HINT_NONE); /* 501 */
    event(2010, UVM_GPU);
    ck_assert_uint_eq(t.blocks[0].pages[5].count, 0);
    ck_assert(!page_mask_any(&t.blocks[0].thrashing));
    uvm_thrashing_release(&t);
}
END_TEST

START_TEST(what_thrashed_three_times_is_forgotten_too)
{
    fight();
    event(1901, UVM_CPU); /* 501 */
    ck_assert_uint_eq(t.blocks[0].pages[5].count, 0);
    ck_assert(!page_mask_any(&t.blocks[0].thrashing));
    uvm_thrashing_release(&t);
}
END_TEST

START_TEST(t6_t7_far_apart_or_alone_nothing_thrashes)
{
    take_turns(40, 600);
    for (int i = 0; i < 40; i++)
        event(100000 + 100 * i, UVM_GPU); /* evicted and brought back */
    ck_assert_uint_eq(t.thrashing, 0);
    uvm_thrashing_release(&t);
}
END_TEST

START_TEST(t8_after_ten_throttles_the_free_one_gets_it_and_with_the_cpu_it_ends_there)
{
    fight();
    ck_assert_int_eq(hint(1450, UVM_CPU), UVM_HINT_NONE);
    t.blocks[0].pages[5].throttles = 255;
    ck_assert_int_eq(hint(1460, UVM_GPU), UVM_HINT_THROTTLE);
    ck_assert_uint_eq(t.blocks[0].pages[5].throttles, 255); /* as far as they are counted */
    uvm_thrashing_release(&t);
    fight();
    t.blocks[0].pages[5].throttles = 10;
    ck_assert_int_eq(hint(1500, UVM_GPU), UVM_HINT_PIN);
    ck_assert_int_eq(place, UVM_GPU);
    ck_assert_int_eq(hint(1600, UVM_CPU), UVM_HINT_THROTTLE); /* it does not reach the GPU */
    ck_assert_int_eq(hint(2001, UVM_CPU), UVM_HINT_PIN);      /* its turn: all reach the CPU */
    ck_assert_int_eq(place, UVM_CPU);
    ck_assert_int_eq(hint(2100, UVM_GPU), UVM_HINT_PIN); /* mapped there */
    ck_assert_int_eq(place, UVM_CPU);
    ck_assert_uint_eq(t.pins, 1);
    ck_assert(!uvm_thrashing_unpin(&t, 0, 4, 151500000)); /* nothing pins that one */
    ck_assert(!uvm_thrashing_unpin(&t, 0, 5, 151499000));
    ck_assert(uvm_thrashing_unpin(&t, 0, 5, 151500000)); /* 150 ms after the pin */
    ck_assert_int_eq(hint(151600, UVM_GPU), UVM_HINT_NONE);
    uvm_thrashing_release(&t);
}
END_TEST

START_TEST(a_quiet_epoch_drops_the_table_four_times_at_most)
{
    fight();
    for (int i = 0; i < 6; i++) {
        int64_t us = 2000000 + 2000000 * i;
        (void)hint(us, UVM_GPU);
        ck_assert_int_eq(t.blocks[0].pages == NULL, i < 4);
        event(us + 100, UVM_GPU);
        event(us + 200, UVM_CPU);
    }
    uvm_thrashing_release(&t);
}
END_TEST

START_TEST(the_lapse_adapts_as_the_drivers_names_say_or_as_its_code_does)
{
    for (int mode = UVM_LAPSE_FIXED; mode <= UVM_LAPSE_CODE; mode++) {
        fight();
        t.adapt = (enum uvm_lapse)mode;
        (void)hint(1401, UVM_CPU); /* an early one: -1 */
        ck_assert_int_eq(t.lapse_ns, mode == UVM_LAPSE_CODE ? 562500 : 500000);
        for (int i = 0; i < 31; i++)
            (void)hint(1401, UVM_CPU);
        ck_assert_int_eq(t.lapse_ns > 500000, mode != UVM_LAPSE_FIXED);
        if (mode == UVM_LAPSE_SPEC)
            ck_assert_int_eq(t.lapse_ns, 562500);
        for (int i = 0; i < 300; i++)
            (void)hint(1401, UVM_CPU);
        if (mode == UVM_LAPSE_CODE)
            ck_assert_int_eq(t.lapse_ns, UVM_THRASHING_LAPSE_MAX_NS);
        uvm_thrashing_release(&t);
    }
}
END_TEST

/* 32 votes the same way move the lapse by an eighth; half of them stay, so that the next step takes 16. */
START_TEST(votes_move_the_lapse_by_an_eighth_between_its_ends)
{
    for (int late = 0; late < 2; late++) {
        fight();
        t.adapt = UVM_LAPSE_SPEC;
        int64_t lapse = UVM_THRASHING_LAPSE_NS;
        const int64_t end = late ? UVM_THRASHING_LAPSE_MIN_NS : UVM_THRASHING_LAPSE_MAX_NS;
        int votes = 0, steps = 0;
        for (int i = 0; i < 1000; i++) {
            (void)hint(late ? 1900 : 1401, UVM_CPU); /* at 1400 it was touched last */
            if (++votes >= 32 && lapse != end) {
                lapse += late ? -(lapse / 8) : lapse / 8;
                lapse = (late ? lapse < end : lapse > end) ? end : lapse;
                votes = 16;
                steps++;
            }
            ck_assert_msg(t.lapse_ns == lapse, "%lld ns after %d votes, expected %lld", (long long)t.lapse_ns, i + 1,
                          (long long)lapse);
        }
        ck_assert_int_eq(lapse, end);
        ck_assert_int_gt(steps, 5);
        uvm_thrashing_release(&t);
    }
}
END_TEST

/* As written: late ones raise it too, and only from its upper end does it come down. */
START_TEST(as_written_late_votes_raise_the_lapse_up_to_its_end)
{
    fight();
    t.adapt = UVM_LAPSE_CODE;
    (void)hint(1900, UVM_CPU);
    (void)hint(1401, UVM_CPU); /* one each way */
    ck_assert(t.vote == 0 && t.lapse_ns == 500000);
    for (int i = 1; i <= 32; i++) {
        (void)hint(1900, UVM_CPU);
        ck_assert_int_eq(t.lapse_ns, i < 32 ? 500000 : 562500);
    }
    uvm_thrashing_release(&t);
    for (int votes = 30; votes < 32; votes++) {
        const int64_t most = UVM_THRASHING_LAPSE_MAX_NS;
        fight();
        t.adapt = UVM_LAPSE_CODE;
        t.lapse_ns = most;
        t.vote = votes;
        (void)hint(1400 + most / 1000, UVM_CPU);
        ck_assert_int_eq(t.lapse_ns, votes < 31 ? most : most - most / 8);
        ck_assert_int_eq(t.vote, votes < 31 ? 31 : 16);
        uvm_thrashing_release(&t);
    }
}
END_TEST

TEST_MAIN("uvm_thrashing", what_thrashed_three_times_is_forgotten_too,
          votes_move_the_lapse_by_an_eighth_between_its_ends, as_written_late_votes_raise_the_lapse_up_to_its_end,
          t1_to_t4_one_is_free_the_other_throttled_turn_by_turn, t5_a_lapse_later_it_is_forgotten,
          t6_t7_far_apart_or_alone_nothing_thrashes,
          t8_after_ten_throttles_the_free_one_gets_it_and_with_the_cpu_it_ends_there,
          a_quiet_epoch_drops_the_table_four_times_at_most,
          the_lapse_adapts_as_the_drivers_names_say_or_as_its_code_does, nobody_is_free_until_somebody_else_comes,
          what_is_not_thrashing_yet_starts_no_period)
