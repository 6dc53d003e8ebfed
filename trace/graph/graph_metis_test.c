#include "trace/graph/graph.h"

#include "trace/base/testing.h"
#include "trace/graph/graph_generate.h"

static int load(const char *name, const char *text, struct graph *g, struct err *err)
{
    return graph_load(testing_write(name, text, strlen(text)), NULL, NULL, g, err);
}

static void lists(const struct graph *g, uint64_t vertices, const char *expected)
{
    char text[512] = "", *end = text;
    ck_assert_uint_eq(g->vertices, vertices);
    for (uint64_t v = 0; v < g->vertices; v++) {
        for (uint64_t i = g->offsets[v]; i < g->offsets[v + 1]; i++) {
            end += sprintf(end, "%u", g->targets[i]);
            if (g->weights)
                end += sprintf(end, ":%d", g->weights[i]);
            *end++ = ' ';
        }
        *end++ = '/';
    }
    *end = 0;
    ck_assert_str_eq(text, expected);
}

/* Figures 2 to 4 of METIS 5.1.0's manual: the same seven vertices and eleven edges, plain, with edge weights, with
 * weights of vertices and edges; the last is the figure with three weights a vertex. */
START_TEST(the_manual_s_graphs_are_read)
{
    static const struct {
        const char *text, *lists;
    } given[] = {
        {"7 11\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n",
         "4 2 1 /0 2 3 /4 3 1 0 /1 2 5 6 /0 2 5 /4 3 6 /5 3 /"},
        {"% edges\n7 11 001\n5 1 3 2 2 1\n1 1 3 2 4 1\n5 3 4 2 2 2 1 2\n2 1 3 2 6 2 7 5\n1 1 3 3 6 2\n5 2 4 2 7 6\n6 6 "
         "4 "
         "5\n",
         "4:1 2:2 1:1 /0:1 2:2 3:1 /4:3 3:2 1:2 0:2 /1:1 2:2 5:2 6:5 /0:1 2:3 5:2 /4:2 3:2 6:6 /5:6 3:5 /"},
        {"7 11 011\n4 5 1 3 2 2 1\n2 1 1 3 2 4 1\n5 5 3 4 2 2 2 1 2\n3 2 1 3 2 6 2 7 5\n1 1 1 3 3 6 2\n6 5 2 4 2 7 6\n"
         "2 6 6 4 5\n",
         "4:1 2:2 1:1 /0:1 2:2 3:1 /4:3 3:2 1:2 0:2 /1:1 2:2 5:2 6:5 /0:1 2:3 5:2 /4:2 3:2 6:6 /5:6 3:5 /"},
        {"7 11 010 3\n1 2 0 5 3 2\n0 2 2 1 3 4\n4 1 1 5 4 2 1\n2 2 3 2 3 6 7\n1 1 1 1 3 6\n2 2 1 5 4 7\n1 2 1 6 4\n",
         "4 2 1 /0 2 3 /4 3 1 0 /1 2 5 6 /0 2 5 /4 3 6 /5 3 /"},
        {"4 2\n2\n1 3\n%%\n2\n\n", "1 /0 2 /1 //"}, /* vertex 4 has no neighbours */
    };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        struct graph g;
        struct err err = {""};
        ck_assert_msg(load("m.graph", given[i].text, &g, &err) == 0, "%zu: %s", i, err.msg);
        lists(&g, i == 4 ? 4 : 7, given[i].lists);
        ck_assert(g.symmetric);
        graph_release(&g);
    }
}
END_TEST

/* A name says nothing here: content does, and what it leaves open is not guessed. */
START_TEST(it_is_told_from_an_edge_list)
{
    static const char cycle[] = "3 3\n2 3\n1 3\n1 2\n";
    struct graph g;
    struct err err = {""};
    ck_assert_int_eq(load("a.txt", "7 11\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n5 4 7\n6 4\n", &g, &err), 0);
    ck_assert_uint_eq(g.elements, 22);
    graph_release(&g);
    ck_assert_int_eq(load("b.txt", "4 3\n2 3 4\n1\n1\n1\n", &g, &err), 0);
    lists(&g, 4, "1 2 3 /0 /0 /0 /");
    graph_release(&g);
    ck_assert_int_eq(load("c.txt", cycle, &g, &err), -1);
    ck_assert_msg(strstr(err.msg, "--from el or --from metis"), "%s", err.msg);
    ck_assert_int_eq(load("c.graph", cycle, &g, &err), 0);
    lists(&g, 3, "1 2 /0 2 /0 1 /");
    graph_release(&g);
    ck_assert_int_eq(load("c.el", cycle, &g, &err), 0);
    ck_assert_uint_eq(g.elements, 4);
    graph_release(&g);
    ck_assert_int_eq(load("d.txt", "3 4\n2 3\n1 3\n1 2\n", &g, &err), 0); /* 3 edges, not 4: no METIS graph */
    ck_assert_uint_eq(g.elements, 4);
    graph_release(&g);
}
END_TEST

/* Longer than what a probe sees: a generated graph, its text as METIS and as an edge list, under a name that says
 * nothing. The hub's line alone is longer than the longest line of other readers. */
START_TEST(a_large_graph_is_known_by_its_first_lines)
{
    struct graph g, back;
    struct err err = {""};
    enum { LEAVES = 200000 };
    FILE *file = fopen(testing_file("star.txt"), "w");
    fprintf(file, "%d %d\n", LEAVES + 1, LEAVES);
    for (int i = 0; i < LEAVES; i++)
        fprintf(file, "%d ", i + 2);
    for (int i = 0; i < LEAVES; i++)
        fputs("\n1", file);
    fclose(file);
    ck_assert_msg(graph_load(testing_file("star.txt"), NULL, NULL, &back, &err) == 0, "%s", err.msg);
    ck_assert_uint_eq(back.elements, 2 * LEAVES);
    ck_assert_uint_eq(back.targets[LEAVES - 1], LEAVES);
    graph_release(&back);
    ck_assert_int_eq(graph_kron(10, 8, 1, &g, &err), 0);
    file = fopen(testing_file("kron.txt"), "w");
    fprintf(file, "%llu %llu\n", (unsigned long long)g.vertices, (unsigned long long)g.elements / 2);
    for (uint64_t v = 0; v < g.vertices; v++, fputs("\n", file))
        for (uint64_t i = g.offsets[v]; i < g.offsets[v + 1]; i++)
            fprintf(file, "%u ", g.targets[i] + 1);
    fclose(file);
    ck_assert_msg(graph_load(testing_file("kron.txt"), NULL, NULL, &back, &err) == 0, "%s", err.msg);
    ck_assert_uint_eq(back.elements, g.elements);
    ck_assert_mem_eq(back.targets, g.targets, g.elements * 4);
    ck_assert_mem_eq(back.offsets, g.offsets, (g.vertices + 1) * 8);
    graph_release(&back);
    graph_release(&g);
}
END_TEST

static const struct {
    const char *text, *says;
} bad[] = {
    {"", "line 0: expected the header"},
    {"0 0\n", "expected the header"},
    {"3\n", "expected the header"},
    {"3 3 0 1 7\n", "expected the header"},
    {"3 3 2\n", "fmt is 2"},
    {"3 3 1000\n", "fmt is 1000"},
    {"3 3 10 65\n", "ncon is 65"},
    {"5000000000 1\n", "32-bit"},
    {"2 1\n2\n", "after 1 of 2"},
    {"2 1\n2\n1\n\n1\n", "line 5: more lines"},
    {"2 1\n2\n3\n", "line 3: neighbour 3 of vertex 2"},
    {"2 1\n0\n1\n", "line 2: neighbour 0"},
    {"2 1\n1\n1\n", "line 2: vertex 1 is its own"},
    {"3 1\n2\n1 3\n2\n", "line 3: more than the 2"},
    {"3 3\n2\n1 3\n2\n", "4 neighbours"},
    {"3 2\n2\n1 3\n1\n", "vertex 1: an edge"},
    {"2 1 1\n2 7\n1 8\n", "vertex 1: an edge"},
    {"2 1 1\n2\n1 8\n", "line 2: 1 numbers"},
    {"2 1 10\n\n1 8\n", "line 2: 0 numbers"},
    {"2 1 1\n2 4000000000\n1 4000000000\n", "weights are 32-bit"},
    {"2 1\n2\n1.5\n", "line 3: byte 0x2e"},
    {"2 1\n-2\n1\n", "line 2: byte 0x2d"},
    {"2 1\n99999999999999999999\n1\n", "line 2: a number above"},
    {"%%MatrixMarke\n2 1\n% c\nx\n1\n", "line 4: byte 0x78"},
};

START_TEST(what_is_wrong_is_named_with_its_line)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct graph g;
        struct err err = {""};
        const char *path = testing_write("bad.graph", bad[i].text, strlen(bad[i].text));
        ck_assert_int_eq(graph_load(path, &graph_metis, NULL, &g, &err), -1);
        ck_assert_msg(strstr(err.msg, bad[i].says) != NULL, "%zu: %s", i, err.msg);
        ck_assert_ptr_null(g.offsets);
    }
}
END_TEST

TEST_MAIN("graph_metis", the_manual_s_graphs_are_read, it_is_told_from_an_edge_list,
          a_large_graph_is_known_by_its_first_lines, what_is_wrong_is_named_with_its_line)
