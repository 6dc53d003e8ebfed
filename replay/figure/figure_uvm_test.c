#include "replay/figure/figure_uvm.h"

#include "replay/uvm/uvm_recorded_testing.h"
#include "trace/store/store.h"

/* What a figure writes for these inputs; freed by the caller. NULL with *err set if it refuses. */
static char *script_of(const char *name, const struct figure_input *input, struct err *err)
{
    const struct figure *figure = figure_find(name);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(figure);
    int rc = plot_script(figure, input, out, err);
    (void)fclose(out);
    if (rc) {
        free(text);
        return NULL;
    }
    return text;
}

static const char results[] =
    "{\"schema\":1,\"engine\":\"uvm\",\"input\":\"synth:bicg,bytes=1GiB\",\"platform\":\"titanv\",\"runs\":["
    "{\"policy\":\"tree\",\"params\":{\"threshold\":51},\"metrics\":{\"time_ns\":1000,\"speedup_ratio\":1,\"r_p25\":0."
    "3,"
    "\"r_median\":0.4,\"r_p75\":27},\"interval\":{},\"notes\":[]},"
    "{\"policy\":\"fixed\",\"params\":{\"granularity\":\"4KiB\"},\"metrics\":{\"granularity_final_bytes\":4096,\"time_"
    "ns\":500,\"speedup_ratio\":2,"
    "\"r_p25\":0.2,\"r_median\":0.25,\"r_p75\":0.5},\"interval\":{},\"notes\":[]},"
    "{\"policy\":\"fixed\",\"params\":{\"granularity\":\"2MiB\"},\"metrics\":{\"granularity_final_bytes\":2097152,"
    "\"time_ns\":null,\"speedup_ratio\":null},"
    "\"interval\":{\"time_ns\":[500,2000],\"speedup_ratio\":[0.5,2]},\"notes\":[]}],"
    "\"baseline\":{\"policy\":\"tree\",\"params\":{\"threshold\":51}}}";

static void load_results(struct run_set *set, const char *text)
{
    json_t *root = json_loads(text, 0, NULL);
    struct err err = {""};
    ck_assert_ptr_nonnull(root);
    ck_assert_msg(run_set_add_json(set, root, "test", &err) == 0, "%s", err.msg);
    json_decref(root);
}

static bool gnuplot_missing(const char *message)
{
    return strstr(message, "not installed") != NULL;
}

START_TEST(figures_of_results_hold_every_run_and_draw)
{
    static const char *const names[] = {"uvm-speedup", "uvm-granularity", "uvm-locality"};
    struct run_set set = {0};
    load_results(&set, results);
    struct figure_input input = {.path = "r.json", .runs = &set};
    for (int i = 0; i < 3; i++) {
        struct err err = {""};
        char file[64];
        char *script = script_of(names[i], &input, &err);
        ck_assert_msg(script != NULL, "%s", err.msg);
        ck_assert_ptr_nonnull(strstr(script, "bicg"));
        free(script);
        (void)snprintf(file, sizeof file, "%s.png", names[i]);
        int rc = plot_draw(figure_find(names[i]), &input, testing_file(file), true, &err);
        ck_assert_msg(rc == 0 || gnuplot_missing(err.msg), "%s", err.msg);
    }
    run_set_release(&set);
}
END_TEST

START_TEST(an_interval_has_a_bar_at_its_geometric_middle_and_a_line_between_its_ends)
{
    struct run_set set = {0};
    struct err err = {""};
    load_results(&set, results);
    char *script = script_of("uvm-speedup", &(struct figure_input){.path = "r.json", .runs = &set}, &err);
    ck_assert_msg(script && strstr(script, " 1 0.5 2 \"bicg\"\n") && strstr(script, "yerrorbars"), "%s",
                  script ? script : err.msg);
    free(script);
    run_set_release(&set);
}
END_TEST

START_TEST(results_without_the_needed_numbers_are_refused_with_the_reason)
{
    struct run_set set = {0};
    struct err err = {""};
    struct figure_input input = {.path = "r.json", .runs = &set};
    ck_assert_ptr_null(script_of("uvm-speedup", &input, &err));
    ck_assert_ptr_nonnull(strstr(err.msg, "no run of the uvm engine"));
    load_results(&set, "{\"engine\":\"uvm\",\"input\":\"x\",\"runs\":[{\"policy\":\"tree\",\"metrics\":{}}]}");
    ck_assert_ptr_null(script_of("uvm-locality", &input, &err));
    ck_assert_ptr_nonnull(strstr(err.msg, "r_median"));
    ck_assert_ptr_null(script_of("uvm-granularity", &input, &err));
    run_set_release(&set);
}
END_TEST

START_TEST(the_setting_that_varies_most_is_the_axis_of_sensitivity)
{
    struct run_set set = {0};
    struct err err = {""};
    struct figure_input input = {.path = "r.json", .runs = &set};
    for (int i = 0; i < 3; i++) {
        char text[600];
        (void)snprintf(text, sizeof text,
                       "{\"engine\":\"uvm\",\"input\":\"synth:nw\",\"settings\":{\"oversubscription_pct\":%d,"
                       "\"service_ns\":%d},\"runs\":[{\"policy\":\"fixed\",\"params\":{},\"metrics\":"
                       "{\"speedup_ratio\":%d}}]}",
                       125 + i / 2, 4000 + i * 1000, i + 1);
        load_results(&set, text);
        if (i == 0) {
            ck_assert_ptr_null(script_of("uvm-sensitivity", &input, &err));
            ck_assert_ptr_nonnull(strstr(err.msg, "no setting differs"));
        }
    }
    char *script = script_of("uvm-sensitivity", &input, &err);
    ck_assert_msg(script != NULL, "%s", err.msg);
    ck_assert_ptr_nonnull(strstr(script, "service"));
    ck_assert_ptr_nonnull(strstr(script, "nw 125 %, fixed"));
    ck_assert_ptr_nonnull(strstr(script, "4000 1 1 1\n5000 2 2 2\n"));
    free(script);
    run_set_release(&set);
}
END_TEST

/* How many marks of a script stand in these ms. */
static size_t marks(const char *script, double from_ms, double to_ms)
{
    size_t count = 0;
    bool data = false;
    for (const char *line = script; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        char *end;
        const double ms = strtod(line, &end);
        data = strncmp(line, "$d", 2) == 0 || (data && strncmp(line, "EOD", 3) != 0);
        count += data && end != line && ms >= from_ms && ms < to_ms;
    }
    return count;
}

START_TEST(a_recording_gives_its_timeline_and_its_locality)
{
    static const char *const names[] = {"uvm-timeline", "uvm-locality"};
    struct tape t;
    struct err err = {""};
    const char *path = testing_file("t.db");
    tape_init(&t, "none", NULL, 0x40000000, 8 * UVM_BLOCK_BYTES);
    tape_cpu_writes(&t);
    tape_random(&t, 8, 60, 20, 3);
    struct stream stream = {.name = "uvm", .unit = TIME_NS, .space = ADDR_BYTES};
    int index;
    struct store *store = store_create(path, true, "test", &err);
    ck_assert_msg(store && store_stream_add(store, &stream, &index, &err) == 0 &&
                      store_append(store, index, t.records, NULL, t.count, &err) == 0 && store_finish(store, &err) == 0,
                  "%s", err.msg);
    store_close(store);
    store = store_open(path, &err);
    ck_assert_msg(store != NULL, "%s", err.msg);
    struct figure_input input = {.path = path, .store = store};
    for (int i = 0; i < 2; i++) {
        char file[64];
        char *script = script_of(names[i], &input, &err);
        ck_assert_msg(script != NULL, "%s", err.msg);
        free(script);
        (void)snprintf(file, sizeof file, "%s.svg", names[i]);
        int rc = plot_draw(figure_find(names[i]), &input, testing_file(file), true, &err);
        ck_assert_msg(rc == 0 || gnuplot_missing(err.msg), "%s", err.msg);
    }
    /* Windows side by side: every mark of the whole lies in one of them, with its own time. */
    char *whole = script_of("uvm-timeline", &input, &err);
    const int64_t half = 300000;
    input.window = true;
    input.to_ns = half;
    char *first = script_of("uvm-timeline", &input, &err);
    input.from_ns = half;
    input.to_ns = INT64_MAX;
    char *second = script_of("uvm-timeline", &input, &err);
    ck_assert_msg(whole && first && second, "%s", err.msg);
    ck_assert(marks(first, 0, half / 1e6) > 0 && marks(second, half / 1e6, 1e9) > 0 && marks(whole, 0, 1e9) > 0 &&
              marks(first, half / 1e6, 1e9) == 0 && marks(second, 0, half / 1e6) == 0);
    free(whole);
    free(first);
    free(second);
    input.from_ns = INT64_C(1) << 50;
    ck_assert_ptr_null(script_of("uvm-timeline", &input, &err));
    ck_assert_ptr_nonnull(strstr(err.msg, "no migration or fault begins in that part"));
    store_close(store);
    tape_release(&t);
}
END_TEST

TEST_MAIN("figure_uvm", figures_of_results_hold_every_run_and_draw,
          an_interval_has_a_bar_at_its_geometric_middle_and_a_line_between_its_ends,
          the_setting_that_varies_most_is_the_axis_of_sensitivity,
          results_without_the_needed_numbers_are_refused_with_the_reason,
          a_recording_gives_its_timeline_and_its_locality)
