/* nsys: the SQLite export of NVIDIA Nsight Systems (nsys profile --export=sqlite, nsys export -t sqlite), and the
 * SQLite file of the profiler before it (nvprof -o, .nvvp, .nvprof), whose tables are those of CUPTI's records.
 *
 * Becomes stream "uvm" (ns since the session's start, byte addresses), in order of time, as reader cupti-csv makes it:
 * migrations (copies of kind 11, 12, 13), GPU and CPU faults, kernels, further explicit copies, allocations, and the
 * program's own ranges (NVTX); of nvprof all counters of unified memory.
 * The export's tables exist only where there was such an event, and their columns change between releases: both are
 * asked for, never assumed. Causes and kinds are taken by number, never by label (labels changed between releases).
 * Of two GPUs each has its own recording (deviceId). A migration without an address is none of the records: it counts,
 * with its bytes and time, as lost by the source. Kinds whose table is not there are not known (origin kinds.uvm).
 * Not in any export of nsys, so not recordable: thrashing, throttling, remote mappings, access type of CPU faults.
 * The file is opened read-only and as immutable, since exports often lie on file systems without locking.
 * Source: exporter schema 3.16.1 and later; CUPTI's enumerations (CUDA 13.0). */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "trace/base/id_map.h"
#include "trace/base/mem.h"
#include "trace/base/regular_file.h"
#include "trace/derived/allocations.h"
#include "trace/event/uvm_event.h"
#include "trace/import/reader.h"
#include "trace/store/store.h"

enum { EXTRAS = 3, SQL_BYTES = 16384, FACT_ROWS = 64, PROBE_ID = 68, OPS_PER_TICK = 1 << 20, TICKS_MAX = 1 << 16 };

/* What a row of the joined query is. */
enum row_type { ROW_UVM, ROW_KERNEL, ROW_COPY, ROW_ALLOC, ROW_FREE, ROW_RANGE };

/* Tables of events, in the order of tables[]. */
enum {
    TABLE_ALLOCATIONS,
    TABLE_COPIES,
    TABLE_FAULTS,
    TABLE_CPU_FAULTS,
    TABLE_KERNELS,
    TABLE_RANGES,
    TABLE_COUNTERS, /* of nvprof, as what follows */
    TABLE_CONCURRENT_KERNELS,
    TABLE_PEER_COPIES,
    TABLES
};

/* Columns of the joined query. */
enum {
    C_TYPE,
    C_START,
    C_END,
    C_ADDR,
    C_VALUE,
    C_KIND,
    C_FLAGS,
    C_PID,
    C_DEVICE,
    C_SOURCE, /* of a copy between GPUs */
    C_DESTINATION,
    C_NAME,  /* of a kernel or a range */
    C_SHAPE, /* of a launch, the columns of table kernels from grid_x on but for the device */
    C_SHAPES = 9,
    C_STREAM = C_SHAPE + C_SHAPES
};

struct reading {
    struct reader_context *context;
    sqlite3 *db;
    struct allocations allocations;
    uint64_t rows;
    bool found[TABLES];   /* in the export */
    bool strings[2];      /* there are tables of names of nsys, of nvprof */
    bool moved, counted;  /* there was a migration that is a record; an event of unified memory */
    struct id_map ranges; /* hash of a range's name: row of table strings */
    int ticks;
    struct writer writer;
};

/* --- the database --- */

/* Work without an end (a hostile schema) is stopped; a real export of any size needs far less per row. */
static int tick(void *ctx)
{
    struct reading *g = ctx;
    return ++g->ticks > TICKS_MAX;
}

static int fail(const struct reading *g, const char *what, struct err *err)
{
    const char *advice = sqlite3_errcode(g->db) == SQLITE_NOTADB ? reader_advice(g->context->path) : NULL;
    return advice ? err_set(err, "%s", advice) : err_set(err, "%s: %s", what, sqlite3_errmsg(g->db));
}

/* file:PATH?mode=ro&immutable=1 with the path's special bytes escaped. */
static char *make_uri(const char *path, struct err *err)
{
    char *uri = mem_zalloc(strlen(path) * 3 + 40, 1, err), *p = uri;
    if (!uri)
        return NULL;
    p += sprintf(p, "file:");
    for (; *path; path++)
        if (strchr("%?#", *path))
            p += sprintf(p, "%%%02X", (unsigned char)*path);
        else
            *p++ = *path;
    (void)sprintf(p, "?mode=ro&immutable=1");
    return uri;
}

static int open_db(struct reading *g, struct err *err)
{
    int fd = regular_file_open(g->context->path, err); /* SQLite would wait for the writer of a pipe */
    if (fd < 0)
        return -1;
    (void)close(fd);
    char *uri = make_uri(g->context->path, err);
    if (!uri)
        return -1;
    int rc = sqlite3_open_v2(uri, &g->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_PRIVATECACHE, NULL);
    free(uri);
    if (rc != SQLITE_OK)
        return fail(g, "cannot be opened", err);
    sqlite3_db_config(g->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(g->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(g->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_progress_handler(g->db, OPS_PER_TICK, tick, g);
    return 0;
}

/* 1 if `table` is an ordinary table, 0 if there is none, -1 on failure. A view or virtual table of that name is no
 * export's. */
static int has_table(struct reading *g, const char *table, struct err *err)
{
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(g->db,
                           "SELECT 1 FROM sqlite_master WHERE type='table' AND name=?1 AND sql LIKE 'CREATE TABLE%'",
                           -1, &s, NULL) != SQLITE_OK)
        return fail(g, "its list of tables cannot be read", err);
    sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
    int rc = sqlite3_step(s);
    sqlite3_finalize(s);
    return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : fail(g, "its list of tables cannot be read", err);
}

static bool has_column(struct reading *g, const char *table, const char *column)
{
    return sqlite3_table_column_metadata(g->db, NULL, table, column, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

/* --- one query over the tables there are --- */

struct query {
    struct reading *g;
    char sql[SQL_BYTES];
    size_t used;
    int parts;
};

__attribute__((format(printf, 2, 3))) static void add(struct query *q, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(q->sql + q->used, sizeof q->sql - q->used, format, ap);
    va_end(ap);
    q->used += n > 0 && (size_t)n < sizeof q->sql - q->used ? (size_t)n : 0;
}

/* A table of events as a part of the query: its columns, and the constants that stand where a release has none. */
static const struct table {
    const char *table, *needed, *type; /* needed: what a row cannot do without, besides start; type: enum row_type */
    struct {
        const char *column, *otherwise; /* column NULL: always the constant */
    } columns[5];                       /* C_END to C_FLAGS; C_KIND: enum uvm_counter_kind */
    const char *values[4];              /* for C_VALUE the first of these that there is and that is not NULL */
} tables[TABLES] = {
    {"CUDA_GPU_MEMORY_USAGE_EVENTS",
     "memoryOperationType",
     "CASE t.memoryOperationType WHEN 0 THEN 3 ELSE 4 END",
     {{NULL, "0"}, {"address", "NULL"}, {"bytes", "0"}, {"memKind", "7"}, {NULL, "0"}},
     {NULL}},
    {"CUPTI_ACTIVITY_KIND_MEMCPY",
     "copyKind",
     "CASE WHEN t.copyKind BETWEEN 11 AND 13 THEN 0 ELSE 2 END",
     {{"end", "0"},
      {"virtualAddress", "NULL"},
      {"bytes", "0"},
      {NULL, "CASE t.copyKind WHEN 11 THEN 1 WHEN 12 THEN 2 WHEN 13 THEN 8 ELSE t.copyKind END"},
      {"migrationCause", "0"}},
     {NULL}},
    {"CUDA_UM_GPU_PAGE_FAULT_EVENTS",
     NULL,
     "0",
     {{"end", "0"}, {"address", "NULL"}, {"numberOfPageFaults", "0"}, {NULL, "4"}, {"faultAccessType", "0"}},
     {NULL}},
    {"CUDA_UM_CPU_PAGE_FAULT_EVENTS",
     NULL,
     "0",
     {{NULL, "0"}, {"address", "NULL"}, {NULL, NULL}, {NULL, "3"}, {NULL, "0"}},
     {"originalFaultPc", "unresolvedFaultPc", "CpuInstruction", NULL}},
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     NULL,
     "1",
     {{"end", "NULL"}, {NULL, "0"}, {NULL, "0"}, {NULL, "0"}, {NULL, "0"}},
     {NULL}},
    {"NVTX_EVENTS",
     "eventType",
     "5",
     {{"end", "NULL"}, {NULL, "0"}, {"globalTid", "0"}, {"eventType", "0"}, {NULL, "0"}},
     {NULL}},
    {"CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER",
     "counterKind",
     "0",
     {{"end", "0"}, {"address", "NULL"}, {"value", "0"}, {"counterKind", "0"}, {"flags", "0"}},
     {NULL}},
    {"CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL",
     NULL,
     "1",
     {{"end", "NULL"}, {NULL, "0"}, {NULL, "0"}, {NULL, "0"}, {NULL, "0"}},
     {NULL}},
    {"CUPTI_ACTIVITY_KIND_MEMCPY2",
     "copyKind",
     "2",
     {{"end", "0"}, {NULL, "NULL"}, {"bytes", "0"}, {"copyKind", "0"}, {NULL, "0"}},
     {NULL}},
};

/* A column, or a constant where this release has none. */
static void add_column(struct query *q, const char *table, const char *column, const char *otherwise)
{
    const bool has = column && has_column(q->g, table, column);
    add(q, ",%s%s", has ? "t." : "", has ? column : otherwise);
}

/* The first of these columns that exists and is not NULL. */
static void add_first(struct query *q, const char *table, const char *const *columns)
{
    add(q, "coalesce(NULL");
    for (; *columns; columns++)
        if (has_column(q->g, table, *columns))
            add(q, ",t.%s", *columns);
    add(q, ",NULL)");
}

/* The name of a kernel or a range, else NULL: a text of its own, else of a row of a table of names. */
static void add_name(struct query *q, const char *table, bool kernel, bool range)
{
    static const char *const kernels[] = {"mangledName", "demangledName", "shortName", "name", NULL};
    static const char *const ranges[] = {"textId", NULL};
    static const char *const strings[] = {"StringIds WHERE id", "StringTable WHERE _id_"};
    add(q, ",coalesce(NULL");
    if (range && has_column(q->g, table, "text"))
        add(q, ",t.text");
    for (int i = 0; i < 2 && (kernel || range); i++)
        if (q->g->strings[i]) {
            add(q, ",(SELECT value FROM %s=", strings[i]);
            add_first(q, table, kernel ? kernels : ranges);
            add(q, ")");
        }
    add(q, ",%s)", kernel ? "'kernel'" : "NULL");
}

/* Of a kernel its shape and stream, else as many NULL. */
static void add_shape(struct query *q, const char *table, bool kernel)
{
    static const char *const shape[C_SHAPES + 1] = {"gridX",
                                                    "gridY",
                                                    "gridZ",
                                                    "blockX",
                                                    "blockY",
                                                    "blockZ",
                                                    "registersPerThread",
                                                    "staticSharedMemory",
                                                    "dynamicSharedMemory",
                                                    "streamId"};
    for (int i = 0; i <= C_SHAPES; i++)
        add_column(q, table, kernel ? shape[i] : NULL, "NULL");
}

/* Processes of nsys stand in bits 24 to 47 of a number. */
static void add_process(struct query *q, const char *table)
{
    static const char *const packed[] = {"globalPid", "globalTid"};
    for (int i = 0; i < 2; i++)
        if (has_column(q->g, table, packed[i])) {
            add(q, ",t.%s>>24&0xffffff", packed[i]);
            return;
        }
    add_column(q, table, "processId", "0");
}

static void add_part(struct query *q, const struct table *p)
{
    const bool counter = p == &tables[TABLE_COUNTERS], range = p == &tables[TABLE_RANGES];
    const bool kernel = p == &tables[TABLE_KERNELS] || p == &tables[TABLE_CONCURRENT_KERNELS];
    add(q, "%sSELECT %s AS type,t.start AS start", q->parts++ ? " UNION ALL " : "", p->type);
    for (int c = C_END; c <= C_FLAGS; c++)
        if (c == C_VALUE && *p->values) {
            add(q, ",");
            add_first(q, p->table, p->values);
        } else {
            add_column(q, p->table, p->columns[c - C_END].column, p->columns[c - C_END].otherwise);
        }
    add_process(q, p->table);
    add_column(q, p->table, "deviceId", "0");
    add_column(q, p->table, counter ? "srcId" : "srcDeviceId", "NULL");
    add_column(q, p->table, counter ? "dstId" : "dstDeviceId", "NULL");
    add_name(q, p->table, kernel, range);
    add_shape(q, p->table, kernel);
    add(q, " FROM %s t ", p->table);
}

/* Whether to take the table: 1 yes, 0 absent, -1 with *err set where it lacks what a row cannot do without. */
static int wanted(struct reading *g, const struct table *p, struct err *err)
{
    int found = has_table(g, p->table, err);
    const bool start = found == 1 && has_column(g, p->table, "start");
    if (found == 1 && (!start || (p->needed && !has_column(g, p->table, p->needed))))
        return err_set(err, "table %s has no column %s: not an export of Nsight Systems that this program knows",
                       p->table, start ? p->needed : "start");
    return found;
}

/* -1 on failure; otherwise the number of tables found. */
static int make_query(struct query *q, struct err *err)
{
    static const char *const strings[2][2] = {{"StringIds", "id"}, {"StringTable", "_id_"}};
    for (int i = 0; i < 2; i++) {
        const int found = has_table(q->g, strings[i][0], err);
        if (found < 0)
            return -1;
        q->g->strings[i] =
            found && has_column(q->g, strings[i][0], strings[i][1]) && has_column(q->g, strings[i][0], "value");
    }
    for (int i = 0; i < TABLES; i++) {
        const int found = wanted(q->g, &tables[i], err);
        if (found < 0)
            return -1;
        q->g->found[i] = found;
        if (found)
            add_part(q, &tables[i]);
    }
    add(q, " ORDER BY start");
    return q->parts;
}

/* --- rows --- */

static int64_t column_or(sqlite3_stmt *s, int column, int64_t otherwise)
{
    return sqlite3_column_type(s, column) == SQLITE_NULL ? otherwise : sqlite3_column_int64(s, column);
}

static int push(struct reading *g, sqlite3_stmt *s, const struct record *record, struct err *err)
{
    const int64_t gpu = sqlite3_column_int64(s, C_DEVICE);
    int64_t extra[EXTRAS];
    uvm_event_owner(record, sqlite3_column_int64(s, C_PID), column_or(s, C_SOURCE, gpu),
                    column_or(s, C_DESTINATION, gpu), extra);
    return writer_add(&g->writer, record, extra, err);
}

static int skip(struct reading *g, const char *reason, struct err *err)
{
    char place[48];
    (void)snprintf(place, sizeof place, "row %" PRIu64 " in order of time", g->rows);
    return reader_skip(g->context, reason, place, err);
}

static int take_uvm(struct reading *g, sqlite3_stmt *s, struct err *err)
{
    const struct uvm_event event = {
        .kind = (uint64_t)sqlite3_column_int64(s, C_KIND),
        .start = (uint64_t)sqlite3_column_int64(s, C_START),
        .end = (uint64_t)sqlite3_column_int64(s, C_END),
        .addr = (uint64_t)sqlite3_column_int64(s, C_ADDR),
        .value = (uint64_t)sqlite3_column_int64(s, C_VALUE),
        .flags = (uint64_t)sqlite3_column_int64(s, C_FLAGS),
    };
    struct record record;
    const char *reason = uvm_event_record(&event, &record);
    const bool moved = event.kind != UVM_COUNTER_CPU_FAULT && event.kind != UVM_COUNTER_GPU_FAULT;
    g->counted = true;
    if (sqlite3_column_type(s, C_ADDR) == SQLITE_NULL) {
        if (moved && !reason && !g->context->strict)
            return reader_lose(g->context, &record);
        reason = "no address";
    }
    if (reason)
        return skip(g, reason, err);
    g->moved |= moved;
    return push(g, s, &record, err);
}

static int take_kernel(struct reading *g, sqlite3_stmt *s, struct err *err)
{
    int64_t start = sqlite3_column_int64(s, C_START), end = sqlite3_column_int64(s, C_END), id;
    const char *name = (const char *)sqlite3_column_text(s, C_NAME);
    if (start <= 0)
        return skip(g, "no start time", err);
    if (end < start)
        return skip(g, "kernel ends before it starts", err);
    struct store_value shape[C_SHAPES + 2];
    for (int c = 0; c < C_SHAPES + 2; c++) {
        const int column = c < C_SHAPES ? C_SHAPE + c : c == C_SHAPES ? C_DEVICE : C_STREAM;
        const bool known = sqlite3_column_type(s, column) == SQLITE_INTEGER;
        shape[c] = known ? STORE_V_INT(sqlite3_column_int64(s, column)) : STORE_V_NULL;
    }
    if (reader_kernel(g->context, name && *name ? name : "kernel", start, end - start, shape, &id, err))
        return -1;
    const struct record record = {
        .time = start, .duration = end - start, .id = (uint64_t)id, .group = (uint32_t)id, .kind = RECORD_KERNEL};
    return push(g, s, &record, err);
}

/* A range of a thread (push and pop, start and end), or a mark; other events of NVTX name threads and the like. */
static int take_range(struct reading *g, sqlite3_stmt *s, struct err *err)
{
    enum { MARK = 34, PUSH_POP = 59, START_END = 60 };
    const int64_t kind = sqlite3_column_int64(s, C_KIND), start = sqlite3_column_int64(s, C_START);
    const int64_t end = kind == MARK ? start : column_or(s, C_END, INT64_MIN);
    const char *name = (const char *)sqlite3_column_text(s, C_NAME);
    const uint32_t before = g->ranges.count;
    uint32_t row;
    if (kind != MARK && kind != PUSH_POP && kind != START_END)
        return 0;
    if (start <= 0 || end < start || !name)
        return skip(g, start <= 0 ? "no start time" : !name ? "range without a name" : "range that did not end", err);
    if (id_map_number(&g->ranges, XXH3_64bits(name, strlen(name)), &row, err) ||
        (g->ranges.count > before &&
         STORE_ROW(g->context->store, "strings", err, STORE_V_INT(row), STORE_V_TEXT(name))))
        return -1;
    const struct record record = {.time = start,
                                  .duration = end - start,
                                  .id = row,
                                  .group = (uint32_t)(sqlite3_column_int64(s, C_VALUE) & 0xffffff),
                                  .kind = RECORD_RANGE};
    return push(g, s, &record, err);
}

static int take_copy(struct reading *g, sqlite3_stmt *s, struct err *err)
{
    int64_t start = sqlite3_column_int64(s, C_START), end = sqlite3_column_int64(s, C_END);
    if (start <= 0 || end < start)
        return skip(g, start <= 0 ? "no start time" : "ends before it starts", err);
    const struct record record = {.time = start,
                                  .duration = end - start,
                                  .bytes = (uint64_t)sqlite3_column_int64(s, C_VALUE),
                                  .flags = uvm_event_copy(sqlite3_column_int64(s, C_KIND)),
                                  .kind = RECORD_COPY};
    return push(g, s, &record, err);
}

/* ENUM_CUDA_MEM_KIND: 0 pageable, 1 pinned, 2 device, 3 array, 4 managed, 5 device static, 6 managed static. */
static int take_alloc(struct reading *g, sqlite3_stmt *s, struct err *err)
{
    static const uint32_t kinds[] = {RECORD_ALLOC_REGISTERED, RECORD_ALLOC_PINNED,  RECORD_ALLOC_DEVICE,
                                     RECORD_ALLOC_DEVICE,     RECORD_ALLOC_MANAGED, RECORD_ALLOC_DEVICE,
                                     RECORD_ALLOC_MANAGED};
    int64_t kind = sqlite3_column_int64(s, C_KIND);
    if (kind < 0 || kind > 6)
        return skip(g, "allocation of an unknown kind", err);
    struct record record = {.time = sqlite3_column_int64(s, C_START),
                            .addr = (uint64_t)sqlite3_column_int64(s, C_ADDR),
                            .bytes = (uint64_t)sqlite3_column_int64(s, C_VALUE),
                            .flags = kinds[kind],
                            .kind = RECORD_ALLOC};
    if (allocations_add(&g->allocations, g->context->store, &record, NULL, err))
        return -1;
    return push(g, s, &record, err);
}

static bool too_late(sqlite3_stmt *s, int column)
{
    int64_t time = sqlite3_column_int64(s, column);
    return time > RECORD_TIME_MAX || time < -RECORD_TIME_MAX;
}

static int take_row(struct reading *g, sqlite3_stmt *s, struct err *err)
{
    g->ticks = 0;
    g->rows++;
    if (too_late(s, C_START) || too_late(s, C_END))
        return skip(g, "time out of range", err);
    switch (sqlite3_column_int(s, C_TYPE)) {
    case ROW_UVM:
        return take_uvm(g, s, err);
    case ROW_KERNEL:
        return take_kernel(g, s, err);
    case ROW_COPY:
        return take_copy(g, s, err);
    case ROW_ALLOC:
        return take_alloc(g, s, err);
    case ROW_RANGE:
        return take_range(g, s, err);
    default:
        return allocations_end(&g->allocations, g->context->store, (uint64_t)sqlite3_column_int64(s, C_ADDR),
                               sqlite3_column_int64(s, C_START), err);
    }
}

static int take_rows(struct reading *g, const char *sql, struct err *err)
{
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(g->db, sql, -1, &s, NULL) != SQLITE_OK)
        return fail(g, "its tables cannot be read", err);
    int rc = 0, got = SQLITE_DONE;
    while (rc == 0 && (got = sqlite3_step(s)) == SQLITE_ROW)
        rc = take_row(g, s, err);
    if (rc == 0 && got != SQLITE_DONE)
        rc = fail(g, "damaged", err);
    sqlite3_finalize(s);
    return rc;
}

/* --- facts --- */

/* Up to FACT_ROWS rows of two columns, as origin PREFIX.first = second. */
static int facts(struct reading *g, const char *table, const char *key, const char *value, const char *prefix,
                 struct err *err)
{
    char sql[256], name[200];
    sqlite3_stmt *s;
    int found = has_table(g, table, err);
    if (found <= 0 || !has_column(g, table, key) || !has_column(g, table, value))
        return found < 0 ? -1 : 0;
    const bool named = g->strings[1] && strcmp(value, "name") == 0; /* nvprof: by row of its table of names */
    (void)snprintf(sql, sizeof sql,
                   named ? "SELECT %s,(SELECT value FROM StringTable WHERE _id_=%s) FROM %s LIMIT %d"
                         : "SELECT %s,%s FROM %s LIMIT %d",
                   key, value, table, FACT_ROWS);
    if (sqlite3_prepare_v2(g->db, sql, -1, &s, NULL) != SQLITE_OK)
        return fail(g, table, err);
    int rc = 0;
    while (rc == 0 && sqlite3_step(s) == SQLITE_ROW) {
        const char *k = (const char *)sqlite3_column_text(s, 0), *v = (const char *)sqlite3_column_text(s, 1);
        if (!k || !v)
            continue;
        (void)snprintf(name, sizeof name, "%s%.120s", prefix, k);
        rc = store_origin(g->context->store, name, v, err);
    }
    sqlite3_finalize(s);
    return rc;
}

static int all_facts(struct reading *g, struct err *err)
{
    return facts(g, "META_DATA_EXPORT", "name", "value", "nsys.", err) ||
                   facts(g, "TARGET_INFO_GPU", "id", "name", "gpu.name.", err) ||
                   facts(g, "TARGET_INFO_GPU", "id", "totalMemory", "gpu.memory_bytes.", err) ||
                   facts(g, "TARGET_INFO_GPU", "id", "uuid", "gpu.uuid.", err) ||
                   facts(g, "CUPTI_ACTIVITY_KIND_DEVICE", "id", "name", "gpu.name.", err) ||
                   facts(g, "CUPTI_ACTIVITY_KIND_DEVICE", "id", "globalMemorySize", "gpu.memory_bytes.", err) ||
                   facts(g, "DIAGNOSTIC_EVENT", "rowid", "text", "nsys.diagnostic.", err) ||
                   facts(g, "TARGET_INFO_SESSION_START_TIME", "rowid", "utcEpochNs", "nsys.utc_epoch_ns.", err)
               ? -1
               : 0;
}

/* --- the reader --- */

/* CUDA graphs that were traced as one event: their kernels and copies have no rows. */
static int count_graphs(struct reading *g, struct err *err)
{
    sqlite3_stmt *s;
    const int found = has_table(g, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", err);
    if (found <= 0)
        return found;
    if (sqlite3_prepare_v2(g->db, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE", -1, &s, NULL) != SQLITE_OK)
        return fail(g, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", err);
    const int64_t n = sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    return n > 0
               ? store_drop(g->context->store,
                            "launches of CUDA graphs, traced as one event each (nsys profile --cuda-graph-trace=node)",
                            (uint64_t)n, err)
               : 0;
}

/* What could be seen: of a kind that the export has no table for, nobody knows whether it was collected. */
static int store_kinds(struct reading *g, struct err *err)
{
    const bool *f = g->found, counters = f[TABLE_COUNTERS] && g->counted;
    const bool uvm = g->counted || f[TABLE_FAULTS] || f[TABLE_CPU_FAULTS],
               moves = uvm && (g->moved || !g->context->lost);
    char kinds[200];
    (void)snprintf(kinds, sizeof kinds, "%s%s%s%s%s%s%s%s",
                   f[TABLE_KERNELS] || f[TABLE_CONCURRENT_KERNELS] ? " KERNEL" : "",
                   f[TABLE_ALLOCATIONS] ? " ALLOC" : "", f[TABLE_COPIES] || f[TABLE_PEER_COPIES] ? " COPY" : "",
                   f[TABLE_FAULTS] || counters ? " FAULT" : "", f[TABLE_CPU_FAULTS] || counters ? " CPU_FAULT" : "",
                   moves ? " MIGRATE_H2D MIGRATE_D2H MIGRATE_D2D" : "", counters ? " THRASH THROTTLE REMOTE_MAP" : "",
                   f[TABLE_RANGES] ? " RANGE" : "");
    if (!f[TABLE_FAULTS] && !counters)
        reader_note(g->context, "%s: no %s in it: the program had none, or %s", g->context->path,
                    uvm ? "GPU page faults are" : "event of unified memory is",
                    f[TABLE_COUNTERS] ? "nvprof was told not to collect them (--unified-memory-profiling off)"
                                      : "nsys was not asked to collect them (nsys profile "
                                        "--cuda-um-gpu-page-faults=true --cuda-um-cpu-page-faults=true)");
    return store_origin(g->context->store, "kinds.uvm", kinds + (*kinds == ' '), err);
}

static int read_all(struct reading *g, struct err *err)
{
    static const struct stream stream = {
        .name = "uvm", .unit = TIME_NS, .space = ADDR_BYTES, .extra = {"process_id", "src_id", "dst_id"}};
    struct query *q = mem_zalloc(1, sizeof *q, err);
    if (!q)
        return -1;
    q->g = g;
    int index;
    int parts = open_db(g, err) ? -1 : make_query(q, err);
    int rc = parts < 0 ? -1 : 0;
    if (parts == 0)
        rc = err_set(err,
                     "an SQLite file without a table of unified-memory, copy, kernel or allocation events: no export "
                     "of Nsight Systems or nvprof, or nothing of it was collected (--cuda-um-gpu-page-faults=true "
                     "--cuda-um-cpu-page-faults=true)");
    if (rc == 0 && (reader_stream(g->context, &stream, &index, err) ||
                    writer_open(&g->writer, g->context->store, index, EXTRAS, err)))
        rc = -1;
    if (rc == 0)
        rc = all_facts(g, err);
    if (rc == 0)
        rc = take_rows(g, q->sql, err);
    if (rc == 0 && (store_kinds(g, err) || count_graphs(g, err)))
        rc = -1;
    free(q);
    /* What was read before an error is kept: the trace stays incomplete. */
    if (parts > 0 && (writer_flush(&g->writer, rc ? NULL : err) ||
                      allocations_finish(&g->allocations, g->context->store, rc ? NULL : err)))
        rc = -1;
    return rc;
}

static int read_file(struct reader_context *context, struct input_stream *source, struct err *err)
{
    (void)source;
    struct reading g = {.context = context};
    int rc = read_all(&g, err);
    writer_close(&g.writer);
    allocations_release(&g.allocations);
    id_map_release(&g.ranges);
    sqlite3_close(g.db);
    return rc;
}

/* An SQLite file that is not marked as somebody's (ours has its mark at byte 68). */
static enum probe probe(const char *path, const unsigned char *head, size_t n)
{
    static const unsigned char none[4];
    (void)path;
    if (n < 100 || memcmp(head, "SQLite format 3", 16) != 0)
        return PROBE_NO;
    return memcmp(head + PROBE_ID, none, 4) == 0 ? PROBE_YES : PROBE_NO;
}

const struct reader read_nsys = {
    .name = "nsys",
    .summary = "SQLite of Nsight Systems or nvprof: unified-memory events, kernels, copies, allocations, NVTX",
    .probe = probe,
    .read = read_file,
    .whole_file = true,
};
