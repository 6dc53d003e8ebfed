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

/* The trips of each lane, in order, written down thread by thread. */
static void check_trips(uint64_t first, uint32_t lanes, uint64_t step, uint64_t n, uint32_t unroll)
{
    struct program_loop loop = program_grid_stride(first, lanes, step, n, unroll);
    struct program_part part, beyond;
    uint64_t next[PROGRAM_LANES] = {0};
    bool rest[PROGRAM_LANES] = {false}, right = true;
    for (uint32_t i = 0; program_loop_part(&loop, i, &part); i++) {
        right &= part.last == !program_loop_part(&loop, i + 1, &beyond);
        for (uint64_t t = 0; t < part.turns; t++)
            for (uint32_t lane = 0; lane < PROGRAM_LANES; lane++)
                if (part.active >> lane & 1) {
                    right &=
                        part.first + t * part.trips == next[lane]; /* no assertion here: each costs a system call */
                    right &= part.trips == unroll || part.trips == 1;
                    right &= !rest[lane] || part.trips == 1; /* no unrolled turn behind the rest */
                    rest[lane] = part.trips < unroll;
                    next[lane] += part.trips;
                }
    }
    for (uint32_t lane = 0; lane < PROGRAM_LANES; lane++) {
        uint64_t trips = 0;
        for (uint64_t i = first + lane; lane < lanes && i < n; i += step)
            trips++;
        right &= next[lane] == trips;
    }
    ck_assert_msg(right, "first %llu, %u lanes, step %llu, n %llu, unroll %u", (unsigned long long)first, lanes,
                  (unsigned long long)step, (unsigned long long)n, unroll);
}

START_TEST(every_lane_makes_its_trips_once_and_in_order)
{
    for (uint32_t unroll = 1; unroll <= 8; unroll++)
        for (uint64_t n = 1; n < 700; n += 1 + n / 40)
            for (uint32_t lanes = 1; lanes <= 32; lanes += lanes < 30 ? 5 : 1)
                for (uint64_t first = 0; first < 130; first += 31)
                    check_trips(first, lanes, lanes + first, n, unroll);
}
END_TEST

START_TEST(no_unrolled_turn_is_left_to_the_rest_loop)
{
    struct program_loop loop = {.trips = 11, .active = 0xff, .more = 0xf, .unroll = 4};
    struct program_part p;
    ck_assert(program_loop_part(&loop, 0, &p) && p.turns == 2 && p.trips == 4 && p.active == 0xff);
    ck_assert(program_loop_part(&loop, 1, &p) && p.turns == 1 && p.trips == 4 && p.active == 0xf && p.first == 8);
    ck_assert(program_loop_part(&loop, 2, &p) && p.turns == 3 && p.trips == 1 && p.active == 0xf0 && p.first == 8);
    ck_assert(!program_loop_part(&loop, 3, &p));
    loop.trips = 10;
    ck_assert(program_loop_part(&loop, 1, &p) && p.turns == 2 && p.trips == 1 && p.active == 0xff && p.first == 8);
    ck_assert(program_loop_part(&loop, 2, &p) && p.turns == 1 && p.trips == 1 && p.active == 0xf && p.first == 10);
    ck_assert(!program_loop_part(&loop, 3, &p));
}
END_TEST

START_TEST(warps_of_a_block_stand_next_to_each_other)
{
    struct program_launch launch = {.blocks = 3, .threads = 70};
    struct program_warp w = program_warp_at(&launch, 5); /* the third warp of the second block */
    ck_assert_uint_eq(w.block, 1);
    ck_assert_uint_eq(w.warp, 2);
    ck_assert_uint_eq(w.thread, 70 + 64);
    ck_assert_uint_eq(w.lanes, 6);
    ck_assert_uint_eq(program_warp_at(&launch, 6).lanes, 32);
}
END_TEST

TEST_MAIN("emit")
