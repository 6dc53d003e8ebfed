#include "replay/calibrate/calibrate.h"

#include <math.h>
#include <stdlib.h>

#include "models/placement/overhead.h"
#include "trace/base/testing.h"
#include "trace/store/store.h"

static const struct calibrated *find(const struct calibration *c, const char *key)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->numbers[i].key, key) == 0)
            return &c->numbers[i];
    return NULL;
}

START_TEST(placement_constants_come_back_from_synthetic_rows)
{
    char text[4096] = "what,bytes,ms\n";
    for (int i = 0; i < 8; i++) {
        double bytes = 4096 << i;
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used,
                       "copy_hd,%.0f,%.12g\ncopy_dh,%.0f,%.12g\nmapping,%.0f,%.12g\nflush_cpu,0,0.07\n", bytes,
                       0.012 + 3e-8 * bytes, bytes, 0.02 + 5e-8 * bytes, bytes, 1e-8 * bytes);
    }
    const char *path = testing_write("bench.csv", text, strlen(text));
    struct calibration c;
    WORKS(calibrate_placement(&c, &(struct measurements){.paths = &path, .count = 1}, &err));
    ck_assert_double_eq_tol(find(&c, "l_hd")->value, 3e-8, 1e-13);
    ck_assert_double_eq_tol(find(&c, "t_ini")->value, 0.012, 1e-9);
    ck_assert_double_eq_tol(find(&c, "l_dh")->value, 5e-8, 1e-13);
    ck_assert_double_eq_tol(find(&c, "c_cpu")->value, 0.07, 1e-9);
    ck_assert_ptr_null(find(&c, "c_gpu"));
    ck_assert_uint_eq(c.note_count, 5); /* c_gpu, l_ini, l_l2, l_mem, max_parallelism */

    FILE *f = fopen(testing_file("mine.ini"), "w");
    WORKS(calibration_write(&c, "mine", "tx2", f, &err));
    (void)fclose(f);
    struct platform *p = GIVES(platform_load(testing_file("mine.ini"), &err));
    const struct placement_platform *hw = platform_section_get(p, "placement");
    ck_assert_double_eq_tol(hw->l_hd, 3e-8, 1e-13);
    ck_assert_double_gt(hw->c_gpu, 0);
    platform_free(p);
}
END_TEST

START_TEST(wrong_rows_name_file_and_line)
{
    static const struct {
        const char *text, *says;
    } bad[] = {{"size,time\n", "expected the header"},
               {"what,bytes,ms\ncopy_hd,1\n", "bench.csv:2: expected what,bytes,ms"},
               {"what,bytes,ms\ncopy_hd,1,x\n", "bench.csv:2: 'x' is not a number"},
               {"what,bytes,ms\nwarp,1,1\n", "bench.csv:2: 'warp' is not one of"},
               {"what,bytes,ms\ncopy_hd,1,-1\n", "must not be negative"},
               {"what,bytes,ms\n", "nothing could be fitted"},
               {"", "nothing could be fitted"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *path = testing_write("bench.csv", bad[i].text, strlen(bad[i].text));
        struct calibration c;
        struct err err = {""};
        ck_assert_int_eq(calibrate_placement(&c, &(struct measurements){.paths = &path, .count = 1}, &err), -1);
        ck_assert_msg(strstr(err.msg, bad[i].says) != NULL, "'%s' gave: %s", bad[i].text, err.msg);
    }
}
END_TEST

static struct store *copies(const char *path)
{
    struct err err = {""};
    struct store *store = store_create(path, true, "test", &err);
    struct stream s = {.name = "uvm", .unit = TIME_NS};
    int stream;
    ck_assert_msg(store && store_stream_add(store, &s, &stream, &err) == 0, "%s", err.msg);
    for (int i = 1; i <= 32; i++) {
        struct record r[2] = {{.time = i, .kind = RECORD_MIGRATE_H2D, .bytes = (uint64_t)i * 4096},
                              {.time = i, .kind = RECORD_MIGRATE_D2H, .bytes = (uint64_t)i * 4096}};
        r[0].duration = 2500 + (int64_t)(r[0].bytes / 50);
        r[1].duration = 1700 + (int64_t)(r[1].bytes / 54);
        ck_assert_int_eq(store_append(store, stream, r, NULL, 2, &err), 0);
    }
    return store;
}

static void finish(struct store *store)
{
    WORKS(store_finish(store, &err));
    store_close(store);
}

START_TEST(bandwidth_and_record_cost_come_back_from_a_trace)
{
    const char *path = testing_file("t.db");
    finish(copies(path));
    struct calibration c;
    WORKS(calibrate_uvm(&c, &(struct measurements){.paths = &path, .count = 1, .base = "h200"}, &err));
    ck_assert_double_eq_tol(find(&c, "h2d_bytes_per_s")->value, 50e9, 1e7);
    ck_assert_double_eq_tol(find(&c, "trace_record_ns")->value, 2500, 2);
    ck_assert_double_eq_tol(find(&c, "d2h_bytes_per_s")->value, 54e9, 1e7);
    calibration_release(&c);
}
END_TEST

/* --- the peak of parallelism --- */

static uint64_t state = 9;
static double any(double lo, double hi)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return lo + (hi - lo) * (double)(state >> 40) / 0x1p24;
}

static void fill(struct parallelism *p, double latency, double time, double most, double noise)
{
    *p = (struct parallelism){0};
    for (double n = most; n >= 1; n /= 2) /* in any order */
        ck_assert_int_eq(parallelism_add(p, n, fmax(latency / n, time) * any(1 - noise, 1 + noise), NULL), 0);
}

START_TEST(the_worked_example)
{
    struct parallelism p;
    fill(&p, 400, 5, 256, 0);
    ck_assert_int_eq(parallelism_solve(&p), 0);
    ck_assert_double_eq_tol(p.peak, 80, 1e-9);
    ck_assert_uint_eq(p.flat, 2);
    ck_assert_double_eq_tol(p.error, 0, 1e-6);
    free(p.rows);
}
END_TEST

START_TEST(noisy_rows_give_the_peak_within_their_error)
{
    int within = 0;
    for (int round = 0; round < 300; round++) {
        struct parallelism p;
        double latency = any(100, 800), peak = any(6, 100);
        fill(&p, latency, latency / peak, 1024, 0.03);
        ck_assert_int_eq(parallelism_solve(&p), 0);
        ck_assert_double_eq_tol(p.peak / peak, 1, 0.08);
        within += fabs(p.peak - peak) <= 2 * p.error;
        free(p.rows);
    }
    ck_assert_int_gt(within, 240);
}
END_TEST

/* One side by hand: f shape / time is to be 1; f = sum a / sum a^2 of a = shape / time, and n - (sum a)^2 / sum a^2 is
 * left. Returns the square of the factor's relative standard error. */
static double side(const struct parallelism *p, size_t from, size_t to, bool falls, double *factor, double *left)
{
    double sum = 0, squares = 0;
    for (size_t i = from; i < to; i++) {
        const double a = (falls ? 1 / p->rows[i].in_flight : 1) / p->rows[i].time;
        sum += a;
        squares += a * a;
    }
    *factor = sum / squares;
    *left = fmax((double)(to - from) - sum * sum / squares, 0);
    return *left / (double)(to - from - 1) / squares / (*factor * *factor);
}

START_TEST(results_are_those_of_least_squares_on_both_sides)
{
    for (int round = 0; round < 200; round++) {
        struct parallelism p;
        const double latency = any(100, 800), noise = any(0.001, 0.1);
        fill(&p, latency, latency / any(6, 100), 1024, noise);
        ck_assert_int_eq(parallelism_solve(&p), 0);
        const size_t cut = p.count - p.flat;
        double falls, level, left[2], mean = 0, spread = 0;
        const double e1 = side(&p, 0, cut, true, &falls, &left[0]),
                     e2 = side(&p, cut, p.count, false, &level, &left[1]);
        for (size_t i = 0; i < p.count; i++) {
            ck_assert(i == 0 || p.rows[i].in_flight > p.rows[i - 1].in_flight);
            mean += p.rows[i].time / (double)p.count;
        }
        for (size_t i = 0; i < p.count; i++)
            spread += pow(mean / p.rows[i].time - 1, 2);
        ck_assert_double_eq_tol(p.peak, falls / level, 1e-9 * p.peak);
        ck_assert_double_eq_tol(p.error, p.peak * sqrt(e1 + e2), 1e-6 * p.peak);
        ck_assert_uint_eq(p.fit.rows, p.count);
        ck_assert_double_eq_tol(p.fit.rms, sqrt((left[0] + left[1]) / (double)p.count), 1e-7);
        ck_assert_double_eq_tol(p.fit.r2, 1 - (left[0] + left[1]) / spread, 1e-9);
        free(p.rows);
    }
}
END_TEST

START_TEST(throughput_that_never_levels_off_gives_no_peak)
{
    struct parallelism p;
    fill(&p, 400, 1, 64, 0);
    ck_assert_int_eq(parallelism_solve(&p), -1);
    free(p.rows);
    fill(&p, 400, 5, 4, 0); /* three rows */
    ck_assert_int_eq(parallelism_solve(&p), -1);
    free(p.rows);
}
END_TEST

TEST_MAIN("calibrate")
