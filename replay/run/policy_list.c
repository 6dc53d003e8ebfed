#include "replay/run/policy_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/suggest.h"

static int unknown(const struct engine *engine, const char *name, struct err *err)
{
    char known[300] = "", hint[96];
    size_t used = 0;
    struct suggest suggest = {.word = name};
    for (size_t i = 0; engine->policies[i]; i++) {
        suggest_offer(&suggest, engine->policies[i]->name);
        if (used < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "",
                                     engine->policies[i]->name);
    }
    return err_set(err, "engine %s has no policy '%.60s'; expected %s%s", engine->name, name, known,
                   suggest_hint(&suggest, hint, sizeof hint));
}

static int start_policy(struct policy_list *list, const struct engine *engine, const char *name, struct err *err)
{
    const struct policy_head *head = policy_find(engine->policies, name);
    if (!head)
        return unknown(engine, name, err);
    if (mem_grow((void **)&list->policies, &list->cap, list->count + 1, sizeof *list->policies, err))
        return -1;
    void *params = mem_zalloc(1, head->state_size, err);
    if (!params)
        return -1;
    param_defaults(head->params, params);
    list->policies[list->count++] = (struct replay_policy){head, params};
    return 0;
}

static int set_param(struct policy_list *list, char *text, struct err *err)
{
    char *eq = strchr(text, '=');
    if (!eq)
        return err_set(err, "'%.60s' is not a parameter; expected KEY=VALUE", text);
    *eq = 0;
    struct replay_policy *policy = &list->policies[list->count - 1];
    if (param_set(policy->head->params, policy->params, text, eq + 1, err))
        return err_at(err, "policy %s", policy->head->name);
    return 0;
}

static int add_item(struct policy_list *list, const struct engine *engine, char *item, size_t first, struct err *err)
{
    char *eq = strchr(item, '='), *colon = strchr(item, ':');
    if (eq && (!colon || eq < colon)) {
        if (list->count == first)
            return err_set(err, "'%.60s' is a parameter, but no policy stands before it", item);
        return set_param(list, item, err);
    }
    if (colon)
        *colon = 0;
    if (start_policy(list, engine, item, err))
        return -1;
    return colon ? set_param(list, colon + 1, err) : 0;
}

int policy_list_add(struct policy_list *list, const struct engine *engine, const char *text, struct err *err)
{
    if (mem_grow((void **)&list->texts, &list->text_cap, list->text_count + 1, sizeof *list->texts, err))
        return -1;
    char *copy = mem_strdup(text, err);
    if (!copy)
        return -1;
    list->texts[list->text_count++] = copy;
    size_t first = list->count;
    for (char *item = copy; item;) {
        char *comma = strchr(item, ',');
        if (comma)
            *comma = 0;
        if (!*item)
            return err_set(err, "empty item in policy list '%.100s'", text);
        if (add_item(list, engine, item, first, err))
            return -1;
        item = comma ? comma + 1 : NULL;
    }
    return 0;
}

void policy_list_release(struct policy_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->policies[i].params);
    for (size_t i = 0; i < list->text_count; i++)
        free(list->texts[i]);
    free(list->policies);
    free((void *)list->texts);
    memset(list, 0, sizeof *list);
}

bool replay_policy_same(const struct replay_policy *a, const struct replay_policy *b)
{
    if (a->head != b->head)
        return false;
    for (const struct param *p = a->head->params; p && p->name; p++) {
        char x[256], y[256];
        if (strcmp(param_format(p, a->params, x, sizeof x), param_format(p, b->params, y, sizeof y)) != 0)
            return false;
    }
    return true;
}

const char *replay_policy_label(const struct replay_policy *policy, char *buf, size_t size)
{
    size_t used = (size_t)snprintf(buf, size, "%s", policy->head->name);
    char separator = ':';
    void *plain = mem_zalloc(1, policy->head->state_size, NULL);
    if (!plain)
        return buf;
    param_defaults(policy->head->params, plain);
    for (const struct param *p = policy->head->params; p && p->name && used < size; p++) {
        char x[256], y[256];
        param_format(p, policy->params, x, sizeof x);
        if (strcmp(x, param_format(p, plain, y, sizeof y)) == 0)
            continue;
        used += (size_t)snprintf(buf + used, size - used, "%c%s=%s", separator, p->name, x);
        separator = ',';
    }
    free(plain);
    return buf;
}
