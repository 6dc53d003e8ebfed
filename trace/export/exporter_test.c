#include "trace/export/exporter.h"

#include "trace/base/testing.h"

START_TEST(exporters_are_found_by_name_and_have_what_the_list_prints)
{
    for (size_t i = 0; exporters[i]; i++) {
        ck_assert_ptr_eq(exporter_find(exporters[i]->name), exporters[i]);
        ck_assert(exporters[i]->summary && exporters[i]->write);
    }
    ck_assert_ptr_null(exporter_find("nosuch"));
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

TEST_MAIN("exporter", exporters_are_found_by_name_and_have_what_the_list_prints, skips_are_counted_by_reason)
