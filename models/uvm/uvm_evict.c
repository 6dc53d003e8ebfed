#include "models/uvm/uvm_evict.h"
#include "trace/base/param.h"

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

uint32_t uvm_evict_out_of_hand(const struct uvm_evict_view *view, bool newest)
{
    uint32_t b = newest ? view->newest : view->oldest;
    while (b != UVM_NO_BLOCK && (b == view->needs || uvm_evict_in_hand(view, b)))
        b = newest ? view->blocks[b].older : view->blocks[b].newer;
    return b != UVM_NO_BLOCK || view->needs == UVM_NO_BLOCK ? b : uvm_evict_oldest(view);
}
