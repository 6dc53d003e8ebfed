#include "replay/report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/compare/compare.h"
#include "replay/results/case_table.h"
#include "replay/results/runs.h"
#include "replay/run/engine.h"
#include "replay/run/measured.h"
#include "replay/run/platform_use.h"
#include "replay/run/verdict.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"

enum { METRICS_MAX = 128, RANKS = 4, MOST_SAID = 4 /* policies of one sentence */ };

/* Of engines that this release does not know. */
static const struct metric unknown_time = {"time_ns", METRIC_REAL, METRIC_SUM, ""};

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

/* The fixed runs of one case: how many, the fastest, and of those whose time is over a bound the least of these. */
struct fixed {
    size_t count, best;
    double over; /* 0: there is none */
};

static bool is_fixed(const struct run *run)
{
    const struct policy_head *policy = engine_policy(run->engine, run->policy);
    return policy && policy->fixed;
}

static void consider(struct fixed *f, const struct run_set *runs, size_t i)
{
    double mine, best;
    if (!is_fixed(&runs->runs[i]) || run_starved(&runs->runs[i]))
        return;
    if (run_at_least(&runs->runs[i], "time_ns", &mine))
        f->over = f->over > 0 ? fmin(f->over, mine) : mine;
    if (f->count++ == 0 || (run_metric(&runs->runs[i], "time_ns", &mine) &&
                            (!run_metric(&runs->runs[f->best], "time_ns", &best) || mine < best)))
        f->best = i;
}

/* Whether no policy with only a bound may be faster. */
static bool is_surely_best(const struct fixed *f, const struct run_set *runs)
{
    double best;
    return f->over == 0 || (run_metric(&runs->runs[f->best], "time_ns", &best) && best <= f->over);
}

/* Appends a copy "best fixed" of the fastest, not starved run of fixed policies (policy.h) to cases with several. */
static int add_best(struct run_set *runs, struct err *err)
{
    struct case_table table;
    if (case_table_make(&table, runs, NULL, err))
        return -1;
    struct fixed *fixed = mem_zalloc(table.rows, sizeof *fixed, err);
    for (size_t i = 0; fixed && i < runs->count; i++)
        if (!table.twice[i])
            consider(&fixed[table.row_of[i]], runs, i);
    int rc = fixed ? 0 : -1;
    for (size_t r = 0; r < table.rows && !rc; r++)
        if (fixed[r].count > 1 && is_surely_best(&fixed[r], runs))
            rc = copy_as_best(runs, fixed[r].best, err);
    free(fixed);
    case_table_release(&table);
    return rc;
}

/* --- rows --- */

struct metrics {
    char names[METRICS_MAX][64];
    size_t count;
};

static bool is_chosen(const struct metrics *metrics, const char *name)
{
    for (size_t i = 0; i < metrics->count; i++)
        if (strcmp(metrics->names[i], name) == 0)
            return true;
    return false;
}

/* Add the metrics of a comma-separated list that are not there yet. Parts need not have what a headline names. */
static int add_metrics(struct metrics *metrics, const struct run_set *runs, const char *list, bool headline,
                       struct err *err)
{
    for (const char *p = list; *p && metrics->count < METRICS_MAX;) {
        size_t n = strcspn(p, ",");
        char *name = metrics->names[metrics->count];
        (void)snprintf(name, sizeof metrics->names[0], "%.*s", (int)n, p);
        p += n + (p[n] == ',');
        bool there = run_set_has(runs, name);
        if (!there && headline && runs->runs[0].part_by)
            continue;
        if (!there)
            return run_set_lacks(runs, name, err);
        metrics->count += !is_chosen(metrics, name);
    }
    return metrics->count ? 0 : err_set(err, "no metric is named");
}

/* Add a metric that is new, or count it (in *seen, NULL without memory) if the run knows it. */
static void other_metric(struct metrics *metrics, json_t **seen, const struct run *run, const char *name, bool add)
{
    const json_t *value = json_object_get(run->metrics, name);
    const bool known = json_is_number(value) || json_object_get(run->interval, name);
    if (!value || (!add && !known) || json_object_get(*seen, name) || is_chosen(metrics, name))
        return;
    json_tree_put(seen, name, json_true());
    if (add && metrics->count < METRICS_MAX)
        (void)snprintf(metrics->names[metrics->count++], sizeof metrics->names[0], "%s", name);
}

/* Every metric of the runs in their engines' order, then what other releases had; *n: how many were not chosen. */
static int other_metrics(struct metrics *metrics, const struct run_set *runs, bool add, size_t *n, struct err *err)
{
    json_t *seen = json_object(), *value;
    const char *name;
    for (size_t i = 0; i < runs->count; i++) {
        const struct engine *engine = engine_of_results(runs->runs[i].engine);
        for (const struct metric *m = engine ? engine->metrics : NULL; m && m->name; m++)
            other_metric(metrics, &seen, &runs->runs[i], m->name, add);
        json_object_foreach(runs->runs[i].metrics, name, value) other_metric(metrics, &seen, &runs->runs[i], name, add);
    }
    *n = json_object_size(seen);
    const int rc = json_tree_check(seen, err);
    json_decref(seen);
    return rc;
}

static bool any_knows(const struct run_set *runs, const char *name)
{
    double value;
    for (size_t i = 0; i < runs->count; i++)
        if (run_metric(&runs->runs[i], name, &value))
            return true;
    return false;
}

/* At most so many that a run knows. */
static int add_ranks(struct metrics *metrics, const struct run_set *runs, const char *engine, size_t most,
                     struct err *err)
{
    char name[64];
    bool more;
    for (size_t n = 0; most > 0 && engine_rank(engine_of_results(engine), n, name, sizeof name, &more); n++) {
        if (!any_knows(runs, name))
            continue;
        most--;
        if (add_metrics(metrics, runs, name, true, err))
            return -1;
    }
    return 0;
}

/* Those of the list, or the headlines of the engines that ran, or all. */
static int choose_metrics(struct metrics *metrics, const struct run_set *runs, const char *list,
                          const struct report_options *options, struct err *err)
{
    metrics->count = 0;
    if (list)
        return add_metrics(metrics, runs, list, false, err);
    size_t all = 0;
    const int rc = options->all ? other_metrics(metrics, runs, true, &all, err) : 0;
    if (rc || all)
        return rc;
    const char *last = "";
    for (size_t i = 0; i < runs->count; i++) {
        if (strcmp(runs->runs[i].engine, last) == 0)
            continue;
        last = runs->runs[i].engine;
        const struct engine *engine = engine_of_results(last);
        /* what decides stands first: there may be no room for all */
        if (((options->ranks || options->pivot) && add_ranks(metrics, runs, last, 1, err)) ||
            add_metrics(metrics, runs, engine ? engine->headline : "time_ns,speedup_ratio", true, err) ||
            (options->ranks && add_ranks(metrics, runs, last, RANKS, err)))
            return -1;
    }
    return run_set_has(runs, "robust_wins") ? add_metrics(metrics, runs, "robust_wins,robust_draws", true, err) : 0;
}

static struct report_cell metric_cell(const struct run *run, const char *name)
{
    struct report_cell cell = {.metric = engine_metric(run->engine, name)};
    const json_t *v = json_object_get(run->metrics, name);
    cell.value.known = json_is_number(v);
    cell.value.real = json_number_value(v);
    cell.value.whole = json_is_integer(v) ? json_integer_value(v) : 0;
    cell.value.unbound = run_unbound(run, name);
    cell.value.interval = run_interval(run, name, &cell.value.lo, &cell.value.hi);
    if (!cell.value.known && !cell.value.interval)
        cell.value.lower_bound = run_at_least(run, name, &cell.value.lo);
    return cell;
}

static int text_cell(struct report_cell *cell, const char *text, struct err *err)
{
    *cell = (struct report_cell){.text = mem_strdup(text, err)};
    return cell->text ? 0 : -1;
}

static int allocate(struct report *report, size_t columns, size_t texts, size_t rows, struct err *err)
{
    report->columns = columns;
    report->texts = texts;
    report->rows = rows;
    report->header = mem_zalloc(columns, sizeof *report->header, err);
    report->cells = mem_zalloc(columns * rows, sizeof *report->cells, err);
    report->intervals = mem_zalloc(columns, sizeof *report->intervals, err);
    return report->header && report->cells && report->intervals ? 0 : -1;
}

void report_release(struct report *report)
{
    for (size_t i = 0; report->cells && i < report->rows * report->columns; i++)
        free(report->cells[i].text);
    mem_free_texts(report->header, report->columns);
    free(report->cells);
    free(report->intervals);
    free(report->run_of);
    free(report->case_of);
    json_decref(report->notes);
    memset(report, 0, sizeof *report);
}

double report_error(const struct run *run)
{
    double error;
    const struct engine *engine = engine_of_results(run->engine);
    const struct policy_head *policy = engine_policy(run->engine, run->policy);
    if (run_metric(run, "error_ratio", &error))
        return error;
    return measured_error(policy && policy->measured ? policy->measured
                          : engine                   ? engine->measured
                                                     : NULL,
                          run->platform);
}

/* The metric that decides a case: the one asked for, else the first rank that a run of it knows. */
struct decision_by {
    char metric[64];
    size_t rank; /* RANKS: none knows any */
    bool more;
    bool whole; /* a run's time is that of the whole work */
};

static bool is_part(const struct run *run)
{
    size_t i;
    json_t *note;
    json_array_foreach(run->notes, i, note) if (verdict_part_note(json_string_value(note))) return true;
    return false;
}

static bool ranks_by(const struct run *run, size_t n, struct decision_by *by)
{
    double value;
    return !run_starved(run) &&
           engine_rank(engine_of_results(run->engine), n, by->metric, sizeof by->metric, &by->more) &&
           run_metric(run, by->metric, &value);
}

static struct decision_by decided_by(const struct run_set *runs, const size_t *list, size_t n, const char *asked)
{
    struct decision_by by = {.rank = 0};
    for (size_t i = 0; i < n; i++)
        by.whole |= !is_part(&runs->runs[list[i]]);
    for (int any = 0; any < 2; any++)
        for (by.rank = 0; by.rank < RANKS; by.rank++)
            for (size_t i = 0; i < n; i++)
                if (ranks_by(&runs->runs[list[i]], by.rank, &by) && (any || strcmp(by.metric, asked) == 0))
                    return by;
    return by;
}

/* Whether a warning says that another simulation may have another winner by this metric. */
static bool unsettled(const struct run *run, const char *metric)
{
    size_t i;
    json_t *said;
    json_array_foreach(run->notes, i, said)
    {
        const char *warning = run_warning(json_string_value(said));
        const char *by =
            warning && strncmp(warning, RUN_UNSETTLED, strlen(RUN_UNSETTLED)) == 0 ? strstr(warning, metric) : NULL;
        if (by && by < strstr(warning, " may "))
            return true;
    }
    return false;
}

void report_take(const struct verdict *verdict, struct verdict_answer *answer, const struct run *run,
                 const char *metric, double error)
{
    const struct report_cell cell = metric_cell(run, metric);
    verdict_take(verdict, answer, &cell.value, error);
    (void)run_metric(run, "common_ns", &answer->value.common);
    if (run_starved(run))
        answer->value.state = ROBUST_REFUSED;
    if (strcmp(run->engine, "compare") == 0 && compare_is_bound(run->policy))
        verdict_leave_out(answer);
}

/* A run in its case; errors are known of times only. */
static void stand(const struct case_table *table, size_t run, const struct decision_by *by,
                  const struct verdict *verdict, struct verdict_answer *answer)
{
    const struct run *r = &table->set->runs[run];
    const struct engine *engine = engine_find(r->engine);
    *answer = (struct verdict_answer){.name = table->series_labels[table->series_of[run]],
                                      .simple = engine ? engine_simplicity(engine, r->policy)
                                                       : compare_simplicity(r->policy)};
    const bool time = strcmp(by->metric, "time_ns") == 0;
    report_take(verdict, answer, r, by->metric, time ? report_error(r) : 0);
    answer->unlike = engine_unlike(engine, r->policy);
    answer->open |= unsettled(r, by->metric);
    if (time && is_part(r) && by->whole)
        verdict_leave_out(answer);
}

static bool is_copy(const struct case_table *table, size_t run)
{
    return table->twice[run] || strcmp(table->set->runs[run].policy, "best fixed") == 0;
}

/* Who wins the cases so far. */
struct tally {
    size_t cases;     /* of several policies */
    size_t *wins;     /* [series]: alone */
    size_t *best;     /* [series]: alone or with others */
    bool differ;      /* those of a case, by less than their errors */
    const char *most; /* the series that does most often */
    size_t most_wins;
    double least;  /* of their leads */
    bool measured; /* all of these have an error */
    bool unlike;   /* one has that of another policy */
    char by[64];   /* the metric that decides all; "": several do */
};

static void count_case(struct tally *tally, const struct case_table *table, const struct verdict *v,
                       const struct verdict_answer *answers, size_t n)
{
    const size_t next = v->tied ? n : v->next;
    char by[64];
    (void)metric_label(v->metric->name, by, sizeof by);
    (void)snprintf(tally->by, sizeof tally->by, "%s", tally->cases++ && strcmp(tally->by, by) != 0 ? "" : by);
    for (size_t s = 0; s < table->series && next < n; s++)
        if (table->series_labels[s] == answers[v->pick].name && ++tally->wins[s] > tally->most_wins) {
            tally->most_wins = tally->wins[s];
            tally->most = table->series_labels[s];
        }
    for (size_t i = 0; i < n && v->pick < n; i++) {
        if (!answers[i].wins)
            continue;
        for (size_t s = 0; s < table->series; s++)
            tally->best[s] += table->series_labels[s] == answers[i].name;
        tally->differ |= answers[i].value.lo != answers[v->pick].value.lo;
        tally->differ |= answers[i].value.hi != answers[v->pick].value.hi;
    }
    if (next < n) {
        tally->least = fmin(tally->least, verdict_margin(v, &answers[v->pick], &answers[next]));
        tally->measured &= answers[v->pick].error > 0;
        tally->unlike |= answers[v->pick].unlike || answers[next].unlike;
    }
}

/* Mark the policies that nothing in the case beats; none where an estimate or a bound may be better. shown: the
 * deciding metric is a column. */
static void judge_case(struct tally *tally, const struct case_table *table, const size_t *list, size_t n,
                       const struct decision_by *by, bool shown, struct verdict_answer *answers,
                       struct report_mark *marks, struct report *report)
{
    const struct metric *metric = engine_metric(table->set->runs[list[0]].engine, by->metric);
    struct verdict v = {.metric = metric ? metric : &unknown_time, .more_is_better = by->more};
    struct verdict_answer copy;
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (!is_copy(table, list[i])) {
            stand(table, list[i], by, &v, &answers[k]);
            *answers[k++].text *= shown;
        }
    verdict_make(&v, answers, k);
    for (size_t i = 0; i < n; i++) {
        stand(table, list[i], by, &v, &copy);
        struct report_mark *mark = &marks[list[i]];
        mark->best = (!v.tied || v.pick < k) && verdict_wins(&v, answers, k, &copy);
        mark->tied = mark->best && v.tied && v.measured;
    }
    if (k < 2)
        return;
    count_case(tally, table, &v, answers, k);
    (void)snprintf(report->answer, sizeof report->answer, "%s", v.say);
}

/* "a and b are the fastest in every case, the same." Whether several are the best of every case. */
static bool say_always(const struct tally *t, const struct case_table *table, struct report *report)
{
    size_t n = 0, said = 0, sometimes = 0;
    for (size_t s = 0; s < table->series; s++) {
        n += t->best[s] == t->cases;
        sometimes += t->best[s] && t->best[s] < t->cases;
    }
    if (n < 2 || n > MOST_SAID)
        return false;
    *report->answer = 0;
    for (size_t s = 0; s < table->series; s++)
        if (t->best[s] == t->cases)
            (void)mem_add_text(report->answer, sizeof report->answer, "%s%s",
                               said++ == 0 ? ""
                               : said == n ? " and "
                                           : ", ",
                               table->series_labels[s]);
    const bool time = strcmp(t->by, "time") == 0;
    (void)mem_add_text(report->answer, sizeof report->answer, " are the %s in every case%s%s, the same%s%s.",
                       time ? "fastest" : "best", time || !*t->by ? "" : " by ", time ? "" : t->by,
                       t->differ ? " within the models' errors" : "", sometimes ? "; in some others too" : "");
    return true;
}

/* Say the tally, unless a verdict of one case says it already. */
static void say_tally(const struct tally *t, const struct case_table *table, bool marks, struct report *report)
{
    if (t->cases < 2 || say_always(t, table, report))
        return;
    if (t->most_wins == t->cases)
        (void)snprintf(report->answer, sizeof report->answer,
                       "%s %s in every case%s%s, at least %.2f times ahead of the next%s.",
                       t->measured ? "Use" : "Best is", t->most, *t->by ? " by " : "", t->by, t->least,
                       verdict_sure(t->measured, t->unlike));
    else
        (void)snprintf(report->answer, sizeof report->answer, "%s%s%s%s%s%s.",
                       t->most ? "No policy is best in every case" : "No case has one best policy",
                       *t->by ? " by " : "", t->by, t->most ? "; most often best: " : "", t->most ? t->most : "",
                       marks ? " ('*': the best of a case, '=': the same within the models' errors)" : "");
}

/* Group the runs in `list` by case; case c begins at first[c]. */
static void sort_by_case(const struct case_table *table, size_t count, size_t *first, size_t *list)
{
    for (size_t i = 0; i < count; i++)
        first[table->row_of[i] + 1]++;
    for (size_t r = 0; r < table->rows; r++)
        first[r + 1] += first[r];
    for (size_t i = count; i-- > 0;)
        list[--first[table->row_of[i] + 1]] = i; /* now first[r + 1] is where r begins */
}

/* Those of the list that are alike in the key set apart as well stand first; returns how many. */
static size_t alike(const struct case_table *table, size_t *list, size_t n)
{
    size_t k = table->apart ? 1 : n;
    for (size_t i = k; i < n; i++)
        if (strcmp(table->apart[list[i]], table->apart[list[0]]) == 0) {
            const size_t run = list[i];
            memmove(&list[k + 1], &list[k], (i - k) * sizeof *list);
            list[k++] = run;
        }
    return k;
}

/* Which runs are the best of their case, by the metric asked for or the first rank that one knows; none that starved;
 * and the report's answer. NULL on failure. */
static struct report_mark *find_best(const struct case_table *table, const struct metrics *shown, const char *asked,
                                     bool pivot, struct report *report, struct err *err)
{
    size_t *first = mem_zalloc(table->rows + 2, sizeof *first, err), *list = NULL;
    struct verdict_answer *values = NULL;
    struct report_mark *best = NULL;
    struct tally tally = {.least = INFINITY, .measured = true};
    const size_t count = table->set->count;
    list = first ? mem_zalloc(count, sizeof *list, err) : NULL;
    values = list ? mem_zalloc(count, sizeof *values, err) : NULL;
    tally.wins = values ? mem_zalloc(2 * table->series + 1, sizeof *tally.wins, err) : NULL;
    tally.best = tally.wins ? tally.wins + table->series : NULL;
    best = tally.wins ? mem_zalloc(count, sizeof *best, err) : NULL;
    if (best)
        sort_by_case(table, count, first, list);
    for (size_t at = 0, n; best && at < count; at += n) {
        const size_t row = table->row_of[list[at]];
        n = alike(table, list + at, (row + 1 < table->rows ? first[row + 2] : count) - at);
        const struct decision_by by = decided_by(table->set, list + at, n, asked);
        if (by.rank == RANKS)
            continue;
        judge_case(&tally, table, list + at, n, &by,
                   pivot ? strcmp(shown->names[0], by.metric) == 0 : is_chosen(shown, by.metric), values, best, report);
    }
    say_tally(&tally, table, !pivot, report);
    free(tally.wins);
    free(first);
    free(list);
    free(values);
    return best;
}

/* A column's name; one that there is already gets its number. */
static int head(struct report *report, size_t column, const char *name, struct err *err)
{
    size_t same = 0;
    for (size_t c = 0; c < column; c++)
        same += strcmp(report->header[c], name) == 0;
    if (!same)
        return (report->header[column] = mem_strdup(name, err)) ? 0 : -1;
    return asprintf(&report->header[column], "%s (column %zu)", name, column + 1) < 0 ? -1 : 0;
}

/* The name of a run's policy; of a best fixed one also which it is. */
static const char *policy_name(const struct case_table *table, size_t run, char *buf, size_t size)
{
    const struct run *runs = table->set->runs;
    const char *name = table->series_labels[table->series_of[run]];
    if (strcmp(runs[run].policy, "best fixed") != 0)
        return name;
    for (size_t i = 0; i < table->set->count; i++)
        if (is_fixed(&runs[i]) && json_equal(runs[i].params, runs[run].params)) {
            (void)snprintf(buf, size, "best %s", table->series_labels[table->series_of[i]]);
            return buf;
        }
    return name;
}

static int plain_row(struct report *report, size_t at, const struct case_table *table, const struct metrics *metrics,
                     size_t run, struct report_mark mark, struct err *err)
{
    struct report_cell *row = &report->cells[at * report->columns];
    const size_t keys = table->key_count, r = table->row_of[run];
    char name[300];
    for (size_t k = 0; k < keys; k++)
        if (text_cell(&row[k], table->texts[r * keys + k], err))
            return -1;
    if (text_cell(&row[keys], policy_name(table, run, name, sizeof name), err))
        return -1;
    row[keys].mark = mark;
    if (report->warned) {
        row[keys + 1].text = run_warnings(&table->set->runs[run]);
        if (!row[keys + 1].text)
            return err_set(err, "out of memory");
    }
    for (size_t m = 0; m < metrics->count; m++)
        row[report->texts + m] = metric_cell(&table->set->runs[run], metrics->names[m]);
    report->run_of[at] = run;
    report->case_of[at] = r;
    return 0;
}

static int plain(struct report *report, const struct case_table *table, const struct metrics *metrics,
                 const struct report_mark *best, struct err *err)
{
    size_t rows = 0;
    for (size_t i = 0; i < table->set->count; i++)
        rows += !table->twice[i];
    const size_t texts = table->key_count + 1 + report->warned;
    int rc = allocate(report, texts + metrics->count, texts, rows, err);
    report->run_of = mem_zalloc(rows, sizeof *report->run_of, err);
    report->case_of = mem_zalloc(rows, sizeof *report->case_of, err);
    rc = rc || !report->run_of || !report->case_of ? -1 : 0;
    for (size_t c = 0; c < report->columns && !rc; c++)
        rc = head(report, c,
                  c < table->key_count    ? table->keys[c]
                  : c == table->key_count ? "policy"
                  : c < texts             ? "warning"
                                          : metrics->names[c - texts],
                  err);
    for (size_t i = 0, at = 0; i < table->set->count && !rc; i++)
        if (!table->twice[i])
            rc = plain_row(report, at++, table, metrics, i, best[i], err);
    return rc;
}

/* --- pivot --- */

/* Runs as rows x columns: by policy a row is a case; by a key it is what remains of a case, under one policy. */
struct pivot {
    const struct case_table *table;
    bool by_policy;
    size_t rows, columns;
    size_t *row_of, *column_of; /* [run] */
    size_t *first;              /* [row]: a run of it */
    const struct run **cells;   /* [row * columns + column] */
    char **names;               /* [column]; borrowed */
};

static void pivot_release(struct pivot *p)
{
    free(p->row_of);
    free(p->column_of);
    free(p->first);
    free((void *)p->cells);
    free((void *)p->names);
}

/* Rows and columns in order of first appearance. */
static int pivot_number(struct pivot *p, struct err *err)
{
    const struct case_table *t = p->table;
    json_t *rows = json_object(), *columns = json_object();
    for (size_t i = 0; i < p->table->set->count; i++) {
        char row[64];
        (void)snprintf(row, sizeof row, "%zu %zu", t->row_of[i], p->by_policy ? 0 : t->series_of[i]);
        const char *column = p->by_policy ? t->series_labels[t->series_of[i]] : t->apart[i];
        if (!json_object_get(rows, row)) {
            p->first[json_object_size(rows)] = i;
            json_tree_put(&rows, row, json_integer((json_int_t)json_object_size(rows)));
        }
        if (!json_object_get(columns, column)) {
            p->names[json_object_size(columns)] = (char *)column;
            json_tree_put(&columns, column, json_integer((json_int_t)json_object_size(columns)));
        }
        p->row_of[i] = (size_t)json_integer_value(json_object_get(rows, row));
        p->column_of[i] = (size_t)json_integer_value(json_object_get(columns, column));
    }
    p->rows = json_object_size(rows);
    p->columns = json_object_size(columns);
    const int rc = json_tree_check(rows, err) || json_tree_check(columns, err) ? -1 : 0;
    json_decref(rows);
    json_decref(columns);
    return rc;
}

static int pivot_init(struct pivot *p, const struct case_table *table, bool by_policy, struct err *err)
{
    const size_t n = table->set->count;
    *p = (struct pivot){.table = table, .by_policy = by_policy};
    p->row_of = mem_zalloc(n, sizeof *p->row_of, err);
    p->column_of = mem_zalloc(n, sizeof *p->column_of, err);
    p->first = mem_zalloc(n, sizeof *p->first, err);
    p->names = mem_zalloc(n, sizeof *p->names, err);
    if (!p->row_of || !p->column_of || !p->first || !p->names || pivot_number(p, err))
        return -1;
    p->cells = mem_zalloc(p->rows * p->columns, sizeof *p->cells, err);
    for (size_t i = 0; p->cells && i < n; i++) {
        const struct run **cell = &p->cells[p->row_of[i] * p->columns + p->column_of[i]];
        if (*cell && !table->twice[i])
            return err_set(err, "two runs of policy %.60s, on %.120s and on %.120s, stand in one cell of this pivot",
                           (*cell)->policy, (*cell)->input, p->table->set->runs[i].input);
        *cell = *cell ? *cell : &p->table->set->runs[i];
    }
    return p->cells ? 0 : -1;
}

static int pivot_rows(struct report *report, const struct pivot *p, const char *metric, struct err *err)
{
    const struct case_table *t = p->table;
    for (size_t r = 0; r < p->rows; r++) {
        struct report_cell *row = &report->cells[r * report->columns];
        for (size_t k = 0; k < t->key_count; k++)
            if (text_cell(&row[k], t->texts[t->row_of[p->first[r]] * t->key_count + k], err))
                return -1;
        if (!p->by_policy && text_cell(&row[t->key_count], t->series_labels[t->series_of[p->first[r]]], err))
            return -1;
        for (size_t c = 0; c < p->columns; c++)
            if (p->cells[r * p->columns + c])
                row[report->texts + c] = metric_cell(p->cells[r * p->columns + c], metric);
    }
    return 0;
}

/* What column c comes to over the rows of a policy (SIZE_MAX: of every row, which all are of that policy). */
static int aggregate_cell(const struct pivot *p, size_t series, size_t c, const char *metric, enum aggregate_how how,
                          struct report_cell *cell, size_t *left_out, struct err *err)
{
    const struct run **runs = mem_zalloc(p->rows, sizeof *runs, err);
    size_t n = 0, left = 0;
    int rc = runs ? 0 : -1;
    *cell = (struct report_cell){0};
    for (size_t r = 0; runs && r < p->rows; r++)
        if (p->cells[r * p->columns + c] && (p->by_policy || p->table->series_of[p->first[r]] == series))
            runs[n++] = p->cells[r * p->columns + c];
    if (n) {
        cell->metric = engine_metric(runs[0]->engine, metric);
        rc = aggregate_runs(how, metric, runs, n, &cell->value, &left, err);
    }
    *left_out += left;
    free((void *)runs);
    return rc;
}

/* One row, by policy; else one for each policy. */
static int pivot_aggregates(struct report *report, const struct pivot *p, const char *metric, enum aggregate_how how,
                            struct err *err)
{
    const struct case_table *t = p->table;
    size_t left_out = 0;
    for (size_t r = p->rows; r < report->rows; r++) {
        struct report_cell *row = &report->cells[r * report->columns];
        const size_t series = r - p->rows;
        for (size_t c = 0; c < p->columns; c++)
            if (aggregate_cell(p, series, c, metric, how, &row[report->texts + c], &left_out, err))
                return -1;
        const char *name = aggregate_name(how, engine_metric(p->table->set->runs[0].engine, metric));
        for (size_t k = 0; k < report->texts; k++)
            if (text_cell(&row[k], k == 0 ? name : k == t->key_count ? t->series_labels[series] : "", err))
                return -1;
    }
    return left_out ? note(report->notes, "%zu runs have no %.60s; the %s is over the others", left_out, metric,
                           aggregate_name(how, engine_metric(p->table->set->runs[0].engine, metric)))
                    : 0;
}

static int pivot(struct report *report, const struct case_table *table, const struct report_options *options,
                 const char *metric, struct err *err)
{
    const bool by_policy = strcmp(options->pivot, "policy") == 0;
    struct pivot p;
    int rc = pivot_init(&p, table, by_policy, err);
    const size_t texts = table->key_count + !by_policy;
    const size_t aggregates = table->key_count == 0 ? 0 : by_policy ? 1 : table->series;
    rc = rc || allocate(report, texts + p.columns, texts, p.rows + aggregates, err) ? -1 : 0;
    for (size_t c = 0; c < report->columns && !rc; c++)
        rc = head(report, c, c < table->key_count ? table->keys[c] : c < texts ? "policy" : p.names[c - texts], err);
    if (!rc)
        rc = pivot_rows(report, &p, metric, err) || pivot_aggregates(report, &p, metric, options->aggregate, err);
    pivot_release(&p);
    return rc ? -1 : 0;
}

/* --- what is to be said --- */

/* Policies that starved, and in how many runs. */
static int note_starved(json_t *notes, const struct run_set *runs)
{
    json_t *counts = json_object(), *count;
    const char *policy;
    char text[400] = "";
    size_t starved = 0;
    for (size_t i = 0; i < runs->count; i++)
        if (run_starved(&runs->runs[i])) {
            policy = runs->runs[i].policy;
            json_int_t so_far = json_integer_value(json_object_get(counts, policy));
            json_tree_put(&counts, policy, json_integer(so_far + 1));
            starved++;
        }
    json_object_foreach(counts, policy, count)(void)
        mem_add_text(text, sizeof text, "%s%s (%lld)", *text ? ", " : "", policy, (long long)json_integer_value(count));
    const bool bad = !counts;
    json_decref(counts);
    return bad ? -1 : starved ? note(notes, "starved, so never the best: %s", text) : 0;
}

static bool any_warns(const struct run_set *runs)
{
    size_t n;
    json_t *said;
    for (size_t i = 0; i < runs->count; i++)
        json_array_foreach(runs->runs[i].notes, n, said) if (run_warning(json_string_value(said))) return true;
    return false;
}

static int divide(struct report *report, struct run_set *runs, const struct report_options *options, struct err *err)
{
    size_t without = 0;
    const bool part = strcmp(options->by, outcome_by_names[OUTCOME_BY_KERNEL]) == 0 ||
                      strcmp(options->by, outcome_by_names[OUTCOME_BY_ALLOCATION]) == 0;
    int rc = part ? run_set_split(runs, options->by, &without, err)
                  : aggregate_inputs(runs, options->by, options->aggregate, NULL, NULL, &without, err);
    if (!rc && !runs->count)
        rc = err_set(err, "no run has a key '%.60s' to report by", options->by);
    return rc || !without ? rc : note(report->notes, "%zu runs have no %.60s and are left out", without, options->by);
}

int report_make(struct report *report, struct run_set *runs, const struct report_options *options, struct err *err)
{
    memset(report, 0, sizeof *report);
    if (!runs->count)
        return err_set(err, "there are no runs to report");
    report->notes = json_array();
    struct metrics metrics;
    struct case_table table = {0};
    const char *list = options->metrics, *apart = options->pivot;
    if (!list && options->pivot && json_object_get(runs->runs[0].metrics, "speedup_ratio"))
        list = "speedup_ratio";
    const bool warns = any_warns(runs);
    report->warned = warns && !apart;
    int rc =
        warns && apart && note(report->notes, "some runs have warnings: a report without --pivot prints them") ? -1 : 0;
    rc = rc || note_starved(report->notes, runs) || run_set_note_foreign(runs, report->notes) ? -1 : 0;
    if (!rc && !options->no_best)
        rc = add_best(runs, err);
    if (!rc && options->by)
        rc = divide(report, runs, options, err);
    if (!rc)
        rc = case_table_make(&table, runs, apart && strcmp(apart, "policy") != 0 ? apart : NULL, err);
    rc = rc || choose_metrics(&metrics, runs, list, options, err) ? -1 : 0;
    struct report_mark *best =
        rc ? NULL : find_best(&table, &metrics, list ? metrics.names[0] : "", apart != NULL, report, err);
    rc = best ? 0 : -1;
    if (!rc && !list && !apart)
        rc = other_metrics(&metrics, runs, false, &report->more, err);
    if (!rc && apart)
        (void)snprintf(report->pivoted, sizeof report->pivoted, "%s", metrics.names[0]);
    if (!rc)
        rc = apart ? pivot(report, &table, options, metrics.names[0], err) : plain(report, &table, &metrics, best, err);
    for (size_t i = 0; i < report->rows * report->columns && !rc; i++)
        report->intervals[i % report->columns] |= report->cells[i].value.interval;
    free(best);
    case_table_release(&table);
    if (rc)
        report_release(report);
    return rc && err && !err->msg[0] ? err_set(err, "out of memory while making a report") : rc;
}

int report_platforms(const struct run_set *runs, json_t *lines)
{
    int rc = 0;
    for (size_t r = 0; r < runs->count && !rc; r++) {
        const char *head = NULL;
        size_t n;
        json_t *said;
        json_array_foreach(runs->runs[r].notes, n, said)
        {
            const char *text = json_string_value(said);
            head = text && platform_use_is_head(text) ? text : head;
        }
        rc = head ? note(lines, "%s", head) : note(lines, "platform %s", runs->runs[r].platform);
    }
    return rc ? rc : run_set_note_limits(runs, lines);
}
