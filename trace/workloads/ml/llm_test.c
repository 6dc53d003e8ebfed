/* The products of llm are its own: by including it. */
#include "trace/workloads/ml/llm.c"

#include "trace/base/testing.h"
#include "trace/program/layout.h"
#include "trace/program/walk.h"

/* Bytes asked of each array, by every lane, read and written; and the first and last. */
struct sums {
    const struct gemm *g;
    uint64_t loads, stores, sectors;
    uint64_t outside;
};

static int take(void *ctx, const struct program_op *op, struct err *err)
{
    (void)err;
    struct sums *s = ctx;
    (*(op->access == RECORD_WRITE ? &s->stores : &s->loads))++;
    for (int i = 0; i < op->lines; i++) {
        s->sectors += (unsigned)__builtin_popcount(op->line[i].sectors);
        bool in = false;
        for (uint32_t a = 0; a < 1 + 2 * s->g->launches; a++)
            in |= op->line[i].addr + 127 >= s->g->layout.array[a].addr &&
                  op->line[i].addr < s->g->layout.array[a].addr + s->g->layout.array[a].bytes;
        s->outside += !in;
    }
    return 0;
}

static struct sums walk(struct gemm *g)
{
    struct err err = {""};
    struct sums s = {.g = g};
    struct program program;
    const struct program_walk how = {0};
    const struct program_taker taker = {.op = take};
    ck_assert_msg(gemm_init(g, 0xc0000000, &err) == 0 && layout_program(g, &program, &err) == 0, "%s", err.msg);
    ck_assert_msg(program_walk(&program, &how, &taker, &s, NULL, &err) == 0, "%s", err.msg);
    return s;
}

START_TEST(the_worked_example_in_both_tiles)
{
    struct gemm g = {.m = 64, .n = 64, .k = 64, .tile = 32, .launches = 1, .registers = 32, .per_product = 3};
    struct sums s = walk(&g);
    ck_assert_uint_eq(s.loads, 4 * 32 * 2 * 2);
    ck_assert_uint_eq(s.stores, 4 * 32);
    ck_assert_uint_eq(s.sectors, 4 * (s.loads + s.stores));
    ck_assert_uint_eq(s.outside, 0);
    g.tile = 16; /* twice as often, in rows of 64 bytes */
    s = walk(&g);
    ck_assert_uint_eq(s.loads, 16 * 8 * 4 * 2);
    ck_assert_uint_eq(s.sectors, 4 * (s.loads + s.stores));
    ck_assert_uint_eq(s.outside, 0);
}
END_TEST

START_TEST(straight_from_memory_a_product_takes_two_loads)
{
    for (uint32_t tile = 16; tile <= 32; tile += 16) {
        struct gemm g = {
            .m = 64, .n = 96, .k = 32, .tile = tile, .launches = 1, .registers = 32, .per_product = 3, .untiled = true};
        struct sums s = walk(&g);
        const uint64_t warps = 64 * 96 / 32, rows = 32 / tile;
        ck_assert_uint_eq(s.loads, warps * 2 * g.k);
        ck_assert_uint_eq(s.stores, warps);
        ck_assert_uint_eq(s.sectors, warps * (g.k * (rows /* X */ + tile / 8 /* W */) + 4));
        ck_assert_uint_eq(s.outside, 0);
        struct program program;
        struct program_body *b = calloc(1, sizeof *b);
        struct err err = {""};
        ck_assert_int_eq(layout_program(&g, &program, &err), 0);
        const uint64_t in_block = tile * tile / 32, warp = (96 / tile + 1) * in_block + 1; /* second row, column */
        ck_assert_int_eq(program_body(&program, &g, 0, warp, 0, b, &err), 1);
        for (uint32_t lane = 0; lane < 32; lane++)
            for (uint32_t k = 0; k < g.k; k++) {
                const uint64_t row = tile + rows + lane / tile, column = tile + lane % tile;
                ck_assert_uint_eq(program_addr(&b->access[k % 4 * 2], lane, k / 4) - g.layout.array[0].addr,
                                  (row * g.k + k) * 4);
                ck_assert_uint_eq(program_addr(&b->access[k % 4 * 2 + 1], lane, k / 4) - g.layout.array[1].addr,
                                  (k * g.n + column) * 4);
            }
        free(b);
    }
}
END_TEST

/* Each element of Y is the sum over k of what its block loads: the lanes of a turn are a row of X and one of W. */
START_TEST(a_warp_reads_its_row_of_x_and_rows_of_w_a_tile_apart)
{
    struct gemm g = {.m = 64, .n = 128, .k = 96, .tile = 32, .launches = 2, .registers = 32, .per_product = 3};
    struct err err = {""};
    ck_assert_int_eq(gemm_init(&g, 0xc0000000, &err), 0);
    struct program program;
    ck_assert_int_eq(layout_program(&g, &program, &err), 0);
    struct program_body *b = calloc(1, sizeof *b);
    const uint64_t warp = 5 * 32 + 7; /* block 5: second row of tiles, second column; row 7 of the tile */
    ck_assert_int_eq(program_body(&program, &g, 1, warp, 0, b, &err), 1);
    ck_assert_uint_eq(b->turns, 3);
    ck_assert_uint_eq(program_addr(&b->access[0], 3, 2) - g.layout.array[0].addr, ((32 + 7) * 96 + 2 * 32 + 3) * 4);
    ck_assert_uint_eq(program_addr(&b->access[1], 3, 2) - g.layout.array[2].addr, ((2 * 32 + 7) * 128 + 32 + 3) * 4);
    ck_assert_int_eq(program_body(&program, &g, 1, warp, 1, b, &err), 1);
    ck_assert_uint_eq(program_addr(&b->access[0], 3, 0) - g.layout.array[4].addr, ((32 + 7) * 128 + 32 + 3) * 4);
    g.columns_first = true; /* block 5: second row of two, third column */
    ck_assert_int_eq(program_body(&program, &g, 1, warp, 1, b, &err), 1);
    ck_assert_uint_eq(program_addr(&b->access[0], 0, 0) - g.layout.array[4].addr, ((32 + 7) * 128 + 2 * 32) * 4);
    ck_assert_int_eq(program_body(&program, &g, 1, warp, 2, b, &err), 0);
    free(b);
    g.n = 100;
    ck_assert_int_eq(gemm_init(&g, 0, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "multiples of the tile"));
}
END_TEST

TEST_MAIN("llm", the_worked_example_in_both_tiles, straight_from_memory_a_product_takes_two_loads,
          a_warp_reads_its_row_of_x_and_rows_of_w_a_tile_apart)
