#include "trace/workloads/micro/launch_touch.h"

#include "trace/workloads/program_testing.h"

static void compare(const char *spec, uint64_t pages, uint32_t launches, uint32_t kind)
{
    struct workload w;
    struct program program = program_opened(&w, spec, 0, 0);
    struct program_notes notes = {0};
    for (uint32_t l = 0; l < launches; l++)
        for (uint64_t page = 0; page < pages; page++)
            program_note(&notes, 2 * l + 1, 0, 1, 0, page, kind, 4, program_at(&program, 0, page, 4096));
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(the_cpu_touches_every_page_after_each_kernel)
{
    compare("launch-touch,pages=1", 1, 1, RECORD_WRITE);
    compare("launch-touch,pages=700,launches=3", 700, 3, RECORD_WRITE);
    compare("launch-touch,pages=513,touch=read,launches=2", 513, 2, RECORD_READ);
}
END_TEST

START_TEST(kernels_are_empty_and_touches_the_cpus)
{
    struct workload w;
    struct program program = program_opened(&w, "launch-touch,launches=2", 0, 0);
    ck_assert_uint_eq(program.ops->launches(program.state), 4);
    for (uint32_t l = 0; l < 4; l++) {
        struct program_launch launch = {0};
        program.ops->launch(program.state, l, &launch);
        ck_assert_int_eq(launch.cpu, l % 2 == 1);
        ck_assert_int_eq(program_check_launch(&launch, l, NULL), 0);
    }
    ck_assert_int_eq(((const struct launch_touch *)w.state)->launches, 2); /* what the legacy mode takes */
    workload_close(&w);
}
END_TEST

START_TEST(what_touches_nothing_is_no_program)
{
    ck_assert_ptr_nonnull(strstr(program_refused("launch-touch,touch=none"), "touch=none"));
    ck_assert_ptr_nonnull(strstr(program_refused("launch-touch,pages=0"), "pages=0"));
    ck_assert_ptr_nonnull(strstr(program_refused("launch-touch,gpu_bytes=1MiB"), "gpu_bytes"));
}
END_TEST

TEST_MAIN("launch_touch")
