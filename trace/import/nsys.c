/* nsys: the SQLite export of NVIDIA Nsight Systems (nsys profile --export=sqlite, nsys export -t sqlite).
 *
 * Becomes stream "uvm" (ns since the session's start, byte addresses), in order of time, as reader cupti-csv makes it:
 * migrations (copies of kind 11, 12, 13), GPU and CPU faults, kernels, and further explicit copies and allocations.
 * The export's tables exist only where there was such an event, and their columns change between releases: both are
 * asked for, never assumed. Causes and kinds are taken by number, never by label (labels changed between releases).
 * Not in any export, so not recordable: thrashing, throttling, remote mappings, access type of CPU faults.
 * The file is opened read-only and as immutable, since exports often lie on file systems without locking.
 * Source: exporter schema 3.16.1 and later; CUPTI's enumerations (CUDA 13.0). */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/mem.h"
#include "trace/base/regular_file.h"
#include "trace/derived/allocations.h"
#include "trace/event/uvm_event.h"
#include "trace/import/reader.h"

enum { EXTRAS = 3, SQL_BYTES = 16384, FACT_ROWS = 64, PROBE_ID = 68, OPS_PER_TICK = 1 << 20, TICKS_MAX = 1 << 16 };

/* What a row of the joined query is. */
enum row_type { ROW_UVM, ROW_KERNEL, ROW_COPY, ROW_ALLOC, ROW_FREE };

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
    C_NAME,
    C_GRID,
    C_COUNT = C_GRID + 6
};

struct reading {
    struct reader_context *context;
    sqlite3 *db;
    int stream;
    struct allocations allocations;
    uint64_t rows;
    int ticks;
    size_t n;
    struct record records[STORE_BATCH];
    int64_t process[STORE_BATCH];
    int64_t extra[EXTRAS * STORE_BATCH];
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

static void add(struct query *q, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct query *q, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(q->sql + q->used, sizeof q->sql - q->used, format, ap);
    va_end(ap);
    q->used += n > 0 && (size_t)n < sizeof q->sql - q->used ? (size_t)n : 0;
}

/* A column, or a constant where this release has none. */
static void add_column(struct query *q, const char *table, const char *column, const char *otherwise)
{
    if (has_column(q->g, table, column))
        add(q, ",t.%s", column);
    else
        add(q, ",%s", otherwise);
}

/* The first of these columns that exists and is not NULL. */
static void add_first(struct query *q, const char *table, const char *const *columns)
{
    add(q, ",coalesce(NULL");
    for (; *columns; columns++)
        if (has_column(q->g, table, *columns))
            add(q, ",t.%s", *columns);
    add(q, ",NULL)");
}

static void add_part(struct query *q, const char *type)
{
    add(q, "%sSELECT %s AS type", q->parts++ ? " UNION ALL " : "", type);
}

static void add_tail(struct query *q, const char *table, const char *name, const char *where)
{
    add_column(q, table, "globalPid", "0");
    add_column(q, table, "deviceId", "0");
    add(q, ",%s", name);
    static const char *const dims[] = {"gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"};
    for (int i = 0; i < 6; i++)
        if (strcmp(name, "NULL") != 0)
            add_column(q, table, dims[i], "NULL");
        else
            add(q, ",NULL");
    add(q, " FROM %s t %s", table, where);
}

static void add_gpu_faults(struct query *q)
{
    static const char table[] = "CUDA_UM_GPU_PAGE_FAULT_EVENTS";
    add_part(q, "0");
    add(q, ",t.start AS start");
    add_column(q, table, "end", "0");
    add_column(q, table, "address", "NULL");
    add_column(q, table, "numberOfPageFaults", "0");
    add(q, ",%d", UVM_COUNTER_GPU_FAULT);
    add_column(q, table, "faultAccessType", "0");
    add_tail(q, table, "NULL", "");
}

static void add_cpu_faults(struct query *q)
{
    static const char table[] = "CUDA_UM_CPU_PAGE_FAULT_EVENTS";
    static const char *const counters[] = {"originalFaultPc", "unresolvedFaultPc", "CpuInstruction", NULL};
    add_part(q, "0");
    add(q, ",t.start AS start,0");
    add_column(q, table, "address", "NULL");
    add_first(q, table, counters);
    add(q, ",%d,0", UVM_COUNTER_CPU_FAULT);
    add_tail(q, table, "NULL", "");
}

static void add_copies(struct query *q)
{
    static const char table[] = "CUPTI_ACTIVITY_KIND_MEMCPY";
    add_part(q, "CASE WHEN t.copyKind BETWEEN 11 AND 13 THEN 0 ELSE 2 END");
    add(q, ",t.start AS start");
    add_column(q, table, "end", "0");
    add_column(q, table, "virtualAddress", "NULL");
    add_column(q, table, "bytes", "0");
    add(q, ",CASE t.copyKind WHEN 11 THEN %d WHEN 12 THEN %d WHEN 13 THEN %d ELSE t.copyKind END",
        UVM_COUNTER_BYTES_H2D, UVM_COUNTER_BYTES_D2H, UVM_COUNTER_BYTES_D2D);
    add_column(q, table, "migrationCause", "0");
    add_tail(q, table, "NULL", "");
}

static void add_kernels(struct query *q, bool strings)
{
    static const char table[] = "CUPTI_ACTIVITY_KIND_KERNEL";
    static const char *const names[] = {"mangledName", "demangledName", "shortName", NULL};
    char name[300] = "'kernel'";
    if (strings) {
        size_t used = (size_t)snprintf(name, sizeof name, "(SELECT value FROM StringIds WHERE id=coalesce(NULL");
        for (int i = 0; names[i]; i++)
            if (has_column(q->g, table, names[i]))
                used += (size_t)snprintf(name + used, sizeof name - used, ",t.%s", names[i]);
        (void)snprintf(name + used, sizeof name - used, ",NULL))");
    }
    add_part(q, "1");
    add(q, ",t.start AS start");
    add_column(q, table, "end", "NULL");
    add(q, ",0,0,0,0");
    add_tail(q, table, name, "");
}

static void add_memory(struct query *q)
{
    static const char table[] = "CUDA_GPU_MEMORY_USAGE_EVENTS";
    add_part(q, "CASE t.memoryOperationType WHEN 0 THEN 3 ELSE 4 END");
    add(q, ",t.start AS start,0");
    add_column(q, table, "address", "NULL");
    add_column(q, table, "bytes", "0");
    add_column(q, table, "memKind", "7");
    add(q, ",0");
    add_tail(q, table, "NULL", "");
}

/* Whether to take the table: 1 yes, 0 absent, -1 with *err set where it lacks what a row cannot do without. */
static int wanted(struct reading *g, const char *table, const char *needed, struct err *err)
{
    int found = has_table(g, table, err);
    if (found == 1 && (!has_column(g, table, "start") || (needed && !has_column(g, table, needed))))
        return err_set(err, "table %s has no column %s: not an export of Nsight Systems that this program knows", table,
                       needed && has_column(g, table, "start") ? needed : "start");
    return found;
}

/* -1 on failure; otherwise the number of tables found. */
static int make_query(struct query *q, struct err *err)
{
    int gpu = wanted(q->g, "CUDA_UM_GPU_PAGE_FAULT_EVENTS", NULL, err);
    int cpu = gpu < 0 ? -1 : wanted(q->g, "CUDA_UM_CPU_PAGE_FAULT_EVENTS", NULL, err);
    int copies = cpu < 0 ? -1 : wanted(q->g, "CUPTI_ACTIVITY_KIND_MEMCPY", "copyKind", err);
    int kernels = copies < 0 ? -1 : wanted(q->g, "CUPTI_ACTIVITY_KIND_KERNEL", NULL, err);
    int memory = kernels < 0 ? -1 : wanted(q->g, "CUDA_GPU_MEMORY_USAGE_EVENTS", "memoryOperationType", err);
    int strings = memory < 0 ? -1 : has_table(q->g, "StringIds", err);
    if (strings < 0)
        return -1;
    if (strings && has_column(q->g, "StringIds", "id") && !has_column(q->g, "StringIds", "value"))
        strings = 0;
    if (memory)
        add_memory(q);
    if (copies)
        add_copies(q);
    if (gpu)
        add_gpu_faults(q);
    if (cpu)
        add_cpu_faults(q);
    if (kernels)
        add_kernels(q, strings);
    add(q, " ORDER BY start");
    return q->parts;
}

/* --- rows --- */

static int flush(struct reading *g, struct err *err)
{
    memcpy(g->extra, g->process, g->n * sizeof *g->extra);
    memset(g->extra + g->n, 0, 2 * g->n * sizeof *g->extra);
    size_t n = g->n;
    g->n = 0;
    return n ? store_append(g->context->store, g->stream, g->records, g->extra, n, err) : 0;
}

static int push(struct reading *g, const struct record *record, int64_t process, struct err *err)
{
    g->process[g->n] = process;
    g->records[g->n++] = *record;
    return g->n == STORE_BATCH ? flush(g, err) : 0;
}

static int skip(struct reading *g, const char *reason, struct err *err)
{
    char place[48];
    (void)snprintf(place, sizeof place, "row %" PRIu64 " in order of time", g->rows);
    return reader_skip(g->context, reason, place, err);
}

/* PID = (value / 2^24) mod 2^24. */
static int64_t process_of(sqlite3_stmt *s)
{
    return sqlite3_column_int64(s, C_PID) >> 24 & 0xffffff;
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
    if (sqlite3_column_type(s, C_ADDR) == SQLITE_NULL)
        return skip(g, "no address", err);
    const char *reason = uvm_event_record(&event, &record);
    if (reason)
        return skip(g, reason, err);
    return push(g, &record, process_of(s), err);
}

static int take_kernel(struct reading *g, sqlite3_stmt *s, struct err *err)
{
    int64_t start = sqlite3_column_int64(s, C_START), end = sqlite3_column_int64(s, C_END), id;
    const char *name = (const char *)sqlite3_column_text(s, C_NAME);
    if (start <= 0)
        return skip(g, "no start time", err);
    if (end < start)
        return skip(g, "kernel ends before it starts", err);
    if (reader_kernel(g->context, name && *name ? name : "kernel", start, end - start, &id, err))
        return -1;
    const struct record record = {
        .time = start, .duration = end - start, .id = (uint64_t)id, .group = (uint32_t)id, .kind = RECORD_KERNEL};
    return push(g, &record, process_of(s), err);
}

/* ENUM_CUDA_MEMCPY_OPER, 1 to 10. */
static const uint32_t directions[] = {0,
                                      RECORD_COPY_H2D,
                                      RECORD_COPY_D2H,
                                      RECORD_COPY_H2D,
                                      RECORD_COPY_D2H,
                                      RECORD_COPY_D2D,
                                      RECORD_COPY_D2D,
                                      RECORD_COPY_D2D,
                                      RECORD_COPY_D2D,
                                      RECORD_COPY_H2H,
                                      RECORD_COPY_P2P};

static int take_copy(struct reading *g, sqlite3_stmt *s, struct err *err)
{
    int64_t start = sqlite3_column_int64(s, C_START), end = sqlite3_column_int64(s, C_END);
    int64_t kind = sqlite3_column_int64(s, C_KIND);
    if (start <= 0 || end < start)
        return skip(g, start <= 0 ? "no start time" : "ends before it starts", err);
    const struct record record = {.time = start,
                                  .duration = end - start,
                                  .bytes = (uint64_t)sqlite3_column_int64(s, C_VALUE),
                                  .flags = kind > 0 && kind <= 10 ? directions[kind] : 0,
                                  .kind = RECORD_COPY};
    return push(g, &record, process_of(s), err);
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
    return push(g, &record, process_of(s), err);
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
    (void)snprintf(sql, sizeof sql, "SELECT %s,%s FROM %s LIMIT %d", key, value, table, FACT_ROWS);
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
                   facts(g, "DIAGNOSTIC_EVENT", "rowid", "text", "nsys.diagnostic.", err) ||
                   facts(g, "TARGET_INFO_SESSION_START_TIME", "rowid", "utcEpochNs", "nsys.utc_epoch_ns.", err)
               ? -1
               : 0;
}

/* --- the reader --- */

static int read_all(struct reading *g, struct err *err)
{
    static const struct stream stream = {
        .name = "uvm", .unit = TIME_NS, .space = ADDR_BYTES, .extra = {"process_id", "src_id", "dst_id"}};
    struct query *q = mem_zalloc(1, sizeof *q, err);
    if (!q)
        return -1;
    q->g = g;
    int parts = open_db(g, err) ? -1 : make_query(q, err);
    int rc = parts < 0 ? -1 : 0;
    if (parts == 0)
        rc = err_set(err,
                     "an SQLite file without a table of unified-memory, copy, kernel or allocation events: no export "
                     "of Nsight Systems, or nothing of it was collected (--cuda-um-gpu-page-faults=true "
                     "--cuda-um-cpu-page-faults=true)");
    if (rc == 0)
        rc = reader_stream(g->context, &stream, &g->stream, err);
    if (rc == 0)
        rc = store_origin(g->context->store, "kinds.uvm",
                          "KERNEL ALLOC COPY FAULT CPU_FAULT MIGRATE_H2D MIGRATE_D2H MIGRATE_D2D", err);
    if (rc == 0)
        rc = all_facts(g, err);
    if (rc == 0)
        rc = take_rows(g, q->sql, err);
    free(q);
    /* What was read before an error is kept: the trace stays incomplete. */
    struct err ignored;
    if (parts > 0 &&
        (flush(g, rc ? &ignored : err) || allocations_finish(&g->allocations, g->context->store, rc ? &ignored : err)))
        rc = -1;
    return rc;
}

static int read_file(struct reader_context *context, struct input_stream *source, struct err *err)
{
    (void)source;
    struct reading *g = mem_zalloc(1, sizeof *g, err);
    if (!g)
        return -1;
    g->context = context;
    int rc = read_all(g, err);
    allocations_release(&g->allocations);
    sqlite3_close(g->db);
    free(g);
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
    .summary = "Nsight Systems' SQLite export: unified-memory events, kernels, copies, allocations",
    .probe = probe,
    .read = read_file,
    .whole_file = true,
};
