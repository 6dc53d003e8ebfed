#include "trace/workloads/workload.h"

#include "trace/base/testing.h"

START_TEST(every_workload_is_described_and_found_by_name)
{
    for (size_t i = 0; workload_types[i]; i++) {
        const struct workload_type *t = workload_types[i];
        ck_assert_ptr_eq(workload_find(t->name), t);
        ck_assert_str_ne(t->summary, "");
        ck_assert_str_ne(t->source, "");
    }
    ck_assert_ptr_null(workload_find("nothing"));
}
END_TEST

START_TEST(unknown_names_and_keys_are_explained)
{
    struct workload w;
    struct err err = {""};
    ck_assert_int_eq(workload_open(&w, "nothing,bytes=1", &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "'nothing'"));
    for (size_t i = 0; workload_types[i]; i++) {
        char spec[128];
        (void)snprintf(spec, sizeof spec, "%s,colour=red", workload_types[i]->name);
        ck_assert_int_eq(workload_open(&w, spec, &err), -1);
        ck_assert_msg(strstr(err.msg, "colour") != NULL, "%s: %s", spec, err.msg);
    }
}
END_TEST

TEST_MAIN("workload", every_workload_is_described_and_found_by_name, unknown_names_and_keys_are_explained)
