#include "models/uvm/uvm_policy.h"

#include <string.h>

#include "trace/base/param_value.h"
#include "trace/base/testing.h"

static struct err err;
static bool diverged;
static struct uvm_lockstep both;

static void begin(const char *first, const char *second)
{
    diverged = false;
    both = (struct uvm_lockstep){.policy = {(const struct uvm_policy *)policy_find(uvm_policies, first),
                                            (const struct uvm_policy *)policy_find(uvm_policies, second)},
                                 .diverged = &diverged};
    ck_assert_msg(uvm_lockstep.init(&both, &err) == 0, "%s", err.msg);
}

/* Pages that come with a fault on page 100 of an empty block; whether it is what the first one says. */
static unsigned plan_of(const char *first)
{
    const struct uvm_policy *p = (const struct uvm_policy *)policy_find(uvm_policies, first);
    struct uvm_block block = {.first = 0, .end = 512};
    struct page_mask faulted = {{0}}, plan = {{0}}, own = {{0}};
    void *state = calloc(1, p->head.state_size);
    page_mask_set(&faulted, 100);
    if (p->head.params)
        param_defaults(p->head.params, state);
    ck_assert(!p->init || p->init(state, &err) == 0);
    p->plan(state, &block, &faulted, &own);
    uvm_lockstep.plan(&both, &block, &faulted, &plan);
    ck_assert_mem_eq(&plan, &own, sizeof plan);
    if (p->release)
        p->release(state);
    free(state);
    return page_mask_count(&plan);
}

START_TEST(equal_plans_do_not_diverge)
{
    begin("fixed", "adaptive"); /* both of 2 MiB */
    ck_assert_uint_eq(plan_of("fixed"), 511);
    ck_assert(!diverged);
    uvm_lockstep.release(&both);
}
END_TEST

START_TEST(the_first_decides_and_a_difference_sets_diverged)
{
    begin("tree", "fixed");
    ck_assert_uint_eq(plan_of("tree"), 15);
    ck_assert(diverged);
    ck_assert_uint_eq(plan_of("tree"), 15);
    ck_assert(diverged);
    uvm_lockstep.release(&both);
    begin("fixed", "none");
    ck_assert_uint_eq(plan_of("fixed"), 511);
    ck_assert(diverged);
    uvm_lockstep.release(&both);
}
END_TEST

/* While memory is abundant adaptive stays at 2 MiB; evictions change it, also by batches of the first. */
START_TEST(both_get_the_ends_of_batches)
{
    struct uvm_batch_block blocks[64];
    struct uvm_batch batch = {.blocks = blocks, .block_count = 64, .evictions = 4, .total_chunks = 8};
    begin("fixed", "adaptive");
    for (int i = 0; i < 400 && !diverged; i++) {
        batch.routine_end = i % 5 == 4;
        for (int k = 0; k < 64; k++)
            blocks[k] = (struct uvm_batch_block){(uint64_t)(i * 64 + k), 1, 1};
        uvm_lockstep.on_batch_end(&both, &batch);
        ck_assert_uint_eq(plan_of("fixed"), 511);
    }
    ck_assert(diverged);
    uvm_lockstep.release(&both);
}
END_TEST

START_TEST(parameters_are_taken_over_and_refused_where_either_policy_refuses_them)
{
    const int64_t sizes[] = {65536, 12288}; /* the struct of fixed is its granularity */
    const struct uvm_policy *fixed = (const struct uvm_policy *)policy_find(uvm_policies, "fixed");
    ck_assert_uint_eq(fixed->head.state_size, sizeof sizes[0]);
    for (int i = 0; i < 4; i++) {
        both = (struct uvm_lockstep){
            .policy = {fixed, fixed}, .params = {&sizes[i & 1], &sizes[i >> 1]}, .diverged = &diverged};
        ck_assert_int_eq(uvm_lockstep.init(&both, &err), i ? -1 : 0);
        ck_assert_mem_eq(both.state[0], &sizes[i & 1], sizeof sizes[0]);
        uvm_lockstep.release(&both);
    }
}
END_TEST

TEST_MAIN("uvm_lockstep")
