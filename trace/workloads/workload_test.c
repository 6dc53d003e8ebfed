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
        const char *spec = testing_text("%s,colour=red", workload_types[i]->name);
        ck_assert_int_eq(workload_open(&w, spec, &err), -1);
        ck_assert_msg(strstr(err.msg, "colour") != NULL, "%s: %s", spec, err.msg);
    }
}
END_TEST

/* bicg's matrix has rows of 1,024 floats: 15 x 15 of them in 10^9 bytes, 944 million; 16 x 16 in 1 GiB. */
START_TEST(a_program_of_another_size_than_asked_for_says_so)
{
    static const struct {
        const char *spec, *note;
    } cases[] = {{"bicg,bytes=1GB", "bicg: its arrays take 900 MiB, not 954 MiB: its sizes come in steps"},
                 {"bicg,bytes=1GiB", NULL},
                 {"bicg,n=1024", NULL},
                 {"triad,bytes=1GB", NULL},
                 {"kron,scale=4", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct workload w;
        char note[200];
        WORKS(workload_open(&w, cases[i].spec, &err));
        const char *said = workload_size_note(&w, note, sizeof note);
        ck_assert_msg(!said == !cases[i].note, "%s: %s", cases[i].spec, said ? said : "nothing");
        if (said)
            ck_assert_str_eq(said, cases[i].note);
        workload_close(&w);
    }
}
END_TEST

TEST_MAIN("workload")
