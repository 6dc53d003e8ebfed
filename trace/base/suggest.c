#include "trace/base/suggest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 48 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edits from a to b, neighbours that changed places counted once (optimal string alignment). */
static size_t edits(const char *a, size_t n, const char *b, size_t m)
{
    size_t rows[3][LONGEST + 1], *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++)
        last[j] = j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            row[j] = least(least(last[j], row[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[m];
}

void suggest_offer(struct suggest *suggest, const char *name)
{
    size_t n = strlen(suggest->word), m = strlen(name);
    if (n == 0 || m == 0 || n > LONGEST || m > LONGEST)
        return;
    size_t distance = edits(suggest->word, n, name, m), allowed = n < 6 ? 1 : n / 3;
    const char *dash = strchr(name, '-');
    const bool last = dash && dash > name && strcmp(dash + 1, suggest->word) == 0; /* "sizes" of "tlp-sizes" */
    if (n >= 3 && n < m && (last || memcmp(suggest->word, name, n) == 0))
        distance = least(distance, 1);
    if (distance > allowed || (suggest->distance && distance + 1 >= suggest->distance))
        return;
    suggest->distance = distance + 1;
    (void)snprintf(suggest->best, sizeof suggest->best, "%s", name);
}

const char *suggest_hint(const struct suggest *suggest, char *buf, size_t size)
{
    (void)snprintf(buf, size, suggest->distance ? "; did you mean '%s'?" : "%s", suggest->best);
    return buf;
}
