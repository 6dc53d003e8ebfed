#include "trace/base/old_names.h"

#include <stddef.h>
#include <string.h>

/* In the order of the alphabet. */
static const struct {
    const char *name, *now;
} rows[] = {
    {"relaunch_gap", "launch_gap"},
};

const char *old_name(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].now;
    return NULL;
}
