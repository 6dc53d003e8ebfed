#include "cmd/console/lines.h"

#include <stdlib.h>

#include "trace/base/testing.h"

/* What lines_print() makes of text where a line has so many columns; "" of columns: nobody says. */
static const char *printed(const char *columns, const char *text)
{
    static char out[512];
    const char *path = testing_file("lines");
    setenv("COLUMNS", columns, 1);
    FILE *f = fopen(path, "w+");
    lines_print(f, text);
    rewind(f);
    out[fread(out, 1, sizeof out - 1, f)] = 0;
    (void)fclose(f);
    return out;
}

START_TEST(a_line_ends_behind_words_and_marks)
{
    ck_assert_uint_eq(lines_piece("one two"), 4);
    ck_assert_uint_eq(lines_piece("a=1,b=2"), 4);
    ck_assert_uint_eq(lines_piece("a, b"), 3);
    ck_assert_uint_eq(lines_piece("1,234,567 x"), 10); /* not inside a number */
    ck_assert_uint_eq(lines_piece("12,34"), 3);
    ck_assert_uint_eq(lines_piece(""), 0);
    ck_assert_uint_eq(lines_bytes("one two three", 7), 8); /* the space at the end does not count */
    ck_assert_uint_eq(lines_bytes("one two three", 6), 4);
    ck_assert_uint_eq(lines_bytes("one two three", 1), 4);
    ck_assert_uint_eq(lines_bytes("one two three", 13), 13);
    ck_assert_uint_eq(lines_columns("caf\xc3\xa9", 5), 4);
}
END_TEST

START_TEST(long_texts_go_on_further_in)
{
    ck_assert_str_eq(printed("20", "one two three four five six"), "one two three four\n  five six\n");
    ck_assert_str_eq(printed("20", "  one two three four five six"), "  one two three four\n    five six\n");
    ck_assert_str_eq(printed("20", "12345678901234567890"), "12345678901234567890\n");
    ck_assert_str_eq(printed("20", "a word_that_is_longer_than_lines b"), "a\n  word_that_is_longer_than_lines\n  b\n");
    ck_assert_str_eq(printed("", "one two three four five six seven"), "one two three four five six seven\n");
    ck_assert_str_eq(printed("x", "one two three four five six seven"), "one two three four five six seven\n");
    ck_assert_str_eq(printed("20", ""), "\n");
}
END_TEST

/* Nothing is lost or added but spaces, and no line with two pieces is too long. */
START_TEST(every_width_keeps_every_piece)
{
    static const char text[] = "  prefetch + eviction: tree,none|fixed; 4 KiB,64 KiB,2 MiB  of  each";
    char columns[8];
    for (int room = 20; room < 90; room++) {
        (void)snprintf(columns, sizeof columns, "%d", room);
        const char *p = text, *out = printed(columns, text);
        for (const char *q = out; *q; q++)
            if (*q != ' ' && *q != '\n') {
                p += strspn(p, " ");
                ck_assert_int_eq(*q, *p++);
            }
        ck_assert_str_eq(p + strspn(p, " "), "");
        for (const char *line = out; *line; line += strcspn(line, "\n") + 1)
            ck_assert_uint_le(strcspn(line, "\n"), (size_t)room);
    }
}
END_TEST

TEST_MAIN("lines", a_line_ends_behind_words_and_marks, long_texts_go_on_further_in, every_width_keeps_every_piece)
