#include "replay/calibrate/prediction_log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/csv_text.h"
#include "trace/base/mem.h"
#include "trace/base/regular_file.h"
#include "trace/import/field.h"
#include "trace/store/output.h"

enum { BYTES_MAX = 64 << 20, NUMBERS = 4, FIELDS = LEDGER_TEXTS + NUMBERS + 1 };

static const char header[] =
    "program,platform,plan,recording,mechanism,policy,metric,state,predicted,low,high,measured,"
    "measured_per_predicted";

static void row_release(struct prediction *row)
{
    for (int t = 0; t < LEDGER_TEXTS; t++)
        free(row->texts[t]);
}

void prediction_log_release(struct prediction_log *ledger)
{
    for (size_t i = 0; i < ledger->count; i++)
        row_release(&ledger->rows[i]);
    free(ledger->rows);
    *ledger = (struct prediction_log){0};
}

/* --- reading --- */

/* A number above or equal to 0, or nothing. */
static int take_number(const char *text, double *value)
{
    char *end;
    *value = NAN;
    if (!*text)
        return 0;
    *value = strtod(text, &end);
    return *end || !(*value >= 0 && *value <= 1e300) || strspn(text, "+.0123456789eE-") != strlen(text) ? -1 : 0;
}

/* A row of a line, which is changed. */
static int take_line(struct prediction *row, char *line, struct err *err)
{
    double *const numbers[NUMBERS + 1] = {&row->predicted, &row->low, &row->high, &row->measured, &(double){0}};
    char *at = line;
    for (int f = 0; f < FIELDS; f++) {
        struct field field;
        if (field_next_quoted(&at, &field) <= 0)
            return err_set(err, "expected %d fields", FIELDS);
        const size_t mark = f < LEDGER_TEXTS ? csv_text_mark(field.text, field.length) : 0;
        char *text = mem_strndup(field.text + mark, field.length - mark, err);
        if (!text)
            return -1;
        if (f < LEDGER_TEXTS) {
            row->texts[f] = text;
            continue;
        }
        const int bad = take_number(text, numbers[f - LEDGER_TEXTS]);
        if (bad)
            (void)err_set(err, "'%.40s' is no number from 0", text);
        free(text);
        if (bad)
            return -1;
    }
    if (at)
        return err_set(err, "more than %d fields", FIELDS);
    return isnan(row->predicted) ? err_set(err, "nothing is predicted") : 0;
}

static int take_rows(struct prediction_log *ledger, const char *name, char *text, struct err *err)
{
    size_t number = 0;
    for (char *line = text, *next; line; line = next) {
        char *end = strchr(line, '\n');
        next = end ? end + 1 : NULL;
        if (end)
            *end = 0;
        size_t length = strlen(line);
        if (length && line[length - 1] == '\r')
            line[length - 1] = 0;
        if (number++ == 0 && strcmp(line, header) != 0)
            return err_set(
                err, "%s:1: found '%.60s'; expected a ledger of 'offchip diff --ledger', which begins with '%.60s..'",
                name, line, header);
        if (number == 1 || !*line)
            continue;
        struct prediction row = {{NULL}, NAN, NAN, NAN, NAN};
        int rc = take_line(&row, line, err) ? err_at(err, "%s:%zu", name, number) : 0;
        if (rc == 0)
            rc = prediction_log_add(ledger, &row, err) < 0 ? -1 : 0;
        row_release(&row);
        if (rc)
            return -1;
    }
    return 0;
}

int prediction_log_parse(struct prediction_log *ledger, const char *name, const char *text, size_t bytes,
                         struct err *err)
{
    *ledger = (struct prediction_log){0};
    if (memchr(text, 0, bytes))
        return err_set(err, "%s: a zero byte; expected text", name);
    char *copy = mem_strndup(text, bytes, err);
    int rc = copy ? take_rows(ledger, name, copy, err) : -1;
    free(copy);
    if (rc)
        prediction_log_release(ledger);
    return rc;
}

int prediction_log_read(struct prediction_log *ledger, const char *path, struct err *err)
{
    size_t bytes;
    *ledger = (struct prediction_log){0};
    char *text = regular_file_read(path, BYTES_MAX, &bytes, err);
    int rc = text ? prediction_log_parse(ledger, path, text, bytes, err) : -1;
    free(text);
    return rc;
}

/* --- adding and writing --- */

int prediction_log_add(struct prediction_log *ledger, const struct prediction *row, struct err *err)
{
    for (size_t i = 0; i < ledger->count; i++) {
        char *const *other = ledger->rows[i].texts;
        if (strcmp(other[LEDGER_PLAN], row->texts[LEDGER_PLAN]) == 0 &&
            strcmp(other[LEDGER_RECORDING], row->texts[LEDGER_RECORDING]) == 0 &&
            strcmp(other[LEDGER_METRIC], row->texts[LEDGER_METRIC]) == 0)
            return 0;
    }
    if (MEM_ADD(ledger->rows, ledger->count, ledger->cap, err, *row))
        return -1;
    struct prediction *to = &ledger->rows[ledger->count - 1];
    bool whole = true;
    for (int t = 0; t < LEDGER_TEXTS; t++)
        whole &= (to->texts[t] = mem_strdup(row->texts[t] ? row->texts[t] : "", err)) != NULL;
    return whole ? 1 : -1;
}

static void write_number(FILE *to, double value, const char *behind)
{
    if (isfinite(value))
        (void)fprintf(to, "%.10g", value);
    (void)fputs(behind, to);
}

int prediction_log_write(const struct prediction_log *ledger, FILE *to)
{
    (void)fprintf(to, "%s\n", header);
    for (size_t i = 0; i < ledger->count; i++) {
        const struct prediction *row = &ledger->rows[i];
        for (int t = 0; t < LEDGER_TEXTS; t++) {
            csv_text_put(to, row->texts[t], true);
            (void)fputc(',', to);
        }
        write_number(to, row->predicted, ",");
        write_number(to, row->low, ",");
        write_number(to, row->high, ",");
        write_number(to, row->measured, ",");
        write_number(to, row->predicted > 0 ? row->measured / row->predicted : NAN, "\n");
    }
    return ferror(to) ? -1 : 0;
}

static int replace(const char *path, bool there, const struct prediction *rows, size_t n, size_t *added,
                   struct err *err)
{
    struct prediction_log ledger = {0};
    struct output file;
    int rc = there ? prediction_log_read(&ledger, path, err) : 0;
    *added = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        int new = prediction_log_add(&ledger, &rows[i], err);
        *added += new > 0;
        rc = new < 0 ? -1 : 0;
    }
    if (rc == 0 && *added && (rc = output_open(&file, path, there, err)) == 0) {
        rc = prediction_log_write(&ledger, file.file) ? err_set(err, "cannot write '%s'", path) : 0;
        rc = output_close(&file, rc, err);
    }
    prediction_log_release(&ledger);
    return rc;
}

/* A new ledger that another command makes at the same moment is not replaced: then it is added to. */
int prediction_log_append(const char *path, const struct prediction *rows, size_t n, size_t *added, struct err *err)
{
    enum { WAIT_MS = 60000 };
    bool there;
    int rc;
    do {
        there = access(path, F_OK) == 0;
        int lock = there ? output_lock(path, WAIT_MS, err) : -1;
        rc = there && lock < 0 ? -1 : replace(path, there, rows, n, added, err);
        if (lock >= 0)
            (void)close(lock);
    } while (rc && there != (access(path, F_OK) == 0));
    return rc;
}

/* --- judging --- */

static struct prediction_error *error_of(struct prediction_error *errors, size_t *count, const struct prediction *row)
{
    char *const *t = row->texts;
    for (size_t i = 0; i < *count; i++)
        if (strcmp(errors[i].platform, t[LEDGER_PLATFORM]) == 0 &&
            strcmp(errors[i].mechanism, t[LEDGER_MECHANISM]) == 0 && strcmp(errors[i].metric, t[LEDGER_METRIC]) == 0)
            return &errors[i];
    errors[*count] = (struct prediction_error){
        .platform = t[LEDGER_PLATFORM], .mechanism = t[LEDGER_MECHANISM], .metric = t[LEDGER_METRIC], .worst = 1};
    return &errors[(*count)++];
}

/* ln(measured / predicted); NAN: not to be judged. */
static double log_ratio(const struct prediction *row)
{
    if (strcmp(row->texts[LEDGER_STATE], "whole") != 0 || isnan(row->measured))
        return NAN;
    if (row->measured > 0 && row->predicted > 0)
        return log(row->measured / row->predicted);
    return row->measured == 0 && row->predicted == 0 ? 0 : NAN;
}

static void take(struct prediction_error *e, const struct prediction *row)
{
    double off = log_ratio(row);
    if (isnan(off)) {
        e->left_out++;
        return;
    }
    e->n++;
    e->mean_abs_log += fabs(off); /* sums, until all are there */
    e->mean_log += off;
    e->worst = fabs(off) > fabs(log(e->worst)) ? exp(off) : e->worst;
    if (!isnan(row->low) && !isnan(row->high)) {
        e->bounded++;
        e->within += row->measured >= row->low && row->measured <= row->high;
    }
}

struct prediction_error *prediction_log_errors(const struct prediction_log *ledger, size_t *count, struct err *err)
{
    struct prediction_error *errors = mem_zalloc(ledger->count + 1, sizeof *errors, err);
    *count = 0;
    for (size_t i = 0; errors && i < ledger->count; i++)
        take(error_of(errors, count, &ledger->rows[i]), &ledger->rows[i]);
    for (size_t i = 0; errors && i < *count; i++) {
        errors[i].mean_abs_log = errors[i].n ? errors[i].mean_abs_log / (double)errors[i].n : NAN;
        errors[i].mean_log = errors[i].n ? errors[i].mean_log / (double)errors[i].n : NAN;
    }
    return errors;
}
