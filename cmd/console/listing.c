#include "cmd/console/listing.h"

#include <stdio.h>
#include <string.h>

#include "trace/base/json_tree.h"

void listing_start(struct listing *l, size_t columns, const char *const *names)
{
    l->array = json_array();
    l->names = names;
    l->columns = columns;
    table_init(&l->table, columns);
    for (size_t i = 0; i < columns; i++)
        table_cell(&l->table, "%s", names[i]);
}

void listing_add(struct listing *l, const char *const *values)
{
    listing_add_words(l, values, l->columns, NULL, 0);
}

void listing_add_words(struct listing *l, const char *const *values, size_t column, const char *const *words,
                       size_t count)
{
    char joined[256] = "";
    json_t *object = json_object(), *array = json_array();
    for (size_t i = 0, used = 0; i < count && used < sizeof joined; i++) {
        used += (size_t)snprintf(joined + used, sizeof joined - used, "%s%s", i ? " " : "", words[i]);
        json_tree_add(&array, json_string(words[i]));
    }
    for (size_t i = 0; i < l->columns; i++) {
        const char *text = i == column ? joined : values[i];
        table_cell(&l->table, "%s", text ? text : "");
        json_tree_put(&object, l->names[i], i == column ? json_incref(array) : text ? json_string(text) : json_null());
    }
    json_decref(array);
    json_tree_add(&l->array, object);
}

void listing_release(struct listing *l)
{
    table_release(&l->table);
    json_decref(l->array);
}
