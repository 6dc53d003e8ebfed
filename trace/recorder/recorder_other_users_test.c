#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "trace/recorder/testing_recorder.h"
#include "trace/store/store.h"

/* The recorder beside others: another user of CUPTI, several devices and contexts, GPUs that reach all memory, kernels
 * that wait for each other. */

enum { EVENTS = 100 };

static struct recorder_result result;
static struct err err;

/* `devices` in turn are where the events go. */
static void record(const char *output, const char *mode, const char *arguments, int devices, bool counters)
{
    const struct recorder_options options = {
        .output = output, .unified_memory = !counters, .counters = counters, .counter_group = "l2"};
    char number[8];
    const char *path = testing_file("events.csv");
    FILE *f = fopen(path, "wb");
    for (int i = 1; i <= EVENTS; i++)
        (void)fprintf(f, "1,%d,%d,7f00%08x,4096,0,%d,0,0,2\n", 1000 + i * 10, 1005 + i * 10, i * 4096, i % devices);
    (void)fclose(f);
    setenv("STANDIN_EVENTS", path, 1);
    (void)snprintf(number, sizeof number, "%d", devices);
    setenv("STANDIN_DEVICES", number, 1);
    setenv("STANDIN_COUNTERS", "fixtures/standin/counters.csv", 1);
    testing_record(&options, mode, arguments, &result);
}

static struct store *recorded(const char *path)
{
    struct store *store = store_open(path, &err);
    ck_assert_msg(store, "%s", err.msg);
    return store;
}

static void expect(const char *path, uint64_t records, bool complete)
{
    struct store *store = recorded(path);
    ck_assert_uint_eq(store_stream(store, 0)->records, records);
    ck_assert_int_eq(store_complete(store), complete);
    store_close(store);
    ck_assert_int_eq(WEXITSTATUS(result.status), 0);
}

START_TEST(the_counters_of_all_devices_are_configured_once_whichever_contexts_follow)
{
    const char *path = testing_file("devices.db");
    record(path, NULL, "init context:0 context:1 context:3 context:1 play destroy:1 play", 4, false);
    expect(path, 2 * EVENTS, true);
    recorder_release(&result);
}
END_TEST

START_TEST(after_the_last_context_was_reset_the_next_one_is_recorded_again)
{
    const char *path = testing_file("reset.db");
    record(path, NULL, "init context:0 play destroy:0 context:0 play", 1, false);
    expect(path, 2 * EVENTS, true);
    recorder_release(&result);
}
END_TEST

START_TEST(a_program_that_profiles_itself_gets_cupti_and_keeps_what_was_recorded_before)
{
    const char *path = testing_file("back.db");
    record(path, NULL, "init context profiler sleep:200 play profile play sleep:50", 1, false);
    expect(path, EVENTS, false);
    ck_assert(testing_told("uses CUPTI itself (cuptiSubscribe())"));
    recorder_release(&result);
}
END_TEST

START_TEST(a_program_that_profiles_itself_from_the_start_is_not_refused_either)
{
    const char *path = testing_file("first.db");
    record(path, NULL, "profiler init profile context play", 1, false);
    ck_assert(testing_told("uses CUPTI itself"));
    expect(path, 0, false);
    recorder_release(&result);
}
END_TEST

START_TEST(a_library_that_could_profile_but_does_not_changes_nothing)
{
    const char *path = testing_file("linked.db");
    record(path, NULL, "profiler init context play", 1, false);
    expect(path, EVENTS, true);
    ck_assert_uint_eq(testing_problems, 0);
    recorder_release(&result);
}
END_TEST

START_TEST(memory_that_the_gpu_reaches_by_itself_is_named_where_nothing_was_seen)
{
    static const char *const modes[] = {"hmm", "ats"}, *const words[] = {"(HMM)", "(ATS)"};
    for (int i = 0; i < 2; i++) {
        const char *path = testing_file(modes[i]);
        record(path, modes[i], "init context sleep:50", 1, false);
        ck_assert(testing_told(words[i]));
        struct store *store = recorded(path);
        ck_assert_ptr_nonnull(store_origin_get(store, "unseen"));
        store_close(store);
        recorder_release(&result);
        record(path, modes[i], "init context alloc play sleep:50", 1, false);
        ck_assert_uint_eq(testing_problems, 0);
        recorder_release(&result);
    }
    const char *path = testing_file("none.db");
    record(path, "", "init context sleep:50", 1, false);
    struct store *store = recorded(path);
    ck_assert_ptr_null(store_origin_get(store, "unseen"));
    store_close(store);
    recorder_release(&result);
}
END_TEST

START_TEST(where_unified_memory_is_refused_it_is_said_what_to_do_and_the_program_runs)
{
    static const struct {
        const char *fail, *words;
    } refusals[] = {{"cuptiActivityConfigure=31", "multi-process service (MPS)"},
                    {"cuptiActivityConfigure=43", "partitioned"},
                    {"cuptiActivityConfigure=45", "WSL"},
                    {"cuptiActivityConfigure=41", "confidential"},
                    {"cuptiActivityConfigure=30", "CUDA_VISIBLE_DEVICES"}};
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        setenv("STANDIN_FAIL", refusals[i].fail, 1);
        record(testing_file("refused.db"), NULL, "init context play", 1, false);
        ck_assert_msg(testing_told(refusals[i].words), "%s", refusals[i].words);
        ck_assert_int_eq(WEXITSTATUS(result.status), 0);
        recorder_release(&result);
    }
    unsetenv("STANDIN_FAIL");
}
END_TEST

START_TEST(a_kernel_that_does_not_come_back_is_told_while_it_waits)
{
    setenv("OFFCHIP_RECORD_STUCK_S", "1", 1);
    record(testing_file("hang.db"), "hang", "init context kernel:bfs_naive", 1, true);
    ck_assert(testing_told("waits for ever"));
    ck_assert_int_eq(WEXITSTATUS(result.status), 0); /* the launch comes back after a while */
    recorder_release(&result);
}
END_TEST

TEST_MAIN("recorder_other_users")
