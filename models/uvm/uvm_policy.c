#include "models/uvm/uvm_policy.h"

#include <stdlib.h>
#include <string.h>

#include "models/uvm/uvm_evict.h"
#include "trace/base/mem.h"
#include "trace/base/param_value.h"

_Static_assert(offsetof(struct uvm_policy, head) == 0, "a head in the list is its policy");

const struct uvm_policy *uvm_policy_of(const struct policy_head *head)
{
    return head && !head->baseline ? (const struct uvm_policy *)head : NULL;
}

const struct uvm_policy *uvm_policy_stock(void)
{
    size_t i = 0;
    while (!uvm_policy_of(uvm_policies[i])->stock)
        i++;
    return uvm_policy_of(uvm_policies[i]);
}

int uvm_policy_plan(const struct uvm_policy *policy, const void *state, const struct uvm_block *block,
                    const struct page_mask *faulted, struct page_mask *plan, struct err *err)
{
    policy->plan(state, block, faulted, plan);
    struct page_mask movable = *plan;
    uvm_block_keep_movable(block, faulted, &movable);
    if (page_mask_equal(plan, &movable))
        return 0;
    return err_set(err,
                   "check violated: policy %s plans pages of the block at 0x%llx that are faulted, resident, thrashing "
                   "or outside of it",
                   policy->head.name, (unsigned long long)block->addr);
}

/* --- two in lockstep --- */

static int lockstep_init(void *state, struct err *err)
{
    struct uvm_lockstep *a = state;
    for (int i = 0; i < 2; i++) {
        const struct uvm_policy *p = a->policy[i];
        if (!(a->state[i] = mem_zalloc(1, p->head.state_size, err)))
            return -1;
        if (a->params[i])
            memcpy(a->state[i], a->params[i], p->head.state_size);
        else if (p->head.params)
            param_defaults(p->head.params, a->state[i]);
        if (p->init && p->init(a->state[i], err))
            return -1;
    }
    return 0;
}

static void lockstep_plan(const void *state, const struct uvm_block *block, const struct page_mask *faulted,
                          struct page_mask *plan)
{
    const struct uvm_lockstep *a = state;
    struct page_mask other = *plan;
    a->policy[0]->plan(a->state[0], block, faulted, plan);
    if (*a->diverged)
        return;
    a->policy[1]->plan(a->state[1], block, faulted, &other);
    *a->diverged = memcmp(plan, &other, sizeof other) != 0;
}

static void lockstep_on_batch_end(void *state, const struct uvm_batch *batch)
{
    struct uvm_lockstep *a = state;
    for (int i = 0; i < 2; i++)
        if (a->policy[i]->on_batch_end && !(i && *a->diverged))
            a->policy[i]->on_batch_end(a->state[i], batch);
}

static void lockstep_release(void *state)
{
    struct uvm_lockstep *a = state;
    for (int i = 0; i < 2; i++) {
        if (a->policy[i]->release && a->state[i])
            a->policy[i]->release(a->state[i]);
        free(a->state[i]);
    }
}

const struct uvm_policy uvm_lockstep = {.head = {.name = "lockstep",
                                                 .summary = "two prefetchers that decide alike",
                                                 .state_size = sizeof(struct uvm_lockstep)},
                                        .init = lockstep_init,
                                        .plan = lockstep_plan,
                                        .release = lockstep_release,
                                        .on_batch_end = lockstep_on_batch_end};

/* --- eviction --- */

_Static_assert(offsetof(struct uvm_evict_policy, head) == 0, "a head in the list is its policy");

const struct param uvm_evict_plain_params[] = {UVM_EVICT_CAPACITY_ROW(uvm_evict_plain, UVM_EVICT_CHUNK), {0}};

const struct uvm_evict_policy *uvm_evict_of(const struct policy_head *head)
{
    if (head)
        return (const struct uvm_evict_policy *)head;
    size_t i = 0;
    while (!((const struct uvm_evict_policy *)uvm_evict_policies[i])->stock)
        i++;
    return (const struct uvm_evict_policy *)uvm_evict_policies[i];
}

bool uvm_evict_in_pieces(const struct uvm_evict_policy *policy, const void *state)
{
    const struct param *row = param_find(policy->head.params, "capacity");
    return row && param_int(row, state) == UVM_EVICT_PIECE;
}

uint32_t uvm_evict_oldest(const struct uvm_evict_view *view)
{
    UVM_EVICT_EACH(b, view)
    return b;
    return UVM_NO_BLOCK;
}

uint32_t uvm_evict_outside_batch(const struct uvm_evict_view *view, bool newest)
{
    uint32_t b = newest ? view->newest : view->oldest;
    while (b != UVM_NO_BLOCK && (b == view->requester || uvm_evict_in_current_batch(view, b)))
        b = newest ? view->blocks[b].older : view->blocks[b].newer;
    return b != UVM_NO_BLOCK || view->requester == UVM_NO_BLOCK ? b : uvm_evict_oldest(view);
}
