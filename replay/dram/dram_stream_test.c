/* The requests of inputs that are programs, and inputs of different clocks side by side. */
#include "replay/dram/window_testing.h"

#include "replay/derive/derive.h"
#include "replay/derive/testing_program.h"

enum { N = 100000 };

static struct vecadd vecadd;
static struct platform *platform;

static int vecadd_of(void *state, struct program *program, struct err *err)
{
    (void)err;
    *program = (struct program){.ops = &vecadd_ops, .state = state, .compute_ns = -1};
    return 0;
}

static const struct workload_type type = {
    .name = "vecadd", .produces = WORKLOAD_PROGRAM, .views = VIEW_DRAM, .program = vecadd_of};

static struct input generated(void)
{
    (void)vecadd_program(&vecadd, N, false);
    platform = GIVES(platform_load("v100", &err));
    return (struct input){.spec = "synth:vecadd", .role = "", .workload = {.type = &type, .state = &vecadd}};
}

static struct dram_stream loaded(const struct input *inputs, size_t n)
{
    struct dram_stream s;
    WORKS(dram_stream_load(&s, inputs, n, UINT64_MAX, platform, NULL, &err));
    return s;
}

static void same(const struct dram_stream *a, const struct dram_stream *b)
{
    ck_assert_uint_gt(a->count, 0);
    ck_assert_uint_eq(a->count, b->count);
    ck_assert_uint_eq(a->channels, b->channels);
    ck_assert(a->untimed && b->untimed);
    for (uint32_t c = 0; c < a->channels; c++) {
        ck_assert_uint_eq(a->channel[c].count, b->channel[c].count);
        if (a->channel[c].count)
            ck_assert_mem_eq(a->channel[c].requests, b->channel[c].requests,
                             a->channel[c].count * sizeof *a->channel[c].requests);
    }
}

/* What `derive` writes of an input, as an input. */
static struct input written(const struct input *of, bool accesses, const char *file)
{
    struct derive_input in;
    struct program_counts counts;
    const struct gpu *gpu = platform_section_get(platform, "gpu");
    const struct derive_options o = {
        .last = UINT64_MAX, .l2_bytes = gpu->l2_bytes, .l2_ways = gpu->l2_ways, .waves = true, .gpu = gpu};
    struct store *store = GIVES(store_create(testing_file(file), OUTPUT_REPLACE, "test", &err));
    WORKS(derive_input_open(&in, of, VIEW_DRAM, &err));
    WORKS((accesses ? derive_accesses : derive_dram)(&in.source, store, &o, &counts, &err));
    WORKS(store_finish(store, &err));
    store_close(store);
    struct input input;
    WORKS(input_open(&input, testing_file(file), "", false, &err));
    return input;
}

START_TEST(a_program_its_recording_and_its_derived_trace_are_the_same_requests)
{
    struct input program = generated(), recording = written(&program, true, "a.db"),
                 trace = written(&program, false, "d.db");
    ck_assert(dram_stream_derives(&program) && dram_stream_derives(&recording) && !dram_stream_derives(&trace));
    struct dram_stream a = loaded(&program, 1), b = loaded(&recording, 1), c = loaded(&trace, 1);
    same(&a, &b);
    same(&a, &c);
    /* a, b and the flags fetched, c and the flags written back; each launch but what L2 still has */
    ck_assert_uint_ge(a.count, 3 * N * 4 / 128);
    dram_stream_release(&a);
    dram_stream_release(&b);
    dram_stream_release(&c);
    input_close(&recording);
    input_close(&trace);
    platform_free(platform);
}
END_TEST

/* The arrivals of a workload are DRAM cycles whatever the input before it counts in. */
START_TEST(a_workload_keeps_its_cycles_beside_a_trace_without_times)
{
    struct input both[2] = {generated()};
    WORKS(input_open(&both[1], "synth:pim-add,ops=8,period=5,channels=1", "pim", false, &err));
    struct dram_stream s = loaded(both, 2);
    int64_t last = 0;
    for (size_t i = 0; i < s.channel[0].count; i++)
        if (s.channel[0].requests[i].flags & DRAM_IS_PIM)
            last = s.channel[0].requests[i].arrival;
    ck_assert_int_eq(last, (8 * 16 - 1) * 5);
    dram_stream_release(&s);
    input_close(&both[1]);
    platform_free(platform);
}
END_TEST

/* What L2 has left at the end are write-backs that follow each other: each gives its place in the window back, and they
 * are no launch of their own. */
START_TEST(write_backs_by_themselves_hold_nobody_up)
{
    enum { GAP = 1000000 };
    struct input program = generated();
    struct dram_stream s = loaded(&program, 1);
    int64_t in = 0, out = 0;
    for (uint32_t c = 0; c < s.channels; c++) {
        struct dram_stats stats;
        ck_assert_int_lt(test_window(&s, platform, c, 1, GAP, &stats), GAP); /* the second launch has it all in L2 */
        in += stats.in[DRAM_MEM];
        out += stats.out[DRAM_MEM];
    }
    ck_assert_int_gt(in, 3 * N * 4 / 128);
    ck_assert_int_eq(in, out);
    dram_stream_release(&s);
    platform_free(platform);
}
END_TEST

START_TEST(a_workload_without_the_view_is_an_error_that_names_its_views)
{
    static const struct workload_type other = {.name = "other", .produces = WORKLOAD_PROGRAM, .views = VIEW_UVM};
    struct dram_stream s;
    struct input input = generated();
    input.workload.type = &other;
    FAILS_AS(dram_stream_load(&s, &input, 1, 1, platform, NULL, &err),
             "synth:vecadd: workload other makes no DRAM requests; its views: uvm");
    platform_free(platform);
}
END_TEST

TEST_MAIN("dram_stream")
