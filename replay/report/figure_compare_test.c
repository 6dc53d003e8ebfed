/* Figure compare-times: which rows stand where, with which ends. */
#include "replay/report/plot.h"
#include "replay/results/testing_runs.h"

#define RUN(policy, metrics, interval)                                                                                 \
    "{\"policy\":\"" policy "\",\"params\":{},\"metrics\":{" metrics "},\"interval\":{" interval "},\"notes\":[]}"

/* Only more than 200 us is known of it. */
#define BOUND "," RUN("managed (adaptive)", "\"time_ns\":null", "\"time_ns\":[200000,null]")

static const char made[] =
    "{\"schema\":1,\"engine\":\"compare\",\"input\":\"synth:x\",\"platform\":\"p\",\"settings\":{},\"runs\":[" RUN(
        "zerocopy (own)", "\"time_ns\":240000,\"h2d_bytes\":1048576,\"d2h_bytes\":524288,\"error_ratio\":0.5",
        "\"time_ns\":[240000,330000]") "," RUN("copy (cudaMemcpy)",
                                               "\"time_ns\":300000,\"h2d_bytes\":2097152,\"d2h_bytes\":0,\"error_"
                                               "ratio\":null",
                                               "") "," RUN("managed (tree)", "\"time_ns\":30000000",
                                                           "") "," RUN("managed (none)", "\"time_ns\":null", "") BOUND
    "]}";

static char *script_of(const char *name, json_t *notes, struct err *err)
{
    struct run_set runs = {0};
    testing_add_runs(&runs, "test", json_loads(made, 0, NULL));
    const struct figure_input input = {.path = "", .runs = &runs, .notes = notes};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    ck_assert_msg(plot_script(figure_find(name), &input, out, err) == 0, "%s", err->msg);
    (void)fclose(out);
    int rc = plot_draw(figure_find(name), &input, testing_file("figure.svg"), true, err);
    ck_assert_msg(rc == 0 || strstr(err->msg, "not installed"), "%s", err->msg);
    run_set_release(&runs);
    return text;
}

static void has(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "%s\nin\n%s", part, text);
}

/* Worked: 240 to 330 us with an error of 0.5 reach from 160 to 495 us; what was never measured has its own ends. */
START_TEST(times_stand_with_their_intervals_and_errors)
{
    json_t *notes = json_array();
    char *text = GIVES(script_of("compare-times", notes, &err));
    has(text, "0 0.24 0.24 0.33 0.16 0.495 \"240 to 330 us\" 1");
    has(text, "1 0.3 0.3 0.3 0.3 0.3 \"300 us\" 1");
    has(text, "2 30 30 30 30 30 \"30 ms\" 1"); /* none is filled: */
    has(text, "3 0.2 0.2 0.2 0.2 30 \"> 200 us\" 0");
    has(text, "\"managed (tree)\".\"}\" 2,");
    has(text, "set logscale x");
    bool said = false;
    size_t i;
    json_t *sentence;
    json_array_foreach(notes, i, sentence) said |=
        strstr(json_string_value(sentence), "1 of 5 runs are not drawn") != NULL;
    ck_assert(said);
    free(text);
    json_decref(notes);
}
END_TEST

TEST_MAIN("figure_compare")
