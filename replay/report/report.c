#include "replay/report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/run/engine.h"
#include "trace/base/mem.h"
#include "trace/base/suggest.h"

enum { KEYS_MAX = 24, SEEN_MAX = 128, METRICS_MAX = 64, TEXT = 256 };

const struct metric *report_metric(const char *engine, const char *name)
{
    const struct engine *e = engine_find(engine);
    for (const struct metric *m = e ? e->metrics : NULL; m && m->name; m++)
        if (strcmp(m->name, name) == 0)
            return m;
    return NULL;
}

struct metric_value report_aggregate(enum report_aggregate how, const struct metric *metric, const double *values,
                                     size_t n)
{
    static const enum report_aggregate declared[] = {REPORT_SUM, REPORT_MIN, REPORT_MAX, REPORT_MEAN, REPORT_GEOMEAN};
    if (how == REPORT_DECLARED)
        how = metric ? declared[metric->aggregate] : REPORT_MEAN;
    struct metric_value out = {0};
    if (n == 0)
        return out;
    double acc = how == REPORT_MIN || how == REPORT_MAX ? values[0] : 0;
    bool zero = false;
    for (size_t i = 0; i < n; i++) {
        if (how == REPORT_MIN)
            acc = fmin(acc, values[i]);
        else if (how == REPORT_MAX)
            acc = fmax(acc, values[i]);
        else if (how != REPORT_GEOMEAN)
            acc += values[i];
        else if (values[i] < 0)
            return out;
        else if (values[i] == 0)
            zero = true;
        else
            acc += log(values[i]);
    }
    out.known = true;
    out.real = how == REPORT_MEAN ? acc / (double)n : how != REPORT_GEOMEAN ? acc : zero ? 0 : exp(acc / (double)n);
    out.whole = (int64_t)llround(fmin(fmax(out.real, -9e18), 9e18));
    return out;
}

/* --- best fixed --- */

static int copy_as_best(struct run_set *runs, size_t from, struct err *err)
{
    if (run_set_add(runs, &runs->runs[from], err))
        return -1;
    struct run *best = &runs->runs[runs->count - 1];
    best->baseline = false;
    free(best->policy);
    best->policy = mem_strdup("best fixed", err);
    return best->policy ? 0 : -1;
}

/* The fixed runs of one group: how many, and the fastest. */
struct fixed {
    size_t count, best;
};

int report_add_best(struct run_set *runs, struct err *err)
{
    size_t given = runs->count, groups;
    size_t *group = run_set_groups(runs, &groups, err);
    struct fixed *fixed = group ? mem_zalloc(groups + 1, sizeof *fixed, err) : NULL;
    int rc = fixed ? 0 : -1;
    for (size_t i = 0; i < given && !rc; i++) {
        if (strcmp(runs->runs[i].policy, "fixed") != 0)
            continue;
        struct fixed *f = &fixed[group[i]];
        double mine, best;
        if (f->count++ == 0 || (run_metric(&runs->runs[i], "time_ns", &mine) &&
                                (!run_metric(&runs->runs[f->best], "time_ns", &best) || mine < best)))
            f->best = i;
    }
    for (size_t g = 0; g < groups && !rc; g++)
        if (fixed[g].count > 1)
            rc = copy_as_best(runs, fixed[g].best, err);
    free(fixed);
    free(group);
    return rc;
}

/* --- by any key --- */

/* Whether two runs go together: the same but for their inputs, of which the key's value is the same. */
static bool together(const struct run *a, const struct run *b, const char *key)
{
    char x[TEXT], y[TEXT];
    const char *of_a = run_key(a, key, x, sizeof x), *of_b = run_key(b, key, y, sizeof y);
    bool best = strcmp(a->policy, "best fixed") == 0;
    return of_a && of_b && strcmp(of_a, of_b) == 0 && strcmp(a->engine, b->engine) == 0 &&
           strcmp(a->platform, b->platform) == 0 && strcmp(a->policy, b->policy) == 0 &&
           json_equal(a->settings, b->settings) && (best || json_equal(a->params, b->params));
}

/* The metrics of the n runs that go together, aggregated, in place of *out's own. */
static int combine(struct run *out, const struct run *const *members, size_t n, enum report_aggregate how,
                   struct err *err)
{
    double *values = mem_zalloc(n, sizeof *values, err);
    if (!values)
        return -1;
    json_t *metrics = json_object(), *value;
    const char *name;
    json_object_foreach(members[0]->metrics, name, value)
    {
        const struct metric *metric = report_metric(out->engine, name);
        size_t known = 0;
        for (size_t i = 0; i < n; i++) {
            const json_t *v = json_object_get(members[i]->metrics, name);
            if (json_is_number(v))
                values[known++] = json_number_value(v);
        }
        struct metric_value all = report_aggregate(how, metric, values, known);
        bool whole = metric && metric->type == METRIC_INT;
        (void)json_object_set_new(metrics, name,
                                  !all.known ? json_null()
                                  : whole    ? json_integer(all.whole)
                                             : json_real(all.real));
    }
    free(values);
    json_decref(out->metrics);
    out->metrics = metrics;
    json_decref(out->interval);
    out->interval = json_object();
    return 0;
}

/* Append what run `first` and those that go with it come to. */
static int add_group(struct run_set *groups, const struct run_set *runs, size_t first, const char *key,
                     const char *text, enum report_aggregate how, struct err *err)
{
    const struct run **members = mem_zalloc(runs->count - first, sizeof *members, err);
    size_t n = 0;
    for (size_t i = first; members && i < runs->count; i++)
        if (together(&runs->runs[first], &runs->runs[i], key))
            members[n++] = &runs->runs[i];
    int rc = members && run_set_add(groups, &runs->runs[first], err) == 0 ? 0 : -1;
    struct run *out = rc ? NULL : &groups->runs[groups->count - 1];
    if (!rc)
        rc = combine(out, members, n, how, err) || run_set_part(out, key, text, err) ? -1 : 0;
    if (!rc) {
        out->input[0] = 0; /* of several inputs */
        out->baseline = false;
    }
    free((void *)members);
    return rc;
}

/* One run for each value of the key, under each policy and setting. */
static int group_by(struct run_set *runs, const char *key, enum report_aggregate how, struct err *err)
{
    struct run_set groups = {0};
    char text[TEXT];
    int rc = 0;
    for (size_t i = 0; i < runs->count && !rc; i++) {
        bool first = run_key(&runs->runs[i], key, text, sizeof text) != NULL;
        for (size_t g = 0; g < groups.count && first; g++)
            first = !together(&groups.runs[g], &runs->runs[i], key);
        if (first)
            rc = add_group(&groups, runs, i, key, text, how, err);
    }
    if (!rc && !groups.count)
        rc = err_set(err, "no run has a key '%.60s' to report by", key);
    run_set_release(rc ? &groups : runs);
    if (!rc)
        *runs = groups;
    return rc ? -1 : 0;
}

static bool is_part(const char *by)
{
    return strcmp(by, outcome_by_name(OUTCOME_BY_KERNEL)) == 0 ||
           strcmp(by, outcome_by_name(OUTCOME_BY_ALLOCATION)) == 0;
}

/* --- which keys tell runs apart --- */

struct keys {
    char names[KEYS_MAX][64];
    size_t count;
    char seen[SEEN_MAX][64]; /* looked at already, whether they differ or not */
    size_t seen_count;
};

static void consider(struct keys *keys, const struct run_set *runs, const char *name)
{
    for (size_t i = 0; i < keys->seen_count; i++)
        if (strcmp(keys->seen[i], name) == 0)
            return;
    if (keys->seen_count < SEEN_MAX)
        (void)snprintf(keys->seen[keys->seen_count++], sizeof keys->seen[0], "%.63s", name);
    char first[TEXT], other[TEXT];
    const char *a = run_key(&runs->runs[0], name, first, sizeof first);
    bool differs = false;
    for (size_t i = 1; i < runs->count && !differs; i++) {
        const char *b = run_key(&runs->runs[i], name, other, sizeof other);
        differs = !a != !b || (a && b && strcmp(a, b) != 0);
    }
    if (differs && keys->count < KEYS_MAX)
        (void)snprintf(keys->names[keys->count++], sizeof keys->names[0], "%.63s", name);
}

/* Heads, keys of inputs and settings whose values differ among the runs; policy parameters are in the label. */
static void find_keys(struct keys *keys, const struct run_set *runs)
{
    keys->count = keys->seen_count = 0;
    static const char *const heads[] = {"engine", "workload", "platform"};
    for (size_t i = 0; i < 3; i++)
        consider(keys, runs, heads[i]);
    if (runs->runs[0].part_by) /* also where it is always the same */
        (void)snprintf(keys->names[keys->count++], sizeof keys->names[0], "%.63s", runs->runs[0].part_by);
    for (size_t i = 0; i < runs->count; i++) {
        for (const char *p = strchr(runs->runs[i].input, ','); p; p = strchr(p + 1, ',')) {
            char name[64];
            (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(p + 1, "=, "), p + 1);
            consider(keys, runs, name);
        }
        const char *name;
        json_t *value;
        json_object_foreach(runs->runs[i].settings, name, value) consider(keys, runs, name);
    }
}

/* --- rows --- */

struct metrics {
    char names[METRICS_MAX][64];
    size_t count;
};

static bool any_run_has(const struct run_set *runs, const char *metric)
{
    for (size_t i = 0; i < runs->count; i++)
        if (json_object_get(runs->runs[i].metrics, metric) || json_object_get(runs->runs[i].interval, metric))
            return true;
    return false;
}

static int no_such_metric(const struct run_set *runs, const char *word, struct err *err)
{
    char hint[96];
    struct suggest suggest = {.word = word};
    const char *name;
    json_t *value;
    json_object_foreach(runs->runs[0].metrics, name, value) suggest_offer(&suggest, name);
    return err_set(err, "no run has a metric '%.60s'%s", word, suggest_hint(&suggest, hint, sizeof hint));
}

/* Add the metrics of a comma-separated list that are not there yet. Parts need not have what a headline names. */
static int add_metrics(struct metrics *metrics, const struct run_set *runs, const char *list, bool headline,
                       struct err *err)
{
    for (const char *p = list; *p && metrics->count < METRICS_MAX;) {
        size_t n = strcspn(p, ","), known = 0;
        char *name = metrics->names[metrics->count];
        (void)snprintf(name, sizeof metrics->names[0], "%.*s", (int)n, p);
        p += n + (p[n] == ',');
        bool there = any_run_has(runs, name);
        if (!there && headline && runs->runs[0].part_by)
            continue;
        if (!there)
            return no_such_metric(runs, name, err);
        while (known < metrics->count && strcmp(metrics->names[known], name) != 0)
            known++;
        metrics->count += known == metrics->count;
    }
    return metrics->count ? 0 : err_set(err, "no metric is named");
}

/* Those of the list, or the headlines of the engines that ran. */
static int choose_metrics(struct metrics *metrics, const struct run_set *runs, const char *list, struct err *err)
{
    metrics->count = 0;
    if (list)
        return add_metrics(metrics, runs, list, false, err);
    const char *last = "";
    for (size_t i = 0; i < runs->count; i++) {
        if (strcmp(runs->runs[i].engine, last) == 0)
            continue;
        last = runs->runs[i].engine;
        const struct engine *engine = engine_find(last);
        if (add_metrics(metrics, runs, engine ? engine->headline : "time_ns,speedup_ratio", true, err))
            return -1;
    }
    return 0;
}

static struct report_cell metric_cell(const struct run *run, const char *name)
{
    struct report_cell cell = {.metric = report_metric(run->engine, name)};
    const json_t *v = json_object_get(run->metrics, name);
    cell.value.known = json_is_number(v);
    cell.value.real = json_number_value(v);
    cell.value.whole = json_is_integer(v) ? json_integer_value(v) : 0;
    cell.value.interval = run_interval(run, name, &cell.value.lo, &cell.value.hi);
    return cell;
}

static int text_cell(struct report_cell *cell, const char *text, struct err *err)
{
    *cell = (struct report_cell){.text = mem_strdup(text, err)};
    return cell->text ? 0 : -1;
}

static int allocate(struct report *report, size_t columns, size_t rows, struct err *err)
{
    report->columns = columns;
    report->rows = rows;
    report->header = mem_zalloc(columns, sizeof *report->header, err);
    report->cells = mem_zalloc(columns * rows, sizeof *report->cells, err);
    return report->header && report->cells ? 0 : -1;
}

void report_release(struct report *report)
{
    for (size_t i = 0; report->header && i < report->columns; i++)
        free(report->header[i]);
    for (size_t i = 0; report->cells && i < report->rows * report->columns; i++)
        free(report->cells[i].text);
    free((void *)report->header);
    free(report->cells);
    memset(report, 0, sizeof *report);
}

bool report_rank(const char *engine, size_t n, char *name, size_t size, bool *more)
{
    const struct engine *e = engine_find(engine);
    const char *p = e && e->ranks ? e->ranks : "-time_ns";
    while (n-- > 0) {
        p += strcspn(p, ",");
        if (!*p)
            return false;
        p++;
    }
    *more = *p == '+';
    (void)snprintf(name, size, "%.*s", (int)strcspn(p + 1, ","), p + 1);
    return true;
}

/* The n-th rank's value of a run, brought to "more is better". */
static bool rank_value(const struct run *run, size_t n, double *value)
{
    char name[64];
    bool more;
    if (!report_rank(run->engine, n, name, sizeof name, &more) || !run_metric(run, name, value))
        return false;
    *value = more ? *value : -*value;
    return true;
}

/* Which runs are the best of their group, by the first rank that a run of the group knows. NULL on failure. */
static bool *find_best(const struct run_set *runs, struct err *err)
{
    enum { RANKS = 4 };
    size_t groups;
    size_t *group = run_set_groups(runs, &groups, err);
    double *top = group ? mem_zalloc(groups + 1, sizeof *top, err) : NULL;
    size_t *rank = top ? mem_zalloc(groups + 1, sizeof *rank, err) : NULL; /* 1 + the rank that decides */
    bool *best = rank ? mem_zalloc(runs->count + 1, sizeof *best, err) : NULL;
    double value;
    for (size_t n = 0; best && n < RANKS; n++)
        for (size_t i = 0; i < runs->count; i++) {
            size_t g = group[i];
            if ((rank[g] == 0 || rank[g] == n + 1) && rank_value(&runs->runs[i], n, &value)) {
                top[g] = rank[g] == 0 || value > top[g] ? value : top[g];
                rank[g] = n + 1;
            }
        }
    for (size_t i = 0; best && i < runs->count; i++)
        best[i] = rank[group[i]] && rank_value(&runs->runs[i], rank[group[i]] - 1, &value) && value >= top[group[i]];
    free(group);
    free(top);
    free(rank);
    return best;
}

static int plain(struct report *report, const struct run_set *runs, const struct keys *keys,
                 const struct metrics *metrics, const bool *best, struct err *err)
{
    size_t columns = keys->count + 1 + metrics->count;
    if (allocate(report, columns, runs->count, err))
        return -1;
    for (size_t c = 0; c < columns; c++) {
        const char *name = c < keys->count    ? keys->names[c]
                           : c == keys->count ? "policy"
                                              : metrics->names[c - keys->count - 1];
        report->header[c] = mem_strdup(name, err);
        if (!report->header[c])
            return -1;
    }
    for (size_t i = 0; i < runs->count; i++) {
        struct report_cell *row = &report->cells[i * columns];
        char text[TEXT];
        for (size_t k = 0; k < keys->count; k++) {
            const char *value = run_key(&runs->runs[i], keys->names[k], text, sizeof text);
            if (text_cell(&row[k], value ? value : "", err))
                return -1;
        }
        if (text_cell(&row[keys->count], run_label(runs, &runs->runs[i], text, sizeof text), err))
            return -1;
        row[keys->count].best = best[i];
        for (size_t m = 0; m < metrics->count; m++)
            row[keys->count + 1 + m] = metric_cell(&runs->runs[i], metrics->names[m]);
    }
    return 0;
}

/* --- pivot --- */

/* Distinct texts in order of first appearance. */
struct texts {
    char **items;
    size_t count, cap;
};

static size_t text_index(struct texts *texts, const char *text, struct err *err)
{
    for (size_t i = 0; i < texts->count; i++)
        if (strcmp(texts->items[i], text) == 0)
            return i;
    if (mem_grow((void **)&texts->items, &texts->cap, texts->count + 1, sizeof *texts->items, err))
        return SIZE_MAX;
    texts->items[texts->count] = mem_strdup(text, err);
    return texts->items[texts->count] ? texts->count++ : SIZE_MAX;
}

static void texts_release(struct texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->items[i]);
    free((void *)texts->items);
}

static void pivot_text(const struct run_set *runs, const struct run *run, const char *key, char *buf, size_t size)
{
    if (strcmp(key, "policy") == 0 && strcmp(run->policy, "best fixed") == 0)
        (void)snprintf(buf, size, "best fixed");
    else if (strcmp(key, "policy") == 0)
        run_label(runs, run, buf, size);
    else if (!run_key(run, key, buf, size))
        (void)snprintf(buf, size, "-");
}

/* What tells rows of a pivot apart: every key but the pivoted one, tab-separated. */
static void row_text(const struct run_set *runs, const struct run *run, const struct keys *keys, const char *pivot,
                     char *buf, size_t size)
{
    size_t used = 0;
    buf[0] = 0;
    for (size_t k = 0; k <= keys->count && used < size; k++) {
        const char *name = k < keys->count ? keys->names[k] : "policy";
        if (strcmp(name, pivot) == 0)
            continue;
        char text[TEXT];
        pivot_text(runs, run, name, text, sizeof text);
        used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? "\t" : "", text);
    }
}

static int fill_pivot(struct report *report, const struct run_set *runs, const struct keys *keys,
                      const struct report_options *options, const char *metric, struct texts *rows,
                      struct texts *columns, size_t lead, struct err *err)
{
    char text[2048];
    for (size_t i = 0; i < runs->count; i++) {
        const struct run *run = &runs->runs[i];
        row_text(runs, run, keys, options->pivot, text, sizeof text);
        size_t r = text_index(rows, text, err);
        pivot_text(runs, run, options->pivot, text, sizeof text);
        size_t c = text_index(columns, text, err);
        struct report_cell *cell = &report->cells[r * report->columns + lead + c];
        *cell = metric_cell(run, metric);
    }
    for (size_t r = 0; r < rows->count; r++) {
        const char *p = rows->items[r];
        for (size_t k = 0; k < lead; k++) {
            char part[TEXT];
            size_t n = strcspn(p, "\t");
            (void)snprintf(part, sizeof part, "%.*s", (int)n, p);
            if (text_cell(&report->cells[r * report->columns + k], part, err))
                return -1;
            p += n + (p[n] == '\t');
        }
    }
    double *values = mem_zalloc(rows->count, sizeof *values, err);
    if (!values)
        return -1;
    const struct metric *m = report_metric(runs->runs[0].engine, metric);
    struct report_cell *last = &report->cells[rows->count * report->columns];
    for (size_t c = 0; c < columns->count; c++) {
        size_t n = 0;
        for (size_t r = 0; r < rows->count; r++) {
            const struct metric_value *v = &report->cells[r * report->columns + lead + c].value;
            if (v->known)
                values[n++] = v->real;
        }
        last[lead + c] = (struct report_cell){.metric = m, .value = report_aggregate(options->aggregate, m, values, n)};
    }
    free(values);
    static const char *const names[] = {"", "sum", "min", "max", "mean", "geomean"};
    const char *name = options->aggregate ? names[options->aggregate]
                       : m                ? metric_aggregate_name(m->aggregate)
                                          : "mean";
    for (size_t k = 0; k < lead; k++)
        if (text_cell(&last[k], k ? "" : name, err))
            return -1;
    return 0;
}

static int no_such_key(const struct run_set *runs, const struct keys *keys, const char *word, struct err *err)
{
    char known[300] = "policy", hint[96];
    size_t used = strlen(known);
    struct suggest suggest = {.word = word};
    const char *name;
    json_t *value;
    json_object_foreach(runs->runs[0].settings, name, value) suggest_offer(&suggest, name);
    for (size_t k = 0; k < keys->count; k++) {
        suggest_offer(&suggest, keys->names[k]);
        if (used < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, ", %s", keys->names[k]);
    }
    return err_set(err, "no run has a key '%.60s' to pivot by; the runs differ in %s%s", word, known,
                   suggest_hint(&suggest, hint, sizeof hint));
}

static int pivot(struct report *report, const struct run_set *runs, const struct keys *keys,
                 const struct report_options *options, const struct metrics *metrics, struct err *err)
{
    struct texts rows = {0}, columns = {0};
    char text[2048];
    bool known = strcmp(options->pivot, "policy") == 0;
    int rc = 0;
    for (size_t i = 0; i < runs->count && !rc; i++) {
        known = known || run_key(&runs->runs[i], options->pivot, text, sizeof text);
        row_text(runs, &runs->runs[i], keys, options->pivot, text, sizeof text);
        rc = text_index(&rows, text, err) == SIZE_MAX ? -1 : 0;
        pivot_text(runs, &runs->runs[i], options->pivot, text, sizeof text);
        rc = rc || text_index(&columns, text, err) == SIZE_MAX ? -1 : 0;
    }
    if (!rc && !known)
        rc = no_such_key(runs, keys, options->pivot, err);
    size_t lead = 0;
    for (size_t k = 0; k <= keys->count; k++)
        lead += strcmp(k < keys->count ? keys->names[k] : "policy", options->pivot) != 0;
    if (!rc)
        rc = allocate(report, lead + columns.count, rows.count + 1, err);
    size_t h = 0;
    for (size_t k = 0; k <= keys->count && !rc; k++) {
        const char *name = k < keys->count ? keys->names[k] : "policy";
        if (strcmp(name, options->pivot) != 0)
            rc = (report->header[h++] = mem_strdup(name, err)) ? 0 : -1;
    }
    for (size_t c = 0; c < columns.count && !rc; c++)
        rc = (report->header[lead + c] = mem_strdup(columns.items[c], err)) ? 0 : -1;
    if (!rc)
        rc = fill_pivot(report, runs, keys, options, metrics->names[0], &rows, &columns, lead, err);
    texts_release(&rows);
    texts_release(&columns);
    return rc;
}

int report_make(struct report *report, struct run_set *runs, const struct report_options *options, struct err *err)
{
    memset(report, 0, sizeof *report);
    if (!runs->count)
        return err_set(err, "there are no runs to report");
    if (!options->no_best && report_add_best(runs, err))
        return -1;
    if (options->by && (is_part(options->by) ? run_set_split(runs, options->by, err)
                                             : group_by(runs, options->by, options->aggregate, err)))
        return -1;
    struct metrics metrics;
    struct keys keys;
    const char *list = options->metrics;
    if (!list && options->pivot && json_object_get(runs->runs[0].metrics, "speedup_ratio"))
        list = "speedup_ratio";
    find_keys(&keys, runs);
    bool *best = find_best(runs, err);
    int rc = best ? choose_metrics(&metrics, runs, list, err) : -1;
    if (!rc)
        rc = options->pivot ? pivot(report, runs, &keys, options, &metrics, err)
                            : plain(report, runs, &keys, &metrics, best, err);
    free(best);
    if (rc)
        report_release(report);
    return rc;
}
