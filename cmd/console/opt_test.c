#include "cmd/console/opt.h"

#include <stdarg.h>

#include "trace/base/testing.h"

static const char *file, *words;
static bool force;
static int64_t count;
static struct opt_list sets;
static int format;
static const struct opt table[] = {{"output", 'o', OPT_TEXT, "FILE", &file, "result", 0, 0},
                                   {"words", 'w', OPT_JOIN, "LIST", &words, "several", 0, 0},
                                   {"force", 'f', OPT_FLAG, NULL, &force, "overwrite", 0, 0},
                                   {"count", 'n', OPT_INT, "N", &count, "how many", 1, 9},
                                   {"set", 0, OPT_LIST, "KEY=VALUE", &sets, "a setting", 0, 0},
                                   OPT_FORMAT(&format),
                                   {0}};

static int parse(struct err *err, int argc, ...)
{
    static char *argv[16];
    va_list ap;
    va_start(ap, argc);
    for (int i = 0; i < argc; i++)
        argv[i] = va_arg(ap, char *);
    va_end(ap);
    argv[argc] = NULL;
    int n = opt_parse(table, argc, argv, false, err);
    if (n > 0)
        ck_assert_str_eq(argv[0], "trace.db");
    return n;
}

START_TEST(options_and_operands_mix)
{
    RETURNS(parse(&err, 9, "x", "-f", "trace.db", "-oout", "--set", "a=1", "--set=b=2", "-n3", "--format=json"), 1);
    ck_assert(force);
    ck_assert_str_eq(file, "out");
    ck_assert_uint_eq(sets.count, 2);
    ck_assert_str_eq(sets.items[1], "b=2");
    ck_assert_int_eq(count, 3);
    ck_assert_int_eq(format, FORMAT_JSON);
    free((void *)sets.items);
}
END_TEST

START_TEST(what_is_given_twice_is_joined_or_refused)
{
    WORKS(parse(&err, 7, "x", "-w", "a,b", "--words=c", "-wd", "-f", "-f"));
    ck_assert_str_eq(words, "a,b,c,d");
    FAILS_AS(parse(&err, 3, "x", "-oa", "--output=b"), "--output is given twice");
    FAILS(parse(&err, 4, "x", "-n", "3", "--count=3"));
    FAILS(parse(&err, 3, "x", "--format=csv", "--format=csv"));
    WORKS(parse(&err, 2, "x", "-oa")); /* another command line */
}
END_TEST

START_TEST(wrong_usage_is_explained)
{
    FAILS_WITH(parse(&err, 2, "x", "--colour"), "--colour");
    FAILS_AS(parse(&err, 2, "x", "--outptu"), "unknown option '--outptu'; did you mean '--output'?");
    FAILS_WITH(parse(&err, 3, "x", "-n", "10"), "1 to 9");
    FAILS(parse(&err, 2, "x", "-o"));
    FAILS(parse(&err, 2, "x", "--force=1"));
    FAILS(parse(&err, 2, "x", "--format=xml"));
}
END_TEST

START_TEST(two_dashes_end_the_options)
{
    RETURNS(parse(&err, 4, "x", "--", "trace.db", "-f"), 2);
}
END_TEST

TEST_MAIN("opt")
