/* Looks at what is kept. */
#include "trace/event/actor_tracks.c"

#include <omp.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/testing.h"
#include "trace/program/pages.h"
#include "trace/program/random_testing.h"

static struct err err;

static uint64_t bytes_of(const struct actor_tracks *t)
{
    uint64_t bytes = t->bytes;
    for (int i = 0; i < t->threads; i++)
        bytes += kept_bytes(&t->keepers[i]);
    return bytes;
}

/* Every step of every actor, asked for side by side. The number of steps. */
static size_t same_steps(const struct actor_ops *ops, const void *state, const struct actor_tracks *t)
{
    void *run = ops->run_open(state, &err);
    size_t steps = 0;
    ck_assert_ptr_nonnull(run);
    ck_assert_uint_eq(actor_tracks_ops.launches(t), ops->launches(state));
    for (uint32_t l = 0; l < ops->launches(state); l++) {
        struct actor_launch launch, kept;
        ops->launch(state, l, &launch);
        actor_tracks_ops.launch(t, l, &kept);
        ck_assert_uint_eq(kept.actors, launch.actors);
        for (uint32_t a = 0; a < launch.actors; a++) {
            struct actor_at at = {0}, kept_at = {0};
            struct actor_step step, other;
            int rc = 1;
            while (rc == 1) {
                rc = ops->step(run, l, a, &at, &step, &err);
                ck_assert_int_eq(rc, actor_tracks_ops.step((void *)t, l, a, &kept_at, &other, &err));
                if (rc == 1)
                    ck_assert_mem_eq(&step, &other,
                                     offsetof(struct actor_step, page) +
                                         (step.count + step.stores) * sizeof *step.page);
                steps += rc == 1;
            }
        }
    }
    ops->run_close(run);
    return steps;
}

START_TEST(kept_steps_are_those_of_the_actors)
{
    size_t steps = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        static struct program_pages pages;
        struct program_random state;
        struct program program;
        program_random_init(&state, seed, &program);
        ck_assert_int_eq(program_pages_init(&pages, &program, NULL, &err), 0);
        for (int threads = 1; threads <= 3; threads += 2) {
            struct actor_tracks *t = actor_tracks_open(&program_pages_ops, &pages, 1 << 26, threads);
            ck_assert_ptr_nonnull(t);
            steps += same_steps(&program_pages_ops, &pages, t);
            actor_tracks_close(t);
        }
    }
    ck_assert_uint_gt(steps, 10000);
}
END_TEST

/* --- a sweep by hand: actor a loads page a, then stores to page a + 1,000 --- */

enum { ACTORS = 5000 };
static uint32_t fails_at = UINT32_MAX, strange = UINT32_MAX;
static bool all_differ;

static const struct actor_alloc *allocs(const void *state, size_t *n)
{
    static const struct actor_alloc all = {.name = "a", .bytes = (ACTORS + 1000) * ACTOR_PAGE_BYTES};
    (void)state;
    *n = 1;
    return &all;
}

static uint32_t two(const void *state)
{
    (void)state;
    return 2;
}

static void shape(const void *state, uint32_t launch, struct actor_launch *out)
{
    (void)state;
    (void)launch;
    *out = (struct actor_launch){.kernel = "k", .actors = ACTORS, .together = 1};
}

static int sweep(void *run, uint32_t launch, uint32_t actor, struct actor_at *at, struct actor_step *step,
                 struct err *e)
{
    (void)run;
    if (launch == 1 && actor == fails_at)
        return err_set(e, "no such step");
    if (at->body == 2)
        return 0;
    *step = (struct actor_step){.count = !at->body, .stores = at->body, .turns = 1, .page = {actor + 1000 * at->body}};
    step->accesses = all_differ ? actor : actor == strange ? 2 : 1;
    at->body++;
    return 1;
}

static void *open_run(const void *state, struct err *e)
{
    (void)e;
    return (void *)state;
}

static void close_run(void *run)
{
    (void)run;
}

static const struct actor_ops sweep_ops = {
    .allocs = allocs, .launches = two, .launch = shape, .step = sweep, .run_open = open_run, .run_close = close_run};

START_TEST(actors_that_do_the_same_are_kept_once)
{
    static const int state;
    struct actor_tracks *t = actor_tracks_open(&sweep_ops, &state, 1 << 26, 1);
    ck_assert_ptr_nonnull(t);
    ck_assert_uint_eq(same_steps(&sweep_ops, &state, t), 2 * 2 * ACTORS);
    uint64_t places = 2 * 5 * (1024 * 8 + 4); /* whole shares of 1,024 actors */
    ck_assert_uint_ge(bytes_of(t), places);
    ck_assert_uint_le(bytes_of(t), places + 400);
    actor_tracks_close(t);
    strange = 4000; /* one that does not */
    t = actor_tracks_open(&sweep_ops, &state, 1 << 26, 2);
    ck_assert_uint_eq(same_steps(&sweep_ops, &state, t), 2 * 2 * ACTORS);
    actor_tracks_close(t);
    strange = UINT32_MAX;
}
END_TEST

static uint32_t as_the_first(const void *state, uint32_t launch)
{
    (void)state;
    return launch * 0;
}

START_TEST(a_launch_like_another_has_its_tracks)
{
    static const int state;
    struct actor_ops like = sweep_ops;
    like.like = as_the_first;
    struct actor_tracks *t = actor_tracks_open(&like, &state, 1 << 26, 2);
    ck_assert_ptr_nonnull(t);
    ck_assert_uint_eq(same_steps(&sweep_ops, &state, t), 2 * 2 * ACTORS);
    uint64_t places = 5 * (1024 * 8 + 4); /* of one launch */
    ck_assert_uint_ge(bytes_of(t), places);
    ck_assert_uint_le(bytes_of(t), places + 800);
    actor_tracks_close(t);
}
END_TEST

START_TEST(what_fails_or_is_too_much_is_not_kept)
{
    static const int state;
    ck_assert_ptr_null(actor_tracks_open(&sweep_ops, &state, 80000, 1));
    for (int threads = 1; threads < 4; threads++)
        for (fails_at = 0; fails_at < ACTORS; fails_at += 1700)
            ck_assert_ptr_null(actor_tracks_open(&sweep_ops, &state, 1 << 26, threads));
    fails_at = UINT32_MAX;
    all_differ = true; /* what the first share keeps has no room already */
    ck_assert_ptr_null(actor_tracks_open(&sweep_ops, &state, 84000, 1));
    all_differ = false;
    actor_tracks_close(NULL);
}
END_TEST

START_TEST(who_has_few_of_the_processors_has_little_of_the_memory)
{
    int all = omp_get_num_procs();
    ck_assert_uint_gt(actor_tracks_room(1), 0);
    ck_assert_uint_eq(actor_tracks_room(0), actor_tracks_room(1));
    ck_assert_uint_eq(actor_tracks_room(all), actor_tracks_room(all + 1));
    ck_assert_uint_le(actor_tracks_room(1) * (unsigned)all, actor_tracks_room(all));
    ck_assert_uint_le(actor_tracks_room(all), (uint64_t)sysconf(_SC_PHYS_PAGES) * 4096 / 8);
}
END_TEST

TEST_MAIN("actor_tracks")
