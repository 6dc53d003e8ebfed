#include "replay/derive/derive_launches.h"

#include "replay/derive/testing_program.h"
#include "trace/base/testing.h"

static struct vecadd vecadd;

START_TEST(launches_written_to_a_trace_are_read_as_they_were)
{
    struct err err = {""};
    const struct program program = vecadd_program(&vecadd, 1000, false);
    const struct derive_source generated = {.program = &program, .name = "test"};
    struct store *store = store_create_memory(&err);
    ck_assert_int_eq(derive_launches_write(&generated, store, &err), 0);
    const struct derive_source recorded = {.store = store, .name = "test"};
    struct derive_launches launches = {0};
    struct program_launch l;
    ck_assert_int_eq(derive_launches_open(&launches, &recorded, &err), 0);
    derive_launches_get(&launches, 2, &l);
    ck_assert_uint_eq(l.blocks, vecadd_blocks(&vecadd));
    ck_assert_uint_eq(l.threads, VECADD_THREADS);
    ck_assert_uint_eq(l.registers, 20);
    ck_assert_uint_eq(l.shared, 1024);
    derive_launches_get(&launches, 1, &l); /* of the CPU: no shape */
    ck_assert_uint_eq(l.threads, 0);
    derive_launches_get(&launches, 99, &l); /* not in the table */
    ck_assert_uint_eq(l.blocks, 0);
    derive_launches_release(&launches);
    store_close(store);
}
END_TEST

static void put(struct store *store, int64_t id, int64_t grid, int64_t x, int64_t y)
{
    struct err err = {""};
    struct store_value row[16] = {STORE_V_INT(id), STORE_V_TEXT("k"), STORE_V_INT(id)};
    for (int i = 3; i < 16; i++)
        row[i] = STORE_V_NULL;
    for (int i = 5; i < 11; i++)
        row[i] = STORE_V_INT(1);
    row[5] = STORE_V_INT(grid);
    row[8] = x ? STORE_V_INT(x) : STORE_V_NULL;
    row[9] = STORE_V_INT(y);
    ck_assert_msg(store_row(store, "kernels", row, 16, &err) == 0, "%s", err.msg);
}

START_TEST(a_shape_that_cannot_be_is_not_known)
{
    struct err err = {""};
    struct store *store = store_create_memory(&err);
    const struct derive_source source = {.store = store, .name = "test"};
    struct derive_launches launches = {0};
    struct program_launch l;
    put(store, 0, 7, 32, 8);
    put(store, 1, -1, 1024, 2);
    put(store, 2, 1, 0, 1);
    put(store, 3, INT64_MAX, INT64_MAX, INT64_MAX);
    put(store, INT64_C(1) << 50, 5, 64, 1); /* far from the others: no room for what is between */
    ck_assert_int_eq(derive_launches_open(&launches, &source, &err), 0);
    derive_launches_get(&launches, 0, &l);
    ck_assert_uint_eq(l.blocks, 7);
    ck_assert_uint_eq(l.threads, 256);
    for (uint64_t id = 1; id < 4; id++) {
        derive_launches_get(&launches, id, &l);
        ck_assert_uint_eq(l.threads, 0);
        ck_assert_uint_eq(l.blocks, id == 2);
    }
    derive_launches_get(&launches, UINT64_C(1) << 50, &l);
    ck_assert_uint_eq(l.blocks, 5);
    derive_launches_get(&launches, (UINT64_C(1) << 50) - 1, &l);
    ck_assert_uint_eq(l.blocks, 0);
    derive_launches_release(&launches);
    store_close(store);
}
END_TEST

static int count_name(void *ctx, uint64_t id, const char *name)
{
    ck_assert_str_eq(name, id == 1 ? "check" : "vecadd");
    return ++*(int *)ctx == 3 ? 7 : 0;
}

START_TEST(names_stop_where_the_caller_says)
{
    struct err err = {""};
    const struct program program = vecadd_program(&vecadd, 1000, false);
    const struct derive_source source = {.program = &program, .name = "test"};
    int names = 0;
    ck_assert_int_eq(derive_launches_names(&source, count_name, &names, &err), 7);
    ck_assert_int_eq(names, 3);
}
END_TEST

TEST_MAIN("derive_launches", launches_written_to_a_trace_are_read_as_they_were, a_shape_that_cannot_be_is_not_known,
          names_stop_where_the_caller_says)
