/* listing: things of one kind, printed as a table, as CSV or as an array of JSON objects. */
#ifndef CMD_CONSOLE_LISTING_H
#define CMD_CONSOLE_LISTING_H

#include <jansson.h>

#include "cmd/console/table.h"

struct listing {
    struct table table;
    json_t *array;
    const char *const *names;
    size_t columns;
};

/* names: of the columns and of the members alike, `columns` of them; they outlive the listing. */
void listing_start(struct listing *listing, size_t columns, const char *const *names);
/* One thing: as many values as columns; NULL: empty, null in JSON. */
void listing_add(struct listing *listing, const char *const *values);
/* The same, `value` of the columns being an array of words. */
void listing_add_words(struct listing *listing, const char *const *values, size_t column, const char *const *words,
                       size_t count);
void listing_release(struct listing *listing);

#endif
