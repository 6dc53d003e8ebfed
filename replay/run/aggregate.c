#include "replay/run/aggregate.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/run/engine.h"
#include "trace/base/hash.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"

static enum aggregate_how declared(enum aggregate_how how, const struct metric *metric)
{
    static const enum aggregate_how of[] = {AGGREGATE_SUM, AGGREGATE_MIN, AGGREGATE_MAX, AGGREGATE_MEAN,
                                            AGGREGATE_GEOMEAN};
    return how != AGGREGATE_DECLARED ? how : metric ? of[metric->aggregate] : AGGREGATE_MEAN;
}

const char *aggregate_name(enum aggregate_how how, const struct metric *metric)
{
    return metric_aggregate_names[declared(how, metric) - AGGREGATE_SUM];
}

struct metric_value aggregate_values(enum aggregate_how how, const struct metric *metric, const double *values,
                                     size_t n)
{
    struct metric_value out = {0};
    how = declared(how, metric);
    if (n == 0)
        return out;
    double acc = how == AGGREGATE_MIN || how == AGGREGATE_MAX ? values[0] : 0;
    bool zero = false;
    for (size_t i = 0; i < n; i++) {
        if (how == AGGREGATE_MIN)
            acc = fmin(acc, values[i]);
        else if (how == AGGREGATE_MAX)
            acc = fmax(acc, values[i]);
        else if (how != AGGREGATE_GEOMEAN)
            acc += values[i];
        else if (values[i] < 0)
            return out;
        else if (values[i] == 0)
            zero = true;
        else
            acc += log(values[i]);
    }
    out.known = true;
    out.real = how == AGGREGATE_MEAN      ? acc / (double)n
               : how != AGGREGATE_GEOMEAN ? acc
               : zero                     ? 0
                                          : exp(acc / (double)n);
    out.whole = (int64_t)llround(fmin(fmax(out.real, -9e18), 9e18));
    return out;
}

/* The runs' values of a metric, and the ends of intervals. */
struct values {
    double *known, *lo, *hi;
    size_t known_count, count;
    bool interval, unbound;
};

static void take(struct values *v, const struct run *run, const char *metric)
{
    const json_t *number = json_object_get(run->metrics, metric);
    double lo, hi;
    bool interval = run_interval(run, metric, &lo, &hi);
    if (json_is_number(number))
        v->known[v->known_count++] = json_number_value(number);
    else if (!interval)
        return;
    v->lo[v->count] = interval ? lo : json_number_value(number);
    v->hi[v->count++] = interval ? hi : json_number_value(number);
    v->interval |= interval;
    v->unbound |= run_unbound(run, metric);
}

/* A baseline's speed-up is 1 by definition. */
static bool is_relative(const char *metric, const struct run *const *runs, size_t n)
{
    size_t baselines = 0;
    for (size_t i = 0; i < n; i++)
        baselines += runs[i]->baseline;
    return baselines < n && strcmp(metric, "speedup_ratio") == 0;
}

int aggregate_runs(enum aggregate_how how, const char *metric, const struct run *const *runs, size_t n,
                   struct metric_value *value, size_t *left_out, struct err *err)
{
    struct metric_value out = {0};
    *value = out;
    if (n == 0)
        return 0;
    double *room = mem_zalloc(3 * n, sizeof *room, err);
    if (!room)
        return -1;
    const struct metric *declaration = engine_metric(runs[0]->engine, metric);
    struct values v = {.known = room, .lo = room + n, .hi = room + 2 * n};
    const bool relative = is_relative(metric, runs, n);
    size_t taken = 0;
    for (size_t i = 0; i < n; i++) {
        assert(strcmp(runs[i]->policy, runs[0]->policy) == 0 && strcmp(runs[i]->engine, runs[0]->engine) == 0);
        if (relative && runs[i]->baseline)
            continue;
        take(&v, runs[i], metric);
        taken++;
    }
    if (v.known_count == v.count)
        out = aggregate_values(how, declaration, v.known, v.count);
    out.unbound = v.unbound;
    if (v.interval && !v.unbound) {
        out.lo = aggregate_values(how, declaration, v.lo, v.count).real;
        out.hi = aggregate_values(how, declaration, v.hi, v.count).real;
        out.interval = true;
    }
    if (left_out)
        *left_out = taken - v.count;
    free(room);
    *value = out;
    return 0;
}

/* --- over inputs --- */

/* Runs that go together. */
struct group {
    const struct run **runs;
    size_t count, cap;
    char *value; /* of the key */
    UT_hash_handle hh;
    char text[];
};

/* Text of a group's common facts, or NULL. */
static char *group_text(const struct run *run, const char *value, struct err *err)
{
    const struct run_case *c = &run->run_case;
    const struct run_case_facts facts = {.engine = c->engine,
                                         .platform = c->platform,
                                         .version = c->version,
                                         .numbers = c->numbers,
                                         .settings = c->settings};
    struct run_case bare;
    char *text = NULL, *params = json_tree_dump(run->params, JSON_COMPACT | JSON_SORT_KEYS);
    char *relative = json_tree_dump(run->relative_to, JSON_COMPACT | JSON_SORT_KEYS);
    const bool best = strcmp(run->policy, "best fixed") == 0;
    if (params && relative && run_case_init(&bare, &facts, err) == 0) {
        text = mem_format("%s\n%s\n%s\n%s\n%s", bare.hash, value, run->policy, best ? "" : params, relative);
        run_case_release(&bare);
    }
    free(params);
    free(relative);
    return text;
}

/* NULL: no memory. */
static struct group *group_new(struct group **groups, const char *text, const char *value)
{
    const size_t size = strlen(text) + 1;
    struct group *g = mem_zalloc(1, sizeof *g + size, NULL);
    if (!g)
        return NULL;
    memcpy(g->text, text, size);
    g->value = mem_strdup(value, NULL);
    if (g->value)
        HASH_ADD_STR(*groups, text, g);
    if (hash_has(g))
        return g;
    free(g->value);
    free(g);
    return NULL;
}

static int join(struct group **groups, const struct run *run, const char *value, struct err *err)
{
    char *text = group_text(run, value, err);
    struct group *g = NULL;
    if (text)
        HASH_FIND_STR(*groups, text, g);
    if (text && !g)
        g = group_new(groups, text, value);
    free(text);
    return g ? MEM_ADD(g->runs, g->count, g->cap, err, run) : err_set(err, "out of memory");
}

/* One metric of the group, put into the new run's. */
static int combine_one(struct run *out, const struct group *g, const char *name, enum aggregate_how how,
                       struct err *err)
{
    const struct metric *metric = engine_metric(out->engine, name);
    struct metric_value all;
    if (aggregate_runs(how, name, g->runs, g->count, &all, NULL, err))
        return -1;
    const bool whole = metric && metric->type == METRIC_INT;
    json_t *value = !all.known ? json_null() : whole ? json_integer(all.whole) : json_real(all.real);
    json_tree_put(&out->metrics, name, value);
    if (all.unbound)
        json_tree_put(&out->interval, name, json_null());
    else if (all.interval)
        json_tree_put(&out->interval, name, json_pack("[f,f]", all.lo, all.hi));
    return 0;
}

static int combine(struct run_set *to, const struct group *g, const char *key, enum aggregate_how how, struct err *err)
{
    const char *name;
    json_t *value;
    int rc = 0;
    if (run_set_add(to, g->runs[0], err))
        return -1;
    struct run *out = &to->runs[to->count - 1];
    json_t *notes = json_tree_copy(out->notes);
    json_decref(out->metrics);
    json_decref(out->interval);
    json_decref(out->notes);
    json_decref(out->run_case.inputs);
    out->notes = notes;
    out->metrics = json_object();
    out->interval = json_object();
    out->run_case.inputs = json_array();
    memcpy(out->run_case.hash, g->text, RUN_CASE_HASH - 1);
    for (size_t i = 0; i < g->count; i++) {
        rc = rc || run_note_limits(g->runs[i], out->notes) ? -1 : 0;
        json_object_foreach(g->runs[i]->metrics, name, value) if (!rc && !json_object_get(out->metrics, name)) rc =
            combine_one(out, g, name, how, err);
        json_object_foreach(g->runs[i]->interval, name, value) if (!rc && !json_object_get(out->metrics, name)) rc =
            combine_one(out, g, name, how, err);
    }
    if (rc || json_tree_check(out->notes, err) || json_tree_check(out->metrics, err) ||
        json_tree_check(out->interval, err) || json_tree_check(out->run_case.inputs, err))
        return -1;
    out->input[0] = 0;
    out->baseline = false;
    return key ? run_set_part(out, key, g->value, err) : 0;
}

static void release(struct group *groups)
{
    HASH_FREE(groups, g, (free((void *)g->runs), free(g->value)));
}

int aggregate_inputs(struct run_set *runs, const char *key, enum aggregate_how how, size_t *fewest, size_t *most,
                     size_t *without, struct err *err)
{
    struct group *groups = NULL, *g;
    struct run_set combined = {0};
    char value[4096] = "";
    int rc = 0;
    *without = 0;
    for (size_t i = 0; i < runs->count && !rc; i++) {
        if (key && !run_key(&runs->runs[i], key, value, sizeof value))
            ++*without;
        else
            rc = join(&groups, &runs->runs[i], value, err);
    }
    size_t few = SIZE_MAX, many = 0;
    for (g = groups; g && !rc; g = g->hh.next) {
        rc = combine(&combined, g, key, how, err);
        few = g->count < few ? g->count : few;
        many = g->count > many ? g->count : many;
    }
    release(groups);
    combined.unfinished = json_incref(runs->unfinished);
    run_set_release(rc ? &combined : runs);
    if (rc)
        return -1;
    *runs = combined;
    if (fewest)
        *fewest = few;
    if (most)
        *most = many;
    return 0;
}
