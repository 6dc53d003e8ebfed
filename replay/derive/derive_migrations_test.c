/* Copies as DRAM requests: by hand; against what the uvm engine counts of the same run; requests of a program beside
 * its copies against both by other paths; refusals. */
#include "replay/derive/derive.h"

#include "replay/run/testing_replay.h"
#include "replay/uvm/uvm_managed.h"
#include "trace/store/store.h"

enum { TAKEN = 1 << 18 };

/* Requests as they come. */
static struct record taken[TAKEN];
static size_t taken_count;

static int keep(void *ctx, const struct record *r, struct err *err)
{
    (void)ctx;
    (void)err;
    ck_assert_uint_lt(taken_count, TAKEN);
    taken[taken_count++] = *r;
    return 0;
}

static struct store *recording_of(const struct record *records, size_t n)
{
    struct err err = {""};
    struct writer w;
    struct store *store = store_create_temporary(":memory:", &err);
    int stream = writer_stream(store, "uvm", TIME_NS, NULL, 0, &err);
    ck_assert_msg(stream >= 0 && writer_open(&w, store, stream, 0, &err) == 0, "%s", err.msg);
    for (size_t i = 0; i < n; i++)
        ck_assert_int_eq(writer_add(&w, &records[i], NULL, &err), 0);
    ck_assert_int_eq(writer_flush(&w, &err), 0);
    writer_close(&w);
    ck_assert_int_eq(store_flush(store, &err), 0);
    return store;
}

static uint64_t requests_of(struct store *store)
{
    struct err err = {""};
    uint64_t n = 0;
    taken_count = 0;
    ck_assert_msg(derive_migrations_records(store, keep, NULL, &n, &err) == 0, "%s", err.msg);
    ck_assert_uint_eq(n, taken_count);
    return n;
}

/* A page in 3,200 ns: 32 lines, one each 100 ns, from the kernel's start on; a page back are reads. */
START_TEST(a_page_is_32_lines_at_even_distances)
{
    const struct record records[] = {
        {.kind = RECORD_KERNEL, .time = 5000, .duration = 90000},
        {.kind = RECORD_CPU_FAULT, .time = 1, .addr = 0x10000},
        {.kind = RECORD_MIGRATE_H2D, .time = 6000, .duration = 3200, .addr = 0x10000, .bytes = 4096},
        {.kind = RECORD_MIGRATE_D2H, .time = 9500, .duration = 0, .addr = 0x20000, .bytes = 4096}};
    struct store *store = recording_of(records, 4);
    ck_assert_uint_eq(requests_of(store), 64);
    for (unsigned i = 0; i < 64; i++) {
        const struct record *r = &taken[i];
        ck_assert_uint_eq(r->kind, i < 32 ? RECORD_DRAM_WRITE : RECORD_DRAM_READ);
        ck_assert_int_eq(r->time, i < 32 ? 1000 + 100 * (int64_t)i : 4500);
        ck_assert_uint_eq(r->addr, (i < 32 ? 0x10000 : 0x20000) + i % 32 * 128);
        ck_assert_uint_eq(r->bytes, 128);
        ck_assert_uint_eq(r->id, i);
    }
    store_close(store);
}
END_TEST

/* --- against the uvm engine --- */

/* Run a program under a policy; its recording, the caller's. */
static struct store *run(const char *spec, const char *policy, const char *set, double *h2d, double *d2h)
{
    struct replay_result result;
    struct err err = {""};
    struct store *store = store_create_temporary(":memory:", &err);
    const struct uvm_recording_output to = {.store = store};
    struct replay_request request = testing_request("uvm", "v100", policy, &set);
    request.engine_options = &to;
    testing_replay(&result, request, spec);
    *h2d = outcome_get(&result.runs[0], "h2d_bytes")->real;
    *d2h = outcome_get(&result.runs[0], "d2h_bytes")->real;
    replay_release(&result);
    ck_assert_int_eq(store_flush(store, &err), 0);
    return store;
}

/* Bytes written = bytes that the engine moved to the GPU, bytes read = those that it moved back; a request is a line.
 */
START_TEST(bytes_are_those_that_the_engine_moved)
{
    static const struct {
        const char *spec, *policy, *set;
    } cases[] = {{"synth:triad,bytes=1MiB", "tree", NULL},
                 {"synth:triad,bytes=1MiB", "none", NULL},
                 {"synth:stencil,n=512", "fixed:granularity=2MiB", NULL},
                 {"synth:array,bytes=4MiB,launches=2", "tree", "oversubscription_pct=150"},
                 {"synth:triad,bytes=6MiB", "fixed:granularity=64KiB", "oversubscription_pct=150"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double h2d, d2h;
        struct store *store = run(cases[c].spec, cases[c].policy, cases[c].set, &h2d, &d2h);
        const uint64_t n = requests_of(store);
        uint64_t bytes[2] = {0};
        for (size_t i = 0; i < taken_count; i++) {
            ck_assert(taken[i].time >= 0);
            bytes[taken[i].kind == RECORD_DRAM_READ] += taken[i].bytes;
        }
        ck_assert_double_eq((double)bytes[0], h2d);
        ck_assert_double_eq((double)bytes[1], d2h);
        ck_assert_double_eq((double)n * MIGRATIONS_LINE, h2d + d2h);
        ck_assert((bytes[1] > 0) == (c >= 3)); /* what is evicted goes back to the CPU */
        store_close(store);
    }
}
END_TEST

/* --- a program beside its copies --- */

static size_t derive_beside(const char *spec, struct store *migrations, struct err *err)
{
    struct input input = {0};
    struct derive_input in;
    const struct derive_options options = {
        .last = UINT64_MAX, .l2_bytes = 64 << 10, .l2_ways = 16, .order = DERIVE_SERIAL, .migrations = migrations};
    taken_count = 0;
    ck_assert_msg(input_open(&input, spec, "", false, err) == 0, "%s", err->msg);
    ck_assert_msg(derive_input_open(&in, &input, VIEW_DRAM, err) == 0, "%s", err->msg);
    const int rc = derive_dram_records(&in.source, &options, keep, NULL, NULL, err);
    input_close(&input);
    return rc ? SIZE_MAX : taken_count;
}

/* ns in which the copy of each page of the recording ends, from its first kernel on (no copy is before it here). */
static int64_t arrival(struct store *store, uint64_t addr)
{
    struct err err = {""};
    const struct record *r;
    size_t n;
    int64_t zero = -1, found = -1;
    struct store_cursor *cursor = store_cursor_open(store, store_stream_find(store, "uvm"), &err);
    while (store_cursor_next(cursor, &r, NULL, &n, &err) > 0)
        for (size_t i = 0; i < n; i++) {
            if (r[i].kind == RECORD_KERNEL && zero < 0)
                zero = r[i].time;
            if (r[i].kind == RECORD_MIGRATE_H2D && addr >= r[i].addr && addr - r[i].addr < r[i].bytes) {
                const uint64_t pages = (addr - r[i].addr) / 4096 + 1;
                found = r[i].time + (int64_t)((__int128)r[i].duration * (int64_t)(pages * 4096) / (int64_t)r[i].bytes);
            }
        }
    store_cursor_close(cursor);
    return found < 0 ? 0 : found - zero;
}

START_TEST(a_program_asks_for_the_same_and_never_before_its_page_has_come)
{
    static const char spec[] = "synth:triad,bytes=512KiB";
    struct err err = {""};
    double h2d, d2h;
    struct store *store = run(spec, "none", NULL, &h2d, &d2h);
    static struct record untimed[TAKEN];
    size_t n = 0;
    derive_beside(spec, NULL, &err);
    for (size_t i = 0; i < taken_count; i++) /* marks of a launch's end have no place among times */
        if (taken[i].kind != RECORD_KERNEL_END)
            untimed[n++] = taken[i];
    ck_assert_uint_eq(derive_beside(spec, store, &err), n);
    bool later = false;
    for (size_t i = 0; i < n; i++) {
        ck_assert_uint_eq(taken[i].kind, untimed[i].kind);
        ck_assert_uint_eq(taken[i].addr, untimed[i].addr);
        ck_assert_int_eq(untimed[i].time, 0);
        if (taken[i].kind == RECORD_DRAM_READ) {
            ck_assert_int_ge(taken[i].time, arrival(store, taken[i].addr));
            later |= taken[i].time > 0;
        }
    }
    ck_assert(later);
    store_close(store);
}
END_TEST

/* A warp: a load of page 0 that it waits for, a store to page 1, a load of page 2 with the next one under way together.
 */
START_TEST(a_warp_goes_on_when_what_it_waited_for_has_come)
{
    const struct record records[] = {
        {.kind = RECORD_KERNEL, .time = 100, .duration = 9000},
        {.kind = RECORD_MIGRATE_H2D, .time = 1100, .duration = 0, .addr = 0, .bytes = 4096},
        {.kind = RECORD_MIGRATE_H2D, .time = 3100, .duration = 0, .addr = 4096, .bytes = 4096},
        {.kind = RECORD_MIGRATE_H2D, .time = 2100, .duration = 0, .addr = 8192, .bytes = 4096}};
    static const struct {
        uint64_t id, page;
        uint32_t access, wait;
        int64_t at;
    } steps[] = {{7, 0, RECORD_READ, 0, 1000},  {7, 1, RECORD_WRITE, 1, 3000}, {7, 3, RECORD_READ, 1, 1000},
                 {7, 2, RECORD_READ, 1, 2000},  {7, 3, RECORD_READ, 2, 2000},  {9, 3, RECORD_READ, 0, 0},
                 {9, 1, RECORD_WRITE, 1, 3000}, {9, 3, RECORD_READ, 2, 0}};
    struct err err = {""};
    struct store *store = recording_of(records, 4);
    struct derive_arrivals *a = derive_arrivals_new(store, &err);
    ck_assert_msg(a != NULL, "%s", err.msg);
    ck_assert_int_eq(derive_arrivals_launch(a, &err), 0);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const struct program_op op = {.id = steps[i].id,
                                      .access = steps[i].access,
                                      .wait = steps[i].wait,
                                      .lines = 1,
                                      .line = {{steps[i].page * 4096, 1}}};
        ck_assert_int_eq(derive_arrivals_op(a, &op, &err), steps[i].at);
    }
    ck_assert_int_eq(derive_arrivals_end(a, &err), 0);
    ck_assert_int_eq(derive_arrivals_launch(a, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "holds 1 kernels; the program launches more"));
    derive_arrivals_free(a);
    store_close(store);
}
END_TEST

/* --- refusals --- */

START_TEST(what_no_driver_makes_is_refused)
{
    static const struct {
        struct record record;
        const char *says;
    } cases[] = {
        {{.kind = RECORD_KERNEL, .time = 1}, "holds no migrations"},
        {{.kind = RECORD_MIGRATE_H2D, .addr = 4096, .bytes = 0}, "of 0 bytes"},
        {{.kind = RECORD_MIGRATE_H2D, .addr = 4097, .bytes = 4096}, "at 0x1001"},
        {{.kind = RECORD_MIGRATE_D2H, .addr = 0, .bytes = 100}, "of 100 bytes"},
        {{.kind = RECORD_MIGRATE_H2D, .addr = 0, .bytes = UINT64_C(1) << 60}, "at most 2097152"},
        {{.kind = RECORD_MIGRATE_H2D, .addr = UINT64_MAX - 127, .bytes = 128}, "of 128 bytes at 0xffffffffffffff80"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct err err = {""};
        uint64_t n;
        struct store *store = recording_of(&cases[c].record, 1);
        ck_assert_int_eq(derive_migrations_records(store, keep, NULL, &n, &err), -1);
        ck_assert_msg(strstr(err.msg, cases[c].says) != NULL, "%s", err.msg);
        store_close(store);
    }
}
END_TEST

START_TEST(a_page_that_comes_twice_gives_no_times)
{
    struct err err = {""};
    double h2d, d2h;
    struct store *store =
        run("synth:array,bytes=4MiB,launches=2", "fixed:granularity=2MiB", "oversubscription_pct=200", &h2d, &d2h);
    ck_assert_ptr_null(derive_arrivals_new(store, &err));
    ck_assert_msg(strstr(err.msg, "comes twice") != NULL, "%s", err.msg);
    store_close(store);
}
END_TEST

/* Another program's recording: its kernels are fewer, or more, or it is larger. */
START_TEST(a_recording_of_another_program_is_refused)
{
    struct err err = {""};
    double h2d, d2h;
    struct store *store = run("synth:array,bytes=256KiB,launches=2", "tree", NULL, &h2d, &d2h);
    ck_assert_uint_eq(derive_beside("synth:array,bytes=256KiB,launches=3", store, &err), SIZE_MAX);
    ck_assert_ptr_nonnull(strstr(err.msg, "launches more"));
    ck_assert_uint_eq(derive_beside("synth:array,bytes=256KiB", store, &err), SIZE_MAX);
    ck_assert_ptr_nonnull(strstr(err.msg, "launches fewer"));
    store_close(store);
    store = run("synth:array,bytes=3MiB", "tree", NULL, &h2d, &d2h);
    ck_assert_uint_eq(derive_beside("synth:array,bytes=256KiB", store, &err), SIZE_MAX);
    ck_assert_ptr_nonnull(strstr(err.msg, "never touches"));
    store_close(store);
}
END_TEST

TEST_MAIN("derive_migrations", a_page_is_32_lines_at_even_distances, bytes_are_those_that_the_engine_moved,
          a_program_asks_for_the_same_and_never_before_its_page_has_come,
          a_warp_goes_on_when_what_it_waited_for_has_come, what_no_driver_makes_is_refused,
          a_page_that_comes_twice_gives_no_times, a_recording_of_another_program_is_refused)
