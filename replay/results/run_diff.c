#include "replay/results/run_diff.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "replay/results/case_table.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"

const char *const run_fact_kinds[RUN_FACTS] = {"engine", "input",     "platform", "setting", "number",
                                               "policy", "parameter", "baseline", "version"};

static int no_memory(struct err *err)
{
    return err_set(err, "out of memory while comparing runs");
}

/* --- facts of a run --- */

struct fact {
    enum run_fact_kind kind;
    char *key;        /* kind and name */
    const char *name; /* "input", "mem2"; "uvm.compute_ns"; "oversubscription_pct"; within the key */
    char *value;      /* by which it is compared, numbers by value: of an input its content, where that is known */
    json_t *shown;    /* what is said of it: of an input as it was given, of others the value */
    char *scope;      /* within which values are one another's alternatives: of a parameter its policy, of a number its
                         platform; with the engine in front */
};

struct facts {
    struct fact *items;
    size_t count, cap;
};

static void fact_release(struct fact *fact)
{
    free(fact->key);
    free(fact->value);
    free(fact->scope);
    json_decref(fact->shown);
}

static void facts_release(struct facts *facts)
{
    for (size_t i = 0; i < facts->count; i++)
        fact_release(&facts->items[i]);
    free(facts->items);
}

/* Add a fact; shown is taken over, value may be NULL: the text of what is shown. */
static int add(struct facts *facts, const struct run *run, enum run_fact_kind kind, const char *name, const char *value,
               json_t *shown)
{
    const char *within = kind == RUN_FACT_PARAMETER ? run->policy : kind == RUN_FACT_NUMBER ? run->platform : "";
    struct fact fact = {.kind = kind,
                        .key = mem_format("%d\n%s", (int)kind, name),
                        .value = value ? mem_strdup(value, NULL) : case_keys_text(shown),
                        .shown = shown,
                        .scope = mem_format("%s\n%s", run->engine, within)};
    fact.name = fact.key ? strchr(fact.key, '\n') + 1 : NULL;
    if (fact.scope && fact.key && fact.value && shown &&
        MEM_ADD(facts->items, facts->count, facts->cap, NULL, fact) == 0)
        return 0;
    fact_release(&fact);
    return -1;
}

static int add_all(struct facts *facts, const struct run *run, enum run_fact_kind kind, const json_t *object)
{
    const char *name;
    json_t *value;
    int bad = 0;
    json_object_foreach((json_t *)object, name, value) bad |= add(facts, run, kind, name, NULL, json_incref(value));
    return bad;
}

static int add_inputs(struct facts *facts, const struct run *run, bool by_name)
{
    size_t i;
    json_t *input;
    int bad = 0;
    json_array_foreach(run->run_case.inputs, i, input)
    {
        const char *hash = json_string_value(json_object_get(input, "hash"));
        char name[64];
        case_keys_role(run->run_case.inputs, i, "input", name, sizeof name);
        bad |=
            add(facts, run, RUN_FACT_INPUT, name, by_name ? NULL : hash, json_incref(json_object_get(input, "input")));
    }
    return bad;
}

/* by_name: inputs are compared as they were given, not by content. Release it also after a failure. */
static int facts_of(struct facts *facts, const struct run *run, bool by_name, struct err *err)
{
    *facts = (struct facts){0};
    char *baseline = case_keys_baseline(run);
    int bad = !baseline || add(facts, run, RUN_FACT_ENGINE, "engine", NULL, json_string(run->engine)) ||
              add_inputs(facts, run, by_name) ||
              add(facts, run, RUN_FACT_PLATFORM, "platform", NULL, json_string(run->platform)) ||
              add_all(facts, run, RUN_FACT_SETTING, run->run_case.settings) ||
              add_all(facts, run, RUN_FACT_NUMBER, run->run_case.numbers) ||
              add(facts, run, RUN_FACT_POLICY, "policy", NULL, json_string(run->policy)) ||
              add_all(facts, run, RUN_FACT_PARAMETER, run->params) ||
              add(facts, run, RUN_FACT_BASELINE, "baseline", NULL, json_string(baseline)) ||
              add(facts, run, RUN_FACT_VERSION, "version", NULL, json_string(run->run_case.version));
    free(baseline);
    return bad ? no_memory(err) : 0;
}

/* The fact of that kind and name, or NULL; looked for first at `hint`. */
static const struct fact *facts_find(const struct facts *facts, size_t hint, enum run_fact_kind kind, const char *name)
{
    for (size_t i = 0; i < facts->count; i++) {
        const struct fact *fact = &facts->items[(hint + i) % facts->count];
        if (fact->kind == kind && strcmp(fact->name, name) == 0)
            return fact;
    }
    return NULL;
}

/* One of the two sets. */
struct side {
    const struct run_set *set;
    struct facts *facts; /* [run] */
    char **keys;         /* [run]: what it is matched by */
    size_t *partner;     /* [run]: of the other set; SIZE_MAX: none */
};

struct making {
    struct run_diff *diff;
    struct side side[2];
    json_t *varies; /* {"kind\nname": true}: what runs are matched by */
    bool engines;   /* there are several */
    struct err *err;
};

/* --- what varies within a set --- */

static void mark(struct making *m, const struct fact *fact, json_t **seen)
{
    char *place = mem_format("%s\n%s", fact->key, fact->scope);
    const char *first = json_string_value(json_object_get(*seen, place));
    if (!first)
        json_tree_put(seen, place, json_string(fact->value));
    if ((first && strcmp(first, fact->value) != 0) || fact->kind == RUN_FACT_ENGINE)
        json_tree_put(&m->varies, fact->key, json_true());
    free(place);
}

static int mark_all(struct making *m, const struct side *side)
{
    json_t *seen = json_object();
    for (size_t i = 0; i < side->set->count; i++)
        for (size_t k = 0; k < side->facts[i].count; k++)
            mark(m, &side->facts[i].items[k], &seen);
    const bool whole = seen && m->varies;
    json_decref(seen);
    return whole ? 0 : no_memory(m->err);
}

static bool varies(const struct making *m, const struct fact *fact)
{
    return json_object_get(m->varies, fact->key) != NULL;
}

/* --- who is whose like --- */

/* A run's varying facts as one text, in any order. */
static char *match_key(const struct making *m, const struct facts *facts)
{
    json_t *all = json_object();
    for (size_t k = 0; k < facts->count; k++)
        if (varies(m, &facts->items[k]))
            json_tree_put(&all, facts->items[k].key, json_string(facts->items[k].value));
    char *text = json_tree_dump(all, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(all);
    return text;
}

static int make_keys(struct making *m, struct side *side)
{
    for (size_t i = 0; i < side->set->count; i++) {
        const struct run_set *first = m->side[m->side[0].set->count == 0].set;
        m->engines |= strcmp(side->set->runs[i].engine, first->runs[0].engine) != 0;
        if (!(side->keys[i] = match_key(m, &side->facts[i])))
            return no_memory(m->err);
    }
    return 0;
}

/* The n-th of one key is matched with the n-th. */
static int match(struct making *m)
{
    struct side *a = &m->side[0], *b = &m->side[1];
    json_t *queues = json_object();
    int bad = !queues;
    for (size_t i = b->set->count; i-- > 0 && !bad;) {
        json_t *queue = json_object_get(queues, b->keys[i]);
        if (!queue)
            bad = json_object_set_new(queues, b->keys[i], queue = json_array());
        bad = bad || json_array_append_new(queue, json_integer((json_int_t)i));
        b->partner[i] = SIZE_MAX;
    }
    for (size_t i = 0; i < a->set->count && !bad; i++) {
        json_t *queue = json_object_get(queues, a->keys[i]);
        size_t left = json_array_size(queue);
        a->partner[i] = left ? (size_t)json_integer_value(json_array_get(queue, left - 1)) : SIZE_MAX;
        if (left) {
            b->partner[a->partner[i]] = i;
            (void)json_array_remove(queue, left - 1);
        }
    }
    json_decref(queues);
    return bad ? no_memory(m->err) : 0;
}

/* --- names --- */

/* Name the facts that matched a run, without the policy; engines only if there are several. */
static char *case_label(const struct making *m, const struct side *side, size_t i)
{
    char *label = mem_strdup("", NULL);
    const struct facts *facts = &side->facts[i];
    for (size_t k = 0; k < facts->count && label; k++) {
        const struct fact *fact = &facts->items[k];
        if (fact->kind == RUN_FACT_POLICY || fact->kind == RUN_FACT_PARAMETER || !varies(m, fact) ||
            (fact->kind == RUN_FACT_ENGINE && !m->engines))
            continue;
        const bool plain =
            fact->kind == RUN_FACT_ENGINE || fact->kind == RUN_FACT_PLATFORM || strcmp(fact->name, "input") == 0;
        const char *text = fact->kind == RUN_FACT_INPUT ? json_string_value(fact->shown) : fact->value;
        (void)mem_append(&label, "%s%s%s%s", *label ? " " : "", plain ? "" : fact->name, plain ? "" : "=",
                         text ? text : "");
    }
    return label;
}

static char *policy_label(const struct making *m, const struct side *side, size_t i)
{
    char *label = mem_strdup(side->set->runs[i].policy, NULL);
    const struct facts *facts = &side->facts[i];
    const char *separator = ":";
    for (size_t k = 0; k < facts->count && label; k++)
        if (facts->items[k].kind == RUN_FACT_PARAMETER && varies(m, &facts->items[k])) {
            (void)mem_append(&label, "%s%s=%s", separator, facts->items[k].name, facts->items[k].value);
            separator = ",";
        }
    return label;
}

/* --- rows --- */

static json_t *subtract(const json_t *b, const json_t *a)
{
    json_int_t whole;
    if (!json_is_number(a) || !json_is_number(b))
        return NULL;
    if (json_is_integer(a) && json_is_integer(b) &&
        !__builtin_sub_overflow(json_integer_value(b), json_integer_value(a), &whole))
        return json_integer(whole);
    return json_real(json_number_value(b) - json_number_value(a));
}

static void row_release(struct run_diff_row *row)
{
    free(row->engine);
    free(row->of);
    free(row->policy);
    free(row->name);
    json_decref(row->a);
    json_decref(row->b);
    json_decref(row->difference);
}

/* Texts are taken over, JSON is shared; NULL or null: not known. */
static int add_row(struct making *m, struct run_diff_row row, json_t *a, json_t *b)
{
    struct run_diff *diff = m->diff;
    const double from = json_number_value(a);
    row.a = json_is_null(a) ? NULL : json_incref(a);
    row.b = json_is_null(b) ? NULL : json_incref(b);
    row.difference = subtract(b, a);
    row.percent = row.difference && from != 0 ? 100 * (json_number_value(b) - from) / fabs(from) : NAN;
    if (row.engine && row.of && row.policy && row.name && MEM_ADD(diff->rows, diff->count, diff->cap, NULL, row) == 0)
        return 0;
    row_release(&row);
    return no_memory(m->err);
}

/* A fact in which a pair differs; the same of several pairs is said once. */
static int add_fact(struct making *m, const struct run *run, const struct fact *a, const struct fact *b)
{
    const struct fact *any = a ? a : b;
    json_t *from = a ? a->shown : NULL, *to = b ? b->shown : NULL, *content[2] = {NULL, NULL};
    if (any->kind == RUN_FACT_INPUT && a && b && json_equal(from, to)) { /* of one name, but not the same */
        from = content[0] = json_string(a->value);
        to = content[1] = json_string(b->value);
    }
    const bool number = any->kind == RUN_FACT_NUMBER, parameter = any->kind == RUN_FACT_PARAMETER;
    const char *of = number ? run->platform : "", *policy = parameter ? run->policy : "";
    int rc = 0;
    bool said = false;
    for (size_t i = 0; i < m->diff->count && !said; i++) {
        const struct run_diff_row *r = &m->diff->rows[i];
        said = r->what == RUN_DIFF_FACT && r->kind == any->kind && strcmp(r->name, any->name) == 0 &&
               strcmp(r->of, of) == 0 && strcmp(r->policy, policy) == 0 && json_equal(r->a, from) == (from != NULL) &&
               json_equal(r->b, to) == (to != NULL);
    }
    if (!said)
        rc = add_row(m,
                     (struct run_diff_row){.what = RUN_DIFF_FACT,
                                           .kind = any->kind,
                                           .engine = mem_strdup(run->engine, NULL),
                                           .of = mem_strdup(of, NULL),
                                           .policy = mem_strdup(policy, NULL),
                                           .name = mem_strdup(any->name, NULL)},
                     from, to);
    json_decref(content[0]);
    json_decref(content[1]);
    return rc;
}

static int diff_facts(struct making *m, size_t i)
{
    const struct run *run = &m->side[0].set->runs[i];
    const struct facts *a = &m->side[0].facts[i], *b = &m->side[1].facts[m->side[0].partner[i]];
    for (size_t k = 0; k < a->count; k++) {
        const struct fact *other = facts_find(b, k, a->items[k].kind, a->items[k].name);
        if ((!other || strcmp(other->value, a->items[k].value) != 0) && add_fact(m, run, &a->items[k], other))
            return -1;
    }
    for (size_t k = 0; k < b->count; k++)
        if (!facts_find(a, k, b->items[k].kind, b->items[k].name) && add_fact(m, run, NULL, &b->items[k]))
            return -1;
    return 0;
}

static int add_metric(struct making *m, size_t i, const char *name, const char *end, json_t *a, json_t *b)
{
    const bool none_a = !a || json_is_null(a), none_b = !b || json_is_null(b);
    if ((none_a && none_b) || (!none_a && !none_b && run_same_value(a, b)))
        return 0;
    const bool one = strcmp(m->side[0].set->runs[i].policy, m->side[1].set->runs[m->side[0].partner[i]].policy) == 0;
    return add_row(m,
                   (struct run_diff_row){.what = RUN_DIFF_METRIC,
                                         .engine = mem_strdup(m->side[0].set->runs[i].engine, NULL),
                                         .of = case_label(m, &m->side[0], i),
                                         .policy = one ? policy_label(m, &m->side[0], i) : mem_strdup("", NULL),
                                         .name = mem_format("%s%s", name, end)},
                   a, b);
}

/* A metric with the ends of its interval; whether something bounds it. */
static int diff_metric(struct making *m, size_t i, const char *name)
{
    const struct run *a = &m->side[0].set->runs[i], *b = &m->side[1].set->runs[m->side[0].partner[i]];
    json_t *ends_a = json_object_get(a->interval, name), *ends_b = json_object_get(b->interval, name);
    json_t *free_a = json_boolean(json_is_null(ends_a)), *free_b = json_boolean(json_is_null(ends_b));
    return add_metric(m, i, name, "", json_object_get(a->metrics, name), json_object_get(b->metrics, name)) ||
                   add_metric(m, i, name, "_lo", json_array_get(ends_a, 0), json_array_get(ends_b, 0)) ||
                   add_metric(m, i, name, "_hi", json_array_get(ends_a, 1), json_array_get(ends_b, 1)) ||
                   add_metric(m, i, name, "_unbound", free_a, free_b)
               ? -1
               : 0;
}

static int diff_metrics(struct making *m, size_t i)
{
    const struct run *a = &m->side[0].set->runs[i], *b = &m->side[1].set->runs[m->side[0].partner[i]];
    const char *name;
    json_t *value;
    const size_t before = m->diff->count;
    int rc = 0;
    json_object_foreach(a->metrics, name, value) rc = rc ? rc : diff_metric(m, i, name);
    json_object_foreach(b->metrics, name, value) if (!rc && !json_object_get(a->metrics, name)) rc =
        diff_metric(m, i, name);
    m->diff->pairs++;
    m->diff->same += m->diff->count == before;
    return rc;
}

static int add_alone(struct making *m, int s)
{
    const struct side *side = &m->side[s];
    for (size_t i = 0; i < side->set->count; i++) {
        json_t *yes = json_true();
        if (side->partner[i] == SIZE_MAX &&
            add_row(m,
                    (struct run_diff_row){.what = RUN_DIFF_ONLY,
                                          .engine = mem_strdup(side->set->runs[i].engine, NULL),
                                          .of = case_label(m, side, i),
                                          .policy = policy_label(m, side, i),
                                          .name = mem_strdup("run", NULL)},
                    s ? NULL : yes, s ? yes : NULL))
            return -1;
    }
    return 0;
}

static int add_rows(struct making *m)
{
    const struct side *a = &m->side[0];
    int rc = 0;
    for (size_t i = 0; i < a->set->count && !rc; i++)
        rc = a->partner[i] == SIZE_MAX ? 0 : diff_facts(m, i);
    for (size_t i = 0; i < a->set->count && !rc; i++)
        rc = a->partner[i] == SIZE_MAX ? 0 : diff_metrics(m, i);
    return rc ? rc : add_alone(m, 0) || add_alone(m, 1) ? -1 : 0;
}

/* --- the whole --- */

static int side_init(struct side *side, const struct run_set *set, bool by_name, struct err *err)
{
    *side = (struct side){set, mem_zalloc(set->count, sizeof *side->facts, err),
                          mem_zalloc(set->count, sizeof *side->keys, err),
                          mem_zalloc(set->count, sizeof *side->partner, err)};
    if (!side->facts || !side->keys || !side->partner)
        return -1;
    for (size_t i = 0; i < set->count; i++)
        if (facts_of(&side->facts[i], &set->runs[i], by_name, err))
            return -1;
    return 0;
}

static void side_release(struct side *side)
{
    const size_t runs = side->set ? side->set->count : 0;
    for (size_t i = 0; side->facts && i < runs; i++)
        facts_release(&side->facts[i]);
    free(side->facts);
    mem_free_texts(side->keys, runs);
    free(side->partner);
}

/* Whether a run's input lacks a hash of its content, as in hand-written files. */
static bool any_unhashed(const struct run_set *set)
{
    size_t k;
    json_t *input;
    for (size_t i = 0; i < set->count; i++)
        json_array_foreach(set->runs[i].run_case.inputs, k, input)
        {
            const char *hash = json_string_value(json_object_get(input, "hash"));
            if (!hash || !*hash)
                return true;
        }
    return false;
}

static int make(struct run_diff *diff, const struct run_set *a, const struct run_set *b, struct err *err)
{
    struct making m = {.diff = diff, .varies = json_object(), .err = err};
    const bool by_name = any_unhashed(a) || any_unhashed(b);
    int rc = !m.varies ? no_memory(err)
             : side_init(&m.side[0], a, by_name, err) || side_init(&m.side[1], b, by_name, err) ||
                     mark_all(&m, &m.side[0]) || mark_all(&m, &m.side[1]) || make_keys(&m, &m.side[0]) ||
                     make_keys(&m, &m.side[1]) || match(&m) || add_rows(&m)
                 ? -1
                 : 0;
    side_release(&m.side[0]);
    side_release(&m.side[1]);
    json_decref(m.varies);
    return rc;
}

int run_diff_make(struct run_diff *diff, const struct run_set *a, const struct run_set *b, struct err *err)
{
    *diff = (struct run_diff){0};
    if (make(diff, a, b, err) == 0)
        return 0;
    run_diff_release(diff);
    return -1;
}

void run_diff_release(struct run_diff *diff)
{
    for (size_t i = 0; i < diff->count; i++)
        row_release(&diff->rows[i]);
    free(diff->rows);
    *diff = (struct run_diff){0};
}

bool run_diff_differs(const struct run_diff *diff)
{
    for (size_t i = 0; i < diff->count; i++)
        if (diff->rows[i].what != RUN_DIFF_FACT || diff->rows[i].kind != RUN_FACT_VERSION)
            return true;
    return false;
}
