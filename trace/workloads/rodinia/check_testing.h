/* check_testing: the numbers of one launch of a program, to be compared with those of an emulation of the kernel; for
 * tests.
 *
 * Of the loads, or of the stores: instructions of warps with an active lane, active lanes, the sum over instructions of
 * distinct 32 B sectors and of 128 B lines, and the distinct ones of the whole launch. The order sum X fixes what these
 * do not, the order of arrays, blocks and instructions: the sum over k = 1, 2, .. of k x (sum over active lanes of byte
 * address - 0xC0000000), modulo 2^32; k counts the instructions of the launch, loads and stores together, blocks
 * ascending, in a block warp by warp, each to its end. Atomics count as neither load nor store, but in X. */
#pragma once

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

/* Of each kind, RECORD_READ to RECORD_ATOMIC, and the order sum of all. */
struct checking {
    struct check_kind {
        struct check check;
        struct check_set sectors, lines;
    } of[RECORD_ATOMIC + 1];
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
    struct check_kind *of = &c->of[a->kind];
    of->check.instructions++;
    of->check.lanes += (uint64_t)__builtin_popcount(a->active);
    of->check.lines += (uint64_t)n;
    for (int j = 0; j < n; j++) {
        check_add(&of->lines, line[j].addr);
        of->check.sectors += (uint64_t)__builtin_popcount(line[j].sectors);
        for (uint64_t s = 0; s < 4; s++)
            if (line[j].sectors >> s & 1)
                check_add(&of->sectors, line[j].addr + 32 * s);
    }
}

static inline struct checking check_count(const struct program *program, uint32_t launch)
{
    static struct program_body body;
    struct checking c = {0};
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
    for (struct check_kind *of = c.of; of <= c.of + RECORD_ATOMIC; of++) {
        of->check.distinct_sectors = of->sectors.n;
        of->check.distinct_lines = of->lines.n;
        free(of->sectors.slot);
        free(of->lines.slot);
    }
    return c;
}

static inline void check_same(const struct check *found, const struct check *expected)
{
    if (!expected->instructions)
        return;
    ck_assert_uint_eq(found->instructions, expected->instructions);
    ck_assert_uint_eq(found->lanes, expected->lanes);
    ck_assert_uint_eq(found->sectors, expected->sectors);
    ck_assert_uint_eq(found->lines, expected->lines);
    ck_assert_uint_eq(found->distinct_sectors, expected->distinct_sectors);
    ck_assert_uint_eq(found->distinct_lines, expected->distinct_lines);
}

/* What a launch does; what is 0 is not asked. */
struct check_launch {
    uint32_t launch;
    struct check reads, writes;
    uint32_t order;
    struct check atomics;
};

static inline void check_launches(const struct program *program, const struct check_launch *expected, size_t n)
{
    for (size_t i = 0; i < n; i++, expected++) {
        struct checking found = check_count(program, expected->launch);
        check_same(&found.of[RECORD_READ].check, &expected->reads);
        check_same(&found.of[RECORD_WRITE].check, &expected->writes);
        check_same(&found.of[RECORD_ATOMIC].check, &expected->atomics);
        ck_assert_msg(!expected->order || found.order == expected->order, "launch %u: order sum %08x; expected %08x",
                      expected->launch, found.order, expected->order);
    }
}

/* Launches of a program that is open: struct check_launch each. */
#define CHECK_OPEN(program, ...)                                                                                       \
    do {                                                                                                               \
        const struct check_launch expected_[] = {__VA_ARGS__};                                                         \
        check_launches(program, expected_, sizeof expected_ / sizeof *expected_);                                      \
    } while (0)

#define CHECK_LAUNCHES(spec, ...)                                                                                      \
    do {                                                                                                               \
        struct workload w_;                                                                                            \
        struct program program_ = program_opened(&w_, spec, 0, 0);                                                     \
        CHECK_OPEN(&program_, __VA_ARGS__);                                                                            \
        workload_close(&w_);                                                                                           \
    } while (0)

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
