#include "trace/graph/graph.h"

#include "trace/base/testing.h"
#include "trace/graph/graph_generate.h"

/* An array of whole numbers from 0, `width` bytes each. */
static const char *array(const char *name, const char *descr, const char *shape, bool fortran, size_t n,
                         const uint64_t *items)
{
    char head[256], bytes[8];
    int width = descr[2] - '0';
    int length = snprintf(head + 10, sizeof head - 10, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", descr,
                          fortran ? "True" : "False", shape);
    memcpy(head, "\x93NUMPY\1\0", 8);
    head[8] = (char)length;
    head[9] = 0;
    const char *path = testing_file(name);
    FILE *file = fopen(path, "wb");
    fwrite(head, 1, 10 + (size_t)length, file);
    for (size_t i = 0; i < n; i++) {
        memcpy(bytes, &items[i], 8);
        for (int k = 0; descr[0] == '>' && k < width; k++)
            bytes[k] = ((const char *)&items[i])[width - 1 - k];
        fwrite(bytes, 1, (size_t)width, file);
    }
    fclose(file);
    return path;
}

/* 0 -> 1, 0 -> 2, 2 -> 0 */
static void three_edges(const struct graph *g, uint64_t vertices)
{
    ck_assert_uint_eq(g->vertices, vertices);
    ck_assert_uint_eq(g->elements, 3);
    ck_assert(g->offsets[1] == 2 && g->offsets[2] == 2 && g->offsets[3] == 3);
    ck_assert(g->targets[0] == 1 && g->targets[1] == 2 && g->targets[2] == 0);
}

static void load(const char *path, const struct graph_options *options, struct graph *g)
{
    WORKS(graph_load(path, NULL, options, g, &err));
}

START_TEST(edges_come_in_two_rows_or_two_columns_of_any_type)
{
    static const uint64_t rows[] = {0, 2, 0, 1, 0, 2}, pairs[] = {0, 1, 2, 0, 0, 2};
    static const char *const types[] = {"|u1", "|i1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", ">i2", ">i4", ">u8"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const char *const given[] = {
            array("a.npy", types[i], "(2, 3)", false, 6, rows), array("b.npy", types[i], "(3, 2)", false, 6, pairs),
            array("c.npy", types[i], "(3, 2)", true, 6, rows), array("d.npy", types[i], "(2, 3)", true, 6, pairs)};
        for (size_t k = 0; k < 4; k++) {
            struct graph g;
            load(given[k], NULL, &g);
            three_edges(&g, 3);
            graph_release(&g);
        }
    }
}
END_TEST

START_TEST(two_files_beside_each_other_are_one_graph)
{
    static const uint64_t offsets[] = {0, 2, 2, 3, 3}, ids[] = {1, 2, 0}, row[] = {0, 2, 0}, col[] = {1, 0, 2};
    static const char *const names[] = {"d_indptr.npy", "d_indices.npy", "d_", "e.row.npy", "e.col.npy", "e."};
    (void)array("d_indptr.npy", "<i8", "(5,)", false, 5, offsets);
    (void)array("d_indices.npy", "<i4", "(3,)", false, 3, ids);
    (void)array("e.row.npy", "<i4", "(3,)", false, 3, row);
    (void)array("e.col.npy", "<i8", "(3,)", false, 3, col);
    for (size_t i = 0; i < 6; i++) {
        struct graph g;
        load(testing_file(names[i]), NULL, &g);
        three_edges(&g, i < 3 ? 4 : 3);
        graph_release(&g);
    }
}
END_TEST

/* Made by Python's zipfile as numpy.savez and scipy.sparse.save_npz use it: fixtures/graphs/, with the weights 5, 6, 7.
 */
START_TEST(archives_of_scipy_are_read)
{
    static const char *const names[] = {"csr", "csc", "coo"};
    for (size_t i = 0; i < 3; i++) {
        struct graph g;
        load(testing_text("fixtures/graphs/scipy_%s.npz", names[i]), NULL, &g);
        three_edges(&g, 4);
        ck_assert(g.weights && g.weights[0] == 5 && g.weights[1] == 6 && g.weights[2] == 7);
        graph_release(&g);
    }
}
END_TEST

/* A vertex costs eight bytes: those of a shape that the entries cannot name are refused before they are paid for. */
START_TEST(a_shape_far_wider_than_its_entries_is_refused)
{
    static const char *const names[] = {"csr", "csc", "coo"};
    const struct graph_options options = {0};
    for (size_t i = 0; i < 3; i++) {
        struct graph g = {0};
        const char *path = testing_text("fixtures/malformed/npz-wide-%s.npz", names[i]);
        FAILS_WITH(graph_load(path, &graph_npz, &options, &g, &err), "2147483647 rows or columns for 2 entries");
        graph_release(&g);
    }
}
END_TEST

/* Against the edge list of the same edges, with and without options. */
START_TEST(a_large_graph_is_the_one_of_its_edge_list)
{
    static const struct graph_options ways[] = {{false, false}, {true, false}, {false, true}, {true, true}};
    struct graph g, list, back;
    ck_assert_int_eq(graph_kron(12, 8, 1, &g, NULL), 0);
    ck_assert_int_eq(graph_el.write(&graph_el, testing_file("g.el"), true, &g, NULL), 0);
    uint64_t *ids = calloc(2 * g.elements, sizeof *ids);
    for (uint64_t v = 0; v < g.vertices; v++)
        for (uint64_t i = g.offsets[v]; i < g.offsets[v + 1]; i++) {
            ids[i] = v;
            ids[g.elements + i] = g.targets[i];
        }
    const char *path =
        array("g.npy", "<i4", testing_text("(2, %llu)", (unsigned long long)g.elements), false, 2 * g.elements, ids);
    for (size_t i = 0; i < 4; i++) {
        load(testing_file("g.el"), &ways[i], &list);
        load(path, &ways[i], &back);
        ck_assert_uint_eq(back.vertices, list.vertices);
        ck_assert_uint_eq(back.elements, list.elements);
        ck_assert_mem_eq(back.offsets, list.offsets, (list.vertices + 1) * 8);
        ck_assert_mem_eq(back.targets, list.targets, list.elements * 4);
        graph_release(&list);
        graph_release(&back);
    }
    free(ids);
    graph_release(&g);
}
END_TEST

static const struct {
    const char *descr, *shape;
    size_t items;
    uint64_t first; /* item 0; the rest are 0 */
    const char *says;
} bad[] = {
    {"<f4", "(2, 3)", 6, 0, "of type 'f4'"},
    {"|b1", "(2, 3)", 6, 0, "of type 'b1'"},
    {"|O8", "(2, 3)", 6, 0, "items are '|O8'"},
    {"<c8", "(2, 3)", 6, 0, "items are '<c8'"},
    {"<i4", "(6,)", 6, 0, "1 dimension"},
    {"<i4", "()", 1, 0, "0 dimensions"},
    {"<i4", "(2, 3, 1)", 6, 0, "3 dimensions"},
    {"<i4", "(3, 3)", 9, 0, "3 x 3 ids"},
    {"<i4", "(2, 2)", 4, 0, "by rows and by columns"},
    {"<i4", "(2, 3)", 5, 0, "20 bytes of items; its shape needs 24"},
    {"<i4", "(2, 3)", 7, 0, "28 bytes of items"},
    {"<i4", "(2, 999999999999999)", 6, 0, "bytes of items"},
    {"<i4", "(2, 9999999999999999999)", 6, 0, "too large"},
    {"<i4", "(99999999999, 99999999999)", 6, 0, "too large"},
    {"<i4", "(x, 3)", 6, 0, "not one of whole numbers"},
    {"<i4", "[2, 3]", 6, 0, "no shape"},
    {"<i4", "(2, 3)", 6, 0xffffffff, "item 0 is -1"},
    {"<u4", "(2, 3)", 6, 0xffffffff, "edge 0 names vertex 4294967295"},
    {"<u4", "(2, 3)", 6, 4000000000, "--relabel"},
};

START_TEST(arrays_that_are_no_graph_are_refused)
{
    uint64_t items[16] = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct graph g;
        struct err err = {""};
        items[0] = bad[i].first;
        const char *path = array("bad.npy", bad[i].descr, bad[i].shape, false, bad[i].items, items);
        ck_assert_int_eq(graph_load(path, NULL, NULL, &g, &err), -1);
        ck_assert_msg(strstr(err.msg, bad[i].says) && strstr(err.msg, "bad.npy"), "%zu: %s", i, err.msg);
        ck_assert_ptr_null(g.offsets);
    }
}
END_TEST

static void refused(const char *name, const char *says)
{
    struct graph g;
    struct err err = {""};
    ck_assert_int_eq(graph_load(testing_file(name), NULL, NULL, &g, &err), -1);
    ck_assert_msg(strstr(err.msg, says), "%s: %s", name, err.msg);
    graph_release(&g);
}

START_TEST(arrays_that_do_not_fit_each_other_are_refused)
{
    static const uint64_t good[] = {0, 2, 3}, falling[] = {0, 3, 2, 3}, late[] = {1, 2, 3}, ids[] = {1, 0, 7};
    (void)array("p.indices.npy", "<i4", "(3,)", false, 3, ids);
    (void)array("p.indptr.npy", "<i4", "(3,)", false, 3, good);
    refused("p.indptr.npy", "indices.npy: item 2 names vertex 7; expected below 2");
    (void)array("p.indptr.npy", "<i4", "(4,)", false, 4, falling);
    refused("p.indptr.npy", "indptr.npy: offset 2 is 2, below");
    (void)array("p.indptr.npy", "<i4", "(3,)", false, 3, late);
    refused("p.indptr.npy", "indptr.npy: the first offset is 1");
    (void)array("p.indptr.npy", "<i4", "(2,)", false, 2, good);
    refused("p.indptr.npy", "the last offset is 2; there are 3 ids");
    (void)array("p.indptr.npy", "<i4", "(0,)", false, 0, good);
    refused("p.indptr.npy", "0 offsets");
    (void)array("q.src.npy", "<i4", "(3,)", false, 3, ids);
    (void)array("q.dst.npy", "<i4", "(2,)", false, 2, ids);
    refused("q.src.npy", "src.npy has 3 items, dst.npy 2");
    (void)testing_write("r.npy", "\x93NUMPY\4\0v", 9);
    refused("r.npy", "ends at byte 9");
    (void)testing_write("r.npy", "\x93NUMPY\4\0v\0", 10);
    refused("r.npy", "version 4.0");
}
END_TEST

TEST_MAIN("graph_npy")
