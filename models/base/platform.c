#include "models/base/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/embedded.h"
#include "trace/base/ini.h"
#include "trace/base/mem.h"
#include "trace/base/suggest.h"

enum { SECTIONS_MAX = 16, BASE_DEPTH_MAX = 4 };

/* One `key = value | source` that was set. */
struct entry {
    const struct platform_section *section;
    const struct param *row;
    const char *source; /* in `texts` */
};

struct platform {
    char name[64], summary[256];
    void *structs[SECTIONS_MAX];
    struct entry *entries;
    size_t count, cap;
    char **texts;
    size_t text_count, text_cap;
};

/* What the reader's callback needs. */
struct load {
    struct platform *platform;
    int depth;
    bool named, summarised; /* by this file, so far */
};

static int load_into(struct platform *platform, const char *name_or_file, int depth, struct err *err);

static char *keep(struct platform *platform, const char *text, struct err *err)
{
    if (mem_grow((void **)&platform->texts, &platform->text_cap, platform->text_count + 1, sizeof *platform->texts,
                 err))
        return NULL;
    char *copy = mem_strdup(text, err);
    if (copy)
        platform->texts[platform->text_count++] = copy;
    return copy;
}

/* `source` is kept by the platform or for good. */
static int remember(struct platform *platform, const struct platform_section *section, const struct param *row,
                    const char *source, struct err *err)
{
    for (size_t i = 0; i < platform->count; i++)
        if (platform->entries[i].row == row) {
            platform->entries[i].source = source;
            return 0;
        }
    if (mem_grow((void **)&platform->entries, &platform->cap, platform->count + 1, sizeof *platform->entries, err))
        return -1;
    platform->entries[platform->count++] = (struct entry){section, row, source};
    return 0;
}

/* What the base calls itself gives way to what this file said before it. */
static int load_base(struct load *load, const char *base, struct err *err)
{
    struct platform *p = load->platform;
    char name[sizeof p->name], summary[sizeof p->summary];
    memcpy(name, p->name, sizeof name);
    memcpy(summary, p->summary, sizeof summary);
    if (load_into(p, base, load->depth + 1, err))
        return -1;
    if (load->named)
        memcpy(p->name, name, sizeof name);
    if (load->summarised)
        memcpy(p->summary, summary, sizeof summary);
    return 0;
}

static int set_text(char *to, size_t size, const char *key, const char *value, struct err *err)
{
    size_t n = strlen(value);
    if (n >= size)
        return err_set(err, "%s has %zu bytes; expected at most %zu", key, n, size - 1);
    memcpy(to, value, n + 1);
    return 0;
}

static int set_head(struct load *load, const char *key, const char *value, struct err *err)
{
    struct platform *p = load->platform;
    if (strcmp(key, "base") == 0)
        return load_base(load, value, err);
    if (strcmp(key, "name") == 0) {
        load->named = true;
        return set_text(p->name, sizeof p->name, key, value, err);
    }
    if (strcmp(key, "summary") == 0) {
        load->summarised = true;
        return set_text(p->summary, sizeof p->summary, key, value, err);
    }
    return err_set(err, "'%.60s' is not known in [platform]; expected name, summary or base", key);
}

static int unknown_section(const char *section, struct err *err)
{
    char known[200] = "";
    size_t used = 0;
    for (size_t s = 0; platform_sections[s] && used < sizeof known; s++)
        used += (size_t)snprintf(known + used, sizeof known - used, " [%s]", platform_sections[s]->name);
    return err_set(err, "[%.60s] is not a known section; expected [platform]%s", section, known);
}

/* Cut `VALUE | source` in two. Returns the source, NULL with *err set. */
static const char *cut_source(char *text, const char *key, struct err *err)
{
    char *bar = strrchr(text, '|');
    if (!bar) {
        err_set(err, "%.60s has no source; expected '%.60s = VALUE | where it comes from'", key, key);
        return NULL;
    }
    const char *source = bar + 1 + strspn(bar + 1, " \t");
    while (bar > text && (bar[-1] == ' ' || bar[-1] == '\t'))
        bar--;
    *bar = 0;
    if (*source)
        return source;
    err_set(err, "%.60s has an empty source after '|'", key);
    return NULL;
}

static int set_number(struct platform *p, size_t s, const char *key, const char *text, struct err *err)
{
    const struct platform_section *section = platform_sections[s];
    char *value = keep(p, text, err);
    const char *source = value ? cut_source(value, key, err) : NULL;
    if (!source || param_set(section->params, p->structs[s], key, value, err))
        return -1;
    return remember(p, section, param_find(section->params, key), source, err);
}

/* Key NULL: the section begins. */
static int on_value(void *ctx, const char *section, const char *key, const char *value, struct err *err)
{
    struct load *load = ctx;
    size_t s = 0;
    if (strcmp(section, "platform") == 0)
        return key ? set_head(load, key, value, err) : 0;
    while (platform_sections[s] && strcmp(platform_sections[s]->name, section) != 0)
        s++;
    if (!platform_sections[s])
        return unknown_section(section, err);
    return key ? set_number(load->platform, s, key, value, err) : 0;
}

static const char *embedded(const char *name)
{
    char path[128];
    (void)snprintf(path, sizeof path, "models/platforms/%s.ini", name);
    for (size_t i = 0; embedded_files[i].path; i++)
        if (strcmp(embedded_files[i].path, path) == 0)
            return embedded_files[i].text;
    return NULL;
}

static bool is_file(const char *name)
{
    size_t n = strlen(name);
    return strchr(name, '/') || (n > 4 && strcmp(name + n - 4, ".ini") == 0);
}

static int no_such_platform(const char *name, struct err *err)
{
    char shipped[64], hint[96];
    struct suggest suggest = {.word = name};
    for (size_t i = 0; platform_shipped(i, shipped, sizeof shipped); i++)
        suggest_offer(&suggest, shipped);
    return err_set(err, "no platform is called '%.100s'; see 'offchip list platforms', or name an .ini file%s", name,
                   suggest_hint(&suggest, hint, sizeof hint));
}

static int load_into(struct platform *platform, const char *name_or_file, int depth, struct err *err)
{
    if (depth > BASE_DEPTH_MAX)
        return err_set(err, "platform '%.100s': 'base' goes more than %d levels deep", name_or_file, BASE_DEPTH_MAX);
    struct load load = {.platform = platform, .depth = depth};
    const struct ini_reader reader = {on_value, &load};
    if (is_file(name_or_file)) {
        if (ini_read_file(name_or_file, &reader, err))
            return -1;
        return platform->count ? 0
                               : err_set(err,
                                         "%s: no number in it; expected a section such as [gpu] with 'key = VALUE | "
                                         "source', or 'base = NAME' in [platform]",
                                         name_or_file);
    }
    const char *text = embedded(name_or_file);
    return text ? ini_read_text(name_or_file, text, strlen(text), &reader, err) : no_such_platform(name_or_file, err);
}

struct platform *platform_load(const char *name_or_file, struct err *err)
{
    struct platform *platform = mem_zalloc(1, sizeof *platform, err);
    if (!platform)
        return NULL;
    (void)snprintf(platform->name, sizeof platform->name, "%s", name_or_file);
    for (size_t s = 0; platform_sections[s]; s++) {
        platform->structs[s] = mem_zalloc(1, platform_sections[s]->size, err);
        if (!platform->structs[s]) {
            platform_free(platform);
            return NULL;
        }
        param_defaults(platform_sections[s]->params, platform->structs[s]);
    }
    if (load_into(platform, name_or_file, 0, err)) {
        platform_free(platform);
        return NULL;
    }
    return platform;
}

void platform_free(struct platform *platform)
{
    if (!platform)
        return;
    for (size_t s = 0; platform_sections[s]; s++)
        free(platform->structs[s]);
    for (size_t i = 0; i < platform->text_count; i++)
        free(platform->texts[i]);
    free((void *)platform->texts);
    free(platform->entries);
    free(platform);
}

const char *platform_name(const struct platform *platform)
{
    return platform->name;
}

const char *platform_summary(const struct platform *platform)
{
    return platform->summary;
}

const void *platform_section_get(const struct platform *platform, const char *section)
{
    for (size_t s = 0; platform_sections[s]; s++)
        if (strcmp(platform_sections[s]->name, section) == 0)
            return platform->structs[s];
    return NULL;
}

bool platform_has(const struct platform *platform, const char *section)
{
    for (size_t i = 0; i < platform->count; i++)
        if (strcmp(platform->entries[i].section->name, section) == 0)
            return true;
    return false;
}

int platform_set(struct platform *platform, const char *key, const char *value, const struct param *settings,
                 struct err *err)
{
    const char *dot = strchr(key, '.');
    size_t n = dot ? (size_t)(dot - key) : 0;
    const char *name = dot ? dot + 1 : key;
    for (size_t s = 0; platform_sections[s]; s++) {
        const struct platform_section *ps = platform_sections[s];
        if (dot && (strlen(ps->name) != n || memcmp(ps->name, key, n) != 0))
            continue;
        const struct param *row = param_find(ps->params, name);
        if (!row)
            continue;
        const char *kept = value ? keep(platform, value, err) : NULL;
        if (value && !kept)
            return -1;
        if (param_set(ps->params, platform->structs[s], name, kept, err))
            return -1;
        return remember(platform, ps, row, "given on the command line", err);
    }
    struct suggest suggest = {.word = name};
    char hint[96];
    for (const struct param *p = settings; p && p->name; p++)
        suggest_offer(&suggest, p->name);
    for (size_t s = 0; platform_sections[s]; s++)
        for (const struct param *p = platform_sections[s]->params; p->name; p++)
            suggest_offer(&suggest, p->name);
    return err_set(err, "'%.60s' is neither a setting of the engine nor a number of the platform%s", key,
                   suggest_hint(&suggest, hint, sizeof hint));
}

const char *platform_source(const struct platform *platform, const char *section, const char *key)
{
    for (size_t i = 0; i < platform->count; i++)
        if (strcmp(platform->entries[i].section->name, section) == 0 &&
            strcmp(platform->entries[i].row->name, key) == 0)
            return platform->entries[i].source;
    return NULL;
}

const char *platform_shipped(size_t i, char *buf, size_t size)
{
    static const char folder[] = "models/platforms/";
    for (size_t f = 0; embedded_files[f].path; f++) {
        const char *path = embedded_files[f].path;
        if (strncmp(path, folder, sizeof folder - 1) != 0 || i-- != 0)
            continue;
        (void)snprintf(buf, size, "%.*s", (int)(strlen(path) - sizeof folder + 1 - 4), path + sizeof folder - 1);
        return buf;
    }
    return NULL;
}
