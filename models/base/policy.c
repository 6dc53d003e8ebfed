#include "models/base/policy.h"

#include <string.h>

const struct policy_head *policy_find(const struct policy_head *const *list, const char *name)
{
    while (*list && strcmp((*list)->name, name) != 0)
        list++;
    return *list;
}
