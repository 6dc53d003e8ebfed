#include "cmd/cmd.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/console/printable.h"
#include "cmd/console/table.h"
#include "replay/results/results.h"
#include "replay/results/run_diff.h"
#include "replay/run/engine.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"

enum { FEW_NUMBERS = 12 }; /* of a platform: so many are listed unasked */

/* --- operands --- */

char *diff_runs_split(const char *operand, size_t *nth)
{
    const char *mark = strrchr(operand, '#');
    *nth = 0;
    if (!mark || mark == operand || !mark[1] || mark[1 + strspn(mark + 1, "0123456789")] || access(operand, F_OK) == 0)
        return mem_strdup(operand, NULL);
    *nth = (size_t)strtoull(mark + 1, NULL, 10);
    return mem_strndup(operand, (size_t)(mark - operand), NULL);
}

bool diff_runs_is(const char *operand)
{
    size_t nth;
    char *path = diff_runs_split(operand, &nth);
    int c = EOF;
    bool is = path && results_is_results(path);
    struct stat st;
    FILE *f = path && !is && stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "r") : NULL;
    while (f && (c = fgetc(f)) != EOF && isspace(c))
        ;
    if (f)
        (void)fclose(f);
    free(path);
    return is || c == '{' || nth;
}

/* --- what is printed --- */

static const char *what(const struct run_diff_row *row)
{
    if (row->what == RUN_DIFF_FACT)
        return run_fact_kind_name(row->kind);
    return row->what == RUN_DIFF_ONLY ? "only" : row->part ? "part" : "metric";
}

static json_t *or_null(json_t *value)
{
    return value ? json_incref(value) : json_null();
}

static json_t *set_json(const char *operand, const struct run_set *set)
{
    return json_pack("{s:o,s:I}", "file", json_tree_text(operand), "runs", (json_int_t)set->count);
}

json_t *diff_runs_json(const struct run_diff *diff, const char *const operands[2], const struct run_set *sets)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < diff->count; i++) {
        const struct run_diff_row *r = &diff->rows[i];
        json_tree_add(&rows, json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "what", what(r), "case",
                                       json_tree_text(r->of), "policy", json_tree_text(r->policy), "name",
                                       json_tree_text(r->name), "a", or_null(r->a), "b", or_null(r->b), "difference",
                                       or_null(r->difference), "percent", json_tree_real(r->percent)));
    }
    return json_pack("{s:i,s:o,s:o,s:I,s:I,s:b,s:o}", "schema", 1, "a", set_json(operands[0], &sets[0]), "b",
                     set_json(operands[1], &sets[1]), "matched", (json_int_t)diff->pairs, "same",
                     (json_int_t)diff->same, "differs", run_diff_differs(diff), "rows", rows);
}

/* Exact; nothing where it is not known. */
static void exact(struct table *t, const json_t *value)
{
    if (json_is_string(value))
        table_cell(t, "%s", json_string_value(value));
    else if (json_is_integer(value))
        table_cell(t, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        table_cell(t, "%.17g", json_real_value(value));
    else
        table_cell(t, "%s", json_is_boolean(value) ? json_is_true(value) ? "true" : "false" : "");
}

void diff_runs_csv(const struct run_diff *diff)
{
    static const char *const head[] = {"what", "case", "policy", "name", "a", "b", "difference", "percent"};
    struct table t;
    table_init(&t, 8);
    for (int i = 0; i < 8; i++)
        table_cell(&t, "%s", head[i]);
    for (size_t i = 0; i < diff->count; i++) {
        const struct run_diff_row *r = &diff->rows[i];
        table_cell(&t, "%s", what(r));
        table_cell(&t, "%s", r->of);
        table_cell(&t, "%s", r->policy);
        table_cell(&t, "%s", r->name);
        exact(&t, r->a);
        exact(&t, r->b);
        exact(&t, r->difference);
        if (isnan(r->percent))
            table_cell(&t, "%s", "");
        else
            table_cell(&t, "%.17g", r->percent);
    }
    table_csv(&t, stdout);
    table_release(&t);
}

/* The metric a row is of: NAME, NAME_lo, NAME_hi. */
static const struct metric *metric_of(const struct run_diff_row *row)
{
    char name[128];
    (void)snprintf(name, sizeof name, "%s", row->name);
    const size_t n = strlen(name);
    if (n > 3 && (strcmp(name + n - 3, "_lo") == 0 || strcmp(name + n - 3, "_hi") == 0))
        name[n - 3] = 0;
    return row->what == RUN_DIFF_METRIC ? engine_metric(row->engine, name) : NULL;
}

/* For people: a metric with its unit, a difference with its sign. */
static void human(struct table *t, const struct run_diff_row *row, const json_t *value, bool sign)
{
    const struct metric *metric = metric_of(row);
    char buf[160];
    if (!metric || !json_is_number(value)) {
        char *text = value ? json_tree_dump(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6)) : NULL;
        if (json_is_string(value))
            table_cell(t, "%s", json_string_value(value));
        else
            table_cell(t, "%s%s", sign && text && *text != '-' ? "+" : "", text ? text : "n/a");
        free(text);
        return;
    }
    const double number = json_number_value(value), size = sign ? fabs(number) : number;
    const struct metric_value v = {.known = true, .whole = (int64_t)size, .real = size};
    table_cell(t, "%s%s", sign ? number < 0 ? "-" : "+" : "", table_metric(metric, &v, buf, sizeof buf));
}

/* Two values, their difference and its percentage: the last four columns. */
static void values(struct table *t, const struct run_diff_row *row)
{
    human(t, row, row->a, false);
    human(t, row, row->b, false);
    human(t, row, row->difference, true);
    if (isnan(row->percent))
        table_cell(t, "n/a");
    else
        table_cell(t, "%+.*f %%", fabs(row->percent) < 10 ? 2 : 1, row->percent);
}

static void head(struct table *t, size_t columns, const char *const *first, size_t n)
{
    static const char *const last[] = {"A", "B", "difference", "percent"};
    table_init(t, columns);
    for (size_t i = 0; i < n; i++)
        table_cell(t, "%s", first[i]);
    for (size_t i = 0; i < 4; i++)
        table_cell(t, "%s", last[i]);
}

/* A table that has rows; a line is left free before it. */
static void print_filled(struct table *t)
{
    if (t->count > t->columns) {
        (void)putchar('\n');
        table_print(t, stdout);
    }
    table_release(t);
}

static void print_facts(const struct run_diff *diff, bool numbers)
{
    static const char *const names[] = {"differs", "of"};
    struct table t;
    head(&t, 6, names, 2);
    for (size_t i = 0; i < diff->count; i++) {
        const struct run_diff_row *r = &diff->rows[i];
        if (r->what != RUN_DIFF_FACT || (r->kind == RUN_FACT_NUMBER && !numbers))
            continue;
        const bool same = strcmp(what(r), r->name) == 0;
        table_cell(&t, "%s%s%s", what(r), same ? "" : " ", same ? "" : r->name);
        table_cell(&t, "%s%s", r->of, r->policy);
        values(&t, r);
    }
    print_filled(&t);
}

static void print_metrics(const struct run_diff *diff, bool parts)
{
    static const char *const names[] = {"case", "policy", "metric"};
    bool cases = false;
    for (size_t i = 0; i < diff->count; i++)
        cases |= diff->rows[i].what == RUN_DIFF_METRIC && *diff->rows[i].of && (parts || !diff->rows[i].part);
    struct table t;
    head(&t, cases ? 7 : 6, names + !cases, cases ? 3 : 2);
    for (size_t i = 0; i < diff->count; i++) {
        const struct run_diff_row *r = &diff->rows[i];
        if (r->what != RUN_DIFF_METRIC || (r->part && !parts))
            continue;
        if (cases)
            table_cell(&t, "%s", r->of);
        table_cell(&t, "%s", r->policy);
        table_cell(&t, "%s", r->name);
        values(&t, r);
    }
    print_filled(&t);
}

static size_t count_rows(const struct run_diff *diff, enum run_diff_what sort, bool numbers, bool parts)
{
    size_t n = 0;
    for (size_t i = 0; i < diff->count; i++) {
        const struct run_diff_row *r = &diff->rows[i];
        n += r->what == sort && r->part == parts && (!numbers || r->kind == RUN_FACT_NUMBER);
    }
    return n;
}

static void print_alone(const struct run_diff *diff, bool parts)
{
    bool first = true;
    for (size_t i = 0; i < diff->count; i++) {
        const struct run_diff_row *r = &diff->rows[i];
        if (r->what != RUN_DIFF_ONLY || (r->part && !parts))
            continue;
        (void)fputs(first ? "\n" : "", stdout);
        printable_print(stdout, "only in %s: %s%s%s\n", r->a ? "A" : "B", r->of, *r->of ? " " : "", r->policy);
        first = false;
    }
}

void diff_runs_table(const struct run_diff *diff, const char *const operands[2], const struct run_set *sets, bool all,
                     size_t *numbers, size_t *parts)
{
    *numbers = count_rows(diff, RUN_DIFF_FACT, true, false);
    *parts = count_rows(diff, RUN_DIFF_METRIC, false, true) + count_rows(diff, RUN_DIFF_ONLY, false, true);
    const bool few = all || *numbers <= FEW_NUMBERS;
    for (int s = 0; s < 2; s++)
        printable_print(stdout, "%c: %s, %zu run%s\n", "AB"[s], operands[s], sets[s].count,
                        sets[s].count == 1 ? "" : "s");
    printf("%zu matched, %zu of them with the same metrics\n", diff->pairs, diff->same);
    print_facts(diff, few);
    print_metrics(diff, all);
    print_alone(diff, all);
    *numbers = few ? 0 : *numbers;
    *parts = all ? 0 : *parts;
}
