#include "models/zerocopy/score.h"

#include <math.h>

#include "trace/base/testing.h"
#include "trace/graph/graph_build.h"
#include "trace/graph/graph_generate.h"
#include "trace/graph/graph_reorder.h"
#include "trace/graph/graph_sample.h"

static void small(struct graph *g)
{
    struct graph_builder b = {0};
    ck_assert_int_eq(graph_builder_add(&b, 0, 1, false, 0, NULL), 0);
    ck_assert_int_eq(graph_builder_add(&b, 0, 2, false, 0, NULL), 0);
    ck_assert_int_eq(graph_builder_add(&b, 1, 2, false, 0, NULL), 0);
    ck_assert_int_eq(graph_builder_finish(&b, 3, GRAPH_SORT, g, NULL), 0);
}

START_TEST(one_round_of_the_worked_example)
{
    struct graph g;
    small(&g);
    struct score_options o = {.damping = 0.5, .rounds = 1};
    double *s = score_vertices(&g, SCORE_WEIGHTED, &o, NULL);
    ck_assert_double_eq_tol(s[0], 5.0 / 12, 1e-12);
    ck_assert_double_eq_tol(s[1], 1.0 / 4, 1e-12);
    ck_assert_double_eq_tol(s[2], 1.0 / 6, 1e-12);
    free(s);
    graph_release(&g);
}
END_TEST

START_TEST(labels_weigh_n_over_labelled)
{
    struct graph g;
    small(&g);
    const uint32_t labelled[] = {2};
    struct score_options o = {.damping = 0.5, .rounds = 1, .labelled = labelled, .labelled_count = 1};
    double *s = score_vertices(&g, SCORE_WEIGHTED, &o, NULL);
    /* vertex 2 starts at 1: its share is 1/2 */
    ck_assert_double_eq_tol(s[0], 1.0 / 6 + 0.5 * (1.0 / 3 + 1.0 / 2), 1e-12);
    ck_assert_double_eq_tol(s[1], 1.0 / 6 + 0.5 * (1.0 / 2), 1e-12);
    free(s);
    const uint32_t wrong[] = {3};
    o.labelled = wrong;
    struct err err = {""};
    ck_assert_ptr_null(score_vertices(&g, SCORE_WEIGHTED, &o, &err));
    s = score_vertices(&g, SCORE_REVERSE_PAGERANK, &o, &err); /* asks no label */
    ck_assert_ptr_nonnull(s);
    free(s);
    graph_release(&g);
}
END_TEST

/* Three hundred plain rounds from the same start are the limit, to 0.85^300. */
START_TEST(reverse_pagerank_is_as_near_its_limit_as_its_tolerance_says)
{
    struct graph g;
    WORKS(graph_kron(10, 8, 1, &g, &err));
    struct score_options o = {.damping = 0.85, .rounds = 300};
    double *s = GIVES(score_vertices(&g, SCORE_REVERSE_PAGERANK, &o, &err));
    double *limit = GIVES(score_vertices(&g, SCORE_WEIGHTED, &o, &err));
    uint64_t *in = GIVES(graph_in_degrees(&g, &err));
    double change = 0, left = 0;
    for (uint64_t v = 0; v < g.vertices; v++) {
        double sum = 0;
        for (uint64_t i = g.offsets[v]; i < g.offsets[v + 1]; i++)
            sum += limit[g.targets[i]] / (double)in[g.targets[i]];
        change += fabs(0.15 / (double)g.vertices + 0.85 * sum - limit[v]);
        left += fabs(s[v] - limit[v]);
    }
    ck_assert_double_lt(change, 1e-12);
    ck_assert_double_lt(left, 5.7e-6);
    free(in);
    free(s);
    free(limit);
    graph_release(&g);
}
END_TEST

START_TEST(reverse_pagerank_ends_with_the_first_round_that_changes_it_by_less_than_its_tolerance)
{
    struct graph g;
    ck_assert_int_eq(graph_kron(6, 8, 1, &g, NULL), 0);
    struct score_options o = {.damping = 0.85, .rounds = 1};
    double *s = score_vertices(&g, SCORE_REVERSE_PAGERANK, &o, NULL), *before, *after, change = 1;
    before = score_vertices(&g, SCORE_WEIGHTED, &o, NULL);
    while (change >= 1e-6) {
        o.rounds++;
        after = score_vertices(&g, SCORE_WEIGHTED, &o, NULL);
        change = 0;
        for (uint64_t v = 0; v < g.vertices; v++)
            change += fabs(after[v] - before[v]);
        free(before);
        before = after;
    }
    ck_assert_mem_eq(s, before, g.vertices * sizeof *s);
    ck_assert_int_lt(o.rounds, 300);
    free(s);
    free(before);
    graph_release(&g);
}
END_TEST

/* Share of a row stream that the best `percent` of rows by score serve. */
static double hits(const struct graph *g, enum score_kind kind, const uint32_t *labelled, uint64_t n,
                   const uint64_t *rows, uint64_t count, double percent)
{
    struct score_options o = {.damping = 0.85, .labelled = labelled, .labelled_count = n};
    double *s = score_vertices(g, kind, &o, NULL);
    uint32_t *map = graph_rank(s, g->vertices, NULL);
    uint64_t served = 0;
    for (uint64_t i = 0; i < count; i++)
        served += map[rows[i]] < (uint64_t)((double)g->vertices * percent / 100);
    free(map);
    free(s);
    return 100.0 * (double)served / (double)count;
}

START_TEST(on_a_kronecker_graph_the_scores_agree_within_a_point)
{
    struct graph g;
    uint32_t *labelled;
    uint64_t n, *rows, count;
    WORKS(graph_kron(16, 16, 1, &g, &err));
    WORKS(graph_sample_labels(g.vertices, 1.1, false, 1, &labelled, &n, &err));
    struct graph_sample how = {.seeds = 4, .batches = 40, .seed = 1, .labelled = labelled, .labelled_count = n};
    WORKS(graph_sample_fan_outs(&how, "[10,25]", &err));
    WORKS(graph_sample_rows(&g, &how, &rows, &count, NULL, &err));
    double degree = hits(&g, SCORE_DEGREE, labelled, n, rows, count, 10);
    ck_assert_double_gt(degree, 60);
    ck_assert_double_eq_tol(hits(&g, SCORE_REVERSE_PAGERANK, labelled, n, rows, count, 10), degree, 1);
    ck_assert_double_eq_tol(hits(&g, SCORE_WEIGHTED, labelled, n, rows, count, 10), degree, 1);
    free(rows);
    free(labelled);
    graph_release(&g);
}
END_TEST

START_TEST(clustered_labels_make_weighted_serve_twenty_points_more)
{
    struct graph g;
    uint32_t *labelled;
    uint64_t n, *rows, count;
    const struct graph_communities recipe = {.scale = 16, .k = 8, .communities = 64, .inside = 0.95, .seed = 1};
    WORKS(graph_from_communities(&recipe, &g, &err));
    WORKS(graph_sample_labels(g.vertices, 3, true, 1, &labelled, &n, &err));
    struct graph_sample how = {.seeds = 4, .batches = 40, .seed = 1, .labelled = labelled, .labelled_count = n};
    WORKS(graph_sample_fan_outs(&how, "12,12,12", &err));
    WORKS(graph_sample_rows(&g, &how, &rows, &count, NULL, &err));
    double degree = hits(&g, SCORE_DEGREE, labelled, n, rows, count, 10);
    double weighted = hits(&g, SCORE_WEIGHTED, labelled, n, rows, count, 10);
    ck_assert_msg(weighted >= degree + 20, "weighted %.1f, degree %.1f", weighted, degree);
    free(rows);
    free(labelled);
    graph_release(&g);
}
END_TEST

START_TEST(shares_of_the_best_vertices_count_their_lists_and_scores)
{
    struct graph g;
    small(&g);
    const double score[] = {1, 5, 2};
    const uint32_t rank[] = {2, 0, 1};
    struct score_share shares[] = {{.percent = 33}, {.percent = 34}, {.percent = 67}, {.percent = 100}};
    score_shares(&g, score, rank, shares, 4);
    static const uint64_t vertices[] = {0, 1, 2, 3}, elements[] = {0, 1, 1, 3};
    static const double sums[] = {0, 5, 7, 8};
    for (int i = 0; i < 4; i++) {
        ck_assert_uint_eq(shares[i].vertices, vertices[i]);
        ck_assert_uint_eq(shares[i].elements, elements[i]);
        ck_assert_double_eq(shares[i].score, sums[i]);
        ck_assert_double_eq(shares[i].score_sum, 8);
    }
    graph_release(&g);
}
END_TEST

TEST_MAIN("score")
