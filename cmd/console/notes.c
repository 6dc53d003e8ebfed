#include "cmd/console/notes.h"

#include <stdio.h>
#include <string.h>

#include "cmd/console/lines.h"
#include "cmd/console/opt.h"
#include "cmd/console/printable.h"

static size_t cut;

/* Where the last clause of the first n bytes ends, behind enough to say something; 0: there is none. */
static size_t clause(const char *note, size_t n)
{
    while (--n > NOTES_LEAST)
        if ((note[n] == ';' || note[n] == ':') && note[n + 1] == ' ')
            return n;
    return 0;
}

size_t notes_shown(const char *note)
{
    size_t n = strlen(note), shorter;
    if (opt_verbose || strncmp(note, "refused", strlen("refused")) == 0)
        return n;
    while (lines_columns(note, n) > NOTES_COLUMNS && (shorter = clause(note, n)) > 0)
        n = shorter;
    return n;
}

void notes_print(const char *whose, const char *note)
{
    const size_t n = notes_shown(note);
    cut += note[n] != 0;
    printable_print(stdout, "%s: %.*s%s\n", whose, (int)n, note, note[n] ? " .." : "");
}

void notes_say_cut(void)
{
    if (cut)
        printable_print(stdout, "notes that end in .. are cut: -v prints all of them\n");
    cut = 0;
}
