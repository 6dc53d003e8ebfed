/* Figures of the uvm engine from results: speed-up, locality and granularity, case by case. A case is an input with its
 * settings; runs of one case are comparable. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/figure/figure_uvm.h"
#include "trace/base/mem.h"
#include "trace/base/units.h"

/* The runs of the uvm engine as a table: cases down, policies across. */
struct grid {
    const struct run_set *set;
    char (*cases)[128];
    char (*policies)[128];
    size_t case_count, policy_count;
    const struct run **cells; /* [case * policy_count + policy]; NULL: no such run */
};

bool figure_uvm_differs(const struct run_set *set, const char *key)
{
    char first[128] = "", text[128];
    bool any = false;
    for (size_t i = 0; i < set->count; i++) {
        const char *value = run_key(&set->runs[i], key, text, sizeof text);
        if (any && strcmp(first, value ? value : "") != 0)
            return true;
        (void)snprintf(first, sizeof first, "%s", value ? value : "");
        any = true;
    }
    return false;
}

enum { OF_INPUT = 4 };
static const char *const of_input[OF_INPUT] = {"kernel", "pattern", "bytes", "platform"};

static bool among(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

void figure_uvm_find_keys(struct figure_uvm_keys *keys, const struct run_set *set)
{
    enum { KEYS = sizeof keys->names / sizeof *keys->names };
    struct figure_uvm_keys seen = {.count = OF_INPUT};
    const char *key;
    json_t *value;
    memcpy(seen.names, of_input, sizeof of_input);
    for (size_t i = 0; i < set->count; i++) {
        json_object_foreach(set->runs[i].settings, key, value)
        {
            if (seen.count < KEYS && !among(seen.names, seen.count, key))
                seen.names[seen.count++] = key;
        }
    }
    keys->count = 0;
    for (size_t k = 0; k < seen.count; k++)
        if (figure_uvm_differs(set, seen.names[k]))
            keys->names[keys->count++] = seen.names[k];
}

const char *figure_uvm_case(const struct figure_uvm_keys *keys, const struct run *run, const char *skip, char *label,
                            size_t size)
{
    char text[128];
    const char *key;
    json_t *value;
    size_t used = (size_t)snprintf(label, size, "%s", run_workload(run, text, sizeof text));
    for (size_t k = 0; k < OF_INPUT && used < size; k++)
        if (strcmp(of_input[k], skip) != 0 && among(keys->names, keys->count, of_input[k]) &&
            run_key(run, of_input[k], text, sizeof text))
            used += (size_t)snprintf(label + used, size - used, " %s", text);
    json_object_foreach(run->settings, key, value)
    {
        if (used >= size || strcmp(key, skip) == 0 || !among(keys->names, keys->count, key) ||
            !run_key(run, key, text, sizeof text))
            continue;
        if (strcmp(key, "oversubscription_pct") != 0)
            used += (size_t)snprintf(label + used, size - used, " %s=%s", key, text);
        else if (strcmp(text, "0") == 0)
            used += (size_t)snprintf(label + used, size - used, " fits");
        else
            used += (size_t)snprintf(label + used, size - used, " %s %%", text);
    }
    return label;
}

static void grid_release(struct grid *grid)
{
    free(grid->cases);
    free(grid->policies);
    free(grid->cells);
}

static size_t find_or_add(char *names, size_t width, size_t *count, const char *name)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(names + i * width, name) == 0)
            return i;
    (void)snprintf(names + *count * width, width, "%s", name);
    return (*count)++;
}

static int grid_make(struct grid *grid, const struct run_set *set, struct err *err)
{
    size_t n = set->count ? set->count : 1;
    *grid = (struct grid){.set = set};
    grid->cases = mem_zalloc(n, sizeof *grid->cases, err);
    grid->policies = grid->cases ? mem_zalloc(n, sizeof *grid->policies, err) : NULL;
    size_t *at = grid->policies ? mem_zalloc(n, 2 * sizeof *at, err) : NULL;
    if (!at) {
        grid_release(grid);
        return -1;
    }
    size_t kept = 0;
    struct figure_uvm_keys keys;
    figure_uvm_find_keys(&keys, set);
    for (size_t i = 0; i < set->count; i++) {
        char label[128];
        if (strcmp(set->runs[i].engine, "uvm") != 0)
            continue;
        (void)figure_uvm_case(&keys, &set->runs[i], "", label, sizeof label);
        at[2 * i] = find_or_add(grid->cases[0], sizeof grid->cases[0], &grid->case_count, label);
        (void)run_label(set, &set->runs[i], label, sizeof label);
        at[2 * i + 1] = find_or_add(grid->policies[0], sizeof grid->policies[0], &grid->policy_count, label);
        kept++;
    }
    grid->cells = mem_zalloc(grid->case_count * grid->policy_count, sizeof(struct run *), err);
    for (size_t i = 0; grid->cells && i < set->count; i++)
        if (strcmp(set->runs[i].engine, "uvm") == 0)
            grid->cells[at[2 * i] * grid->policy_count + at[2 * i + 1]] = &set->runs[i];
    free(at);
    if (!grid->cells || !kept) {
        int rc = grid->cells ? err_set(err, "the results hold no run of the uvm engine") : -1;
        grid_release(grid);
        return rc;
    }
    return 0;
}

static const struct run *cell(const struct grid *grid, size_t c, size_t p)
{
    return grid->cells[c * grid->policy_count + p];
}

/* The run the others of a case are compared with: the marked one, else `tree`, else the first. */
static const struct run *baseline(const struct grid *grid, size_t c)
{
    const struct run *tree = NULL, *first = NULL;
    for (size_t p = 0; p < grid->policy_count; p++) {
        const struct run *run = cell(grid, c, p);
        if (!run)
            continue;
        if (run->baseline)
            return run;
        if (!tree && strcmp(run->policy, "tree") == 0)
            tree = run;
        first = first ? first : run;
    }
    return tree ? tree : first;
}

/* Speed-up with its bounds (equal where it is one number). False where times are unknown. */
static bool speedup(const struct grid *grid, size_t c, const struct run *run, double v[3])
{
    double base, time;
    if (run_metric(run, "speedup_ratio", &v[0])) {
        v[1] = v[2] = v[0];
        if (run_interval(run, "speedup_ratio", &v[1], &v[2]))
            v[0] = sqrt(v[1] * v[2]);
        return v[0] > 0;
    }
    const struct run *b = baseline(grid, c);
    if (!b || !run_metric(b, "time_ns", &base) || !run_metric(run, "time_ns", &time) || time <= 0 || base <= 0)
        return false;
    v[0] = v[1] = v[2] = base / time;
    return true;
}

/* The policy all cases are compared with, or "the baseline". */
static const char *baseline_name(const struct grid *grid, char *buf, size_t size)
{
    (void)snprintf(buf, size, "the baseline");
    for (size_t c = 0; c < grid->case_count; c++) {
        char label[96];
        const struct run *b = baseline(grid, c);
        if (!b)
            continue;
        (void)run_label(grid->set, b, label, sizeof label);
        if (c && strcmp(label, buf) != 0) {
            (void)snprintf(buf, size, "the baseline");
            break;
        }
        (void)snprintf(buf, size, "%s", label);
    }
    return buf;
}

/* A label of an axis, where gnuplot reads % as a format. */
static void tic_label(FILE *script, const char *text)
{
    char escaped[260];
    size_t n = 0;
    for (; *text && n + 2 < sizeof escaped; text++) {
        if (*text == '%')
            escaped[n++] = '%';
        escaped[n++] = *text;
    }
    escaped[n] = 0;
    plot_quote(script, escaped);
}

/* The title, and below it what all runs have in common. */
static void title(FILE *script, const struct run_set *set, const char *what)
{
    static const char *const keys[] = {"platform", "bytes", "oversubscription_pct"};
    char text[128], line[400];
    size_t used = 0;
    line[0] = 0;
    for (size_t k = 0; k < 3 && set->count; k++)
        if (!figure_uvm_differs(set, keys[k]) && run_key(&set->runs[0], keys[k], text, sizeof text) && *text)
            used += (size_t)snprintf(line + used, sizeof line - used,
                                     k < 2               ? "%s%s"
                                     : strcmp(text, "0") ? "%sfootprint %s %% of memory"
                                                         : "%smemory sufficient%.0s",
                                     used ? ", " : "", text);
    (void)fprintf(script, "set title '%s'.\"\\n\".", what);
    plot_quote(script, line);
    (void)fputc('\n', script);
}

static void case_tics(FILE *script, const struct grid *grid)
{
    (void)fprintf(script, "set xtics (");
    for (size_t c = 0; c < grid->case_count; c++) {
        (void)fputs(c ? ", " : "", script);
        tic_label(script, grid->cases[c]);
        (void)fprintf(script, " %zu", c);
    }
    (void)fprintf(script, ")%s\nset xrange [-0.6:%zu.6]\n", grid->case_count > 6 ? " rotate by -35" : "",
                  grid->case_count - 1);
    for (size_t c = 1; c < grid->case_count; c++)
        (void)fprintf(script, "set arrow from %g, graph 0 to %g, graph 1 nohead linecolor rgb '#eeeeee' back\n",
                      (double)c - 0.5, (double)c - 0.5);
}

/* Left edge and width of the bar of policy p. */
static double bar_at(const struct grid *grid, size_t c, size_t p, double *width)
{
    *width = 0.84 / (double)grid->policy_count;
    return (double)c - 0.42 + *width * (double)p;
}

/* Bars of policy p as data blocks $p and $i (its intervals). Whether a bar differs from 1. */
static bool speedup_data(FILE *script, const struct grid *grid, size_t p)
{
    bool any = false;
    (void)fprintf(script, "$p%zu << EOD\n", p);
    for (int intervals = 0; intervals < 2; intervals++) {
        for (size_t c = 0; c < grid->case_count; c++) {
            const struct run *run = cell(grid, c, p);
            double v[3], width, left = bar_at(grid, c, p, &width);
            if (!run || run == baseline(grid, c) || !speedup(grid, c, run, v))
                continue;
            any = true;
            if (!intervals)
                (void)fprintf(script, "%.6g %.9g %.6g %.6g\n", left + width / 2, v[0], left, left + width * 0.92);
            else if (v[1] < v[2])
                (void)fprintf(script, "%.6g %.9g %.9g\n", left + width / 2, v[1], v[2] - v[1]);
        }
        (void)fprintf(script, intervals ? "NaN NaN NaN\nEOD\n" : "NaN NaN NaN NaN\nEOD\n$i%zu << EOD\n", p);
    }
    return any;
}

static int write_speedup(const struct figure_input *input, FILE *script, struct err *err)
{
    struct grid grid;
    char name[128];
    if (grid_make(&grid, input->runs, err))
        return -1;
    bool *any = mem_zalloc(grid.policy_count, sizeof *any, err);
    size_t drawn = 0;
    for (size_t p = 0; any && p < grid.policy_count; p++)
        drawn += any[p] = speedup_data(script, &grid, p);
    if (drawn) {
        (void)fprintf(script,
                      "set logscale y 2\nset ylabel \"speed-up over %s\"\nset key outside right top\n"
                      "set style fill solid 0.9 noborder\nset format y '%%g'\n",
                      baseline_name(&grid, name, sizeof name));
        title(script, grid.set, "Speed-up of prefetch policies: bars start at 1, black lines are intervals");
        case_tics(script, &grid);
        (void)fprintf(script, "set arrow from graph 0, first 1 to graph 1, first 1 nohead linecolor rgb '#444444'\n"
                              "plot ");
    }
    for (size_t p = 0, n = 0; drawn && p < grid.policy_count; p++) {
        if (!any[p])
            continue;
        (void)fprintf(script, "%s$p%zu using 1:(1):3:4:(1):2 with boxxyerror linetype %zu title ", n++ ? ", " : "", p,
                      p % 8 + 1);
        plot_quote(script, grid.policies[p]);
        (void)fprintf(script, ", $i%zu using 1:2:(0):3 with vectors nohead linetype 8 linewidth 1.5 notitle", p);
    }
    (void)fputc('\n', script);
    grid_release(&grid);
    int rc = drawn ? 0 : any ? err_set(err, "no run of the uvm engine has a time to compare") : -1;
    free(any);
    return rc;
}

int figure_uvm_locality_results(const struct figure_input *input, FILE *script, struct err *err)
{
    struct grid grid;
    if (grid_make(&grid, input->runs, err))
        return -1;
    size_t drawn = 0;
    for (size_t p = 0; p < grid.policy_count; p++) {
        (void)fprintf(script, "$p%zu << EOD\n", p);
        for (size_t c = 0; c < grid.case_count; c++) {
            const struct run *run = cell(&grid, c, p);
            double q1, median, q3, width, left = bar_at(&grid, c, p, &width);
            if (!run || !run_metric(run, "r_p25", &q1) || !run_metric(run, "r_median", &median) ||
                !run_metric(run, "r_p75", &q3) || median <= 0)
                continue;
            double thin = q3 / q1 < 1.04 ? 1.02 : 1; /* a box of no height would not be seen */
            (void)fprintf(script, "%.6g %.9g %.9g %.9g %.6g %.6g\n", left + width / 2, median, q1 / thin, q3 * thin,
                          left, left + width * 0.92);
            drawn++;
        }
        (void)fprintf(script, "NaN NaN NaN NaN NaN NaN\nEOD\n");
    }
    if (drawn) {
        title(script, grid.set, "Locality of fault batches: quartiles over windows of 20 batches");
        (void)fprintf(script, "set logscale y\nset ylabel 'R: distinct VA blocks / batches'\n"
                              "set key outside right top\nset style fill solid 0.6 noborder\nset format y '%%g'\n");
        case_tics(script, &grid);
        (void)fprintf(script, "plot ");
        for (size_t p = 0; p < grid.policy_count; p++) {
            (void)fprintf(script, "%s$p%zu using 1:2:5:6:3:4 with boxxyerror linetype %zu title ", p ? ", " : "", p,
                          p % 8 + 1);
            plot_quote(script, grid.policies[p]);
            (void)fprintf(script, ", $p%zu using 5:2:($6-$5):(0) with vectors nohead linetype 8 linewidth 2 notitle",
                          p);
        }
        (void)fputc('\n', script);
    }
    grid_release(&grid);
    return drawn ? 0 : err_set(err, "no run of the uvm engine has r_median; recordings give it for their own policy");
}

/* Granularity of a run of `fixed` (or `none`), in bytes; 0: it has none. */
static double granularity(const struct run *run)
{
    char text[64];
    int64_t bytes;
    if (strcmp(run->policy, "none") == 0)
        return 4096;
    if (strcmp(run->policy, "fixed") != 0 || !run_key(run, "granularity", text, sizeof text) ||
        units_parse_bytes(text, &bytes, NULL))
        return 0;
    return (double)bytes;
}

enum { OTHER_POLICIES = 4 };

/* What stands right of the granularities: up to four other policies. Their names' positions. */
static size_t others(const struct grid *grid, size_t at[OTHER_POLICIES])
{
    size_t n = 0;
    for (size_t p = 0; p < grid->policy_count && n < OTHER_POLICIES; p++)
        for (size_t c = 0; c < grid->case_count; c++)
            if (cell(grid, c, p) && granularity(cell(grid, c, p)) == 0 && cell(grid, c, p) != baseline(grid, c)) {
                at[n++] = p;
                break;
            }
    return n;
}

static void granularity_data(FILE *script, const struct grid *grid, const size_t *other, size_t other_count,
                             size_t *drawn)
{
    double v[3];
    for (size_t c = 0; c < grid->case_count; c++) {
        (void)fprintf(script, "$c%zu << EOD\n", c);
        for (int level = 12; level <= 21; level++)
            for (size_t p = 0; p < grid->policy_count; p++) {
                const struct run *run = cell(grid, c, p);
                if (!run || granularity(run) != (double)(1 << level) || !speedup(grid, c, run, v))
                    continue;
                (void)fprintf(script, "%d %.9g %.9g %.9g\n", level, v[0], v[1], v[2]);
                ++*drawn;
                break; /* fixed at 4 KiB and none are the same */
            }
        (void)fprintf(script, "NaN NaN NaN NaN\nEOD\n$o%zu << EOD\n", c);
        for (size_t i = 0; i < other_count; i++)
            if (cell(grid, c, other[i]) && speedup(grid, c, cell(grid, c, other[i]), v))
                (void)fprintf(script, "%zu %.9g %.9g %.9g\n", 23 + i, v[0], v[1], v[2]);
        (void)fprintf(script, "NaN NaN NaN NaN\nEOD\n");
    }
}

/* Colour by workload, dashes by the case of that workload. */
static void line_style(const struct grid *grid, size_t c, size_t *linetype, size_t *dashtype)
{
    size_t n = strcspn(grid->cases[c], " ");
    *linetype = 1;
    *dashtype = 1;
    for (size_t k = 0; k < c; k++) {
        if (strncmp(grid->cases[k], grid->cases[c], n + 1) == 0) {
            ++*dashtype;
            continue;
        }
        bool first = true;
        for (size_t j = 0; j < k; j++)
            first &= strncmp(grid->cases[j], grid->cases[k], strcspn(grid->cases[k], " ") + 1) != 0;
        *linetype += first;
    }
    *linetype = (*linetype - 1) % 8 + 1;
    *dashtype = (*dashtype - 1) % 5 + 1;
}

static int write_granularity(const struct figure_input *input, FILE *script, struct err *err)
{
    struct grid grid;
    char name[96];
    if (grid_make(&grid, input->runs, err))
        return -1;
    size_t other[OTHER_POLICIES], n = others(&grid, other), drawn = 0;
    granularity_data(script, &grid, other, n, &drawn);
    title(script, grid.set, "Speed-up by migration granularity");
    (void)fprintf(script,
                  "set logscale y 2\nset format y '%%g'\n"
                  "set ylabel \"speed-up over %s\"\nset xrange [11.5:%zu.5]\nset key outside right top\n"
                  "set xtics ('4 KiB' 12, '16 KiB' 14, '64 KiB' 16, '128 KiB' 17, '256 KiB' 18, '512 KiB' 19, "
                  "'1 MiB' 20, '2 MiB' 21",
                  baseline_name(&grid, name, sizeof name), n ? 22 + n : 21);
    for (size_t i = 0; i < n; i++) {
        (void)fputs(", ", script);
        tic_label(script, grid.policies[other[i]]);
        (void)fprintf(script, " %zu", 23 + i);
    }
    (void)fprintf(script, ") rotate by -35\n"
                          "set arrow from graph 0, first 1 to graph 1, first 1 nohead linecolor rgb '#444444'\nplot ");
    for (size_t c = 0; c < grid.case_count; c++) {
        size_t linetype, dashtype;
        line_style(&grid, c, &linetype, &dashtype);
        (void)fprintf(script, "%s$c%zu using 1:2:3:4 with yerrorlines linetype %zu dashtype %zu title ", c ? ", " : "",
                      c, linetype, dashtype);
        plot_quote(script, grid.cases[c]);
        (void)fprintf(script, ", $o%zu using 1:2:3:4 with yerrorbars linetype %zu notitle", c, linetype);
    }
    (void)fputc('\n', script);
    grid_release(&grid);
    return drawn ? 0 : err_set(err, "no run of policy fixed has a time; run it with several values of granularity");
}

const struct figure figure_uvm_speedup = {"uvm-speedup",
                                          "speed-up of prefetch policies over the baseline, case by case",
                                          "lee-2026, figures 3 and 4",
                                          FIGURE_RESULTS,
                                          1000,
                                          480,
                                          write_speedup};
const struct figure figure_uvm_granularity = {"uvm-granularity",
                                              "speed-up over the migration granularity, one line per case",
                                              "lee-2026, figure 3, with the granularities between",
                                              FIGURE_RESULTS,
                                              1000,
                                              480,
                                              write_granularity};
