#include "replay/placement/program_totals.h"

#include "replay/placement/program_testing.h"
#include "trace/base/testing.h"
#include "trace/event/actor_tracks.h"
#include "trace/program/program_adapter.h"
#include "trace/program/random_testing.h"
#include "trace/workloads/workload.h"

static struct err err;

/* A random program, but with blocks enough for several threads to share its launches. */
static void many_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    program_random_launch(state, launch, out);
    out->blocks *= 700;
}

static const struct program_ops many_ops = {.allocs = program_random_allocs,
                                            .launches = program_random_launches,
                                            .launch = many_launch,
                                            .body = program_random_body};

static void check_same(const struct program_totals *a, const struct program_totals *b, uint64_t seed)
{
    ck_assert_uint_eq(a->launches, b->launches);
    ck_assert_uint_eq(a->kernels, b->kernels);
    ck_assert_uint_eq(a->alloc_count, b->alloc_count);
    ck_assert_mem_eq(a->modified_of, b->modified_of, sizeof a->modified_of);
    for (uint32_t l = 0; l < a->launches; l++) {
        const struct launch_totals *x = &a->launch[l], *y = &b->launch[l];
        ck_assert_msg(x->cpu == y->cpu && x->touched_bytes == y->touched_bytes &&
                          x->modified_bytes == y->modified_bytes && x->touched == y->touched &&
                          x->modified == y->modified && x->loaded == y->loaded && x->accesses == y->accesses &&
                          x->instructions == y->instructions && x->loads == y->loads && x->waits == y->waits &&
                          x->resident == y->resident && x->warps == y->warps && x->ms == y->ms,
                      "seed %llu, launch %u", (unsigned long long)seed, l);
    }
}

/* The weights of every launch that no other is like, gone over once more. */
static void check_weights(const struct program *program, const struct launch_weights *weights, uint64_t seed)
{
    static struct launch_weight watched, alone;
    struct launch_tally *t = launch_tally_new(program, 3, false, &err);
    void *run;
    size_t n;
    ck_assert_int_eq(program_run_open(program, &run, &err), 0);
    const struct program_alloc *allocs = program->ops->allocs(program->state, &n);
    for (uint32_t l = 0; l < program->ops->launches(program->state); l++) {
        if (program_like(program, l) != l)
            continue;
        ck_assert_int_eq(launch_weigh(program, run, l, t, &alone, &err), 0);
        ck_assert(launch_weights_get(weights, l, 3, allocs, &watched));
        ck_assert_msg(memcmp(&watched, &alone, sizeof alone) == 0, "seed %llu, launch %u", (unsigned long long)seed, l);
    }
    program_run_close(program, run);
    launch_tally_free(t);
}

/* Both counts; whether there are any. */
static bool check(const struct program *program, const struct gpu *gpu, int threads, uint64_t seed)
{
    struct program_totals alone, watched;
    struct program_pages pages;
    bool fits = program_totals_init(&alone, program, gpu, &err) == 0;
    ck_assert_int_eq(program_pages_init(&pages, program, NULL, &err), 0);
    struct launch_weights *weights = seed % 3 ? launch_weights_open(program, 3, &err) : NULL;
    struct totals_watch *w = totals_watch_open(&pages, gpu, weights, &err);
    ck_assert_ptr_nonnull(w);
    struct actor_tracks *tracks = actor_tracks_open(&totals_watch_ops, w, 1 << 30, threads);
    ck_assert_int_eq(tracks != NULL, fits);
    if (fits) {
        totals_watch_end(w, &watched);
        check_same(&alone, &watched, seed);
        if (weights)
            check_weights(program, weights, seed);
        program_totals_release(&watched);
    }
    program_totals_release(&alone);
    actor_tracks_close(tracks);
    totals_watch_close(w);
    launch_weights_close(weights);
    return fits;
}

START_TEST(what_goes_by_is_counted_as_by_itself)
{
    struct gpu gpu = hand_gpu();
    unsigned fit = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct program_random state;
        struct program program;
        program_random_init(&state, seed, &program);
        fit += check(&program, &gpu, 1, seed);
        if (seed % 10 == 0) {
            program.ops = &many_ops;
            (void)check(&program, &gpu, 2, seed);
        }
    }
    ck_assert_uint_gt(fit, 50);
    struct hand h;
    hand_make(&h); /* with a phase of the CPU */
    ck_assert(check(&h.program, &gpu, 2, 0));
    gpu.warps_per_sm = 1;
    ck_assert(!check(&h.program, &gpu, 2, 0));
}
END_TEST

/* Of a program whose blocks all do the same. */
START_TEST(two_parts_of_a_program_come_to_all_of_it)
{
    struct gpu gpu = hand_gpu();
    struct program_totals whole, totals[2], got;
    struct workload w;
    struct program program;
    const uint64_t blocks[2][2] = {{64, 64}, {128, 128}};
    struct program_totals_part part[2];
    ck_assert_msg(workload_open(&w, "rodinia-backprop,n=16384", &err) == 0, "%s", err.msg);
    ck_assert_int_eq(w.type->program(w.state, &program, &err), 0);
    ck_assert_int_eq(program_totals_init(&whole, &program, &gpu, &err), 0);
    for (int i = 0; i < 2; i++) {
        struct program_first first;
        program_first_init(&first, &program, blocks[i]);
        ck_assert_int_eq(program_totals_init(&totals[i], &first.adapter.program, &gpu, &err), 0);
        part[i] = (struct program_totals_part){&totals[i], blocks[i]};
    }
    ck_assert_int_eq(program_totals_continue(&got, &program, part, &err), 0);
    for (uint32_t l = 0; l < 2; l++) {
        const struct launch_totals *x = &got.launch[l], *y = &whole.launch[l];
        ck_assert_uint_eq(x->touched, y->touched);
        ck_assert_uint_eq(x->modified, y->modified);
        ck_assert_uint_eq(x->accesses, y->accesses);
        ck_assert_uint_eq(x->storing, y->storing);
        ck_assert_double_eq_tol((double)x->modified_bytes / (double)y->modified_bytes, 1, 0.01);
        ck_assert_double_eq_tol((double)x->touched_bytes / (double)y->touched_bytes, 1, 0.01);
        ck_assert_double_eq_tol(x->ms / y->ms, 1, 0.01);
    }
    ck_assert_double_eq_tol((double)got.modified_of[2] / (double)whole.modified_of[2], 1, 0.01);
    ck_assert_double_eq_tol(got.last_stored / whole.last_stored, 1, 0.01);
    program_totals_release(&got);
    program_totals_release(&whole);
    program_totals_release(&totals[0]);
    program_totals_release(&totals[1]);
    workload_close(&w);
}
END_TEST

TEST_MAIN("totals_watch")
