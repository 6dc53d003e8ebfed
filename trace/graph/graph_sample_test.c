#include "trace/graph/graph_sample.h"

#include "trace/base/testing.h"
#include "trace/graph/graph_generate.h"

START_TEST(fan_outs_are_read_with_or_without_brackets)
{
    struct graph_sample s;
    ck_assert_int_eq(graph_sample_fan_outs(&s, "[10,25]", NULL), 0);
    ck_assert_int_eq(s.hops, 2);
    ck_assert_int_eq(s.fan_outs[1], 25);
    ck_assert_int_eq(graph_sample_fan_outs(&s, "12,12,12", NULL), 0);
    static const char *const bad[] = {"", "[]", "[10,25", "[10,25]x", "0", "ten", "[1000000]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(graph_sample_fan_outs(&s, bad[i], NULL) == -1, "'%s' was accepted", bad[i]);
}
END_TEST

START_TEST(rows_of_a_batch_are_distinct_and_within_reach)
{
    struct graph g;
    WORKS(graph_urand(10, 8, 1, &g, &err));
    uint32_t *labelled;
    uint64_t n, *rows, count;
    WORKS(graph_sample_labels(g.vertices, 10, false, 1, &labelled, &n, &err));
    ck_assert_uint_eq(n, 103);
    struct graph_sample s = {.seeds = 1, .batches = 1, .seed = 5, .labelled = labelled, .labelled_count = n};
    WORKS(graph_sample_fan_outs(&s, "[3]", &err));
    WORKS(graph_sample_rows(&g, &s, &rows, &count, NULL, &err));
    ck_assert_uint_eq(count, 4);
    for (uint64_t i = 1; i < count; i++) {
        bool neighbour = false;
        for (uint64_t e = g.offsets[rows[0]]; e < g.offsets[rows[0] + 1]; e++)
            neighbour = neighbour || g.targets[e] == rows[i];
        ck_assert(neighbour);
        for (uint64_t j = 0; j < i; j++)
            ck_assert_uint_ne(rows[i], rows[j]);
    }
    free(rows);
    s.seeds = n + 1;
    FAILS(graph_sample_rows(&g, &s, &rows, &count, NULL, &err));
    free(labelled);
    graph_release(&g);
}
END_TEST

START_TEST(clustered_labels_stay_in_the_first_blocks)
{
    uint32_t *labelled;
    uint64_t n;
    ck_assert_int_eq(graph_sample_labels(6400, 3, true, 1, &labelled, &n, NULL), 0);
    ck_assert_uint_eq(n, 192);
    for (uint64_t i = 0; i < n; i++)
        ck_assert_uint_lt(labelled[i], 200);
    free(labelled);
}
END_TEST

TEST_MAIN("graph_sample")
