#include "trace/program/access_pages.h"

#include "trace/base/testing.h"

/* Two managed allocations of two blocks each, and one in GPU memory between them. */
static const struct program_alloc allocs[3] = {{.name = "a", .addr = 1 << 22, .bytes = 1 << 22},
                                               {.name = "d", .addr = 1 << 23, .bytes = 4096, .device = true},
                                               {.name = "b", .addr = 3 << 22, .bytes = 5000}};

static const struct program_alloc *three(const void *state, size_t *n)
{
    (void)state;
    *n = 3;
    return allocs;
}

static uint32_t no_launch(const void *state)
{
    (void)state;
    return 0;
}

static struct program_pages opened(void)
{
    static const struct program_ops ops = {.allocs = three, .launches = no_launch};
    static const struct program program = {&ops, NULL, -1};
    struct program_pages pages;
    struct err err = {""};
    ck_assert_msg(program_pages_init(&pages, &program, NULL, &err) == 0, "%s", err.msg);
    return pages;
}

START_TEST(pages_stand_once_in_the_order_of_the_lanes)
{
    struct program_pages p = opened();
    struct access_pages c;
    struct program_access a = {.addr = (1 << 22) + 4000, .lane_stride = 4, .bytes = 4, .active = ~0u};
    access_pages(&p, &a, 0, &c);
    ck_assert_uint_eq(c.n, 2);
    ck_assert_uint_eq(c.page[0], 0);
    ck_assert_uint_eq(c.page[1], 1);
    a.lane_stride = -4096;
    a.addr += 31 * 4096;
    access_pages(&p, &a, 0, &c);
    ck_assert_uint_eq(c.n, 32);
    ck_assert_uint_eq(c.page[0], 31);
    a.turn_stride = 4096;
    access_pages(&p, &a, 2, &c);
    ck_assert_uint_eq(c.page[31], 2);
    uint64_t lane[32];
    for (unsigned i = 0; i < 32; i++)
        lane[i] = (1 << 22) + i % 3 * 4096ull;
    a.lane = lane;
    access_pages(&p, &a, 0, &c);
    ck_assert_uint_eq(c.n, 3);
}
END_TEST

START_TEST(an_address_belongs_to_whom_it_lies_in)
{
    struct program_pages p = opened();
    struct access_pages c;
    struct program_access a = {.addr = 3 << 22, .bytes = 4, .active = 1}; /* said to be of a, lies in b */
    access_pages(&p, &a, 0, &c);
    ck_assert_uint_eq(c.n, 1);
    ck_assert_uint_eq(c.page[0], 2 * 512);
    a.addr = (3 << 22) + 8191; /* b's last page */
    access_pages(&p, &a, 0, &c);
    ck_assert_uint_eq(c.n, 1);
    a.addr = (3 << 22) + 8192; /* behind it: nobody's */
    access_pages(&p, &a, 0, &c);
    ck_assert_uint_eq(c.n, 0);
    a.addr = 1 << 22;
    a.alloc = 1; /* in GPU memory in any case */
    access_pages(&p, &a, 0, &c);
    ck_assert_uint_eq(c.n, 0);
}
END_TEST

START_TEST(turns_on_the_same_pages_end_where_a_lane_leaves_its_page)
{
    struct program_pages p = opened();
    struct program_body body = {.count = 1, .turns = 1000};
    struct program_access *a = &body.access[0];
    *a = (struct program_access){.addr = 1 << 22, .lane_stride = 4, .turn_stride = 128, .bytes = 4, .active = ~0u};
    ck_assert_uint_eq(access_pages_turns(&p, &body, 0), 32);
    ck_assert_uint_eq(access_pages_turns(&p, &body, 31), 1);
    ck_assert_uint_eq(access_pages_turns(&p, &body, 990), 2); /* byte 3,840 of a page */
    a->turn_stride = 0;
    ck_assert_uint_eq(access_pages_turns(&p, &body, 0), 1000);
    a->turn_stride = -128;
    a->addr = (1 << 22) + 8192;
    ck_assert_uint_eq(access_pages_turns(&p, &body, 0), 1);
    ck_assert_uint_eq(access_pages_turns(&p, &body, 1), 32);
    a->alloc = 1;
    ck_assert_uint_eq(access_pages_turns(&p, &body, 0), 1000);
}
END_TEST

START_TEST(sectors_of_neighbours_are_counted_once)
{
    struct program_access a = {.addr = 4096, .lane_stride = 4, .bytes = 4, .active = ~0u}, b = a;
    ck_assert_uint_eq(access_sectors(&a, 0, NULL), 4);
    b.addr += 4;
    ck_assert_uint_eq(access_sectors(&b, 0, NULL), 5);
    ck_assert_uint_eq(access_sectors(&b, 0, &a), 0);
    b.addr = a.addr - 4;
    ck_assert_uint_eq(access_sectors(&b, 0, &a), 1);
    b.addr = a.addr + 32;
    ck_assert_uint_eq(access_sectors(&b, 0, &a), 4);
    b.lane_stride = 4096;
    ck_assert_uint_eq(access_sectors(&b, 0, &a), 32);
    b.lane_stride = 0;
    ck_assert_uint_eq(access_sectors(&b, 0, NULL), 1);
    b.active = 0;
    ck_assert_uint_eq(access_sectors(&b, 0, NULL), 0);
}
END_TEST

TEST_MAIN("access_pages", pages_stand_once_in_the_order_of_the_lanes, an_address_belongs_to_whom_it_lies_in,
          turns_on_the_same_pages_end_where_a_lane_leaves_its_page, sectors_of_neighbours_are_counted_once)
