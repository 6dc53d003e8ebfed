#include "trace/import/reader.h"

#include <sqlite3.h>

#include "trace/derived/recording.h"
#include "trace/store/testing_facts.h"

/* A read trace, counted. */
struct found {
    int rc;
    struct err err;
    uint64_t records, kinds[RECORD_KINDS], skipped, bytes[RECORD_KINDS];
    struct record first[16];
    bool sorted;
    char note[256];
};

static struct found read_export(const char *sql)
{
    struct found f = {.sorted = true};
    struct err err;
    sqlite3 *db;
    const char *path = testing_file("export #1?.sqlite"), *to = testing_file("t.db");
    (void)unlink(path);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    char *message = NULL;
    ck_assert_int_eq(sqlite3_exec(db, "PRAGMA synchronous = OFF", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK, "%s", message);
    sqlite3_close(db);
    struct store *store = store_create(to, true, "test", &err);
    ck_assert_msg(store, "%s", err.msg);
    struct reader_context context = {.store = store, .path = path};
    f.rc = reader_run(&read_nsys, &context, NULL, &f.err);
    f.skipped = context.skips.total;
    (void)snprintf(f.note, sizeof f.note, "%s", context.note);
    if (f.rc == 0)
        ck_assert_int_eq(store_finish(store, &err), 0);
    store_close(store);
    store = store_open(to, &err);
    int64_t last = 0;
    for (int s = 0; s < store_stream_count(store); s++) {
        struct store_cursor *cursor = store_cursor_open(store, s, &err);
        const struct record *records;
        size_t n;
        while (store_cursor_next(cursor, &records, NULL, &n, &err) == 1)
            for (size_t i = 0; i < n; i++) {
                if (f.records < 16)
                    f.first[f.records] = records[i];
                f.records++;
                f.kinds[records[i].kind]++;
                f.bytes[records[i].kind] += records[i].bytes;
                f.sorted &= records[i].time >= last;
                last = records[i].time;
            }
        store_cursor_close(cursor);
    }
    store_close(store);
    return f;
}

static const char copies[] = "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, deviceId INTEGER,"
                             " globalPid INTEGER, bytes INTEGER, copyKind INTEGER, migrationCause INTEGER,"
                             " virtualAddress INTEGER);"
                             "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
                             "(300,350,0,0x2a000000,65536,11,3,0x7f0000010000),"
                             "(100,150,0,0x2a000000,4096,11,2,0x7f0000000000),"
                             "(500,510,0,0x2a000000,4096,12,2,-8192),"
                             "(600,700,0,0x2a000000,123,1,NULL,NULL);";

START_TEST(migrations_come_in_order_of_time_with_numeric_causes)
{
    struct found f = read_export(copies);
    ck_assert_msg(f.rc == 0, "%s", f.err.msg);
    ck_assert_uint_eq(f.records, 4);
    ck_assert(f.sorted);
    ck_assert_uint_eq(f.first[0].kind, RECORD_MIGRATE_H2D);
    ck_assert_uint_eq(f.first[0].flags, RECORD_CAUSE_FAULT);
    ck_assert_int_eq(f.first[0].duration, 50);
    ck_assert_uint_eq(f.first[1].flags, RECORD_CAUSE_PREFETCH);
    ck_assert_uint_eq(f.first[2].addr, 0xffffffffffffe000u); /* a signed column holds unsigned addresses */
    ck_assert_uint_eq(f.first[3].kind, RECORD_COPY);
    ck_assert_uint_eq(f.first[3].flags, RECORD_COPY_H2D);
}
END_TEST

START_TEST(tables_that_are_absent_mean_no_such_events)
{
    struct found f = read_export("CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS(start, end, globalPid, deviceId, address,"
                                 " numberOfPageFaults, faultAccessType);"
                                 "INSERT INTO CUDA_UM_GPU_PAGE_FAULT_EVENTS VALUES(10,20,0,0,4096,7,2);");
    ck_assert_msg(f.rc == 0, "%s", f.err.msg);
    ck_assert_uint_eq(f.records, 1);
    ck_assert_uint_eq(f.first[0].kind, RECORD_FAULT);
    ck_assert_uint_eq(f.first[0].bytes, 7);
    ck_assert_uint_eq(f.first[0].flags, RECORD_WRITE);
}
END_TEST

START_TEST(columns_that_a_release_lacks_are_done_without)
{
    struct found f = read_export("CREATE TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS(start, address, CpuInstruction);"
                                 "INSERT INTO CUDA_UM_CPU_PAGE_FAULT_EVENTS VALUES(10,4096,77),(11,NULL,1);"
                                 "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, shortName);"
                                 "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(5,9,1),(6,8,99),(9,6,1);"
                                 "CREATE TABLE StringIds(id, value); INSERT INTO StringIds VALUES(1,'conv');");
    ck_assert_msg(f.rc == 0, "%s", f.err.msg);
    ck_assert_uint_eq(f.kinds[RECORD_CPU_FAULT], 1);
    ck_assert_uint_eq(f.kinds[RECORD_KERNEL], 2);
    ck_assert_uint_eq(f.skipped, 2); /* no address; ends before it starts */
}
END_TEST

START_TEST(allocations_get_their_kind_and_end)
{
    struct found f = read_export("CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS(start, address, bytes, memKind,"
                                 " memoryOperationType); INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES"
                                 "(1,4096,100,4,0),(2,8192,200,2,0),(3,4096,100,4,1),(4,1,1,7,0),"
                                 "(4611686018427387904,1,1,2,0);");
    ck_assert_msg(f.rc == 0, "%s", f.err.msg);
    ck_assert_uint_eq(f.kinds[RECORD_ALLOC], 2);
    ck_assert_uint_eq(f.first[0].flags, RECORD_ALLOC_MANAGED);
    ck_assert_uint_eq(f.skipped, 2); /* an unknown kind, a time out of range */
}
END_TEST

START_TEST(a_database_without_such_tables_is_refused)
{
    struct found f = read_export("CREATE TABLE t(a);");
    ck_assert_int_eq(f.rc, -1);
    ck_assert_ptr_nonnull(strstr(f.err.msg, "Nsight Systems"));
}
END_TEST

START_TEST(a_table_without_its_time_column_is_refused_by_name)
{
    struct found f = read_export("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(begin, end);");
    ck_assert_int_eq(f.rc, -1);
    ck_assert_ptr_nonnull(strstr(f.err.msg, "CUPTI_ACTIVITY_KIND_KERNEL has no column start"));
}
END_TEST

START_TEST(a_view_that_never_ends_is_no_table)
{
    struct found f =
        read_export("CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE c(start) AS (SELECT 1 UNION ALL"
                    " SELECT start+1 FROM c) SELECT start, start AS end FROM c;");
    ck_assert_int_eq(f.rc, -1);
    ck_assert_ptr_nonnull(strstr(f.err.msg, "without a table"));
}
END_TEST

START_TEST(texts_in_number_columns_do_no_harm)
{
    struct found f = read_export("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, end, bytes, copyKind, migrationCause,"
                                 " virtualAddress); INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
                                 "('abc','def',x'00',11,-1,'zz'),(-5,7,1,11,2,1),(1,2,3,11,99999999999,4);");
    ck_assert_msg(f.rc == 0, "%s", f.err.msg);
    ck_assert_uint_eq(f.records, 0);
    ck_assert_uint_eq(f.skipped, 3);
}
END_TEST

START_TEST(a_damaged_file_is_an_error)
{
    char garbage[4096] = "SQLite format 3";
    memset(garbage + 16, 0x5a, sizeof garbage - 16);
    const char *path = testing_write("bad.sqlite", garbage, sizeof garbage);
    struct store *store = GIVES(store_create(testing_file("t.db"), true, "test", &err));
    struct reader_context context = {.store = store, .path = path};
    FAILS(reader_run(&read_nsys, &context, NULL, &err));
    store_close(store);
}
END_TEST

/* --- every column that is asked for says something --- */

static struct column {
    char table[48], name[40];
} columns[128];
static size_t column_count;

static int note_column(void *ctx, int action, const char *table, const char *name, const char *database,
                       const char *trigger)
{
    (void)ctx, (void)database, (void)trigger;
    if (action != SQLITE_READ || !name || !*name || strncmp(table, "sqlite_", 7) == 0 || column_count == 128)
        return SQLITE_OK;
    for (size_t i = 0; i < column_count; i++)
        if (strcmp(columns[i].table, table) == 0 && strcmp(columns[i].name, name) == 0)
            return SQLITE_OK;
    (void)snprintf(columns[column_count].table, sizeof columns->table, "%s", table);
    (void)snprintf(columns[column_count++].name, sizeof columns->name, "%s", name);
    return SQLITE_OK;
}

static int note_columns(sqlite3 *db, char **message, const void *api)
{
    (void)message, (void)api;
    return sqlite3_set_authorizer(db, note_column, NULL);
}

/* One row of each kind, and one for each column that stands in for another. */
static const char whole[] =
    "CREATE TABLE StringIds(id, value); INSERT INTO StringIds VALUES(1,'a'),(2,'b'),(3,'c');"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, globalPid, mangledName, demangledName, shortName,"
    " gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread, staticSharedMemory, dynamicSharedMemory,"
    " streamId); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(10,20,1,16777216,1,NULL,NULL,2,3,4,5,6,7,8,9,10,11),"
    "(30,40,1,16777216,NULL,2,NULL,2,3,4,5,6,7,8,9,10,11),(50,60,1,16777216,NULL,NULL,3,2,3,4,5,6,7,8,9,10,11);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, end, deviceId, globalPid, bytes, copyKind, migrationCause,"
    " virtualAddress, srcDeviceId, dstDeviceId); INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
    "(12,13,1,16777216,4096,11,2,8192,NULL,NULL),(14,15,1,16777216,4096,12,2,8192,NULL,NULL),"
    "(15,16,1,16777216,4096,13,2,8192,2,3),(17,18,1,16777216,64,1,NULL,NULL,NULL,NULL),"
    "(19,20,1,16777216,4096,11,2,NULL,NULL,NULL);"
    "CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS(start, end, deviceId, globalPid, address, numberOfPageFaults,"
    " faultAccessType); INSERT INTO CUDA_UM_GPU_PAGE_FAULT_EVENTS VALUES(11,13,1,16777216,8192,3,1);"
    "CREATE TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS(start, globalPid, address, originalFaultPc, unresolvedFaultPc,"
    " CpuInstruction); INSERT INTO CUDA_UM_CPU_PAGE_FAULT_EVENTS VALUES(5,16777216,8192,1,NULL,NULL),"
    "(6,16777216,8192,NULL,2,NULL),(7,16777216,8192,NULL,NULL,3);"
    "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS(start, globalPid, address, bytes, memKind, memoryOperationType);"
    "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES(1,16777216,8192,4096,4,0),(2,16777216,12288,64,2,0),"
    "(70,16777216,12288,64,2,1);"
    "CREATE TABLE NVTX_EVENTS(start, end, eventType, text, textId, globalTid); INSERT INTO NVTX_EVENTS VALUES"
    "(8,90,59,'req',NULL,16777300),(9,80,60,NULL,1,16777300),(10,NULL,34,'mark',NULL,16777300),"
    "(11,NULL,59,'open',NULL,16777300),(0,NULL,75,'domain',NULL,16777300);"
    "CREATE TABLE StringTable(_id_, value); INSERT INTO StringTable VALUES(7,'d');"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(start, end, name, deviceId);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES(55,56,7,1);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER(counterKind, value, start, end, address, flags, srcId, "
    "dstId,"
    " processId); INSERT INTO CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER VALUES(1,4096,21,22,4096,2,4294967295,1,4242),"
    "(4,3,20,24,4096,1,1,0,4242),(3,77,3,0,4096,1,0,0,4242),(5,65536,30,0,4096,1,1,0,4242);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY2(start, end, bytes, copyKind); INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY2 "
    "VALUES(61,62,64,10);";

static char *text_of(const char *sql)
{
    struct err err = {""};
    const struct found f = read_export(sql);
    struct store *store = f.rc == 0 ? store_open(testing_file("t.db"), &err) : NULL;
    char *text = store ? testing_trace_text(store) : strdup(f.err.msg);
    store_close(store);
    return text;
}

START_TEST(every_column_that_is_read_is_used)
{
    char sql[sizeof whole + 300] = "";
    ck_assert_int_eq(sqlite3_auto_extension((void (*)(void))note_columns), SQLITE_OK);
    char *before = text_of(whole);
    ck_assert_int_eq(sqlite3_cancel_auto_extension((void (*)(void))note_columns), 1);
    ck_assert_uint_ge(column_count, 40);
    for (size_t i = 0; i < column_count; i++) {
        const struct column *c = &columns[i];
        if (strncmp(c->table, "CU", 2) != 0)
            continue;
        (void)snprintf(sql, sizeof sql, "%sUPDATE %.47s SET %.39s = %.39s + 16777217;", whole, c->table, c->name,
                       c->name);
        char *after = text_of(sql);
        ck_assert_msg(strcmp(before, after) != 0, "column %s of table %s is read and not used", c->name, c->table);
        free(after);
    }
    free(before);
}
END_TEST

START_TEST(ranges_and_nvprofs_counters_are_records)
{
    const struct found f = read_export(whole);
    ck_assert_int_eq(f.rc, 0);
    ck_assert_uint_eq(f.kinds[RECORD_RANGE], 3);
    ck_assert_uint_eq(f.skipped, 1); /* the range that did not end */
    ck_assert_uint_eq(f.kinds[RECORD_THRASH], 1);
    ck_assert_uint_eq(f.kinds[RECORD_KERNEL], 4);
    struct store *store = GIVES(store_open(testing_file("t.db"), &err));
    char *text = testing_trace_text(store);
    ck_assert_ptr_nonnull(strstr(text, "req"));
    ck_assert_ptr_nonnull(strstr(text, "mark"));
    ck_assert_ptr_nonnull(strstr(text, "4242"));
    ck_assert_str_eq(store_origin_get(store, "kinds.uvm"),
                     "KERNEL ALLOC COPY FAULT CPU_FAULT MIGRATE_H2D MIGRATE_D2H MIGRATE_D2D THRASH THROTTLE REMOTE_MAP "
                     "RANGE");
    free(text);
    store_close(store);
}
END_TEST

START_TEST(two_gpus_are_two_recordings)
{
    static struct recordings found;
    const struct found f = read_export(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, end, deviceId, globalPid, bytes, copyKind, virtualAddress);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(1,2,0,16777216,4096,11,4096),(3,4,1,16777216,4096,12,4096);"
        "CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS(start, end, deviceId, globalPid, address);"
        "INSERT INTO CUDA_UM_GPU_PAGE_FAULT_EVENTS VALUES(5,6,2,16777216,4096);");
    ck_assert_int_eq(f.rc, 0);
    struct store *store = GIVES(store_open(testing_file("t.db"), &err));
    WORKS(recordings_find(&found, store, &err));
    ck_assert_uint_eq(found.count, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(found.items[i].gpu, i);
    store_close(store);
}
END_TEST

static int lost_row(void *ctx, const struct store_value *v, size_t n)
{
    (void)n;
    (void)snprintf(ctx, 200, "%s %d", v[0].s, (int)v[1].i);
    return 0;
}

START_TEST(migrations_without_an_address_are_counted_with_their_bytes)
{
    char lost[200] = "";
    const struct found f =
        read_export("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, end, bytes, copyKind);"
                    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(1,2,65536,11),(3,5,4096,12),(6,7,64,1),(0,1,9,11);");
    ck_assert_int_eq(f.rc, 0);
    ck_assert_uint_eq(f.records, 1);
    ck_assert_uint_eq(f.skipped, 1); /* the one without a start */
    struct store *store = GIVES(store_open(testing_file("t.db"), &err));
    WORKS(store_rows(store, "dropped", lost_row, lost, &err));
    ck_assert_str_eq(store_origin_get(store, "kinds.uvm"), "COPY"); /* where nothing has a place, nothing is known */
    ck_assert_str_eq(lost, "migrations without an address (64 KiB to the GPU, 4 KiB elsewhere, in 3 ns) 2");
    store_close(store);
}
END_TEST

START_TEST(graphs_traced_as_one_event_are_lost)
{
    char lost[200] = "";
    ck_assert_int_eq(read_export("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, end, bytes, copyKind);"
                                 "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(6,7,64,1);"
                                 "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start, end);"
                                 "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES(1,2),(3,4);")
                         .rc,
                     0);
    struct store *store = GIVES(store_open(testing_file("t.db"), &err));
    WORKS(store_rows(store, "dropped", lost_row, lost, &err));
    ck_assert_str_eq(lost,
                     "launches of CUDA graphs, traced as one event each (nsys profile --cuda-graph-trace=node) 2");
    store_close(store);
}
END_TEST

START_TEST(kinds_without_a_table_are_not_known)
{
    static const struct {
        const char *sql, *kinds, *note;
    } cases[] = {
        {"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end);", "KERNEL", "no event of unified memory is in it"},
        {"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, end, bytes, copyKind, virtualAddress);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(1,2,4096,11,4096);",
         "COPY MIGRATE_H2D MIGRATE_D2H MIGRATE_D2D", "no GPU page faults are in it"},
        {"CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS(start, end, address);",
         "FAULT MIGRATE_H2D MIGRATE_D2H MIGRATE_D2D", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {""};
        const struct found f = read_export(cases[i].sql);
        ck_assert_msg(f.rc == 0, "%s", f.err.msg);
        struct store *store = store_open(testing_file("t.db"), &err);
        ck_assert_str_eq(store_origin_get(store, "kinds.uvm"), cases[i].kinds);
        ck_assert_msg(*cases[i].note ? strstr(f.note, cases[i].note) != NULL : !*f.note, "%s", f.note);
        store_close(store);
    }
}
END_TEST

TEST_MAIN("nsys")
