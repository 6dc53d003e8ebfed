/* traversal_program: the kernels of bfs, sssp, cc and pagerank, and of a sweep over all lists, access by access.
 *
 * A launch is a level or a round; its grid covers all vertices: naive a thread for each, merged and aligned a warp. A
 * warp looks whether its vertex is active (bfs: its label; else a byte of an array) and ends if not. Then offsets[v],
 * offsets[v + 1], and the list, load by load (struct traversal_shape); a warp goes on until its longest lane is done.
 * Behind each element comes its visit: the neighbour's value, sssp's weight, and what the visit changes
 * (below). A sweep (cc or pagerank, iterations=1) visits nobody; four loads of its loop are issued together.
 * With chunk=N a warp takes N vertices that follow each other, one after the other: the head, the list, the next head.
 * Worked example: bfs, kernel=merged, 8 B elements, list of 40: body 0 label and offsets; body 1 elements 0 to 31, 32
 * labels scattered over GPU memory, stores where the label was not set; body 2 elements 32 to 39 in 8 lanes.
 * The requests of the lists are those that the scans (traversal_ops) make under the pattern of the same name.
 * Source: EMOGI 382dbcc, bfs.cu, sssp.cu, cc.cu, pagerank.cu; fixtures/cuda/bfs.cu; unrolling by four of a loop without
 * a visit: H200, CUDA 13.0, 2026-11.
 * Differs: instructions between accesses are counted from the source (an address, a comparison, a branch: one each),
 * not from machine code; kernels that touch GPU memory only (EMOGI's `initialize` and `update`) are left out; sssp does
 * not leave a list when its own cost falls; the public code has no naive kernel but that of bfs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/sorted.h"
#include "trace/event/actor.h"
#include "trace/program/layout.h"
#include "trace/workloads/graph/traversal.h"

/* --- the launches of a traversal in order, each with its frontier and the visits that change a value ---
 *
 * A visit changes a value if it does so when the launch's lists are read one after the other, in vertex order and
 * element by element: of several visits that would lower the same value alike, the first. That is one of the orders a
 * GPU may take, and the same in every run.
 * The launches are worked out once and shared by all runs: a frontier as bits, 1 a vertex; of changes only the words
 * that are not 0, 24 B each. Where all together take more than `most`, none is kept and each run works them out by
 * itself, with frontiers and values of its own, and starts anew to go back. A run takes besides 1 bit (cc: 2) an
 * element. Runs share the graph and may be on threads of their own.
 * Differs: on a GPU visits at the same time may all find the old value, and all change it. */

/* Word `word` of traversal.changes and .own. */
struct traversal_change {
    uint64_t word, changes, own;
};

struct traversal_launch {
    uint64_t *active;  /* frontier.bits; NULL: those of launch `as` */
    uint64_t count;    /* its members */
    uint64_t elements; /* of their lists */
    struct traversal_change *change;
    size_t changes;
    uint32_t as;   /* the launch whose frontier and changes it has; itself */
    uint32_t like; /* the first launch that has them */
};

struct traversal_launches {
    uint64_t *starts;            /* of roots: their first launches; [root_count]: all launches */
    struct traversal_launch *of; /* of each launch; NULL: they are not kept */
    size_t kept, cap;
    uint64_t bytes;
};

struct traversal_run {
    struct traversal t; /* a copy: t.active is the frontier of the launch, t.changes what it changes */
    const struct traversal_launches *launches;
    bool running; /* t stands at `launch` */
    uint32_t launch;
};

static size_t element_words(const struct traversal *t)
{
    return (size_t)(t->graph.elements / 64 + 1);
}

static bool kept(const struct traversal_run *run)
{
    return run->launches && run->launches->of;
}

/* launches: must outlive the run; NULL: whoever finds them out. changes: as when the launches were opened. *run is to
 * be closed even on failure. */
static int traversal_run_open(struct traversal_run *run, const struct traversal *from,
                              const struct traversal_launches *launches, bool changes, struct err *err)
{
    bool own = changes && from->algorithm->changes_own;
    changes = changes && !from->algorithm->kernel.always;
    memset(run, 0, sizeof *run);
    run->launches = launches;
    struct traversal *t = &run->t;
    t->algorithm = from->algorithm;
    t->params = from->params;
    t->graph = from->graph;
    t->roots = from->roots;
    t->root_count = from->root_count;
    if (!kept(run) && traversal_make_room(t, err))
        return -1;
    t->changes = changes ? mem_zalloc(element_words(t), sizeof *t->changes, err) : NULL;
    t->own = own ? mem_zalloc(element_words(t), sizeof *t->own, err) : NULL;
    return (t->changes || !changes) && (t->own || !own) ? 0 : -1;
}

/* Changes are no longer wanted. */
static void forget(struct traversal_run *run)
{
    free(run->t.changes);
    free(run->t.own);
    run->t.changes = run->t.own = NULL;
}

static void traversal_run_close(struct traversal_run *run)
{
    if (!kept(run))
        free(run->t.active.bits);
    free(run->t.next.bits);
    free(run->t.values);
    forget(run);
    memset(run, 0, sizeof *run);
}

/* Of a run without launches: find out what the launch that it stands at changes, and the next frontier. */
static int advance(struct traversal_run *run, struct err *err)
{
    struct traversal *t = &run->t;
    if (t->changes)
        memset(t->changes, 0, element_words(t) * sizeof *t->changes);
    if (t->own)
        memset(t->own, 0, element_words(t) * sizeof *t->own);
    return t->algorithm->advance(t, err);
}

/* --- going to a launch --- */

/* A kept one: what the launch before it changes goes, what it changes comes. */
static void take_kept(struct traversal_run *run, uint32_t launch)
{
    struct traversal *t = &run->t;
    const struct traversal_launch *of = run->launches->of, *from = &of[of[run->launch].as], *to = &of[of[launch].as];
    for (size_t i = 0; t->changes && run->running && i < from->changes; i++)
        t->changes[from->change[i].word] = 0;
    for (size_t i = 0; t->own && run->running && i < from->changes; i++)
        t->own[from->change[i].word] = 0;
    for (size_t i = 0; t->changes && i < to->changes; i++)
        t->changes[to->change[i].word] = to->change[i].changes;
    for (size_t i = 0; t->own && i < to->changes; i++)
        t->own[to->change[i].word] = to->change[i].own;
    t->active = (struct frontier){to->active, to->count, t->graph.vertices};
    run->launch = launch;
    run->running = true;
}

/* One on, or to the first launch of the root whose launch is asked for. */
static int go_on(struct traversal_run *run, uint32_t launch, struct err *err)
{
    struct traversal *t = &run->t;
    const uint64_t *starts = run->launches->starts;
    if (run->running && launch > run->launch && launch < starts[t->root_at + 1]) {
        run->launch++;
        traversal_swap(t);
    } else {
        for (t->root_at = 0; starts[t->root_at + 1] <= launch;)
            t->root_at++;
        run->launch = (uint32_t)starts[t->root_at];
        traversal_begin(t);
    }
    bool last = run->launch + 1 == starts[t->root_at + 1];
    run->running = (last && !t->changes) || advance(run, err) == 0;
    return run->running ? 0 : -1;
}

/* Go to a launch. */
static int traversal_run_seek(struct traversal_run *run, uint32_t launch, struct err *err)
{
    if (run->running && run->launch == launch)
        return 0;
    if (kept(run)) {
        take_kept(run, launch);
        return 0;
    }
    while (!run->running || run->launch != launch)
        if (go_on(run, launch, err))
            return -1;
    return 0;
}

static void drop(struct traversal_launches *l)
{
    for (size_t i = 0; i < l->kept; i++) {
        free(l->of[i].active);
        free(l->of[i].change);
    }
    free(l->of);
    l->of = NULL;
    l->kept = l->cap = 0;
}

static void traversal_launches_close(struct traversal_launches *l)
{
    drop(l);
    free(l->starts);
    memset(l, 0, sizeof *l);
}

/* The words of what the launch changes. */
static int keep_changes(struct traversal_launches *l, struct traversal_launch *to, const struct traversal *t,
                        struct err *err)
{
    size_t cap = 0;
    for (uint64_t w = 0; t->changes && w <= t->graph.elements / 64; w++) {
        if (!t->changes[w])
            continue;
        if (MEM_ADD(to->change, to->changes, cap, err,
                    (struct traversal_change){w, t->changes[w], t->own ? t->own[w] : 0}))
            return -1;
    }
    l->bytes += cap * sizeof *to->change;
    return 0;
}

/* Elements of the lists of the frontier. */
static uint64_t elements_of(const struct traversal *t)
{
    const struct graph *g = &t->graph;
    uint64_t n = 0;
    for (uint64_t v = frontier_next(&t->active, 0, g->vertices); v < g->vertices;
         v = frontier_next(&t->active, v + 1, g->vertices))
        n += g->offsets[v + 1] - g->offsets[v];
    return n;
}

/* Where every visit changes its value, a launch is its frontier: the first one that has the same, or itself. */
static uint32_t same_before(const struct traversal_launches *l, const struct traversal *t, size_t words)
{
    const struct traversal_launch *own = &l->of[l->kept - 1];
    for (size_t i = 0; i + 1 < l->kept && t->algorithm->kernel.always; i++)
        if (l->of[i].active && l->of[i].elements == own->elements &&
            memcmp(l->of[i].active, t->active.bits, words * sizeof *t->active.bits) == 0)
            return (uint32_t)i;
    return (uint32_t)(l->kept - 1);
}

/* The launch that t stands at. */
static int keep(struct traversal_launches *l, const struct traversal *t, struct err *err)
{
    const size_t words = t->graph.vertices / 64 + 1;
    if (mem_grow((void **)&l->of, &l->cap, l->kept + 1, sizeof *l->of, err))
        return -1;
    struct traversal_launch *to = &l->of[l->kept++];
    *to = (struct traversal_launch){.count = t->active.count,
                                    .elements = t->algorithm->kernel.always ? elements_of(t) : 0};
    to->as = to->like = same_before(l, t, words);
    if (to->as != l->kept - 1)
        return 0;
    to->active = mem_zalloc(words, sizeof *to->active, err);
    if (!to->active)
        return -1;
    memcpy(to->active, t->active.bits, words * sizeof *to->active);
    l->bytes += sizeof *to + words * sizeof *to->active;
    return keep_changes(l, to, t, err);
}

static int run_root(struct traversal_launches *l, struct traversal_run *run, uint64_t *launches, uint64_t most,
                    struct err *err)
{
    struct traversal *t = &run->t;
    const int64_t rounds = t->params->iterations ? t->params->iterations : INT64_MAX;
    traversal_begin(t);
    for (int64_t round = 1; t->active.count || round == 1; round++) {
        ++*launches;
        if ((round < rounds || t->changes) && advance(run, err))
            return -1;
        if (l->of && keep(l, t, err))
            return -1;
        if (l->of && l->bytes > most) {
            drop(l);
            forget(run);
        }
        if (round == rounds)
            break;
        traversal_swap(t);
    }
    return 0;
}

/* Runs the traversal once. changes: whether changing visits are wanted. most: bytes. To be closed even on failure. */
static int traversal_launches_open(struct traversal_launches *l, const struct traversal *from, bool changes,
                                   uint64_t most, struct err *err)
{
    struct traversal_run run = {0};
    uint64_t launches = 0;
    memset(l, 0, sizeof *l);
    l->starts = mem_zalloc(from->root_count + 1, sizeof *l->starts, err);
    int rc = !l->starts || traversal_run_open(&run, from, NULL, changes && most, err) ||
                     (most && mem_grow((void **)&l->of, &l->cap, 1, sizeof *l->of, err))
                 ? -1
                 : 0;
    for (uint64_t *root = &run.t.root_at; *root < from->root_count && !rc; ++*root) {
        l->starts[*root] = launches;
        rc = run_root(l, &run, &launches, most, err);
    }
    traversal_run_close(&run);
    if (rc)
        return -1;
    l->starts[from->root_count] = launches;
    if (launches <= UINT32_MAX)
        return 0;
    return err_set(err, "the traversal has %llu launches; expected fewer than 2^32", (unsigned long long)launches);
}

/* --- launches that stand for others ---
 *
 * What a launch takes is nearly a line in the elements of its frontier's lists, where every visit changes a value. So
 * few need be looked at: the one that has most, those about a STEPS-th of it apart, the least. Each other launch
 * becomes one of the two next to it, so often the one and so often the other that all have as many elements together.
 * Worked example: 100, 90, 80, 70 elements, with 100 and 70 kept: 90 becomes 100, 80 becomes 70. */
enum { STEPS = 4, REPLACED = 8 /* where there are more */ };

static int more_elements(const void *a, const void *b)
{
    const struct traversal_launch *x = *(const struct traversal_launch *const *)a,
                                  *y = *(const struct traversal_launch *const *)b;
    return ORDER_OF(y->elements, x->elements) ?: ORDER_OF(x, y);
}

/* Of launches in that order those that stay come to the front; returns how many. */
static size_t choose(const struct traversal_launch **sorted, size_t n)
{
    const uint64_t step = sorted[0]->elements / STEPS;
    size_t kept = 1;
    for (size_t i = 1; i < n; i++)
        if (i + 1 == n || sorted[i + 1]->elements + step < sorted[kept - 1]->elements)
            sorted[kept++] = sorted[i];
    return kept;
}

static void stand_for(struct traversal_launches *l, const struct traversal_launch **kept, size_t n)
{
    int64_t owed = 0; /* elements that all so far have, and their likes do not */
    for (size_t k = 0; k + 1 < n; k++) {
        const int64_t most = (int64_t)kept[k]->elements, least = (int64_t)kept[k + 1]->elements;
        for (size_t i = 0; i < l->kept; i++) {
            const int64_t own = (int64_t)l->of[i].elements;
            if (own >= most || own <= least)
                continue;
            const bool more = 2 * (owed + own - least) >= most - least;
            l->of[i].as = (uint32_t)(kept[more ? k : k + 1] - l->of);
            owed += own - (more ? most : least);
        }
    }
}

bool traversal_spare(void *state, double *elements)
{
    const struct traversal *t = state;
    struct traversal_launches *l = t->launches;
    const struct traversal_launch **sorted =
        l->of && t->algorithm->kernel.always ? mem_zalloc(l->kept, sizeof *sorted, NULL) : NULL;
    size_t n = 0;
    for (size_t i = 0; sorted && i < l->kept; i++)
        if (l->of[i].as == i)
            sorted[n++] = &l->of[i];
    if (n > REPLACED) {
        sort_items(sorted, n, sizeof *sorted, more_elements);
        stand_for(l, sorted, choose(sorted, n));
    }
    free(sorted);
    for (size_t i = 0; i < l->kept; i++) {
        elements[i] = (double)l->of[l->of[i].as].elements;
        for (l->of[i].like = 0; l->of[l->of[i].like].as != l->of[i].as;)
            l->of[i].like++;
    }
    return n > REPLACED;
}

/* Whether the visit of element i changes a value in this launch (false for pagerank, where every visit does). */
static bool traversal_run_changes(const struct traversal_run *run, uint64_t i)
{
    return run->t.changes && (run->t.changes[i / 64] >> (i % 64)) & 1;
}

/* ... of the vertex whose list it is. */
static bool traversal_run_changes_own(const struct traversal_run *run, uint64_t i)
{
    return run->t.own && (run->t.own[i / 64] >> (i % 64)) & 1;
}

/* --- the program --- */

/* Which elements of neighbour lists the lanes of a warp load, load by load.
 *
 * A list for each lane (naive): lane l of load j reads element first + j of its vertex's list. One list for the warp
 * (merged, aligned): element from + 32 j + l, where `from` is the list's first, rounded down to a multiple of `round`;
 * what lies before the list is masked off, unless the kernel loads before it tests (EMOGI's SSSP).
 * Example: a list of elements 5 to 40, round 16: load 0 is elements 0 to 31 (lanes 0 to 4 masked), load 1 elements 32
 * to 40. */
struct traversal_shape {
    bool each;          /* a list for each lane */
    uint64_t round;     /* else: elements to round down to, 1 to 32; 1: not at all */
    bool unmasked_head; /* likewise */
    uint64_t chunk;     /* else: vertices of a warp */
};

/* Of one warp. */
struct traversal_lists {
    bool each, unmasked_head;
    uint64_t vertex;                                   /* of lane 0 */
    uint32_t lanes, active;                            /* those with a vertex; whose vertex is in the frontier */
    uint64_t first[PROGRAM_LANES], end[PROGRAM_LANES]; /* elements, of active lanes; one list: [0] */
    uint64_t from;                                     /* one list: element of lane 0 in load 0 */
    uint64_t loads;                                    /* of the longest lane; 0 where none is active */
};

struct traversal_load {
    uint32_t reads, list;      /* lanes that load an element; those of them whose element is in the list */
    int64_t at[PROGRAM_LANES]; /* the elements; lanes that load none: not filled */
};

enum { LANES = PROGRAM_LANES, LINE = 128, ARRAYS = 10, NONE = 255, UNROLL = 4 };

/* The state of the program. */
struct traversal_program {
    struct layout layout;
    const struct traversal *t;
    const struct traversal_kernel *kernel;
    char name[32];
    uint8_t edges, weights, offsets, values, own, flags[2], changed; /* arrays; NONE: no such */
    uint8_t bytes[ARRAYS];                                           /* of an element */
    int64_t first_edge;                                              /* element 0 of the lists in its array */
    struct traversal_shape shape;
    bool visits;
};

/* A run. The warp asked for last is mostly asked for again. */
struct traversal_warps {
    struct layout_run layout_run;
    struct traversal_run at;
    bool known; /* what follows is of warp `warp` of the launch that `at` stands at */
    uint64_t warp;
    uint32_t begun; /* the body that is the head of `lists` */
    struct traversal_lists lists;
    uint32_t part;   /* of a sweep: */
    uint64_t part_j; /* the load that it begins with */
};

/* --- lists --- */

static void one_list(const struct traversal *t, uint64_t round, struct traversal_lists *l)
{
    bool active = frontier_has(&t->active, l->vertex);
    l->lanes = UINT32_MAX;
    l->active = active ? UINT32_MAX : 0;
    if (!active)
        return; /* nobody asks where its list is; most are none of the launch's */
    l->first[0] = t->graph.offsets[l->vertex];
    l->end[0] = t->graph.offsets[l->vertex + 1];
    l->from = l->first[0] - l->first[0] % round;
    if (l->end[0] > l->first[0])
        l->loads = (l->end[0] - l->from + LANES - 1) / LANES;
}

static void list_for_each(const struct traversal *t, struct traversal_lists *l)
{
    const uint64_t *offsets = t->graph.offsets + l->vertex;
    l->lanes = program_first_lanes(t->graph.vertices - l->vertex);
    l->active = (uint32_t)(t->active.bits[l->vertex / 64] >> (l->vertex % 64)) & l->lanes;
    for (uint32_t rest = l->active; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        l->first[lane] = offsets[lane];
        l->end[lane] = offsets[lane + 1];
        if (l->end[lane] - l->first[lane] > l->loads)
            l->loads = l->end[lane] - l->first[lane];
    }
}

/* The lists of 32 vertices, or a vertex's, number `at`; false if there are none. The frontier is t->active. */
static bool traversal_lists(const struct traversal *t, const struct traversal_shape *shape, uint64_t at,
                            struct traversal_lists *l)
{
    l->each = shape->each;
    l->unmasked_head = shape->unmasked_head;
    l->vertex = l->each ? at * LANES : at;
    l->loads = 0;
    if (l->vertex >= t->graph.vertices)
        return false;
    if (l->each)
        list_for_each(t, l);
    else
        one_list(t, shape->round, l);
    return true;
}

static void traversal_load(const struct traversal_lists *l, uint64_t j, struct traversal_load *load)
{
    if (!l->each) {
        uint64_t at = l->from + j * LANES, below = l->first[0] > at ? l->first[0] - at : 0;
        load->reads = program_first_lanes(l->end[0] - at);
        load->list = load->reads & ~program_first_lanes(below);
        if (!l->unmasked_head)
            load->reads = load->list;
        for (unsigned lane = 0; lane < LANES; lane++)
            load->at[lane] = (int64_t)(at + lane);
        return;
    }
    load->reads = 0;
    for (uint32_t rest = l->active; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t at = l->first[lane] + j;
        load->at[lane] = (int64_t)at;
        load->reads |= (uint32_t)(at < l->end[lane]) << lane;
    }
    load->list = load->reads;
}

/* The first load after j, which is `load`, in which other lanes take part. */
static uint64_t traversal_same_until(const struct traversal_lists *l, const struct traversal_load *load, uint64_t j)
{
    if (!l->each)
        return load->list == UINT32_MAX ? (l->end[0] - l->from) / LANES : j + 1;
    uint64_t until = l->loads;
    for (uint32_t rest = load->list; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        if (l->end[lane] - l->first[lane] < until)
            until = l->end[lane] - l->first[lane];
    }
    return until;
}

/* --- bodies --- */

/* Instructions of the source between accesses. */
enum { START = 6, BRANCH = 2, ADDRESS = 2, COMPARE = 2, LOOP_END = 3 };

/* --- accesses; need() says when their values are used --- */

/* The next instruction needs all that was loaded. */
static void need(const struct emit *e)
{
    uint16_t behind = 1;
    for (uint32_t i = e->body->count; i-- > 0; behind += (uint16_t)(1 + e->body->access[i].before))
        if (e->body->access[i].kind == RECORD_READ && e->body->access[i].use == 0)
            e->body->access[i].use = behind;
}

static inline struct emit of_array(const struct emit *e, unsigned array, uint32_t active)
{
    struct emit of = emit_of(e, ((const struct traversal_program *)e->state)->bytes[array]);
    of.active = active;
    return of;
}

/* Read element v of an array, or the one so much further, v being each lane's own vertex. */
static struct program_access *of_vertex(const struct emit *e, unsigned array, const struct traversal_lists *l,
                                        unsigned further, unsigned before)
{
    struct emit of = of_array(e, array, l->active);
    struct program_access *a = emit_load(&of, array, (int64_t)l->vertex + further, before, 0);
    return l->each ? a : emit_same(a);
}

/* Read elements of the list, or what lies at the same indices. */
static struct program_access *elements(const struct emit *e, unsigned array, const struct traversal_lists *l,
                                       const struct traversal_load *load)
{
    const struct traversal_program *p = e->state;
    struct emit of = of_array(e, array, load->reads);
    int64_t first = array == p->edges ? p->first_edge : 0;
    return l->each ? emit_each(&of, array, first, load->at, 0, 0) : emit_load(&of, array, first + load->at[0], 0, 0);
}

/* Whether the vertex is active, and where its list lies. */
static int head(const struct emit *e, const struct traversal_lists *l)
{
    const struct traversal_program *p = e->state;
    if (p->visits) {
        unsigned asked = p->flags[0] == NONE ? p->values : p->flags[e->launch % 2];
        struct program_access *a = of_vertex(e, asked, l, 0, START);
        a->active = l->lanes;
        a->use = 1;
    }
    if (!l->active)
        return emit_end(e, BRANCH);
    of_vertex(e, p->offsets, l, 0, p->visits ? BRANCH + ADDRESS : START);
    of_vertex(e, p->offsets, l, 1, 0);
    if (p->visits && p->kernel->own_first)
        of_vertex(e, p->own, l, 0, ADDRESS);
    need(e);
    return emit_end(e, COMPARE);
}

/* What a visit changes: the value of `mask` lanes' vertices, and who is told. read: of the same values, if there was
 * such an access. */
static void change(const struct emit *e, uint32_t mask, const struct program_access *read, const int64_t *vertex)
{
    const struct traversal_program *p = e->state;
    const struct traversal_kernel *k = p->kernel;
    unsigned kind = k->atomic ? RECORD_ATOMIC : RECORD_WRITE, next = p->flags[(e->launch + 1) % 2];
    struct emit values = of_array(e, p->values, mask);
    if (read)
        emit_again(e, read, kind, COMPARE)->active = mask;
    else
        emit_as(emit_each(&values, p->values, 0, vertex, COMPARE, 0), kind);
    if (k->raises) {
        struct emit flags = of_array(e, next, mask);
        emit_as(emit_each(&flags, next, 0, vertex, ADDRESS, 0), RECORD_WRITE);
    }
    if (k->tells) {
        struct emit changed = of_array(e, p->changed, mask);
        emit_same(emit_store(&changed, p->changed, 0, 0));
    }
}

/* Which lanes' visits change a value; targets that are not the neighbours are put right. */
static uint32_t changing(const struct traversal_run *at, const struct traversal_lists *l,
                         const struct traversal_load *load, int64_t *vertex)
{
    uint32_t mask = 0;
    if (at->t.algorithm->kernel.always)
        return load->list;
    for (uint32_t rest = load->list; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        if (!traversal_run_changes(at, (uint64_t)load->at[lane]))
            continue;
        mask |= 1u << lane;
        if (traversal_run_changes_own(at, (uint64_t)load->at[lane]))
            vertex[lane] = (int64_t)l->vertex + (l->each ? lane : 0);
    }
    return mask;
}

/* The values of the neighbours. */
static const struct program_access *read_values(const struct emit *e, uint32_t lanes, const int64_t *vertex)
{
    unsigned values = ((const struct traversal_program *)e->state)->values;
    struct emit of = of_array(e, values, lanes);
    if (e->body->brief)
        return emit_same(emit_load(&of, values, 0, ADDRESS, 0));
    return emit_each(&of, values, 0, vertex, ADDRESS, 0);
}

/* Load j, and the visits of its elements. */
static int visit(const struct emit *e, const struct traversal_run *at, const struct traversal_lists *l, uint64_t j)
{
    const struct traversal_program *p = e->state;
    int64_t vertex[LANES]; /* of lanes that load */
    const struct program_access *read = NULL;
    struct traversal_load load;
    bool brief = e->body->brief;
    traversal_load(l, j, &load);
    if (p->kernel->own)
        of_vertex(e, p->own, l, 0, 0)->active = load.reads;
    elements(e, p->edges, l, &load);
    need(e);
    for (uint32_t rest = brief ? 0 : load.reads; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        vertex[lane] = (int64_t)graph_target(&at->t.graph, (uint64_t)load.at[lane]);
    }
    if (p->kernel->reads)
        read = read_values(e, load.reads, vertex);
    if (p->weights != NONE)
        elements(e, p->weights, l, &load);
    need(e);
    uint32_t mask = brief ? 0 : changing(at, l, &load, vertex);
    if (mask)
        change(e, mask, at->t.own ? NULL : read, vertex);
    return emit_end(e, LOOP_END);
}

/* --- loads by the same lanes as turns of a body: those of a sweep in fours, and in brief those of visits --- */

/* How many loads from j on, which is `load`, touch as many lines each. */
static uint64_t as_many_lines(const struct traversal_program *p, const struct traversal_lists *l,
                              const struct traversal_load *load, uint64_t j)
{
    const uint64_t least = p->weights == NONE ? p->bytes[p->edges] : p->bytes[p->weights];
    int64_t before = INT64_MIN / 2;
    for (uint32_t rest = l->each ? load->reads : 0; rest; rest &= rest - 1) {
        const int64_t at = load->at[__builtin_ctz(rest)];
        if (at < before + (int64_t)(LINE / least)) /* lanes share lines, here and there */
            return 1;
        before = at;
    }
    return traversal_same_until(l, load, j) - j;
}

/* Part `index` of a warp's loads begins with load r->part_j: so many turns of `unroll` loads; 0: there is none. */
static uint64_t go_to_part(struct traversal_warps *r, const struct traversal_program *p, uint32_t index,
                           uint64_t unroll)
{
    const struct traversal_lists *l = &r->lists;
    struct traversal_load load;
    bool on = r->part <= index;
    uint64_t j = on ? r->part_j : 0, turns = 0;
    for (uint32_t i = on ? r->part : 0; i <= index; i++) {
        j += turns * unroll;
        r->part = i;
        r->part_j = j;
        if (j >= l->loads)
            return 0;
        traversal_load(l, j, &load);
        turns = (p->visits ? as_many_lines(p, l, &load, j) : traversal_same_until(l, &load, j) - j) / unroll;
        turns += turns == 0;
    }
    return turns;
}

static int sweep(const struct emit *e, struct traversal_warps *r, uint32_t index)
{
    const struct traversal_program *p = e->state;
    const struct traversal_lists *l = &r->lists;
    struct traversal_load load;
    const uint64_t turns = go_to_part(r, p, index, UNROLL);
    if (!turns)
        return 0;
    for (uint64_t k = r->part_j; k < r->part_j + UNROLL && k < l->loads; k++) {
        traversal_load(l, k, &load);
        elements(e, p->edges, l, &load);
    }
    need(e);
    emit_turns(e, turns, (int64_t)UNROLL * (l->each ? 1 : LANES));
    return emit_end(e, UNROLL + LOOP_END);
}

static int visits_in_brief(const struct emit *e, struct traversal_warps *r, uint32_t index)
{
    const uint64_t turns = go_to_part(r, e->state, index, 1);
    if (!turns)
        return 0;
    const int rc = visit(e, &r->at, &r->lists, r->part_j);
    emit_turns(e, turns, r->lists.each ? 1 : LANES);
    e->body->last = r->part_j + turns == r->lists.loads;
    return rc;
}

/* --- the kernel --- */

/* What the first visits of a warp will look at; the lists of a graph do not stay in the cache. */
static void look_ahead(const struct traversal_run *at, const struct traversal_lists *l)
{
    const struct graph *g = &at->t.graph;
    for (uint32_t rest = l->active; rest && l->loads; rest = l->each ? rest & (rest - 1) : 0) {
        uint64_t first = l->first[l->each ? (unsigned)__builtin_ctz(rest) : 0];
        const char *target = (const char *)&g->targets[first];
        __builtin_prefetch(target);
        __builtin_prefetch(target + 64);
        if (at->t.changes)
            __builtin_prefetch(&at->t.changes[first / 64]);
    }
}

/* Lists number `at` are the warp's from here on; their head is body `begun`. */
static void take_lists(struct traversal_warps *r, const struct emit *e, uint64_t at, uint32_t begun)
{
    const struct traversal_program *p = e->state;
    r->begun = begun;
    r->part = 0;
    r->part_j = 0;
    r->known = traversal_lists(&r->at.t, &p->shape, at, &r->lists);
    if (r->known && p->visits && e->index < begun + 2 && !e->body->brief)
        look_ahead(&r->at, &r->lists);
}

/* Of lists that are visited: how many bodies they are. */
static uint32_t bodies(const struct traversal_program *p, const struct traversal_lists *l)
{
    return 1 + (l->active ? (uint32_t)l->loads + p->kernel->clears : 0);
}

/* Whether the warp has a vertex behind the one in r->lists. */
static bool more_lists(const struct traversal_program *p, const struct traversal_warps *r)
{
    const struct traversal_lists *l = &r->lists;
    return !l->each && (l->vertex + 1) % p->shape.chunk && l->vertex + 1 < r->at.t.graph.vertices;
}

static bool there(const struct traversal_warps *r, const struct emit *e)
{
    return r->known && r->warp == e->at.thread / LANES && r->at.running && r->at.launch == e->launch;
}

/* The lists of body e->index of the warp at e->at into r->lists, 1; 0: it has no vertex; -1 with *e->err set. */
static int go_to_lists(struct traversal_warps *r, const struct emit *e)
{
    const struct traversal_program *p = e->state;
    if (!there(r, e) || e->index < r->begun) {
        if (!(r->at.running && r->at.launch == e->launch) && traversal_run_seek(&r->at, e->launch, e->err))
            return -1;
        r->warp = e->at.thread / LANES;
        take_lists(r, e, r->warp * p->shape.chunk, 0);
    }
    while (r->known && p->visits && e->index >= r->begun + bodies(p, &r->lists) && more_lists(p, r))
        take_lists(r, e, r->lists.vertex + 1, r->begun + bodies(p, &r->lists));
    return r->known;
}

/* Of each list: body 0 is the head; then one for each load and its visits, and one that clears the flag; of a sweep,
 * one for loads in fours that the same lanes make. */
static int traversal_warp(struct emit *e)
{
    const struct traversal_program *p = e->state;
    struct traversal_warps *r = e->run;
    const struct traversal_lists *l = &r->lists;
    int rc = go_to_lists(r, e);
    if (rc <= 0)
        return rc < 0 ? -1 : emit_idle(e, START);
    uint32_t index = e->index - r->begun;
    e->body->last = p->visits && index + 1 == bodies(p, l) && !more_lists(p, r);
    if (index == 0)
        return head(e, l);
    if (!p->visits)
        return sweep(e, r, index - 1);
    if (e->body->brief && p->shape.chunk == 1)
        return visits_in_brief(e, r, index - 1);
    if (index <= l->loads)
        return visit(e, &r->at, l, index - 1);
    if (index >= bodies(p, l))
        return 0;
    emit_as(of_vertex(e, p->flags[0], l, 0, 0), RECORD_WRITE);
    return 1;
}

/* --- memory --- */

/* The next array, of n elements in GPU memory. */
static uint8_t add(struct traversal_program *p, const char *name, uint64_t n, uint32_t bytes, bool host)
{
    unsigned at = p->layout.arrays;
    struct program_alloc *a = layout_array(&p->layout, name, n * bytes);
    a->host = host;
    a->device = true;
    p->bytes[at] = (uint8_t)bytes;
    return (uint8_t)at;
}

/* The structures that are scanned lie where the scans say, behind so many elements. */
static uint8_t add_structure(struct traversal_program *p, const struct scan_structure *s, uint64_t behind)
{
    uint8_t at = add(p, s->name, behind + s->elements, s->element, true);
    p->layout.array[at].addr = s->base - behind * s->element;
    p->layout.array[at].device = false;
    p->layout.array[at].advice =
        ACTOR_READ_MOSTLY; /* EMOGI 382dbcc, bfs.cu and its like (UVM_READONLY); fixtures/cuda/bfs.cu */
    return at;
}

static void lay_out(struct traversal_program *p, const struct scan_setup *s)
{
    const struct traversal_kernel *k = p->kernel;
    uint64_t vertices = p->t->graph.vertices;
    p->weights = p->own = p->flags[0] = p->flags[1] = p->values = p->changed = NONE;
    p->first_edge = p->t->params->base_offset / s->structures[0].element;
    p->edges = add_structure(p, &s->structures[0], (uint64_t)p->first_edge);
    if (s->structure_count > 1)
        p->weights = add_structure(p, &s->structures[1], 0);
    unsigned device = p->layout.arrays;
    p->offsets = add(p, "offsets", vertices + 1, 8, true);
    if (p->visits) {
        p->values = p->own = add(p, k->values, vertices, k->value_bytes, k->values_written);
        if (k->own && strcmp(k->own, k->values) != 0)
            p->own = add(p, k->own, vertices, k->value_bytes, false);
        if (k->flags)
            p->flags[0] = p->flags[1] = add(p, "active", vertices, 1, false);
        if (k->raises)
            p->flags[1] = add(p, "next", vertices, 1, false);
        if (k->tells)
            p->changed = add(p, "changed", 1, 4, true);
    }
    program_place(p->layout.array + device, p->layout.arrays - device, 0, 0);
}

/* --- runs --- */

static void run_close(void *run)
{
    struct traversal_warps *r = run;
    traversal_run_close(&r->at);
    free(r);
}

static void *run_open(const void *state, struct err *err)
{
    const struct traversal_program *p = state;
    struct traversal_warps *r = mem_zalloc(1, sizeof *r, err);
    if (!r || traversal_run_open(&r->at, p->t, p->t->launches, p->visits, err) == 0)
        return r;
    run_close(r);
    return NULL;
}

/* --- the program --- */

static const char *const ways[TRAVERSAL_WAYS] = {"naive", "merged", "aligned"};

/* The launches, kept where they take no more memory than the graph's targets. */
static int find_launches(struct traversal *t, bool visits, struct err *err)
{
    t->launches = mem_zalloc(1, sizeof *t->launches, err);
    if (!t->launches)
        return -1;
    if (traversal_launches_open(t->launches, t, visits, t->graph.elements * sizeof(uint32_t), err) == 0)
        return 0;
    traversal_launches_close(t->launches);
    free(t->launches);
    t->launches = NULL;
    return -1;
}

static uint32_t like(const void *state, uint32_t launch)
{
    const struct traversal_launches *l = ((const struct traversal_program *)state)->t->launches;
    return l->of ? l->of[launch].like : launch;
}

static struct traversal_program *make_program(struct traversal *t, enum traversal_way way, struct err *err)
{
    struct scan_setup s;
    traversal_ops.setup(t, &s);
    if (s.threads_per_block % LANES) {
        (void)err_set(err, "threads_per_block is %lld; expected a multiple of %d", (long long)s.threads_per_block,
                      LANES);
        return NULL;
    }
    if (!s.visits && t->params->chunk > 1) {
        (void)err_set(err, "chunk is %lld; a sweep has a warp for each vertex: leave chunk out, or iterations=1",
                      (long long)t->params->chunk);
        return NULL;
    }
    if (!t->launches && find_launches(t, s.visits, err))
        return NULL;
    struct traversal_program *p = mem_zalloc(1, sizeof *p, err);
    if (!p)
        return NULL;
    layout_init(&p->layout, t->params->compute_ns);
    uint32_t element = s.structures[0].element, threads = (uint32_t)s.threads_per_block;
    p->t = t;
    p->kernel = &t->algorithm->kernel;
    p->visits = s.visits;
    p->shape = (struct traversal_shape){.each = way == TRAVERSAL_NAIVE,
                                        .round = way == TRAVERSAL_ALIGNED ? LINE / element : 1,
                                        .unmasked_head = s.unmasked_head,
                                        .chunk = way == TRAVERSAL_NAIVE ? 1 : (uint64_t)t->params->chunk};
    (void)snprintf(p->name, sizeof p->name, "%s_%s", s.visits ? p->kernel->name : "sweep", ways[way]);
    lay_out(p, &s);
    const uint64_t lists = (t->graph.vertices + p->shape.chunk - 1) / p->shape.chunk;
    layout_kernel(&p->layout, traversal_warp, p->name, layout_blocks(lists * (p->shape.each ? 1 : LANES), threads),
                  threads, 0, 0);
    p->layout.kernel[0].launch.waited = true; /* whether another follows is read of it */
    p->layout.run_open = run_open;
    p->layout.run_close = run_close;
    p->layout.like = like;
    p->layout.launches = (uint32_t)t->launches->starts[t->root_count];
    return p;
}

static int program_of(struct traversal *t, enum traversal_way way, struct program *program, struct err *err)
{
    if (!t->programs[way] && !(t->programs[way] = make_program(t, way, err)))
        return -1;
    return layout_program(t->programs[way], program, err);
}

int traversal_program(void *state, struct program *program, struct err *err)
{
    struct traversal *t = state;
    return program_of(t, (enum traversal_way)t->params->kernel, program, err);
}

int traversal_program_as(void *state, const char *kernel, struct program *program, struct err *err)
{
    for (int i = 0; i < TRAVERSAL_WAYS; i++)
        if (strcmp(ways[i], kernel) == 0)
            return program_of(state, (enum traversal_way)i, program, err) ? -1 : 1;
    return 0;
}

void traversal_program_free(struct traversal *t)
{
    for (int i = 0; i < TRAVERSAL_WAYS; i++)
        free(t->programs[i]);
    if (t->launches)
        traversal_launches_close(t->launches);
    free(t->launches);
}
