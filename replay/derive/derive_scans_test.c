#include "replay/derive/derive_scans.h"

#include "trace/base/random.h"
#include "trace/base/testing.h"

enum { SECTORS = 3000, RUNS = 4000 };

static int by_first(const void *a, const void *b)
{
    const struct list_run *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* The rule, as it is said. */
static size_t plain(struct list_run *runs, size_t n)
{
    uint64_t done = 0;
    size_t to = 0;
    qsort(runs, n, sizeof *runs, by_first);
    for (size_t i = 0; i < n; i++) {
        uint64_t first = runs[i].first > done ? runs[i].first : done;
        if (runs[i].end <= first)
            continue;
        done = runs[i].end;
        runs[to++] = (struct list_run){first, done};
    }
    return to;
}

static struct list_run runs[RUNS], found[RUNS + 1];

static void compare(struct list_ends *ends, size_t n, size_t cap)
{
    size_t k = 0, more;
    for (size_t i = 0; i < n; i++)
        list_ends_add(ends, runs[i].first, runs[i].end - runs[i].first);
    size_t expected = plain(runs, n);
    while ((more = list_ends_next(ends, found + k, k + cap < RUNS ? cap : RUNS + 1 - k)) > 0)
        k += more;
    ck_assert_uint_eq(k, expected);
    ck_assert_mem_eq(found, runs, n ? k * sizeof *runs : 0);
}

START_TEST(lists_are_the_runs_in_order_less_what_others_hold)
{
    struct list_ends ends = {0};
    struct random r = {1};
    ck_assert_int_eq(list_ends_open(&ends, SECTORS, NULL), 0);
    for (int launch = 0; launch < 600; launch++) { /* one after the other: nothing is left over */
        size_t n = random_below(&r, launch % 3 ? 60 : RUNS);
        uint32_t most = launch % 5 ? 1 + random_below(&r, 30) : LIST_MOST;
        for (size_t i = 0; i < n; i++) {
            uint64_t first = random_below(&r, SECTORS - most);
            runs[i] = (struct list_run){first, first + 1 + random_below(&r, most)};
        }
        compare(&ends, n, 1 + random_below(&r, 50));
    }
    list_ends_release(&ends);
}
END_TEST

START_TEST(the_worked_example)
{
    struct list_ends ends = {0};
    ck_assert_int_eq(list_ends_open(&ends, 10, NULL), 0);
    list_ends_add(&ends, 3, 4);
    list_ends_add(&ends, 4, 3);
    list_ends_add(&ends, 4, 4);
    ck_assert_uint_eq(list_ends_next(&ends, found, 9), 2);
    ck_assert_uint_eq(found[0].first * 1000 + found[0].end * 100 + found[1].first * 10 + found[1].end, 3778);
    ck_assert_uint_eq(list_ends_next(&ends, found, 9), 0);
    list_ends_add(&ends, 3, 4);
    list_ends_add(&ends, 4, 4);
    list_ends_add(&ends, 2, 7);
    ck_assert_uint_eq(list_ends_next(&ends, found, 9), 1);
    ck_assert_uint_eq(found[0].first * 10 + found[0].end, 29);
    list_ends_release(&ends);
}
END_TEST

START_TEST(a_run_that_no_instruction_makes_becomes_several)
{
    struct list_ends ends = {0};
    ck_assert_int_eq(list_ends_open(&ends, 1000, NULL), 0);
    list_ends_add(&ends, 10, 600);
    ck_assert_uint_eq(list_ends_next(&ends, found, 9), 3);
    ck_assert_uint_eq(found[0].first, 10);
    ck_assert_uint_eq(found[2].first, 10 + 2 * LIST_MOST);
    ck_assert_uint_eq(found[2].end, 610);
    list_ends_release(&ends);
}
END_TEST

TEST_MAIN("derive_scans")
