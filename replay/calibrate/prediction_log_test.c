#include "replay/calibrate/prediction_log.h"

#include <math.h>
#include <string.h>

#include "trace/base/testing.h"

static struct err err;

static struct prediction row_of(const char *recording, const char *mechanism, const char *state, double predicted,
                                double measured)
{
    return (struct prediction){.texts = {[LEDGER_PROGRAM] = "synth:triad,bytes=\"1MiB\"",
                                         [LEDGER_PLATFORM] = "h200",
                                         [LEDGER_PLAN] = "00",
                                         [LEDGER_RECORDING] = recording,
                                         [LEDGER_MECHANISM] = mechanism,
                                         [LEDGER_POLICY] = "tree, prefetched",
                                         [LEDGER_METRIC] = "time_ns",
                                         [LEDGER_STATE] = state},
                               .predicted = predicted,
                               .low = predicted / 1.5,
                               .high = predicted * 1.5,
                               .measured = measured};
}

static const char head[] = "program,platform,plan,recording,mechanism,policy,metric,state,predicted,low,high,measured,"
                           "measured_per_predicted\n";

/* What the file holds; static. */
static const char *content(const char *path)
{
    static char text[1 << 13];
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    (void)fclose(f);
    return text;
}

/* What stands in the file is what was appended, once, whatever its texts; the old rows stay as they were. */
START_TEST(rows_are_appended_once)
{
    const char *path = testing_file("ledger.csv");
    struct prediction rows[] = {row_of("01", "managed", "whole", 100, 110), row_of("02", "=cmd", "whole", 100, NAN)};
    char expected[900];
    size_t added;
    ck_assert_int_eq(prediction_log_append(path, rows, 1, &added, &err), 0);
    ck_assert_uint_eq(added, 1);
    ck_assert_int_eq(prediction_log_append(path, rows, 2, &added, &err), 0);
    ck_assert_uint_eq(added, 1);
    ck_assert_int_eq(prediction_log_append(path, rows, 2, &added, &err), 0);
    ck_assert_uint_eq(added, 0);
    rows[0].texts[LEDGER_METRIC] = "batches";
    rows[0].low = rows[0].high = NAN;
    ck_assert_int_eq(prediction_log_append(path, rows, 1, &added, &err), 0);
    ck_assert_uint_eq(added, 1);
    (void)snprintf(
        expected, sizeof expected, "%s%s%s%s", head,
        "\"synth:triad,bytes=\"\"1MiB\"\"\",h200,00,01,managed,\"tree, prefetched\",time_ns,whole,100,"
        "66.66666667,150,110,1.1\n",
        "\"synth:triad,bytes=\"\"1MiB\"\"\",h200,00,02,'=cmd,\"tree, prefetched\",time_ns,whole,100,"
        "66.66666667,150,,\n",
        "\"synth:triad,bytes=\"\"1MiB\"\"\",h200,00,01,managed,\"tree, prefetched\",batches,whole,100,,,110,1.1\n");
    ck_assert_str_eq(content(path), expected);
}
END_TEST

START_TEST(what_is_no_ledger_is_refused_and_stays)
{
    const struct prediction row = row_of("01", "managed", "whole", 100, 110);
    const char *path = testing_write("other.csv", "a,b\n", 4);
    size_t added;
    ck_assert_int_eq(prediction_log_append(path, &row, 1, &added, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "other.csv:1: found 'a,b'"));
    ck_assert_str_eq(content(path), "a,b\n");
    char zero[sizeof head + 1] = {0};
    memcpy(zero, head, sizeof head);
    path = testing_write("zero.csv", zero, sizeof zero);
    ck_assert_int_eq(prediction_log_append(path, &row, 1, &added, &err), -1);
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
    testing_at_once(WRITERS, append_rows);
    const char *at = content(testing_file("shared.csv"));
    size_t lines = 0;
    for (; (at = strchr(at, '\n')); at++)
        lines++;
    ck_assert_uint_eq(lines, 1 + WRITERS * ROWS);
}
END_TEST

TEST_MAIN("ledger")
