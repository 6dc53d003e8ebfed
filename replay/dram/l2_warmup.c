#include "replay/dram/dram_simulation.h"

#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/program/walk.h"

/* A line: its number above its two masks. */
enum { MASK_BITS = 4 };

struct l2_warmup {
    uint64_t *line;
    size_t count, cap;
    size_t *end; /* of each gap's lines */
    struct program_rest_point *point;
    uint32_t gaps;
};

struct making {
    struct l2_warmup *warmup;
    const struct program_rest *rest;
    struct dram_l2 *l2;
    uint64_t offset;
    uint32_t gap;
    struct err *err;
    bool failed;
};

static void keep(void *ctx, uint64_t addr, uint32_t valid, uint32_t dirty)
{
    struct making *m = ctx;
    struct l2_warmup *r = m->warmup;
    m->failed = m->failed || MEM_ADD(r->line, r->count, r->cap, m->err,
                                     (addr / L2_LINE << MASK_BITS | valid) << MASK_BITS | dirty) != 0;
}

/* All gaps before `gap` have ended. */
static int close_gaps(struct making *m, uint32_t gap)
{
    for (; m->gap < gap; m->gap++) {
        l2_each(m->l2->cache, keep, m);
        l2_clear(m->l2->cache);
        m->warmup->end[m->gap] = m->warmup->count;
    }
    return m->failed ? -1 : 0;
}

static int take_launch(void *ctx, const struct record *kernel, struct err *err)
{
    struct making *m = ctx;
    (void)err;
    return close_gaps(m, m->rest->part[kernel->group].gap);
}

static int take_op(void *ctx, const struct program_op *op, struct err *err)
{
    struct making *m = ctx;
    (void)err;
    const bool writes = op->access == RECORD_WRITE || op->access == RECORD_ATOMIC;
    for (int i = 0; i < op->lines; i++) {
        const uint32_t sectors = op->line[i].sectors;
        dram_l2_put(m->l2, op->line[i].addr + m->offset, sectors, writes ? sectors : 0);
    }
    return 0;
}

struct l2_warmup *l2_warmup_new(const struct program_rest *rest, struct dram_l2 *l2, uint64_t offset,
                                uint64_t (*resident)(const void *ctx, const struct program_launch *launch),
                                const void *ctx, struct err *err)
{
    static const struct program_taker taker = {.launch = take_launch, .op = take_op};
    const struct program_walk how = {.resident = resident, .ctx = ctx};
    struct l2_warmup *r = mem_zalloc(1, sizeof *r, err);
    if (!r)
        return NULL;
    r->gaps = rest->gaps;
    r->end = mem_zalloc(r->gaps + 1, sizeof *r->end, err);
    r->point = r->end ? mem_zalloc(r->gaps + 1, sizeof *r->point, err) : NULL;
    for (uint32_t i = 0; r->point && i < r->gaps; i++)
        r->point[i] = rest->point[i];
    struct making m = {.warmup = r, .rest = rest, .l2 = l2, .offset = offset, .err = err};
    if (r->point && program_walk(&rest->adapter.program, &how, &taker, &m, NULL, err) == 0 &&
        close_gaps(&m, r->gaps) == 0)
        return r;
    l2_warmup_free(r);
    return NULL;
}

void l2_warmup_free(struct l2_warmup *warmup)
{
    if (!warmup)
        return;
    free(warmup->line);
    free(warmup->end);
    free(warmup->point);
    free(warmup);
}

static void put_gap(const struct l2_warmup *r, uint32_t gap, struct dram_l2 *l2)
{
    const uint32_t mask = (1 << MASK_BITS) - 1;
    for (size_t i = gap ? r->end[gap - 1] : 0; i < r->end[gap]; i++) {
        const uint64_t line = r->line[i];
        dram_l2_put(l2, (line >> 2 * MASK_BITS) * L2_LINE, (uint32_t)(line >> MASK_BITS) & mask, (uint32_t)line & mask);
    }
}

void l2_warmup_put(const struct l2_warmup *warmup, uint32_t *next, uint64_t ended, uint64_t blocks, struct dram_l2 *l2)
{
    for (; *next < warmup->gaps; ++*next) {
        const struct program_rest_point *p = &warmup->point[*next];
        if (p->launch > ended || (p->launch == ended && p->block > blocks))
            return;
        put_gap(warmup, *next, l2);
    }
}
