#include "trace/graph/graph_reorder.h"

#include "trace/base/testing.h"
#include "trace/graph/graph_generate.h"

START_TEST(ranks_go_down_by_score_and_up_by_id)
{
    const double score[] = {1, 5, -2, 5, 0, -0.0};
    uint32_t *map = graph_rank(score, 6, NULL);
    static const uint32_t expect[] = {2, 0, 5, 1, 3, 4};
    ck_assert_mem_eq(map, expect, sizeof expect);
    free(map);
}
END_TEST

START_TEST(a_reordered_graph_has_the_same_edges_under_the_mapping)
{
    struct graph g, h;
    WORKS(graph_kron(12, 8, 3, &g, &err));
    WORKS(graph_add_weights(&g, 1, 100, 1, &err));
    double *score = calloc(g.vertices, sizeof *score);
    for (uint64_t v = 0; v < g.vertices; v++)
        score[v] = (double)(random_mix(v) >> 40);
    uint32_t *map = GIVES(graph_rank(score, g.vertices, &err));
    WORKS(graph_reorder(&g, map, &h, &err));
    WORKS(graph_check(&h, &err));
    ck_assert_uint_eq(h.elements, g.elements);
    for (uint64_t v = 0; v < g.vertices; v++) {
        uint64_t at = h.offsets[map[v]];
        ck_assert_uint_eq(graph_degree(&h, map[v]), graph_degree(&g, v));
        for (uint64_t i = g.offsets[v]; i < g.offsets[v + 1]; i++, at++) {
            ck_assert_uint_eq(h.targets[at], map[g.targets[i]]);
            ck_assert_int_eq(h.weights[at], g.weights[i]);
        }
    }
    graph_release(&h);
    map[1] = map[0];
    FAILS_WITH(graph_reorder(&g, map, &h, &err), "no permutation");
    free(map);
    free(score);
    graph_release(&g);
}
END_TEST

/* Levels by plain breadth-first search; UINT32_MAX: not reached. */
static uint32_t *depths(const struct graph *g, uint32_t root)
{
    uint32_t *depth = malloc(g->vertices * sizeof *depth), *queue = malloc(g->vertices * sizeof *queue);
    memset(depth, 0xff, g->vertices * sizeof *depth);
    size_t head = 0, tail = 0;
    queue[tail++] = root;
    depth[root] = 0;
    while (head < tail) {
        uint32_t v = queue[head++];
        for (uint64_t i = g->offsets[v]; i < g->offsets[v + 1]; i++)
            if (depth[g->targets[i]] == UINT32_MAX) {
                depth[g->targets[i]] = depth[v] + 1;
                queue[tail++] = g->targets[i];
            }
    }
    free(queue);
    return depth;
}

START_TEST(reordering_by_degree_changes_no_breadth_first_depth)
{
    struct graph g, h;
    WORKS(graph_kron(14, 8, 5, &g, &err));
    double *score = calloc(g.vertices, sizeof *score);
    for (uint64_t v = 0; v < g.vertices; v++)
        score[v] = (double)graph_degree(&g, v);
    uint32_t *map = GIVES(graph_rank(score, g.vertices, &err));
    WORKS(graph_reorder(&g, map, &h, &err));
    ck_assert_uint_eq(map[graph_hub(&g)], 0);
    ck_assert_uint_eq(graph_hub(&h), 0);
    const uint32_t roots[] = {(uint32_t)graph_hub(&g), 0, 1, 77, 16383};
    uint32_t deepest = 0;
    for (size_t r = 0; r < sizeof roots / sizeof *roots; r++) {
        uint32_t *before = depths(&g, roots[r]), *after = depths(&h, map[roots[r]]);
        for (uint64_t v = 0; v < g.vertices; v++) {
            ck_assert_uint_eq(after[map[v]], before[v]);
            if (before[v] != UINT32_MAX && before[v] > deepest)
                deepest = before[v];
        }
        free(before);
        free(after);
    }
    ck_assert_uint_ge(deepest, 4);
    free(map);
    free(score);
    graph_release(&g);
    graph_release(&h);
}
END_TEST

START_TEST(transposing_twice_gives_the_graph_back)
{
    struct graph g, t, back;
    struct graph_degrees d = {.vertices = 500, .mean = 7, .sigma = 1, .seed = 2};
    WORKS(graph_from_degrees(&d, &g, &err));
    WORKS(graph_transpose(&g, &t, &err));
    WORKS(graph_transpose(&t, &back, &err));
    uint64_t *in = GIVES(graph_in_degrees(&g, &err));
    for (uint64_t v = 0; v < g.vertices; v++)
        ck_assert_uint_eq(graph_degree(&t, v), in[v]);
    ck_assert_mem_eq(back.offsets, g.offsets, (g.vertices + 1) * sizeof *g.offsets);
    free(in);
    graph_release(&g);
    graph_release(&t);
    graph_release(&back);
}
END_TEST

TEST_MAIN("graph_reorder")
