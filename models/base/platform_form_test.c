#include "models/base/platform.h"

#include "trace/base/testing.h"

static char text[300];

static int cut(const char *line, struct platform_form *form, struct err *err)
{
    (void)snprintf(text, sizeof text, "%s", line);
    return platform_form_cut(text, "k", form, err);
}

START_TEST(each_form_is_cut_into_its_parts)
{
    static const struct {
        const char *line;
        enum platform_kind kind;
        const char *value, *as, *low, *high, *why;
    } good[] = {
        {"80 | data sheet, table 1: 80 | 2", PLATFORM_SOURCED, "80", NULL, NULL, NULL, "data sheet, table 1: 80 | 2"},
        {"  1 MiB\t|  x ", PLATFORM_SOURCED, "1 MiB", NULL, NULL, NULL, "x"},
        {"80 | assumed 40..160: as a guess: yes", PLATFORM_ASSUMED, "80", NULL, "40", "160", "as a guess: yes"},
        {"free | assumed blocked..free : w", PLATFORM_ASSUMED, "free", NULL, "blocked", "free", "w"},
        {"0.5 | fitted -1..1e3: figure 2", PLATFORM_FITTED, "0.5", NULL, "-1", "1e3", "figure 2"},
        {"256 | as v100 128..256: same link", PLATFORM_AS, "256", "v100", "128", "256", "same link"},
        {"row:3 | assumed: linear", PLATFORM_ASSUMED, "row:3", NULL, NULL, NULL, "linear"},
        {"row:3 | as gv100: linear", PLATFORM_AS, "row:3", "gv100", NULL, NULL, "linear"},
        {"3 | assumedly so", PLATFORM_SOURCED, "3", NULL, NULL, NULL, "assumedly so"},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct platform_form f;
        struct err err = {""};
        ck_assert_msg(cut(good[i].line, &f, &err) == 0, "%s: %s", good[i].line, err.msg);
        ck_assert_int_eq(f.kind, good[i].kind);
        ck_assert_str_eq(f.value, good[i].value);
        ck_assert_pstr_eq(f.as, good[i].as);
        ck_assert_pstr_eq(f.low, good[i].low);
        ck_assert_pstr_eq(f.high, good[i].high);
        ck_assert_str_eq(f.why, good[i].why);
    }
}
END_TEST

START_TEST(what_is_no_form_says_what_was_expected)
{
    static const struct {
        const char *line, *says;
    } bad[] = {{"80", "k has no source; expected 'k = VALUE | where it comes from'"},
               {"80 | ", "k has an empty source"},
               {"80 | assumed", "expected 'k = VALUE | assumed LOW..HIGH: why'"},
               {"80 | assumed 40..160", "expected 'k = VALUE | assumed LOW..HIGH: why'"},
               {"80 | assumed 40..160:", "assumed LOW..HIGH: why"},
               {"80 | assumed 40: why", "assumed LOW..HIGH: why"},
               {"80 | assumed 40 .. 160: why", "assumed LOW..HIGH: why"},
               {"80 | assumed ..160: why", "assumed LOW..HIGH: why"},
               {"80 | assumed 40..: why", "assumed LOW..HIGH: why"},
               {"80 | fitted to figure 2", "fitted LOW..HIGH: to what"},
               {"80 | as v100, same chip", "as NAME LOW..HIGH: why"},
               {"80 | as: same chip", "as NAME LOW..HIGH: why"},
               {"80 | as v100 same 1..2: why", "as NAME LOW..HIGH: why"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct platform_form f;
        struct err err = {""};
        ck_assert_msg(cut(bad[i].line, &f, &err) == -1, "%s was taken", bad[i].line);
        ck_assert_msg(strstr(err.msg, bad[i].says) != NULL, "'%s' gave: %s", bad[i].line, err.msg);
    }
}
END_TEST

START_TEST(a_section_is_borrowed_with_a_factor_or_is_not_there)
{
    struct platform_form f;
    struct err err = {""};
    char borrowed[] = "titanv | 0.03..1.2: an older driver", none[] = "none | no page faults: compute capability 5.2";
    ck_assert_int_eq(platform_form_cut_section(borrowed, &f, &err), 0);
    ck_assert_str_eq(f.as, "titanv");
    ck_assert_str_eq(f.low, "0.03");
    ck_assert_str_eq(f.high, "1.2");
    ck_assert_str_eq(f.why, "an older driver");
    ck_assert_int_eq(platform_form_cut_section(none, &f, &err), 0);
    ck_assert_str_eq(f.as, "none");
    ck_assert_ptr_null(f.low);
    ck_assert_str_eq(f.why, "no page faults: compute capability 5.2");
    char no_range[] = "titanv | same chip", no_why[] = "titanv | 1..2:", no_name[] = " | 1..2: why", bare[] = "titanv";
    ck_assert_int_eq(platform_form_cut_section(no_range, &f, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "'as = NAME | LOW..HIGH: why'"));
    ck_assert_int_eq(platform_form_cut_section(no_why, &f, &err), -1);
    ck_assert_int_eq(platform_form_cut_section(no_name, &f, &err), -1);
    ck_assert_int_eq(platform_form_cut_section(bare, &f, &err), -1);
}
END_TEST

TEST_MAIN("platform_form", each_form_is_cut_into_its_parts, what_is_no_form_says_what_was_expected,
          a_section_is_borrowed_with_a_factor_or_is_not_there)
