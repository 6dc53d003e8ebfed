#include "replay/placement/placement_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/placement/placement_schedule.h"
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

struct conversion {
    double margin, kernels;
    size_t task;
};

static int by_margin(const void *a, const void *b)
{
    const struct conversion *x = a, *y = b;
    if (x->margin != y->margin)
        return x->margin < y->margin ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

/* Guideline 2 over the set: take conversions back, smallest margin first. A set that guideline 1 leaves without any
 * device kernel stays as it is. */
static int apply_guideline_2(struct placement_set *set, const struct placement_tasks *tasks, bool high, struct err *err)
{
    struct conversion *list = mem_zalloc(tasks->count, sizeof *list, err);
    double device = 0, other = 0;
    size_t n = 0;
    if (!list)
        return -1;
    for (size_t i = 0; i < tasks->count; i++) {
        const struct placement_task *t = &tasks->tasks[i];
        double kernels = (double)(high ? t->hi.kernels : t->lo.kernels);
        bool managed = set->choice[i] == PLACEMENT_MANAGED;
        *(set->choice[i] == PLACEMENT_DEVICE ? &device : &other) += kernels;
        if (set->choice[i] != PLACEMENT_DEVICE)
            list[n++] = (struct conversion){
                managed ? set->overheads[i].margin_managed : set->overheads[i].margin_pinned, kernels, i};
    }
    qsort(list, n, sizeof *list, by_margin);
    for (size_t i = 0; i < n && device > 0 && !guideline_2(other, device); i++) {
        set->choice[list[i].task] = PLACEMENT_DEVICE;
        device += list[i].kernels;
        other -= list[i].kernels;
    }
    free(list);
    return 0;
}

static struct schedule_task scheduled(const struct placement_keys *keys, const struct placement_overheads *o,
                                      const struct placement_platform *hw, enum placement placement)
{
    struct schedule_task t = {.placement = placement,
                              .kernels = (double)keys->kernels,
                              .mappings = (double)keys->dirty_kernels,
                              .exec_ms = keys->compute_ms,
                              .cpu_ms = keys->cpu_ms,
                              .arrival_ms = keys->arrival_ms,
                              .bytes = placement_task_bytes(keys, placement)};
    if (placement == PLACEMENT_DEVICE) {
        t.copy_out_ms = (hw->l_dh + hw->l_ini) * (double)keys->bytes_dh;
        t.copy_in_ms = o->ms[PLACEMENT_DEVICE] - t.copy_out_ms;
    } else if (placement == PLACEMENT_MANAGED) {
        t.idle_ms = o->idle_ms;
        t.launch_ms = keys->managed_ms >= 0 ? 0 : (double)keys->dirty_kernels * hw->c_cpu;
        t.flush_ms = o->ms[PLACEMENT_MANAGED] - o->idle_ms - t.launch_ms;
        if (keys->spared_ms > 0) { /* no flush, but kernels that take less */
            t.exec_ms = fmax(0, t.exec_ms + t.flush_ms);
            t.flush_ms = 0;
        }
    } else {
        t.idle_ms = o->pinned_idle_ms;
        t.exec_ms += o->cache_ms;
    }
    return t;
}

/* The schedule, and where tasks may be re-assigned the better of it with and without. */
static int run_schedule(struct placement_set *set, const struct placement_tasks *tasks, bool high,
                        const struct placement_platform *hw, bool corun, bool reassign, struct err *err)
{
    size_t count = tasks->count;
    if (schedule_run(&set->schedule, set->tasks, count, corun, NULL, err))
        return -1;
    if (!reassign || !corun)
        return 0;
    struct schedule_task *forms = mem_zalloc(3 * count, sizeof *forms, err);
    struct schedule moved = {0};
    int rc = forms ? 0 : -1;
    for (size_t i = 0; i < count && !rc; i++) {
        const struct placement_keys *keys = high ? &tasks->tasks[i].hi : &tasks->tasks[i].lo;
        forms[2 * i] = scheduled(keys, &set->overheads[i], hw, PLACEMENT_DEVICE);
        forms[2 * i + 1] = scheduled(keys, &set->overheads[i], hw, PLACEMENT_MANAGED);
        forms[2 * count + i] = set->tasks[i];
    }
    rc = rc || schedule_run(&moved, forms + 2 * count, count, corun, forms, err) ? -1 : 0;
    if (!rc && moved.end_ms < set->schedule.end_ms) {
        struct schedule other = set->schedule;
        set->schedule = moved;
        moved = other;
        for (size_t i = 0; i < count; i++) {
            set->tasks[i] = forms[2 * count + i];
            set->choice[i] = set->tasks[i].placement;
        }
    }
    schedule_release(&moved);
    free(forms);
    return rc;
}

static int find_bound(struct placement_set *set, const struct placement_tasks *tasks, bool high,
                      const struct placement_platform *hw, struct err *err)
{
    struct schedule_task *forms = mem_zalloc(PLACEMENTS * tasks->count, sizeof *forms, err);
    if (!forms)
        return -1;
    for (size_t i = 0; i < tasks->count; i++) {
        const struct placement_task *t = &tasks->tasks[i];
        for (int p = 0; p < PLACEMENTS; p++)
            if (p != PLACEMENT_PINNED || !t->no_l2)
                forms[PLACEMENTS * i + (size_t)p] =
                    scheduled(high ? &t->hi : &t->lo, &set->overheads[i], hw, (enum placement)p);
    }
    set->bound_ms = schedule_bound_ms(forms, tasks->count);
    free(forms);
    return 0;
}

static int choose(struct placement_set *set, const struct placement_tasks *tasks, bool high,
                  const struct placement_policy *policy, const void *state, const struct placement_platform *hw,
                  struct placement_misses misses, struct err *err)
{
    for (size_t i = 0; i < tasks->count; i++) {
        const struct placement_task *t = &tasks->tasks[i];
        struct placement_inputs in;
        placement_task_inputs(high ? &t->hi : &t->lo, &in);
        placement_overheads(&in, hw, misses, &set->overheads[i]);
        if (t->no_l2) /* pinned memory cannot be judged */
            set->overheads[i].margin_pinned = -INFINITY;
        set->choice[i] = policy->choose(state, &set->overheads[i]);
        if ((unsigned)set->choice[i] >= PLACEMENTS)
            return err_set(err, "check violated: policy %s chooses placement %d, which there is not", policy->head.name,
                           (int)set->choice[i]);
        if (policy->follows_source)
            set->choice[i] = placement_task_source(&t->lo, set->choice[i]);
    }
    return 0;
}

int placement_set_run(struct placement_set *set, const struct placement_tasks *tasks, bool high,
                      const struct placement_policy *policy, const void *state, const struct placement_platform *hw,
                      struct placement_misses misses, bool corun, struct err *err)
{
    if (choose(set, tasks, high, policy, state, hw, misses, err))
        return -1;
    if (policy->yields && corun && apply_guideline_2(set, tasks, high, err))
        return -1;
    for (size_t i = 0; i < tasks->count; i++) {
        const struct placement_keys *keys = high ? &tasks->tasks[i].hi : &tasks->tasks[i].lo;
        set->tasks[i] = scheduled(keys, &set->overheads[i], hw, set->choice[i]);
    }
    if (run_schedule(set, tasks, high, hw, corun, policy->yields, err) || find_bound(set, tasks, high, hw, err))
        return -1;
    /* Conservation: time is the sum of the tasks less what was overlapped, unless arrivals left gaps. */
    double sum = 0;
    set->overhead_ms = set->overlap_ms = 0;
    for (size_t i = 0; i < tasks->count; i++) {
        sum += schedule_alone_ms(&set->tasks[i]);
        set->overhead_ms += set->overheads[i].ms[set->choice[i]];
        set->overlap_ms += set->schedule.slots[i].overlap_ms / 2;
    }
    if (set->schedule.end_ms < (sum - set->overlap_ms) * (1 - 1e-9))
        return err_set(err, "check failed: the schedule ends at %.9g ms, before its tasks' %.9g ms of work",
                       set->schedule.end_ms, sum - set->overlap_ms);
    return 0;
}
