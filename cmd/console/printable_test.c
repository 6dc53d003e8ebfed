#include "cmd/console/printable.h"

#include "trace/base/testing.h"

START_TEST(control_characters_become_question_marks_and_letters_stay)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"", ""},
        {"kernel<int>(a, b)", "kernel<int>(a, b)"},
        {"\x1b[31mred\x1b]0;title\x07", "?[31mred?]0;title?"},
        {"two\nlines\r\tand\x7f", "two?lines??and?"},
        {"\xc2\x9b"
         "31m and \xc2\xa0 stays",
         "??31m and \xc2\xa0 stays"},
        {"\xc3\xa9t\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9t\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"cut \xc2", "cut \xc2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "%s", cases[i].text);
        ck_assert_str_eq(printable(text), cases[i].shown);
    }
}
END_TEST

START_TEST(line_ends_of_the_format_stay_and_those_of_the_texts_do_not)
{
    char *text;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    printable_print(to, "%s: %d\n\n", "a\nb", 7);
    printable_print(to, "%s", "c\n");
    (void)fclose(to);
    ck_assert_str_eq(text, "a?b: 7\n\nc?");
    free(text);
}
END_TEST

TEST_MAIN("printable", control_characters_become_question_marks_and_letters_stay,
          line_ends_of_the_format_stay_and_those_of_the_texts_do_not)
