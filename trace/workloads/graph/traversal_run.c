#include "trace/workloads/graph/traversal_run.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

static size_t element_words(const struct traversal *t)
{
    return (size_t)(t->graph.elements / 64 + 1);
}

int traversal_run_open(struct traversal_run *run, const struct traversal *from, const uint64_t *starts, bool changes,
                       struct err *err)
{
    bool own = changes && from->algorithm->changes_own;
    changes = changes && !from->algorithm->kernel.always;
    memset(run, 0, sizeof *run);
    run->starts = starts;
    struct traversal *t = &run->t;
    t->algorithm = from->algorithm;
    t->params = from->params;
    t->graph = from->graph;
    t->roots = from->roots;
    t->root_count = from->root_count;
    bool sets = frontier_init(&t->active, from->graph.vertices, err) == 0 &&
                frontier_init(&t->next, from->graph.vertices, err) == 0;
    t->values = t->algorithm->values_new(t, err);
    t->changes = changes ? mem_zalloc(element_words(t), sizeof *t->changes, err) : NULL;
    t->own = own ? mem_zalloc(element_words(t), sizeof *t->own, err) : NULL;
    bool whole = sets && t->values && (t->changes || !changes) && (t->own || !own);
    return whole ? 0 : -1;
}

void traversal_run_close(struct traversal_run *run)
{
    free(run->t.active.bits);
    free(run->t.next.bits);
    free(run->t.values);
    free(run->t.changes);
    free(run->t.own);
    memset(run, 0, sizeof *run);
}

int traversal_run_starts(const struct traversal *from, uint64_t *starts, struct err *err)
{
    struct traversal_run run;
    struct traversal *t = &run.t;
    int rc = traversal_run_open(&run, from, NULL, false, err);
    int64_t most = from->params->iterations ? from->params->iterations : INT64_MAX;
    uint64_t launches = 0;
    for (; t->root_at < from->root_count && !rc; t->root_at++) {
        starts[t->root_at] = launches;
        traversal_begin(t);
        for (int64_t round = 1; launches++, round < most && !rc; round++) {
            rc = t->algorithm->advance(t, err);
            traversal_swap(t);
            if (t->active.count == 0)
                break;
        }
    }
    starts[from->root_count] = launches;
    traversal_run_close(&run);
    if (!rc && launches > UINT32_MAX)
        return err_set(err, "the traversal has %llu launches; expected fewer than 2^32", (unsigned long long)launches);
    return rc;
}

int traversal_run_seek(struct traversal_run *run, uint32_t launch, struct err *err)
{
    struct traversal *t = &run->t;
    while (!run->running || run->launch != launch) {
        if (run->running && launch > run->launch && launch < run->starts[t->root_at + 1]) {
            run->launch++;
            traversal_swap(t);
        } else {
            for (t->root_at = 0; run->starts[t->root_at + 1] <= launch;)
                t->root_at++;
            run->launch = (uint32_t)run->starts[t->root_at];
            traversal_begin(t);
        }
        run->running = true;
        if (t->changes)
            memset(t->changes, 0, element_words(t) * sizeof *t->changes);
        if (t->own)
            memset(t->own, 0, element_words(t) * sizeof *t->own);
        bool last = run->launch + 1 == run->starts[t->root_at + 1];
        if ((!last || t->changes) && t->algorithm->advance(t, err)) {
            run->running = false;
            return -1;
        }
    }
    return 0;
}
