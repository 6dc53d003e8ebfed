/* Every eviction under every prefetcher, on programs made at random: what must hold of all of them. Each run checks
 * itself (uvm_memory_check(), breakdown_check()): bytes, residency, memory, no page twice. */
#include "models/base/platform.h"
#include "replay/uvm/random_actors_testing.h"
#include "replay/uvm/uvm_driver.h"
#include "replay/uvm/uvm_gpu.h"
#include "replay/uvm/uvm_simulate.h"
#include "trace/base/param_value.h"
#include "trace/base/random.h"

static struct platform *titanv(void)
{
    struct err err = {""};
    struct platform *platform = platform_load("titanv", &err);
    ck_assert_msg(platform != NULL, "%s", err.msg);
    return platform;
}

static void run_all(const struct platform *platform, uint64_t seed, int64_t chunks)
{
    static const bool discards[] = {true, false, true, false};
    struct random_actors actors;
    uint64_t touched = 0;
    random_actors_init(&actors, seed, seed % 3 ? 0 : ACTOR_READ_MOSTLY | ACTOR_PREFERRED_HOST | ACTOR_ACCESSED_BY);
    for (size_t p = 0; uvm_policy_of(uvm_policies[p]); p++)
        for (size_t e = 0; uvm_evict_policies[e]; e++) {
            struct breakdown parts = {0};
            struct uvm_run run = {.ops = &random_actors_ops,
                                  .state = &actors,
                                  .gpu = platform_section_get(platform, "gpu"),
                                  .platform = platform_section_get(platform, "uvm"),
                                  .policy = uvm_policy_of(uvm_policies[p]),
                                  .evict = uvm_evict_of(uvm_evict_policies[e]),
                                  .gpu_memory_bytes = chunks << 21,
                                  .two_engines = seed & 1,
                                  .access_counters = seed & 2,
                                  .thrashing = seed & 4,
                                  .discard = seed & 8 ? discards : NULL,
                                  .pcie = platform_section_get(platform, "pcie"),
                                  .parts = &parts};
            struct uvm_metrics m, again;
            struct err err = {""};
            int rc = uvm_simulate(&run, &m, &err);
            ck_assert_msg(rc == 0, "seed %d, %s+%s: %s", (int)seed, uvm_policies[p]->name, uvm_evict_policies[e]->name,
                          err.msg);
            breakdown_release(&parts);
            if (seed % 4 == (p + e) % 4) { /* each pair at six seeds */
                run.parts = NULL;
                ck_assert_int_eq(uvm_simulate(&run, &again, &err), 0);
                ck_assert_int_eq(again.time_ns, m.time_ns);
                ck_assert_uint_eq(again.d2h_bytes, m.d2h_bytes);
            }
            /* Whatever is brought and sent away, the program touches the same pages. */
            ck_assert_msg(!touched || touched == m.touched_bytes, "seed %d, %s+%s: another program", (int)seed,
                          uvm_policies[p]->name, uvm_evict_policies[e]->name);
            touched = m.touched_bytes;
            ck_assert_uint_le(m.refetched_bytes, m.evicted_bytes);
            ck_assert_uint_le(m.evicted_bytes, m.d2h_bytes);
            ck_assert_uint_le((m.faults - m.mapped_faults) * 4096 + m.prefetched_bytes - m.d2h_bytes - m.dropped_bytes,
                              m.chunks << 21);
        }
}

START_TEST(random_programs_under_all_evictions_and_prefetchers)
{
    struct platform *platform = titanv();
    for (uint64_t seed = 1; seed <= 24; seed += (uint64_t)testing_step())
        run_all(platform, seed, 1 + (int64_t)(seed % 5));
    platform_free(platform);
}
END_TEST

/* Whenever accesses are repeated, in long batches and short ones: the run ends, its account is in order, and the
 * program touches the same pages. */
START_TEST(random_programs_under_all_replay_policies)
{
    static const uint64_t evicted_unseen[] = {350, 490}; /* went on for ever where `once` did not wait for its replay */
    struct platform *platform = titanv();
    for (uint64_t i = 1; i <= 50; i += (uint64_t)testing_step()) {
        uint64_t seed = i <= 48 ? i : evicted_unseen[i - 49];
        struct random_actors actors;
        uint64_t touched = 0;
        struct uvm_platform few = *(const struct uvm_platform *)platform_section_get(platform, "uvm");
        random_actors_init(&actors, seed, seed % 3 ? 0 : ACTOR_READ_MOSTLY | ACTOR_PREFERRED_HOST | ACTOR_ACCESSED_BY);
        few.batch_faults = seed % 5 ? few.batch_faults : 3;
        few.routine_batches = seed % 7 ? few.routine_batches : 2;
        few.utlbs = seed % 4 ? few.utlbs : 2;
        few.utlb_faults = seed % 4 ? few.utlb_faults : 3;
        few.utlb = seed % 11 ? UVM_UTLB_FREE : UVM_UTLB_BLOCKED;
        for (int replay = UVM_REPLAY_BATCH_FLUSH; replay <= UVM_REPLAY_ONCE; replay++) {
            struct breakdown parts = {0};
            struct uvm_run run = {.ops = &random_actors_ops,
                                  .state = &actors,
                                  .gpu = platform_section_get(platform, "gpu"),
                                  .platform = &few,
                                  .policy = uvm_policy_of(uvm_policies[seed % 3]),
                                  .gpu_memory_bytes = seed % 2 ? 0 : (int64_t)(2 + seed % 5) << 21,
                                  .two_engines = seed & 1,
                                  .access_counters = seed & 2,
                                  .thrashing = seed & 4,
                                  .pcie = platform_section_get(platform, "pcie"),
                                  .replay = (enum uvm_replay)replay,
                                  .parts = &parts};
            struct uvm_metrics m;
            struct err err = {""};
            int rc = uvm_simulate(&run, &m, &err);
            ck_assert_msg(rc == 0, "seed %d, replay %d: %s", (int)seed, replay, err.msg);
            breakdown_release(&parts);
            ck_assert_msg(!touched || touched == m.touched_bytes, "seed %d, replay %d: another program", (int)seed,
                          replay);
            touched = m.touched_bytes;
        }
    }
    platform_free(platform);
}
END_TEST

/* Random launches, all of them again and again. */
enum { TIMES = 5, MORE = 8 /* actors than places */ };

static uint64_t steps;

static uint32_t launches_again(const void *state)
{
    return TIMES * random_actors_launches(state);
}

static uint32_t like(const void *state, uint32_t launch)
{
    return launch % random_actors_launches(state);
}

static void launch_again(const void *state, uint32_t launch, struct actor_launch *out)
{
    random_actors_launch(state, like(state, launch), out);
    out->per_sm = 1;
    out->actors = MORE * out->actors + (like(state, launch) == 0);
}

/* The first launch has one actor more: it loads all pages. */
static int step_all(const struct random_actors *r, struct actor_at *at, struct actor_step *step)
{
    const uint32_t end = actor_space_pages(r->allocs, 3);
    *step = (struct actor_step){.turns = 1, .instructions = 1, .compute_ns = ACTOR_COMPUTE_AUTO};
    for (; at->body < end && step->count < 16; at->body++)
        for (int i = 0; i < 3; i++)
            if (at->body - r->allocs[i].first_page <= (r->allocs[i].bytes - 1) / ACTOR_PAGE_BYTES)
                step->page[step->count++] = (uint32_t)at->body;
    step->accesses = step->count;
    return step->count > 0;
}

static int step_again(void *run, uint32_t launch, uint32_t actor, struct actor_at *at, struct actor_step *step,
                      struct err *err)
{
    const struct random_actors *r = run;
    struct actor_launch shape;
    steps++;
    random_actors_launch(r, like(r, launch), &shape);
    if (actor == MORE * shape.actors)
        return step_all(r, at, step);
    return random_actors_step(run, like(r, launch), actor, at, step, err);
}

/* How many steps were asked for. */
static uint64_t run_again(struct uvm_run *run, const struct actor_ops *ops, struct uvm_time *times,
                          struct uvm_metrics *m)
{
    struct err err = {""};
    run->ops = ops;
    run->times = times;
    steps = 0;
    ck_assert_msg(uvm_simulate(run, m, &err) == 0, "%s", err.msg);
    return steps;
}

/* Launches of which it is known what they take are not run again: the same metrics, to the bit, of fewer steps. Known
 * from the same run, from one before it, and from one of memory that was prefetched. */
START_TEST(launches_with_all_memory_there_are_run_once)
{
    static const struct actor_ops alike = {random_actors_allocs, launches_again, launch_again, step_again,
                                           .like = like};
    static const bool all[] = {true, true, true};
    struct platform *platform = titanv();
    struct actor_ops apart = alike;
    uint64_t whole = 0, once = 0, known = 0, prefetched = 0;
    apart.like = NULL;
    for (uint64_t seed = 1; seed <= 40; seed += (uint64_t)testing_step()) {
        struct random_actors actors;
        struct uvm_metrics want, got;
        struct uvm_time own[4 * TIMES] = {0}, others[4 * TIMES] = {0};
        random_actors_init(&actors, seed, seed % 3 ? 0 : ACTOR_READ_MOSTLY | ACTOR_PREFERRED_HOST | ACTOR_ACCESSED_BY);
        struct uvm_run run = {.state = &actors,
                              .gpu = platform_section_get(platform, "gpu"),
                              .platform = platform_section_get(platform, "uvm"),
                              .calls = seed % 2 ? platform_section_get(platform, "launch") : NULL,
                              .policy = uvm_policy_of(uvm_policies[seed % 4]),
                              .gpu_memory_bytes = seed % 5 ? 0 : 5 << 21,
                              .thrashing = seed & 4,
                              .access_counters = seed & 2,
                              .pcie = platform_section_get(platform, "pcie"),
                              .prefetch = all};
        (void)run_again(&run, &alike, others, &got);
        run.prefetch = NULL;
        whole += run_again(&run, &apart, NULL, &want);
        struct uvm_time *const times[] = {own, own, others};
        uint64_t *const asked[] = {&once, &known, &prefetched};
        for (int i = 0; i < 3; i++) {
            *asked[i] += run_again(&run, &alike, times[i], &got);
            ck_assert_msg(memcmp(&got, &want, sizeof got) == 0, "seed %d, run %d: %lld ns, %lld are right", (int)seed,
                          i, (long long)got.time_ns, (long long)want.time_ns);
        }
    }
    ck_assert_uint_lt(once, whole * 9 / 10);
    ck_assert_uint_lt(known, once);
    ck_assert_uint_lt(prefetched, once);
    platform_free(platform);
}
END_TEST

/* Memory that suffices: nothing is evicted, so the eviction policy changes nothing. */
START_TEST(with_enough_memory_all_evictions_are_one)
{
    struct platform *platform = titanv();
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct random_actors actors;
        struct uvm_metrics first = {0}, m;
        random_actors_init(&actors, seed, 0);
        for (size_t e = 0; uvm_evict_policies[e]; e++) {
            struct uvm_run run = {.ops = &random_actors_ops,
                                  .state = &actors,
                                  .gpu = platform_section_get(platform, "gpu"),
                                  .platform = platform_section_get(platform, "uvm"),
                                  .policy = uvm_policy_stock(),
                                  .evict = uvm_evict_of(uvm_evict_policies[e]),
                                  .gpu_memory_bytes = 64ll << 21};
            ck_assert_int_eq(uvm_simulate(&run, &m, NULL), 0);
            ck_assert_uint_eq(m.evictions, uvm_evict_of(uvm_evict_policies[e])->keep_free ? m.evictions : 0);
            if (e == 0)
                first = m;
            if (m.evictions)
                continue;
            ck_assert_int_eq(first.time_ns, m.time_ns);
            ck_assert_uint_eq(first.h2d_bytes, m.h2d_bytes);
        }
    }
    platform_free(platform);
}
END_TEST

/* A driver whose CPU takes 30 us before the first copy, and whose copies of a block take 40 us either way: three
 * services need the memory of three others. When the last copy is done. */
static double three_services(const char *policy, bool two_engines)
{
    struct actor_alloc alloc = {.name = "a", .bytes = 12 << 20, .host = true};
    struct uvm_platform platform = {.batch_faults = 16,
                                    .batch_before_ns = 30000,
                                    .h2d_bytes_per_s = UVM_BLOCK_BYTES / 40e-6,
                                    .d2h_bytes_per_s = UVM_BLOCK_BYTES / 40e-6};
    struct uvm_memory memory;
    struct uvm_driver driver;
    int64_t end = 0;
    actor_space_place(&alloc, 1);
    ck_assert_int_eq(actor_space_init(&alloc, 1, NULL), 0);
    ck_assert_int_eq(uvm_memory_init(&memory, &alloc, 1, 3, NULL), 0);
    ck_assert_int_eq(uvm_memory_evict_by(
                         &memory, (const struct uvm_evict_policy *)policy_find(uvm_evict_policies, policy), NULL, NULL),
                     0);
    ck_assert_int_eq(uvm_driver_init(&driver, &memory, &platform,
                                     (const struct uvm_policy *)policy_find(uvm_policies, "fixed"), NULL, false, NULL),
                     0);
    driver.two_engines = two_engines;
    ck_assert_int_eq(uvm_driver_batch(&driver, (uint32_t[]){0, 512, 1024}, 3, 0, &end, NULL), 0);
    int64_t start = end + 1000000;
    ck_assert_int_eq(uvm_driver_batch(&driver, (uint32_t[]){1536, 2048, 2560}, 3, start, &end, NULL), 0);
    ck_assert_uint_eq(driver.batch.evictions, 3);
    uvm_driver_release(&driver);
    uvm_memory_release(&memory);
    return (double)(end - start) / 1000;
}

START_TEST(v8_when_three_evictions_and_three_copies_are_done)
{
    ck_assert_double_eq_tol(three_services("lru", false), 30 + 3 * 80, 0.01);
    ck_assert_double_eq_tol(three_services("lru", true), 30 + 4 * 40, 0.01);
    ck_assert_double_eq_tol(three_services("unobtrusive", false), 160, 0.01);
    ck_assert_double_eq_tol(three_services("unobtrusive", true), 160, 0.01);
}
END_TEST

/* A block takes service and new_block at first, service_again from then on; of 3 + 5 + 7 and of 3 + 2 us. */
START_TEST(a_block_is_served_again_for_less)
{
    struct actor_alloc alloc = {.name = "a", .bytes = 2 << 20};
    struct uvm_platform platform = {.batch_faults = 16,
                                    .batch_before_ns = 3000,
                                    .service_ns = 5000,
                                    .new_block_ns = 7000,
                                    .service_again_ns = 2000,
                                    .h2d_bytes_per_s = 1e12,
                                    .d2h_bytes_per_s = 1e12};
    struct uvm_memory memory;
    struct uvm_driver driver;
    int64_t end[3] = {0};
    actor_space_place(&alloc, 1);
    ck_assert_int_eq(actor_space_init(&alloc, 1, NULL), 0);
    ck_assert_int_eq(uvm_memory_init(&memory, &alloc, 1, 0, NULL), 0);
    ck_assert_int_eq(uvm_driver_init(&driver, &memory, &platform,
                                     (const struct uvm_policy *)policy_find(uvm_policies, "none"), NULL, false, NULL),
                     0);
    for (uint32_t i = 0; i < 2; i++)
        ck_assert_int_eq(uvm_driver_batch(&driver, &i, 1, end[i], &end[i + 1], NULL), 0);
    ck_assert_int_eq(end[1], 15000);
    ck_assert_int_eq(end[2] - end[1], 5000);
    uvm_driver_release(&driver);
    uvm_memory_release(&memory);
}
END_TEST

/* --- an index of the blocks against a walk over them --- */

static const struct uvm_evict_policy *real;
static uint64_t picks, draws, seed_now;

/* random as it is defined: of the n blocks outside the current batch, in the order of service, one that is drawn. */
static uint32_t walk_random(const struct uvm_evict_view *view)
{
    uint64_t n = 0;
    UVM_EVICT_EACH(b, view)
    n += !uvm_evict_in_current_batch(view, b);
    uint64_t left = n ? random_mix(1 + draws++ * RANDOM_STEP) % n : 0;
    UVM_EVICT_EACH(b, view)
    if (n && !uvm_evict_in_current_batch(view, b) && left-- == 0)
        return b;
    return uvm_evict_outside_batch(view, false);
}

/* The first of the blocks with the least key. */
static uint32_t walk(const void *state, const struct uvm_evict_view *view)
{
    uint32_t least = UVM_NO_BLOCK;
    if (strcmp(real->head.name, "random") == 0)
        return walk_random(view);
    UVM_EVICT_EACH(b, view)
    if (least == UVM_NO_BLOCK || real->key(state, view, b) < real->key(state, view, least))
        least = b;
    return least;
}

static struct uvm_victim pick_checked(void *state, const struct uvm_evict_view *view)
{
    struct uvm_victim victim = real->pick(state, view);
    uint32_t walked = walk(state, view);
    ck_assert_msg(victim.block == walked, "seed %d, %s: %u, a walk finds %u", (int)seed_now, real->head.name,
                  victim.block, walked);
    picks++;
    return victim;
}

/* Memory in pieces every other time. */
static int init_checked(void *state, struct err *err)
{
    return seed_now % 2 ? param_set(real->head.params, state, "capacity", "piece", err) : 0;
}

static uint64_t run_checked(const struct platform *platform, uint64_t seed)
{
    static const bool discards[] = {true, false, true, false};
    static const char *const prefetchers[] = {"tree", "none", "stride", "markov"};
    struct random_actors actors;
    struct uvm_metrics m;
    struct err err = {""};
    struct uvm_evict_policy checked = *real;
    checked.init = init_checked;
    checked.pick = pick_checked;
    seed_now = seed;
    random_actors_init(&actors, seed, seed % 3 ? 0 : ACTOR_READ_MOSTLY | ACTOR_PREFERRED_HOST | ACTOR_ACCESSED_BY);
    struct uvm_run run = {.ops = &random_actors_ops,
                          .state = &actors,
                          .gpu = platform_section_get(platform, "gpu"),
                          .platform = platform_section_get(platform, "uvm"),
                          .policy = uvm_policy_of(policy_find(uvm_policies, prefetchers[seed % 4])),
                          .evict = &checked,
                          .gpu_memory_bytes = (int64_t)(2 + seed % 5) << 21,
                          .access_counters = true,
                          .discard = seed & 8 ? discards : NULL,
                          .pcie = platform_section_get(platform, "pcie")};
    picks = draws = 0;
    ck_assert_msg(uvm_simulate(&run, &m, &err) == 0, "seed %d, %s: %s", (int)seed, real->head.name, err.msg);
    return picks;
}

START_TEST(victims_are_those_of_a_walk_over_all_blocks)
{
    static const uint64_t partly_left[] = {58, 868}; /* discarded, fetched by the CPU: not all of a block */
    struct platform *platform = titanv();
    int indexed = 0;
    for (size_t e = 0; uvm_evict_policies[e]; e++) {
        uint64_t all = 0;
        real = uvm_evict_of(uvm_evict_policies[e]);
        if (!real->key)
            continue;
        for (uint64_t i = 1; i <= 32; i += (uint64_t)testing_step())
            all += run_checked(platform, i <= 30 ? i : partly_left[i - 31]);
        ck_assert_uint_gt(all, 400 / (uint64_t)testing_step());
        indexed++;
    }
    ck_assert_int_eq(indexed, 5);
    platform_free(platform);
}
END_TEST

TEST_MAIN("replay/uvm_simulate_policies")
