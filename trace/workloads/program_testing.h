/* program_testing: a program against loops over its threads, written from the kernel's source; for tests.
 *
 * The test goes over the threads of a kernel one by one and notes each access (program_note()): in which launch, by
 * which thread, when, where. Accesses of a warp's lanes with the same `when` are one instruction; a warp does them in
 * the order of `when`. program_compare() then expands the program's bodies and walks it, and finds the same
 * instructions, lane by lane, or fails. */
#pragma once

#include "trace/base/testing.h"
#include "trace/program/walk.h"
#include "trace/workloads/workload.h"

/* As ck_assert_uint_eq(), which costs a system call even where it holds: for what is compared millions of times. */
#define PROGRAM_SAME(found, expected)                                                                                  \
    do {                                                                                                               \
        unsigned long long found_ = (found), expected_ = (expected);                                                   \
        if (found_ != expected_)                                                                                       \
            ck_abort_msg("%s is %llu (%#llx); expected %llu (%#llx)", #found, found_, found_, expected_, expected_);   \
    } while (0)

struct program_noted {
    uint64_t warp, when, addr;
    uint32_t launch, lane, kind, bytes;
};

/* An instruction of a warp. */
struct program_expected {
    uint64_t warp, addr[PROGRAM_LANES];
    uint32_t launch, kind, bytes, active;
};

struct program_notes {
    struct program_noted *list;
    size_t n, cap;
    struct program_expected *expected; /* made of them */
    size_t count, at;
};

/* Thread number `thread` of block `block`, blocks of `threads`. */
static inline void program_note(struct program_notes *notes, uint32_t launch, uint64_t block, uint32_t threads,
                                uint32_t thread, uint64_t when, uint32_t kind, uint32_t bytes, uint64_t addr)
{
    if (notes->n == notes->cap) {
        notes->cap = notes->cap ? 2 * notes->cap : 1024;
        notes->list = realloc(notes->list, notes->cap * sizeof *notes->list);
        ck_assert_ptr_nonnull(notes->list);
    }
    notes->list[notes->n++] = (struct program_noted){.warp = block * ((threads + 31) / 32) + thread / 32,
                                                     .when = when,
                                                     .addr = addr,
                                                     .launch = launch,
                                                     .lane = thread % 32,
                                                     .kind = kind,
                                                     .bytes = bytes};
}

static inline int program_noted_order(const void *pa, const void *pb)
{
    const struct program_noted *a = pa, *b = pb;
    if (a->launch != b->launch)
        return a->launch < b->launch ? -1 : 1;
    if (a->warp != b->warp)
        return a->warp < b->warp ? -1 : 1;
    if (a->when != b->when)
        return a->when < b->when ? -1 : 1;
    return a->lane < b->lane ? -1 : a->lane > b->lane;
}

static inline void program_group(struct program_notes *notes)
{
    if (notes->n)
        qsort(notes->list, notes->n, sizeof *notes->list, program_noted_order);
    notes->expected = calloc(notes->n + 1, sizeof *notes->expected);
    ck_assert_ptr_nonnull(notes->expected);
    for (size_t i = 0; i < notes->n; i++) {
        const struct program_noted *a = &notes->list[i], *before = i ? a - 1 : NULL;
        if (!before || before->launch != a->launch || before->warp != a->warp || before->when != a->when)
            notes->expected[notes->count++] =
                (struct program_expected){.warp = a->warp, .launch = a->launch, .kind = a->kind, .bytes = a->bytes};
        struct program_expected *e = &notes->expected[notes->count - 1];
        if (e->active >> a->lane & 1)
            ck_abort_msg("the test notes a lane twice");
        e->active |= 1u << a->lane;
        e->addr[a->lane] = a->addr;
    }
}

/* One instruction of the program's bodies is the next expected. */
static inline void program_match(struct program_notes *notes, uint32_t launch, uint64_t warp,
                                 const struct program_access *a, uint64_t turn)
{
    if (notes->at >= notes->count)
        ck_abort_msg("launch %u, warp %llu: more accesses than the loops make", launch, (unsigned long long)warp);
    const struct program_expected *e = &notes->expected[notes->at++];
    ck_assert_msg(e->launch == launch && e->warp == warp,
                  "launch %u, warp %llu accesses; expected launch %u, warp %llu", launch, (unsigned long long)warp,
                  e->launch, (unsigned long long)e->warp);
    PROGRAM_SAME(a->kind, e->kind);
    PROGRAM_SAME(a->bytes, e->bytes);
    PROGRAM_SAME(a->active, e->active);
    for (unsigned lane = 0; lane < PROGRAM_LANES; lane++)
        if (e->active >> lane & 1)
            PROGRAM_SAME(program_addr(a, lane, turn), e->addr[lane]);
}

/* What holds of any body: numbers within their limits. */
static inline void program_check_body(const struct program_body *b)
{
    if (b->count > PROGRAM_ACCESSES || b->lane_sets > PROGRAM_LANE_SETS || b->turns == 0 || !program_instructions(b))
        ck_abort_msg("a body of %u accesses, %u sets of lanes, %llu turns", b->count, b->lane_sets,
                     (unsigned long long)b->turns);
}

static inline void program_expand(struct program_notes *notes, const struct program *program)
{
    static struct program_body body;
    struct err err = {""};
    void *run;
    ck_assert_int_eq(program_run_open(program, &run, &err), 0);
    for (uint32_t l = 0; l < program->ops->launches(program->state); l++) {
        struct program_launch shape = {0};
        program->ops->launch(program->state, l, &shape);
        ck_assert_msg(program_check_launch(&shape, l, &err) == 0, "%s", err.msg);
        for (uint64_t w = 0; w < program_warps(&shape); w++) {
            bool last = false;
            for (uint32_t i = 0;; i++) {
                if (program_body(program, run, l, w, i, &body, &err) != 1) {
                    PROGRAM_SAME(i > 0, true); /* no warp does nothing at all */
                    break;
                }
                PROGRAM_SAME(last, false); /* nothing follows what is said to be the last */
                last = body.last;
                program_check_body(&body);
                for (uint64_t t = 0; t < body.turns; t++)
                    for (uint32_t k = 0; k < body.count; k++)
                        if (body.access[k].kind != PROGRAM_BARRIER && body.access[k].active)
                            program_match(notes, l, w, &body.access[k], t);
            }
        }
    }
    program_run_close(program, run);
    ck_assert_msg(notes->at == notes->count, "%zu of %zu instructions are missing", notes->count - notes->at,
                  notes->count);
}

/* Sectors that an instruction touches, the plain way: byte by byte. */
static inline int program_sectors(const struct program_expected *e, uint64_t sectors[PROGRAM_LANES * 2])
{
    int n = 0;
    for (unsigned lane = 0; lane < PROGRAM_LANES; lane++)
        for (uint64_t byte = 0; e->active >> lane & 1 && byte < e->bytes; byte++) {
            uint64_t sector = (e->addr[lane] + byte) / ACCESS_SECTOR;
            int k = 0;
            while (k < n && sectors[k] != sector)
                k++;
            if (k == n)
                sectors[n++] = sector;
        }
    return n;
}

/* What the walk hands out is the next expected, with its sectors. */
static inline int program_take(void *ctx, const struct program_op *op, struct err *err)
{
    struct program_notes *notes = ctx;
    uint64_t sectors[PROGRAM_LANES * 2];
    (void)err;
    PROGRAM_SAME(notes->at < notes->count, true);
    const struct program_expected *e = &notes->expected[notes->at++];
    PROGRAM_SAME(op->launch, e->launch);
    PROGRAM_SAME(op->access, e->kind);
    int n = program_sectors(e, sectors), found = 0;
    for (int i = 0; i < op->lines; i++)
        found += __builtin_popcount(op->line[i].sectors);
    PROGRAM_SAME((unsigned)found, (unsigned)n);
    for (int k = 0; k < n; k++) {
        int i = 0;
        while (i < op->lines && op->line[i].addr != sectors[k] * ACCESS_SECTOR / ACCESS_LINE * ACCESS_LINE)
            i++;
        PROGRAM_SAME(i < op->lines && op->line[i].sectors >> sectors[k] % (ACCESS_LINE / ACCESS_SECTOR) & 1, true);
    }
    return 0;
}

/* Release the notes, too. */
static inline void program_compare(struct program_notes *notes, const struct program *program)
{
    static const struct program_taker taker = {.op = program_take};
    struct program_counts counts;
    program_group(notes);
    program_expand(notes, program);
    notes->at = 0;
    WORKS(program_walk(program, NULL, &taker, notes, &counts, &err));
    PROGRAM_SAME(notes->at, notes->count);
    PROGRAM_SAME(counts.instructions, notes->count);
    free(notes->list);
    free(notes->expected);
    *notes = (struct program_notes){0};
}

/* --- workloads --- */

/* Open a workload, its arrays moved: one behind the other, each `align` bytes-aligned from `base` on; align 0: as they
 * are. */
static inline struct program program_opened(struct workload *w, const char *spec, uint64_t base, uint64_t align)
{
    struct err err = {""};
    struct program program;
    ck_assert_msg(workload_open(w, spec, &err) == 0, "%s: %s", spec, err.msg);
    ck_assert_msg(w->type->program(w->state, &program, &err) == 0, "%s: %s", spec, err.msg);
    size_t n;
    struct program_alloc *allocs = (struct program_alloc *)program.ops->allocs(program.state, &n);
    if (align)
        program_place(allocs, n, base, align);
    return program;
}

/* The address of element `index` of array `alloc`. */
static inline uint64_t program_at(const struct program *program, unsigned alloc, uint64_t index, uint32_t bytes)
{
    size_t n;
    return program->ops->allocs(program->state, &n)[alloc].addr + index * bytes;
}

/* Launches of a program, */
static inline uint32_t program_launches(const char *spec)
{
    struct workload w;
    struct program program = program_opened(&w, spec, 0, 0);
    uint32_t n = program.ops->launches(program.state);
    workload_close(&w);
    return n;
}

/* and blocks of one, which is within the limits. Large ones open at once. */
static inline uint64_t program_blocks(const char *spec, uint32_t launch)
{
    struct workload w;
    struct program_launch shape = {0};
    struct program program = program_opened(&w, spec, 0, 0);
    program.ops->launch(program.state, launch, &shape);
    WORKS(program_check_launch(&shape, launch, &err));
    workload_close(&w);
    return shape.blocks;
}

/* The error of a spec that is refused. */
static inline const char *program_refused(const char *spec)
{
    static struct err err;
    struct workload w;
    struct program program;
    if (workload_open(&w, spec, &err) == 0) {
        ck_assert_msg(w.type->program(w.state, &program, &err) == -1, "%s is taken", spec);
        workload_close(&w);
    }
    return err.msg;
}
