/* Runs are the program's own: by including it. */
#include "trace/workloads/graph/traversal_program.c"

#include "trace/base/testing.h"
#include "trace/workloads/workload.h"

/* A workload of this folder, and a run of it. */
struct opened {
    struct workload w;
    const struct traversal *t;
    struct traversal_launches launches;
    struct traversal_run run;
};

/* most: bytes for launches that are kept. */
static void open_run(struct opened *o, const char *spec, uint64_t most)
{
    WORKS(workload_open(&o->w, spec, &err));
    o->t = o->w.state;
    WORKS(traversal_launches_open(&o->launches, o->t, true, most, &err));
    WORKS(traversal_run_open(&o->run, o->t, &o->launches, true, &err));
}

static void close_run(struct opened *o)
{
    traversal_run_close(&o->run);
    traversal_launches_close(&o->launches);
    workload_close(&o->w);
}

static const char *const specs[] = {"bfs,graph=kron,scale=9,roots=5",
                                    "bfs,graph=urand,scale=7,k=1,roots=7",
                                    "sssp,graph=kron,scale=8,roots=3",
                                    "sssp,graph=urand,scale=8,k=2,root=auto,update=jacobi,iterations=3",
                                    "cc,graph=kron,scale=9",
                                    "cc,graph=urand,scale=8,k=1,update=jacobi",
                                    "cc,graph=kron,scale=8,iterations=1",
                                    "pagerank,graph=kron,scale=8,tolerance=0.01",
                                    "pagerank,graph=urand,scale=6,k=1,iterations=2"};

START_TEST(a_run_has_the_launches_and_frontiers_of_the_scans)
{
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct opened o;
        struct scan_batch batch;
        uint64_t lists = 0, with_elements = 0, launches = 0;
        open_run(&o, specs[i], i % 2 ? UINT64_MAX : 0);
        ck_assert_int_eq(traversal_ops.start(o.w.state, NULL), 0);
        while (traversal_ops.next(o.w.state, &batch, NULL) > 0) {
            ck_assert_int_eq(traversal_run_seek(&o.run, batch.launch, NULL), 0);
            for (size_t s = 0; s < batch.n; s++)
                ck_assert(frontier_has(&o.run.t.active, batch.scans[s].lane));
            lists += batch.n;
            if (!batch.last)
                continue;
            launches = batch.launch + 1;
            const struct graph *g = &o.t->graph;
            for (uint64_t v = 0; v < g->vertices; v++)
                with_elements += frontier_has(&o.run.t.active, v) && graph_degree(g, v);
        }
        ck_assert_uint_eq(lists, with_elements);
        ck_assert_uint_eq(o.launches.starts[o.t->root_count], launches);
        close_run(&o);
    }
}
END_TEST

/* Of a launch: who is active next, by what the visits change. */
static void follow_changes(const struct opened *o, uint64_t *changed_by, struct frontier *raised)
{
    const struct graph *g = &o->t->graph;
    for (uint64_t v = 0; v < g->vertices; v++)
        for (uint64_t i = g->offsets[v]; i < g->offsets[v + 1]; i++) {
            uint64_t target = traversal_run_changes_own(&o->run, i) ? v : graph_target(g, i);
            if (!traversal_run_changes(&o->run, i))
                continue;
            ck_assert(frontier_has(&o->run.t.active, v));
            changed_by[target]++;
            frontier_add(raised, target);
        }
}

START_TEST(what_a_launch_changes_is_active_in_the_next)
{
    for (size_t i = 0; i < 7; i++) { /* pagerank changes all */
        struct opened o;
        open_run(&o, specs[i], i % 2 ? UINT64_MAX : 0);
        uint64_t vertices = o.t->graph.vertices;
        size_t bytes = (vertices / 64 + 1) * 8;
        uint64_t *changed_by = calloc(vertices, sizeof *changed_by);
        struct frontier raised = {.bits = calloc(1, bytes)};
        for (uint32_t l = 0; l + 1 < o.launches.starts[1]; l++) {
            memset(changed_by, 0, vertices * sizeof *changed_by);
            memset(raised.bits, 0, bytes);
            ck_assert_int_eq(traversal_run_seek(&o.run, l, NULL), 0);
            follow_changes(&o, changed_by, &raised);
            for (uint64_t v = 0; v < vertices && specs[i][0] == 'b'; v++)
                ck_assert_uint_le(changed_by[v], 1); /* a label is set once */
            ck_assert_int_eq(traversal_run_seek(&o.run, l + 1, NULL), 0);
            ck_assert_mem_eq(raised.bits, o.run.t.active.bits, bytes);
        }
        free(changed_by);
        free(raised.bits);
        close_run(&o);
    }
}
END_TEST

START_TEST(a_run_goes_back_and_over_roots)
{
    struct opened o;
    open_run(&o, specs[0], 0);
    uint32_t last = (uint32_t)o.launches.starts[o.t->root_count] - 1;
    size_t bytes = (o.t->graph.vertices / 64 + 1) * 8, element_bytes = (o.t->graph.elements / 64 + 1) * 8;
    uint64_t *active = malloc(bytes), *changes = malloc(element_bytes);
    ck_assert_int_eq(traversal_run_seek(&o.run, last - 1, NULL), 0); /* at once */
    memcpy(active, o.run.t.active.bits, bytes);
    memcpy(changes, o.run.t.changes, element_bytes);
    ck_assert_int_eq(traversal_run_seek(&o.run, 1, NULL), 0);
    for (uint32_t l = 1; l < last; l++)
        ck_assert_int_eq(traversal_run_seek(&o.run, l, NULL), 0);
    ck_assert_mem_eq(active, o.run.t.active.bits, bytes);
    ck_assert_mem_eq(changes, o.run.t.changes, element_bytes);
    ck_assert_int_eq(traversal_run_seek(&o.run, (uint32_t)o.launches.starts[2], NULL), 0);
    ck_assert_uint_eq(o.run.t.active.count, 1);
    ck_assert(frontier_has(&o.run.t.active, o.t->roots[2]));
    free(active);
    free(changes);
    close_run(&o);
}
END_TEST

TEST_MAIN("traversal_run")
