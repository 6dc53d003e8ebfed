#include "replay/calibrate/link_fit.h"

#include <math.h>

#include "models/base/platform.h"
#include "models/base/sections.h"
#include "trace/base/param_value.h"
#include "trace/base/testing.h"

/* Requests of one size, on `warps` warps (0: the issue bound is left out). */
static struct link_row row_of(uint64_t requests, int sectors, double warps, double launches)
{
    struct link_row row = {.launches = launches, .lines_known = true};
    row.launch.mix.by_size[sectors - 1] = requests;
    row.launch.mix.host_lines = requests * (uint64_t)((sectors + 1) / 2);
    row.launch.loads = warps > 0 ? (double)requests : 0;
    row.launch.resident_warps = warps;
    return row;
}

static size_t make_rows(struct link_row *rows)
{
    size_t n = 0;
    for (int sectors = 1; sectors <= 4; sectors++)
        for (uint64_t k = 1; k <= 64; k *= 4)
            rows[n++] = row_of(k * 10000, sectors, 0, 1);
    for (int warps = 32; warps <= 1024; warps *= 2)
        rows[n++] = row_of(400000, 4, warps, 1);
    rows[n++] = row_of(640000, 4, 0, 50);
    return n;
}

/* Constants -> times -> fit -> constants. */
START_TEST(costs_come_back_from_their_own_times)
{
    struct link_row rows[64];
    size_t n = make_rows(rows);
    struct gpu gpu;
    struct link_costs truth = {.pcie = {0}};
    param_defaults(gpu_params, &gpu);
    param_defaults(pcie_params, &truth.pcie);
    truth.pcie.gigatransfers = 32;
    truth.pcie.efficiency = 0.93;
    truth.pcie.tags = 1024;
    truth.pcie.round_trip_ns = 1500;
    truth.pcie.host_bytes_per_s = 58e9;
    truth.pcie.load_ns = 1200;
    truth.launch.alone_ns = 5000;
    truth.launch.gap_ns = 2000;
    for (size_t i = 0; i < n; i++)
        rows[i].time_ns = link_row_ns(&truth, &gpu, &rows[i], NULL);
    struct link_fit fit = {.gpu = &gpu, .free = (1u << LINK_COSTS) - 1};
    param_defaults(pcie_params, &fit.to.pcie);
    fit.to.pcie.gigatransfers = 32;
    WORKS(link_fit_solve(&fit, rows, NULL, n, &err));
    ck_assert_double_lt(fit.rms, 1e-6);
    ck_assert_double_eq_tol(fit.to.pcie.efficiency, 0.93, 1e-4);
    ck_assert_double_eq_tol(fit.to.pcie.round_trip_ns / (double)fit.to.pcie.tags, 1500.0 / 1024, 1e-3);
    ck_assert_double_eq_tol(fit.to.pcie.host_bytes_per_s, 58e9, 58e5);
    ck_assert_double_eq_tol(fit.to.pcie.load_ns, 1200, 0.1);
    ck_assert_double_eq_tol(fit.to.launch.alone_ns, 5000, 5);
    ck_assert_double_eq_tol(fit.to.launch.gap_ns, 2000, 5);
}
END_TEST

START_TEST(errors_cover_the_truth_under_noise)
{
    struct link_row rows[64];
    size_t n = make_rows(rows);
    struct gpu gpu;
    struct link_costs truth = {.pcie = {0}};
    uint64_t random = 88172645463325252u;
    param_defaults(gpu_params, &gpu);
    param_defaults(pcie_params, &truth.pcie);
    truth.pcie.tags = 256;
    truth.pcie.round_trip_ns = 1720;
    for (size_t i = 0; i < n; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        rows[i].time_ns = link_row_ns(&truth, &gpu, &rows[i], NULL) * (0.97 + 0.06 * (double)(random >> 11) / 0x1p53);
    }
    struct link_fit fit = {.gpu = &gpu, .free = 1u << COST_WIRE | 1u << COST_TAGS};
    param_defaults(pcie_params, &fit.to.pcie);
    ck_assert_int_eq(link_fit_solve(&fit, rows, NULL, n, NULL), 0);
    ck_assert_double_lt(fit.rms, 0.03);
    double wire = 1e9 / (truth.pcie.efficiency * pcie_raw_bytes_per_s(&truth.pcie)), tags = 1720.0 / 256;
    ck_assert_double_lt(fabs(fit.cost[COST_WIRE] - wire), 3 * fit.error[COST_WIRE]);
    ck_assert_double_lt(fabs(fit.cost[COST_TAGS] - tags), 3 * fit.error[COST_TAGS]);
    ck_assert_double_gt(fit.error[COST_TAGS], 0);
}
END_TEST

/* Requests of 128 B alone: the wire explains them; outstanding requests are not told. */
START_TEST(a_cost_that_no_row_follows_has_no_share)
{
    struct link_row rows[4];
    struct gpu gpu;
    struct link_costs truth = {.pcie = {0}};
    param_defaults(gpu_params, &gpu);
    param_defaults(pcie_params, &truth.pcie);
    for (uint64_t i = 0; i < 4; i++) {
        rows[i] = row_of((i + 1) * 1000000, 4, 0, 1);
        rows[i].time_ns = link_row_ns(&truth, &gpu, &rows[i], NULL);
    }
    struct link_fit fit = {.gpu = &gpu, .free = 1u << COST_WIRE | 1u << COST_TAGS};
    param_defaults(pcie_params, &fit.to.pcie);
    ck_assert_int_eq(link_fit_solve(&fit, rows, NULL, 4, NULL), 0);
    ck_assert(isinf(fit.error[COST_WIRE]) || isinf(fit.error[COST_TAGS]) || fit.share[COST_TAGS] < 0.05);
    ck_assert_double_lt(fit.rms, 1e-6);
}
END_TEST

START_TEST(rows_held_out_are_not_fitted_to)
{
    struct link_row rows[3] = {row_of(1000000, 4, 0, 1), row_of(2000000, 4, 0, 1), row_of(3000000, 4, 0, 1)};
    struct gpu gpu;
    struct link_costs truth = {.pcie = {0}};
    param_defaults(gpu_params, &gpu);
    param_defaults(pcie_params, &truth.pcie);
    for (size_t i = 0; i < 3; i++)
        rows[i].time_ns = link_row_ns(&truth, &gpu, &rows[i], NULL);
    rows[1].time_ns *= 10;
    struct link_fit fit = {.gpu = &gpu, .free = 1u << COST_WIRE};
    param_defaults(pcie_params, &fit.to.pcie);
    ck_assert_int_eq(link_fit_solve(&fit, rows, (bool[]){false, true, false}, 3, NULL), 0);
    ck_assert_uint_eq(fit.rows, 2);
    ck_assert_double_eq_tol(fit.to.pcie.efficiency, truth.pcie.efficiency, 1e-9);
    FAILS_AS(link_fit_solve(&fit, rows, (bool[]){true, true, true}, 3, &err),
             "0 rows are too few for 1 unknown numbers of the link");
}
END_TEST

/* --- a step that is as bad as none --- */

static double squares(const struct link_fit *fit, const struct link_row *rows, size_t n, double load_ns)
{
    struct link_costs p = fit->to;
    double sum = 0;
    p.pcie.load_ns = load_ns;
    for (size_t i = 0; i < n; i++) {
        const double r = link_row_ns(&p, fit->gpu, &rows[i], NULL) / rows[i].time_ns - 1;
        sum += r * r;
    }
    return sum;
}

/* Two rows: of the first the wire hides the loads until they take eight times as long, the second asks for more than
 * that. Its time is searched for which makes the residual after the first step, to eight times the cost, the very one
 * before it; half of the step is better. */
START_TEST(a_step_to_an_equal_residual_is_halved)
{
    struct gpu gpu;
    struct link_fit fit = {.gpu = &gpu, .free = 1u << COST_LOAD};
    param_defaults(gpu_params, &gpu);
    param_defaults(pcie_params, &fit.to.pcie);
    fit.to.pcie.chain_sharpness = 8;
    const double start_ns = 128, loads = 1000;
    struct link_row rows[2] = {row_of(1000000, 4, 0, 1), row_of(0, 1, 0, 1)};
    rows[0].chain_loads = rows[1].chain_loads = loads;
    const double each = link_service_ns(&fit.to.pcie, &rows[0].launch.mix) / 1e6;
    rows[0] = row_of((uint64_t)(13.5 * start_ns * loads / each), 4, 0, 1);
    rows[0].chain_loads = loads;
    rows[0].time_ns = start_ns * loads;
    double low = 9, high = 1000, gain = 1;
    while (gain != 0) {
        const double middle = low + (high - low) / 2;
        ck_assert(middle > low && middle < high);
        rows[1].time_ns = middle * start_ns * loads;
        gain = squares(&fit, rows, 2, 8 * start_ns) - squares(&fit, rows, 2, start_ns);
        *(gain < 0 ? &low : &high) = middle;
    }
    const double best = squares(&fit, rows, 2, start_ns);
    ck_assert_int_eq(link_fit_solve(&fit, rows, NULL, 2, NULL), 0);
    ck_assert_double_lt(fit.rms * fit.rms * 2, 0.999 * best);
}
END_TEST

TEST_MAIN("link_fit")
