#include "trace/workloads/graph/traversal_program.h"

#include "trace/base/testing.h"
#include "trace/program/pages.h"
#include "trace/program/walk.h"
#include "trace/workloads/graph/traversal_run.h"

enum { EDGES = 0 };

static struct workload w;
static const struct traversal *t;
static struct program program;
static const struct program_alloc *allocs;
static size_t alloc_count;

static void open_program(const char *spec)
{
    struct err err = {""};
    ck_assert_msg(workload_open(&w, spec, &err) == 0, "%s: %s", spec, err.msg);
    ck_assert_msg(w.type->program(w.state, &program, &err) == 0, "%s: %s", spec, err.msg);
    t = w.state;
    allocs = program.ops->allocs(program.state, &alloc_count);
}

static unsigned alloc_called(const char *name)
{
    for (unsigned i = 0; i < alloc_count; i++)
        if (strcmp(allocs[i].name, name) == 0)
            return i;
    ck_abort_msg("no array '%s'", name);
}

/* The first access of a body to an array, of a kind; NULL: none. */
static const struct program_access *access_to(const struct program_body *b, unsigned alloc, uint8_t kind, unsigned skip)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (b->access[i].alloc == alloc && b->access[i].kind == kind && skip-- == 0)
            return &b->access[i];
    return NULL;
}

static const char *const ways[] = {"naive", "merged", "aligned"};
static const char *const specs[] = {"bfs,graph=kron,scale=8,roots=3",
                                    "bfs,graph=urand,scale=6,k=1,roots=4,element=4,threads_per_block=32",
                                    "bfs,graph=fixtures/graphs/star.bel,root=auto,base_offset=64",
                                    "sssp,graph=kron,scale=7,root=auto,base_offset=8",
                                    "sssp,graph=urand,scale=7,k=2,root=auto,element=4,update=jacobi",
                                    "cc,graph=kron,scale=8,threads_per_block=256",
                                    "cc,graph=urand,scale=6,k=1,element=4,base_offset=4095",
                                    "cc,graph=kron,scale=9,iterations=1",
                                    "cc,graph=urand,scale=8,iterations=1,element=4,base_offset=64",
                                    "pagerank,graph=kron,scale=7,tolerance=0.05",
                                    "pagerank,graph=fixtures/graphs/star.bel,iterations=1"};
enum { SPECS = sizeof specs / sizeof *specs };

/* --- elements --- */

/* How often each element is read in a launch; and that what lies at the same lane and place in the body belongs to it.
 */
static void count_elements(void *run, uint32_t launch, uint32_t *times)
{
    static struct program_body b;
    struct program_launch shape = {0};
    program.ops->launch(program.state, launch, &shape);
    uint64_t base = allocs[EDGES].addr + (uint64_t)t->params->base_offset, element = t->params->element ? 4 : 8;
    for (uint64_t warp = 0; warp < program_warps(&shape); warp++)
        for (uint32_t index = 0; program_body(&program, run, launch, warp, index, &b, NULL) > 0; index++)
            for (uint32_t i = 0; i < b.count; i++) {
                const struct program_access *a = &b.access[i];
                if (a->alloc != EDGES)
                    continue;
                ck_assert_uint_eq(a->bytes, element);
                for (uint64_t turn = 0; turn < b.turns; turn++)
                    for (uint32_t rest = a->active; rest; rest &= rest - 1) {
                        uint64_t at = program_addr(a, (unsigned)__builtin_ctz(rest), turn) - base;
                        ck_assert_uint_eq(at % element, 0);
                        ck_assert_uint_lt(at / element, t->graph.elements);
                        times[at / element]++;
                    }
            }
}

START_TEST(a_launch_reads_the_lists_of_its_frontier_once)
{
    for (int i = 0; i < SPECS * 3; i++) {
        char spec[200];
        void *run;
        (void)snprintf(spec, sizeof spec, "%s,kernel=%s", specs[i / 3], ways[i % 3]);
        open_program(spec);
        const struct graph *g = &t->graph;
        uint32_t launches = program.ops->launches(program.state), *times = calloc(g->elements, sizeof *times);
        uint64_t *starts = calloc(t->root_count + 1, sizeof *starts);
        struct traversal_run frontiers;
        bool heads = t->algorithm->weighted && i % 3 == 2; /* aligned sssp reads before its lists */
        ck_assert_int_eq(traversal_run_starts(t, starts, NULL), 0);
        ck_assert_int_eq(traversal_run_open(&frontiers, t, starts, false, NULL), 0);
        ck_assert_int_eq(program_run_open(&program, &run, NULL), 0);
        for (uint32_t l = 0; l < launches; l++) {
            memset(times, 0, g->elements * sizeof *times);
            ck_assert_int_eq(traversal_run_seek(&frontiers, l, NULL), 0);
            count_elements(run, l, times);
            for (uint64_t v = 0; v < g->vertices; v++)
                for (uint64_t e = g->offsets[v]; e < g->offsets[v + 1]; e++) {
                    uint32_t want = frontier_has(&frontiers.t.active, v);
                    ck_assert_msg(heads ? times[e] >= want : times[e] == want, "%s: launch %u, element %d: %u times",
                                  spec, l, (int)e, times[e]);
                }
        }
        program_run_close(&program, run);
        traversal_run_close(&frontiers);
        free(starts);
        free(times);
        workload_close(&w);
    }
}
END_TEST

/* --- visits --- */

/* In each lane: the neighbour's value is read behind its element, and stored to if the run says that it changes. */
static void check_visit(const struct program_body *b, const struct traversal_run *run, unsigned values, uint8_t kind,
                        unsigned own_reads, uint64_t warp, uint64_t *stores)
{
    bool naive = t->params->kernel == TRAVERSAL_NAIVE;
    uint32_t bytes = t->algorithm->kernel.value_bytes;
    uint64_t base = allocs[EDGES].addr + (uint64_t)t->params->base_offset, element = t->params->element ? 4 : 8;
    const struct program_access *e = access_to(b, EDGES, RECORD_READ, 0);
    const struct program_access *value = access_to(b, values, RECORD_READ, own_reads);
    const struct program_access *stored = access_to(b, values, kind, 0);
    ck_assert_ptr_nonnull(value);
    ck_assert(value > e);
    ck_assert_uint_eq(value->active, e->active);
    for (uint32_t rest = e->active; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t i = (program_addr(e, lane, 0) - base) / element, n = graph_target(&t->graph, i);
        ck_assert_uint_eq(program_addr(value, lane, 0), allocs[values].addr + n * bytes);
        if (!stored || !(stored->active >> lane & 1))
            continue;
        ck_assert(traversal_run_changes(run, i));
        uint64_t target = traversal_run_changes_own(run, i) ? naive ? warp * 32 + lane : warp : n;
        ck_assert_uint_eq(program_addr(stored, lane, 0), allocs[values].addr + target * bytes);
        ++*stores;
    }
}

static uint64_t count_bits(const uint64_t *bits, uint64_t n)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i <= n / 64; i++)
        sum += (uint64_t)__builtin_popcountll(bits[i]);
    return sum;
}

START_TEST(visits_read_the_neighbour_and_store_what_changes)
{
    static const struct {
        int spec;
        const char *values;
        uint8_t kind;
        unsigned own_reads; /* of a body: of the vertex's own value, before */
    } rows[] = {{0, "labels", RECORD_WRITE, 0},      {1, "labels", RECORD_WRITE, 0},
                {3, "costs", RECORD_ATOMIC, 1},      {4, "costs", RECORD_ATOMIC, 1},
                {5, "components", RECORD_ATOMIC, 1}, {6, "components", RECORD_ATOMIC, 1}};
    static struct program_body b;
    for (size_t i = 0; i < 3 * sizeof rows / sizeof *rows; i++) {
        char spec[200];
        void *run;
        (void)snprintf(spec, sizeof spec, "%s,kernel=%s", specs[rows[i / 3].spec], ways[i % 3]);
        open_program(spec);
        unsigned values = alloc_called(rows[i / 3].values);
        uint64_t *starts = calloc(t->root_count + 1, sizeof *starts);
        struct traversal_run truth;
        struct program_launch shape = {0};
        program.ops->launch(program.state, 0, &shape);
        ck_assert_int_eq(traversal_run_starts(t, starts, NULL), 0);
        ck_assert_int_eq(traversal_run_open(&truth, t, starts, true, NULL), 0);
        ck_assert_int_eq(program_run_open(&program, &run, NULL), 0);
        for (uint32_t l = 0; l < program.ops->launches(program.state); l++) {
            uint64_t stores = 0;
            ck_assert_int_eq(traversal_run_seek(&truth, l, NULL), 0);
            for (uint64_t warp = 0; warp < program_warps(&shape); warp++)
                for (uint32_t index = 0; program_body(&program, run, l, warp, index, &b, NULL) > 0; index++)
                    if (access_to(&b, EDGES, RECORD_READ, 0))
                        check_visit(&b, &truth, values, rows[i / 3].kind, rows[i / 3].own_reads, warp, &stores);
            ck_assert_uint_eq(stores, count_bits(truth.t.changes, t->graph.elements));
        }
        program_run_close(&program, run);
        traversal_run_close(&truth);
        free(starts);
        workload_close(&w);
    }
}
END_TEST

/* Each element of an active list adds to its neighbour's residual. */
START_TEST(pagerank_adds_to_every_neighbour)
{
    static struct program_body b;
    void *run;
    uint64_t added = 0;
    open_program("pagerank,graph=kron,scale=7,iterations=2,kernel=merged");
    unsigned residuals = alloc_called("residuals");
    ck_assert_int_eq(program_run_open(&program, &run, NULL), 0);
    for (uint64_t v = 0; v < t->graph.vertices; v++)
        for (uint32_t index = 0; program_body(&program, run, 0, v, index, &b, NULL) > 0; index++) {
            const struct program_access *a = access_to(&b, residuals, RECORD_ATOMIC, 0);
            for (unsigned lane = 0; a && lane < 32 && a->active >> lane & 1; lane++, added++)
                ck_assert_uint_eq(program_addr(a, lane, 0),
                                  allocs[residuals].addr +
                                      4 * graph_target(&t->graph, t->graph.offsets[v] + 32 * (index - 1) + lane));
        }
    ck_assert_uint_eq(added, t->graph.elements);
    program_run_close(&program, run);
    workload_close(&w);
}
END_TEST

START_TEST(warps_of_inactive_vertices_look_and_end)
{
    static struct program_body b;
    void *run;
    for (int way = 0; way < 3; way++) {
        char spec[100];
        uint64_t bodies = 0;
        (void)snprintf(spec, sizeof spec, "bfs,graph=kron,scale=8,root=auto,kernel=%s", ways[way]);
        open_program(spec);
        uint64_t warps = way ? 256 : 8;
        ck_assert_int_eq(program_run_open(&program, &run, NULL), 0);
        for (uint64_t warp = 0; warp < warps; warp++) /* launch 0: the root alone */
            for (uint32_t index = 0; program_body(&program, run, 0, warp, index, &b, NULL) > 0; index++, bodies++)
                ck_assert(index > 0 || (b.count && b.access[0].alloc == alloc_called("labels")));
        ck_assert_int_eq(program_body(&program, run, 0, warps, 0, &b, NULL), 1); /* beyond them: the guard */
        ck_assert_uint_eq(b.count, 0);
        ck_assert_uint_gt(program_instructions(&b), 0);
        ck_assert_int_eq(program_body(&program, run, 0, warps, 1, &b, NULL), 0);
        uint64_t degree = graph_degree(&t->graph, t->roots[0]), first = t->graph.offsets[t->roots[0]];
        uint64_t loads = way == 0 ? degree : (degree + (way == 2 ? first % 16 : 0) + 31) / 32;
        ck_assert_uint_eq(bodies, warps + loads);
        program_run_close(&program, run);
        workload_close(&w);
    }
}
END_TEST

/* The byte arrays that say who is active: one is read, the other set by who changes a value; they take turns. */
START_TEST(flags_of_the_next_launch_are_raised_with_the_values)
{
    static struct program_body b;
    void *run;
    open_program("cc,graph=urand,scale=8,k=2,update=jacobi,kernel=merged");
    unsigned components = alloc_called("components");
    ck_assert_int_eq(program_run_open(&program, &run, NULL), 0);
    for (uint32_t l = 0; l < 2; l++) {
        unsigned now = alloc_called(l ? "next" : "active"), next = alloc_called(l ? "active" : "next");
        uint64_t raised = 0;
        for (uint64_t v = 0; v < t->graph.vertices; v++)
            for (uint32_t index = 0; program_body(&program, run, l, v, index, &b, NULL) > 0; index++) {
                const struct program_access *value = access_to(&b, components, RECORD_ATOMIC, 0);
                const struct program_access *flag = access_to(&b, next, RECORD_WRITE, 0);
                ck_assert(index > 0 || access_to(&b, now, RECORD_READ, 0) == &b.access[0]);
                ck_assert_int_eq(value != NULL, flag != NULL);
                ck_assert_int_eq(value != NULL, access_to(&b, alloc_called("changed"), RECORD_WRITE, 0) != NULL);
                for (uint32_t rest = value ? value->active : 0; rest; rest &= rest - 1, raised++) {
                    unsigned lane = (unsigned)__builtin_ctz(rest);
                    ck_assert_uint_eq((program_addr(value, lane, 0) - allocs[components].addr) / 8,
                                      program_addr(flag, lane, 0) - allocs[next].addr);
                }
            }
        ck_assert_uint_gt(raised, 2);
    }
    program_run_close(&program, run);
    workload_close(&w);
}
END_TEST

START_TEST(sssp_reads_its_cost_and_clears_its_flag)
{
    static struct program_body b;
    void *run;
    open_program("sssp,graph=kron,scale=7,root=auto,kernel=merged");
    uint64_t root = t->roots[0];
    uint32_t bodies = 2 + (uint32_t)(graph_degree(&t->graph, root) + 31) / 32;
    ck_assert_int_eq(program_run_open(&program, &run, NULL), 0);
    for (uint32_t i = 0; i < bodies; i++) {
        ck_assert_int_eq(program_body(&program, run, 0, root, i, &b, NULL), 1);
        const struct program_access *own = access_to(&b, alloc_called("costs"), RECORD_READ, 0);
        const struct program_access *clear = access_to(&b, alloc_called("active"), RECORD_WRITE, 0);
        ck_assert_int_eq(own != NULL, i + 1 < bodies);
        ck_assert_int_eq(clear != NULL, i + 1 == bodies);
        if (own)
            ck_assert_uint_eq(program_addr(own, 7, 0), allocs[alloc_called("costs")].addr + 4 * root);
        if (clear)
            ck_assert_uint_eq(program_addr(clear, 31, 0), allocs[alloc_called("active")].addr + root);
    }
    ck_assert_int_eq(program_body(&program, run, 0, root, bodies, &b, NULL), 0);
    program_run_close(&program, run);
    workload_close(&w);
}
END_TEST

/* --- pages --- */

struct pages {
    const struct program_pages *view;
    uint8_t *touched; /* by page */
};

static int mark_lines(void *ctx, const struct program_op *op, struct err *err)
{
    struct pages *p = ctx;
    (void)err;
    for (int i = 0; i < op->lines; i++)
        for (size_t a = 0; a < p->view->count; a++)
            if (op->line[i].addr - p->view->allocs[a].addr < p->view->allocs[a].bytes)
                p->touched[actor_page(&p->view->allocs[a], op->line[i].addr - p->view->allocs[a].addr)] |= 1;
    return 0;
}

static void mark_steps(struct pages *p, const struct program *of)
{
    void *run = program_pages_ops.run_open(p->view, NULL);
    for (uint32_t l = 0; l < of->ops->launches(of->state); l++) {
        struct actor_launch shape;
        program_pages_ops.launch(p->view, l, &shape);
        for (uint32_t actor = 0; actor < shape.actors; actor++) {
            struct actor_at at = {0};
            struct actor_step step;
            while (program_pages_ops.step(run, l, actor, &at, &step, NULL) > 0)
                for (uint32_t i = 0; i < step.count + step.stores; i++)
                    p->touched[step.page[i]] |= 2;
        }
    }
    program_pages_ops.run_close(run);
}

START_TEST(the_page_view_touches_the_pages_of_the_walk)
{
    static const struct program_taker taker = {.op = mark_lines};
    static const struct program_walk managed = {.managed_only = true};
    for (int i = 0; i < SPECS * 3; i++) {
        char spec[200];
        struct program_pages view;
        struct pages p = {.view = &view};
        (void)snprintf(spec, sizeof spec, "%s,kernel=%s", specs[i / 3], ways[i % 3]);
        open_program(spec);
        ck_assert_int_eq(program_pages_init(&view, &program, NULL, NULL), 0);
        ck_assert_uint_eq(view.count, t->algorithm->weighted ? 2 : 1); /* the rest is in GPU memory */
        uint32_t pages = actor_space_pages(view.allocs, view.count), touched = 0;
        p.touched = calloc(pages, 1);
        ck_assert_int_eq(program_walk(&program, &managed, &taker, &p, NULL, NULL), 0);
        mark_steps(&p, &program);
        for (uint32_t page = 0; page < pages; page++) {
            ck_assert_msg(p.touched[page] == 0 || p.touched[page] == 3, "%s: page %u: %d", spec, page, p.touched[page]);
            touched += p.touched[page] == 3;
        }
        ck_assert_uint_gt(touched, 0);
        free(p.touched);
        workload_close(&w);
    }
}
END_TEST

START_TEST(arrays_lie_where_the_scans_say)
{
    struct scan_setup s;
    open_program("sssp,graph=kron,scale=7,base_offset=4095,root=auto");
    traversal_ops.setup(w.state, &s);
    ck_assert_uint_eq(allocs[EDGES].addr + 4095, s.structures[0].base);
    ck_assert_uint_eq(allocs[EDGES].addr % 4096, 0);
    ck_assert_uint_eq(allocs[alloc_called("weights")].addr, s.structures[1].base);
    for (size_t i = 0; i < alloc_count; i++)
        for (size_t k = 0; k < i; k++)
            ck_assert(allocs[i].addr >= allocs[k].addr + allocs[k].bytes ||
                      allocs[k].addr >= allocs[i].addr + allocs[i].bytes);
    workload_close(&w);
}
END_TEST

/* A group of four loads is issued before the first is needed; a list of whole loads is turns of one body. */
START_TEST(sweeps_issue_four_loads_together)
{
    static struct program_body b;
    void *run;
    open_program("cc,graph=kron,scale=8,iterations=1,kernel=merged");
    struct program_launch shape;
    program.ops->launch(program.state, 0, &shape);
    ck_assert_str_eq(shape.kernel, "sweep_merged");
    uint64_t hub = graph_hub(&t->graph), degree = graph_degree(&t->graph, hub);
    ck_assert_uint_ge(degree, 128);
    ck_assert_int_eq(program_run_open(&program, &run, NULL), 0);
    ck_assert_int_eq(program_body(&program, run, 0, hub, 1, &b, NULL), 1);
    ck_assert_uint_eq(b.count, 4);
    ck_assert_uint_eq(b.turns, degree / 128);
    ck_assert_uint_eq(program_stalls(&b), 0);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_uint_eq(b.access[i].use, 4 - i);
    program_run_close(&program, run);
    workload_close(&w);
}
END_TEST

START_TEST(blocks_of_split_warps_are_refused)
{
    struct err err = {""};
    ck_assert_int_eq(workload_open(&w, "bfs,graph=kron,scale=6,threads_per_block=48", &err), 0);
    ck_assert_int_eq(w.type->program(w.state, &program, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "threads_per_block is 48"));
    workload_close(&w);
}
END_TEST

TEST_MAIN("traversal_program", a_launch_reads_the_lists_of_its_frontier_once,
          visits_read_the_neighbour_and_store_what_changes, pagerank_adds_to_every_neighbour,
          warps_of_inactive_vertices_look_and_end, flags_of_the_next_launch_are_raised_with_the_values,
          sssp_reads_its_cost_and_clears_its_flag, the_page_view_touches_the_pages_of_the_walk,
          arrays_lie_where_the_scans_say, sweeps_issue_four_loads_together, blocks_of_split_warps_are_refused)
