#include "replay/run/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/plugin/plugin_load.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/base/suggest.h"

static int unknown(const struct engine *engine, const struct policy_head *const *of, const char *name, struct err *err)
{
    char known[300] = "", hint[96];
    struct suggest suggest = {.word = name};
    for (size_t i = 0; of[i]; i++) {
        suggest_offer(&suggest, of[i]->name);
        (void)mem_add_text(known, sizeof known, "%s%s", i ? ", " : "", of[i]->name);
    }
    return err_set(err, "engine %s has no policy '%.60s'%s; expected %s%s", engine->name, name,
                   of == engine->second ? " after a '+'" : "", known, suggest_hint(&suggest, hint, sizeof hint));
}

/* A policy of the first or second axis: by name, or loaded from a file. NULL: none; *err is set of a file only. */
static const struct policy_head *find_policy(const struct engine *engine, bool second, const char *name,
                                             struct err *err)
{
    const struct policy_head *const *of = second ? engine->second : engine->policies;
    const enum policy_interface interface = second ? engine->second_plugin_interface : engine->plugin_interface;
    const struct policy_head *head = of ? policy_find(of, name) : NULL;
    if (head || !interface)
        return head;
    return plugin_is_path(name) ? plugin_load(name, interface, of, err) : plugin_find(interface, name);
}

/* Zeroed, with the defaults. */
static void *new_params(const struct policy_head *head, struct err *err)
{
    void *params = mem_zalloc(1, head->state_size, err);
    if (params)
        param_defaults(head->params, params);
    return params;
}

/* "tree+randon": the first half is known, and the second axis has policies. */
static const char *wrong_second(const struct engine *engine, const char *name)
{
    const char *plus = strchr(name, '+');
    char first[64];
    if (!plus || !engine->second || (size_t)(plus - name) >= sizeof first)
        return NULL;
    (void)snprintf(first, sizeof first, "%.*s", (int)(plus - name), name);
    return find_policy(engine, false, first, NULL) ? plus + 1 : NULL;
}

static int start_policy(struct policy_list *list, const struct engine *engine, const char *name, struct err *err)
{
    const struct policy_head *head = find_policy(engine, false, name, err);
    if (!head && engine->plugin_interface && plugin_is_path(name))
        return -1;
    const char *wrong = head ? NULL : wrong_second(engine, name);
    if (!head)
        return unknown(engine, wrong ? engine->second : engine->policies, wrong ? wrong : name, err);
    if (mem_grow((void **)&list->policies, &list->cap, list->count + 1, sizeof *list->policies, err))
        return -1;
    void *params = new_params(head, err);
    if (!params)
        return -1;
    list->policies[list->count++] = (struct replay_policy){.head = head, .params = params};
    return 0;
}

/* Whose parameter a key is, its name without "evict.". */
static const struct policy_head *owner(const struct replay_policy *policy, const char **key)
{
    size_t n = policy->second ? strlen(policy->second_key) : 0;
    if (!n || strncmp(*key, policy->second_key, n) != 0 || (*key)[n] != '.')
        return policy->head;
    *key += n + 1;
    return policy->second;
}

int replay_policy_set(const struct replay_policy *policy, const char *key, const char *value, struct err *err)
{
    const struct policy_head *head = owner(policy, &key);
    void *params = head == policy->head ? policy->params : policy->second_params;
    return param_set(head->params, params, key, value, err);
}

/* A parameter of the half written last. */
static int set_param(struct policy_list *list, char *text, struct err *err)
{
    char *eq = strchr(text, '=');
    if (!eq)
        return err_set(err, "'%.60s' is not a parameter; expected KEY=VALUE", text);
    *eq = 0;
    const struct replay_policy *policy = &list->policies[list->count - 1];
    const char *key = text;
    const struct policy_head *head = policy->second ? policy->second : policy->head;
    void *params = policy->second ? policy->second_params : policy->params;
    if (policy->second)
        (void)owner(policy, &key); /* "evict.seed" names that half, too */
    return param_set(head->params, params, key, eq + 1, err) ? err_at(err, "policy %s", head->name) : 0;
}

/* Whether a policy of that axis, or a file of one, can end at the first ':' of the n characters. */
static bool may_be(const struct engine *engine, bool second, const char *text, size_t n)
{
    char name[512];
    const char *colon = memchr(text, ':', n);
    n = colon ? (size_t)(colon - text) : n;
    if (n >= sizeof name)
        return false;
    (void)snprintf(name, sizeof name, "%.*s", (int)n, text);
    return plugin_is_path(name) || find_policy(engine, second, name, NULL);
}

/* Find an item's second half, after the '+'; NULL: none. A file name may contain '+': a name ending in .so is a second
 * half only after a first half, its parameter, or nothing. */
static char *second_half(const struct engine *engine, char *item)
{
    for (char *plus = strchr(item, '+'); plus && engine->second; plus = strchr(plus + 1, '+')) {
        const size_t n = strcspn(plus + 1, ":");
        const bool file = n > 3 && strncmp(plus + 1 + n - 3, ".so", 3) == 0;
        const bool behind = plus == item || memchr(item, '=', (size_t)(plus - item)) ||
                            may_be(engine, false, item, (size_t)(plus - item));
        if (may_be(engine, true, plus + 1, n) && (!file || behind))
            return plus;
    }
    return NULL;
}

static int one_too_many(const char *item, struct err *err)
{
    return err_set(err, "'+%.60s' is one too many; expected POLICY+POLICY", item);
}

/* "random:seed=2" joins the policy before it. */
static int join(struct policy_list *list, const struct engine *engine, char *item, size_t first, struct err *err)
{
    char *colon = strchr(item, ':');
    if (colon)
        *colon = 0;
    struct replay_policy *policy = list->count == first ? NULL : &list->policies[list->count - 1];
    if (!policy)
        return err_set(err, "'+%.60s' stands alone; expected POLICY+%.60s", item, item);
    if (policy->second)
        return one_too_many(item, err);
    if (policy->head->baseline)
        return err_set(err, "'+%.60s' cannot be joined to the baseline %s", item, policy->head->name);
    const struct policy_head *second = find_policy(engine, true, item, err);
    void *params = second ? new_params(second, err) : NULL;
    if (!params)
        return -1;
    policy->second = second;
    policy->second_params = params;
    policy->second_key = engine->second_key;
    return colon ? set_param(list, colon + 1, err) : 0;
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

static int add_halves(struct policy_list *list, const struct engine *engine, char *item, size_t first, struct err *err)
{
    char *plus = second_half(engine, item);
    if (plus)
        *plus = 0;
    if (plus && second_half(engine, item))
        return one_too_many(plus + 1, err);
    if ((*item || !plus) && add_item(list, engine, item, first, err))
        return -1;
    return plus ? join(list, engine, plus + 1, *item ? first : list->count, err) : 0;
}

/* The comma behind an item, NULL: it is the last; one inside [] belongs to a value. */
static char *comma_behind(char *item)
{
    int depth = 0;
    for (char *c = item; *c; c++) {
        depth += (*c == '[') - (*c == ']');
        if (*c == ',' && depth <= 0)
            return c;
    }
    return NULL;
}

int policy_list_add(struct policy_list *list, const struct engine *engine, const char *text, struct err *err)
{
    char *copy = mem_keep(&list->texts, text, err);
    if (!copy)
        return -1;
    size_t first = list->count;
    for (char *item = copy; item;) {
        char *comma = comma_behind(item);
        if (comma)
            *comma = 0;
        if (!*item)
            return err_set(err, "empty item in policy list '%.100s'", text);
        if (add_halves(list, engine, item, first, err))
            return -1;
        item = comma ? comma + 1 : NULL;
    }
    return 0;
}

void policy_list_release(struct policy_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        replay_policy_release(&list->policies[i]);
    mem_texts_release(&list->texts);
    free(list->policies);
    memset(list, 0, sizeof *list);
}

void replay_policy_release(struct replay_policy *policy)
{
    free(policy->params);
    free(policy->second_params);
    policy->params = policy->second_params = NULL;
}

static bool same_half(const struct policy_head *head, const void *a, const void *b)
{
    for (const struct param *p = head ? head->params : NULL; p && p->name; p++) {
        char x[256], y[256];
        if (strcmp(param_format(p, a, x, sizeof x), param_format(p, b, y, sizeof y)) != 0)
            return false;
    }
    return true;
}

bool replay_policy_same(const struct replay_policy *a, const struct replay_policy *b)
{
    return a->head == b->head && a->second == b->second && same_half(a->head, a->params, b->params) &&
           same_half(a->second, a->second_params, b->second_params);
}

const char *replay_policy_name(const struct replay_policy *policy, char *buf, size_t size)
{
    (void)snprintf(buf, size, "%s%s%s", policy->head->name, policy->second ? "+" : "",
                   policy->second ? policy->second->name : "");
    return buf;
}

const char *replay_policy_label(const struct replay_policy *policy, char *buf, size_t size)
{
    const struct policy_choice choice = {
        {policy->head, policy->second}, {policy->params, policy->second_params}, policy->second_key};
    return policy_label(&choice, NULL, buf, size);
}
