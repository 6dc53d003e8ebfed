#include "replay/report/tlp_sizes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/json_tree.h"
#include "trace/derived/tlp_tally.h"

/* --- histogram --- */

struct counting {
    json_t *rows, *types;
    json_t *index; /* both kinds of rows by key */
    struct err *err;
};

/* The row under `key`, or `fresh` in order of first appearance; NULL on failure. */
static json_t *row_of(json_t *rows, json_t *index, const char *key, json_t *fresh)
{
    json_t *row = json_object_get(index, key);
    if (!row && json_array_append(rows, fresh) == 0 && json_object_set(index, key, fresh) == 0)
        row = fresh;
    json_decref(fresh);
    return row;
}

static int add_to(json_t *row, const char *key, int64_t n)
{
    return json_object_set_new(row, key, json_integer(json_integer_value(json_object_get(row, key)) + n));
}

/* Several captures of one trace each wrote their rows: equal ones become one. */
static void count(struct counting *c, const char *type, const char *direction, int64_t size, int64_t n)
{
    char key[128];
    (void)snprintf(key, sizeof key, "%s|%s|%" PRId64, type, direction, size);
    json_t *row = row_of(c->rows, c->index, key,
                         json_pack("{s:o,s:o,s:I,s:I}", "type", json_tree_text(type), "direction",
                                   json_tree_text(direction), "size_bytes", (json_int_t)size, "count", (json_int_t)0));
    json_t *sum = row_of(
        c->types, c->index, type,
        json_pack("{s:o,s:I,s:I}", "type", json_tree_text(type), "packets", (json_int_t)0, "bytes", (json_int_t)0));
    if (!add_to(row, "count", n) && !add_to(sum, "packets", n) && !add_to(sum, "bytes", n * size))
        return;
    json_decref(c->rows);
    c->rows = NULL;
}

static int take_row(void *ctx, const struct store_value *v, size_t n)
{
    if (n >= 4 && v[0].s && v[1].s)
        count(ctx, v[0].s, v[1].s, v[2].i, v[3].i);
    return 0;
}

static int take_tally(void *ctx, enum tlp_type type, const char *direction, uint32_t bytes, uint64_t n)
{
    count(ctx, tlp_name(type), direction, bytes, (int64_t)n);
    return 0;
}

/* An interrupted recording has no tables: count its records. */
static int count_records(struct store *store, int stream, struct counting *c)
{
    struct tlp_tally *tally = tlp_tally_new(c->err);
    struct store_walk w = {.failed = !tally};
    uint16_t direction = tally ? tlp_tally_direction(tally, "unknown") : 0;
    while (store_walk_next(&w, store, stream, c->err))
        w.failed = w.r->kind == RECORD_TLP &&
                   tlp_tally_add(tally, tlp_record_type(w.r), direction, (uint32_t)w.r->bytes, c->err);
    int rc = store_walk_end(&w);
    if (rc == 0)
        (void)tlp_tally_walk(tally, take_tally, c);
    tlp_tally_free(tally);
    return rc;
}

/* --- tables --- */

static int take_total(void *ctx, const struct store_value *v, size_t n)
{
    if (n < 3 || !v[1].s)
        return 0;
    json_t **totals = ctx, *old = json_object_get(*totals, v[1].s);
    int64_t was = json_integer_value(old), value = v[2].i;
    if (strcmp(v[1].s, "time_monotonic") == 0)
        value = old && was < value ? was : value;
    else if (strcmp(v[1].s, "snaplen") == 0)
        value = was > value ? was : value;
    else
        value += was;
    json_tree_put(totals, v[1].s, json_integer(value));
    return 0;
}

static int take_flow(void *ctx, const struct store_value *v, size_t n)
{
    if (n >= 7 && v[1].s && v[2].s)
        json_tree_add(ctx, json_pack("{s:I,s:o,s:o,s:o,s:I,s:I}", "flow", (json_int_t)v[0].i, "source",
                                     json_tree_text(v[1].s), "destination", json_tree_text(v[2].s), "vlan",
                                     v[3].type == STORE_INT ? json_integer(v[3].i) : json_null(), "packets",
                                     (json_int_t)v[4].i, "sequence_gaps", (json_int_t)v[6].i));
    return 0;
}

static int take_defect(void *ctx, const struct store_value *v, size_t n)
{
    if (n >= 3 && v[0].s && v[1].s)
        json_tree_add(ctx, json_pack("{s:o,s:o,s:I}", "type", json_tree_text(v[0].s), "defect", json_tree_text(v[1].s),
                                     "count", (json_int_t)v[2].i));
    return 0;
}

/* --- latency --- */

struct quantile *tlp_sizes_latency(struct store *store, struct err *err)
{
    struct quantile *q = quantile_new(err);
    int stream = store_stream_find(store, "tlp_reads");
    if (!q || stream < 0)
        return q;
    const struct stream *s = store_stream(store, stream);
    const int early = store_extra(s, "early"), error = store_extra(s, "error");
    struct store_walk w = {0};
    while (store_walk_next(&w, store, stream, err))
        if (!store_walk_extra(&w, early) && !store_walk_extra(&w, error))
            quantile_add(q, w.r->duration);
    if (store_walk_end(&w) == 0)
        return q;
    quantile_free(q);
    return NULL;
}

static int add_latency(struct store *store, json_t **root, struct err *err)
{
    static const struct {
        const char *name;
        double share;
    } marks[] = {{"min", 0}, {"q1", 0.25}, {"median", 0.5}, {"q3", 0.75}, {"max", 1}};
    struct quantile *q = tlp_sizes_latency(store, err);
    if (!q)
        return -1;
    json_t *o = json_object();
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        json_tree_put(&o, marks[i].name,
                      quantile_count(q) ? json_integer(quantile_at(q, marks[i].share)) : json_null());
    quantile_free(q);
    json_tree_put(root, "tlp_latency_ns", o);
    return 0;
}

int tlp_sizes_json(struct store *store, json_t **root, struct err *err)
{
    struct counting c = {json_array(), json_array(), json_object(), err};
    json_t *totals = json_object(), *flows = json_array(), *defects = json_array();
    int stream = store_stream_find(store, "tlp");
    int rc = store_rows(store, "tlp_histogram", take_row, &c, err) ||
             store_rows(store, "tlp_totals", take_total, &totals, err) ||
             store_rows(store, "tlp_flows", take_flow, &flows, err) ||
             store_rows(store, "tlp_defects", take_defect, &defects, err);
    if (rc == 0 && stream >= 0 && c.rows && json_array_size(c.rows) == 0)
        rc = count_records(store, stream, &c);
    bool any = rc == 0 && (stream >= 0 || !c.rows || json_array_size(c.rows) > 0);
    if (any) {
        json_tree_put(root, "tlp", json_incref(totals));
        json_tree_put(root, "tlp_types", json_incref(c.types));
        json_tree_put(root, "tlp_histogram", json_incref(c.rows));
        json_tree_put(root, "tlp_flows", json_incref(flows));
        json_tree_put(root, "tlp_defects", json_incref(defects));
        rc = add_latency(store, root, err);
    }
    json_decref(c.rows);
    json_decref(c.index);
    json_decref(c.types);
    json_decref(totals);
    json_decref(flows);
    json_decref(defects);
    return rc ? -1 : 0;
}
