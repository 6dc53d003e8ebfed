#include "trace/base/param.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/suggest.h"
#include "trace/base/units.h"

const struct param *param_find(const struct param *table, const char *name)
{
    for (const struct param *p = table; p && p->name; p++)
        if (strcmp(p->name, name) == 0)
            return p;
    return NULL;
}

static void *field(const struct param *row, void *owner)
{
    return (char *)owner + row->offset;
}

void param_defaults(const struct param *table, void *owner)
{
    for (const struct param *p = table; p && p->name; p++) {
        if (p->type == PARAM_REAL)
            *(double *)field(p, owner) = p->value;
        else if (p->type == PARAM_TEXT)
            *(const char **)field(p, owner) = p->text;
        else
            *(int64_t *)field(p, owner) = (int64_t)p->value;
    }
}

static int unknown_name(const struct param *table, const char *name, struct err *err)
{
    char known[300] = "", hint[SUGGEST_HINT];
    const char *more = "";
    size_t used = 0;
    struct suggest suggest = {.word = name};
    for (const struct param *p = table; p && p->name; p++) {
        suggest_offer(&suggest, p->name);
        if (used + strlen(p->name) + 2 < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", p->name);
        else
            more = ", ..";
    }
    return err_set(err, "'%.60s' is not a known parameter; expected %s%s%s", name, *known ? known : "none", more,
                   suggest_hint(&suggest, hint, sizeof hint));
}

static int unknown_choice(const struct param *row, const char *text, struct err *err)
{
    char hint[SUGGEST_HINT];
    struct suggest suggest = {.word = text};
    return err_set(err, "%s is '%.60s'; expected one of %s%s", row->name, text, row->unit,
                   suggest_hint(&suggest, hint, sizeof hint));
}

int param_position(const char *names, const char *text)
{
    size_t n = strlen(text);
    int position = 0;
    for (const char *p = names; *p; position++) {
        size_t len = strcspn(p, "|");
        if (len == n && memcmp(p, text, n) == 0)
            return position;
        p += len + (p[len] == '|');
    }
    return -1;
}

static int out_of_range(const struct param *row, const char *text, struct err *err)
{
    char lo[32], hi[32];
    if (row->type == PARAM_BYTES)
        return err_set(err, "%s is %.60s; expected %s to %s (a bare number is bytes)", row->name, text,
                       units_format_bytes((int64_t)row->lo, lo, sizeof lo),
                       units_format_bytes((int64_t)row->hi, hi, sizeof hi));
    return err_set(err, "%s is %.60s; expected %.15g to %.15g%s%s", row->name, text, row->lo, row->hi,
                   *row->unit ? " " : "", row->unit);
}

int param_set(const struct param *table, void *owner, const char *name, const char *text, struct err *err)
{
    const struct param *row = param_find(table, name);
    if (!row)
        return unknown_name(table, name, err);
    if (!text)
        return err_set(err, "%s needs a value: %s=VALUE", name, name);
    int64_t whole = 0;
    double real = 0;
    if (row->type == PARAM_TEXT) {
        *(const char **)field(row, owner) = text;
        return 0;
    }
    if (row->type == PARAM_CHOICE && (whole = param_position(row->unit, text)) < 0)
        return unknown_choice(row, text, err);
    const bool automatic = row->type == PARAM_NS && row->text && strcmp(text, row->text) == 0;
    if (automatic || row->type == PARAM_CHOICE) {
        *(int64_t *)field(row, owner) = automatic ? PARAM_AUTO : whole;
        return 0;
    }
    int rc = row->type == PARAM_REAL    ? units_parse_real(text, &real, err)
             : row->type == PARAM_BYTES ? units_parse_bytes(text, &whole, err)
             : row->type == PARAM_NS    ? units_parse_ns(text, &whole, err)
                                        : units_parse_int(text, &whole, err);
    if (rc)
        return err_at(err, "%s", name);
    double checked = row->type == PARAM_REAL ? real : (double)whole;
    if (checked < row->lo || checked > row->hi)
        return out_of_range(row, text, err);
    if (row->type == PARAM_REAL)
        *(double *)field(row, owner) = real;
    else
        *(int64_t *)field(row, owner) = whole;
    return 0;
}

int64_t param_int(const struct param *row, const void *owner)
{
    return *(const int64_t *)((const char *)owner + row->offset);
}

double param_real(const struct param *row, const void *owner)
{
    return *(const double *)((const char *)owner + row->offset);
}

const char *param_text(const struct param *row, const void *owner)
{
    return *(const char *const *)((const char *)owner + row->offset);
}

double param_number(const struct param *row, const void *owner)
{
    if (row->type == PARAM_TEXT)
        return 0;
    return row->type == PARAM_REAL ? param_real(row, owner) : (double)param_int(row, owner);
}

void param_put_number(const struct param *row, void *owner, double value)
{
    if (row->type == PARAM_REAL)
        *(double *)field(row, owner) = value;
    else if (row->type != PARAM_TEXT)
        *(int64_t *)field(row, owner) = llround(value);
}

const char *param_choice(const struct param *row, int64_t position, char *buf, size_t size)
{
    const char *p = row->unit;
    for (; position > 0 && *p; position--) {
        p += strcspn(p, "|");
        p += *p == '|';
    }
    if (!*p)
        p = "?";
    (void)snprintf(buf, size, "%.*s", (int)strcspn(p, "|"), p);
    return buf;
}

const char *param_range(const struct param *row, char *buf, size_t size)
{
    char lo[32], hi[32];
    if (row->type == PARAM_BYTES)
        (void)snprintf(buf, size, "%s..%s", units_format_bytes((int64_t)row->lo, lo, sizeof lo),
                       units_format_bytes((int64_t)row->hi, hi, sizeof hi));
    else if (row->type == PARAM_CHOICE || row->type == PARAM_TEXT)
        (void)snprintf(buf, size, "%s", row->type == PARAM_CHOICE ? row->unit : "");
    else
        (void)snprintf(buf, size, "%.15g..%.15g", row->lo, row->hi);
    return buf;
}

const char *param_format(const struct param *row, const void *owner, char *buf, size_t size)
{
    const bool automatic = row->type == PARAM_NS && row->text && param_int(row, owner) == PARAM_AUTO;
    const char *text = automatic ? row->text : row->type == PARAM_TEXT ? param_text(row, owner) : NULL;
    if (row->type == PARAM_CHOICE)
        return param_choice(row, param_int(row, owner), buf, size);
    if (row->type == PARAM_BYTES)
        return units_format_bytes(param_int(row, owner), buf, size);
    if (row->type == PARAM_REAL)
        (void)snprintf(buf, size, "%.15g", param_real(row, owner));
    else if (automatic || row->type == PARAM_TEXT)
        (void)snprintf(buf, size, "%s", text ? text : "");
    else
        (void)snprintf(buf, size, "%lld", (long long)param_int(row, owner));
    return buf;
}

const char *param_default(const struct param *row, char *buf, size_t size)
{
    struct param table[2] = {*row};
    union {
        int64_t whole;
        double real;
        const char *text;
    } value;
    table[0].offset = 0;
    param_defaults(table, &value);
    return param_format(table, &value, buf, size);
}

int param_list_init(struct param_list *list, const char *text, struct err *err)
{
    memset(list, 0, sizeof *list);
    list->text = mem_strdup(text, err);
    if (!list->text)
        return -1;
    size_t cap = 0;
    char *p = list->text;
    while (*p) {
        char *start = p;
        int depth = 0;
        while (*p && (*p != ',' || depth > 0)) {
            depth += (*p == '[') - (*p == ']');
            p++;
        }
        if (*p)
            *p++ = 0;
        if (*start ? mem_grow((void **)&list->pairs, &cap, list->count + 1, sizeof *list->pairs, err)
                   : err_set(err, "empty item in '%.100s'", text)) {
            param_list_release(list);
            return -1;
        }
        char *eq = strchr(start, '=');
        if (eq)
            *eq = 0;
        list->pairs[list->count++] = (struct param_pair){start, eq ? eq + 1 : NULL};
    }
    return 0;
}

void param_list_release(struct param_list *list)
{
    free(list->text);
    free(list->pairs);
    memset(list, 0, sizeof *list);
}

int param_list_apply(const struct param_list *list, const struct param *table, void *owner, struct err *err)
{
    param_defaults(table, owner);
    for (size_t i = 0; i < list->count; i++)
        if (param_set(table, owner, list->pairs[i].key, list->pairs[i].value, err))
            return -1;
    return 0;
}
