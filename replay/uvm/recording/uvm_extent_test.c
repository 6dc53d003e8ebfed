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

TEST_MAIN("uvm_extent", the_end_of_an_allocation_inside_a_va_block_is_found,
          a_block_that_was_only_partly_used_is_not_taken_for_an_edge, pages_the_cpu_never_wrote_hold_no_data)
