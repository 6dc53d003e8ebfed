/* What the program draws or lists when it is opened: its own functions, by including it. */
#include "trace/workloads/rodinia/rodinia_bfs.c"

#include "trace/base/testing.h"

static struct bfs *opened(int64_t n, int64_t ring, int64_t seed)
{
    struct err err = {""};
    struct bfs *g = bfs_open(&(struct bfs){.n = n, .graph = ring, .seed = seed}, &err);
    ck_assert_msg(g != NULL, "%s", err.msg);
    return g;
}

/* The header's example. */
START_TEST(a_ring_is_met_from_both_sides)
{
    static const uint32_t level[] = {0, 1, 2, 1};
    struct bfs *g = opened(4, 1, 1);
    ck_assert_uint_eq(g->levels, 3);
    ck_assert_uint_eq(g->start[4], 8);
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(g->level[i], level[i]);
    bfs_close(g);
}
END_TEST

/* A node is one level further than the nearest of its neighbours, which have it in their lists as often. */
START_TEST(levels_and_lists_agree)
{
    static uint32_t there[500][500];
    struct bfs *g = opened(500, 0, 3);
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t nearest = UINT32_MAX;
        for (uint32_t i = g->start[v]; i < g->start[v + 1]; i++) {
            there[v][g->edges[i]]++;
            nearest = g->level[g->edges[i]] < nearest ? g->level[g->edges[i]] : nearest;
        }
        ck_assert_uint_eq(g->level[v], v ? nearest + 1 : 0);
    }
    for (uint32_t v = 0; v < g->n; v++)
        for (uint32_t u = 0; u < g->n; u++)
            ck_assert_uint_eq(there[v][u], there[u][v]);
    bfs_close(g);
}
END_TEST

/* Each node draws two to four: six in all on average; each is met, as it has drawn two. */
START_TEST(random_graphs_have_six_neighbours_a_node_and_few_levels)
{
    struct bfs *g = opened(200000, 0, 7);
    ck_assert_uint_gt(g->start[g->n], 1196000);
    ck_assert_uint_lt(g->start[g->n], 1204000);
    uint32_t unmet = 0;
    for (uint32_t i = 0; i < g->n; i++)
        unmet += g->level[i] == UINT32_MAX;
    ck_assert_uint_eq(unmet, 0); /* each node draws two */
    ck_assert_uint_ge(g->levels, 8);
    ck_assert_uint_le(g->levels, 13);
    bfs_close(g);
}
END_TEST

TEST_MAIN("rodinia_bfs_graph")
