#include "replay/derive/derive.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "models/gpu/occupancy.h"
#include "replay/derive/derive_source.h"
#include "replay/derive/derive_space.h"
#include "trace/base/mem.h"

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
    if (mem_grow((void **)&w->wanted, &w->wanted_cap, w->wanted_count + 1, sizeof *w->wanted, w->err))
        return -1;
    w->wanted[w->wanted_count++] = id;
    return 0;
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

static int by_id(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool wanted(const struct walk *w, uint64_t kernel)
{
    return !w->options->kernel || bsearch(&kernel, w->wanted, w->wanted_count, sizeof kernel, by_id);
}

/* --- what both kinds of source hand over --- */

static bool line_wanted(const struct walk *w, uint64_t line)
{
    return line + (ACCESS_LINE - 1) >= w->options->first && line <= w->options->last &&
           !(w->memory.devices && derive_memory_stays(&w->memory, line));
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

static int take_access(struct walk *w, const struct record *r, int64_t access, struct err *err)
{
    struct program_op *op = &w->op;
    bool same = w->filled && w->numbered && access == w->access && r->id == op->id && r->group == op->launch &&
                r->flags >> 4 == op->access && op->lines < 2 * ACCESS_LANES;
    if (!same) {
        if (hand_over_recorded(w, err))
            return -1;
        op->id = r->id;
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

static int take_record(struct walk *w, const struct record *r, int64_t access, struct err *err)
{
    if (r->kind == RECORD_ACCESS)
        return take_access(w, r, access, err);
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
    struct store_cursor *cursor = store_cursor_open(in, stream, err);
    if (!cursor)
        return -1;
    const struct record *r;
    const int64_t *extra;
    size_t n;
    int rc = 0;
    bool failed = false;
    w->numbered = strcmp(store_stream(in, stream)->extra[0], "access") == 0;
    while (!failed && (rc = store_cursor_next(cursor, &r, &extra, &n, err)) == 1)
        for (size_t i = 0; i < n && !failed; i++)
            failed = take_record(w, &r[i], w->numbered ? extra[i] : 0, err);
    store_cursor_close(cursor);
    return rc == 0 && !failed ? hand_over_recorded(w, err) : -1;
}

/* --- generated instructions --- */

static int generated_launch(void *ctx, const struct record *kernel, struct err *err)
{
    struct walk *w = ctx;
    const struct program *p = w->source->program;
    struct program_launch shape = {0};
    p->ops->launch(p->state, kernel->group, &shape);
    w->cpu = shape.cpu;
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
    bool waves = w->options->order == DERIVE_WAVES && w->options->gpu;
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
    w->choosing = options->first > 0 || options->last < UINT64_MAX || w->memory.devices > 0;
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
