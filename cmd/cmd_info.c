/* offchip info: the contents of a trace, its origin, what was left out or lost. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/console/printable.h"
#include "cmd/console/table.h"
#include "cmd/info.h"
#include "replay/report/tlp_sizes.h"
#include "replay/run/platform_use.h"
#include "replay/uvm/actor_input.h"
#include "replay/uvm/second_run.h"
#include "replay/uvm/uvm_recording.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/base/param_value.h"
#include "trace/base/quantile.h"
#include "trace/base/units.h"
#include "trace/derived/recording.h"
#include "trace/derived/summary.h"

/* Behind those of attribution_by. */
enum { BY_BATCH = ATTRIBUTION_RANGE + 1, BY_CLIENT };

enum { LONGEST_NAME = 48 }; /* of a kernel, where no terminal says how much */

static int format, by;
static const struct opt options[] = {OPT("by", 0, OPT_CHOICE, "kind|kernel|allocation|range|batch|client", &by,
                                         "count by kind (default), kernel, allocation or range (NVTX) of the program, "
                                         "list the fault batches, or count single faults by client"),
                                     OPT_FORMAT(&format),
                                     {0}};

/* What --by counts by, and what its rows are called in JSON. */
static const char *const owner_names[] = {"kind", "kernel", "allocation", "range", "batch", "client"};
static const char *const rows_names[] = {"kinds", "by_kernel", "by_allocation", "by_range", "by_batch", "by_client"};
static const char *const tables[] = {"kernels", "allocations", "batches", "services"};

/* Everything printed, as JSON; tables and CSV are made from it. */
struct info {
    struct store *store;
    struct summary summary;
    struct batch_rows batches;
    json_t *root;
};

/* --- tables of (text, number or text) --- */

static int take_pair(void *ctx, const struct store_value *v, size_t n)
{
    if (n < 2 || !v[0].s)
        return 0;
    json_t *value = v[1].type == STORE_INT ? json_integer(v[1].i) : v[1].s ? json_tree_text(v[1].s) : json_null();
    json_tree_put(ctx, v[0].s, value);
    return 0;
}

static json_t *texts(struct store *store, const char *table, struct err *err)
{
    json_t *object = json_object();
    if (store_rows(store, table, take_pair, &object, err) == 0 && json_tree_check(object, err) == 0)
        return object;
    json_decref(object);
    return NULL;
}

/* --- kinds --- */

/* Whether the source of a stream can give this kind: the reader lists them in origin "kinds.STREAM". */
static bool source_lists(const struct store *store, const char *stream, const char *kind, bool *known)
{
    char key[80];
    (void)snprintf(key, sizeof key, "kinds.%s", stream);
    const char *list = store_origin_get(store, key);
    *known = list != NULL;
    size_t length = strlen(kind);
    for (const char *p = list; p && (p = strstr(p, kind)); p += length)
        if ((p == list || p[-1] == ' ') && (p[length] == ' ' || p[length] == 0))
            return true;
    return false;
}

static json_t *number_or_null(bool is, int64_t value)
{
    return is ? json_integer(value) : json_null();
}

/* The same of bytes; more than a number of the output holds are none: `bytes_said` says so then. */
static bool bytes_said;

static json_t *bytes_or_null(bool is, uint64_t bytes)
{
    bytes_said |= is && bytes > INT64_MAX;
    return number_or_null(is && bytes <= INT64_MAX, (int64_t)bytes);
}

static json_t *kind_json(const struct stream *stream, int kind, const struct summary_kind *k)
{
    json_t *o = json_object();
    bool bytes = strstr(record_kinds[kind].fields, "bytes") != NULL && kind != RECORD_FAULT;
    bool times = stream->unit != TIME_NONE && k->records > 0;
    json_tree_put(&o, "stream", json_tree_text(stream->name));
    json_tree_put(&o, "kind", json_string(record_kinds[kind].name));
    json_tree_put(&o, "records", json_integer((json_int_t)k->records));
    json_tree_put(&o, "bytes", bytes_or_null(bytes, k->bytes));
    json_tree_put(&o, "time_unit", json_string(time_unit_name(stream->unit)));
    json_tree_put(&o, "time_first", number_or_null(times, k->time_first));
    json_tree_put(&o, "time_last", number_or_null(times, k->time_last));
    return o;
}

/* One row per kind that occurs, or that the source could have given (0) or cannot give (records null). */
static json_t *kinds_json(const struct info *info)
{
    json_t *rows = json_array();
    for (size_t s = 0; s < info->summary.stream_count; s++) {
        const struct stream *stream = store_stream(info->store, (int)s);
        for (int k = RECORD_KERNEL; k < RECORD_SKIPPED; k++) {
            bool known, listed = source_lists(info->store, stream->name, record_kinds[k].name, &known);
            bool related = k <= RECORD_MIGRATE_D2D; /* unified memory: what is missing is worth saying */
            const struct summary_kind *kind = &info->summary.streams[s].kinds[k];
            if (kind->records == 0 && (!known || (!listed && !related)))
                continue;
            json_t *row = kind_json(stream, k, kind);
            if (kind->records == 0 && !listed) {
                json_tree_put(&row, "records", json_null());
                json_tree_put(&row, "bytes", json_null());
            }
            json_tree_add(&rows, row);
        }
    }
    return rows;
}

/* Whether a stream was seen on a machine, or follows from one that was by a rule (derived), or from a program that was
 * never run. */
static const char *stream_source(const struct store *store, const char *name)
{
    const char *derived = store_origin_get(store, "derived");
    if (derived && (strcmp(name, "accesses") != 0 || strcmp(derived, "accesses") == 0))
        return "modelled";
    return store_origin_get(store, "workload") ? "generated" : "captured";
}

static json_t *streams_json(const struct info *info)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < info->summary.stream_count; i++) {
        const struct stream *s = store_stream(info->store, (int)i);
        const struct summary_stream *c = &info->summary.streams[i];
        json_t *o = json_object();
        bool times = s->unit != TIME_NONE && s->records > 0;
        json_tree_put(&o, "stream", json_tree_text(s->name));
        json_tree_put(&o, "source", json_string(stream_source(info->store, s->name)));
        json_tree_put(&o, "records", json_integer((json_int_t)s->records));
        json_tree_put(&o, "time_unit", json_string(time_unit_name(s->unit)));
        json_tree_put(&o, "clock", s->clock[0] ? json_tree_text(s->clock) : json_null());
        json_tree_put(&o, "clock_hz", number_or_null(s->clock_hz != 0, s->clock_hz));
        json_tree_put(&o, "addr_space", json_string(addr_space_name(s->space)));
        json_tree_put(&o, "addr_layout", s->addr_layout[0] ? json_tree_text(s->addr_layout) : json_null());
        json_tree_put(&o, "time_first", number_or_null(times, c->time_first));
        json_tree_put(&o, "time_last", number_or_null(times, c->time_last));
        json_t *extras = json_array();
        for (int e = 0; e < STORE_EXTRAS && s->extra[e][0]; e++)
            json_tree_add(&extras, json_tree_text(s->extra[e]));
        json_tree_put(&o, "extra_columns", extras);
        json_tree_add(&rows, o);
    }
    return rows;
}

/* Whether records of a kind can be counted by owner: some stream in ns has such, or its source could have given them.
 */
static bool counted(const struct info *info, enum record_kind kind)
{
    for (size_t s = 0; s < info->summary.stream_count; s++) {
        const struct stream *stream = store_stream(info->store, (int)s);
        bool known, listed = source_lists(info->store, stream->name, record_kinds[kind].name, &known);
        if (stream->unit == TIME_NS && (!known || listed || info->summary.streams[s].kinds[kind].records))
            return true;
    }
    return false;
}

static bool has_times(const struct info *info)
{
    for (size_t s = 0; s < info->summary.stream_count; s++)
        if (store_stream(info->store, (int)s)->unit == TIME_NS)
            return true;
    return false;
}

/* Put a kernel's, an allocation's or a range's unified-memory counts; null: not known. */
static void put_counts(const struct info *info, const struct summary_row *r, json_t **o)
{
    const bool to_gpu = counted(info, RECORD_MIGRATE_H2D), to_host = counted(info, RECORD_MIGRATE_D2H);
    const struct {
        const char *name;
        uint64_t value;
        bool known;
    } counts[] = {{"records", r->records, has_times(info)},
                  {"gpu_fault_records", r->fault_records, counted(info, RECORD_FAULT)},
                  {"cpu_faults", r->cpu_faults, counted(info, RECORD_CPU_FAULT)},
                  {"h2d_bytes", r->h2d_bytes, to_gpu},
                  {"faulted_bytes", r->fault_bytes, to_gpu},
                  {"prefetched_bytes", r->prefetch_bytes, to_gpu},
                  {"d2h_bytes", r->d2h_bytes, to_host},
                  {"evicted_bytes", r->evicted_bytes, to_host}};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        json_tree_put(o, counts[c].name, bytes_or_null(counts[c].known, counts[c].value));
}

static json_t *rows_json(const struct info *info)
{
    const enum attribution_by of = info->summary.owners.by;
    json_t *rows = json_array();
    for (size_t i = 0; i < info->summary.row_count; i++) {
        const struct summary_row *r = &info->summary.rows[i];
        const struct owner *owner = &info->summary.owners.items[i];
        bool rest = i + 2 >= info->summary.row_count;
        json_t *o = json_object();
        json_tree_put(&o, owner_names[of], json_tree_text(owner->name));
        if (of != ATTRIBUTION_ALLOCATION) {
            json_tree_put(&o, of == ATTRIBUTION_KERNEL ? "launches" : "instances",
                          number_or_null(!rest, (int64_t)owner->launches));
            json_tree_put(&o, "time_ns", number_or_null(!rest && !owner->untimed, owner->time_ns));
        } else {
            json_tree_put(&o, "size_bytes", bytes_or_null(!rest, (uint64_t)owner->bytes));
        }
        put_counts(info, r, &o);
        json_tree_add(&rows, o);
    }
    return rows;
}

int info_rows_json(struct store *store, enum attribution_by of, json_t **rows, json_t **total, struct err *err)
{
    struct info info = {.store = store};
    int64_t ns = 0, pages = 0, services = 0;
    if (summary_init(&info.summary, store, of, err) || batch_rows_init(&info.batches, store, err) ||
        store_row_count(store, "services", &services, err)) {
        summary_release(&info.summary);
        batch_rows_release(&info.batches);
        return -1;
    }
    bool timed = info.summary.row_count > 0 && of == ATTRIBUTION_KERNEL;
    for (size_t i = 0; i + 2 < info.summary.row_count; i++)
        timed = timed && !info.summary.owners.items[i].untimed &&
                !__builtin_add_overflow(ns, info.summary.owners.items[i].time_ns, &ns);
    const bool known = info.batches.count || store_complete(store);
    bool paged = known;
    for (size_t i = 0; i < info.batches.count; i++)
        paged = paged && info.batches.items[i].fault_pages >= 0 &&
                !__builtin_add_overflow(pages, info.batches.items[i].fault_pages, &pages);
    *rows = rows_json(&info);
    *total = json_object();
    json_tree_put(total, "time_ns", number_or_null(timed, ns));
    json_tree_put(total, "fault_pages", number_or_null(paged, pages));
    json_tree_put(total, "batches", number_or_null(known, (int64_t)info.batches.count));
    json_tree_put(total, "services", number_or_null(known, services));
    put_counts(&info, &info.summary.total, total);
    summary_release(&info.summary);
    batch_rows_release(&info.batches);
    return json_tree_check(*rows, err) || json_tree_check(*total, err) ? -1 : 0;
}

/* --- fault batches --- */

static const struct {
    const char *name;
    size_t offset;
} batch_columns[] = {
    {"start_ns", offsetof(struct batch_row, start_ns)},     {"time_ns", offsetof(struct batch_row, time_ns)},
    {"raw_faults", offsetof(struct batch_row, raw_faults)}, {"fault_pages", offsetof(struct batch_row, fault_pages)},
    {"reads", offsetof(struct batch_row, reads)},           {"writes", offsetof(struct batch_row, writes)},
    {"atomics", offsetof(struct batch_row, atomics)},       {"blocks", offsetof(struct batch_row, blocks)},
    {"utlbs", offsetof(struct batch_row, utlbs)},
};
enum { BATCH_COLUMNS = sizeof batch_columns / sizeof *batch_columns, BATCH_FIRST_QUANTITY = 1 };

static int64_t batch_value(const struct batch_row *row, size_t column)
{
    return *(const int64_t *)((const char *)row + batch_columns[column].offset);
}

static json_t *batches_json(const struct batch_rows *batches)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < batches->count; i++) {
        const struct batch_row *row = &batches->items[i];
        json_t *o = json_object();
        json_tree_put(&o, "batch", json_integer(row->batch));
        for (size_t c = 0; c < BATCH_COLUMNS; c++)
            json_tree_put(&o, batch_columns[c].name,
                          number_or_null(batch_value(row, c) != BATCH_UNKNOWN, batch_value(row, c)));
        json_tree_put(&o, "rule", json_tree_text(row->rule));
        json_tree_put(&o, "confidence", row->confidence < 0 ? json_null() : json_real(row->confidence));
        json_tree_add(&rows, o);
    }
    return rows;
}

/* Smallest, middle and largest of each quantity that some batch has. */
static json_t *distribution_json(const struct batch_rows *batches, struct err *err)
{
    json_t *rows = json_array();
    for (size_t c = BATCH_FIRST_QUANTITY; c < BATCH_COLUMNS; c++) {
        struct quantile *q = quantile_new(err);
        if (!q) {
            json_decref(rows);
            return NULL;
        }
        for (size_t i = 0; i < batches->count; i++)
            if (batch_value(&batches->items[i], c) >= 0)
                quantile_add(q, batch_value(&batches->items[i], c));
        if (quantile_count(q)) {
            json_t *o = json_pack("{s:s,s:I,s:I,s:I,s:I}", "per_batch", batch_columns[c].name, "batches",
                                  (json_int_t)quantile_count(q), "min", (json_int_t)quantile_at(q, 0), "median",
                                  (json_int_t)quantile_at(q, 0.5), "max", (json_int_t)quantile_at(q, 1));
            json_tree_add(&rows, o);
        }
        quantile_free(q);
    }
    (void)json_tree_check(rows, err);
    return rows;
}

/* --- what can be gained --- */

/* Of a recording that cannot be loaded, why. -1 without memory. */
static int add_gain(json_t **rows, struct store *store, const struct platform *platform, struct recording of,
                    struct err *err)
{
    struct uvm_recording recording;
    struct uvm_gain gain = {0};
    struct err why = {""};
    char said[256];
    bool loaded = uvm_recording_load(&recording, store, of, &why) == 0;
    if (!loaded && err_pass_memory(&why, err))
        return -1;
    if (loaded) {
        gain = uvm_gain_of(&recording, platform);
        uvm_recording_release(&recording);
        if (!gain.kernel_ns)
            return 0;
    }
    const double most = uvm_gain_most(&gain);
    json_t *row = json_object();
    json_tree_put(&row, "process", number_or_null(of.process != RECORDING_ANY, of.process));
    json_tree_put(&row, "gpu", number_or_null(of.gpu != RECORDING_ANY, of.gpu));
    json_tree_put(&row, "kernel_ns", number_or_null(loaded, gain.kernel_ns));
    json_tree_put(&row, "served_ns", number_or_null(loaded, gain.served_ns));
    json_tree_put(&row, "gain_at_most_ratio", loaded && uvm_gain_limits(&gain) ? json_tree_real(most) : json_null());
    json_tree_put(&row, "said", json_tree_text(loaded ? uvm_gain_say(&gain, said, sizeof said) : why.msg));
    json_tree_add(rows, row);
    return 0;
}

/* "fault_service": how much of the kernels' time fault service covers, and the most that can be gained
 * (replay/uvm/uvm_recording.h). For each recording of the trace (trace/derived/recording.h): process and gpu (null: not
 * said), kernel_ns, served_ns, gain_at_most_ratio (null: no limit, or not known) and "said", the sentence of `replay
 * uvm` or why there is none. A trace without migrations, or whose recordings name no kernel, gets no key. */
static int gain_json(struct store *store, json_t **root, struct err *err)
{
    if (uvm_input_stored(store) != UVM_INPUT_RECORDING)
        return 0;
    struct recordings *recordings = mem_zalloc(1, sizeof *recordings, err);
    if (!recordings || recordings_find(recordings, store, err)) {
        free(recordings);
        return -1;
    }
    json_t *rows = json_array();
    struct platform_choice choice;
    struct err none; /* a GPU that no platform is of: its link is not known */
    struct platform *platform =
        platform_choice_recorded(store, &choice, &none) > 0 ? platform_load(choice.name, &none) : NULL;
    int rc =
        recordings->count ? 0 : add_gain(&rows, store, platform, (struct recording){RECORDING_ANY, RECORDING_ANY}, err);
    for (size_t i = 0; i < recordings->count && !rc; i++)
        rc = add_gain(&rows, store, platform, recordings->items[i], err);
    platform_free(platform);
    if (!rc && (!rows || json_array_size(rows)))
        json_tree_put(root, "fault_service", json_incref(rows));
    json_decref(rows);
    free(recordings);
    return rc;
}

/* --- the whole --- */

static const json_t *asked_rows(const struct info *info)
{
    return json_object_get(info->root, rows_names[by]);
}

static int fill(struct info *info, const char *path, struct err *err)
{
    json_t **o = &info->root;
    bool complete = store_complete(info->store);
    json_tree_put(o, "schema", json_integer(1));
    json_tree_put(o, "file", json_tree_text(path));
    json_tree_put(o, "state", json_string(complete ? "complete" : "incomplete"));
    json_t *origin = texts(info->store, "origin", err);
    if (!origin)
        return -1;
    json_tree_put(o, "origin", origin);
    json_tree_put(o, "streams", streams_json(info));
    if (by == ATTRIBUTION_NONE)
        json_tree_put(o, "kinds", kinds_json(info));
    else if (by == BY_BATCH)
        json_tree_put(o, "by_batch", batches_json(&info->batches));
    else if (by != BY_CLIENT)
        json_tree_put(o, rows_names[by], rows_json(info));
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        int64_t n = 0;
        if (store_row_count(info->store, tables[i], &n, err))
            return -1;
        /* Batches are rebuilt at the end of an import or recording: an interrupted one does not know them. */
        json_tree_put(o, tables[i], n == 0 && !complete ? json_null() : json_integer(n));
    }
    json_t *distribution = distribution_json(&info->batches, err);
    if (!distribution)
        return -1;
    json_tree_put(o, "batch_distribution", distribution);
    static const char *const pairs[] = {"skipped", "dropped", "parameters"};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        json_t *values = texts(info->store, pairs[i], err);
        if (!values)
            return -1;
        json_tree_put(o, pairs[i], values);
    }
    if (info_counters_json(info->store, o, err) || tlp_sizes_json(info->store, o, err) ||
        gain_json(info->store, o, err) || info_migration_json(info->store, o, err) ||
        info_faults_json(info->store, o, err))
        return -1;
    if (bytes_said) {
        json_t *notes = json_array();
        json_tree_add(&notes, json_string("some records say impossible sizes: sums of more than 2^63 bytes are n/a"));
        json_tree_put(o, "notes", notes);
    }
    return json_tree_check(*o, err);
}

/* What a number is, by the end of its name; of a time only a duration is for people. */
static bool is_bytes(const char *name)
{
    return strcmp(name, "bytes") == 0 || strcmp(metric_unit(name), "bytes") == 0;
}

static bool is_duration(const char *name)
{
    return strcmp(name, "time_ns") == 0;
}

/* Numbers that say which or when, not how many. */
static bool is_name(const char *name)
{
    return param_position("batch|flow|gpu|process|start_ns|time_first|time_last", name) >= 0;
}

/* The head of a column for people: without the unit that its values bring. */
static const char *head(const char *name, char *buf, size_t size)
{
    if (strcmp(name, "bytes") == 0)
        return "size";
    return is_bytes(name) || is_duration(name) ? metric_label(name, buf, size) : name;
}

static const char *count_text(const json_t *v, char *buf, size_t size)
{
    return json_is_integer(v) ? units_human_count(json_integer_value(v), buf, size)
                              : metric_count(json_real_value(v), buf, size);
}

/* One JSON value as a cell: n/a for null. Bytes, times and counts for people where `human`. */
static void cell(struct table *t, const char *name, const json_t *v, bool human)
{
    char buf[64];
    if (!v || json_is_null(v))
        table_cell(t, "%s", human ? "n/a" : "");
    else if (json_is_string(v) && human && strcmp(name, "kernel") == 0)
        table_kernel(t, json_string_value(v), lines_width(stdout) ? lines_width(stdout) / 3 : LONGEST_NAME);
    else if (json_is_string(v))
        table_cell(t, "%s", json_string_value(v));
    else if (json_is_array(v) && json_array_size(v) == 0)
        table_cell(t, "%s", human ? "-" : "");
    else if (json_is_array(v))
        table_cell(t, "%s%s", json_string_value(json_array_get(v, 0)), json_array_size(v) > 1 ? ", ..." : "");
    else if (human && is_bytes(name))
        table_cell(t, "%s", units_human_bytes(json_number_value(v), buf, sizeof buf));
    else if (human && json_is_integer(v) && is_duration(name))
        table_cell(t, "%s", units_human_ns((double)json_integer_value(v), buf, sizeof buf));
    else if (human && !is_name(name) && (json_is_integer(v) || fabs(json_real_value(v)) >= 1000))
        table_cell(t, "%s", count_text(v, buf, sizeof buf));
    else if (json_is_real(v))
        table_cell(t, fabs(json_real_value(v)) < 1000 ? "%.3g" : "%.0f", json_real_value(v));
    else
        table_cell(t, "%" PRId64, (int64_t)json_integer_value(v));
}

/* Of each kind, when its first and last record lie is asked for: two columns of many digits. */
static bool is_shown(const char *key)
{
    return by != ATTRIBUTION_NONE || opt_verbose || strncmp(key, "time_", 5) != 0;
}

/* An array of objects with the same keys as a table. */
static void print_rows(const json_t *rows, bool csv)
{
    if (json_array_size(rows) == 0)
        return;
    struct table t;
    const json_t *first = json_array_get(rows, 0);
    const char *key;
    json_t *value;
    table_init(&t, 0);
    t.keys = json_is_string(json_object_get(first, "kind")) ? 2 : 1; /* behind the stream */
    char buf[80];
    json_object_foreach((json_t *)(uintptr_t)first, key, value) if (csv || is_shown(key))
        table_cell(&t, "%s", csv ? key : head(key, buf, sizeof buf));
    t.columns = t.count;
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        const char *per = json_string_value(json_object_get(row, "per_batch"));
        json_object_foreach(row, key, value) if (csv || is_shown(key))
            cell(&t, per && strcmp(key, "batches") != 0 ? per : key, value, !csv);
    }
    table_finish(&t, csv);
}

static void print_object(const char *title, const json_t *object, const char *none)
{
    const char *key;
    json_t *value;
    if (json_object_size(object) == 0) {
        if (none)
            printf("%s: %s\n", title, none);
        return;
    }
    printf("%s:\n", title);
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        char buf[64];
        if (json_is_integer(value))
            printable_print(stdout, "  %s: %s\n", key, count_text(value, buf, sizeof buf));
        else
            printable_print(stdout, "  %s: %s\n", key, json_is_string(value) ? json_string_value(value) : "n/a");
    }
}

static void print_spans(const struct info *info)
{
    for (size_t i = 0; i < info->summary.stream_count; i++) {
        const struct stream *s = store_stream(info->store, (int)i);
        const struct summary_stream *c = &info->summary.streams[i];
        char span[64] = "no time", records[32];
        double length = (double)c->time_last - (double)c->time_first;
        if (s->unit == TIME_NS)
            units_human_ns(length, span, sizeof span);
        else if (s->unit == TIME_CYCLES)
            (void)snprintf(span, sizeof span, "%s cycles", metric_count(length, records, sizeof records));
        printable_print(stdout, "stream %s, %s: %s records, %s%s%s, %s\n", s->name, stream_source(info->store, s->name),
                        units_human_count((int64_t)s->records, records, sizeof records),
                        s->unit == TIME_NONE ? "" : "over ", span,
                        s->unit == TIME_CYCLES && !s->clock_hz ? " of unknown Hz" : "", addr_space_name(s->space));
    }
}

/* PCIe packets, if the trace has any. */
static void print_packets(const json_t *o)
{
    if (!json_object_get(o, "tlp"))
        return;
    print_rows(json_object_get(o, "tlp_types"), false);
    print_rows(json_object_get(o, "tlp_histogram"), false);
    print_rows(json_object_get(o, "tlp_flows"), false);
    print_rows(json_object_get(o, "tlp_defects"), false);
    print_object("PCIe packets", json_object_get(o, "tlp"), NULL);
    print_object("latency of completed reads, ns", json_object_get(o, "tlp_latency_ns"), NULL);
}

/* Totals per kernel, and how many requests have which size: exactly where that follows, else between two bounds. */
static void print_counters(const json_t *o)
{
    const json_t *sizes = json_object_get(o, "request_sizes"), *row;
    size_t i, open = 0;
    print_rows(json_object_get(o, "counters"), false);
    json_array_foreach(sizes, i, row) open +=
        !json_equal(json_object_get(row, "at_least"), json_object_get(row, "at_most"));
    if (json_array_size(sizes) > 0)
        printf("requests by size%s:\n", open ? "; where at_least and at_most differ, the counters do not tell" : "");
    print_rows(sizes, false);
}

/* Print the most that a change to unified memory can gain, a line for each recording. */
static void print_gain(const json_t *o)
{
    const json_t *rows = json_object_get(o, "fault_service"), *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        if (json_array_size(rows) > 1)
            printf("GPU %" PRId64 " of process %" PRId64 ": ", (int64_t)json_integer_value(json_object_get(row, "gpu")),
                   (int64_t)json_integer_value(json_object_get(row, "process")));
        printable_print(stdout, "%s\n", json_string_value(json_object_get(row, "said")));
    }
}

static void print_migration(const json_t *o)
{
    const json_t *m = json_object_get(o, "migration"), *per = json_object_get(m, "bytes_per_fault"),
                 *delay = json_object_get(m, "fault_to_migration_ns");
    const double times = json_number_value(json_object_get(m, "remigration_ratio"));
    char a[64], b[64], c[64], again[64] = ", each page once", each[100] = "", wait[200] = "";
    if (!m)
        return;
    const json_t *moved = json_object_get(m, "h2d_bytes");
    const char *bytes = "more than 2^63 bytes";
    char whole[64];
    if (json_is_integer(moved))
        bytes = units_human_bytes((double)json_integer_value(moved), whole, sizeof whole);
    if (json_is_number(per))
        (void)snprintf(each, sizeof each, "; %s for each faulted page",
                       units_human_bytes(json_number_value(per), a, sizeof a));
    if (json_is_object(delay))
        (void)snprintf(wait, sizeof wait, "; from fault to copy %s (%s to %s)",
                       units_human_ns((double)json_integer_value(json_object_get(delay, "median")), a, sizeof a),
                       units_human_ns((double)json_integer_value(json_object_get(delay, "min")), b, sizeof b),
                       units_human_ns((double)json_integer_value(json_object_get(delay, "max")), c, sizeof c));
    if (times > 1)
        (void)snprintf(again, sizeof again, ", %.4g times its distinct pages", times);
    printable_print(stdout, "moved to the GPU: %s%s%s%s\n", bytes, again, each, wait);
}

static void print_table(const struct info *info)
{
    const json_t *o = info->root;
    char buf[64];
    const char *program = recorded_program(info->store), *gpu = store_origin_get(info->store, "gpu.0.name");
    printable_print(stdout, "%s: %s\n", json_string_value(json_object_get(o, "file")),
                    json_string_value(json_object_get(o, "state")));
    if (program)
        printable_print(stdout, "%s%s%s\n", program, gpu ? " on " : "", gpu ? gpu : "");
    print_gain(o);
    print_migration(o);
    print_spans(info);
    print_rows(asked_rows(info), false);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const json_t *n = json_object_get(o, tables[i]);
        printf("%s: %s\n", tables[i], json_is_null(n) ? "n/a" : count_text(n, buf, sizeof buf));
    }
    print_rows(json_object_get(o, "batch_distribution"), false);
    print_object("single faults", json_object_get(o, "single_faults"), NULL);
    print_counters(o);
    print_packets(o);
    for (size_t i = 0; i < info->summary.stream_count; i++)
        if (info->summary.streams[i].kinds[RECORD_MIGRATE_H2D].records > 0) {
            puts("lost records: not counted by every source; 'offchip verify' looks for them");
            break;
        }
    if (bytes_said)
        printf("%s\n", json_string_value(json_array_get(json_object_get(o, "notes"), 0)));
    print_object("left out", json_object_get(o, "skipped"), "0");
    print_object("dropped by the source", json_object_get(o, "dropped"), "0");
    print_object("origin", json_object_get(o, "origin"), NULL);
    if (opt_verbose)
        print_object("parameters", json_object_get(o, "parameters"), NULL);
    else if (json_object_size(json_object_get(o, "parameters")))
        printf("parameters: %zu (-v)\n", json_object_size(json_object_get(o, "parameters")));
}

static int show(struct info *info, const char *path)
{
    struct err err = {""};
    info->store = store_open(path, &err);
    if (!info->store ||
        summary_init(&info->summary, info->store, by >= BY_BATCH ? ATTRIBUTION_NONE : (enum attribution_by)by, &err) ||
        batch_rows_init(&info->batches, info->store, &err) || fill(info, path, &err))
        return cmd_fail(EXIT_DATA, "%s", err.msg);
    if (by == BY_BATCH && info->batches.count == 0)
        return cmd_fail(EXIT_NOTHING, "%s holds no fault batches", path);
    if (by == BY_CLIENT && !asked_rows(info))
        return cmd_fail(
            EXIT_NOTHING,
            "%s holds no single faults: 'offchip record' has them of the driver's event queue, where that can be read",
            path);
    if (by != ATTRIBUTION_NONE && by < BY_BATCH && info->summary.row_count == 0)
        return cmd_fail(EXIT_NOTHING, "%s names no %ss%s", path, owner_names[by],
                        by == ATTRIBUTION_RANGE
                            ? ": the program has no NVTX ranges, or its profiler was not asked for them "
                              "(nsys profile --trace=cuda,nvtx)"
                            : "");
    if (format == FORMAT_JSON)
        return cmd_print_json(json_incref(info->root));
    if (format == FORMAT_CSV)
        print_rows(asked_rows(info), true);
    else
        print_table(info);
    return EXIT_DONE;
}

static int run(int argc, char **argv)
{
    if (argc != 1)
        return cmd_usage("expected one trace file");
    struct info info = {.root = json_object()};
    int status = show(&info, argv[0]);
    summary_release(&info.summary);
    batch_rows_release(&info.batches);
    store_close(info.store);
    json_decref(info.root);
    return status;
}

const struct command cmd_info = {
    .name = "info",
    .summary = "say what a trace holds, where it comes from, and what is missing",
    .usage = "FILE [OPTIONS]",
    .details = "0 means that the source could have recorded it and did not; n/a that it cannot, or is not known. -v "
               "adds when each kind begins and ends, and the driver's parameters.",
    .examples = "  offchip info s.db\n"
                "  offchip info --by kernel --format json s.db\n"
                "  offchip info --by batch --format csv faults.db",
    .options = options,
    .run = run,
};
