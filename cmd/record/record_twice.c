#include "cmd/record/record_views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

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
