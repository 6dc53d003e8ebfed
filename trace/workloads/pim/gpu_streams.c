/* The workloads gpu-g1 ... gpu-g20: parametric streams that stand for twenty Rodinia kernels, per channel of a GPU with
 * 80 multiprocessors. They are synthetic: no trace of the programs' traffic exists.
 *
 * Rates, misses, columns, walkers and write-backs were chosen before any result, to meet what gupta-2025-f3fs says:
 * mean DRAM rate of PIM over that of GPU-80 2.07 (ours 1.8), interconnect 0.82 (0.87), row-hit ratio of G6 32 % and its
 * bank parallelism the highest, G17's row-hit ratio the highest, G15's DRAM rate and G4's interconnect rate the
 * highest. Windows: set s a first guess; sets o and l from occupancy (resident warps x sectors per load x 80 SMs / 32
 * channels). Set l adds launches: requests per launch from table II's data sizes, then everything is done and the
 * launch latency passes. Windows and launches were added after first results had shown what matters; the numbers were
 * not fitted to results. docs/dram-engine.md has the table and the reasons. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/workloads/pim/gpu_source.h"
#include "trace/workloads/pim/suite.h"
#include "trace/workloads/stream.h"

/* name, rate, miss, columns, walkers, write share, write-back bytes, window s, window o and l, burst s, burst o and l,
 * launch, launch rate */
static const struct gpu_character table[] = {
    {"b+tree", .30, .35, 2, 12, .02, 32, 96, 320, 1, 1, 0, 0},
    {"backprop", .35, .50, 12, 8, .35, 128, 128, 640, 1, 1, 0, 0},
    {"bfs", .40, .45, 2, 12, .15, 32, 96, 480, 1, 1, 3000, .6},
    {"cfd", .70, .30, 6, 10, .15, 128, 160, 800, 1, 1, 8000, .9},
    {"dwt2d", .30, .45, 8, 8, .40, 128, 96, 320, 1, 1, 4000, .45},
    {"gaussian", .45, .50, 2, 32, .30, 32, 160, 480, 1, 1, 8000, .55},
    {"heartwall", .15, .20, 6, 6, .10, 64, 64, 64, 1, 1, 0, 0},
    {"hotspot", .30, .35, 10, 8, .30, 128, 96, 480, 1, 1, 0, 0},
    {"hotspot3D", .40, .40, 8, 8, .30, 128, 128, 640, 1, 1, 16000, .5},
    {"huffman", .05, .20, 3, 4, .20, 32, 32, 128, 1, 1, 0, 0},
    {"kmeans", .60, .60, 8, 12, .05, 64, 192, 640, 1, 1, 0, 0},
    {"lavaMD", .20, .05, 6, 4, .10, 64, 64, 160, 1, 1, 0, 0},
    {"lud", .15, .25, 4, 6, .30, 64, 48, 64, 64, 64, 500, .4},
    {"mummer", .40, .40, 2, 12, .05, 32, 128, 480, 1, 1, 0, 0},
    {"nn", .50, .90, 16, 8, .30, 128, 160, 640, 1, 1, 0, 0},
    {"nw", .10, .50, 3, 4, .40, 64, 24, 64, 48, 64, 128, .4},
    {"pathfinder", .45, .60, 24, 4, .10, 128, 64, 256, 64, 256, 1500, .9},
    {"srad_v1", .25, .30, 8, 6, .30, 128, 96, 480, 1, 1, 3000, .4},
    {"srad_v2", .60, .25, 8, 8, .35, 128, 128, 640, 1, 1, 0, 0},
    {"streamcluster", .40, .40, 10, 8, .05, 128, 128, 640, 1, 1, 0, 0},
};

struct keys {
    int64_t set, cycles, seed, channels, sms, window, launch_gap;
};

enum { SET_L, SET_O, SET_S };

/* The launch gap is the artifact's kernel launch latency, 5000 core cycles, in DRAM cycles of the gv100 platform. */
static const struct param keys[] = {
    PARAM_CHOICE_ROW(keys, set, "l|o|s", SET_L, "l with launches, o without, s with the first guess of the windows"),
    PARAM_INT_ROW(keys, cycles, "cycles", 1, 1e12, 60000, "length of a pass at the wanted rate"),
    PARAM_INT_ROW(keys, seed, "", 0, 1e15, 1, "seed of the random choices"),
    PARAM_INT_ROW(keys, channels, "", 1, 4096, 1, "channels, each with a stream of its own"),
    PARAM_INT_ROW(keys, sms, "", 1, 80, 80, "multiprocessors; rate and window go with (sms / 80) ^ 0.6"),
    PARAM_INT_ROW(keys, window, "requests", 0, 1e9, 0, "requests in flight; 0: the kernel's"),
    PARAM_INT_ROW(keys, launch_gap, "cycles", 0, 1e12, 3754, "idle cycles between launches in recorded times"),
    {0}};

struct state {
    struct keys keys;
    int64_t window;
    struct gpu_source *source; /* by channel */
    struct record *ahead;      /* each channel's next record */
    bool *live;
    uint64_t id;
};

static void close_gpu(void *p)
{
    struct state *s = p;
    free(s->source);
    free(s->ahead);
    free(s->live);
    free(s);
}

static void *open_gpu(int number, const void *params, struct err *err)
{
    struct state *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return NULL;
    s->keys = *(const struct keys *)params;
    const size_t channels = (size_t)s->keys.channels;
    s->source = mem_zalloc(channels, sizeof *s->source, err);
    s->ahead = mem_zalloc(channels, sizeof *s->ahead, err);
    s->live = mem_zalloc(channels, sizeof *s->live, err);
    if (!s->source || !s->ahead || !s->live) {
        close_gpu(s);
        return NULL;
    }
    struct gpu_character c = table[number - 1];
    const double scale = pow((double)s->keys.sms / 80, 0.6);
    if (s->keys.set == SET_S) {
        c.window = c.window_guess;
        c.burst = c.burst_guess;
    }
    if (s->keys.set != SET_L)
        c.launch = 0;
    c.rate *= scale;
    c.launch_rate *= scale;
    s->window = s->keys.window ? s->keys.window : (int64_t)(c.window * scale + 0.5);
    for (size_t i = 0; i < channels; i++) {
        gpu_source_init(&s->source[i], &c, (uint64_t)s->keys.seed, (uint32_t)i,
                        (uint64_t)(c.rate * (double)s->keys.cycles + 0.5) + 1, s->keys.launch_gap);
        s->live[i] = gpu_source_next(&s->source[i], &s->ahead[i]);
    }
    return s;
}

/* Channels merged by time; marks are per channel. */
static int next(void *state, struct record *records, size_t cap, size_t *n, struct err *err)
{
    (void)err;
    struct state *s = state;
    *n = 0;
    while (*n < cap) {
        int64_t first = -1;
        for (int64_t i = 0; i < s->keys.channels; i++)
            if (s->live[i] && (first < 0 || s->ahead[i].time < s->ahead[first].time))
                first = i;
        if (first < 0)
            return 0;
        struct record *r = &records[(*n)++];
        *r = s->ahead[first];
        if (r->kind == RECORD_KERNEL_END) {
            r->addr = dram_addr_pack((struct dram_addr){.channel = (uint32_t)first});
            r->flags = STREAM_ONE_CHANNEL;
        } else {
            r->id = s->id++;
        }
        s->live[first] = gpu_source_next(&s->source[first], &s->ahead[first]);
    }
    return 0;
}

static void facts(const void *state, struct stream_facts *f)
{
    const struct state *s = state;
    *f = (struct stream_facts){.window = s->window, .sms = s->keys.sms, .synthetic = true};
}

static const struct stream_ops ops = {facts};

#define GPU(N, PROGRAM)                                                                                                \
    static void *open_##N(const void *params, struct err *err)                                                         \
    {                                                                                                                  \
        return open_gpu(N, params, err);                                                                               \
    }                                                                                                                  \
    const struct workload_type workload_gpu_g##N = {                                                                   \
        .name = "gpu-g" #N,                                                                                            \
        .summary = "synthetic DRAM stream standing for " PROGRAM,                                                      \
        .source = "ours, to the characteristics in gupta-2025-f3fs",                                                   \
        .produces = WORKLOAD_REQUESTS,                                                                                 \
        .params = keys,                                                                                                \
        .params_size = sizeof(struct keys),                                                                            \
        .open = open_##N,                                                                                              \
        .close = close_gpu,                                                                                            \
        .ops = &ops,                                                                                                   \
        .next = next,                                                                                                  \
        .views = VIEW_DRAM,                                                                                            \
    }

GPU(1, "b+tree");
GPU(2, "backprop");
GPU(3, "bfs");
GPU(4, "cfd");
GPU(5, "dwt2d");
GPU(6, "gaussian");
GPU(7, "heartwall");
GPU(8, "hotspot");
GPU(9, "hotspot3D");
GPU(10, "huffman");
GPU(11, "kmeans");
GPU(12, "lavaMD");
GPU(13, "lud");
GPU(14, "mummer");
GPU(15, "nn");
GPU(16, "nw");
GPU(17, "pathfinder");
GPU(18, "srad_v1");
GPU(19, "srad_v2");
GPU(20, "streamcluster");
