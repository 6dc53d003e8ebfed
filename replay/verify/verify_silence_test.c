/* The silences of verify.c. */
#include "replay/verify/verify.c"

#include "trace/base/testing.h"

enum { MS = 1000000, N = 100 };

/* A record of 0.1 ms every 0.3 ms from `from_ms` on. */
static void steady(struct verify_interval *activity, size_t n, int64_t from_ms)
{
    for (size_t i = 0; i < n; i++)
        activity[i] = (struct verify_interval){from_ms * MS + (int64_t)i * 300000,
                                               from_ms * MS + (int64_t)i * 300000 + 100000, 4096};
}

static struct verify_silence find(int64_t kernel_end_ms, struct verify_interval *activity, size_t n)
{
    struct verify_silence s;
    /* Two kernels that overlap are one stretch of work. */
    struct verify_interval kernels[] = {{5 * MS, kernel_end_ms * MS, 0}, {0, 10 * MS, 0}};
    WORKS(find_silences(&s, kernels, 2, activity, n, &err));
    return s;
}

START_TEST(steady_records_up_to_the_end_are_no_silence)
{
    struct verify_interval a[N];
    steady(a, N, 0);
    ck_assert_uint_eq(find(30, a, N).count, 0);
}
END_TEST

START_TEST(a_kernel_that_runs_on_is_a_silent_tail)
{
    struct verify_interval a[N];
    steady(a, N, 0);
    struct verify_silence s = find(60, a, N);
    ck_assert_uint_eq(s.count, 1);
    ck_assert(s.tail);
    ck_assert_int_eq(s.usual_ns, 200000);
    ck_assert_int_eq(s.longest_ns, 60 * MS - (29700000 + 100000));
}
END_TEST

START_TEST(a_hole_is_found_where_it_is)
{
    struct verify_interval a[N];
    steady(a, N / 2, 0);
    steady(a + N / 2, N / 2, 25);
    struct verify_silence s = find(41, a, N);
    ck_assert_uint_eq(s.count, 1);
    ck_assert(!s.tail);
    ck_assert_int_eq(s.from_ns, 14800000);
    ck_assert_int_eq(s.to_ns, 25 * MS);
}
END_TEST

START_TEST(few_records_and_time_outside_kernels_say_nothing)
{
    struct verify_interval a[N];
    steady(a, 7, 0);
    ck_assert_uint_eq(find(1000, a, 7).count, 0);
    steady(a, N, 100);
    ck_assert_uint_eq(find(30, a, N).count, 0);
}
END_TEST

TEST_MAIN("verify_silence")
