/* A recording of accesses as a program: each warp's accesses in their order; which loads are under way together; what
 * is refused. */
#include "replay/derive/recorded_program.h"

#include "replay/derive/testing_program.h"
#include "trace/base/testing.h"

enum { N = 2000, MOST = 4096 };

static struct err err;

/* An instruction as it is taken. */
struct taken {
    uint64_t id;
    uint32_t access, wait, sectors;
    int lines;
    struct access_line line[4];
};

struct taking {
    struct taken of[MOST];
    size_t n;
};

static int take(void *ctx, const struct program_op *op, struct err *e)
{
    struct taking *t = ctx;
    (void)e;
    ck_assert(t->n < MOST && op->lines <= 4);
    struct taken *to = &t->of[t->n++];
    *to = (struct taken){.id = op->id, .access = op->access, .wait = op->wait, .sectors = op->sectors};
    to->lines = op->lines;
    memcpy(to->line, op->line, (size_t)op->lines * sizeof *op->line);
    return 0;
}

static const struct program_taker taker = {.op = take};
static const struct derive_options all = {.last = UINT64_MAX};
static struct program_counts counts;

static struct store *recorded(bool device)
{
    static struct vecadd vecadd;
    const struct program program = vecadd_program(&vecadd, N, device);
    const struct derive_source source = {.program = &program, .name = "vecadd"};
    struct store *store = store_create_temporary("a.db", &err);
    ck_assert_msg(store && derive_accesses(&source, store, &all, &counts, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(store_flush(store, &err), 0);
    return store;
}

static void warps_access(bool device)
{
    static struct taking a, b;
    struct store *store = recorded(device);
    const struct derive_source source = {.store = store, .name = "a.db"};
    const struct program_walk serial = {.resident = NULL};
    a.n = b.n = 0;
    ck_assert_int_eq(derive_walk(&source, &all, &taker, &a, &counts, &err), 0);
    struct recorded_program *r = recorded_program_open(&source, false, &err);
    ck_assert_msg(r != NULL, "%s", err.msg);
    const struct program program = recorded_program_of(r);
    ck_assert_uint_eq(program.ops->launches(program.state), 2);
    ck_assert_int_eq(program_walk(&program, &serial, &taker, &b, &counts, &err), 0);
    ck_assert_uint_gt(a.n, 0);
    ck_assert_uint_eq(a.n, b.n);
    uint64_t stored = 0;
    for (size_t i = 0; i < a.n; i++) {
        const struct taken *x = &a.of[i], *y = &b.of[i];
        stored += x->access == RECORD_WRITE || (x->access == RECORD_ATOMIC && !device) ? x->sectors : 0;
        ck_assert(x->id == y->id && x->access == y->access && x->sectors == y->sectors && x->lines == y->lines);
        ck_assert_mem_eq(x->line, y->line, (size_t)x->lines * sizeof *x->line);
    }
    ck_assert_uint_eq(recorded_program_stored(r), stored * ACCESS_SECTOR);
    /* The flag, a and b together; then c and the atomic. */
    ck_assert_uint_eq(b.of[0].wait, b.of[2].wait);
    ck_assert_uint_lt(b.of[2].wait, b.of[3].wait);
    size_t n;
    const struct program_alloc *allocs = program.ops->allocs(program.state, &n);
    ck_assert_uint_eq(n, device ? 2 : 1);
    ck_assert(n == 1 || allocs[1].device);
    recorded_program_close(r);
    store_close(store);
}

START_TEST(warps_access_what_was_recorded)
{
    warps_access(false);
}
END_TEST

START_TEST(flags_of_the_gpu_stay_there)
{
    warps_access(true);
}
END_TEST

/* By hand: one warp, its lines scattered or backwards, a loop of one load, more lanes than a body has room for. */
static struct store *by_hand(uint32_t block)
{
    struct access_sink sink;
    struct store *store = store_create_temporary("a.db", &err);
    struct store_value kernel[16] = {STORE_V_INT(0), STORE_V_TEXT("k"), STORE_V_INT(0),
                                     STORE_V_INT(0), STORE_V_INT(1),    STORE_V_INT(2)};
    for (int i = 6; i < 16; i++)
        kernel[i] = i < 11 ? STORE_V_INT(i == 8 ? 32 : 1) : STORE_V_NULL;
    ck_assert_msg(store_row(store, "kernels", kernel, 16, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(access_open(&sink, store, &err), 0);
    ck_assert_int_eq(access_launch(&sink, 0, &err), 0);
    for (uint64_t i = 0; i < 24; i++) {
        uint64_t addrs[4];
        for (uint64_t lane = 0; lane < 4; lane++)
            addrs[lane] = (UINT64_C(1) << 40) + (i % 3 ? lane * 4096 : (4 - lane) * 160) + i * 65536;
        const struct access_op op = {addrs, 4, 4, RECORD_READ, block, 0, 16 * (i < 20 ? i + 1 : 20)};
        ck_assert_int_eq(access_add(&sink, &op, &err), 0);
    }
    ck_assert(access_launch_end(&sink, &err) == 0 && access_flush(&sink, &err) == 0);
    access_close(&sink);
    ck_assert_int_eq(store_flush(store, &err), 0);
    return store;
}

START_LOOP(a_jump_back_is_waited_for, 2)
{
    static struct taking a, b;
    struct store *store = by_hand(1);
    const struct derive_source source = {.store = store, .name = "a.db"};
    a.n = b.n = 0;
    ck_assert_int_eq(derive_walk(&source, &all, &taker, &a, &counts, &err), 0);
    struct recorded_program *r = recorded_program_open(&source, _i, &err);
    ck_assert_msg(r != NULL, "%s", err.msg);
    const struct program program = recorded_program_of(r);
    ck_assert_int_eq(program_walk(&program, &(struct program_walk){.resident = NULL}, &taker, &b, &counts, &err), 0);
    ck_assert_uint_eq(b.n, 24);
    for (size_t i = 0; i < b.n; i++) {
        ck_assert_uint_eq(a.of[i].sectors, b.of[i].sectors);
        ck_assert_mem_eq(a.of[i].line, b.of[i].line, 4 * sizeof *a.of[i].line);
        /* Addresses of its lanes each has: eight to a body. Then a loop. Or each is waited for. */
        if (i)
            ck_assert_int_eq(b.of[i].wait != b.of[i - 1].wait, _i || i % 8 == 0 || i >= 20);
    }
    recorded_program_close(r);
    store_close(store);
}
END_TEST

START_TEST(a_block_outside_the_grid_is_refused)
{
    struct store *store = by_hand(2);
    const struct derive_source source = {.store = store, .name = "a.db"};
    ck_assert_ptr_null(recorded_program_open(&source, false, &err));
    ck_assert_ptr_nonnull(strstr(err.msg, "outside its grid"));
    store_close(store);
}
END_TEST

TEST_MAIN("recorded_program")
