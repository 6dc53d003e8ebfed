#include "cmd/console/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/console/lines.h"
#include "cmd/console/table.h"
#include "replay/run/engine.h"
#include "trace/base/ini.h"
#include "trace/base/mem.h"

struct values {
    const char *platform;
    int64_t format, jobs, progress, colour, columns;
};

static const struct param keys[] = {
    PARAM_TEXT_ROW(values, platform, NULL, "in place of the engines' default platforms"),
    PARAM_CHOICE_ROW(values, format, "table|csv|json", 0, "how results are printed"),
    PARAM_INT_ROW(values, jobs, "", 1, 4096, 1, "threads"),
    PARAM_CHOICE_ROW(values, progress, "auto|always|never", 0, "progress on stderr"),
    PARAM_CHOICE_ROW(values, colour, "auto|never", 0, "heads of tables"),
    PARAM_INT_ROW(values, columns, "", 20, 10000, 80, "the longest line"),
    {0}};

/* By key; NULL: there is none of offchip's own. */
static const char *const variables[] = {
    "OFFCHIP_PLATFORM", "OFFCHIP_FORMAT", "OFFCHIP_JOBS", "OFFCHIP_PROGRESS", NULL, NULL};

/* What the file says. */
static struct said {
    char *section, *value;
    const struct param *key;
} * said;
static size_t said_count, said_cap;
static char *path;

static int check(const struct param *key, const char *value, struct err *err)
{
    struct values scratch;
    if (strcmp(key->name, "platform") != 0)
        return param_set(keys, &scratch, key->name, value, err);
    const size_t n = strlen(value);
    const bool file = strchr(value, '/') || (n > 4 && strcmp(value + n - 4, ".ini") == 0);
    if (!n || (file && value[0] != '/'))
        return err_set(err, "platform is '%.100s'; expected a name or the whole path of a file", value);
    return 0;
}

static bool is_engine(const char *section)
{
    return engine_find(section) || engine_told(section);
}

static int take(void *ctx, const char *section, const char *key, const char *value, struct err *err)
{
    (void)ctx;
    const bool defaults = strcmp(section, "defaults") == 0;
    if (!defaults && !is_engine(section))
        return err_set(err, "[%.60s] is not known; expected [defaults], an engine or [compare]", section);
    if (!key)
        return 0;
    const struct param *row = param_find(keys, key);
    if (!row || (!defaults && row != keys))
        return err_set(err, "'%.60s' is not known in [%.60s]; expected %s", key, section,
                       defaults ? "platform, format, jobs, progress, colour or columns" : "platform");
    if (check(row, value, err) || mem_grow((void **)&said, &said_cap, said_count + 1, sizeof *said, err))
        return -1;
    said[said_count] = (struct said){mem_strdup(section, err), mem_strdup(value, err), row};
    return said[said_count].section && said[said_count++].value ? 0 : -1;
}

/* The file's name in `path`, or NULL there; *must: it was named, and has to be there. */
static int find_file(bool *must, struct err *err)
{
    const char *named = getenv("OFFCHIP_CONFIG"), *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int n = 0;
    *must = named && *named;
    if (named)
        n = *must ? asprintf(&path, "%s", named) : 0;
    else if (base && *base == '/')
        n = asprintf(&path, "%s/offchip/config", base);
    else if (home && *home == '/')
        n = asprintf(&path, "%s/.config/offchip/config", home);
    return n < 0 ? err_set(err, "out of memory") : 0;
}

int config_load(struct err *err)
{
    const struct ini_reader reader = {.take = take};
    bool must;
    for (size_t i = 0; keys[i].name; i++) {
        const char *value = variables[i] ? getenv(variables[i]) : NULL;
        if (value && *value && check(&keys[i], value, err))
            return err_at(err, "%s", variables[i]);
    }
    if (find_file(&must, err))
        return -1;
    if (!path || (!must && access(path, F_OK)))
        return 0;
    return ini_read_file(path, &reader, err);
}

/* Of that section, or of [defaults]; *from: who says it, NULL where nobody does. */
static const char *get(size_t key, const char *section, const char **from)
{
    const char *value = variables[key] ? getenv(variables[key]) : NULL, *found = NULL;
    if (value && *value) {
        *from = variables[key];
        return value;
    }
    for (size_t i = 0; i < said_count; i++) {
        const bool own = strcmp(said[i].section, section) == 0;
        if (said[i].key == &keys[key] && (own || (!found && strcmp(said[i].section, "defaults") == 0)))
            found = said[i].value;
    }
    *from = found ? path : NULL;
    return found;
}

static bool loaded;

const char *config_platform(const char *engine, const char **from)
{
    return loaded ? get(0, engine, from) : NULL;
}

/* An option that prints whether or not it is given. */
static bool takes(const struct opt *o)
{
    return o && (strcmp(o->name, "format") != 0 || (o->type == OPT_CHOICE && *(const int *)o->value >= 0));
}

int config_apply(const struct opt *options, struct err *err)
{
    loaded = true;
    for (size_t i = 1; keys[i].name; i++) {
        const char *from, *value = get(i, "defaults", &from);
        if (!value)
            continue;
        struct values scratch = {0};
        if (param_set(keys, &scratch, keys[i].name, value, err))
            return -1;
        if (scratch.columns)
            lines_wish((size_t)scratch.columns);
        else if (scratch.colour)
            table_wish_plain();
        else if (takes(opt_find(options, keys[i].name)) && opt_default(options, keys[i].name, value, err))
            return err_at(err, "%s", from);
    }
    return 0;
}
