#include "replay/calibrate/calibrate.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "models/base/platform.h"
#include "replay/calibrate/fit.h"
#include "replay/calibrate/host_fit.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/base/sorted.h"
#include "trace/base/units.h"
#include "trace/derived/limits.h"
#include "trace/import/input_stream.h"
#include "trace/store/store.h"

void calibration_add(struct calibration *c, const char *section, const char *key, double value, double error,
                     const struct fit *fit, const char *unit, const char *from)
{
    if (c->count >= CALIBRATED_MAX)
        return;
    struct calibrated *n = &c->numbers[c->count++];
    (void)snprintf(n->section, sizeof n->section, "%s", section);
    (void)snprintf(n->key, sizeof n->key, "%s", key);
    (void)snprintf(n->from, sizeof n->from, "%s%s", from,
                   json_array_size(c->limits) ? "; not of a whole recording" : "");
    n->value = value;
    n->error = error;
    n->rows = fit->rows;
    n->rms = fit->rms;
    n->rms_unit = unit;
    n->r2 = fit->r2;
}

void calibration_note(struct calibration *c, const char *format, ...)
{
    if (c->note_count == sizeof c->notes / sizeof *c->notes)
        return;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(c->notes[c->note_count++], sizeof c->notes[0], format, args);
    va_end(args);
}

void calibration_release(struct calibration *c)
{
    free(c->rows);
    c->rows = NULL;
    json_decref(c->limits);
    c->limits = NULL;
}

/* --- uvm: traces --- */

struct uvm_fits {
    struct fit h2d, d2h;
    struct host_fit host;
    const struct uvm_platform *base; /* NULL: it has no numbers of unified memory */
};

static int uvm_stream(struct uvm_fits *f, struct store *store, int stream, struct err *err)
{
    struct store_walk w = {0};
    while (store_walk_next(&w, store, stream, err))
        if ((w.r->kind == RECORD_MIGRATE_H2D || w.r->kind == RECORD_MIGRATE_D2H) && w.r->duration > 0)
            fit_add(w.r->kind == RECORD_MIGRATE_H2D ? &f->h2d : &f->d2h, (double[]){1, (double)w.r->bytes},
                    (double)w.r->duration, 1);
    return store_walk_end(&w);
}

/* Each process and GPU of a trace by itself. */
static int uvm_host(struct uvm_fits *f, struct store *store, struct err *err)
{
    struct recordings all;
    if (recordings_find(&all, store, err))
        return -1;
    if (!all.count)
        all.items[all.count++] = (struct recording){RECORDING_ANY, RECORDING_ANY};
    int rc = 0;
    for (size_t i = 0; i < all.count && rc == 0; i++) {
        struct uvm_recording r;
        rc = uvm_recording_load(&r, store, all.items[i], err);
        if (rc)
            break;
        rc = host_fit_add(&f->host, &r, f->base, err);
        uvm_recording_release(&r);
    }
    return rc;
}

static int uvm_file(struct uvm_fits *f, const char *path, json_t **limits, struct err *err)
{
    struct store *store = limits_open(path, limits_collect, limits, err);
    if (!store)
        return -1;
    int rc = 0;
    for (int s = 0; s < store_stream_count(store) && !rc; s++)
        if (store_stream(store, s)->unit == TIME_NS)
            rc = uvm_stream(f, store, s, err);
    if (!rc && f->base)
        rc = uvm_host(f, store, err);
    store_close(store);
    return rc;
}

static int uvm_direction(struct calibration *c, struct fit *fit, const char *key, const char *what, bool record,
                         struct err *err)
{
    char from[160];
    if (fit->rows < 2) {
        calibration_note(c, "%s: %zu migration records, at least 2 are needed", what, fit->rows);
        return 0;
    }
    if (fit_solve(fit, err))
        return -1;
    (void)snprintf(from, sizeof from, "%zu traced migration records %s", fit->rows, what);
    if (fit->x[1] > 0 && isfinite(fit->error[1])) {
        double rate = 1e9 / fit->x[1];
        calibration_add(c, "uvm", key, rate, rate * fit->error[1] / fit->x[1], fit, "ns", from);
    } else {
        calibration_note(c, "all records have one size: bandwidth and cost per record cannot be told apart");
    }
    if (record)
        calibration_add(c, "uvm", "trace_record_ns", fit->x[0], fit->error[0], fit, "ns", from);
    return 0;
}

static void uvm_host_told(struct calibration *c, struct host_fit *f, const char *base)
{
    char from[160];
    if (host_fit_solve(f)) {
        calibration_note(c, "host: %zu batches of plain memory with fault records, at least %d are needed", f->count,
                         HOST_FIT_BATCHES);
        return;
    }
    (void)snprintf(from, sizeof from, "the CPU's part of %zu batches beside %s's times", f->count, base);
    calibration_add(c, "uvm", "host", f->host, f->error, &f->fit, "relative", from);
    calibration_note(c,
                     "host: half of the batches lie within %.2f..%.2f; entries of the fault buffer, of which a "
                     "recording shows one a page, take %.0f %% of the base's time%s",
                     f->quartile[0], f->quartile[1], 100 * f->entries_ratio,
                     f->unrecorded ? "; host may be less, since memory may have come without a record" : "");
}

int calibrate_uvm(struct calibration *c, const struct measurements *from, struct err *err)
{
    *c = (struct calibration){.limits = json_array()};
    struct platform *base = platform_load(from->base, err);
    if (!base)
        return -1;
    struct uvm_fits f = {.base = platform_whole(base, "uvm", NULL) ? NULL : platform_section_get(base, "uvm")};
    fit_init(&f.h2d, 2);
    fit_init(&f.d2h, 2);
    int rc = 0;
    for (size_t i = 0; i < from->count && !rc; i++)
        rc = uvm_file(&f, from->paths[i], &c->limits, err);
    if (!rc)
        rc = uvm_direction(c, &f.h2d, "h2d_bytes_per_s", "to the GPU", true, err);
    if (!rc)
        rc = uvm_direction(c, &f.d2h, "d2h_bytes_per_s", "to the host", false, err);
    if (!rc && f.base)
        uvm_host_told(c, &f.host, from->base);
    free(f.host.rows);
    platform_free(base);
    if (rc)
        return -1;
    calibration_note(
        c, "costs per service, per page and per new block cannot be told apart: they are the base's, times host");
    return c->count ? 0 : err_set(err, "nothing could be fitted: the recordings hold too few migrations");
}

/* --- placement: rows of micro-benchmarks --- */

int parallelism_add(struct parallelism *p, double in_flight, double time, struct err *err)
{
    return MEM_ADD(p->rows, p->count, p->cap, err, (struct parallelism_row){in_flight, time});
}

/* time = factor x shape (1 / p or 1) over rows: the factor, its squared residuals and standard error, all relative. */
static double one_side(const struct parallelism *p, size_t from, size_t to, bool falls, double *square, double *error)
{
    double up = 0, down = 0;
    for (size_t i = from; i < to; i++) {
        double a = (falls ? 1 / p->rows[i].in_flight : 1) / p->rows[i].time;
        up += a;
        down += a * a;
    }
    double factor = up / down;
    *square = 0;
    for (size_t i = from; i < to; i++) {
        double r = factor * (falls ? 1 / p->rows[i].in_flight : 1) / p->rows[i].time - 1;
        *square += r * r;
    }
    *error = *square / (double)(to - from - 1) / (down * factor * factor);
    return factor;
}

int parallelism_solve(struct parallelism *p)
{
    double least = INFINITY, level = INFINITY, e;
    if (p->count >= 4) {
        sort_items(p->rows, p->count, sizeof *p->rows, sorted_by_f64);
        (void)one_side(p, 0, p->count, true, &level, &e); /* it never levels off */
    }
    for (size_t cut = 2; cut + 2 <= p->count; cut++) {
        double falling, flat, e1, e2;
        double latency = one_side(p, 0, cut, true, &falling, &e1), time = one_side(p, cut, p->count, false, &flat, &e2);
        double peak = latency / time;
        /* The peak lies where the one side meets the other, not beyond the rows that are to be at it. */
        if (falling + flat >= fmin(least, level) || peak > p->rows[p->count - 1].in_flight || peak < 1)
            continue;
        least = falling + flat;
        p->peak = peak;
        p->error = peak * sqrt(e1 + e2);
        p->flat = p->count - cut;
    }
    if (least == INFINITY)
        return -1;
    double mean = 0, variance = 0;
    for (size_t i = 0; i < p->count; i++)
        mean += p->rows[i].time / (double)p->count;
    for (size_t i = 0; i < p->count; i++)
        variance += pow(1 - mean / p->rows[i].time, 2);
    p->fit = (struct fit){
        .rows = p->count, .rms = sqrt(least / (double)p->count), .r2 = variance > 0 ? 1 - least / variance : 0};
    return 0;
}

/* From FLUSH_CPU on a constant, without a slope. */
enum { COPY_HD, COPY_DH, MAPPING, FIRST_TOUCH, FLUSH_CPU, FLUSH_GPU, L2_LATENCY, MEMORY_LATENCY, WHATS };
static const char *const whats[WHATS] = {"copy_hd",   "copy_dh",   "mapping",    "first_touch",
                                         "flush_cpu", "flush_gpu", "l2_latency", "memory_latency"};
static const char *const slopes[WHATS] = {"l_hd", "l_dh", "l_mapping", "l_ini", NULL, NULL, NULL, NULL};
static const char *const constants[WHATS] = {"t_ini", NULL, NULL, NULL, "c_cpu", "c_gpu", "l_l2", "l_mem"};

struct rows {
    struct fit fits[WHATS];
    struct parallelism parallelism;
};

static int placement_row(struct rows *rows, char *line, struct err *err)
{
    char *save = NULL, *what = strtok_r(line, ",", &save), *bytes = strtok_r(NULL, ",", &save),
         *ms = strtok_r(NULL, ",", &save);
    int64_t size;
    double time;
    if (!what || !bytes || !ms || strtok_r(NULL, ",", &save))
        return err_set(err, "expected what,bytes,ms");
    if (units_parse_bytes(bytes, &size, err) || units_parse_real(ms, &time, err))
        return -1;
    if (size < 0 || time < 0)
        return err_set(err, "bytes and ms must not be negative");
    for (int w = 0; w < WHATS; w++)
        if (strcmp(whats[w], what) == 0) {
            fit_add(&rows->fits[w], (double[]){1, (double)size}, time, 1);
            return 0;
        }
    if (strcmp(what, "parallelism") == 0)
        return size && time > 0 ? parallelism_add(&rows->parallelism, (double)size, time, err)
                                : err_set(err, "nothing in flight, or no time");
    return err_set(err,
                   "'%.40s' is not one of copy_hd, copy_dh, mapping, first_touch, flush_cpu, flush_gpu, "
                   "l2_latency, memory_latency, parallelism",
                   what);
}

static int placement_file(struct rows *rows, const char *path, struct err *err)
{
    struct input_stream *source = input_stream_open(path, err);
    if (!source)
        return -1;
    char *line;
    size_t n;
    int more, rc = 0;
    while (!rc && (more = input_stream_line(source, &line, &n, err)) != 0) {
        uint64_t number = input_stream_line_number(source);
        if (more < 0)
            rc = err_at(err, "%s", path);
        else if (number == 1 && strcmp(line, "what,bytes,ms") != 0)
            rc = err_set(err, "%s:1: found '%.60s', expected the header what,bytes,ms", path, line);
        else if (number > 1 && *line && *line != '#')
            rc = placement_row(rows, line, err) ? err_at(err, "%s:%llu", path, (unsigned long long)number) : 0;
    }
    input_stream_close(source);
    return rc;
}

static int fit_one(struct calibration *c, struct fit *fit, int w, struct err *err)
{
    char from[160];
    (void)snprintf(from, sizeof from, "%s, %zu rows", whats[w], fit->rows);
    if (fit->rows < fit->terms) {
        calibration_note(c, "%s: %zu rows, at least %zu are needed; the base's number is kept", whats[w], fit->rows,
                         fit->terms);
        return 0;
    }
    if (fit_solve(fit, err))
        return -1;
    if (constants[w])
        calibration_add(c, "placement", constants[w], fit->x[0], fit->error[0], fit, "ms", from);
    if (slopes[w])
        calibration_add(c, "placement", slopes[w], fit->x[1], fit->error[1], fit, "ms", from);
    return 0;
}

static void fit_parallelism(struct calibration *c, struct parallelism *p)
{
    char from[160];
    if (parallelism_solve(p)) {
        calibration_note(
            c, "parallelism: %zu rows, and at least two on each side of the peak are needed; the base's number is kept",
            p->count);
        return;
    }
    (void)snprintf(from, sizeof from, "parallelism, %zu rows, of them %zu at peak throughput", p->count, p->flat);
    calibration_add(c, "placement", "max_parallelism", p->peak, p->error, &p->fit, "relative", from);
}

int calibrate_placement(struct calibration *c, const struct measurements *measured, struct err *err)
{
    struct rows rows = {.parallelism = {0}};
    memset(c, 0, sizeof *c);
    for (int w = 0; w < WHATS; w++)
        fit_init(&rows.fits[w], w >= FLUSH_CPU ? 1 : 2);
    int rc = 0;
    for (size_t i = 0; i < measured->count && !rc; i++)
        rc = placement_file(&rows, measured->paths[i], err);
    for (int w = 0; w < WHATS && !rc; w++)
        rc = fit_one(c, &rows.fits[w], w, err);
    if (!rc)
        fit_parallelism(c, &rows.parallelism);
    free(rows.parallelism.rows);
    if (rc)
        return -1;
    return c->count ? 0 : err_set(err, "nothing could be fitted: no kind of measurement has enough rows");
}

/* --- the platform --- */

/* End of a number's range, two standard errors away, within its limits; rounded for whole numbers. */
static double range_end(const struct calibrated *n, double errors)
{
    const struct param *row = NULL;
    for (size_t s = 0; platform_sections[s] && !row; s++)
        if (strcmp(platform_sections[s]->name, n->section) == 0)
            row = param_find(platform_sections[s]->params, n->key);
    double end = n->value + errors * n->error;
    if (row)
        end = fmin(fmax(end, row->lo), row->hi);
    return !row || row->type == PARAM_REAL ? end : errors < 0 ? floor(end) : ceil(end);
}

/* Write the section of number i with all its numbers, unless an earlier number already did. */
static void write_section(const struct calibration *c, size_t i, FILE *out)
{
    for (size_t k = 0; k < i; k++)
        if (isfinite(c->numbers[k].error) && strcmp(c->numbers[k].section, c->numbers[i].section) == 0)
            return;
    (void)fprintf(out, "\n[%s]\n", c->numbers[i].section);
    for (const struct calibrated *n = &c->numbers[i]; n < c->numbers + c->count; n++)
        if (isfinite(n->error) && strcmp(n->section, c->numbers[i].section) == 0)
            (void)fprintf(out, "%s = %.9g | fitted %.9g..%.9g: %s, standard error %.3g\n", n->key, n->value,
                          range_end(n, -2), range_end(n, 2), n->from, n->error);
}

int calibration_write(const struct calibration *c, const char *name, const char *base, FILE *out, struct err *err)
{
    (void)fprintf(out, "[platform]\nbase = %s\nname = %s\nsummary = %s with numbers fitted to measurements\n", base,
                  name, base);
    for (size_t i = 0; i < c->count; i++)
        if (isfinite(c->numbers[i].error))
            write_section(c, i, out);
    return ferror(out) ? err_set(err, "the file could not be written") : 0;
}
