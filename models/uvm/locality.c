#include "models/uvm/locality.h"

#include <string.h>

enum { NUMBER_BITS = 40 };

/* Whether the block was not seen in this window before; remembers it. A slot of an older window counts as free, which
 * linear probing allows because nothing is removed within a window. Ours, and no uthash: it lies in a policy's state,
 * which allocates nothing, and the next window costs nothing. */
static bool first_seen(struct uvm_locality *window, uint64_t number)
{
    uint64_t tag = (window->number + 1) << NUMBER_BITS;
    uint64_t key = tag | (number & ((1ull << NUMBER_BITS) - 1));
    uint64_t slot = number * 0x9E3779B97F4A7C15ull >> 49; /* Fibonacci hashing to 15 bits */
    for (; window->slots[slot] != key; slot = (slot + 1) % UVM_LOCALITY_SLOTS) {
        if ((window->slots[slot] ^ tag) >> NUMBER_BITS == 0)
            continue;
        if (window->used < UVM_LOCALITY_SLOTS / 4 * 3) {
            window->slots[slot] = key;
            window->used++;
        }
        return true;
    }
    return false;
}

void uvm_locality_add(struct uvm_locality *window, const struct uvm_batch *batch)
{
    for (size_t i = 0; i < batch->block_count; i++)
        window->distinct += first_seen(window, batch->blocks[i].number);
    window->summed += batch->block_count;
    window->batches++;
}

double uvm_locality_r(const struct uvm_locality *window)
{
    return window->batches ? (double)window->distinct / window->batches : 0;
}

double uvm_locality_summed_r(const struct uvm_locality *window)
{
    return window->batches ? (double)window->summed / window->batches : 0;
}

void uvm_locality_next(struct uvm_locality *window)
{
    window->batches = 0;
    window->distinct = window->summed = 0;
    window->used = 0;
    if (++window->number >= (1ull << (64 - NUMBER_BITS)) - 2) { /* tags are used up: start over with free slots */
        memset(window->slots, 0, sizeof window->slots);
        window->number = 0;
    }
}
