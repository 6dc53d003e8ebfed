#include "replay/run/robust.h"

#include <math.h>

#include "trace/base/param.h"
#include "trace/base/testing.h"

struct owner {
    int64_t mode, count;
    double gap;
};

static const struct param rows[] = {PARAM_CHOICE_ROW(owner, mode, "blocked|free", 0, ""),
                                    PARAM_INT_ROW(owner, count, "", 0, 1e9, 0, ""),
                                    PARAM_REAL_ROW(owner, gap, "ns", 0, 1e9, 0, ""),
                                    {0}};

static double errors[] = {0.15, 0.06, 0};
static uint32_t wins[] = {58, 9, 64}, ties[] = {3, 3, 0};
static bool nominal[] = {true, false, true};
static struct robust_number numbers[] = {{{"uvm", &rows[0], PLATFORM_ASSUMED, 0, 1, 1}, {0.5, 1.5}, {1, 0}},
                                         {{"uvm", &rows[1], PLATFORM_FITTED, 10, 20000000, 1000}, {1.5, 1.6}, {0, 0}},
                                         {{"uvm", NULL, PLATFORM_AS, 0.25, 4, 1}, {1.5, NAN}, {0, ROBUST_NONE}}};
static struct robust_flip flips[] = {
    {0, 0, 0, false, 1}, {1, 0, 12345678, false, 1}, {2, 1, 0.3125, true, ROBUST_NONE}};
static const char *const names[] = {"tree", "none", "all"};
static const struct robust made = {.draws = 64,
                                   .seed = 7,
                                   .answers = 3,
                                   .errors = errors,
                                   .wins = wins,
                                   .ties = ties,
                                   .nominal = nominal,
                                   .best = 0,
                                   .margin = 1.5,
                                   .none = 2,
                                   .numbers = numbers,
                                   .number_count = 3,
                                   .flips = flips,
                                   .flip_count = 3};

START_TEST(a_sentence_says_wins_and_flips)
{
    char buf[900];
    ck_assert_str_eq(robust_say(&made, 0, buf, sizeof buf),
                     "not robust: wins in 58 of 64 draws (3 of them tied); flips "
                     "when uvm.mode=blocked, uvm.count=12345678");
    ck_assert_str_eq(robust_say(&made, 1, buf, sizeof buf),
                     "wins in 9 of 64 draws (3 of them tied); would win when uvm.as=0.3125");
    ck_assert_str_eq(robust_say(&made, 2, buf, sizeof buf),
                     "robust: wins in 64 of 64 draws, and no number alone changes that");
    ck_assert_str_eq(robust_say_flips(&made, 0, buf, sizeof buf), "uvm.mode=blocked; uvm.count=12345678");
    ck_assert_str_eq(robust_say_flips(&made, 2, buf, sizeof buf), "");
    ck_assert_str_eq(robust_say_flips(&made, 0, buf, 10), "uvm.mode=");
}
END_TEST

/* With every flip the whole range wins, and still it is not robust. */
START_TEST(a_draw_that_is_lost_is_not_robust)
{
    char buf[200];
    struct robust r = made;
    r.flip_count = 0;
    ck_assert_str_eq(robust_say(&r, 0, buf, sizeof buf), "not robust: wins in 58 of 64 draws (3 of them tied)");
    ck_assert(!robust_holds(&r, 0) && robust_holds(&r, 2) && !robust_holds(&r, 1));
}
END_TEST

START_TEST(json_has_names_and_values_as_given)
{
    json_t *one = robust_answer_json(&made, 0, names), *all = robust_json(&made, names);
    char *text = json_dumps(one, JSON_COMPACT);
    ck_assert_pstr_eq(text, "{\"draws\":64,\"wins\":58,\"ties\":3,\"nominal\":true,\"flips\":[{\"number\":\"uvm.mode\","
                            "\"at\":\"blocked\",\"wins\":false,\"best\":\"none\"},{\"number\":\"uvm.count\",\"at\":"
                            "12345678,\"wins\":false,\"best\":\"none\"}]}");
    free(text);
    const json_t *number = json_array_get(json_object_get(all, "numbers"), 2);
    text = json_dumps(number, JSON_COMPACT);
    ck_assert_pstr_eq(text, "{\"number\":\"uvm.as\",\"unit\":\"factor\",\"kind\":\"as\",\"low\":0.25,\"high\":4.0,"
                            "\"value\":1.0,\"low_margin\":1.5,\"high_margin\":null,\"low_best\":\"tree\",\"high_best\":"
                            "null}");
    free(text);
    ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(all, "wins"), 1)), 9);
    ck_assert_double_eq(json_real_value(json_array_get(json_object_get(all, "ties_within"), 1)), 0.06);
    ck_assert_str_eq(json_string_value(json_object_get(all, "best")), "tree");
    ck_assert_int_eq(json_integer_value(json_object_get(all, "unanswered")), 2);
    json_decref(one);
    json_decref(all);
}
END_TEST

TEST_MAIN("robust_text")
