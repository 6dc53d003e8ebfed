#include "trace/recorder/recorder.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "trace/import/input_stream.h"
#include "trace/recorder/testing_recorder.h"
#include "trace/store/store.h"

/* The injected library itself runs here: in a program that links none of this, loaded by a stand-in for the driver and
 * fed by a stand-in for CUPTI with the events of a real recording (fixtures/traces/uvm_conv_64MiB_complete.csv.xz:
 * 1,042 + 96 + 95 counters of kinds 1, 3 and 4, and one kernel). */
enum { H2D = 1042, CPU_FAULTS = 96, BATCHES = 95, COUNTERS = H2D + CPU_FAULTS + BATCHES };

static struct recorder_result result;
static struct err err;

/* Write the events to a scratch file for the stand-in. */
static void write_events(void)
{
    const char *path = testing_file("events.csv");
    struct input_stream *source = input_stream_open("fixtures/traces/uvm_conv_64MiB_complete.csv.xz", &err);
    ck_assert_msg(source, "%s", err.msg);
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    char buf[4096];
    size_t got;
    do {
        ck_assert_int_eq(input_stream_read(source, buf, sizeof buf, &got, &err), 0);
        (void)fwrite(buf, 1, got, f);
    } while (got > 0);
    (void)fclose(f);
    input_stream_close(source);
    setenv("STANDIN_EVENTS", path, 1);
}

/* Record the target with these arguments, split at spaces. */
static void record(const char *output, const char *mode, const char *arguments)
{
    const struct recorder_options options = {.output = output, .unified_memory = true};
    write_events();
    testing_record(&options, mode, arguments, &result);
}

struct counted {
    uint64_t kinds[RECORD_KINDS];
    int64_t last;
    bool sorted;
    uint64_t managed_bytes, prefetch_bytes;
};

static struct counted count(const char *path)
{
    struct counted c = {.sorted = true, .last = INT64_MIN};
    struct store *store = store_open(path, &err);
    ck_assert_msg(store, "%s", err.msg);
    for (int s = 0; s < store_stream_count(store); s++) {
        struct store_cursor *cursor = store_cursor_open(store, s, &err);
        const struct record *records;
        size_t n;
        while (store_cursor_next(cursor, &records, NULL, &n, &err) == 1)
            for (size_t i = 0; i < n; i++) {
                c.kinds[records[i].kind]++;
                c.sorted &= records[i].time >= c.last;
                c.last = records[i].time;
                if (records[i].kind == RECORD_ALLOC && records[i].flags == RECORD_ALLOC_MANAGED)
                    c.managed_bytes += records[i].bytes;
                if (records[i].kind == RECORD_PREFETCH)
                    c.prefetch_bytes += records[i].bytes;
            }
        store_cursor_close(cursor);
    }
    store_close(store);
    return c;
}

static bool complete(const char *path)
{
    struct store *store = store_open(path, &err);
    ck_assert_msg(store, "%s", err.msg);
    bool c = store_complete(store);
    store_close(store);
    return c;
}

static int sum_rows(void *ctx, const struct store_value *values, size_t n)
{
    (void)n;
    *(int64_t *)ctx += values[1].i;
    return 0;
}

static int find_threshold(void *ctx, const struct store_value *values, size_t n)
{
    (void)n;
    if (strcmp(values[0].s, "nvidia_uvm.uvm_perf_prefetch_threshold") == 0 && strcmp(values[1].s, "51") == 0)
        *(bool *)ctx = true;
    return 0;
}

static int64_t sum(const char *path, const char *table)
{
    int64_t total = 0;
    struct store *store = store_open(path, &err);
    ck_assert_msg(store, "%s", err.msg);
    ck_assert_int_eq(store_rows(store, table, sum_rows, &total, &err), 0);
    store_close(store);
    return total;
}

static void expect_all(const char *path)
{
    struct counted c = count(path);
    ck_assert_uint_eq(c.kinds[RECORD_MIGRATE_H2D], H2D);
    ck_assert_uint_eq(c.kinds[RECORD_CPU_FAULT], CPU_FAULTS);
    ck_assert_uint_eq(c.kinds[RECORD_FAULT], BATCHES);
    ck_assert_uint_eq(c.kinds[RECORD_KERNEL], 1);
    ck_assert(c.sorted);
}

static bool has_problem(const char *words)
{
    return testing_told(words);
}

START_TEST(a_program_that_ends_well_gives_a_complete_trace_and_its_status)
{
    const char *path = testing_file("t.db");
    record(path, NULL, "init context play exit:7");
    ck_assert(WIFEXITED(result.status));
    ck_assert_int_eq(WEXITSTATUS(result.status), 7);
    ck_assert_uint_eq(result.file_count, 1);
    ck_assert(result.files[0].complete);
    ck_assert_uint_eq(result.files[0].records, COUNTERS + 1);
    ck_assert_uint_eq(result.files[0].dropped, 0);
    ck_assert(complete(path));
    expect_all(path);
    recorder_release(&result);
}
END_TEST

START_TEST(device_facts_and_the_cupti_version_are_in_the_origin)
{
    const char *path = testing_file("t.db");
    record(path, NULL, "init context play");
    struct store *store = store_open(path, &err);
    ck_assert_ptr_nonnull(store);
    ck_assert_str_eq(store_origin_get(store, "gpu.0.name"), "Stand-in GPU");
    ck_assert_str_eq(store_origin_get(store, "cupti_version"), "130001");
    ck_assert_str_eq(store_origin_get(store, "gpu.0.uuid"), "GPU-00112233-4455-6677-8899-aabbccddeeff");
    ck_assert_str_eq(store_origin_get(store, "cuda_driver_api"), "13.0");
    store_close(store);
    recorder_release(&result);
}
END_TEST

START_TEST(every_parameter_of_the_drivers_memory_module_is_kept)
{
    const char *path = testing_file("t.db");
    char folder[300], file[400];
    (void)snprintf(folder, sizeof folder, "%s", testing_file("sys"));
    (void)mkdir(folder, 0700);
    static const char *const below[] = {"/module", "/module/nvidia_uvm", "/module/nvidia_uvm/parameters"};
    for (int i = 0; i < 3; i++) {
        (void)snprintf(file, sizeof file, "%s%s", folder, below[i]);
        (void)mkdir(file, 0700);
    }
    (void)snprintf(file, sizeof file, "%s%s/uvm_perf_prefetch_threshold", folder, below[2]);
    FILE *f = fopen(file, "w");
    (void)fputs("51\n", f);
    (void)fclose(f);
    record(path, NULL, "init context play");
    ck_assert(complete(path));
    struct store *store = store_open(path, &err);
    bool found = false;
    ck_assert_int_eq(store_rows(store, "parameters", find_threshold, &found, &err), 0);
    ck_assert(found);
    store_close(store);
    recorder_release(&result);
}
END_TEST

START_TEST(a_program_killed_loses_only_what_was_not_delivered_and_opens_as_incomplete)
{
    const char *path = testing_file("t.db");
    struct testing_watch watch;
    record(path, NULL, testing_watch_start(&watch, path, NULL, (COUNTERS + 1) / 2, "init context play:1/2", "kill"));
    testing_watch_end(&watch);
    ck_assert(WIFSIGNALED(result.status));
    ck_assert_int_eq(WTERMSIG(result.status), SIGKILL);
    ck_assert(!result.files[0].complete);
    ck_assert(!complete(path));
    ck_assert_uint_eq(result.files[0].records, (COUNTERS + 1) / 2);
    recorder_release(&result);
    path = testing_file("u.db");
    record(path, "late", "init context play kill"); /* nothing was delivered */
    ck_assert_uint_eq(result.files[0].records, 0);
    ck_assert(!complete(path));
    recorder_release(&result);
}
END_TEST

START_TEST(fatal_signals_deliver_what_there_is_and_end_the_program_as_before)
{
    static const struct {
        const char *what;
        int number;
    } ends[] = {{"segv", SIGSEGV}, {"abort", SIGABRT}, {"term", SIGTERM}};
    for (int i = 0; i < 3; i++) {
        char arguments[64], name[16];
        (void)snprintf(name, sizeof name, "%s.db", ends[i].what);
        const char *path = testing_file(name);
        (void)snprintf(arguments, sizeof arguments, "init context play %s", ends[i].what);
        record(path, "late", arguments); /* only the last, forced flush delivers */
        ck_assert(WIFSIGNALED(result.status));
        ck_assert_int_eq(WTERMSIG(result.status), ends[i].number);
        ck_assert(!result.files[0].complete);
        expect_all(path);
        recorder_release(&result);
    }
}
END_TEST

START_TEST(records_delivered_only_at_the_end_or_from_several_threads_are_all_there_in_order)
{
    const char *path = testing_file("t.db");
    record(path, "late", "init context play");
    expect_all(path);
    recorder_release(&result);
    path = testing_file("u.db");
    record(path, "threads", "init context play");
    expect_all(path);
    ck_assert(complete(path));
    recorder_release(&result);
}
END_TEST

START_TEST(null_and_empty_buffers_are_survived_and_counted)
{
    const char *path = testing_file("t.db");
    record(path, "null,empty", "init context play");
    expect_all(path);
    struct store *store = store_open(path, &err);
    ck_assert_str_eq(store_origin_get(store, "cupti_null_buffers"), "1");
    ck_assert_str_eq(store_origin_get(store, "cupti_empty_buffers"), "1");
    store_close(store);
    recorder_release(&result);
}
END_TEST

START_TEST(dropped_records_make_the_recording_incomplete_and_are_counted)
{
    const char *path = testing_file("t.db");
    record(path, "dropped", "init context play");
    ck_assert_uint_eq(result.files[0].dropped, 17);
    ck_assert(!complete(path));
    ck_assert_int_eq(sum(path, "dropped"), 17);
    recorder_release(&result);
}
END_TEST

START_TEST(a_buffer_that_ends_inside_a_record_costs_only_that_record)
{
    const char *path = testing_file("t.db");
    record(path, "truncated", "init context play");
    ck_assert_uint_eq(result.files[0].records, COUNTERS);
    ck_assert(!result.files[0].complete);
    ck_assert_int_eq(sum(path, "dropped"), 1);
    recorder_release(&result);
}
END_TEST

START_TEST(unknown_records_and_impossible_times_are_counted_and_left_out)
{
    const char *path = testing_file("t.db");
    record(path, "unknown,zerotime", "init context play");
    expect_all(path);
    ck_assert_uint_eq(result.files[0].skipped, 5);
    ck_assert_int_eq(sum(path, "skipped"), 5);
    ck_assert(result.files[0].complete);
    recorder_release(&result);
}
END_TEST

START_TEST(allocations_advice_and_prefetches_are_recorded_once_each)
{
    const char *path = testing_file("t.db");
    record(path, NULL, "init context alloc advise");
    struct counted c = count(path);
    ck_assert_uint_eq(c.kinds[RECORD_ALLOC], 4); /* device, managed, pinned, registered; one that failed is not there */
    ck_assert_uint_eq(c.managed_bytes, 64u << 20);
    ck_assert_uint_eq(c.kinds[RECORD_ADVISE], 1);
    ck_assert_uint_eq(c.kinds[RECORD_PREFETCH], 1);
    ck_assert_uint_eq(c.prefetch_bytes, 2u << 20);
    ck_assert_int_eq(sum(path, "allocations") != 0, 1);
    recorder_release(&result);
}
END_TEST

START_TEST(another_subscriber_leaves_the_program_alone_and_says_what_to_do)
{
    const char *path = testing_file("t.db");
    record(path, "busy", "init context play exit:5");
    ck_assert_int_eq(WEXITSTATUS(result.status), 5);
    ck_assert(result.files[0].fatal);
    ck_assert_str_eq(result.files[0].path, "");
    ck_assert(has_problem("error 39"));
    ck_assert(has_problem("offchip import"));
    ck_assert_int_eq(access(path, F_OK), -1);
    recorder_release(&result);
}
END_TEST

START_TEST(refused_counters_are_reported_and_kernels_still_recorded)
{
    const char *path = testing_file("t.db");
    record(path, "forbidden", "init context play");
    struct counted c = count(path);
    ck_assert_uint_eq(c.kinds[RECORD_KERNEL], 1);
    ck_assert_uint_eq(c.kinds[RECORD_MIGRATE_H2D], 0);
    ck_assert(has_problem("ERR_NVGPUCTRPERM"));
    recorder_release(&result);
}
END_TEST

START_TEST(counters_that_are_not_ready_at_the_first_context_are_tried_again)
{
    const char *path = testing_file("t.db");
    record(path, "notready", "init context play");
    expect_all(path);
    recorder_release(&result);
}
END_TEST

START_TEST(an_older_cupti_with_fewer_counter_kinds_records_what_it_knows)
{
    const char *path = testing_file("t.db");
    record(path, "oldcupti", "init context play");
    expect_all(path);
    ck_assert(has_problem("counter kind 5"));
    recorder_release(&result);
}
END_TEST

START_TEST(a_flush_that_fails_loses_records_but_not_the_program)
{
    const char *path = testing_file("t.db");
    record(path, "flushfails", "init context play exit:3");
    ck_assert_int_eq(WEXITSTATUS(result.status), 3);
    recorder_release(&result);
}
END_TEST

START_TEST(a_program_without_cuda_is_run_and_nothing_is_written)
{
    const char *path = testing_file("t.db");
    record(path, NULL, "exit:4");
    ck_assert_int_eq(WEXITSTATUS(result.status), 4);
    ck_assert_uint_eq(result.file_count, 0);
    ck_assert_int_eq(access(path, F_OK), -1);
    recorder_release(&result);
}
END_TEST

START_TEST(a_forked_child_neither_records_nor_holds_the_recording_up)
{
    const char *path = testing_file("t.db");
    record(path, NULL, "init context child play");
    ck_assert_uint_eq(result.file_count, 1);
    ck_assert(result.files[0].complete);
    expect_all(path);
    recorder_release(&result);
}
END_TEST

START_TEST(each_process_gets_a_file_of_its_own)
{
    record(testing_file("t-%p.db"), NULL, "init context play spawn:init+context+play");
    ck_assert_uint_eq(result.file_count, 2);
    for (size_t i = 0; i < 2; i++) {
        char number[32];
        (void)snprintf(number, sizeof number, "t-%lld.db", (long long)result.files[i].process);
        ck_assert_ptr_nonnull(strstr(result.files[i].path, number));
        expect_all(result.files[i].path);
    }
    recorder_release(&result);
    record(testing_file("u.db"), NULL, "init context play spawn:init+context+play");
    ck_assert_uint_eq(result.file_count, 2);
    ck_assert_str_ne(result.files[0].path, result.files[1].path);
    expect_all(result.files[0].path);
    expect_all(result.files[1].path);
    recorder_release(&result);
}
END_TEST

START_TEST(a_program_that_closes_all_descriptors_is_not_written_into)
{
    const char *path = testing_file("t.db");
    record(path, NULL, "init context closeall play exit:2");
    ck_assert_int_eq(WEXITSTATUS(result.status), 2);
    ck_assert(!result.files[0].complete);
    recorder_release(&result);
}
END_TEST

START_TEST(another_socket_in_place_of_ours_is_not_written_into)
{
    record(testing_file("t.db"), NULL, "init context sleep:300 impostor play sleep:300 received exit:2");
    ck_assert_int_eq(WEXITSTATUS(result.status), 2);
    ck_assert(!result.files[0].complete);
    recorder_release(&result);
}
END_TEST

START_TEST(a_program_that_cannot_be_run_is_an_error_that_names_it)
{
    char *argv[] = {"/nonexistent/app", NULL};
    testing_find_build("liboffchip_inject.so");
    const struct recorder_options options = {
        .output = testing_file("never.db"), .cupti = "/nonexistent", .command_line = "", .argv = argv};
    ck_assert_int_eq(recorder_run(&options, &result, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "/nonexistent/app"));
    recorder_release(&result);
}
END_TEST

START_TEST(an_existing_file_is_not_replaced)
{
    const char *path = testing_write("mine.db", "mine", 4);
    char *argv[] = {"true", NULL};
    const struct recorder_options options = {.output = path, .cupti = "x", .command_line = "", .argv = argv};
    ck_assert_int_eq(recorder_run(&options, &result, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "exists"));
    recorder_release(&result);
}
END_TEST

START_TEST(what_stands_in_the_way_is_said_before_the_program_runs)
{
    char warning[300];
    struct recorder_options options = {.cupti = "x"};
    testing_find_build("liboffchip_inject.so");
    setenv("CUDA_INJECTION64_PATH", "/opt/other.so", 1);
    ck_assert_int_eq(recorder_check(&options, warning, sizeof warning, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "/opt/other.so"));
    unsetenv("CUDA_INJECTION64_PATH");
    setenv("OFFCHIP_INJECT", "/nonexistent.so", 1);
    ck_assert_int_eq(recorder_check(&options, warning, sizeof warning, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "/nonexistent.so"));
}
END_TEST

TEST_MAIN("recorder")
