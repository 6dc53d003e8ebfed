#include "replay/results/runs.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/json_tree.h"
#include "trace/base/version.h"

int note(json_t *notes, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int rc = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (rc < 0)
        return -1;
    size_t i;
    json_t *said;
    rc = 0;
    bool known = !notes;
    json_array_foreach(notes, i, said) known = known || strcmp(json_string_value(said), text) == 0;
    if (!known)
        rc = json_array_append_new(notes, json_string(text));
    free(text);
    return rc;
}

int run_set_note_foreign(const struct run_set *set, json_t *notes)
{
    json_t *counts = json_object(), *count;
    const char *version;
    int rc = 0;
    for (size_t i = 0; i < set->count; i++)
        if (run_case_foreign(set->runs[i].run_case.version)) {
            version = set->runs[i].run_case.version;
            json_int_t so_far = json_integer_value(json_object_get(counts, version));
            json_tree_put(&counts, version, json_integer(so_far + 1));
        }
    rc = counts ? 0 : -1;
    json_object_foreach(counts, version, count)
    {
        long long n = json_integer_value(count);
        rc |= note(notes,
                   "%lld of %zu runs were made by offchip %s, not by this release, %s: numbers may differ for that", n,
                   set->count, *version ? version : "of an unknown release", offchip_release);
    }
    json_decref(counts);
    return rc;
}
