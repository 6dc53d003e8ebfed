#include <math.h>

#include "models/base/platform.h"
#include "models/zerocopy/pcie.h"
#include "replay/calibrate/calibrate.h"
#include "trace/base/testing.h"

static struct calibration calibrate(const char *path, const char *base, const char *predict)
{
    struct calibration c;
    struct err err = {""};
    struct measurements from = {.paths = &path, .count = 1, .base = base, .predict = predict};
    ck_assert_msg(calibrate_zerocopy(&c, &from, &err) == 0, "%s", err.msg);
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
    ck_assert_double_eq_tol(value_of(&c, "load_ns"), 1316, 50);
    ck_assert_double_eq_tol(value_of(&c, "copy_setup_ns"), 2605, 80);
    ck_assert_double_lt(rms_of(&c, false), 0.03);
    ck_assert_double_lt(rms_of(&c, true), 0.05);
    calibration_release(&c);
}
END_TEST

START_TEST(a_fit_is_a_platform)
{
    struct err err = {""};
    struct calibration c = calibrate("fixtures/calibrate/rtx3090_decimal.csv", "rtx3090", NULL);
    FILE *f = fopen(testing_file("mine.ini"), "w");
    ck_assert_int_eq(calibration_write(&c, "mine", "rtx3090", f, &err), 0);
    (void)fclose(f);
    struct platform *p = platform_load(testing_file("mine.ini"), &err);
    ck_assert_msg(p != NULL, "%s", err.msg);
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
    } bad[] = {{HEADER, "nothing to fit to"},
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

TEST_MAIN("calibrate_zerocopy", published_rates_of_a_v100_give_its_platforms_constants,
          measured_times_of_an_h200_give_its_constants_and_predict_the_rest, a_fit_is_a_platform,
          a_bound_of_the_base_that_rows_contradict_is_left_out, block_copies_alone_give_the_wire,
          what_cannot_be_is_refused_with_the_reason)
