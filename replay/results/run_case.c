#include "replay/results/run_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/base/version.h"

/* XXH3-128 of a value in its one form: keys sorted, nothing between the tokens, reals with all their digits. */
static int hash_json(const json_t *value, char hash[RUN_CASE_HASH], struct err *err)
{
    char *text = json_tree_dump(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    if (!text)
        return err_set(err, "out of memory");
    XXH128_hash_t h = XXH3_128bits(text, strlen(text));
    free(text);
    (void)snprintf(hash, RUN_CASE_HASH, "%016llx%016llx", (unsigned long long)h.high64, (unsigned long long)h.low64);
    return 0;
}

/* What decides of one input: [role, hash], or [role, "", name] where the hash is not known. */
static json_t *deciding_input(const json_t *input)
{
    const char *role = json_string_value(json_object_get(input, "role"));
    const char *hash = json_string_value(json_object_get(input, "hash"));
    const char *name = json_string_value(json_object_get(input, "input"));
    return hash && *hash ? json_pack("[ss]", role ? role : "", hash)
                         : json_pack("[sss]", role ? role : "", "", name ? name : "");
}

static int set_hash(struct run_case *c, struct err *err)
{
    json_t *inputs = json_array(), *input;
    size_t i;
    int bad = 0;
    json_array_foreach(c->inputs, i, input) bad |= json_array_append_new(inputs, deciding_input(input));
    const char *name = json_object_size(c->numbers) ? "" : c->platform;
    json_t *all = json_pack("[s,o,s,O,O,s]", c->engine, inputs, name, c->numbers, c->settings, c->version);
    int rc = bad || !all ? err_set(err, "out of memory") : hash_json(all, c->hash, err);
    json_decref(all);
    return rc;
}

static json_t *shared(json_t *value, json_type type, const char *what, struct err *err)
{
    json_t *ours = value ? json_incref(value) : type == JSON_ARRAY ? json_array() : json_object();
    if (ours && json_typeof(ours) == type)
        return ours;
    err_set(err, "the %s of a case are no JSON %s", what, type == JSON_ARRAY ? "array" : "object");
    json_decref(ours);
    return NULL;
}

static char *text(const char *from, struct err *err)
{
    return mem_strdup(from ? from : "", err);
}

int run_case_init(struct run_case *c, const struct run_case_facts *facts, struct err *err)
{
    *c = (struct run_case){.engine = text(facts->engine, err),
                           .platform = text(facts->platform, err),
                           .version = text(facts->version, err),
                           .inputs = shared(facts->inputs, JSON_ARRAY, "inputs", err),
                           .numbers = shared(facts->numbers, JSON_OBJECT, "numbers", err),
                           .settings = shared(facts->settings, JSON_OBJECT, "settings", err)};
    if (c->engine && c->platform && c->version && c->inputs && c->numbers && c->settings && set_hash(c, err) == 0)
        return 0;
    run_case_release(c);
    return -1;
}

void run_case_release(struct run_case *c)
{
    free(c->engine);
    free(c->platform);
    free(c->version);
    json_decref(c->inputs);
    json_decref(c->numbers);
    json_decref(c->settings);
    *c = (struct run_case){0};
}

int run_case_copy(struct run_case *to, const struct run_case *from, struct err *err)
{
    *to = (struct run_case){.engine = mem_strdup(from->engine, err),
                            .platform = mem_strdup(from->platform, err),
                            .version = mem_strdup(from->version, err),
                            .inputs = json_incref(from->inputs),
                            .numbers = json_incref(from->numbers),
                            .settings = json_incref(from->settings)};
    memcpy(to->hash, from->hash, sizeof to->hash);
    if (to->engine && to->platform && to->version)
        return 0;
    run_case_release(to);
    return -1;
}

json_t *run_case_to_json(const struct run_case *c, struct err *err)
{
    json_t *object = json_pack("{s:s,s:O,s:s,s:O,s:O,s:s}", "engine", c->engine, "inputs", c->inputs, "platform",
                               c->platform, "numbers", c->numbers, "settings", c->settings, "version", c->version);
    if (!object)
        err_set(err, "out of memory");
    return object;
}

int run_case_from_json(struct run_case *c, const json_t *object, struct err *err)
{
    const struct run_case_facts facts = {.engine = json_string_value(json_object_get(object, "engine")),
                                         .platform = json_string_value(json_object_get(object, "platform")),
                                         .version = json_string_value(json_object_get(object, "version")),
                                         .inputs = json_object_get(object, "inputs"),
                                         .numbers = json_object_get(object, "numbers"),
                                         .settings = json_object_get(object, "settings")};
    return run_case_init(c, &facts, err);
}

bool run_case_equal(const struct run_case *a, const struct run_case *b)
{
    return strcmp(a->hash, b->hash) == 0;
}

bool run_case_foreign(const char *version)
{
    size_t n = strlen(offchip_release);
    return strncmp(version, offchip_release, n) != 0 || (version[n] && version[n] != '+');
}

int run_case_key(const struct run_case *c, const char *policy, const json_t *params, const json_t *relative_to,
                 char key[RUN_CASE_HASH], struct err *err)
{
    json_t *all = json_pack("[s,s,O?,O?]", c->hash, policy, params, relative_to);
    int rc = all ? hash_json(all, key, err) : err_set(err, "out of memory");
    json_decref(all);
    return rc;
}
