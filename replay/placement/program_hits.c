/* program_hits: how much of what a program accesses its GPU's L2 serves; a run of its warps through models/gpu/l2.h.
 *
 * As many blocks as are resident take turns, one instruction of each warp after the other (trace/program/walk.h). A
 * loaded sector is a hit if the cache has it; a stored one always, as the cache takes it and fetches nothing. Only
 * managed memory counts, all memory has its place in the cache.
 * A program of more than `cut` memory instructions is run in part: of each kernel the same share of its blocks, rounded
 * up to whole waves of resident blocks; where that is a single wave and still more than the kernel's share, of each
 * loop the first turns. What is left out counts as what was run. Example: cut 1,000 of 4,000 instructions in 8 blocks,
 * 2 resident: one wave, all of it. With 8 resident: the wave is all 8 blocks, and every loop ends after a quarter of
 * its turns. Differs: no L1 stands before the L2, so what an L1 would serve counts as an access to the L2, mostly a
 * hit; phases of the CPU pass the cache by. */
#include "replay/placement/program_totals.h"

#include <stdlib.h>
#include <string.h>

#include "models/gpu/l2.h"
#include "trace/base/mem.h"
#include "trace/program/walk.h"

/* The first blocks of every launch of a program, as a program. */
struct part {
    const struct program *program;
    const struct program_totals *totals;
    double share; /* of the blocks of a kernel; 1: all */
    struct l2 *l2;
    struct program_hits *hits;
    uint32_t launch; /* under way */
};

struct part_run {
    const struct part *part;
    void *run;
    double turns; /* share of them, of launch `launch` */
    uint32_t launch;
};

static const struct program_alloc *part_allocs(const void *state, size_t *n)
{
    const struct program *p = ((const struct part *)state)->program;
    return p->ops->allocs(p->state, n);
}

static uint32_t part_launches(const void *state)
{
    return ((const struct part *)state)->totals->launches;
}

static void part_launch(const void *state, uint32_t number, struct program_launch *out)
{
    const struct part *part = state;
    part->program->ops->launch(part->program->state, number, out);
    uint64_t resident = part->totals->launch[number].resident;
    if (part->share >= 1 || !resident)
        return;
    uint64_t blocks = (uint64_t)((double)out->blocks * part->share) + 1;
    blocks = (blocks + resident - 1) / resident * resident;
    if (blocks < out->blocks)
        out->blocks = blocks;
}

/* Of the turns of a kernel that takes a single wave. */
static double share_of_turns(const struct part *part, uint32_t number)
{
    struct program_launch all = {0};
    part->program->ops->launch(part->program->state, number, &all);
    uint64_t resident = part->totals->launch[number].resident;
    double blocks = (double)all.blocks * part->share;
    if (part->share >= 1 || !resident || blocks >= (double)resident)
        return 1;
    return blocks / (double)(all.blocks < resident ? all.blocks : resident);
}

static int part_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                     struct err *err)
{
    struct part_run *r = run;
    if (r->launch != launch) {
        r->launch = launch;
        r->turns = share_of_turns(r->part, launch);
    }
    int rc = r->part->program->ops->body(r->run, launch, warp, index, body, err);
    if (r->turns < 1)
        body->turns = (uint64_t)((double)body->turns * r->turns) + 1;
    return rc;
}

static void *part_run_open(const void *state, struct err *err)
{
    struct part_run *r = mem_zalloc(1, sizeof *r, err);
    if (!r)
        return NULL;
    r->part = state;
    r->launch = UINT32_MAX;
    if (program_run_open(r->part->program, &r->run, err)) {
        free(r);
        return NULL;
    }
    return r;
}

static void part_run_close(void *run)
{
    struct part_run *r = run;
    program_run_close(r->part->program, r->run);
    free(r);
}

static const struct program_ops part_ops = {.allocs = part_allocs,
                                            .launches = part_launches,
                                            .launch = part_launch,
                                            .body = part_body,
                                            .run_open = part_run_open,
                                            .run_close = part_run_close};

/* --- through the cache --- */

static int begin(void *ctx, const struct record *kernel, struct err *err)
{
    struct part *part = ctx;
    (void)err;
    part->launch = kernel->group;
    return 0;
}

static bool managed(const struct program_totals *t, uint64_t line)
{
    for (size_t i = 0; i < t->alloc_count; i++)
        if (t->allocs[i].device && line - t->allocs[i].addr < t->allocs[i].bytes)
            return false;
    return true;
}

static int access_lines_of(void *ctx, const struct program_op *op, struct err *err)
{
    struct part *part = ctx;
    (void)err;
    if (part->totals->launch[part->launch].cpu)
        return 0;
    bool reads = op->access != RECORD_WRITE, writes = op->access != RECORD_READ;
    part->hits->instructions++;
    for (int i = 0; i < op->lines; i++) {
        const struct access_line *line = &op->line[i];
        struct l2_result r = l2_access(part->l2, line->addr, line->sectors, reads, writes);
        if (!managed(part->totals, line->addr))
            continue;
        unsigned sectors = (unsigned)__builtin_popcount(line->sectors);
        part->hits->sectors += sectors;
        part->hits->hits += sectors - (unsigned)__builtin_popcount(r.fetch);
    }
    return 0;
}

static uint64_t resident(const void *ctx, const struct program_launch *launch)
{
    const struct part *part = ctx;
    (void)launch;
    return part->totals->launch[part->launch].resident;
}

int program_hits_run(struct program_hits *hits, const struct program *program, const struct program_totals *totals,
                     const struct gpu *gpu, uint64_t cut, struct err *err)
{
    memset(hits, 0, sizeof *hits);
    uint64_t all = 0;
    for (uint32_t l = 0; l < totals->launches; l++)
        all += totals->launch[l].accesses;
    struct part part = {.program = program, .totals = totals, .hits = hits};
    part.share = cut && all > cut ? (double)cut / (double)all : 1;
    part.l2 = l2_new(gpu->l2_bytes, gpu->l2_ways, err);
    if (!part.l2)
        return -1;
    struct program first = {.ops = &part_ops, .state = &part, .compute_ns = program->compute_ns};
    struct program_walk waves = {.resident = resident, .ctx = &part};
    struct program_taker taker = {.launch = begin, .op = access_lines_of};
    int rc = program_walk(&first, &waves, &taker, &part, NULL, err);
    hits->cut = part.share < 1;
    l2_free(part.l2);
    return rc;
}
