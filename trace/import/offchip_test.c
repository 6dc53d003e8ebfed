#include "trace/import/reader.h"

#include <inttypes.h>
#include <sqlite3.h>

#include "trace/base/testing.h"
#include "trace/derived/batches.h"

enum { PROCESSES = 3, RECORDS = 30000, ALL = -1 };

static struct err err;

/* --- a program of three processes: what each does at each step is a rule, so that any part of it can be written --- */

static const struct stream uvm = {
    .name = "uvm", .unit = TIME_NS, .space = ADDR_BYTES, .extra = {"process_id", "src_id", "dst_id"}};

static int process_of(int step)
{
    return (int)((unsigned)step * 2654435761u >> 24) % PROCESSES;
}

/* Kernels and allocations now and then, migrations mostly; ids are filled in by the writer. */
static struct record record_of(int step)
{
    uint64_t block = 0x7f0000000000ull + ((uint64_t)process_of(step) << 36) + ((uint64_t)step / 40 << 21);
    struct record r = {
        .time = 1000000 + (int64_t)step * 700, .duration = 300, .addr = block + (uint64_t)(step % 40) * 4096};
    if (step % 1000 < 3) {
        r.kind = RECORD_KERNEL;
    } else if (step % 777 < 2) {
        r.kind = RECORD_ALLOC;
        r.flags = RECORD_ALLOC_MANAGED;
        r.bytes = 4096;
    } else {
        r.kind = step % 11 ? RECORD_MIGRATE_H2D : RECORD_COPY;
        r.bytes = 4096;
        r.flags = r.kind == RECORD_COPY ? RECORD_COPY_H2D : 2 + step % 2;
    }
    return r;
}

static void add_kernel(struct store *store, int64_t id, const struct record *r, int process)
{
    char name[32];
    (void)snprintf(name, sizeof name, "kernel-%d", process);
    struct store_value row[16] = {STORE_V_INT(id), STORE_V_TEXT(name), STORE_V_INT(id), STORE_V_INT(r->time),
                                  STORE_V_INT(r->duration)};
    ck_assert_msg(store_row(store, "kernels", row, 16, &err) == 0, "%s", err.msg);
}

static void add_allocation(struct store *store, int64_t id, const struct record *r)
{
    const struct store_value row[] = {
        STORE_V_INT(id), STORE_V_INT(r->addr), STORE_V_INT(r->bytes), STORE_V_TEXT("managed"),
        STORE_V_NULL,    STORE_V_INT(r->time), STORE_V_NULL};
    ck_assert_msg(store_row(store, "allocations", row, 7, &err) == 0, "%s", err.msg);
}

static void add_facts(struct store *store, int process)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%d", process);
    const struct store_value counter[] = {STORE_V_TEXT("conv"), STORE_V_TEXT("l2_sectors"),
                                          STORE_V_REAL(1000 + process), STORE_V_TEXT("sectors"), STORE_V_TEXT("test")};
    const struct store_value prefetch[] = {STORE_V_TEXT("uvm_perf_prefetch_enable"), STORE_V_TEXT("1")};
    ck_assert_int_eq(store_row(store, "counters", counter, 5, &err), 0);
    if (process == 0 || store_origin_get(store, "process"))
        ck_assert_int_eq(store_row(store, "parameters", prefetch, 2, &err), 0);
    ck_assert_int_eq(store_skip(store, "migration of 0 bytes", (uint64_t)process + 1, &err), 0);
    ck_assert_int_eq(store_drop(store, "buffer lost", 10, &err), 0);
}

/* The trace of one process, or of all. */
static const char *write_trace(const char *name, int wanted, bool complete)
{
    const char *path = testing_file(name);
    int index;
    char number[16];
    struct store *store = store_create(path, true, "test", &err);
    ck_assert_msg(store, "%s", err.msg);
    (void)snprintf(number, sizeof number, "%d", 4000 + wanted);
    ck_assert_int_eq(store_stream_add(store, &uvm, &index, &err), 0);
    ck_assert_int_eq(store_origin(store, "format", "record", &err), 0);
    ck_assert_int_eq(store_origin(store, "kinds.uvm", wanted == 2 ? "KERNEL COPY" : "KERNEL ALLOC COPY", &err), 0);
    if (wanted != ALL)
        ck_assert_int_eq(store_origin(store, "process", number, &err), 0);
    int64_t kernels = 0, allocations = 0;
    for (int step = 0; step < RECORDS; step++) {
        int process = process_of(step);
        struct record r = record_of(step);
        const int64_t extra[] = {4000 + process, step % 7, step % 5};
        if (wanted != ALL && wanted != process)
            continue;
        if (r.kind == RECORD_KERNEL) {
            r.id = r.group = (uint32_t)kernels++;
            add_kernel(store, (int64_t)r.id, &r, process);
        } else if (r.kind == RECORD_ALLOC) {
            r.id = (uint64_t)allocations++;
            add_allocation(store, (int64_t)r.id, &r);
        }
        ck_assert_int_eq(store_append(store, index, &r, extra, 1, &err), 0);
    }
    for (int p = 0; p < PROCESSES; p++)
        if (wanted == ALL || wanted == p)
            add_facts(store, p);
    ck_assert_int_eq(batches_write(store, NULL, NULL, &err), 0);
    ck_assert_int_eq((complete ? store_finish : store_keep)(store, &err), 0);
    store_close(store);
    return path;
}

/* Merge as import does. */
static int merge(const char *to, const char *const *paths, size_t count, char *incomplete)
{
    struct store *store = store_create(to, true, "test", &err);
    ck_assert_msg(store, "%s", err.msg);
    struct reader_context context = {.store = store, .path = paths[0]};
    int rc = read_offchip.read_all(&context, paths, count, &err);
    if (rc == 0)
        rc = batches_write(store, NULL, NULL, &err);
    if (rc == 0)
        ck_assert_int_eq((context.incomplete[0] ? store_keep : store_finish)(store, &err), 0);
    store_close(store);
    if (incomplete)
        strcpy(incomplete, context.incomplete);
    return rc;
}

/* --- comparing --- */

static void expect_same_stream(struct store *a, struct store *b)
{
    struct store_cursor *x = store_cursor_open(a, 0, &err), *y = store_cursor_open(b, 0, &err);
    const struct record *r, *s;
    const int64_t *e, *f;
    size_t n, m;
    ck_assert_uint_eq(store_stream(a, 0)->records, store_stream(b, 0)->records);
    while (store_cursor_next(x, &r, &e, &n, &err) == 1) {
        ck_assert_int_eq(store_cursor_next(y, &s, &f, &m, &err), 1);
        ck_assert_uint_eq(n, m);
        ck_assert_mem_eq(r, s, n * sizeof *r);
        ck_assert_mem_eq(e, f, 3 * n * sizeof *e);
    }
    ck_assert_int_eq(store_cursor_next(y, &s, &f, &m, &err), 0);
    store_cursor_close(x);
    store_cursor_close(y);
}

struct text {
    char *text;
    size_t size;
    FILE *file;
};

static int print_row(void *ctx, const struct store_value *v, size_t n)
{
    struct text *t = ctx;
    for (size_t i = 0; i < n; i++)
        fprintf(t->file, "%d|%" PRId64 "|%g|%s;", v[i].type, v[i].i, v[i].r, v[i].s);
    fprintf(t->file, "\n");
    return 0;
}

static char *rows_of(struct store *store, const char *table)
{
    struct text t = {NULL, 0, NULL};
    t.file = open_memstream(&t.text, &t.size);
    ck_assert_int_eq(store_rows(store, table, print_row, &t, &err), 0);
    (void)fclose(t.file);
    return t.text;
}

static void expect_same_table(struct store *a, struct store *b, const char *table)
{
    char *x = rows_of(a, table), *y = rows_of(b, table);
    ck_assert_str_eq(x, y);
    free(x);
    free(y);
}

static const char *const compared[] = {"kernels", "allocations", "batches",   "services",
                                       "skipped", "dropped",     "parameters"};

START_TEST(three_processes_put_together_are_the_whole_program)
{
    const char *const parts[] = {write_trace("0.db", 0, true), write_trace("1.db", 1, true),
                                 write_trace("2.db", 2, true)};
    struct store *whole = store_open(write_trace("whole.db", ALL, true), &err);
    ck_assert_msg(merge(testing_file("m.db"), parts, PROCESSES, NULL) == 0, "%s", err.msg);
    struct store *merged = store_open(testing_file("m.db"), &err);
    ck_assert_msg(merged, "%s", err.msg);
    ck_assert(store_complete(merged));
    ck_assert_uint_eq(store_stream(merged, 0)->records, RECORDS);
    expect_same_stream(whole, merged);
    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++)
        expect_same_table(whole, merged, compared[i]);
    expect_same_table(whole, merged, "counters");
    ck_assert_str_eq(store_origin_get(merged, "kinds.uvm"), "KERNEL COPY");
    ck_assert_str_eq(store_origin_get(merged, "input.1.process"), "4001");
    ck_assert_str_eq(store_origin_get(merged, "merge.clock"), "one recorder on one host");
    ck_assert_ptr_null(store_origin_get(merged, "process"));
    store_close(whole);
    store_close(merged);
}
END_TEST

START_TEST(one_trace_is_taken_over_as_it_is)
{
    const char *const path[] = {write_trace("0.db", 0, true)};
    ck_assert_msg(merge(testing_file("m.db"), path, 1, NULL) == 0, "%s", err.msg);
    struct store *a = store_open(path[0], &err), *b = store_open(testing_file("m.db"), &err);
    expect_same_stream(a, b);
    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++)
        expect_same_table(a, b, compared[i]);
    ck_assert_str_eq(store_origin_get(b, "process"), "4000");
    ck_assert_str_eq(store_origin_get(b, "input.0.command_line"), "test");
    ck_assert_ptr_null(store_origin_get(b, "merge.clock"));
    store_close(a);
    store_close(b);
}
END_TEST

START_TEST(one_incomplete_input_makes_the_whole_incomplete)
{
    const char *const parts[] = {write_trace("0.db", 0, true), write_trace("1.db", 1, false)};
    char why[256];
    ck_assert_int_eq(merge(testing_file("m.db"), parts, 2, why), 0);
    ck_assert_ptr_nonnull(strstr(why, "1.db' is incomplete"));
    struct store *merged = store_open(testing_file("m.db"), &err);
    ck_assert_str_eq(store_origin_get(merged, "input.0.state"), "complete");
    ck_assert_str_eq(store_origin_get(merged, "input.1.state"), "incomplete");
    store_close(merged);
}
END_TEST

/* --- refusals --- */

/* A trace of one record in one stream: a.db or b.db. */
static const char *write_small(const char *name, const struct stream *stream, const struct record *record)
{
    static char paths[2][256];
    char *path = paths[name[0] == 'b'];
    (void)snprintf(path, sizeof paths[0], "%s", testing_file(name));
    struct store *store = store_create(path, true, "test", &err);
    int index;
    ck_assert_int_eq(store_stream_add(store, stream, &index, &err), 0);
    ck_assert_int_eq(store_append(store, index, record, NULL, 1, &err), 0);
    ck_assert_int_eq(store_finish(store, &err), 0);
    store_close(store);
    return path;
}

static void expect_refused(const char *a, const char *b, const char *words)
{
    const char *const paths[] = {a, b};
    err.msg[0] = 0;
    ck_assert_msg(merge(testing_file("refused.db"), paths, 2, NULL) == -1, "not refused: %s", words);
    ck_assert_msg(strstr(err.msg, words) != NULL, "'%s' does not say '%s'", err.msg, words);
}

static const struct record copy = {.kind = RECORD_COPY, .time = 5, .bytes = 1};

START_TEST(times_and_addresses_of_other_kinds_are_not_mixed)
{
    const struct stream ns = {.name = "s", .unit = TIME_NS}, none = {.name = "s", .unit = TIME_NONE},
                        core = {.name = "s", .unit = TIME_CYCLES, .clock = "core", .clock_hz = 1000},
                        dram = {.name = "s", .unit = TIME_CYCLES, .clock = "dram", .clock_hz = 1000},
                        faster = {.name = "s", .unit = TIME_CYCLES, .clock = "dram", .clock_hz = 2000},
                        packed = {.name = "s", .unit = TIME_NS, .space = ADDR_DRAM_PACKED, .addr_layout = "ch:5"},
                        extra = {.name = "s", .unit = TIME_NS, .extra = {"process_id"}};
    const char *a = write_small("a.db", &ns, &copy);
    expect_refused(a, write_small("b.db", &none, &copy), "stream 's' is in ns in");
    expect_refused(a, write_small("b.db", &core, &copy), "in cycles of clock core");
    expect_refused(a, write_small("b.db", &packed, &copy), "dram-packed ch:5");
    expect_refused(a, write_small("b.db", &extra, &copy), "extra column 1");
    a = write_small("a.db", &dram, &copy);
    expect_refused(a, write_small("b.db", &core, &copy), "of clock core");
    expect_refused(a, write_small("b.db", &faster, &copy), "not converted");
}
END_TEST

START_TEST(what_is_a_whole_by_itself_is_not_put_together)
{
    const struct stream ns = {.name = "s", .unit = TIME_NS}, faults = {.name = "faults", .unit = TIME_NS};
    const struct record tlp = {.kind = RECORD_TLP, .time = 5}, touch = {.kind = RECORD_TOUCH},
                        dram = {.kind = RECORD_DRAM_READ}, fault = {.kind = RECORD_FAULT, .time = 7};
    const char *a = write_small("a.db", &ns, &copy);
    expect_refused(a, write_small("b.db", &ns, &tlp), "holds TLP");
    expect_refused(a, write_small("b.db", &ns, &touch), "holds TOUCH");
    expect_refused(a, write_small("b.db", &ns, &dram), "holds DRAM_READ");
    expect_refused(a, write_small("b.db", &faults, &fault), "FAULT of a driver's log");
}
END_TEST

START_TEST(the_same_trace_twice_is_refused)
{
    const struct stream ns = {.name = "s", .unit = TIME_NS};
    expect_refused(write_small("a.db", &ns, &copy), write_small("b.db", &ns, &copy), "are the same trace");
}
END_TEST

START_TEST(a_reference_to_nothing_is_an_error)
{
    const struct stream ns = {.name = "s", .unit = TIME_NS};
    const struct record kernel = {.kind = RECORD_KERNEL, .time = 5, .id = 3},
                        access = {.kind = RECORD_ACCESS, .group = 9},
                        alloc = {.kind = RECORD_ALLOC, .time = 5, .id = 4};
    const char *a = write_small("a.db", &ns, &copy);
    expect_refused(a, write_small("b.db", &ns, &kernel), "there is no kernel 3");
    expect_refused(a, write_small("b.db", &ns, &access), "there is no launch 9");
    expect_refused(a, write_small("b.db", &ns, &alloc), "there is no allocation 4");
}
END_TEST

static void change(const char *path, const char *sql)
{
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

START_TEST(newer_and_damaged_traces_are_refused_by_name)
{
    const struct stream ns = {.name = "s", .unit = TIME_NS};
    const struct record other = {.kind = RECORD_COPY, .time = 6};
    const char *a = write_small("a.db", &ns, &copy), *b = write_small("b.db", &ns, &other);
    change(b, "UPDATE chunks SET data = zeroblob(length(data))");
    expect_refused(a, b, "stream 's', chunk 0");
    b = write_small("b.db", &ns, &other);
    change(b, "INSERT INTO skipped VALUES('x', -1)");
    expect_refused(a, b, "a count of -1");
    b = write_small("b.db", &ns, &other);
    change(b, "PRAGMA user_version = 99");
    expect_refused(a, b, "of version 99");
    expect_refused(a, testing_file("absent.db"), "absent.db");
}
END_TEST

TEST_MAIN("offchip")
