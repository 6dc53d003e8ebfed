#include "replay/results/runs.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/hash.h"
#include "trace/base/mem.h"

static bool same_object(const json_t *a, const json_t *b)
{
    const char *key;
    json_t *value;
    if (json_object_size(a) != json_object_size(b))
        return false;
    json_object_foreach((json_t *)a, key, value)
    {
        if (!run_same_value(value, json_object_get(b, key)))
            return false;
    }
    return true;
}

static bool same_array(const json_t *a, const json_t *b)
{
    bool same = json_array_size(a) == json_array_size(b);
    for (size_t i = 0; same && i < json_array_size(a); i++)
        same = run_same_value(json_array_get(a, i), json_array_get(b, i));
    return same;
}

bool run_same_value(const json_t *a, const json_t *b)
{
    if (json_is_object(a) && json_is_object(b))
        return same_object(a, b);
    if (json_is_array(a) && json_is_array(b))
        return same_array(a, b);
    if (json_is_number(a) && json_is_number(b) && json_typeof(a) != json_typeof(b))
        return json_number_value(a) == json_number_value(b);
    return json_equal(a, b);
}

static bool same_numbers(const struct run *a, const struct run *b)
{
    return run_same_value(a->metrics, b->metrics) && run_same_value(a->interval, b->interval) &&
           run_same_value(a->parts, b->parts);
}

struct seen {
    size_t run;
    UT_hash_handle hh;
};

/* Look at run i; *keep says whether it stays. The table holds those that stay. */
static int look(struct run_set *set, size_t i, struct seen **table, struct seen *item, bool *keep, struct err *err)
{
    const struct run *run = &set->runs[i];
    struct seen *first;
    HASH_FIND_STR(*table, run->key, first);
    *keep = !first || run->part;
    if (!first && !run->part) {
        item->run = i;
        HASH_ADD_KEYPTR(hh, *table, run->key, (unsigned)strlen(run->key), item);
        if (!hash_has(item))
            return err_set(err, "out of memory");
    }
    if (*keep || same_numbers(&set->runs[first->run], run))
        return 0;
    const char *files[] = {set->runs[first->run].file, run->file};
    return err_set(err,
                   "'%.80s' and '%.80s' have other numbers for the same case: policy %.40s of engine %.20s on '%.80s'",
                   files[0], files[1], run->policy, run->engine, run->input);
}

int run_set_unify(struct run_set *set, struct err *err)
{
    struct seen *items = mem_zalloc(set->count + 1, sizeof *items, err), *table = NULL;
    bool *keep = items ? mem_zalloc(set->count + 1, sizeof *keep, err) : NULL;
    int rc = keep ? 0 : -1;
    for (size_t i = 0; i < set->count && !rc; i++)
        rc = look(set, i, &table, &items[i], &keep[i], err);
    HASH_CLEAR(hh, table);
    size_t kept = 0;
    for (size_t i = 0; i < set->count && !rc; i++) {
        if (keep[i])
            set->runs[kept++] = set->runs[i];
        else
            run_release(&set->runs[i]);
    }
    set->count = rc ? set->count : kept;
    free(keep);
    free(items);
    return rc;
}
