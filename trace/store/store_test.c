#define TESTING_FORK CK_FORK

#include "trace/store/store.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "trace/base/testing.h"

static uint64_t random_state = 88172645463325252u;

static uint64_t draw(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

/* Extreme, small, or anything. */
static uint64_t draw_value(void)
{
    static const uint64_t extremes[] = {0, 1, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN, UINT32_MAX, 4096};
    uint64_t how = draw() % 4;
    return how == 0 ? extremes[draw() % 7] : how == 1 ? draw() : draw() % 1000;
}

/* The same within RECORD_TIME_MAX, on both sides of 0. */
static int64_t draw_time(void)
{
    static const int64_t extremes[] = {-RECORD_TIME_MAX, RECORD_TIME_MAX};
    return draw() % 8 == 0 ? extremes[draw() % 2] : (int64_t)(draw_value() << 2) >> 2;
}

static struct record draw_record(void)
{
    return (struct record){.time = draw_time(),
                           .duration = draw_time() & RECORD_TIME_MAX,
                           .addr = draw_value(),
                           .bytes = draw_value(),
                           .id = draw_value(),
                           .group = (uint32_t)draw_value(),
                           .flags = (uint32_t)draw_value(),
                           .kind = 1 + (uint32_t)(draw() % (RECORD_SKIPPED - 1))};
}

static struct stream plain_stream(const char *name)
{
    struct stream s = {.unit = TIME_NS, .space = ADDR_BYTES};
    (void)snprintf(s.name, sizeof s.name, "%s", name);
    return s;
}

/* In place, so that what is not finished can be looked at. */
static struct store *create(const char *path)
{
    (void)unlink(path);
    return GIVES(store_create(path, OUTPUT_IN_PLACE, "offchip test", &err));
}

static struct store *reopen(const char *path)
{
    return GIVES(store_open(path, &err));
}

/* A store of n page records with one stream, finished or not. */
static void make_pages(const char *path, size_t n, bool finish)
{
    struct store *store = create(path);
    struct stream s = plain_stream("uvm");
    int index;
    WORKS(store_stream_add(store, &s, &index, &err));
    for (size_t i = 0; i < n; i++) {
        struct record r = {.time = (int64_t)i * 3, .addr = (i * 7919 % 65536) << 12, .kind = RECORD_TOUCH};
        WORKS(store_append(store, index, &r, NULL, 1, &err));
    }
    if (finish)
        WORKS(store_finish(store, &err));
    store_close(store);
}

/* Reads stream 0 and compares with the n expected records and extra columns. */
static void expect_records(struct store *store, const struct record *expected, const int64_t *extra, int extras,
                           size_t n)
{
    struct err err = {""};
    struct store_cursor *cursor = store_cursor_open(store, 0, &err);
    ck_assert_msg(cursor != NULL, "%s", err.msg);
    const struct record *records;
    const int64_t *columns;
    size_t count, at = 0;
    int rc;
    while ((rc = store_cursor_next(cursor, &records, &columns, &count, &err)) == 1) {
        ck_assert_uint_le(at + count, n);
        ck_assert_int_eq(memcmp(records, expected + at, count * sizeof *records), 0);
        for (int c = 0; c < extras; c++)
            ck_assert_int_eq(memcmp(columns + (size_t)c * count, extra + (size_t)c * n + at, count * sizeof *columns),
                             0);
        at += count;
    }
    ck_assert_msg(rc == 0, "%s", err.msg);
    ck_assert_uint_eq(at, n);
    ck_assert_int_eq(store_cursor_next(cursor, &records, &columns, &count, &err), 0);
    store_cursor_close(cursor);
}

START_TEST(records_of_every_kind_and_extreme_values_round_trip)
{
    enum { N = 200000, EXTRAS = 3 };
    struct record *all = calloc(N, sizeof *all);
    int64_t *extra = calloc((size_t)N * EXTRAS, sizeof *extra);
    for (size_t i = 0; i < N; i++) {
        all[i] = draw_record();
        for (size_t c = 0; c < EXTRAS; c++)
            extra[c * N + i] = (int64_t)draw_value();
    }
    const char *path = testing_file("round.db");
    struct store *store = create(path);
    struct stream s = plain_stream("everything");
    for (int c = 0; c < EXTRAS; c++)
        (void)snprintf(s.extra[c], sizeof s.extra[c], "extra %d", c);
    int index;
    WORKS(store_stream_add(store, &s, &index, &err));
    for (size_t at = 0; at < N;) {
        size_t n = draw() % 9000;
        n = n < N - at ? n : N - at;
        int64_t *part = calloc(n * EXTRAS + 1, sizeof *part);
        for (size_t c = 0; c < EXTRAS; c++)
            for (size_t i = 0; i < n; i++)
                part[c * n + i] = extra[c * N + at + i];
        WORKS(store_append(store, index, all + at, part, n, &err));
        free(part);
        at += n;
    }
    WORKS(store_finish(store, &err));
    store_close(store);
    store = reopen(path);
    ck_assert(store_complete(store));
    const struct stream *read = store_stream(store, 0);
    ck_assert_str_eq(read->name, "everything");
    ck_assert_str_eq(read->extra[2], "extra 2");
    ck_assert_uint_eq(read->records, N);
    ck_assert_int_eq(read->time_first, -RECORD_TIME_MAX);
    ck_assert_int_eq(read->time_last, RECORD_TIME_MAX);
    expect_records(store, all, extra, EXTRAS, N);
    store_close(store);
    free(all);
    free(extra);
}
END_TEST

/* Several shapes of columns, so that every predictor is taken by some. */
START_TEST(ordinary_streams_round_trip_and_are_small)
{
    enum { N = 150000 };
    struct record *all = calloc(N, sizeof *all);
    for (int shape = 0; shape < 5; shape++) {
        int64_t now = 1000;
        for (size_t i = 0; i < N; i++) {
            uint64_t who = draw() % 80;
            now += (int64_t)(draw() % 50);
            all[i] = (struct record){.time = now, .kind = RECORD_TOUCH, .id = who};
            all[i].addr = shape == 0   ? (draw() % 262144) << 12
                          : shape == 1 ? ((who << 20) + i / 80) << 12
                          : shape == 2 ? (i ^ (i >> 1)) * 64
                          : shape == 3 ? 0 - i * 4096
                                       : 0x7F0000000000 + i / 3 * 128;
            all[i].flags = shape == 4 ? 1 + i % 2 : 1;
        }
        const char *path = testing_file("shape.db");
        struct store *store = create(path);
        struct stream s = plain_stream("uvm");
        int index;
        WORKS(store_stream_add(store, &s, &index, &err));
        WORKS(store_append(store, index, all, NULL, N, &err));
        WORKS(store_finish(store, &err));
        store_close(store);
        store = reopen(path);
        expect_records(store, all, NULL, 0, N);
        store_close(store);
        struct stat st;
        ck_assert_int_eq(stat(path, &st), 0);
        ck_assert_msg(st.st_size < N * 5 + (1 << 19), "shape %d takes %lld bytes", shape, (long long)st.st_size);
    }
    free(all);
}
END_TEST

START_TEST(streams_are_kept_apart)
{
    const char *path = testing_file("two.db");
    struct store *store = create(path);
    struct stream a = plain_stream("a"), b = plain_stream("b");
    b.unit = TIME_CYCLES;
    b.clock_hz = 850000000;
    (void)snprintf(b.clock, sizeof b.clock, "dram");
    b.space = ADDR_DRAM_PACKED;
    (void)snprintf(b.addr_layout, sizeof b.addr_layout, "ch:5 bank:4 row:14 col:6");
    int ia, ib;
    WORKS(store_stream_add(store, &a, &ia, &err));
    WORKS(store_stream_add(store, &b, &ib, &err));
    FAILS(store_stream_add(store, &b, &ib, &err));
    for (int i = 0; i < 100000; i++) {
        struct record r = {.time = i, .kind = i % 3 ? RECORD_TOUCH : RECORD_PIM, .id = (uint64_t)i};
        WORKS(store_append(store, i % 3 ? ia : 1, &r, NULL, 1, &err));
    }
    store_close(store);
    store = reopen(path);
    ck_assert(!store_complete(store));
    ck_assert_int_eq(store_stream_count(store), 2);
    ck_assert_int_eq(store_stream_find(store, "b"), 1);
    ck_assert_int_eq(store_stream_find(store, "c"), -1);
    const struct stream *s = store_stream(store, 1);
    ck_assert_uint_eq(s->records, 33334);
    ck_assert_int_eq(s->unit, TIME_CYCLES);
    ck_assert_int_eq(s->clock_hz, 850000000);
    ck_assert_str_eq(s->clock, "dram");
    ck_assert_int_eq(s->space, ADDR_DRAM_PACKED);
    ck_assert_str_eq(s->addr_layout, "ch:5 bank:4 row:14 col:6");
    ck_assert_uint_eq(store_stream(store, 0)->records, 66666);
    ck_assert_ptr_null(store_stream(store, 2));
    store_close(store);
}
END_TEST

struct rows {
    int count;
    char last[64];
};

static int count_row(void *ctx, const struct store_value *values, size_t n)
{
    struct rows *rows = ctx;
    rows->count++;
    (void)snprintf(rows->last, sizeof rows->last, "%zu:%s:%lld", n, values[1].s, (long long)values[2].i);
    return 0;
}

static int take_count(void *ctx, const struct store_value *values, size_t n)
{
    ck_assert_uint_eq(n, 2);
    *(struct store_value *)ctx = values[1];
    return 0;
}

START_TEST(facts_come_back_in_order_and_are_checked)
{
    const char *path = testing_file("facts.db");
    struct store *store = create(path);
    for (int i = 1; i <= 10; i++) {
        struct store_value v[] = {STORE_V_INT(i),        STORE_V_INT(UINT64_MAX - (unsigned)i),
                                  STORE_V_INT(i * 4096), STORE_V_TEXT("managed"),
                                  STORE_V_NULL,          STORE_V_INT(5),
                                  STORE_V_NULL};
        WORKS(store_row(store, "allocations", v, 7, &err));
    }
    struct store_value bad[] = {STORE_V_INT(1), STORE_V_TEXT("na\xFFme; DROP TABLE strings")};
    WORKS(store_row(store, "strings", bad, 2, &err));
    FAILS_WITH(store_row(store, "strings", bad, 1, &err), "1 values for table strings, which has 2 columns");
    FAILS(store_row(store, "strings; DROP TABLE strings", bad, 2, &err));
    FAILS(store_row(store, "chunks", bad, 2, &err));
    bad[1] = STORE_V_NULL;
    FAILS_WITH(store_row(store, "strings", bad, 2, &err), "strings.text");
    WORKS(store_skip(store, "unknown kind", 2, &err));
    WORKS(store_skip(store, "unknown kind", 3, &err));
    WORKS(store_skip(store, "unknown kind", INT64_MAX, &err));
    WORKS(store_drop(store, "buffer full", 7, &err));
    WORKS(store_origin(store, "gpu", "a", &err));
    WORKS(store_origin(store, "gpu", "H200", &err));
    FAILS(store_origin(store, "state", "complete", &err));
    WORKS(store_finish(store, &err));
    FAILS(store_origin(store, "gpu", "late", &err));
    store_close(store);

    store = reopen(path);
    struct rows rows = {0, ""};
    WORKS(store_rows(store, "allocations", count_row, &rows, &err));
    ck_assert_int_eq(rows.count, 10);
    ck_assert_str_eq(rows.last, "7::40960");
    rows.count = 0;
    WORKS(store_rows(store, "strings", count_row, &rows, &err));
    ck_assert_int_eq(rows.count, 1);
    rows.count = 0;
    struct store_value most = STORE_V_NULL;
    WORKS(store_rows(store, "skipped", take_count, &most, &err));
    ck_assert_int_eq(most.i, INT64_MAX);
    WORKS(store_rows(store, "skipped", count_row, &rows, &err));
    ck_assert_int_eq(rows.count, 1);
    FAILS(store_rows(store, "nonsense", count_row, &rows, &err));
    ck_assert_str_eq(store_origin_get(store, "gpu"), "H200");
    ck_assert_str_eq(store_origin_get(store, "command_line"), "offchip test");
    ck_assert_ptr_null(store_origin_get(store, "nothing"));
    FAILS(store_origin(store, "gpu", "x", &err));
    store_close(store);
}
END_TEST

START_TEST(hash_names_the_content)
{
    char a[33], b[33], c[33];
    make_pages(testing_file("a.db"), 70000, true);
    make_pages(testing_file("b.db"), 70000, true);
    make_pages(testing_file("c.db"), 70001, true);
    const char *const names[] = {"a.db", "b.db", "c.db"};
    char *const hashes[] = {a, b, c};
    for (int i = 0; i < 3; i++) {
        struct store *store = reopen(testing_file(names[i]));
        WORKS(store_hash(store, hashes[i], &err));
        ck_assert_uint_eq(strlen(hashes[i]), 32);
        store_close(store);
    }
    ck_assert_str_eq(a, b);
    ck_assert_str_ne(a, c);
}
END_TEST

START_TEST(hash_passes_over_where_a_source_lay)
{
    static const struct {
        const char *key, *value;
        bool counts;
    } facts[] = {{"format", "csv", true},           {"source.0.path", "a.csv", false},
                 {"source.0.path", "b.csv", false}, {"input.1.source.0.path", "c.csv", false},
                 {"input.1.host", "h", false},      {"derived_from", "d.db", false},
                 {"source.0.xxh3_128", "0", true},  {"source.x.path", "a", true}};
    char last[33] = "", hash[33];
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        const char *path = testing_file("fact.db");
        struct store *store = GIVES(store_create(path, true, "test", &err));
        for (size_t k = 0; k <= i; k++)
            WORKS(store_origin(store, facts[k].key, facts[k].value, &err));
        WORKS(store_finish(store, &err));
        store_close(store);
        store = reopen(path);
        WORKS(store_hash(store, hash, &err));
        store_close(store);
        ck_assert_msg((strcmp(hash, last) != 0) == facts[i].counts, "%s", facts[i].key);
        memcpy(last, hash, sizeof last);
    }
}
END_TEST

START_TEST(existing_file_is_kept_unless_forced)
{
    struct err err = {""};
    const char *path = testing_file("kept.db");
    make_pages(path, 10, true);
    static const enum output_place unforced[] = {OUTPUT_NEW, OUTPUT_IN_PLACE};
    for (size_t i = 0; i < 2; i++) {
        ck_assert_ptr_null(store_create(path, unforced[i], "", &err));
        ck_assert_ptr_nonnull(strstr(err.msg, "exists"));
        ck_assert_ptr_nonnull(strstr(err.msg, "kept.db"));
    }
    for (int kept = 0; kept < 2; kept++) { /* closed without, then with store_keep() */
        struct store *store = store_create(path, OUTPUT_REPLACE, "", &err);
        if (kept)
            ck_assert_int_eq(store_keep(store, &err), 0);
        store_close(store);
        store = reopen(path);
        ck_assert_int_eq(store_stream_count(store), !kept);
        ck_assert_int_eq(store_complete(store), !kept);
        store_close(store);
    }
    ck_assert_ptr_null(store_create(testing_dir(), OUTPUT_REPLACE, "", &err));
    ck_assert_ptr_nonnull(strstr(err.msg, "it is a folder"));
}
END_TEST

START_TEST(directories_that_cannot_be_written_are_named)
{
    GIVES_NONE(store_create("/proc/trace.db", false, "", &err), "cannot create '/proc/trace.db'");
    GIVES_NONE(store_create(testing_file("no/such/trace.db"), true, "", &err), "No such file");
    GIVES_NONE(store_create("", true, "", &err), "");
    GIVES_NONE(store_open(testing_file("nothing.db"), &err), "No such file");
}
END_TEST

START_TEST(killed_writer_leaves_every_committed_chunk)
{
    struct err err = {""};
    const char *path = testing_file("killed.db");
    int ready[2];
    ck_assert_int_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct store *store = create(path);
        struct stream s = plain_stream("uvm");
        int index;
        if (store_stream_add(store, &s, &index, &err))
            _exit(1);
        for (size_t i = 0;; i++) {
            struct record r = {.time = (int64_t)i, .addr = draw() << 12, .kind = RECORD_TOUCH};
            if (store_append(store, index, &r, NULL, 1, &err))
                _exit(1);
            if (i == 5 * 65536 && write(ready[1], "x", 1) != 1)
                _exit(1);
        }
    }
    char byte;
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    (void)usleep(20000);
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
    struct store *store = reopen(path);
    ck_assert(!store_complete(store));
    uint64_t records = store_stream(store, 0)->records, seen = 0;
    ck_assert_uint_ge(records, UINT64_C(5) * 65536);
    ck_assert_uint_eq(records % 65536, 0);
    struct store_cursor *cursor = store_cursor_open(store, 0, &err);
    const struct record *r;
    size_t n;
    while (store_cursor_next(cursor, &r, NULL, &n, &err) == 1)
        for (size_t i = 0; i < n; i++)
            ck_assert_int_eq(r[i].time, (int64_t)seen++);
    ck_assert_uint_eq(seen, records);
    store_cursor_close(cursor);
    store_close(store);
}
END_TEST

START_TEST(full_disk_is_an_error_and_never_a_complete_file)
{
    struct err err = {""};
    const char *path = testing_file("full.db");
    (void)signal(SIGXFSZ, SIG_IGN);
    struct store *store = create(path);
    struct stream s = plain_stream("uvm");
    int index, failed = 0;
    ck_assert_int_eq(store_stream_add(store, &s, &index, &err), 0);
    struct rlimit limit = {4 << 20, RLIM_INFINITY};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (size_t i = 0; i < 20 * 65536 && !failed; i++) {
        struct record r = {.time = draw_time(), .addr = draw(), .id = draw(), .kind = RECORD_TOUCH};
        failed = store_append(store, index, &r, NULL, 1, &err);
    }
    ck_assert_int_eq(failed, -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "full.db"));
    ck_assert_int_eq(store_finish(store, &err), -1);
    store_close(store);
    limit.rlim_cur = RLIM_INFINITY;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    store = reopen(path);
    ck_assert(!store_complete(store));
    ck_assert_uint_ge(store_stream(store, 0)->records, 65536);
    store_close(store);
}
END_TEST

START_TEST(writer_can_read_what_it_wrote)
{
    struct store *store = create(testing_file("own.db"));
    struct stream s = plain_stream("uvm");
    int index;
    WORKS(store_stream_add(store, &s, &index, &err));
    struct record r[3] = {{.time = 1, .kind = RECORD_EVICT}, {.time = 2, .kind = RECORD_ALLOC}, {.kind = RECORD_COPY}};
    WORKS(store_append(store, index, r, NULL, 3, &err));
    expect_records(store, r, NULL, 0, 3);
    struct record never = {.kind = RECORD_SKIPPED};
    FAILS(store_append(store, index, &never, NULL, 1, &err));
    FAILS(store_append(store, 1, r, NULL, 1, &err));
    WORKS(store_finish(store, &err));
    expect_records(store, r, NULL, 0, 3);
    store_close(store);
    ck_assert_int_ne(access(testing_file("own.db-journal"), F_OK), 0);
}
END_TEST

/* Open, read every stream and every row of the tables, hash. *err has the first complaint, "" if there is none. */
static void try_all(const char *path, struct err *err)
{
    err->msg[0] = 0;
    struct store *store = store_open(path, err);
    for (int i = 0; store && i < store_stream_count(store) && !err->msg[0]; i++) {
        struct store_cursor *cursor = store_cursor_open(store, i, err);
        const struct record *r;
        size_t n;
        int rc = 1;
        while (cursor && rc == 1)
            rc = store_cursor_next(cursor, &r, NULL, &n, err);
        store_cursor_close(cursor);
    }
    char hash[33];
    if (store && !err->msg[0])
        (void)store_hash(store, hash, err);
    store_close(store);
}

START_TEST(hostile_files_are_refused_with_the_place)
{
    static const struct {
        const char *sql, *says;
    } wrong[] = {
        {"UPDATE chunks SET records = 1152921504606846976 WHERE chunk = 1",
         "chunk 1 claims 1152921504606846976 records; expected 1 to 65536"},
        {"UPDATE chunks SET records = 65535 WHERE chunk = 0",
         "chunk 1 claims to start at record 65536; expected 65535"},
        {"UPDATE chunks SET records = 5 WHERE chunk = 1", "stream 'uvm', chunk 1: it claims"},
        {"UPDATE chunks SET data = zeroblob(20000000) WHERE chunk = 1", "too big"},
        {"UPDATE chunks SET data = zeroblob(8000000) WHERE chunk = 1", "chunk 1: it has 8000000 bytes of data"},
        {"UPDATE chunks SET data = 'text' WHERE chunk = 0", "chunk 0: its data is not a blob"},
        {"UPDATE chunks SET data = x'' WHERE chunk = 0", "chunk 0: it has no data"},
        {"UPDATE chunks SET data = substr(data, 1, length(data) - 1) WHERE chunk = 0",
         "chunk 0: its bytes are damaged"},
        {"UPDATE chunks SET stream = 7 WHERE chunk = 1", "chunk 1 is of stream 7; there are 1"},
        {"UPDATE chunks SET kinds = 'x' WHERE chunk = 0", "chunk 0: kinds is not an integer"},
        {"UPDATE chunks SET time_min = time_max + 1 WHERE chunk = 0", "chunk 0 claims times"},
        {"DELETE FROM chunks WHERE chunk = 0", "chunk 1 stands where chunk 0 is expected"},
        {"UPDATE streams SET time_unit = 'years'", "time_unit is 'years'"},
        {"UPDATE streams SET name = x'00'", "name is not a text"},
        {"UPDATE streams SET name = printf('%.*c', 1000, 'x')", "name is longer than 63 bytes"},
        {"UPDATE streams SET stream = 3", "stream 3 stands where 0 is expected"},
        {"DROP TABLE chunks", "table chunks is missing"},
        {"DROP TABLE chunks; CREATE VIEW chunks AS SELECT 1", "table chunks is missing"},
        {"ALTER TABLE kernels RENAME COLUMN name TO nom", "table kernels has no column name"},
        {"ALTER TABLE origin ADD COLUMN more", "table origin has 3 columns; expected 2"},
        {"UPDATE origin SET value = x'FF' WHERE key = 'state'", "column value is not a text"},
        {"UPDATE origin SET value = CAST(x'FF' AS TEXT) WHERE key = 'host'", "column value is not UTF-8"},
        {"INSERT INTO skipped VALUES('x', 'many')", "table skipped: row 1: column count is not an integer"},
        {"PRAGMA user_version = 2", "an offchip trace of version 2; this offchip reads versions up to 1"},
        {"PRAGMA application_id = 5", "not an offchip trace; 'offchip import' makes"},
    };
    enum { ROOM = 4 << 20 };
    struct err err = {""};
    make_pages(testing_file("sound.db"), 100000, true);
    try_all(testing_file("sound.db"), &err);
    ck_assert_str_eq(err.msg, "");
    char *bytes = malloc(ROOM);
    FILE *f = fopen(testing_file("sound.db"), "rb");
    size_t size = fread(bytes, 1, ROOM, f);
    (void)fclose(f);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *path = testing_write("hostile.db", bytes, size);
        sqlite3 *db;
        ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
        ck_assert_int_eq(sqlite3_exec(db, "PRAGMA synchronous = OFF", NULL, NULL, NULL), SQLITE_OK);
        ck_assert_msg(sqlite3_exec(db, wrong[i].sql, NULL, NULL, NULL) == SQLITE_OK, "%s: %s", wrong[i].sql,
                      sqlite3_errmsg(db));
        sqlite3_close(db);
        try_all(path, &err);
        ck_assert_msg(strstr(err.msg, wrong[i].says) && strstr(err.msg, "hostile.db"), "%s: '%s'", wrong[i].sql,
                      err.msg);
    }
    free(bytes);
}
END_TEST

START_TEST(names_that_are_sql_stay_names)
{
    const char *path = testing_file("x'); DROP TABLE streams; --.db");
    struct store *store = create(path);
    struct stream s = plain_stream("x'; DROP TABLE chunks; --");
    int index;
    WORKS(store_stream_add(store, &s, &index, &err));
    struct store_value v[] = {STORE_V_INT(1), STORE_V_TEXT("'); DROP TABLE strings; -- %s%n")};
    WORKS(store_row(store, "strings", v, 2, &err));
    WORKS(store_skip(store, "'); --", 1, &err));
    WORKS(store_finish(store, &err));
    store_close(store);
    store = reopen(path);
    struct rows rows = {0, ""};
    WORKS(store_rows(store, "strings", count_row, &rows, &err));
    ck_assert_int_eq(rows.count, 1);
    ck_assert_int_eq(store_stream_find(store, "x'; DROP TABLE chunks; --"), 0);
    store_close(store);
    GIVES_NONE(store_open("file:nothing?mode=memory", &err), "");
    GIVES_NONE(store_open(":memory:", &err), "");
}
END_TEST

/* Readers see what is committed while a writer goes on. */
START_TEST(several_readers_follow_a_writer)
{
    const char *path = testing_file("live.db");
    struct store *writer = create(path), *early, *late;
    struct stream s = plain_stream("uvm");
    int index;
    WORKS(store_stream_add(writer, &s, &index, &err));
    struct record *all = calloc(200000, sizeof *all);
    for (int i = 0; i < 200000; i++)
        all[i] = (struct record){.time = i, .addr = draw(), .kind = RECORD_TOUCH};
    WORKS(store_append(writer, index, all, NULL, 100000, &err));
    early = reopen(path);
    ck_assert_uint_eq(store_stream(early, 0)->records, 65536);
    WORKS(store_append(writer, index, all + 100000, NULL, 50000, &err));
    WORKS(store_flush(writer, &err));
    late = reopen(path);
    expect_records(late, all, NULL, 0, 150000);
    expect_records(early, all, NULL, 0, 65536);
    WORKS(store_append(writer, index, all + 150000, NULL, 50000, &err));
    WORKS(store_finish(writer, &err));
    store_close(writer);
    expect_records(early, all, NULL, 0, 65536);
    store_close(early);
    store_close(late);
    late = reopen(path);
    expect_records(late, all, NULL, 0, 200000);
    store_close(late);
    free(all);
}
END_TEST

/* Of the files this process has open, those in the scratch folder that have no name any more. */
static int nameless_files(void)
{
    int n = 0;
    for (int fd = 0; fd < 64; fd++) {
        char path[400];
        ssize_t got = readlink(testing_text("/proc/self/fd/%d", fd), path, sizeof path - 1);
        path[got > 0 ? got : 0] = 0;
        n += strncmp(path, testing_dir(), strlen(testing_dir())) == 0 && strstr(path, " (deleted)") != NULL;
    }
    return n;
}

START_TEST(a_temporary_trace_is_a_file_without_a_name)
{
    enum { BATCHES = 200 };
    struct err err = {""};
    struct record records[STORE_BATCH];
    int stream;
    const char *folder = testing_file("temporaries");
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    ck_assert_int_eq(setenv("SQLITE_TMPDIR", folder, 1), 0);
    struct store *store = store_create_temporary("what it is of", &err);
    ck_assert_msg(store != NULL, "%s", err.msg);
    ck_assert_str_eq(store_path(store), "what it is of");
    struct stream described = plain_stream("s");
    ck_assert_int_eq(store_stream_add(store, &described, &stream, &err), 0);
    uint64_t sum = 0, found = 0;
    for (int b = 0; b < BATCHES; b++) { /* more than SQLite keeps in memory */
        for (int i = 0; i < STORE_BATCH; i++) {
            records[i] = (struct record){.kind = RECORD_ALLOC, .addr = draw(), .id = draw()};
            sum += records[i].addr;
        }
        ck_assert_msg(store_append(store, stream, records, NULL, STORE_BATCH, &err) == 0, "%s", err.msg);
    }
    ck_assert_int_ge(nameless_files(), 1);
    ck_assert_int_eq(system(testing_text("test -z \"$(ls -A %s)\"", folder)), 0);
    struct store_cursor *cursor = store_cursor_open(store, stream, &err);
    const struct record *r;
    size_t n;
    while (store_cursor_next(cursor, &r, NULL, &n, &err) == 1)
        for (size_t i = 0; i < n; i++)
            found += r[i].addr;
    ck_assert_uint_eq(found, sum);
    store_cursor_close(cursor);
    store_close(store);
    ck_assert_int_eq(nameless_files(), 0);
}
END_TEST

TEST_MAIN("store")
