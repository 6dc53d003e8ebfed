/* What a result hinges on: speed-up of policies over a number that a sweep varied, a cost of the platform or the
 * oversubscription. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/figure/figure_uvm.h"
#include "trace/base/mem.h"
#include "trace/base/units.h"

struct text {
    char text[64];
};

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct text *)a)->text, ((const struct text *)b)->text);
}

/* How many values of a setting the runs have. */
static size_t values_of(const struct run_set *set, const char *key)
{
    struct text *texts = mem_zalloc(set->count + 1, sizeof *texts, NULL);
    size_t count = 0, values = 0;
    for (size_t i = 0; texts && i < set->count; i++)
        count += run_key(&set->runs[i], key, texts[count].text, sizeof texts->text) != NULL;
    if (count)
        qsort(texts, count, sizeof *texts, by_text);
    for (size_t i = 0; i < count; i++)
        values += i == 0 || by_text(&texts[i - 1], &texts[i]) != 0;
    free(texts);
    return values;
}

/* The setting with the most values. NULL: none varies. */
static const char *varied(const struct run_set *set)
{
    enum { KEYS = 64 };
    const char *best = NULL, *key, *known[KEYS];
    size_t most = 1, known_count = 0;
    json_t *value;
    for (size_t i = 0; i < set->count; i++)
        json_object_foreach(set->runs[i].settings, key, value)
        {
            size_t k = 0;
            while (k < known_count && strcmp(known[k], key) != 0)
                k++;
            if (k < known_count || known_count == KEYS)
                continue;
            known[known_count++] = key;
            size_t n = values_of(set, key);
            if (n > most) {
                most = n;
                best = key;
            }
        }
    return best;
}

/* A run's place on the x axis. False: it has no number there. */
static bool number_of(const struct run *run, const char *key, double *x)
{
    char text[64];
    int64_t whole;
    if (!run_key(run, key, text, sizeof text))
        return false;
    if (units_parse_real(text, x, NULL) == 0)
        return true;
    if (units_parse_bytes(text, &whole, NULL) && units_parse_ns(text, &whole, NULL))
        return false;
    *x = (double)whole;
    return true;
}

struct line {
    char label[200]; /* case and policy */
};

struct points {
    struct point {
        size_t line;
        double x, y;
    } * items;
    size_t count;
};

static int by_line_and_x(const void *a, const void *b)
{
    const struct point *p = a, *q = b;
    if (p->line != q->line)
        return p->line < q->line ? -1 : 1;
    return (p->x > q->x) - (p->x < q->x);
}

static int collect(const struct run_set *set, const char *key, struct line *lines, size_t *line_count,
                   struct points *points, struct err *err)
{
    points->items = mem_zalloc(set->count, sizeof *points->items, err);
    if (!points->items)
        return -1;
    struct figure_uvm_keys keys;
    figure_uvm_find_keys(&keys, set);
    for (size_t i = 0; i < set->count; i++) {
        const struct run *run = &set->runs[i];
        char text[128], policy[64], label[200];
        double x, y;
        if (strcmp(run->engine, "uvm") != 0 || run->baseline || !number_of(run, key, &x) ||
            !run_metric(run, "speedup_ratio", &y) || !(y > 0))
            continue;
        (void)snprintf(label, sizeof label, "%s, %s", figure_uvm_case(&keys, run, key, text, sizeof text),
                       run_label(set, run, policy, sizeof policy));
        size_t l = 0;
        while (l < *line_count && strcmp(lines[l].label, label) != 0)
            l++;
        if (l == *line_count)
            (void)snprintf(lines[(*line_count)++].label, sizeof label, "%s", label);
        points->items[points->count++] = (struct point){l, x, y};
    }
    if (points->count)
        qsort(points->items, points->count, sizeof *points->items, by_line_and_x);
    return 0;
}

static void draw(FILE *script, const char *key, const struct line *lines, size_t line_count,
                 const struct points *points)
{
    double lo = INFINITY, hi = 0;
    for (size_t l = 0, i = 0; l < line_count; l++) {
        (void)fprintf(script, "$l%zu << EOD\n", l);
        for (; i < points->count && points->items[i].line == l; i++) {
            (void)fprintf(script, "%.9g %.9g\n", points->items[i].x, points->items[i].y);
            lo = fmin(lo, points->items[i].x);
            hi = fmax(hi, points->items[i].x);
        }
        (void)fprintf(script, "EOD\n");
    }
    (void)fprintf(script, "set title 'What the speed-up hinges on'\nset xlabel ");
    plot_quote(script, key);
    (void)fprintf(script,
                  "\nset ylabel 'speed-up over the baseline'\nset logscale y 2\nset format y '%%g'\n"
                  "set key outside right top\n%sset xrange [%.9g:%.9g]\n"
                  "set arrow from graph 0, first 1 to graph 1, first 1 nohead linecolor rgb '#444444'\nplot ",
                  lo > 0 && hi / lo >= 16 ? "set logscale x\n" : "", lo, hi);
    for (size_t l = 0; l < line_count; l++) {
        (void)fprintf(script, "%s$l%zu with linespoints linetype %zu dashtype %zu pointsize 0.7 title ", l ? ", " : "",
                      l, l % 8 + 1, l / 8 % 5 + 1);
        plot_quote(script, lines[l].label);
    }
    (void)fputc('\n', script);
}

static int write_sensitivity(const struct figure_input *input, FILE *script, struct err *err)
{
    const struct run_set *set = input->runs;
    const char *key = varied(set);
    if (!key)
        return err_set(err,
                       "no setting differs between the runs; sweep one, such as --grid service_ns=4000|13000|30000");
    struct line *lines = mem_zalloc(set->count, sizeof *lines, err);
    struct points points = {0};
    size_t line_count = 0;
    int rc = lines ? collect(set, key, lines, &line_count, &points, err) : -1;
    if (rc == 0 && !points.count)
        rc = err_set(err, "no run of the uvm engine has a speed-up and a number for %s", key);
    if (rc == 0)
        draw(script, key, lines, line_count, &points);
    free(points.items);
    free(lines);
    return rc;
}

const struct figure figure_uvm_sensitivity = {"uvm-sensitivity",
                                              "speed-up over the setting or platform number that a sweep varied",
                                              "ours",
                                              FIGURE_RESULTS,
                                              1000,
                                              480,
                                              write_sensitivity};
