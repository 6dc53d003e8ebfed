#include "replay/results/case_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/base/policy.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"

/* The two halves of a policy with the parameters of a run. */
struct halves {
    struct policy_choice choice;
    void *params[2];
    json_t *texts; /* what text parameters point at */
};

/* The half whose parameter a key is, the key without "evict."; NULL: none has it. */
static const struct param *row_of(const struct halves *h, const char **key, size_t *half)
{
    const size_t n = h->choice.heads[1] ? strlen(h->choice.second_key) : 0;
    *half = n && strncmp(*key, h->choice.second_key, n) == 0 && (*key)[n] == '.';
    *key += *half ? n + 1 : 0;
    return param_find(h->choice.heads[*half]->params, *key);
}

/* Whether a parameter is this program's; stored, unless this program does not take the value: then *odd. */
static bool store(struct halves *h, const char *key, const json_t *value, bool *odd)
{
    size_t half;
    const char *name = key;
    if (!row_of(h, &name, &half))
        return false;
    char *text = case_keys_text(value);
    if (!text || json_object_set_new(h->texts, key, json_string(text)) ||
        (!json_is_null(value) && param_set(h->choice.heads[half]->params, h->params[half], name,
                                           json_string_value(json_object_get(h->texts, key)), &(struct err){""})))
        *odd = true;
    free(text);
    return true;
}

static int open_halves(struct halves *h)
{
    h->texts = json_object();
    for (size_t i = 0; i < 2 && h->choice.heads[i]; i++) {
        if (!(h->params[i] = mem_zalloc(1, h->choice.heads[i]->state_size, NULL)))
            return -1;
        param_defaults(h->choice.heads[i]->params, h->params[i]);
        h->choice.params[i] = h->params[i];
    }
    return h->texts ? 0 : -1;
}

/* Add "key=value" to a label. */
static int append(char **label, const char *key, const json_t *value)
{
    char *longer = NULL, *text = case_keys_text(value);
    if (!*label || !text || asprintf(&longer, "%s%c%s=%s", *label, strchr(*label, ':') ? ',' : ':', key, text) < 0)
        longer = NULL;
    free(text);
    free(*label);
    *label = longer;
    return longer ? 0 : -1;
}

/* The parameters that tell runs apart, of what this program does not have. */
static json_t *foreign_params(struct halves *h, const struct run *run, const json_t *differing, bool *known)
{
    json_t *foreign = json_object(), *value;
    const char *key;
    bool odd = false;
    json_object_foreach(run->params, key, value)
    {
        if ((!*known || !store(h, key, value, &odd)) && json_object_get(differing, key))
            json_tree_put(&foreign, key, json_incref(value));
    }
    if (!odd)
        return foreign;
    json_decref(foreign);
    *known = false;
    return foreign_params(h, run, differing, known);
}

char *run_label(const struct run *run, const char *apart, const json_t *differing)
{
    struct halves h = {0};
    json_t *foreign = NULL, *value;
    const char *key;
    char text[1024], *label = NULL;
    bool known = policy_known(run->engine, run->policy, &h.choice);
    if (!known || open_halves(&h) == 0)
        foreign = foreign_params(&h, run, differing, &known);
    if (foreign)
        label = mem_strdup(known ? policy_label(&h.choice, apart, text, sizeof text) : run->policy, NULL);
    json_object_foreach(foreign, key, value)
    {
        if (label && !(apart && strcmp(apart, key) == 0))
            (void)append(&label, key, value);
    }
    for (size_t i = 0; i < 2; i++)
        free(h.params[i]);
    json_decref(h.texts);
    json_decref(foreign);
    return label;
}
