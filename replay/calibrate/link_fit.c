#include "replay/calibrate/link_fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/calibrate/fit.h"
#include "trace/base/mem.h"
#include "trace/base/units.h"
#include "trace/derived/limits.h"
#include "trace/import/field.h"
#include "trace/store/store.h"

enum { ROUNDS = 200, HALVINGS = 30 };

double link_row_ns(const struct link_costs *p, const struct gpu *gpu, const struct link_row *row,
                   enum link_bound *bound)
{
    enum link_bound most;
    if (link_row_is_copy(row))
        return link_copy_ns(&p->pcie, row->copy_bytes, row->copies);
    struct link_launch launch = row->launch;
    launch.chain_ns = row->chain_loads * p->pcie.load_ns;
    double work = link_time_ns(&p->pcie, gpu, &launch, bound ? bound : &most); /* proportional to the counts */
    return launch_row_ns(&p->launch, row->launches, work);
}

double *link_cost_number(struct link_costs *costs, enum link_cost which)
{
    struct pcie *p = &costs->pcie;
    double *const numbers[LINK_COSTS] = {[COST_WIRE] = &p->efficiency,
                                         [COST_TAGS] = &p->round_trip_ns,
                                         [COST_HOST] = &p->host_bytes_per_s,
                                         [COST_LOAD] = &p->load_ns,
                                         [COST_LAUNCH] = &costs->launch.alone_ns,
                                         [COST_GAP] = &costs->launch.gap_ns,
                                         [COST_FURTHER] = &p->further_ns,
                                         [COST_JUMP] = &p->jump_ns,
                                         [COST_WALK] = &p->walk_ns,
                                         [COST_REACH] = &p->reach_bytes};
    return numbers[which];
}

static void put(struct link_costs *costs, enum link_cost which, double cost)
{
    struct pcie *p = &costs->pcie;
    if (which == COST_TAGS && !p->tags)
        p->tags = 256;
    *link_cost_number(costs, which) = which == COST_WIRE   ? 1e9 / (cost * pcie_raw_bytes_per_s(p))
                                      : which == COST_TAGS ? cost * (double)p->tags
                                      : which == COST_HOST ? (cost > 0 ? 64e9 / cost : 0)
                                                           : cost;
}

/* Multiplier of a cost in one row: time = cost x this where nothing else counts. */
static double paid_for(const struct link_fit *fit, const struct link_row *row, enum link_cost which)
{
    const struct link_launch *l = &row->launch;
    double n = (double)mix_requests(&l->mix), warps = l->resident_warps;
    if (warps <= 0)
        warps = (double)(fit->gpu->sms * fit->gpu->warps_per_sm);
    switch (which) {
    case COST_WIRE:
        return fmax((double)mix_payload(&l->mix) + (double)fit->to.pcie.completion_bytes * n,
                    (double)fit->to.pcie.request_bytes * n);
    case COST_TAGS:
        return n;
    case COST_HOST:
        return (double)l->mix.host_lines;
    case COST_LOAD:
        return fmax(row->chain_loads, l->loads / (warps * fmax(1, l->loads_at_once)));
    case COST_FURTHER:
        return l->loads > 0 ? (n - l->loads) / (warps * fmax(1, l->loads_at_once)) : 0;
    case COST_JUMP:
    case COST_WALK:
        return l->jumps;
    case COST_GAP:
        return row->launches - 1;
    default:
        return 1;
    }
}

struct problem {
    struct link_fit *fit;
    const struct link_row *rows;
    const bool *held;
    size_t n;
    enum link_cost costs[LINK_COSTS]; /* the free ones */
    size_t terms;
};

static bool used(const struct problem *p, size_t i)
{
    return !link_row_is_copy(&p->rows[i]) && !(p->held && p->held[i]);
}

static struct link_costs with(const struct problem *p, const double *x)
{
    struct link_costs costs = p->fit->to;
    for (size_t k = 0; k < p->terms; k++)
        put(&costs, p->costs[k], x[k]);
    return costs;
}

static double residual(const struct problem *p, const double *x, double *worst)
{
    struct link_costs costs = with(p, x);
    double sum = 0;
    if (worst)
        *worst = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (!used(p, i))
            continue;
        double r = link_row_ns(&costs, p->fit->gpu, &p->rows[i], NULL) / p->rows[i].time_ns - 1;
        sum += r * r;
        if (worst && fabs(r) > fabs(*worst))
            *worst = r;
    }
    return sum;
}

/* Between the narrowest span and the widest. */
static double start_of_reach(const struct problem *p)
{
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < p->n; i++) {
        const struct link_launch *l = &p->rows[i].launch;
        if (!used(p, i) || l->jumps <= 0 || l->span <= 0)
            continue;
        least = fmin(least, l->span);
        most = fmax(most, l->span);
    }
    return most > 0 ? sqrt(least * most) : 0;
}

/* The largest value that no row contradicts; a launch may take half of that, and so may what reads far apart cost. */
static double start_of(const struct problem *p, enum link_cost which)
{
    double least = INFINITY;
    if (which == COST_REACH)
        return start_of_reach(p);
    for (size_t i = 0; i < p->n; i++) {
        double by = used(p, i) ? paid_for(p->fit, &p->rows[i], which) : 0;
        if (by > 0)
            least = fmin(least, p->rows[i].time_ns / by);
    }
    return isfinite(least) ? (which >= COST_LAUNCH ? least / 2 : least) : 0;
}

/* The problem made linear at x; share[k] gets the largest elasticity of any row. */
static void linearise(const struct problem *p, const double *x, struct fit *linear, double *share)
{
    fit_init(linear, p->terms);
    for (size_t k = 0; k < p->terms; k++)
        share[k] = 0;
    struct link_costs here = with(p, x);
    for (size_t i = 0; i < p->n; i++) {
        if (!used(p, i))
            continue;
        const struct link_row *row = &p->rows[i];
        double at = link_row_ns(&here, p->fit->gpu, row, NULL), a[LINK_COSTS], y = row->time_ns - at;
        for (size_t k = 0; k < p->terms; k++) {
            double step = 1e-5 * x[k], moved[LINK_COSTS];
            memcpy(moved, x, sizeof moved);
            moved[k] = x[k] + step;
            struct link_costs above = with(p, moved);
            moved[k] = x[k] - step;
            struct link_costs below = with(p, moved);
            double slope =
                step > 0 ? (link_row_ns(&above, p->fit->gpu, row, NULL) - link_row_ns(&below, p->fit->gpu, row, NULL)) /
                               (2 * step)
                         : 0;
            share[k] = fmax(share[k], fabs(slope) * x[k] / at);
            a[k] = slope / row->time_ns;
            y += slope * x[k];
        }
        fit_add(linear, a, y / row->time_ns, 1);
    }
}

/* One step from x; false if none makes the residual smaller. */
static bool improve(const struct problem *p, double *x, double *best, struct err *err)
{
    struct fit linear;
    double share[LINK_COSTS], next[LINK_COSTS] = {0};
    linearise(p, x, &linear, share);
    if (fit_solve(&linear, err))
        return false;
    double length = 1;
    for (int h = 0; h < HALVINGS; h++, length /= 2) {
        for (size_t k = 0; k < p->terms; k++) /* a cost that is 0 has no slope, and would stay so */
            next[k] = fmin(fmax(x[k] + length * (linear.x[k] - x[k]), x[k] / 8), 8 * x[k]);
        double sum = residual(p, next, NULL);
        if (sum < *best) {
            bool more = *best - sum > 1e-12 * *best;
            memcpy(x, next, sizeof next);
            *best = sum;
            return more;
        }
    }
    return false;
}

int link_fit_solve(struct link_fit *fit, const struct link_row *rows, const bool *held, size_t n, struct err *err)
{
    struct problem p = {.fit = fit, .rows = rows, .held = held, .n = n};
    double x[LINK_COSTS] = {0}, share[LINK_COSTS];
    fit->rows = 0;
    for (size_t i = 0; i < n; i++)
        fit->rows += used(&p, i);
    for (enum link_cost k = 0; k < LINK_COSTS; k++)
        if (fit->free >> k & 1) {
            x[p.terms] = start_of(&p, k);
            p.costs[p.terms++] = k;
        }
    fit->terms = p.terms;
    if (fit->rows < p.terms)
        return err_set(err, "%zu rows are too few for %zu unknown numbers of the link", fit->rows, p.terms);
    double best = residual(&p, x, NULL);
    for (int round = 0; round < ROUNDS && improve(&p, x, &best, err); round++)
        ;
    struct fit linear;
    linearise(&p, x, &linear, share);
    if (fit_solve(&linear, err))
        return -1;
    fit->rms = sqrt(residual(&p, x, &fit->worst) / (double)fit->rows);
    fit->to = with(&p, x);
    for (size_t k = 0; k < p.terms; k++) {
        fit->cost[p.costs[k]] = x[k];
        fit->error[p.costs[k]] = linear.error[k];
        fit->share[p.costs[k]] = share[k];
    }
    return 0;
}

/* link_rows: measured times of requests over a link, or of block copies, with the counts they are made of.
 *
 * From CSV (.csv, compressed or not), as `replay zerocopy --requests` and fixtures/cuda/zero_copy_link.cu write it; man
 * offchip-calibrate has the columns. A row without copies is one; without warp_loads the GPU's ability to issue bounds
 * nothing; loads_at_once and launches are 1, resident_warps as many as fit. Lines that are empty or start with # are
 * passed over.
 * From recordings with counters (tables counters and kernels): a row for each kernel, all launches together:
 * l2_sysmem_requests and l2_sysmem_sectors, or pcie_write_bytes / 16 and pcie_read_bytes - 12 x requests. Counters do
 * not say how requests lie on 64 B lines: lines_known is false. */
enum column {
    TIME,
    REQ32,
    REQ64,
    REQ96,
    REQ128,
    LINES,
    COPY_BYTES,
    COPIES,
    LOADS,
    AT_ONCE,
    WARPS,
    CHAIN,
    LAUNCHES,
    JUMPS,
    SPAN,
    NUMBERS,
    NAME = NUMBERS,
    POLICY,
    COLUMNS
};
static const char *const names[COLUMNS] = {"time_ns",        "req32",       "req64",    "req96",      "req128",
                                           "host64_lines",   "copy_bytes",  "copies",   "warp_loads", "loads_at_once",
                                           "resident_warps", "chain_loads", "launches", "jumps",      "span_bytes",
                                           "name",           "policy"};

enum { FIELDS = 64 };

/* The most that a count may be: far beyond any machine, and whole as a double. */
static const double count_max = 1e15;

struct csv {
    uint64_t line;
    int columns[FIELDS]; /* by position; -1: passed over */
    size_t count;
    bool has[COLUMNS];
};

static int csv_header(struct csv *csv, const char *line, struct err *err)
{
    struct field f;
    for (const char *at = line; field_next(&at, &f); csv->count++) {
        if (csv->count == FIELDS)
            return err_set(err, "more than %d columns", FIELDS);
        csv->columns[csv->count] = -1;
        for (int c = 0; c < COLUMNS; c++) {
            if (!field_is(&f, names[c]))
                continue;
            if (csv->has[c])
                return err_set(err, "column %s is given twice", names[c]);
            csv->has[c] = true;
            csv->columns[csv->count] = c;
        }
    }
    bool requests = csv->has[REQ32] && csv->has[REQ64] && csv->has[REQ96] && csv->has[REQ128] && csv->has[LINES];
    if (!csv->has[TIME] || (!requests && !csv->has[COPY_BYTES]))
        return err_set(err,
                       "found the header '%.60s'; expected time_ns and either req32, req64, req96, req128, "
                       "host64_lines or copy_bytes",
                       line);
    return 0;
}

static int csv_number(const struct field *f, int column, double *value, struct err *err)
{
    char text[64];
    if (f->length == 0)
        return 0;
    if (f->length >= sizeof text)
        return err_set(err, "%s is longer than a number", names[column]);
    memcpy(text, f->text, f->length);
    text[f->length] = 0;
    if (units_parse_real(text, value, err))
        return err_at(err, "%s", names[column]);
    if (*value < 0 || *value > count_max)
        return err_set(err, "%s is %s; expected 0 to 1e15", names[column], text);
    return 0;
}

static int add(struct link_rows *rows, const struct link_row *row, struct err *err)
{
    return MEM_ADD(rows->rows, rows->count, rows->cap, err, *row);
}

static int csv_row(struct csv *csv, struct link_rows *rows, const char *line, struct err *err)
{
    double v[NUMBERS] = {[AT_ONCE] = 1, [LAUNCHES] = 1, [COPIES] = 1};
    struct link_row row = {.lines_known = true};
    struct field f;
    size_t at_field = 0;
    (void)snprintf(row.name, sizeof row.name, "line %llu", (unsigned long long)csv->line);
    for (const char *at = line; field_next(&at, &f); at_field++) {
        int column = at_field < csv->count ? csv->columns[at_field] : -1;
        if (column == NAME || (column == POLICY && !csv->has[NAME])) {
            if (f.length)
                (void)snprintf(row.name, sizeof row.name, "%.*s", (int)(f.length < 63 ? f.length : 63), f.text);
        } else if (column >= 0 && column < NUMBERS && csv_number(&f, column, &v[column], err)) {
            return -1;
        }
    }
    if (at_field != csv->count)
        return err_set(err, "%zu fields; the header has %zu", at_field, csv->count);
    for (int i = 0; i < LINE_SECTORS; i++)
        row.launch.mix.by_size[i] = (uint64_t)v[REQ32 + i];
    row.launch.mix.host_lines = (uint64_t)v[LINES];
    row.launch.loads = v[LOADS];
    row.launch.loads_at_once = v[AT_ONCE];
    row.launch.resident_warps = v[WARPS];
    row.launch.jumps = v[JUMPS];
    row.launch.span = v[SPAN];
    row.chain_loads = v[CHAIN];
    row.launches = fmax(1, v[LAUNCHES]);
    row.copy_bytes = v[COPY_BYTES];
    row.copies = fmax(1, v[COPIES]);
    row.time_ns = v[TIME];
    uint64_t requests = mix_requests(&row.launch.mix);
    if (row.time_ns <= 0)
        return err_set(err, "time_ns must be above 0");
    if ((requests > 0) == link_row_is_copy(&row))
        return err_set(err, "expected either requests or copy_bytes above 0");
    if (requests && (row.launch.mix.host_lines < requests || row.launch.mix.host_lines > 2 * requests))
        return err_set(err, "host64_lines is %.0f; expected one or two for each of the %llu requests", v[LINES],
                       (unsigned long long)requests);
    return add(rows, &row, err);
}

int link_rows_csv(struct link_rows *rows, struct input_stream *source, const char *path, struct err *err)
{
    struct csv csv = {.line = 0};
    char *line;
    size_t n;
    int more, rc = 0;
    while (!rc && (more = input_stream_line(source, &line, &n, err)) != 0) {
        if (more < 0)
            return err_at(err, "%s", path);
        csv.line = input_stream_line_number(source);
        if (!*line || *line == '#')
            continue;
        rc = csv.count ? csv_row(&csv, rows, line, err) : csv_header(&csv, line, err);
        if (rc)
            (void)err_at(err, "%s:%llu", path, (unsigned long long)csv.line);
    }
    return rc;
}

/* --- recordings --- */

struct kernel {
    char *name;
    double requests, sectors, read_bytes, write_bytes, time_ns;
    uint64_t counted, launched; /* launches */
};

struct kernels {
    struct kernel *list;
    size_t count, cap;
    struct err *err;
};

static struct kernel *find(struct kernels *k, const char *name)
{
    for (size_t i = 0; i < k->count; i++)
        if (strcmp(k->list[i].name, name) == 0)
            return &k->list[i];
    char *copy = mem_strdup(name, k->err);
    if (!copy || mem_grow((void **)&k->list, &k->cap, k->count + 1, sizeof *k->list, k->err)) {
        free(copy);
        return NULL;
    }
    k->list[k->count] = (struct kernel){.name = copy};
    return &k->list[k->count++];
}

static int on_counter(void *ctx, const struct store_value *v, size_t n)
{
    /* counters: kernel, name, value, unit, how */
    if (n < 3 || v[0].type != STORE_TEXT || v[1].type != STORE_TEXT || !*v[0].s)
        return 0;
    struct kernel *k = find(ctx, v[0].s);
    if (!k)
        return 1;
    double value = v[2].type == STORE_REAL ? v[2].r : v[2].type == STORE_INT ? (double)v[2].i : 0;
    if (!(value >= 0 && value <= count_max))
        return 0;
    bool l2 = strcmp(v[1].s, "l2_sysmem_requests") == 0, pcie = strcmp(v[1].s, "pcie_write_bytes") == 0;
    k->counted += l2 || pcie;
    if (l2)
        k->requests += value;
    else if (pcie)
        k->write_bytes += value;
    else if (strcmp(v[1].s, "l2_sysmem_sectors") == 0)
        k->sectors += value;
    else if (strcmp(v[1].s, "pcie_read_bytes") == 0)
        k->read_bytes += value;
    return 0;
}

static int on_kernel(void *ctx, const struct store_value *v, size_t n)
{
    /* kernels: id, name, launch, start_ns, duration_ns, ... */
    if (n < 5 || v[1].type != STORE_TEXT || v[4].type != STORE_INT || v[4].i <= 0)
        return 0;
    struct kernel *k = find(ctx, v[1].s);
    if (!k)
        return 1;
    k->time_ns += (double)v[4].i;
    k->launched++;
    return 0;
}

/* n requests of s sectors in all, of the two sizes next to the mean. */
static struct request_mix spread(double requests, double sectors)
{
    double n = round(requests), s = fmin(fmax(round(sectors), n), 4 * n), size = fmin(floor(s / n), 3);
    struct request_mix mix = {0};
    mix.by_size[(int)size] = (uint64_t)(s - size * n);
    mix.by_size[(int)size - 1] = (uint64_t)(n - (s - size * n));
    double least = fmax(n, s / 2), most = n + fmin(n, s - n);
    mix.host_lines = (uint64_t)((least + most) / 2);
    return mix;
}

static int kernel_row(struct link_rows *rows, const struct kernel *k, struct err *err)
{
    double requests = k->requests, sectors = k->sectors;
    if (requests < 1) {
        requests = k->write_bytes / 16;
        sectors = (k->read_bytes - 12 * requests) / SECTOR_BYTES;
    }
    if (requests < 1 || sectors < 1)
        return 0;
    if (k->counted != k->launched || k->time_ns <= 0) {
        rows->skipped++;
        return 0;
    }
    struct link_row row = {.launches = (double)k->launched, .time_ns = k->time_ns};
    (void)snprintf(row.name, sizeof row.name, "%.63s", k->name);
    row.launch.mix = spread(requests, sectors);
    return add(rows, &row, err);
}

static int read_recording(struct link_rows *rows, const char *path, struct err *err)
{
    rows->limits = rows->limits ? rows->limits : json_array();
    struct store *store = limits_open(path, limits_collect, &rows->limits, err);
    if (!store)
        return -1;
    struct kernels kernels = {.err = err};
    int rc = store_rows(store, "counters", on_counter, &kernels, err);
    if (!rc)
        rc = store_rows(store, "kernels", on_kernel, &kernels, err);
    for (size_t i = 0; i < kernels.count; i++) {
        if (!rc)
            rc = kernel_row(rows, &kernels.list[i], err);
        free(kernels.list[i].name);
    }
    free(kernels.list);
    store_close(store);
    return rc ? -1 : 0;
}

int link_rows_read(struct link_rows *rows, const char *path, struct err *err)
{
    static const char magic[] = "SQLite format 3";
    struct input_stream *source = input_stream_open(path, err);
    if (!source)
        return -1;
    const unsigned char *head;
    size_t got;
    int rc = input_stream_peek(source, sizeof magic, &head, &got, err);
    if (rc)
        (void)err_at(err, "%s", path);
    else if (got == sizeof magic && memcmp(head, magic, sizeof magic) == 0)
        rc = read_recording(rows, path, err);
    else
        rc = link_rows_csv(rows, source, path, err);
    input_stream_close(source);
    return rc;
}

void link_rows_release(struct link_rows *rows)
{
    free(rows->rows);
    json_decref(rows->limits);
    memset(rows, 0, sizeof *rows);
}
