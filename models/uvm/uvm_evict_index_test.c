/* The index against the walk over the list, which says what it must find. */
#include "models/uvm/uvm_evict_index.h"

#include "trace/base/random.h"
#include "trace/base/testing.h"

enum { BLOCKS = 40 };

static struct uvm_evict_block facts[BLOCKS];
static struct uvm_evict_view view;
static bool in_list[BLOCKS];
static struct uvm_evict_index index_of_view;

static uint32_t key(const void *state, const struct uvm_evict_view *v, uint32_t block)
{
    (void)state;
    return v->blocks[block].faulted;
}

static void take_out(uint32_t b)
{
    struct uvm_evict_block *f = &facts[b];
    *(f->older == UVM_NO_BLOCK ? &view.oldest : &facts[f->older].newer) = f->newer;
    *(f->newer == UVM_NO_BLOCK ? &view.newest : &facts[f->newer].older) = f->older;
    in_list[b] = false;
}

static void put_last(uint32_t b)
{
    if (in_list[b])
        take_out(b);
    facts[b].older = view.newest;
    facts[b].newer = UVM_NO_BLOCK;
    *(view.newest == UVM_NO_BLOCK ? &view.oldest : &facts[view.newest].newer) = b;
    view.newest = b;
    in_list[b] = true;
}

/* A block comes, is serviced, changes, is emptied or loses its memory. */
static void happen(struct random *random, uint32_t kinds)
{
    uint32_t b = random_below(random, BLOCKS), what = random_below(random, 6);
    facts[b].faulted = random_below(random, 50) ? random_below(random, kinds) : UINT32_MAX;
    if (what < 3) {
        put_last(b);
        uvm_evict_index_note(&view, b, false);
    } else if (what == 3 || !in_list[b]) {
        uvm_evict_index_note(&view, b, false); /* also of one that is not there */
    } else {
        take_out(b);
        uvm_evict_index_note(&view, b, true);
    }
}

/* The list from its oldest on: the first of the least; number draw % n of those with another key than `key`. */
static uint32_t walk_least(void)
{
    uint32_t least = UVM_NO_BLOCK;
    UVM_EVICT_EACH(b, &view)
    if (least == UVM_NO_BLOCK || facts[b].faulted < facts[least].faulted)
        least = b;
    return least;
}

static uint32_t walk_other(uint32_t key, uint64_t draw)
{
    uint32_t other[BLOCKS], n = 0;
    UVM_EVICT_EACH(b, &view)
    if (facts[b].faulted != key)
        other[n++] = b;
    return n ? other[draw % n] : UVM_NO_BLOCK;
}

static void compare(uint64_t draw)
{
    uvm_evict_index_hide(&view, view.requester);
    const uint32_t least = walk_least(), lowest = least == UVM_NO_BLOCK ? 0 : facts[least].faulted;
    ck_assert_uint_eq(uvm_evict_pick_least(NULL, &view).block, least);
    ck_assert_uint_eq(uvm_evict_index_other(&view, lowest, draw), walk_other(lowest, draw));
    if (lowest)
        ck_assert_uint_eq(uvm_evict_index_other(&view, lowest - 1, draw), walk_other(lowest - 1, draw));
    const uint32_t requester = view.requester;
    view.requester = UVM_NO_BLOCK;
    uvm_evict_index_note(&view, requester, false);
}

START_TEST(whatever_happens_it_finds_what_a_walk_finds)
{
    struct random random = {9};
    for (int run = 0; run < 40; run++) {
        const uint32_t kinds = 1 + random_below(&random, 9), before = random_below(&random, 100);
        memset(facts, 0, sizeof facts);
        memset(in_list, 0, sizeof in_list);
        view = (struct uvm_evict_view){.blocks = facts,
                                       .block_count = BLOCKS,
                                       .oldest = UVM_NO_BLOCK,
                                       .newest = UVM_NO_BLOCK,
                                       .requester = UVM_NO_BLOCK};
        for (uint32_t i = 0; i < 1000; i++) {
            happen(&random, kinds);
            if (i == before)
                WORKS(uvm_evict_index_init(&index_of_view, &view, key, NULL, &err));
            view.requester = random_below(&random, 3) ? random_below(&random, BLOCKS) : UVM_NO_BLOCK;
            if (i >= before)
                compare(random_below(&random, 1000));
            view.requester = UVM_NO_BLOCK;
        }
        uvm_evict_index_release(&index_of_view);
    }
}
END_TEST

TEST_MAIN("uvm_evict_index")
