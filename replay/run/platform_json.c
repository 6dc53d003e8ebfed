#include "replay/run/platform_use.h"

#include <stdio.h>

#include "trace/base/json_tree.h"
#include "trace/base/param.h"

json_t *platform_json_value(const struct param *row, const void *owner)
{
    char buf[256];
    if (row->type == PARAM_REAL)
        return json_real(param_real(row, owner));
    if (row->type == PARAM_CHOICE)
        return json_string(param_format(row, owner, buf, sizeof buf));
    if (row->type == PARAM_TEXT)
        return param_text(row, owner) ? json_tree_text(param_text(row, owner)) : json_null();
    return json_integer(param_int(row, owner));
}

json_t *platform_json_numbers(const struct platform *platform)
{
    json_t *numbers = json_object();
    int bad = 0;
    for (size_t s = 0; platform_sections[s]; s++) {
        const struct platform_section *section = platform_sections[s];
        const void *values = platform_section_get(platform, section->name);
        for (const struct param *p = section->params; p->name; p++) {
            char name[128];
            (void)snprintf(name, sizeof name, "%s.%s", section->name, p->name);
            bad |= json_object_set_new(numbers, name, platform_json_value(p, values));
        }
    }
    if (!bad)
        return numbers;
    json_decref(numbers);
    return NULL;
}

/* An end of a range, in the form of its value. */
static json_t *end(const struct param *row, double value)
{
    char name[64];
    if (row->type == PARAM_TEXT)
        return json_null();
    if (row->type == PARAM_CHOICE)
        return json_string(param_choice(row, (int64_t)value, name, sizeof name));
    return row->type == PARAM_REAL ? json_real(value) : json_integer((json_int_t)value);
}

const char *platform_json_source(const struct platform *platform, const char *section, const struct platform_number *n,
                                 char *buf, size_t size)
{
    const struct platform_borrowed *b = platform_borrowed(platform, section);
    const char *source = n->source ? n->source : "";
    if (n->state == PLATFORM_GENERAL)
        (void)snprintf(buf, size, "general default: %s", source);
    else if (!n->as)
        (void)snprintf(buf, size, "%s", source);
    else if (b && n->borrowed && n->moves)
        (void)snprintf(buf, size, "%s, with [%s] times %.6g..%.6g (%s): %s", n->as, section, b->low, b->high, b->why,
                       source);
    else if (b && n->borrowed)
        (void)snprintf(buf, size, "%s, with [%s] (%s): %s", n->as, section, b->why, source);
    else
        (void)snprintf(buf, size, "%s: %s", n->as, source);
    return buf;
}

static json_t *number_json(const struct platform *platform, const char *section, const struct param *row)
{
    const struct platform_number *n = platform_number(platform, section, row->name);
    char source[1200];
    platform_json_source(platform, section, n, source, sizeof source);
    return json_pack("{s:o,s:s,s:s,s:o,s:o,s:o}", "value",
                     platform_json_value(row, platform_section_get(platform, section)), "unit", row->unit, "kind",
                     platform_kind_name(n->kind), "source", json_tree_text(source), "low", end(row, n->low), "high",
                     end(row, n->high));
}

static json_t *section_json(const struct platform *platform, const struct platform_section *section)
{
    json_t *numbers = json_object();
    for (const struct param *row = section->params; row->name; row++)
        if (platform_number(platform, section->name, row->name)->state != PLATFORM_UNSTATED)
            json_tree_put(&numbers, row->name, number_json(platform, section->name, row));
    return numbers;
}

json_t *platform_json_list(const struct platform *platform)
{
    json_t *sections = json_object();
    for (size_t s = 0; platform_sections[s]; s++)
        if (platform_has(platform, platform_sections[s]->name))
            json_tree_put(&sections, platform_sections[s]->name, section_json(platform, platform_sections[s]));
    return json_pack("{s:o,s:o,s:o}", "name", json_tree_text(platform->name), "summary",
                     json_tree_text(platform->summary), "sections", sections);
}
