#include "models/zerocopy/paging.h"

#include "trace/base/testing.h"

enum { K = 1024, M = 1048576 };

/* Three big pages of a 2 MiB block in order: 64 KiB, then 128 (2 of 2 resident), then half a tree at a time. */
START_TEST(big_pages_touched_in_order_move_in_growing_parts)
{
    struct paging p;
    ck_assert_int_eq(paging_init(&p, 2 * M, 0, NULL), 0);
    static const uint64_t moved[] = {64 * K, 128 * K, 256 * K};
    for (uint64_t i = 0; i < 3; i++) {
        paging_touch(&p, i * 64 * K, 8);
        ck_assert_uint_eq(p.moved, moved[i]);
    }
    for (uint64_t i = 0; i < 32; i++)
        paging_touch(&p, i * 64 * K, 8);
    ck_assert_uint_eq(p.moved, 2 * M);
    paging_release(&p);
}
END_TEST

START_TEST(a_structure_is_never_moved_beyond_its_end)
{
    struct paging p;
    ck_assert_int_eq(paging_init(&p, 3 * M + 100, 0, NULL), 0);
    paging_touch(&p, 0, 3 * M + 100);
    ck_assert_uint_eq(p.moved, 3 * M + 100);
    paging_release(&p);
}
END_TEST

START_TEST(a_cyclic_sweep_over_too_little_memory_moves_everything_each_time)
{
    struct paging p;
    ck_assert_int_eq(paging_init(&p, 64 * M, 16, NULL), 0);
    for (int sweep = 0; sweep < 3; sweep++)
        paging_touch(&p, 0, 64 * M);
    ck_assert_uint_eq(p.moved, 3ULL * 64 * M);
    ck_assert_uint_eq(p.evictions, 3 * 32 - 16);
    paging_release(&p);
}
END_TEST

TEST_MAIN("paging", big_pages_touched_in_order_move_in_growing_parts, a_structure_is_never_moved_beyond_its_end,
          a_cyclic_sweep_over_too_little_memory_moves_everything_each_time)
