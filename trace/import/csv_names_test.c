#include "trace/import/csv.c"

#include "trace/base/testing.h"

static struct field field(const char *text)
{
    return (struct field){text, strlen(text)};
}

START_TEST(columns_and_words_have_our_names)
{
    struct names names;
    struct err err = {""};
    const struct field ts = field("ts"), op = field("op"), other = field("pc"), r = field("R"), w = field("W"),
                       x = field("X");
    ck_assert_int_eq(names_init(&names, "[time=ts,kind=op]", "[R=DRAM_READ,W=DRAM_WRITE]", &err), 0);
    ck_assert_str_eq(names_missing(&names), "ts");
    ck_assert_str_eq(names_column(&names, &ts), "time");
    ck_assert_ptr_null(names_column(&names, &ts)); /* the second of that name is another one */
    ck_assert_ptr_null(names_column(&names, &other));
    ck_assert_str_eq(names_missing(&names), "op");
    ck_assert_str_eq(names_column(&names, &op), "kind");
    ck_assert_ptr_null(names_missing(&names));
    ck_assert_int_eq(names_kind(&names, &r), RECORD_DRAM_READ);
    ck_assert_int_eq(names_kind(&names, &w), RECORD_DRAM_WRITE);
    ck_assert_int_eq(names_kind(&names, &x), RECORD_NONE);
    names_release(&names);
    ck_assert_int_eq(names_init(&names, NULL, "PIM", &err), 0);
    ck_assert_int_eq(names.only, RECORD_PIM);
    names_release(&names);
}
END_TEST

START_TEST(names_that_make_no_sense_are_refused)
{
    static const struct {
        const char *columns, *kinds, *said;
    } cases[] = {{"time", NULL, "expected OURS=THEIRS"},
                 {"time=", NULL, "expected OURS=THEIRS"},
                 {"[]", NULL, "0 names"},
                 {"a=b,,c=d", NULL, "empty item"},
                 {NULL, "R", "stands for no kind"},
                 {NULL, "R=READ", "'READ' is no record kind"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct names names;
        struct err err = {""};
        ck_assert_int_eq(names_init(&names, cases[i].columns, cases[i].kinds, &err), -1);
        ck_assert_msg(strstr(err.msg, cases[i].said) != NULL, "%s", err.msg);
        names_release(&names);
    }
}
END_TEST

START_TEST(times_are_ns_whatever_their_unit)
{
    static const struct {
        const char *text;
        enum unit unit;
        bool good;
        int64_t ns;
    } cases[] = {{"12", UNIT_NS, true, 12},
                 {"12", UNIT_CYCLES, true, 12},
                 {"12", UNIT_US, true, 12000},
                 {"-1.5", UNIT_US, true, -1500},
                 {"-0.25", UNIT_MS, true, -250000},
                 {"0.0000000014", UNIT_S, true, 1},
                 {"0.0000000015", UNIT_S, true, 2},
                 {"1.9999", UNIT_US, true, 2000},
                 {"1.", UNIT_US, false, 0},
                 {"1.2", UNIT_NS, false, 0},
                 {"1.2x", UNIT_US, false, 0},
                 {".5", UNIT_US, false, 0},
                 {"", UNIT_US, false, 0},
                 {"4611686018427387903", UNIT_NS, true, RECORD_TIME_MAX},
                 {"4611686018427387904", UNIT_NS, false, 0},
                 {"4611686018.427387903", UNIT_S, true, RECORD_TIME_MAX},
                 {"4611686018.427387904", UNIT_S, false, 0},
                 {"-4611686018.427387904", UNIT_S, false, 0},
                 {"9223372036854775807", UNIT_S, false, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct field f = field(cases[i].text);
        int64_t ns = 0;
        ck_assert_msg(names_time(&f, cases[i].unit, &ns) == cases[i].good, "%s", cases[i].text);
        if (cases[i].good)
            ck_assert_int_eq(ns, cases[i].ns);
    }
}
END_TEST

TEST_MAIN("csv_names", columns_and_words_have_our_names, names_that_make_no_sense_are_refused,
          times_are_ns_whatever_their_unit)
