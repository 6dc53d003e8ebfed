#include "cmd/console/notes.h"

#include <stdlib.h>

#include "cmd/console/opt.h"
#include "trace/base/testing.h"

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

TEST_MAIN("notes", a_long_note_ends_with_a_clause, verbose_prints_all, every_note_is_cut_between_clauses)
