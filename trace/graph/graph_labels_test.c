#include "trace/graph/graph_labels.h"

#include "trace/base/testing.h"

static int read_text(const char *text, uint32_t **labelled, uint64_t *count, struct err *err)
{
    struct source *source = source_from_memory(text, strlen(text), err);
    ck_assert_ptr_nonnull(source);
    int rc = graph_labels_read(source, 10, labelled, count, err);
    source_close(source);
    return rc;
}

START_TEST(labels_come_in_file_order_without_comments)
{
    uint32_t *labelled;
    uint64_t n;
    struct err err = {""};
    ck_assert_msg(read_text("# train\n9\n\n 0\r\n4", &labelled, &n, &err) == 0, "%s", err.msg);
    static const uint32_t expect[] = {9, 0, 4};
    ck_assert_uint_eq(n, 3);
    ck_assert_mem_eq(labelled, expect, sizeof expect);
    free(labelled);
}
END_TEST

START_TEST(what_is_no_label_is_named_with_its_line)
{
    static const struct {
        const char *text, *message;
    } cases[] = {{"1\ntwo\n", "line 2: 'two' is no vertex"},     {"1 2\n", "line 1: '1 2' is no vertex"},
                 {"-1\n", "line 1: '-1' is no vertex"},          {"3\n10\n", "line 2: vertex 10; the graph has 10"},
                 {"3\n4\n3\n", "line 3: vertex 3 stands twice"}, {"# none\n", "no vertices"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t *labelled;
        uint64_t n;
        struct err err = {""};
        ck_assert_int_eq(read_text(cases[i].text, &labelled, &n, &err), -1);
        ck_assert_str_eq(err.msg, cases[i].message);
        ck_assert_ptr_null(labelled);
    }
}
END_TEST

TEST_MAIN("graph_labels", labels_come_in_file_order_without_comments, what_is_no_label_is_named_with_its_line)
