#include "trace/export/perfetto_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/base/units.h"
#include "trace/event/tlp.h"

/* A row of table kernels or strings; number: its id. */
struct named {
    int64_t number, cuda_stream;
    char *json;
};

struct perfetto_names {
    struct named_list {
        struct named *items;
        size_t count, cap;
    } kernels, strings;
    char buffer[128];
    struct err *err; /* of the reading under way */
};

/* Kernels have their CUDA stream in the last column. */
static int add(struct perfetto_names *names, struct named_list *list, const struct store_value *v, size_t last)
{
    if (v[0].type != STORE_INT || v[1].type != STORE_TEXT)
        return 0;
    if (mem_grow((void **)&list->items, &list->cap, list->count + 1, sizeof *list->items, names->err))
        return -1;
    json_t *text = json_tree_text(v[1].s);
    char *json = text ? json_tree_dump(text, JSON_ENCODE_ANY | JSON_ENSURE_ASCII) : NULL;
    json_decref(text);
    if (!json)
        return err_set(names->err, "out of memory");
    const bool known = last > 1 && v[last].type == STORE_INT;
    list->items[list->count++] = (struct named){v[0].i, known ? v[last].i : -1, json};
    return 0;
}

static int add_kernel(void *ctx, const struct store_value *v, size_t n)
{
    struct perfetto_names *names = ctx;
    return add(names, &names->kernels, v, n - 1);
}

static int add_string(void *ctx, const struct store_value *v, size_t n)
{
    struct perfetto_names *names = ctx;
    (void)n;
    return add(names, &names->strings, v, 0);
}

static int by_number(const void *a, const void *b)
{
    const int64_t x = ((const struct named *)a)->number, y = ((const struct named *)b)->number;
    return (x > y) - (x < y);
}

static const struct named *find(const struct named_list *list, uint64_t id)
{
    const struct named key = {.number = (int64_t)id};
    return list->count ? bsearch(&key, list->items, list->count, sizeof key, by_number) : NULL;
}

struct perfetto_names *perfetto_names_new(struct store *store, struct err *err)
{
    struct perfetto_names *names = mem_zalloc(1, sizeof *names, err);
    if (!names)
        return NULL;
    names->err = err;
    if (store_rows(store, "kernels", add_kernel, names, err) || store_rows(store, "strings", add_string, names, err)) {
        perfetto_names_free(names);
        return NULL;
    }
    if (names->kernels.count)
        qsort(names->kernels.items, names->kernels.count, sizeof *names->kernels.items, by_number);
    if (names->strings.count)
        qsort(names->strings.items, names->strings.count, sizeof *names->strings.items, by_number);
    return names;
}

static void list_free(struct named_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].json);
    free(list->items);
}

void perfetto_names_free(struct perfetto_names *names)
{
    if (!names)
        return;
    list_free(&names->kernels);
    list_free(&names->strings);
    free(names);
}

/* The word of a number, where it has one. */
static const char *word(const char *const *words, size_t n, uint32_t number)
{
    return number < n && words[number] ? words[number] : NULL;
}

/* What a record's flags add to the name of its kind; NULL: nothing. */
static const char *detail(const struct record *r)
{
    static const char *const causes[] = {NULL, "user", "fault", "prefetch", "eviction", "access counters"};
    static const char *const accesses[] = {NULL, "read", "write", "atomic", "prefetch"};
    static const char *const copies[] = {NULL, "H2D", "D2H", "D2D", "H2H", "peer"};
    switch (r->kind) {
    case RECORD_MIGRATE_H2D:
    case RECORD_MIGRATE_D2H:
    case RECORD_MIGRATE_D2D:
        return word(causes, sizeof causes / sizeof *causes, r->flags);
    case RECORD_FAULT:
    case RECORD_CPU_FAULT:
        return word(accesses, sizeof accesses / sizeof *accesses, r->flags);
    case RECORD_COPY:
        return word(copies, sizeof copies / sizeof *copies, r->flags);
    default:
        return NULL;
    }
}

const char *perfetto_name(struct perfetto_names *names, const struct record *r)
{
    const struct named *named = r->kind == RECORD_KERNEL  ? find(&names->kernels, r->id)
                                : r->kind == RECORD_RANGE ? find(&names->strings, r->id)
                                                          : NULL;
    char bytes[32];
    if (named)
        return named->json;
    const char *kind = record_kinds[r->kind].name, *more = detail(r);
    if (r->kind == RECORD_TLP)
        (void)snprintf(names->buffer, sizeof names->buffer, "\"%s %" PRIu64 " B\"", tlp_name(tlp_record_type(r)),
                       r->bytes);
    else if (r->bytes && r->kind != RECORD_FAULT)
        (void)snprintf(names->buffer, sizeof names->buffer, "\"%s%s%s %s\"", kind, more ? " " : "", more ? more : "",
                       units_human_bytes((double)r->bytes, bytes, sizeof bytes));
    else
        (void)snprintf(names->buffer, sizeof names->buffer, "\"%s%s%s\"", kind, more ? " " : "", more ? more : "");
    return names->buffer;
}

int64_t perfetto_cuda_stream(const struct perfetto_names *names, const struct record *r)
{
    const struct named *kernel = r->kind == RECORD_KERNEL ? find(&names->kernels, r->id) : NULL;
    return kernel ? kernel->cuda_stream : -1;
}
