#include "trace/import/text_table.h"

#include <string.h>

#include "trace/base/testing.h"
#include "trace/event/record.h"

static struct field field(const char *text)
{
    return (struct field){text, strlen(text)};
}

START_TEST(cells_of_every_separator_are_trimmed)
{
    static const struct {
        const char *line;
        char separator;
        size_t n;
        const char *cells[4];
    } cases[] = {{"a, \"b, \"\"c\"\"\" ,-", ',', 3, {"a", "b, \"c\"", ""}},
                 {"a\t\tc", '\t', 3, {"a", "", "c"}},
                 {"a;b c;", ';', 3, {"a", "b c", ""}},
                 {"  a \t b", ' ', 2, {"a", "b"}},
                 {"  12ms  -    (64 1 1)  f(int)  ", '_', 4, {"12ms", "", "(64 1 1)", "f(int)"}},
                 {"a,\"b", ',', 0, {NULL}},
                 {"", ',', 1, {""}},
                 {" ", ' ', 0, {NULL}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[64];
        struct field cells[TEXT_TABLE_COLUMNS];
        (void)snprintf(line, sizeof line, "%s", cases[i].line);
        ck_assert_uint_eq(text_table_split(line, cases[i].separator, cells), cases[i].n);
        for (size_t c = 0; c < cases[i].n; c++)
            ck_assert_msg(field_is(&cells[c], cases[i].cells[c]), "%zu, %zu: '%.*s'", i, c, (int)cells[c].length,
                          cells[c].text);
    }
    static char many[2 * TEXT_TABLE_COLUMNS + 2];
    struct field cells[TEXT_TABLE_COLUMNS];
    memset(many, ',', sizeof many - 1);
    ck_assert_uint_eq(text_table_split(many, ',', cells), 0);
}
END_TEST

START_TEST(numbers_are_ns_and_bytes_whatever_their_unit)
{
    const struct text_unit none = {QUANTITY_NONE, 1}, ns = {QUANTITY_TIME, 1}, us = {QUANTITY_TIME, 1000},
                           ms = {QUANTITY_TIME, 1000000}, s = {QUANTITY_TIME, 1000000000}, byte = {QUANTITY_BYTES, 1},
                           mb = {QUANTITY_BYTES, 1000000};
    const struct {
        const char *text;
        struct text_unit unit;
        bool binary, good;
        int64_t value;
    } cases[] = {{"12", ns, false, true, 12},
                 {"12", us, false, true, 12000},
                 {"-1.5", us, false, true, -1500},
                 {"-0.25", ms, false, true, -250000},
                 {"0.0000000014", s, false, true, 1},
                 {"0.0000000015", s, false, true, 2},
                 {"1.9999", us, false, true, 2000},
                 {"1.5ms", ns, false, true, 1500000},
                 {"7 us", ms, false, true, 7000},
                 {"1,048,576", ns, false, true, 1048576},
                 {"10,48", ns, false, false, 0},
                 {"1,0485", ns, false, false, 0},
                 {"0x10", none, false, true, 16},
                 {"0x10", us, false, false, 0},
                 {"1.", us, false, false, 0},
                 {"1.2", ns, false, false, 0},
                 {"1.2x", us, false, false, 0},
                 {"1MB", us, false, false, 0},
                 {".5", us, false, false, 0},
                 {"", us, false, false, 0},
                 {"4611686018427387903", ns, false, true, RECORD_TIME_MAX},
                 {"4611686018427387904", ns, false, false, 0},
                 {"4611686018.427387903", s, false, true, RECORD_TIME_MAX},
                 {"4611686018.427387904", s, false, false, 0},
                 {"9223372036854775807", s, false, false, 0},
                 {"99999999999999999999", ns, false, false, 0},
                 {"0.262", mb, false, true, 262144}, /* 261,500 to 262,499 print so */
                 {"2.097", mb, false, true, 2097152},
                 {"0.000", mb, false, true, 0},
                 {"2", mb, false, true, 2000000},
                 {"256.000000KB", byte, true, true, 262144},
                 {"0.007813MB", byte, true, true, 8192},
                 {"0.003906MB", byte, true, true, 4096},
                 {"3KB", byte, false, true, 3000},
                 {"3KiB", byte, false, true, 3072}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct field f = field(cases[i].text);
        int64_t value = 0;
        ck_assert_msg(text_table_number(&f, cases[i].unit, cases[i].binary, &value) == cases[i].good, "%s",
                      cases[i].text);
        if (cases[i].good)
            ck_assert_int_eq(value, cases[i].value);
    }
}
END_TEST

START_TEST(titles_may_say_a_unit)
{
    struct field title = field("Bytes (MB)"), plain = field("Reg/Trd"), other = field("Device (0)");
    const struct text_unit mb = text_table_title(&title, false);
    ck_assert(field_is(&title, "Bytes") && mb.quantity == QUANTITY_BYTES && mb.scale == 1000000);
    ck_assert_int_eq(text_table_title(&plain, false).quantity, QUANTITY_NONE);
    ck_assert_int_eq(text_table_title(&other, false).quantity, QUANTITY_NONE);
    ck_assert(field_is(&other, "Device (0)"));
}
END_TEST

TEST_MAIN("text_table")
