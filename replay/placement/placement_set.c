#include "replay/placement/placement_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

int placement_set_init(struct placement_set *set, size_t count, struct err *err)
{
    memset(set, 0, sizeof *set);
    set->overheads = mem_zalloc(count, sizeof *set->overheads, err);
    set->tasks = mem_zalloc(count, sizeof *set->tasks, err);
    set->choice = mem_zalloc(count, sizeof *set->choice, err);
    return set->overheads && set->tasks && set->choice ? 0 : -1;
}

void placement_set_release(struct placement_set *set)
{
    schedule_release(&set->schedule);
    free(set->overheads);
    free(set->tasks);
    free(set->choice);
}

/* Guideline 2 over the set: take conversions back, smallest margin first. A set that guideline 1 leaves without any
 * device kernel stays as it is. */
static void apply_guideline_2(struct placement_set *set, const struct placement_tasks *tasks, bool high)
{
    for (;;) {
        double device = 0, other = 0, least = INFINITY;
        size_t weakest = tasks->count;
        for (size_t i = 0; i < tasks->count; i++) {
            const struct placement_task *t = &tasks->tasks[i];
            double kernels = (double)(high ? t->hi.kernels : t->lo.kernels);
            *(set->choice[i] == PLACEMENT_DEVICE ? &device : &other) += kernels;
            double margin = set->choice[i] == PLACEMENT_MANAGED ? set->overheads[i].margin_managed
                                                                : set->overheads[i].margin_pinned;
            if (set->choice[i] != PLACEMENT_DEVICE && margin < least) {
                least = margin;
                weakest = i;
            }
        }
        if (device == 0 || guideline_2(other, device) || weakest == tasks->count)
            return;
        set->choice[weakest] = PLACEMENT_DEVICE;
    }
}

static struct schedule_task scheduled(const struct placement_keys *keys, const struct placement_overheads *o,
                                      const struct placement_platform *hw, enum placement placement)
{
    struct schedule_task t = {.placement = placement,
                              .kernels = (double)keys->kernels,
                              .exec_ms = keys->compute_ms,
                              .cpu_ms = keys->cpu_ms,
                              .arrival_ms = keys->arrival_ms,
                              .bytes = placement_task_bytes(keys, placement)};
    if (placement == PLACEMENT_DEVICE) {
        t.copy_out_ms = (hw->l_dh + hw->l_ini) * (double)keys->bytes_dh;
        t.copy_in_ms = o->ms[PLACEMENT_DEVICE] - t.copy_out_ms;
    } else if (placement == PLACEMENT_MANAGED) {
        t.idle_ms = o->idle_ms;
        t.flush_ms = o->ms[PLACEMENT_MANAGED] - o->idle_ms;
    } else {
        t.idle_ms = o->pinned_idle_ms;
        t.exec_ms += o->cache_ms;
    }
    return t;
}

int placement_set_run(struct placement_set *set, const struct placement_tasks *tasks, bool high,
                      const struct placement_policy *policy, const void *state, const struct placement_platform *hw,
                      enum placement_penalty rule, bool corun, struct err *err)
{
    for (size_t i = 0; i < tasks->count; i++) {
        const struct placement_task *t = &tasks->tasks[i];
        struct placement_inputs in;
        placement_task_inputs(high ? &t->hi : &t->lo, &in);
        placement_overheads(&in, hw, rule, &set->overheads[i]);
        if (t->no_l2) /* pinned memory cannot be judged */
            set->overheads[i].margin_pinned = -INFINITY;
        set->choice[i] = policy->choose(state, &set->overheads[i]);
    }
    if (policy->yields && corun)
        apply_guideline_2(set, tasks, high);
    set->overhead_ms = 0;
    for (size_t i = 0; i < tasks->count; i++) {
        const struct placement_keys *keys = high ? &tasks->tasks[i].hi : &tasks->tasks[i].lo;
        set->tasks[i] = scheduled(keys, &set->overheads[i], hw, set->choice[i]);
        set->overhead_ms += set->overheads[i].ms[set->choice[i]];
    }
    if (schedule_run(&set->schedule, set->tasks, tasks->count, corun, err))
        return -1;
    /* Conservation: time is the sum of the tasks less what was overlapped, unless arrivals left gaps. */
    double sum = 0;
    set->overlap_ms = 0;
    for (size_t i = 0; i < tasks->count; i++) {
        sum += schedule_alone_ms(&set->tasks[i]);
        set->overlap_ms += set->schedule.slots[i].overlap_ms / 2;
    }
    if (set->schedule.end_ms < (sum - set->overlap_ms) * (1 - 1e-9))
        return err_set(err, "check failed: the schedule ends at %.9g ms, before its tasks' %.9g ms of work",
                       set->schedule.end_ms, sum - set->overlap_ms);
    return 0;
}
