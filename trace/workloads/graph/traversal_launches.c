
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/workloads/graph/traversal_run.h"

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
        if (mem_grow((void **)&to->change, &cap, to->changes + 1, sizeof *to->change, err))
            return -1;
        to->change[to->changes++] = (struct traversal_change){w, t->changes[w], t->own ? t->own[w] : 0};
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
        if ((round < rounds || t->changes) && traversal_run_advance(run, err))
            return -1;
        if (l->of && keep(l, t, err))
            return -1;
        if (l->of && l->bytes > most) {
            drop(l);
            traversal_run_forget(run);
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
