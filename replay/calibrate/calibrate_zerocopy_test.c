#include <math.h>

#include "models/base/platform.h"
#include "models/zerocopy/link.h"
#include "replay/calibrate/calibrate.h"
#include "replay/calibrate/link_fit.h"
#include "trace/base/testing.h"

static struct calibration calibrate(const char *path, const char *base, const char *predict)
{
    struct calibration c;
    struct measurements from = {.paths = &path, .count = 1, .base = base, .predict = predict};
    WORKS(calibrate_zerocopy(&c, &from, &err));
    return c;
}

static double value_of(const struct calibration *c, const char *key)
{
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->numbers[i].key, key) == 0)
            return c->numbers[i].value;
    return NAN;
}

static double rms_of(const struct calibration *c, bool predicted)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < c->row_count; i++)
        if (c->rows[i].predicted == predicted && strcmp(c->rows[i].bound, "copy") != 0) {
            double r = c->rows[i].fitted_ns / c->rows[i].measured_ns - 1;
            sum += r * r;
            n++;
        }
    return sqrt(sum / (double)n);
}

/* The dissertation's three rates on a V100, under both readings of its units: models/platforms/v100.ini was fitted to
 * the first by hand. */
START_TEST(published_rates_of_a_v100_give_its_platforms_constants)
{
    struct calibration c = calibrate("fixtures/calibrate/v100_decimal.csv", "v100", NULL);
    ck_assert_double_eq_tol(value_of(&c, "efficiency"), 0.90, 0.005);
    ck_assert_double_eq_tol(value_of(&c, "round_trip_ns"), 1720, 10);
    ck_assert_double_eq(value_of(&c, "tags"), 256);
    ck_assert(isnan(value_of(&c, "host_bytes_per_s")));
    ck_assert_double_eq_tol(value_of(&c, "copy_payload_bytes"), 128, 8);
    calibration_release(&c);
    c = calibrate("fixtures/calibrate/v100_binary.csv", "v100", NULL);
    ck_assert_double_eq_tol(value_of(&c, "efficiency"), 0.898 * 1.0737, 0.002);
    ck_assert_double_eq_tol(value_of(&c, "round_trip_ns"), 1722.7 / 1.0737, 2);
    calibration_release(&c);
}
END_TEST

/* Measured on an H200: fitted to arrays, aligned rows and shares of the chip; graph sweeps, other rows and offsets are
 * predicted. The platform's constants were found another way. */
START_TEST(measured_times_of_an_h200_give_its_constants_and_predict_the_rest)
{
    struct calibration c = calibrate("fixtures/calibrate/h200.csv", "h200", "fixtures/calibrate/h200_others.csv");
    ck_assert_double_eq_tol(value_of(&c, "efficiency"), 0.94, 0.02);
    ck_assert_double_eq_tol(value_of(&c, "round_trip_ns"), 1391, 60);
    ck_assert_double_eq_tol(value_of(&c, "host_bytes_per_s"), 59e9, 3e9);
    ck_assert_double_eq_tol(value_of(&c, "load_ns"), 1350, 50);
    ck_assert_double_eq_tol(value_of(&c, "copy_setup_ns"), 2605, 80);
    ck_assert_double_lt(rms_of(&c, false), 0.03);
    ck_assert_double_lt(rms_of(&c, true), 0.05);
    calibration_release(&c);
}
END_TEST

START_TEST(a_fit_is_a_platform)
{
    struct calibration c = calibrate("fixtures/calibrate/rtx3090_decimal.csv", "rtx3090", NULL);
    FILE *f = fopen(testing_file("mine.ini"), "w");
    WORKS(calibration_write(&c, "mine", "rtx3090", f, &err));
    (void)fclose(f);
    struct platform *p = GIVES(platform_load(testing_file("mine.ini"), &err));
    const struct pcie *pcie = platform_section_get(p, "pcie");
    ck_assert_double_eq_tol(pcie->efficiency, value_of(&c, "efficiency"), 1e-6);
    ck_assert_double_eq_tol(pcie->load_ns, 1215, 5);
    /* 300 M requests/s and more went through in the naive rows */
    ck_assert_double_gt((double)pcie->tags / pcie->round_trip_ns * 1e9, 3e8);
    platform_free(p);
    calibration_release(&c);
}
END_TEST

#define HEADER "req32,req64,req96,req128,host64_lines,copy_bytes,time_ns\n"

START_TEST(a_bound_of_the_base_that_rows_contradict_is_left_out)
{
    /* 32 B requests at 9 GB/s: 1.9 times what a V100's tags let through */
    const char *text = HEADER "1000000,0,0,0,1000000,,3555556\n2000000,0,0,0,2000000,,7111111\n"
                              "0,0,0,1000000,2000000,,10449630\n0,0,0,2000000,4000000,,20899260\n";
    struct calibration c = calibrate(testing_write("rows.csv", text, strlen(text)), "v100", NULL);
    double tags = value_of(&c, "tags"), trip = value_of(&c, "round_trip_ns");
    ck_assert(tags == 0 || tags / trip * 1e9 > 2.7e8);
    ck_assert_double_lt(rms_of(&c, false), 0.05);
    calibration_release(&c);
    text = HEADER "0,0,0,1000000,2000000,,10449630\n0,0,0,2000000,4000000,,20899260\n";
    c = calibrate(testing_write("rows.csv", text, strlen(text)), "v100", NULL);
    ck_assert(isnan(value_of(&c, "tags"))); /* not shown, not contradicted: the base's */
    calibration_release(&c);
}
END_TEST

START_TEST(block_copies_alone_give_the_wire)
{
    char text[2048] = HEADER;
    for (int i = 0; i < 10; i++) {
        size_t used = strlen(text);
        double bytes = 65536 << i;
        (void)snprintf(text + used, sizeof text - used, ",,,,,%.0f,%.3f\n", bytes, 2500 + bytes / 12.2668);
    }
    struct calibration c = calibrate(testing_write("rows.csv", text, strlen(text)), "v100", NULL);
    ck_assert_double_eq_tol(value_of(&c, "copy_setup_ns"), 2500, 1);
    ck_assert_double_eq_tol(value_of(&c, "efficiency"), 12.2668 / 15.7538 * 148 / 128, 1e-3);
    calibration_release(&c);
}
END_TEST

START_TEST(what_cannot_be_is_refused_with_the_reason)
{
    static const struct {
        const char *text, *says;
    } bad[] = {{HEADER, "nothing to fit: "},
               {HEADER "0,0,0,1000000,2000000,,2000000\n", "name a base with the right gigatransfers"},
               {HEADER ",,,,,64000000,1000000\n", "the block copies need"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct calibration c;
        struct err err = {""};
        const char *path = testing_write("rows.csv", bad[i].text, strlen(bad[i].text));
        ck_assert_int_eq(
            calibrate_zerocopy(&c, &(struct measurements){.paths = &path, .count = 1, .base = "v100"}, &err), -1);
        ck_assert_msg(strstr(err.msg, bad[i].says) != NULL, "'%s' gave: %s", bad[i].text, err.msg);
    }
}
END_TEST

/* --- what fixtures/cuda/zero_copy_link.cu prints, of a machine whose constants are known --- */

struct printed {
    char text[16384];
    size_t used;
    const struct link_costs *truth;
    const struct gpu *gpu;
    uint64_t random;
};

/* A row of requests of one size; its time is off by up to 1 %. */
static void print_row(struct printed *out, int sectors, double requests, double loads, double warps, double launches,
                      double jumps, double span)
{
    struct link_row row = {.launches = launches,
                           .launch = {.mix = {.host_lines = (uint64_t)requests * (sectors > 2 ? 2 : 1)},
                                      .loads = loads,
                                      .loads_at_once = 1,
                                      .resident_warps = warps,
                                      .jumps = jumps,
                                      .span = span}};
    row.launch.mix.by_size[sectors - 1] = (uint64_t)requests;
    out->random ^= out->random << 13;
    out->random ^= out->random >> 7;
    out->random ^= out->random << 17;
    const uint64_t *by = row.launch.mix.by_size;
    double ns = link_row_ns(out->truth, out->gpu, &row, NULL) * (0.99 + 0.02 * (double)(out->random >> 11) / 0x1p53);
    out->used +=
        (size_t)snprintf(out->text + out->used, sizeof out->text - out->used,
                         "%llu,%llu,%llu,%llu,%llu,%.0f,1,%.0f,%.0f,%.0f,%.0f,%.0f\n", (unsigned long long)by[0],
                         (unsigned long long)by[1], (unsigned long long)by[2], (unsigned long long)by[3],
                         (unsigned long long)row.launch.mix.host_lines, loads, warps, launches, jumps, span, ns);
}

static struct calibration calibrate_printed(struct printed *out)
{
    static const char head[] = "req32,req64,req96,req128,host64_lines,warp_loads,loads_at_once,resident_warps,launches,"
                               "jumps,span_bytes,time_ns\n";
    out->random = 88172645463325252u;
    out->used = (size_t)snprintf(out->text, sizeof out->text, "%s", head);
    for (int sectors = 1; sectors <= 4; sectors++)
        print_row(out, sectors, 1 << 22, 1 << 22, 8192, 1, 0, 0);
    for (double jumps = 0; jumps < 2; jumps++)
        for (double span = 1 << 20; span <= 0x1p33; span *= 2)
            print_row(out, 4, 1 << 21, 1 << 21, 8192, 1, jumps * (1 << 21), span);
    for (double n = 1; n <= 256; n *= 4)
        print_row(out, 4, n, n, 1, n, 0, 0);
    for (double lines = 512; lines <= 131072; lines *= 4)
        print_row(out, 4, lines, lines, lines < 8192 ? lines : 8192, 1, 0, 0);
    for (double bytes = 4; bytes <= 16; bytes *= 2)
        for (int sms = 1; sms <= 24; sms = sms < 4 ? sms + 1 : sms * 3 / 2)
            print_row(out, 4, 1 << 21, (1 << 23) / bytes, 32 * sms, 1, 0, 0);
    return calibrate(testing_write("printed.csv", out->text, out->used), "h200", NULL);
}

START_TEST(scattered_reads_launches_and_wide_lanes_give_their_constants)
{
    struct platform *h200 = platform_load("h200", NULL);
    struct link_costs truth = {*(const struct pcie *)platform_section_get(h200, "pcie"),
                               *(const struct launch *)platform_section_get(h200, "launch")};
    struct printed out = {.truth = &truth, .gpu = platform_section_get(h200, "gpu")};
    truth.pcie.efficiency = 0.92;
    truth.pcie.load_ns = 1250;
    truth.launch.alone_ns = 6000;
    truth.launch.gap_ns = 5000; /* seen where the host enqueues faster */
    truth.pcie.further_ns = 45;
    truth.pcie.jump_ns = 0.9;
    truth.pcie.walk_ns = 6;
    truth.pcie.reach_bytes = 0x1.8p30;
    struct calibration c = calibrate_printed(&out);
    ck_assert_double_eq_tol(value_of(&c, "efficiency"), 0.92, 0.01);
    ck_assert_double_eq_tol(value_of(&c, "load_ns"), 1250, 15);
    ck_assert_double_eq_tol(value_of(&c, "alone_ns"), 6000, 100);
    ck_assert_double_eq_tol(value_of(&c, "gap_ns"), 5000, 120);
    ck_assert_double_eq_tol(value_of(&c, "further_ns"), 45, 3);
    ck_assert_double_eq_tol(value_of(&c, "jump_ns"), 0.9, 0.1);
    ck_assert_double_eq_tol(value_of(&c, "walk_ns"), 6, 0.2);
    ck_assert_double_eq_tol(value_of(&c, "reach_bytes") / 0x1.8p30, 1, 0.05);
    calibration_release(&c);
    truth.pcie.further_ns = truth.pcie.jump_ns = truth.pcie.walk_ns = 0; /* a machine without them gets none */
    c = calibrate_printed(&out);
    ck_assert(isnan(value_of(&c, "further_ns")));
    ck_assert(isnan(value_of(&c, "jump_ns")));
    ck_assert_double_eq(value_of(&c, "walk_ns"), 0); /* the base's are taken away */
    ck_assert_double_eq_tol(value_of(&c, "load_ns"), 1250, 15);
    calibration_release(&c);
    platform_free(h200);
}
END_TEST

TEST_MAIN("calibrate_zerocopy")
