#include "models/base/policy.h"

#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/param.h"

const struct policy_head *policy_find(const struct policy_head *const *list, const char *name)
{
    while (*list && strcmp((*list)->name, name) != 0)
        list++;
    return *list;
}

/* Whether a parameter of a half is the one called `without`. */
static bool left_out(const struct policy_choice *choice, size_t half, const char *name, const char *without)
{
    const size_t n = half ? strlen(choice->second_key) : 0;
    if (without && half && (strncmp(without, choice->second_key, n) != 0 || without[n] != '.'))
        return false;
    return without && strcmp(without + n + (half > 0), name) == 0;
}

/* "random:seed=2" behind what stands in buf. */
static void label_half(const struct policy_choice *choice, size_t half, const char *without, char *buf, size_t size)
{
    const struct policy_head *head = choice->heads[half];
    char separator = ':';
    (void)mem_add_text(buf, size, "%s", head->name);
    for (const struct param *p = head->params; p && p->name; p++) {
        char value[256], plain[256];
        const bool named = head->label_param && strcmp(head->label_param, p->name) == 0;
        param_format(p, choice->params[half], value, sizeof value);
        if ((!named && strcmp(value, param_default(p, plain, sizeof plain)) == 0) ||
            left_out(choice, half, p->name, without))
            continue;
        (void)mem_add_text(buf, size, "%c%s=%s", separator, p->name, value);
        separator = ',';
    }
}

const char *policy_label(const struct policy_choice *choice, const char *without, char *buf, size_t size)
{
    *buf = 0;
    label_half(choice, 0, without, buf, size);
    if (choice->heads[1]) {
        (void)mem_add_text(buf, size, "+");
        label_half(choice, 1, without, buf, size);
    }
    return buf;
}
