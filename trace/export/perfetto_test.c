#include "trace/export/exporter.h"

#include <jansson.h>

#include "trace/base/testing.h"

static uint64_t written, left_out;

/* What is exported of these records, each with its process; names: of kernels. */
static json_t *export_all(struct stream stream, const struct record *records, const int64_t *processes, size_t n,
                          const char *const names[2], int *rc)
{
    struct err err;
    int index;
    struct store *store = store_create(testing_file("t.db"), true, "test", &err);
    ck_assert_int_eq(store_stream_add(store, &stream, &index, &err), 0);
    ck_assert_int_eq(store_append(store, index, records, processes, n, &err), 0);
    for (int i = 0; names && i < 2; i++) {
        struct store_value row[16] = {STORE_V_INT(i), STORE_V_TEXT(names[i])};
        for (int c = 2; c < 16; c++)
            row[c] = c == 15 ? STORE_V_INT(7 + i) : STORE_V_NULL;
        ck_assert_int_eq(store_row(store, "kernels", row, 16, &err), 0);
    }
    ck_assert_int_eq(store_finish(store, &err), 0);
    store_close(store);
    store = store_open(testing_file("t.db"), &err);
    FILE *to = tmpfile();
    struct exporter_context context = {.store = store, .to = to};
    *rc = export_perfetto.write(&export_perfetto, &context, &err);
    written = context.written;
    left_out = context.skip_count ? context.skips[0].n : 0;
    rewind(to);
    json_error_t error;
    json_t *root = json_loadf(to, 0, &error);
    (void)fclose(to);
    store_close(store);
    return root;
}

static json_t *export_records(enum time_unit unit, const struct record *records, size_t n, int *rc)
{
    return export_all((struct stream){.name = "uvm", .unit = unit}, records, NULL, n, NULL, rc);
}

static const char *text_of(const json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));
    return text ? text : "";
}

static double number_of(const json_t *event, const char *key)
{
    return json_number_value(json_object_get(event, key));
}

/* The events of a phase, in order; at most 64. */
static size_t of_phase(const json_t *root, const char *phase, const json_t *found[64])
{
    size_t i, n = 0;
    json_t *event;
    json_array_foreach(json_object_get(root, "traceEvents"), i, event)
    {
        if (strcmp(text_of(event, "ph"), phase) == 0 && n < 64)
            found[n++] = event;
    }
    return n;
}

START_TEST(bars_and_instants_start_at_the_first_record_in_microseconds)
{
    const struct record records[] = {
        {.time = 5000, .duration = 1250, .addr = 4096, .bytes = 8192, .flags = 2, .kind = RECORD_MIGRATE_H2D},
        {.time = 7001, .addr = 4096, .flags = 1, .kind = RECORD_CPU_FAULT}};
    const json_t *bars[64], *instants[64], *found[64];
    int rc;
    json_t *root = export_records(TIME_NS, records, 2, &rc);
    ck_assert_int_eq(rc, 0);
    ck_assert_ptr_nonnull(root);
    ck_assert_uint_eq(of_phase(root, "X", bars), 1);
    ck_assert_uint_eq(of_phase(root, "i", instants), 1);
    ck_assert_uint_eq(of_phase(root, "M", found), 1 + 2 * 2); /* a process, two lines with name and order */
    ck_assert_str_eq(text_of(bars[0], "name"), "MIGRATE_H2D fault 8 KiB");
    ck_assert_str_eq(text_of(instants[0], "name"), "CPU_FAULT read");
    ck_assert(number_of(bars[0], "ts") == 0 && number_of(bars[0], "dur") == 1.25);
    ck_assert(number_of(instants[0], "ts") == 2.001);
    json_decref(root);
}
END_TEST

START_TEST(kernels_have_their_names_and_streams_and_processes_their_own_lines)
{
    const struct stream stream = {.name = "uvm", .unit = TIME_NS, .extra = {"src_id", "process_id"}};
    const struct record records[] = {{.time = 0, .duration = 10, .id = 0, .kind = RECORD_KERNEL},
                                     {.time = 5, .duration = 10, .id = 1, .kind = RECORD_KERNEL},
                                     {.time = 6, .duration = 10, .id = 0, .kind = RECORD_KERNEL},
                                     {.time = 7, .duration = 1, .id = 9, .kind = RECORD_KERNEL},
                                     {.time = 8, .id = 1 << 10, .bytes = 128, .kind = RECORD_TLP}};
    const int64_t extras[] = {0, 0, 0, 0, 0, 40, 40, 40, 41, 41};
    static const char *const names[2] = {"add<int>", "x\"</script>\n"};
    const json_t *bars[64], *lines[64];
    int rc;
    json_t *root = export_all(stream, records, extras, 5, names, &rc);
    ck_assert_int_eq(rc, 0);
    ck_assert_uint_eq(of_phase(root, "X", bars), 4);
    ck_assert_str_eq(text_of(bars[0], "name"), "add<int>");
    ck_assert_str_eq(text_of(bars[1], "name"), "x\"</script>\n");
    ck_assert_str_eq(text_of(bars[3], "name"), "KERNEL"); /* no such row */
    ck_assert(number_of(bars[2], "pid") == 40 && number_of(bars[3], "pid") == 41);
    /* Two of stream 7 overlap: they have two lines, stream 8 another; the packet and the nameless one theirs. */
    const size_t n = of_phase(root, "M", lines);
    size_t kernels = 0, second = 0;
    for (size_t i = 0; i < n; i++) {
        const char *name = text_of(json_object_get(lines[i], "args"), "name");
        kernels += strncmp(name, "KERNEL", 6) == 0;
        second += strcmp(name, "KERNEL stream 7 (2)") == 0;
    }
    ck_assert_uint_eq(kernels, 4);
    ck_assert_uint_eq(second, 1);
    ck_assert_uint_eq(n, 2 + 2 * 5);
    json_decref(root);
}
END_TEST

/* The rule of the form: slices of a line lie behind each other or inside each other. */
START_TEST(slices_of_a_line_never_cross_and_counters_sum_up)
{
    enum { N = 3000 };
    static struct record records[N];
    static double ends[1024];
    unsigned seed = 5;
    uint64_t bytes = 0, slices = 0, counted = 0;
    for (int i = 0; i < N; i++) {
        records[i] = (struct record){.time = i * 10 + rand_r(&seed) % 10,
                                     .duration = rand_r(&seed) % 3 ? rand_r(&seed) % 400 : 0,
                                     .bytes = (uint64_t)(rand_r(&seed) % 9) * 4096,
                                     .kind = rand_r(&seed) % 2 ? RECORD_MIGRATE_H2D : RECORD_FAULT};
        bytes += records[i].kind == RECORD_MIGRATE_H2D ? records[i].bytes : 0;
    }
    int rc;
    json_t *root = export_records(TIME_NS, records, N, &rc), *event;
    ck_assert_int_eq(rc, 0);
    ck_assert_uint_eq(written, N);
    size_t i;
    double last = 0, step = 0;
    json_array_foreach(json_object_get(root, "traceEvents"), i, event)
    {
        const size_t line = (size_t)number_of(event, "tid");
        if (strcmp(text_of(event, "ph"), "X") == 0) {
            ck_assert_uint_lt(line, 1024);
            ck_assert_double_ge(number_of(event, "ts") + 1e-6, ends[line]);
            ends[line] = number_of(event, "ts") + number_of(event, "dur");
            slices++;
        } else if (strcmp(text_of(event, "ph"), "C") == 0 && strstr(text_of(event, "name"), "H2D bytes in ")) {
            const double bin = atof(text_of(event, "name") + strlen("H2D bytes in ")) / 1000;
            counted += (uint64_t)(step * ((number_of(event, "ts") - last) / bin) + 0.5);
            last = number_of(event, "ts");
            step = number_of(json_object_get(event, "args"), "H2D bytes");
        }
    }
    ck_assert_uint_gt(slices, N / 2);
    ck_assert_double_eq(step, 0); /* the last stretch ends */
    ck_assert_uint_eq(counted, bytes);
    json_decref(root);
}
END_TEST

START_TEST(more_than_64_at_once_are_counted)
{
    static struct record records[70];
    for (int i = 0; i < 70; i++)
        records[i] = (struct record){.time = i, .duration = 1000, .kind = RECORD_MIGRATE_D2H};
    int rc;
    json_decref(export_records(TIME_NS, records, 70, &rc));
    ck_assert_int_eq(rc, 0);
    ck_assert_uint_eq(written, 64);
    ck_assert_uint_eq(left_out, 6);
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

TEST_MAIN("perfetto")
