#include "replay/uvm/uvm_memory.h"

#include "trace/base/testing.h"

static struct uvm_memory memory;
static struct actor_alloc alloc;

static void setup(uint64_t bytes, uint64_t chunks, bool host, uint32_t advice)
{
    alloc = (struct actor_alloc){.name = "a", .bytes = bytes, .host = host, .advice = advice};
    actor_space_place(&alloc, 1);
    ck_assert_int_eq(actor_space_init(&alloc, 1, NULL), 0);
    ck_assert_int_eq(uvm_memory_init(&memory, &alloc, 1, chunks, NULL), 0);
}

/* Page 0 faults, pages [1, n) come with it. */
static void bring(uint32_t block, unsigned n)
{
    struct uvm_evicted out;
    struct page_mask faulted = {{1}}, plan = {{0}}, come = {{0}}, copied;
    page_mask_set_region(&plan, 1, n);
    uint32_t pieces;
    page_mask_set_region(&come, 0, n);
    while (uvm_memory_take(&memory, block, &come, &pieces, &out, NULL) == 0)
        ;
    ck_assert_int_eq(uvm_memory_migrate(&memory, block, &faulted, &plan, &copied, NULL), 0);
}

START_TEST(the_block_serviced_longest_ago_is_evicted)
{
    setup(6 << 20, 2, true, 0);
    bring(0, 4);
    bring(1, 4);
    struct page_mask faulted = {{16}}, plan = {{0}}, copied;
    ck_assert_int_eq(uvm_memory_migrate(&memory, 0, &faulted, &plan, &copied, NULL), 0); /* 0 is the newest again */
    bring(2, 4);
    ck_assert(memory.blocks[0].chunk);
    ck_assert(!memory.blocks[1].chunk);
    ck_assert_uint_eq(memory.total.evictions, 1);
    ck_assert_uint_eq(memory.total.d2h, 4); /* what was resident, clean or not */
    ck_assert_int_eq(uvm_memory_check(&memory, NULL), 0);
    uvm_memory_release(&memory);
}
END_TEST

START_TEST(an_evicted_page_must_be_copied_again)
{
    setup(4 << 20, 1, false, 0);
    bring(0, 8); /* on no processor: nothing is copied */
    ck_assert_uint_eq(memory.total.h2d, 0);
    bring(1, 8);
    bring(0, 8);
    ck_assert_uint_eq(memory.total.h2d, 8);
    ck_assert_uint_eq(memory.total.d2h, 16);
    uvm_memory_release(&memory);
}
END_TEST

START_TEST(read_mostly_pages_are_dropped_unless_written)
{
    setup(4 << 20, 1, true, ACTOR_READ_MOSTLY);
    bring(0, 8);
    memory.dirty[0].w[0] = 1; /* page 0 */
    bring(1, 8);
    ck_assert_uint_eq(memory.total.d2h, 1);
    ck_assert_uint_eq(memory.total.dropped, 7);
    ck_assert_int_eq(uvm_memory_check(&memory, NULL), 0);
    uvm_memory_release(&memory);
}
END_TEST

START_TEST(a_page_that_left_is_clean_when_it_comes_back)
{
    setup(4 << 20, 1, true, ACTOR_READ_MOSTLY);
    bring(0, 8);
    memory.dirty[0].w[0] = 1; /* page 0 */
    bring(1, 8);              /* block 0 goes: page 0 is copied */
    bring(0, 8);
    bring(1, 8); /* and again: nothing was written meanwhile */
    ck_assert_uint_eq(memory.total.d2h, 1);
    ck_assert_uint_eq(memory.total.dropped, 7 + 8 + 8);
    uvm_memory_release(&memory);
}
END_TEST

START_TEST(blocks_cut_short_take_64_kib_pieces)
{
    setup((4 << 20) + 100000, 2, true, 0); /* two whole blocks and one of 100,000 bytes */
    bring(0, 2);
    bring(2, 2);
    ck_assert_uint_eq(memory.pieces_used, 32 + 1);
    ck_assert_uint_eq(uvm_memory_free_chunks(&memory), 0);
    bring(1, 2);
    ck_assert_uint_eq(memory.total.evictions, 1); /* block 0 went; the short one stays */
    ck_assert(memory.blocks[2].chunk);
    uvm_memory_release(&memory);
}
END_TEST

START_TEST(a_page_never_becomes_resident_twice)
{
    setup(2 << 20, 0, true, 0);
    bring(0, 4);
    struct page_mask faulted = {{1}}, plan = {{0}}, copied;
    FAILS_WITH(uvm_memory_migrate(&memory, 0, &faulted, &plan, &copied, &err), "resident twice");
    uvm_memory_release(&memory);
}
END_TEST

START_TEST(prefetched_pages_count_as_used_when_touched_before_they_go)
{
    setup(4 << 20, 1, true, 0);
    bring(0, 8);
    memory.used[0].w[0] = 0x0F; /* pages 0 to 3: one faulted, three prefetched */
    bring(1, 8);
    ck_assert_uint_eq(memory.total.prefetched_used, 3);
    memory.used[1].w[0] = 0xFF;
    uvm_memory_close_account(&memory);
    ck_assert_uint_eq(memory.total.prefetched_used, 3 + 7);
    ck_assert_uint_eq(uvm_memory_touched(&memory, 0), 4 + 8);
    uvm_memory_release(&memory);
}
END_TEST

START_TEST(a_broken_account_is_found)
{
    setup(2 << 20, 0, true, 0);
    bring(0, 4);
    memory.pages_in++;
    FAILS_WITH(uvm_memory_check(&memory, &err), "check violated");
    uvm_memory_release(&memory);
}
END_TEST

TEST_MAIN("replay/uvm_memory")
