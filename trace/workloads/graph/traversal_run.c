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

void traversal_run_close(struct traversal_run *run)
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
    run->running = (last && !t->changes) || advance(run, err) == 0;
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

void traversal_launches_close(struct traversal_launches *l)
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

/* The launch that t stands at. */
static int keep(struct traversal_launches *l, const struct traversal *t, struct err *err)
{
    const size_t words = t->graph.vertices / 64 + 1;
    if (mem_grow((void **)&l->of, &l->cap, l->kept + 1, sizeof *l->of, err))
        return -1;
    struct traversal_launch *to = &l->of[l->kept++];
    *to = (struct traversal_launch){.active = mem_zalloc(words, sizeof *to->active, err), .count = t->active.count};
    if (!to->active)
        return -1;
    memcpy(to->active, t->active.bits, words * sizeof *to->active);
    l->bytes += sizeof *to + words * sizeof *to->active;
    return keep_changes(l, to, t, err);
}

/* The launches of a root. */
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

int traversal_launches_open(struct traversal_launches *l, const struct traversal *from, bool changes, uint64_t most,
                            struct err *err)
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
