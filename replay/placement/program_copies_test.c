#include "replay/placement/program_copies.h"

#include "trace/base/testing.h"

enum { A = 1, B = 2, C = 4 };

static const struct program_alloc allocs[] = {
    {.name = "A", .bytes = 100, .host = true}, {.name = "B", .bytes = 10}, {.name = "C", .bytes = 1, .scratch = true}};
static struct program_copies copies;

static void count(struct launch_totals *launch, uint32_t launches)
{
    const struct program_totals totals = {.allocs = allocs, .alloc_count = 3, .launch = launch, .launches = launches};
    program_copies_count(&copies, &totals);
}

START_TEST(what_the_cpu_wrote_goes_in_once_and_results_come_back_last)
{
    struct launch_totals kernels[] = {{.touched = A | B | C, .modified = B | C, .touched_bytes = 7},
                                      {.touched = A | B, .modified = B, .touched_bytes = 9}};
    count(kernels, 2);
    ck_assert_int_eq(copies.in_bytes, 100);
    ck_assert_int_eq(copies.in_copies, 1);
    ck_assert_int_eq(copies.back_bytes, 10); /* scratch stays */
    ck_assert_int_eq(copies.last_bytes, 10);
    ck_assert_int_eq(copies.last_copies, 1);
    ck_assert_int_eq(copies.dirty_kernels, 1);
    ck_assert_int_eq(copies.dirty_bytes, 7);
    ck_assert_uint_eq(copies.copied, A | B);
}
END_TEST

START_TEST(a_cpu_phase_between_kernels_takes_what_it_touches_and_gives_what_it_writes)
{
    struct launch_totals kernels[] = {{.touched = A | B, .modified = B},
                                      {.cpu = true, .touched = B, .modified = B},
                                      {.touched = A | B, .modified = A}};
    count(kernels, 3);
    ck_assert_int_eq(copies.in_bytes, 110);
    ck_assert_int_eq(copies.back_bytes, 110); /* B for the CPU, A at the end */
    ck_assert_int_eq(copies.last_bytes, 100);
    ck_assert_int_eq(copies.dirty_kernels, 2);
}
END_TEST

TEST_MAIN("replay/program_copies", what_the_cpu_wrote_goes_in_once_and_results_come_back_last,
          a_cpu_phase_between_kernels_takes_what_it_touches_and_gives_what_it_writes)
