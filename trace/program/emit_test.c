#include "trace/program/emit.h"

#include "trace/base/testing.h"

static struct program_body body;
static const struct program_alloc alloc = {.name = "a", .addr = 4096, .bytes = 65536};

static void loads(uint32_t n)
{
    memset(&body, 0, sizeof body);
    body.turns = 1;
    for (uint32_t i = 0; i < n; i++)
        program_load(&body, &alloc, 0, 128 * i, 4)->before = 2;
    program_store(&body, &alloc, 0, 0, 4);
}

static void hoist(uint32_t first, enum emit_order order)
{
    emit_hoist(&(struct emit){.body = &body, .order = order}, first);
}

START_TEST(ptx_changes_nothing)
{
    loads(3);
    hoist(0, ORDER_PTX);
    ck_assert_uint_eq(program_stalls(&body), 0xe);
}
END_TEST

START_TEST(hoisted_waits_once_behind_the_last_load)
{
    loads(3);
    body.count = 3; /* the basic block's loads, then its store */
    hoist(0, ORDER_HOISTED);
    body.count = 4;
    ck_assert_uint_eq(program_stalls(&body), 0x8);
}
END_TEST

START_TEST(loads_before_the_block_and_values_needed_later_stay)
{
    loads(4);
    body.count = 4;
    body.access[2].use = 100;
    hoist(1, ORDER_HOISTED);
    body.count = 5;
    ck_assert_uint_eq(body.access[2].use, 100);
    ck_assert_uint_eq(program_stalls(&body), 0x12);
}
END_TEST

static struct emit all_lanes(void)
{
    memset(&body, 0, sizeof body);
    body.turns = 1;
    return (struct emit){.body = &body, .allocs = &alloc, .active = UINT32_MAX, .bytes = 4};
}

START_TEST(a_gather_of_even_distances_is_a_stride)
{
    struct emit e = all_lanes();
    int64_t index[PROGRAM_LANES];
    for (int64_t l = 0; l < PROGRAM_LANES; l++)
        index[l] = 100 - 3 * l;
    const struct program_access *a = emit_gather(&e, 0, index, 0, 1);
    ck_assert_ptr_null(a->lane);
    for (unsigned l = 0; l < PROGRAM_LANES; l++)
        ck_assert_uint_eq(program_addr(a, l, 0), 4096 + 4 * (uint64_t)index[l]);
    index[31]++;
    a = emit_gather(&e, 0, index, 0, 1);
    ck_assert_ptr_nonnull(a->lane);
    for (unsigned l = 0; l < PROGRAM_LANES; l++)
        ck_assert_uint_eq(program_addr(a, l, 0), 4096 + 4 * (uint64_t)index[l]);
    e.active = 0x80000001; /* two lanes are always even; those between are not looked at */
    index[7] = 1 << 30;
    a = emit_gather(&e, 0, index, 0, 1);
    ck_assert_uint_eq(program_addr(a, 31, 0), 4096 + 4 * (uint64_t)index[31]);
}
END_TEST

START_TEST(a_tile_is_rows_of_lanes)
{
    struct emit e = all_lanes();
    const struct program_access *a = emit_tile(&e, emit_load(&e, 0, 10, 0, 1), 16, 1000, 1);
    ck_assert_uint_eq(program_addr(a, 15, 0), 4096 + 4 * 25);
    ck_assert_uint_eq(program_addr(a, 16, 0), 4096 + 4 * 1010);
    ck_assert_uint_eq(program_addr(a, 31, 0), 4096 + 4 * 1025);
}
END_TEST

/* Where lane l stands, whoever asks; rows only where they are asked for. */
START_TEST(a_tile_in_rows_is_the_same_tile)
{
    for (unsigned width = 1; width <= 40; width++)
        for (int64_t down = -3000; down <= 3000; down += 1500)
            for (int64_t right = -2; right <= 9; right++)
                for (int rows = 0; rows < 2; rows++) {
                    struct emit e = all_lanes();
                    body.rows = rows;
                    const struct program_access *a = emit_tile(&e, emit_load(&e, 0, 9000, 0, 1), width, down, right);
                    ck_assert_uint_eq(a->row, rows && width < 32 && (width & (width - 1)) == 0 ? width : 0);
                    unsigned wrong = 0;
                    for (unsigned l = 0; l < PROGRAM_LANES; l++) {
                        int64_t element = 9000 + l / width * down + l % width * right;
                        wrong += program_addr(a, l, 3) != 4096 + (uint64_t)element * 4;
                    }
                    ck_assert_uint_eq(wrong, 0);
                    ck_assert_uint_eq(program_stretch(a), 0);
                }
}
END_TEST

START_TEST(rows_too_far_apart_to_be_said_are_lanes)
{
    struct emit e = all_lanes();
    body.rows = true;
    const struct program_access *a = emit_tile(&e, emit_load(&e, 0, 0, 0, 1), 16, INT64_C(1) << 29, 1);
    ck_assert_uint_eq(a->row, 0);
    ck_assert_uint_eq(program_addr(a, 31, 0), 4096 + 4 * ((UINT64_C(1) << 29) + 15));
}
END_TEST

START_TEST(an_access_again_has_the_same_bytes)
{
    struct emit e = all_lanes(), doubles = emit_of(&e, 8);
    const struct program_access *a = emit_same(emit_load(&doubles, 0, 3, 0, 1));
    const struct program_access *b = emit_again(&e, a, RECORD_WRITE, 5);
    ck_assert_uint_eq(program_addr(b, 9, 0), 4096 + 24);
    ck_assert_uint_eq(b->use, 0);
    ck_assert_uint_eq(emit_again(&e, b, RECORD_READ, 0)->use, 1);
    emit_turns(&e, 7, 2);
    ck_assert_uint_eq(body.turns, 7);
    ck_assert_uint_eq(program_addr(b, 0, 6), 4096 + 24 + 6 * 16);
}
END_TEST

START_TEST(threads_of_a_block_are_lanes_of_the_warps_they_are_in)
{
    struct emit e = all_lanes();
    e.at.warp = 2; /* threads 64 to 95 */
    static const struct {
        uint32_t n, below, alone;
    } of[] = {{0, 0, 0},           {63, 0, 0},           {64, 0, 1}, {65, 1, 2}, {95, 0x7fffffff, 0x80000000u},
              {96, UINT32_MAX, 0}, {1024, UINT32_MAX, 0}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        ck_assert_int_eq(emit_threads(&e, of[i].n), of[i].below != 0);
        ck_assert_uint_eq(e.active, of[i].below);
        ck_assert_int_eq(emit_thread(&e, of[i].n), of[i].alone != 0);
        ck_assert_uint_eq(e.active, of[i].alone);
    }
}
END_TEST

TEST_MAIN("emit", ptx_changes_nothing, hoisted_waits_once_behind_the_last_load,
          loads_before_the_block_and_values_needed_later_stay, a_gather_of_even_distances_is_a_stride,
          a_tile_is_rows_of_lanes, a_tile_in_rows_is_the_same_tile, rows_too_far_apart_to_be_said_are_lanes,
          an_access_again_has_the_same_bytes, threads_of_a_block_are_lanes_of_the_warps_they_are_in)
