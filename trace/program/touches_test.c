#include "trace/program/pages.h"

#include "trace/base/testing.h"
#include "trace/store/store.h"

/* Two warps; each loads its page, computes, stores to the other allocation; then one step of instructions alone. */
static struct actor_alloc allocs[2] = {{.name = "in", .bytes = 1 << 20, .host = true}, {.name = "out", .bytes = 4096}};

static const struct actor_alloc *two_allocs(const void *state, size_t *n)
{
    (void)state;
    *n = 2;
    return allocs;
}

static uint32_t one_launch(const void *state)
{
    (void)state;
    return 1;
}

static void shape(const void *state, uint32_t launch, struct actor_launch *out)
{
    (void)state, (void)launch;
    *out =
        (struct actor_launch){.kernel = "k", .actors = 2, .together = 1, .threads = 20, .registers = 24, .shared = 99};
}

static int step(void *run, uint32_t launch, uint32_t actor, struct actor_at *at, struct actor_step *s, struct err *err)
{
    (void)run, (void)launch, (void)err;
    if (at->body == 2)
        return 0;
    *s = (struct actor_step){.turns = 3, .instructions = 10, .sectors = 4, .compute_ns = ACTOR_COMPUTE_AUTO};
    if (at->body++ == 0) {
        s->count = s->stores = 1;
        s->accesses = 2;
        s->page[0] = allocs[0].first_page + actor;
        s->page[1] = allocs[1].first_page;
    }
    return 1;
}

static void add(void *ctx, size_t records)
{
    *(size_t *)ctx += records;
}

/* The row of the launch: its shape, and nothing that is not known. */
static int check_kernel(void *ctx, const struct store_value *v, size_t n)
{
    ++*(int *)ctx;
    ck_assert_uint_ge(n, 16);
    ck_assert_str_eq(v[1].s, "k");
    ck_assert_int_eq(v[2].i, 0);
    for (size_t i = 3; i < 16; i++)
        if (i < 5 || i > 12)
            ck_assert_int_eq(v[i].type, STORE_NULL);
    static const int64_t shape_of[] = {2, 1, 1, 20, 1, 1, 24, 99};
    for (size_t i = 0; i < 8; i++)
        ck_assert_int_eq(v[5 + i].i, shape_of[i]);
    return 0;
}

START_TEST(records_tables_and_extra_columns_say_what_the_actors_do)
{
    static const struct actor_ops ops = {.allocs = two_allocs, .launches = one_launch, .launch = shape, .step = step};
    size_t wrote = 0;
    actor_space_place(allocs, 2);
    WORKS(actor_space_init(allocs, 2, &err));
    struct store *store = GIVES(store_create(testing_file("t.db"), true, "test", &err));
    WORKS(touches_write(store, &ops, NULL, add, &wrote, &err));
    WORKS(store_finish(store, &err));
    store_close(store);
    store = GIVES(store_open(testing_file("t.db"), &err));
    int kernels = 0;
    WORKS(store_rows(store, "kernels", check_kernel, &kernels, &err));
    ck_assert_int_eq(kernels, 1);
    struct store_cursor *cursor = GIVES(store_cursor_open(store, 0, &err));
    const struct record *r;
    const int64_t *extra;
    size_t n;
    RETURNS(store_cursor_next(cursor, &r, &extra, &n, &err), 1);
    /* 2 ALLOC, KERNEL, per warp: load, store, computing; KERNEL_END */
    ck_assert_uint_eq(n, 10);
    ck_assert_uint_eq(wrote, 10);
    ck_assert_uint_eq(r[0].group, 1);
    ck_assert_uint_eq(r[1].addr, allocs[1].addr);
    ck_assert_uint_eq(r[2].kind, RECORD_KERNEL);
    ck_assert_int_eq(r[2].time, 20);
    ck_assert_int_eq(r[2].duration, 24ll << 32 | 99);
    ck_assert_uint_eq(r[6].flags, RECORD_READ);
    ck_assert_uint_eq(r[6].addr, allocs[0].addr + 4096);
    ck_assert_uint_eq(r[6].id, 1);
    ck_assert_uint_eq(r[7].flags, RECORD_WRITE);
    ck_assert_uint_eq(r[8].flags, 0);
    ck_assert_int_eq(r[8].time, 1);
    ck_assert_uint_eq(r[9].kind, RECORD_KERNEL_END);
    ck_assert_str_eq(store_stream(store, 0)->extra[2], "turns");
    ck_assert_int_eq(extra[6], 10); /* instructions, with a step's first touch */
    ck_assert_int_eq(extra[7], 0);
    ck_assert_int_eq(extra[10 + 6], 4);     /* sectors */
    ck_assert_int_eq(extra[2 * 10 + 8], 3); /* turns */
    store_cursor_close(cursor);
    store_close(store);
}
END_TEST

TEST_MAIN("touches")
