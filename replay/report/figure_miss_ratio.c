/* Figure miss-ratio: which share of lookups a cache of rows in GPU memory does not serve, over its size. */
#include <math.h>
#include <stdlib.h>

#include "models/zerocopy/row_cache.h"
#include "replay/report/plot.h"
#include "replay/run/input.h"
#include "replay/zerocopy/zerocopy.h"
#include "trace/base/units.h"

enum { POINTS = 200, CACHES = 3, LEGEND = 2 * CACHES };

static const struct {
    const char *name;
    unsigned colour;
    int dash;
} looks[CACHES] = {{"lru", 0x1F77B4, 1}, {"lfu", 0xD95F02, 2}, {"its own counts", 0x555555, 4}};

/* The curve, from one row on: points apart by a like factor, the last row, and the knee. */
static void put_curve(FILE *script, int cache, const uint64_t *hits, uint32_t distinct, size_t lookups,
                      double row_bytes)
{
    uint32_t last = 0;
    const uint32_t knee = row_cache_knee(hits, distinct);
    (void)fprintf(script, "$c%d << EOD\n", cache);
    for (int i = 0; i <= POINTS; i++) {
        const uint32_t c = (uint32_t)llround(pow(distinct, (double)i / POINTS));
        if (c > last)
            (void)fprintf(script, "%.9g %.6g\n", c * row_bytes / 0x1p20, 1 - (double)hits[c] / (double)lookups);
        last = c;
    }
    (void)fprintf(script, "EOD\n$knee%d << EOD\n%.9g %.6g\nEOD\n", cache, knee * row_bytes / 0x1p20,
                  1 - (double)hits[knee] / (double)lookups);
}

static void put_plot(const struct figure_input *input, FILE *script, double table_bytes, size_t lookups)
{
    char common[200], size[32];
    (void)snprintf(common, sizeof common, "%zu lookups of a table of %s", lookups,
                   units_human_bytes(table_bytes, size, sizeof size));
    plot_title(input, script, "Lookups that a cache of rows does not serve", common);
    (void)fputs("set xlabel 'size of the cache, log scale (MiB)'\nset ylabel 'misses / lookups (ratio)'\n"
                "set logscale x\nset format x '%g'\nset yrange [0:1]\n",
                script);
    plot_legend(input, script, LEGEND, sizeof "knee of its own counts" - 1);
    for (int c = 0; c < CACHES; c++)
        (void)fprintf(script,
                      "%s$c%d using 1:2 with lines linecolor rgb '#%06X' linewidth 2.5 dashtype %d title '%s', $knee%d "
                      "using 1:2 with points linecolor rgb '#%06X' pointtype %d title 'knee of %s'",
                      c ? ", " : "plot ", c, looks[c].colour, looks[c].dash, looks[c].name, c, looks[c].colour,
                      5 + 2 * c, looks[c].name);
    (void)fputc('\n', script);
}

static int write_rows(const struct figure_input *input, const struct scan_setup *s, const uint64_t *lookups, size_t n,
                      FILE *script, struct err *err)
{
    for (int c = 0; c < CACHES; c++) {
        uint32_t distinct;
        uint64_t *hits = row_cache_curve((enum row_cache)c, lookups, n, &distinct, err);
        if (!hits)
            return -1;
        put_curve(script, c, hits, distinct, n, (double)s->row_elements * s->structures[0].element);
        free(hits);
    }
    put_plot(input, script, (double)s->structures[0].elements * s->structures[0].element, n);
    return 0;
}

static int write_figure(const struct figure_input *input, FILE *script, struct err *err)
{
    struct input in;
    struct scan_setup setup;
    uint64_t *lookups = NULL;
    size_t n = 0;
    if (input_open(&in, input->path, "", false, err))
        return -1;
    const struct scan_ops *ops = in.workload.type ? zerocopy_scans_of(&in.workload, &setup) : NULL;
    int rc = ops && setup.shape == SCAN_ROWS
                 ? tier_rows(&setup, ops, in.workload.state, &lookups, &n, err)
                 : err_set(err, "%s gathers no rows; expected synth:embedding,.. or synth:gather,..", input->path);
    if (rc == 0)
        rc = write_rows(input, &setup, lookups, n, script, err);
    free(lookups);
    input_close(&in);
    return rc;
}

const struct figure figure_miss_ratio = {
    .name = "miss-ratio",
    .summary = "lookups that a cache of rows in GPU memory does not serve, over its size",
    .needs = "a program that gathers rows, synth:embedding,..",
    .source = "ours",
    .kinds = FIGURE_SPEC,
    .width = 800,
    .height = 480,
    .write = write_figure,
};
