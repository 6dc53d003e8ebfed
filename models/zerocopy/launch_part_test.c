#include "models/zerocopy/launch_part.h"

#include "models/gpu/sectors.h"
#include "models/gpu/sms_testing.h"

/* Warp w of a block reads a line w + 1 times, each time the next one; the last warp waits longest. */
static int lines(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    if (index > 0)
        return 0;
    struct program_access *a = program_load(body, &p->alloc, 0, warp * 4096, 4);
    a->turn_stride = 128;
    body->turns = warp % 4 + 1 + (warp / 4 == p->number);
    return 1;
}

START_TEST(a_launch_weighs_the_lines_of_its_multiprocessors)
{
    static struct launch_weight w;
    struct hand_program p;
    struct program program = hand_program(&p, 10, 128, lines);
    p.number = 7;
    ck_assert_int_eq(launch_weigh(&program, &p, 0, 3, &w, NULL), 0);
    ck_assert_uint_eq(w.lines, 10 * 10 + 4);
    ck_assert_uint_eq(w.loads, w.lines);
    ck_assert_uint_eq(w.of_sm[0], 40); /* blocks 0, 3, 6, 9 */
    ck_assert_uint_eq(w.of_sm[1], 34); /* 1, 4 and 7, the heaviest */
    ck_assert_uint_eq(w.of_sm[2], 30);
    ck_assert_uint_eq(w.heaviest, 7);
    p.alloc.device = true;
    ck_assert_int_eq(launch_weigh(&program, &p, 0, 3, &w, NULL), 0);
    ck_assert_uint_eq(w.lines, 0);
    ck_assert_uint_eq(w.loads, 104);
}
END_TEST

/* A load of each kind: at a stride, in rows, in a table, of some lanes. */
static int any_load(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    static const int64_t strides[] = {0, 4, 8, 36, 100, 128, 132, 256, -4, -200};
    if (index > 0)
        return 0;
    struct program_access *a = program_load(body, &p->alloc, 0, 100000 + warp * 52, 4);
    a->lane_stride = strides[warp % 10];
    a->active = warp % 3 ? UINT32_MAX : (uint32_t)(warp * 2654435761u) | 1u << warp % 32;
    if (warp % 4 == 1 && body->rows) {
        a->row = (uint8_t)(1 << warp / 4 % 5);
        a->row_stride = (int32_t)(warp * 20 % 3000);
    } else if (warp % 4 == 2) {
        uint64_t *lane = program_scatter(body, a);
        for (uint64_t l = 0; l < 32; l++)
            lane[l] = p->alloc.addr + (warp * 31 + l * l * 77) % 30000;
    }
    return 1;
}

/* The lines of each lane's address, each once. */
START_TEST(a_load_weighs_the_lines_of_its_lanes)
{
    static struct launch_weight w;
    static struct program_body body;
    enum { WARPS = 4000 };
    struct hand_program p;
    struct program program = hand_program(&p, WARPS, 32, any_load);
    uint64_t expected = 0;
    for (uint64_t warp = 0; warp < WARPS; warp++) {
        uint64_t lane[PROGRAM_LANES];
        struct sectors_line line[SECTORS_LINES];
        body.count = body.lane_sets = 0;
        body.rows = true;
        (void)any_load(&p, warp, 0, &body);
        for (unsigned l = 0; l < PROGRAM_LANES; l++)
            lane[l] = program_addr(body.access, l, 0);
        expected +=
            (uint64_t)sectors_of(&(struct sectors_of){.lane = lane, .active = body.access->active, .bytes = 4}, line);
    }
    ck_assert_int_eq(launch_weigh(&program, &p, 0, 3, &w, NULL), 0);
    ck_assert_uint_eq(w.lines, expected);
}
END_TEST

/* The example of the head, and parts that together are the whole. */
START_TEST(parts_take_the_blocks_of_their_multiprocessors)
{
    static struct launch_part part;
    static const uint64_t expected[] = {0, 40, 132, 172, 264};
    struct hand_program p;
    struct program program = hand_program(&p, 300, 128, lines);
    struct program_launch shape;
    launch_part_init(&part, &program, &p, 0, 132, 2, 0);
    part.of[1] = 40;
    part.program.ops->launch(part.program.state, 0, &shape);
    ck_assert_uint_eq(shape.blocks, 5);
    for (uint64_t warp = 0; warp < 20; warp++) {
        struct program_body body;
        ck_assert_int_eq(program_body(&part.program, &part, 0, warp, 0, &body, NULL), 1);
        ck_assert_uint_eq(body.access[0].addr, p.alloc.addr + (expected[warp / 4] * 4 + warp % 4) * 4096);
    }
    uint64_t blocks = 0;
    for (uint32_t first = 0; first < 33; first++) {
        launch_part_init(&part, &program, &p, 0, 132, 4, first);
        part.program.ops->launch(part.program.state, 0, &shape);
        blocks += shape.blocks;
    }
    ck_assert_uint_eq(blocks, 300);
}
END_TEST

/* Warp `number` has no second body. */
static int lacking(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    if (warp == p->number && index == 1)
        return -1;
    program_load(body, &p->alloc, 0, 0, 4);
    body->last = warp == 0; /* nobody asks for more */
    return index < 2;
}

START_TEST(a_body_that_cannot_be_made_is_told_unless_nobody_asks_for_it)
{
    static struct launch_weight w;
    struct hand_program p;
    struct program program = hand_program(&p, 10, 128, lacking);
    for (uint64_t warp = 0; warp < 40; warp++) {
        struct err err = {""};
        p.number = warp;
        ck_assert_int_eq(launch_weigh(&program, &p, 0, 3, &w, &err), warp ? -1 : 0);
        ck_assert_str_eq(err.msg, warp ? "no such body" : "");
    }
    p.number = UINT64_MAX;
    ck_assert_int_eq(launch_weigh(&program, &p, 0, 3, &w, NULL), 0);
    ck_assert_uint_eq(w.loads, 39 * 2 + 1);
}
END_TEST

TEST_MAIN("launch_part", a_body_that_cannot_be_made_is_told_unless_nobody_asks_for_it,
          a_load_weighs_the_lines_of_its_lanes, a_launch_weighs_the_lines_of_its_multiprocessors,
          parts_take_the_blocks_of_their_multiprocessors)
