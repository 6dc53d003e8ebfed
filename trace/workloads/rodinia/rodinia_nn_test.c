#include "trace/workloads/program_testing.h"
#include "trace/workloads/rodinia/check_testing.h"

enum { LOCATIONS, DISTANCES };

static void compare(uint64_t n, const char *order, uint64_t align)
{
    struct workload w;
    struct program_notes notes = {0};
    struct program program =
        program_opened(&w, testing_text("rodinia-nn,n=%llu,order=%s", (unsigned long long)n, order), 0x10000, align);
    for (uint64_t g = 0; g < n; g++) {
        uint32_t t = (uint32_t)(g % 256);
        uint64_t place = program_at(&program, LOCATIONS, g, 8);
        program_note(&notes, 0, g / 256, 256, t, 0, RECORD_READ, 4, place);
        program_note(&notes, 0, g / 256, 256, t, 1, RECORD_READ, 4, place + 4);
        program_note(&notes, 0, g / 256, 256, t, 2, RECORD_WRITE, 4, program_at(&program, DISTANCES, g, 4));
    }
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(each_thread_reads_a_place_and_writes_a_distance)
{
    static const uint64_t sizes[] = {1, 7, 32, 33, 255, 256, 257, 1000, 2048, 5001};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (uint64_t align = 0; align <= 4096; align = align ? align * 8 : 8)
            compare(sizes[i], i % 2 ? "ptx" : "hoisted", align);
}
END_TEST

/* Source: two emulations of the kernel. */
START_TEST(a_thousand_places_make_the_emulated_counts)
{
    CHECK_LAUNCHES("rodinia-nn,n=1000", {0, .reads = {64, 2000, 500, 126, 250, 63},
                                         .writes = {32, 1000, 125, 32, 125, 32}, .order = 0x3d0a8640});
}
END_TEST

static uint64_t stalls(const char *spec)
{
    uint32_t instructions;
    uint64_t stalls = stalls_of(spec, 0, 0, 0, &instructions);
    ck_assert_uint_eq(instructions, 24); /* PTX of the kernel, without loads of parameters */
    return stalls;
}

START_TEST(ptx_waits_for_each_load_and_hoisted_for_both)
{
    ck_assert_uint_eq(stalls("rodinia-nn"), 6);
    ck_assert_uint_eq(stalls("rodinia-nn,order=hoisted"), 4);
}
END_TEST

START_TEST(no_place_is_refused_and_most_of_them_open_at_once)
{
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-nn,n=0"), "expected 1"));
    struct workload w;
    struct program_launch launch = {0};
    struct program program = program_opened(&w, "rodinia-nn,n=2147483647", 0, 0);
    program.ops->launch(program.state, 0, &launch);
    WORKS(program_check_launch(&launch, 0, &err));
    static struct program_body body;
    RETURNS(program_body(&program, w.state, 0, program_warps(&launch) - 1, 0, &body, &err), 1);
    ck_assert_uint_eq(body.access[2].active, 0x7fffffff);
    workload_close(&w);
}
END_TEST

TEST_MAIN("rodinia_nn")
