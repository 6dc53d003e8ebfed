#include "trace/program/cut.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/program/program_adapter.h"
#include "trace/program/walk.h"

enum { STRETCHES = 4, SAMPLES = 16, TOGETHER = 3 };
static const double ENOUGH = 0.9; /* of the work: what the kernels do of which something is kept */

struct program_cut {
    struct program_adapter wrapped;    /* first */
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

static bool same_kernel(const struct program_launch *a, const struct program_launch *b)
{
    const char *x = a->kernel ? a->kernel : "", *y = b->kernel ? b->kernel : "";
    return a->cpu == b->cpu && a->threads == b->threads && strcmp(x, y) == 0;
}

/* The first launch of the same kernel. */
static uint32_t first_of(const struct program_cut *cut, uint32_t launch, const struct program_launch *shape)
{
    const struct program *whole = &cut->wrapped.whole;
    for (uint32_t l = 0; l < launch; l++) {
        struct program_launch other = {0};
        if (cut->launch[l].kernel != l)
            continue;
        whole->ops->launch(whole->state, l, &other);
        if (same_kernel(shape, &other))
            return l;
    }
    return launch;
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
        k->kernel = first_of(cut, l, &shape);
        k->cpu = shape.cpu;
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

/* What a kernel is owed, in sectors, and the most that is kept of it at once; all of its work; whether any is kept. */
struct kernel {
    double owed, most, all;
    bool kept;
};

/* Of a whole wave; a launch without work has some, so that it too is kept now and then. */
static double wave_of(const struct program_cut_launch *k)
{
    return (k->sectors + 1) * (k->blocks > k->wave ? (double)k->wave / (double)k->blocks : 1);
}

/* How many waves of a launch are kept together: a first, one in the middle and a last, unless it has not as many or
 * they are more than twice what is asked for. */
static uint64_t together(const struct program_cut_launch *k, double sectors)
{
    const uint64_t n = k->waves < TOGETHER ? k->waves : TOGETHER;
    return wave_of(k) * (double)n <= 2 * sectors ? n : 1;
}

static void cut_launch_waves(struct program_cut_launch *k, double share, double sectors, struct kernel *kernel)
{
    const double n = (double)together(k, sectors), most = ceil(share * (double)k->waves);
    if (k->cpu)
        return;
    kernel->owed += share * (k->sectors + 1);
    k->waves_kept = 0;
    if (kernel->owed < kernel->most / 2)
        return;
    const double groups = floor(kernel->owed / (wave_of(k) * n) + 0.5);
    const double waves = groups > 1 ? groups * n : n, limit = most > n ? most : n;
    k->waves_kept = (uint64_t)(waves < limit ? waves : limit);
    kernel->owed -= (double)k->waves_kept * wave_of(k);
}

static void keep_blocks(struct program_cut_launch *k)
{
    const bool last = k->waves_kept && whole_block(k, (k->waves_kept - 1) * k->wave) / k->wave == k->waves - 1;
    k->blocks_kept = k->waves_kept * k->wave - (last ? k->waves * k->wave - k->blocks : 0);
}

/* Of the kernels of which nothing is kept, the one that does most. */
static uint32_t left_out(const struct program_cut *cut, const struct kernel *kernel)
{
    uint32_t best = 0;
    double most = -1;
    for (uint32_t l = 0; l < cut->launches; l++)
        if (cut->launch[l].kernel == l && !kernel[l].kept && kernel[l].all > most)
            most = kernel[l].all, best = l;
    return best;
}

/* The launch of a kernel in which the middle of its work lies. */
static struct program_cut_launch *middle_of(struct program_cut *cut, uint32_t kernel, double all)
{
    double done = 0;
    uint32_t l = kernel;
    for (;; l++) {
        done += cut->launch[l].kernel == kernel ? cut->launch[l].sectors : 0;
        if (done >= all / 2)
            return &cut->launch[l];
    }
}

/* A wave of each of the kernels that do most, until those of which something is kept do enough. */
static void keep_most(struct program_cut *cut, struct kernel *kernel, double all)
{
    double done = 0;
    for (uint32_t l = 0; l < cut->launches; l++)
        done += kernel[l].kept ? kernel[l].all : 0;
    while (done < ENOUGH * all) {
        const uint32_t best = left_out(cut, kernel);
        struct program_cut_launch *k = middle_of(cut, best, kernel[best].all);
        k->waves_kept = 1;
        keep_blocks(k);
        kernel[best].kept = true;
        done += kernel[best].all;
    }
}

/* About `sectors` of all, the same share of each kernel's work; of those that do most at least a wave. */
static int cut_waves(struct program_cut *cut, double sectors, double all, struct err *err)
{
    struct kernel *kernel = mem_zalloc(cut->launches, sizeof *kernel, err);
    if (!kernel)
        return -1;
    for (uint32_t l = 0; l < cut->launches; l++) {
        const struct program_cut_launch *k = &cut->launch[l];
        const double group = wave_of(k) * (double)together(k, sectors);
        kernel[k->kernel].most = group > kernel[k->kernel].most ? group : kernel[k->kernel].most;
        kernel[k->kernel].all += k->sectors;
    }
    for (uint32_t l = 0; l < cut->launches; l++) {
        struct program_cut_launch *k = &cut->launch[l];
        cut_launch_waves(k, sectors / all, sectors, &kernel[k->kernel]);
        keep_blocks(k);
        kernel[k->kernel].kept |= k->waves_kept > 0;
    }
    keep_most(cut, kernel, all);
    free(kernel);
    cut->kept_count = 0;
    for (uint32_t l = 0; l < cut->launches; l++)
        if (cut->launch[l].waves_kept)
            cut->kept[cut->kept_count++] = l;
    return 0;
}

static int choose(struct program_cut *cut, uint64_t sectors, struct err *err)
{
    double all = total(cut), whole = 0;
    cut->facts.whole_launches = cut->launches;
    cut->facts.whole_sectors = (uint64_t)all;
    if (sectors && all > (double)sectors && cut_waves(cut, (double)sectors, all, err))
        return -1;
    cut->facts.launches = cut->kept_count;
    cut->facts.sectors = (uint64_t)total(cut);
    for (uint32_t i = 0; i < cut->kept_count; i++)
        cut->facts.blocks += cut->launch[cut->kept[i]].blocks_kept, whole += cut->launch[cut->kept[i]].sectors;
    cut->facts.launch_sectors = (uint64_t)whole;
    return 0;
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
    const struct program_adapter_run *r = run;
    const struct program *whole = &r->wrapped->whole;
    const struct program_cut *cut = (const struct program_cut *)r->wrapped;
    const struct program_cut_launch *k = &cut->launch[cut->kept[launch]];
    uint64_t kept_warp = whole_block(k, warp / k->warps) * k->warps + warp % k->warps;
    return whole->ops->body(r->run, cut->kept[launch], kept_warp, index, body, err);
}

static const struct program_ops cut_ops = {.allocs = program_adapter_allocs,
                                           .launches = cut_launch_count,
                                           .launch = cut_launch,
                                           .body = cut_body,
                                           .run_open = program_adapter_open,
                                           .run_close = program_adapter_close};

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
    if (cut->kept && look(cut, resident, ctx, err) == 0 && choose(cut, sectors, err) == 0)
        return cut;
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
