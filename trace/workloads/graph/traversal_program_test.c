/* Runs are the program's own: by including it. */
#include "trace/workloads/graph/traversal_program.c"

#include "trace/program/pages.h"
#include "trace/workloads/program_testing.h"

enum { EDGES = 0, WARP = 32 };

static struct workload w;
static const struct traversal *t;
static struct program program;
static const struct program_alloc *allocs;
static size_t alloc_count;

static void open_program(const char *spec)
{
    program = program_opened(&w, spec, 0, 0);
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

/* Bytes of an element of the edge list. */
static uint32_t width_of(const struct traversal *of)
{
    return of->params->element == 2 ? 16 : of->params->element == 1 ? 4 : 8;
}

static const char *const kernels[] = {"naive", "merged", "aligned"};
static const char *const specs[] = {"bfs,graph=kron,scale=8,roots=3",
                                    "bfs,graph=urand,scale=6,k=1,roots=4,element=4,threads_per_block=32,chunk=3",
                                    "bfs,graph=fixtures/graphs/star.bel,root=auto,base_offset=64",
                                    "sssp,graph=kron,scale=7,root=auto,base_offset=8",
                                    "sssp,graph=urand,scale=7,k=2,root=auto,element=4,update=jacobi,chunk=5",
                                    "cc,graph=kron,scale=8,threads_per_block=256",
                                    "cc,graph=urand,scale=8,k=2,update=jacobi",
                                    "cc,graph=urand,scale=6,k=1,element=4,base_offset=4092,chunk=8",
                                    "cc,graph=kron,scale=9,iterations=1",
                                    "bfs,graph=urand,scale=7,k=4,root=auto,element=16,base_offset=48",
                                    "sssp,graph=kron,scale=7,root=auto,element=16",
                                    "cc,graph=urand,scale=8,iterations=1,element=4,base_offset=64",
                                    "pagerank,graph=kron,scale=7,tolerance=0.05,chunk=8",
                                    "pagerank,graph=fixtures/graphs/star.bel,iterations=1"};
enum { SPECS = sizeof specs / sizeof *specs };

static void open_spec(int i, char spec[200])
{
    (void)snprintf(spec, 200, "%s,kernel=%s", specs[i / 3], kernels[i % 3]);
    open_program(spec);
}

/* --- against loops over the threads, as the kernels' source has them --- */

/* One thread of one launch. */
struct thread {
    struct program_notes *notes;
    const struct traversal_run *truth; /* which visits change a value */
    uint32_t launch, threads;
    uint64_t number, vertex, before; /* before: vertices of the warp that have had their turn */
};

static void note(const struct thread *a, uint64_t when, uint32_t kind, uint32_t bytes, const char *array,
                 uint64_t index)
{
    const struct program_alloc *of = &allocs[alloc_called(array)];
    uint64_t shift = of == &allocs[EDGES] ? (uint64_t)t->params->base_offset : 0;
    program_note(a->notes, a->launch, a->number / a->threads, a->threads, (uint32_t)(a->number % a->threads),
                 a->before << 40 | when, kind, bytes, of->addr + shift + index * bytes);
}

/* Element i, the thread's j-th, and its visit. */
static void note_visit(const struct thread *a, uint64_t i, uint64_t j, bool in_list)
{
    char which = t->algorithm->kernel.name[0]; /* b, s, c, p */
    uint64_t n = graph_target(&t->graph, i), at = 10 + 10 * j, v = a->vertex;
    note(a, at + 1, RECORD_READ, width_of(t), "edges", i);
    if (which == 'b')
        note(a, at + 2, RECORD_READ, 4, "labels", n);
    if (which == 's') {
        note(a, at, RECORD_READ, 4, "costs", v);
        note(a, at + 2, RECORD_READ, 4, "costs", n);
        note(a, at + 3, RECORD_READ, 4, "weights", i);
    }
    if (which == 'c') {
        note(a, at, RECORD_READ, 8, "components", v);
        note(a, at + 2, RECORD_READ, 8, "components", n);
    }
    if (which == 'p') {
        note(a, at, RECORD_READ, 4, "deltas", v);
        note(a, at + 4, RECORD_ATOMIC, 4, "residuals", n);
    }
    if (!in_list || !traversal_run_changes(a->truth, i))
        return;
    if (traversal_run_changes_own(a->truth, i))
        n = v;
    if (which == 'b')
        note(a, at + 4, RECORD_WRITE, 4, "labels", n);
    if (which == 's')
        note(a, at + 4, RECORD_ATOMIC, 4, "costs", n);
    if (which == 'c') {
        note(a, at + 4, RECORD_ATOMIC, 8, "components", n);
        note(a, at + 5, RECORD_WRITE, 1, a->launch % 2 ? "active" : "next", n);
    }
    if (which != 's')
        note(a, at + 6, RECORD_WRITE, 4, "changed", 0);
}

static void thread(const struct thread *a, bool sweeping)
{
    const struct traversal_kernel *k = &t->algorithm->kernel;
    bool naive = t->params->kernel == TRAVERSAL_NAIVE, aligned = t->params->kernel == TRAVERSAL_ALIGNED;
    uint64_t v = a->vertex, begin = t->graph.offsets[v], end = t->graph.offsets[v + 1], step = naive ? 1 : WARP;
    uint64_t line = 128 / width_of(t), lane = naive ? 0 : a->number % WARP;
    if (!sweeping && k->name[0] == 'b')
        note(a, 0, RECORD_READ, 4, "labels", v);
    else if (!sweeping)
        note(a, 0, RECORD_READ, 1, k->name[0] == 'c' && a->launch % 2 ? "next" : "active", v);
    if (!frontier_has(&a->truth->t.active, v))
        return;
    note(a, 1, RECORD_READ, 8, "offsets", v);
    note(a, 2, RECORD_READ, 8, "offsets", v + 1);
    if (k->name[0] == 's')
        note(a, 3, RECORD_READ, 4, "costs", v);
    uint64_t j = 0;
    for (uint64_t i = (aligned ? begin / line * line : begin) + lane; i < end; i += step, j++) {
        if (sweeping && i >= begin)
            note(a, 10 + j, RECORD_READ, width_of(t), "edges", i);
        else if (!sweeping && (i >= begin || k->name[0] == 's'))
            note_visit(a, i, j, i >= begin);
    }
    if (!sweeping && (k->name[0] == 's' || k->name[0] == 'p'))
        note(a, UINT64_C(1) << 39, RECORD_WRITE, 1, "active", v);
}

static void launch(uint32_t number, struct traversal_run *truth, struct program_notes *notes)
{
    struct program_launch shape = {0};
    program.ops->launch(program.state, number, &shape);
    ck_assert_int_eq(traversal_run_seek(truth, number, NULL), 0);
    bool sweeping = !t->algorithm->rooted && t->params->iterations == 1;
    ck_assert_int_eq(strncmp(shape.kernel, "sweep", 5) == 0, sweeping);
    uint64_t each = t->params->kernel == TRAVERSAL_NAIVE ? 1 : WARP, vertices = t->graph.vertices;
    uint64_t chunk = each == 1 ? 1 : (uint64_t)t->params->chunk, most = (vertices + chunk - 1) / chunk * each;
    ck_assert(shape.blocks * shape.threads >= most && (shape.blocks - 1) * shape.threads < most);
    for (uint64_t i = 0; i < most; i++)
        for (uint64_t k = 0, v = i / each * chunk; k < chunk && v < vertices; k++, v++)
            thread(&(struct thread){notes, truth, number, shape.threads, i, v, k}, sweeping);
}

START_TEST(programs_are_their_loops_over_threads)
{
    for (int i = 0; i < SPECS * 3; i += testing_step()) {
        char spec[200];
        struct program_notes notes = {0};
        struct traversal_run truth;
        open_spec(i, spec);
        struct traversal_launches found; /* by the run itself, none kept */
        ck_assert_int_eq(traversal_launches_open(&found, t, true, 0, NULL), 0);
        ck_assert_int_eq(traversal_run_open(&truth, t, &found, true, NULL), 0);
        ck_assert_uint_eq(program.ops->launches(program.state), found.starts[t->root_count]);
        for (uint32_t l = 0; l < found.starts[t->root_count]; l++)
            launch(l, &truth, &notes);
        program_compare(&notes, &program);
        traversal_run_close(&truth);
        traversal_launches_close(&found);
        workload_close(&w);
    }
}
END_TEST

/* A vertex that is not active costs its warp one load; a warp without a vertex its guard. */
START_TEST(warps_of_inactive_vertices_look_and_end)
{
    static struct program_body b;
    void *run;
    open_program("bfs,graph=kron,scale=8,root=auto,kernel=merged,threads_per_block=1024");
    uint64_t other = t->roots[0] == 0;
    ck_assert_int_eq(program_run_open(&program, &run, NULL), 0);
    ck_assert_int_eq(program_body(&program, run, 0, other, 0, &b, NULL), 1);
    ck_assert_uint_eq(b.count, 1);
    ck_assert_int_eq(program_body(&program, run, 0, other, 1, &b, NULL), 0);
    ck_assert_int_eq(program_body(&program, run, 0, 256, 0, &b, NULL), 1);
    ck_assert_uint_eq(b.count, 0);
    ck_assert_int_eq(program_body(&program, run, 0, 256, 1, &b, NULL), 0);
    program_run_close(&program, run);
    workload_close(&w);
}
END_TEST

/* A turn of a body has the reads of a turn of another: of host memory addresses too, of GPU memory lanes. */
static void same_reads(const struct program_body *a, uint64_t a_turn, const struct program_body *b, uint64_t b_turn)
{
    uint32_t i = 0, k = 0;
    for (;; i++, k++) {
        while (i < a->count && a->access[i].kind != RECORD_READ)
            i++;
        while (k < b->count && b->access[k].kind != RECORD_READ)
            k++;
        if (i == a->count || k == b->count)
            break;
        const struct program_access *x = &a->access[i], *y = &b->access[k];
        struct access_line line[2 * ACCESS_LANES];
        ck_assert_uint_eq(x->alloc, y->alloc);
        ck_assert_uint_eq(x->active, y->active);
        if (allocs[x->alloc].device)
            continue;
        for (unsigned lane = 0; lane < PROGRAM_LANES; lane++)
            ck_assert(!(x->active >> lane & 1) || program_addr(x, lane, a_turn) == program_addr(y, lane, b_turn));
        if (a->turns == 1) /* bodies become turns of one if they are on as many lines */
            ck_assert_int_eq(program_lines(x, a_turn, line), program_lines(y, 0, line));
    }
    ck_assert(i == a->count && k == b->count);
}

static bool reads(const struct program_body *b)
{
    uint32_t i = 0;
    while (i < b->count && b->access[i].kind != RECORD_READ)
        i++;
    return i < b->count;
}

/* All reads of a warp, in brief and whole. Returns how many bodies were turns of one before. */
static uint64_t warp_in_brief(void *run, uint32_t launch, uint64_t warp)
{
    static struct program_body whole, brief;
    uint32_t index = 0, bodies = 0;
    uint64_t turn = 0;
    whole.last = brief.last = false;
    whole.turns = 0;
    while (!brief.last && program_body_brief(&program, run, launch, warp, bodies, &brief, NULL) > 0) {
        for (uint64_t i = 0; i < brief.turns; i++, turn++) {
            if (turn == whole.turns) {
                ck_assert_int_eq(program_body(&program, run, launch, warp, index++, &whole, NULL), 1);
                turn = 0;
            }
            same_reads(&whole, turn, &brief, i);
        }
        bodies++;
    }
    ck_assert(turn == whole.turns);
    const uint32_t more = index - bodies;
    while (!whole.last && program_body(&program, run, launch, warp, index++, &whole, NULL) > 0)
        ck_assert(!reads(&whole));
    return more;
}

START_TEST(brief_bodies_have_the_same_reads_of_host_memory)
{
    const int step = testing_step() > 4 ? testing_step() : 4;
    uint64_t turns[2] = {0}; /* of kernels with a list for each lane; the others */
    for (int i = 0; i < SPECS * 3; i += step) {
        char spec[200];
        struct program_launch shape;
        void *run;
        open_spec(i, spec);
        ck_assert_int_eq(program_run_open(&program, &run, NULL), 0);
        for (uint32_t l = 0; l < program.ops->launches(program.state); l++) {
            program.ops->launch(program.state, l, &shape);
            for (uint64_t warp = 0; warp < program_warps(&shape); warp++)
                turns[t->params->kernel != TRAVERSAL_NAIVE] += warp_in_brief(run, l, warp);
        }
        program_run_close(&program, run);
        workload_close(&w);
    }
    ck_assert(step > 4 || (turns[0] > 0 && turns[1] > 0));
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
    for (int i = 0; i < SPECS * 3; i += testing_step()) {
        char spec[200];
        struct program_pages view;
        struct pages p = {.view = &view};
        open_spec(i, spec);
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
    open_program("sssp,graph=kron,scale=7,base_offset=4088,root=auto");
    traversal_ops.setup(w.state, &s);
    ck_assert_uint_eq(allocs[EDGES].addr + 4088, s.structures[0].base);
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
    ck_assert_ptr_nonnull(
        strstr(program_refused("bfs,graph=kron,scale=6,threads_per_block=48"), "threads_per_block is 48"));
    ck_assert_ptr_nonnull(strstr(program_refused("cc,graph=kron,scale=6,iterations=1,chunk=8"), "chunk is 8"));
}
END_TEST

TEST_MAIN("traversal_program")
