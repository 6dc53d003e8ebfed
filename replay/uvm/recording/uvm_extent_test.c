#include "replay/uvm/recording/uvm_extent.h"

#include "replay/uvm/uvm_recorded_testing.h"

enum { BASE = 0x40000000 };

static void load(struct uvm_recording *r, const struct tape *t)
{
    uvm_recording_init(r);
    ck_assert_int_eq(uvm_recording_add(r, t->records, t->count, NULL), 0);
    ck_assert_int_eq(uvm_recording_finish(r, NULL), 0);
}

START_TEST(the_end_of_an_allocation_inside_a_va_block_is_found)
{
    struct tape t;
    struct uvm_recording r;
    tape_init(&t, "tree", NULL, BASE, 3 * UVM_BLOCK_BYTES + 420 * UVM_PAGE_BYTES);
    tape_cpu_writes(&t);
    tape_sweep(&t, 3, 1, 37);
    for (unsigned p = 0; p < 420; p += 30) {
        struct page_mask touched[TAPE_BLOCKS] = {0};
        page_mask_set_region(&touched[3], p, p + 7);
        tape_batch(&t, touched);
    }
    load(&r, &t);
    ck_assert_uint_eq(r.piece_count, 4);
    ck_assert_uint_eq(r.edges_cut, 1);
    ck_assert_uint_eq(r.pieces[3].end, BASE + 3 * UVM_BLOCK_BYTES + 420 * UVM_PAGE_BYTES);
    ck_assert_uint_eq(r.structure_bytes, 3 * UVM_BLOCK_BYTES + 420 * UVM_PAGE_BYTES);
    uvm_recording_release(&r);
    tape_release(&t);
}
END_TEST

START_TEST(the_begin_of_an_allocation_inside_a_va_block_is_found)
{
    struct tape t;
    struct uvm_recording r;
    tape_init(&t, "tree", NULL, BASE, 16 * UVM_BLOCK_BYTES);
    uvm_block_init(&t.blocks[0], BASE + 92 * UVM_PAGE_BYTES, BASE + UVM_BLOCK_BYTES);
    tape_cpu_writes(&t);
    for (unsigned p = t.blocks[0].first; p + 7 < t.blocks[0].end; p += 30) {
        struct page_mask touched[TAPE_BLOCKS] = {0};
        page_mask_set_region(&touched[0], p, p + 7);
        tape_batch(&t, touched);
    }
    for (unsigned b = 1; b < 16; b++)
        for (unsigned p = 0; p < 512; p += 37) {
            struct page_mask touched[TAPE_BLOCKS] = {0};
            page_mask_set(&touched[b], p);
            tape_batch(&t, touched);
        }
    load(&r, &t);
    ck_assert_uint_eq(r.piece_count, 16);
    ck_assert_uint_eq(r.edges_cut, 1);
    ck_assert_uint_eq(r.pieces[0].start, BASE + 92 * UVM_PAGE_BYTES);
    ck_assert_uint_eq(r.pieces[15].end, BASE + 16 * UVM_BLOCK_BYTES);
    uvm_recording_release(&r);
    tape_release(&t);
}
END_TEST

START_TEST(a_block_that_was_only_partly_used_is_not_taken_for_an_edge)
{
    struct tape t;
    struct uvm_recording r;
    tape_init(&t, "tree", NULL, BASE, 8 * UVM_BLOCK_BYTES);
    tape_random(&t, 8, 12, 10, 3);
    load(&r, &t);
    ck_assert_uint_eq(r.edges_cut, 0);
    uvm_recording_release(&r);
    tape_release(&t);
}
END_TEST

START_TEST(pages_the_cpu_never_wrote_hold_no_data)
{
    struct tape t;
    struct uvm_recording r;
    tape_init(&t, "none", NULL, BASE, 2 * UVM_BLOCK_BYTES);
    tape_add(&t, (struct record){.kind = RECORD_CPU_FAULT, .time = 5, .addr = BASE + 20 * 4096, .flags = RECORD_WRITE});
    struct page_mask touched[TAPE_BLOCKS] = {0};
    page_mask_set(&touched[0], 20);
    page_mask_set(&touched[1], 3);
    tape_batch(&t, touched);
    load(&r, &t);
    ck_assert(r.known_data);
    ck_assert_uint_eq(page_mask_count(&r.pieces[0].populated), 16); /* the CPU fault brought 64 KiB */
    ck_assert_uint_eq(page_mask_count(&r.pieces[1].populated), 1);  /* what moved did hold data */
    ck_assert_uint_eq(r.touched_pages, 2);
    uvm_recording_release(&r);
    tape_release(&t);
}
END_TEST

/* Every way in which five VA blocks are unseen, written by the CPU only, or moved: without sizes, blocks that touch are
 * one allocation, and those of which a page moved count. */
START_TEST(blocks_that_touch_are_one_allocation)
{
    enum { BLOCKS = 5, WAYS = 3 * 3 * 3 * 3 * 3 };
    for (int way = 1; way < WAYS; way++) {
        struct tape t;
        struct uvm_recording r;
        struct page_mask touched[TAPE_BLOCKS] = {0};
        bool seen[BLOCKS + 1] = {false}, moved[BLOCKS] = {false};
        tape_init(&t, "none", NULL, BASE, BLOCKS * UVM_BLOCK_BYTES);
        for (int b = 0, w = way; b < BLOCKS; b++, w /= 3) {
            seen[b] = w % 3 > 0;
            moved[b] = w % 3 == 2;
            if (moved[b])
                page_mask_set(&touched[b], 7);
            else if (seen[b])
                tape_add(&t, (struct record){.kind = RECORD_CPU_FAULT,
                                             .time = 5 + b,
                                             .addr = BASE + (uint64_t)b * UVM_BLOCK_BYTES,
                                             .flags = RECORD_WRITE});
        }
        tape_batch(&t, touched);
        uint64_t expect = 0;
        size_t pieces = 0;
        for (int b = 0; b < BLOCKS;) {
            uint64_t blocks = 0;
            bool any = false;
            for (; seen[b]; b++) {
                blocks++;
                any |= moved[b];
            }
            expect += any ? blocks * UVM_BLOCK_BYTES : 0;
            pieces += blocks;
            b += blocks == 0;
        }
        load(&r, &t);
        ck_assert_uint_eq(r.piece_count, pieces);
        ck_assert_uint_eq(r.structure_bytes, expect);
        uvm_recording_release(&r);
        tape_release(&t);
    }
}
END_TEST

/* Two allocations in every way of lying, told by name: those of which a page moved count, as large as they were asked
 * for. */
START_TEST(allocations_count_by_their_own_sizes)
{
    for (unsigned gap = 0; gap < 3; gap++)
        for (unsigned moved = 0; moved < 4; moved++) {
            static const uint64_t sizes[] = {5000, 3 * UVM_PAGE_BYTES};
            const uint64_t starts[] = {BASE, BASE + (uint64_t)(2 + gap * 300) * UVM_PAGE_BYTES};
            struct tape t;
            struct uvm_recording r;
            tape_init(&t, "none", NULL, BASE, 2 * UVM_BLOCK_BYTES);
            for (int a = 0; a < 2; a++) {
                struct page_mask touched[TAPE_BLOCKS] = {0};
                const unsigned page = (unsigned)((starts[a] - BASE) / UVM_PAGE_BYTES);
                tape_allocation(&t, starts[a], sizes[a]);
                page_mask_set(&touched[page / UVM_BLOCK_PAGES], page % UVM_BLOCK_PAGES);
                if (moved >> a & 1)
                    tape_batch(&t, touched);
                else
                    tape_add(&t, (struct record){.kind = RECORD_CPU_FAULT, .time = 5 + a, .addr = starts[a]});
            }
            load(&r, &t);
            ck_assert_uint_eq(r.piece_count, 2);
            ck_assert_uint_eq(r.structure_bytes, (moved & 1 ? sizes[0] : 0) + (moved & 2 ? sizes[1] : 0));
            uvm_recording_release(&r);
            tape_release(&t);
        }
}
END_TEST

TEST_MAIN("uvm_extent", the_begin_of_an_allocation_inside_a_va_block_is_found,
          the_end_of_an_allocation_inside_a_va_block_is_found,
          a_block_that_was_only_partly_used_is_not_taken_for_an_edge, pages_the_cpu_never_wrote_hold_no_data,
          blocks_that_touch_are_one_allocation, allocations_count_by_their_own_sizes)
