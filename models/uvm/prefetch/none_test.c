#include "models/policies.h"
#include "trace/base/testing.h"

START_TEST(nothing_moves_but_the_faulted_pages)
{
    struct uvm_block b;
    uvm_block_init(&b, 0, UVM_BLOCK_BYTES);
    unsigned faults = 0;
    ck_assert_uint_eq(uvm_none.head.state_size, 0); /* NULL is one */
    for (unsigned p = 0; p < 512; p++) {
        struct page_mask f = {{0}}, plan;
        page_mask_set(&f, p);
        memset(&plan, 0xFF, sizeof plan);
        uvm_none.plan(NULL, &b, &f, &plan);
        ck_assert(!page_mask_any(&plan));
        page_mask_or(&b.resident, &b.resident, &f);
        faults++;
    }
    ck_assert_uint_eq(faults, 512);
    ck_assert_int_eq(uvm_none.granularity(NULL), 4096);
}
END_TEST

TEST_MAIN("none")
