/* program: what a GPU program does, once: its memory, its launches, and what each warp accesses in which order.
 *
 * A program is a row of launches; a launch is a grid of thread blocks; a block is warps of 32 lanes; a warp is a row of
 * bodies; a body is a loop: some accesses in program order, done `turns` times, each turn so many bytes further on.
 * Straight code is a body of one turn. Engines never ask a program anything else: each takes a view of these bodies
 * (pages: trace/program/pages.h; instructions with the lines they touch: trace/program/walk.h), and whatever a view
 * answers in closed form must equal what the expansion gives, access by access.
 *
 * Issue is in order. Between one access and the next a warp issues `before` other instructions; an access whose value
 * is first used `use` instructions later stops the warp there until it has come back. A store is waited for by nobody,
 * but a warp ends only when all its stores are done. At the end of a turn everything that the turn loaded has returned:
 * loads that overlap several turns of the source's loop are one turn here (unrolled, as the compiler unrolls them).
 * Worked example: c[i] = a[i] + b[i] over one turn: load a (use 3), load b (before 0, use 2), store c (before 1): both
 * loads are issued, the warp waits for both, then one addition, then the store.
 *
 * Warps are numbered over a launch, those of a block next to each other: warp = block x warps of a block + warp in
 * block; blocks in x, then y, then z. A launch starts when the one before has ended. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"
#include "trace/event/record.h"

enum {
    PROGRAM_LANES = 32,
    PROGRAM_ACCESSES = 64,        /* of one body, at most */
    PROGRAM_LANE_SETS = 8,        /* accesses of one body with an address for each lane, at most */
    PROGRAM_ALLOCS = 64,          /* of one generated program, at most */
    PROGRAM_BLOCK_BYTES = 2097152 /* allocations begin on such a boundary, as the CUDA driver places large ones */
};

/* program_access.kind besides enum record_access (read, write, atomic). */
enum { PROGRAM_BARRIER = 16, PROGRAM_PIM = 17 };

struct program_alloc {
    char name[24];   /* as in the source: "A" */
    uint64_t addr;   /* byte address; program_place() sets it */
    uint64_t bytes;  /* > 0 */
    uint32_t advice; /* that the program gives of it as managed memory, enum actor_advice */
    bool host;       /* the CPU has written all of it before the first launch */
    bool device;     /* in GPU memory whatever mechanism is asked about (an explicit allocation of small state) */
    bool scratch;    /* the CPU never reads what kernels write there */
    bool twin;       /* where memory is copied, the CPU has as much of its own beside it, copied or not */
};

struct program_launch {
    const char *kernel;   /* valid as long as the state */
    uint64_t blocks;      /* >= 1 */
    uint32_t threads;     /* of a block, 1 to 1,024 */
    uint32_t registers;   /* of a thread; 0: not known */
    uint32_t shared;      /* bytes of shared memory of a block */
    uint32_t blocks_most; /* resident on a multiprocessor, at most; 0: as many as fit */
    bool cpu;             /* not a kernel: the CPU does these accesses, one warp after the other */
    bool waited;          /* the CPU waits for its end before it goes on */
};

/* One memory instruction of a warp, or a barrier (then only kind and before count). */
struct program_access {
    uint64_t addr;        /* byte that lane 0 accesses in turn 0 */
    int64_t lane_stride;  /* bytes from a lane to the next */
    int64_t turn_stride;  /* bytes from a turn to the next */
    const uint64_t *lane; /* where lanes are no stride apart: byte of each active one in turn 0, by lane; else NULL */
    int32_t row_stride;   /* bytes from a row of lanes to the next, where there are rows */
    uint32_t active;      /* lanes that take part, a mask; 0: the instruction is issued and accesses nothing */
    uint8_t bytes;        /* of each lane, 1 to 16; power of two */
    uint8_t row;          /* lanes of a row, a power of two: lane l is number l mod row of row l div row; 0: no rows,
                             as always where program_body.rows is not set */
    uint16_t before;      /* instructions of the warp since the access before, or since the turn began */
    uint16_t use;         /* loads, atomics: the value is needed so many instructions later, 1: by the next; 0: not
                             before the end of the turn. Stores: 0 */
    uint8_t kind;         /* RECORD_READ, RECORD_WRITE, RECORD_ATOMIC, PROGRAM_BARRIER, PROGRAM_PIM */
    uint8_t alloc;        /* the allocation meant; addresses may lie outside it, as in the source */
};

struct program_body {
    uint64_t lanes[PROGRAM_LANE_SETS]
                  [PROGRAM_LANES]; /* room for access[].lane; the last set is used first: near them */
    uint32_t lane_sets;            /* of them, used */
    uint32_t count;                /* accesses, 0 to PROGRAM_ACCESSES */
    uint32_t after;                /* instructions after the last access of a turn */
    uint64_t turns;                /* >= 1 */
    bool last;                     /* no body follows: the next need not be asked for; false: it is asked for */
    bool brief;                    /* set by who asks: reads alone matter, of GPU memory wherever they are; bodies on
                                      as many lines may be turns of one */
    bool rows;                     /* set by who asks: accesses may have rows (else each of their lanes an address) */
    struct program_access access[PROGRAM_ACCESSES];
};

/* How a kind of program answers. `state` is shared by runs in parallel, `run` is one run's own. */
struct program_ops {
    const struct program_alloc *(*allocs)(const void *state, size_t *n);
    uint32_t (*launches)(const void *state);
    void (*launch)(const void *state, uint32_t launch, struct program_launch *out);
    /* Fill body number `index` of a warp; *body comes cleared (count, lane_sets 0, turns 1, not the last). Returns 1, 0
     * if the warp has no such body (it is done), or -1 with *err set. Within a run launches ascend (some may be left
     * out); warps and bodies of a launch may be asked for in any order, and again. */
    int (*body)(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body, struct err *err);
    /* One run, and its end; both NULL where body() needs none and takes the state itself. */
    void *(*run_open)(const void *state, struct err *err);
    void (*run_close)(void *run);
    /* The first launch that is the same in all that launch() and body() say, or the launch itself; NULL: no two are. */
    uint32_t (*like)(const void *state, uint32_t launch);
};

struct program {
    const struct program_ops *ops;
    const void *state;
    int64_t compute_ns; /* of one turn of a warp whose data is all at hand; negative: by its instructions */
};

/* --- for those who write programs --- */

/* Where the first allocation lies, unless a program says otherwise. */
#define PROGRAM_BASE UINT64_C(0x7f0000000000)

/* Give n allocations addresses one after the other from `base` on, each on a multiple of `align` bytes. align 0:
 * PROGRAM_BLOCK_BYTES, from PROGRAM_BASE on. */
void program_place(struct program_alloc *allocs, size_t n, uint64_t base, uint64_t align);

/* Lanes 0 to n - 1 (n up to 32). */
static inline uint32_t program_first_lanes(uint64_t n)
{
    return n >= PROGRAM_LANES ? 0xffffffffu : (1u << n) - 1;
}

/* Append an access of `bytes` per lane from byte `offset` of allocation `alloc` on, and return it: all lanes, next to
 * each other, the same in every turn, value needed by the next instruction. The caller changes what differs. */
static inline struct program_access *program_load(struct program_body *body, const struct program_alloc *allocs,
                                                  unsigned alloc, uint64_t offset, uint32_t bytes)
{
    struct program_access *a = &body->access[body->count++];
    *a = (struct program_access){.addr = allocs[alloc].addr + offset,
                                 .lane_stride = bytes,
                                 .active = UINT32_MAX,
                                 .bytes = (uint8_t)bytes,
                                 .use = 1,
                                 .kind = RECORD_READ,
                                 .alloc = (uint8_t)alloc};
    return a;
}

/* The same for a store, and for a barrier. */
static inline struct program_access *program_store(struct program_body *body, const struct program_alloc *allocs,
                                                   unsigned alloc, uint64_t offset, uint32_t bytes)
{
    struct program_access *a = program_load(body, allocs, alloc, offset, bytes);
    a->kind = RECORD_WRITE;
    a->use = 0;
    return a;
}

void program_barrier(struct program_body *body);

/* Give the access an address of its own for each lane: 32 bytes to be filled in, at least those of active lanes. */
uint64_t *program_scatter(struct program_body *body, struct program_access *access);

/* --- for those who read them --- */

static inline uint32_t program_warps_of_block(const struct program_launch *launch)
{
    return (launch->threads + PROGRAM_LANES - 1) / PROGRAM_LANES;
}

static inline uint64_t program_warps(const struct program_launch *launch)
{
    return launch->blocks * program_warps_of_block(launch);
}

/* The byte that a lane accesses in a turn. */
static inline uint64_t program_addr(const struct program_access *a, unsigned lane, uint64_t turn)
{
    uint64_t first = a->lane ? a->lane[lane] : a->addr + lane * (uint64_t)a->lane_stride;
    if (a->row)
        first = a->addr + (lane >> __builtin_ctz(a->row)) * (uint64_t)a->row_stride +
                (lane & (a->row - 1u)) * (uint64_t)a->lane_stride;
    return first + turn * (uint64_t)a->turn_stride;
}

/* Whether it reads, or writes; an atomic does both, a barrier neither. */
static inline bool program_loads(const struct program_access *a)
{
    return a->kind == RECORD_READ || a->kind == RECORD_ATOMIC;
}

static inline bool program_stores(const struct program_access *a)
{
    return a->kind == RECORD_WRITE || a->kind == RECORD_ATOMIC;
}

/* Bytes of the one stretch without a gap that the active lanes cover, from program_addr(a, 0, turn) on: lanes 0 to n -
 * 1 side by side, or all at the same place; 0: they cover none such. */
static inline uint64_t program_stretch(const struct program_access *a)
{
    if (a->lane || a->row || !a->active)
        return 0;
    if (a->lane_stride == 0)
        return a->bytes;
    bool first_lanes = (a->active & (a->active + 1)) == 0;
    return a->lane_stride == a->bytes && first_lanes ? (uint64_t)__builtin_popcount(a->active) * a->bytes : 0;
}

/* Bytes from the first active lane's to the end of the last one's, where lanes 0 to n - 1 are active and each begins at
 * the lane before it or up to `most` bytes behind: of aligned stretches of `most` bytes none between is left out, from
 * program_addr(a, 0, turn) on; 0: it is not so. */
static inline uint64_t program_span(const struct program_access *a, int64_t most)
{
    if (a->lane || a->row || !a->active || a->active & (a->active + 1) || a->lane_stride < 0 || a->lane_stride > most)
        return 0;
    return ((uint64_t)__builtin_popcount(a->active) - 1) * (uint64_t)a->lane_stride + a->bytes;
}

/* The lowest of the lanes `rest` and those behind it whose bytes continue its own, as the rows of a tile do: the byte
 * that they begin with in turn 0, how many there are, and the lanes that are left. rest: not 0. */
static inline uint32_t program_lanes_together(const struct program_access *a, uint32_t rest, uint64_t *first,
                                              uint64_t *bytes)
{
    unsigned lane = (unsigned)__builtin_ctz(rest);
    uint32_t lanes = 1u << lane;
    *first = program_addr(a, lane, 0);
    if (a->row && a->lane_stride == a->bytes) { /* to the end of its row, or the next that is not there */
        lanes = program_first_lanes(a->row - (lane & (a->row - 1u))) << lane;
        uint32_t gaps = ~rest & lanes;
        lanes &= gaps ? (gaps & (0 - gaps)) - 1 : UINT32_MAX;
    }
    *bytes = (uint64_t)__builtin_popcount(lanes) * a->bytes;
    for (rest &= ~lanes; rest && program_addr(a, (unsigned)__builtin_ctz(rest), 0) == *first + *bytes; rest &= rest - 1)
        *bytes += a->bytes;
    return rest;
}

/* Instructions of one turn, accesses included. */
uint32_t program_instructions(const struct program_body *body);

/* Where the warp stops for memory within a turn: bit i: right before access i it needs a value loaded by an access
 * before it. (At the end of a turn it waits for all loads, too.) */
uint64_t program_stalls(const struct program_body *body);

/* Ask for a body: clears what must be. As program_ops.body. */
int program_body(const struct program *program, void *run, uint32_t launch, uint64_t warp, uint32_t index,
                 struct program_body *body, struct err *err);

/* The same, brief and with rows; or with rows. */
int program_body_brief(const struct program *program, void *run, uint32_t launch, uint64_t warp, uint32_t index,
                       struct program_body *body, struct err *err);
int program_body_rows(const struct program *program, void *run, uint32_t launch, uint64_t warp, uint32_t index,
                      struct program_body *body, struct err *err);

static inline struct program_launch program_launch_of(const struct program *program, uint32_t launch)
{
    struct program_launch shape = {0};
    program->ops->launch(program->state, launch, &shape);
    return shape;
}

/* The first launch that this one is the same as, itself if there is none before it. */
static inline uint32_t program_like(const struct program *program, uint32_t launch)
{
    return program->ops->like ? program->ops->like(program->state, launch) : launch;
}

/* A run of the program; -1 with *err set. *run is what program_body() takes. */
int program_run_open(const struct program *program, void **run, struct err *err);
void program_run_close(const struct program *program, void *run);

/* Check what a launch and its numbers must be; -1 with *err naming the launch. */
int program_check_launch(const struct program_launch *launch, uint32_t number, struct err *err);
