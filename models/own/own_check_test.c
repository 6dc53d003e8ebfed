#include "models/own/own_check.h"

#include "models/policies.h"
#include "trace/base/testing.h"

static struct err err;

/* Ask a policy with its defaults, and perhaps one parameter. */
static int check(enum own_interface interface, const struct policy_head *head, const struct dram_hooks *hooks,
                 const char *key, const char *value)
{
    void *params = calloc(1, head->state_size + 1);
    param_defaults(head->params, params);
    if (key)
        ck_assert_int_eq(param_set(head->params, params, key, value, NULL), 0);
    err.msg[0] = 0;
    const int rc = own_check_policy(interface, head, hooks, params, &err);
    free(params);
    return rc;
}

static void refused(int rc, const char *words)
{
    ck_assert_msg(rc == -1, "nothing says '%s'", words);
    ck_assert_msg(strstr(err.msg, words) != NULL, "'%s' is not in '%s'", words, err.msg);
}

START_TEST(every_policy_of_the_program_passes)
{
    for (size_t i = 0; uvm_policies[i]; i++)
        if (!uvm_policies[i]->baseline)
            ck_assert_msg(!check(OWN_UVM_PREFETCH, uvm_policies[i], NULL, NULL, NULL), "%s", err.msg);
    for (size_t i = 0; uvm_evict_policies[i]; i++)
        for (int piece = 0; piece < 2; piece++)
            if (param_find(uvm_evict_policies[i]->params, "capacity") &&
                (piece || strcmp(uvm_evict_policies[i]->name, "tbn")))
                ck_assert_msg(!check(OWN_UVM_EVICT, uvm_evict_policies[i], NULL, "capacity", piece ? "piece" : "chunk"),
                              "%s", err.msg);
            else if (!piece)
                ck_assert_msg(!check(OWN_UVM_EVICT, uvm_evict_policies[i], NULL, NULL, NULL), "%s", err.msg);
    for (size_t i = 0; placement_policies[i]; i++)
        ck_assert_msg(!check(OWN_PLACEMENT, placement_policies[i], NULL, NULL, NULL), "%s", err.msg);
    static const struct policy_head *const patterns[] = {ZEROCOPY_PATTERNS(POLICY_HEAD) NULL};
    for (size_t i = 0; patterns[i]; i++)
        ck_assert_msg(!check(OWN_ZEROCOPY_PATTERN, patterns[i], NULL, NULL, NULL), "%s", err.msg);
}
END_TEST

/* --- what must not pass --- */

enum fault { CLOCKED, SHARED, WRITES, PARTIAL, FAULTED_TOO, NONE };
struct one {
    int64_t fault, seen;
};
static const struct param one_params[] = {PARAM_INT_ROW(one, fault, "", 0, 9, 0, "which rule is broken"), {0}};

static int64_t ticks;           /* as a clock's: never the same */
static const void *last_served; /* as a cache's: of whichever run came last */

static void bad_plan(const void *state, const struct uvm_block *block, const struct page_mask *faulted,
                     struct page_mask *plan)
{
    struct one *s = (struct one *)(uintptr_t)state;
    if (s->fault != PARTIAL)
        page_mask_zero(plan);
    page_mask_set_region(plan, 100, 120);
    if (s->fault == CLOCKED)
        page_mask_set_region(plan, 200, 201 + (unsigned)(ticks++ / 3 % 64));
    if (s->fault == SHARED && last_served == state)
        page_mask_set_region(plan, 200, 300);
    s->seen += s->fault == WRITES;
    uvm_block_keep_movable(block, faulted, plan);
    if (s->fault == FAULTED_TOO)
        page_mask_or(plan, plan, faulted);
}

static void bad_learn(void *state, const struct uvm_batch *batch)
{
    (void)batch;
    last_served = state;
}

static const struct uvm_policy bad = {
    .head = {.name = "bad", .summary = "", .source = "", .params = one_params, .state_size = sizeof(struct one)},
    .plan = bad_plan,
    .learn = bad_learn};

START_TEST(a_plan_that_goes_by_more_than_its_state_is_named)
{
    static const char *const says[] = {"policy bad: plan() gives two", "plan() answers otherwise while a second run",
                                       "plan() changes its state", "plan() leaves parts of *plan",
                                       "plan() plans pages that are faulted"};
    for (int fault = CLOCKED; fault < NONE; fault++)
        refused(check(OWN_UVM_PREFETCH, &bad.head, NULL, "fault", (char[]){(char)('0' + fault), 0}), says[fault]);
    ck_assert_msg(!check(OWN_UVM_PREFETCH, &bad.head, NULL, "fault", "5"), "%s", err.msg);
}
END_TEST

static struct uvm_victim bad_pick(void *state, const struct uvm_evict_view *view)
{
    struct one *s = state;
    if (s->fault == CLOCKED)
        return uvm_evict_whole(ticks++ % 2 ? view->newest : uvm_evict_oldest(view));
    uint32_t none = 0;
    while (view->blocks[none].pieces || none == view->needs)
        none++;
    return uvm_evict_whole(s->fault == SHARED && view->needs != UVM_NO_BLOCK ? view->needs : none);
}

static const struct uvm_evict_policy bad_evict = {
    .head = {.name = "bad", .summary = "", .source = "", .params = one_params, .state_size = sizeof(struct one)},
    .pick = bad_pick};

START_TEST(a_victim_that_cannot_go_or_is_not_the_same_twice_is_named)
{
    refused(check(OWN_UVM_EVICT, &bad_evict.head, NULL, "fault", "0"), "policy bad: pick() ");
    refused(check(OWN_UVM_EVICT, &bad_evict.head, NULL, "fault", "1"), "pick() picks the block that needs the memory");
    refused(check(OWN_UVM_EVICT, &bad_evict.head, NULL, "fault", "2"), "it holds 0");
}
END_TEST

/* A scheduler whose mode ends after 40 cycles in which both classes wait, and how it may say so. */
struct cycles {
    int64_t fault, passed;
};
enum { CYCLES = 40 };

static bool both(const struct dram_channel *ch)
{
    return ch->waiting[DRAM_MEM] && ch->waiting[DRAM_PIM];
}

static enum dram_leave leaves(void *state, const struct dram_channel *ch, dram_banks hits)
{
    struct cycles *s = state;
    (void)hits;
    s->passed += both(ch) + (s->fault == CLOCKED ? ticks++ % 2 : 0);
    if (!ch->waiting[!ch->mode] || (ch->waiting[ch->mode] && s->passed <= CYCLES))
        return DRAM_STAY;
    s->passed = 0;
    return DRAM_LEAVE;
}

static void advance(void *state, const struct dram_channel *ch, int64_t n)
{
    ((struct cycles *)state)->passed += both(ch) ? n : 0;
}

static int64_t next(void *state, const struct dram_channel *ch, int64_t now)
{
    const struct cycles *s = state;
    return s->fault == SHARED ? now : both(ch) ? now + 1 + CYCLES - s->passed : INT64_MAX;
}

static int64_t never(void *state, const struct dram_channel *ch, int64_t now)
{
    (void)state;
    (void)ch;
    (void)now;
    return INT64_MAX;
}

static void count_all(void *state, const struct dram_channel *ch, enum dram_class class, uint32_t row, uint32_t seq)
{
    (void)ch;
    (void)class;
    (void)row;
    (void)seq;
    ((struct cycles *)state)->passed++;
}

static const struct dram_policy cycled = {
    .head = {.name = "bad", .summary = "", .source = "", .params = one_params, .state_size = sizeof(struct cycles)}};

START_TEST(a_scheduler_that_skips_wrongly_is_named)
{
    const struct dram_hooks well = {.leaves = leaves, .advance = advance, .next = next};
    struct dram_hooks h = well;
    ck_assert_msg(!check(OWN_DRAM_SCHEDULER, &cycled.head, &h, "fault", "5"), "%s", err.msg);
    refused(check(OWN_DRAM_SCHEDULER, &cycled.head, &h, "fault", "0"),
            "policy bad: leaves() does not do the same twice");
    refused(check(OWN_DRAM_SCHEDULER, &cycled.head, &h, "fault", "1"), "next() says");
    h.advance = NULL;
    refused(check(OWN_DRAM_SCHEDULER, &cycled.head, &h, "fault", "5"), "goes by cycles that the loop does not visit");
    h = well;
    h.next = never;
    refused(check(OWN_DRAM_SCHEDULER, &cycled.head, &h, "fault", "5"), "advance and next() goes by cycles");
    h = well;
    h.quiet = true;
    h.served = count_all; /* counts MEM requests that pass while no PIM request waits, and has no alone() */
    refused(check(OWN_DRAM_SCHEDULER, &cycled.head, &h, "fault", "5"), "without the promise `quiet`");
}
END_TEST

static int count_more(struct pattern_counter *counter, struct pattern_count *count, struct err *e)
{
    const int rc = zerocopy_merged.finish(counter, count, e);
    count->mix.by_size[3]++;
    return rc;
}

START_TEST(a_count_that_is_not_what_expands_is_named)
{
    struct zerocopy_pattern p = zerocopy_merged;
    p.head.name = "bad";
    p.finish = count_more;
    refused(check(OWN_ZEROCOPY_PATTERN, &p.head, NULL, NULL, NULL),
            "policy bad: count() does not say what expand() makes");
    p.shapes = 0;
    refused(check(OWN_ZEROCOPY_PATTERN, &p.head, NULL, NULL, NULL), "no shape");
}
END_TEST

static enum placement bad_choose(const void *state, const struct placement_overheads *overheads)
{
    (void)overheads;
    return (enum placement)(((const struct one *)state)->fault ? 7 : ticks++ % 2);
}

START_TEST(a_choice_that_is_none_or_not_the_same_twice_is_named)
{
    const struct placement_policy p = {
        .head = {.name = "bad", .summary = "", .source = "", .params = one_params, .state_size = sizeof(struct one)},
        .choose = bad_choose};
    refused(check(OWN_PLACEMENT, &p.head, NULL, "fault", "1"), "choose() chooses 7");
    refused(check(OWN_PLACEMENT, &p.head, NULL, "fault", "0"), "choose() makes two choices");
}
END_TEST

/* --- every hook in turn --- */

enum how { WELL, COUNTS, KEEPS, REFUSES }; /* goes by a count outside its state; writes its state; fails */
static const char *sick;
static enum how sickness;

static int64_t outside(const char *hook)
{
    return sickness == COUNTS && strcmp(hook, sick) == 0 ? ticks++ : 0;
}

/* What the hook does to a state that it may write, or may not. */
static void mark(const void *state, const char *hook)
{
    if (sickness == KEEPS && strcmp(hook, sick) == 0)
        ((struct one *)(uintptr_t)state)->seen++;
}

static int fails(const char *hook, struct err *e)
{
    return sickness == REFUSES && strcmp(hook, sick) == 0 ? err_set(e, "no room for it") : 0;
}

/* The hook is named for what it does, and nothing is said without that. */
static void named(enum own_interface interface, const struct policy_head *head, const struct dram_hooks *hooks,
                  enum how how, const char *hook, const char *does)
{
    char words[100];
    (void)snprintf(words, sizeof words, "policy bad: %s() %s", hook, does);
    sick = hook;
    sickness = how;
    refused(check(interface, head, hooks, "fault", "5"), words);
    sickness = WELL;
    ck_assert_msg(!check(interface, head, hooks, "fault", "5"), "%s", err.msg);
}

static int any_init(void *state, struct err *e)
{
    (void)state;
    return fails("init", e);
}

static size_t asked = 1;
static int64_t least_bytes = 4096;

static void any_ahead(void *state, const struct uvm_ahead *view, struct uvm_asks *asks)
{
    (void)state;
    uvm_asks_add(asks, view->pages[0] + (uint32_t)(outside("ahead") % 512));
    asks->count = asked;
}

static int64_t any_granularity(const void *state)
{
    mark(state, "granularity");
    return 4096 + outside("granularity");
}

static int64_t any_least(const void *state)
{
    mark(state, "least");
    return least_bytes << outside("least") / 3 % 2;
}

START_TEST(each_hook_of_a_prefetch_policy_is_held_to_its_rules)
{
    struct uvm_policy p = bad;
    p.init = any_init;
    p.ahead = any_ahead;
    p.granularity = any_granularity;
    p.least = any_least;
    p.learn = NULL;
    static const char *const answers[] = {"ahead", "granularity", "least"};
    for (size_t i = 0; i < 3; i++)
        named(OWN_UVM_PREFETCH, &p.head, NULL, COUNTS, answers[i], "gives two answers");
    named(OWN_UVM_PREFETCH, &p.head, NULL, KEEPS, "granularity", "changes its state");
    named(OWN_UVM_PREFETCH, &p.head, NULL, KEEPS, "least", "changes its state");
    static const int64_t no_least[] = {0, 2048, 4097, 3 << 20, 4 << 20};
    for (size_t i = 0; i < sizeof no_least / sizeof *no_least; i++) {
        least_bytes = no_least[i];
        refused(check(OWN_UVM_PREFETCH, &p.head, NULL, "fault", "5"), "policy bad: least() says");
    }
    for (least_bytes = 4096; least_bytes <= 2 << 20; least_bytes *= 2)
        ck_assert_msg(!check(OWN_UVM_PREFETCH, &p.head, NULL, "fault", "5"), "%s", err.msg);
    least_bytes = 4096;
    asked = UVM_ASKS + 1;
    refused(check(OWN_UVM_PREFETCH, &p.head, NULL, "fault", "5"), "policy bad: ahead() asks for 4097 pages");
    asked = UVM_ASKS;
    ck_assert_msg(!check(OWN_UVM_PREFETCH, &p.head, NULL, "fault", "5"), "%s", err.msg);
    sick = "init";
    sickness = REFUSES;
    refused(check(OWN_UVM_PREFETCH, &p.head, NULL, "fault", "5"), "policy bad: no room");
}
END_TEST

static struct uvm_victim any_pick(void *state, const struct uvm_evict_view *view)
{
    (void)state;
    return view->needs == UVM_NO_BLOCK ? (struct uvm_victim){view->needs, (uint32_t)outside("pieces of none")}
                                       : uvm_evict_whole(uvm_evict_oldest(view));
}

static struct uvm_victim far_pick(void *state, const struct uvm_evict_view *view)
{
    (void)state;
    return uvm_evict_whole(view->block_count);
}

static uint64_t any_before_batch(void *state, const struct uvm_evict_view *view, uint64_t needed)
{
    (void)state;
    (void)view;
    return needed + (uint64_t)outside("before_batch");
}

static uint64_t any_keep_free(const void *state)
{
    mark(state, "keep_free");
    return (uint64_t)outside("keep_free");
}

static int64_t any_threshold(const void *state, const struct uvm_evict_view *view, uint32_t block)
{
    (void)view;
    mark(state, "threshold");
    return block + outside("threshold");
}

static void any_service(void *state, const struct uvm_evict_view *view, uint32_t block, enum uvm_evict_event event)
{
    (void)view;
    (void)block;
    (void)event;
    ((struct one *)state)->seen += outside("on_service");
}

static struct uvm_victim pick_by_what_was_told(void *state, const struct uvm_evict_view *view)
{
    if (view->needs == UVM_NO_BLOCK)
        return (struct uvm_victim){view->needs, 0};
    return uvm_evict_whole(((struct one *)state)->seen % 2 && view->newest != view->needs ? view->newest
                                                                                          : uvm_evict_oldest(view));
}

START_TEST(what_an_eviction_policy_is_told_tells_it_the_same_twice)
{
    struct uvm_evict_policy p = bad_evict;
    p.pick = pick_by_what_was_told;
    p.on_service = any_service;
    ck_assert_msg(!check(OWN_UVM_EVICT, &p.head, NULL, "fault", "5"), "%s", err.msg);
    sick = "on_service";
    sickness = COUNTS;
    refused(check(OWN_UVM_EVICT, &p.head, NULL, "fault", "5"), "policy bad: pick() ");
    sickness = WELL;
}
END_TEST

START_TEST(each_hook_of_an_eviction_policy_is_held_to_its_rules)
{
    struct uvm_evict_policy p = bad_evict;
    p.init = any_init;
    p.pick = any_pick;
    p.before_batch = any_before_batch;
    p.keep_free = any_keep_free;
    p.threshold = any_threshold;
    static const char *const answers[] = {"before_batch", "keep_free", "threshold"};
    for (size_t i = 0; i < 3; i++)
        named(OWN_UVM_EVICT, &p.head, NULL, COUNTS, answers[i], "gives two answers");
    named(OWN_UVM_EVICT, &p.head, NULL, KEEPS, "keep_free", "changes its state");
    named(OWN_UVM_EVICT, &p.head, NULL, KEEPS, "threshold", "changes its state");
    sick = "pieces of none"; /* mean nothing */
    sickness = COUNTS;
    ck_assert_msg(!check(OWN_UVM_EVICT, &p.head, NULL, "fault", "5"), "%s", err.msg);
    sick = "init";
    sickness = REFUSES;
    refused(check(OWN_UVM_EVICT, &p.head, NULL, "fault", "5"), "policy bad: no room");
    sickness = WELL;
    p.pick = far_pick;
    refused(check(OWN_UVM_EVICT, &p.head, NULL, "fault", "5"), "policy bad: pick() picks VA block 24 of 24");
}
END_TEST

static void any_served(void *state, const struct dram_channel *ch, enum dram_class class, uint32_t row, uint32_t seq)
{
    (void)ch;
    (void)class;
    (void)row;
    (void)seq;
    ((struct cycles *)state)->passed += outside("served");
}

static dram_banks any_stalled(const void *state)
{
    mark(state, "stalled");
    return outside("stalled") & 1;
}

static void any_alone(void *state, int64_t served)
{
    (void)served;
    ((struct cycles *)state)->passed += outside("alone");
}

static bool any_asked(void *state, dram_banks banks)
{
    (void)state;
    (void)banks;
    return outside("asked") & 1;
}

static void any_begin(void *state, int64_t now)
{
    (void)now;
    ((struct cycles *)state)->passed += outside("begin");
}

static void any_advance(void *state, const struct dram_channel *ch, int64_t n)
{
    advance(state, ch, n);
    ((struct cycles *)state)->passed += outside("advance");
}

static int64_t any_next(void *state, const struct dram_channel *ch, int64_t now)
{
    const int64_t at = next(state, ch, now), later = outside("next");
    return later ? now + 1 + later : at;
}

static enum dram_leave odd_leave(void *state, const struct dram_channel *ch, dram_banks hits)
{
    (void)state;
    (void)ch;
    (void)hits;
    return (enum dram_leave)3;
}

static int64_t any_favoured(const void *state, enum dram_class class)
{
    (void)state;
    (void)class;
    return outside("favoured");
}

static int any_check(const void *state, struct err *e)
{
    (void)state;
    return fails("check", e);
}

START_TEST(each_hook_of_a_scheduler_is_held_to_its_rules)
{
    struct dram_hooks h = {.quiet = true,
                           .leaves = leaves,
                           .served = any_served,
                           .stalled = any_stalled,
                           .alone = any_alone,
                           .asked = any_asked,
                           .begin = any_begin,
                           .advance = any_advance,
                           .next = any_next};
    struct dram_policy p = cycled;
    p.favoured = any_favoured;
    p.check = any_check;
    static const char *const twice[] = {"served", "stalled", "alone", "asked", "begin", "advance", "next"};
    for (size_t i = 0; i < sizeof twice / sizeof *twice; i++)
        named(OWN_DRAM_SCHEDULER, &p.head, &h, COUNTS, twice[i], "does not do the same twice");
    named(OWN_DRAM_SCHEDULER, &p.head, &h, KEEPS, "stalled", "changes its state");
    named(OWN_DRAM_SCHEDULER, &p.head, &h, COUNTS, "favoured", "gives two answers");
    sick = "check";
    sickness = REFUSES;
    refused(check(OWN_DRAM_SCHEDULER, &p.head, &h, "fault", "5"), "policy bad: no room");
    sickness = WELL;
    h.leaves = odd_leave;
    refused(check(OWN_DRAM_SCHEDULER, &p.head, &h, "fault", "5"), "policy bad: leaves() answers 3");
}
END_TEST

static struct pattern_counter *any_counter_new(const struct pattern_view *view, struct err *e)
{
    return fails("counter_new", e) ? NULL : zerocopy_merged.counter_new(view, e);
}

static int any_count(struct pattern_counter *counter, const struct scan *scans, size_t n, struct err *e)
{
    return fails("count", e) ? -1 : zerocopy_merged.count(counter, scans, n, e);
}

static int any_finish(struct pattern_counter *counter, struct pattern_count *count, struct err *e)
{
    const int rc = zerocopy_merged.finish(counter, count, e);
    count->loads += (uint64_t)outside("finish");
    return fails("finish", e) ? -1 : rc;
}

static int any_expand(const struct pattern_view *view, const struct scan *scans, size_t n, struct pattern_carry *carry,
                      struct coalescer *c, struct err *e)
{
    return fails("expand", e) ? -1 : zerocopy_merged.expand(view, scans, n, carry, c, e);
}

START_TEST(each_hook_of_a_pattern_is_held_to_its_rules)
{
    struct zerocopy_pattern p = zerocopy_merged;
    p.head.name = "bad";
    p.counter_new = any_counter_new;
    p.count = any_count;
    p.finish = any_finish;
    p.expand = any_expand;
    static const struct {
        const char *hook, *says;
    } failing[] = {{"counter_new", "policy bad: counter_new(): no room"},
                   {"count", "policy bad: count(): no room"},
                   {"finish", "policy bad: count(): no room"},
                   {"expand", "policy bad: expand(): no room"}};
    for (size_t i = 0; i < sizeof failing / sizeof *failing; i++) {
        sick = failing[i].hook;
        sickness = REFUSES;
        refused(check(OWN_ZEROCOPY_PATTERN, &p.head, NULL, NULL, NULL), failing[i].says);
    }
    sick = "finish";
    sickness = COUNTS;
    refused(check(OWN_ZEROCOPY_PATTERN, &p.head, NULL, NULL, NULL), "policy bad: finish() gives two answers");
    sickness = WELL;
    ck_assert_msg(!check(OWN_ZEROCOPY_PATTERN, &p.head, NULL, NULL, NULL), "%s", err.msg);
}
END_TEST

TEST_MAIN("own_check", every_policy_of_the_program_passes, a_plan_that_goes_by_more_than_its_state_is_named,
          a_victim_that_cannot_go_or_is_not_the_same_twice_is_named, a_scheduler_that_skips_wrongly_is_named,
          a_count_that_is_not_what_expands_is_named, a_choice_that_is_none_or_not_the_same_twice_is_named,
          each_hook_of_a_prefetch_policy_is_held_to_its_rules, each_hook_of_an_eviction_policy_is_held_to_its_rules,
          each_hook_of_a_scheduler_is_held_to_its_rules, each_hook_of_a_pattern_is_held_to_its_rules,
          what_an_eviction_policy_is_told_tells_it_the_same_twice)
