#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/calibrate/calibrate.h"
#include "replay/calibrate/parallelism_fit.h"
#include "trace/base/units.h"
#include "trace/import/source.h"

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

static int placement_row(struct rows *rows, char *line, const char *path, uint64_t number, struct err *err)
{
    char *save = NULL, *what = strtok_r(line, ",", &save), *bytes = strtok_r(NULL, ",", &save),
         *ms = strtok_r(NULL, ",", &save);
    int64_t size;
    double time;
    if (!what || !bytes || !ms || strtok_r(NULL, ",", &save))
        return err_set(err, "%s:%llu: expected what,bytes,ms", path, (unsigned long long)number);
    if (units_parse_bytes(bytes, &size, err) || units_parse_real(ms, &time, err))
        return err_at(err, "%s:%llu", path, (unsigned long long)number);
    if (size < 0 || time < 0)
        return err_set(err, "%s:%llu: bytes and ms must not be negative", path, (unsigned long long)number);
    for (int w = 0; w < WHATS; w++)
        if (strcmp(whats[w], what) == 0) {
            fit_add(&rows->fits[w], (double[]){1, (double)size}, time, 1);
            return 0;
        }
    if (strcmp(what, "parallelism") == 0)
        return size && time > 0
                   ? parallelism_add(&rows->parallelism, (double)size, time, err)
                   : err_set(err, "%s:%llu: nothing in flight, or no time", path, (unsigned long long)number);
    return err_set(err,
                   "%s:%llu: '%.40s' is not one of copy_hd, copy_dh, mapping, first_touch, flush_cpu, flush_gpu, "
                   "l2_latency, memory_latency, parallelism",
                   path, (unsigned long long)number, what);
}

static int placement_file(struct rows *rows, const char *path, struct err *err)
{
    struct source *source = source_open(path, err);
    if (!source)
        return -1;
    char *line;
    size_t n;
    int more, rc = 0;
    while (!rc && (more = source_line(source, &line, &n, err)) != 0) {
        uint64_t number = source_line_number(source);
        if (more < 0)
            rc = err_at(err, "%s", path);
        else if (number == 1 && strcmp(line, "what,bytes,ms") != 0)
            rc = err_set(err, "%s:1: found '%.60s', expected the header what,bytes,ms", path, line);
        else if (number > 1 && *line && *line != '#')
            rc = placement_row(rows, line, path, number, err);
    }
    source_close(source);
    return rc;
}

static int fit_one(struct calibration *c, struct fit *fit, int w, struct err *err)
{
    char from[160];
    (void)snprintf(from, sizeof from, "%s, %zu rows", whats[w], fit->rows);
    if (fit->rows < fit->terms) {
        calibration_note(c, "%s: %zu rows, at least %zu are needed; the base's number stands", whats[w], fit->rows,
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
            c,
            "parallelism: %zu rows, and at least two on each side of the peak are needed; the base's number "
            "stands",
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
