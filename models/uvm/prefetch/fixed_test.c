#include "models/uvm/uvm_policy.h"

#include "models/policies.h"
#include "trace/base/testing.h"

static uint64_t next(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    return *s ^= *s << 17;
}

START_TEST(the_example_of_the_rule_plans_28_pages)
{
    struct uvm_block b;
    uvm_block_init(&b, 0, UVM_BLOCK_BYTES);
    struct page_mask f = {{0}}, plan;
    page_mask_set(&b.resident, 4);
    page_mask_set(&f, 3);
    page_mask_set(&f, 5);
    page_mask_set(&f, 40);
    uvm_fixed_plan(&b, &f, 65536, &plan);
    ck_assert_uint_eq(page_mask_count(&plan), 28);
}
END_TEST

/* Specification 3.7 against a loop over pages, in blocks of every shape. */
START_TEST(plans_agree_with_a_loop_over_pages)
{
    uint64_t seed = 3;
    for (int n = 0; n < 60000; n++) {
        uint64_t start = 0, end = 512;
        if (next(&seed) % 2) {
            start = next(&seed) % 512;
            end = start + 1 + next(&seed) % (512 - start);
        }
        struct uvm_block b;
        uvm_block_init(&b, (start + 512) * UVM_PAGE_BYTES, (end + 512) * UVM_PAGE_BYTES);
        unsigned g = 1u << next(&seed) % 10; /* pages */
        struct page_mask f = {{0}}, th = {{0}}, plan, want = {{0}};
        for (unsigned k = 0; k < 1 + (unsigned)n % 7; k++)
            page_mask_set(&f, b.first + (unsigned)(next(&seed) % (end - start)));
        for (unsigned k = 0; k < 40; k++) {
            unsigned p = b.first + (unsigned)(next(&seed) % (end - start));
            if (!page_mask_test(&f, p))
                page_mask_set(&b.resident, p);
        }
        if (n % 9 == 0) {
            page_mask_set(&th, b.first);
            b.thrashing = &th;
        }
        for (unsigned p = b.first; p < b.end; p++)
            PAGE_MASK_EACH(q, &f)
        if ((p + b.offset) / g == (q + b.offset) / g && !page_mask_test(&f, p) && !page_mask_test(&b.resident, p) &&
            !page_mask_test(&th, p))
            page_mask_set(&want, p);
        uvm_fixed_plan(&b, &f, (int64_t)g * UVM_PAGE_BYTES, &plan);
        ck_assert(page_mask_equal(&plan, &want));
    }
}
END_TEST

/* Specification 3.6: prefetch off or threshold 100 is 4 KiB, 99 is 64 KiB, 0 is 2 MiB, as long as residency is made of
 * such regions. */
START_TEST(stock_thresholds_100_99_and_0_are_4_64_and_2048_kib)
{
    static const struct {
        int threshold;
        int64_t granularity;
    } rows[] = {{100, 4096}, {99, 65536}, {0, 2097152}};
    uint64_t seed = 99;
    for (int r = 0; r < 3; r++)
        for (int n = 0; n < 200; n++) {
            struct uvm_block b;
            uvm_block_init(&b, 0, UVM_BLOCK_BYTES);
            while (page_mask_count(&b.resident) < 512) {
                struct page_mask f = {{0}}, tree, fixed;
                unsigned p;
                do
                    p = (unsigned)(next(&seed) % 512);
                while (page_mask_test(&b.resident, p));
                page_mask_set(&f, p);
                uvm_tree_plan(&b, &f, rows[r].threshold, &tree);
                uvm_fixed_plan(&b, &f, rows[r].granularity, &fixed);
                ck_assert(page_mask_equal(&tree, &fixed));
                page_mask_or(&b.resident, &b.resident, &f);
                page_mask_or(&b.resident, &b.resident, &fixed);
            }
        }
}
END_TEST

START_TEST(a_granularity_that_is_no_power_of_two_is_refused)
{
    int64_t state = 3 * 4096;
    FAILS_WITH(uvm_fixed.init(&state, &err), "12288");
    state = 65536;
    WORKS(uvm_fixed.init(&state, &err));
    ck_assert_int_eq(uvm_fixed.granularity(&state), 65536);
}
END_TEST

TEST_MAIN("fixed")
