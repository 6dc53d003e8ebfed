#include "replay/zerocopy/zerocopy_epoch.h"

#include "trace/base/testing.h"

static struct epoch_stage bounds(double sampler, double gather, double training, bool cpu, double share, uint64_t n)
{
    const struct epoch e = {{sampler, sampler}, {gather, gather}, {training, training}, cpu, share, n};
    return epoch_bounds(&e);
}

static void is(struct epoch_stage got, double lo, double hi)
{
    ck_assert_double_eq_tol(got.lo, lo, 1e-9 * lo);
    ck_assert_double_eq_tol(got.hi, hi, 1e-9 * hi);
}

START_TEST(the_worked_example)
{
    is(bounds(1, 4, 3, false, 1, 10), 44, 71);
    is(bounds(1, 4, 3, false, 0.1, 10), 44, 8 + 1 / 3.0 + 36);
    is(bounds(1, 4, 3, true, 1, 10), 44, 53);
    is(epoch_on_host((struct epoch_stage){4, 5}, 1), 4, 5);
    is(epoch_on_host((struct epoch_stage){4, 5}, 3), 4, 15);
}
END_TEST

/* A second way to the ends: batches one by one through stages that take one batch at a time. */
static double pipeline(const double *stage, int stages, uint64_t batches)
{
    double free_at[3] = {0, 0, 0}, out = 0;
    for (uint64_t b = 0; b < batches; b++) {
        double at = 0;
        for (int s = 0; s < stages; s++) {
            at = (at > free_at[s] ? at : free_at[s]) + stage[s];
            free_at[s] = at;
        }
        out = at;
    }
    return out;
}

START_TEST(the_ends_are_pipelines_walked_batch_by_batch)
{
    unsigned seed = 1;
    for (int i = 0; i < 2000; i++) {
        double t[3], n = 1 + rand_r(&seed) % 40;
        for (int k = 0; k < 3; k++)
            t[k] = rand_r(&seed) % 1000;
        double share = (1 + rand_r(&seed) % 99) / 100.0;
        const double slowed[3] = {t[0], t[1], t[2] / (1 - share)}, gpu[2] = {t[0], t[1] + t[2]},
                     cpu[2] = {t[0] + t[1], t[2]};
        double free_of_all = pipeline(t, 3, (uint64_t)n);
        is(bounds(t[0], t[1], t[2], false, share, (uint64_t)n), free_of_all, pipeline(slowed, 3, (uint64_t)n));
        is(bounds(t[0], t[1], t[2], false, 1, (uint64_t)n), free_of_all, pipeline(gpu, 2, (uint64_t)n));
        is(bounds(t[0], t[1], t[2], true, 1, (uint64_t)n), free_of_all, pipeline(cpu, 2, (uint64_t)n));
    }
}
END_TEST

TEST_MAIN("zerocopy_epoch", the_worked_example, the_ends_are_pipelines_walked_batch_by_batch)
