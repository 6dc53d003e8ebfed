#include "trace/base/json_tree.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
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

json_t *json_tree_bytes(const char *text, size_t bytes)
{
    json_t *value = json_stringn(text, bytes);
    char *plain = value ? NULL : mem_zalloc(bytes, 1, NULL);
    if (!plain)
        return value;
    for (size_t i = 0; i < bytes; i++)
        plain[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
    value = json_stringn(plain, bytes);
    free(plain);
    return value;
}

json_t *json_tree_text(const char *text)
{
    return text ? json_tree_bytes(text, strlen(text)) : NULL;
}

json_t *json_tree_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_tree_copy(const json_t *tree)
{
    json_t *from = (json_t *)(uintptr_t)tree, *value;
    if (json_is_array(tree)) {
        json_t *copy = json_array();
        for (size_t i = 0; i < json_array_size(tree); i++)
            json_tree_add(&copy, json_tree_copy(json_array_get(tree, i)));
        return copy;
    }
    if (!json_is_object(tree))
        return json_incref(from);
    const char *key;
    json_t *copy = json_object();
    json_object_foreach(from, key, value) json_tree_put(&copy, key, json_tree_copy(value));
    return copy;
}

/* --- texts: what jansson does not say of memory, its allocator does --- */

static _Thread_local bool lacking;

static void *take(size_t bytes)
{
    void *p = malloc(bytes);
    lacking |= !p;
    return p;
}

static __attribute__((constructor)) void take_for_jansson(void)
{
    json_set_alloc_funcs(take, free);
}

json_t *json_tree_parse(const char *text, size_t bytes, json_error_t *where)
{
    lacking = false;
    json_t *value = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, where);
    if (!lacking)
        return value;
    json_decref(value);
    if (where)
        (void)snprintf(where->text, sizeof where->text, "out of memory");
    return NULL;
}

char *json_tree_dump(const json_t *tree, size_t flags)
{
    lacking = false;
    char *text = json_dumps(tree, flags);
    if (!lacking)
        return text;
    free(text);
    return NULL;
}

int json_tree_check(const json_t *root, struct err *err)
{
    return root ? 0 : err_set(err, "cannot write JSON: out of memory, or a name in the input is not UTF-8");
}
