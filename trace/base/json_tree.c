#include "trace/base/json_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

/* Drop *tree if a step failed. */
static void settle(json_t **tree, int failed)
{
    if (!failed)
        return;
    json_decref(*tree);
    *tree = NULL;
}

void json_tree_put(json_t **object, const char *key, json_t *value)
{
    settle(object, json_object_set_new(*object, key, value));
}

void json_tree_add(json_t **array, json_t *value)
{
    settle(array, json_array_append_new(*array, value));
}

json_t *json_tree_text(const char *text)
{
    json_t *value = json_string(text);
    char *plain = value ? NULL : mem_strdup(text, NULL);
    if (!plain)
        return value;
    for (char *p = plain; *p; p++)
        *p = (unsigned char)*p < 0x80 ? *p : '?';
    value = json_string(plain);
    free(plain);
    return value;
}

json_t *json_tree_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

int json_tree_check(const json_t *root, struct err *err)
{
    return root ? 0 : err_set(err, "cannot write JSON: out of memory, or a name in the input is not UTF-8");
}
