/* The products of llm are its own: by including it. */
#include "trace/workloads/ml/llm.c"

#include "trace/base/testing.h"
#include "trace/program/layout.h"

/* How often each element of the arrays of launch 0 is read, and written. */
struct counts {
    uint32_t *reads[3], *writes[3];
    uint64_t loads, stores, barriers, instructions;
};

static void count_access(struct counts *c, const struct gemm *g, const struct program_access *a, uint64_t turn)
{
    const struct program_alloc *array = &g->layout.array[a->alloc];
    *(a->kind == RECORD_WRITE ? &c->stores : &c->loads) += 1;
    ck_assert_uint_lt(a->alloc, 3);
    for (uint32_t lane = 0; lane < 32; lane++) {
        const uint64_t at = program_addr(a, lane, turn) - array->addr;
        ck_assert_uint_lt(at, array->bytes);
        (a->kind == RECORD_WRITE ? c->writes : c->reads)[a->alloc][at / 4]++;
    }
}

static struct counts count(struct gemm *g)
{
    struct err err = {""};
    struct program program;
    struct counts c = {0};
    struct program_body *b = calloc(1, sizeof *b);
    ck_assert_msg(gemm_init(g, 0xc0000000, &err) == 0 && layout_program(g, &program, &err) == 0, "%s", err.msg);
    for (int i = 0; i < 3; i++) {
        c.reads[i] = calloc(g->layout.array[i].bytes / 4, 4);
        c.writes[i] = calloc(g->layout.array[i].bytes / 4, 4);
    }
    const uint64_t warps = g->layout.kernel[0].launch.blocks * 8;
    for (uint64_t warp = 0; warp < warps; warp++)
        for (uint32_t index = 0; program_body(&program, g, 0, warp, index, b, &err) == 1; index++)
            for (uint64_t turn = 0; turn < b->turns; turn++)
                for (uint32_t i = 0; i < b->count; i++) {
                    c.instructions += b->access[i].before;
                    if (b->access[i].kind == PROGRAM_BARRIER)
                        c.barriers++;
                    else
                        count_access(&c, g, &b->access[i], turn);
                }
    free(b);
    return c;
}

static void counts_free(struct counts *c)
{
    for (int i = 0; i < 3; i++) {
        free(c->reads[i]);
        free(c->writes[i]);
    }
}

static void all_are(const uint32_t *v, uint64_t n, uint32_t want)
{
    for (uint64_t i = 0; i < n; i++)
        ck_assert_uint_eq(v[i], want);
}

START_TEST(the_worked_example)
{
    struct gemm g = {.m = 128, .n = 64, .k = 32, .pitch = 32, .scale = 1, .per_k = 10};
    struct counts c = count(&g);
    ck_assert_uint_eq(c.loads, 8 * ((12 + 8 + 24) + (4 + 8 + 8)));
    ck_assert_uint_eq(c.stores, 8 * (24 + 8));
    ck_assert_uint_eq(c.barriers, 2 * 8 * 2);
    /* All blocks ask (the only column is the last): 20 times 7, but for a load's first; the eight rows that are not
     * there are asked for, too. */
    const uint64_t along = 2 * FIRST + 18 * GUARDED + 1 + 32 * 10;
    ck_assert_uint_eq(c.instructions, 8 * (2 * along + (24 + 8) * (OUTPUT + 2)));
    counts_free(&c);
}
END_TEST

START_TEST(inputs_are_read_once_a_block_outputs_once)
{
    struct gemm g = {.m = 128, .n = 192, .k = 64, .pitch = 64, .scale = 1, .per_k = 1};
    struct counts c = count(&g);
    all_are(c.reads[0], 128 * 64, 3); /* columns of blocks */
    all_are(c.reads[1], 64 * 192, 2); /* rows of blocks */
    all_are(c.reads[2], 128 * 192, 1);
    all_are(c.writes[0], 128 * 64, 0);
    all_are(c.writes[1], 64 * 192, 0);
    all_are(c.writes[2], 128 * 192, 1);
    counts_free(&c);
}
END_TEST

START_TEST(a_scale_keeps_that_share_of_the_outputs)
{
    const uint64_t all = 128 * 64 * 32;
    for (uint32_t scale = 2; scale <= 32; scale *= 2) {
        struct gemm g = {.m = 128, .n = 64 * 32, .k = 32, .pitch = 32, .scale = scale, .per_k = 1};
        struct counts c = count(&g);
        uint64_t made = 0;
        for (uint64_t i = 0; i < all; i++) {
            ck_assert_uint_le(c.writes[2][i], 1);
            ck_assert_uint_eq(c.reads[2][i], c.writes[2][i]);
            made += c.writes[2][i];
        }
        ck_assert_uint_eq(made, all / scale);
        all_are(c.reads[1], 32 * 64 * 32, 2);
        counts_free(&c);
    }
}
END_TEST

/* As nvcc's code has it: a load, its store to shared memory, an addition, the next load. */
START_TEST(loads_are_waited_for_one_by_one)
{
    struct gemm g = {.m = 128, .n = 128, .k = 32, .pitch = 4096, .scale = 1, .per_k = 66};
    struct err err = {""};
    struct program program;
    struct program_body *b = calloc(1, sizeof *b);
    ck_assert_int_eq(gemm_init(&g, 0, &err), 0);
    ck_assert_int_eq(layout_program(&g, &program, &err), 0);
    ck_assert_int_eq(program_body(&program, &g, 1, 5, 0, b, &err), 1); /* block 0, warp 5 */
    ck_assert_uint_eq(b->count, 22);
    for (uint32_t i = 0; i < 20; i++) {
        ck_assert_uint_eq(b->access[i].use, 1);
        ck_assert_uint_eq(b->access[i].before, i % 12 ? 2 : 10);
        ck_assert_uint_eq(b->access[i].alloc, i < 12 ? 3 : 4);
    }
    ck_assert_uint_eq(b->access[21].before, 32 * 66);
    ck_assert_uint_eq(program_addr(&b->access[3], 2, 0) - g.layout.array[3].addr, ((5 + 3 * 8) * 4096 + 2) * 4);
    ck_assert_uint_eq(program_addr(&b->access[12 + 3], 2, 0) - g.layout.array[4].addr,
                      ((2 + 3 * 4) * 128 + 32 + 2) * 4);
    free(b);
    g.n = 100;
    ck_assert_int_eq(gemm_init(&g, 0, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "multiples of"));
}
END_TEST

TEST_MAIN("llm")
