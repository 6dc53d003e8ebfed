#include "trace/derived/allocations.h"

#include "trace/base/testing.h"

struct rows {
    int count;
    int64_t number[8], free_ns[8];
    char kind[8][16], name[8][16];
};

static int take(void *ctx, const struct store_value *v, size_t n)
{
    struct rows *rows = ctx;
    ck_assert_uint_eq(n, 7);
    rows->number[rows->count] = v[0].i;
    rows->free_ns[rows->count] = v[6].type == STORE_NULL ? -1 : v[6].i;
    (void)snprintf(rows->kind[rows->count], 16, "%s", v[3].s);
    (void)snprintf(rows->name[rows->count++], 16, "%s", v[4].type == STORE_NULL ? "-" : v[4].s);
    return 0;
}

START_TEST(an_address_used_again_ends_the_newest_allocation_there)
{
    struct allocations list = {0};
    struct store *store = GIVES(store_create(testing_file("a.db"), true, "test", &err));
    struct record a = {.time = 1, .addr = 4096, .bytes = 10, .flags = RECORD_ALLOC_DEVICE}, b = a, c = a;
    b.time = 5;
    c.addr = 8192, c.flags = RECORD_ALLOC_MANAGED;
    WORKS(allocations_add(&list, store, &a, NULL, &err));
    WORKS(allocations_end(&list, store, 4096, 3, &err));
    WORKS(allocations_add(&list, store, &b, NULL, &err));
    WORKS(allocations_add(&list, store, &c, "app+0x11a9", &err));
    WORKS(allocations_end(&list, store, 4096, 9, &err));
    WORKS(allocations_end(&list, store, 77, 9, &err));
    WORKS(allocations_finish(&list, store, &err));
    ck_assert_uint_eq(c.id, 2);
    struct rows rows = {0};
    WORKS(store_finish(store, &err));
    store_close(store);
    store = GIVES(store_open(testing_file("a.db"), &err));
    WORKS(store_rows(store, "allocations", take, &rows, &err));
    store_close(store);
    allocations_release(&list);
    ck_assert_int_eq(rows.count, 3);
    ck_assert_int_eq(rows.free_ns[0], 3);
    ck_assert_int_eq(rows.free_ns[1], 9);
    ck_assert_int_eq(rows.free_ns[2], -1);
    ck_assert_str_eq(rows.kind[2], "managed");
    ck_assert_str_eq(rows.name[0], "-");
    ck_assert_str_eq(rows.name[2], "app+0x11a9");
}
END_TEST

/* Two threads: the end of one allocation can be heard of behind the next one at its address. */
START_TEST(an_end_is_never_of_an_allocation_that_began_after_it)
{
    struct allocations list = {0};
    struct store *store = GIVES(store_create(testing_file("b.db"), true, "test", &err));
    struct record a = {.time = 1, .addr = 4096, .bytes = 10, .flags = RECORD_ALLOC_DEVICE}, b = a;
    b.time = 5;
    WORKS(allocations_add(&list, store, &a, NULL, &err));
    WORKS(allocations_add(&list, store, &b, NULL, &err));
    WORKS(allocations_end(&list, store, 4096, 4, &err));
    WORKS(allocations_end(&list, store, 4096, 4, &err)); /* of nothing that is known */
    WORKS(allocations_end(&list, store, 4096, 5, &err));
    ck_assert_uint_eq(list.count, 0);
    struct rows rows = {0};
    WORKS(store_finish(store, &err));
    store_close(store);
    store = GIVES(store_open(testing_file("b.db"), &err));
    WORKS(store_rows(store, "allocations", take, &rows, &err));
    store_close(store);
    allocations_release(&list);
    ck_assert_int_eq(rows.count, 2);
    ck_assert_int_eq(rows.number[0], 0);
    ck_assert_int_eq(rows.free_ns[0], 4);
    ck_assert_int_eq(rows.free_ns[1], 5);
}
END_TEST

TEST_MAIN("allocations")
