/* nearest: of the names that would have been right, the one that a misspelt one most resembles.
 *
 * Offer every name with nearest_offer(); nearest_hint() then gives the end of an error message. */
#ifndef TRACE_NEAREST_H
#define TRACE_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *word; /* as given; set by the caller, the rest zero */
    char best[64];
    size_t distance; /* of best, + 1; 0: nothing near was offered */
};

/* Consider a name. Near is: at most a third of the word wrong (one letter missing, wrong, too many or two swapped
 * counts one each), or the name begins with the word. */
void nearest_offer(struct nearest *nearest, const char *name);

/* "; did you mean 'tree'?", or "" if nothing near was offered. Returns buf. */
const char *nearest_hint(const struct nearest *nearest, char *buf, size_t size);

#endif
