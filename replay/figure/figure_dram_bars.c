#include "replay/figure/figure_dram_bars.h"

#include <stdlib.h>
#include <string.h>

#include "replay/figure/style.h"
#include "replay/results/case_keys.h"
#include "replay/results/note.h"
#include "replay/run/aggregate.h"
#include "replay/run/engine.h"
#include "trace/base/mem.h"

void dram_bars_release(struct dram_bars *bars)
{
    free((void *)bars->at);
    free((void *)bars->values);
    case_table_release(&bars->table);
    run_set_release(&bars->runs);
}

/* Runs that know all these metrics; how many do not is said. */
static int take_known(struct run_set *runs, const struct figure_input *input, const char *const *metrics, size_t n,
                      struct err *err)
{
    size_t missing = 0;
    int rc = 0;
    for (size_t i = 0; i < input->runs->count && !rc; i++) {
        bool known = true;
        for (size_t m = 0; m < n && known; m++) {
            double value;
            known = run_metric(&input->runs->runs[i], metrics[m], &value);
        }
        if (input->cases->twice[i])
            continue;
        missing += !known;
        if (known)
            rc = run_set_add(runs, &input->runs->runs[i], err);
    }
    if (!rc && missing)
        rc = note(input->notes, "%zu of %zu runs are not drawn: they have no %s (a side starved, or there is but one)",
                  missing, input->runs->count, metrics[0]);
    return rc || runs->count ? rc : err_set(err, "no run of the dram engine has %s", metrics[0]);
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

static int index_bars(struct dram_bars *bars, struct err *err)
{
    const struct case_table *t = &bars->table;
    bars->values = mem_zalloc(bars->runs.count, sizeof *bars->values, err);
    if (!bars->values)
        return -1;
    for (size_t i = 0; t->apart && i < bars->runs.count; i++)
        bars->values[i] = t->apart[i];
    if (t->apart)
        qsort(bars->values, bars->runs.count, sizeof *bars->values, by_number);
    for (size_t i = 0; t->apart && i < bars->runs.count; i++)
        if (i == 0 || strcmp(bars->values[i], bars->values[bars->value_count - 1]) != 0)
            bars->values[bars->value_count++] = bars->values[i];
    bars->value_count += !t->apart;
    bars->at = mem_zalloc(t->rows * t->series * bars->value_count, sizeof *bars->at, err);
    for (size_t i = 0; bars->at && i < bars->runs.count; i++) {
        size_t v = 0;
        while (t->apart && strcmp(bars->values[v], t->apart[i]) != 0)
            v++;
        bars->at[(t->row_of[i] * t->series + t->series_of[i]) * bars->value_count + v] = &bars->runs.runs[i];
    }
    return bars->at ? 0 : -1;
}

int dram_bars_init(struct dram_bars *bars, const struct figure_input *input, const char *const *metrics, size_t n,
                   const char *apart, bool as_given, struct err *err)
{
    *bars = (struct dram_bars){0};
    size_t without;
    int rc = take_known(&bars->runs, input, metrics, n, err);
    if (!rc)
        rc = aggregate_inputs(&bars->runs, NULL, AGGREGATE_DECLARED, &bars->fewest, &bars->most, &without, err);
    if (!rc)
        rc = case_table_make(&bars->table, &bars->runs, apart, err) || (!as_given && style_sort(&bars->table, err)) ||
                     index_bars(bars, err)
                 ? -1
                 : 0;
    if (!rc && bars->fewest != bars->most)
        rc = note(input->notes, "not every bar is over the same inputs: of %zu to %zu", bars->fewest, bars->most);
    if (rc)
        dram_bars_release(bars);
    return rc;
}

const char *dram_bars_channels(const struct figure_input *input)
{
    char text[32];
    for (size_t i = 0; i < input->runs->count; i++)
        if (run_key(&input->runs->runs[i], "vcs", text, sizeof text))
            return "vcs";
    return NULL;
}

char *dram_bars_label(const struct dram_bars *bars, size_t bar, const char *more, const char *value)
{
    const struct case_table *t = &bars->table;
    char *label = NULL;
    const char *row = t->rows > 1 ? t->row_labels[bar / t->series] : "";
    return asprintf(&label, "%s%s%s%s%s", t->series_labels[bar % t->series], *row ? " " : "", row, more, value) < 0
               ? NULL
               : label;
}

char *dram_bars_metric(const struct dram_bars *bars, const char *title, const char *metric)
{
    char *text = NULL;
    const char *how = aggregate_name(AGGREGATE_DECLARED, engine_metric("dram", metric));
    return asprintf(&text, "%s%s%s", title, bars->most > 1 ? ", " : "", bars->most > 1 ? how : "") < 0 ? NULL : text;
}

void dram_bars_axis(FILE *script, const struct dram_bars *bars, const char *what, const char *metric, const char *unit)
{
    (void)fprintf(script, "set ylabel \"%s", what);
    if (bars->most > 1)
        (void)fprintf(script, ",\\n%s%sover %zu inputs",
                      metric ? aggregate_name(AGGREGATE_DECLARED, engine_metric("dram", metric)) : "",
                      metric ? " " : "", bars->most);
    (void)fprintf(script, " (%s)\"\n", unit);
}
