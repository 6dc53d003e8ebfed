#include "replay/report/html.h"

#include <string.h>

#include "trace/base/embedded.h"
#include "trace/base/testing.h"

START_TEST(names_cannot_become_markup)
{
    struct run_set set = {0};
    struct err err = {""};
    json_t *root =
        json_pack("{s:s,s:s,s:s,s:{},s:[{s:s,s:{},s:{s:f}},{s:s,s:{},s:{s:f}}]}", "engine", "none", "input",
                  "</script><script>alert(1)</script>", "platform", "x", "settings", "runs", "policy", "tree", "params",
                  "metrics", "time_ns", 2.0, "policy", "<b>&amp;", "params", "metrics", "time_ns", 1.0);
    ck_assert_msg(root && run_set_add_json(&set, root, "test", &err) == 0, "%s", err.msg);
    json_decref(root);
    char *text;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    ck_assert_int_eq(html_write(&set, "time_ns", "0.1", f, &err), 0);
    (void)fclose(f);
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

TEST_MAIN("html", names_cannot_become_markup)
