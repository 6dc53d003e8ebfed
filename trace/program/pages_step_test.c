#include "trace/program/pages.c"

#include "trace/base/testing.h"
#include "trace/program/random_testing.h"

/* Two managed allocations of two blocks each, and one in GPU memory between them. */
static const struct program_alloc allocs[3] = {{.name = "a", .addr = 1 << 22, .bytes = 1 << 22},
                                               {.name = "d", .addr = 1 << 23, .bytes = 4096, .device = true},
                                               {.name = "b", .addr = 3 << 22, .bytes = 5000}};

static const struct program_alloc *three(const void *state, size_t *n)
{
    (void)state;
    *n = 3;
    return allocs;
}

static uint32_t no_launch(const void *state)
{
    (void)state;
    return 0;
}

static struct program_pages opened(void)
{
    static const struct program_ops ops = {.allocs = three, .launches = no_launch};
    static const struct program program = {&ops, NULL, -1};
    struct program_pages pages;
    WORKS(program_pages_init(&pages, &program, NULL, &err));
    return pages;
}

START_TEST(pages_stand_once_in_the_order_of_the_lanes)
{
    struct program_pages p = opened();
    struct access_pages c;
    struct program_access a = {.addr = (1 << 22) + 4000, .lane_stride = 4, .bytes = 4, .active = ~0u};
    access_pages(&p, &a, 0, &c);
    ck_assert_uint_eq(c.n, 2);
    ck_assert_uint_eq(c.page[0], 0);
    ck_assert_uint_eq(c.page[1], 1);
    a.lane_stride = -4096;
    a.addr += 31 * 4096;
    access_pages(&p, &a, 0, &c);
    ck_assert_uint_eq(c.n, 32);
    ck_assert_uint_eq(c.page[0], 31);
    a.turn_stride = 4096;
    access_pages(&p, &a, 2, &c);
    ck_assert_uint_eq(c.page[31], 2);
    uint64_t lane[32];
    for (unsigned i = 0; i < 32; i++)
        lane[i] = (1 << 22) + i % 3 * 4096ull;
    a.lane = lane;
    access_pages(&p, &a, 0, &c);
    ck_assert_uint_eq(c.n, 3);
}
END_TEST

START_TEST(an_address_belongs_to_whom_it_lies_in)
{
    struct program_pages p = opened();
    struct access_pages c;
    struct program_access a = {.addr = 3 << 22, .bytes = 4, .active = 1}; /* said to be of a, lies in b */
    access_pages(&p, &a, 0, &c);
    ck_assert_uint_eq(c.n, 1);
    ck_assert_uint_eq(c.page[0], 2 * 512);
    a.addr = (3 << 22) + 8191; /* b's last page */
    access_pages(&p, &a, 0, &c);
    ck_assert_uint_eq(c.n, 1);
    a.addr = (3 << 22) + 8192; /* behind it: nobody's */
    access_pages(&p, &a, 0, &c);
    ck_assert_uint_eq(c.n, 0);
    a.addr = 1 << 22;
    a.alloc = 1; /* in GPU memory in any case */
    access_pages(&p, &a, 0, &c);
    ck_assert_uint_eq(c.n, 0);
}
END_TEST

START_TEST(turns_on_the_same_pages_end_where_a_lane_leaves_its_page)
{
    struct program_pages p = opened();
    struct program_body body = {.count = 1, .turns = 1000};
    struct program_access *a = &body.access[0];
    *a = (struct program_access){.addr = 1 << 22, .lane_stride = 4, .turn_stride = 128, .bytes = 4, .active = ~0u};
    ck_assert_uint_eq(access_pages_turns(&p, &body, 0), 32);
    ck_assert_uint_eq(access_pages_turns(&p, &body, 31), 1);
    ck_assert_uint_eq(access_pages_turns(&p, &body, 990), 2); /* byte 3,840 of a page */
    a->turn_stride = 0;
    ck_assert_uint_eq(access_pages_turns(&p, &body, 0), 1000);
    a->turn_stride = -128;
    a->addr = (1 << 22) + 8192;
    ck_assert_uint_eq(access_pages_turns(&p, &body, 0), 1);
    ck_assert_uint_eq(access_pages_turns(&p, &body, 1), 32);
    a->alloc = 1;
    ck_assert_uint_eq(access_pages_turns(&p, &body, 0), 1000);
}
END_TEST

START_TEST(sectors_of_neighbours_are_counted_once)
{
    struct program_access a = {.addr = 4096, .lane_stride = 4, .bytes = 4, .active = ~0u}, b = a;
    ck_assert_uint_eq(access_sectors(&a, 0, NULL), 4);
    b.addr += 4;
    ck_assert_uint_eq(access_sectors(&b, 0, NULL), 5);
    ck_assert_uint_eq(access_sectors(&b, 0, &a), 0);
    b.addr = a.addr - 4;
    ck_assert_uint_eq(access_sectors(&b, 0, &a), 1);
    b.addr = a.addr + 32;
    ck_assert_uint_eq(access_sectors(&b, 0, &a), 4);
    b.lane_stride = 4096;
    ck_assert_uint_eq(access_sectors(&b, 0, &a), 32);
    b.lane_stride = 0;
    ck_assert_uint_eq(access_sectors(&b, 0, NULL), 1);
    b.active = 0;
    ck_assert_uint_eq(access_sectors(&b, 0, NULL), 0);
}
END_TEST

enum { WARPS = 3000, ACCESSES = 4 };

/* Warps that do the same, so far apart; here and there one differs. */
struct grid {
    struct program_alloc allocs[3]; /* the last is the GPU's own */
    uint64_t seed, apart;
    struct program_access access[ACCESSES];
};

static const struct program_alloc *grid_allocs(const void *state, size_t *n)
{
    *n = 3;
    return ((const struct grid *)state)->allocs;
}

static uint32_t launches(const void *state)
{
    (void)state;
    return 1;
}

static void shape(const void *state, uint32_t launch, struct program_launch *out)
{
    (void)state;
    (void)launch;
    *out = (struct program_launch){.kernel = "k", .blocks = WARPS, .threads = 32};
}

static int body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *b, struct err *err)
{
    const struct grid *g = run;
    uint64_t s = g->seed * WARPS + warp, odd = program_draw(&s) % 100;
    (void)launch;
    (void)err;
    if (index > 1)
        return 0;
    b->count = ACCESSES;
    for (int i = 0; i < ACCESSES; i++) {
        b->access[i] = g->access[i];
        b->access[i].addr += warp * g->apart + index * 64;
    }
    struct program_access *a = &b->access[program_draw(&s) % ACCESSES];
    a->addr += odd == 0 ? 32 : odd == 1 ? 4 : 0;
    a->active = odd == 2 ? 0xffff : odd == 3 ? 0xfffe : odd == 4 ? 0 : a->active;
    a->kind = odd == 5 ? RECORD_ATOMIC : a->kind;
    a->use = odd == 6 ? 0 : a->use;
    a->alloc = odd == 7 ? 2 : a->alloc;
    a->lane_stride = odd == 8 ? 128 : a->lane_stride;
    b->turns = odd == 9 ? 3 : 1;
    b->after = odd == 10;
    b->last = index == 1 && warp % 2;
    return 1;
}

static const struct program_ops ops = {.allocs = grid_allocs, .launches = launches, .launch = shape, .body = body};

static void draw_grid(struct grid *g, uint64_t seed, uint64_t apart, uint64_t bytes)
{
    uint64_t s = seed;
    *g = (struct grid){.seed = seed, .apart = apart};
    for (int i = 0; i < 3; i++)
        g->allocs[i] = (struct program_alloc){.name = {(char)('a' + i)}, .bytes = bytes, .device = i == 2};
    program_place(g->allocs, 3, 0, 0);
    for (int i = 0; i < ACCESSES; i++) {
        unsigned alloc = program_draw(&s) % 5 / 2;
        g->access[i] = (struct program_access){.addr = g->allocs[alloc].addr + program_draw(&s) % 9000 / 4 * 4,
                                               .lane_stride = program_draw(&s) % 4 ? 4 : 0,
                                               .active = UINT32_MAX,
                                               .bytes = 4,
                                               .before = (uint16_t)(program_draw(&s) % 3),
                                               .use = (uint16_t)(i < 3 ? program_draw(&s) % 4 : 0),
                                               .kind = i < 3 ? RECORD_READ : RECORD_WRITE,
                                               .alloc = (uint8_t)alloc};
    }
}

/* All warps one after the other in one run: steps kept from warp to warp, and each worked out. */
static void compare(const struct grid *g)
{
    static struct program_pages kept, plain;
    const struct program program = {&ops, g, -1};
    struct err err = {""};
    ck_assert_msg(program_pages_init(&kept, &program, NULL, &err) == 0, "%s", err.msg);
    plain = kept;
    plain.unroll = true;
    void *a = program_pages_ops.run_open(&kept, &err), *b = program_pages_ops.run_open(&plain, &err);
    for (uint32_t warp = 0; warp < WARPS; warp++) {
        struct actor_at at[2] = {{0}, {0}};
        struct actor_step x, y;
        uint32_t left = 0; /* turns of x that are still to come from y */
        int more = 1;
        while (more) {
            if (!left)
                more = program_pages_ops.step(a, 0, warp, &at[0], &x, &err);
            int other = program_pages_ops.step(b, 0, warp, &at[1], &y, &err);
            left = (left ? left : more ? x.turns : 1) - 1;
            if (more != other ||
                (more && (x.count != y.count || x.stores != y.stores || x.writes != y.writes ||
                          x.accesses != y.accesses || x.instructions != y.instructions || x.sectors != y.sectors ||
                          memcmp(x.page, y.page, (x.count + x.stores) * sizeof *x.page) != 0)))
                ck_abort_msg("seed %llu, %llu B apart, warp %u: %u and %u pages, %u and %u sectors",
                             (unsigned long long)g->seed, (unsigned long long)g->apart, warp, x.count + x.stores,
                             y.count + y.stores, x.sectors, y.sectors);
        }
    }
    program_pages_ops.run_close(a);
    program_pages_ops.run_close(b);
}

START_TEST(steps_kept_are_the_steps_worked_out)
{
    static const uint64_t apart[] = {0, 4, 32, 128, 512, 4096, 4128, 107008, 2097152};
    struct grid g;
    for (uint64_t seed = 1; seed < 30; seed++)
        for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
            draw_grid(&g, seed, apart[i], apart[i] * (WARPS - seed) + 5000 * seed); /* the last lie outside */
            compare(&g);
        }
}
END_TEST

START_TEST(warps_further_on_are_taken_from_the_one_before)
{
    static struct program_pages pages;
    static struct program_body a, b;
    static struct kept_step kept;
    struct grid g;
    struct actor_step step = {.count = 1, .turns = 1, .page = {7}}, got = {0};
    draw_grid(&g, 3, 107008, 1 << 30);
    const struct program program = {&ops, &g, -1};
    WORKS(program_pages_init(&pages, &program, NULL, &err));
    a.turns = b.turns = 1;
    for (uint64_t byte = 256; byte < 4352; byte += 4096 - 512)
        (void)program_load(&a, g.allocs, 0, byte, 4);
    ck_assert(!kept_step_alike(&kept, &a));
    kept_step_put(&kept, &pages, &a, &step);
    ck_assert(kept_step_alike(&kept, &a));
    b = a;
    for (uint32_t i = 0; i < b.count; i++)
        b.access[i].addr += 107008 - 512;
    ck_assert(kept_step_get(&kept, &pages, &b, &got));
    ck_assert_uint_eq(got.page[0], 7 + 26);
    b.access[0].addr += 128;
    ck_assert(!kept_step_get(&kept, &pages, &b, &got));
    b.turns = 2;
    ck_assert(!kept_step_alike(&kept, &b));
}
END_TEST

/* Two loads so far apart, of a warp that lies `first` bytes in; the step kept is that of the warp at byte 256. */
static bool taken(uint64_t apart, uint64_t first, struct actor_step *got)
{
    static struct program_pages pages;
    static struct program_body a;
    static struct kept_step kept;
    struct grid g;
    draw_grid(&g, 3, 128, 1 << 30);
    const struct program program = {&ops, &g, -1};
    WORKS(program_pages_init(&pages, &program, NULL, &err));
    uint32_t page = pages.allocs[0].first_page;
    struct actor_step step = {.count = 1 + (256 + apart) / 4096, .turns = 1, .page = {page, page + 1}};
    for (uint64_t at = 256;; at = first) {
        a.count = 0;
        a.turns = 1;
        (void)program_load(&a, g.allocs, 0, at, 4);
        (void)program_load(&a, g.allocs, 0, at + apart, 4);
        if (at == first)
            return kept_step_get(&kept, &pages, &a, got);
        kept_step_put(&kept, &pages, &a, &step);
    }
}

START_TEST(accesses_may_leave_their_page_at_different_warps)
{
    struct actor_step got;
    ck_assert(taken(4224, 3968, &got)); /* bytes 3,968 and 8,192 */
    ck_assert_uint_eq(got.count, 2);
    ck_assert_uint_eq(got.page[1] - got.page[0], 2);
    ck_assert(!taken(3968, 0, &got));          /* two pages become one */
    ck_assert(!taken(3712, 512, &got));        /* one page becomes two */
    ck_assert(!taken(4224, 3872 + 128, &got)); /* its second line lies on two */
}
END_TEST

TEST_MAIN("step")
