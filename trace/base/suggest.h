/* suggest: of the names that would have been right, the one that a misspelt one most resembles.
 *
 * Offer every name with suggest_offer(); suggest_hint() then gives the end of an error message. */
#pragma once

#include <stddef.h>

enum { SUGGEST_HINT = 96 }; /* bytes that hold any hint */

struct suggest {
    const char *word; /* as given; set by the caller, the rest zero */
    char best[64];
    size_t distance; /* of best, + 1; 0: nothing near was offered */
};

/* Consider a name. Near is: at most a third of the word wrong (one letter missing, wrong, too many or two swapped
 * counts one each), or the name begins with the word, or the word stands behind its hyphen. */
void suggest_offer(struct suggest *suggest, const char *name);

/* "; did you mean 'tree'?", or "" if nothing near was offered. Returns buf. */
const char *suggest_hint(const struct suggest *suggest, char *buf, size_t size);
