#include "replay/placement/placement.h"
#include "replay/run/save.h"

#include "replay/results/runs.h"
#include "trace/base/testing.h"

START_TEST(saved_runs_are_recognised_and_read_back)
{
    static const char text[] =
        "[a]\nbytes_hd = 1MiB\ncopies = 1\nkernels = 4\nkernel_bytes = 0..1MiB\ncompute_ms = 1\n";
    struct input input;
    WORKS(input_open(&input, testing_write("t.ini", text, sizeof text - 1), "", true, &err));
    struct replay_request request = {.engine = &engine_placement,
                                     .inputs = &input,
                                     .input_count = 1,
                                     .policy_list = "device,managed,pinned",
                                     .version = "1"};
    struct results *results = GIVES(results_open(testing_file("r.db"), RESULTS_APPEND, &err));
    struct replay_result result;
    bool usage;
    WORKS(replay_run(&request, &result, &usage, &err));
    WORKS(replay_saved(results, &request, &result, &err));
    WORKS(replay_save(results, &request, &result, 0, &err));
    RETURNS(replay_saved(results, &request, &result, &err), 1);
    request.version = "2";
    WORKS(replay_saved(results, &request, &result, &err));
    request.version = "1";
    WORKS(replay_save(results, &request, &result, 0, &err));
    RETURNS(results_count(results, &err), 3);
    replay_release(&result);
    results_close(results);

    struct run_set set = {0};
    WORKS(run_set_load(&set, testing_file("r.db"), &err));
    ck_assert_uint_eq(set.count, 3);
    ck_assert_str_eq(set.runs[1].policy, "managed");
    ck_assert(set.runs[0].baseline && !set.runs[1].baseline);
    double lo, hi, v;
    ck_assert(run_interval(&set.runs[1], "time_ns", &lo, &hi) && lo < hi);
    ck_assert(!run_metric(&set.runs[2], "time_ns", &v));
    ck_assert_uint_ge(json_array_size(set.runs[2].notes), 1);
    run_set_release(&set);
    input_close(&input);
}
END_TEST

TEST_MAIN("save")
