#include "replay/dram/dram_simulation.h"

#include <stdlib.h>
#include <string.h>

#include "replay/dram/dram_testing.h"
#include "trace/base/testing.h"
#include "trace/program/walk.h"

/* Three launches of 700 warps, each at one line of 2,048, drawn; a third of them write it. L2 has 512. */
enum { LAUNCHES = 3, BLOCKS = 700, LINES = 2048, OFFSET = 1 << 26 };

static const struct program_alloc allocs[] = {{.name = "a", .addr = 1 << 21, .bytes = LINES * 128}};

static const struct program_alloc *drawn_allocs(const void *state, size_t *n)
{
    (void)state;
    *n = 1;
    return allocs;
}

static uint32_t drawn_launches(const void *state)
{
    (void)state;
    return LAUNCHES;
}

static void drawn_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    (void)state;
    (void)launch;
    *out = (struct program_launch){.kernel = "k", .blocks = BLOCKS, .threads = 32};
}

static int drawn_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *b,
                      struct err *err)
{
    (void)run;
    (void)err;
    if (index)
        return 0;
    const uint64_t x = (launch * UINT64_C(1000003) + warp + 1) * UINT64_C(0x9E3779B97F4A7C15), line = (x >> 30) % LINES;
    if ((x >> 20) % 3)
        program_load(b, allocs, 0, 128 * line, 4);
    else
        program_store(b, allocs, 0, 128 * line, 4);
    return 1;
}

static const struct program_ops drawn_ops = {
    .allocs = drawn_allocs, .launches = drawn_launches, .launch = drawn_launch, .body = drawn_body};
static const struct program drawn = {&drawn_ops, allocs, -1};

static uint64_t wave_of(const void *ctx, const struct program_launch *launch)
{
    (void)launch;
    return *(const uint64_t *)ctx;
}

/* An L2 that is walked through, and, if there are any, the warmup of what is left out. */
struct looker {
    struct dram_l2 l2;
    const struct l2_warmup *warmup;
    uint32_t gap, launch;
};

static int read_launch(void *ctx, const struct record *kernel, struct err *err)
{
    struct looker *r = ctx;
    (void)err;
    r->launch = kernel->group;
    return 0;
}

static int read_op(void *ctx, const struct program_op *op, struct err *err)
{
    struct looker *r = ctx;
    (void)err;
    if (r->warmup)
        l2_warmup_put(r->warmup, &r->gap, r->launch, op->id >> 32, &r->l2);
    dram_l2_put(&r->l2, op->line[0].addr + OFFSET, op->line[0].sectors,
                op->access == RECORD_WRITE ? op->line[0].sectors : 0);
    return 0;
}

static const struct program_taker looker_taker = {.launch = read_launch, .op = read_op};

static void open_l2(struct dram_l2 *l2)
{
    struct platform *platform = GIVES(platform_load("gv100", &err));
    struct gpu gpu = *(const struct gpu *)platform_section_get(platform, "gpu");
    gpu.l2_bytes = 512 * 128;
    gpu.l2_ways = 2;
    WORKS(dram_l2_init(l2, platform_section_get(platform, "dram"), &gpu, &err));
    platform_free(platform);
}

struct held {
    uint64_t addr[1024];
    size_t n;
    uint32_t written;
};

static void hold(void *ctx, uint64_t addr, uint32_t valid, uint32_t dirty)
{
    struct held *h = ctx;
    ck_assert_uint_eq(valid, L2_WHOLE);
    h->addr[h->n++] = addr;
    h->written += dirty != 0;
}

static void walk(struct looker *r, const struct program *program, const struct program_walk *how, struct held *held)
{
    memset(held, 0, sizeof *held);
    open_l2(&r->l2);
    WORKS(program_walk(program, how, &looker_taker, r, NULL, &err));
    if (r->warmup)
        l2_warmup_put(r->warmup, &r->gap, program->ops->launches(program->state), 0, &r->l2);
    l2_each(r->l2.cache, hold, held);
    dram_l2_release(&r->l2);
}

/* The kept work of a cut, to the middles of its warps if there are any, and the warmup leave what `whole` left. */
static void leaves_the_same(const struct program *program, const struct program_cut *cut,
                            const struct warp_slice *middle, const struct program_walk *how, const struct held *whole,
                            struct held *part)
{
    struct err err = {""};
    struct dram_l2 scratch;
    open_l2(&scratch);
    struct program_rest *rest = program_rest_new(program, cut, UINT64_MAX, middle, !middle, &err);
    struct l2_warmup *warmup =
        l2_warmup_new(rest, &scratch, OFFSET, how ? how->resident : NULL, how ? how->ctx : NULL, &err);
    ck_assert_msg(rest && warmup, "%s", err.msg);
    struct looker r = {.warmup = warmup};
    walk(&r, middle ? &middle->adapter.program : &cut->adapter.program, how, part);
    ck_assert_uint_eq(whole->n, part->n);
    ck_assert_mem_eq(whole->addr, part->addr, whole->n * sizeof *whole->addr);
    dram_l2_release(&scratch);
    l2_warmup_free(warmup);
    program_rest_free(rest);
}

/* What stands in a cache that forgets what was used longest ago is what was used last, whoever used it. */
START_TEST(kept_work_and_remains_leave_what_the_whole_leaves)
{
    static const uint64_t waves[] = {1, 10, 90}, sectors[] = {100, 700, 2000, 6000};
    for (int w = 0; w < 3; w++)
        for (int s = 0; s < 4; s++) {
            struct held whole, part;
            walk(&(struct looker){.warmup = NULL}, &drawn, NULL, &whole);
            ck_assert_uint_gt(whole.n, 400);
            struct program_cut *cut = GIVES(program_cut_new(&drawn, sectors[s], wave_of, &waves[w], &err));
            leaves_the_same(&drawn, cut, NULL, NULL, &whole, &part);
            ck_assert_uint_gt(part.written, whole.n / 5);
            program_cut_free(cut);
        }
}
END_TEST

/* All of its 40 warps are there at once, each at so many lines as the state says, drawn, one a body. */
enum { WARPS = 40, STEPS = 60 };

static uint32_t one_launch(const void *state)
{
    (void)state;
    return 1;
}

static void long_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    drawn_launch(state, launch, out);
    out->blocks = WARPS;
}

static int long_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *b, struct err *err)
{
    return index < *(const uint32_t *)run ? drawn_body(run, launch, warp * STEPS + index, 0, b, err) : 0;
}

/* Behind heads that were put and middles that were walked L2 is as if both had been walked, all warps in turn. */
START_TEST(heads_warm_l2_as_the_same_accesses_in_order)
{
    static const struct program_ops ops = {
        .allocs = drawn_allocs, .launches = one_launch, .launch = long_launch, .body = long_body};
    static const double shares[] = {0.01, 0.1, 0.5};
    static const uint32_t steps = STEPS, to[] = {30, 33, 45};
    const struct program program = {&ops, &steps, -1};
    const uint64_t wave = WARPS;
    const struct program_walk how = {.resident = wave_of, .ctx = &wave};
    struct err err = {""};
    for (int s = 0; s < 3; s++) {
        struct held whole, part;
        const struct program begun = {&ops, &to[s], -1};
        walk(&(struct looker){.warmup = NULL}, &begun, &how, &whole);
        ck_assert_uint_gt(whole.n, 400);
        struct program_cut *cut = program_cut_new(&program, 0, wave_of, &wave, &err);
        struct warp_slice *middle = warp_slice_new(&cut->adapter.program, shares[s], 1, &err);
        ck_assert_msg(cut && middle, "%s", err.msg);
        leaves_the_same(&program, cut, middle, &how, &whole, &part);
        warp_slice_free(middle);
        program_cut_free(cut);
    }
}
END_TEST

TEST_MAIN("l2_warmup")
