/* The workloads gpu-g1 to gpu-g20: the GPU kernels of gupta-2025-f3fs by their numbers there: other names of the
 * rodinia-* programs.
 *
 * Source: gupta-2025-f3fs table II; its artifact's plot scripts number hotspot3D before hotspot, the table the other
 * way round: ours is the table's. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/workloads/workload.h"

enum { PER_CYCLE = 10 /* of 32 channels: about a third of what they can take */ };

struct name {
    int64_t cycles, seed, sms;        /* keys */
    const struct workload_type *type; /* whose name this is */
    void *params, *inner;
};

static const struct param keys[] = {
    PARAM_INT_ROW(name, cycles, "cycles", 0, 1e11, 0, "cut to 10 requests for each of so many cycles; 0: as cut= says"),
    PARAM_INT_ROW(name, seed, "", -1, 1e15, -1, "seed of what the program draws, if it draws anything; -1: its own"),
    PARAM_INT_ROW(name, sms, "", 0, 1024, 0, "multiprocessors; 0: all, or those left beside another program"),
    {0}};

static void close_name(void *state)
{
    struct name *s = state;
    if (s->inner)
        s->type->close(s->inner);
    free(s->params);
    free(s);
}

/* Open the program itself, with the seed if it has one. */
static int open_inner(struct name *s, struct err *err)
{
    char seed[32];
    s->params = mem_zalloc(1, s->type->params_size, err);
    if (!s->params)
        return -1;
    param_defaults(s->type->params, s->params);
    (void)snprintf(seed, sizeof seed, "%" PRId64, s->seed);
    if (s->seed >= 0 && param_find(s->type->params, "seed") && param_set(s->type->params, s->params, "seed", seed, err))
        return -1;
    s->inner = s->type->open(s->params, err);
    return s->inner ? 0 : -1;
}

static void *open_name(const struct workload_type *type, const void *params, struct err *err)
{
    struct name *s = workload_new(params, sizeof *s, err);
    if (!s)
        return NULL;
    s->type = type;
    if (open_inner(s, err) == 0)
        return s;
    close_name(s);
    return NULL;
}

static int as_program(void *state, struct program *program, struct err *err)
{
    struct name *s = state;
    return s->type->program(s->inner, program, err);
}

static void wish(const void *state, struct workload_wish *wish)
{
    const struct name *s = state;
    *wish = (struct workload_wish){.sms = s->sms, .requests = (uint64_t)s->cycles * PER_CYCLE};
}

#define GPU(N, TYPE, CLI)                                                                                              \
    WORKLOAD_NEW(workload_gpu_g##N, name, "gpu-g" #N, "GPU kernel G" #N " of gupta-2025-f3fs: rodinia-" CLI,           \
                 "gupta-2025-f3fs table II", keys, open_name, &workload_rodinia_##TYPE, close_name,                    \
                 .alias = "rodinia-" CLI, .produces = WORKLOAD_PROGRAM, .views = VIEW_DRAM, .program = as_program,     \
                 .wish = wish)

GPU(1, btree, "btree");
GPU(2, backprop, "backprop");
GPU(3, bfs, "bfs");
GPU(4, cfd, "cfd");
GPU(5, dwt2d, "dwt2d");
GPU(6, gaussian, "gaussian");
GPU(7, heartwall, "heartwall");
GPU(8, hotspot, "hotspot");
GPU(9, hotspot3d, "hotspot3d");
GPU(10, huffman, "huffman");
GPU(11, kmeans, "kmeans");
GPU(12, lavamd, "lavamd");
GPU(13, lud, "lud");
GPU(14, mummergpu, "mummergpu");
GPU(15, nn, "nn");
GPU(16, nw, "nw");
GPU(17, pathfinder, "pathfinder");
GPU(18, srad_v1, "srad-v1");
GPU(19, sradv2, "srad-v2");
GPU(20, streamcluster, "streamcluster");
