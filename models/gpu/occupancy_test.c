#include "models/gpu/occupancy.h"

#include "trace/base/testing.h"

static struct gpu volta(void)
{
    struct gpu gpu;
    param_defaults(gpu_params, &gpu);
    return gpu;
}

START_TEST(each_resource_limits_by_itself)
{
    struct gpu g = volta();
    ck_assert_uint_eq(occupancy_blocks(&g, 256, 0, 0, 0), 8);     /* 64 warps */
    ck_assert_uint_eq(occupancy_blocks(&g, 32, 0, 0, 0), 32);     /* 32 blocks */
    ck_assert_uint_eq(occupancy_blocks(&g, 16, 0, 0, 0), 32);     /* half a warp takes a whole one */
    ck_assert_uint_eq(occupancy_blocks(&g, 1024, 0, 0, 0), 2);    /* 64 warps */
    ck_assert_uint_eq(occupancy_blocks(&g, 256, 40, 0, 0), 6);    /* the head's example */
    ck_assert_uint_eq(occupancy_blocks(&g, 256, 33, 0, 0), 6);    /* 33 registers are 40 */
    ck_assert_uint_eq(occupancy_blocks(&g, 256, 32, 0, 0), 8);    /* exactly full */
    ck_assert_uint_eq(occupancy_blocks(&g, 256, 0, 98304, 0), 1); /* all shared memory */
    ck_assert_uint_eq(occupancy_blocks(&g, 256, 0, 98305, 0), 0); /* more than there is */
    ck_assert_uint_eq(occupancy_blocks(&g, 256, 32, 8192, 3), 3); /* told */
    ck_assert_uint_eq(occupancy_blocks(&g, 1024, 255, 0, 0), 0);  /* 1,024 x 256 registers */
}
END_TEST

/* Rodinia kernels on Volta, by the calculator's rule: blocks resident of shape (threads, registers, shared bytes). */
START_TEST(blocks_of_known_kernels)
{
    struct gpu g = volta();
    ck_assert_uint_eq(occupancy_blocks(&g, 192, 58, 0, 0), 5);     /* 64 registers x 192: 65,536 / 12,288 */
    ck_assert_uint_eq(occupancy_blocks(&g, 256, 35, 3072, 0), 6);  /* 40 registers: 6; shared memory: 32 */
    ck_assert_uint_eq(occupancy_blocks(&g, 1024, 34, 8192, 0), 1); /* 40 registers x 1,024 */
}
END_TEST

TEST_MAIN("occupancy", each_resource_limits_by_itself, blocks_of_known_kernels)
