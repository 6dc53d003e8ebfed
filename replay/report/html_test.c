#include "replay/report/report.h"

#include <string.h>

#include "replay/results/testing_runs.h"
#include "trace/base/embedded.h"

/* Of time_ns; to be freed. */
static char *page_of(const struct run_set *set, json_t *missing)
{
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    WORKS(html_write(set, "time_ns", "0.1", f, missing, &err));
    (void)fclose(f);
    return text;
}

START_TEST(names_cannot_become_markup)
{
    struct run_set set = {0};
    testing_add_runs(&set, "test",
                     json_pack("{s:s,s:s,s:s,s:{},s:[{s:s,s:{},s:{s:f}},{s:s,s:{},s:{s:f}}]}", "engine", "none",
                               "input", "</script><script>alert(1)</script>", "platform", "x", "settings", "runs",
                               "policy", "tree", "params", "metrics", "time_ns", 2.0, "policy", "<b>&amp;", "params",
                               "metrics", "time_ns", 1.0));
    char *text = page_of(&set, NULL);
    const size_t n = strlen(text);
    ck_assert_ptr_null(strstr(text, "<script>alert"));
    ck_assert_ptr_null(strstr(text, "<b>&amp;"));
    ck_assert_ptr_nonnull(strstr(text, "\\u003cb\\u003e"));
    ck_assert_ptr_null(strstr(text, "@DATA@"));
    ck_assert_ptr_null(strstr(text, "http://"));
    ck_assert_ptr_null(strstr(text, "https://"));
    /* Before and behind the data stands the page, letter by letter. */
    const char *page = NULL;
    for (size_t i = 0; embedded_files[i].path; i++)
        page = strcmp(embedded_files[i].path, "replay/report/report.html") == 0 ? embedded_files[i].text : page;
    const char *hole = strstr(page, "@DATA@"), *behind = hole + strlen("@DATA@");
    ck_assert_int_eq(strncmp(text, page, (size_t)(hole - page)), 0);
    ck_assert_str_eq(text + n - strlen(behind), behind);
    text[n - strlen(behind)] = 0;
    json_t *data = json_loads(text + (hole - page), 0, NULL);
    ck_assert_str_eq(json_string_value(json_object_get(data, "version")), "0.1");
    ck_assert_uint_eq(json_array_size(json_object_get(data, "sections")), 1);
    json_decref(data);
    free(text);
    run_set_release(&set);
}
END_TEST

static int line(const struct figure_input *input, FILE *script, struct err *err)
{
    if (!input->path)
        return err_set(err, "nothing to draw");
    (void)fputs("set title ", script);
    plot_quote(script, input->path);
    (void)fputs("\nplot 2 title 'x'\n", script);
    return 0;
}

static const struct figure figure = {.name = "line", .kinds = FIGURE_SPEC, .width = 64, .height = 48, .write = line};

/* The bytes of base64, whole groups only, without loose bits; returns how many. */
static size_t decode(const char *text, unsigned char *out, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t n = 0;
    for (; *text; text += 4) {
        unsigned v = 0, fill = 0;
        for (int i = 0; i < 4; i++) {
            const char *digit = text[i] == '=' ? digits : strchr(digits, text[i]);
            ck_assert(text[i] && digit && (fill == 0 || text[i] == '='));
            fill += text[i] == '=';
            v = v << 6 | (unsigned)(digit - digits);
        }
        ck_assert(fill < 3 && n + 3 <= size && (fill == 0 || !text[4]) && (v & ((1u << 8 * fill) - 1)) == 0);
        for (unsigned i = 0; i < 3 - fill; i++)
            out[n++] = (unsigned char)(v >> (16 - 8 * i));
    }
    return n;
}

/* Titles of one to three letters more: files of every length modulo 3. */
START_TEST(the_text_is_the_drawing)
{
    static unsigned char decoded[1 << 18];
    unsigned lengths = 0;
    for (const char *title = "abc"; *title; title++) {
        const struct figure_input input = {.path = title};
        char *drawn, *text;
        size_t n;
        WORKS(plot_draw_bytes(&figure, &input, "x.svg", &drawn, &n, &err));
        WORKS(html_figure(&figure, &input, &text, &err));
        ck_assert(text && n > 100 && n < sizeof decoded);
        ck_assert_uint_eq(decode(text, decoded, sizeof decoded), n);
        ck_assert_mem_eq(decoded, drawn, n);
        free(drawn);
        lengths |= 1u << n % 3;
        free(text);
    }
    ck_assert_uint_eq(lengths, 7);
}
END_TEST

START_TEST(what_cannot_be_drawn_gives_no_text)
{
    const struct figure_input input = {.path = NULL};
    char *text;
    RETURNS(html_figure(&figure, &input, &text, &err), PLOT_NOTHING);
    ck_assert_ptr_null(text);
}
END_TEST

START_TEST(a_figure_that_fails_is_named_and_the_page_says_why)
{
    struct run_set set = {0};
    testing_add_runs(&set, "test",
                     json_pack("{s:s,s:s,s:s,s:{},s:[{s:s,s:{},s:{s:f}}]}", "engine", "none", "input", "x", "platform",
                               "x", "settings", "runs", "policy", "tree", "params", "metrics", "time_ns", 2.0));
    json_t *missing = json_array();
    ck_assert_int_eq(setenv("PATH", "/nonexistent", 1), 0);
    char *text = page_of(&set, missing);
    ck_assert_ptr_nonnull(strstr(text, "\"svg\":null,\"said\":[\"not drawn: gnuplot is not installed"));
    ck_assert_ptr_nonnull(strstr(json_string_value(json_array_get(missing, 0)), "figure bars of time_ns is not drawn"));
    free(text);
    json_decref(missing);
    run_set_release(&set);
}
END_TEST

TEST_MAIN("html")
