#define TESTING_FORK CK_FORK

#include <math.h>
#include <sys/wait.h>

#include "trace/recorder/testing_recorder.h"
#include "trace/store/store.h"

static struct recorder_result result;
static struct err err;

/* record --counters over the stand-in, whose values are those of a real GPU (fixtures/standin/counters.csv). */

static void record(const char *output, const char *group, const char *mode, const char *arguments)
{
    const struct recorder_options options = {.output = output, .counters = true, .counter_group = group};
    setenv("STANDIN_COUNTERS", "fixtures/standin/counters.csv", 1);
    testing_record(&options, mode, arguments, &result);
}

static bool complete(const char *path)
{
    struct store *store = store_open(path, &err);
    ck_assert_msg(store, "%s", err.msg);
    bool c = store_complete(store);
    store_close(store);
    return c;
}

/* What the table of counters holds of one kernel and counter ("" for all). */
struct sum {
    const char *kernel, *counter;
    double total;
    int rows;
    char how[200];
};

static int add_row(void *ctx, const struct store_value *v, size_t n)
{
    struct sum *s = ctx;
    if (n < 5 || strcmp(v[0].s, s->kernel) != 0 || (s->counter[0] && strcmp(v[1].s, s->counter) != 0))
        return 0;
    s->total += v[2].r;
    s->rows++;
    (void)snprintf(s->how, sizeof s->how, "%s [%s]", v[4].s, v[3].s);
    return 0;
}

static struct sum sum(const char *path, const char *kernel, const char *counter)
{
    struct sum s = {kernel, counter, 0, 0, ""};
    struct store *store = store_open(path, &err);
    ck_assert_msg(store, "%s", err.msg);
    ck_assert_int_eq(store_rows(store, "counters", add_row, &s, &err), 0);
    store_close(store);
    return s;
}

static void expect(const char *path, const char *kernel, const char *counter, int rows, double total)
{
    struct sum s = sum(path, kernel, counter);
    ck_assert_int_eq(s.rows, rows);
    ck_assert_double_eq(s.total, total);
}

START_TEST(every_launch_has_its_counters_under_its_kernels_name)
{
    const char *path = testing_file("t.db");
    record(path, "l2", NULL, "init context kernel:bfs_naive*5 kernel:sweep_naive destroy exit:7");
    ck_assert_int_eq(WEXITSTATUS(result.status), 7);
    ck_assert_uint_eq(testing_problems, 0);
    ck_assert(complete(path));
    expect(path, "bfs_naive", "l2_sysmem_requests", 5, 6356 + 1433304 + 535899 + 7644 + 41);
    expect(path, "bfs_naive", "l2_sysmem_sectors", 5, 6356 + 1433837 + 589618 + 7901 + 41);
    expect(path, "bfs_naive", "dram_read_sectors", 5, 1000 + 1001 + 1002 + 1003 + 1004);
    expect(path, "sweep_naive", "l2_sysmem_requests", 1, 1911486);
    expect(path, "sweep_naive", "", 4, 1911486 + 1969319 + 1000);
    ck_assert_str_eq(sum(path, "sweep_naive", "l2_sysmem_sectors").how,
                     "launch 5, CUPTI lts__t_sectors_srcunit_tex_aperture_sysmem.sum [sectors]");
    recorder_release(&result);
}
END_TEST

START_TEST(a_program_that_never_ends_its_context_delivers_at_exit)
{
    const char *path = testing_file("t.db");
    record(path, "pcie", NULL, "init context kernel:bfs_merged*5");
    ck_assert(complete(path));
    expect(path, "bfs_merged", "pcie_read_bytes", 5, 233980 + 52650000 + 19930000 + 351230 + 3580);
    expect(path, "bfs_merged", "pcie_write_bytes", 5, 41470 + 8050000 + 3480000 + 126980 + 4610);
    expect(path, "bfs_merged", "", 10, 73168790 + 11703060);
    recorder_release(&result);
}
END_TEST

START_TEST(more_launches_than_fit_are_decoded_in_parts)
{
    const char *path = testing_file("t.db");
    record(path, "l2", "bigdata", "init context kernel:bfs_aligned*5 kernel:merged_off0 kernel:bfs_naive*5");
    ck_assert_uint_eq(testing_problems, 0);
    ck_assert(complete(path));
    expect(path, "bfs_aligned", "l2_sysmem_requests", 5, 600966);
    expect(path, "merged_off0", "l2_sysmem_requests", 1, 524288);
    expect(path, "bfs_naive", "l2_sysmem_requests", 5, 1983244);
    ck_assert_ptr_nonnull(strstr(sum(path, "bfs_naive", "l2_sysmem_requests").how, "launch 10,"));
    recorder_release(&result);
    path = testing_file("u.db");
    record(path, "l2", NULL, "init context kernel:nothing*3000");
    expect(path, "nothing", "l2_sysmem_requests", 3000, 0);
    recorder_release(&result);
}
END_TEST

START_TEST(launches_that_fail_or_are_of_other_contexts_take_no_values)
{
    const char *path = testing_file("t.db");
    record(path, "l2", NULL, "init context kernel:bfs_naive fail:bfs_naive other:bfs_naive kernel:sweep_naive");
    expect(path, "bfs_naive", "l2_sysmem_requests", 1, 6356);
    expect(path, "sweep_naive", "l2_sysmem_requests", 1, 1911486);
    ck_assert_uint_eq(result.files[0].dropped, 1); /* the other context's */
    ck_assert(!complete(path));
    recorder_release(&result);
}
END_TEST

/* CUPTI's passes over a graph do not restore memory: on an H200 a graph's results were others. */
START_TEST(a_graphs_launch_is_left_alone)
{
    const char *path = testing_file("t.db");
    record(path, "l2", NULL, "init context kernel:graph:bfs_naive kernel:sweep_naive");
    expect(path, "sweep_naive", "l2_sysmem_requests", 1, 1911486);
    expect(path, "(CUDA graph)", "l2_sysmem_requests", 0, 0);
    ck_assert_uint_eq(result.files[0].dropped, 1);
    recorder_release(&result);
}
END_TEST

START_TEST(a_stream_that_captures_is_left_alone)
{
    const char *path = testing_file("t.db");
    record(path, "l2", NULL,
           "init context kernel:bfs_naive capture kernel:bfs_naive*3 kernel:aside:merged_off0 endcapture "
           "kernel:graph:bfs_naive kernel:sweep_naive capture kernel:bfs_naive endcapture exit:7");
    ck_assert_int_eq(WEXITSTATUS(result.status), 7);
    ck_assert_uint_eq(testing_problems, 0);
    expect(path, "bfs_naive", "l2_sysmem_requests", 1, 6356);
    expect(path, "sweep_naive", "l2_sysmem_requests", 1, 1911486);
    ck_assert_uint_eq(result.files[0].dropped, 2); /* that aside, and the graph */
    recorder_release(&result);
}
END_TEST

START_TEST(a_kernels_name_is_kept_when_its_module_goes)
{
    const char *path = testing_file("t.db");
    record(path, "l2", "unload", "init context kernel:bfs_naive kernel:sweep_naive");
    expect(path, "bfs_naive", "l2_sysmem_requests", 1, 6356);
    expect(path, "sweep_naive", "l2_sysmem_requests", 1, 1911486);
    recorder_release(&result);
}
END_TEST

START_TEST(launches_are_chosen_by_kernel_number_and_every)
{
    const char *path = testing_file("t.db");
    const struct recorder_options chosen = {
        .output = path, .counters = true, .counter_group = "l2", .kernel = "bfs", .launches = "1..4", .every = 2};
    setenv("STANDIN_COUNTERS", "fixtures/standin/counters.csv", 1);
    testing_record(&chosen, NULL, "init context kernel:bfs_naive*2 kernel:sweep_naive kernel:bfs_naive*3", &result);
    ck_assert(complete(path));
    expect(path, "bfs_naive", "l2_sysmem_requests", 2, 1433304 + 7644);
    expect(path, "sweep_naive", "", 0, 0);
    ck_assert_ptr_nonnull(strstr(sum(path, "bfs_naive", "l2_sysmem_requests").how, "launch 3,"));
    ck_assert_uint_eq(result.files[0].skipped, 4);
    recorder_release(&result);
}
END_TEST

START_TEST(what_was_counted_when_the_program_last_waited_is_kept_by_a_kill)
{
    const char *path = testing_file("t.db");
    record(path, "l2", NULL, "init context kernel:bfs_naive*5 sync kill");
    expect(path, "bfs_naive", "l2_sysmem_requests", 5, 6356 + 1433304 + 535899 + 7644 + 41);
    struct store *store = store_open(path, &err);
    ck_assert_str_eq(store_origin_get(store, "kinds.uvm"), "ALLOC ADVISE PREFETCH"); /* no migrations */
    store_close(store);
    recorder_release(&result);
}
END_TEST

START_TEST(names_are_left_out_where_their_order_is_not_known)
{
    const char *path = testing_file("t.db");
    record(path, "l2", "extra", "init context kernel:bfs_naive*2");
    ck_assert(testing_told("CUPTI counted 3 launches, the program made 2"));
    expect(path, "bfs_naive", "", 0, 0);
    expect(path, "?", "l2_sysmem_requests", 3, 6356 + 1433304);
    recorder_release(&result);
    path = testing_file("u.db");
    record(path, "l2", NULL, "init context both:merged_off0"); /* one after the other */
    ck_assert_int_eq(sum(path, "merged_off0", "l2_sysmem_requests").rows, 400);
    recorder_release(&result);
}
END_TEST

START_TEST(ranges_that_cupti_drops_or_cannot_evaluate_are_counted_as_lost)
{
    const char *path = testing_file("t.db");
    record(path, "l2", "few", "init context kernel:bfs_naive*5");
    ck_assert_uint_eq(result.files[0].dropped, 3);
    expect(path, "bfs_naive", "l2_sysmem_requests", 2, 6356 + 1433304);
    recorder_release(&result);
    path = testing_file("u.db");
    record(path, "pcie", "nan", "init context kernel:bfs_naive*2");
    ck_assert_uint_eq(result.files[0].dropped, 2);
    expect(path, "bfs_naive", "pcie_read_bytes", 1, 281600);
    ck_assert(!complete(path));
    recorder_release(&result);
}
END_TEST

START_TEST(missing_privileges_name_the_drivers_option_and_harm_nobody)
{
    const char *path = testing_file("t.db");
    setenv("STANDIN_FAIL", "cuptiRangeProfilerEnable=35", 1);
    record(path, "l2", NULL, "init context kernel:bfs_naive exit:3");
    ck_assert_int_eq(WEXITSTATUS(result.status), 3);
    ck_assert(testing_told("ERR_NVGPUCTRPERM"));
    ck_assert(testing_told("NVreg_RestrictProfilingToAdminUsers=0"));
    expect(path, "bfs_naive", "", 0, 0);
    recorder_release(&result);
}
END_TEST

START_TEST(whatever_step_fails_is_reported_and_the_program_runs_on)
{
    static const char *const functions[] = {"cuptiProfilerInitialize",
                                            "cuptiDeviceGetChipName",
                                            "cuptiProfilerHostInitialize",
                                            "cuptiProfilerHostConfigAddMetrics",
                                            "cuptiProfilerHostGetConfigImageSize",
                                            "cuptiProfilerHostGetConfigImage",
                                            "cuptiProfilerHostGetNumOfPasses",
                                            "cuptiRangeProfilerEnable",
                                            "cuptiRangeProfilerGetCounterDataSize",
                                            "cuptiRangeProfilerCounterDataImageInitialize",
                                            "cuptiRangeProfilerSetConfig",
                                            "cuptiRangeProfilerStart",
                                            "cuptiRangeProfilerStop",
                                            "cuptiRangeProfilerDecodeData",
                                            "cuptiRangeProfilerGetCounterDataInfo"};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const char *path = testing_file("t.db");
        char fail[100];
        (void)snprintf(fail, sizeof fail, "%s=999", functions[i]);
        setenv("STANDIN_FAIL", fail, 1);
        record(path, "l2", NULL, "init context kernel:bfs_naive*2 destroy exit:6");
        ck_assert_msg(WIFEXITED(result.status) && WEXITSTATUS(result.status) == 6, "%s", fail);
        ck_assert_msg(testing_told("no counters"), "%s: nothing was said", fail);
        expect(path, "bfs_naive", "", 0, 0);
        recorder_release(&result);
    }
    const char *path = testing_file("t.db");
    setenv("STANDIN_FAIL", "cuptiProfilerHostEvaluateToGpuValues=999", 1);
    record(path, "l2", NULL, "init context kernel:bfs_naive*2");
    ck_assert_uint_eq(result.files[0].dropped, 2);
    recorder_release(&result);
}
END_TEST

START_TEST(a_chip_that_cannot_count_something_says_which_group_can)
{
    const char *path = testing_file("t.db");
    setenv("STANDIN_CHIP", "GV100", 1);
    record(path, "l2", NULL, "init context kernel:bfs_naive");
    ck_assert(testing_told("l2_sysmem_sectors is not counted on GV100"));
    ck_assert(testing_told("--counter-group"));
    expect(path, "bfs_naive", "l2_sysmem_requests", 1, 6356);
    expect(path, "bfs_naive", "l2_sysmem_sectors", 0, 0);
    recorder_release(&result);
    setenv("STANDIN_CHIP", "XY999", 1);
    record(path, "l2", NULL, "init context kernel:bfs_naive exit:2");
    ck_assert_int_eq(WEXITSTATUS(result.status), 2);
    ck_assert(testing_told("does not know the chip XY999"));
    recorder_release(&result);
}
END_TEST

START_TEST(a_killed_program_keeps_the_parts_that_were_decoded)
{
    const char *path = testing_file("t.db");
    struct testing_watch watch; /* four launches of four counters */
    record(path, "l2", "bigdata",
           testing_watch_start(&watch, path, "counters", 16, "init context kernel:bfs_naive*5", "kill"));
    testing_watch_end(&watch);
    ck_assert(WIFSIGNALED(result.status));
    ck_assert(!complete(path));
    /* Two launches of 16 MiB and a head fit into 64 MiB: two parts were decoded, the fifth launch was under way. */
    expect(path, "bfs_naive", "l2_sysmem_requests", 4, 6356 + 1433304 + 535899 + 7644);
    recorder_release(&result);
}
END_TEST

TEST_MAIN("recorder_counters")
