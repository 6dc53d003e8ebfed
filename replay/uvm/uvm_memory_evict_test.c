/* Eviction as the driver's examples have it: which block goes, what is copied, and that nothing is lost on the way. */
#include "models/uvm/uvm_policy.h"
#include "replay/uvm/uvm_memory.h"
#include "trace/base/testing.h"

static struct uvm_memory memory;
static struct actor_alloc alloc;
static uint32_t batch;
static uint64_t runs_back;

static void setup(uint64_t bytes, uint64_t chunks, const char *policy)
{
    alloc = (struct actor_alloc){.name = "a", .bytes = bytes, .host = true};
    batch = 0;
    runs_back = 0;
    actor_space_place(&alloc, 1);
    ck_assert_int_eq(actor_space_init(&alloc, 1, NULL), 0);
    ck_assert_int_eq(uvm_memory_init(&memory, &alloc, 1, chunks, NULL), 0);
    ck_assert_int_eq(uvm_memory_evict_by(
                         &memory, (const struct uvm_evict_policy *)policy_find(uvm_evict_policies, policy), NULL, NULL),
                     0);
}

/* A batch with one fault, on `page` of `block`, unless that is resident; the tree says what comes with it. */
static void touch(uint32_t block, unsigned page)
{
    struct uvm_memory_block *b = &memory.blocks[block];
    struct page_mask faulted = {{0}}, plan = {{0}}, come, copied;
    struct uvm_evicted out;
    struct err err = {""};
    uint32_t pieces;
    int rc;
    if (page_mask_test(&b->block.resident, page))
        return;
    page_mask_set(&faulted, page);
    batch++;
    uvm_memory_begin_batch(&memory, batch, 1000);
    memory.facts[block].last_fault_batch = batch;
    uvm_tree_plan(&b->block, &faulted, UVM_TREE_THRESHOLD, &plan);
    page_mask_or(&come, &faulted, &plan);
    while ((rc = uvm_memory_take(&memory, block, &come, &pieces, &out, &err)) == 0)
        runs_back += out.runs;
    ck_assert_msg(rc == 1, "%s", err.msg);
    ck_assert_int_eq(uvm_memory_migrate(&memory, block, &faulted, &plan, &copied, NULL), 0);
    ck_assert_msg(uvm_memory_check(&memory, &err) == 0, "%s", err.msg);
}

/* The blocks that hold memory, least recently serviced first, as digits. */
static uint64_t order(void)
{
    uint64_t digits = 0;
    for (uint32_t b = memory.view.oldest; b != UVM_NO_BLOCK; b = memory.facts[b].newer)
        digits = digits * 10 + b;
    return digits;
}

START_TEST(v1_the_block_least_recently_serviced_goes)
{
    setup(8 << 20, 3, "lru");
    touch(1, 0);
    touch(2, 0);
    touch(3, 0);
    touch(1, 100);
    touch(0, 0);
    ck_assert_uint_eq(order(), 310); /* 3, 1, 0: 2 went */
    ck_assert_uint_eq(memory.total.evictions, 1);
    uvm_memory_release(&memory);
}
END_TEST

START_TEST(v2_a_block_that_the_cpu_has_emptied_goes_first_and_without_a_copy)
{
    setup(8 << 20, 3, "lru");
    touch(1, 0);
    touch(2, 0);
    touch(3, 0);
    touch(1, 100);
    struct page_mask all;
    memset(&all, 0xff, sizeof all);
    uint64_t d2h = uvm_memory_to_host(&memory, 3, &all);
    ck_assert_uint_eq(d2h, 16);
    touch(0, 0);
    ck_assert_uint_eq(order(), 210); /* 2, 1, 0: 3 went */
    ck_assert_uint_eq(memory.evictions.back, 0);
    ck_assert_uint_eq(runs_back, 0);
    touch(3, 0); /* and is used again */
    ck_assert_uint_eq(order(), 103);
    uvm_memory_release(&memory);
}
END_TEST

START_TEST(v3_what_came_goes_back_in_one_run_whether_it_was_written_or_not)
{
    setup(4 << 20, 1, "lru");
    touch(0, 100);
    ck_assert_uint_eq(memory.facts[0].resident, 16); /* pages 96 to 111 */
    touch(1, 0);
    ck_assert_uint_eq(memory.evictions.back, 16);
    ck_assert_uint_eq(runs_back, 1);
    uvm_memory_release(&memory);
}
END_TEST

/* D1: A, B, C hold the chunks, A was serviced last before it is discarded; D needs one. */
START_TEST(d1_a_discarded_block_goes_without_a_copy_before_the_policy_is_asked)
{
    setup(10 << 20, 3, "lru");
    touch(1, 0);
    touch(2, 0);
    touch(3, 0);
    touch(1, 100);
    uvm_memory_discard(&memory, 1);
    ck_assert_uint_eq(order(), 23);
    touch(0, 0);
    ck_assert_uint_eq(order(), 230); /* 2, 3, 0: 1 went */
    ck_assert_uint_eq(memory.evictions.back, 0);
    ck_assert_uint_eq(runs_back, 0);
    ck_assert_uint_eq(memory.total.dropped, 32);
    uint64_t h2d = memory.total.h2d;
    touch(1, 100); /* 2 goes; its data is lost, nothing is copied in */
    ck_assert_uint_eq(memory.total.h2d, h2d);
    uvm_memory_release(&memory);
}
END_TEST

START_TEST(what_is_discarded_goes_behind_the_unused_and_comes_back_to_life)
{
    setup(10 << 20, 3, "lru");
    touch(1, 0);
    touch(2, 0);
    touch(3, 0);
    uvm_memory_discard(&memory, 1);
    uvm_memory_discard(&memory, 1); /* nothing is left to discard */
    struct page_mask all;
    memset(&all, 0xff, sizeof all);
    (void)uvm_memory_to_host(&memory, 2, &all);
    touch(0, 0); /* the chunk of 2, which is unused */
    ck_assert(memory.blocks[1].chunk && !memory.blocks[2].chunk);
    touch(1, 100); /* used again, in the chunk that it has kept */
    ck_assert_uint_eq(order(), 301);
    ck_assert_uint_eq(memory.total.evictions, 1);
    touch(4, 0);
    ck_assert_uint_eq(order(), 14); /* 0, 1, 4: 3 went, the least recently serviced */
    ck_assert_uint_eq(memory.evictions.back, 16);
    uvm_memory_release(&memory);
}
END_TEST

/* Two blocks of 1 MiB in one chunk, then two whole ones; the first again, in a piece it has. */
START_TEST(v4_blocks_that_share_a_chunk_leave_together_by_its_allocations)
{
    struct actor_alloc allocs[] = {{.name = "x", .bytes = 1 << 20, .host = true},
                                   {.name = "y", .bytes = 1 << 20, .host = true},
                                   {.name = "z", .bytes = 6 << 20, .host = true}};
    setup(2 << 20, 1, "lru");
    uvm_memory_release(&memory);
    actor_space_place(allocs, 3);
    ck_assert_int_eq(actor_space_init(allocs, 3, NULL), 0);
    ck_assert_int_eq(uvm_memory_init(&memory, allocs, 3, 3, NULL), 0);
    struct page_mask page = {{1u << 3}}, none = {{0}}, copied;
    struct uvm_evicted out;
    uint32_t pieces;
    ck_assert_int_eq(uvm_memory_take(&memory, 0, &page, &pieces, &out, NULL), 1);
    ck_assert_int_eq(uvm_memory_migrate(&memory, 0, &page, &none, &copied, NULL), 0);
    touch(1, 0);
    touch(2, 0);
    touch(3, 0);
    ck_assert_uint_eq(memory.chunks_used, 3);
    page.w[0] = 1u << 4;
    ck_assert_int_eq(uvm_memory_take(&memory, 0, &page, &pieces, &out, NULL), 1);
    ck_assert_int_eq(uvm_memory_migrate(&memory, 0, &page, &none, &copied, NULL), 0);
    ck_assert_uint_eq(order(), 123); /* 0 and 1, 2, 3 */
    touch(4, 0);
    ck_assert(!memory.blocks[0].chunk && !memory.blocks[1].chunk);
    ck_assert_uint_eq(order(), 234);
    ck_assert_uint_eq(memory.total.evictions, 2);
    uvm_memory_release(&memory);
}
END_TEST

START_TEST(v5_a_cyclic_sweep_under_lru_and_mru)
{
    static const struct {
        const char *policy;
        uint64_t services, evictions;
    } rows[] = {{"lru", 15, 11}, {"mru", 9, 5}, {"fifo", 15, 11}};
    for (int r = 0; r < 3; r++) {
        setup(10 << 20, 4, rows[r].policy);
        for (int round = 0; round < 3; round++)
            for (uint32_t b = 0; b < 5; b++)
                touch(b, 0);
        ck_assert_uint_eq(memory.total.services, rows[r].services);
        ck_assert_uint_eq(memory.total.evictions, rows[r].evictions);
        uvm_memory_release(&memory);
    }
}
END_TEST

START_TEST(pages_that_come_back_within_twenty_batches_are_counted)
{
    setup(4 << 20, 1, "lru");
    touch(0, 0); /* batch 1: 16 pages */
    touch(1, 0); /* batch 2: block 0 goes */
    batch = 21;
    touch(0, 0); /* batch 22, 20 after: block 1 goes, 16 pages of 0 return */
    ck_assert_uint_eq(memory.evictions.returned, 16);
    batch += 20;
    touch(1, 0); /* 21 after */
    ck_assert_uint_eq(memory.evictions.returned, 16);
    ck_assert_uint_eq(memory.evictions.back, 48);
    ck_assert_uint_eq(memory.evictions.unused, 45); /* nothing was touched; 15 of 16 were prefetched, three times */
    uvm_memory_release(&memory);
}
END_TEST

START_TEST(pieces_are_taken_as_pages_need_them_and_go_leaf_by_leaf)
{
    setup(8 << 20, 1, "tbn");
    for (unsigned leaf = 0; leaf < 8; leaf++)
        touch(0, leaf * 64); /* sparse: a leaf each */
    ck_assert_uint_eq(memory.pieces_used, 8);
    for (uint32_t b = 1; b < 4; b++)
        for (unsigned leaf = 0; leaf < 8; leaf++)
            touch(b, leaf * 64);
    ck_assert_uint_eq(memory.pieces_used, 32);
    ck_assert_uint_eq(memory.total.evictions, 0);
    touch(3, 500); /* block 0 is coldest: its leaf 0, and the rest of a tree that is less than half full */
    ck_assert_uint_eq(memory.total.evictions, 1);
    ck_assert(!page_mask_test(&memory.blocks[0].block.resident, 0));
    ck_assert_uint_eq(memory.facts[3].pieces & 1u << 31, 1u << 31);
    uvm_memory_release(&memory);
}
END_TEST

static struct uvm_victim wrong;
static struct uvm_victim pick_wrong(void *state, const struct uvm_evict_view *view)
{
    (void)state, (void)view;
    return wrong;
}

START_TEST(a_policy_that_breaks_a_rule_is_found)
{
    static const struct uvm_evict_policy policy = {.head = {.name = "wrong"}, .pick = pick_wrong};
    static const struct uvm_victim bad[] = {
        {1, UINT32_MAX}, {2, UINT32_MAX}, {77, UINT32_MAX}, {0, 0}, {UVM_NO_BLOCK, UINT32_MAX}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setup(6 << 20, 1, "lru");
        touch(0, 0);
        memory.evict = &policy;
        wrong = bad[i]; /* the block that needs it, one that has none, one that is none, nothing of one, no one */
        struct page_mask come = {{1}};
        struct uvm_evicted out;
        uint32_t pieces;
        FAILS_WITH(uvm_memory_take(&memory, 1, &come, &pieces, &out, &err), "policy wrong picks");
        uvm_memory_release(&memory);
    }
}
END_TEST

static unsigned heard[4];
static void hear(void *state, const struct uvm_evict_view *view, uint32_t block, enum uvm_evict_event event)
{
    (void)state, (void)view, (void)block;
    heard[event]++;
}

START_TEST(a_policy_hears_of_memory_services_and_evictions)
{
    setup(4 << 20, 1, "lru");
    struct uvm_evict_policy listening = *memory.evict;
    listening.on_block_event = hear;
    memory.evict = &listening;
    touch(0, 0);
    touch(0, 100);
    touch(1, 0);
    ck_assert_uint_eq(heard[UVM_EVICT_ALLOCATED], 2);
    ck_assert_uint_eq(heard[UVM_EVICT_SERVICED], 3);
    ck_assert_uint_eq(heard[UVM_EVICT_FREED], 1);
    uvm_memory_release(&memory);
}
END_TEST

TEST_MAIN("replay/uvm_memory_evict")
