#include "trace/graph/graph.h"

#include "trace/base/testing.h"

static int load(const char *name, const char *text, const struct graph_options *options, struct graph *g,
                struct err *err)
{
    return graph_load(testing_write(name, text, strlen(text)), NULL, options, g, err);
}

START_TEST(columns_are_found_by_name)
{
    static const struct {
        const char *text;
        bool weighted;
    } same[] = {
        {"source,target\n0,2\n1,0\n", false},
        {"target;source\n2;0\r\n0;1\r\n", false},
        {"FromNodeId\tToNodeId\n0\t2\n1\t0\n", false},
        {"src dst weight\n0 2  5\n1 0 -6\n", true},
        {"\xef\xbb\xbf\":START_ID\",name,\":END_ID\"\n\"0\",\"a, \"\"b\"\"\",2\n1,,0\n", false},
        {",u,v,w\n0,0,2,5.0\n1,1,0,-6\n", true},
        {"# made by pandas\n\nid_1,id_2\n0,2\n1,0\n", false},
        {"alpha,beta\n0,2\n1,0\n", false}, /* two columns: in their order */
        {"u,v,weight\n0,2,0.5\n1,0,3\n", false},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct graph g;
        struct err err = {""};
        ck_assert_msg(load("edges.txt", same[i].text, NULL, &g, &err) == 0, "%zu: %s", i, err.msg);
        ck_assert_uint_eq(g.vertices, 3);
        ck_assert_uint_eq(g.elements, 2);
        ck_assert_uint_eq(g.targets[0], 2);
        ck_assert_uint_eq(g.targets[1], 0);
        ck_assert_uint_eq(g.offsets[1], 1);
        ck_assert_int_eq(g.weights != NULL, same[i].weighted);
        if (g.weights)
            ck_assert(g.weights[0] == 5 && g.weights[1] == -6);
        graph_release(&g);
    }
}
END_TEST

START_TEST(edges_are_mirrored_and_relabelled_as_in_an_edge_list)
{
    const struct graph_options both = {.undirected = true, .relabel = true};
    struct graph g;
    WORKS(load("e.csv", "a,b\n900000000000,17\n17,5\n", &both, &g, &err));
    ck_assert_uint_eq(g.vertices, 3);
    ck_assert_uint_eq(g.elements, 4);
    graph_release(&g);
}
END_TEST

static const struct {
    const char *text, *says;
} bad[] = {
    {"source,target\n0,x\n", "line 2: column 2 is 'x'"},
    {"source,target\n0,1.5\n", "line 2: column 2 is '1.5'"},
    {"source,target\n0,-1\n", "line 2: column 2 is '-1'"},
    {"source,target\n\n# c\n0,1\n0\n", "line 5: 1 columns; the header has 2"},
    {"source,target\n0,1,2\n", "line 2: 3 columns"},
    {"source,target,weight\n0,1,\n", "line 2: weight"},
    {"source,target,weight\n0,1,heavy\n", "line 2: weight 'heavy'"},
    {"source,src,target\n0,1,2\n", "line 1: columns 1 and 2 both name the source"},
    {"a,b,c\n0,1,2\n", "names no source"},
    {"source,b,c\n0,1,2\n", "names no target"},
    {"source,target\n0,4294967295\n", "line 2: vertex id 4294967295 is too large"},
    {"source,target\n0,4000000000\n", "--relabel"},
    {"# nothing\n", "no line of names"},
    {"source,target,7\n0,1,2\n", "column 3 is called '7'"},
};

START_TEST(what_is_wrong_is_named_with_its_line)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct graph g;
        struct err err = {""};
        const char *path = testing_write("bad.csv", bad[i].text, strlen(bad[i].text));
        ck_assert_int_eq(graph_load(path, &graph_csv, NULL, &g, &err), -1);
        ck_assert_msg(strstr(err.msg, bad[i].says) != NULL, "%zu: %s", i, err.msg);
    }
}
END_TEST

START_TEST(a_table_of_something_else_is_no_graph)
{
    static const char *const others[] = {"hello\n", "name,age,city\nann,7,Ulm\n", "time,value,unit\n1,2,3\n"};
    for (size_t i = 0; i < 3; i++) {
        struct graph g;
        FAILS_WITH(load("table.txt", others[i], NULL, &g, &err), "no graph format");
    }
}
END_TEST

TEST_MAIN("graph_csv")
