#include "trace/workloads/graph/traversal.h"

#include "trace/base/testing.h"
#include "trace/workloads/workload.h"

/* 0 - 1 - 2 - 3, 1 - 4, and 5 alone: both directions. */
static const char *path_graph(void)
{
    static const char text[] = "0 1\n1 0\n1 2\n2 1\n2 3\n3 2\n1 4\n4 1\n5 5\n";
    return testing_write("path.el", text, sizeof text - 1);
}

struct launch {
    size_t lists;
    uint64_t elements, first_lane, last_lane;
};

/* Run a workload; *n launches, at most 32. */
static size_t launches(const char *spec, struct launch *out, uint64_t *runs)
{
    struct workload w;
    struct err err = {""};
    ck_assert_msg(workload_open(&w, spec, &err) == 0, "%s", err.msg);
    const struct scan_ops *ops = w.type->ops;
    struct scan_batch batch;
    size_t n = 0;
    int rc;
    ck_assert_int_eq(ops->start(w.state, &err), 0);
    memset(out, 0, 32 * sizeof *out);
    while ((rc = ops->next(w.state, &batch, &err)) > 0) {
        struct launch *l = &out[batch.launch];
        ck_assert_uint_lt(batch.launch, 32);
        for (size_t i = 0; i < batch.n; i++) {
            if (l->lists++ == 0)
                l->first_lane = batch.scans[i].lane;
            else
                ck_assert_uint_gt(batch.scans[i].lane, l->last_lane);
            l->last_lane = batch.scans[i].lane;
            l->elements += batch.scans[i].count;
        }
        n = batch.launch + 1;
    }
    ck_assert_int_eq(rc, 0);
    if (runs)
        *runs = ops->runs(w.state);
    workload_close(&w);
    return n;
}

START_TEST(bfs_reads_the_lists_of_each_level_the_last_one_too)
{
    struct launch l[32];
    ck_assert_uint_eq(launches(testing_text("bfs,root=0,graph=%s", path_graph()), l, NULL), 4);
    ck_assert_uint_eq(l[0].elements, 1);
    ck_assert_uint_eq(l[1].elements, 3);
    ck_assert_uint_eq(l[2].lists, 2); /* vertices 2 and 4 */
    ck_assert_uint_eq(l[2].elements, 3);
    ck_assert_uint_eq(l[3].first_lane, 3);
}
END_TEST

START_TEST(several_roots_run_one_after_the_other_without_those_that_lead_nowhere)
{
    struct launch l[32];
    char spec[300];
    uint64_t runs;
    (void)snprintf(spec, sizeof spec, "bfs,roots=3,graph=%s", path_graph());
    /* Roots 0, 2, 4: 4, 3 and 4 launches. */
    ck_assert_uint_eq(launches(spec, l, &runs), 11);
    ck_assert_uint_eq(runs, 3);
    (void)snprintf(spec, sizeof spec, "bfs,root=auto,graph=%s", path_graph());
    ck_assert_uint_eq(launches(spec, l, &runs), 3); /* from vertex 1 */
    ck_assert_uint_eq(l[0].first_lane, 1);
    static const char late[] = "2 3\n3 2\n";
    (void)snprintf(spec, sizeof spec, "bfs,roots=1,graph=%s", testing_write("late.el", late, sizeof late - 1));
    ck_assert_uint_eq(launches(spec, l, &runs), 2); /* vertex 0 leads nowhere, nor does 1 */
    ck_assert_uint_eq(l[0].first_lane, 2);
}
END_TEST

/* Bottom-up and top-down find the same levels: the generator's graph is known to be symmetric, a file's is not. */
START_TEST(levels_do_not_depend_on_how_they_are_found)
{
    struct launch a[32], b[32];
    struct graph g;
    ck_assert_int_eq(graph_source_open(&(struct graph_source){"kron", 10, 16, 1}, &g, NULL), 0);
    ck_assert_int_eq(graph_bel.write(&graph_bel, testing_file("k.bel"), true, &g, NULL), 0);
    graph_release(&g);
    size_t n = launches(testing_text("bfs,root=auto,graph=%s", testing_file("k.bel")), a, NULL);
    ck_assert_uint_eq(launches("bfs,root=auto,graph=kron,scale=10", b, NULL), n);
    for (size_t i = 0; i < n; i++) {
        ck_assert_uint_eq(a[i].lists, b[i].lists);
        ck_assert_uint_eq(a[i].elements, b[i].elements);
    }
}
END_TEST

START_TEST(cc_and_pagerank_read_every_list_first)
{
    struct launch l[32];
    static const char *const specs[] = {"cc,graph=kron,scale=8,iterations=1",
                                        "pagerank,graph=kron,scale=8,iterations=1"};
    struct graph g;
    ck_assert_int_eq(graph_source_open(&(struct graph_source){"kron", 8, 16, 1}, &g, NULL), 0);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_uint_eq(launches(specs[i], l, NULL), 1);
        ck_assert_uint_eq(l[0].elements, g.elements);
    }
    graph_release(&g);
    ck_assert_uint_ge(launches("cc,graph=kron,scale=8", l, NULL), 2);
    ck_assert_uint_ge(launches("cc,graph=kron,scale=8,update=jacobi", l, NULL),
                      launches("cc,graph=kron,scale=8,update=inplace", l, NULL));
    ck_assert_uint_ge(launches("pagerank,graph=kron,scale=8,tolerance=0.05", l, NULL), 3);
}
END_TEST

START_TEST(sssp_with_equal_weights_reads_what_bfs_reads)
{
    struct launch bfs[32], sssp[32];
    size_t n = launches("bfs,root=auto,graph=kron,scale=8", bfs, NULL);
    ck_assert_uint_eq(launches("sssp,root=auto,graph=kron,scale=8,weights=1:1,update=jacobi", sssp, NULL), n);
    for (size_t i = 0; i < n; i++)
        ck_assert_uint_eq(bfs[i].elements, sssp[i].elements);
    ck_assert_uint_ge(launches("sssp,root=auto,graph=kron,scale=8,weights=8:72", sssp, NULL), n);
}
END_TEST

START_TEST(bad_keys_are_errors_that_name_them)
{
    static const char *const bad[][2] = {{"bfs,root=99999999,graph=kron,scale=8", "root"},
                                         {"bfs,root=x,graph=kron,scale=8", "root"},
                                         {"sssp,weights=5,graph=kron,scale=8", "weights"},
                                         {"sssp,weights=9:2,graph=kron,scale=8", "weights"},
                                         {"bfs,graph=/nonexistent", "/nonexistent"},
                                         {"bfs,element=5", "element"},
                                         {"bfs,graph=kron,scale=6,base_offset=4", "a GPU traps"},
                                         {"cc,graph=kron,scale=6,element=4,base_offset=2", "a GPU traps"},
                                         {"cc,graph=kron,scale=6,element=16,base_offset=8", "a GPU traps"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct workload w;
        FAILS_WITH(workload_open(&w, bad[i][0], &err), bad[i][1]);
    }
}
END_TEST

START_TEST(records_say_what_the_scans_say)
{
    struct workload w;
    struct record r[7];
    size_t n, scans = 0, ends = 0;
    ck_assert_int_eq(workload_open(&w, testing_text("sssp,root=0,weights=1:1,graph=%s", path_graph()), NULL), 0);
    do {
        ck_assert_int_eq(w.type->next(w.state, r, 7, &n, NULL), 0);
        for (size_t i = 0; i < n; i++) {
            ends += r[i].kind == RECORD_KERNEL_END;
            scans += r[i].kind == RECORD_SCAN;
            if (r[i].kind == RECORD_SCAN)
                ck_assert_uint_eq(r[i].flags, (scans - 1) % 2); /* edges, then weights */
        }
    } while (n);
    ck_assert_uint_eq(ends, 4);
    ck_assert_uint_eq(scans, 2 * 5);
    workload_close(&w);
}
END_TEST

TEST_MAIN("traversal")
