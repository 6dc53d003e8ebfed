/* The driver's worked examples; times in us. */
#include "models/uvm/thrashing.h"

#include <math.h>
#include <stdlib.h>

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
        for (int k = 1; k <= 5; k++)
            event(us + 100 * k, k % 2 ? UVM_GPU : UVM_CPU);
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

/* --- the driver's rules, each at, before and behind its edge --- */

/* thrashing_event_cb(), uvm_perf_thrashing_get_hint(), get_hint_for_migration_thrashing(); us, with lapse and nap 500.
 * C1000: the page moves to the CPU at 1000, G: to the GPU. c1000=-: the CPU faults, g: the GPU, and is told nothing;
 * t: throttled; C, G: pinned there. T9: nine throttles so far. n2: two were counted in all. p0, p1: there is a table.
 * u1000=1: the pin ends then, 0: it does not. */
#define FIGHT "G1000 C1100 G1200 C1300 G1400 "
static const struct {
    const char *rule, *at, *behind;
} rules[] = {
    {"a table is made by an event to the other end within a lapse of the block's last",
     "G1000 C1500 G1600 C1700 G1800 c1850=- g1900=t", "G1000 C1500.001 G1600 C1700 G1800 c1850=- g1900=-"},
    {"and by none to the same end", "G1000 p0 C1100 p1", "G1000 p0 G1100 p0"},
    {"events count that follow the page's last within a lapse", "G1000 C1100 G1200 C1300 G1800 c1850=- g1900=t",
     "G1000 C1100 G1200 C1300 G1800.001 c1850=- g1900=-"},
    {"a later one ends its thrashing", FIGHT "C1900 g1950=- c1960=t", FIGHT "C1900.001 g1950=- c1960=-"},
    {"but not that of a pinned page", FIGHT "T10 c1450=C C1900 g2050=C", FIGHT "T10 c1450=C C2000 g2050=C"},
    {"a fault later than a lapse is told nothing", FIGHT "c1500=- g1900=t", FIGHT "c1500=- g1900.001=-"},
    {"who is throttled is let go at the period's end", FIGHT "c1500=- C1510 g1600=t g1999.999=t",
     FIGHT "c1500=- C1510 g1600=t g2000=- c2001=t"},
    {"a period ends behind its end; who was free then is not", FIGHT "c1500=- C1600 c2000=-",
     FIGHT "c1500=- C1600 c2000.001=t"},
    {"a throttle counts once in a period, and again in the next", FIGHT "c1500=- C1510 g1600=t n1 g1700=t n1",
     FIGHT "c1500=- C1510 g1600=t g2000=- G2010 c2100=t n2 c2500=- C2510 g2600=t n3"},
    {"ten throttles pin the page to the free one", FIGHT "T9 c1450=- g1460=t c1470=C", FIGHT "T10 c1450=C g1460=C"},
    {"a pin lets go who was throttled", FIGHT "T9 c1500=- g1600=t c1700=C g1750=C", FIGHT "T9 c1500=- g1600=t g1750=t"},
    {"a pin stays while only its end asks, and goes to the CPU when that has faulted too",
     "C1000 G1100 G1200 G1300 G1400 T10 g1450=G g1950.001=G g2450.002=G",
     "C1000 G1100 G1200 G1300 G1400 T10 g1450=G g1950.001=G g2450.002=G c2500=t g2950.003=G g3450.004=C"},
    {"a pin ends after 150 ms", FIGHT "T10 c1450=C u151449.999=0", FIGHT "T10 c1450=C u151450=1"},
    {"a table goes an epoch after the last thrashing", FIGHT "g1001400=- p1", FIGHT "g1001400.001=- p0"},
    {"whatever else moves", FIGHT "G900000 g1001400=- p1", FIGHT "G900000 g1001400.001=- p0"},
    {"and what thrashed before is forgotten with it", FIGHT "g1001400.001=- p0 C1001500 G1001600 p1 g2002000=- p1",
     FIGHT "g1001400.001=- p0 G1001500 G1001600 p0"},
    {"one in which nothing thrashed stays", "G1000 C1100 g5000000=- p1", "G1000 C1100 G1200 g5000000=- p1"},
    {"and one in which a page is pinned, until it is not", FIGHT "T10 c1450=C g3000000=C p1",
     FIGHT "T10 c1450=C u151450=1 p1 g1001400.001=- p0"},
};

/* One step; false: not as told. */
static bool follow(const char *step)
{
    char *end;
    const int64_t ns = llround(strtod(step + 1, &end) * 1000);
    const enum uvm_processor who = step[0] == 'C' || step[0] == 'c' ? UVM_CPU : UVM_GPU;
    struct page_mask pages = {{1u << 5}};
    enum uvm_hint told;
    switch (step[0]) {
    case 'T':
        t.blocks[0].pages[5].throttles = (uint8_t)(ns / 1000);
        return true;
    case 'n':
        return t.throttles == (uint64_t)ns / 1000;
    case 'p':
        return (t.blocks[0].pages != NULL) == (ns > 0);
    case 'u':
        return uvm_thrashing_unpin(&t, 0, 5, ns) == (end[1] == '1');
    case 'c':
    case 'g':
        told = uvm_thrashing_hint(&t, 0, 5, who, ns, &place);
        return end[1] == (told == UVM_HINT_NONE ? '-' : told == UVM_HINT_THROTTLE ? 't' : place == UVM_CPU ? 'C' : 'G');
    default:
        uvm_thrashing_event(&t, 0, &pages, who, ns);
        return true;
    }
}

START_TEST(each_rule_holds_up_to_its_edge_and_no_further)
{
    for (size_t i = 0; i < 2 * sizeof rules / sizeof *rules; i++) {
        const char *script = i % 2 ? rules[i / 2].behind : rules[i / 2].at;
        ck_assert_int_eq(uvm_thrashing_init(&t, 1, UVM_LAPSE_FIXED, NULL), 0);
        for (const char *step = script; *step; step += strcspn(step, " "), step += strspn(step, " "))
            ck_assert_msg(follow(step), "%s: not so in '%s' at %s", rules[i / 2].rule, script, step);
        uvm_thrashing_release(&t);
    }
}
END_TEST

TEST_MAIN("uvm_thrashing")
