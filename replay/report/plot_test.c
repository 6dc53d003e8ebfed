#include "replay/report/plot.h"

#include <sys/stat.h>
#include <time.h>

#include "trace/base/testing.h"

static int line(const struct figure_input *input, FILE *script, struct err *err)
{
    if (!input->path)
        return err_set(err, "nothing to draw");
    (void)fputs("set title ", script);
    plot_quote(script, input->path);
    (void)fputs("\n$d << EOD\n1 1\n2 4\nEOD\nplot $d with linespoints title 'x'\n", script);
    return 0;
}

static int broken(const struct figure_input *input, FILE *script, struct err *err)
{
    (void)input;
    (void)err;
    (void)fputs("plot nosuchfunction(\n", script);
    return 0;
}

static const struct figure good = {
    .name = "good",
    .summary = "a line",
    .source = "ours",
    .kinds = FIGURE_SPEC,
    .width = 640,
    .height = 480,
    .write = line,
};
static const struct figure bad = {
    .name = "bad",
    .summary = "a mistake",
    .source = "ours",
    .kinds = FIGURE_SPEC,
    .width = 640,
    .height = 480,
    .write = broken,
};

static long size_of(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return -1;
    (void)fseek(f, 0, SEEK_END);
    long n = ftell(f);
    (void)fclose(f);
    return n;
}

START_TEST(a_figure_is_drawn_in_every_format)
{
    static const char *const names[] = {"it's a plot.svg", "a.png", "a.pdf"};
    struct figure_input input = {.path = "bytes_read \"$(id)\" `id` {x}^2"};
    for (size_t i = 0; i < 3; i++) {
        const char *path = testing_file(names[i]);
        WORKS(plot_draw(&good, &input, path, true, &err));
        ck_assert_int_gt(size_of(path), 500);
    }
}
END_TEST

START_TEST(the_same_figure_is_the_same_bytes_at_any_time)
{
    static const char *const names[] = {"svg", "png", "pdf"};
    struct figure_input input = {.path = "x"};
    const time_t start = time(NULL);
    char first[3][16], second[16], command[300];
    for (int i = 0; i < 3; i++) {
        (void)snprintf(first[i], sizeof first[i], "first.%s", names[i]);
        WORKS(plot_draw(&good, &input, testing_file(first[i]), true, &err));
    }
    while (time(NULL) <= start + 1) /* dates have seconds */
        (void)usleep(100000);
    for (int i = 0; i < 3; i++) {
        (void)snprintf(second, sizeof second, "second.%s", names[i]);
        WORKS(plot_draw(&good, &input, testing_file(second), true, &err));
        (void)snprintf(command, sizeof command, "cd %s && cmp %s %s", testing_path, first[i], second);
        ck_assert_int_eq(system(command), 0);
    }
}
END_TEST

START_TEST(failures_leave_no_file_and_say_why)
{
    struct figure_input input = {.path = "x"};
    const char *path = testing_file("b.svg");
    FAILS_WITH(plot_draw(&bad, &input, path, true, &err), "gnuplot failed");
    ck_assert_int_eq(size_of(path), -1);
    input.path = NULL;
    FAILS_AS(plot_draw(&good, &input, path, true, &err), "figure good: nothing to draw");
    FAILS_WITH(plot_draw(&good, &input, "a.bmp", true, &err), ".svg, .png or .pdf");
}
END_TEST

/* Put a gnuplot of our own before the other: a shell script. */
static void stand_in(const char *script)
{
    char path[5000];
    const char *folder = testing_file("bin");
    FILE *f;
    (void)mkdir(folder, 0777);
    ck_assert_ptr_nonnull(f = fopen(testing_file("bin/gnuplot"), "w"));
    (void)fprintf(f, "#!/bin/sh\n%s\n", script);
    ck_assert(fclose(f) == 0 && chmod(testing_file("bin/gnuplot"), 0755) == 0);
    (void)snprintf(path, sizeof path, "%s:%s", folder, getenv("PATH"));
    ck_assert_int_eq(setenv("PATH", path, 1), 0);
}

/* Whose exit status is 0, as gnuplot's is whatever it could write. */
START_TEST(a_drawing_that_is_cut_off_is_none)
{
    static const char *const cut[][2] = {{"c.svg", "printf '<?xml?><svg>'"},
                                         {"c.svg", ":"},
                                         {"c.png", "printf '\\211PNG\\r\\n'; head -c 999 /dev/zero"},
                                         {"c.pdf", "printf '%%PDF-1.5 and so on'"},
                                         {"c.svg", "kill -9 $$"}};
    struct figure_input input = {.path = "x"};
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        const char *path = testing_write(cut[i][0], "old", 3);
        stand_in(cut[i][1]);
        FAILS_WITH(plot_draw(&good, &input, path, true, &err), i < 4 ? "cut off" : "signal 9");
        ck_assert_int_eq(size_of(path), 3);
    }
}
END_TEST

START_TEST(a_user_s_own_settings_do_not_reach_gnuplot)
{
    static const char *const names[] = {"GNUTERM",         "HOME", "GNUPLOT_LIB", "FIT_LOG", "XDG_CONFIG_HOME",
                                        "FONTCONFIG_FILE", "TZ",   "LANGUAGE"};
    struct figure_input input = {.path = "x", .notes = json_array()};
    char *bytes;
    size_t n;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void)setenv(names[i], "mine", 1);
    stand_in("echo '<?xml'; echo \"given $*.\"; env; echo '</svg>'; echo careful >&2");
    WORKS(plot_draw_bytes(&good, &input, "x.svg", &bytes, &n, &err));
    ck_assert(memmem(bytes, n, "given -d -.", 11) && memmem(bytes, n, "PATH=", 5) && !memmem(bytes, n, "mine", 4));
    ck_assert_str_eq(json_string_value(json_array_get(input.notes, 0)), "gnuplot says: careful");
    free(bytes);
    json_decref(input.notes);
}
END_TEST

START_TEST(text_cannot_act_as_gnuplot_code)
{
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    plot_quote(f, "a\"; system('id') $x `y` b_c\n ]>]]>");
    (void)fclose(f);
    ck_assert_str_eq(text, "\"a\\\"; system('id') \\$x \\`y\\` b\\\\_c? ]>]] >\"");
    free(text);
}
END_TEST

TEST_MAIN("plot")
