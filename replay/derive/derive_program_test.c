/* Views of a generated program: what it makes, and that a recording of it makes the same. */
#include "replay/derive/derive.h"

#include "models/base/platform.h"
#include "replay/derive/derive_scans.h"
#include "replay/derive/testing_program.h"
#include "trace/base/testing.h"
#include "trace/workloads/workload.h"

enum { N = 20000, BLOCKS = (N + VECADD_THREADS - 1) / VECADD_THREADS, WARPS = (N + 31) / 32, ALL_WARPS = BLOCKS * 3 };

static struct vecadd vecadd;
static struct program program;
static struct program_counts counts;
static struct derive_options all = {.last = UINT64_MAX, .l2_bytes = 64 << 10, .l2_ways = 16};

static struct derive_source generated(uint64_t n, bool device)
{
    program = vecadd_program(&vecadd, n, device);
    return (struct derive_source){.program = &program, .name = "synth:vecadd"};
}

typedef int (*derivation)(const struct derive_source *source, struct store *out, const struct derive_options *options,
                          struct program_counts *c, struct err *err);

/* Derived, opened for reading. */
static struct store *derived(derivation derive, const struct derive_source *source, const struct derive_options *o,
                             const char *file)
{
    struct err err = {""};
    const char *path = testing_file(file);
    struct store *out = store_create(path, OUTPUT_REPLACE, "test", &err);
    ck_assert_msg(out && derive(source, out, o, &counts, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(store_finish(out, &err), 0);
    store_close(out);
    out = store_open(path, &err);
    ck_assert_msg(out != NULL, "%s", err.msg);
    return out;
}

static int lists(const struct derive_source *source, struct store *out, const struct derive_options *o,
                 struct program_counts *c, struct err *err)
{
    memset(c, 0, sizeof *c);
    return derive_lists(source, out, o, err);
}

/* Every record of every stream is the same. */
static void same_records(struct store *a, struct store *b)
{
    ck_assert_int_eq(store_stream_count(a), store_stream_count(b));
    for (int s = 0; s < store_stream_count(a); s++) {
        ck_assert_str_eq(store_stream(a, s)->name, store_stream(b, s)->name);
        ck_assert_uint_gt(store_stream(a, s)->records, 0);
        ck_assert_uint_eq(store_stream(a, s)->records, store_stream(b, s)->records);
        struct store_cursor *x = store_cursor_open(a, s, NULL), *y = store_cursor_open(b, s, NULL);
        const struct record *p, *q;
        size_t n, m;
        while (store_cursor_next(x, &p, NULL, &n, NULL) == 1) {
            ck_assert_int_eq(store_cursor_next(y, &q, NULL, &m, NULL), 1);
            ck_assert_uint_eq(n, m);
            ck_assert_mem_eq(p, q, n * sizeof *p);
        }
        store_cursor_close(x);
        store_cursor_close(y);
    }
}

/* A view of the program and the same view of a recording of it, made in this order. */
static void compare(derivation derive, bool waves, bool device)
{
    static struct gpu gpu;
    struct platform *platform = GIVES(platform_load("v100", &err));
    gpu = *(const struct gpu *)platform_section_get(platform, "gpu");
    gpu.sms = 2; /* several waves */
    struct derive_options o = all;
    o.waves = waves;
    o.gpu = &gpu;
    const struct derive_source source = generated(N, device);
    struct store *accesses = derived(derive_accesses, &source, &o, "accesses.db");
    const struct derive_source recorded = {.store = accesses, .name = "accesses.db"};
    struct store *b = derived(derive, &recorded, &o, "recorded.db");
    struct program_counts of_recording = counts;
    struct store *a = derived(derive, &source, &o, "generated.db");
    ck_assert_mem_eq(&of_recording, &counts, sizeof counts);
    same_records(a, b);
    store_close(a);
    store_close(b);
    store_close(accesses);
    platform_free(platform);
}

START_TEST(a_recording_of_a_program_makes_what_the_program_makes)
{
    for (int device = 0; device < 2; device++) {
        compare(derive_dram, true, device);
        compare(derive_requests, false, device);
        compare(derive_requests, true, device);
        compare(lists, false, device);
    }
}
END_TEST

/* Each launch of the GPU: all warps load the flag and write it; those with elements load twice and store. */
START_TEST(instructions_and_requests_are_those_of_the_loop)
{
    struct derive_source source = generated(N, false);
    struct store *s = derived(derive_accesses, &source, &all, "a.db");
    ck_assert_uint_eq(counts.launches, 2);
    ck_assert_uint_eq(counts.instructions, 2 * (2 * ALL_WARPS + 3 * WARPS));
    ck_assert_uint_eq(counts.lines, counts.instructions);
    ck_assert_uint_eq(counts.left_out, 0); /* the CPU's load is none of the GPU's */
    store_close(s);
    s = derived(derive_requests, &source, &all, "r.db");
    ck_assert_uint_eq(counts.records, 2 * (2 + ALL_WARPS + 3 * WARPS)); /* atomics make none that is known */
    store_close(s);
    source = generated(N, true);
    s = derived(derive_requests, &source, &all, "r.db");
    ck_assert_uint_eq(counts.instructions, 2 * 3 * WARPS);
    ck_assert_uint_eq(counts.left_out, 2 * 2 * ALL_WARPS);
    store_close(s);
    s = derived(derive_dram, &source, &all, "d.db"); /* DRAM holds the flags, too */
    ck_assert_uint_eq(counts.instructions, 2 * (2 * ALL_WARPS + 3 * WARPS));
    store_close(s);
}
END_TEST

/* One warp that reads the same line in each of three launches: none holds what one before it has read. */
START_TEST(a_launch_holds_nothing_of_the_one_before)
{
    struct workload w;
    WORKS(workload_open(&w, "array,bytes=128,blocks=1,threads=32,launches=3", &err));
    WORKS(w.type->program(w.state, &program, &err));
    const struct derive_source source = {.program = &program, .name = "synth:array"};
    store_close(derived(derive_requests, &source, &all, "r.db"));
    ck_assert_uint_eq(counts.records, 3 * (2 + 1)); /* begin, end, a request */
    workload_close(&w);
}
END_TEST

static uint32_t waits[VECADD_WARPS][16];
static int seen[VECADD_WARPS];

static int note_wait(void *ctx, const struct program_op *op, struct err *err)
{
    (void)ctx;
    (void)err;
    int warp = (int)(op->id & UINT32_MAX);
    ck_assert_int_lt(seen[warp], 16);
    waits[warp][seen[warp]++] = op->wait;
    return 0;
}

START_TEST(loads_under_way_together_have_the_number_of_one_wait)
{
    static const struct program_taker taker = {.op = note_wait};
    const struct derive_source source = generated(32, false); /* warps 1 and 2 have no elements */
    WORKS(program_walk(source.program, NULL, &taker, NULL, &counts, &err));
    ck_assert_int_eq(seen[1], 4);
    /* flag | a and b | store, atomic of the first launch: one further wait for a and b, before the store. */
    ck_assert_uint_gt(waits[0][1], waits[0][0]);
    ck_assert_uint_eq(waits[0][2], waits[0][1]);
    ck_assert_uint_gt(waits[0][3], waits[0][2]);
}
END_TEST

static uint64_t first_ids[8], ids;

static int note_id(void *ctx, const struct program_op *op, struct err *err)
{
    (void)ctx;
    (void)err;
    if (ids < 8)
        first_ids[ids] = op->id;
    ids++;
    return 0;
}

START_TEST(in_waves_the_warps_of_resident_blocks_take_turns)
{
    static const struct program_taker taker = {.op = note_id};
    struct gpu gpu = {.sms = 1,
                      .warps_per_sm = 6,
                      .blocks_per_sm = 32,
                      .registers_per_sm = 65536,
                      .register_unit = 256,
                      .shared_bytes = 98304};
    struct derive_options o = all;
    const struct derive_source source = generated(N, false);
    o.gpu = &gpu;
    o.waves = true; /* two blocks of three warps */
    WORKS(derive_walk(&source, &o, &taker, NULL, &counts, &err));
    const uint64_t expected[7] = {0, 1, 2, 1ull << 32, 1ull << 32 | 1, 1ull << 32 | 2, 0};
    ck_assert_mem_eq(first_ids, expected, sizeof expected);
    uint64_t in_waves = ids;
    ids = 0;
    o.waves = false;
    WORKS(derive_walk(&source, &o, &taker, NULL, &counts, &err));
    ck_assert_uint_eq(first_ids[1], 0);
    ck_assert_uint_eq(ids, in_waves);
}
END_TEST

START_TEST(kernels_of_a_program_are_chosen_by_name)
{
    struct derive_options o = all;
    const struct derive_source source = generated(N, false);
    o.kernel = "^vec";
    struct store *s = derived(derive_dram, &source, &o, "d.db");
    ck_assert_uint_eq(counts.launches, 2);
    store_close(s);
    o.kernel = "^check"; /* runs on the CPU */
    struct store *out = GIVES(store_create_temporary(":memory:", &err));
    FAILS_WITH(derive_dram(&source, out, &o, &counts, &err), "no access is left");
    o.kernel = "nothing";
    FAILS_WITH(derive_requests(&source, out, &o, &counts, &err), "no kernel's name matches");
    FAILS_WITH(derive_touches(&source, out, &o, &counts, &err), "written whole");
    store_close(out);
}
END_TEST

/* One step for each instruction: loads are waited for, stores are not, an atomic is both. */
START_TEST(touches_of_a_recording_say_what_is_waited_for)
{
    struct derive_source source = generated(96, true);
    struct store *accesses = derived(derive_accesses, &source, &all, "accesses.db");
    const struct derive_source recorded = {.store = accesses, .name = "accesses.db"};
    struct store *s = derived(derive_touches, &recorded, &all, "touches.db");
    ck_assert_str_eq(store_stream(s, 0)->extra[0], "instructions");
    struct store_cursor *cursor = store_cursor_open(s, 0, NULL);
    const struct record *r;
    const int64_t *extra;
    size_t n, at = 0;
    ck_assert_int_eq(store_cursor_next(cursor, &r, &extra, &n, NULL), 1);
    while (r[at].kind == RECORD_ALLOC)
        at++;
    ck_assert_uint_eq(at, 3); /* a, b and c; the flags are the GPU's own */
    ck_assert_uint_eq(r[at].kind, RECORD_KERNEL);
    ck_assert_int_eq(r[at].time, VECADD_THREADS);
    ck_assert_int_eq(r[at].duration, 20ll << 32 | 1024);
    ck_assert_uint_eq(r[at].addr, VECADD_WARPS);
    ck_assert_uint_eq(r[at].flags, VECADD_WARPS);
    static const uint32_t flags[3] = {RECORD_READ, RECORD_READ, RECORD_WRITE};
    for (size_t i = 0; i < 9; i++) {
        const struct record *t = &r[at + 1 + i];
        ck_assert_uint_eq(t->kind, RECORD_TOUCH);
        ck_assert_uint_eq(t->flags, flags[i % 3]);
        ck_assert_int_eq(t->time, (int64_t)i);
        ck_assert_uint_eq(t->id, i / 3);
        ck_assert_int_eq(extra[at + 1 + i], 1);
        ck_assert_int_eq(extra[n + at + 1 + i], 4);
        ck_assert_int_eq(extra[2 * n + at + 1 + i], 1);
    }
    ck_assert_uint_eq(r[at + 10].kind, RECORD_KERNEL_END);
    store_cursor_close(cursor);
    store_close(s);
    store_close(accesses);
}
END_TEST

TEST_MAIN("derive_program")
