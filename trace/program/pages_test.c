#include "trace/program/pages.h"

#include "trace/base/testing.h"
#include "trace/program/random_testing.h"
#include "trace/program/walk.h"

enum { SEEDS = 400, STEPS = 1 << 14, SPACE = 4 * ACTOR_BLOCK_PAGES };

/* One turn of an actor. */
struct turn {
    struct actor_step step;
    bool steady; /* its sectors are the same in every turn of its body */
};

/* Whether each turn of a body moves as many sectors as any other: turns are whole sectors apart. */
static bool steady(const struct program_body *body)
{
    for (uint32_t i = 0; i < body->count; i++)
        if (body->access[i].turn_stride % 32)
            return false;
    return true;
}

/* The turns of one actor, each by itself. */
static size_t turns_of(const struct program_pages *pages, uint32_t launch, uint32_t actor, struct turn *turns)
{
    static struct program_body body;
    struct err err = {""};
    struct actor_step step;
    struct actor_at at = {0};
    size_t n = 0;
    void *run = program_pages_ops.run_open(pages, &err);
    ck_assert_ptr_nonnull(run);
    for (uint32_t number = 0;; number = at.body) {
        int rc = program_pages_ops.step(run, launch, actor, &at, &step, &err);
        ck_assert_int_ge(rc, 0);
        if (rc == 0)
            break;
        ck_assert_uint_ge(step.turns, 1);
        ck_assert_uint_le(step.count, ACTOR_LOADS);
        ck_assert_uint_le(step.stores, ACTOR_STORES);
        (void)program_body(pages->program, (void *)pages->program->state, launch, actor, number, &body, &err);
        for (uint32_t t = 0; t < step.turns; t++) {
            if (n == STEPS)
                ck_abort_msg("too many turns");
            turns[n] = (struct turn){step, steady(&body)};
            turns[n++].step.turns = 1;
        }
    }
    program_pages_ops.run_close(run);
    return n;
}

/* Sectors may differ by one for each access where turns are no whole sectors apart. */
static void check_turn(const struct turn *a, const struct turn *b)
{
    const struct actor_step *x = &a->step, *y = &b->step;
    uint32_t apart = x->sectors > y->sectors ? x->sectors - y->sectors : y->sectors - x->sectors;
    if (x->count == y->count && x->stores == y->stores && x->writes == y->writes && x->accesses == y->accesses &&
        x->instructions == y->instructions && x->compute_ns == y->compute_ns && apart <= (a->steady ? 0 : 8) &&
        memcmp(x->page, y->page, (x->count + x->stores) * sizeof *x->page) == 0)
        return;
    ck_abort_msg("loads %u and %u, stores %u and %u, instructions %u and %u, sectors %u and %u, or their pages",
                 x->count, y->count, x->stores, y->stores, x->instructions, y->instructions, x->sectors, y->sectors);
}

/* Call for every launch and actor of a random program, in closed form and expanded. */
static void each_actor(uint64_t seed, int64_t compute_ns,
                       void (*check)(const struct program_pages *, const struct program_pages *, uint32_t, uint32_t))
{
    static struct program_pages closed, expanded;
    struct program_random state;
    struct program program;
    program_random_init(&state, seed, &program);
    program.compute_ns = compute_ns;
    WORKS(program_pages_init(&closed, &program, NULL, &err));
    WORKS(program_pages_init(&expanded, &program, NULL, &err));
    expanded.unroll = true;
    for (uint32_t l = 0; l < program_pages_ops.launches(&closed); l++) {
        struct actor_launch launch;
        program_pages_ops.launch(&closed, l, &launch);
        for (uint32_t a = 0; a < launch.actors; a++)
            check(&closed, &expanded, l, a);
    }
}

static struct turn found[STEPS], expected[STEPS];

static void same_turns(const struct program_pages *closed, const struct program_pages *expanded, uint32_t launch,
                       uint32_t actor)
{
    size_t n = turns_of(closed, launch, actor, found);
    ck_assert_uint_eq(n, turns_of(expanded, launch, actor, expected));
    for (size_t i = 0; i < n; i++)
        check_turn(&found[i], &expected[i]);
}

START_TEST(turns_in_closed_form_are_the_turns_one_by_one)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        each_actor(seed, seed % 3 ? -1 : 1000, same_turns);
}
END_TEST

/* --- pages --- */

struct touched {
    const struct program_pages *pages;
    uint32_t launch, actor, warps;
    bool load[SPACE], store[SPACE];
};

/* The page of an address; -1 if it is none of managed memory. Allocations are whole pages. */
static int page_at(const struct program_pages *p, uint64_t addr)
{
    for (size_t i = 0; i < p->count; i++)
        if (addr / ACTOR_PAGE_BYTES >= p->allocs[i].addr / ACTOR_PAGE_BYTES &&
            addr / ACTOR_PAGE_BYTES <= (p->allocs[i].addr + p->allocs[i].bytes - 1) / ACTOR_PAGE_BYTES)
            return (int)(p->allocs[i].first_page + (addr / ACTOR_PAGE_BYTES - p->allocs[i].addr / ACTOR_PAGE_BYTES));
    return -1;
}

static int take(void *ctx, const struct program_op *op, struct err *err)
{
    struct touched *t = ctx;
    (void)err;
    if (op->launch != t->launch || (op->id >> 32) * t->warps + (uint32_t)op->id != t->actor)
        return 0;
    for (int i = 0; i < op->lines; i++) {
        int page = page_at(t->pages, op->line[i].addr);
        if (page >= SPACE)
            ck_abort_msg("page %d", page);
        if (page >= 0)
            (op->access == RECORD_WRITE ? t->store : t->load)[page] = true;
    }
    return 0;
}

static void same_pages(const struct program_pages *closed, const struct program_pages *expanded, uint32_t launch,
                       uint32_t actor)
{
    static const struct program_taker taker = {.op = take};
    static struct touched t;
    static const struct program_walk how = {.managed_only = true};
    struct program_launch shape = {0};
    closed->program->ops->launch(closed->program->state, launch, &shape);
    for (int form = 0; form < 2; form++) {
        memset(&t, 0, sizeof t);
        t.pages = closed;
        t.launch = launch;
        t.actor = actor;
        t.warps = program_warps_of_block(&shape);
        ck_assert_int_eq(program_walk(closed->program, &how, &taker, &t, NULL, NULL), 0);
        size_t n = turns_of(form ? expanded : closed, launch, actor, found);
        static bool load[SPACE], store[SPACE];
        memset(load, 0, sizeof load);
        memset(store, 0, sizeof store);
        for (size_t i = 0; i < n; i++)
            for (uint32_t k = 0; k < found[i].step.count + found[i].step.stores; k++)
                (k < found[i].step.count ? load : store)[found[i].step.page[k]] = true;
        ck_assert_int_eq(memcmp(load, t.load, sizeof load), 0);
        ck_assert_int_eq(memcmp(store, t.store, sizeof store), 0);
    }
}

START_TEST(both_forms_touch_the_pages_of_the_walk_and_no_other)
{
    for (uint64_t seed = 0; seed < SEEDS / 8; seed++)
        each_actor(seed, -1, same_pages);
}
END_TEST

/* --- written down --- */

static struct program_alloc memory[] = {{.name = "a", .addr = 1 << 21, .bytes = 1 << 20, .host = true},
                                        {.name = "b", .addr = 1 << 22, .bytes = 1 << 20},
                                        {.name = "d", .addr = 1 << 23, .bytes = 1 << 20, .device = true}};
static void (*fill)(struct program_body *body);

static const struct program_alloc *allocs(const void *state, size_t *n)
{
    (void)state;
    *n = 3;
    return memory;
}

static uint32_t one(const void *state)
{
    (void)state;
    return 1;
}

static void shape(const void *state, uint32_t launch, struct program_launch *out)
{
    (void)state;
    (void)launch;
    *out = (struct program_launch){.kernel = "k", .blocks = 3, .threads = 70, .registers = 20, .shared = 5};
}

static int steps(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body, struct err *err)
{
    (void)run;
    (void)launch;
    (void)warp;
    (void)err;
    if (index)
        return 0;
    fill(body);
    return 1;
}

static const struct program_ops small_ops = {.allocs = allocs, .launches = one, .launch = shape, .body = steps};

/* The steps of warp 0 of a program whose warps have one body. */
static size_t steps_of(void (*body)(struct program_body *), int64_t compute_ns, struct actor_step *out, size_t most)
{
    static struct program_pages pages;
    struct program small = {&small_ops, &small_ops, compute_ns};
    struct actor_at at = {0};
    size_t n = 0;
    fill = body;
    ck_assert_int_eq(program_pages_init(&pages, &small, NULL, NULL), 0);
    ck_assert_uint_eq(pages.count, 2);
    ck_assert(pages.allocs[0].host && !pages.allocs[1].host);
    void *run = program_pages_ops.run_open(&pages, NULL);
    while (n < most && program_pages_ops.step(run, 0, 0, &at, &out[n], NULL) == 1)
        n++;
    program_pages_ops.run_close(run);
    return n;
}

/* pages.h's example: 32 lanes load 4 B each, 128 B further on each turn. */
static void example(struct program_body *b)
{
    program_load(b, memory, 0, 0, 4)->turn_stride = 128;
    b->after = 3;
    b->turns = 64;
}

START_TEST(turns_on_one_page_are_one_step)
{
    struct actor_step s[8];
    ck_assert_uint_eq(steps_of(example, 700, s, 8), 2);
    for (uint32_t i = 0; i < 2; i++) {
        ck_assert_uint_eq(s[i].turns, 32);
        ck_assert_uint_eq(s[i].count, 1);
        ck_assert_uint_eq(s[i].page[0], i);
        ck_assert_uint_eq(s[i].instructions, 4);
        ck_assert_uint_eq(s[i].sectors, 4);
        ck_assert_uint_eq(s[i].compute_ns, 700);
    }
}
END_TEST

/* A warp reads its page of a and of b in each lane, waits for both, and writes to two others: uvm-eval's logs. */
static void logged(struct program_body *b)
{
    program_load(b, memory, 0, 0, 4)->lane_stride = 4096;
    program_load(b, memory, 1, 0, 4)->lane_stride = 4096;
    b->access[0].use = 3;
    b->access[1].use = 2;
    program_store(b, memory, 0, 1 << 19, 4)->before = 1;
    b->access[2].lane_stride = 4096;
}

START_TEST(loads_come_together_and_stores_behind_them)
{
    struct actor_step s[8];
    ck_assert_uint_eq(steps_of(logged, -1, s, 8), 1);
    ck_assert_uint_eq(s[0].count, 64);
    ck_assert_uint_eq(s[0].stores, 32);
    ck_assert_uint_eq(s[0].page[32], ACTOR_BLOCK_PAGES); /* of b */
    ck_assert_uint_eq(s[0].page[64], 128);
    ck_assert_uint_eq(s[0].compute_ns, ACTOR_COMPUTE_AUTO);
    ck_assert_uint_eq(s[0].instructions, 4);
}
END_TEST

/* A load that the next load needs; then one page more than a step holds; memory that is no managed one. */
static void waits(struct program_body *b)
{
    (void)program_load(b, memory, 0, 0, 4);
    (void)program_load(b, memory, 2, 0, 4);
    for (unsigned i = 0; i < 3; i++)
        program_load(b, memory, 1, i << 17, 4)->lane_stride = 4096;
    b->access[2].use = b->access[3].use = b->access[4].use = 0;
    struct program_access *atomic = program_load(b, memory, 0, 4096, 4);
    atomic->kind = RECORD_ATOMIC;
}

START_TEST(a_step_ends_at_a_wait_and_where_it_is_full)
{
    struct actor_step s[8];
    ck_assert_uint_eq(steps_of(waits, -1, s, 8), 4);
    ck_assert_uint_eq(s[0].count, 1);
    ck_assert_uint_eq(s[1].count, 0); /* in GPU memory in any case */
    ck_assert_uint_eq(s[1].sectors, 4);
    ck_assert_uint_eq(s[1].waits, (memory[2].bytes + 1023) / 1024);
    ck_assert_uint_eq(s[0].waits, 0);
    ck_assert_uint_eq(s[2].count, 64);
    ck_assert_uint_eq(s[3].count, 33);
    ck_assert(s[3].writes == 1ull << 32);
    ck_assert_uint_eq(s[3].page[32], 1);
}
END_TEST

START_TEST(arrays_that_share_a_page_become_allocations_on_blocks_of_their_own)
{
    struct actor_step s[8];
    memory[0].addr = 0xC0000000u;
    memory[1].addr = 0xC0000000u + 768;
    ck_assert_uint_eq(steps_of(logged, -1, s, 8), 1);
    ck_assert_uint_eq(s[0].count, 64);
    ck_assert_uint_eq(s[0].page[0], 0);
    ck_assert_uint_eq(s[0].page[32], ACTOR_BLOCK_PAGES);
    ck_assert_uint_eq(s[0].page[64], 128);
    ck_assert_uint_eq(steps_of(example, 700, s, 8), 2); /* turns on one page: of the moved array */
    ck_assert_uint_eq(s[0].turns, 32);
    memory[0].addr = 1 << 21;
    memory[1].addr = 1 << 22;
}
END_TEST

START_TEST(launches_are_the_programs)
{
    static struct program_pages pages;
    struct program small = {&small_ops, &small_ops, -1};
    struct actor_launch launch;
    uint32_t advice[3] = {0, ACTOR_READ_MOSTLY, 0};
    ck_assert_int_eq(program_pages_init(&pages, &small, advice, NULL), 0);
    program_pages_ops.launch(&pages, 0, &launch);
    ck_assert_uint_eq(launch.actors, 9);
    ck_assert_uint_eq(launch.together, 3);
    ck_assert_uint_eq(launch.threads, 70);
    ck_assert_uint_eq(launch.registers, 20);
    ck_assert_uint_eq(launch.shared, 5);
    ck_assert_uint_eq(pages.allocs[1].advice, ACTOR_READ_MOSTLY);
    memory[0].device = memory[1].device = true;
    FAILS_WITH(program_pages_init(&pages, &small, NULL, &err), "managed");
}
END_TEST

TEST_MAIN("pages")
