#include "trace/program/loop.h"

#include "trace/base/testing.h"

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

TEST_MAIN("loop", every_lane_makes_its_trips_once_and_in_order, no_unrolled_turn_is_left_to_the_rest_loop,
          warps_of_a_block_stand_next_to_each_other)
