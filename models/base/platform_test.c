#include "models/base/platform.h"

#include "models/gpu/gpu.h"
#include "trace/base/testing.h"

static struct platform *load(const char *text, struct err *err)
{
    return platform_load(testing_write("x.ini", text, strlen(text)), err);
}

START_TEST(every_shipped_platform_loads)
{
    char name[64];
    size_t n = 0;
    for (; platform_shipped(n, name, sizeof name); n++) {
        struct err err = {""};
        struct platform *p = platform_load(name, &err);
        ck_assert_msg(p != NULL, "%s: %s", name, err.msg);
        ck_assert_str_eq(platform_name(p), name);
        ck_assert_str_ne(platform_summary(p), "");
        platform_free(p);
    }
    ck_assert_uint_ge(n, 3);
}
END_TEST

START_TEST(a_file_can_start_from_a_shipped_platform)
{
    struct err err = {""};
    struct platform *p = load("[platform]\nname = mine\nbase = h200\n[gpu]\nsms = 66 | half of it\n", &err);
    ck_assert_msg(p != NULL, "%s", err.msg);
    const struct gpu *gpu = platform_section_get(p, "gpu");
    ck_assert_str_eq(platform_name(p), "mine");
    ck_assert_int_eq(gpu->sms, 66);
    ck_assert_int_eq(gpu->l1_bytes, 262144);
    ck_assert_str_eq(platform_source(p, "gpu", "sms"), "half of it");
    ck_assert(platform_has(p, "gpu"));
    platform_free(p);
}
END_TEST

START_TEST(wrong_files_name_the_line)
{
    static const struct {
        const char *text, *says;
    } bad[] = {{"[gpu]\nsms = 66\n", "x.ini:2: sms has no source"},
               {"[gpu]\nsms = 66 |\n", "x.ini:2: sms has an empty source"},
               {"[gpu]\nsms = 0 | s\n", "x.ini:2: sms is 0; expected 1 to 1024"},
               {"[gpu]\ncores = 3 | s\n", "'cores' is not a known parameter"},
               {"[fpga]\nx = 3 | s\n", "[fpga] is not a known section"},
               {"[platform]\ncolour = red\n", "'colour' is not known"},
               {"[platform]\nbase = nothing\n", "no platform is called 'nothing'"},
               {"rubbish\n", "x.ini:1: found 'rubbish'; expected '[section]'"},
               {"[gpu]\nsms = 66 | s\nsms = 67 | s\n", "x.ini:3: sms is given again"},
               {"sms = 66 | s\n[gpu]\n", "x.ini:1: 'sms = 66 | s' stands before the first [section]"},
               {"[fpga]\n", "x.ini:1: [fpga] is not a known section"},
               {"", "x.ini: no number in it; expected a section"},
               {"[platform]\nname = mine\n[gpu]\n", "x.ini: no number in it; expected a section"},
               {"[platform]\nname = 1234567890123456789012345678901234567890123456789012345678901234\n",
                "x.ini:2: name has 64 bytes; expected at most 63"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = {""};
        ck_assert_ptr_null(load(bad[i].text, &err));
        ck_assert_msg(strstr(err.msg, bad[i].says) != NULL, "'%s' gave: %s", bad[i].text, err.msg);
    }
    struct err err = {""};
    ck_assert_ptr_null(platform_load("/nowhere/x.ini", &err));
    ck_assert_ptr_nonnull(strstr(err.msg, "cannot open"));
}
END_TEST

/* A comment whose byte 199 is followed by `sms = 7`, and a source of 1,000 bytes. */
START_TEST(long_lines_are_one_line)
{
    char text[2000];
    int n = snprintf(text, sizeof text, "[gpu]\nsms = 66 | s\n; %196s sms = 7 | x\nl2_bytes = 1MiB | ", "");
    memset(text + n, 's', 1000);
    text[n + 1000] = 0;
    struct err err = {""};
    struct platform *p = load(text, &err);
    ck_assert_msg(p != NULL, "%s", err.msg);
    ck_assert_int_eq(((const struct gpu *)platform_section_get(p, "gpu"))->sms, 66);
    ck_assert_str_eq(platform_source(p, "gpu", "sms"), "s");
    ck_assert_uint_eq(strlen(platform_source(p, "gpu", "l2_bytes")), 1000);
    platform_free(p);
}
END_TEST

START_TEST(what_is_no_file_is_no_platform)
{
    static const char *const paths[] = {"/", "/dev/null", "/dev/zero", "/proc/self/mem"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct err err = {""};
        ck_assert_ptr_null(platform_load(paths[i], &err));
        ck_assert_ptr_nonnull(strstr(err.msg, paths[i]));
    }
}
END_TEST

START_TEST(a_base_that_names_itself_ends)
{
    struct err err = {""};
    char text[300];
    (void)snprintf(text, sizeof text, "[platform]\nbase = %s\n", testing_file("x.ini"));
    ck_assert_ptr_null(load(text, &err));
    ck_assert_ptr_nonnull(strstr(err.msg, "levels deep"));
}
END_TEST

START_TEST(numbers_can_be_set_by_key_or_section_and_key)
{
    struct err err = {""};
    struct platform *p = platform_load("titanv", &err);
    ck_assert_int_eq(platform_set(p, "sms", "4", NULL, &err), 0);
    ck_assert_int_eq(platform_set(p, "gpu.l2_bytes", "1MiB", NULL, &err), 0);
    const struct gpu *gpu = platform_section_get(p, "gpu");
    ck_assert_int_eq(gpu->sms, 4);
    ck_assert_int_eq(gpu->l2_bytes, 1 << 20);
    ck_assert_int_eq(platform_set(p, "uvm.sms", "4", NULL, &err), -1);
    platform_free(p);
}
END_TEST

TEST_MAIN("platform", every_shipped_platform_loads, a_file_can_start_from_a_shipped_platform, wrong_files_name_the_line,
          long_lines_are_one_line, what_is_no_file_is_no_platform, a_base_that_names_itself_ends,
          numbers_can_be_set_by_key_or_section_and_key)
