#include "trace/workloads/micro/launch_touch.h"

#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/workloads/micro/suite.h"

static const struct param params[] = {
    PARAM_INT_ROW(launch_touch, pages, "pages", 0, 1LL << 40, 1024, "of managed memory, 4 KiB each"),
    PARAM_CHOICE_ROW(launch_touch, touch, "write|read|none", 0, "what the CPU does to every page after each launch"),
    PARAM_INT_ROW(launch_touch, launches, "", 1, 1e9, 1, "kernel launches"),
    PARAM_BYTES_ROW(launch_touch, gpu_bytes, 0, 0x1p50, 0, "read by each kernel; matters for mapped memory only"),
    {0}};

static void *open_params(const void *given, struct err *err)
{
    struct launch_touch *state = mem_zalloc(1, sizeof *state, err);
    if (state)
        *state = *(const struct launch_touch *)given;
    return state;
}

const struct workload_type workload_launch_touch = {
    .name = "launch-touch",
    .summary = "managed memory of old: an empty kernel, then every page touched by the CPU",
    .source = "Wilt 2017: the benchmark of both tables",
    .produces = WORKLOAD_LAUNCHES,
    .params = params,
    .params_size = sizeof(struct launch_touch),
    .open = open_params,
    .close = free,
};
