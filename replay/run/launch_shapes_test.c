/* Launches of odd shapes, through every view: one thread, blocks of 1,024, blocks that end within a warp, kernels whose
 * warps do nothing, bodies without an access, grids of 2^31 blocks. */
#include "models/base/platform.h"
#include "replay/derive/derive_scans.h"
#include "replay/placement/placement_tasks.h"
#include "replay/placement/program_totals.h"
#include "replay/run/one_program_testing.h"
#include "replay/uvm/uvm_simulate.h"
#include "trace/program/random_testing.h"

enum { LAUNCHES = 4, ROOM = 16384 };

/* Kernels of given shapes; warps, bodies and accesses as drawn, none outside its allocation. */
struct shapes {
    struct program_alloc allocs[3]; /* the last is the GPU's own */
    uint64_t seed;
    uint32_t launches;
    struct {
        uint64_t blocks;
        uint32_t threads;
    } launch[LAUNCHES];
    uint32_t nothing; /* of 8 warps so many do nothing */
    uint64_t every;   /* only each so many-th warp does anything; 0, 1: all */
};

static const struct program_alloc *shapes_allocs(const void *state, size_t *n)
{
    *n = 3;
    return ((const struct shapes *)state)->allocs;
}

static uint32_t shapes_launches(const void *state)
{
    return ((const struct shapes *)state)->launches;
}

static void shapes_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct shapes *g = state;
    *out = (struct program_launch){
        .kernel = "k", .blocks = g->launch[launch].blocks, .threads = g->launch[launch].threads, .registers = 32};
}

static void draw_access(const struct shapes *g, uint64_t *s, uint32_t lanes, struct program_body *b)
{
    static const int64_t apart[] = {0, 4, 8, 36, 128, -4}, further[] = {0, 4, 128, -64};
    unsigned alloc = program_draw(s) % 3;
    uint64_t room = g->allocs[alloc].bytes - ROOM;
    struct program_access *a =
        program_load(b, g->allocs, alloc, ROOM / 2 + program_draw(s) % room / 4 * 4, 4u << program_draw(s) % 3);
    a->kind = (uint8_t)(program_draw(s) % 3 ? RECORD_READ : program_draw(s) % 2 ? RECORD_WRITE : RECORD_ATOMIC);
    a->use = a->kind == RECORD_WRITE ? 0 : (uint16_t)(program_draw(s) % 4);
    a->active = program_random_mask(s) & program_first_lanes(lanes);
    a->lane_stride = program_draw(s) % 2 ? a->bytes : apart[program_draw(s) % 6];
    a->turn_stride = further[program_draw(s) % 4];
    if (program_draw(s) % 6 == 0 && b->lane_sets < PROGRAM_LANE_SETS) {
        uint64_t *lane = program_scatter(b, a);
        for (int i = 0; i < PROGRAM_LANES; i++)
            lane[i] = g->allocs[alloc].addr + ROOM / 2 + program_draw(s) % room;
    }
}

static int shapes_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *b,
                       struct err *err)
{
    const struct shapes *g = run;
    uint64_t s = (g->seed * LAUNCHES + launch) * 0x10001 + warp;
    uint32_t threads = g->launch[launch].threads, in_block = (uint32_t)(warp % ((threads + 31) / 32)) * 32;
    (void)err;
    if ((g->every && warp % g->every) || program_draw(&s) % 8 < g->nothing || index >= program_draw(&s) % 4)
        return 0;
    s += index;
    uint32_t n = program_draw(&s) % 5; /* 0: a body without an access */
    for (uint32_t i = 0; i < n; i++)
        draw_access(g, &s, threads - in_block < 32 ? threads - in_block : 32, b);
    if (program_draw(&s) % 4 == 0)
        program_barrier(b);
    b->turns = 1 + program_draw(&s) % 9;
    b->after = 1;
    return 1;
}

static const struct program_ops shapes_ops = {
    .allocs = shapes_allocs, .launches = shapes_launches, .launch = shapes_launch, .body = shapes_body};

static void set_up(struct shapes *g, uint64_t seed)
{
    *g = (struct shapes){.seed = seed, .launches = 1};
    for (int i = 0; i < 3; i++)
        g->allocs[i] = (struct program_alloc){
            .name = {(char)('a' + i)}, .bytes = 3 * ROOM + seed % 5 * 4096, .host = true, .device = i == 2};
    program_place(g->allocs, 3, 0, 0);
    viewed = (struct program){&shapes_ops, g, -1};
    w = NULL;
}

/* --- every engine answers, or says why not --- */

static const struct platform *platform(void)
{
    static struct platform *p;
    if (!p)
        p = GIVES(platform_load("titanv", &err));
    return p;
}

/* Touches of the closed loop, which ends. */
static uint64_t simulate(void)
{
    static struct program_pages pages;
    struct uvm_metrics m;
    WORKS(program_pages_init(&pages, &viewed, NULL, &err));
    const struct uvm_run run = {.ops = &program_pages_ops,
                                .state = &pages,
                                .gpu = platform_section_get(platform(), "gpu"),
                                .platform = platform_section_get(platform(), "uvm"),
                                .policy = uvm_policy_stock()};
    WORKS(uvm_simulate(&run, &m, &err));
    return m.touches;
}

/* Memory instructions by the placement view, all of them through the cache. */
static uint64_t place(void)
{
    struct program_totals totals;
    struct program_hits hits;
    uint64_t accesses = 0;
    WORKS(program_totals_init(&totals, &viewed, &gpu, &err));
    for (uint32_t l = 0; l < totals.launches; l++)
        accesses += totals.launch[l].accesses;
    struct gpu cached = gpu;
    cached.l2_bytes = 1 << 20;
    cached.l2_ways = 16;
    WORKS(program_hits_run(&hits, &viewed, &totals, &cached, 0, &err));
    ck_assert_uint_eq(hits.instructions, accesses);
    program_totals_release(&totals);
    return accesses;
}

START_TEST(every_view_of_every_shape_has_the_same_bytes_and_pages)
{
    static const uint64_t shapes[][2] = {{1, 1}, {1, 1024}, {3, 33}, {5, 31}, {2, 1000}, {70, 1}, {40, 64}, {4, 95}};
    struct shapes g;
    char name[64];
    for (uint64_t seed = 0; seed < 48; seed++) {
        set_up(&g, seed);
        g.launches = 1 + (uint32_t)(seed % LAUNCHES);
        for (uint32_t l = 0; l < g.launches; l++) {
            g.launch[l].blocks = shapes[(seed + l) % 8][0];
            g.launch[l].threads = (uint32_t)shapes[(seed + l) % 8][1];
        }
        g.nothing = seed % 3;
        (void)snprintf(name, sizeof name, "seed %llu", (unsigned long long)seed);
        uint64_t accesses = place();
        (void)simulate();
        if (accesses > 20) /* fewer need not read and write managed memory */
            compare_views(name);
    }
}
END_TEST

START_TEST(kernels_that_do_nothing_are_answered)
{
    struct shapes g;
    struct program_counts counts;
    struct err err = {""};
    set_up(&g, 1);
    g.launches = 2;
    g.launch[0].blocks = g.launch[1].blocks = 100;
    g.launch[0].threads = 1;
    g.launch[1].threads = 1024;
    g.nothing = 8;
    ck_assert_uint_eq(place(), 0);
    ck_assert_uint_eq(simulate(), 0);
    const struct derive_source source = {.program = &viewed, .name = "it"};
    struct derive_options options = whole_program;
    ck_assert_int_eq(derive_dram_records(&source, &options, take_record, NULL, &counts, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "no access is left"));
    ck_assert_ptr_null(program_reads_open(&source, 2, &err));
    ck_assert_str_eq(err.msg, "it: nothing is read");
}
END_TEST

/* --- grids of 2^31 blocks --- */

/* Instructions that are wanted still; warps come in order. */
static int take_few(void *ctx, const struct program_op *op, struct err *err)
{
    uint64_t *left = ctx;
    ck_assert_uint_lt(op->id >> 32, 1ull << 31);
    return --*left ? 0 : err_set(err, "enough");
}

START_TEST(the_largest_grids_are_walked_without_overflow)
{
    static const struct program_taker taker = {.op = take_few};
    static struct program_body body;
    struct shapes g;
    struct err err = {""};
    set_up(&g, 5);
    g.launch[0].blocks = 1ull << 31;
    g.launch[0].threads = 32;
    for (int waves = 0; waves < 2; waves++) {
        uint64_t left = 500;
        const struct program_walk how = {.resident = waves ? three : NULL};
        ck_assert_int_eq(program_walk(&viewed, &how, &taker, &left, NULL, &err), -1);
        ck_assert_str_eq(err.msg, "enough");
    }
    static struct program_pages pages;
    struct actor_launch launch;
    ck_assert_int_eq(program_pages_init(&pages, &viewed, NULL, &err), 0);
    program_pages_ops.launch(&pages, 0, &launch);
    ck_assert_uint_eq(launch.actors, 1u << 31);
    for (uint64_t warp = (1ull << 31) - 64; warp < 1ull << 31; warp++)
        ck_assert_int_ge(program_body(&viewed, &g, 0, warp, 0, &body, &err), 0);
}
END_TEST

START_TEST(a_grid_of_millions_of_blocks_most_of_which_do_nothing_is_the_same_in_every_view)
{
    struct shapes g;
    set_up(&g, 9);
    g.launch[0].blocks = 1 << 20;
    g.launch[0].threads = 1;
    g.every = 4099;
    ck_assert_uint_gt(place(), 0);
    (void)simulate();
    compare_views("2^20 blocks");
}
END_TEST

START_TEST(grids_that_no_launch_can_have_are_refused_by_every_view)
{
    static const uint64_t shapes[][2] = {
        {(1ull << 32) - 1, 1}, {1ull << 31, 1024}, {1ull << 40, 32}, {1, 1025}, {0, 1}};
    static const struct program_taker taker = {.op = take};
    struct shapes g;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct program_totals totals;
        struct placement_tasks tasks;
        struct program_counts counts;
        static struct program_pages pages;
        set_up(&g, 2);
        g.launch[0].blocks = shapes[i][0];
        g.launch[0].threads = (uint32_t)shapes[i][1];
        const struct derive_source source = {.program = &viewed, .name = "it"};
        struct derive_options options = whole_program;
        FAILS(program_walk(&viewed, NULL, &taker, NULL, NULL, &err));
        FAILS_WITH(program_pages_init(&pages, &viewed, NULL, &err), "launch 0 has");
        FAILS(program_totals_init(&totals, &viewed, &gpu, &err));
        program_totals_release(&totals);
        FAILS(placement_tasks_program(&tasks, "t", &viewed, platform(), &(struct placement_program_options){0}, &err));
        FAILS(derive_dram_records(&source, &options, take_record, NULL, &counts, &err));
        GIVES_NONE(program_reads_open(&source, 2, &err), "");
    }
}
END_TEST

TEST_MAIN("launch_shapes")
