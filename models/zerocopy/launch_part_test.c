#include "models/zerocopy/launch_part.h"

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

TEST_MAIN("launch_part", parts_take_the_blocks_of_their_multiprocessors)
