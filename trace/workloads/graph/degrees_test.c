/* The degrees of degrees are its own: by including it. */
#include "trace/workloads/graph/degrees.c"

#include "trace/base/testing.h"

static double mean_of(const struct degree_model *m, uint64_t n)
{
    uint32_t *degrees;
    uint64_t count;
    double mean;
    ck_assert_int_eq(degree_sample(m, n, 1, &degrees, &count, &mean, NULL), 0);
    for (uint64_t i = 0; i < count; i++)
        ck_assert_uint_ge(degrees[i], 1);
    free(degrees);
    return mean;
}

/* gapbs b5e3e19 Kronecker graphs, k 16: elements at scales 16, 18, 20; 4.22 G at scale 27 (dissertation, table 2.2). */
START_TEST(kron_has_the_elements_of_generated_graphs)
{
    static const struct {
        int scale;
        double elements;
    } known[] = {{16, 1819292}, {18, 7610898}, {20, 31399382}, {27, 4.22e9}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct degree_model m = {.kind = DEGREE_KRON, .scale = known[i].scale, .k = 16};
        double vertices = (double)(1ULL << known[i].scale);
        ck_assert_double_eq_tol(mean_of(&m, 1 << 18) * vertices / known[i].elements, 1, 0.02);
    }
}
END_TEST

START_TEST(lognormal_and_urand_keep_their_mean)
{
    const struct degree_model l = {.kind = DEGREE_LOGNORMAL, .mean = 222, .sigma = 1.5};
    const struct degree_model u = {.kind = DEGREE_URAND, .k = 16};
    ck_assert_double_eq_tol(mean_of(&l, 1 << 18), 222, 3);
    ck_assert_double_eq_tol(mean_of(&u, 1 << 16), 32, 0.05);
}
END_TEST

TEST_MAIN("degrees")
