#include "trace/program/plan.h"

#include <stdio.h>
#include <string.h>

#include "trace/base/mem.h"

static void *start(struct plan *plan)
{
    if (!plan)
        return NULL;
    plan->itself.plan = plan;
    plan->launches = 1;
    plan->base = PROGRAM_BASE;
    plan->align = PROGRAM_BLOCK_BYTES;
    return plan;
}

void *plan_new(size_t bytes, int64_t compute_ns, struct err *err)
{
    struct plan *plan = mem_zalloc(1, bytes, err);
    if (plan)
        plan->compute_ns = compute_ns;
    return start(plan);
}

void *plan_open(const void *keys, size_t bytes, struct err *err)
{
    void *plan = mem_zalloc(1, bytes, err);
    return start(plan ? memcpy(plan, keys, bytes) : NULL);
}

struct program_alloc *plan_array(struct plan *plan, const char *names, uint64_t bytes)
{
    struct program_alloc *a = NULL;
    bool host = *names == '+';
    for (names += host; *names; names += *names == '|') {
        size_t n = strcspn(names, "|");
        a = &plan->array[plan->arrays++];
        uint64_t base = a > plan->array ? a[-1].addr + a[-1].bytes : plan->base;
        (void)snprintf(a->name, sizeof a->name, "%.*s", (int)n, names);
        a->bytes = bytes;
        a->host = host;
        program_place(a, 1, base, plan->align);
        names += n;
    }
    return a;
}

void plan_arrays(struct plan *plan, const struct plan_row *row)
{
    for (; row->names; row++)
        plan_array(plan, row->names, row->bytes);
}

void plan_kernel(struct plan *plan, plan_body *body, const char *name, uint64_t blocks, uint32_t threads,
                 uint32_t registers, uint32_t shared)
{
    struct plan_kernel *k = &plan->kernel[plan->kernels++];
    uint32_t warps = threads / PROGRAM_LANES;
    bool even = threads && threads % PROGRAM_LANES == 0 && (warps & (warps - 1)) == 0;
    k->body = body;
    k->work = UINT64_MAX;
    k->warps = (int8_t)(even ? __builtin_ctz(warps) : -1);
    k->launch = (struct program_launch){
        .kernel = name, .blocks = blocks, .threads = threads, .registers = registers, .shared = shared};
}

void plan_straight(struct plan *plan, plan_body *body, const char *name, uint64_t blocks, uint32_t threads,
                   uint32_t registers, uint32_t shared)
{
    plan_kernel(plan, body, name, blocks, threads, registers, shared);
    plan->kernel[plan->kernels - 1].straight = true;
}

static const struct program_alloc *allocs(const void *state, size_t *n)
{
    const struct plan *plan = state;
    *n = plan->arrays;
    return plan->array;
}

static uint32_t launches(const void *state)
{
    return ((const struct plan *)state)->launches;
}

static unsigned in_turn(const struct plan *plan, uint32_t launch)
{
    unsigned before = plan->once_before, left = plan->launches - launch;
    if (launch < before)
        return launch;
    if (left <= plan->once_behind)
        return plan->kernels - left;
    return before + (launch - before) % (plan->kernels - before - plan->once_behind);
}

static const struct plan_kernel *kernel_of(const struct plan *plan, uint32_t launch)
{
    return &plan->kernel[plan->kernel_of ? plan->kernel_of(plan, launch) : in_turn(plan, launch)];
}

static void launch_of(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct plan *plan = state;
    *out = kernel_of(plan, launch)->launch;
    if (plan->shape)
        plan->shape(plan, launch, out);
}

static uint32_t like(const void *state, uint32_t launch)
{
    const struct plan *plan = state;
    if (plan->like)
        return plan->like(plan, launch);
    return plan->alike && plan->launches - launch > plan->once_behind ? in_turn(plan, launch) : launch;
}

/* Where a warp stands whose blocks are of another shape, or no power of two of full warps. */
static void place(struct emit *e, const struct plan *plan, const struct plan_kernel *kernel, uint64_t warp)
{
    const struct program_launch *launch = &kernel->launch;
    struct program_launch shape;
    if (plan->shape) {
        shape = *launch;
        plan->shape(plan, e->launch, &shape);
        launch = &shape;
    }
    e->at = program_warp_at(launch, warp);
    e->active = program_first_lanes(e->at.lanes);
}

static int body_of(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                   struct err *err)
{
    const struct plan *plan = ((const struct plan_run *)run)->plan;
    const struct plan_kernel *kernel = kernel_of(plan, launch);
    if (index > 0 && kernel->straight)
        return 0;
    struct emit e = {.body = body,
                     .allocs = plan->array,
                     .active = UINT32_MAX,
                     .bytes = 4,
                     .launch = launch,
                     .index = index,
                     .order = (enum emit_order)plan->order,
                     .state = plan,
                     .run = run,
                     .err = err};
    if (kernel->warps >= 0 && !plan->shape)
        e.at = (struct program_warp){.block = warp >> kernel->warps,
                                     .thread = warp * PROGRAM_LANES,
                                     .warp = (uint32_t)warp & ((1u << kernel->warps) - 1),
                                     .lanes = PROGRAM_LANES};
    else
        place(&e, plan, kernel, warp);
    body->last = kernel->straight;
    if (e.at.thread + PROGRAM_LANES > kernel->work && !emit_below(&e, kernel->work))
        return emit_idle(&e, kernel->guard);
    return kernel->body(&e);
}

static void *run_open(const void *state, struct err *err)
{
    const struct plan *plan = state;
    struct plan_run *run = plan->run_open(plan, err);
    if (run)
        run->plan = plan;
    return run;
}

static void run_close(void *run)
{
    ((const struct plan_run *)run)->plan->run_close(run);
}

int plan_program(void *state, struct program *program, struct err *err)
{
    static const struct program_ops ops = {
        .allocs = allocs, .launches = launches, .launch = launch_of, .body = body_of, .like = like};
    static const struct program_ops with_runs = {.allocs = allocs,
                                                 .launches = launches,
                                                 .launch = launch_of,
                                                 .body = body_of,
                                                 .run_open = run_open,
                                                 .run_close = run_close,
                                                 .like = like};
    const struct plan *plan = state;
    (void)err;
    *program = (struct program){plan->run_open ? &with_runs : &ops, state, plan->compute_ns};
    return 0;
}
