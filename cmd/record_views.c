#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/record_views.h"
#include "models/base/platform.h"
#include "models/gpu/gpu.h"
#include "replay/derive/derive.h"
#include "trace/base/mem.h"

/* --- what a recording holds, into a new trace that takes its place --- */

struct copying {
    struct store *out;
    const char *table;
    struct err *err;
};

static int copy_row(void *ctx, const struct store_value *values, size_t n)
{
    const struct copying *c = ctx;
    return store_row(c->out, c->table, values, n, c->err);
}

static int copy_origin(void *ctx, const struct store_value *values, size_t n)
{
    const struct copying *c = ctx;
    static const char *const own[] = {"state", "created", "derived"};
    for (size_t i = 0; n > 1 && i < sizeof own / sizeof *own; i++)
        if (strcmp(values[0].s, own[i]) == 0)
            return 0;
    return n > 1 ? store_origin(c->out, values[0].s, values[1].s, c->err) : 0;
}

static int copy_count(void *ctx, const struct store_value *values, size_t n)
{
    const struct copying *c = ctx;
    uint64_t count = n > 1 ? (uint64_t)values[1].i : 0;
    return (strcmp(c->table, "skipped") == 0 ? store_skip : store_drop)(c->out, values[0].s, count, c->err);
}

/* The rows of a plain table as they are. */
static int record_copy_table(struct store *in, struct store *out, const char *table, struct err *err)
{
    struct copying c = {out, table, err};
    return store_rows(in, table, copy_row, &c, err) ? -1 : 0;
}

/* Origin (but for what the new trace says of itself), what was left out and what was lost, the driver's parameters. */
static int record_copy_facts(struct store *in, struct store *out, struct err *err)
{
    static const char *const counts[] = {"skipped", "dropped"};
    struct copying c = {out, "origin", err};
    if (store_rows(in, "origin", copy_origin, &c, err) || record_copy_table(in, out, "parameters", err))
        return -1;
    for (int i = 0; i < 2; i++) {
        c.table = counts[i];
        if (store_rows(in, counts[i], copy_count, &c, err))
            return -1;
    }
    return 0;
}

/* A stream, all of it; one that is not there is no error. */
static int record_copy_stream(struct store *in, struct store *out, const char *name, struct err *err)
{
    int from = store_stream_find(in, name), to;
    struct store_cursor *cursor = from < 0 ? NULL : store_cursor_open(in, from, err);
    const struct record *records;
    const int64_t *extra;
    size_t n;
    int rc = 1;
    if (from < 0)
        return 0;
    if (!cursor || store_stream_add(out, store_stream(in, from), &to, err)) {
        store_cursor_close(cursor);
        return -1;
    }
    while (rc > 0 && (rc = store_cursor_next(cursor, &records, &extra, &n, err)) > 0)
        if (store_append(out, to, records, extra, n, err))
            rc = -1;
    store_cursor_close(cursor);
    return rc;
}

/* --- views --- */

/* Ways of an L2 whose GPU says its size only: assumed. It hardly matters (fully associative and 16 ways differ by the
 * conflicts of strided arrays), and `derive dram` takes another number. */
enum { ASSUMED_WAYS = 16 };

/* What is said of the recording. A view of touches has allocations of its own: the stretches that it reaches. */
static int copy_facts(struct store *in, struct store *out, enum record_view view, struct err *err)
{
    bool allocations = view != RECORD_VIEW_TOUCHES;
    return record_copy_facts(in, out, err) || (allocations && record_copy_table(in, out, "allocations", err)) ? -1 : 0;
}

int record_views_platform(const char *name, struct err *err)
{
    struct platform *p = platform_load(name, err);
    platform_free(p);
    return p ? 0 : -1;
}

/* The L2 of the platform, or of the recorded GPU. */
static int choose_l2(struct store *in, const char *name, struct derive_options *o, char text[120], struct err *err)
{
    const char *said = store_origin_get(in, "gpu.0.l2_bytes");
    if (name) {
        struct platform *p = platform_load(name, err);
        if (!p)
            return -1;
        const struct gpu *gpu = platform_section_get(p, "gpu");
        o->l2_bytes = gpu->l2_bytes;
        o->l2_ways = gpu->l2_ways;
        (void)snprintf(text, 120, "%" PRId64 " bytes, %" PRId64 " ways, as %.40s", o->l2_bytes, o->l2_ways,
                       platform_name(p));
        platform_free(p);
        return 0;
    }
    o->l2_bytes = said ? strtoll(said, NULL, 10) : 0;
    o->l2_ways = ASSUMED_WAYS;
    if (o->l2_bytes < ASSUMED_WAYS * 128)
        return err_set(err, "%s does not say how large the GPU's L2 is: --platform NAME says it", store_path(in));
    (void)snprintf(text, 120, "%" PRId64 " bytes, as the GPU says, %d ways, assumed", o->l2_bytes, ASSUMED_WAYS);
    return 0;
}

/* Requests by what they are and how large, in table origin: a request has whole sectors, at most a line. */
enum { SECTOR = 32, SECTORS = 4 };
struct histogram {
    uint64_t n[RECORD_KINDS][SECTORS + 1];
};

static int count_requests(struct store *out, struct histogram *h, struct err *err)
{
    int stream = store_stream_find(out, "requests"), rc = 1;
    struct store_cursor *cursor = stream < 0 ? NULL : store_cursor_open(out, stream, err);
    const struct record *r;
    const int64_t *extra;
    size_t n;
    while (cursor && (rc = store_cursor_next(cursor, &r, &extra, &n, err)) > 0)
        for (size_t i = 0; i < n; i++)
            if (r[i].bytes > 0 && r[i].bytes % SECTOR == 0 && r[i].bytes <= (uint64_t)SECTOR * SECTORS)
                h->n[r[i].kind][r[i].bytes / SECTOR]++;
    store_cursor_close(cursor);
    return stream < 0 || (cursor && rc == 0) ? 0 : -1;
}

static int dram_histogram(struct store *out, struct err *err)
{
    static const int kinds[] = {RECORD_DRAM_READ, RECORD_DRAM_WRITE, RECORD_DRAM_WRITEBACK};
    struct histogram h = {0};
    char key[64], text[32];
    if (store_flush(out, err) || count_requests(out, &h, err))
        return -1;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int s = 1; s <= SECTORS; s++) {
            (void)snprintf(key, sizeof key, "dram_histogram.%s.%d", record_kinds[kinds[k]].name, s * SECTOR);
            (void)snprintf(text, sizeof text, "%" PRIu64, h.n[kinds[k]][s]);
            if (h.n[kinds[k]][s] && store_origin(out, key, text, err))
                return -1;
        }
    return 0;
}

static int derive(struct store *in, struct store *out, enum record_view view, const char *platform, struct err *err)
{
    struct derive_source source = {.store = in, .name = store_path(in)};
    struct derive_options o = {.last = UINT64_MAX, .reuse = REUSE_NONE};
    struct program_counts counts = {0};
    char l2[120];
    if (view == RECORD_VIEW_TOUCHES)
        return derive_touches(&source, out, &o, &counts, err);
    if (view == RECORD_VIEW_REQUESTS)
        return store_origin(out, "derived", "requests", err) || store_origin(out, "reuse", "none", err) ||
                       derive_requests(&source, out, &o, &counts, err)
                   ? -1
                   : 0;
    if (choose_l2(in, platform, &o, l2, err))
        return -1;
    return store_origin(out, "derived", "dram", err) || store_origin(out, "l2", l2, err) ||
                   derive_dram(&source, out, &o, &counts, err) || dram_histogram(out, err)
               ? -1
               : 0;
}

int record_views_make(const char *path, enum record_view view, const char *platform, const char *command_line,
                      struct err *err)
{
    struct store *in = store_open(path, err);
    struct store *out = in ? store_create(path, OUTPUT_REPLACE, command_line, err) : NULL;
    int rc = out ? 0 : -1;
    if (rc == 0)
        rc = copy_facts(in, out, view, err) || derive(in, out, view, platform, err) ? -1 : 0;
    if (rc == 0)
        rc = store_complete(in) ? store_finish(out, err) : store_keep(out, err);
    store_close(out);
    store_close(in);
    return rc;
}

/* --- two runs in one --- */

static const char requests[] = "l2_sysmem_requests", sectors[] = "l2_sysmem_sectors";

/* One counter of a run, launch by launch. */
struct launches {
    const char *counter;
    char **kernels, **hows;
    double *values;
    size_t n, cap, how_cap, value_cap;
    struct err *err;
};

static int take_counter(void *ctx, const struct store_value *v, size_t n)
{
    struct launches *l = ctx;
    if (n < 5 || strcmp(v[1].s, l->counter) != 0)
        return 0;
    if (mem_grow((void **)&l->kernels, &l->cap, l->n + 1, sizeof *l->kernels, l->err) ||
        mem_grow((void **)&l->hows, &l->how_cap, l->n + 1, sizeof *l->hows, l->err) ||
        mem_grow((void **)&l->values, &l->value_cap, l->n + 1, sizeof *l->values, l->err))
        return -1;
    l->kernels[l->n] = mem_strdup(v[0].s, l->err);
    l->hows[l->n] = mem_strdup(v[4].s, l->err);
    l->values[l->n] = v[2].r;
    l->n++;
    return l->kernels[l->n - 1] && l->hows[l->n - 1] ? 0 : -1;
}

static int launches_read(struct launches *l, struct store *store, const char *counter, struct err *err)
{
    *l = (struct launches){.counter = counter, .err = err};
    return store_rows(store, "counters", take_counter, l, err) ? -1 : 0;
}

static void launches_release(struct launches *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->kernels[i]);
        free(l->hows[i]);
    }
    free(l->kernels);
    free(l->hows);
    free(l->values);
}

int record_lacks_sectors(const char *path, struct err *err)
{
    struct launches has, lacks;
    struct store *store = store_open(path, err);
    if (!store)
        return -1;
    int rc = launches_read(&has, store, requests, err) | launches_read(&lacks, store, sectors, err);
    rc = rc ? -1 : has.n > 0 && lacks.n == 0;
    launches_release(&has);
    launches_release(&lacks);
    store_close(store);
    return rc;
}

static int compare(const struct launches *a, const struct launches *b, struct err *err)
{
    for (size_t i = 0; i < a->n && i < b->n; i++)
        if (strcmp(a->kernels[i], b->kernels[i]) != 0)
            return err_set(err, "the program did not do the same twice: launch %zu was of %.100s and then of %.100s", i,
                           a->kernels[i], b->kernels[i]);
    return a->n == b->n ? 0
                        : err_set(err, "the program did not do the same twice: %zu launches were counted and then %zu",
                                  a->n, b->n);
}

struct adding {
    struct store *out;
    const struct launches *sectors;
    size_t n; /* added so far */
    struct err *err;
};

/* The counters of a launch stand together. */
static int copy_counter(void *ctx, const struct store_value *v, size_t n)
{
    struct adding *a = ctx;
    if (store_row(a->out, "counters", v, n, a->err))
        return -1;
    if (strcmp(v[1].s, requests) != 0 || a->n >= a->sectors->n)
        return 0;
    const struct store_value row[] = {v[0], STORE_V_TEXT(sectors), STORE_V_REAL(a->sectors->values[a->n]),
                                      STORE_V_TEXT("sectors"), STORE_V_TEXT(a->sectors->hows[a->n])};
    a->n++;
    return store_row(a->out, "counters", row, 5, a->err);
}

static int join(struct store *first, const struct launches *more, struct store *out, struct err *err)
{
    static const char *const tables[] = {"kernels", "allocations", "batches", "services"};
    struct adding adding = {.out = out, .sectors = more, .err = err};
    if (record_copy_facts(first, out, err) || store_origin(out, "counter_group", "l2+sectors, two runs", err))
        return -1;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (record_copy_table(first, out, tables[i], err))
            return -1;
    for (int s = 0; s < store_stream_count(first); s++)
        if (record_copy_stream(first, out, store_stream(first, s)->name, err))
            return -1;
    return store_rows(first, "counters", copy_counter, &adding, err) ? -1 : 0;
}

int record_join(const char *first, const char *second, const char *command_line, struct err *err)
{
    struct launches a = {0}, b = {0};
    struct store *one = store_open(first, err), *two = one ? store_open(second, err) : NULL, *out = NULL;
    int rc = two ? 0 : -1;
    if (rc == 0)
        rc = launches_read(&a, one, requests, err) || launches_read(&b, two, sectors, err) || compare(&a, &b, err) ? -1
                                                                                                                   : 0;
    if (rc == 0 && !(out = store_create(first, OUTPUT_REPLACE, command_line, err)))
        rc = -1;
    if (rc == 0)
        rc = join(one, &b, out, err);
    if (rc == 0)
        rc = store_complete(one) && store_complete(two) ? store_finish(out, err) : store_keep(out, err);
    launches_release(&a);
    launches_release(&b);
    store_close(out);
    store_close(two);
    store_close(one);
    return rc;
}
