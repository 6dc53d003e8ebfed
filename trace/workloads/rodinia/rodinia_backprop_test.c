#include "trace/workloads/program_testing.h"
#include "trace/workloads/rodinia/check_testing.h"

enum { IN, HID, WT, PART, DELTA, OLDW };

/* Weight from input i to hidden unit h, both from 1 on (0: the bias), by its thread. */
struct weight {
    struct program_notes *notes;
    const struct program *program;
    uint32_t launch;
    uint64_t i, h, when;
};

static void note(struct weight *w, uint32_t kind, unsigned array, uint64_t element)
{
    program_note(w->notes, w->launch, (w->i - 1) / 16, 256, (uint32_t)((w->i - 1) % 16 * 16 + w->h - 1), w->when++,
                 kind, 4, program_at(w->program, array, element, 4));
}

static void forward(struct weight *w)
{
    w->when = 0;
    if (w->h == 1)
        note(w, RECORD_READ, IN, w->i);
    w->when = 1;
    note(w, RECORD_READ, WT, 17 * w->i + w->h);
    note(w, RECORD_WRITE, WT, 17 * w->i + w->h);
    if (w->h == 1)
        note(w, RECORD_WRITE, PART, w->i - 1);
}

static void adjust(struct weight *w)
{
    uint64_t e = 17 * w->i + w->h;
    w->when = 0;
    for (uint64_t array = WT; array <= OLDW; array += OLDW - WT) { /* WT, then OLDW is written */
        note(w, RECORD_READ, DELTA, w->h);
        note(w, RECORD_READ, IN, w->i);
        note(w, RECORD_READ, OLDW, e);
        if (array == WT)
            note(w, RECORD_READ, WT, e);
        note(w, RECORD_WRITE, (unsigned)array, e);
    }
    if (w->i > 1)
        return;
    note(w, RECORD_READ, DELTA, w->h);
    note(w, RECORD_READ, OLDW, w->h);
    note(w, RECORD_READ, WT, w->h);
    note(w, RECORD_WRITE, WT, w->h);
    note(w, RECORD_READ, DELTA, w->h);
    note(w, RECORD_READ, OLDW, w->h);
    note(w, RECORD_WRITE, OLDW, w->h);
}

static void compare(uint64_t n, uint64_t align)
{
    struct workload w;
    struct program_notes notes = {0};
    struct program program =
        program_opened(&w, testing_text("rodinia-backprop,n=%llu", (unsigned long long)n), 0x10000, align);
    struct weight weight = {.notes = &notes, .program = &program};
    for (; weight.launch < 2; weight.launch++)
        for (weight.i = 1; weight.i <= n; weight.i++)
            for (weight.h = 1; weight.h <= 16; weight.h++)
                (weight.launch ? adjust : forward)(&weight);
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(each_weight_is_read_and_written_by_its_thread)
{
    for (uint64_t n = 16; n <= 1024; n *= 2)
        for (uint64_t align = 4; align <= 256; align *= 8)
            compare(n, align);
    compare(16 * 37, 0);
}
END_TEST

/* Source: two emulations of the kernels. */
START_TEST(four_blocks_make_the_emulated_counts)
{
    CHECK_LAUNCHES("rodinia-backprop,n=64",
                   {0, .reads = {64, 1088, 200, 98, 146, 38}, .writes = {64, 1088, 192, 96, 145, 37}},
                   {1, .reads = {229, 7248, 767, 329, 290, 74}, .writes = {66, 2080, 326, 130, 278, 70}});
}
END_TEST

START_TEST(ptx_waits_for_each_load_and_hoisted_before_each_store)
{
    uint32_t ptx, hoisted;
    /* Input, barrier, weight, barrier, .. */
    ck_assert_uint_eq(stalls_of("rodinia-backprop", 0, 0, 0, &ptx), 0xa);
    ck_assert_uint_eq(stalls_of("rodinia-backprop,order=hoisted", 0, 0, 0, &hoisted), 0xa);
    ck_assert_uint_eq(ptx, hoisted);
    ck_assert_uint_eq(ptx, 108); /* PTX of the kernel, without loads of parameters: warp 0 takes all of it */
    /* Four loads, store, three loads, store, barrier, three loads, store, two loads, store. */
    ck_assert_uint_eq(stalls_of("rodinia-backprop", 1, 0, 0, &ptx), 0x1b9de);
    ck_assert_uint_eq(stalls_of("rodinia-backprop,order=hoisted", 1, 0, 0, &hoisted), 0x12110);
    ck_assert_uint_eq(ptx, hoisted);
    ck_assert_uint_eq(ptx, 75);
}
END_TEST

START_TEST(broken_rows_are_refused_and_large_layers_open_at_once)
{
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-backprop,n=0"), "expected 16"));
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-backprop,n=40"), "multiple of 16"));
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-backprop,n=126322561"), "126322560"));
    ck_assert_uint_eq(program_blocks("rodinia-backprop,n=126322560", 0), 126322560 / 16);
}
END_TEST

TEST_MAIN("rodinia_backprop")
