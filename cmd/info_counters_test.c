#include "cmd/info.h"

#include "trace/base/testing.h"

static struct err err;

static void add(struct store *store, const char *kernel, const char *name, double value, unsigned launch)
{
    const char *how = testing_text("launch %u, CUPTI x.sum", launch);
    const struct store_value row[] = {STORE_V_TEXT(kernel), STORE_V_TEXT(name), STORE_V_REAL(value), STORE_V_TEXT(""),
                                      STORE_V_TEXT(how)};
    ck_assert_int_eq(store_row(store, "counters", row, 5, &err), 0);
}

static void add_launch(struct store *store, const char *kernel, unsigned launch, double requests, double sectors)
{
    add(store, kernel, "l2_sysmem_requests", requests, launch);
    add(store, kernel, "l2_sysmem_sectors", sectors, launch);
}

static json_t *read_back(struct store *store)
{
    const char *path = testing_file("t.db");
    ck_assert_int_eq(store_finish(store, &err), 0);
    store_close(store);
    store = store_open(path, &err);
    ck_assert_msg(store, "%s", err.msg);
    json_t *root = json_object();
    ck_assert_int_eq(info_counters_json(store, &root, &err), 0);
    store_close(store);
    return root;
}

static struct store *fresh(void)
{
    struct store *store = store_create(testing_file("t.db"), true, "test", &err);
    ck_assert_msg(store, "%s", err.msg);
    return store;
}

static double value(const json_t *root, size_t row, const char *key)
{
    const json_t *v = json_object_get(json_array_get(json_object_get(root, "counters"), row), key);
    ck_assert_msg(v, "no key %s", key);
    return json_is_null(v) ? -1 : json_number_value(v);
}

static void expect_sizes(const json_t *root, size_t kernel, const int least[4], const int most[4])
{
    for (size_t i = 0; i < 4; i++) {
        const json_t *row = json_array_get(json_object_get(root, "request_sizes"), 4 * kernel + i);
        ck_assert_int_eq(json_integer_value(json_object_get(row, "size_bytes")), 32 * (int)(i + 1));
        ck_assert_int_eq(json_integer_value(json_object_get(row, "at_least")), least[i]);
        ck_assert_int_eq(json_integer_value(json_object_get(row, "at_most")), most[i]);
    }
}

START_TEST(launches_add_up_and_a_single_size_gives_the_histogram)
{
    struct store *store = fresh();
    add_launch(store, "aligned", 0, 100, 400);
    add_launch(store, "mixed", 1, 3, 6);
    add_launch(store, "aligned", 2, 50, 200);
    add(store, "aligned", "pcie_write_bytes", 1600, 2);
    json_t *root = read_back(store);
    ck_assert_double_eq(value(root, 0, "launches"), 2);
    ck_assert_double_eq(value(root, 0, "l2_sysmem_requests"), 150);
    ck_assert_double_eq(value(root, 0, "mean_request_bytes"), 128);
    ck_assert_double_eq(value(root, 1, "mean_request_bytes"), 64);
    /* One of the two launches has the link's bytes: nothing follows for the kernel. */
    ck_assert_double_eq(value(root, 0, "link_requests"), -1);
    ck_assert_double_eq(value(root, 1, "pcie_write_bytes"), -1);
    expect_sizes(root, 0, (const int[]){0, 0, 0, 150}, (const int[]){0, 0, 0, 150});
    expect_sizes(root, 1, (const int[]){0, 0, 0, 0}, (const int[]){2, 3, 1, 1});
    json_decref(root);
}
END_TEST

/* 100 requests of 32 B in one launch and 100 of 128 B in the other: their sum alone would leave everything open. */
START_TEST(bounds_are_taken_launch_by_launch)
{
    struct store *store = fresh();
    add_launch(store, "k", 0, 100, 100);
    add_launch(store, "k", 1, 100, 400);
    json_t *root = read_back(store);
    expect_sizes(root, 0, (const int[]){100, 0, 0, 100}, (const int[]){100, 0, 0, 100});
    ck_assert_double_eq(value(root, 0, "mean_request_bytes"), 80);
    json_decref(root);
}
END_TEST

START_TEST(the_links_bytes_give_requests_and_payload)
{
    struct store *store = fresh();
    add(store, "k", "pcie_read_bytes", 17 * 12 + 1000, 0);
    add(store, "k", "pcie_write_bytes", 17 * 16, 0);
    json_t *root = read_back(store);
    ck_assert_double_eq(value(root, 0, "link_requests"), 17);
    ck_assert_double_eq(value(root, 0, "link_payload_bytes"), 1000);
    ck_assert_double_eq(value(root, 0, "mean_request_bytes"), -1);
    ck_assert_uint_eq(json_array_size(json_object_get(root, "request_sizes")), 0);
    json_decref(root);
}
END_TEST

START_TEST(counters_that_contradict_each_other_give_no_sizes)
{
    struct store *store = fresh();
    add_launch(store, "k", 0, 10, 41);
    add_launch(store, "k", 1, 10, 40);
    add_launch(store, "huge", 2, 1e300, 1e300);
    add_launch(store, "many sectors", 3, 0x1p52, 0x1p54); /* possible, but no count any more */
    add(store, "", "whole run", 5, 3);
    json_t *root = read_back(store);
    ck_assert_uint_eq(json_array_size(json_object_get(root, "request_sizes")), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(root, "counters")), 3);
    json_decref(root);
}
END_TEST

/* A launch whose value could not be read: the kernel's total is not known. */
START_TEST(a_value_that_is_not_there_is_no_launch)
{
    struct store *store = fresh();
    const struct store_value none[] = {STORE_V_TEXT("none"), STORE_V_TEXT("x"), STORE_V_NULL, STORE_V_TEXT(""),
                                       STORE_V_TEXT("launch 0, x")};
    ck_assert_int_eq(store_row(store, "counters", none, 5, &err), 0);
    add(store, "k", "x", 0, 1);
    add(store, "k", "y", 3, 1);
    add(store, "k", "x", -1, 2);
    add(store, "k", "y", 4, 2);
    json_t *root = read_back(store);
    ck_assert_uint_eq(json_array_size(json_object_get(root, "counters")), 1);
    ck_assert_double_eq(value(root, 0, "launches"), 2);
    ck_assert_double_eq(value(root, 0, "x"), 0);
    ck_assert_double_eq(value(root, 0, "y"), 7);
    json_decref(root);
}
END_TEST

START_TEST(a_trace_without_counters_of_kernels_gets_no_key)
{
    struct store *store = fresh();
    add(store, "", "time_span_ns", 5, 0);
    json_t *root = read_back(store);
    ck_assert_uint_eq(json_object_size(root), 0);
    json_decref(root);
}
END_TEST

TEST_MAIN("info_counters")
