#include "trace/graph/graph_generate.h"

#include "trace/base/testing.h"

/* Fingerprints of the graphs that the H200 runs read (driver 580.159.04, 2026-11). */
static const struct {
    bool kron;
    int scale;
    uint64_t elements, offsets, targets;
} measured[] = {
    {true, 16, 1818974, 0x46233d35b0098999, 0x9218bdea4b8807f0},
    {false, 16, 2096618, 0x3730dd21b02feeb8, 0x2f3e29f115a7dd17},
    {true, 18, 7610876, 0xe1e37eab306374a2, 0xf859f980780e6d6e},
};

static uint64_t fnv1a(uint64_t hash, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        hash ^= (value >> (8 * i)) & 0xff;
        hash *= 0x100000001b3ULL;
    }
    return hash;
}

/* Not FNV's own offset basis (14695981039346656037) but that without its last digit, which the published fingerprints
 * were made with. */
static const uint64_t fnv_basis = 1469598103934665603ULL;

static uint64_t hash_offsets(const struct graph *graph)
{
    uint64_t hash = fnv_basis;
    for (uint64_t v = 0; v <= graph->vertices; v++)
        hash = fnv1a(hash, graph->offsets[v], 8);
    return hash;
}

static uint64_t hash_targets(const struct graph *graph)
{
    uint64_t hash = fnv_basis;
    for (uint64_t i = 0; i < graph->elements; i++)
        hash = fnv1a(hash, graph_target(graph, i), 4);
    return hash;
}

START_TEST(kron_and_urand_have_the_fingerprints_of_the_measured_graphs)
{
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        struct graph g;
        WORKS((measured[i].kron ? graph_kron : graph_urand)(measured[i].scale, 16, 1, &g, &err));
        ck_assert_uint_eq(g.elements, measured[i].elements);
        ck_assert_uint_eq(hash_offsets(&g), measured[i].offsets);
        ck_assert_uint_eq(hash_targets(&g), measured[i].targets);
        WORKS(graph_check(&g, &err));
        graph_release(&g);
    }
}
END_TEST

/* gapbs b5e3e19, Kronecker and uniform graphs of scale 16, k 16: 1,819,292 and 2,096,552 elements, largest degree 9,869
 * and 59. Another random generator, so degree statistics agree, ids do not. */
START_TEST(degree_statistics_are_those_of_the_gap_generators)
{
    struct graph g;
    ck_assert_int_eq(graph_kron(16, 16, 7, &g, NULL), 0);
    ck_assert_double_eq_tol((double)g.elements / 1819292, 1, 0.02);
    ck_assert_double_eq_tol((double)graph_degree(&g, graph_hub(&g)) / 9869, 1, 0.02);
    graph_release(&g);
    ck_assert_int_eq(graph_urand(16, 16, 7, &g, NULL), 0);
    ck_assert_double_eq_tol((double)g.elements / 2096552, 1, 0.02);
    graph_release(&g);
}
END_TEST

START_TEST(degrees_have_the_wanted_mean_and_cap)
{
    for (int mirror = 0; mirror < 2; mirror++) {
        struct graph_degrees d = {
            .vertices = 20000, .mean = 40, .sigma = 1.2, .local = 0.9, .reach = 50, .mirror = mirror, .seed = 3};
        struct graph g;
        ck_assert_int_eq(graph_from_degrees(&d, &g, NULL), 0);
        ck_assert_double_eq_tol((double)g.elements / 20000, 40, 1.5);
        ck_assert_int_eq(graph_check(&g, NULL), 0);
        graph_release(&g);
        d.cap = 100;
        d.mirror = false;
        ck_assert_int_eq(graph_from_degrees(&d, &g, NULL), 0);
        ck_assert_uint_le(graph_degree(&g, graph_hub(&g)), 101);
        graph_release(&g);
    }
}
END_TEST

START_TEST(weights_stay_in_range_and_agree_in_both_directions)
{
    struct graph g;
    ck_assert_int_eq(graph_kron(8, 8, 1, &g, NULL), 0);
    ck_assert_int_eq(graph_add_weights(&g, 8, 72, 1, NULL), 0);
    for (uint64_t v = 0; v < g.vertices; v++)
        for (uint64_t i = g.offsets[v]; i < g.offsets[v + 1]; i++) {
            ck_assert_int_ge(g.weights[i], 8);
            ck_assert_int_le(g.weights[i], 72);
            uint64_t t = g.targets[i], j = g.offsets[t];
            while (g.targets[j] != v)
                j++;
            ck_assert_int_eq(g.weights[i], g.weights[j]);
        }
    ck_assert_int_eq(graph_add_weights(&g, 2, 1, 1, NULL), -1);
    graph_release(&g);
}
END_TEST

START_TEST(impossible_sizes_are_errors)
{
    struct graph g;
    struct err err = {""};
    ck_assert_int_eq(graph_kron(32, 16, 1, &g, &err), -1);
    ck_assert_int_eq(graph_urand(10, 0, 1, &g, &err), -1);
    ck_assert_str_ne(err.msg, "");
}
END_TEST

TEST_MAIN("graph_generate")
