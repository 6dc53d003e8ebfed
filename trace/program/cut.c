#include "trace/program/cut.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/program/walk.h"

enum { STRETCHES = 4, SAMPLES = 16, TOGETHER = 3 };
static const double ENOUGH = 0.9; /* of the work: what the kernels do of which something is kept */

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
    const struct program *whole = &cut->adapter.whole;
    for (uint32_t l = 0; l < launch; l++) {
        if (cut->launch[l].kernel != l)
            continue;
        struct program_launch other = program_launch_of(whole, l);
        if (same_kernel(shape, &other))
            return l;
    }
    return launch;
}

static int look(struct program_cut *cut, uint64_t (*resident)(const void *, const struct program_launch *),
                const void *ctx, struct err *err)
{
    const struct program *whole = &cut->adapter.whole;
    void *run;
    if (program_run_open(whole, &run, err))
        return -1;
    int rc = 0;
    for (uint32_t l = 0; l < cut->launches && !rc; l++) {
        struct program_launch shape = program_launch_of(whole, l);
        struct program_cut_launch *k = &cut->launch[l];
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

static double total(const struct program_cut *cut)
{
    double sum = 0;
    for (uint32_t i = 0; i < cut->kept_count; i++) {
        const struct program_cut_launch *k = &cut->launch[cut->kept[i]];
        sum += k->sectors * (double)k->blocks_kept / (double)k->blocks;
    }
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
    cut->adapter.whole.ops->launch(cut->adapter.whole.state, cut->kept[launch], out);
    out->blocks = cut->launch[cut->kept[launch]].blocks_kept;
}

static int cut_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                    struct err *err)
{
    const struct program_adapter_run *r = run;
    const struct program *whole = &r->adapter->whole;
    const struct program_cut *cut = (const struct program_cut *)r->adapter;
    const struct program_cut_launch *k = &cut->launch[cut->kept[launch]];
    uint64_t kept_warp = whole_block(k, warp / k->warps) * k->warps + warp % k->warps;
    return whole->ops->body(r->run, cut->kept[launch], kept_warp, index, body, err);
}

struct program_cut *program_cut_new(const struct program *whole, uint64_t sectors,
                                    uint64_t (*resident)(const void *ctx, const struct program_launch *launch),
                                    const void *ctx, struct err *err)
{
    static const struct program_ops ops = {PROGRAM_ADAPTER_OPS(cut_launch_count, cut_launch, cut_body)};
    struct program_cut *cut = mem_zalloc(1, sizeof *cut, err);
    if (!cut)
        return NULL;
    program_adapter_init(&cut->adapter, whole, &ops);
    cut->launches = whole->ops->launches(whole->state);
    cut->launch = mem_zalloc(cut->launches ? cut->launches : 1, sizeof *cut->launch, err);
    cut->kept = cut->launch ? mem_zalloc(cut->launches ? cut->launches : 1, sizeof *cut->kept, err) : NULL;
    if (cut->kept && look(cut, resident, ctx, err) == 0 && choose(cut, sectors, err) == 0)
        return cut;
    program_cut_free(cut);
    return NULL;
}

void program_cut_free(struct program_cut *cut)
{
    if (!cut)
        return;
    free(cut->launch);
    free(cut->kept);
    free(cut);
}

/* --- the rest: a program of what is left out --- */

static uint32_t rest_launches(const void *state)
{
    return (uint32_t)((const struct program_rest *)state)->parts;
}

static void rest_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct program_rest *r = state;
    r->adapter.whole.ops->launch(r->adapter.whole.state, r->part[launch].launch, out);
    out->blocks = r->part[launch].blocks;
}

static int rest_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                     struct err *err)
{
    const struct program_adapter_run *w = run;
    const struct program_rest *r = (const struct program_rest *)w->adapter;
    const struct program_rest_part *part = &r->part[launch];
    const uint32_t warps = r->cut->launch[part->launch].warps;
    const uint64_t first = part->first * warps;
    if (part->of != PROGRAM_KEPT)
        return warp_slice_body(r->middle, part->of, part->kept, part->kept_block * warps + warp, &r->adapter.whole,
                               w->run, part->launch, first + warp, index, body, err);
    return r->adapter.whole.ops->body(w->run, part->launch, first + warp, index, body, err);
}

/* Waves from..to - 1 of a launch are in the gap that is open. */
static int leave_out(struct program_rest *r, uint32_t launch, uint64_t from, uint64_t to, struct err *err)
{
    const struct program_cut_launch *l = &r->cut->launch[launch];
    const uint64_t first = from * l->wave, end = to * l->wave < l->blocks ? to * l->wave : l->blocks;
    if (first >= end)
        return 0;
    return MEM_ADD(r->part, r->parts, r->part_cap, err,
                   (struct program_rest_part){
                       .launch = launch, .gap = r->gaps, .first = first, .blocks = end - first, .of = PROGRAM_KEPT});
}

/* So are heads or tails of a wave: kept wave k of kept launch `kept`. */
static int leave_out_part(struct program_rest *r, enum warp_slice_part of, uint32_t launch, uint32_t kept, uint64_t k,
                          struct err *err)
{
    const struct program_cut_launch *l = &r->cut->launch[launch];
    const uint64_t wave = program_cut_spread(l->waves, l->waves_kept, k);
    if (!r->middle || l->cpu)
        return 0;
    if (leave_out(r, launch, wave, wave + 1, err))
        return -1;
    struct program_rest_part *part = &r->part[r->parts - 1];
    part->of = of;
    part->kept = kept;
    part->kept_block = k * l->wave;
    return 0;
}

/* The gap that is open ends there, if anything is in it. */
static int close_gap(struct program_rest *r, uint32_t launch, uint64_t block, struct err *err)
{
    if (!r->parts || r->part[r->parts - 1].gap != r->gaps)
        return 0;
    return MEM_ADD(r->point, r->gaps, r->point_cap, err, (struct program_rest_point){launch, block});
}

/* What is left out of a launch, the kept one number `kept`. */
static int divide_launch(struct program_rest *r, uint32_t launch, uint32_t kept, struct err *err)
{
    const struct program_cut_launch *l = &r->cut->launch[launch];
    uint64_t next = 0; /* wave */
    for (uint64_t k = 0; k < l->waves_kept; k++) {
        const uint64_t wave = program_cut_spread(l->waves, l->waves_kept, k);
        if (leave_out(r, launch, next, wave, err) || leave_out_part(r, PROGRAM_HEAD, launch, kept, k, err) ||
            close_gap(r, kept, k * l->wave, err) || leave_out_part(r, PROGRAM_TAIL, launch, kept, k, err))
            return -1;
        next = wave + 1;
    }
    return leave_out(r, launch, next, l->waves, err);
}

static int divide(struct program_rest *r, bool to_the_end, struct err *err)
{
    uint32_t kept = 0;
    for (uint32_t l = 0; l < r->cut->launches; l++) {
        const bool is_kept = r->cut->launch[l].waves_kept > 0;
        if (is_kept ? divide_launch(r, l, kept, err)
                    : !r->cut->launch[l].cpu && leave_out(r, l, 0, r->cut->launch[l].waves, err))
            return -1;
        kept += is_kept;
    }
    while (!to_the_end && r->parts && r->part[r->parts - 1].gap == r->gaps)
        r->parts--;
    return close_gap(r, kept, 0, err);
}

/* Of a gap that is long enough with `wanted` sectors from its end: what of a part is in it. */
static struct program_rest_part end_of(struct program_rest_part part, const struct program_cut_launch *l, double wanted)
{
    const double each = l->sectors / (double)l->blocks;
    if (part.of == PROGRAM_KEPT && each > 0 && wanted / each < (double)part.blocks) {
        uint64_t dropped = (part.blocks - (uint64_t)(wanted / each)) / l->wave * l->wave;
        dropped -= dropped == part.blocks; /* a block alone may be more than is wanted */
        part.first += dropped;
        part.blocks -= dropped;
    }
    return part;
}

/* Of a warp's accesses. */
static double share_of(const struct program_rest *r, enum warp_slice_part of)
{
    if (of == PROGRAM_KEPT)
        return 1;
    const struct warp_slice *m = r->middle;
    return m->whole ? (double)(of == PROGRAM_HEAD ? m->heads : m->tails) / (double)m->whole : 0;
}

/* Of each gap only its end. */
static void shorten(struct program_rest *r, uint64_t sectors)
{
    size_t to = r->parts;
    double wanted = (double)sectors;
    for (size_t i = r->parts; i-- > 0;) {
        const struct program_rest_part *part = &r->part[i];
        const struct program_cut_launch *l = &r->cut->launch[part->launch];
        if (i + 1 < r->parts && r->part[i + 1].gap != part->gap)
            wanted = (double)sectors;
        if (wanted <= 0)
            continue;
        r->part[--to] = end_of(*part, l, wanted);
        const double share = share_of(r, part->of);
        wanted -= share * l->sectors / (double)l->blocks * (double)r->part[to].blocks;
    }
    for (size_t i = to; i < r->parts; i++)
        r->part[i - to] = r->part[i];
    r->parts -= to;
}

struct program_rest *program_rest_new(const struct program *whole, const struct program_cut *cut, uint64_t sectors,
                                      const struct warp_slice *middle, bool to_the_end, struct err *err)
{
    static const struct program_ops ops = {PROGRAM_ADAPTER_OPS(rest_launches, rest_launch, rest_body)};
    struct program_rest *r = mem_zalloc(1, sizeof *r, err);
    if (!r)
        return NULL;
    program_adapter_init(&r->adapter, whole, &ops);
    r->cut = cut;
    r->middle = middle;
    if (divide(r, to_the_end, err)) {
        program_rest_free(r);
        return NULL;
    }
    shorten(r, sectors);
    return r;
}

void program_rest_free(struct program_rest *rest)
{
    if (!rest)
        return;
    free(rest->part);
    free(rest->point);
    free(rest);
}
