#include "trace/program/program.h"

#include "trace/base/testing.h"

static struct program_alloc memory[3] = {
    {.name = "a", .bytes = 100}, {.name = "b", .bytes = 300}, {.name = "c", .bytes = 1}};
static struct program_body body;

static struct program_access *load(uint16_t before, uint16_t use)
{
    struct program_access *a = program_load(&body, memory, 0, 0, 4);
    a->before = before;
    a->use = use;
    return a;
}

static void store(uint16_t before)
{
    program_store(&body, memory, 1, 0, 4)->before = before;
}

static void begin(void)
{
    body.count = body.after = body.lane_sets = 0;
    body.turns = 1;
}

START_TEST(a_warp_stops_where_a_value_under_way_is_needed)
{
    begin(); /* the worked example of program.h */
    (void)load(0, 3);
    (void)load(0, 2);
    store(1);
    ck_assert_uint_eq(program_stalls(&body), 1 << 2);
    ck_assert_uint_eq(program_instructions(&body), 4);
    begin(); /* each load used by the next instruction */
    (void)load(5, 1);
    (void)load(1, 1);
    (void)load(0, 1);
    ck_assert_uint_eq(program_stalls(&body), 1 << 1 | 1 << 2);
    begin(); /* used just behind the second, which needs it not */
    (void)load(0, 2);
    (void)load(0, 0);
    store(0);
    ck_assert_uint_eq(program_stalls(&body), 1 << 2);
    begin(); /* used an instruction later than the store: never stopped for within the turn */
    (void)load(0, 4);
    store(2);
    ck_assert_uint_eq(program_stalls(&body), 0);
}
END_TEST

START_TEST(one_wait_waits_for_all_before_it)
{
    begin(); /* the first value is needed before the second */
    (void)load(0, 2);
    (void)load(0, 5);
    store(0);
    ck_assert_uint_eq(program_stalls(&body), 1 << 2);
    begin();
    (void)load(0, 5);
    (void)load(0, 1);
    store(0); /* waits for the second, and so for both */
    store(5);
    ck_assert_uint_eq(program_stalls(&body), 1 << 2);
    begin(); /* atomics are waited for, what no lane takes part in is not */
    load(0, 1)->kind = RECORD_ATOMIC;
    store(0);
    load(0, 1)->active = 0;
    store(0);
    ck_assert_uint_eq(program_stalls(&body), 1 << 1);
    begin(); /* barriers take an instruction, and stop for a value needed before them */
    (void)load(0, 1);
    program_barrier(&body);
    store(0);
    ck_assert_uint_eq(program_stalls(&body), 1 << 1);
    ck_assert_uint_eq(program_instructions(&body), 3);
}
END_TEST

START_TEST(allocations_lie_behind_each_other_on_boundaries)
{
    program_place(memory, 3, 0, 0);
    ck_assert_uint_eq(memory[0].addr, 0x7f0000000000u);
    ck_assert_uint_eq(memory[1].addr, 0x7f0000200000u);
    ck_assert_uint_eq(memory[2].addr, 0x7f0000400000u);
    program_place(memory, 3, 0xC0000001u, 256);
    ck_assert_uint_eq(memory[0].addr, 0xC0000100u);
    ck_assert_uint_eq(memory[1].addr, 0xC0000200u);
    ck_assert_uint_eq(memory[2].addr, 0xC0000400u);
}
END_TEST

START_TEST(addresses_follow_from_lane_and_turn)
{
    begin();
    program_place(memory, 3, 4096, 4096);
    struct program_access *a = program_load(&body, memory, 1, 40, 8);
    ck_assert_uint_eq(program_addr(a, 3, 0), 8192 + 40 + 24);
    a->turn_stride = -16;
    ck_assert_uint_eq(program_addr(a, 3, 2), 8192 + 40 + 24 - 32);
    uint64_t *lane = program_scatter(&body, a);
    lane[3] = 77;
    a->turn_stride = 5;
    ck_assert_uint_eq(program_addr(a, 3, 2), 87);
    ck_assert_uint_eq(program_first_lanes(0), 0);
    ck_assert_uint_eq(program_first_lanes(31), 0x7fffffff);
    ck_assert_uint_eq(program_first_lanes(32), 0xffffffff);
    ck_assert_uint_eq(program_first_lanes(1000), 0xffffffff);
}
END_TEST

START_TEST(launches_must_have_blocks_threads_and_few_enough_warps)
{
    static const struct {
        uint64_t blocks;
        uint32_t threads;
        const char *found; /* NULL: fine */
    } cases[] = {
        {1, 1, NULL},
        {1, 1024, NULL},
        {1, 0, "0 threads"},
        {1, 1025, "1025"},
        {0, 32, "no thread"},
        {4294967294u, 32, NULL},
        {4294967295u, 1, "warps"},
        {1u << 27, 1024, "warps"},
        {UINT64_MAX / 32 + 2, 1024, "warps"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct program_launch launch = {.blocks = cases[i].blocks, .threads = cases[i].threads};
        struct err err = {""};
        ck_assert_int_eq(program_check_launch(&launch, 7, &err), cases[i].found ? -1 : 0);
        ck_assert_msg(!cases[i].found || (strstr(err.msg, cases[i].found) && strstr(err.msg, "launch 7")), "%s",
                      err.msg);
    }
}
END_TEST

START_TEST(a_partial_warp_is_a_warp)
{
    struct program_launch launch = {.blocks = 3, .threads = 33};
    ck_assert_uint_eq(program_warps_of_block(&launch), 2);
    ck_assert_uint_eq(program_warps(&launch), 6);
}
END_TEST

/* A tile of 16 lanes a row: two stretches; then lanes apart, one by one; a gap in the mask ends a stretch. */
START_TEST(lanes_that_continue_each_other_are_taken_together)
{
    uint64_t lane[PROGRAM_LANES], first, bytes;
    struct program_access a = {.lane = lane, .active = UINT32_MAX, .bytes = 4};
    for (unsigned l = 0; l < PROGRAM_LANES; l++)
        lane[l] = 1000 + l / 16 * 4096 + l % 16 * 4;
    uint32_t rest = program_lanes_together(&a, a.active, &first, &bytes);
    ck_assert_uint_eq(rest, 0xffff0000);
    ck_assert_uint_eq(first, 1000);
    ck_assert_uint_eq(bytes, 64);
    ck_assert_uint_eq(program_lanes_together(&a, rest, &first, &bytes), 0);
    ck_assert_uint_eq(first, 1000 + 4096);
    ck_assert_uint_eq(bytes, 64);
    ck_assert_uint_eq(program_lanes_together(&a, 0xb, &first, &bytes), 8);
    ck_assert_uint_eq(bytes, 8);
    struct program_access down = {.addr = 1000, .lane_stride = -4, .active = 7, .bytes = 4};
    ck_assert_uint_eq(program_lanes_together(&down, 7, &first, &bytes), 6);
    ck_assert_uint_eq(bytes, 4);
}
END_TEST

/* Whatever the stride: each aligned stretch between the ends has a byte of some lane, or the span is none. */
START_TEST(a_span_leaves_no_stretch_out)
{
    static const int64_t strides[] = {0, 1, 4, 31, 32, 33, 100, 4095, 4096, 4097, -4};
    int spans = 0;
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++)
        for (uint64_t at = 0; at < 70; at += 3)
            for (unsigned lanes = 1; lanes <= 32; lanes += 7)
                for (int64_t most = 32; most <= 4096; most *= 128) {
                    begin();
                    struct program_access *a = program_load(&body, memory, 0, at, 8);
                    a->lane_stride = strides[i];
                    a->active = program_first_lanes(lanes);
                    uint64_t span = program_span(a, most), first = program_addr(a, 0, 0);
                    ck_assert((span > 0) == (strides[i] >= 0 && strides[i] <= most));
                    if (!span)
                        continue;
                    ck_assert_uint_eq(first + span, program_addr(a, lanes - 1, 0) + 8);
                    for (uint64_t s = first / (uint64_t)most; s <= (first + span - 1) / (uint64_t)most; s++) {
                        bool any = false;
                        for (unsigned l = 0; l < lanes; l++)
                            any |= program_addr(a, l, 0) / (uint64_t)most <= s &&
                                   (program_addr(a, l, 0) + 7) / (uint64_t)most >= s;
                        ck_assert(any);
                    }
                    spans++;
                }
    ck_assert_int_gt(spans, 1000);
    begin();
    struct program_access *a = program_load(&body, memory, 0, 0, 4);
    a->active = 0x5;
    ck_assert_uint_eq(program_span(a, 4096), 0);
}
END_TEST

/* The same lanes in rows and in a table. */
START_TEST(lanes_in_rows_are_taken_together_as_those_of_a_table)
{
    static const int64_t apart[] = {4, 8, 0, -4}, down[] = {16, 64, 1000, -64, 4};
    uint64_t seed = 1;
    for (unsigned row = 1; row < 32; row *= 2)
        for (int i = 0; i < 2000; i++) {
            begin();
            struct program_access *a = program_load(&body, memory, 0, 5000, 4),
                                  *b = program_load(&body, memory, 0, 0, 4);
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            a->row = (uint8_t)row;
            a->row_stride = (int32_t)down[(seed >> 40) % 5];
            a->lane_stride = apart[seed >> 50 & 3];
            uint64_t *lane = program_scatter(&body, b);
            for (unsigned l = 0; l < 32; l++)
                lane[l] = program_addr(a, l, 0);
            for (uint32_t rest = i & 1 ? UINT32_MAX : (uint32_t)(seed >> 16); rest;) {
                uint64_t first, bytes, other, more;
                uint32_t left = program_lanes_together(b, rest, &other, &more);
                rest = program_lanes_together(a, rest, &first, &bytes);
                ck_assert(first == other && bytes == more && rest == left);
            }
        }
}
END_TEST

TEST_MAIN("program")
