/* Figure tornado: which numbers are drawn, in which order, with which words. */
#include <jansson.h>

#include "replay/report/plot.h"
#include "trace/base/testing.h"

#define NUMBER(name, unit, low, high, value, low_margin, high_margin)                                                  \
    "{\"number\":\"" name "\",\"unit\":\"" unit "\",\"kind\":\"assumed\",\"low\":" low ",\"high\":" high               \
    ",\"value\":" value ",\"low_margin\":" low_margin ",\"high_margin\":" high_margin "}"

static const char made[] =
    "{\"robust\":{\"draws\":64,\"seed\":1,\"answers\":[\"tree\",\"none\"],\"wins\":[58,9],\"ties\":[3,3],"
    "\"best\":\"tree\",\"margin\":1.5,\"unanswered\":0,\"metric\":\"time_ns\",\"ties_within\":[0.15,0.15],"
    "\"numbers\":[" NUMBER("uvm.small_ns", "ns", "100", "20000", "300", "1.45", "1.6") "," NUMBER(
        "uvm.nothing", "ns", "1", "2", "1", "1.5",
        "1.5") "," NUMBER("uvm.utlb", "blocked|free", "\"blocked\"", "\"free\"", "\"free\"", "0.26",
                          "1.5") "," NUMBER("uvm.as", "factor", "0.25", "4", "1", "2.5",
                                            "1.1") "," NUMBER("gpu.lost", "bytes/s", "11000000000", "1e12", "2e10",
                                                              "1.2", "null") "]}}";

/* The script of the figure, or NULL with *err set; freed by the caller. */
static char *script_of(const struct figure_input *input, struct err *err)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int rc = plot_script(figure_find("tornado"), input, out, err);
    (void)fclose(out);
    if (rc) {
        free(text);
        return NULL;
    }
    return text;
}

START_TEST(numbers_stand_by_swing_with_the_values_of_both_ends)
{
    static const char *const rows[] = {"0 1.2 1.5 1.2 1.5 \"11 GB/s\" \"1000 GB/s (no lead)\" \"gpu.lost\"",
                                       "1 0.26 1.5 0.26 1.5 \"blocked\" \"free\" \"uvm.utlb\"",
                                       "2 2.5 1.1 1.1 2.5 \"times 4\" \"times 0.25\" \"uvm.as\"",
                                       "3 1.45 1.6 1.45 1.6 \"100 ns\" \"20000 ns\" \"uvm.small\\\\_ns\""};
    struct err err = {""};
    json_t *notes = json_array();
    struct figure_input input = {.path = testing_write("r.json", made, strlen(made)), .notes = notes};
    char *text = script_of(&input, &err);
    ck_assert_msg(text != NULL, "%s", err.msg);
    const char *last = text;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *at = strstr(text, rows[i]);
        ck_assert_msg(at > last, "%s\nin\n%s", rows[i], text);
        last = at;
    }
    ck_assert_ptr_null(strstr(text, "uvm.nothing"));
    ck_assert_ptr_nonnull(strstr(text, "1.5 as the platform is; wins in 58 of 64 draws"));
    ck_assert_ptr_nonnull(strstr(json_string_value(json_array_get(notes, 0)), "1 of 5 numbers"));
    free(text);
    int rc = plot_draw(figure_find("tornado"), &input, testing_file("robust.svg"), true, &err);
    ck_assert_msg(rc == 0 || strstr(err.msg, "not installed"), "%s", err.msg);

    json_t *root = json_loads(made, 0, NULL);
    struct figure_input object = {.path = "none", .json = json_object_get(root, "robust")};
    text = script_of(&object, &err);
    ck_assert_msg(text && strstr(text, rows[1]), "%s", err.msg);
    free(text);
    json_decref(root);
    json_decref(notes);
}
END_TEST

START_TEST(only_the_most_moving_are_drawn)
{
    json_t *numbers = json_array(), *notes = json_array();
    for (int i = 0; i < 40; i++) {
        const char *name = testing_text("n%d", i);
        json_array_append_new(numbers, json_pack("{s:s,s:s,s:i,s:i,s:f,s:f}", "number", name, "unit", "", "low", i,
                                                 "high", 99, "low_margin", 2.0, "high_margin", 2.0 + i * 0.1));
    }
    json_t *robust = json_pack("{s:f,s:s,s:o}", "margin", 2.0, "best", "a", "numbers", numbers);
    struct figure_input input = {.path = "none", .json = robust, .notes = notes};
    char *text = GIVES(script_of(&input, &err));
    ck_assert_ptr_nonnull(strstr(text, "\n0 2 5.9 2 5.9 \"39\" \"99\" \"n39\""));
    ck_assert_ptr_nonnull(strstr(text, "\"n24\""));
    ck_assert_ptr_null(strstr(text, "\"n23\""));
    ck_assert_ptr_nonnull(strstr(json_string_value(json_array_get(notes, 0)), "24 of 40 numbers"));
    free(text);
    json_decref(robust);
    json_decref(notes);
}
END_TEST

/* Leads, and the numbers at the axis: five to ten round ones over a range of less than 5, else 1, 2, 5, else decades.
 * The axis is 0.3 of the range's logarithm longer at both ends. */
START_TEST(tics_are_round_numbers_within_the_range)
{
    static const struct {
        double lo, margin, hi;
        const char *tics;
    } ranges[] = {
        {1, 1.1, 1.2, "'0.95' 0.95, '1' 1, '1.05' 1.05, '1.1' 1.1, '1.15' 1.15, '1.2' 1.2, '1.25' 1.25"},
        {1, 1.2, 1.5, "'0.9' 0.9, '1' 1, '1.1' 1.1, '1.2' 1.2, '1.3' 1.3, '1.4' 1.4, '1.5' 1.5, '1.6' 1.6"},
        {1, 1.2, 1.65, "'1' 1, '1.2' 1.2, '1.4' 1.4, '1.6' 1.6, '1.8' 1.8"},
        {1, 1.5, 2, "'1' 1, '1.2' 1.2, '1.4' 1.4, '1.6' 1.6, '1.8' 1.8, '2' 2, '2.2' 2.2, '2.4' 2.4"},
        {1, 1.2, 2.5, "'1' 1, '1.5' 1.5, '2' 2, '2.5' 2.5, '3' 3"},
        {0.8, 1.5, 2.4, "'1' 1, '2' 2"},
        {0.5, 1.5, 4, "'0.5' 0.5, '1' 1, '2' 2, '5' 5"},
        {0.02, 1.5, 30, "'0.01' 0.01, '0.1' 0.1, '1' 1, '10' 10, '100' 100"},
        {1, 1.002, 1.01,
         "'0.985' 0.985, '0.99' 0.99, '0.995' 0.995, '1' 1, '1.005' 1.005, '1.01' 1.01, '1.015' 1.015, '1.02' 1.02, "
         "'1.025' 1.025, '1.03' 1.03"},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        json_t *robust = json_pack("{s:f,s:s,s:[{s:s,s:s,s:i,s:i,s:f,s:f}]}", "margin", ranges[i].margin, "best", "a",
                                   "numbers", "number", "n", "unit", "", "low", 1, "high", 2, "low_margin",
                                   ranges[i].lo, "high_margin", ranges[i].hi);
        struct figure_input input = {.path = "none", .json = robust};
        char *text = GIVES(script_of(&input, &err));
        const char *tics = testing_text("\nset xtics (%s)\n", ranges[i].tics);
        ck_assert_msg(strstr(text, tics) != NULL, "no%s in\n%s", tics, text);
        free(text);
        json_decref(robust);
    }
}
END_TEST

START_TEST(what_holds_no_draws_is_refused)
{
    static const char *const texts[][2] = {
        {"{}", "has no \"robust\""},
        {"[", "has no \"robust\""},
        {"", "has no \"robust\""},
        {"{\"robust\":[]}", "has no \"robust\""},
        {"{\"robust\":{}}", "fewer than two policies"},
        {"{\"robust\":{\"margin\":null,\"numbers\":[]}}", "fewer than two policies"},
        {"{\"robust\":{\"margin\":\"x\",\"numbers\":7}}", "fewer than two policies"},
        {"{\"robust\":{\"margin\":2,\"numbers\":7,\"best\":{}}}", "no unknown number"},
        {"{\"robust\":{\"margin\":2,\"numbers\":[{\"low_margin\":2,\"high_margin\":2}]}}", "no unknown number"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct err err = {""};
        struct figure_input input = {.path = testing_write("bad.json", texts[i][0], strlen(texts[i][0]))};
        ck_assert_ptr_null(script_of(&input, &err));
        ck_assert_msg(strstr(err.msg, texts[i][1]), "%s: %s", texts[i][0], err.msg);
    }
    /* Nothing in it is what it should be, and still it is drawn or refused. */
    static const char odd[] =
        "{\"robust\":{\"margin\":2,\"best\":7,\"answers\":{},\"ties_within\":[\"x\",-1],\"numbers\":"
        "[3,{\"low_margin\":1e300,\"high_margin\":1e-300,\"low\":{},\"number\":\"a\\nb\\\"\"}]}}";
    struct err err = {""};
    struct figure_input input = {.path = testing_write("odd.json", odd, sizeof odd - 1)};
    char *text = script_of(&input, &err);
    ck_assert_msg(text && strstr(text, "\"a?b\\\"\""), "%s %s", err.msg, text ? text : "");
    free(text);
}
END_TEST

TEST_MAIN("figure_tornado")
