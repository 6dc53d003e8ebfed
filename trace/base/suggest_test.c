#include "trace/base/suggest.h"

#include "trace/base/testing.h"

static const char *hint(const char *word)
{
    static const char *const names[] = {"tree",  "fixed", "adaptive", "adaptive-literal", "oversubscription_pct",
                                        "titanv"};
    static char buf[96];
    struct suggest suggest = {.word = word};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        suggest_offer(&suggest, names[i]);
    return suggest_hint(&suggest, buf, sizeof buf);
}

START_TEST(one_letter_wrong_missing_swapped_or_too_many)
{
    ck_assert_str_eq(hint("tre"), "; did you mean 'tree'?");
    ck_assert_str_eq(hint("treee"), "; did you mean 'tree'?");
    ck_assert_str_eq(hint("fixde"), "; did you mean 'fixed'?");
    ck_assert_str_eq(hint("adaptiv"), "; did you mean 'adaptive'?");
    ck_assert_str_eq(hint("titan"), "; did you mean 'titanv'?");
    ck_assert_str_eq(hint("oversubscription"), "; did you mean 'oversubscription_pct'?");
    ck_assert_str_eq(hint("literal"), "; did you mean 'adaptive-literal'?");
    ck_assert_str_eq(hint("adaptiveliteral"), "; did you mean 'adaptive-literal'?");
}
END_TEST

START_TEST(what_resembles_nothing_gets_no_hint)
{
    static const char *const far[] = {"",         "x",  "frfcfs",
                                      "loudness", "tr", "a-word-far-longer-than-any-name-that-stands-in-a-table"};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++)
        ck_assert_msg(*hint(far[i]) == 0, "'%s' gave %s", far[i], hint(far[i]));
}
END_TEST

TEST_MAIN("suggest")
