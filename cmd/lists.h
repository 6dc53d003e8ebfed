/* lists: what the program's tables say of everything that can be named, set or is reported. */
#ifndef CMD_LISTS_H
#define CMD_LISTS_H

#include <jansson.h>

#include "cmd/console/table.h"
#include "trace/base/suggest.h"

/* Things of one kind, printed as a table, as CSV or as an array of JSON objects. */
struct listing {
    struct table table;
    json_t *array;
    const char *const *names;
    size_t columns;
    struct err err; /* with a text: what could not be listed */
    /* Set before it is filled: keep only what has suggest->word as name in that column, and offer all other names;
     * NULL: keep all. */
    struct suggest *only;
    size_t column;
};

/* names: of the columns and of the members alike, `columns` of them; they outlive the listing. */
void listing_start(struct listing *listing, size_t columns, const char *const *names);
void listing_release(struct listing *listing);

struct list {
    const char *name;
    /* Fill a listing with those of the owner called `of`; NULL: of all. False: there is no owner of that name; the
     * owners' names were offered as suggestions. The listing is started either way. */
    bool (*fill)(struct listing *listing, const char *of, struct suggest *suggest);
    const char *owner; /* what `of` names; NULL: nothing */
    size_t column;     /* where the names stand */
};

/* Ends with a zeroed row. */
extern const struct list lists[];

#endif
