/* emit: a body of a warp, line by line, as a listing of the kernel has it: array, element, instructions before, use.
 *
 * Worked example: lanes 0 to 15 load A[i], four instructions on, and the third behind it uses the value; i is lane 0's:
 * e->active = 0xffff; emit_load(e, A, i, 4, 3). */
#pragma once

#include "trace/program/program.h"

/* --- which threads a warp has, and the trips that they make through a loop, as bodies ---
 *
 * A compiled loop stands `unroll` times in a turn; trips that are left over follow one by one, in a loop of their own
 * behind it. Lanes that do one trip more than the others leave the unrolled loop later, or the rest loop.
 * Worked example: 10 trips, an eleventh for lanes 0 to 3, unrolled by four: two turns of four trips, two turns of one
 * trip, one turn of one trip for lanes 0 to 3. With 11 trips and a twelfth: two turns of four; a third for lanes 0 to
 * 3; three turns of one trip for the others.
 * Source: the order, unrolled loop first: what nvcc 13.0 makes for sm_90 of fixtures/cuda/kernels.cu (bicg). */

struct program_warp {
    uint64_t block, thread; /* linear; thread: of lane 0, over the whole launch */
    uint32_t warp;          /* in the block */
    uint32_t lanes;         /* threads in it, 1 to 32: lanes 0 to lanes - 1 */
};

struct program_loop {
    uint64_t trips;  /* of every active lane */
    uint32_t active; /* a mask */
    uint32_t more;   /* those of them that do one trip more; never all */
    uint32_t unroll; /* >= 1 */
};

/* Turns that are one body. */
struct program_part {
    uint64_t first; /* trip of its first turn */
    uint64_t turns; /* >= 1 */
    uint32_t trips; /* of a turn: 1 or unroll */
    uint32_t active;
    bool last; /* no part follows */
};

/* Where warp number `warp` of a launch stands. */
struct program_warp program_warp_at(const struct program_launch *launch, uint64_t warp);

/* for (i = first + lane; i < n; i += step), lanes 0 to lanes - 1; step >= lanes. */
struct program_loop program_grid_stride(uint64_t first, uint32_t lanes, uint64_t step, uint64_t n, uint32_t unroll);

/* Part number `index` of the loop; false: it has none. */
bool program_loop_part(const struct program_loop *loop, uint32_t index, struct program_part *part);

/* What a warp without a trip does: so many instructions, as its only body. Returns what program_ops.body returns. */
static inline int program_no_trip(uint32_t index, uint32_t instructions, struct program_body *body)
{
    body->after = instructions;
    body->last = true;
    return index == 0;
}

/* --- a body --- */

/* In which order the loads of a basic block are issued. ptx: as nvcc's PTX has them, each value used where that code
 * uses it (in-order simulators execute this). hoisted: independent loads first, then their uses, as machine code is
 * expected to have it.
 * Worked example: a, b loaded and each stored to shared memory by the next instruction. ptx: load a (use 1), wait, load
 * b (before 1, use 1), wait. hoisted: load a, load b, wait for both.
 * Source: PTX order: GPGPU-Sim executes PTX in order; hoisted: assumed, the machine code was not inspected. */
enum emit_order { ORDER_PTX, ORDER_HOISTED };

struct emit {
    struct program_body *body;
    const struct program_alloc *allocs;
    uint32_t active, bytes; /* what follows belongs to these lanes, of elements of so many bytes; at first: all, 4 */
    uint32_t launch, index; /* asked for: the launch; which body of the warp */
    enum emit_order order;
    struct program_warp at;
    const void *state; /* the program's */
    void *run;         /* what the run keeps (layout.run_open) */
    struct err *err;   /* for a kernel that fails */
};

/* For each lane l of a mask; the mask is looked at once. */
#define EMIT_LANES(l, mask)                                                                                            \
    for (uint32_t rest_ = (mask), l; rest_ && (l = (uint32_t)__builtin_ctz(rest_), 1); rest_ &= rest_ - 1)

/* Lanes whose threads, counted over the launch, are below n: they alone from now on. Returns whether there are any. */
static inline bool emit_below(struct emit *e, uint64_t n)
{
    e->active &= e->at.thread < n ? program_first_lanes(n - e->at.thread) : 0;
    return e->active;
}

/* Threads of the block below n; thread t of it: they alone from now on. Returns whether the warp has any. */
static inline bool emit_threads(struct emit *e, uint32_t n)
{
    uint32_t before = e->at.warp * PROGRAM_LANES;
    e->active = n > before ? program_first_lanes(n - before) : 0;
    return e->active;
}

static inline bool emit_thread(struct emit *e, uint32_t t)
{
    e->active = t / PROGRAM_LANES == e->at.warp ? 1u << t % PROGRAM_LANES : 0;
    return e->active;
}

/* Blocks of EMIT_X x EMIT_Y threads over n rows of m points: the warp's 32 points of a row but for so many rows and
 * columns at the edges (left: 0 or 1): they alone from now on. Returns whether there are any; *c: number of the first,
 * row n + column. */
enum { EMIT_X = PROGRAM_LANES, EMIT_Y = 8 };

static inline bool emit_points(struct emit *e, int64_t n, int64_t m, int64_t top, int64_t left, int64_t bottom,
                               int64_t right, int64_t *c)
{
    uint32_t block = (uint32_t)e->at.block, across = (uint32_t)(m + EMIT_X - 1) / EMIT_X; /* fewer than 2^32 warps */
    int64_t i = (int64_t)(block / across) * EMIT_Y + e->at.warp, j = (int64_t)(block % across) * EMIT_X;
    e->active = j + right < m ? program_first_lanes((uint64_t)(m - right - j)) : 0;
    if (j < left)
        e->active &= ~1u;
    *c = i * m + j;
    return e->active && i >= top && i + bottom < n;
}

/* The body ends: so many instructions behind the last access. What a kernel returns of a body that is there. */
static inline int emit_end(const struct emit *e, uint32_t after)
{
    e->body->after = after;
    return 1;
}

/* All that the warp does is so many instructions. What a kernel returns. */
static inline int emit_idle(const struct emit *e, uint32_t instructions)
{
    return program_no_trip(e->index, instructions, e->body);
}

/* The same, of elements of so many bytes. */
static inline struct emit emit_of(const struct emit *e, uint32_t bytes)
{
    struct emit of = *e;
    of.bytes = bytes;
    return of;
}

/* Element `index` is lane 0's, index + 1 lane 1's; an index may lie outside the array. */
static inline struct program_access *emit_load(const struct emit *e, unsigned array, int64_t index, unsigned before,
                                               unsigned use)
{
    struct program_access *a = program_load(e->body, e->allocs, array, (uint64_t)(index * (int64_t)e->bytes), e->bytes);
    a->active = e->active;
    a->before = (uint16_t)before;
    a->use = (uint16_t)use;
    return a;
}

/* A load as what it is not: a store, or an atomic nobody waits for. */
static inline struct program_access *emit_as(struct program_access *a, unsigned kind)
{
    a->kind = (uint8_t)kind;
    a->use = 0;
    return a;
}

static inline struct program_access *emit_store(const struct emit *e, unsigned array, int64_t index, unsigned before)
{
    return emit_as(emit_load(e, array, index, before, 0), RECORD_WRITE);
}

/* All lanes' accesses are of one element. */
static inline struct program_access *emit_same(struct program_access *a)
{
    a->lane_stride = 0;
    return a;
}

/* Lanes lie `elements` of the access's size apart. */
static inline struct program_access *emit_apart(struct program_access *a, int64_t elements)
{
    a->lane_stride = elements * a->bytes;
    return a;
}

/* Lanes lie as threads of a block that is `width` wide: l / width `down`, l mod width `right` elements on. In rows
 * where who asks takes them (program_body.rows) and the width is a power of two, else an address for each lane. */
struct program_access *emit_tile(const struct emit *e, struct program_access *a, unsigned width, int64_t down,
                                 int64_t right);

/* Lane l's element is index[l] (32 of them, those of inactive lanes never looked at); at least one lane is active. */
struct program_access *emit_gather(const struct emit *e, unsigned array, const int64_t *index, unsigned before,
                                   unsigned use);

static inline struct program_access *emit_scatter(const struct emit *e, unsigned array, const int64_t *index,
                                                  unsigned before)
{
    return emit_as(emit_gather(e, array, index, before, 0), RECORD_WRITE);
}

/* Lane l's element is first + index[l]; likewise, but without looking whether they are a stride apart. */
static inline struct program_access *emit_each(const struct emit *e, unsigned array, int64_t first,
                                               const int64_t *index, unsigned before, unsigned use)
{
    struct program_access *a = emit_load(e, array, first, before, use);
    uint64_t *lane = program_scatter(e->body, a);
    EMIT_LANES (l, e->active)
        lane[l] = a->addr + (uint64_t)(index[l] * (int64_t)e->bytes);
    return a;
}

/* An earlier access of the body again, as a load of the same elements or as a store to them. */
static inline struct program_access *emit_again(const struct emit *e, const struct program_access *earlier,
                                                unsigned kind, unsigned before)
{
    struct program_access *a = &e->body->access[e->body->count++];
    *a = *earlier;
    a->kind = (uint8_t)kind;
    a->before = (uint16_t)before;
    a->use = kind == RECORD_READ;
    return a;
}

static inline void emit_barrier(const struct emit *e, unsigned before)
{
    program_barrier(e->body);
    e->body->access[e->body->count - 1].before = (uint16_t)before;
}

/* The body is done `turns` times, each access so many of its elements further on. */
void emit_turns(const struct emit *e, uint64_t turns, int64_t elements);

/* The accesses from number `first` to the last one of the body are loads that do not depend on each other (other
 * accesses among them stay as they are): with ORDER_HOISTED no value is needed before the last of them is issued; with
 * ORDER_PTX nothing changes. Called when a basic block's loads have been appended. */
void emit_hoist(const struct emit *e, uint32_t first);
