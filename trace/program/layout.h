/* layout: what a program keeps while it is open: its arrays in the order in which they are allocated, and its kernels
 * in the order in which they are launched. Its state is a struct that begins with one.
 *
 * Worked example: of a state s, layout_array(&s->layout, "+in", 400), layout_array(&s->layout, "out", 400): array 0,
 * which the CPU has written, and array 1; layout_kernel(&s->layout, blur, "blur", 2, 64, 16, 0) once: each launch is 2
 * blocks of 64 threads, of what function blur says. */
#pragma once

#include "trace/base/param.h"
#include "trace/program/emit.h"

enum { LAYOUT_KERNELS = 12 }; /* of one program, at most */

/* A kernel: fills body number e->index of the warp at e->at. Returns as program_ops.body does; -1 only with e->err. */
typedef int layout_body(struct emit *e);

struct layout_kernel {
    struct program_launch launch;
    layout_body *body;
    uint64_t work; /* threads from this one on do nothing but `guard` instructions */
    uint32_t guard;
    bool straight; /* a warp has one body, number 0 */
    int8_t warps;  /* of a block, all full: 1 << warps; -1: no power of two, or not full */
};

/* What a run keeps begins with one, which is set for it. */
struct layout_run {
    const struct layout *layout;
};

struct layout {
    struct layout_run itself; /* a run that keeps nothing */
    int64_t compute_ns;       /* of struct program; a key, as may be: */
    int64_t order;            /* enum emit_order */
    uint32_t launches;        /* 1, if not set */
    uint64_t base, align;     /* where the first array lies, on which boundaries all do; set before the first one */
    unsigned arrays, kernels;
    struct program_alloc array[PROGRAM_ALLOCS];
    struct layout_kernel kernel[LAYOUT_KERNELS];
    /* Launches are the kernels one after the other, and again; but the first and the last so many kernels come once.
     * alike: a launch does what the first one of its kernel does. */
    unsigned once_before, once_behind;
    bool alike;
    /* Which kernel a launch is; NULL: as said there. */
    unsigned (*kernel_of)(const void *state, uint32_t launch);
    /* Sets what differs from layout_kernel()'s in a launch (threads only where that says 0); NULL: nothing does. */
    void (*shape)(const void *state, uint32_t launch, struct program_launch *out);
    /* What a run keeps: a struct that begins with a layout_run, or NULL with *err set; and its end. Both NULL: nothing.
     */
    void *(*run_open)(const void *state, struct err *err);
    void (*run_close)(void *run);
    uint32_t (*like)(const void *state, uint32_t launch); /* as in struct program_ops; NULL: by `alike` */
};

/* A layout without anything, all zero before: arrays as the CUDA driver places large ones, each value used as PTX has
 * it. */
void layout_init(struct layout *layout, int64_t compute_ns);

/* State of so many bytes that begins with such a layout, whose keys are members of it: `keys` is one with nothing but
 * them set. Release with free(). NULL with *err set. */
void *layout_open(const void *keys, size_t bytes, struct err *err);

/* The next arrays, names of up to 23 characters "a|b|c", each of so many bytes, new; with a + before the first name:
 * written by the CPU before the first launch. The last of them, valid as long as the state. */
struct program_alloc *layout_array(struct layout *layout, const char *names, uint64_t bytes);

/* layout_array() for the rows of a table. */
struct layout_row {
    const char *names; /* NULL: the end */
    uint64_t bytes;
};

void layout_arrays(struct layout *layout, const struct layout_row *row);

#define LAYOUT_ARRAYS(layout, ...) layout_arrays(layout, (const struct layout_row[]){__VA_ARGS__, {NULL, 0}})

/* Row of the key compute_ns, for a state that begins with a layout. */
#define LAYOUT_COMPUTE_NS(help) PARAM_NS_AUTO_ROW(layout, compute_ns, 0, 1e9, help)

/* The next kernel: its name in the source (valid as long as the state), blocks, threads of a block, registers of a
 * thread, bytes of shared memory of a block. */
void layout_kernel(struct layout *layout, layout_body *body, const char *name, uint64_t blocks, uint32_t threads,
                   uint32_t registers, uint32_t shared);

/* The same of straight code: each warp has one body, and only that is asked for. */
void layout_straight(struct layout *layout, layout_body *body, const char *name, uint64_t blocks, uint32_t threads,
                     uint32_t registers, uint32_t shared);

/* Of the kernel given last, threads of the launch from n on find that they have nothing to do, in so many instructions.
 */
static inline void layout_guard(struct layout *layout, uint64_t n, uint32_t instructions)
{
    layout->kernel[layout->kernels - 1].work = n;
    layout->kernel[layout->kernels - 1].guard = instructions;
}

/* Blocks of so many threads that n threads fill. */
static inline uint64_t layout_blocks(uint64_t n, uint32_t threads)
{
    return (n + threads - 1) / threads;
}

/* Of workload_type, for a state that begins with a layout. */
int layout_program(void *state, struct program *program, struct err *err);
