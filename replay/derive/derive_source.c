#include "replay/derive/derive_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/derive/derive_scans.h"
#include "trace/base/mem.h"

static const struct {
    enum workload_view view;
    const char *name, *lacks;
} views[] = {{VIEW_UVM, "uvm", "has no pages to touch"},
             {VIEW_ZEROCOPY, "zerocopy", "reads no host memory"},
             {VIEW_DRAM, "dram", "makes no DRAM requests"},
             {VIEW_PLACEMENT, "placement", "is no task to be placed"}};
enum { VIEWS = sizeof views / sizeof *views };

int derive_no_view(const struct workload_type *type, enum workload_view view, struct err *err)
{
    char names[64] = "";
    const char *lacks = "has no such view";
    for (size_t i = 0; i < VIEWS; i++) {
        if (views[i].view == view)
            lacks = views[i].lacks;
        if (type->views & views[i].view)
            (void)snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", *names ? ", " : "",
                           views[i].name);
    }
    return err_set(err, "workload %s %s; its views: %s", type->name, lacks, *names ? names : "none");
}

bool derive_input_is(const struct input *input, enum workload_view view)
{
    const struct workload_type *type = input->workload.type;
    if (type)
        return type->program && type->views & view;
    return input->store && store_stream_find(input->store, "accesses") >= 0;
}

int derive_input_open(struct derive_input *in, const struct input *input, enum workload_view view, struct err *err)
{
    const struct workload *w = &input->workload;
    memset(in, 0, sizeof *in);
    in->source = (struct derive_source){.store = input->store, .name = input->spec};
    if (!w->type)
        return store_stream_find(input->store, "accesses") >= 0
                   ? 0
                   : err_set(err, "%s holds no accesses: import an Accel-Sim trace or a recording of accesses",
                             input->spec);
    if (!derive_input_is(input, view))
        return derive_no_view(w->type, view, err);
    in->source.program = &in->program;
    return w->type->program(w->state, &in->program, err);
}

/* --- a view for one replay --- */

static int write_view(const struct derive_source *source, enum workload_view view, struct store *out, struct err *err)
{
    const struct derive_options all = {.last = UINT64_MAX, .reuse = REUSE_NONE};
    struct program_counts counts;
    return view == VIEW_UVM ? derive_touches(source, out, &all, &counts, err) : derive_lists(source, out, &all, err);
}

struct store *derive_view(const struct derive_source *source, enum workload_view view, struct err *err)
{
    struct store *out = store_create_temporary(source->name, err);
    if (out && write_view(source, view, out, err) == 0)
        return out;
    store_close(out);
    return NULL;
}

/* --- what a recording lacks --- */

/* A list of counts and reasons, as much as there is room for. */
struct list {
    char text[400];
};

static int add_row(void *ctx, const struct store_value *v, size_t n)
{
    struct list *list = ctx;
    size_t used = strlen(list->text);
    if (n >= 2 && v[0].s)
        (void)snprintf(list->text + used, sizeof list->text - used, "%s%" PRId64 " x %s", used ? ", " : "", v[1].i,
                       v[0].s);
    return 0;
}

static void note_table(struct store *store, const char *table, const char *what, struct outcome *outcome)
{
    struct list list = {""};
    struct err why;
    if (store_rows(store, table, add_row, &list, &why))
        outcome_fail(outcome, &why);
    else if (list.text[0])
        outcome_note(outcome, "%s: %s", what, list.text);
}

void derive_note_extent(struct store *store, struct outcome *outcome)
{
    const char *chosen = store_origin_get(store, "kernels.chosen");
    if (!store_complete(store))
        outcome_note(outcome, "the recording is incomplete: it holds the accesses up to where it was cut");
    note_table(store, "dropped", "the recording is not whole", outcome);
    note_table(store, "skipped", "left out when it was recorded", outcome);
    if (chosen)
        outcome_note(outcome, "the recording holds only kernels that match '%s'", chosen);
}

void derive_notes(const struct derive_source *source, enum workload_view view, struct outcome *outcome)
{
    if (!source->store) {
        if (view == VIEW_DRAM)
            outcome_note(outcome, "the warps of as many blocks as are resident take turns, an instruction each");
        return;
    }
    derive_note_extent(source->store, outcome);
    if (view == VIEW_UVM) {
        outcome_note(outcome, "what waits for what is not recorded: each load is waited for, no store is");
        outcome_note(outcome, "computing between accesses is not recorded: time_ns is without it");
    }
    const char *order = store_origin_get(source->store, "access_order");
    if (view == VIEW_DRAM)
        outcome_note(outcome, "accesses reach L2 in the order of the recording: %s", order ? order : "not known");
}

/* Columns of table kernels (trace/store/schema.sql). */
enum {
    ID = 0,
    NAME = 1,
    LAUNCH = 2,
    GRID_X = 5,
    BLOCK_X = 8,
    REGISTERS = 11,
    STATIC_SHARED = 12,
    DYNAMIC_SHARED = 13,
    COLUMNS = 16
};

/* --- shapes --- */

/* The product of three columns; 0 if one is not known or it is more than `most`. */
static uint64_t product(const struct store_value *v, uint64_t most)
{
    uint64_t n = 1;
    for (int i = 0; i < 3; i++) {
        if (v[i].type != STORE_INT || v[i].i <= 0 || (uint64_t)v[i].i > most / n)
            return 0;
        n *= (uint64_t)v[i].i;
    }
    return n;
}

static uint32_t number(const struct store_value *v)
{
    return v->type == STORE_INT && v->i > 0 && v->i <= INT32_MAX ? (uint32_t)v->i : 0;
}

struct reading {
    struct derive_launches *launches;
    struct err *err;
};

static int take_row(void *ctx, const struct store_value *v, size_t n)
{
    const struct reading *r = ctx;
    struct derive_launches *l = r->launches;
    if (n < COLUMNS || v[ID].i < 0)
        return 0;
    if (mem_grow((void **)&l->rows, &l->cap, l->count + 1, sizeof *l->rows, r->err))
        return -1;
    l->rows[l->count++] =
        (struct derive_launch){.id = (uint64_t)v[ID].i, /* the table's key: they ascend */
                               .launch = {.blocks = product(&v[GRID_X], UINT32_MAX),
                                          .threads = (uint32_t)product(&v[BLOCK_X], 1024),
                                          .registers = number(&v[REGISTERS]),
                                          .shared = number(&v[STATIC_SHARED]) + number(&v[DYNAMIC_SHARED])}};
    return 0;
}

int derive_launches_open(struct derive_launches *l, const struct derive_source *source, struct err *err)
{
    struct reading r = {l, err};
    l->program = source->program;
    return source->program || store_rows(source->store, "kernels", take_row, &r, err) == 0 ? 0 : -1;
}

void derive_launches_release(struct derive_launches *l)
{
    free(l->rows);
    *l = (struct derive_launches){0};
}

static int by_id(const void *key, const void *item)
{
    const uint64_t id = *(const uint64_t *)key, at = ((const struct derive_launch *)item)->id;
    return (id > at) - (id < at);
}

void derive_launches_get(const struct derive_launches *l, uint64_t id, struct program_launch *out)
{
    *out = (struct program_launch){0};
    if (l->program) {
        l->program->ops->launch(l->program->state, (uint32_t)id, out);
        return;
    }
    const struct derive_launch *row =
        l->count ? bsearch(&id, l->rows, l->count, sizeof *l->rows, by_id) : NULL; /* may be far apart */
    if (row)
        *out = row->launch;
}

/* --- names --- */

struct naming {
    int (*fn)(void *ctx, uint64_t id, const char *name);
    void *ctx;
};

static int name_row(void *ctx, const struct store_value *v, size_t n)
{
    const struct naming *naming = ctx;
    return n < 2 || v[ID].i < 0 || !v[NAME].s ? 0 : naming->fn(naming->ctx, (uint64_t)v[ID].i, v[NAME].s);
}

int derive_launches_names(const struct derive_source *source, int (*fn)(void *ctx, uint64_t id, const char *name),
                          void *ctx, struct err *err)
{
    struct naming naming = {fn, ctx};
    const struct program *p = source->program;
    if (!p)
        return store_rows(source->store, "kernels", name_row, &naming, err);
    for (uint32_t i = 0; i < p->ops->launches(p->state); i++) {
        struct program_launch launch = {0};
        p->ops->launch(p->state, i, &launch);
        int rc = fn(ctx, i, launch.kernel);
        if (rc)
            return rc;
    }
    return 0;
}

/* --- writing --- */

/* Blocks and threads along x alone: a program numbers both in one row. */
static int write_launch(const struct program_launch *l, uint32_t i, struct store *out, struct err *err)
{
    struct store_value row[COLUMNS] = {STORE_V_INT(i), STORE_V_TEXT(l->kernel), STORE_V_INT(i)};
    if (!l->cpu) {
        row[GRID_X] = STORE_V_INT(l->blocks);
        row[BLOCK_X] = STORE_V_INT(l->threads);
        row[GRID_X + 1] = row[GRID_X + 2] = row[BLOCK_X + 1] = row[BLOCK_X + 2] = STORE_V_INT(1);
        row[STATIC_SHARED] = STORE_V_INT(l->shared);
        row[DYNAMIC_SHARED] = STORE_V_INT(0);
    }
    if (l->registers)
        row[REGISTERS] = STORE_V_INT(l->registers);
    return store_row(out, "kernels", row, COLUMNS, err);
}

int derive_launches_write(const struct derive_source *source, struct store *out, struct err *err)
{
    const struct program *p = source->program;
    if (!p)
        return store_copy_table(source->store, out, "kernels", err);
    for (uint32_t i = 0; i < p->ops->launches(p->state); i++) {
        struct program_launch launch = {0};
        p->ops->launch(p->state, i, &launch);
        if (write_launch(&launch, i, out, err))
            return -1;
    }
    return 0;
}
