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

static enum dram_leave leaves(void *state, const struct dram_channel *ch, unsigned hits)
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

TEST_MAIN("own_check", every_policy_of_the_program_passes, a_plan_that_goes_by_more_than_its_state_is_named,
          a_victim_that_cannot_go_or_is_not_the_same_twice_is_named, a_scheduler_that_skips_wrongly_is_named,
          a_count_that_is_not_what_expands_is_named, a_choice_that_is_none_or_not_the_same_twice_is_named)
