#include "replay/info/info_tlp.h"

#include "replay/figure/plot.h"
#include "trace/base/testing.h"
#include "trace/pcie/tlp_sink.h"

/* A trace of `reads` reads of 64 bytes with latencies 1, 2, 3 ... us and their completions, in two captures. */
static struct store *trace(int captures, int reads, bool finish)
{
    struct err err = {""};
    const char *path = testing_file("tlp.db");
    struct store *store = store_create(path, true, "test", &err);
    for (int c = 0; c < captures; c++) {
        struct tlp_sink *sink = tlp_sink_open(store, c, &err);
        struct tlp read = {.type = TLP_MRD, .byte0 = 0x00, .length_dw = 16, .first_be = 15, .last_be = 15, .bytes = 64};
        struct tlp reply = {.type = TLP_CPLD, .byte0 = 0x4a, .length_dw = 16, .byte_count = 64, .bytes = 64};
        for (int i = 0; i < reads; i++) {
            struct tlp_item item = {.record.time = (int64_t)i * 1000000,
                                    .packet = 2 * (unsigned)i + 1,
                                    .side = 1,
                                    .reply = 64,
                                    .direction = tlp_sink_direction(sink, "10.0.0.1")};
            tlp_to_record(&read, &item.record);
            ck_assert_int_eq(tlp_sink_add(sink, &item, &err), 0);
            item = (struct tlp_item){.record.time = (int64_t)i * 1000000 + (i + 1) * 1000,
                                     .packet = 2 * (unsigned)i + 2,
                                     .side = 1,
                                     .direction = tlp_sink_direction(sink, "10.0.0.2")};
            tlp_to_record(&reply, &item.record);
            ck_assert_int_eq(tlp_sink_add(sink, &item, &err), 0);
        }
        tlp_sink_total(sink, "packets", 2 * reads);
        tlp_sink_defect(sink, TLP_MRD, "first byte enables 0 with a length over 1 DW");
        ck_assert_int_eq(finish ? tlp_sink_finish(sink, &err) : tlp_sink_drain(sink, INT64_MAX, &err), 0);
        tlp_sink_free(sink);
    }
    if (finish)
        ck_assert_int_eq(store_finish(store, &err), 0);
    store_close(store);
    store = store_open(path, &err);
    ck_assert_msg(store != NULL, "%s", err.msg);
    return store;
}

static int64_t at(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

START_TEST(captures_of_one_trace_are_added_up)
{
    struct err err = {""};
    struct store *store = trace(2, 5, true);
    json_t *root = json_object();
    ck_assert_int_eq(info_tlp_json(store, root, &err), 0);
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
    ck_assert_int_eq(info_tlp_json(store, root, &err), 0);
    ck_assert_uint_eq(json_object_size(root), 0);
    json_decref(root);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct figure_input input = {.path = path, .store = store};
    ck_assert_int_eq(plot_script(figure_find("tlp-sizes"), &input, out, &err), -1);
    ck_assert_int_eq(plot_script(figure_find("tlp-latency"), &input, out, &err), -1);
    (void)fclose(out);
    free(text);
    store_close(store);
}
END_TEST

START_TEST(figures_show_types_senders_and_quartiles)
{
    static const char *const names[] = {"tlp-sizes", "tlp-latency"};
    static const char *const words[][2] = {{"MRd 64", "from 10.0.0.1"}, {"51 us", ""}};
    struct err err = {""};
    struct store *store = trace(1, 101, true);
    struct figure_input input = {.path = "tlp.db", .store = store};
    for (int i = 0; i < 2; i++) {
        char *text = NULL, file[32];
        size_t size;
        FILE *out = open_memstream(&text, &size);
        ck_assert_msg(plot_script(figure_find(names[i]), &input, out, &err) == 0, "%s", err.msg);
        (void)fclose(out);
        ck_assert_msg(strstr(text, words[i][0]) != NULL, "%s", text);
        ck_assert_msg(i == 1 || strstr(text, words[i][1]) != NULL, "%s", text);
        free(text);
        (void)snprintf(file, sizeof file, "%s.svg", names[i]);
        int rc = plot_draw(figure_find(names[i]), &input, testing_file(file), &err);
        ck_assert_msg(rc == 0 || strstr(err.msg, "not installed"), "%s", err.msg);
    }
    store_close(store);
}
END_TEST

START_TEST(an_interrupted_recording_is_counted_from_its_records)
{
    struct err err = {""};
    struct store *store = trace(1, 100000, false);
    json_t *root = json_object();
    ck_assert_int_eq(info_tlp_json(store, root, &err), 0);
    const json_t *rows = json_object_get(root, "tlp_histogram");
    ck_assert_uint_eq(json_array_size(rows), 2);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(rows, 0), "direction")), "unknown");
    ck_assert_int_gt(at(json_array_get(rows, 0), "count"), 0);
    json_decref(root);
    store_close(store);
}
END_TEST

TEST_MAIN("info_tlp", captures_of_one_trace_are_added_up, a_trace_without_packets_gets_no_key,
          figures_show_types_senders_and_quartiles, an_interrupted_recording_is_counted_from_its_records)
