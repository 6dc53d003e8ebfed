#include "replay/uvm/uvm_recorded.h"

#include "replay/uvm/uvm_recorded_testing.h"

enum { BASE = 0x40000000 };

static const struct metric metrics[] = {
    {"time_ns", METRIC_INT, METRIC_SUM, ""},           {"faults", METRIC_INT, METRIC_SUM, ""},
    {"batches", METRIC_INT, METRIC_SUM, ""},           {"services", METRIC_INT, METRIC_SUM, ""},
    {"h2d_bytes", METRIC_INT, METRIC_SUM, ""},         {"d2h_bytes", METRIC_INT, METRIC_SUM, ""},
    {"prefetched_bytes", METRIC_INT, METRIC_SUM, ""},  {"prefetched_used_ratio", METRIC_REAL, METRIC_MEAN, ""},
    {"evictions", METRIC_INT, METRIC_SUM, ""},         {"touched_bytes", METRIC_INT, METRIC_SUM, ""},
    {"overfetch_ratio", METRIC_REAL, METRIC_MEAN, ""}, {0}};

struct answer {
    enum uvm_answer answer;
    struct outcome outcome;
};

static struct answer ask_policy(const struct uvm_recording *r, const struct uvm_policy *pol, const char *setting,
                                int64_t memory)
{
    struct uvm_platform p;
    param_defaults(uvm_platform_params, &p);
    void *params = calloc(1, pol->head.state_size + 1);
    param_defaults(pol->head.params, params);
    if (setting) {
        char name[64];
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(setting, "="), setting);
        ck_assert_int_eq(param_set(pol->head.params, params, name, strchr(setting, '=') + 1, NULL), 0);
    }
    struct answer a;
    struct err err = {""};
    ck_assert_int_eq(outcome_init(&a.outcome, metrics, &err), 0);
    struct uvm_known known;
    ck_assert_int_eq(uvm_known_init(&known, r, &err), 0);
    struct uvm_recorded_run run = {
        .recording = r, .known = &known, .policy = pol, .params = params, .platform = &p, .gpu_memory_bytes = memory};
    ck_assert_msg(uvm_recorded_run(&run, &a.outcome, &a.answer, &err) == 0, "%s", err.msg);
    uvm_known_release(&known);
    free(params);
    return a;
}

static struct answer ask(const struct uvm_recording *r, const char *policy, const char *setting, int64_t memory)
{
    return ask_policy(r, uvm_policy_find(policy), setting, memory);
}

static bool known(const struct answer *a, const char *name, double *value)
{
    const struct metric_value *v = outcome_get(&a->outcome, name);
    *value = v->real;
    return v->known && !v->interval;
}

/* Whether the value, or the interval, admits the truth. */
static void admits(const struct answer *a, const char *name, double truth)
{
    const struct metric_value *v = outcome_get(&a->outcome, name);
    ck_assert_msg(v->known || v->interval, "%s is not given", name);
    if (v->interval)
        ck_assert_msg(v->lo <= truth && truth <= v->hi, "%s: %g not in [%g, %g]", name, truth, v->lo, v->hi);
    else
        ck_assert_msg(v->real == truth, "%s: %g, not %g", name, v->real, truth);
}

static void load(struct uvm_recording *r, const struct tape *t)
{
    uvm_recording_init(r);
    ck_assert_int_eq(uvm_recording_add(r, t->records, t->count, NULL), 0);
    ck_assert_int_eq(uvm_recording_finish(r, NULL), 0);
}

static bool begins(const struct answer *a, const char *word)
{
    return a->outcome.note_count && strncmp(a->outcome.notes[0], word, strlen(word)) == 0;
}

/* Programs whose touches are known, recorded under the stock prefetcher, asked about every policy: the answers admit
 * what the program does under that policy. */
static void check_program(bool sweep)
{
    static const struct {
        const char *policy, *setting;
        enum uvm_answer answer;
        const char *word;
    } rows[] = {{"tree", NULL, UVM_EXACT, "exact:"},
                {"tree", "threshold=50", UVM_EXACT, "exact:"},
                {"none", NULL, UVM_INTERVAL, "interval:"},
                {"fixed", "granularity=4KiB", UVM_INTERVAL, "interval:"},
                {"fixed", "granularity=64KiB", UVM_INTERVAL, "interval:"},
                {"fixed", "granularity=2MiB", UVM_INTERVAL, "interval:"},
                {"tree", "threshold=10", UVM_INTERVAL, "interval:"},
                {"adaptive", NULL, UVM_INTERVAL, "interval:"}};
    enum { BLOCKS = 24 };
    struct tape recorded;
    struct uvm_recording r;
    tape_init(&recorded, "tree", NULL, BASE, BLOCKS * UVM_BLOCK_BYTES);
    tape_allocation(&recorded, BASE, BLOCKS * UVM_BLOCK_BYTES);
    tape_cpu_writes(&recorded);
    if (sweep)
        tape_sweep(&recorded, BLOCKS, 2, 41);
    else
        tape_random(&recorded, BLOCKS, 80, 50, 77);
    load(&r, &recorded);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tape t;
        tape_init(&t, rows[i].policy, rows[i].setting, BASE, BLOCKS * UVM_BLOCK_BYTES);
        if (sweep)
            tape_sweep(&t, BLOCKS, 2, 41);
        else
            tape_random(&t, BLOCKS, 80, 50, 77);
        struct answer a = ask(&r, rows[i].policy, rows[i].setting, 0);
        ck_assert_msg(a.answer == rows[i].answer && begins(&a, rows[i].word), "%s %s: %s", rows[i].policy,
                      rows[i].setting ? rows[i].setting : "", a.outcome.notes[0]);
        admits(&a, "faults", (double)t.faults);
        admits(&a, "h2d_bytes", (double)t.bytes);
        admits(&a, "prefetched_bytes", (double)(t.bytes - t.faults * UVM_PAGE_BYTES));
        admits(&a, "evictions", 0);
        admits(&a, "d2h_bytes", 0);
        admits(&a, "batches", (double)t.batches);
        admits(&a, "services", (double)t.services);
        outcome_release(&a.outcome);
        tape_release(&t);
    }
    uvm_recording_release(&r);
    tape_release(&recorded);
}

START_TEST(answers_about_a_sweep_admit_what_it_does_under_every_policy)
{
    check_program(true);
}
END_TEST

START_TEST(answers_about_random_touches_admit_what_they_do_under_every_policy)
{
    check_program(false);
}
END_TEST

START_TEST(a_recording_without_prefetch_gives_exact_bytes_of_every_fixed_granularity)
{
    struct tape recorded, t;
    struct uvm_recording r;
    double bytes;
    tape_init(&recorded, "none", NULL, BASE, 10 * UVM_BLOCK_BYTES);
    tape_allocation(&recorded, BASE, 10 * UVM_BLOCK_BYTES);
    tape_cpu_writes(&recorded);
    tape_random(&recorded, 10, 30, 30, 5);
    load(&r, &recorded);
    tape_init(&t, "fixed", "granularity=64KiB", BASE, 10 * UVM_BLOCK_BYTES);
    tape_random(&t, 10, 30, 30, 5);
    struct answer a = ask(&r, "none", NULL, 0), b = ask(&r, "fixed", "granularity=64KiB", 0);
    ck_assert_int_eq(a.answer, UVM_EXACT);
    ck_assert_int_eq(b.answer, UVM_BOUND);
    ck_assert(known(&b, "h2d_bytes", &bytes) && bytes == (double)t.bytes);
    ck_assert(known(&b, "touched_bytes", &bytes) && bytes == (double)recorded.bytes);
    ck_assert(known(&b, "prefetched_used_ratio", &bytes) && bytes < 1);
    outcome_release(&a.outcome);
    outcome_release(&b.outcome);
    tape_release(&t);
    uvm_recording_release(&r);
    tape_release(&recorded);
}
END_TEST

/* A policy of one's own: regions of 128 KiB. */
static void mine_plan(const void *state, const struct uvm_block *block, const struct page_mask *faulted,
                      struct page_mask *plan)
{
    (void)state;
    page_mask_zero(plan);
    PAGE_MASK_EACH(page, faulted)
    page_mask_set_region(plan, page / 32 * 32, page / 32 * 32 + 32);
    uvm_block_keep_movable(block, faulted, plan);
}

START_TEST(any_regional_policy_gets_the_answer_that_fixed_gets)
{
    struct uvm_policy mine = {.head = {.name = "mine"}, .plan = mine_plan, .regional = true};
    struct tape recorded;
    struct uvm_recording r;
    double bytes, expected;
    tape_init(&recorded, "none", NULL, BASE, 10 * UVM_BLOCK_BYTES);
    tape_allocation(&recorded, BASE, 10 * UVM_BLOCK_BYTES);
    tape_cpu_writes(&recorded);
    tape_random(&recorded, 10, 30, 30, 5);
    load(&r, &recorded);
    struct answer a = ask_policy(&r, &mine, NULL, 0), b = ask(&r, "fixed", "granularity=128KiB", 0);
    mine.regional = false;
    struct answer weaker = ask_policy(&r, &mine, NULL, 0);
    ck_assert_int_eq(a.answer, UVM_BOUND);
    ck_assert_str_eq(a.outcome.notes[0], b.outcome.notes[0]);
    ck_assert(known(&a, "h2d_bytes", &bytes) && known(&b, "h2d_bytes", &expected) && bytes == expected);
    ck_assert_int_eq(weaker.answer, UVM_BOUND);
    const struct metric_value *wide = outcome_get(&weaker.outcome, "h2d_bytes");
    ck_assert(wide->interval && wide->lo <= bytes && bytes <= wide->hi);
    outcome_release(&a.outcome);
    outcome_release(&b.outcome);
    outcome_release(&weaker.outcome);
    uvm_recording_release(&r);
    tape_release(&recorded);
}
END_TEST

START_TEST(oversubscription_without_re_references_is_refused_with_every_metric_unknown)
{
    struct tape recorded;
    struct uvm_recording r;
    tape_init(&recorded, "tree", NULL, BASE, 10 * UVM_BLOCK_BYTES);
    tape_random(&recorded, 10, 30, 30, 5);
    load(&r, &recorded);
    struct answer a = ask(&r, "tree", NULL, 9 * UVM_BLOCK_BYTES), b = ask(&r, "tree", NULL, 10 * UVM_BLOCK_BYTES);
    ck_assert_int_eq(a.answer, UVM_REFUSED);
    ck_assert(begins(&a, "refused:"));
    for (size_t i = 0; i < a.outcome.count; i++)
        ck_assert(!a.outcome.values[i].known && !a.outcome.values[i].interval);
    ck_assert_int_eq(b.answer, UVM_EXACT);
    outcome_release(&a.outcome);
    outcome_release(&b.outcome);
    uvm_recording_release(&r);
    tape_release(&recorded);
}
END_TEST

START_TEST(a_recording_that_evicted_answers_for_its_own_policy_only)
{
    struct tape t;
    struct uvm_recording r;
    tape_init(&t, "tree", NULL, BASE, 6 * UVM_BLOCK_BYTES);
    tape_random(&t, 6, 20, 30, 5);
    struct page_mask gone = t.blocks[2].resident;
    PAGE_MASK_EACH_RUN(first, end, &gone)
    {
        tape_add(&t, (struct record){.kind = RECORD_MIGRATE_D2H,
                                     .time = t.now,
                                     .duration = 100,
                                     .addr = uvm_block_addr(&t.blocks[2], first),
                                     .bytes = (uint64_t)(end - first) * UVM_PAGE_BYTES,
                                     .flags = RECORD_CAUSE_EVICTION});
        t.now += 100;
    }
    t.now += 100000;
    page_mask_zero(&t.blocks[2].resident);
    tape_random(&t, 6, 20, 30, 99);
    load(&r, &t);
    struct answer own = ask(&r, "tree", NULL, 0), other = ask(&r, "fixed", NULL, 0);
    ck_assert_int_eq(own.answer, UVM_EXACT);
    admits(&own, "evictions", 1);
    admits(&own, "h2d_bytes", (double)t.bytes);
    admits(&own, "d2h_bytes", (double)page_mask_count(&gone) * UVM_PAGE_BYTES);
    ck_assert_int_eq(other.answer, UVM_REFUSED);
    ck_assert(begins(&other, "refused:"));
    outcome_release(&own.outcome);
    outcome_release(&other.outcome);
    uvm_recording_release(&r);
    tape_release(&t);
}
END_TEST

TEST_MAIN("uvm_recorded", answers_about_a_sweep_admit_what_it_does_under_every_policy,
          answers_about_random_touches_admit_what_they_do_under_every_policy,
          a_recording_without_prefetch_gives_exact_bytes_of_every_fixed_granularity,
          any_regional_policy_gets_the_answer_that_fixed_gets,
          oversubscription_without_re_references_is_refused_with_every_metric_unknown,
          a_recording_that_evicted_answers_for_its_own_policy_only)
