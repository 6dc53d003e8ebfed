#include "cmd/console/opt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/param_value.h"
#include "trace/base/suggest.h"
#include "trace/base/units.h"

bool opt_help, opt_quiet, opt_verbose;
int opt_progress;

const struct opt opt_common[] = {
    OPT("help", 'h', OPT_FLAG, NULL, &opt_help, "show this help"),
    OPT("quiet", 'q', OPT_FLAG, NULL, &opt_quiet, "print errors and results only"),
    OPT("verbose", 'v', OPT_FLAG, NULL, &opt_verbose, "say more; notes in full"),
    OPT("progress", 0, OPT_CHOICE, "auto|always|never", &opt_progress, "progress on stderr (auto: on a terminal)"),
    {0}};

const struct opt *opt_find(const struct opt *table, const char *name, size_t n, char letter)
{
    const struct opt *const both[] = {table, opt_common};
    for (size_t t = 0; t < 2; t++)
        for (const struct opt *o = both[t]; o && o->name; o++)
            if (name ? n && strlen(o->name) == n && memcmp(o->name, name, n) == 0 : o->letter && o->letter == letter)
                return o;
    return NULL;
}

static int unknown(const struct opt *table, const char *arg, size_t n, struct err *err)
{
    char word[64], dashed[64], hint[SUGGEST_HINT];
    (void)snprintf(word, sizeof word, "%.*s", (int)n + 2, arg);
    struct suggest suggest = {.word = word};
    const struct opt *const both[] = {table, opt_common};
    for (size_t t = 0; t < 2; t++)
        for (const struct opt *o = both[t]; o && o->name; o++) {
            (void)snprintf(dashed, sizeof dashed, "--%s", o->name);
            if (*o->name)
                suggest_offer(&suggest, dashed);
        }
    return err_set(err, "unknown option '%.60s'%s", arg, suggest_hint(&suggest, hint, sizeof hint));
}

static int choose(const struct opt *o, const char *text, struct err *err)
{
    const int position = param_position(o->arg, text);
    if (position >= 0) {
        *(int *)o->value = position;
        return 0;
    }
    return err_set(err, "--%s is '%.60s'; expected one of %s", o->name, text, o->arg);
}

enum { MOST_OPTIONS = 64 };

/* Those that were given on the command line. */
static struct given {
    const struct opt *option;
    char *joined; /* what its value points at, if several texts were joined */
} given[MOST_OPTIONS];
static size_t given_count;

/* NULL: it was not given before. */
static struct given *given_before(const struct opt *o)
{
    for (size_t i = 0; i < given_count; i++)
        if (given[i].option == o)
            return &given[i];
    if (given_count < MOST_OPTIONS)
        given[given_count++].option = o;
    return NULL;
}

static int join(struct given *before, const char **value, const char *text, struct err *err)
{
    char *both;
    if (asprintf(&both, "%s,%s", *value, text) < 0)
        return err_set(err, "out of memory");
    free(before->joined);
    *value = before->joined = both;
    return 0;
}

static int store(const struct opt *o, const char *text, struct err *err)
{
    struct given *before = given_before(o);
    if (before && o->type == OPT_JOIN)
        return join(before, o->value, text, err);
    if (before && (o->type == OPT_TEXT || o->type == OPT_CHOICE || o->type == OPT_INT))
        return err_set(err, "--%s is given twice", o->name);
    switch (o->type) {
    case OPT_FLAG:
        *(bool *)o->value = true;
        return 0;
    case OPT_TEXT:
    case OPT_JOIN:
        *(const char **)o->value = text;
        return 0;
    case OPT_CHOICE:
        return choose(o, text, err);
    case OPT_LIST: {
        struct opt_list *list = o->value;
        if (MEM_ADD(list->items, list->count, list->cap, err, text))
            return -1;
        return 0;
    }
    case OPT_INT:
        break;
    }
    int64_t v;
    if (units_parse_int(text, &v, err))
        return err_at(err, "--%s", o->name);
    if (v < o->lo || v > o->hi)
        return err_set(err, "--%s is %.60s; expected %lld to %lld", o->name, text, (long long)o->lo, (long long)o->hi);
    *(int64_t *)o->value = v;
    return 0;
}

/* One argument that starts with '-'; *i is moved past the value it takes. */
static int take(const struct opt *table, int argc, char **argv, int *i, struct err *err)
{
    const char *arg = argv[*i];
    if (arg[1] == '-') {
        size_t n = strcspn(arg + 2, "=");
        const struct opt *o = opt_find(table, arg + 2, n, 0);
        if (!o)
            return unknown(table, arg, n, err);
        if (o->type == OPT_FLAG)
            return arg[2 + n] ? err_set(err, "--%s takes no value", o->name) : store(o, NULL, err);
        if (arg[2 + n])
            return store(o, arg + 2 + n + 1, err);
        if (*i + 1 >= argc)
            return err_set(err, "--%s needs a value: --%s %s", o->name, o->name, o->arg);
        return store(o, argv[++*i], err);
    }
    for (const char *p = arg + 1; *p; p++) {
        const struct opt *o = opt_find(table, NULL, 0, *p);
        if (!o)
            return err_set(err, "unknown option '-%c'", *p);
        if (o->type == OPT_FLAG) {
            if (store(o, NULL, err))
                return -1;
            continue;
        }
        if (p[1])
            return store(o, p + 1, err);
        if (*i + 1 >= argc)
            return err_set(err, "-%c needs a value: -%c %s", *p, *p, o->arg);
        return store(o, argv[++*i], err);
    }
    return 0;
}

int opt_parse(const struct opt *table, int argc, char **argv, bool stop_at_operand, struct err *err)
{
    int operands = 0;
    bool done = false;
    memset(given, 0, sizeof given); /* joined texts live as long as what points at them */
    given_count = 0;
    for (int i = 1; i < argc; i++) {
        if (done || argv[i][0] != '-' || !argv[i][1]) {
            argv[operands++] = argv[i];
            done = done || stop_at_operand;
        } else if (strcmp(argv[i], "--") == 0) {
            done = true;
        } else if (take(table, argc, argv, &i, err)) {
            return -1;
        }
    }
    argv[operands] = NULL;
    return operands;
}
