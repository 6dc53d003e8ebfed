/* offchip: our own traces as inputs, so that what several processes recorded becomes one trace.
 *
 * One trace is taken over as it is. Of several, only what programs do can be put together: kernels, allocations,
 * advice, copies, faults, migrations and warp accesses. A generated workload, DRAM requests, captures and driver logs
 * are each a whole and are refused beside others. Streams of one name become one, in order of (time, input, position in
 * the input); a stream without time is one input after the other. They must agree in time unit, clock, address space
 * and extra columns: nothing is converted. Numbers of kernels (and of their launches) and of allocations are given
 * anew, in the same order of time; a record that refers to a number its trace lacks is an error. Counts of skipped and
 * dropped items are summed; rows of counters, and driver parameters, are kept of every input. Batches and services are
 * rebuilt by the caller from the merged records. Facts of table origin that all inputs share stay what they are
 * (kinds.STREAM: what all could see); the others, and what says of each input when, where and from what it was made,
 * become input.N.KEY. merge.clock says on what grounds times are taken to be of one clock. Whose a record is its extra
 * column process_id says, as before. One input that is incomplete makes the trace incomplete. The same trace twice is
 * refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/param_value.h"
#include "trace/base/sorted.h"
#include "trace/import/reader.h"
#include "trace/store/facts.h"
#include "trace/store/schema.h"
#include "trace/store/store.h"

/* New numbers for old ones, sorted by the old one. */
struct numbers {
    struct number {
        int64_t from, to;
    } * items;
    size_t count, cap;
};

struct input {
    const char *path;
    struct store *store;
    char hash[33];
    struct numbers kernels, launches, allocations;
    int64_t strings, first_string; /* how many, and the new number of the first */
};

struct inputs {
    struct input *items;
    size_t count;
};

/* --- opening --- */

/* Kinds that several processes' traces may have. */
static const uint64_t together = 1ull << RECORD_KERNEL | 1ull << RECORD_ALLOC | 1ull << RECORD_ADVISE |
                                 1ull << RECORD_PREFETCH | 1ull << RECORD_COPY | 1ull << RECORD_FAULT |
                                 1ull << RECORD_CPU_FAULT | 1ull << RECORD_MIGRATE_H2D | 1ull << RECORD_MIGRATE_D2H |
                                 1ull << RECORD_EVICT | 1ull << RECORD_THRASH | 1ull << RECORD_THROTTLE |
                                 1ull << RECORD_REMOTE_MAP | 1ull << RECORD_MIGRATE_D2D | 1ull << RECORD_RANGE |
                                 1ull << RECORD_ACCESS | 1ull << RECORD_KERNEL_END;

/* Whether it is the recording of a program. */
static int check_kinds(const struct input *input, struct err *err)
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

static int check_stream(const struct input *a, const struct stream *x, const struct input *b, const struct stream *y,
                        struct err *err)
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
static int check_others(const struct inputs *inputs, size_t last, struct err *err)
{
    const struct input *b = &inputs->items[last];
    for (size_t i = 0; i < last; i++) {
        const struct input *a = &inputs->items[i];
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

/* Open them all. An input that is there twice, or cannot be put together with the others, is an error. Released by
 * inputs_release() whatever came of it. */
static int inputs_open(struct inputs *inputs, const char *const *paths, size_t count, struct err *err)
{
    *inputs = (struct inputs){mem_zalloc(count, sizeof *inputs->items, err), 0};
    if (!inputs->items)
        return -1;
    for (size_t i = 0; i < count; i++) {
        struct input *input = &inputs->items[inputs->count++];
        input->path = paths[i];
        input->store = store_open(paths[i], err);
        if (!input->store || store_hash(input->store, input->hash, err) ||
            (count > 1 && (check_kinds(input, err) || check_others(inputs, i, err))))
            return -1;
    }
    return 0;
}

static void inputs_release(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        struct input *input = &inputs->items[i];
        free(input->kernels.items);
        free(input->launches.items);
        free(input->allocations.items);
        store_close(input->store);
    }
    free(inputs->items);
}

/* --- new numbers --- */

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
    const struct store_value *time = &values[rows->time_column], *launch = &values[rows->launch_column];
    const int64_t before = rows->count ? rows->items[rows->count - 1].time : INT64_MIN;
    return MEM_ADD(rows->items, rows->count, rows->cap, rows->err,
                   (struct row){.number = values[0].i,
                                .launch = launch->i,
                                .time = time->type == STORE_INT ? time->i : before,
                                .launched = rows->launch_column && launch->type == STORE_INT});
}

static int add_number(struct numbers *numbers, int64_t from, int64_t to, struct err *err)
{
    return MEM_ADD(numbers->items, numbers->count, numbers->cap, err, (struct number){from, to});
}

/* The next number goes to the earliest of the rows that stand first in their inputs. */
static int number_next(struct inputs *inputs, struct rows *rows, bool kernels, int64_t number, bool *more,
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
    struct input *input = &inputs->items[best];
    const struct row *row = &rows[best].items[rows[best].at++];
    if (!kernels)
        return add_number(&input->allocations, row->number, number, err);
    if (add_number(&input->kernels, row->number, number, err))
        return -1;
    return row->launched ? add_number(&input->launches, row->launch, number, err) : 0;
}

static int number_rows(struct inputs *inputs, bool kernels, int64_t *count, struct err *err)
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
        struct input *input = &inputs->items[i];
        struct numbers *numbers[] = {&input->kernels, &input->launches, &input->allocations};
        for (int k = 0; k < 3; k++)
            sort_items(numbers[k]->items, numbers[k]->count, sizeof *numbers[k]->items, sorted_by_i64);
        free(rows[i].items);
    }
    free(rows);
    if (count)
        *count = number;
    return rc;
}

/* A number of the input that another table of it must know. */
static int renumber(const struct input *input, const struct numbers *numbers, const char *what, int64_t *number,
                    struct err *err)
{
    const struct number *found =
        sort_find(number, numbers->items, numbers->count, sizeof *numbers->items, sorted_by_i64);
    if (!found)
        return err_set(err, "'%s': there is no %s %lld", input->path, what, (long long)*number);
    *number = found->to;
    return 0;
}

/* Give a record the new numbers. */
static int renumber_record(const struct input *input, struct record *record, struct err *err)
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
    const struct input *input;
    struct store *store;
    const char *table;
    struct err *err;
};

static int copy_row(void *ctx, const struct store_value *values, size_t n)
{
    struct copying *c = ctx;
    const struct input *input = c->input;
    struct store_value row[24];
    if (n > sizeof row / sizeof *row)
        return err_set(c->err, "table %s has %zu columns", c->table, n);
    memcpy(row, values, n * sizeof *row);
    bool kernels = strcmp(c->table, "kernels") == 0;
    if (strcmp(c->table, "strings") == 0)
        row[0].i += input->first_string;
    if (kernels || strcmp(c->table, "allocations") == 0) {
        if (renumber(input, kernels ? &input->kernels : &input->allocations, "row", &row[0].i, c->err))
            return -1;
        if (kernels && row[2].type == STORE_INT && renumber(input, &input->launches, "launch", &row[2].i, c->err))
            return -1;
    }
    return store_row(c->store, c->table, row, n, c->err);
}

static int take_string(void *ctx, const struct store_value *values, size_t n)
{
    struct input *input = ctx;
    if (n > 0 && values[0].i >= input->strings && values[0].i < INT32_MAX)
        input->strings = values[0].i + 1;
    return 0;
}

/* Those of an input stand behind those of the inputs before it. */
static int number_strings(struct inputs *inputs, struct err *err)
{
    int64_t first = 0;
    for (size_t i = 0; i < inputs->count; i++) {
        struct input *input = &inputs->items[i];
        input->first_string = first;
        if (store_rows(input->store, "strings", take_string, input, err))
            return -1;
        first += input->strings;
    }
    return 0;
}

/* Write tables kernels and allocations with new numbers, and the counters of all inputs. kernels: how many there are.
 */
static int merge_tables(struct inputs *inputs, struct store *store, int64_t *kernels, struct err *err)
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

/* --- what the inputs say of themselves, put together: pairs of a key and a value, of all inputs ---
 *
 * A key of origin or parameters that every input has with the same value stays; others become input.N.KEY. Always so:
 * what belongs to the making of one file (when, where, by which command, from which source). kinds.STREAM becomes what
 * all inputs could see. Counts of skipped and dropped items are summed. */

struct pair {
    char *key, *value;
    size_t input;
};

struct pairs {
    struct pair *items;
    size_t count, cap, input;
    struct err *err;
};

static int take_pair(void *ctx, const struct store_value *values, size_t n)
{
    struct pairs *p = ctx;
    (void)n;
    if (mem_grow((void **)&p->items, &p->cap, p->count + 1, sizeof *p->items, p->err))
        return -1;
    struct pair *pair = &p->items[p->count++];
    *pair = (struct pair){mem_strdup(values[0].s, p->err), NULL, p->input};
    pair->value = pair->key ? mem_strdup(values[1].s, p->err) : NULL;
    return pair->value ? 0 : -1;
}

SORTED_AS(by_key, struct pair, strcmp(x->key, y->key) ?: ORDER_OF(x->input, y->input))

static void pairs_release(struct pairs *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->items[i].key);
        free(p->items[i].value);
    }
    free(p->items);
}

/* The words of `list` that `other` has too, in place. */
static void keep_common(char *list, const char *other)
{
    char *to = list;
    for (char *word = list, *end; *word; word = end) {
        size_t n = strcspn(word, " ");
        end = word + n + (word[n] == ' ');
        bool common = false;
        for (const char *o = other; !common && *o; o += strcspn(o, " "), o += *o == ' ')
            common = strcspn(o, " ") == n && memcmp(o, word, n) == 0;
        if (!common)
            continue;
        if (to != list)
            *to++ = ' ';
        memmove(to, word, n);
        to += n;
    }
    *to = 0;
}

static int put(struct store *store, bool origin, const char *key, const char *value, struct err *err)
{
    return origin ? store_origin(store, key, value, err)
                  : STORE_ROW(store, "parameters", err, STORE_V_TEXT(key), STORE_V_TEXT(value));
}

/* The n pairs of one key. */
static int put_key(const struct pair *pairs, size_t n, size_t inputs, bool origin, struct store *store, struct err *err)
{
    bool shared = n == inputs && !(origin && facts_of_making(pairs->key));
    if (shared && origin && strncmp(pairs->key, "kinds.", 6) == 0)
        for (size_t i = 1; i < n; i++)
            keep_common(pairs->value, pairs[i].value);
    else
        for (size_t i = 1; shared && i < n; i++)
            shared = strcmp(pairs[i].value, pairs->value) == 0;
    if (shared)
        return put(store, origin, pairs->key, pairs->value, err);
    for (size_t i = 0; i < n; i++) {
        char key[400];
        (void)snprintf(key, sizeof key, "input.%zu.%.350s", pairs[i].input, pairs[i].key);
        if (put(store, origin, key, pairs[i].value, err))
            return -1;
    }
    return 0;
}

static int put_table(const struct inputs *inputs, bool origin, struct store *store, struct err *err)
{
    struct pairs p = {.err = err};
    int rc = 0;
    for (; rc == 0 && p.input < inputs->count; p.input++)
        rc = store_rows(inputs->items[p.input].store, origin ? "origin" : "parameters", take_pair, &p, err);
    if (rc == 0)
        sort_items(p.items, p.count, sizeof *p.items, by_key);
    for (size_t i = 0, n; rc == 0 && i < p.count; i += n) {
        for (n = 1; i + n < p.count && strcmp(p.items[i + n].key, p.items[i].key) == 0; n++)
            ;
        rc = put_key(&p.items[i], n, inputs->count, origin, store, err);
    }
    pairs_release(&p);
    return rc;
}

/* --- counts --- */

struct counting {
    struct reader_context *context;
    bool skipped;
    struct err *err;
};

static int take_count(void *ctx, const struct store_value *values, size_t n)
{
    const struct counting *c = ctx;
    (void)n;
    return reader_count(c->context, c->skipped, values, c->err);
}

static int merge_facts(struct reader_context *context, const struct inputs *inputs, struct err *err)
{
    struct counting skips = {context, true, err}, drops = {context, false, err};
    if (put_table(inputs, true, context->store, err) || put_table(inputs, false, context->store, err))
        return -1;
    for (size_t i = 0; i < inputs->count; i++) {
        const struct input *input = &inputs->items[i];
        if (store_rows(input->store, "skipped", take_count, &skips, err) ||
            store_rows(input->store, "dropped", take_count, &drops, err))
            return err_at(err, "'%s'", input->path);
    }
    return 0;
}

enum { ID_BYTE = 68 }; /* of SQLite's application_id, big-endian (SQLite file format, section 1.3) */

/* --- streams --- */

struct part {
    const struct input *input;
    int stream;
    struct store_walk next; /* next.r: the next record */
    bool over;
};

struct merging {
    struct writer writer;
    const struct stream *stream;
    struct part *parts;
    size_t count;
    bool renumber;
};

static int part_next(struct part *part, struct err *err)
{
    part->over = !store_walk_next(&part->next, part->input->store, part->stream, err);
    return part->next.failed ? -1 : 0;
}

/* Whether a's next record comes before b's, which is of a later input. Without time, inputs follow one another. */
static bool is_first(const struct merging *m, const struct part *a, const struct part *b)
{
    return m->stream->unit == TIME_NONE || a->next.r->time <= b->next.r->time;
}

/* Hand over the next record of a part. */
static int take_record(struct merging *m, struct part *part, struct err *err)
{
    struct record record = *part->next.r;
    int64_t extra[STORE_EXTRAS];
    for (int c = 0; c < m->writer.extras; c++)
        extra[c] = store_walk_extra(&part->next, c);
    if ((m->renumber && renumber_record(part->input, &record, err)) ||
        writer_add(&m->writer, &record, m->writer.extras ? extra : NULL, err))
        return -1;
    return part_next(part, err);
}

static int merge_parts(struct merging *m, struct err *err)
{
    for (;;) {
        struct part *first = NULL, *second = NULL;
        for (size_t i = 0; i < m->count; i++) {
            struct part *part = &m->parts[i];
            if (part->over)
                continue;
            if (!first) {
                first = part;
            } else if (!is_first(m, first, part)) {
                second = first;
                first = part;
            } else if (!second || !is_first(m, second, part)) {
                second = part;
            }
        }
        if (!first)
            return 0;
        /* As long as it stays the first: ties go to the earlier input. */
        do
            if (take_record(m, first, err))
                return -1;
        while (!first->over &&
               (!second || (first < second ? is_first(m, first, second) : !is_first(m, second, first))));
    }
}

static int merge_stream(const struct inputs *inputs, struct store *store, const struct stream *stream, struct err *err)
{
    struct merging m = {.stream = stream, .renumber = inputs->count > 1};
    int index, extras = 0, rc = -1;
    while (extras < STORE_EXTRAS && stream->extra[extras][0])
        extras++;
    m.parts = mem_zalloc(inputs->count, sizeof *m.parts, err);
    if (!m.parts)
        return -1;
    if (store_stream_add(store, stream, &index, err) == 0)
        rc = writer_open(&m.writer, store, index, extras, err);
    for (size_t i = 0; rc == 0 && i < inputs->count; i++) {
        const struct input *input = &inputs->items[i];
        int found = store_stream_find(input->store, stream->name);
        if (found < 0)
            continue;
        struct part *part = &m.parts[m.count++];
        *part = (struct part){.input = input, .stream = found};
        rc = part_next(part, err);
    }
    if (rc == 0)
        rc = merge_parts(&m, err);
    /* What came before an error is kept: the trace stays incomplete. */
    if (m.writer.records && writer_flush(&m.writer, rc ? NULL : err))
        rc = -1;
    for (size_t i = 0; i < m.count; i++)
        (void)store_walk_end(&m.parts[i].next);
    writer_close(&m.writer);
    free(m.parts);
    return rc;
}

static int merge_streams(const struct inputs *inputs, struct store *store, struct err *err)
{
    for (size_t i = 0; i < inputs->count; i++)
        for (int s = 0; s < store_stream_count(inputs->items[i].store); s++) {
            const struct stream *stream = store_stream(inputs->items[i].store, s);
            if (store_stream_find(store, stream->name) < 0 && merge_stream(inputs, store, stream, err))
                return -1;
        }
    return 0;
}

/* --- one trace, as it is --- */

/* Every table but those that are written otherwise; a driver's log states its batches itself. */
static int copy_tables(struct input *input, struct store *store, int64_t *kernels, struct err *err)
{
    static const char others[] = "origin|streams|chunks|skipped|dropped|parameters", rebuilt[] = "batches|services";
    struct schema *schema = schema_trace(err);
    if (!schema)
        return -1;
    bool log = store_stream_find(input->store, "faults") >= 0 || store_stream_find(input->store, "batches") >= 0;
    int rc = 0;
    for (int t = 0; rc == 0 && t < schema->count; t++) {
        const char *table = schema->table[t].name;
        if (param_position(others, table) < 0 && (log || param_position(rebuilt, table) < 0))
            rc = store_copy_table(input->store, store, table, err);
    }
    free(schema);
    return rc || store_row_count(input->store, "kernels", kernels, err) ? -1 : 0;
}

/* --- the inputs --- */

/* Where an input was recorded; one that was merged itself, or taken over, says it of its first input. */
static const char *recorded_on(const struct store *store)
{
    const char *host = store_origin_get(store, "input.0.host");
    return host ? host : store_origin_get(store, "host");
}

/* Whether times are known to be of one clock: one recorder, one machine. */
static bool same_clock(const struct inputs *inputs)
{
    const char *host = recorded_on(inputs->items[0].store);
    for (size_t i = 0; i < inputs->count; i++) {
        const struct store *store = inputs->items[i].store;
        const char *format = store_origin_get(store, "format"), *clock = store_origin_get(store, "merge.clock");
        const char *other = recorded_on(store);
        if (!format || strcmp(format, "record") != 0 || !host || !*host || !other || strcmp(host, other) != 0 ||
            (clock && strcmp(clock, "assumed") == 0))
            return false;
    }
    return true;
}

static int store_origins(const struct inputs *inputs, struct store *store, struct err *err)
{
    char key[48];
    for (size_t i = 0; i < inputs->count; i++) {
        (void)snprintf(key, sizeof key, "input.%zu.path", i);
        if (store_origin(store, key, inputs->items[i].path, err))
            return -1;
        (void)snprintf(key, sizeof key, "input.%zu.content", i);
        if (store_origin(store, key, inputs->items[i].hash, err))
            return -1;
    }
    if (inputs->count == 1)
        return 0;
    return store_origin(store, "merge.clock", same_clock(inputs) ? "one recorder on one host" : "assumed", err);
}

static int read_inputs(struct reader_context *context, struct inputs *inputs, struct err *err)
{
    struct store *store = context->store;
    int64_t kernels = 0;
    context->inherited = inputs->count == 1;
    for (size_t i = 0; i < inputs->count; i++)
        if (!store_complete(inputs->items[i].store))
            reader_incomplete(context, "'%s' is incomplete", inputs->items[i].path);
    if (merge_facts(context, inputs, err) || store_origins(inputs, store, err))
        return -1;
    if (inputs->count == 1 ? copy_tables(inputs->items, store, &kernels, err)
                           : merge_tables(inputs, store, &kernels, err))
        return -1;
    context->launches += kernels;
    return merge_streams(inputs, store, err);
}

static int read_all(struct reader_context *context, const char *const *paths, size_t count, struct err *err)
{
    struct inputs inputs;
    int rc = inputs_open(&inputs, paths, count, err);
    if (rc == 0)
        rc = read_inputs(context, &inputs, err);
    inputs_release(&inputs);
    return rc;
}

static int read_one(struct reader_context *context, struct input_stream *source, struct err *err)
{
    (void)source;
    return read_all(context, &context->path, 1, err);
}

static enum probe probe(const char *path, const unsigned char *head, size_t n)
{
    static const unsigned char ours[4] = {SCHEMA_TRACE_ID >> 24 & 0xff, SCHEMA_TRACE_ID >> 16 & 0xff,
                                          SCHEMA_TRACE_ID >> 8 & 0xff, SCHEMA_TRACE_ID & 0xff};
    (void)path;
    if (n < 100 || memcmp(head, "SQLite format 3", 16) != 0)
        return PROBE_NO;
    return memcmp(head + ID_BYTE, ours, sizeof ours) == 0 ? PROBE_YES : PROBE_NO;
}

const struct reader read_offchip = {
    .name = "offchip",
    .summary = "our own traces: those of several processes become one",
    .probe = probe,
    .read = read_one,
    .read_all = read_all,
    .whole_file = true,
};
