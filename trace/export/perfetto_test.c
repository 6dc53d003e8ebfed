#include "trace/export/perfetto.h"

#include <jansson.h>

#include "trace/base/testing.h"

static uint64_t written;

static json_t *export_records(enum time_unit unit, const struct record *records, size_t n, int *rc)
{
    struct err err;
    const struct stream stream = {.name = "uvm", .unit = unit};
    int index;
    struct store *store = store_create(testing_file("t.db"), true, "test", &err);
    ck_assert_int_eq(store_stream_add(store, &stream, &index, &err), 0);
    ck_assert_int_eq(store_append(store, index, records, NULL, n, &err), 0);
    ck_assert_int_eq(store_finish(store, &err), 0);
    store_close(store);
    store = store_open(testing_file("t.db"), &err);
    FILE *to = tmpfile();
    struct exporter_context context = {.store = store, .to = to};
    *rc = export_perfetto.write(&context, &err);
    written = context.written;
    rewind(to);
    json_error_t error;
    json_t *root = json_loadf(to, 0, &error);
    (void)fclose(to);
    store_close(store);
    return root;
}

START_TEST(bars_and_instants_start_at_the_first_record_in_microseconds)
{
    const struct record records[] = {
        {.time = 5000, .duration = 1250, .addr = 4096, .bytes = 8192, .kind = RECORD_MIGRATE_H2D},
        {.time = 7001, .addr = 4096, .kind = RECORD_CPU_FAULT}};
    int rc;
    json_t *root = export_records(TIME_NS, records, 2, &rc);
    ck_assert_int_eq(rc, 0);
    ck_assert_ptr_nonnull(root);
    json_t *events = json_object_get(root, "traceEvents");
    ck_assert_uint_eq(json_array_size(events), 5); /* three names */
    json_t *bar = json_array_get(events, 3), *instant = json_array_get(events, 4);
    ck_assert_str_eq(json_string_value(json_object_get(bar, "ph")), "X");
    ck_assert(json_number_value(json_object_get(bar, "ts")) == 0);
    ck_assert(json_number_value(json_object_get(bar, "dur")) == 1.25);
    ck_assert_str_eq(json_string_value(json_object_get(instant, "ph")), "i");
    ck_assert(json_number_value(json_object_get(instant, "ts")) == 2.001);
    json_decref(root);
}
END_TEST

START_TEST(a_time_too_far_from_the_first_is_left_out)
{
    const struct record records[] = {{.time = -10, .kind = RECORD_CPU_FAULT},
                                     {.time = INT64_MAX - 10, .kind = RECORD_CPU_FAULT},
                                     {.time = INT64_MAX - 9, .kind = RECORD_CPU_FAULT}};
    int rc;
    json_t *root = export_records(TIME_NS, records, 3, &rc);
    ck_assert_int_eq(rc, 0);
    ck_assert_uint_eq(written, 2);
    json_t *events = json_object_get(root, "traceEvents");
    ck_assert_uint_eq(json_array_size(events), 2 + 2); /* two names */
    json_t *last = json_array_get(events, 3);
    ck_assert(json_number_value(json_object_get(last, "ts")) == (double)INT64_MAX / 1000);
    json_decref(root);
}
END_TEST

START_TEST(a_stream_without_ns_is_refused)
{
    const struct record record = {.kind = RECORD_TOUCH};
    int rc;
    json_decref(export_records(TIME_NONE, &record, 1, &rc));
    ck_assert_int_eq(rc, -1);
}
END_TEST

TEST_MAIN("perfetto", bars_and_instants_start_at_the_first_record_in_microseconds,
          a_time_too_far_from_the_first_is_left_out, a_stream_without_ns_is_refused)
