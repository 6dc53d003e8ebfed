#include "trace/graph/graph.h"

#include "trace/base/testing.h"
#include "trace/graph/graph_generate.h"

static void same(const struct graph *a, const struct graph *b, bool weights)
{
    ck_assert_uint_eq(a->vertices, b->vertices);
    ck_assert_uint_eq(a->elements, b->elements);
    for (uint64_t v = 0; v <= a->vertices; v++)
        ck_assert_uint_eq(a->offsets[v], b->offsets[v]);
    for (uint64_t i = 0; i < a->elements; i++) {
        ck_assert_uint_eq(graph_target(a, i), graph_target(b, i));
        if (weights)
            ck_assert_int_eq(a->weights[i], b->weights[i]);
    }
}

START_TEST(every_format_gives_back_what_was_written)
{
    static const char *const names[] = {"g.bel", "g.sg", "g.wsg", "g.mtx", "g.el", "g.wel"};
    struct graph g, back;
    WORKS(graph_kron(8, 8, 1, &g, &err));
    WORKS(graph_add_weights(&g, 1, 9, 1, &err));
    for (size_t i = 0; i < 6; i++) {
        const char *path = testing_file(names[i]);
        const struct graph_format *format = GIVES(graph_format_by_suffix(path));
        WORKS(format->write(format, path, true, &g, &err));
        WORKS(graph_load(path, NULL, NULL, &back, &err));
        bool weighted = strcmp(format->name, "sg") != 0 && strcmp(format->name, "el") != 0;
        ck_assert_int_eq(back.weights != NULL, weighted);
        /* Edge lists know vertices up to the largest id named. */
        if (i >= 4) {
            ck_assert_uint_eq(back.elements, g.elements);
            for (uint64_t e = 0; e < g.elements; e++)
                ck_assert_uint_eq(back.targets[e], g.targets[e]);
        } else {
            same(&g, &back, weighted);
        }
        graph_release(&back);
    }
    graph_release(&g);
}
END_TEST

START_TEST(a_directed_sg_file_holds_both_directions)
{
    struct graph_degrees d = {.vertices = 100, .mean = 5, .sigma = 1, .seed = 1};
    struct graph g, back;
    const char *path = testing_file("directed.sg");
    ck_assert_int_eq(graph_from_degrees(&d, &g, NULL), 0);
    ck_assert_int_eq(graph_sg.write(&graph_sg, path, true, &g, NULL), 0);
    ck_assert_int_eq(graph_load(path, NULL, NULL, &back, NULL), 0);
    same(&g, &back, false);
    ck_assert(!back.symmetric);
    graph_release(&g);
    graph_release(&back);
}
END_TEST

static void load_text(const char *name, const char *text, const struct graph_options *options, struct graph *g)
{
    WORKS(graph_load(testing_write(name, text, strlen(text)), NULL, options, g, &err));
}

START_TEST(symmetric_matrices_are_mirrored_and_skew_ones_negated)
{
    struct graph g;
    load_text("s.mtx", "%%MatrixMarket matrix coordinate integer skew-symmetric\n% c\n3 3 2\n2 1 5\n3 2 -7\n", NULL,
              &g);
    ck_assert_uint_eq(g.elements, 4);
    ck_assert_int_eq(g.weights[g.offsets[0]], -5);
    ck_assert_int_eq(g.weights[g.offsets[1]], 5);
    ck_assert(g.symmetric);
    graph_release(&g);
    load_text("p.mtx", "%%matrixmarket MATRIX Coordinate Pattern Symmetric\n\n2 2 2\n1 1\n2 1\n", NULL, &g);
    ck_assert_uint_eq(g.elements, 3);
    ck_assert_ptr_null(g.weights);
    graph_release(&g);
}
END_TEST

START_TEST(dimacs_counts_vertices_from_one)
{
    struct graph g;
    load_text("road.gr", "c own\nc\np sp 4 2\na 1 2 10\na 3 1 -7\n", NULL, &g);
    ck_assert_uint_eq(g.vertices, 4);
    ck_assert_uint_eq(g.elements, 2);
    ck_assert_uint_eq(g.targets[0], 1);
    ck_assert_int_eq(g.weights[1], -7);
    graph_release(&g);
}
END_TEST

START_TEST(edge_lists_with_holes_are_relabelled_and_mirrored)
{
    const struct graph_options both = {.undirected = true, .relabel = true};
    struct graph g;
    load_text("snap.txt", "# Nodes: 3 Edges: 2\r\n900000000000\t17 3\r\n17 5 1082040961\r\n", &both, &g);
    ck_assert_uint_eq(g.vertices, 3);
    ck_assert_uint_eq(g.elements, 4);
    ck_assert_uint_eq(g.targets[0], 1);
    graph_release(&g);
}
END_TEST

START_TEST(ids_that_differ_in_their_high_bits_only_are_told_apart)
{
    enum { EDGES = 50000 };
    const struct graph_options relabel = {.relabel = true};
    char *text = calloc(EDGES, 48), *end = text;
    for (uint64_t i = 0; i < EDGES; i++)
        end += sprintf(end, "%llu %llu\n", (unsigned long long)(i << 44), (unsigned long long)((i + 1) << 44));
    struct graph g;
    load_text("high.txt", text, &relabel, &g);
    ck_assert_uint_eq(g.vertices, EDGES + 1);
    ck_assert_uint_eq(g.elements, EDGES);
    graph_release(&g);
    free(text);
}
END_TEST

/* Each must fail with a message that holds `says`. */
static const struct {
    const char *name, *text, *says;
} bad[] = {
    {"bad1.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n", "array"},
    {"bad2.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 3\n", "line 3"},
    {"bad3.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n", "1 of 2"},
    {"bad4.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n1 1\n", "line 4"},
    {"bad5.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 x\n", "line 3"},
    {"bad6.mtx", "%%MatrixMarket matrix coordinate pattern general\n4000000000 4000000000 0\n", "sparse"},
    {"bad17.mtx", "%%MatrixMarket matrix coordinate real general\n3 4 1\n1 4 1.0\n",
     "line 2: a matrix of 3 rows and 4"},
    {"bad18.gr", "p sp 4 1\na 1 5 1\n", "line 2: 'a 1 5 1': the vertices are 1 to 4"},
    {"bad19.gr", "p sp 4 2\na 1 2 1\n", "1 edges; the line 'p sp' says 2"},
    {"bad20.gr", "p sp 4 1\na 1 2\n", "is no edge"},
    {"bad21.gr", "c x\np sp 0 1\na 1 2 1\n", "is no line 'p sp"},
    {"bad7.el", "1 2\n3 x\n", "line 2"},
    {"bad8.el", "1 2\n3 99999999999999999999\n", "line 2"},
    {"bad9.el", "1 2\n3 4000000000\n", "--relabel"},
    {"bad10.el", "1 2\n-3 4\n", "line 2"},
    {"bad11.wel", "1 2 3\n1 2\n", "line 2"},
    {"bad12.xyz", "hello\n", "no graph format"},
    {"bad14.el", "1 2\n3 4 5 6 7\n", "line 2"},
    {"bad15.el", "1 2\n3 4 5 words\n", "line 2"},
    {"bad16.el", "1 2\n3 4 5\n", "line 2: '3 4 5' has 3 numbers"},
    {"bad13.el", "1 2\n1 4294967295\n", "too large"},
};

START_TEST(malformed_text_is_refused_with_its_line)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct graph g;
        struct err err = {""};
        const char *path = testing_write(bad[i].name, bad[i].text, strlen(bad[i].text));
        ck_assert_int_eq(graph_load(path, NULL, NULL, &g, &err), -1);
        ck_assert_msg(strstr(err.msg, bad[i].says) != NULL, "%s: %s", bad[i].name, err.msg);
        ck_assert_ptr_null(g.offsets);
    }
}
END_TEST

static int load_bel(const uint64_t *col, size_t cols, const uint64_t *dst, size_t dsts, struct err *err)
{
    struct graph g;
    (void)testing_write("b.bel.col", col, cols * 8);
    (void)testing_write("b.bel.dst", dst, dsts * 8);
    int rc = graph_load(testing_file("b.bel"), NULL, NULL, &g, err);
    graph_release(&g);
    return rc;
}

START_TEST(malformed_bel_files_are_refused)
{
    const uint64_t col[] = {4, 0, 0, 1, 1, 2}, dst[] = {2, 0, 2, 0};
    const uint64_t falling[] = {4, 0, 0, 2, 1, 2}, outside[] = {2, 0, 3, 0}, many[] = {3, 0, 1, 2, 0};
    const uint64_t huge[] = {1ULL << 60, 0, 0, 1}, none[] = {0, 0}, late[] = {4, 0, 1, 1, 1, 2};
    WORKS(load_bel(col, 6, dst, 4, &err));
    FAILS_WITH(load_bel(falling, 6, dst, 4, &err), "offset 2");
    FAILS_WITH(load_bel(col, 6, outside, 4, &err), "element 0");
    FAILS(load_bel(col, 6, many, 5, &err));
    FAILS_WITH(load_bel(col, 5, dst, 4, &err), "byte 40");
    FAILS(load_bel(huge, 4, dst, 4, &err));
    FAILS(load_bel(none, 2, dst, 4, &err));
    FAILS(load_bel(late, 6, dst, 4, &err));
    FAILS(load_bel(col, 6, dst, 3, &err));
}
END_TEST

START_TEST(a_cut_sg_file_is_refused)
{
    struct graph g, back;
    const char *path = testing_file("cut.sg");
    ck_assert_int_eq(graph_kron(5, 4, 1, &g, NULL), 0);
    ck_assert_int_eq(graph_sg.write(&graph_sg, path, true, &g, NULL), 0);
    graph_release(&g);
    ck_assert_int_eq(truncate(path, 300), 0);
    FAILS_WITH(graph_load(path, NULL, NULL, &back, &err), "byte 300");
}
END_TEST

static int add_name(void *ctx, const char *file)
{
    strcat(strcat(ctx, file), " ");
    return strstr(file, "stop") ? 7 : 0;
}

START_TEST(a_name_stands_for_the_files_of_its_format)
{
    char names[256] = "";
    const struct graph_format *bel = &graph_bel;
    ck_assert_int_eq(graph_format_files(bel, "x.bel", add_name, names), 0);
    ck_assert_str_eq(names, "x.bel.col x.bel.dst x.bel.val ");
    names[0] = 0;
    ck_assert_int_eq(graph_format_files(bel, "x.bel.dst", add_name, names), 0);
    ck_assert_str_eq(names, "x.bel.col x.bel.dst x.bel.val ");
    names[0] = 0;
    ck_assert_int_eq(graph_format_files(&graph_sg, "x.sg", add_name, names), 0);
    ck_assert_str_eq(names, "x.sg ");
    names[0] = 0;
    ck_assert_int_eq(graph_format_files(bel, "stop.bel", add_name, names), 7);
    ck_assert_str_eq(names, "stop.bel.col ");
}
END_TEST

TEST_MAIN("graph")
