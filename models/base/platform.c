#include "models/base/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "models/base/platform_type.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/base/suggest.h"

char *platform_keep(struct platform *platform, const char *text, struct err *err)
{
    if (mem_grow((void **)&platform->texts, &platform->text_cap, platform->text_count + 1, sizeof *platform->texts,
                 err))
        return NULL;
    char *copy = mem_strdup(text, err);
    if (copy)
        platform->texts[platform->text_count++] = copy;
    return copy;
}

/* --- one number --- */

static int set_value(struct platform_part *part, const char *key, const char *text, const char *end, double *number,
                     struct err *err)
{
    if (param_set(part->section->params, part->values, key, text, err))
        return err_at(err, "%s of the range", end);
    *number = param_number(param_find(part->section->params, key), part->values);
    return 0;
}

/* Low and high into *n, then the value, which must lie between them. */
static int set_ranged(struct platform_part *part, const struct param *row, const struct platform_form *form,
                      struct platform_number *n, struct err *err)
{
    if (row->type == PARAM_TEXT && form->low)
        return err_set(err, "%s is a text, which has no range: '%s: why'", row->name, platform_kind_name(form->kind));
    if (row->type != PARAM_TEXT && form->kind != PLATFORM_SOURCED && !form->low)
        return err_set(err, "%s is %s without a range; expected '%s%s LOW..HIGH: why'", row->name,
                       platform_kind_name(form->kind), platform_kind_name(form->kind), form->as ? " NAME" : "");
    if (form->low && (set_value(part, row->name, form->low, "low end", &n->low, err) ||
                      set_value(part, row->name, form->high, "high end", &n->high, err)))
        return -1;
    if (param_set(part->section->params, part->values, row->name, form->value, err))
        return -1;
    double value = param_number(row, part->values);
    if (!form->low)
        n->low = n->high = value;
    if (n->low <= value && value <= n->high)
        return 0;
    return err_set(err, "%s is %.60s, outside its range %.60s..%.60s", row->name, form->value, form->low, form->high);
}

int platform_state(struct platform *platform, struct platform_part *part, const char *key, const char *text,
                   enum platform_state state, struct err *err)
{
    struct platform_form form;
    char *kept = platform_keep(platform, text, err);
    if (!kept || platform_form_cut(kept, key, &form, err))
        return -1;
    const struct param *row = param_find(part->section->params, key);
    if (!row) /* says which there are */
        return param_set(part->section->params, part->values, key, form.value, err);
    struct platform_number n = {.state = state, .kind = form.kind, .as = form.as, .source = form.why};
    if (set_ranged(part, row, &form, &n, err))
        return -1;
    part->numbers[row - part->section->params] = n;
    part->stated |= state == PLATFORM_STATED;
    return 0;
}

/* --- all of them --- */

static int state_general(struct platform *platform, struct platform_part *part, const struct platform_general *g,
                         struct err *err)
{
    const struct param *row = param_find(part->section->params, g->key);
    char value[256], text[512];
    if (!row)
        return err_set(err, "[%s] has no %s, which has a general default", part->section->name, g->key);
    (void)snprintf(text, sizeof text, "%s | %s", param_format(row, part->values, value, sizeof value), g->rest);
    return platform_state(platform, part, g->key, text, PLATFORM_GENERAL, err);
}

int platform_part_clear(struct platform *platform, struct platform_part *part, struct err *err)
{
    memset(part->values, 0, part->section->size);
    memset(part->numbers, 0, part->count * sizeof *part->numbers);
    param_defaults(part->section->params, part->values);
    part->stated = false;
    part->none = NULL;
    part->borrowed = (struct platform_borrowed){0};
    for (const struct platform_general *g = part->section->general; g && g->key; g++)
        if (state_general(platform, part, g, err))
            return -1;
    return 0;
}

static int add_part(struct platform *platform, const struct platform_section *section, struct err *err)
{
    struct platform_part *part = &platform->parts[platform->part_count++];
    part->section = section;
    while (section->params[part->count].name)
        part->count++;
    part->values = mem_zalloc(1, section->size, err);
    part->numbers = mem_zalloc(part->count, sizeof *part->numbers, err);
    return part->values && part->numbers ? 0 : -1;
}

static struct platform *new_empty(struct err *err)
{
    struct platform *platform = mem_zalloc(1, sizeof *platform, err);
    for (size_t s = 0; platform && platform_sections[s]; s++)
        if (add_part(platform, platform_sections[s], err)) {
            platform_free(platform);
            return NULL;
        }
    return platform;
}

struct platform *platform_new(struct err *err)
{
    struct platform *platform = new_empty(err);
    for (size_t i = 0; platform && i < platform->part_count; i++)
        if (platform_part_clear(platform, &platform->parts[i], err)) {
            platform_free(platform);
            return NULL;
        }
    return platform;
}

/* *text as a text of the platform's own. */
static int own(struct platform *platform, const char **text, struct err *err)
{
    return *text && !(*text = platform_keep(platform, *text, err)) ? -1 : 0;
}

static int copy_part(struct platform *to, struct platform_part *part, const struct platform_part *from, struct err *err)
{
    memcpy(part->values, from->values, part->section->size);
    memcpy(part->numbers, from->numbers, part->count * sizeof *part->numbers);
    part->stated = from->stated;
    part->none = from->none;
    part->borrowed = from->borrowed;
    if (own(to, &part->none, err) || own(to, &part->borrowed.as, err) || own(to, &part->borrowed.why, err))
        return -1;
    for (size_t i = 0; i < part->count; i++) {
        const struct param *row = &part->section->params[i];
        const char **text = (const char **)((char *)part->values + row->offset);
        if (own(to, &part->numbers[i].as, err) || own(to, &part->numbers[i].source, err) ||
            (row->type == PARAM_TEXT && own(to, text, err)))
            return -1;
    }
    return 0;
}

struct platform *platform_copy(const struct platform *from, struct err *err)
{
    struct platform *to = new_empty(err);
    if (!to)
        return NULL;
    memcpy(to->name, from->name, sizeof to->name);
    memcpy(to->summary, from->summary, sizeof to->summary);
    memcpy(to->from, from->from, sizeof to->from);
    memcpy(to->gpus, from->gpus, sizeof to->gpus);
    memcpy(to->compute, from->compute, sizeof to->compute);
    for (size_t i = 0; i < to->part_count; i++)
        if (copy_part(to, &to->parts[i], &from->parts[i], err)) {
            platform_free(to);
            return NULL;
        }
    return to;
}

void platform_free(struct platform *platform)
{
    if (!platform)
        return;
    for (size_t s = 0; s < platform->part_count; s++) {
        free(platform->parts[s].values);
        free(platform->parts[s].numbers);
    }
    for (size_t i = 0; i < platform->text_count; i++)
        free(platform->texts[i]);
    free((void *)platform->texts);
    free(platform);
}

/* --- asking --- */

const char *platform_name(const struct platform *platform)
{
    return platform->name;
}

const char *platform_summary(const struct platform *platform)
{
    return platform->summary;
}

const char *platform_from(const struct platform *platform)
{
    return platform->from;
}

const char *platform_compute(const struct platform *platform)
{
    return platform->compute;
}

const char *platform_gpus(const struct platform *platform)
{
    return platform->gpus;
}

bool platform_is_of(const struct platform *platform, const char *gpu)
{
    size_t n = strlen(gpu);
    for (const char *p = platform->gpus; *p && n;) {
        p += strspn(p, " ,");
        size_t length = strcspn(p, ",");
        if (strncasecmp(p, gpu, n) == 0 && (length == n || strspn(p + n, " ") + n == length))
            return true;
        p += length;
    }
    return false;
}

struct platform_part *platform_part(struct platform *platform, const char *section)
{
    for (size_t s = 0; s < platform->part_count; s++)
        if (strcmp(platform->parts[s].section->name, section) == 0)
            return &platform->parts[s];
    return NULL;
}

static const struct platform_part *part_of(const struct platform *platform, const char *section)
{
    return platform_part((struct platform *)platform, section);
}

const void *platform_section_get(const struct platform *platform, const char *section)
{
    const struct platform_part *part = part_of(platform, section);
    return part ? part->values : NULL;
}

static const char *text_of(const struct param *row, const void *values)
{
    const char *text = param_text(row, values);
    return text ? text : "";
}

static bool named(const char *const *names, const char *name)
{
    while (names && *names && strcmp(*names, name) != 0)
        names++;
    return names && *names;
}

bool platform_same(const struct platform *a, const struct platform *b, const char *section, const char *const *but)
{
    const struct platform_part *x = part_of(a, section), *y = part_of(b, section);
    bool same = x && y;
    for (size_t i = 0; same && i < x->count; i++) {
        const struct param *row = &x->section->params[i];
        if (named(but, row->name))
            continue;
        same = row->type == PARAM_TEXT ? strcmp(text_of(row, x->values), text_of(row, y->values)) == 0
                                       : param_number(row, x->values) == param_number(row, y->values);
    }
    return same;
}

bool platform_has(const struct platform *platform, const char *section)
{
    const struct platform_part *part = part_of(platform, section);
    return part && part->stated;
}

const struct platform_number *platform_number(const struct platform *platform, const char *section, const char *key)
{
    const struct platform_part *part = part_of(platform, section);
    const struct param *row = part ? param_find(part->section->params, key) : NULL;
    return row ? &part->numbers[row - part->section->params] : NULL;
}

const char *platform_source(const struct platform *platform, const char *section, const char *key)
{
    const struct platform_number *n = platform_number(platform, section, key);
    return n && n->state == PLATFORM_STATED ? n->source : NULL;
}

const struct platform_borrowed *platform_borrowed(const struct platform *platform, const char *section)
{
    const struct platform_part *part = part_of(platform, section);
    return part && part->borrowed.as ? &part->borrowed : NULL;
}

const char *platform_none(const struct platform *platform, const char *section)
{
    const struct platform_part *part = part_of(platform, section);
    return part ? part->none : NULL;
}

/* --- overriding --- */

static int set_given(struct platform *platform, struct platform_part *part, const char *name, const char *value,
                     struct err *err)
{
    const char *kept = value ? platform_keep(platform, value, err) : NULL;
    if ((value && !kept) || param_set(part->section->params, part->values, name, kept, err))
        return -1;
    const struct param *row = param_find(part->section->params, name);
    double number = param_number(row, part->values);
    part->numbers[row - part->section->params] = (struct platform_number){
        .state = PLATFORM_STATED, .given = true, .source = "given on the command line", .low = number, .high = number};
    part->stated = true;
    return 0;
}

int platform_set(struct platform *platform, const char *key, const char *value, const struct param *settings,
                 struct err *err)
{
    const char *dot = strchr(key, '.');
    size_t n = dot ? (size_t)(dot - key) : 0;
    const char *name = dot ? dot + 1 : key;
    for (size_t s = 0; s < platform->part_count; s++) {
        const struct platform_section *ps = platform->parts[s].section;
        if (dot && (strlen(ps->name) != n || memcmp(ps->name, key, n) != 0))
            continue;
        if (param_find(ps->params, name))
            return set_given(platform, &platform->parts[s], name, value, err);
    }
    struct suggest suggest = {.word = name};
    char hint[SUGGEST_HINT];
    for (const struct param *p = settings; p && p->name; p++)
        suggest_offer(&suggest, p->name);
    for (size_t s = 0; platform_sections[s]; s++)
        for (const struct param *p = platform_sections[s]->params; p->name; p++)
            suggest_offer(&suggest, p->name);
    return err_set(err, "'%.60s' is neither a setting of the engine nor a number of the platform%s", key,
                   suggest_hint(&suggest, hint, sizeof hint));
}

/* --- whole platforms --- */

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
