#include "replay/calibrate/calibrate.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "models/base/platform.h"
#include "replay/calibrate/fit.h"
#include "trace/base/mem.h"
#include "trace/base/units.h"
#include "trace/import/source.h"
#include "trace/store/store.h"

void calibration_add(struct calibration *c, const char *section, const char *key, double value, double error,
                     const struct fit *fit, const char *unit, const char *from)
{
    if (c->count >= CALIBRATED_MAX)
        return;
    struct calibrated *n = &c->numbers[c->count++];
    (void)snprintf(n->section, sizeof n->section, "%s", section);
    (void)snprintf(n->key, sizeof n->key, "%s", key);
    (void)snprintf(n->from, sizeof n->from, "%s", from);
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
}

/* --- uvm: traces --- */

struct uvm_fits {
    struct fit h2d, d2h;
    double *gaps; /* end of the last copy of a batch to the first of the next, ns */
    size_t gap_count, gap_cap;
    int64_t last_end, last_batch;
    bool failed;
};

static int on_service(void *ctx, const struct store_value *v, size_t n)
{
    /* services: service, batch, block_addr, start_ns, end_ns, ... */
    struct uvm_fits *f = ctx;
    if (n < 5 || v[1].type != STORE_INT || v[3].type != STORE_INT || v[4].type != STORE_INT)
        return 0;
    int64_t gap = v[3].i - f->last_end;
    if (f->last_end && v[1].i != f->last_batch && gap > 0 && gap < 1000000) {
        if (mem_grow((void **)&f->gaps, &f->gap_cap, f->gap_count + 1, sizeof *f->gaps, NULL)) {
            f->failed = true;
            return 1;
        }
        f->gaps[f->gap_count++] = (double)gap;
    }
    f->last_end = v[4].i;
    f->last_batch = v[1].i;
    return 0;
}

static int uvm_stream(struct uvm_fits *f, struct store *store, int stream, struct err *err)
{
    struct store_cursor *cursor = store_cursor_open(store, stream, err);
    const struct record *r;
    size_t n;
    int more = cursor ? 1 : -1;
    while (more == 1 && (more = store_cursor_next(cursor, &r, NULL, &n, err)) == 1)
        for (size_t i = 0; i < n; i++)
            if ((r[i].kind == RECORD_MIGRATE_H2D || r[i].kind == RECORD_MIGRATE_D2H) && r[i].duration > 0)
                fit_add(r[i].kind == RECORD_MIGRATE_H2D ? &f->h2d : &f->d2h, (double[]){1, (double)r[i].bytes},
                        (double)r[i].duration, 1);
    store_cursor_close(cursor);
    return more < 0 ? -1 : 0;
}

static int uvm_file(struct uvm_fits *f, const char *path, struct err *err)
{
    struct store *store = store_open(path, err);
    if (!store)
        return -1;
    int rc = store_whole(store, err);
    for (int s = 0; s < store_stream_count(store) && !rc; s++)
        if (store_stream(store, s)->unit == TIME_NS)
            rc = uvm_stream(f, store, s, err);
    f->last_end = 0;
    if (!rc && store_rows(store, "services", on_service, f, err) < 0)
        rc = -1;
    if (f->failed)
        rc = err_set(err, "out of memory");
    store_close(store);
    return rc;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
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

int calibrate_uvm(struct calibration *c, const struct measurements *from, struct err *err)
{
    memset(c, 0, sizeof *c);
    struct uvm_fits f = {0};
    fit_init(&f.h2d, 2);
    fit_init(&f.d2h, 2);
    int rc = 0;
    for (size_t i = 0; i < from->count && !rc; i++)
        rc = uvm_file(&f, from->paths[i], err);
    if (!rc)
        rc = uvm_direction(c, &f.h2d, "h2d_bytes_per_s", "to the GPU", true, err);
    if (!rc)
        rc = uvm_direction(c, &f.d2h, "d2h_bytes_per_s", "to the host", false, err);
    if (!rc && f.gap_count > 4) {
        qsort(f.gaps, f.gap_count, sizeof *f.gaps, ascending);
        calibration_note(c,
                         "from one batch's last copy to the next one's first: median %.3g us of %zu; replay, new "
                         "faults, interrupt and first service together, so the base's batch numbers stand",
                         f.gaps[f.gap_count / 2] / 1e3, f.gap_count);
    } else if (!rc) {
        calibration_note(c, "too few batches for the gap between them");
    }
    free(f.gaps);
    if (rc)
        return -1;
    calibration_note(c,
                     "costs per service, per page and per new block hide behind the copy engine in a traced recording: "
                     "the base's numbers stand");
    return c->count ? 0 : err_set(err, "nothing could be fitted: the recordings hold too few migrations");
}

/* The end of a number's range two standard errors away, within what the number may be; whole where it is whole. */
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

int calibration_write(const struct calibration *c, const char *name, const char *base, FILE *out, struct err *err)
{
    (void)fprintf(out, "[platform]\nbase = %s\nname = %s\nsummary = %s with numbers fitted to measurements\n", base,
                  name, base);
    const char *section = "";
    for (size_t i = 0; i < c->count; i++) {
        const struct calibrated *n = &c->numbers[i];
        if (!isfinite(n->error))
            continue;
        if (strcmp(section, n->section) != 0)
            (void)fprintf(out, "\n[%s]\n", section = n->section);
        (void)fprintf(out, "%s = %.9g | fitted %.9g..%.9g: %s, standard error %.3g\n", n->key, n->value,
                      range_end(n, -2), range_end(n, 2), n->from, n->error);
    }
    return ferror(out) ? err_set(err, "the file could not be written") : 0;
}
