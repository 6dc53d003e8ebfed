/* The placement engine through the run loop, on task files. */
#include <math.h>

#include "models/policies.h"
#include "replay/placement/placement.h"
#include "replay/run/engine.h"
#include "trace/base/testing.h"

static struct replay_result result;

static int go_policy(const char *text, const char *policy, const char *const *sets, size_t set_count, struct err *err)
{
    struct input input;
    if (input_open(&input, testing_write("tasks.ini", text, strlen(text)), "", true, err))
        return -1;
    struct replay_request request = {.engine = &engine_placement,
                                     .inputs = &input,
                                     .input_count = 1,
                                     .policy_list = policy,
                                     .sets = sets,
                                     .set_count = set_count};
    bool usage;
    int rc = replay_run(&request, &result, &usage, err);
    input_close(&input);
    return rc;
}

static int go(const char *text, const char *set, struct err *err)
{
    return go_policy(text, NULL, &set, set != NULL, err);
}

static double metric(size_t run, const char *name)
{
    const struct metric_value *v = outcome_get(&result.runs[run], name);
    ck_assert_msg(v && v->known, "%s is unknown", name);
    return v->real;
}

static const char sure[] =
    "[a]\nbytes_hd = 64MiB\nbytes_dh = 32MiB\ncopies = 3\nkernels = 2\ndirty_kernels = 1\n"
    "kernel_bytes = 32MiB\ncompute_ms = 5\nwait_ms = 0\nl2_instructions = 1000\nl2_hit_ratio = 0.5\n"
    "private_bytes = 1MiB\nsource_policy = managed\nmeasured_device_ms = 10\n";

START_TEST(a_task_costs_what_the_equations_say)
{
    WORKS(go(sure, NULL, &err));
    const struct placement_platform *hw = platform_section_get(result.platform, "placement");
    double mib = 0x1p20;
    double device = 3 * hw->t_ini + (hw->l_dh + hw->l_ini) * 32 * mib + hw->l_hd * 64 * mib;
    double managed = 32 * mib * hw->l_mapping + hw->c_cpu + 2 * hw->c_gpu;
    ck_assert_double_eq_tol(metric(0, "time_ns"), (5 + device) * 1e6, 1e-3);
    ck_assert_double_eq_tol(metric(1, "time_ns"), (5 + managed) * 1e6, 1e-3);
    ck_assert_double_eq(metric(0, "footprint_bytes"), 129 * mib);
    ck_assert_double_eq(metric(1, "footprint_bytes"), 65 * mib);
    ck_assert_double_eq(metric(3, "source_agreement_ratio"), 1);
    ck_assert_double_eq_tol(metric(0, "prediction_error_ratio"), fabs((5 + device) / 10 - 1), 1e-9);
    replay_release(&result);
}
END_TEST

/* 256 kernels in a row are the worked example of models/gpu/launch.h; waiting is no use of the GPU, copies are. */
START_TEST(kernels_wait_for_launches)
{
    static const char *const calls[] = {"launch.enqueue_ns=3510", "launch.gap_ns=2160", "launch.alone_ns=6680",
                                        "launch.wait_ns=12820"};
    struct err err = {""};
    ck_assert_msg(go_policy("[a]\nkernels = 256\ndirty_kernels = 0\ncompute_ms = 0.3456\n", "device", calls, 4, &err) ==
                      0,
                  "%s", err.msg);
    const double waits = 255 * 2160; /* 1,350 + 2,160 is what a call takes */
    ck_assert_double_eq_tol(metric(0, "time_ns"), 345600 + waits, 1e-3);
    ck_assert_double_eq_tol(metric(0, "gpu_utilization_ratio"), 345600 / (345600 + waits), 1e-9);
    replay_release(&result);
    /* short ones wait for their calls: 255 x (3,510 - 1,000) */
    ck_assert_msg(go_policy("[a]\nkernels = 256\ndirty_kernels = 0\ncompute_ms = 0.256\n", "device", calls, 4, &err) ==
                      0,
                  "%s", err.msg);
    ck_assert_double_eq_tol(metric(0, "time_ns"), 256000 + 255 * 2510, 1e-3);
    replay_release(&result);
    /* a program that waits for each: end to call to start, 12,820 + 6,680, but for the first */
    double ns[2];
    for (int i = 0; i < 2; i++) {
        ck_assert_msg(go_policy(i ? "[a]\nprogram = rodinia-gaussian,n=64,iterations=5\n"
                                  : "[a]\nprogram = rodinia-gaussian,n=64,iterations=5\nwait_ms = 0\n",
                                "device", calls, 4, &err) == 0,
                      "%s", err.msg);
        ns[i] = metric(0, "time_ns");
        replay_release(&result);
    }
    ck_assert_double_eq_tol(ns[1] - ns[0], 9 * 19500, 1e-3);
}
END_TEST

START_TEST(bounds_become_intervals)
{
    WORKS(go("[a]\nbytes_hd = 1MiB\ncopies = 1\nkernels = 4\nkernel_bytes = 0..1MiB\ncompute_ms = 1\n", NULL, &err));
    const struct metric_value *device = outcome_get(&result.runs[0], "time_ns");
    const struct metric_value *managed = outcome_get(&result.runs[1], "time_ns");
    ck_assert(device->known && !device->interval);
    ck_assert(!managed->known && managed->interval);
    ck_assert_double_lt(managed->lo, managed->hi);
    ck_assert(outcome_get(&result.runs[1], "speedup_ratio")->interval);
    /* no L2 figures: pinned memory is refused, with the reason */
    ck_assert(!outcome_get(&result.runs[2], "time_ns")->known);
    ck_assert_ptr_nonnull(strstr(result.runs[2].notes[0], "refused"));
    replay_release(&result);
}
END_TEST

START_TEST(wrong_task_files_name_the_line)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "no [task]"},
        {"kernels = 1\n", "before the first [section]"},
        {"[a]\nkernels = 0\n", "tasks.ini:2: kernels is 0"},
        {"[a]\nkernels = 2\ndirty_kernels = 3\n", "above kernels"},
        {"[a]\ncolour = 2\n", "'colour'"},
        {"[a]\nbytes_hd = 4..2\n", "lower bound"},
        {"[a]\nsource_policy = best\n", "expected device, managed or pinned"},
        {"rubbish\n", "tasks.ini:1"},
        {"[a]\nkernels = 1\nkernels = 2\n", "tasks.ini:3: kernels is given again"},
        {"[a]\nkernels = 1\n[a]\ncopies = 2\n", "tasks.ini:3: a is given again"},
        {"[1234567890123456789012345678901234567890123456789012345678901234]\n", "has 64 bytes; expected at most 63"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = {""};
        ck_assert_int_eq(go(bad[i].text, NULL, &err), -1);
        ck_assert_msg(strstr(err.msg, bad[i].says) != NULL, "'%s' gave: %s", bad[i].text, err.msg);
    }
}
END_TEST

START_TEST(a_section_may_name_its_program_and_overrule_it)
{
    WORKS(go("[a]\nprogram = rodinia-nw,n=64\n[b]\ncompute_ms = 3\nwait_ms = 0\nprogram = rodinia-nw,n=64\n", NULL,
             &err));
    double both = metric(0, "time_ns"), overheads = metric(0, "overhead_ns"), moved = metric(0, "h2d_bytes");
    replay_release(&result);
    WORKS(go("[a]\nprogram = synth:rodinia-nw,n=64\n", NULL, &err));
    double alone = metric(0, "time_ns"), overhead = metric(0, "overhead_ns");
    ck_assert_double_eq_tol(both, alone + overhead + 3e6, 1e-3);
    ck_assert_double_eq_tol(overheads, 2 * overhead, 1e-6);
    ck_assert_double_eq(moved, 2 * metric(0, "h2d_bytes"));
    ck_assert_double_eq(metric(0, "h2d_bytes"), 2 * 65 * 65 * 4); /* scores and references */
    replay_release(&result);
    FAILS_WITH(go("[a]\nprogram = rodinia-nw,n=64\nkernels = 1\ndirty_kernels = 2\n", NULL, &err), "above kernels");
    FAILS_WITH(go("[a]\nprogram = nothing\n", NULL, &err), "tasks.ini: [a]");
    FAILS_WITH(go("[a]\nprogram = pim-add\n", NULL, &err), "nothing to place");
}
END_TEST

/* What a task is given comes first, the others by time: what each alone takes. */
START_TEST(a_task_says_its_memory_and_the_next_best)
{
    static const char *const names[] = {"device", "managed", "pinned"};
    char note[120] = "task a: ";
    WORKS(go_policy(sure, "device,managed,pinned,auto", NULL, 0, &err));
    for (int said = 0, least = 0; said < 3; said++) {
        const double after = said ? metric((size_t)least, "time_ns") : 0;
        least = -1;
        for (int p = 0; p < 3; p++)
            if (metric((size_t)p, "time_ns") > after &&
                (least < 0 || metric((size_t)p, "time_ns") < metric((size_t)least, "time_ns")))
                least = p;
        (void)mem_add_text(note, sizeof note, "%s%s %.3g%s", said ? ", " : "", names[least],
                           metric((size_t)least, "time_ns") / 1e6, said ? "" : " ms");
    }
    bool found = false;
    for (size_t i = 0; i < result.runs[3].note_count; i++)
        found |= strncmp(result.runs[3].notes[i], note, strlen(note)) == 0;
    ck_assert_msg(found, "%s", note);
    replay_release(&result);
}
END_TEST

/* Policy source: two tasks as their sections say, a third that says nothing; no guideline moves them. 4 device kernels
 * of 1 ms in two mappings of 2.5 ms each. */
static const char mixed[] =
    "[a]\nbytes_hd = 1MiB\ncopies = 1\nkernels = 4\ncompute_ms = 4\nwait_ms = 0\nsource_policy = device\n"
    "[b]\nbytes_hd = 1MiB\nkernels = 2\nkernel_bytes = 250000000\ncompute_ms = 6\nwait_ms = 0\n"
    "source_policy = managed\n[c]\nkernels = 1\ncompute_ms = 100\n";

START_TEST(policy_source_runs_the_placements_that_are_given)
{
    const char *const sets[] = {"mode=corun", "placement.l_mapping=1e-8"};
    WORKS(go_policy(mixed, "source", sets, 2, &err));
    ck_assert_int_eq(outcome_get(&result.runs[0], "tasks_device")->whole, 2);
    ck_assert_int_eq(outcome_get(&result.runs[0], "tasks_managed")->whole, 1);
    ck_assert_double_eq_tol(metric(0, "overlap_ns"), 4e6, 1e-3);
    ck_assert_int_eq(outcome_get(&result.runs[0], "pairs")->whole, 2);
    ck_assert_double_eq(metric(0, "source_agreement_ratio"), 1);
    replay_release(&result);
    /* pinned, without L2 figures: refused like policy pinned */
    WORKS(go_policy("[a]\nkernels = 1\nsource_policy = pinned\n", "source", NULL, 0, &err));
    ck_assert(!outcome_get(&result.runs[0], "time_ns")->known);
    ck_assert_ptr_nonnull(strstr(result.runs[0].notes[0], "refused"));
    replay_release(&result);
}
END_TEST

static uint64_t state = 7;
static double any(double hi)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return hi * (double)(state >> 40) / 0x1p24;
}

static enum placement as_chosen[8];
static size_t asked;

static enum placement choose_as_chosen(const void *policy, const struct placement_overheads *overheads)
{
    (void)policy;
    (void)overheads;
    return as_chosen[asked++];
}

/* When the set ends with nothing re-assigned. */
static double end_as_chosen(const struct placement_set *set, const struct placement_tasks *list,
                            const struct placement_platform *hw)
{
    static const struct placement_policy policy = {.choose = choose_as_chosen};
    struct placement_set other;
    for (size_t i = 0; i < list->count; i++)
        as_chosen[i] = !set->schedule.slots[i].reassigned   ? set->choice[i]
                       : set->choice[i] == PLACEMENT_DEVICE ? PLACEMENT_MANAGED
                                                            : PLACEMENT_DEVICE;
    asked = 0;
    WORKS(placement_set_init(&other, list->count, &err));
    WORKS(placement_set_run(&other, list, false, &policy, NULL, hw, (struct placement_misses){PLACEMENT_PRINTED, 0},
                            true, &err));
    const double end = other.schedule.end_ms;
    placement_set_release(&other);
    return end;
}

/* Guideline 11 holds for every random co-run set that guideline 1 leaves a device kernel, re-assigned or not; auto
 * co-run is never slower than the same choices in turn, and tasks are re-assigned only where that ends sooner. */
START_TEST(guideline_11_holds_over_random_corun_sets)
{
    struct platform *platform = GIVES(platform_load("tx2", &err));
    const struct placement_platform *hw = platform_section_get(platform, "placement");
    int reassigned = 0;
    for (int round = 0; round < 1000; round++) {
        struct placement_task tasks[8];
        struct placement_tasks list = {.tasks = tasks, .count = 1 + (size_t)any(7.99)};
        for (size_t i = 0; i < list.count; i++) {
            struct placement_task *t = &tasks[i];
            memset(t, 0, sizeof *t);
            placement_keys_default(&t->lo);
            t->lo.bytes_hd = t->lo.shared_bytes = (int64_t)any(64 << 20);
            t->lo.copies = 1;
            t->lo.kernels = 1 + (int64_t)any(400);
            t->lo.dirty_kernels = 1;
            t->lo.kernel_bytes = (int64_t)any(32 << 20);
            t->lo.compute_ms = any(20);
            t->lo.l2_instructions = any(1e7);
            t->lo.l2_hit_ratio = any(1);
            t->hi = t->lo;
        }
        struct placement_set set;
        WORKS(placement_set_init(&set, list.count, &err));
        WORKS(placement_set_run(&set, &list, false, &placement_auto, NULL, hw,
                                (struct placement_misses){PLACEMENT_PRINTED, 0}, true, &err));
        double device = 0, other = 0, alone = 0, was_device = 0;
        for (size_t i = 0; i < list.count; i++) {
            bool moved = set.schedule.slots[i].reassigned;
            was_device += (set.choice[i] == PLACEMENT_DEVICE) != moved ? (double)tasks[i].lo.kernels : 0;
            *(set.choice[i] == PLACEMENT_DEVICE ? &device : &other) += (double)tasks[i].lo.kernels;
            alone += schedule_alone_ms(&set.tasks[i]);
        }
        ck_assert(was_device == 0 || guideline_2(other, device));
        ck_assert_double_le(set.schedule.end_ms, alone + 1e-9);
        bool moved = false;
        for (size_t i = 0; i < list.count; i++)
            moved |= set.schedule.slots[i].reassigned;
        reassigned += moved;
        const double end = end_as_chosen(&set, &list, hw);
        ck_assert(moved ? set.schedule.end_ms < end : set.schedule.end_ms == end);
        placement_set_release(&set);
    }
    ck_assert_int_gt(reassigned, 50);
    platform_free(platform);
}
END_TEST

/* Managed memory that migrates by faults: the kernels take so much longer, or less, and no flush is apart. */
START_TEST(what_kernels_are_spared_shortens_them)
{
    static const double managed[] = {0.25, 0, 0}, spared[] = {0, 0.5, 30}, exec[] = {20, 19.5, 0},
                        flush[] = {0.25, 0, 0};
    struct platform *platform = GIVES(platform_load("tx2", &err));
    const struct placement_platform *hw = platform_section_get(platform, "placement");
    for (int i = 0; i < 3; i++) {
        struct placement_task t = {0};
        struct placement_tasks list = {.tasks = &t, .count = 1};
        struct placement_set set;
        placement_keys_default(&t.lo);
        t.lo.kernels = t.lo.dirty_kernels = 1;
        t.lo.compute_ms = 20;
        t.lo.managed_ms = managed[i];
        t.lo.spared_ms = spared[i];
        t.hi = t.lo;
        WORKS(placement_set_init(&set, 1, &err));
        WORKS(placement_set_run(&set, &list, false, &placement_managed, NULL, hw,
                                (struct placement_misses){PLACEMENT_PRINTED, 0}, false, &err));
        ck_assert_double_eq_tol(set.tasks[0].exec_ms, exec[i], 1e-9);
        ck_assert_double_eq_tol(set.tasks[0].flush_ms, flush[i], 1e-9);
        placement_set_release(&set);
    }
    platform_free(platform);
}
END_TEST

/* Many launches that map little each: pinned memory maps all of them anew, which (10) counts as time to be recovered.
 */
START_TEST(a_choice_that_loses_to_the_baseline_says_by_which_task)
{
    static const char losing[] =
        "[detector]\nbytes_hd = 8MiB\nbytes_dh = 4MiB\ncopies = 2\nkernels = 400\ndirty_kernels = 1\n"
        "kernel_bytes = 12MiB\ncompute_ms = 25\nl2_instructions = 5e5\nl2_hit_ratio = 0.3\nilp = 2\ntlp = 32\n"
        "[tracker]\nbytes_hd = 2MiB\nbytes_dh = 1MiB\ncopies = 2\nkernels = 10\nkernel_bytes = 1MiB\n"
        "compute_ms = 5\nl2_instructions = 1e5\nl2_hit_ratio = 0.3\nilp = 2\ntlp = 32\n";
    const char *const cached[] = {"placement.l_uncached_read=0", "placement.l_uncached_write=0"};
    for (int mine = 0; mine < 2; mine++) { /* against itself nothing is slower */
        WORKS(go_policy(losing, mine ? "auto,device" : "device,managed,auto", cached, 2, &err));
        const struct outcome *run = &result.runs[mine ? 0 : 2];
        bool said = false;
        for (size_t i = 0; i < run->note_count; i++)
            said |= strstr(run->notes[i], "auto is slower than device here") &&
                    strstr(run->notes[i], "does not hold for task detector, pinned");
        ck_assert(said == !mine && run->slower == !mine);
        ck_assert(!result.runs[1].slower); /* all alike promises nothing */
        replay_release(&result);
    }
}
END_TEST

TEST_MAIN("placement")
