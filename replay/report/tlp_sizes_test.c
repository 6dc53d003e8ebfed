#include "replay/report/tlp_sizes.h"

#include "replay/report/testing_tlp_sizes.h"

static int64_t at(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

START_TEST(captures_of_one_trace_are_added_up)
{
    struct store *store = testing_packets(2, 5, true);
    json_t *root = json_object();
    WORKS(tlp_sizes_json(store, &root, &err));
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
    const char *path = testing_file("empty.db");
    struct store *store = GIVES(store_create(path, true, "test", &err));
    WORKS(store_finish(store, &err));
    store_close(store);
    store = GIVES(store_open(path, &err));
    json_t *root = json_object();
    WORKS(tlp_sizes_json(store, &root, &err));
    ck_assert_uint_eq(json_object_size(root), 0);
    json_decref(root);
    store_close(store);
}
END_TEST

START_TEST(an_interrupted_recording_is_counted_from_its_records)
{
    struct store *store = testing_packets(1, 100000, false);
    json_t *root = json_object();
    WORKS(tlp_sizes_json(store, &root, &err));
    const json_t *rows = json_object_get(root, "tlp_histogram");
    ck_assert_uint_eq(json_array_size(rows), 2);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(rows, 0), "direction")), "unknown");
    ck_assert_int_gt(at(json_array_get(rows, 0), "count"), 0);
    json_decref(root);
    store_close(store);
}
END_TEST

/* Reads of 1, 2, 3 and 4 ns, one of each kind: only an answer that is neither early nor an error has a latency; whether
 * the stream has these columns, and in which order. */
START_TEST(early_answers_and_errors_have_no_latency)
{
    static const char *const columns[][2] = {
        {"early", "error"}, {"error", "early"}, {"early", "side"}, {"side", "error"}, {"side", ""}};
    static const struct record reads[] = {{.kind = RECORD_TLP, .time = 1, .duration = 1},
                                          {.kind = RECORD_TLP, .time = 2, .duration = 2},
                                          {.kind = RECORD_TLP, .time = 3, .duration = 3},
                                          {.kind = RECORD_TLP, .time = 4, .duration = 4}};
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        static const int64_t extra[] = {0, 1, 0, 1, 0, 0, 1, 1};
        struct err err = {""};
        const char *path = testing_file("reads.db");
        struct store *store = store_create(path, OUTPUT_REPLACE, "test", &err);
        struct stream stream = {.name = "tlp_reads", .unit = TIME_NS};
        size_t expect = 0;
        int index;
        bool left[4] = {false};
        for (size_t k = 0; k < 2; k++)
            (void)snprintf(stream.extra[k], sizeof stream.extra[k], "%s", columns[c][k]);
        ck_assert_msg(store_stream_add(store, &stream, &index, &err) == 0 &&
                          store_append(store, index, reads, extra, 4, &err) == 0 && store_finish(store, &err) == 0,
                      "%s", err.msg);
        store_close(store);
        store = store_open(path, &err);
        struct quantile *q = tlp_sizes_latency(store, &err);
        for (size_t i = 0; i < 4; i++) {
            for (size_t k = 0; k < 2; k++)
                left[i] |= columns[c][k][0] == 'e' && extra[4 * k + i];
            expect += !left[i];
        }
        ck_assert_uint_eq(quantile_count(q), expect);
        ck_assert_int_eq(quantile_at(q, 0), 1);
        ck_assert_int_eq(quantile_at(q, 1), !left[3] ? 4 : !left[2] ? 3 : !left[1] ? 2 : 1);
        quantile_free(q);
        store_close(store);
    }
}
END_TEST

/* Over captures: counts add up, the longest snapshot counts, and times are in order where they are in all of them. */
START_TEST(totals_of_captures_are_put_together)
{
    for (unsigned way = 0; way < 8; way++) {
        const char *path = testing_file("totals.db");
        struct store *store = GIVES(store_create(path, OUTPUT_REPLACE, "test", &err));
        struct stream stream = {.name = "tlp", .unit = TIME_NS};
        int index, lengths = 0;
        WORKS(store_stream_add(store, &stream, &index, &err));
        for (int c = 0; c < 3; c++) {
            const int length = way >> c & 1 ? 100 + c : 60;
            const struct store_value rows[][3] = {
                {STORE_V_INT(c), STORE_V_TEXT("time_monotonic"), STORE_V_INT(way >> c & 1)},
                {STORE_V_INT(c), STORE_V_TEXT("snaplen"), STORE_V_INT(length)},
                {STORE_V_INT(c), STORE_V_TEXT("packets"), STORE_V_INT(10 + c)}};
            for (size_t k = 0; k < 3; k++)
                WORKS(store_row(store, "tlp_totals", rows[k], 3, &err));
            lengths = length > lengths ? length : lengths;
        }
        WORKS(store_finish(store, &err));
        store_close(store);
        store = GIVES(store_open(path, &err));
        json_t *root = json_object();
        WORKS(tlp_sizes_json(store, &root, &err));
        const json_t *totals = json_object_get(root, "tlp");
        ck_assert_int_eq(at(totals, "time_monotonic"), way == 7);
        ck_assert_int_eq(at(totals, "snaplen"), lengths);
        ck_assert_int_eq(at(totals, "packets"), 33);
        json_decref(root);
        store_close(store);
    }
}
END_TEST

TEST_MAIN("tlp_sizes")
