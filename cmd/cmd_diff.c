/* offchip diff: compares runs, recordings, or a plan's prediction with a recording of the program under that plan. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "cmd/cmd.h"
#include "cmd/console/printable.h"
#include "cmd/console/table.h"
#include "cmd/info.h"
#include "replay/calibrate/prediction_log.h"
#include "replay/results/results.h"
#include "replay/results/run_diff.h"
#include "replay/run/engine.h"
#include "replay/uvm/actor_input.h"
#include "replay/uvm/second_run.h"
#include "trace/base/ini.h"
#include "trace/base/mem.h"
#include "trace/base/regular_file.h"
#include "trace/base/sorted.h"
#include "trace/base/units.h"
#include "trace/derived/limits.h"
#include "trace/recorder/advice_plan.h"
#include "trace/store/dbfile.h"
#include "trace/store/schema.h"
#include "trace/store/store.h"

static int format;
static const char *ledger;
static bool all, exit_code;
static const struct opt options[] = {
    OPT("all", 'a', OPT_FLAG, NULL, &all, "in tables: all numbers of the platform, kernels and allocations too"),
    OPT("exit-code", 0, OPT_FLAG, NULL, &exit_code,
        "runs, recordings: exit status 1 if they differ in more than version"),
    OPT("ledger", 0, OPT_TEXT, "FILE.csv", &ledger, "plans: append the rows to this ledger (make accuracy reads it)"),
    OPT_FORMAT(&format),
    {0}};

enum { FEW_NUMBERS = 12 }; /* of a platform: so many are listed unasked */

/* --- runs --- */

/* FILE#N where there is no file of that name: FILE and N; else the operand and 0. Freed with free(); NULL: no memory.
 */
static char *split_operand(const char *operand, size_t *nth)
{
    const char *mark = strrchr(operand, '#');
    *nth = 0;
    if (!mark || mark == operand || !mark[1] || mark[1 + strspn(mark + 1, "0123456789")] || access(operand, F_OK) == 0)
        return mem_strdup(operand, NULL);
    *nth = (size_t)strtoull(mark + 1, NULL, 10);
    return mem_strndup(operand, (size_t)(mark - operand), NULL);
}

/* Whether an operand names runs: a results file or JSON, or one run of it. */
static bool names_runs(const char *operand)
{
    size_t nth;
    char *path = split_operand(operand, &nth);
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

/* --- runs: what is printed --- */

static const char *what(const struct run_diff_row *row)
{
    if (row->what == RUN_DIFF_FACT)
        return run_fact_kinds[row->kind];
    return row->what == RUN_DIFF_ONLY ? "only" : "metric";
}

static json_t *or_null(json_t *value)
{
    return value ? json_incref(value) : json_null();
}

static json_t *set_json(const char *operand, const struct run_set *set)
{
    return json_pack("{s:o,s:I}", "file", json_tree_text(operand), "runs", (json_int_t)set->count);
}

static json_t *runs_json(const struct run_diff *diff, char **operands, const struct run_set *sets)
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

static void runs_csv(const struct run_diff *diff)
{
    struct table t;
    TABLE_BEGIN(&t, "what", "case", "policy", "name", "a", "b", "difference", "percent");
    for (size_t i = 0; i < diff->count; i++) {
        const struct run_diff_row *r = &diff->rows[i];
        TABLE_WORDS(&t, what(r), r->of, r->policy, r->name);
        exact(&t, r->a);
        exact(&t, r->b);
        exact(&t, r->difference);
        table_real(&t, !isnan(r->percent), r->percent);
    }
    table_finish(&t, true);
}

/* The metric a row is of: NAME, NAME_lo, NAME_hi; of a recording, which no engine ran, *own. */
static const struct metric *metric_of(const struct run_diff_row *row, struct metric *own)
{
    char name[128];
    *own = (struct metric){row->name, METRIC_INT, METRIC_SUM, ""};
    if (row->what == RUN_DIFF_METRIC && !row->engine)
        return own;
    (void)snprintf(name, sizeof name, "%s", row->name);
    const size_t n = strlen(name);
    if (n > 3 && (strcmp(name + n - 3, "_lo") == 0 || strcmp(name + n - 3, "_hi") == 0))
        name[n - 3] = 0;
    return row->what == RUN_DIFF_METRIC ? engine_metric(row->engine, name) : NULL;
}

/* For people: a metric with its unit, a difference with its sign. */
static void human(struct table *t, const struct run_diff_row *row, const json_t *value, bool sign)
{
    struct metric own;
    const struct metric *metric = metric_of(row, &own);
    char buf[160];
    if (!metric || !json_is_number(value)) {
        char *text = json_is_null(value) ? NULL : json_tree_dump(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
        if (json_is_string(value))
            table_cell(t, "%s", json_string_value(value));
        else
            table_cell(t, "%s%s", sign && text && *text != '-' ? "+" : "", text ? text : "n/a");
        free(text);
        return;
    }
    const double number = json_number_value(value), size = sign ? fabs(number) : number;
    const struct metric_value v = {.known = true, .whole = (int64_t)size, .real = size};
    table_cell(t, "%s%s", sign ? number < 0 ? "-" : "+" : "", metric_text(metric, &v, buf, sizeof buf));
}

static void percent_cell(struct table *t, const struct run_diff_row *row)
{
    if (isnan(row->percent))
        table_cell(t, "n/a");
    else
        table_cell(t, "%+.*f %%", fabs(row->percent) < 10 ? 2 : 1, row->percent);
}

/* Two values, their difference and its percentage: the last four columns. */
static void values(struct table *t, const struct run_diff_row *row)
{
    human(t, row, row->a, false);
    human(t, row, row->b, false);
    human(t, row, row->difference, true);
    percent_cell(t, row);
}

/* A table that has rows; a line is left free before it. */
static void print_filled(struct table *t)
{
    if (t->count > t->columns) {
        (void)putchar('\n');
        table_finish(t, false);
    } else {
        table_release(t);
    }
}

static void print_facts(const struct run_diff *diff, bool numbers)
{
    struct table t;
    TABLE_BEGIN(&t, "differs", "of", "A", "B", "difference", "percent");
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

/* A table for each case and policy, or a table of all would not fit eighty columns. */
static void print_metrics(const struct run_diff *diff)
{
    const struct run_diff_row *last = NULL;
    struct table t;
    for (size_t i = 0; i < diff->count; i++) {
        const struct run_diff_row *r = &diff->rows[i];
        if (r->what != RUN_DIFF_METRIC)
            continue;
        if (!last || strcmp(last->of, r->of) != 0 || strcmp(last->policy, r->policy) != 0) {
            if (last)
                table_finish(&t, false);
            (void)putchar('\n');
            printable_print(stdout, "%s%s%s\n", r->of, *r->of ? ", " : "", r->policy);
            TABLE_BEGIN(&t, "metric", "A", "B", "difference", "percent");
        }
        last = r;
        table_cell(&t, "%s", r->name);
        values(&t, r);
    }
    if (last)
        table_finish(&t, false);
}

static void print_alone(const struct run_diff *diff)
{
    bool first = true;
    for (size_t i = 0; i < diff->count; i++) {
        const struct run_diff_row *r = &diff->rows[i];
        if (r->what != RUN_DIFF_ONLY)
            continue;
        (void)fputs(first ? "\n" : "", stdout);
        printable_print(stdout, "only in %s: %s%s%s\n", r->a ? "A" : "B", r->of, *r->of ? " " : "", r->policy);
        first = false;
    }
}

/* Unless --all is given, the numbers of a platform are left out where they are many. */
static void runs_table(const struct run_diff *diff, char **operands, const struct run_set *sets)
{
    size_t numbers = 0;
    for (size_t i = 0; i < diff->count; i++)
        numbers += diff->rows[i].what == RUN_DIFF_FACT && diff->rows[i].kind == RUN_FACT_NUMBER;
    const bool few = all || numbers <= FEW_NUMBERS;
    printf("%zu of %zu runs that both have differ in their numbers\n", diff->pairs - diff->same, diff->pairs);
    for (int s = 0; s < 2; s++)
        printable_print(stdout, "%c: %s, %zu run%s\n", "AB"[s], operands[s], sets[s].count,
                        sets[s].count == 1 ? "" : "s");
    print_facts(diff, few);
    print_metrics(diff);
    print_alone(diff);
    if (!few)
        cmd_say("%zu numbers of the platform differ: --all lists them", numbers);
}

static int load_runs(const char *operand, struct run_set *set)
{
    struct err err = {""};
    struct run_set whole = {0};
    size_t nth;
    char *path = split_operand(operand, &nth);
    int status = EXIT_DONE;
    cmd_reads(path);
    if (!path || cmd_load_runs(nth ? &whole : set, path, &err))
        status = cmd_fail(EXIT_DATA, "%s", path ? err.msg : "out of memory");
    else if (nth > whole.count)
        status = cmd_fail(EXIT_NOTHING, "'%s' has %zu runs, no run %zu", path, whole.count, nth);
    else if (nth && run_set_add(set, &whole.runs[nth - 1], &err))
        status = cmd_fail(EXIT_DATA, "%s", err.msg);
    else if (!set->count)
        status = cmd_fail(EXIT_NOTHING, "'%s' holds no runs", path);
    run_set_release(&whole);
    free(path);
    return status;
}

static int diff_runs(char **argv)
{
    struct err err = {""};
    struct run_set sets[2] = {{0}, {0}};
    struct run_diff diff = {0};
    int status = load_runs(argv[0], &sets[0]);
    if (status == EXIT_DONE)
        status = load_runs(argv[1], &sets[1]);
    if (status == EXIT_DONE && (cmd_say_limits(sets, 2, &err) || run_diff_make(&diff, &sets[0], &sets[1], &err)))
        status = cmd_fail(EXIT_DATA, "%s", err.msg);
    if (status == EXIT_DONE && format == FORMAT_JSON)
        status = cmd_print_json(runs_json(&diff, argv, sets));
    else if (status == EXIT_DONE && format == FORMAT_CSV)
        runs_csv(&diff);
    else if (status == EXIT_DONE)
        runs_table(&diff, argv, sets);
    if (status == EXIT_DONE && exit_code && run_diff_differs(&diff))
        status = 1;
    run_diff_release(&diff);
    run_set_release(&sets[0]);
    run_set_release(&sets[1]);
    return status;
}

/* --- a plan and a recording --- */

enum { PREDICTIONS = 32 };
static const char prefix[] = "predicted_";

/* A recording's measures, by engine uvm's names for them. */
enum measure { TIME_NS_SUM, H2D_BYTES, D2H_BYTES, BATCHES, MEASURES };
static const char *const measures[MEASURES] = {"time_ns", "h2d_bytes", "d2h_bytes", "batches"};

struct measured {
    bool known[MEASURES];
    double value[MEASURES];
    struct span {
        int64_t start, end;
        enum {
            WORK,  /* a kernel ran, or data came */
            CALL,  /* a plan's prefetch was called: what follows waits for the driver, to the next kernel */
            KERNEL /* the same as WORK: nothing waits any longer */
        } what;
    } * spans;
    size_t count, cap;
    int64_t last_kernel; /* its end; INT64_MIN: none is timed */
    struct err *err;
};

/* A launch that is waited for, and the next one: section [launch] of a platform, wait_ns and alone_ns. Longer gaps are
 * the CPU's own work, which no prediction has. */
enum { LAUNCH_GAP_NS = 20000 };

/* The plan's subject, for the ledger. */
enum { PROGRAM, PLATFORM, MECHANISM, POLICY, ABOUT };
static const char *const about[ABOUT] = {"program", "platform", "mechanism", "policy"};

struct predictions {
    char about[ABOUT][256];
    struct {
        char name[64];
        double value, low, high; /* NAN: the plan gives no ends */
    } items[PREDICTIONS];
    size_t count;
    bool ends; /* only these are read now */
};

/* "time_lo_ns" of "time_ns", "batches_hi" of "batches". */
static bool is_end_of(const char *key, const char *metric, const char *which)
{
    char name[96];
    const char *unit = strrchr(metric, '_');
    const int n = unit ? (int)(unit - metric) : (int)strlen(metric);
    (void)snprintf(name, sizeof name, "%.*s_%s%s", n, metric, which, unit ? unit : "");
    return strcmp(key, name) == 0;
}

static int take_key(void *ctx, const char *section, const char *key, const char *value, struct err *err)
{
    struct predictions *p = ctx;
    if (!key || strcmp(section, "plan") != 0)
        return 0;
    for (int i = 0; i < ABOUT; i++)
        if (strcmp(key, about[i]) == 0)
            (void)snprintf(p->about[i], sizeof p->about[i], "%s", value);
    double *ends = NULL;
    for (size_t i = 0; i < p->count && p->ends && !ends; i++)
        ends = is_end_of(key, p->items[i].name, "lo")   ? &p->items[i].low
               : is_end_of(key, p->items[i].name, "hi") ? &p->items[i].high
                                                        : NULL;
    if (p->ends ? !ends : strncmp(key, prefix, sizeof prefix - 1) != 0)
        return 0;
    char *end;
    double number = strtod(value, &end);
    if (end == value || *end || !(number >= 0) || number > 1e300)
        return err_set(err, "%s: '%s' is no number", key, value);
    if (ends) {
        *ends = number;
        return 0;
    }
    if (p->count == PREDICTIONS)
        return err_set(err, "more than %d predictions", PREDICTIONS);
    (void)snprintf(p->items[p->count].name, sizeof p->items[p->count].name, "%s", key + sizeof prefix - 1);
    p->items[p->count].low = p->items[p->count].high = NAN;
    p->items[p->count++].value = number;
    return 0;
}

/* --- what was measured --- */

static int add_span(struct measured *m, int64_t start, int64_t duration, int what)
{
    const int64_t last = INT64_MAX / 4; /* differences of such times are times */
    if (start < -last || start > last || duration < 0 || duration > last)
        return 0;
    m->last_kernel = what == KERNEL && start + duration > m->last_kernel ? start + duration : m->last_kernel;
    return MEM_ADD(m->spans, m->count, m->cap, m->err, (struct span){start, start + duration, what});
}

static int add_timed_kernel(void *ctx, const struct store_value *v, size_t n)
{
    struct measured *m = ctx;
    if (n <= 4 || v[3].type != STORE_INT || v[4].type != STORE_INT)
        return 0;
    return add_span(m, v[3].i, v[4].i, KERNEL);
}

/* Whether it began before the last kernel was over; where none is timed, all did. */
static bool is_in(const struct measured *m, int64_t time)
{
    return m->last_kernel == INT64_MIN || time < m->last_kernel;
}

static int add_batch(void *ctx, const struct store_value *v, size_t n)
{
    struct measured *m = ctx;
    m->value[BATCHES] += n > 3 && v[3].type == STORE_INT && is_in(m, v[3].i);
    return 0;
}

static int add_migrations(struct store *store, struct measured *m)
{
    int stream = store_stream_find(store, "uvm");
    struct store_walk w = {0};
    if (stream < 0)
        return 0;
    while (store_walk_next(&w, store, stream, m->err)) {
        const bool in = w.r->kind == RECORD_MIGRATE_H2D;
        if (!is_in(m, w.r->time))
            continue;
        m->value[H2D_BYTES] += in ? (double)w.r->bytes : 0;
        m->value[D2H_BYTES] += w.r->kind == RECORD_MIGRATE_D2H ? (double)w.r->bytes : 0;
        const bool call = w.r->kind == RECORD_PREFETCH && w.r->duration > 0 && (int64_t)w.r->id >= 0; /* to a GPU */
        if ((in || call) && add_span(m, w.r->time, w.r->duration, in ? WORK : CALL))
            w.failed = -1;
    }
    m->known[H2D_BYTES] = m->known[D2H_BYTES] = m->known[BATCHES] = true;
    return store_walk_end(&w);
}

/* Measure from the first transfer to the end of the last kernel, without the CPU's work in between. */
static void measure_time(struct measured *m)
{
    int64_t until = INT64_MIN;
    bool waits = false;
    sort_items(m->spans, m->count, sizeof *m->spans, sorted_by_i64);
    for (size_t i = 0; i < m->count && m->spans[i].start < m->last_kernel; i++) {
        const struct span *s = &m->spans[i];
        const int64_t end = s->end < m->last_kernel ? s->end : m->last_kernel;
        const int64_t gap = until == INT64_MIN || s->start <= until ? 0 : s->start - until;
        const int64_t from = s->start > until ? s->start : until;
        m->value[TIME_NS_SUM] += waits || gap <= LAUNCH_GAP_NS ? (double)gap : 0;
        m->value[TIME_NS_SUM] += end > from ? (double)(end - from) : 0;
        until = end > until ? end : until;
        waits = s->what == CALL || (waits && s->what != KERNEL);
    }
    m->known[TIME_NS_SUM] = m->last_kernel != INT64_MIN;
}

static int measure(struct store *store, struct measured *m, struct err *err)
{
    *m = (struct measured){.last_kernel = INT64_MIN, .err = err};
    int rc = store_rows(store, "kernels", add_timed_kernel, m, err) ||
                     store_rows(store, "batches", add_batch, m, err) || add_migrations(store, m)
                 ? -1
                 : 0;
    measure_time(m);
    free(m->spans);
    m->spans = NULL;
    struct untraced runs;
    if (untraced_get(store, UNTRACED_PLANNED, &runs))
        m->value[TIME_NS_SUM] = runs.median_ns;
    return rc;
}

/* --- side by side --- */

static const double *measured_as(const struct measured *m, const char *name)
{
    for (int i = 0; i < MEASURES; i++)
        if (strcmp(name, measures[i]) == 0)
            return m->known[i] ? &m->value[i] : NULL;
    return NULL;
}

/* Whether the measurement lies within the predicted ends: 1, 0; -1: not predicted or not measured. */
static int is_within(const struct predictions *p, const struct measured *m, size_t i)
{
    const double *found = measured_as(m, p->items[i].name);
    if (!found || isnan(p->items[i].low) || isnan(p->items[i].high))
        return -1;
    return *found >= p->items[i].low && *found <= p->items[i].high;
}

static int print_json(const struct predictions *p, const struct measured *m)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < p->count; i++) {
        const double *found = measured_as(m, p->items[i].name);
        const int within = is_within(p, m, i);
        json_t *low = isnan(p->items[i].low) ? json_null() : json_real(p->items[i].low),
               *high = isnan(p->items[i].high) ? json_null() : json_real(p->items[i].high);
        json_tree_add(&rows, json_pack("{s:o,s:f,s:o,s:o,s:o,s:o}", "metric", json_tree_text(p->items[i].name),
                                       "predicted", p->items[i].value, "low", low, "high", high, "measured",
                                       found ? json_real(*found) : json_null(), "within",
                                       within < 0 ? json_null() : json_boolean(within)));
    }
    return cmd_print_json(json_pack("{s:i,s:o}", "schema", 1, "metrics", rows));
}

static const char *value_text(const char *name, double value, char *buf, size_t size)
{
    const bool whole = value == floor(value) && fabs(value) < 0x1p63;
    const struct metric metric = {name, whole ? METRIC_INT : METRIC_REAL, METRIC_SUM, ""};
    const struct metric_value v = {.known = true, .real = value, .whole = whole ? (int64_t)value : 0};
    return metric_text(&metric, &v, buf, size);
}

/* A value: exact, or as tables of metrics have it. */
static void value_cell(struct table *t, const char *name, double value)
{
    char buf[64];
    if (format == FORMAT_CSV)
        table_cell(t, "%.17g", value);
    else
        table_cell(t, "%s", value_text(name, value, buf, sizeof buf));
}

/* "66.8 ms where 6.88 ms were predicted, outside its ends; 1 of 3 numbers lie within theirs." */
static void print_answer(const struct predictions *p, const struct measured *m)
{
    size_t within = 0, ended = 0;
    char time[200] = "No time to compare", found[64], predicted[64];
    for (size_t i = 0; i < p->count; i++) {
        const int is = is_within(p, m, i);
        within += is == 1;
        ended += is >= 0;
        if (strcmp(p->items[i].name, measures[TIME_NS_SUM]) == 0 && m->known[TIME_NS_SUM])
            (void)snprintf(time, sizeof time, "%s where %s were predicted%s",
                           value_text(p->items[i].name, m->value[TIME_NS_SUM], found, sizeof found),
                           value_text(p->items[i].name, p->items[i].value, predicted, sizeof predicted),
                           is < 0 ? ""
                           : is   ? ", within its ends"
                                  : ", outside its ends");
    }
    if (ended)
        printable_print(stdout, "%s; %zu of %zu numbers lie within theirs.\n", time, within, ended);
    else
        printable_print(stdout, "%s.\n", time);
}

static int print_table(const struct predictions *p, const struct measured *m)
{
    const bool csv = format == FORMAT_CSV;
    if (!csv)
        print_answer(p, m);
    struct table t;
    static const char *const said[] = {"n/a", "no", "yes"};
    TABLE_BEGIN(&t, "metric", "predicted", "measured", "measured / predicted", "within its ends");
    for (size_t i = 0; i < p->count; i++) {
        const double *found = measured_as(m, p->items[i].name), predicted = p->items[i].value;
        char label[80];
        table_cell(&t, "%s", csv ? p->items[i].name : metric_label(p->items[i].name, label, sizeof label));
        value_cell(&t, p->items[i].name, predicted);
        if (found)
            value_cell(&t, p->items[i].name, *found);
        else
            table_cell(&t, "%s", csv ? "" : "n/a");
        if (found && predicted > 0)
            table_cell(&t, csv ? "%.17g" : "%.3f", *found / predicted);
        else
            table_cell(&t, "%s", csv ? "" : "n/a");
        const int within = is_within(p, m, i);
        table_cell(&t, "%s", csv && within < 0 ? "" : said[within + 1]);
    }
    table_finish(&t, csv);
    return EXIT_DONE;
}

/* --- the ledger --- */

static int hash_plan(const char *path, char hash[33], struct err *err)
{
    size_t bytes;
    char *text = regular_file_read(path, 16 << 20, &bytes, err);
    if (!text)
        return -1;
    XXH128_hash_t value = XXH3_128bits(text, bytes);
    (void)snprintf(hash, 33, "%016llx%016llx", (unsigned long long)value.high64, (unsigned long long)value.low64);
    free(text);
    return 0;
}

static int keep(struct store *store, const char *plan, const struct predictions *p, const struct measured *m)
{
    struct err err = {""};
    struct prediction rows[PREDICTIONS];
    char plan_hash[33], recording[33];
    size_t added;
    if (hash_plan(plan, plan_hash, &err) || store_hash(store, recording, &err))
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    const char *state = !store_origin_get(store, "plan.calls") ? "no plan"
                        : store_complete(store)                ? "whole"
                                                               : "incomplete";
    for (size_t i = 0; i < p->count; i++) {
        const double *found = measured_as(m, p->items[i].name);
        rows[i] = (struct prediction){.texts = {[LEDGER_PROGRAM] = p->about[PROGRAM],
                                                [LEDGER_PLATFORM] = p->about[PLATFORM],
                                                [LEDGER_PLAN] = plan_hash,
                                                [LEDGER_RECORDING] = recording,
                                                [LEDGER_MECHANISM] = p->about[MECHANISM],
                                                [LEDGER_POLICY] = p->about[POLICY],
                                                [LEDGER_METRIC] = p->items[i].name,
                                                [LEDGER_STATE] = state},
                                      .predicted = p->items[i].value,
                                      .low = p->items[i].low,
                                      .high = p->items[i].high,
                                      .measured = found ? *found : NAN};
    }
    if (prediction_log_append(ledger, rows, p->count, &added, &err))
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    cmd_say("%zu of %zu rows are new in %s", added, p->count, ledger);
    return EXIT_DONE;
}

static int show(struct store *store, const char *path, const struct predictions *p)
{
    struct err err = {""};
    struct measured m;
    if (measure(store, &m, &err))
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    if (!store_origin_get(store, "plan.calls"))
        cmd_say("%s was recorded without a plan (record --apply PLAN)", store_path(store));
    if (store_origin_get(store, UNTRACED_PLANNED))
        cmd_say("time_ns was measured without the profiler: from launches, with the plan's calls, until the program "
                "had waited for them");
    else if (m.known[TIME_NS_SUM])
        cmd_say("time_ns is that of the recorded run, which the profiler slows (docs/recording.md): from the first "
                "transfer to the last kernel, without the CPU's own work");
    const int status = ledger ? keep(store, path, p, &m) : EXIT_DONE;
    const int printed = format == FORMAT_JSON ? print_json(p, &m) : print_table(p, &m);
    return status ? status : printed;
}

static int diff_plan(char **argv)
{
    struct err err = {""};
    struct predictions p = {0};
    cmd_reads_all((const char *const *)argv, 2);
    int writable = ledger ? cmd_writes(ledger, true) : EXIT_DONE;
    if (writable)
        return writable;
    char *plan = advice_plan_read(argv[0], &err);
    int rc = plan ? 0 : -1;
    free(plan);
    for (int pass = 0; pass < 2 && !rc; pass++) {
        p.ends = pass != 0;
        rc = ini_read_file(argv[0], &(struct ini_reader){take_key, &p}, &err);
    }
    if (rc)
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    if (p.count == 0)
        return cmd_fail(EXIT_NOTHING, "%s predicts nothing: it has no key predicted_time_ns or the like", argv[0]);
    struct store *store = limits_open(argv[1], cmd_say_limit, NULL, &err);
    if (!store)
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    int status = show(store, argv[0], &p);
    store_close(store);
    return status;
}

/* --- two recordings --- */

enum sort { TIMES, TOTAL, KERNELS, ALLOCATIONS, SORTS }; /* TIMES: of kernels */
static const char *const sorts[SORTS] = {"kernel", "total", "kernel", "allocation"};
static const size_t shown[SORTS] = {4, 8, 2, 2}; /* rows of each, unasked */

/* As `info` calls them; those that tell most first, of them the time. */
static const char *const counts[] = {"time_ns",     "h2d_bytes",         "d2h_bytes",        "evicted_bytes",
                                     "fault_pages", "gpu_fault_records", "batches",          "services",
                                     "launches",    "cpu_faults",        "prefetched_bytes", NULL};

struct recorded {
    const char *path;
    struct store *store;
    json_t *total, *kernels, *allocations;
    uint64_t order; /* hash of the kernels' names, launch by launch */
};

struct pairs {
    struct pair {
        enum sort sort;
        double weight; /* of the difference in the whole of its metric; -1: there is none */
        size_t place;
        json_t *row; /* as in JSON */
    } * items;
    size_t count, cap, differing;
    struct recorded r[2];
};

static int hash_name(void *order, const struct store_value *v, size_t n)
{
    if (n > 1 && v[1].s)
        *(uint64_t *)order = XXH3_64bits_withSeed(v[1].s, strlen(v[1].s), *(uint64_t *)order + 1);
    return 0;
}

static int read_recorded(struct recorded *r, struct err *err)
{
    static const char *const kinds[] = {[UVM_INPUT_OTHER] = "no migrations",
                                        [UVM_INPUT_ACCESSES] = "accesses",
                                        [UVM_INPUT_TOUCHES] = "page touches",
                                        [UVM_INPUT_FAULT_LOG] = "a driver's log of faults",
                                        [UVM_INPUT_RECORDING] = "migrations"};
    json_t *again = NULL;
    r->store = limits_open(r->path, cmd_say_limit, NULL, err);
    if (!r->store)
        return -1;
    const enum uvm_input kind = uvm_input_stored(r->store);
    const char *seen = store_origin_get(r->store, "kinds.uvm");
    const bool none = kind == UVM_INPUT_OTHER && seen && strstr(seen, "MIGRATE_H2D") &&
                      !store_origin_get(r->store, "counter_group"); /* it could have seen some */
    if (kind != UVM_INPUT_RECORDING && !none)
        return err_set(err, "%s holds %s; expected recordings of unified memory (offchip record --uvm)", r->path,
                       kinds[kind]);
    const int rc = info_rows_json(r->store, ATTRIBUTION_KERNEL, &r->kernels, &r->total, err) ||
                   info_rows_json(r->store, ATTRIBUTION_ALLOCATION, &r->allocations, &again, err) ||
                   store_rows(r->store, "kernels", hash_name, &r->order, err);
    json_decref(again);
    return rc ? -1 : 0;
}

static double count_of(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_integer(value) ? (double)json_integer_value(value) : NAN;
}

/* a, b: a row of each; NULL: only the other has it. What neither knows is none. */
static int add_pair(struct pairs *p, enum sort sort, const char *of, const json_t *a, const json_t *b, struct err *err)
{
    for (const char *const *name = counts; *name; name++) {
        json_t *x = json_object_get(a, *name), *y = json_object_get(b, *name);
        const double n = count_of(a, *name), m = count_of(b, *name);
        const double whole = fmax(count_of(p->r[0].total, *name), count_of(p->r[1].total, *name));
        struct pair pair = {sort, isnan(m - n) || !(whole > 0) || sort == TOTAL ? 1 : fabs(m - n) / whole, p->count,
                            NULL};
        if (isnan(n) && isnan(m))
            continue;
        if (n == m)
            pair.weight = -1;
        if (sort == KERNELS && name == counts)
            pair.sort = TIMES;
        json_t *difference = isnan(m - n) ? json_null() : json_integer(json_integer_value(y) - json_integer_value(x));
        pair.row = json_pack("{s:s,s:o,s:s,s:o,s:o,s:o,s:o}", "what", sorts[sort], "name", json_tree_text(of), "metric",
                             *name, "a", or_null(x), "b", or_null(y), "difference", difference, "percent",
                             json_tree_real(n > 0 ? (m - n) / n * 100 : NAN));
        p->differing += n != m;
        if (json_tree_check(pair.row, err) || MEM_ADD(p->items, p->count, p->cap, err, pair)) {
            json_decref(pair.row);
            return -1;
        }
    }
    return 0;
}

/* By name, in the order of A; then those that only B has. */
static int add_kernels(struct pairs *p, struct err *err)
{
    const char *name;
    json_t *row, *of_b = json_object();
    size_t i;
    json_array_foreach(p->r[1].kernels, i, row)
        json_tree_put(&of_b, json_string_value(json_object_get(row, "kernel")), json_incref(row));
    int rc = json_tree_check(of_b, err);
    json_array_foreach(p->r[0].kernels, i, row)
    {
        name = json_string_value(json_object_get(row, "kernel"));
        rc = rc ? rc : add_pair(p, KERNELS, name, row, json_object_get(of_b, name), err);
        (void)json_object_del(of_b, name);
    }
    json_object_foreach(of_b, name, row) rc = rc ? rc : add_pair(p, KERNELS, name, NULL, row, err);
    json_decref(of_b);
    return rc;
}

/* One by one, where both have as many and each is as large. */
static int add_allocations(struct pairs *p, struct err *err)
{
    const json_t *a = p->r[0].allocations, *b = p->r[1].allocations;
    const size_t n = json_array_size(a);
    bool same = n == json_array_size(b);
    for (size_t i = 0; same && i < n; i++)
        same = json_equal(json_object_get(json_array_get(a, i), "size_bytes"),
                          json_object_get(json_array_get(b, i), "size_bytes"));
    if (!same)
        cmd_say("%s and %s do not make the same allocations: these are not compared", p->r[0].path, p->r[1].path);
    for (size_t i = 0; same && i < n; i++) {
        const json_t *row = json_array_get(a, i);
        if (add_pair(p, ALLOCATIONS, json_string_value(json_object_get(row, "allocation")), row, json_array_get(b, i),
                     err))
            return -1;
    }
    return 0;
}

/* Order rows of a sort: those that differ first, parts by weight. */
static int most_first(const void *x, const void *y)
{
    const struct pair *a = x, *b = y;
    return ORDER_OF(a->sort, b->sort) ?: ORDER_OF(b->weight, a->weight) ?: ORDER_OF(a->place, b->place);
}

/* "30 % less to the GPU (179 of 256 MiB)", of A's row and B's. */
static const char *change(const json_t *of_a, const json_t *of_b, const char *name, const char *same, const char *where,
                          char to[256])
{
    const double a = count_of(of_a, name), b = count_of(of_b, name), percent = fabs(b - a) / a * 100;
    char how[64], x[64], y[64];
    const char *(*text)(double, char *, size_t) = strcmp(name, "time_ns") == 0 ? units_human_ns : units_human_bytes;
    if (isnan(a) || isnan(b))
        return (void)snprintf(to, 256, "what is not known%s", where), to;
    const char *unit = strrchr(text(a, x, sizeof x), ' ');
    char *its = strrchr(text(b, y, sizeof y), ' ');
    if (a != b && unit && its && strcmp(unit, its) == 0)
        *its = 0;
    if (a == b || a == 0)
        (void)snprintf(how, sizeof how, "%s", a == b ? same : "more");
    else if (b > 2 * a)
        (void)snprintf(how, sizeof how, "%.3g times %s", b / a, same);
    else
        (void)snprintf(how, sizeof how, "%.*f %% %s", percent < 10 ? 1 : 0, percent, b < a ? "less" : "more");
    (void)snprintf(to, 256, "%s%s (%s%s%s)", how, where, y,
                   a == b  ? ""
                   : b < a ? " of "
                           : " instead of ",
                   a == b ? "" : x);
    return to;
}

static const json_t *same_kernel(const json_t *rows, const json_t *of)
{
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i,
                       row) if (json_equal(json_object_get(row, "kernel"), json_object_get(of, "kernel"))) return row;
    return NULL;
}

/* Add the kernel of several that lost most time, if that is 1 % of all, and what of it changed with its time. */
static void say_slower(const struct pairs *p, char *said, size_t size)
{
    static const struct {
        const char *name, *of;
        bool bytes;
    } causes[] = {{"launches", "launches", false},
                  {"gpu_fault_records", "fault records", false},
                  {"h2d_bytes", "to the GPU", true},
                  {"d2h_bytes", "back", true},
                  {"evicted_bytes", "evicted", true}};
    const json_t *row, *a = NULL, *b = NULL;
    double most = count_of(p->r[0].total, "time_ns") / 100;
    char time[256], x[64], y[64];
    const char *before = " with ";
    size_t i;
    json_array_foreach(p->r[0].kernels, i, row)
    {
        const json_t *other = same_kernel(p->r[1].kernels, row);
        const double more = count_of(other, "time_ns") - count_of(row, "time_ns");
        if (more > most)
            most = more, a = row, b = other;
    }
    if (!a || count_of(a, "time_ns") == count_of(p->r[0].total, "time_ns"))
        return;
    (void)mem_add_text(said, size, "; %s takes %s", json_string_value(json_object_get(a, "kernel")),
                       change(a, b, "time_ns", "as long", "", time));
    for (i = 0; i < sizeof causes / sizeof *causes; i++) {
        const double n = count_of(a, causes[i].name), m = count_of(b, causes[i].name);
        if (fabs(m - n) <= fmax(n, m) / 100 || isnan(n) || isnan(m))
            continue;
        (void)mem_add_text(
            said, size, "%s%s instead of %s %s", before,
            causes[i].bytes ? units_human_bytes(m, y, sizeof y) : units_human_count((int64_t)m, y, sizeof y),
            causes[i].bytes ? units_human_bytes(n, x, sizeof x) : units_human_count((int64_t)n, x, sizeof x),
            causes[i].of);
        before = ", ";
    }
    if (*before == ' ')
        (void)mem_add_text(said, size,
                           " with as many launches, faults and bytes: its own work, or each fault, takes longer");
}

static void pairs_csv(const struct pairs *p)
{
    struct table t;
    const char *key;
    json_t *value;
    TABLE_BEGIN(&t, "what", "name", "metric", "a", "b", "difference", "percent");
    for (size_t i = 0; i < p->count; i++)
        json_object_foreach(p->items[i].row, key, value) exact(&t, value);
    table_finish(&t, true);
}

static void pairs_table(const struct pairs *p, const char *said)
{
    enum { ROOM = 26 }; /* of a name, beside the numbers */
    struct table t;
    size_t of[SORTS] = {0}, more = 0;
    char label[80];
    printable_print(stdout, "%s\n", said);
    TABLE_BEGIN(&t, "of", "metric", "A", "B", "percent");
    t.keys = 2;
    for (size_t i = 0; i < p->count; i++) {
        const struct pair *pair = &p->items[i];
        const char *name = json_string_value(json_object_get(pair->row, "name"));
        const json_t *percent = json_object_get(pair->row, "percent");
        const bool differs = pair->weight >= 0;
        if (!all && (of[pair->sort]++ >= shown[pair->sort] || (pair->sort != TOTAL && !differs))) {
            more += differs;
            continue;
        }
        struct run_diff_row row = {.what = RUN_DIFF_METRIC,
                                   .name = (char *)(uintptr_t)json_string_value(json_object_get(pair->row, "metric")),
                                   .percent = json_is_real(percent) ? json_real_value(percent) : NAN};
        table_kernel(&t, name, ROOM);
        table_cell(&t, "%s", metric_label(row.name, label, sizeof label));
        human(&t, &row, json_object_get(pair->row, "a"), false);
        human(&t, &row, json_object_get(pair->row, "b"), false);
        percent_cell(&t, &row);
    }
    table_finish(&t, false);
    printable_print(stdout, "A: %s, B: %s\n", p->r[0].path, p->r[1].path);
    if (more)
        cmd_say("%zu more number%s: --all lists them", more, more == 1 ? " differs" : "s differ");
}

static int show_pairs(struct pairs *p)
{
    char said[1024], bytes[256], time[256];
    json_t *rows = json_array();
    const json_t *a = p->r[0].total, *b = p->r[1].total;
    (void)snprintf(said, sizeof said, "%s moves %s, its kernels take %s", p->r[1].path,
                   change(a, b, "h2d_bytes", "as much", " to the GPU", bytes),
                   change(a, b, "time_ns", "as long", "", time));
    say_slower(p, said, sizeof said);
    sort_items(p->items, p->count, sizeof *p->items, most_first);
    for (size_t i = 0; i < p->count; i++)
        json_tree_add(&rows, json_incref(p->items[i].row));
    int status = EXIT_DONE;
    if (format == FORMAT_JSON)
        status = cmd_print_json(json_pack("{s:i,s:o,s:o,s:o,s:b,s:O}", "schema", 1, "a", json_tree_text(p->r[0].path),
                                          "b", json_tree_text(p->r[1].path), "said", json_tree_text(said), "differs",
                                          p->differing > 0, "rows", rows));
    else if (format == FORMAT_CSV)
        pairs_csv(p);
    else
        pairs_table(p, said);
    json_decref(rows);
    return status ?: exit_code && p->differing;
}

static int diff_recordings(char **argv)
{
    struct err err = {""};
    struct pairs p = {.r = {{.path = argv[0]}, {.path = argv[1]}}};
    cmd_reads_all((const char *const *)argv, 2);
    const int rc = read_recorded(&p.r[0], &err) || read_recorded(&p.r[1], &err) ||
                   add_pair(&p, TOTAL, "total", p.r[0].total, p.r[1].total, &err) || add_kernels(&p, &err) ||
                   add_allocations(&p, &err);
    if (!rc && p.r[0].order != p.r[1].order)
        cmd_say("%s and %s do not launch the same kernels in the same order", argv[0], argv[1]);
    const int status = rc ? cmd_fail(EXIT_DATA, "%s", err.msg) : show_pairs(&p);
    for (size_t i = 0; i < p.count; i++)
        json_decref(p.items[i].row);
    free(p.items);
    for (int i = 0; i < 2; i++) {
        json_decref(p.r[i].total);
        json_decref(p.r[i].kernels);
        json_decref(p.r[i].allocations);
        store_close(p.r[i].store);
    }
    return status;
}

static int run(int argc, char **argv)
{
    lines_at_most(LINES_COLUMNS);
    if (argc != 2)
        return cmd_usage("expected two results files, two runs, two recordings, or a plan and a recording");
    const bool runs = names_runs(argv[0]), first = dbfile_application_id(argv[0]) == SCHEMA_TRACE_ID,
               second = dbfile_application_id(argv[1]) == SCHEMA_TRACE_ID;
    if ((runs || first) && ledger)
        return cmd_usage("--ledger goes with a plan and a recording");
    if (runs && second)
        return cmd_usage("'%s' holds runs and '%s' is a recording", argv[0], argv[1]);
    if (!runs && names_runs(argv[1]))
        return cmd_usage("'%s' holds runs and '%s' %s", argv[1], argv[0], first ? "is a recording" : "does not");
    if (first && !second && access(argv[1], F_OK) == 0)
        return cmd_usage("'%s' is a recording and '%s' is none; a plan goes first", argv[0], argv[1]);
    if (first)
        return diff_recordings(argv);
    if (!runs && (all || exit_code))
        return cmd_usage("--%s goes with runs or recordings", all ? "all" : "exit-code");
    return runs ? diff_runs(argv) : diff_plan(argv);
}

const struct command cmd_diff = {
    .name = "diff",
    .summary = "say in what two results files or two recordings differ, or how far a plan was off",
    .usage = "RUNS RUNS | RECORDING RECORDING | PLAN RECORDING [OPTIONS]",
    .details = "RUNS is a results file, or one run of it: FILE#N, its Nth. Runs are matched by the settings that vary; "
               "settings that differ between the files are listed. PLAN predicted what RECORDING, made with record "
               "--apply PLAN, measured.",
    .examples = "  offchip diff before.db after.db\n"
                "  offchip diff monday.db tuesday.db\n"
                "  offchip diff plan.ini t.db --ledger ledger.csv",
    .options = options,
    .run = run,
};
