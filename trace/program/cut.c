#include "trace/program/cut.h"

#include <stdlib.h>

#include "trace/base/mem.h"
#include "trace/program/walk.h"
#include "trace/program/wrapped.h"

enum { STRETCHES = 4, SAMPLES = 16 };

struct program_cut {
    struct program_wrapped wrapped;    /* first */
    struct program_cut_launch *launch; /* every launch of the whole program */
    uint32_t *kept;                    /* numbers of those that are kept, ascending */
    uint32_t launches, kept_count;
    struct program_cut_facts facts;
};

uint64_t program_cut_spread(uint64_t n, uint64_t kept, uint64_t k)
{
    uint64_t stretches = kept < STRETCHES ? kept : STRETCHES, length = kept / stretches, longer = kept % stretches;
    /* The first `longer` stretches have one more. */
    uint64_t s = k < longer * (length + 1) ? k / (length + 1) : (k - longer) / length;
    return k + (n - kept) * (2 * s + 1) / (2 * stretches);
}

/* --- estimates --- */

static uint64_t body_sectors(const struct program_body *b)
{
    uint64_t n = 0;
    struct access_line line[2 * ACCESS_LANES];
    for (uint32_t i = 0; i < b->count; i++) {
        int lines = b->access[i].kind == PROGRAM_BARRIER ? 0 : program_lines(&b->access[i], 0, line);
        for (int k = 0; k < lines; k++)
            n += (uint64_t)__builtin_popcount(line[k].sectors);
    }
    return n * b->turns;
}

static int block_sectors(const struct program *p, void *run, uint32_t launch, uint64_t block, uint64_t warps,
                         uint64_t *sectors, struct err *err)
{
    struct program_body body;
    for (uint64_t w = block * warps; w < (block + 1) * warps; w++)
        for (uint32_t i = 0;; i++) {
            int rc = program_body(p, run, launch, w, i, &body, err);
            if (rc < 0)
                return -1;
            if (rc == 0)
                break;
            *sectors += body_sectors(&body);
        }
    return 0;
}

static int estimate(const struct program *p, void *run, uint32_t launch, struct program_cut_launch *k, struct err *err)
{
    uint64_t samples = k->blocks < SAMPLES ? k->blocks : SAMPLES, sectors = 0;
    for (uint64_t i = 0; i < samples; i++) {
        uint64_t block = samples > 1 ? i * (k->blocks - 1) / (samples - 1) : 0;
        if (block_sectors(p, run, launch, block, k->warps, &sectors, err))
            return -1;
    }
    k->sectors = (double)sectors / (double)samples * (double)k->blocks;
    return 0;
}

static int look(struct program_cut *cut, uint64_t (*resident)(const void *, const struct program_launch *),
                const void *ctx, struct err *err)
{
    const struct program *whole = &cut->wrapped.whole;
    void *run;
    if (program_run_open(whole, &run, err))
        return -1;
    int rc = 0;
    for (uint32_t l = 0; l < cut->launches && !rc; l++) {
        struct program_launch shape = {0};
        struct program_cut_launch *k = &cut->launch[l];
        whole->ops->launch(whole->state, l, &shape);
        rc = program_check_launch(&shape, l, err);
        cut->kept[l] = l;
        k->blocks = k->blocks_kept = shape.blocks;
        k->wave = shape.cpu ? shape.blocks : resident(ctx, &shape); /* what the CPU does is not cut */
        k->waves = k->waves_kept = (k->blocks + k->wave - 1) / k->wave;
        k->warps = program_warps_of_block(&shape);
        rc = rc ? rc : estimate(whole, run, l, k, err);
        cut->facts.whole_blocks += k->blocks;
    }
    program_run_close(whole, run);
    cut->kept_count = cut->launches;
    return rc;
}

/* --- what is kept --- */

/* Block `block` of the kept ones, in the whole launch. */
static uint64_t whole_block(const struct program_cut_launch *k, uint64_t block)
{
    return program_cut_spread(k->waves, k->waves_kept, block / k->wave) * k->wave + block % k->wave;
}

static double kept_sectors(const struct program_cut_launch *k)
{
    return k->sectors * (double)k->blocks_kept / (double)k->blocks;
}

static double total(const struct program_cut *cut)
{
    double sum = 0;
    for (uint32_t i = 0; i < cut->kept_count; i++)
        sum += kept_sectors(&cut->launch[cut->kept[i]]);
    return sum;
}

static void cut_waves(struct program_cut *cut, double share)
{
    for (uint32_t l = 0; l < cut->launches; l++) {
        struct program_cut_launch *k = &cut->launch[l];
        double waves = share * (double)k->waves;
        k->waves_kept = (uint64_t)waves + ((double)(uint64_t)waves < waves);
        bool last = whole_block(k, (k->waves_kept - 1) * k->wave) / k->wave == k->waves - 1;
        k->blocks_kept = k->waves_kept * k->wave - (last ? k->waves * k->wave - k->blocks : 0);
    }
}

/* Is a launch with work from `from` to `to` in a stretch of `length`, by its middle, or is a stretch's middle in it? */
static bool in_stretch(double from, double to, double length, double all)
{
    for (int s = 0; s < STRETCHES; s++) {
        const double middle = all * (2 * s + 1) / (2 * STRETCHES), first = middle - length / 2, own = (from + to) / 2;
        if ((own >= first && own < first + length) || (middle >= from && middle < to))
            return true;
    }
    return false;
}

static void cut_launches(struct program_cut *cut, double share)
{
    const double all = total(cut);
    double before = 0;
    cut->kept_count = 0;
    for (uint32_t l = 0; l < cut->launches; l++) {
        const double work = kept_sectors(&cut->launch[l]);
        if (in_stretch(before, before + work, share * all / STRETCHES, all))
            cut->kept[cut->kept_count++] = l;
        else
            cut->launch[l].waves_kept = cut->launch[l].blocks_kept = 0;
        before += work;
    }
}

static void choose(struct program_cut *cut, uint64_t sectors)
{
    double all = total(cut), whole = 0;
    cut->facts.whole_launches = cut->launches;
    cut->facts.whole_sectors = (uint64_t)all;
    if (sectors && all > (double)sectors) {
        cut_waves(cut, (double)sectors / all);
        double rest = total(cut);
        if (rest > 2.0 * (double)sectors && cut->launches > 1)
            cut_launches(cut, (double)sectors / rest);
    }
    cut->facts.launches = cut->kept_count;
    cut->facts.sectors = (uint64_t)total(cut);
    for (uint32_t i = 0; i < cut->kept_count; i++)
        cut->facts.blocks += cut->launch[cut->kept[i]].blocks_kept, whole += cut->launch[cut->kept[i]].sectors;
    cut->facts.launch_sectors = (uint64_t)whole;
}

/* --- the program --- */

static uint32_t cut_launch_count(const void *state)
{
    return ((const struct program_cut *)state)->kept_count;
}

static void cut_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct program_cut *cut = state;
    cut->wrapped.whole.ops->launch(cut->wrapped.whole.state, cut->kept[launch], out);
    out->blocks = cut->launch[cut->kept[launch]].blocks_kept;
}

static int cut_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                    struct err *err)
{
    const struct program_wrapped_run *r = run;
    const struct program *whole = &r->wrapped->whole;
    const struct program_cut *cut = (const struct program_cut *)r->wrapped;
    const struct program_cut_launch *k = &cut->launch[cut->kept[launch]];
    uint64_t kept_warp = whole_block(k, warp / k->warps) * k->warps + warp % k->warps;
    return whole->ops->body(r->run, cut->kept[launch], kept_warp, index, body, err);
}

static const struct program_ops cut_ops = {.allocs = program_wrapped_allocs,
                                           .launches = cut_launch_count,
                                           .launch = cut_launch,
                                           .body = cut_body,
                                           .run_open = program_wrapped_open,
                                           .run_close = program_wrapped_close};

struct program_cut *program_cut_new(const struct program *whole, uint64_t sectors,
                                    uint64_t (*resident)(const void *ctx, const struct program_launch *launch),
                                    const void *ctx, struct err *err)
{
    struct program_cut *cut = mem_zalloc(1, sizeof *cut, err);
    if (!cut)
        return NULL;
    cut->wrapped.whole = *whole;
    cut->launches = whole->ops->launches(whole->state);
    cut->wrapped.program = (struct program){.ops = &cut_ops, .state = cut, .compute_ns = whole->compute_ns};
    cut->launch = mem_zalloc(cut->launches ? cut->launches : 1, sizeof *cut->launch, err);
    cut->kept = cut->launch ? mem_zalloc(cut->launches ? cut->launches : 1, sizeof *cut->kept, err) : NULL;
    if (cut->kept && look(cut, resident, ctx, err) == 0) {
        choose(cut, sectors);
        return cut;
    }
    program_cut_free(cut);
    return NULL;
}

void program_cut_free(struct program_cut *cut)
{
    if (cut) {
        free(cut->launch);
        free(cut->kept);
    }
    free(cut);
}

const struct program *program_cut_program(const struct program_cut *cut)
{
    return &cut->wrapped.program;
}

struct program_cut_facts program_cut_facts(const struct program_cut *cut)
{
    return cut->facts;
}

const struct program_cut_launch *program_cut_launches(const struct program_cut *cut, uint32_t *n)
{
    *n = cut->launches;
    return cut->launch;
}
