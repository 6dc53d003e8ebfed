#include "cmd/info.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/zerocopy/link.h"
#include "trace/base/hash.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"

enum { COUNTERS = 16, NAME_BYTES = 64 };

struct kernel {
    char *name;
    uint64_t launches; /* rows of its most frequent counter */
    uint64_t rows[COUNTERS];
    double total[COUNTERS];
    /* Requests and sectors of one launch, which come one after the other. */
    unsigned long launch;
    double requests, sectors;
    struct counter_sizes sizes;
    bool contradicts;
    UT_hash_handle hh;
};

struct tally {
    struct kernel *kernels;
    char names[COUNTERS][NAME_BYTES];
    size_t name_count;
    struct err *err;
};

static struct kernel *kernel_find(struct tally *t, const char *name)
{
    struct kernel *k;
    size_t length = strlen(name);
    HASH_FIND(hh, t->kernels, name, length, k);
    if (k)
        return k;
    k = mem_zalloc(1, sizeof *k, t->err);
    if (!k)
        return NULL;
    k->name = mem_strdup(name, t->err);
    k->requests = k->sectors = -1;
    if (k->name)
        HASH_ADD_KEYPTR(hh, t->kernels, k->name, length, k);
    if (hash_has(k))
        return k;
    free(k->name);
    free(k);
    (void)err_set(t->err, "out of memory");
    return NULL;
}

/* The column of a counter; a new one if there is room, or -1. */
static int column(struct tally *t, const char *name)
{
    for (size_t i = 0; i < t->name_count; i++)
        if (strcmp(t->names[i], name) == 0)
            return (int)i;
    if (t->name_count == COUNTERS || strlen(name) >= NAME_BYTES)
        return -1;
    (void)snprintf(t->names[t->name_count], NAME_BYTES, "%s", name);
    return (int)t->name_count++;
}

/* Both counters of one launch are there: add its bounds. */
static void add_sizes(struct kernel *k)
{
    struct counter_sizes s;
    if (k->requests > 0x1p53 || k->sectors > 0x1p53 ||
        !counter_sizes((uint64_t)k->requests, (uint64_t)k->sectors, &s)) {
        k->contradicts = true;
        return;
    }
    for (int i = 0; i < LINE_SECTORS; i++) {
        k->sizes.least[i] += s.least[i];
        k->sizes.most[i] += s.most[i];
    }
}

/* "launch N, ..."; false for anything else. */
static bool launch_number(const char *how, unsigned long *launch)
{
    static const char word[] = "launch ";
    char *end;
    if (strncmp(how, word, sizeof word - 1) != 0)
        return false;
    *launch = strtoul(how + sizeof word - 1, &end, 10);
    return *end == ',';
}

static void take_launch(struct kernel *k, const char *counter, double value, const char *how)
{
    unsigned long launch;
    bool requests = strcmp(counter, "l2_sysmem_requests") == 0, sectors = strcmp(counter, "l2_sysmem_sectors") == 0;
    if ((!requests && !sectors) || !launch_number(how, &launch))
        return;
    if (launch != k->launch)
        k->requests = k->sectors = -1;
    k->launch = launch;
    if (requests)
        k->requests = value;
    else
        k->sectors = value;
    if (k->requests < 0 || k->sectors < 0)
        return;
    add_sizes(k);
    k->requests = k->sectors = -1;
}

/* counters(kernel, name, value, unit, how) */
static int take_row(void *ctx, const struct store_value *v, size_t n)
{
    struct tally *t = ctx;
    if (n < 5 || !v[0].s || !v[0].s[0] || !v[1].s || !v[4].s || v[2].type == STORE_NULL)
        return 0; /* of the whole run */
    double value = v[2].type == STORE_INT ? (double)v[2].i : v[2].r;
    int c = column(t, v[1].s);
    if (c < 0 || !isfinite(value) || value < 0)
        return 0;
    struct kernel *k = kernel_find(t, v[0].s);
    if (!k)
        return -1;
    k->total[c] += value;
    k->launches = ++k->rows[c] > k->launches ? k->rows[c] : k->launches;
    take_launch(k, v[1].s, value, v[4].s);
    return 0;
}

/* --- as JSON --- */

/* A total of counts is an integer; a derived value may not be. */
static json_t *number(double value)
{
    if (!isfinite(value))
        return json_null();
    return value == floor(value) && fabs(value) < 0x1p53 ? json_integer((json_int_t)value) : json_real(value);
}

/* The kernel's total of a counter; NAN if some launch has no value of it. */
static double total(const struct tally *t, const struct kernel *k, const char *name)
{
    for (size_t i = 0; i < t->name_count; i++)
        if (strcmp(t->names[i], name) == 0 && k->rows[i] == k->launches)
            return k->total[i];
    return NAN;
}

static json_t *row_json(const struct tally *t, const struct kernel *k)
{
    json_t *row = json_object();
    json_tree_put(&row, "kernel", json_tree_text(k->name));
    json_tree_put(&row, "launches", json_integer((json_int_t)k->launches));
    for (size_t i = 0; i < t->name_count; i++)
        json_tree_put(&row, t->names[i], k->rows[i] ? number(k->total[i]) : json_null());
    double requests = total(t, k, "l2_sysmem_requests"), sectors = total(t, k, "l2_sysmem_sectors");
    double down = total(t, k, "pcie_read_bytes"), up = total(t, k, "pcie_write_bytes");
    json_tree_put(&row, "mean_request_bytes", requests > 0 ? number(sectors * SECTOR_BYTES / requests) : json_null());
    json_tree_put(&row, "link_requests", number(counter_link_requests(up)));
    json_tree_put(&row, "link_payload_bytes", number(counter_link_payload(up, down)));
    return row;
}

static void add_size_rows(json_t **rows, const struct kernel *k)
{
    uint64_t most = 0;
    for (int i = 0; i < LINE_SECTORS; i++)
        most += k->sizes.most[i];
    for (int i = 0; most > 0 && !k->contradicts && i < LINE_SECTORS; i++)
        json_tree_add(rows, json_pack("{s:o,s:i,s:I,s:I}", "kernel", json_tree_text(k->name), "size_bytes",
                                      SECTOR_BYTES * (i + 1), "at_least", (json_int_t)k->sizes.least[i], "at_most",
                                      (json_int_t)k->sizes.most[i]));
}

int info_counters_json(struct store *store, json_t **root, struct err *err)
{
    struct tally t = {.err = err};
    int rc = store_rows(store, "counters", take_row, &t, err);
    json_t *rows = json_array(), *sizes = json_array();
    bool any = t.kernels != NULL;
    for (const struct kernel *k = t.kernels; k; k = k->hh.next) {
        json_tree_add(&rows, row_json(&t, k));
        add_size_rows(&sizes, k);
    }
    HASH_FREE(t.kernels, k, free(k->name));
    if (rc == 0 && any) {
        json_tree_put(root, "counters", json_incref(rows));
        json_tree_put(root, "request_sizes", json_incref(sizes));
    }
    json_decref(rows);
    json_decref(sizes);
    return rc < 0 ? -1 : 0;
}
