#include "replay/report/figure_form.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/results/case_table.h"
#include "replay/results/runs.h"
#include "replay/run/aggregate.h"
#include "replay/run/engine.h"
#include "trace/base/mem.h"
#include "trace/base/sorted.h"

/* --- metrics --- */

static int take_metrics(struct figure_form *form, const char *list, struct err *err)
{
    for (const char *p = list; *p;) {
        const size_t n = strcspn(p, ",");
        if (form->metric_count == FORM_METRICS)
            return err_set(err, "more than %d metrics in one figure", FORM_METRICS);
        char *name = form->metrics[form->metric_count++];
        (void)snprintf(name, sizeof form->metrics[0], "%.*s", (int)n, p);
        if (!run_set_has(form->input->runs, name) && !engine_metric(form->engine, name))
            return run_set_lacks(form->input->runs, name, err);
        p += n + (p[n] == ',');
    }
    return form->metric_count ? 0 : err_set(err, "no metric is named");
}

static bool ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

const char *figure_form_name(const char *metric, char *buf, size_t size)
{
    static const char *const units[] = {"_per_s", "_per_kcycle", "_ratio"};
    (void)metric_label(metric, buf, size);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (ends_in(buf, units[i]))
            buf[strlen(buf) - strlen(units[i])] = 0;
    for (char *p = buf; *p; p++)
        if (*p == '_')
            *p = ' ';
    return buf;
}

double figure_form_unit(const struct figure_form *form, const char *metric, double most, const char **name)
{
    static const struct {
        const char *unit;
        double below, divisor;
        const char *name;
    } units[] = {{"ns", 1e6, 1e3, "us"},
                 {"ns", 1e9, 1e6, "ms"},
                 {"ns", INFINITY, 1e9, "s"},
                 {"bytes", 0x1p20, 0x1p10, "KiB"},
                 {"bytes", 0x1p30, 0x1p20, "MiB"},
                 {"bytes", INFINITY, 0x1p30, "GiB"},
                 {"bytes/s", INFINITY, 1e9, "GB/s"},
                 {"1/(1000 cycles)", INFINITY, 1, "per kcycle"}};
    const char *unit = metric_unit(metric);
    const struct metric *m = engine_metric(form->engine, metric);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].unit) == 0 && most < units[i].below) {
            *name = units[i].name;
            return units[i].divisor;
        }
    *name = *unit                                                    ? unit
            : ends_in(metric, "_ratio") || ends_in(metric, "_index") ? "ratio"
            : !m || m->type != METRIC_INT                            ? "number"
            : most < 1e6                                             ? "count"
                                                                     : "millions";
    return strcmp(*name, "millions") == 0 ? 1e6 : 1;
}

bool figure_form_is_gain(const char *metric)
{
    return strcmp(metric, "speedup_ratio") == 0;
}

void figure_form_line_at_one(FILE *script)
{
    (void)fputs("set arrow from graph 0, first 1 to graph 1, first 1 nohead linecolor rgb '#444444'\n", script);
}

bool figure_form_take(struct chart_bar *bar, const struct run *run, const char *metric)
{
    const bool gain = figure_form_is_gain(metric), line = gain && run && run->baseline;
    const bool known = chart_take(bar, line ? NULL : run, metric, 1);
    if (known && gain && bar->lo > 0 && bar->lo < bar->hi)
        bar->value = sqrt(bar->lo * bar->hi);
    return known;
}

/* --- runs --- */

static bool knows_all(const struct figure_form *form, const struct run *run)
{
    double value;
    for (size_t m = 0; m < form->metric_count; m++)
        if (!run_metric(run, form->metrics[m], &value))
            return false;
    return true;
}

/* Each run once. Aggregates are over runs that know every metric; how many do not is said. */
static int take_runs(struct figure_form *form, struct err *err)
{
    const struct run_set *all = form->input->runs;
    struct case_table table = {0};
    size_t missing = 0;
    int rc = case_table_make(&table, all, NULL, err);
    for (size_t i = 0; i < all->count && !rc; i++) {
        const bool known = !form->input->aggregate || knows_all(form, &all->runs[i]);
        missing += !table.twice[i] && !known;
        rc = !table.twice[i] && known ? run_set_add(&form->runs, &all->runs[i], err) : 0;
    }
    case_table_release(&table);
    plot_note_missing(form->input, missing, "they do not have every metric");
    return rc || form->runs.count ? rc : err_set(err, "no run of the %s engine has %s", form->engine, form->metrics[0]);
}

/* Whether a key is one of generated inputs ("synth:bicg,bytes=8MiB"), not a setting. */
static bool is_of_inputs(const struct run_set *runs, const char *key)
{
    char text[100];
    bool any = false;
    (void)snprintf(text, sizeof text, ",%.90s=", key);
    for (size_t i = 0; i < runs->count; i++) {
        any |= strstr(runs->runs[i].input, text) != NULL;
        if (json_object_get(runs->runs[i].settings, key))
            return false;
    }
    return any;
}

static int aggregate(struct figure_form *form, const char *over, struct err *err)
{
    size_t fewest, without;
    form->inputs = 1;
    if (!form->input->aggregate)
        return 0;
    const enum aggregate_how how = (enum aggregate_how)(form->input->aggregate - 1);
    const char *kept = over && is_of_inputs(&form->runs, over) ? over : NULL;
    int rc = aggregate_inputs(&form->runs, kept, how, &fewest, &form->inputs, &without, err);
    plot_note_missing(form->input, without, "their inputs lack the key of the axis");
    if (!rc && fewest != form->inputs)
        rc = note(form->input->notes, "not all are over the same inputs: %zu to %zu", fewest, form->inputs);
    return rc;
}

static int by_number(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    double p, q;
    const bool x_number = case_keys_number(x, &p), y_number = case_keys_number(y, &q);
    if (!x_number || !y_number)
        return x_number != y_number ? y_number - x_number : strcmp(x, y);
    return p != q ? (p > q) - (p < q) : strcmp(x, y);
}

static int find_values(struct figure_form *form, struct err *err)
{
    const struct case_table *t = &form->table;
    form->value_count = 1;
    if (!t->apart)
        return 0;
    form->values = mem_zalloc(form->runs.count, sizeof *form->values, err);
    if (!form->values)
        return -1;
    memcpy((void *)form->values, (const void *)t->apart, form->runs.count * sizeof *form->values);
    sort_items((void *)form->values, form->runs.count, sizeof *form->values, by_number);
    for (size_t i = 1; i < form->runs.count; i++)
        if (strcmp(form->values[i], form->values[form->value_count - 1]) != 0)
            form->values[form->value_count++] = form->values[i];
    return 0;
}

static int place(struct figure_form *form, struct err *err)
{
    const struct case_table *t = &form->table;
    if (find_values(form, err))
        return -1;
    form->at = mem_zalloc(t->rows * t->series * form->value_count, sizeof *form->at, err);
    for (size_t i = 0; form->at && i < form->runs.count; i++) {
        size_t v = 0;
        while (t->apart && strcmp(form->values[v], t->apart[i]) != 0)
            v++;
        form->at[(t->row_of[i] * t->series + t->series_of[i]) * form->value_count + v] = &form->runs.runs[i];
    }
    return form->at ? 0 : -1;
}

int figure_form_init(struct figure_form *form, const struct figure_input *input, const char *metric, const char *over,
                     struct err *err)
{
    char rank[64];
    bool more;
    *form = (struct figure_form){.input = input, .engine = input->runs->runs[0].engine};
    (void)engine_rank(engine_of_results(form->engine), 0, rank, sizeof rank, &more);
    const char *list = input->metrics ? input->metrics : metric ? metric : rank;
    int rc = take_metrics(form, list, err) || take_runs(form, err) || aggregate(form, over, err) ||
                     case_table_make(&form->table, &form->runs, over, err) || style_sort(&form->table, err) ||
                     place(form, err)
                 ? -1
                 : 0;
    if (rc)
        figure_form_release(form);
    return rc;
}

void figure_form_release(struct figure_form *form)
{
    free((void *)form->at);
    free((void *)form->values);
    case_table_release(&form->table);
    run_set_release(&form->runs);
    *form = (struct figure_form){0};
}

/* --- texts --- */

char *figure_form_label(const struct figure_form *form, size_t line)
{
    const struct case_table *t = &form->table;
    const char *policy = t->series > 1 || t->rows < 2 ? t->series_labels[line % t->series] : "";
    const char *row = t->rows > 1 ? t->row_labels[line / t->series] : "";
    return mem_format("%s%s%s", policy, *policy && *row ? ", " : "", row);
}

int figure_form_check(const struct figure_form *form, const char *metric, size_t drawn, struct err *err)
{
    size_t missing = 0;
    double value;
    for (size_t i = 0; i < form->runs.count; i++)
        missing += !run_metric(&form->runs.runs[i], metric, &value) &&
                   !(figure_form_is_gain(metric) && form->runs.runs[i].baseline);
    if (missing)
        (void)note(form->input->notes, "%zu of %zu runs are not drawn: they have no %s", missing, form->runs.count,
                   metric);
    plot_note_unbound(form->input, metric);
    return drawn ? 0 : err_set(err, "no run of the %s engine has %s to draw", form->engine, metric);
}

/* The policy that all speed-ups are over, or "the baseline". */
static const char *baseline_of(const struct run_set *runs)
{
    const char *name = NULL;
    for (size_t i = 0; i < runs->count; i++) {
        const char *policy = json_string_value(json_object_get(runs->runs[i].relative_to, "policy"));
        if (!policy || (name && strcmp(name, policy) != 0))
            return "the baseline";
        name = policy;
    }
    return name ? name : "the baseline";
}

void figure_form_ylabel(const struct figure_form *form, FILE *script, const char *metric, const char *what, bool log,
                        const char *unit, bool narrow)
{
    const bool gain = figure_form_is_gain(metric);
    (void)fputs("set ylabel \"\".", script);
    plot_quote(script, gain ? "speed-up over " : what);
    (void)fputc('.', script);
    plot_quote(script, gain ? baseline_of(form->input->runs) : "");
    if (form->inputs > 1)
        (void)fprintf(
            script, ".\",\\n%s over %zu inputs\"",
            aggregate_name((enum aggregate_how)(form->input->aggregate - 1), engine_metric(form->engine, metric)),
            form->inputs);
    (void)fprintf(script, ".\"%s%s%s(%s)\"\n%s", log ? "," : "",
                  narrow ? "\\n"
                  : log  ? " "
                         : "",
                  log      ? "log scale "
                  : narrow ? ""
                           : " ",
                  unit, narrow ? "set ylabel offset -0.8,0\n" : "");
}
