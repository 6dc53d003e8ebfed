#include "replay/calibrate/prediction_log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/testing.h"

static struct err err;

static struct prediction row_of(const char *recording, const char *mechanism, const char *state, double predicted,
                                double measured)
{
    return (struct prediction){.texts = {[LEDGER_PROGRAM] = "synth:triad,bytes=\"1MiB\"",
                                         [LEDGER_PLATFORM] = "h200",
                                         [LEDGER_PLAN] = "00",
                                         [LEDGER_RECORDING] = (char *)recording,
                                         [LEDGER_MECHANISM] = (char *)mechanism,
                                         [LEDGER_POLICY] = "tree, prefetched",
                                         [LEDGER_METRIC] = "time_ns",
                                         [LEDGER_STATE] = (char *)state},
                               .predicted = predicted,
                               .low = predicted / 1.5,
                               .high = predicted * 1.5,
                               .measured = measured};
}

/* What stands in the file is what was appended, once, whatever its texts; the old rows stay as they were. */
START_TEST(rows_are_appended_once_and_read_back)
{
    const char *path = testing_file("ledger.csv");
    struct prediction rows[] = {row_of("01", "managed", "whole", 100, 110), row_of("02", "=cmd", "whole", 100, NAN)};
    struct prediction_log ledger;
    size_t added;
    ck_assert_int_eq(prediction_log_append(path, rows, 1, &added, &err), 0);
    ck_assert_uint_eq(added, 1);
    ck_assert_int_eq(prediction_log_append(path, rows, 2, &added, &err), 0);
    ck_assert_uint_eq(added, 1);
    ck_assert_int_eq(prediction_log_append(path, rows, 2, &added, &err), 0);
    ck_assert_uint_eq(added, 0);
    ck_assert_msg(prediction_log_read(&ledger, path, &err) == 0, "%s", err.msg);
    ck_assert_uint_eq(ledger.count, 2);
    for (int i = 0; i < 2; i++) {
        for (int t = 0; t < LEDGER_TEXTS; t++)
            ck_assert_str_eq(ledger.rows[i].texts[t], rows[i].texts[t]);
        ck_assert_double_eq_tol(ledger.rows[i].low, rows[i].low, 1e-7);
    }
    ck_assert_double_eq(ledger.rows[0].measured, 110);
    ck_assert(isnan(ledger.rows[1].measured));
    prediction_log_release(&ledger);
}
END_TEST

/* Worked: measured over predicted is 2, 1/2 and 4 in one group: |ln| is (1 + 1 + 2) ln 2 / 3, ln is 2 ln 2 / 3; of the
 * ends 1/1.5 and 1.5 none holds. */
START_TEST(errors_are_means_of_logarithms_for_each_mechanism)
{
    const struct prediction rows[] = {
        row_of("01", "managed", "whole", 100, 200),   row_of("02", "managed", "whole", 100, 50),
        row_of("03", "managed", "whole", 100, 400),   row_of("04", "managed", "incomplete", 100, 900),
        row_of("05", "managed", "no plan", 100, 900), row_of("06", "managed", "whole", 100, NAN),
        row_of("07", "managed", "whole", 0, 100),     row_of("08", "copy", "whole", 100, 120),
        row_of("09", "copy", "whole", 0, 0),          row_of("10", "pinned", "whole", 100, NAN)};
    struct prediction_log ledger = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_int_eq(prediction_log_add(&ledger, &rows[i], &err), 1);
    size_t n;
    struct prediction_error *e = prediction_log_errors(&ledger, &n, &err);
    ck_assert_uint_eq(n, 3);
    ck_assert_str_eq(e[0].mechanism, "managed");
    ck_assert(e[0].n == 3 && e[0].left_out == 4 && e[0].bounded == 3 && e[0].within == 0);
    ck_assert_double_eq_tol(e[0].mean_abs_log, 4 * log(2) / 3, 1e-12);
    ck_assert_double_eq_tol(e[0].mean_log, 2 * log(2) / 3, 1e-12);
    ck_assert_double_eq_tol(e[0].worst, 4, 1e-12);
    ck_assert(e[1].n == 2 && e[1].within == 2);
    ck_assert_double_eq_tol(e[1].mean_abs_log, log(1.2) / 2, 1e-12);
    ck_assert(e[2].n == 0 && e[2].left_out == 1 && isnan(e[2].mean_abs_log));
    free(e);
    prediction_log_release(&ledger);
}
END_TEST

static const char head[] = "program,platform,plan,recording,mechanism,policy,metric,state,predicted,low,high,measured,"
                           "measured_per_predicted\n";

/* Rows that stand twice, lines that end as on Windows, empty lines: each row once. */
START_TEST(a_ledger_may_say_a_row_twice)
{
    char text[900];
    (void)snprintf(text, sizeof text,
                   "%.*s\r\np,h,1,2,m,t,time_ns,whole,5,4,6,4,0.8\r\n\np,h,1,2,m,t,time_ns,whole,5,4,6,4,0.8\n"
                   "p,h,1,2,m,t,bytes,whole,0,,,1e300,\n",
                   (int)strlen(head) - 1, head);
    struct prediction_log ledger;
    ck_assert_msg(prediction_log_parse(&ledger, "l.csv", text, strlen(text), &err) == 0, "%s", err.msg);
    ck_assert_uint_eq(ledger.count, 2);
    const struct prediction *r = ledger.rows;
    ck_assert(r[0].predicted == 5 && r[0].low == 4 && r[0].high == 6 && r[0].measured == 4);
    ck_assert(r[1].predicted == 0 && isnan(r[1].low) && isnan(r[1].high) && r[1].measured == 1e300);
    prediction_log_release(&ledger);
}
END_TEST

START_TEST(what_is_no_ledger_is_refused_with_its_place)
{
    static const struct {
        const char *line, *said;
    } wrong[] = {{"a,b,c", ":2: expected 13 fields"},
                 {"p,h,1,2,m,t,time_ns,whole,5,,,4,0.8,9", ":2: more than 13 fields"},
                 {"p,h,1,2,m,t,time_ns,whole,nan,,,4,0.8", "'nan' is no number"},
                 {"p,h,1,2,m,t,time_ns,whole,-5,,,4,0.8", "'-5' is no number"},
                 {"p,h,1,2,m,t,time_ns,whole,,,,4,0.8", "nothing is predicted"},
                 {"\"p,h,1,2,m,t,time_ns,whole,5,,,4,0.8", ":2: expected 13 fields"},
                 {"\"p\"x,h,1,2,m,t,time_ns,whole,5,,,4,0.8", ":2: expected 13 fields"}};
    struct prediction_log ledger;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[600];
        (void)snprintf(text, sizeof text, "%s%s\n", head, wrong[i].line);
        ck_assert_int_eq(prediction_log_parse(&ledger, "l.csv", text, strlen(text), &err), -1);
        ck_assert_msg(strstr(err.msg, wrong[i].said) && strstr(err.msg, "l.csv"), "%s: %s", wrong[i].line, err.msg);
    }
    ck_assert_int_eq(prediction_log_parse(&ledger, "l.csv", "a,b\n", 4, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "l.csv:1: found 'a,b'"));
    /* An append to what is no ledger leaves it. */
    const char *path = testing_write("other.csv", "a,b\n", 4);
    size_t added;
    const struct prediction row = row_of("01", "managed", "whole", 100, 110);
    ck_assert_int_eq(prediction_log_append(path, &row, 1, &added, &err), -1);
    FILE *f = fopen(path, "rb");
    char kept[16] = "";
    ck_assert_uint_eq(fread(kept, 1, sizeof kept - 1, f), 4);
    ck_assert_str_eq(kept, "a,b\n");
    (void)fclose(f);
}
END_TEST

enum { WRITERS = 4, ROWS = 6 };

static bool append_rows(int writer)
{
    char name[8];
    for (int r = 0; r < ROWS; r++) {
        size_t added;
        (void)snprintf(name, sizeof name, "%d.%d", writer, r);
        const struct prediction row = row_of(name, "managed", "whole", 100, 110);
        if (prediction_log_append(testing_file("shared.csv"), &row, 1, &added, &err) || added != 1)
            return false;
    }
    return true;
}

/* Also of a ledger that several make at the same moment. */
START_TEST(no_row_is_lost_where_several_write)
{
    struct prediction_log ledger;
    testing_at_once(WRITERS, append_rows);
    ck_assert_msg(prediction_log_read(&ledger, testing_file("shared.csv"), &err) == 0, "%s", err.msg);
    ck_assert_uint_eq(ledger.count, WRITERS * ROWS);
    prediction_log_release(&ledger);
}
END_TEST

TEST_MAIN("ledger", rows_are_appended_once_and_read_back, errors_are_means_of_logarithms_for_each_mechanism,
          a_ledger_may_say_a_row_twice, what_is_no_ledger_is_refused_with_its_place, no_row_is_lost_where_several_write)
