/* workload: a generator, named on the command line as synth:NAME,key=value; mostly of a program.
 *
 * A workload is opened with its keys. What it generates is a program (trace/program/program.h), of which each engine
 * takes its view; beside it stand closed forms of single views (scans: trace/workloads/scan.h), and what is no program:
 * streams of DRAM requests (below) and graphs. */
#pragma once

#include <stdlib.h>

#include "trace/base/param_value.h"
#include "trace/program/program.h"

enum workload_kind {
    WORKLOAD_PROGRAM = 1,   /* a program without a closed form of its own beside it: no ops */
    WORKLOAD_SCANS = 2,     /* neighbour-list or row reads: `ops` is a const struct scan_ops * */
    WORKLOAD_REQUESTS = 4,  /* DRAM request stream (STREAM_..); no ops */
    WORKLOAD_GRAPH = 8,     /* the state is a struct graph: written with `synth kron,... -o NAME.bel` */
    WORKLOAD_LAUNCHES = 16, /* launches in closed form (launch_touch.h); no ops, not stored */
};

/* --- what a workload of DRAM requests says besides its records ---
 *
 * The records themselves come from workload_type.next(): DRAM_READ, DRAM_WRITE, DRAM_WRITEBACK and PIM with packed
 * addresses (trace/event/dram_map.h), time = DRAM cycles from the start of the pass at which the request is ready,
 * flags bit 0 = served by L2, group = launch; KERNEL_END after the last request of a launch. Requests of different
 * channels are independent. A DRAM_WRITEBACK belongs to the DRAM_READ before it: L2 makes it when that read misses. */
enum {
    STREAM_L2_HIT = 1,     /* flags of DRAM_READ and DRAM_WRITE */
    STREAM_ONE_CHANNEL = 1 /* flags of KERNEL_END: the mark is that of the channel in addr only */
};

/* Engines that can take a view of a program. */
enum workload_view { VIEW_UVM = 1, VIEW_ZEROCOPY = 2, VIEW_DRAM = 4, VIEW_PLACEMENT = 8, VIEW_ALL = 15 };

/* What the keys of a program ask of the engine that runs it; 0: nothing. */
struct workload_wish {
    int64_t sms;       /* multiprocessors */
    uint64_t requests; /* to be cut to about so many */
};

struct workload;

/* In what the work of a program repeats: with less of it, it is the same program, shorter. */
struct workload_repeats {
    const char *key;  /* "n": rows; NULL: it does not repeat, or in nothing that a key says */
    const char *kept; /* a key that follows from others and must stay, "m": columns; NULL: none */
    double unit;      /* sizes are multiples of it */
};

struct workload_type {
    const char *name;
    const char *alias;   /* another workload's name: this one is that one; else NULL */
    const char *summary; /* one line */
    const char *source;  /* the loop's origin */
    enum workload_kind produces;
    const struct param *params; /* keys; text values point into the spec, which the workload keeps */
    size_t params_size;
    /* Build the state for checked params. NULL with *err set on failure. */
    void *(*open)(const void *params, struct err *err);
    void (*close)(void *state);
    const void *ops; /* by `produces` */
    /* The serialised form: fill at most cap records, in order; *n = 0 at the end. NULL for graphs. */
    int (*next)(void *state, struct record *records, size_t cap, size_t *n, struct err *err);
    /* A const struct scan_ops * of a workload that produces something else but can also be read over the link without
     * faults; its state is then a struct whose first member those functions expect. NULL: it cannot. */
    const void *scans;
    unsigned views; /* enum workload_view: whose questions it can answer */
    /* The program; valid while the state is open. NULL: it is none. */
    int (*program)(void *state, struct program *program, struct err *err);
    /* The program with the kernel of this name, one that key `kernel` offers, whatever it says: 1; 0: it has no such
     * kernel; -1 with *err set. NULL: it has only the one. */
    int (*program_as)(void *state, const char *kernel, struct program *program, struct err *err);
    /* Another program that runs beside the first one, each once: collaborative work. NULL: none. */
    int (*beside)(void *state, struct program *program, struct err *err);
    /* Of the program, before anybody walks it: most launches are replaced by a few of them, which amount to as much
     * together (struct program_ops: they are alike). What a launch takes is nearly a line in its amount, which
     * `amounts` gets of each as it is then. False: none is. NULL: it has no such launches. */
    bool (*spare)(void *state, double *amounts);
    void (*wish)(const void *state, struct workload_wish *wish); /* NULL: none */
    struct workload_repeats repeats;
};

/* The workload_type TYPE of a struct X that begins with its keys, those of KEYS[]; members that are more come last. */
#define WORKLOAD_TYPE(TYPE, X, NAME, SUMMARY, SOURCE, KEYS, OPEN, CLOSE, ...)                                          \
    const struct workload_type TYPE = {.name = (NAME),                                                                 \
                                       .summary = (SUMMARY),                                                           \
                                       .source = SOURCE,                                                               \
                                       .params = KEYS,                                                                 \
                                       .params_size = sizeof(struct X),                                                \
                                       .open = OPEN,                                                                   \
                                       .close = (CLOSE),                                                               \
                                       __VA_ARGS__}

/* One of several alike: opened by NEW(OF, keys, err). */
#define WORKLOAD_NEW(TYPE, X, NAME, SUMMARY, SOURCE, KEYS, NEW, OF, CLOSE, ...)                                        \
    static void *TYPE##_open(const void *given, struct err *err)                                                       \
    {                                                                                                                  \
        return NEW(OF, given, err);                                                                                    \
    }                                                                                                                  \
    WORKLOAD_TYPE(TYPE, X, NAME, SUMMARY, SOURCE, KEYS, TYPE##_open, CLOSE, __VA_ARGS__)

/* With X_keys[]: NEW makes a state as workload_new(), and X_init() fills in the rest (-1 with *err set: refused). */
#define WORKLOAD(X, TYPE, NAME, SUMMARY, SOURCE, NEW, CLOSE, ...)                                                      \
    static void *X##_open(const void *keys, struct err *err)                                                           \
    {                                                                                                                  \
        struct X *s = NEW(keys, sizeof *s, err);                                                                       \
        if (!s || X##_init(s, err) == 0)                                                                               \
            return s;                                                                                                  \
        CLOSE(s);                                                                                                      \
        return NULL;                                                                                                   \
    }                                                                                                                  \
    WORKLOAD_TYPE(TYPE, X, NAME, SUMMARY, SOURCE, X##_keys, X##_open, CLOSE, __VA_ARGS__)

/* The same of a program that has every view: struct X begins with a layout (trace/program/layout.h) and has its keys
 * behind it; NEW as layout_open(); X_init() adds arrays and kernels. */
#define WORKLOAD_OF_LAYOUT(X, TYPE, NAME, SUMMARY, SOURCE, NEW, CLOSE, ...)                                            \
    WORKLOAD(X, TYPE, NAME, SUMMARY, SOURCE, NEW, CLOSE, .produces = WORKLOAD_PROGRAM, .views = VIEW_ALL,              \
             .program = layout_program, __VA_ARGS__)

/* A state of so many bytes that begins with the keys; all of `keys` is copied. */
void *workload_new(const void *keys, size_t bytes, struct err *err);

struct workload {
    const struct workload_type *type;
    struct param_list keys; /* as given */
    void *params;           /* checked */
    void *state;
};

/* Ends with NULL. */
extern const struct workload_type *const workload_types[];

const struct workload_type *workload_find(const char *name);

/* Whether the name and the keys of a spec are right, without making anything: a failure is one of usage. */
int workload_check(const char *spec, struct err *err);

/* spec = "NAME,key=value,..." (without "synth:"). Released with workload_close(). */
int workload_open(struct workload *workload, const char *spec, struct err *err);
void workload_close(struct workload *workload);

/* What to say where key `bytes` was given and the program's arrays together are more than 2 % off it, because its sizes
 * come in steps: "bicg: its arrays take 900 MiB, bytes says 954 MiB: .." NULL: nothing.
 * Otherwise buf. */
const char *workload_size_note(const struct workload *workload, char *buf, size_t size);

/* --- the generated workloads, in the order of `offchip list programs`: a new one is its file, and its name here --- */

#define WORKLOADS(X)                                                                                                   \
    X(pim_add), X(pim_copy), X(pim_daxpy), X(pim_scale), X(pim_bn_fwd), X(pim_bn_bwd), X(pim_fc), X(pim_kmeans),       \
        X(pim_grim), X(pim_softmax), X(gpu_g1), X(gpu_g2), X(gpu_g3), X(gpu_g4), X(gpu_g5), X(gpu_g6), X(gpu_g7),      \
        X(gpu_g8), X(gpu_g9), X(gpu_g10), X(gpu_g11), X(gpu_g12), X(gpu_g13), X(gpu_g14), X(gpu_g15), X(gpu_g16),      \
        X(gpu_g17), X(gpu_g18), X(gpu_g19), X(gpu_g20), X(llm), X(conv2d), X(fdtd2d), X(bicg), X(nw), X(rodinia_nw),   \
        X(rodinia_lud), X(rodinia_srad_v1), X(rodinia_nn), X(rodinia_pathfinder), X(rodinia_gaussian), X(rodinia_cfd), \
        X(rodinia_kmeans), X(rodinia_huffman), X(rodinia_sradv2), X(rodinia_hotspot3d), X(rodinia_hotspot),            \
        X(rodinia_bfs), X(rodinia_streamcluster), X(rodinia_btree), X(rodinia_lavamd), X(rodinia_backprop),            \
        X(rodinia_dwt2d), X(rodinia_heartwall), X(rodinia_mummergpu), X(triad), X(strided), X(stencil), X(matmul),     \
        X(launch_touch), X(array), X(bfs), X(cc), X(sssp), X(pagerank), X(gather), X(embedding), X(kv_load),           \
        X(yolov2), X(degrees), X(kron), X(urand), X(fs), X(ml), X(sk), X(uk5)

#define WORKLOAD_OF(NAME) workload_##NAME
extern const struct workload_type WORKLOADS(WORKLOAD_OF);
