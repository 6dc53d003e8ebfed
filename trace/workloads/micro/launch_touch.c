#include "trace/workloads/micro/launch_touch.h"

#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/program/loop.h"
#include "trace/workloads/workloads.h"

enum { PAGE = 4096 };
enum touch { WRITE, READ, NONE };

struct state {
    struct launch_touch params; /* first: what the legacy mode takes */
    struct program_alloc alloc;
};

static const struct param params[] = {
    PARAM_INT_ROW(launch_touch, pages, "pages", 0, 1LL << 40, 1024, "of managed memory, 4 KiB each"),
    PARAM_CHOICE_ROW(launch_touch, touch, "write|read|none", WRITE,
                     "what the CPU does to every page after each launch"),
    PARAM_INT_ROW(launch_touch, launches, "", 1, 1e9, 1, "kernel launches"),
    PARAM_BYTES_ROW(launch_touch, gpu_bytes, 0, 0x1p50, 0, "read by each kernel; matters for mapped memory only"),
    {0}};

static void *open_params(const void *given, struct err *err)
{
    struct state *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return NULL;
    s->params = *(const struct launch_touch *)given;
    s->alloc = (struct program_alloc){.name = "managed", .bytes = (uint64_t)s->params.pages * PAGE};
    program_place(&s->alloc, 1, 0, 0);
    return s;
}

static const struct program_alloc *allocs(const void *state, size_t *n)
{
    *n = 1;
    return &((const struct state *)state)->alloc;
}

/* A kernel and what the CPU does after it, each a launch. */
static uint32_t launches(const void *state)
{
    return 2 * (uint32_t)((const struct state *)state)->params.launches;
}

static void launch_shape(const void *state, uint32_t launch, struct program_launch *out)
{
    bool cpu = launch % 2;
    (void)state;
    *out = (struct program_launch){.kernel = cpu ? "touch" : "empty", .blocks = 1, .threads = 1, .cpu = cpu};
}

static int body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *b, struct err *err)
{
    const struct state *s = run;
    (void)warp;
    (void)err;
    if (launch % 2 == 0)
        return program_no_trip(index, 1, b);
    if (index > 0)
        return 0;
    struct program_access *a =
        s->params.touch == WRITE ? program_store(b, &s->alloc, 0, 0, 4) : program_load(b, &s->alloc, 0, 0, 4);
    a->active = 1;
    a->turn_stride = PAGE;
    b->turns = (uint64_t)s->params.pages;
    return 1;
}

static const struct program_ops ops = {.allocs = allocs, .launches = launches, .launch = launch_shape, .body = body};

static int program(void *state, struct program *program, struct err *err)
{
    const struct launch_touch *p = &((const struct state *)state)->params;
    if (p->touch == NONE || p->pages == 0)
        return err_set(err, "launch-touch with %s touches nothing", p->pages ? "touch=none" : "pages=0");
    if (p->gpu_bytes)
        return err_set(err,
                       "launch-touch: gpu_bytes says how much a kernel reads, not what: only mode=legacy takes it");
    *program = (struct program){&ops, state, PARAM_AUTO};
    return 0;
}

const struct workload_type workload_launch_touch = {
    .name = "launch-touch",
    .summary = "managed memory of old: an empty kernel, then every page touched by the CPU",
    .source = "Wilt 2017: the benchmark of both tables",
    .produces = WORKLOAD_LAUNCHES,
    .views = VIEW_UVM,
    .params = params,
    .params_size = sizeof(struct launch_touch),
    .open = open_params,
    .close = free,
    .program = program,
};
