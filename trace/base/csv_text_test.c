#include "trace/base/csv_text.h"

#include "trace/base/testing.h"

static char *put(const char *text, bool one_line)
{
    char *cell;
    size_t n;
    FILE *f = open_memstream(&cell, &n);
    csv_text_put(f, text, one_line);
    ck_assert_int_eq(fclose(f), 0);
    return cell;
}

START_TEST(what_would_be_computed_is_marked_and_numbers_are_not)
{
    static const char *const marked[] = {"=1",   "=",    "@SUM(A1)", "+cmd", "-cmd", "-1+2", "-E5", "-2-3", "+A1",
                                         "\t=1", "-1..", "-5..x",    "--5",  "-0x5", "-inf", "'=1", "''"};
    static const char *const plain[] = {"-5",     "+5", "-.5", "-1.5e-3", "-5..3",
                                        "-5..-3", "-",  "+",   "5",       "a=b",
                                        "",       "'",  "'a",  "x-1",     "-9223372036854775808"};
    for (size_t i = 0; i < sizeof marked / sizeof *marked; i++) {
        char *cell = put(marked[i], false);
        ck_assert_msg(cell[0] == '\'' && strcmp(cell + 1, marked[i]) == 0, "%s gave %s", marked[i], cell);
        free(cell);
    }
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        char *cell = put(plain[i], false);
        ck_assert_str_eq(cell, plain[i]);
        free(cell);
    }
}
END_TEST

/* Every text of up to four of these signs, that has no line ends, is read back as it was. */
START_TEST(what_is_written_is_read_back)
{
    static const char signs[] = "='+-@\t,\"1.ex";
    const size_t base = sizeof signs;
    for (size_t code = 0; code < base * base * base * base; code++) {
        char text[5], back[16];
        size_t n = 0, m = 0;
        for (size_t rest = code; rest; rest /= base)
            if (rest % base)
                text[n++] = signs[rest % base - 1];
        text[n] = 0;
        char *cell = put(text, false), *p = cell;
        const bool quoted = *p == '"';
        for (p += quoted; *p && !(quoted && *p == '"' && p[1] != '"'); p++) {
            p += quoted && *p == '"';
            back[m++] = *p;
        }
        back[m] = 0;
        const size_t mark = csv_text_mark(back, m);
        ck_assert_msg(strcmp(back + mark, text) == 0, "%s as %s", text, cell);
        ck_assert(quoted == (strpbrk(text, ",\"") != NULL));
        free(cell);
    }
}
END_TEST

START_TEST(a_line_stays_one)
{
    char *cell = put("=a\nb\tc", true);
    ck_assert_str_eq(cell, "\"'=a b c\"");
    free(cell);
}
END_TEST

TEST_MAIN("csv_text")
