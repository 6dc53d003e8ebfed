#include "replay/info/info_tlp.h"

#include "replay/info/testing_info_tlp.h"

static int64_t at(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

START_TEST(captures_of_one_trace_are_added_up)
{
    struct err err = {""};
    struct store *store = testing_packets(2, 5, true);
    json_t *root = json_object();
    ck_assert_int_eq(info_tlp_json(store, &root, &err), 0);
    const json_t *rows = json_object_get(root, "tlp_histogram"), *types = json_object_get(root, "tlp_types");
    ck_assert_uint_eq(json_array_size(rows), 2);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(rows, 0), "type")), "MRd");
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(rows, 0), "direction")), "10.0.0.1");
    ck_assert_int_eq(at(json_array_get(rows, 0), "size_bytes"), 64);
    ck_assert_int_eq(at(json_array_get(rows, 0), "count"), 10);
    ck_assert_int_eq(at(json_array_get(types, 1), "bytes"), 640);
    ck_assert_int_eq(at(json_object_get(root, "tlp"), "completed_reads"), 10);
    ck_assert_int_eq(at(json_object_get(root, "tlp"), "packets"), 20);
    ck_assert_int_eq(at(json_object_get(root, "tlp"), "time_monotonic"), 1);
    const json_t *latency = json_object_get(root, "tlp_latency_ns");
    ck_assert_int_eq(at(latency, "min"), 1000);
    ck_assert_int_eq(at(latency, "q1"), 2000);
    ck_assert_int_eq(at(latency, "median"), 3000);
    ck_assert_int_eq(at(latency, "q3"), 4000);
    ck_assert_int_eq(at(latency, "max"), 5000);
    ck_assert_uint_eq(json_array_size(json_object_get(root, "tlp_defects")), 2);
    json_decref(root);
    store_close(store);
}
END_TEST

START_TEST(a_trace_without_packets_gets_no_key)
{
    struct err err = {""};
    const char *path = testing_file("empty.db");
    struct store *store = store_create(path, true, "test", &err);
    ck_assert_int_eq(store_finish(store, &err), 0);
    store_close(store);
    store = store_open(path, &err);
    json_t *root = json_object();
    ck_assert_int_eq(info_tlp_json(store, &root, &err), 0);
    ck_assert_uint_eq(json_object_size(root), 0);
    json_decref(root);
    store_close(store);
}
END_TEST

START_TEST(an_interrupted_recording_is_counted_from_its_records)
{
    struct err err = {""};
    struct store *store = testing_packets(1, 100000, false);
    json_t *root = json_object();
    ck_assert_int_eq(info_tlp_json(store, &root, &err), 0);
    const json_t *rows = json_object_get(root, "tlp_histogram");
    ck_assert_uint_eq(json_array_size(rows), 2);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(rows, 0), "direction")), "unknown");
    ck_assert_int_gt(at(json_array_get(rows, 0), "count"), 0);
    json_decref(root);
    store_close(store);
}
END_TEST

TEST_MAIN("info_tlp", captures_of_one_trace_are_added_up, a_trace_without_packets_gets_no_key,
          an_interrupted_recording_is_counted_from_its_records)
