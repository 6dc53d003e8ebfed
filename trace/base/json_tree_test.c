#include "trace/base/json_tree.h"

#include <math.h>

#include "trace/base/testing.h"

START_TEST(what_is_put_is_there)
{
    json_t *root = json_object(), *rows = json_array();
    json_tree_add(&rows, json_integer(7));
    json_tree_put(&root, "rows", rows);
    WORKS(json_tree_check(root, &err));
    ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(root, "rows"), 0)), 7);
    json_decref(root);
}
END_TEST

START_TEST(a_failure_deep_in_a_tree_reaches_the_root)
{
    json_t *root = json_object(), *rows = json_array(), *row = json_object();
    json_tree_put(&root, "good", json_true());
    json_tree_put(&row, "value", json_real(NAN)); /* jansson has no such number */
    ck_assert_ptr_null(row);
    json_tree_put(&row, "later", json_true());
    json_tree_add(&rows, row);
    json_tree_add(&rows, json_true());
    json_tree_put(&root, "rows", rows);
    ck_assert_ptr_null(root);
    FAILS_WITH(json_tree_check(root, &err), "JSON");
}
END_TEST

START_TEST(texts_that_are_not_utf8_keep_their_ascii)
{
    json_t *good = json_tree_text("caf\xc3\xa9"), *bad = json_tree_text("caf\xe9!");
    ck_assert_str_eq(json_string_value(good), "caf\xc3\xa9");
    ck_assert_str_eq(json_string_value(bad), "caf?!");
    json_decref(good);
    json_decref(bad);
}
END_TEST

START_TEST(what_is_no_number_is_null)
{
    json_t *number = json_tree_real(0.5), *none = json_tree_real(INFINITY);
    ck_assert_double_eq(json_real_value(number), 0.5);
    ck_assert(json_is_null(none));
    json_decref(number);
    json_decref(none);
}
END_TEST

START_TEST(a_copy_is_as_its_source_and_stays_so)
{
    json_t *tree = json_pack("{s:[i,{s:s}],s:n}", "a", 1, "b", "text", "c"), *copy = json_tree_copy(tree);
    ck_assert(json_equal(tree, copy));
    json_object_set_new(json_array_get(json_object_get(tree, "a"), 1), "b", json_true());
    json_t *b = json_object_get(json_array_get(json_object_get(copy, "a"), 1), "b");
    ck_assert_str_eq(json_string_value(b), "text");
    ck_assert_ptr_null(json_tree_copy(NULL));
    json_decref(tree);
    json_decref(copy);
}
END_TEST

TEST_MAIN("json_tree")
