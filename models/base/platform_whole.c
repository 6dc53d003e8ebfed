#include <stdio.h>
#include <string.h>

#include "models/base/platform_inside.h"
#include "trace/base/param.h"

/* What lacks is added up to this many names. */
enum { NAMES = 6 };

static bool is_whole(const struct platform_part *part)
{
    for (size_t i = 0; i < part->count; i++)
        if (part->numbers[i].state == PLATFORM_UNSTATED)
            return false;
    return part->stated;
}

/* "titanv, v100": the shipped platforms whose section is whole, those that borrow it left out. */
static const char *who_has(const char *section, char *buf, size_t size)
{
    char name[64];
    size_t used = 0;
    buf[0] = 0;
    for (size_t i = 0; platform_shipped(i, name, sizeof name) && used < size; i++) {
        struct platform *p = platform_load(name, NULL);
        struct platform_part *part = p ? platform_part(p, section) : NULL;
        if (part && is_whole(part) && !part->borrowed.as)
            used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "", name);
        platform_free(p);
    }
    return used ? buf : "none";
}

static int no_section(const struct platform *platform, const struct platform_part *part, struct err *err)
{
    const char *section = part->section->name;
    char who[160];
    who_has(section, who, sizeof who);
    if (part->none)
        return err_set(err, "platform %s has no [%s]: %.200s; platforms that have: %s", platform->name, section,
                       part->none, who);
    return err_set(err,
                   "platform %s has no [%s] numbers; platforms that have: %s. A file with 'base = %s' may borrow: [%s] "
                   "with 'as = NAME | LOW..HIGH: why'",
                   platform->name, section, who, platform->name, section);
}

static int no_numbers(const struct platform *platform, const struct platform_part *part, struct err *err)
{
    const char *section = part->section->name, *first = NULL;
    char lacking[240] = "";
    size_t used = 0, n = 0;
    for (size_t i = 0; i < part->count; i++) {
        const char *key = part->section->params[i].name;
        if (part->numbers[i].state != PLATFORM_UNSTATED)
            continue;
        first = first ? first : key;
        if (n++ < NAMES)
            used += (size_t)snprintf(lacking + used, sizeof lacking - used, "%s%s.%s", used ? ", " : "", section, key);
    }
    char more[40] = "";
    if (n > NAMES)
        (void)snprintf(more, sizeof more, " and %zu more", n - NAMES);
    return err_set(err, "platform %s states no %s%s; --set %s.%s=NUMBER gives it, or the platform's file does",
                   platform->name, lacking, more, section, first);
}

int platform_whole(const struct platform *platform, const char *section, struct err *err)
{
    const struct platform_part *part = platform_part((struct platform *)platform, section);
    if (!part)
        return err_set(err, "no platform has a section [%s]", section);
    if (is_whole(part))
        return 0;
    return part->stated ? no_numbers(platform, part, err) : no_section(platform, part, err);
}
