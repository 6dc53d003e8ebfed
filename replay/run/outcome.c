#include "replay/run/outcome.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

const char *metric_aggregate_name(enum metric_aggregate aggregate)
{
    static const char *const names[] = {"sum", "min", "max", "mean", "geomean"};
    return names[aggregate];
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
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t n = strlen(units[i].end);
        if (length >= n && strcmp(name + length - n, units[i].end) == 0)
            return units[i].unit;
    }
    return "";
}

const char *metric_label(const char *name, char *buf, size_t size)
{
    static const char *const ends[] = {"_bytes_per_s", "_bytes", "_ns"};
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t n = strlen(ends[i]);
        if (length > n && strcmp(name + length - n, ends[i]) == 0) {
            (void)snprintf(buf, size, "%.*s%s", (int)(length - n), name, i ? "" : "_per_s");
            return buf;
        }
    }
    (void)snprintf(buf, size, "%s", name);
    return buf;
}

const char *outcome_by_name(enum outcome_by by)
{
    static const char *const names[OUTCOME_BYS] = {"kernel", "allocation"};
    return names[by];
}

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
    for (size_t i = 0; i < outcome->note_count; i++)
        free(outcome->notes[i]);
    free((void *)outcome->notes);
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
    outcome->values[i] = (struct metric_value){.least = true, .lo = lo};
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
    char *copy =
        mem_grow((void **)&outcome->notes, &outcome->note_cap, outcome->note_count + 1, sizeof *outcome->notes, &err)
            ? NULL
            : mem_strdup(text, &err);
    if (copy)
        outcome->notes[outcome->note_count++] = copy;
    else
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

/* "unbound": the names, if there are any. */
static int unbound_to_json(const struct outcome *outcome, json_t *object)
{
    json_t *names = json_array();
    int bad = !names;
    for (size_t i = 0; i < outcome->count && !bad; i++)
        if (outcome->values[i].unbound && outcome->values[i].known)
            bad = json_array_append_new(names, json_string(outcome->metrics[i].name));
    if (!bad && json_array_size(names))
        return json_object_set_new(object, "unbound", names);
    json_decref(names);
    return bad;
}

/* "metrics" and "interval"; unknown values are null, or left out of parts. */
static int values_to_json(const struct outcome *outcome, bool part, json_t *object)
{
    json_t *metrics = json_object(), *interval = json_object();
    int bad = 0;
    for (size_t i = 0; i < outcome->count; i++) {
        const struct metric_value *v = &outcome->values[i];
        const char *name = outcome->metrics[i].name;
        if (part && !v->known && !v->interval)
            continue;
        json_t *value = !v->known                                ? json_null()
                        : outcome->metrics[i].type == METRIC_INT ? json_integer(v->whole)
                                                                 : json_real(v->real);
        bad |= json_object_set_new(metrics, name, value);
        if (v->interval && outcome->metrics[i].type == METRIC_INT && fabs(v->lo) < 0x1p53 && fabs(v->hi) < 0x1p53)
            bad |= json_object_set_new(interval, name,
                                       json_pack("[I,I]", (json_int_t)llround(v->lo), (json_int_t)llround(v->hi)));
        else if (v->interval)
            bad |= json_object_set_new(interval, name, json_pack("[f,f]", v->lo, v->hi));
        else if (v->least)
            bad |= json_object_set_new(interval, name, json_pack("[f,n]", v->lo));
    }
    bad |= json_object_set_new(object, "metrics", metrics);
    bad |= json_object_set_new(object, "interval", interval);
    return bad | unbound_to_json(outcome, object);
}

static int parts_to_json(const struct outcome *outcome, json_t *object)
{
    json_t *all = json_object();
    int bad = 0;
    for (int by = 0; by < OUTCOME_BYS; by++) {
        const struct outcome_parts *parts = &outcome->parts[by];
        json_t *array = json_array();
        for (size_t i = 0; i < parts->count; i++) {
            json_t *part = json_pack("{s:s}", "part", parts->items[i].name);
            bad |= values_to_json(&parts->items[i].outcome, true, part);
            bad |= json_array_append_new(array, part);
        }
        if (parts->count)
            bad |= json_object_set(all, outcome_by_name((enum outcome_by)by), array);
        json_decref(array);
    }
    if (json_object_size(all))
        bad |= json_object_set(object, "parts", all);
    json_decref(all);
    return bad;
}

int outcome_to_json(const struct outcome *outcome, json_t *object, struct err *err)
{
    if (outcome_check(outcome, err))
        return -1;
    json_t *notes = json_array();
    int bad = values_to_json(outcome, false, object);
    for (size_t i = 0; i < outcome->note_count; i++)
        bad |= json_array_append_new(notes, json_string(outcome->notes[i]));
    bad |= json_object_set_new(object, "notes", notes);
    bad |= parts_to_json(outcome, object);
    return bad ? err_set(err, "out of memory while writing JSON") : 0;
}
