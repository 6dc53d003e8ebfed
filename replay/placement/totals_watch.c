/* totals_watch: the totals of a program (program_totals.h), counted while somebody else takes its steps.
 *
 * The page view of the program with all steps as they are; what goes by is counted, so that its bodies are made once
 * for both. The totals are those of program_totals_init(), to the bit, if each actor of each launch that no other is
 * like took all its steps, once and in order, and every run was through with a launch before any began the next. */
#include "replay/placement/program_totals.h"

#include <pthread.h>
#include <stdlib.h>

#include "replay/placement/program_counting.h"
#include "trace/base/mem.h"

enum { NONE = 0xFFFFFFFF };

struct totals_watch {
    const struct program_pages *pages;
    struct launch_weights *weights; /* NULL: nobody asks for them */
    struct program_totals totals;
    pthread_mutex_t lock; /* of what follows, between launches */
    struct counting counting;
    uint32_t launch; /* that is counted; NONE: none */
    uint32_t warps_of_block;
    double *ns; /* of each of its warps */
};

/* One run, and what it has counted of its launch. */
struct run {
    struct totals_watch *watch;
    void *pages;
    uint32_t launch; /* NONE: none */
    struct launch_totals counts;
    struct launch_tally *tally;           /* NULL: nobody asks for it */
    uint64_t modified_of[PROGRAM_ALLOCS]; /* counts.modified_of */
    double ns, turn;                      /* of the actor so far; of the first turn of its body */
    double turns;                         /* of that body */
};

/* --- launches --- */

/* All warps of the launch are through. In their order, as sums of doubles depend on it. */
static void end_launch(struct totals_watch *w)
{
    double longest = 0, all = 0;
    if (w->launch == NONE)
        return;
    for (uint64_t i = 0; i < w->counting.warps; i++) {
        longest = w->ns[i] > longest ? w->ns[i] : longest;
        all += w->ns[i];
    }
    counting_end(&w->counting, longest, all, &w->totals.launch[w->launch]);
    w->launch = NONE;
}

static int begin_launch(struct totals_watch *w, uint32_t launch, struct err *err)
{
    end_launch(w);
    if (counting_begin(&w->counting, launch, &w->totals.launch[launch], err))
        return -1;
    free(w->ns);
    w->ns = mem_zalloc(w->counting.warps, sizeof *w->ns, err);
    w->launch = w->ns ? launch : NONE;
    struct actor_launch shape;
    program_pages_ops.launch(w->pages, launch, &shape);
    w->warps_of_block = shape.together;
    return w->ns ? 0 : -1;
}

/* What the run has counted goes to the launch's. */
static void hand_in(struct run *r)
{
    const struct launch_totals *c = &r->counts;
    if (r->launch == NONE)
        return;
    struct launch_totals *t = &r->watch->totals.launch[r->launch];
    t->touched_bytes += c->touched_bytes;
    t->modified_bytes += c->modified_bytes;
    t->touched |= c->touched;
    t->modified |= c->modified;
    t->loaded |= c->loaded;
    t->accesses += c->accesses;
    t->instructions += c->instructions;
    t->loads += c->loads;
    t->waits += c->waits;
    program_totals_modified(&r->watch->totals, r->launch, r->modified_of);
    if (r->tally)
        launch_weights_add(r->watch->weights, r->launch, r->tally);
}

static int go_to(struct run *r, uint32_t launch, struct err *err)
{
    struct totals_watch *w = r->watch;
    (void)pthread_mutex_lock(&w->lock);
    hand_in(r);
    int rc = w->launch == launch ? 0 : begin_launch(w, launch, err);
    r->launch = rc ? NONE : launch;
    r->counts = (struct launch_totals){.cpu = w->totals.launch[launch].cpu, .modified_of = r->modified_of};
    if (r->tally)
        launch_tally_begin(r->tally, w->warps_of_block);
    (void)pthread_mutex_unlock(&w->lock);
    return rc;
}

/* --- steps --- */

/* The actor comes to a new body. 1; 0: it has none; -1. */
static int begin_body(struct run *r, uint32_t actor, uint32_t index, struct err *err)
{
    const struct program_body *body;
    r->ns = index ? r->ns + r->turn * r->turns : 0;
    r->turn = 0;
    int rc = program_pages_body(r->pages, r->launch, actor, index, &body, err);
    if (rc == 1) {
        counting_body(&r->watch->counting, body, &r->counts);
        r->turns = (double)body->turns;
        if (r->tally)
            launch_tally_body(r->tally, actor, body);
    }
    return rc;
}

static int step(void *run, uint32_t launch, uint32_t actor, struct actor_at *at, struct actor_step *step,
                struct err *err)
{
    struct run *r = run;
    struct totals_watch *w = r->watch;
    if (r->launch != launch && go_to(r, launch, err))
        return -1;
    const bool first = at->turn == 0;
    int rc = first && at->access == 0 ? begin_body(r, actor, at->body, err) : 1;
    if (rc == 1)
        rc = program_pages_ops.step(r->pages, launch, actor, at, step, err);
    if (rc == 1 && first && !r->counts.cpu)
        r->turn += counting_step_ns(step, &w->counting.issue);
    if (rc == 0)
        w->ns[actor] = r->ns;
    if (rc == 0 && r->tally)
        launch_tally_end(r->tally, actor);
    return rc;
}

/* --- runs --- */

static void *run_open(const void *state, struct err *err)
{
    struct totals_watch *w = (struct totals_watch *)state;
    struct run *r = mem_zalloc(1, sizeof *r, err);
    if (!r)
        return NULL;
    r->watch = w;
    r->launch = NONE;
    r->tally = w->weights ? launch_weights_tally(w->weights, err) : NULL;
    r->pages = w->weights && !r->tally ? NULL : program_pages_ops.run_open(w->pages, err);
    if (r->pages)
        return r;
    launch_tally_free(r->tally);
    free(r);
    return NULL;
}

static void run_close(void *run)
{
    struct run *r = run;
    (void)pthread_mutex_lock(&r->watch->lock);
    hand_in(r);
    (void)pthread_mutex_unlock(&r->watch->lock);
    program_pages_ops.run_close(r->pages);
    launch_tally_free(r->tally);
    free(r);
}

/* --- as actors --- */

static const struct actor_alloc *allocs(const void *state, size_t *n)
{
    return program_pages_ops.allocs(((const struct totals_watch *)state)->pages, n);
}

static uint32_t launches(const void *state)
{
    return program_pages_ops.launches(((const struct totals_watch *)state)->pages);
}

static void launch_of(const void *state, uint32_t launch, struct actor_launch *out)
{
    program_pages_ops.launch(((const struct totals_watch *)state)->pages, launch, out);
}

static uint32_t like(const void *state, uint32_t launch)
{
    return program_pages_ops.like(((const struct totals_watch *)state)->pages, launch);
}

const struct actor_ops totals_watch_ops = {.allocs = allocs,
                                           .launches = launches,
                                           .launch = launch_of,
                                           .step = step,
                                           .run_open = run_open,
                                           .run_close = run_close,
                                           .like = like};

struct totals_watch *totals_watch_open(const struct program_pages *pages, const struct gpu *gpu,
                                       struct launch_weights *weights, struct err *err)
{
    struct totals_watch *w = mem_zalloc(1, sizeof *w, err);
    if (!w)
        return NULL;
    w->pages = pages;
    w->weights = weights;
    w->launch = NONE;
    (void)pthread_mutex_init(&w->lock, NULL);
    if (program_totals_open(&w->totals, pages->program, err) == 0 && counting_open(&w->counting, pages, gpu, err) == 0)
        return w;
    totals_watch_close(w);
    return NULL;
}

void totals_watch_end(struct totals_watch *w, struct program_totals *totals)
{
    end_launch(w);
    program_totals_finish(&w->totals, w->pages->program);
    *totals = w->totals;
    w->totals = (struct program_totals){0};
}

void totals_watch_close(struct totals_watch *w)
{
    if (!w)
        return;
    program_totals_release(&w->totals);
    counting_close(&w->counting);
    (void)pthread_mutex_destroy(&w->lock);
    free(w->ns);
    free(w);
}
