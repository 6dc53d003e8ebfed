#include "cmd/console/printable.h"

#include <stdlib.h>

#include "cmd/console/opt.h"
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

#define FORTY "forty columns of a clause are these here"

static void shows(const char *note, const char *shown)
{
    ck_assert_uint_eq(notes_shown(note), strlen(shown));
    ck_assert_int_eq(strncmp(note, shown, strlen(shown)), 0);
}

START_TEST(a_long_note_ends_with_a_clause)
{
    shows("", "");
    shows("short; and whole: it stays", "short; and whole: it stays");
    shows(FORTY "; " FORTY "; " FORTY, FORTY "; " FORTY);
    shows(FORTY "; " FORTY ": " FORTY "; " FORTY, FORTY "; " FORTY);
    shows(FORTY ": " FORTY ": " FORTY, FORTY ": " FORTY);
    shows(FORTY FORTY FORTY FORTY, FORTY FORTY FORTY FORTY); /* there is no clause to end with */
    shows(FORTY FORTY FORTY FORTY "; x", FORTY FORTY FORTY FORTY);
    shows("synth:triad: " FORTY FORTY FORTY, "synth:triad: " FORTY FORTY FORTY); /* a name alone says nothing */
    shows("refused: " FORTY "; " FORTY "; " FORTY, "refused: " FORTY "; " FORTY "; " FORTY);
}
END_TEST

START_TEST(verbose_prints_all)
{
    opt_verbose = true;
    shows(FORTY "; " FORTY "; " FORTY, FORTY "; " FORTY "; " FORTY);
    opt_verbose = false;
}
END_TEST

/* What is shown is a beginning of the note that is short or has no clause inside, and ends where one does. */
START_TEST(every_note_is_cut_between_clauses)
{
    static const char *const pieces[] = {"; ", ": ", "word ", "12,345 ", FORTY};
    unsigned seed = 3;
    for (int round = 0; round < 2000; round++) {
        char note[600] = "a";
        for (int i = rand_r(&seed) % 12; i > 0; i--)
            strcat(note, pieces[rand_r(&seed) % 5]);
        const size_t n = notes_shown(note);
        ck_assert(n > 0 && n <= strlen(note));
        ck_assert(note[n] == 0 || note[n] == ';' || note[n] == ':');
        ck_assert(strlen(note) > NOTES_COLUMNS || note[n] == 0);
        if (n > NOTES_COLUMNS)
            for (size_t i = NOTES_LEAST + 1; i < n - 1; i++)
                ck_assert(strncmp(note + i, "; ", 2) != 0 && strncmp(note + i, ": ", 2) != 0);
    }
}
END_TEST

TEST_MAIN("printable")
