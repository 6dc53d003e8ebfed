#include "replay/run/verdict.h"

#include <math.h>
#include <string.h>

#include "replay/run/engine.h"
#include "trace/base/testing.h"

enum { MOST = 6 };

static const struct metric time = {"time_ns", METRIC_REAL, METRIC_SUM, ""};
static const struct metric fairness = {"fairness_index", METRIC_REAL, METRIC_MIN, ""};

/* An answer in words of ten: "a 100", "b 90..110", "c ~80", "d >300", "e" without a value; then its error. */
struct row {
    const char *name;
    double lo, hi;   /* us; NAN: not known */
    char sign;       /* '~' an estimate, '>' more than that, 'x' left out, '-' only the ends, 'u' unlike */
    double error;    /* a ratio */
    double common;   /* us */
    unsigned simple; /* place */
};

static const struct {
    const struct metric *metric;
    bool more;
    struct row rows[MOST];
    const char *says;
} cases[] = {
    {&time,
     false,
     {{.name = "a", .lo = 100, .hi = 100, .sign = 'u', .error = .1}, {.name = "b", .lo = 300, .hi = 300, .error = .1}},
     "Use a: 100 us; b takes 3.00 times as long (300 us), more than tree's measured error."},
    {&time,
     false,
     {{"a", 100, 100, 0, 0.06, 0, 1}, {"b", 106, 106, 0, 0.06, 0, 0}, {"c", 120, 120, 0, 0.06, 0, 2}},
     "Use b, the simplest: 106 us; a 100 us is the same within the models' errors."},
    {&time,
     false,
     {{"a", 100, 100, 0, 0.06, 0, 1}, {"b", 107, 107, 0, 0.06, 0, 0}},
     "Use a: 100 us; b takes 1.07 times as long (107 us), more than the models' errors."},
    /* the larger error of the two */
    {&time,
     false,
     {{"a", 100, 100, 0, 0.06, 0, 1}, {"b", 107, 107, 0, 0.15, 0, 2}},
     "Use a, the simplest: 100 us; b 107 us is the same within the models' errors."},
    /* an interval is said as one, and the lead is that of the ends that are nearest */
    {&time,
     false,
     {{"a", 242, 331, 0, 0.06, 0, 3},
      {"b", 317, 317, 0, 0.06, 0, 2},
      {"c", 332, 332, 0, 0.06, 0, 1},
      {"d", 2250, 2250, 0, 0.15, 0, 0}},
     "Use c, the simplest: 332 us; a 242 to 331 us and b 317 us are the same within the models' errors."},
    {&time,
     false,
     {{"a", 200, 250, 0, 0.06, 0, 0}, {"b", 500, 600, 0, 0.06, 0, 0}, {"c", 400, 900, 0, 0.06, 0, 0}},
     "Use a: 200 to 250 us; c takes at least 1.60 times as long (400 to 900 us), more than the models' errors."},
    /* ends that look alike are said once */
    {&time,
     false,
     {{"a", 30.61, 30.62, 0, 0.06, 0, 0}, {"b", 61.24, 61.24, 0, 0.06, 0, 0}},
     "Use a: 30.6 us; b takes at least 2.00 times as long (61.2 us), more than the models' errors."},
    /* what both have in common is no difference */
    {&time,
     false,
     {{"a", 200, 300, 0, 0.06, 100, 0}, {"b", 280, 380, 0, 0.06, 100, 0}},
     "Use a: 200 to 300 us; b takes at least 1.40 times as long (280 to 380 us) with the same kernels, more than the "
     "models' errors."},
    {&time,
     false,
     {{"a", 200, 300, 0, 0.06, 100, 0}, {"b", 280, 380, 0, 0.06, 100, 0}, {"c", 90, 90, '>', 0.06, 0, 0}},
     "Record the program's touches to decide: a 200 to 300 us takes less than b (280 to 380 us) with the same kernels; "
     "c > 90 us may take less."},
    /* an estimate wins nothing, and beats nothing; one that is beaten is no matter */
    {&time,
     false,
     {{"a", 100, 100, 0, 0.15, 0, 0}, {"b", 50, 50, '~', 0.15, 0, 0}},
     "Record the program's touches to decide: a 100 us; b ~50 us may take less."},
    {&time,
     false,
     {{"a", 100, 100, 0, 0.15, 0, 0}, {"b", 300, 300, '~', 0.15, 0, 0}},
     "Use a: 100 us; b takes 3.00 times as long (~300 us), more than the models' errors."},
    {&time,
     false,
     {{"a", 100, 100, 0, 0.15, 0, 0}, {"b", 90, 90, '>', 0.15, 0, 0}},
     "Record the program's touches to decide: a 100 us; b > 90 us may take less."},
    {&time,
     false,
     {{"a", 100, 100, 0, 0.15, 0, 0}, {"b", 116, 116, '>', 0.15, 0, 0}},
     "Use a: 100 us; b takes at least 1.16 times as long (> 116 us), more than the models' errors."},
    {&time,
     false,
     {{"a", 100, 100, 0, 0.15, 0, 0},
      {"b", 300, 300, '~', 0.15, 0, 0},
      {"c", 400, 400, 0, 0.15, 0, 0},
      {"d", 90, 90, '>', 0.15, 0, 0}},
     "Record the program's touches to decide: a 100 us beats c (400 us); d > 90 us may take less."},
    {&time,
     false,
     {{"a", 90, 90, '~', 0.15, 0, 0}, {"b", 40, 40, '>', 0.15, 0, 0}},
     "Record the program's touches to decide: only estimates (~) or bounds (>) are known, a ~90 us and b > 40 us."},
    {&time,
     false,
     {{"a", 100, 100, 0, 0.06, 0, 1},
      {"b", 101, 101, 0, 0.06, 0, 2},
      {"c", 102, 102, 0, 0.06, 0, 3},
      {"d", 50, 50, '>', 0.06, 0, 0},
      {"e", 60, 60, '>', 0.06, 0, 0},
      {"f", 70, 70, '>', 0.06, 0, 0}},
     "Record the program's touches to decide: a 100 us and others; d > 50 us and others may take less."},
    /* nobody has measured: the middle of an interval, and no tie but of equals */
    {&time,
     false,
     {{"a", 100, 120, 0, 0, 0, 0}, {"b", 121, 121, 0, 0, 0, 0}},
     "Best is a: 100 to 120 us; b takes 1.10 times as long (121 us); the model's error was never measured."},
    /* of what has no value but its ends they count */
    {&time,
     false,
     {{"a", 100, 120, '-', 0, 0, 0}, {"b", 110, 110, 0, 0, 0, 1}, {"c", 121, 121, 0, 0, 0, 2}},
     "No answer: the bounds of a 100 to 120 us and b 110 us meet."},
    {&time,
     false,
     {{"a", 100, 100, 0, 0.06, 0, 0}, {"b", 50, 50, 'x', 0.06, 0, 0}},
     "Nothing to compare a with, 100 us: no other's time is of the whole work."},
    {&fairness,
     true,
     {{"a", 0.9, 0.9, 0, 0, 0, 0}, {"b", 0.45, 0.45, 0, 0, 0, 0}},
     "Best is a: fairness_index 0.900, 2.00 times that of b (0.450); the model's error was never measured."},
    {&time,
     false,
     {{"a", 100, 100, 0, 0.06, 0, 0}, {"b", NAN, NAN, 0, 0.06, 0, 0}},
     "Only a has a time, 100 us: there is nothing to compare it with."},
    /* what is left out is no rival, whatever it takes */
    {&time,
     false,
     {{"a", 100, 100, 0, 0.06, 0, 1}, {"b", 50, 50, 'x', 0.06, 0, 0}, {"c", 200, 200, 0, 0.06, 0, 2}},
     "Use a: 100 us; c takes 2.00 times as long (200 us), more than the models' errors."},
    {&time, false, {{"a", NAN, NAN, 0, 0.06, 0, 0}}, "No answer: nothing here has a time."},
    {&time,
     false,
     {{"a", 100, 100, 0, 0.06, 0, 5},
      {"b", 101, 101, 0, 0.06, 0, 4},
      {"c", 102, 102, 0, 0.06, 0, 3},
      {"d", 103, 103, 0, 0.06, 0, 2},
      {"e", 104, 104, 0, 0.06, 0, 1}},
     "Use e, the simplest: 104 us; a 100 us, b 101 us and others are the same within the models' errors."},
};

START_TEST(the_sentence_names_who_wins_or_that_nobody_does)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct verdict_answer answers[MOST] = {{0}};
        struct verdict verdict = {.metric = cases[i].metric, .more_is_better = cases[i].more};
        size_t n = 0;
        for (const struct row *r = cases[i].rows; n < MOST && r->name; n++, r++) {
            const double scale = cases[i].metric == &time ? 1000 : 1, lo = r->lo * scale, hi = r->hi * scale;
            const struct metric_value value = {.known = !isnan(lo) && r->sign != '>' && r->sign != '-',
                                               .interval = lo < hi,
                                               .lower_bound = r->sign == '>',
                                               .unbound = r->sign == '~',
                                               .real = (lo + hi) / 2,
                                               .lo = lo,
                                               .hi = hi};
            answers[n] = (struct verdict_answer){.name = r->name, .simple = r->simple};
            verdict_take(&verdict, &answers[n], &value, r->error);
            answers[n].value.common = r->common * scale;
            answers[n].unlike = r->sign == 'u';
            if (r->sign == 'x')
                verdict_leave_out(&answers[n]);
        }
        verdict_make(&verdict, answers, n);
        ck_assert_str_eq(verdict.say, cases[i].says);
        ck_assert_int_eq(verdict.pick == n,
                         strncmp(verdict.say, "No answer", 9) == 0 || strstr(verdict.say, "to decide:") != NULL);
    }
}
END_TEST

/* Draws that others win, or one number that does, come first; who wins each is sure. */
START_TEST(what_draws_turn_round_is_said_first)
{
    static double errors[] = {0.06, 0.06};
    static uint32_t won[] = {9, 8}, none[] = {0, 0};
    static bool nominal[] = {true, false};
    static struct robust_number number = {{"uvm", NULL, PLATFORM_AS, 0.25, 4, 1}, {1.5, 1}, {0, 1}};
    static struct robust_flip flip[] = {{0, 0, 0.5, false, 1}, {0, 0, 2, false, 1}};
    struct robust draws = {.draws = 9,
                           .answers = 2,
                           .errors = errors,
                           .wins = won,
                           .ties = none,
                           .nominal = nominal,
                           .numbers = &number,
                           .number_count = 1,
                           .flips = flip};
    struct verdict verdict = {.metric = &time, .draws = &draws};
    struct verdict_answer answers[] = {{.name = "a", .text = "1 us", .value = robust_point(1000), .error = 0.06},
                                       {.name = "b", .text = "2 us", .value = robust_point(2000), .error = 0.06}};
    verdict_make(&verdict, answers, 2);
    ck_assert_str_eq(verdict.say, "Use a: 1 us; b takes 2.00 times as long (2 us), more than the models' errors; it "
                                  "wins in 9 of 9 draws.");
    draws.flip_count = 2;
    verdict_make(&verdict, answers, 2);
    ck_assert_str_eq(verdict.say, "Not robust: a wins in 9 of 9 draws, not when uvm.as=0.5 and others. Use a: 1 us; b "
                                  "takes 2.00 times as long (2 us), more than the models' errors.");
    draws.flip_count = 0;
    draws.draws = 16;
    verdict_make(&verdict, answers, 2);
    ck_assert_msg(strncmp(verdict.say, "Not robust: a wins in 9 of 16 draws. Use a:", 43) == 0, "%s", verdict.say);
}
END_TEST

TEST_MAIN("verdict")
