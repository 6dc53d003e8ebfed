#include "models/uvm/block.h"

#include "trace/base/testing.h"

enum { KIB = 1024 };

START_TEST(a_full_block_is_numbered_from_its_start)
{
    struct uvm_block b;
    uvm_block_init(&b, 0x200000, 0x400000);
    ck_assert(b.first == 0 && b.end == 512 && b.offset == 0 && !b.one_region);
    ck_assert_uint_eq(uvm_block_page(&b, 0x2FF000), 255);
    ck_assert_uint_eq(uvm_block_addr(&b, 511), 0x3FF000);
}
END_TEST

START_TEST(an_unaligned_start_leaves_ghost_pages_below_it)
{
    struct uvm_block b;
    uvm_block_init(&b, 0x200000 + 72 * KIB, 0x400000);
    ck_assert_uint_eq(b.addr, 0x200000 + 64 * KIB);
    ck_assert_uint_eq(b.first, 2);
    ck_assert_uint_eq(b.end, 496);
    ck_assert_uint_eq(b.offset, 16);
}
END_TEST

START_TEST(a_block_without_a_whole_big_page_is_one_region_from_its_start)
{
    struct uvm_block b;
    uvm_block_init(&b, 0x200000 + 8 * KIB, 0x200000 + 120 * KIB); /* 14 + 14 pages around 64 KiB */
    ck_assert(b.one_region && b.first == 0 && b.end == 28);
    ck_assert_uint_eq(b.addr, 0x200000 + 8 * KIB);
    uvm_block_init(&b, 0x200000, 0x200000 + 64 * KIB);
    ck_assert(!b.one_region && b.end == 16);
}
END_TEST

TEST_MAIN("block")
