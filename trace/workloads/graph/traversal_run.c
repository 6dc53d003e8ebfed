#include "trace/workloads/graph/traversal_run.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

static size_t element_words(const struct traversal *t)
{
    return (size_t)(t->graph.elements / 64 + 1);
}

static bool kept(const struct traversal_run *run)
{
    return run->launches && run->launches->of;
}

/* What a run needs that works its launches out. */
static int own_state(struct traversal *t, struct err *err)
{
    if (frontier_init(&t->active, t->graph.vertices, err) || frontier_init(&t->next, t->graph.vertices, err))
        return -1;
    t->values = t->algorithm->values_new(t, err);
    return t->values ? 0 : -1;
}

int traversal_run_open(struct traversal_run *run, const struct traversal *from,
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
    if (!kept(run) && own_state(t, err))
        return -1;
    t->changes = changes ? mem_zalloc(element_words(t), sizeof *t->changes, err) : NULL;
    t->own = own ? mem_zalloc(element_words(t), sizeof *t->own, err) : NULL;
    return (t->changes || !changes) && (t->own || !own) ? 0 : -1;
}

void traversal_run_close(struct traversal_run *run)
{
    if (!kept(run))
        free(run->t.active.bits);
    free(run->t.next.bits);
    free(run->t.values);
    traversal_run_forget(run);
    memset(run, 0, sizeof *run);
}

void traversal_run_forget(struct traversal_run *run)
{
    free(run->t.changes);
    free(run->t.own);
    run->t.changes = run->t.own = NULL;
}

int traversal_run_advance(struct traversal_run *run, struct err *err)
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
    const struct traversal_launch *from = &run->launches->of[run->launch], *to = &run->launches->of[launch];
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
    run->running = (last && !t->changes) || traversal_run_advance(run, err) == 0;
    return run->running ? 0 : -1;
}

int traversal_run_seek(struct traversal_run *run, uint32_t launch, struct err *err)
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
