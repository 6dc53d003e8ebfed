/* random: any block, each as likely as the others.
 *
 * Rule. Of the blocks that hold memory, without those of the current batch, one at random: one draw per eviction from a
 * generator that starts at `seed`. If the current batch has all the memory, the least recently serviced.
 * Example. Blocks A, B, C and D hold memory, B is in the current batch: A, C or D, one time in three each.
 * Source: the usual baseline. The generator: SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
 * Generators, OOPSLA 2014). Differs: nothing known; a draw modulo n is uneven by less than n / 2^64. */
#include "trace/base/random.h"
#include "models/uvm/uvm_evict.h"
#include "trace/base/param.h"

struct uvm_evict_random_state {
    int64_t seed, capacity;
    uint64_t draws;
};

static const struct param params[] = {
    PARAM_INT_ROW(uvm_evict_random_state, seed, "", 0, 1e15, 1, "where the generator starts"),
    UVM_EVICT_CAPACITY_ROW(uvm_evict_random_state, UVM_EVICT_CHUNK),
    {0}};

/* Of the current batch's blocks it is the least. */
static uint32_t lateness(const void *state, const struct uvm_evict_view *view, uint32_t block)
{
    (void)state;
    return UINT32_MAX - view->blocks[block].last_fault_batch;
}

static struct uvm_victim pick(void *state, const struct uvm_evict_view *view)
{
    struct uvm_evict_random_state *s = state;
    const uint32_t current = view->batch ? UINT32_MAX - view->batch : 0;
    const uint64_t draw = random_mix((uint64_t)s->seed + s->draws * RANDOM_STEP);
    const uint32_t block = uvm_evict_index_other(view, current, draw);
    s->draws += block != UVM_NO_BLOCK;
    return uvm_evict_whole(block != UVM_NO_BLOCK ? block : uvm_evict_outside_batch(view, false));
}

const struct uvm_evict_policy uvm_evict_random = {.head = {.name = "random",
                                                           .summary = "any block outside the current batch",
                                                           .source = "usual baseline; generator SplitMix64",
                                                           .params = params,
                                                           .state_size = sizeof(struct uvm_evict_random_state)},
                                                  .pick = pick,
                                                  .key = lateness};
