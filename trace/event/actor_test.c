#include "trace/event/actor.h"

#include "trace/base/testing.h"

START_TEST(each_allocation_gets_blocks_of_its_own)
{
    struct actor_alloc a[3] = {
        {.name = "a", .bytes = 5 << 20}, {.name = "b", .bytes = 1}, {.name = "c", .bytes = 4096}};
    actor_space_place(a, 3);
    ck_assert_int_eq(actor_space_init(a, 3, NULL), 0);
    ck_assert_uint_eq(a[0].first_page, 0);
    ck_assert_uint_eq(a[1].first_page, 3 * 512);
    ck_assert_uint_eq(a[2].first_page, 4 * 512);
    ck_assert_uint_eq(actor_space_pages(a, 3), 5 * 512);
    ck_assert_uint_eq(a[1].addr % ACTOR_BLOCK_BYTES, 0);
    ck_assert_uint_eq(actor_page(&a[0], 8191), 1);
}
END_TEST

START_TEST(pages_of_tebibytes_are_counted)
{
    struct actor_alloc a[2] = {{.name = "a", .bytes = UINT64_C(1) << 42}, {.name = "b", .bytes = 4096}};
    actor_space_place(a, 2);
    ck_assert_int_eq(actor_space_init(a, 2, NULL), 0);
    ck_assert_uint_eq(actor_page(&a[0], (UINT64_C(1) << 42) - 1), (1 << 30) - 1);
    ck_assert_uint_eq(actor_space_pages(a, 2) * ACTOR_PAGE_BYTES, (UINT64_C(1) << 42) + ACTOR_BLOCK_BYTES);
}
END_TEST

START_TEST(an_allocation_inside_a_stretch_keeps_its_place_in_it)
{
    struct actor_alloc a = {.name = "a", .addr = 0x7f0000010000, .bytes = 2 << 20};
    ck_assert_int_eq(actor_space_init(&a, 1, NULL), 0);
    ck_assert_uint_eq(a.first_page, 16);
    ck_assert_uint_eq(actor_alloc_blocks(&a), 2);
}
END_TEST

START_TEST(empty_unaligned_and_huge_allocations_are_refused)
{
    struct actor_alloc a = {.name = "a", .addr = 4096, .bytes = 0};
    FAILS_WITH(actor_space_init(&a, 1, &err), "0 bytes");
    a = (struct actor_alloc){.name = "a", .addr = 1, .bytes = 1};
    FAILS_WITH(actor_space_init(&a, 1, &err), "no page boundary");
    a = (struct actor_alloc){.name = "a", .addr = 0, .bytes = 1ull << 44};
    FAILS(actor_space_init(&a, 1, &err));
}
END_TEST

TEST_MAIN("actor")
