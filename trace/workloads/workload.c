#include "trace/workloads/workload.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/param_value.h"
#include "trace/base/sorted.h"
#include "trace/base/suggest.h"
#include "trace/base/units.h"

#define LISTED(NAME) &workload_##NAME
const struct workload_type *const workload_types[] = {WORKLOADS(LISTED), NULL};

const struct workload_type *workload_find(const char *name)
{
    return FIND_NAMED(workload_types, name);
}

static int no_such_workload(const char *name, struct err *err)
{
    char hint[SUGGEST_HINT];
    struct suggest suggest = {.word = name};
    for (size_t i = 0; workload_types[i]; i++)
        suggest_offer(&suggest, workload_types[i]->name);
    return err_set(err, "no workload is called '%s'; see 'offchip list programs'%s", name,
                   suggest_hint(&suggest, hint, sizeof hint));
}

static int read_keys(struct workload *w, const char *keys, struct err *err)
{
    if (param_list_init(&w->keys, keys, err))
        return -1;
    w->params = mem_zalloc(1, w->type->params_size, err);
    return w->params ? param_list_apply(&w->keys, w->type->params, w->params, err) : -1;
}

void *workload_new(const void *keys, size_t bytes, struct err *err)
{
    void *state = mem_zalloc(1, bytes, err);
    return state ? memcpy(state, keys, bytes) : NULL;
}

/* The type that the spec names; *keys is what follows the name. NULL with *err set if there is none. */
static const struct workload_type *type_of(const char *spec, const char **keys, struct err *err)
{
    size_t n = strcspn(spec, ",");
    char name[64];
    (void)snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), spec);
    const struct workload_type *type = workload_find(name);
    if (!type)
        (void)no_such_workload(name, err);
    *keys = spec[n] ? spec + n + 1 : "";
    return type;
}

int workload_check(const char *spec, struct err *err)
{
    const char *keys;
    struct workload w = {.type = type_of(spec, &keys, err)};
    if (!w.type)
        return -1;
    int rc = read_keys(&w, keys, err);
    if (rc)
        (void)err_at(err, "workload %s", w.type->name);
    param_list_release(&w.keys);
    free(w.params);
    return rc;
}

int workload_open(struct workload *workload, const char *spec, struct err *err)
{
    memset(workload, 0, sizeof *workload);
    const char *keys;
    workload->type = type_of(spec, &keys, err);
    if (!workload->type)
        return -1;
    if (read_keys(workload, keys, err) || !(workload->state = workload->type->open(workload->params, err))) {
        const char *type_name = workload->type->name;
        workload_close(workload);
        return err_at(err, "workload %s", type_name);
    }
    return 0;
}

void workload_close(struct workload *workload)
{
    if (workload->state)
        workload->type->close(workload->state);
    free(workload->params);
    param_list_release(&workload->keys);
    memset(workload, 0, sizeof *workload);
}

const char *workload_size_note(const struct workload *w, char *buf, size_t size)
{
    const struct param *row = w->type && w->type->program ? param_find(w->type->params, "bytes") : NULL;
    struct program program;
    char made_text[40], asked_text[40];
    bool given = false;
    for (size_t i = 0; i < w->keys.count; i++)
        given = given || strcmp(w->keys.pairs[i].key, "bytes") == 0;
    if (!row || !given || w->type->program(w->state, &program, NULL))
        return NULL;
    size_t n;
    double asked = param_number(row, w->params), made = 0;
    const struct program_alloc *allocs = program.ops->allocs(program.state, &n);
    for (size_t i = 0; i < n; i++)
        made += (double)allocs[i].bytes;
    if (fabs(made / asked - 1) <= 0.02)
        return NULL;
    (void)snprintf(buf, size, "%s: its arrays take %s, not %s: its sizes come in steps", w->type->name,
                   units_human_bytes(made, made_text, sizeof made_text),
                   units_human_bytes(asked, asked_text, sizeof asked_text));
    return buf;
}
