#include "replay/report/chart.h"

#include <math.h>
#include <string.h>

#include "trace/base/testing.h"

static char group_a[] = "a", group_b[] = "b \"quoted\" 5 %", s0[] = "one", s1[] = "two", s2[] = "none has it";
static char *const groups[] = {group_a, group_b}, *const series[] = {s0, s1, s2};

static char *script_of(struct chart *chart)
{
    struct figure_size size = {20, 400};
    const struct figure_input input = {.path = "x", .size = &size};
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    chart_write(&input, out, chart);
    (void)fclose(out);
    return text;
}

static void init(struct chart *chart)
{
    WORKS(chart_init(chart, NULL, groups, 2, series, 3, &err));
    chart->bars[0] = (struct chart_bar){true, 2, 1, 4};
    chart->bars[1] = (struct chart_bar){true, 3, 3, 3};
    chart->bars[3] = (struct chart_bar){true, 0, 0, 0};
    chart->bars[4] = (struct chart_bar){true, NAN, NAN, NAN};
}

static void has(const char *text, const char *part, bool expected)
{
    ck_assert_msg((strstr(text, part) != NULL) == expected, "%s\nin\n%s", part, text);
}

START_TEST(what_is_known_is_drawn_and_only_that_is_in_the_legend)
{
    struct chart chart;
    init(&chart);
    char *text = script_of(&chart);
    has(text, "$p0 << EOD\n-0.2 2 1 4 \"a\"\n0.8 0 0 0 \"b \\\"quoted\\\" 5 %\"\nEOD\n", true);
    has(text, "$p1 << EOD\n0.2 3 3 3 \"a\"\nEOD\n", true);
    has(text, "$p0 using 1:($4>$3?$2:NaN):3:4 with yerrorbars", true);
    has(text, "pointsize 0 ", false); /* in SVG a scale of 0, which librsvg draws nothing of the figure for */
    has(text, "$p1 using 1:($4>$3?$2:NaN):3:4", false); /* it has no interval */
    has(text, "none has it", false);
    has(text, " 0}\" at 0.8,", true);   /* no bar is to be seen */
    has(text, " n/a}\" at 1.2,", true); /* nor here, for another reason */
    free(text);
    chart_release(&chart);
}
END_TEST

/* Worked: 3 stands on 2. */
START_TEST(parts_stand_on_each_other)
{
    struct chart chart;
    init(&chart);
    chart.stacked = true;
    char *text = script_of(&chart);
    has(text, "$p0 << EOD\n0 2 0 2 \"a\"\n", true);
    has(text, "$p1 << EOD\n0 3 2 5 \"a\"\n", true);
    has(text, "set yrange [0:*]", true); /* bars on each other reach further than one */
    free(text);
    chart_release(&chart);
}
END_TEST

START_TEST(an_axis_has_a_few_round_tics)
{
    ck_assert_double_eq(chart_step(1), 0.2);
    ck_assert_double_eq(chart_step(8700), 2000);
    ck_assert_double_eq(chart_step(16), 5);
    for (double most = 1e-3; most < 1e6; most *= 1.07) {
        const double tics = most / chart_step(most);
        ck_assert_msg(tics >= 3 && tics < 7.6, "%g: %g", most, tics);
    }
}
END_TEST

/* The labelled tics of a script's vertical axis, and its ends. */
static size_t tics_of(const char *text, double *lo, double *hi)
{
    const char *range = strstr(text, "set yrange ["), *tics = strstr(text, "set ytics ");
    double from, step, next;
    size_t n = 1;
    ck_assert_int_eq(sscanf(range, "set yrange [%lf:%lf]", lo, hi), 2);
    if (sscanf(tics, "set ytics %lf,%lf", &from, &step) == 2)
        return 1 + (size_t)((*hi - from) / step + 1e-6);
    ck_assert_int_eq(sscanf(tics, "set ytics (%lf", &from), 1);
    for (const char *comma = tics; (comma = strchr(comma + 1, ',')); n++, from = next) {
        ck_assert_int_eq(sscanf(comma, ", %lf", &next), 1);
        ck_assert_double_gt(next, from);
    }
    ck_assert_double_eq_tol(from, *hi, 1e-9 * from);
    return n;
}

/* Worked: 0.87 to 1 goes by 0.02; a half to 1.2 by the finer tics of a logarithmic axis. */
START_TEST(an_axis_that_does_not_begin_at_0_has_four_tics_or_more)
{
    static char text[4000];
    double lo, hi;
    for (double ratio = 1; ratio < 1e12; ratio *= 1.03)
        for (double least = 0.0101; least < 20; least *= 1.9) {
            FILE *out = fmemopen(text, sizeof text, "w");
            chart_axis(out, least, least * ratio, ratio > 2);
            (void)fclose(out);
            const size_t n = tics_of(text, &lo, &hi);
            ck_assert_msg(n >= 4 && n <= 11, "%g to %g: %s", least, least * ratio, text);
            ck_assert_double_le(lo, least * 1.000001);
            ck_assert_double_ge(hi, least * ratio * 0.999999);
        }
    FILE *out = fmemopen(text, sizeof text, "w");
    chart_axis(out, 0.87, 1, false);
    chart_axis(out, 0.5, 1.2, true);
    (void)fclose(out);
    has(text, "set yrange [0.86:1]\nset ytics 0.86,0.02\n", true);
    has(text, "set ytics (0.5, 0.6, 0.8, 1, 1.5)\nset yrange [0.5:1.5]\n", true);
}
END_TEST

START_TEST(long_names_are_slanted_or_upright_and_never_cut)
{
    static char names[30][40];
    char *list[30];
    struct chart chart;
    for (int i = 0; i < 30; i++) {
        (void)snprintf(names[i], sizeof names[i], "a-name-that-is-long-%d", i);
        list[i] = names[i];
    }
    for (size_t n = 6; n <= 30; n += 24) {
        WORKS(chart_init(&chart, NULL, list, n, series, 1, &err));
        for (size_t i = 0; i < n; i++)
            chart.bars[i] = (struct chart_bar){true, 1, 1, 1};
        char *text = script_of(&chart);
        has(text, n == 6 ? "rotate by 35 right" : "rotate by 90 right", true);
        for (size_t i = 0; i < n; i++)
            has(text, names[i], true);
        free(text);
        chart_release(&chart);
    }
}
END_TEST

/* The n-th place of a margin in a script, as a share of the height. */
static double margin(const char *text, const char *which, int n)
{
    double at = -1;
    for (int i = 0; i <= n; i++) {
        text = strstr(text, which);
        ck_assert_msg(text != NULL, "no %s", which);
        ck_assert_int_eq(sscanf(text += strlen(which), " at screen %lf", &at), 1);
    }
    return at;
}

START_TEST(panels_stand_under_each_other_and_under_the_legend)
{
    struct figure_size size = {20, 400};
    const struct figure_input input = {.path = "x", .size = &size};
    struct chart chart;
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    static char a[] = "a name as long as a line of the legend", b[] = "another one as long as a line of it", c[] = "x";
    char *const long_names[] = {a, b, c};
    init(&chart);
    chart.series_names = long_names;
    chart.panels = 3;
    for (chart.panel = 0; chart.panel < 3; chart.panel++)
        chart_write(&input, out, &chart);
    (void)fclose(out);
    ck_assert_double_lt(margin(text, "set tmargin", 0), 0.9);
    for (int i = 0; i < 3; i++) {
        ck_assert_double_gt(margin(text, "set tmargin", i), margin(text, "set bmargin", i));
        if (i)
            ck_assert_double_lt(margin(text, "set tmargin", i) + 0.02, margin(text, "set bmargin", i - 1));
    }
    free(text);
    chart_release(&chart);
}
END_TEST

TEST_MAIN("chart")
