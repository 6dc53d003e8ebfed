#include "replay/run/outcome.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/base/units.h"

const char *const metric_aggregate_names[] = {"sum", "min", "max", "mean", "geomean"};

/* Whether a text ends so; *stem: what stands before, in characters. */
static bool ends_in(const char *text, const char *end, int *stem)
{
    const size_t n = strlen(text), m = strlen(end);
    *stem = (int)n - (int)m;
    return n >= m && strcmp(text + n - m, end) == 0;
}

const char *metric_unit(const char *name)
{
    static const struct {
        const char *end, *unit;
    } units[] = {{"bytes_per_s", "bytes/s"},
                 {"_per_s", "1/s"},
                 {"_per_kcycle", "1/(1000 cycles)"},
                 {"_bytes", "bytes"},
                 {"_ns", "ns"},
                 {"_cycles", "cycles"},
                 {"_uj", "uJ"}};
    int stem;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (ends_in(name, units[i].end, &stem))
            return units[i].unit;
    return "";
}

const char *metric_label(const char *name, char *buf, size_t size)
{
    static const char *const ends[] = {"_bytes_per_s", "_bytes", "_ns"};
    int stem;
    (void)snprintf(buf, size, "%s", name);
    for (size_t i = sizeof ends / sizeof *ends; i-- > 0;)
        if (ends_in(name, ends[i], &stem) && stem)
            (void)snprintf(buf, size, "%.*s%s", stem, name, i ? "" : "_per_s");
    return buf;
}

const char *metric_count(double value, char *buf, size_t size)
{
    if (fabs(value) < 0x1p63)
        return units_human_count(llround(value), buf, size);
    (void)snprintf(buf, size, "%.3g", value);
    return buf;
}

static const char *number(const struct metric *metric, double value, char *buf, size_t size)
{
    const char *unit = metric_unit(metric->name);
    if (strcmp(unit, "bytes/s") == 0) {
        (void)snprintf(buf, size, "%.3g GB/s", value / 1e9);
        return buf;
    }
    if (strcmp(unit, "bytes") == 0)
        return units_human_bytes(value, buf, size);
    if (strcmp(unit, "ns") == 0)
        return units_human_ns(value, buf, size);
    if (metric->type == METRIC_INT || fabs(value) >= 1000)
        (void)metric_count(value, buf, size);
    else
        (void)snprintf(buf, size, "%.*f", fabs(value) >= 100 ? 1 : fabs(value) >= 10 ? 2 : 3, value);
    return buf;
}

/* "242 .. 331 us": a unit that both have stands once, and one number for ends that look alike. */
static void between(const struct metric *metric, const struct metric_value *value, char *buf, size_t size)
{
    char lo[64], hi[64];
    char *unit = strchr(number(metric, value->lo, lo, sizeof lo), ' ');
    const char *same = strchr(number(metric, value->hi, hi, sizeof hi), ' ');
    const bool alike = strcmp(lo, hi) == 0;
    if (unit && same && strcmp(unit, same) == 0 && !alike)
        *unit = 0;
    (void)snprintf(buf, size, alike ? "%s" : "%s .. %s", lo, hi);
}

const char *metric_text(const struct metric *metric, const struct metric_value *value, char *buf, size_t size)
{
    char lo[64], *whole = buf;
    if (value->unbound && value->known && size) {
        *buf++ = '~';
        size--;
    }
    if (value->interval)
        between(metric, value, buf, size);
    else if (value->lower_bound)
        (void)snprintf(buf, size, "> %s", number(metric, value->lo, lo, sizeof lo));
    else if (!value->known)
        (void)snprintf(buf, size, "n/a");
    else if (metric->type == METRIC_INT && strcmp(metric_unit(metric->name), "bytes") != 0 &&
             strcmp(metric_unit(metric->name), "ns") != 0)
        units_human_count(value->whole, buf, size);
    else
        number(metric, value->real, buf, size);
    return whole;
}

const char *const outcome_by_names[OUTCOME_BYS] = {"kernel", "allocation"};

int outcome_init(struct outcome *outcome, const struct metric *metrics, struct err *err)
{
    memset(outcome, 0, sizeof *outcome);
    outcome->metrics = metrics;
    while (metrics[outcome->count].name)
        outcome->count++;
    outcome->values = mem_zalloc(outcome->count, sizeof *outcome->values, err);
    return outcome->values ? 0 : -1;
}

void outcome_release(struct outcome *outcome)
{
    mem_free_texts(outcome->notes, outcome->note_count);
    free(outcome->values);
    for (int by = 0; by < OUTCOME_BYS; by++) {
        struct outcome_parts *parts = &outcome->parts[by];
        for (size_t i = 0; i < parts->count; i++) {
            free(parts->items[i].name);
            free(parts->items[i].outcome.values);
        }
        free(parts->items);
    }
    memset(outcome, 0, sizeof *outcome);
}

static size_t find(const struct outcome *outcome, const char *name)
{
    size_t i = 0;
    while (i < outcome->count && strcmp(outcome->metrics[i].name, name) != 0)
        i++;
    return i;
}

void outcome_unbound(struct outcome *outcome, const char *name)
{
    size_t i = find(outcome, name);
    assert(i < outcome->count);
    outcome->values[i].unbound = true;
}

void outcome_int(struct outcome *outcome, const char *name, int64_t value)
{
    size_t i = find(outcome, name);
    assert(i < outcome->count && outcome->metrics[i].type == METRIC_INT);
    outcome->values[i].known = true;
    outcome->values[i].whole = value;
    outcome->values[i].real = (double)value;
}

void outcome_real(struct outcome *outcome, const char *name, double value)
{
    size_t i = find(outcome, name);
    assert(i < outcome->count && outcome->metrics[i].type == METRIC_REAL);
    outcome->values[i].known = isfinite(value);
    outcome->values[i].real = isfinite(value) ? value : 0;
}

void outcome_set(struct outcome *outcome, const char *name, double value)
{
    const struct metric_value *v = outcome_get(outcome, name);
    if (!isfinite(value))
        return;
    if (outcome->metrics[v - outcome->values].type == METRIC_REAL)
        outcome_real(outcome, name, value);
    else
        outcome_int(outcome, name, llround(fmin(value, 0x1p63 - 1024)));
}

void outcome_interval(struct outcome *outcome, const char *name, double lo, double hi)
{
    size_t i = find(outcome, name);
    assert(i < outcome->count);
    outcome->values[i].interval = isfinite(lo) && isfinite(hi);
    outcome->values[i].lo = lo;
    outcome->values[i].hi = hi;
}

void outcome_at_least(struct outcome *outcome, const char *name, double lo)
{
    size_t i = find(outcome, name);
    assert(i < outcome->count && isfinite(lo));
    outcome->values[i] = (struct metric_value){.lower_bound = true, .lo = lo};
}

void outcome_note_all(struct outcome *outcome, const json_t *notes)
{
    size_t i;
    json_t *note;
    json_array_foreach((json_t *)notes, i, note) outcome_note(outcome, "%s", json_string_value(note));
}

json_t *outcome_notes_of(const struct outcome *outcome, const char *(*kind)(const char *note))
{
    json_t *found = json_array();
    for (size_t i = 0; i < outcome->note_count; i++)
        if (kind(outcome->notes[i]))
            json_tree_add(&found, json_tree_text(kind(outcome->notes[i])));
    return found;
}

bool outcome_has_note(const struct outcome *outcome, const char *note)
{
    for (size_t i = 0; i < outcome->note_count; i++)
        if (strcmp(outcome->notes[i], note) == 0)
            return true;
    return false;
}

void outcome_note(struct outcome *outcome, const char *format, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, format);
    (void)vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    if (outcome_has_note(outcome, text))
        return;
    struct err err;
    char *copy = mem_strdup(text, &err);
    if (copy && MEM_ADD(outcome->notes, outcome->note_count, outcome->note_cap, &err, copy) == 0)
        return;
    free(copy);
    outcome_fail(outcome, &err);
}

void outcome_fail(struct outcome *outcome, const struct err *why)
{
    if (!outcome->failed.msg[0])
        outcome->failed = *why;
}

int outcome_check(const struct outcome *outcome, struct err *err)
{
    return outcome->failed.msg[0] ? err_set(err, "%s", outcome->failed.msg) : 0;
}

const struct metric_value *outcome_get(const struct outcome *outcome, const char *name)
{
    size_t i = find(outcome, name);
    return i < outcome->count ? &outcome->values[i] : NULL;
}

struct outcome *outcome_add_part(struct outcome *outcome, enum outcome_by by, const char *name, struct err *err)
{
    struct outcome_parts *parts = &outcome->parts[by];
    if (mem_grow((void **)&parts->items, &parts->cap, parts->count + 1, sizeof *parts->items, err))
        return NULL;
    struct outcome_part *part = &parts->items[parts->count];
    part->name = mem_strdup(name, err);
    if (!part->name)
        return NULL;
    if (outcome_init(&part->outcome, outcome->metrics, err)) {
        free(part->name);
        return NULL;
    }
    parts->count++;
    return &part->outcome;
}

struct outcome *outcome_find_part(const struct outcome *outcome, enum outcome_by by, const char *name)
{
    const struct outcome_parts *parts = &outcome->parts[by];
    for (size_t i = 0; i < parts->count; i++)
        if (strcmp(parts->items[i].name, name) == 0)
            return &parts->items[i].outcome;
    return NULL;
}

/* "metrics", "interval", and "unbound" if there are any; unknown values are null, or left out of parts. */
static void put_values(json_t **object, const struct outcome *outcome, bool part)
{
    json_t *metrics = json_object(), *interval = json_object(), *unbound = json_array();
    for (size_t i = 0; i < outcome->count; i++) {
        const struct metric_value *v = &outcome->values[i];
        const char *name = outcome->metrics[i].name;
        const bool whole = outcome->metrics[i].type == METRIC_INT;
        if (part && !v->known && !v->interval)
            continue;
        json_tree_put(&metrics, name, !v->known ? json_null() : whole ? json_integer(v->whole) : json_real(v->real));
        if (v->interval && whole && fabs(v->lo) < 0x1p53 && fabs(v->hi) < 0x1p53)
            json_tree_put(&interval, name, json_pack("[I,I]", (json_int_t)llround(v->lo), (json_int_t)llround(v->hi)));
        else if (v->interval)
            json_tree_put(&interval, name, json_pack("[f,f]", v->lo, v->hi));
        else if (v->lower_bound)
            json_tree_put(&interval, name, json_pack("[f,n]", v->lo));
        if (v->unbound && v->known)
            json_tree_add(&unbound, json_string(name));
    }
    json_tree_put(object, "metrics", metrics);
    json_tree_put(object, "interval", interval);
    if (!unbound || json_array_size(unbound))
        json_tree_put(object, "unbound", unbound);
    else
        json_decref(unbound);
}

static void put_parts(json_t **object, const struct outcome *outcome)
{
    json_t *all = json_object();
    for (int by = 0; by < OUTCOME_BYS; by++) {
        const struct outcome_parts *parts = &outcome->parts[by];
        json_t *array = json_array();
        for (size_t i = 0; i < parts->count; i++) {
            json_t *part = json_pack("{s:s}", "part", parts->items[i].name);
            put_values(&part, &parts->items[i].outcome, true);
            json_tree_add(&array, part);
        }
        if (parts->count)
            json_tree_put(&all, outcome_by_names[by], array);
        else
            json_decref(array);
    }
    if (!all || json_object_size(all))
        json_tree_put(object, "parts", all);
    else
        json_decref(all);
}

int outcome_to_json(const struct outcome *outcome, json_t **object, struct err *err)
{
    json_t *notes = json_array();
    put_values(object, outcome, false);
    for (size_t i = 0; i < outcome->note_count; i++)
        json_tree_add(&notes, json_string(outcome->notes[i]));
    json_tree_put(object, "notes", notes);
    put_parts(object, outcome);
    if (outcome_check(outcome, err) == 0)
        return *object ? 0 : err_set(err, "out of memory while writing JSON");
    json_decref(*object);
    *object = NULL;
    return -1;
}
