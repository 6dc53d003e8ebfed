#include "trace/workloads/program_testing.h"
#include "trace/workloads/rodinia/check_testing.h"

enum { POWER, IN, OUT };

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A thread, by coordinates: what it reads of each plane is told by where the cell's neighbours are. */
static void thread(struct program_notes *notes, const struct program *p, uint32_t launch, uint64_t x, uint64_t y,
                   const uint64_t n[3])
{
    uint64_t block = y / 4 * (n[0] / 64) + x / 64, when = 0;
    uint32_t t = (uint32_t)(y % 4 * 64 + x % 64), in = launch % 2 ? OUT : IN;
#define CELL(array, x, y, z) program_at(p, array, (x) + n[0] * ((y) + n[1] * (z)), 4)
#define NOTE(kind, addr)     program_note(notes, launch, block, 256, t, when++, kind, 4, addr)
    for (uint64_t z = 0; z < n[2]; z++) {
        if (z == 0)
            NOTE(RECORD_READ, CELL(in, x, y, z));
        NOTE(RECORD_READ, CELL(in, x ? x - 1 : 0, y, z));
        NOTE(RECORD_READ, CELL(in, least(x + 1, n[0] - 1), y, z));
        NOTE(RECORD_READ, CELL(in, x, least(y + 1, n[1] - 1), z));
        NOTE(RECORD_READ, CELL(in, x, y ? y - 1 : 0, z));
        if (z + 1 < n[2])
            NOTE(RECORD_READ, CELL(in, x, y, z + 1));
        NOTE(RECORD_READ, CELL(POWER, x, y, z));
        NOTE(RECORD_WRITE, CELL(in == IN ? OUT : IN, x, y, z));
    }
}

static void compare(uint64_t nx, uint64_t ny, uint64_t nz, uint32_t iterations, uint64_t align)
{
    struct workload w;
    struct program_notes notes = {0};
    const uint64_t n[3] = {nx, ny, nz};
    const char *spec = testing_text("rodinia-hotspot3d,nx=%u,ny=%u,nz=%u,iterations=%u", (unsigned)nx, (unsigned)ny,
                                    (unsigned)nz, iterations);
    struct program program = program_opened(&w, spec, 0x10000, align);
    for (uint32_t launch = 0; launch < iterations; launch++)
        for (uint64_t y = 0; y < ny / 4 * 4; y++)
            for (uint64_t x = 0; x < nx / 64 * 64; x++)
                thread(&notes, &program, launch, x, y, n);
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(each_cell_reads_its_neighbours_and_the_border_itself)
{
    for (uint64_t nz = 2; nz <= 11; nz++)
        compare(64 + nz % 3 * 64, 4 + nz % 2 * 4, nz, 1 + (uint32_t)nz % 2, nz % 2 ? 4 : 256);
    compare(100, 7, 3, 1, 32); /* cells beyond the last whole block are nobody's */
    compare(65, 4, 9, 3, 0);
}
END_TEST

/* Source: two emulations of the kernel. */
START_TEST(a_small_stack_makes_the_emulated_counts)
{
    CHECK_LAUNCHES("rodinia-hotspot3d,nx=128,ny=8,nz=4",
                   {0, .reads = {768, 24576, 3264, 960, 1024, 256}, .writes = {128, 4096, 512, 128, 512, 128},
                    .order = 0xa8c35180});
}
END_TEST

/* Instructions of a warp, and where a body waits. */
static uint64_t stalls(const char *spec, uint32_t index, uint64_t *instructions)
{
    static struct program_body body;
    uint64_t stalls = 0;
    struct workload w;
    struct program program = program_opened(&w, spec, 0, 0);
    *instructions = 0;
    for (uint32_t i = 0; program_body(&program, w.state, 0, 0, i, &body, NULL) == 1; i++) {
        *instructions += program_instructions(&body) * body.turns;
        stalls = i == index ? program_stalls(&body) : stalls;
    }
    workload_close(&w);
    return stalls;
}

START_TEST(ptx_waits_for_each_load_and_hoisted_for_those_of_a_plane)
{
    uint64_t ptx, hoisted, straight;
    /* Four planes of six loads and a store: every access but the first and those behind a store. */
    ck_assert_uint_eq(stalls("rodinia-hotspot3d", 1, &ptx), 0xfdfbf7e);
    ck_assert_uint_eq(stalls("rodinia-hotspot3d,order=hoisted", 1, &hoisted), 0x8102040);
    ck_assert_uint_eq(ptx, hoisted);
    /* The first plane: its centre and west are under way together. */
    ck_assert_uint_eq(stalls("rodinia-hotspot3d", 0, &ptx), 0xfc);
    ck_assert_uint_eq(stalls("rodinia-hotspot3d,order=hoisted", 0, &hoisted), 0x80);
    /* Two planes: the kernel's PTX, 286 instructions, without its loops and what leads to them. */
    (void)stalls("rodinia-hotspot3d,nz=2", 0, &straight);
    ck_assert_uint_eq(straight, 30 + 2 + 4 + 3 + 3 + 2 + 4 + 4 + 8 + 6 + 3 + 4 + 3 + 3 + 5 + 3 + 6 + 1);
}
END_TEST

START_TEST(grids_without_a_block_are_refused_and_large_ones_open_at_once)
{
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-hotspot3d,nx=63"), "expected 64"));
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-hotspot3d,nz=1"), "expected 2"));
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-hotspot3d,nx=16384,ny=16384"), "int"));
    ck_assert_uint_eq(program_blocks("rodinia-hotspot3d,nx=16384,ny=16384,nz=7", 9), 256 * 4096);
}
END_TEST

TEST_MAIN("rodinia_hotspot3d")
