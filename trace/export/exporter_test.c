#include "trace/export/exporter.h"

#include "trace/import/reader.h"
#include "trace/import/testing_memory.h"
#include "trace/store/testing_facts.h"

START_TEST(exporters_are_found_by_name_and_have_what_the_list_prints)
{
    for (size_t i = 0; exporters[i]; i++) {
        ck_assert_ptr_eq(exporter_find(exporters[i]->name), exporters[i]);
        ck_assert(exporters[i]->summary && exporters[i]->write);
    }
    ck_assert_ptr_null(exporter_find("nosuch"));
}
END_TEST

/* That what is carried is there when it is read back: below, and the case forms of fixtures/cli. */
START_TEST(what_is_dropped_is_said)
{
    struct err err = {""};
    testing_all_facts(testing_file("all.db"));
    for (size_t i = 0; exporters[i]; i++) {
        struct exporter_context context = {.store = store_open(testing_file("all.db"), &err)};
        struct facts had;
        char said[512], expected[512];
        context.stream = exporters[i]->carries & FACT(STREAMS) ? -1 : 0;
        ck_assert_int_eq(exporter_left_out(exporters[i], &context, said, sizeof said, &err), 0);
        ck_assert_int_eq(facts_find(&had, context.store, context.stream, FACTS_ALL, &err), 0);
        ck_assert_str_eq(said, facts_text(&had, FACTS_ALL & ~exporters[i]->carries, expected, sizeof expected));
        store_close(context.store);
    }
}
END_TEST

static char *trace_text(const char *path)
{
    struct store *store = GIVES(store_open(path, &err));
    char *text = testing_trace_text(store);
    store_close(store);
    return text;
}

static void through_csv(const char *from, const char *to)
{
    struct err err = {""};
    char *csv = NULL;
    size_t size;
    struct exporter_context export = {.store = store_open(from, &err), .stream = -1, .to = open_memstream(&csv, &size)};
    ck_assert_msg(export_csv.write(&export_csv, &export, &err) == 0, "%s", err.msg);
    (void)fclose(export.to);
    store_close(export.store);
    struct input_stream *source = input_stream_from_memory(csv, size, &err);
    struct reader_context context = {.store = store_create(to, OUTPUT_REPLACE, "t", &err), .path = "in"};
    ck_assert_msg(reader_run(&read_csv, &context, source, &err) == 0, "%s", err.msg);
    ck_assert_str_ne(context.incomplete, "");
    ck_assert_int_eq(store_keep(context.store, &err), 0);
    store_close(context.store);
    input_stream_close(source);
    free(csv);
}

START_TEST(our_own_form_carries_all_of_a_trace)
{
    testing_all_facts(testing_file("all.db"));
    through_csv(testing_file("all.db"), testing_file("back.db"));
    char *all = trace_text(testing_file("all.db")), *back = trace_text(testing_file("back.db"));
    size_t same = 0; /* Check's messages have an end */
    while (all[same] && all[same] == back[same])
        same++;
    ck_assert_msg(strcmp(all, back) == 0, "'%.60s' became '%.60s'", all + same, back + same);
    ck_assert_uint_gt(strlen(all), 1000);
    free(all);
    free(back);
}
END_TEST

START_TEST(skips_are_counted_by_reason)
{
    struct exporter_context context = {0};
    exporter_skip(&context, "a");
    exporter_skip(&context, "b");
    exporter_skip(&context, "a");
    ck_assert_uint_eq(context.skip_count, 2);
    ck_assert_uint_eq(context.skips[0].n, 2);
}
END_TEST

TEST_MAIN("exporter")
