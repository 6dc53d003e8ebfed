/* walked_testing: what a walk of a program gives, as a list, and waves of a size that the test says. */
#pragma once

#include <stdlib.h>

#include "trace/base/testing.h"
#include "trace/program/cut.h"
#include "trace/program/walk.h"

/* An instruction: its first line with its sectors, and whose it is. */
struct walked_op {
    uint64_t launch, block, warp, addr, kind;
};

struct walked {
    struct walked_op *op;
    size_t n, cap;
};

static inline int walked_note(void *ctx, const struct program_op *op, struct err *err)
{
    struct walked *w = ctx;
    (void)err;
    if (w->n == w->cap) {
        w->cap = w->cap ? 2 * w->cap : 64;
        w->op = realloc(w->op, w->cap * sizeof *w->op);
        ck_assert_ptr_nonnull(w->op);
    }
    w->op[w->n++] = (struct walked_op){op->launch, op->id >> 32, op->id & UINT32_MAX,
                                       op->line[0].addr << 8 | op->line[0].sectors, op->access};
    return 0;
}

/* Appends, serially; the list's op is the caller's to free. */
static inline void walked_add(struct walked *w, const struct program *program)
{
    static const struct program_taker taker = {.op = walked_note};
    WORKS(program_walk(program, NULL, &taker, w, NULL, &err));
}

/* Blocks at once: what ctx, a uint64_t, says. */
static inline uint64_t walked_resident(const void *ctx, const struct program_launch *launch)
{
    (void)launch;
    return *(const uint64_t *)ctx;
}

static inline struct program_cut *walked_cut(const struct program *program, uint64_t sectors, uint64_t wave)
{
    return GIVES(program_cut_new(program, sectors, walked_resident, &wave, &err));
}
