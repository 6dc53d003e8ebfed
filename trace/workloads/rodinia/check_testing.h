/* check_testing: the numbers of one launch of a program, to be compared with those of an emulation of the kernel; for
 * tests.
 *
 * Of the loads, or of the stores: instructions of warps with an active lane, active lanes, the sum over instructions of
 * distinct 32 B sectors and of 128 B lines, and the distinct ones of the whole launch. The order sum X fixes what these
 * do not, the order of arrays, blocks and instructions: the sum over k = 1, 2, .. of k x (sum over active lanes of byte
 * address - 0xC0000000), modulo 2^32; k counts the instructions of the launch, loads and stores together, blocks
 * ascending, in a block warp by warp, each to its end. Atomics count as neither load nor store, but in X. */
#ifndef TRACE_WORKLOADS_RODINIA_CHECK_TESTING_H
#define TRACE_WORKLOADS_RODINIA_CHECK_TESTING_H

#include "trace/workloads/program_testing.h"

struct check {
    uint64_t instructions, lanes, sectors, lines, distinct_sectors, distinct_lines;
};

/* A set of numbers that only grows. */
struct check_set {
    uint64_t *slot; /* number + 1; 0: free */
    size_t room, n;
};

static inline void check_add(struct check_set *set, uint64_t number)
{
    if (2 * set->n >= set->room) {
        struct check_set more = {calloc(set->room ? 2 * set->room : 1024, sizeof *set->slot),
                                 set->room ? 2 * set->room : 1024, 0};
        ck_assert_ptr_nonnull(more.slot);
        for (size_t i = 0; i < set->room; i++)
            if (set->slot[i])
                check_add(&more, set->slot[i] - 1);
        free(set->slot);
        *set = more;
    }
    size_t i = (size_t)(number * 0x9e3779b97f4a7c15u >> 20) & (set->room - 1);
    while (set->slot[i] && set->slot[i] != number + 1)
        i = (i + 1) & (set->room - 1);
    set->n += set->slot[i] == 0;
    set->slot[i] = number + 1;
}

/* The six numbers of accesses of one kind (RECORD_READ, RECORD_WRITE, RECORD_ATOMIC), and the order sum of all. */
struct checking {
    uint32_t kind;
    struct check check;
    struct check_set sectors, lines;
    uint32_t order, k;
};

static inline void check_access(struct checking *c, const struct program_access *a, uint64_t turn)
{
    struct access_line line[2 * ACCESS_LANES];
    int n = a->kind == PROGRAM_BARRIER || !a->active ? 0 : program_lines(a, turn, line);
    if (!n)
        return;
    c->k++;
    for (unsigned l = 0; l < PROGRAM_LANES; l++)
        if (a->active >> l & 1)
            c->order += c->k * (uint32_t)(program_addr(a, l, turn) - 0xC0000000u);
    if (a->kind != c->kind)
        return;
    c->check.instructions++;
    c->check.lanes += (uint64_t)__builtin_popcount(a->active);
    c->check.lines += (uint64_t)n;
    for (int j = 0; j < n; j++) {
        check_add(&c->lines, line[j].addr);
        c->check.sectors += (uint64_t)__builtin_popcount(line[j].sectors);
        for (uint64_t s = 0; s < 4; s++)
            if (line[j].sectors >> s & 1)
                check_add(&c->sectors, line[j].addr + 32 * s);
    }
}

static inline struct checking check_count(const struct program *program, uint32_t launch, uint32_t kind)
{
    static struct program_body body;
    struct checking c = {.kind = kind};
    struct program_launch shape = {0};
    struct err err = {""};
    void *run;
    ck_assert_msg(program_run_open(program, &run, &err) == 0, "%s", err.msg);
    program->ops->launch(program->state, launch, &shape);
    for (uint64_t w = 0; w < program_warps(&shape); w++)
        for (uint32_t i = 0; program_body(program, run, launch, w, i, &body, &err) == 1; i++)
            for (uint64_t t = 0; t < body.turns; t++)
                for (uint32_t k = 0; k < body.count; k++)
                    check_access(&c, &body.access[k], t);
    program_run_close(program, run);
    c.check.distinct_sectors = c.sectors.n;
    c.check.distinct_lines = c.lines.n;
    free(c.sectors.slot);
    free(c.lines.slot);
    return c;
}

/* A launch's loads, stores or atomics are these. */
static inline void check_launch(const struct program *program, uint32_t launch, uint32_t kind, struct check expected)
{
    struct check found = check_count(program, launch, kind).check;
    ck_assert_uint_eq(found.instructions, expected.instructions);
    ck_assert_uint_eq(found.lanes, expected.lanes);
    ck_assert_uint_eq(found.sectors, expected.sectors);
    ck_assert_uint_eq(found.lines, expected.lines);
    ck_assert_uint_eq(found.distinct_sectors, expected.distinct_sectors);
    ck_assert_uint_eq(found.distinct_lines, expected.distinct_lines);
}

/* The order sum of a launch is this. */
static inline void check_order(const struct program *program, uint32_t launch, uint32_t expected)
{
    uint32_t found = check_count(program, launch, RECORD_READ).order;
    if (found != expected)
        ck_abort_msg("launch %u: order sum %08x; expected %08x", launch, found, expected);
}

/* The waits of one body and its instructions. */
static inline uint64_t stalls_of(const char *spec, uint32_t launch, uint64_t warp, uint32_t index,
                                 uint32_t *instructions)
{
    static struct program_body body;
    struct workload w;
    void *run;
    struct program program = program_opened(&w, spec, 0, 0);
    WORKS(program_run_open(&program, &run, &err));
    RETURNS(program_body(&program, run, launch, warp, index, &body, &err), 1);
    uint64_t stalls = program_stalls(&body);
    *instructions = program_instructions(&body);
    program_run_close(&program, run);
    workload_close(&w);
    return stalls;
}

#endif
