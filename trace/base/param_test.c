#include "trace/base/err.h"
#include "trace/base/param.h"

#include "trace/base/testing.h"

struct box {
    int64_t bytes, count, mode;
    double share;
    const char *graph;
};

static const struct param box_params[] = {PARAM_BYTES_ROW(box, bytes, 1, 0x1p40, 4096, "size"),
                                          PARAM_INT_ROW(box, count, "", 0, 10, 3, "how many"),
                                          PARAM_CHOICE_ROW(box, mode, "blocked|free", 0, "what a full uTLB does"),
                                          PARAM_REAL_ROW(box, share, "", 0, 1, 0.5, "share"),
                                          PARAM_TEXT_ROW(box, graph, NULL, "a file"),
                                          {0}};

START_TEST(defaults_then_settings)
{
    struct param_list list;
    struct box b;
    WORKS(param_list_init(&list, "bytes=64KiB,mode=free,graph=a.bel", &err));
    WORKS(param_list_apply(&list, box_params, &b, &err));
    ck_assert_int_eq(b.bytes, 65536);
    ck_assert_int_eq(b.count, 3);
    ck_assert_int_eq(b.mode, 1);
    ck_assert_double_eq(b.share, 0.5);
    ck_assert_str_eq(b.graph, "a.bel");
    char buf[64];
    ck_assert_str_eq(param_format(&box_params[0], &b, buf, sizeof buf), "64KiB");
    ck_assert_str_eq(param_format(&box_params[2], &b, buf, sizeof buf), "free");
    ck_assert_str_eq(param_format(&box_params[3], &b, buf, sizeof buf), "0.5");
    param_list_release(&list);
}
END_TEST

START_TEST(errors_name_the_parameter_and_the_expectation)
{
    struct box b;
    param_defaults(box_params, &b);
    FAILS_WITH(param_set(box_params, &b, "count", "11", &err), "expected 0 to 10");
    FAILS_WITH(param_set(box_params, &b, "mode", "open", &err), "blocked|free");
    FAILS_WITH(param_set(box_params, &b, "colour", "1", &err), "bytes, count");
    FAILS(param_set(box_params, &b, "count", NULL, &err));
    ck_assert_int_eq(b.count, 3);
}
END_TEST

START_TEST(lists_in_brackets_keep_their_commas)
{
    struct param_list list;
    ck_assert_int_eq(param_list_init(&list, "fan_outs=[10,25],x", NULL), 0);
    ck_assert_uint_eq(list.count, 2);
    ck_assert_str_eq(list.pairs[0].value, "[10,25]");
    ck_assert_ptr_null(list.pairs[1].value);
    param_list_release(&list);
    ck_assert_int_eq(param_list_init(&list, "a=1,,b=2", NULL), -1);
}
END_TEST

START_TEST(defaults_and_ranges_are_said_as_they_are_read)
{
    char text[64];
    for (const struct param *row = box_params; row->name; row++) {
        struct box b, other;
        param_defaults(box_params, &b);
        param_defaults(box_params, &other);
        if (row->type == PARAM_TEXT)
            continue;
        param_put_number(row, &other, row->type == PARAM_CHOICE ? 0 : row->hi);
        WORKS(param_set(box_params, &other, row->name, param_default(row, text, sizeof text), &err));
        ck_assert_double_eq(param_number(row, &other), param_number(row, &b));
    }
    ck_assert_str_eq(param_range(&box_params[0], text, sizeof text), "1..1TiB");
    ck_assert_str_eq(param_range(&box_params[2], text, sizeof text), "blocked|free");
    ck_assert_str_eq(param_range(&box_params[4], text, sizeof text), "");
}
END_TEST

START_TEST(any_number_can_be_read_and_stored_as_one)
{
    struct box b;
    param_defaults(box_params, &b);
    ck_assert_double_eq(param_number(&box_params[0], &b), 4096);
    ck_assert_double_eq(param_number(&box_params[3], &b), 0.5);
    ck_assert_double_eq(param_number(&box_params[4], &b), 0);
    param_put_number(&box_params[1], &b, 6.5);
    param_put_number(&box_params[2], &b, 1);
    param_put_number(&box_params[3], &b, 0.25);
    param_put_number(&box_params[4], &b, 3);
    ck_assert_int_eq(b.count, 7);
    ck_assert_int_eq(b.mode, 1);
    ck_assert_double_eq(b.share, 0.25);
    ck_assert_ptr_null(b.graph);
}
END_TEST

TEST_MAIN("param")
