#include "trace/import/offchip_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

/* --- opening --- */

/* Kinds that several processes' traces may have. */
static const uint64_t together = 1ull << RECORD_KERNEL | 1ull << RECORD_ALLOC | 1ull << RECORD_ADVISE |
                                 1ull << RECORD_PREFETCH | 1ull << RECORD_COPY | 1ull << RECORD_FAULT |
                                 1ull << RECORD_CPU_FAULT | 1ull << RECORD_MIGRATE_H2D | 1ull << RECORD_MIGRATE_D2H |
                                 1ull << RECORD_EVICT | 1ull << RECORD_THRASH | 1ull << RECORD_THROTTLE |
                                 1ull << RECORD_REMOTE_MAP | 1ull << RECORD_MIGRATE_D2D | 1ull << RECORD_RANGE |
                                 1ull << RECORD_ACCESS | 1ull << RECORD_KERNEL_END;

/* Whether it is the recording of a program. */
static int check_kinds(const struct offchip_input *input, struct err *err)
{
    static const char *const wholes[] = {"structures", "tlp_totals", "tlp_flows", "tlp_histogram"};
    for (int s = 0; s < store_stream_count(input->store); s++) {
        const struct stream *stream = store_stream(input->store, s);
        bool log = strcmp(stream->name, "faults") == 0 || strcmp(stream->name, "batches") == 0;
        for (int k = 0; k < RECORD_KINDS; k++)
            if (stream->kinds >> k & 1 && (log || !(together >> k & 1)))
                return err_set(
                    err,
                    "'%s': its stream '%s' holds %s%s, which cannot be put together with other traces; import "
                    "the sources together instead",
                    input->path, stream->name, record_kinds[k].name, log ? " of a driver's log" : "");
    }
    for (size_t t = 0; t < sizeof wholes / sizeof *wholes; t++) {
        int64_t rows = 0;
        if (store_row_count(input->store, wholes[t], &rows, err))
            return -1;
        if (rows)
            return err_set(err, "'%s': rows of table %s cannot be put together with those of other traces", input->path,
                           wholes[t]);
    }
    return 0;
}

static int check_stream(const struct offchip_input *a, const struct stream *x, const struct offchip_input *b,
                        const struct stream *y, struct err *err)
{
    if (x->unit != y->unit || strcmp(x->clock, y->clock) != 0 || x->clock_hz != y->clock_hz)
        return err_set(err, "stream '%s' is in %s%s%s in '%s' and in %s%s%s in '%s'; times are not converted", x->name,
                       time_unit_name(x->unit), *x->clock ? " of clock " : "", x->clock, a->path,
                       time_unit_name(y->unit), *y->clock ? " of clock " : "", y->clock, b->path);
    if (x->space != y->space || strcmp(x->addr_layout, y->addr_layout) != 0)
        return err_set(err, "stream '%s' has addresses in %s%s%s in '%s' and in %s%s%s in '%s'; they are not converted",
                       x->name, addr_space_name(x->space), *x->addr_layout ? " " : "", x->addr_layout, a->path,
                       addr_space_name(y->space), *y->addr_layout ? " " : "", y->addr_layout, b->path);
    for (int e = 0; e < STORE_EXTRAS; e++)
        if (strcmp(x->extra[e], y->extra[e]) != 0)
            return err_set(err, "stream '%s' has extra column %d '%s' in '%s' and '%s' in '%s'", x->name, e + 1,
                           x->extra[e], a->path, y->extra[e], b->path);
    return 0;
}

/* Against the inputs before it. */
static int check_others(const struct offchip_inputs *inputs, size_t last, struct err *err)
{
    const struct offchip_input *b = &inputs->items[last];
    for (size_t i = 0; i < last; i++) {
        const struct offchip_input *a = &inputs->items[i];
        if (strcmp(a->hash, b->hash) == 0)
            return err_set(err, "'%s' and '%s' are the same trace", a->path, b->path);
        for (int s = 0; s < store_stream_count(b->store); s++) {
            const struct stream *y = store_stream(b->store, s);
            int same = store_stream_find(a->store, y->name);
            if (same >= 0 && check_stream(a, store_stream(a->store, same), b, y, err))
                return -1;
        }
    }
    return 0;
}

int offchip_inputs_open(struct offchip_inputs *inputs, const char *const *paths, size_t count, struct err *err)
{
    *inputs = (struct offchip_inputs){mem_zalloc(count, sizeof *inputs->items, err), 0};
    if (!inputs->items)
        return -1;
    for (size_t i = 0; i < count; i++) {
        struct offchip_input *input = &inputs->items[inputs->count++];
        input->path = paths[i];
        input->store = store_open(paths[i], err);
        if (!input->store || store_hash(input->store, input->hash, err) ||
            (count > 1 && (check_kinds(input, err) || check_others(inputs, i, err))))
            return -1;
    }
    return 0;
}

static void numbers_release(struct offchip_numbers *numbers)
{
    free(numbers->items);
    *numbers = (struct offchip_numbers){0};
}

void offchip_inputs_release(struct offchip_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        struct offchip_input *input = &inputs->items[i];
        numbers_release(&input->kernels);
        numbers_release(&input->launches);
        numbers_release(&input->allocations);
        store_close(input->store);
    }
    free(inputs->items);
    *inputs = (struct offchip_inputs){0};
}

/* --- new numbers --- */

static int by_from(const void *a, const void *b)
{
    const struct offchip_number *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

static const struct offchip_number *find(const struct offchip_numbers *numbers, int64_t from)
{
    const struct offchip_number key = {.from = from};
    return numbers->count ? bsearch(&key, numbers->items, numbers->count, sizeof key, by_from) : NULL;
}

/* A numbered row of one input, in the order of its table. */
struct row {
    int64_t number, launch, time;
    bool launched;
};

struct rows {
    struct row *items;
    size_t count, cap, at;
    int time_column, launch_column; /* of the table; 0: none */
    struct err *err;
};

/* A row without a time stands right behind the one before it. */
static int take_row(void *ctx, const struct store_value *values, size_t n)
{
    struct rows *rows = ctx;
    (void)n;
    if (mem_grow((void **)&rows->items, &rows->cap, rows->count + 1, sizeof *rows->items, rows->err))
        return -1;
    const struct store_value *time = &values[rows->time_column], *launch = &values[rows->launch_column];
    struct row *row = &rows->items[rows->count++];
    *row = (struct row){.number = values[0].i, .launch = launch->i};
    row->launched = rows->launch_column && launch->type == STORE_INT;
    row->time = time->type == STORE_INT ? time->i : rows->count > 1 ? row[-1].time : INT64_MIN;
    return 0;
}

static int add_number(struct offchip_numbers *numbers, int64_t from, int64_t to, struct err *err)
{
    if (mem_grow((void **)&numbers->items, &numbers->cap, numbers->count + 1, sizeof *numbers->items, err))
        return -1;
    numbers->items[numbers->count++] = (struct offchip_number){from, to};
    return 0;
}

/* The next number goes to the earliest of the rows that stand first in their inputs. */
static int number_next(struct offchip_inputs *inputs, struct rows *rows, bool kernels, int64_t number, bool *more,
                       struct err *err)
{
    size_t best = inputs->count;
    for (size_t i = 0; i < inputs->count; i++)
        if (rows[i].at < rows[i].count &&
            (best == inputs->count || rows[i].items[rows[i].at].time < rows[best].items[rows[best].at].time))
            best = i;
    *more = best < inputs->count;
    if (!*more)
        return 0;
    struct offchip_input *input = &inputs->items[best];
    const struct row *row = &rows[best].items[rows[best].at++];
    if (!kernels)
        return add_number(&input->allocations, row->number, number, err);
    if (add_number(&input->kernels, row->number, number, err))
        return -1;
    return row->launched ? add_number(&input->launches, row->launch, number, err) : 0;
}

static int number_rows(struct offchip_inputs *inputs, bool kernels, int64_t *count, struct err *err)
{
    struct rows *rows = mem_zalloc(inputs->count, sizeof *rows, err);
    if (!rows)
        return -1;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < inputs->count; i++) {
        rows[i].err = err;
        rows[i].time_column = kernels ? 3 : 5;
        rows[i].launch_column = kernels ? 2 : 0;
        rc = store_rows(inputs->items[i].store, kernels ? "kernels" : "allocations", take_row, &rows[i], err);
    }
    bool more = true;
    int64_t number = 0;
    while (rc == 0 && more) {
        rc = number_next(inputs, rows, kernels, number, &more, err);
        number += more;
    }
    for (size_t i = 0; i < inputs->count; i++) {
        struct offchip_input *input = &inputs->items[i];
        struct offchip_numbers *numbers[] = {&input->kernels, &input->launches, &input->allocations};
        for (int k = 0; k < 3; k++)
            if (numbers[k]->count)
                qsort(numbers[k]->items, numbers[k]->count, sizeof *numbers[k]->items, by_from);
        free(rows[i].items);
    }
    free(rows);
    if (count)
        *count = number;
    return rc;
}

/* A number of the input that another table of it must know. */
static int renumber(const struct offchip_input *input, const struct offchip_numbers *numbers, const char *what,
                    int64_t *number, struct err *err)
{
    const struct offchip_number *found = find(numbers, *number);
    if (!found)
        return err_set(err, "'%s': there is no %s %lld", input->path, what, (long long)*number);
    *number = found->to;
    return 0;
}

int offchip_input_renumber(const struct offchip_input *input, struct record *record, struct err *err)
{
    int64_t id = (int64_t)record->id, group = record->group;
    switch (record->kind) {
    case RECORD_KERNEL:
        if (renumber(input, &input->kernels, "kernel", &id, err) ||
            renumber(input, &input->launches, "launch", &group, err))
            return -1;
        break;
    case RECORD_ACCESS:
    case RECORD_KERNEL_END:
        if (renumber(input, &input->launches, "launch", &group, err))
            return -1;
        break;
    case RECORD_ALLOC:
        if (renumber(input, &input->allocations, "allocation", &id, err))
            return -1;
        break;
    case RECORD_RANGE:
        if (id < 0 || id >= input->strings)
            return err_set(err, "'%s': there is no string %lld", input->path, (long long)id);
        id += input->first_string;
        break;
    default:
        break;
    }
    record->id = (uint64_t)id;
    record->group = (uint32_t)group;
    return 0;
}

/* --- tables --- */

struct copying {
    const struct offchip_input *input;
    struct store *store;
    const char *table;
    struct err *err;
};

static int copy_row(void *ctx, const struct store_value *values, size_t n)
{
    struct copying *c = ctx;
    struct store_value row[24];
    if (n > sizeof row / sizeof *row)
        return err_set(c->err, "table %s has %zu columns", c->table, n);
    memcpy(row, values, n * sizeof *row);
    bool kernels = strcmp(c->table, "kernels") == 0;
    if (strcmp(c->table, "strings") == 0)
        row[0].i += c->input->first_string;
    if (kernels || strcmp(c->table, "allocations") == 0) {
        const struct offchip_input *input = c->input;
        if (renumber(input, kernels ? &input->kernels : &input->allocations, "row", &row[0].i, c->err))
            return -1;
        if (kernels && row[2].type == STORE_INT && renumber(input, &input->launches, "launch", &row[2].i, c->err))
            return -1;
    }
    return store_row(c->store, c->table, row, n, c->err);
}

static int take_string(void *ctx, const struct store_value *values, size_t n)
{
    struct offchip_input *input = ctx;
    if (n > 0 && values[0].i >= input->strings && values[0].i < INT32_MAX)
        input->strings = values[0].i + 1;
    return 0;
}

/* Those of an input stand behind those of the inputs before it. */
static int number_strings(struct offchip_inputs *inputs, struct err *err)
{
    int64_t first = 0;
    for (size_t i = 0; i < inputs->count; i++) {
        struct offchip_input *input = &inputs->items[i];
        input->first_string = first;
        if (store_rows(input->store, "strings", take_string, input, err))
            return -1;
        first += input->strings;
    }
    return 0;
}

int offchip_inputs_tables(struct offchip_inputs *inputs, struct store *store, int64_t *kernels, struct err *err)
{
    static const char *const tables[] = {"kernels", "allocations", "counters", "strings"};
    if (number_strings(inputs, err))
        return -1;
    if (number_rows(inputs, true, kernels, err) || number_rows(inputs, false, NULL, err))
        return -1;
    for (size_t i = 0; i < inputs->count; i++)
        for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
            struct copying c = {&inputs->items[i], store, tables[t], err};
            if (store_rows(inputs->items[i].store, tables[t], copy_row, &c, err))
                return -1;
        }
    return 0;
}
