#include <math.h>

#include "trace/workloads/program_testing.h"
#include "trace/workloads/rodinia/check_testing.h"

enum { AREA, NB, NORM, VAR, OLD, FLUX, STEP };

/* A thread of a launch. */
struct element {
    struct program_notes *notes;
    const struct program *program;
    uint32_t launch;
    uint64_t i, n, padded, x, when;
};

static void note(struct element *e, uint32_t kind, unsigned array, uint64_t field, uint64_t i)
{
    program_note(e->notes, e->launch, e->i / 192, 192, (uint32_t)(e->i % 192), e->when++, kind, 4,
                 program_at(e->program, array, field * e->padded + i, 4));
}

/* The mesh without permutation: does element i have the neighbour, and which is it. */
static bool neighbour(const struct element *e, int j, uint64_t *nb)
{
    const int64_t apart[] = {-1, 1, -(int64_t)e->x, (int64_t)e->x};
    int64_t own = (int64_t)(e->i < e->n ? e->i : e->n - 1), to = own + apart[j];
    *nb = (uint64_t)to;
    return to >= 0 && to < (int64_t)e->n;
}

static void flux(struct element *e)
{
    static const unsigned order[] = {1, 0, 2, 3, 4};
    for (int f = 0; f < 5; f++)
        note(e, RECORD_READ, VAR, order[f], e->i);
    for (int j = 0; j < 4; j++) {
        uint64_t nb;
        e->when = 100 * ((uint64_t)j + 1);
        note(e, RECORD_READ, NB, (uint64_t)j, e->i);
        for (uint64_t k = 0; k < 3; k++)
            note(e, RECORD_READ, NORM, (uint64_t)j + 4 * k, e->i);
        for (int f = 0; f < 5 && neighbour(e, j, &nb); f++)
            note(e, RECORD_READ, VAR, order[f], nb);
    }
    e->when = 1000;
    for (uint64_t f = 0; f < 5; f++)
        note(e, RECORD_WRITE, FLUX, f, e->i);
}

static void time_step(struct element *e)
{
    static const uint64_t order[] = {0, 4, 1, 2, 3};
    note(e, RECORD_READ, STEP, 0, e->i);
    for (int k = 0; k < 5; k++) {
        note(e, RECORD_READ, OLD, order[k], e->i);
        note(e, RECORD_READ, FLUX, order[k], e->i);
        note(e, RECORD_WRITE, VAR, order[k], e->i);
    }
}

static void thread(struct element *e)
{
    e->when = 0;
    if (e->launch < 3) {
        for (uint64_t f = 0; f < 5; f++)
            note(e, RECORD_WRITE, VAR + e->launch, f, e->i);
        return;
    }
    if ((e->launch - 3) % 7 == 0) {
        for (uint64_t f = 0; f < 5; f++)
            note(e, RECORD_READ, VAR, f, e->i);
        note(e, RECORD_READ, AREA, 0, e->i);
        note(e, RECORD_WRITE, STEP, 0, e->i);
        return;
    }
    ((e->launch - 3) % 7 % 2 ? flux : time_step)(e);
}

static void compare(uint64_t n, uint64_t x, uint32_t iterations, uint64_t align)
{
    struct workload w;
    struct program_notes notes = {0};
    const char *spec = testing_text("rodinia-cfd,n=%llu,x=%llu,iterations=%u", (unsigned long long)n,
                                    (unsigned long long)x, iterations);
    struct program program = program_opened(&w, spec, 0x10000, align);
    struct element e = {.notes = &notes, .program = &program, .n = n, .padded = n + (192 - n % 192) % 192, .x = x};
    if (x == 0)
        e.x = (uint64_t)round(pow((double)n, 1.0 / 3));
    for (; e.launch < 3 + 7 * iterations; e.launch++)
        for (e.i = 0; e.i < e.padded; e.i++)
            thread(&e);
    ck_assert_uint_eq(program.ops->launches(program.state), e.launch);
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(each_element_gathers_its_neighbours_but_not_the_far_field)
{
    static const uint64_t sizes[] = {1, 2, 33, 191, 192, 193, 500};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        compare(sizes[i], 0, 1, 4);
        compare(sizes[i], 1 + 7 * i, 2, 256);
    }
    compare(700, 1000, 1, 0); /* nothing is so far away */
}
END_TEST

/* Source: two emulations of the kernels. */
START_TEST(two_blocks_make_the_emulated_counts)
{
    CHECK_LAUNCHES("rodinia-cfd,n=384,x=16",
                   {3, .reads = {72, 2304, 288, 72, 288, 72}, .writes = {12, 384, 48, 12, 48, 12}},
                   {4, .reads = {492, 15574, 2058, 712, 1008, 252}, .writes = {60, 1920, 240, 60, 240, 60}},
                   {5, .reads = {132, 4224, 528, 132, 528, 132}, .writes = {60, 1920, 240, 60, 240, 60}});
}
END_TEST

/* Over a launch of flux: the sectors of an access to the field 1 of a neighbour, on average; each element that is some
 * element's right neighbour is so once, and within that one's window. */
static double gathered(const char *spec, uint64_t n, uint64_t window)
{
    static struct program_body body;
    struct workload w;
    struct program program = program_opened(&w, spec, 0, 0);
    bool *seen = calloc(n, sizeof *seen);
    uint64_t sectors = 0, gathers = 0, field = program_at(&program, VAR, (n + 191) / 192 * 192, 4);
    ck_assert_ptr_nonnull(seen);
    for (uint64_t warp = 0; warp < (n + 31) / 32; warp++)
        for (uint32_t j = 0; j < 4; j++) {
            RETURNS(program_body(&program, w.state, 4, warp, j, &body, &err), 1);
            uint32_t k = j == 0 ? 9 : 4;
            if (k >= body.count)
                continue;
            const struct program_access *a = &body.access[k];
            struct access_line line[2 * ACCESS_LANES];
            int lines = program_lines(a, 0, line);
            gathers++;
            for (int i = 0; i < lines; i++)
                sectors += (uint64_t)__builtin_popcount(line[i].sectors);
            for (unsigned l = 0; l < 32 && j == 1; l++)
                if (a->active >> l & 1 && warp * 32 + l < n) {
                    uint64_t nb = (program_addr(a, l, 0) - field) / 4;
                    PROGRAM_SAME(nb / window, (warp * 32 + l + 1) / window);
                    PROGRAM_SAME(nb < n && !seen[nb], true);
                    seen[nb] = true;
                }
        }
    free(seen);
    workload_close(&w);
    return (double)sectors / (double)gathers;
}

START_TEST(a_window_permutes_neighbours_within_it_and_sets_how_far_a_gather_spreads)
{
    (void)gathered("rodinia-cfd,n=1000,window=64", 1000, 64);
    (void)gathered("rodinia-cfd,n=1000,window=16,seed=7", 1000, 16);
    (void)gathered("rodinia-cfd,n=777,window=2", 777, 2);
    (void)gathered("rodinia-cfd,n=3000,window=4096", 3000, 4096); /* one window, and not a whole one */
    /* Emulations with random permutations: 5.00, 6.5, 28.8. */
    ck_assert_double_eq_tol(gathered("rodinia-cfd", 97046, 1), 5.00, 0.01);
    ck_assert_double_eq_tol(gathered("rodinia-cfd,window=32", 97046, 32), 6.5, 0.1);
    ck_assert_double_eq_tol(gathered("rodinia-cfd,window=1024", 97046, 1024), 28.8, 0.3);
}
END_TEST

START_TEST(ptx_waits_for_most_loads_and_hoisted_for_those_of_a_block)
{
    uint32_t ptx, hoisted, step;
    /* Five fields, neighbour, three of its normal, five fields of it. */
    ck_assert_uint_eq(stalls_of("rodinia-cfd", 4, 100, 0, &ptx), 0x3b3c);
    ck_assert_uint_eq(stalls_of("rodinia-cfd,order=hoisted", 4, 100, 0, &hoisted), 0x200);
    ck_assert_uint_eq(ptx, hoisted);
    /* Step factor: five fields, area, store. */
    ck_assert_uint_eq(stalls_of("rodinia-cfd", 3, 100, 0, &step), 0x60);
    ck_assert_uint_eq(step, 49); /* PTX of the kernel, without loads of parameters */
    ck_assert_uint_eq(stalls_of("rodinia-cfd,order=hoisted", 3, 100, 0, &step), 0x40);
    (void)stalls_of("rodinia-cfd", 5, 100, 0, &step);
    ck_assert_uint_eq(step, 59);
    (void)stalls_of("rodinia-cfd", 0, 100, 0, &step);
    ck_assert_uint_eq(step, 29);
}
END_TEST

START_TEST(meshes_that_an_int_cannot_count_are_refused_and_large_ones_open_at_once)
{
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-cfd,n=0"), "expected 1"));
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-cfd,n=178956865"), "178956864"));
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-cfd,window=48"), "power of two"));
    ck_assert_uint_eq(program_blocks("rodinia-cfd,n=178956864,window=16777216", 4), 932067);
}
END_TEST

TEST_MAIN("rodinia_cfd")
