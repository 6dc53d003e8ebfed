#include "replay/derive/derive.h"

#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/gpu/occupancy.h"
#include "replay/derive/derive_scans.h"
#include "replay/derive/derive_space.h"
#include "trace/base/mem.h"
#include "trace/base/sorted.h"

struct walk {
    const struct derive_source *source;
    const struct derive_options *options;
    const struct program_taker *taker;
    void *ctx;
    struct program_counts counts;
    struct program_op op;    /* of a recording: being put together */
    struct program_op taken; /* what is wanted of an instruction */
    int64_t access;          /* number of the instruction in op */
    bool filled;             /* op holds an instruction */
    bool numbered;           /* the stream says which lines belong to one instruction */
    uint64_t *wanted;        /* ids of kernels, ascending as they are named */
    size_t wanted_count, wanted_cap;
    regex_t regex;
    bool cpu;      /* a phase of the CPU: passes neither the link nor the GPU's caches */
    bool taking;   /* the launch is one of the wanted */
    bool choosing; /* of an instruction some lines may not be wanted */
    struct derive_memory memory;
    struct err *err; /* while kernels are chosen */
};

/* --- kernels by name --- */

static int mark_kernel(void *ctx, uint64_t id, const char *name)
{
    struct walk *w = ctx;
    if (regexec(&w->regex, name, 0, NULL, 0))
        return 0;
    return MEM_ADD(w->wanted, w->wanted_count, w->wanted_cap, w->err, id);
}

static int choose_kernels(struct walk *w, struct err *err)
{
    if (!w->options->kernel)
        return 0;
    if (regcomp(&w->regex, w->options->kernel, REG_EXTENDED | REG_NOSUB))
        return err_set(err, "'%s' is not a regular expression", w->options->kernel);
    w->err = err;
    int rc = derive_launches_names(w->source, mark_kernel, w, err);
    regfree(&w->regex);
    if (rc)
        return -1;
    return w->wanted ? 0 : err_set(err, "no kernel's name matches '%s'", w->options->kernel);
}

static bool wanted(const struct walk *w, uint64_t kernel)
{
    return !w->options->kernel || sort_find(&kernel, w->wanted, w->wanted_count, sizeof kernel, sorted_by_u64);
}

/* --- what both kinds of source hand over --- */

static bool line_wanted(const struct walk *w, uint64_t line)
{
    return line + (ACCESS_LINE - 1) >= w->options->first && line <= w->options->last &&
           !(w->memory.device.count && derive_memory_stays(&w->memory, line));
}

/* The lines of an instruction that are wanted, as an instruction; NULL: none. */
static const struct program_op *choose(struct walk *w, const struct program_op *op)
{
    struct program_op *t = &w->taken;
    if (!w->taking)
        return NULL;
    if (!w->choosing)
        return op->lines ? op : NULL;
    t->id = op->id;
    t->pc = op->pc;
    t->launch = op->launch;
    t->access = op->access;
    t->bytes = op->bytes;
    t->wait = op->wait;
    t->lines = 0;
    t->sectors = 0;
    for (int i = 0; i < op->lines; i++)
        if (line_wanted(w, op->line[i].addr)) {
            t->line[t->lines++] = op->line[i];
            t->sectors += (uint32_t)__builtin_popcount(op->line[i].sectors);
        }
    return t->lines ? t : NULL;
}

static int hand_over(struct walk *w, const struct program_op *whole, struct err *err)
{
    const struct program_op *op = choose(w, whole);
    if (!op) {
        w->counts.left_out++;
        return 0;
    }
    w->counts.instructions++;
    w->counts.lines += (uint64_t)op->lines;
    w->counts.sectors += op->sectors;
    return w->taker->op(w->ctx, op, err);
}

static int begin_launch(struct walk *w, const struct record *kernel, struct err *err)
{
    w->taking = wanted(w, kernel->id);
    w->counts.launches += w->taking;
    return w->taking && w->taker->launch ? w->taker->launch(w->ctx, kernel, err) : 0;
}

static int end_launch(struct walk *w, uint32_t launch, struct err *err)
{
    return w->taking && w->taker->end ? w->taker->end(w->ctx, launch, err) : 0;
}

/* --- recorded instructions --- */

static int hand_over_recorded(struct walk *w, struct err *err)
{
    bool filled = w->filled;
    w->filled = false;
    return filled ? hand_over(w, &w->op, err) : 0;
}

static int take_access(struct walk *w, const struct record *r, int64_t access, int64_t pc, struct err *err)
{
    struct program_op *op = &w->op;
    bool same = w->filled && w->numbered && access == w->access && r->id == op->id && r->group == op->launch &&
                r->flags >> 4 == op->access && op->lines < 2 * ACCESS_LANES;
    if (!same) {
        if (hand_over_recorded(w, err))
            return -1;
        op->id = r->id;
        op->pc = (uint64_t)pc;
        op->launch = r->group;
        op->access = r->flags >> 4;
        op->bytes = (uint32_t)r->bytes;
        op->wait++; /* what waits for what is not recorded: each load is waited for */
        op->lines = 0;
        op->sectors = 0;
        w->access = access;
        w->filled = true;
    }
    if (r->flags & 15) {
        op->line[op->lines++] = (struct access_line){r->addr - r->addr % ACCESS_LINE, r->flags & 15};
        op->sectors += (uint32_t)__builtin_popcount(r->flags & 15);
    }
    return 0;
}

static int take_record(struct walk *w, const struct record *r, int64_t access, int64_t pc, struct err *err)
{
    if (r->kind == RECORD_ACCESS)
        return take_access(w, r, access, pc, err);
    if (r->kind != RECORD_KERNEL && r->kind != RECORD_KERNEL_END)
        return 0;
    if (hand_over_recorded(w, err))
        return -1;
    return r->kind == RECORD_KERNEL ? begin_launch(w, r, err) : end_launch(w, r->group, err);
}

static int walk_recording(struct walk *w, struct err *err)
{
    struct store *in = w->source->store;
    int stream = store_stream_find(in, "accesses");
    if (stream < 0)
        return err_set(err, "%s holds no accesses: import an Accel-Sim trace or a recording of accesses",
                       store_path(in));
    struct store_walk at = {0};
    w->numbered = strcmp(store_stream(in, stream)->extra[0], "access") == 0;
    while (store_walk_next(&at, in, stream, err))
        at.failed = take_record(w, at.r, w->numbered ? store_walk_extra(&at, 0) : 0,
                                w->numbered ? store_walk_extra(&at, 1) : 0, err);
    return store_walk_end(&at) ? -1 : hand_over_recorded(w, err);
}

/* --- generated instructions --- */

static int generated_launch(void *ctx, const struct record *kernel, struct err *err)
{
    struct walk *w = ctx;
    w->cpu = program_launch_of(w->source->program, kernel->group).cpu;
    return w->cpu ? 0 : begin_launch(w, kernel, err);
}

static int generated_op(void *ctx, const struct program_op *op, struct err *err)
{
    struct walk *w = ctx;
    return w->cpu ? 0 : hand_over(w, op, err);
}

static int generated_end(void *ctx, uint32_t launch, struct err *err)
{
    struct walk *w = ctx;
    return w->cpu ? 0 : end_launch(w, launch, err);
}

/* Blocks at once on the whole GPU; one after the other where not even one fits, and on the CPU. */
static uint64_t resident(const void *ctx, const struct program_launch *l)
{
    const struct gpu *gpu = ctx;
    if (l->cpu)
        return 0;
    return (uint64_t)gpu->sms * occupancy_blocks(gpu, l->threads, l->registers, l->shared, l->blocks_most);
}

static int walk_program(struct walk *w, struct err *err)
{
    static const struct program_taker taker = {generated_launch, generated_op, generated_end};
    bool waves = w->options->waves && w->options->gpu;
    const struct program_walk how = {.resident = waves ? resident : NULL, .ctx = w->options->gpu};
    return program_walk(w->source->program, &how, &taker, w, NULL, err);
}

int derive_walk(const struct derive_source *source, const struct derive_options *options,
                const struct program_taker *taker, void *ctx, struct program_counts *counts, struct err *err)
{
    struct walk *w = mem_zalloc(1, sizeof *w, err);
    if (!w)
        return -1;
    w->source = source;
    w->options = options;
    w->taker = taker;
    w->ctx = ctx;
    w->taking = !options->kernel; /* accesses before any launch mark */
    int rc = choose_kernels(w, err);
    if (rc == 0 && options->offloadable)
        rc = derive_memory_open(&w->memory, source, err);
    w->choosing = options->first > 0 || options->last < UINT64_MAX || w->memory.device.count > 0;
    if (rc == 0)
        rc = source->program ? walk_program(w, err) : walk_recording(w, err);
    if (rc == 0 && w->counts.instructions == 0)
        rc = err_set(err, "%s: no access is left to derive from (%llu were left out)", source->name,
                     (unsigned long long)w->counts.left_out);
    if (counts)
        *counts = w->counts;
    derive_memory_release(&w->memory);
    free(w->wanted);
    free(w);
    return rc;
}

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
            (void)mem_add_text(names, sizeof names, "%s%s", *names ? ", " : "", views[i].name);
    }
    return err_set(err, "workload %s %s; its views: %s", type->name, lacks, *names ? names : "none");
}

int derive_view_check(const char *program, enum workload_view view, struct err *err)
{
    char name[64];
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(program, ","), program);
    const struct workload_type *type = workload_find(name);
    return type && !(type->views & view) ? derive_no_view(type, view, err) : 0;
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

struct store *derive_view(const struct derive_source *source, enum workload_view view, struct err *err)
{
    const struct derive_options all = {.last = UINT64_MAX};
    struct program_counts counts;
    struct store *out = store_create_temporary(source->name, err);
    if (out && view == VIEW_UVM && derive_touches(source, out, &all, &counts, err) == 0)
        return out;
    if (out && view != VIEW_UVM && derive_lists(source, out, &all, err) == 0)
        return out;
    store_close(out);
    return NULL;
}

/* --- what a recording lacks --- */

void derive_notes(const struct derive_source *source, enum workload_view view, struct outcome *outcome)
{
    if (!source->store) {
        if (view == VIEW_DRAM)
            outcome_note(outcome, "the warps of as many blocks as are resident take turns, an instruction each");
        return;
    }
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
    return MEM_ADD(
        l->rows, l->count, l->cap, r->err,
        (struct derive_launch){.id = (uint64_t)v[ID].i, /* the table's key: they ascend */
                               .launch = {.blocks = product(&v[GRID_X], UINT32_MAX),
                                          .threads = (uint32_t)product(&v[BLOCK_X], 1024),
                                          .registers = number(&v[REGISTERS]),
                                          .shared = number(&v[STATIC_SHARED]) + number(&v[DYNAMIC_SHARED])}});
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

void derive_launches_get(const struct derive_launches *l, uint64_t id, struct program_launch *out)
{
    *out = (struct program_launch){0};
    if (l->program) {
        l->program->ops->launch(l->program->state, (uint32_t)id, out);
        return;
    }
    const struct derive_launch *row =
        sort_find(&id, l->rows, l->count, sizeof *l->rows, sorted_by_u64); /* may be far apart */
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
        struct program_launch launch = program_launch_of(p, i);
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
        struct program_launch launch = program_launch_of(p, i);
        if (write_launch(&launch, i, out, err))
            return -1;
    }
    return 0;
}
