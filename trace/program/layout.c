#include "trace/program/layout.h"

#include <stdio.h>
#include <string.h>

#include "trace/base/mem.h"

void layout_init(struct layout *layout, int64_t compute_ns)
{
    layout->itself.layout = layout;
    layout->compute_ns = compute_ns;
    layout->launches = 1;
    layout->base = PROGRAM_BASE;
    layout->align = PROGRAM_BLOCK_BYTES;
}

void *layout_open(const void *keys, size_t bytes, struct err *err)
{
    struct layout *layout = mem_zalloc(1, bytes, err);
    if (!layout)
        return NULL;
    memcpy(layout, keys, bytes);
    layout_init(layout, layout->compute_ns);
    return layout;
}

struct program_alloc *layout_array(struct layout *layout, const char *names, uint64_t bytes)
{
    struct program_alloc *a = NULL;
    bool host = *names == '+';
    for (names += host; *names; names += *names == '|') {
        size_t n = strcspn(names, "|");
        a = &layout->array[layout->arrays++];
        uint64_t base = a > layout->array ? a[-1].addr + a[-1].bytes : layout->base;
        (void)snprintf(a->name, sizeof a->name, "%.*s", (int)n, names);
        a->bytes = bytes;
        a->host = host;
        program_place(a, 1, base, layout->align);
        names += n;
    }
    return a;
}

void layout_arrays(struct layout *layout, const struct layout_row *row)
{
    for (; row->names; row++)
        layout_array(layout, row->names, row->bytes);
}

void layout_kernel(struct layout *layout, layout_body *body, const char *name, uint64_t blocks, uint32_t threads,
                   uint32_t registers, uint32_t shared)
{
    struct layout_kernel *k = &layout->kernel[layout->kernels++];
    uint32_t warps = threads / PROGRAM_LANES;
    bool even = threads && threads % PROGRAM_LANES == 0 && (warps & (warps - 1)) == 0;
    k->body = body;
    k->work = UINT64_MAX;
    k->warps = (int8_t)(even ? __builtin_ctz(warps) : -1);
    k->launch = (struct program_launch){
        .kernel = name, .blocks = blocks, .threads = threads, .registers = registers, .shared = shared};
}

void layout_straight(struct layout *layout, layout_body *body, const char *name, uint64_t blocks, uint32_t threads,
                     uint32_t registers, uint32_t shared)
{
    layout_kernel(layout, body, name, blocks, threads, registers, shared);
    layout->kernel[layout->kernels - 1].straight = true;
}

static const struct program_alloc *allocs(const void *state, size_t *n)
{
    const struct layout *layout = state;
    *n = layout->arrays;
    return layout->array;
}

static uint32_t launches(const void *state)
{
    return ((const struct layout *)state)->launches;
}

static unsigned in_turn(const struct layout *layout, uint32_t launch)
{
    unsigned before = layout->once_before, left = layout->launches - launch;
    if (launch < before)
        return launch;
    if (left <= layout->once_behind)
        return layout->kernels - left;
    return before + (launch - before) % (layout->kernels - before - layout->once_behind);
}

static const struct layout_kernel *kernel_of(const struct layout *layout, uint32_t launch)
{
    return &layout->kernel[layout->kernel_of ? layout->kernel_of(layout, launch) : in_turn(layout, launch)];
}

static void launch_of(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct layout *layout = state;
    *out = kernel_of(layout, launch)->launch;
    if (layout->shape)
        layout->shape(layout, launch, out);
}

static uint32_t like(const void *state, uint32_t launch)
{
    const struct layout *layout = state;
    if (layout->like)
        return layout->like(layout, launch);
    return layout->alike && layout->launches - launch > layout->once_behind ? in_turn(layout, launch) : launch;
}

/* Where a warp stands whose blocks are of another shape, or no power of two of full warps. */
static void place(struct emit *e, const struct layout *layout, const struct layout_kernel *kernel, uint64_t warp)
{
    const struct program_launch *launch = &kernel->launch;
    struct program_launch shape;
    if (layout->shape) {
        shape = *launch;
        layout->shape(layout, e->launch, &shape);
        launch = &shape;
    }
    e->at = program_warp_at(launch, warp);
    e->active = program_first_lanes(e->at.lanes);
}

static int body_of(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                   struct err *err)
{
    const struct layout *layout = ((const struct layout_run *)run)->layout;
    const struct layout_kernel *kernel = kernel_of(layout, launch);
    if (index > 0 && kernel->straight)
        return 0;
    struct emit e = {.body = body,
                     .allocs = layout->array,
                     .active = UINT32_MAX,
                     .bytes = 4,
                     .launch = launch,
                     .index = index,
                     .order = (enum emit_order)layout->order,
                     .state = layout,
                     .run = run,
                     .err = err};
    if (kernel->warps >= 0)
        e.at = (struct program_warp){.block = warp >> kernel->warps,
                                     .thread = warp * PROGRAM_LANES,
                                     .warp = (uint32_t)warp & ((1u << kernel->warps) - 1),
                                     .lanes = PROGRAM_LANES};
    else
        place(&e, layout, kernel, warp);
    body->last = kernel->straight;
    if (e.at.thread + PROGRAM_LANES > kernel->work && !emit_below(&e, kernel->work))
        return emit_idle(&e, kernel->guard);
    return kernel->body(&e);
}

static void *run_open(const void *state, struct err *err)
{
    const struct layout *layout = state;
    struct layout_run *run = layout->run_open ? layout->run_open(layout, err) : (struct layout_run *)state;
    if (run && layout->run_open)
        run->layout = layout;
    return run;
}

static void run_close(void *run)
{
    const struct layout *layout = ((const struct layout_run *)run)->layout;
    if (layout->run_close)
        layout->run_close(run);
}

int layout_program(void *state, struct program *program, struct err *err)
{
    static const struct program_ops ops = {allocs, launches, launch_of, body_of, run_open, run_close, like};
    (void)err;
    *program = (struct program){&ops, state, ((const struct layout *)state)->compute_ns};
    return 0;
}
