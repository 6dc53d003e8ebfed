/* The lists of a generated program are those that the walk derives into a trace, which is then read. */
#include "replay/derive/derive_scans.h"

#include "replay/derive/derive.h"
#include "replay/derive/testing_program.h"
#include "replay/zerocopy/zerocopy.h"
#include "trace/base/testing.h"
#include "trace/program/random_testing.h"
#include "trace/workloads/workload.h"

enum { LISTS = 1 << 20 };

struct list {
    struct scan scan;
    uint32_t launch;
};

struct lists {
    struct scan_setup setup;
    size_t count;
    uint32_t launches;
    struct list *list;
};

static struct list room[2][LISTS];

static void collect(const struct scan_ops *ops, void *state, struct lists *to)
{
    struct scan_batch batch;
    struct err err = {""};
    to->count = to->launches = 0;
    ops->setup(state, &to->setup);
    ck_assert_int_eq(ops->start(state, &err), 0);
    while (ops->next(state, &batch, &err) == 1) {
        for (size_t i = 0; i < batch.n; i++) {
            if (to->count == LISTS || batch.launch != to->launches ||
                batch.scans[i].lane / SCAN_BATCH != batch.scans[0].lane / SCAN_BATCH)
                ck_abort_msg("list %zu, launch %u after %u", to->count, batch.launch, to->launches);
            to->list[to->count++] = (struct list){batch.scans[i], batch.launch};
        }
        to->launches += batch.last;
    }
    ck_assert_str_eq(err.msg, "");
}

/* Lists of the program; 0: it reads nothing, on which both agree. */
static size_t compare(const struct program *program, int threads)
{
    const struct derive_source source = {.program = program, .name = "p"};
    struct lists stored = {.list = room[0]}, made = {.list = room[1]};
    struct err err = {""}, other = {""};
    struct store *view = derive_view(&source, VIEW_ZEROCOPY, &err);
    struct program_reads *reads = program_reads_open(&source, threads, &other);
    ck_assert_msg(!view == !reads, "%s; %s", err.msg, other.msg);
    if (!view)
        return 0;
    struct zerocopy_trace *trace = zerocopy_trace_open(view, &err);
    ck_assert_msg(trace != NULL, "%s", err.msg);
    collect(&zerocopy_trace_ops, trace, &stored);
    for (int again = 0; again < 2; again++) {
        collect(&program_reads_ops, reads, &made);
        const struct scan_structure *a = &stored.setup.structures[0], *b = &made.setup.structures[0];
        ck_assert_uint_eq(a->base, b->base);
        ck_assert_uint_eq(a->element, b->element);
        ck_assert_uint_eq(a->elements, b->elements);
        ck_assert_int_eq(stored.setup.shape, made.setup.shape);
        ck_assert_int_eq(stored.setup.reuse, made.setup.reuse);
        ck_assert_int_eq(stored.setup.visits, made.setup.visits);
        ck_assert_int_eq(stored.setup.threads_per_block, made.setup.threads_per_block);
        ck_assert_uint_eq(stored.launches, made.launches);
        ck_assert_uint_eq(stored.count, made.count);
        ck_assert_mem_eq(stored.list, made.list, made.count * sizeof *made.list);
        ck_assert_uint_eq(program_reads_ops.runs(reads), zerocopy_trace_ops.runs(trace));
    }
    program_reads_close(reads);
    zerocopy_trace_close(trace);
    store_close(view);
    return made.count;
}

START_TEST(programs_drawn_at_random)
{
    struct program_random state;
    struct program program;
    size_t lists = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        program_random_init(&state, seed, &program);
        lists += compare(&program, 1 + (int)(seed % 3));
    }
    ck_assert_uint_gt(lists, 10000);
}
END_TEST

START_TEST(a_program_with_memory_of_the_gpus_own_and_a_phase_of_the_cpu)
{
    for (int device = 0; device < 2; device++) {
        struct vecadd v;
        const struct program program = vecadd_program(&v, 100000, device);
        ck_assert_uint_gt(compare(&program, 2), 0);
    }
}
END_TEST

/* --- turns near to each other and far apart --- */

static struct program_alloc strided_alloc = {.name = "a", .bytes = 32 << 20, .host = true};
static struct program_access strided;

static const struct program_alloc *strided_allocs(const void *state, size_t *n)
{
    (void)state;
    *n = 1;
    return &strided_alloc;
}

static uint32_t one_launch(const void *state)
{
    (void)state;
    return 1;
}

static void one_warp(const void *state, uint32_t launch, struct program_launch *out)
{
    (void)state;
    (void)launch;
    *out = (struct program_launch){.kernel = "k", .blocks = 1, .threads = 32};
}

static int strided_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                        struct err *err)
{
    (void)run;
    (void)launch;
    (void)warp;
    (void)err;
    body->turns = 3;
    struct program_access *a = program_load(body, &strided_alloc, 0, 16 << 20, strided.bytes);
    a->lane_stride = strided.lane_stride;
    a->turn_stride = strided.turn_stride;
    return index == 0;
}

START_TEST(turns_more_than_a_page_apart_leave_pages_out)
{
    static const struct program_ops ops = {
        .allocs = strided_allocs, .launches = one_launch, .launch = one_warp, .body = strided_body};
    static const int64_t turns[] = {0, 128, 4096, 4097, 8192, 3 << 20, 4 << 20, 7 << 20};
    static const int64_t lanes[] = {4, 4096, 8192, 1 << 16};
    const struct program program = {.ops = &ops, .state = &strided_alloc, .compute_ns = -1};
    program_place(&strided_alloc, 1, 0, 0);
    for (size_t t = 0; t < sizeof turns / sizeof *turns; t++)
        for (size_t l = 0; l < sizeof lanes / sizeof *lanes; l++)
            for (int64_t sign = -1; sign <= 1; sign += 2) {
                strided = (struct program_access){
                    .bytes = l % 2 ? 8 : 4, .lane_stride = lanes[l], .turn_stride = sign * turns[t]};
                ck_assert_uint_gt(compare(&program, 1), 0);
            }
}
END_TEST

static const char *const specs[] = {"conv2d,n=257",
                                    "fdtd2d,n=101,steps=2",
                                    "bicg,n=333",
                                    "bicg,n=1200,unroll=3",
                                    "nw,bytes=1MiB",
                                    "triad,bytes=7MiB,blocks=9,unroll=2",
                                    "array,bytes=4MiB,pattern=sparse,pages_per_block=9",
                                    "array,bytes=1MiB,pattern=chain,step=5000",
                                    "array,bytes=64MiB,pattern=chunk,blocks=2,launches=2",
                                    "array,bytes=64MiB,pattern=chunk-random,threads=64,blocks=2",
                                    "array,bytes=64MiB,offset=77,element=8",
                                    "bfs,scale=9,roots=2",
                                    "pagerank,scale=10,kernel=naive,iterations=3",
                                    "gather,count=300,table_rows=1000,row_bytes=100"};

START_LOOP(workloads, sizeof specs / sizeof *specs)
{
    struct workload w;
    struct program program;
    WORKS(workload_open(&w, specs[_i], &err));
    WORKS(w.type->program(w.state, &program, &err));
    ck_assert_uint_gt(compare(&program, 1 + _i % 3), 0);
    workload_close(&w);
}
END_TEST

TEST_MAIN("program_reads")
