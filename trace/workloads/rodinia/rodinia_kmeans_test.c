#include "trace/workloads/program_testing.h"
#include "trace/workloads/rodinia/check_testing.h"

enum { IN, FEAT, MEM };

static void point(struct program_notes *notes, const struct program *p, uint32_t launch, uint64_t g, uint64_t n,
                  uint64_t features, uint64_t clusters)
{
    uint64_t when = 0;
    uint32_t t = (uint32_t)(g % 256);
    for (uint64_t i = 0; i < features && launch == 0; i++) {
        program_note(notes, 0, g / 256, 256, t, when++, RECORD_READ, 4, program_at(p, IN, g * features + i, 4));
        program_note(notes, 0, g / 256, 256, t, when++, RECORD_WRITE, 4, program_at(p, FEAT, g + n * i, 4));
    }
    for (uint64_t i = 0; i < clusters * features && launch; i++)
        program_note(notes, launch, g / 256, 256, t, when++, RECORD_READ, 4,
                     program_at(p, FEAT, g + i % features * n, 4));
    if (launch)
        program_note(notes, launch, g / 256, 256, t, when, RECORD_WRITE, 4, program_at(p, MEM, g, 4));
}

static void compare(uint64_t n, uint64_t features, uint64_t clusters, uint64_t align)
{
    struct workload w;
    struct program_notes notes = {0};
    const char *spec = testing_text("rodinia-kmeans,n=%llu,features=%llu,clusters=%llu,iterations=2",
                                    (unsigned long long)n, (unsigned long long)features, (unsigned long long)clusters);
    struct program program = program_opened(&w, spec, 0x10000, align);
    for (uint32_t launch = 0; launch < 3; launch++)
        for (uint64_t g = 0; g < n; g++)
            point(&notes, &program, launch, g, n, features, clusters);
    ck_assert_uint_eq(program.ops->launches(program.state), 3);
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(each_point_is_turned_round_and_then_read_once_for_each_centre)
{
    static const uint64_t sizes[] = {1, 31, 33, 256, 257, 700};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint64_t features = 1; features <= 9; features++)
            compare(sizes[i], features, 1 + (features + i) % 4, i % 2 ? 4 : 256);
    compare(70, 34, 32, 0);
}
END_TEST

/* Source: two emulations of the kernels. */
START_TEST(points_make_the_emulated_counts)
{
    CHECK_LAUNCHES(
        "rodinia-kmeans,n=512",
        {0, .reads = {544, 17408, 17408, 17408, 2176, 544}, .writes = {544, 17408, 2176, 544, 2176, 544},
         .order = 0x50f80000},
        {1, .reads = {2720, 87040, 10880, 2720, 2176, 544}, .writes = {16, 512, 64, 16, 64, 16}, .order = 0x5f66ca00});
    CHECK_LAUNCHES(
        "rodinia-kmeans,n=500", /* rows begin within a sector */
        {0, .reads = {544, 17000, 17000, 17000, 2125, 532}, .writes = {544, 17000, 2397, 996, 2125, 532},
         .order = 0xe015d000},
        {1, .reads = {2720, 85000, 11985, 4980, 2125, 532}, .writes = {16, 500, 63, 16, 63, 16}, .order = 0x3dd8b6b8});
}
END_TEST

/* Where body 1 waits; instructions of a warp. */
static uint64_t stalls(const char *spec, uint32_t launch, uint64_t *instructions)
{
    static struct program_body body;
    uint64_t stalls = 0;
    struct workload w;
    struct program program = program_opened(&w, spec, 0, 0);
    *instructions = 0;
    for (uint32_t i = 0; program_body(&program, w.state, launch, 0, i, &body, NULL) == 1; i++) {
        stalls = i == 1 ? program_stalls(&body) : stalls;
        *instructions += program_instructions(&body) * body.turns;
    }
    workload_close(&w);
    return stalls;
}

START_TEST(ptx_waits_for_each_load_and_hoisted_for_four_points)
{
    uint64_t ptx, hoisted;
    ck_assert_uint_eq(stalls("rodinia-kmeans", 0, &ptx), 0xaa); /* load, store, four times */
    ck_assert_uint_eq(stalls("rodinia-kmeans,order=hoisted", 0, &hoisted), 0xaa);
    ck_assert_uint_eq(ptx, hoisted);
    ck_assert_uint_eq(stalls("rodinia-kmeans", 1, &ptx), 0xe);
    ck_assert_uint_eq(stalls("rodinia-kmeans,order=hoisted", 1, &hoisted), 0); /* at the end of the turn */
    ck_assert_uint_eq(ptx, hoisted);
    /* The kernels' PTX, without loads of parameters, but the loop of one trip goes round three times; and behind the
     * last centre stands what leads to the next. */
    (void)stalls("rodinia-kmeans,features=7", 0, &ptx);
    ck_assert_uint_eq(ptx - 2 * 7, 58);
    (void)stalls("rodinia-kmeans,features=7,clusters=1", 1, &ptx);
    ck_assert_uint_eq(ptx, 104 + 13);
}
END_TEST

START_TEST(points_that_an_int_cannot_count_are_refused_and_many_open_at_once)
{
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-kmeans,n=0"), "expected 1"));
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-kmeans,n=63161284"), "int"));
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-kmeans,clusters=33"), "1088 floats"));
    ck_assert_uint_eq(program_blocks("rodinia-kmeans,n=63161283", 1), 497 * 497);
    ck_assert_uint_eq(program_blocks("rodinia-kmeans,n=1024", 1), 4); /* a square of blocks, not the next one */
}
END_TEST

TEST_MAIN("rodinia_kmeans")
