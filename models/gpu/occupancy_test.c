#include "models/gpu/occupancy.h"

#include "models/base/platform.h"
#include "models/base/sections.h"
#include "trace/base/param_value.h"
#include "trace/base/testing.h"

static struct gpu volta(void)
{
    struct gpu gpu;
    param_defaults(gpu_params, &gpu);
    gpu.clock_hz = 1455000000;
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

/* The PIM-enabled GPU's rule (platform gv100) for kernels of Rodinia: threads, registers, shared bytes, blocks;
 * resident blocks, KiB of L1. Registers counted in machine code of nvcc 13.0 -O3; shapes as the paper's artifact runs
 * them. */
START_TEST(blocks_and_l1_of_rodinia_on_the_pim_enabled_gpu)
{
    static const struct {
        uint32_t threads, registers, shared;
        uint64_t blocks;
        uint32_t resident, l1;
    } kernels[] = {
        {256, 12, 0, 39065, 8, 128},    /* nn */
        {256, 18, 2048, 397, 5, 112},   /* pathfinder, 100,000 columns: fewer blocks than fit */
        {256, 18, 2048, 4033, 8, 112},  /* and 1,000,000 */
        {512, 15, 0, 4, 1, 128},        /* gaussian Fan1, Fan2 */
        {16, 16, 0, 262144, 32, 128},   /* */
        {192, 24, 0, 506, 7, 128},      /* cfd init, step, flux, time */
        {192, 20, 0, 506, 7, 128},      /* */
        {192, 58, 0, 506, 5, 128},      /* */
        {192, 26, 0, 506, 7, 128},      /* */
        {256, 30, 0, 1936, 8, 128},     /* kmeans */
        {256, 22, 6144, 16384, 8, 64},  /* srad_v2 k1, k2 */
        {256, 26, 5120, 16384, 8, 64},  /* */
        {256, 10, 1024, 160, 2, 120},   /* huffman histo, vlc */
        {256, 20, 3088, 1024, 8, 96},   /* */
        {256, 40, 0, 1024, 6, 128},     /* hotspot3D */
        {256, 35, 3072, 65536, 7, 96},  /* hotspot */
        {256, 20, 1088, 40960, 8, 112}, /* backprop forward, adjust */
        {256, 28, 0, 40960, 8, 128},    /* */
        {512, 56, 0, 128, 2, 128},      /* streamcluster */
        {512, 20, 0, 1954, 4, 128},     /* bfs */
        {32, 64, 4096, 1, 1, 120},      /* lud diagonal, perimeter, internal */
        {64, 64, 12288, 63, 1, 112},    /* */
        {1024, 34, 8192, 3969, 1, 120}, /* */
        {16, 54, 2180, 128, 2, 120},    /* nw */
        {512, 61, 0, 512, 2, 128},      /* srad_v1 srad */
        {512, 10, 4096, 512, 4, 112},   /* srad_v1 reduce */
        {256, 24, 0, 6000, 8, 128},     /* b+tree */
        {128, 64, 7200, 1000, 8, 64},   /* lavaMD */
        {256, 55, 11872, 51, 1, 112},   /* heartwall */
        {256, 31, 0, 196, 3, 128},      /* mummergpu */
    };
    struct platform *p = platform_load("gv100", NULL);
    const struct gpu *g = platform_section_get(p, "gpu");
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        struct program_launch l = {.threads = kernels[i].threads,
                                   .registers = kernels[i].registers,
                                   .shared = kernels[i].shared,
                                   .blocks = kernels[i].blocks};
        uint32_t blocks = occupancy_resident(g, &l, 80);
        ck_assert_msg(blocks == kernels[i].resident, "kernel %zu: %u blocks", i, blocks);
        ck_assert_int_eq(occupancy_l1(g, (uint64_t)blocks * l.shared, NULL), 1024 * (int64_t)kernels[i].l1);
    }
    platform_free(p);
}
END_TEST

START_TEST(what_shared_memory_leaves_of_l1)
{
    struct gpu g = volta();
    struct err err;
    ck_assert_int_eq(occupancy_l1(&g, 0, &err), 131072);
    ck_assert_int_eq(occupancy_l1(&g, 98304, &err), 32768);
    ck_assert_int_eq(occupancy_l1(&g, 1 << 20, &err), 0);
    g.l1_carve = ""; /* as a platform file's that does not say */
    ck_assert_int_eq(occupancy_l1(&g, 98304, &err), 32768);
    g.l1_carve = "0:128,8:120,96:32";
    ck_assert_int_eq(occupancy_l1(&g, 0, &err), 131072);
    ck_assert_int_eq(occupancy_l1(&g, 1, &err), 120 * 1024);
    ck_assert_int_eq(occupancy_l1(&g, 8192, &err), 120 * 1024);
    ck_assert_int_eq(occupancy_l1(&g, 9 * 1024, &err), 32 * 1024);
    ck_assert_int_eq(occupancy_l1(&g, 97 * 1024, &err), 32 * 1024);
    static const char *const bad[] = {"0", "0:", "0:1,", "8:1,8:2", "8:1,4:2", "a:1", "0:1 2", "0:1,8"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        g.l1_carve = bad[i];
        ck_assert_msg(occupancy_l1(&g, 0, &err) == -1, "'%s'", bad[i]);
    }
}
END_TEST

START_TEST(the_three_bounds_of_the_worked_example)
{
    struct gpu g = volta();
    struct issue i;
    issue_init(&i, &g, 1 << 20, 64);
    ck_assert_double_eq_tol(i.load_ns + i.instruction_ns * 40, 406, 0.5);
    ck_assert_double_eq_tol(i.crowd_ns * 40, 440, 0.5);
    ck_assert_double_eq_tol(i.sector_ns * 16, 4016, 1);
    ck_assert_double_eq_tol(issue_ns(&i, 40, 16, i.load_ns, 1), 4016, 1);
    ck_assert_double_eq_tol(issue_ns(&i, 40, 0, i.load_ns, 1), 440, 0.5);
    ck_assert_double_eq_tol(issue_ns(&i, 4, 0, i.load_ns, 1), 307, 0.5);
    ck_assert_double_eq_tol(issue_ns(&i, 4, 0, 0, 1), 44, 0.5);
    /* An eighth of the warps runs: 502 ns of memory; one alone: its own chain. */
    ck_assert_double_eq_tol(issue_ns(&i, 40, 16, i.load_ns, 0.125), 502, 0.5);
    ck_assert_double_eq_tol(issue_ns(&i, 40, 16, i.load_ns, 1.0 / 5120), 406, 0.5);
}
END_TEST

START_TEST(l2_answers_what_it_holds_of_the_programs_own_memory)
{
    struct gpu g = volta();
    struct issue i;
    g.l2_bytes = 4 << 20;
    g.l2_cycles = 200;
    issue_init(&i, &g, 1 << 20, 64);
    const double hit = 200e9 / (double)g.clock_hz;
    ck_assert_double_eq(issue_wait_ns(&i, false, 0), 0);
    ck_assert_double_eq(issue_wait_ns(&i, true, 1), i.load_ns);
    ck_assert_double_eq_tol(issue_wait_ns(&i, false, 4096), hit, 1e-9);
    ck_assert_double_eq_tol(issue_wait_ns(&i, false, 8192), (hit + i.load_ns) / 2, 1e-9);
}
END_TEST

START_TEST(a_lone_warp_waits_for_nobody)
{
    struct gpu g = volta();
    struct issue i;
    issue_init(&i, &g, 1, 64);
    ck_assert_double_eq_tol(i.crowd_ns, 1 / (4 * 1.455), 1e-6);
    ck_assert_double_eq_tol(i.sector_ns, 32 / 652.8, 1e-6);
    issue_init(&i, &g, 81, 64); /* two warps on one of the multiprocessors */
    ck_assert_double_eq_tol(i.crowd_ns, 2 / (4 * 1.455), 1e-6);
}
END_TEST

/* A kernel that only streams takes the bytes over the bandwidth, however it is cut into steps. */
START_TEST(streaming_reaches_the_bandwidth_and_no_more)
{
    struct gpu g = volta();
    for (uint32_t sectors = 8; sectors <= 64; sectors *= 2) {
        struct issue i;
        uint64_t warps = 5120 * 100;
        issue_init(&i, &g, warps, 64);
        double total = issue_ns(&i, 10, sectors, i.load_ns, 1) * 100, bytes = (double)warps * sectors * 32;
        ck_assert_double_ge(total, bytes / 652.8 - 1);
        if (sectors >= 16)
            ck_assert_double_le(total, bytes / 652.8 + 1);
    }
}
END_TEST

TEST_MAIN("occupancy")
