#include "trace/workloads/micro/launch_touch.h"

#include "trace/program/layout.h"
#include "trace/workloads/workload.h"

enum { PAGE = 4096 };
enum touch { WRITE, READ, NONE };

static const struct param launch_touch_keys[] = {
    PARAM_INT_ROW(launch_touch, pages, "pages", 0, 1LL << 40, 1024, "of managed memory, 4 KiB each"),
    PARAM_CHOICE_ROW(launch_touch, touch, "write|read|none", WRITE,
                     "what the CPU does to every page after each launch"),
    PARAM_INT_ROW(launch_touch, launches, "", 1, 1e9, 1, "kernel launches"),
    PARAM_BYTES_ROW(launch_touch, gpu_bytes, 0, 0x1p50, 0, "read by each kernel; matters for mapped memory only"),
    {0}};

static int empty(struct emit *e)
{
    return emit_idle(e, 1);
}

static int touch(struct emit *e)
{
    const struct launch_touch *s = e->state;
    if (e->index > 0)
        return 0;
    struct program_access *a = s->touch == WRITE ? emit_store(e, 0, 0, 0) : emit_load(e, 0, 0, 0, 1);
    a->turn_stride = PAGE;
    e->body->turns = s->pages;
    return emit_end(e, 0);
}

/* A kernel and what the CPU does after it, each a launch. */
static int launch_touch_init(struct launch_touch *s, struct err *err)
{
    (void)err;
    s->layout.compute_ns = PARAM_AUTO;
    s->layout.launches = 2 * (uint32_t)s->launches;
    layout_array(&s->layout, "managed", s->pages * PAGE);
    layout_kernel(&s->layout, empty, "empty", 1, 1, 0, 0);
    layout_kernel(&s->layout, touch, "touch", 1, 1, 0, 0);
    s->layout.kernel[1].launch.cpu = true;
    return 0;
}

static int program(void *state, struct program *program, struct err *err)
{
    const struct launch_touch *s = state;
    if (s->touch == NONE || s->pages == 0)
        return err_set(err, "launch-touch with %s touches nothing", s->pages ? "touch=none" : "pages=0");
    if (s->gpu_bytes)
        return err_set(err,
                       "launch-touch: gpu_bytes says how much a kernel reads, not what: only mode=legacy takes it");
    return layout_program(state, program, err);
}

WORKLOAD(launch_touch, workload_launch_touch, "launch-touch",
         "managed memory of old: an empty kernel, then every page touched by the CPU",
         "Wilt 2017: the benchmark of both tables", layout_open, free, .produces = WORKLOAD_LAUNCHES, .views = VIEW_UVM,
         .program = program);
