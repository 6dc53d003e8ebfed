/* placement: the engine. Tasks under a placement each, one after another or co-run; bounds run at both ends. */
#include "replay/placement/placement.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/gpu/gpu.h"
#include "replay/placement/placement_schedule.h"
#include "replay/placement/placement_tasks.h"
#include "replay/run/engine.h"
#include "replay/run/robust.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/base/sorted.h"
#include "trace/base/units.h"

struct settings {
    int64_t mode;         /* 0 serial, 1 corun */
    int64_t penalty_rule; /* enum placement_penalty */
    int64_t cut;
    struct uvm_managed_settings managed;
    const char *paging;
};

static const struct param settings[] = {
    PARAM_CHOICE_ROW(settings, mode, "serial|corun", 0, "one task after another, or pairs that overlap"),
    PARAM_CHOICE_ROW(
        settings, penalty_rule, "in-flight|printed|physical", 0,
        "what a lost L2 hit costs: a share of latency, or equation 7 to the letter, or the other way round"),
    PARAM_INT_ROW(settings, cut, "", 0, 1e15, 5e6, "a program's memory instructions run through L2, at most; 0: all"),
    PARAM_TEXT_ROW(settings, paging, "tree", UVM_MANAGED_PAGING),
    UVM_MANAGED_ROWS(settings),
    {0}};

/* Values are of either end `e` of the bounds, or of the lower one. */
#define ROWS(ROW)                                                                                                      \
    ROW(time_ns, REAL, SUM, "end of the last task", e->schedule.end_ms * 1e6)                                          \
    ROW(speedup_ratio, REAL, GEOMEAN, "time of the baseline / time", NAN)                                              \
    ROW(mean_response_ns, REAL, MEAN, "mean over tasks of finish minus arrival", e->schedule.mean_response_ms * 1e6)   \
    ROW(overhead_ns, REAL, SUM, "O_D, O_M or O_H of every task by its placement", e->overhead_ms * 1e6)                \
    ROW(footprint_bytes, REAL, MAX,                                                                                    \
        "largest sum of bytes held at once; copied buffers count twice under device memory", e->schedule.peak_bytes)   \
    ROW(h2d_bytes, REAL, SUM,                                                                                          \
        "copied to the GPU under device memory; under managed memory what migrates, recorded or by the uvm engine",    \
        moved_bytes(tasks, e, e == hi, true))                                                                          \
    ROW(d2h_bytes, REAL, SUM, "the same, back", moved_bytes(tasks, e, e == hi, false))                                 \
    ROW(gpu_utilization_ratio, REAL, MEAN, "time in kernels or copies / time",                                         \
        e->schedule.busy_ms / e->schedule.end_ms)                                                                      \
    ROW(overlap_ns, REAL, SUM, "execution hidden in idle periods", e->overlap_ms * 1e6)                                \
    ROW(pairs, INT, SUM, "managed launches in whose mapping device kernels ran", (double)lo->schedule.pairs)           \
    ROW(optimum_ratio, REAL, GEOMEAN,                                                                                  \
        "time / a bound below the time of any placements and any order (replay/placement/placement_schedule.h)",       \
        e->schedule.end_ms / e->bound_ms)                                                                              \
    ROW(tasks_device, INT, SUM, "tasks under device memory", placed(tasks, lo, PLACEMENT_DEVICE))                      \
    ROW(tasks_managed, INT, SUM, "tasks under managed memory", placed(tasks, lo, PLACEMENT_MANAGED))                   \
    ROW(tasks_pinned, INT, SUM, "tasks under host-pinned memory", placed(tasks, lo, PLACEMENT_PINNED))                 \
    ROW(source_agreement_ratio, REAL, MEAN, "tasks placed as their source placed them / tasks it speaks of",           \
        agreement(tasks, lo))                                                                                          \
    ROW(prediction_error_ratio, REAL, GEOMEAN, "geometric mean over measured tasks of |predicted / measured - 1|",     \
        prediction_error(tasks, lo))

static const struct metric metrics[] = {ROWS(METRIC_ROW){0}};

/* --- a set of tasks under a policy --- */

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
    return ORDER_OF(x->margin, y->margin) ?: ORDER_OF(x->task, y->task);
}

/* Guideline 2: takes conversions back, smallest margin first, unless guideline 1 leaves no device kernel. */
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
    sort_items(list, n, sizeof *list, by_margin);
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
    if (placement != PLACEMENT_MANAGED || keys->managed_ms < 0) /* else the uvm engine has them */
        t.flush_ms += keys->wait_ms;
    return t;
}

/* Compute the bound and the schedule; where tasks may be re-assigned, the better of both schedules. */
static int run_schedule(struct placement_set *set, const struct placement_tasks *tasks, bool high,
                        const struct placement_platform *hw, bool corun, bool reassign, struct err *err)
{
    size_t count = tasks->count;
    struct schedule moved = {0};
    struct schedule_task *forms = mem_zalloc((PLACEMENTS + 1) * count, sizeof *forms, err);
    if (!forms)
        return -1;
    struct schedule_task *other = forms + PLACEMENTS * count;
    for (size_t i = 0; i < PLACEMENTS * count; i++) {
        const struct placement_task *t = &tasks->tasks[i / PLACEMENTS];
        const enum placement p = (enum placement)(i % PLACEMENTS);
        if (p != PLACEMENT_PINNED || !t->no_l2)
            forms[i] = scheduled(high ? &t->hi : &t->lo, &set->overheads[i / PLACEMENTS], hw, p);
    }
    memcpy(other, set->tasks, count * sizeof *other);
    set->bound_ms = schedule_bound_ms(forms, count);
    int rc = schedule_run(&set->schedule, set->tasks, count, corun, NULL, err);
    if (!rc && reassign && corun)
        rc = schedule_run(&moved, other, count, corun, forms, err);
    if (!rc && moved.slots && moved.end_ms < set->schedule.end_ms) {
        struct schedule before = set->schedule;
        set->schedule = moved;
        moved = before;
        memcpy(set->tasks, other, count * sizeof *other);
        for (size_t i = 0; i < count; i++)
            set->choice[i] = other[i].placement;
    }
    schedule_release(&moved);
    free(forms);
    return rc;
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
    if (policy->guideline_2 && corun && apply_guideline_2(set, tasks, high, err))
        return -1;
    for (size_t i = 0; i < tasks->count; i++) {
        const struct placement_keys *keys = high ? &tasks->tasks[i].hi : &tasks->tasks[i].lo;
        set->tasks[i] = scheduled(keys, &set->overheads[i], hw, set->choice[i]);
    }
    if (run_schedule(set, tasks, high, hw, corun, policy->guideline_2, err))
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

/* --- the engine --- */

static double placed(const struct placement_tasks *tasks, const struct placement_set *end, enum placement placement)
{
    size_t n = 0;
    for (size_t i = 0; i < tasks->count; i++)
        n += end->choice[i] == placement;
    return (double)n;
}

static double agreement(const struct placement_tasks *tasks, const struct placement_set *end)
{
    size_t spoken = 0, agreed = 0;
    for (size_t i = 0; i < tasks->count; i++) {
        const char *source = tasks->tasks[i].lo.source_policy;
        spoken += source != NULL;
        agreed += source && strcmp(source, placement_name(end->choice[i])) == 0;
    }
    return (double)agreed / (double)spoken;
}

static double prediction_error(const struct placement_tasks *tasks, const struct placement_set *end)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < tasks->count; i++) {
        const struct placement_keys *k = &tasks->tasks[i].lo;
        const double measured[] = {k->measured_device_ms, k->measured_managed_ms, k->measured_pinned_ms};
        double ms = measured[end->choice[i]];
        if (ms <= 0)
            continue;
        /* A perfect prediction would end a geometric mean: errors below one in ten thousand count as that. */
        sum += log(fmax(fabs(schedule_alone_ms(&end->tasks[i]) / ms - 1), 1e-4));
        n++;
    }
    return exp(sum / (double)n);
}

/* Bytes moved for the tasks that are not under pinned memory: copied, or migrated as recorded. */
static double moved_bytes(const struct placement_tasks *tasks, const struct placement_set *set, bool high, bool to_gpu)
{
    double sum = 0;
    for (size_t i = 0; i < tasks->count; i++) {
        const struct placement_task *t = &tasks->tasks[i];
        const struct placement_keys *k = high ? &t->hi : &t->lo;
        if (set->choice[i] == PLACEMENT_DEVICE)
            sum += (double)(to_gpu ? k->bytes_hd : k->bytes_dh);
        else if (set->choice[i] == PLACEMENT_MANAGED)
            sum += to_gpu ? t->migrated_hd : t->migrated_dh;
    }
    return sum;
}

static void put_rows(struct outcome *run, const struct placement_tasks *tasks, const struct placement_set *lo,
                     const struct placement_set *hi)
{
    double values[2][sizeof metrics / sizeof *metrics];
    for (int high = 0; high < 2; high++) {
        const struct placement_set *e = high ? hi : lo;
        double *v = values[high];
#define VALUE(name, type, aggregate, help, value) *v++ = value;
        ROWS(VALUE)
    }
    for (size_t i = 0; metrics[i].name; i++)
        if (values[0][i] != values[1][i])
            outcome_interval(run, metrics[i].name, fmin(values[0][i], values[1][i]), fmax(values[0][i], values[1][i]));
        else
            outcome_set(run, metrics[i].name, values[0][i]);
}

/* Both guidelines' margins at one end; (10) under each rule, since the rules are far apart. */
static void describe_margins(const struct placement_task *t, bool high, const struct placement_platform *hw, double sms,
                             char *out, size_t size)
{
    struct placement_inputs in;
    double ten[PLACEMENT_PENALTIES], nine = 0, host = 0;
    char loss[64] = "";
    placement_task_inputs(high ? &t->hi : &t->lo, &in);
    for (int rule = 0; rule < PLACEMENT_PENALTIES; rule++) {
        struct placement_overheads o;
        placement_overheads(&in, hw, (struct placement_misses){(enum placement_penalty)rule, sms}, &o);
        ten[rule] = o.margin_pinned;
        nine = o.margin_managed;
        host = o.host_ms;
    }
    if (host > 0)
        (void)snprintf(loss, sizeof loss, ", less %.3g ms on the CPU, which does not cache it", host);
    if (t->no_l2)
        (void)snprintf(out, size, "guideline (9) for managed %+.4g ms, (10) for pinned n/a: no L2 figures", nine);
    else
        (void)snprintf(out, size,
                       "guideline (9) for managed %+.4g ms, (10) for pinned %+.4g ms in flight, %+.4g ms printed, "
                       "%+.4g ms physical%s",
                       nine, ten[0], ten[1], ten[2], loss);
}

/* "managed 28.4 ms, device 33.1, pinned 30.2": what it is given, then the others by time, the task alone. */
static void describe_times(const struct placement_task *t, const struct placement_set *set, size_t i, bool high,
                           const struct placement_platform *hw, char *out, size_t size)
{
    const struct placement_keys *keys = high ? &t->hi : &t->lo;
    double ms[PLACEMENTS];
    bool said[PLACEMENTS] = {[PLACEMENT_PINNED] = t->no_l2};
    for (enum placement p = 0; p < PLACEMENTS; p++) {
        const struct schedule_task one = scheduled(keys, &set->overheads[i], hw, p);
        ms[p] = schedule_alone_ms(&one);
    }
    (void)snprintf(out, size, "%s %.3g ms", placement_name(set->choice[i]), ms[set->choice[i]]);
    said[set->choice[i]] = true;
    for (;;) {
        enum placement next = PLACEMENTS;
        for (enum placement p = 0; p < PLACEMENTS; p++)
            next = !said[p] && (next == PLACEMENTS || ms[p] < ms[next]) ? p : next;
        if (next == PLACEMENTS)
            return;
        said[next] = true;
        (void)mem_add_text(out, size, ", %s %.3g", placement_name(next), ms[next]);
    }
}

static void note_tasks(struct outcome *run, const struct placement_tasks *tasks, const struct placement_platform *hw,
                       double sms, const struct placement_set *lo, const struct placement_set *hi)
{
    for (size_t i = 0; i < tasks->count && i < 64; i++) {
        const struct placement_task *t = &tasks->tasks[i];
        char low[240], high[240], source[96] = "", times[2][96];
        describe_times(t, lo, i, false, hw, times[0], sizeof times[0]);
        describe_times(t, hi, i, true, hw, times[1], sizeof times[1]);
        describe_margins(t, false, hw, sms, low, sizeof low);
        describe_margins(t, true, hw, sms, high, sizeof high);
        if (t->lo.source_policy)
            (void)snprintf(source, sizeof source, "; its source chose %s: %s", t->lo.source_policy,
                           strcmp(t->lo.source_policy, placement_name(lo->choice[i])) == 0 ? "agrees" : "disagrees");
        if (lo->choice[i] == hi->choice[i] && strcmp(low, high) == 0)
            outcome_note(run, "task %s: %s; %s%s", t->name, times[0], low, source);
        else
            outcome_note(run, "task %s: %s at the lower bounds; %s at the upper; %s and %s%s", t->name, times[0],
                         times[1], low, high, source);
    }
}

static void note_uncached(struct outcome *run, const struct placement_tasks *tasks, const struct placement_set *end)
{
    double ms = 0;
    for (size_t i = 0; i < tasks->count; i++)
        ms += end->choice[i] == PLACEMENT_PINNED ? end->overheads[i].host_ms : 0;
    if (ms > 0)
        outcome_note(run, "the CPU loses %.3g ms to pinned memory, which it does not cache; the times leave that out",
                     ms);
}

static void note_reassigned(struct outcome *run, const struct placement_tasks *tasks, const struct placement_set *end)
{
    for (size_t i = 0; i < tasks->count && i < 64; i++) {
        const struct schedule_slot *s = &end->schedule.slots[i];
        if (s->reassigned)
            outcome_note(run, "task %s: %s, since it runs beside %s", tasks->tasks[i].name,
                         placement_name(end->choice[i]), s->partner < 0 ? "(none)" : tasks->tasks[s->partner].name);
    }
}

static void note_guideline_2(struct outcome *run, const struct placement_tasks *tasks, const struct placement_set *end)
{
    double device = 0, other = 0;
    for (size_t i = 0; i < tasks->count; i++)
        *(end->choice[i] == PLACEMENT_DEVICE ? &device : &other) += (double)tasks->tasks[i].lo.kernels;
    outcome_note(run, "guideline (11), no more managed and pinned kernels (%.0f) than device kernels (%.0f), %s", other,
                 device,
                 guideline_2(other, device) ? "holds"
                 : device == 0 ? "is broken: no task is left under device memory (the paper's own exception)"
                               : "broken");
}

/* Whether a policy that does not look at the costs may give a task pinned memory. */
static bool may_be_pinned(const struct placement_task *task, const struct placement_policy *policy)
{
    return policy->needs_l2 ||
           (policy->follows_source && placement_task_source(&task->lo, PLACEMENT_DEVICE) == PLACEMENT_PINNED);
}

/* Context in which a job's policies run. */
struct placing {
    const struct replay_job *job;
    const struct placement_tasks *tasks;
    const struct placement_platform *hw;
    struct placement_misses misses;
    bool corun;
};

/* At one end of the bounds. *set is zeroed, and released by the caller after failure too. */
static int run_end(const struct placing *s, const struct replay_policy *use, bool high, struct placement_set *set,
                   struct err *err)
{
    return placement_set_init(set, s->tasks->count, err) ||
                   placement_set_run(set, s->tasks, high, (const struct placement_policy *)use->head, use->params,
                                     s->hw, s->misses, s->corun, err)
               ? -1
               : 0;
}

static int run_policy(const struct placing *s, const struct replay_policy *use, struct outcome *run, struct err *err)
{
    const struct placement_policy *policy = (const struct placement_policy *)use->head;
    const struct placement_tasks *tasks = s->tasks;
    for (size_t i = 0; i < tasks->count; i++)
        if (tasks->tasks[i].no_l2 && may_be_pinned(&tasks->tasks[i], policy)) {
            outcome_note(run, "refused: task %s states no l2_instructions, on which the cost of pinned memory depends",
                         tasks->tasks[i].name);
            return 0;
        }
    struct placement_set lo = {0}, hi = {0};
    int rc = run_end(s, use, false, &lo, err) || run_end(s, use, true, &hi, err) ? -1 : 0;
    if (!rc) {
        put_rows(run, tasks, &lo, &hi);
        if (fmax(lo.schedule.peak_bytes, hi.schedule.peak_bytes) > (double)s->hw->memory_bytes)
            outcome_note(run, "fails: the tasks hold more than the %.3g GB of the platform",
                         (double)s->hw->memory_bytes / 1e9);
        for (size_t i = 0; i < tasks->count; i++)
            if (tasks->tasks[i].note)
                outcome_note(run, "%s", tasks->tasks[i].note);
        note_uncached(run, tasks, &hi);
        if (policy->guideline_2)
            note_tasks(run, tasks, s->hw, s->misses.sms, &lo, &hi);
        if (policy->guideline_2 && s->corun) {
            note_reassigned(run, tasks, &lo);
            note_guideline_2(run, tasks, &lo);
        }
    }
    placement_set_release(&lo);
    placement_set_release(&hi);
    return rc;
}

/* Find the task whose placement costs most over the baseline's; the count of tasks: none does. */
static size_t dearest(const struct placement_set *set, const struct placement_set *base, size_t count)
{
    size_t most = count;
    double loss = 0;
    for (size_t i = 0; i < count; i++) {
        const double more = schedule_alone_ms(&set->tasks[i]) - schedule_alone_ms(&base->tasks[i]);
        if (more > loss) {
            loss = more;
            most = i;
        }
    }
    return most;
}

/* "auto is slower than device here (76.5 ms against 61.3 ms): the guideline of the paper does not hold for task
 * detector, managed (52 against 32 ms)" */
static void say_loss(const struct placing *s, size_t p, const struct placement_set *set,
                     const struct placement_set *base, struct outcome *runs)
{
    const struct replay_job *job = s->job;
    char name[2][256], time[2][64];
    const size_t of[] = {p, job->baseline}, task = dearest(set, base, s->tasks->count);
    for (int i = 0; i < 2; i++) {
        (void)replay_policy_label(&job->policies[of[i]], name[i], sizeof name[i]);
        (void)units_human_ns(robust_metric(outcome_get(&runs[of[i]], "time_ns")).value, time[i], sizeof time[i]);
    }
    runs[p].slower = true;
    if (task == s->tasks->count) {
        outcome_note(&runs[p], "%s is slower than %s here (%s against %s), because of the order of its tasks", name[0],
                     name[1], time[0], time[1]);
        return;
    }
    const bool guided = ((const struct placement_policy *)job->policies[p].head)->guideline_2;
    outcome_note(&runs[p], "%s is slower than %s here (%s against %s): %s task %s, %s (%.4g against %.4g ms)", name[0],
                 name[1], time[0], time[1], guided ? "the guideline of the paper does not hold for" : "most by",
                 s->tasks->tasks[task].name, placement_name(set->choice[task]), schedule_alone_ms(&set->tasks[task]),
                 schedule_alone_ms(&base->tasks[task]));
}

/* Of a policy that chooses by task: device, managed and pinned place all alike, and promise nothing. */
static int note_loss(const struct placing *s, size_t p, struct outcome *runs, struct err *err)
{
    const struct replay_job *job = s->job;
    const struct placement_policy *policy = (const struct placement_policy *)job->policies[p].head;
    const struct robust_value base = robust_metric(outcome_get(&runs[job->baseline], "time_ns")),
                              mine = robust_metric(outcome_get(&runs[p], "time_ns"));
    struct placement_set sets[2] = {{0}};
    bool chooses = true;
    for (int k = 0; k < PLACEMENTS; k++)
        chooses &= strcmp(policy->head.name, placement_name((enum placement)k)) != 0;
    if (!chooses || mine.state != ROBUST_STANDS || !robust_beats(&base, &mine, 0, false))
        return 0;
    int rc = run_end(s, &job->policies[p], false, &sets[0], err) ||
             run_end(s, &job->policies[job->baseline], false, &sets[1], err);
    if (!rc)
        say_loss(s, p, &sets[0], &sets[1], runs);
    placement_set_release(&sets[0]);
    placement_set_release(&sets[1]);
    return rc ? -1 : 0;
}

static int read_tasks(const struct replay_job *job, const struct placement_program_options *options,
                      struct placement_tasks *tasks, struct err *err)
{
    const struct input *input = &job->inputs[0];
    const struct workload_type *type = input->workload.type;
    if (input->store) {
        if (placement_tasks_record(tasks, input->store, err))
            return -1;
        placement_tasks_calls(tasks, job->platform);
        return 0;
    }
    if (!type) {
        if (placement_tasks_read(tasks, input->spec, err))
            return -1;
        if (!placement_tasks_programs(tasks, job->platform, options, err))
            return 0;
        placement_tasks_release(tasks);
        return err_at(err, "%s", input->spec);
    }
    if (!type->program)
        return err_set(err, "workload %s is no program: nothing to place; see 'offchip list programs'", type->name);
    if (!(type->views & VIEW_PLACEMENT))
        return err_set(err, "program %s has nothing that could be placed elsewhere; see 'offchip list programs'",
                       type->name);
    struct program program;
    if (type->program(input->workload.state, &program, err))
        return -1;
    return placement_tasks_program(tasks, type->name, &program, job->platform, options, err);
}

static int replay(const struct replay_job *job, struct outcome *runs, struct err *err)
{
    const struct placement_platform *hw = platform_section_get(job->platform, "placement");
    double sms = (double)((const struct gpu *)platform_section_get(job->platform, "gpu"))->sms;
    const struct settings *how = job->settings;
    struct placement_tasks tasks;
    struct policy_list paging;
    int rc = uvm_managed_policy(&paging, how->paging, err);
    const struct placement_program_options options = {(uint64_t)how->cut, &how->managed,
                                                      paging.count ? paging.policies : NULL};
    rc = rc || read_tasks(job, &options, &tasks, err) ? -1 : 0;
    policy_list_release(&paging);
    if (rc)
        return -1;
    const struct placing placing = {job, &tasks, hw, {(enum placement_penalty)how->penalty_rule, sms}, how->mode == 1};
    for (size_t i = 0; i < job->policy_count && !rc; i++)
        rc = run_policy(&placing, &job->policies[i], &runs[i], err);
    for (size_t i = 0; i < job->policy_count && !rc && !job->drawn; i++)
        rc = note_loss(&placing, i, runs, err);
    placement_tasks_release(&tasks);
    return rc;
}

/* A program's kernels and misses in flight need the GPU's numbers, managed memory with faults those of uvm. */
static const char *const *sections(const struct replay_job *job)
{
    static const char *const tasks[] = {"placement", "launch", NULL},
                             *const both[] = {"placement", "gpu", "launch", NULL},
                             *const paged[] = {"placement", "gpu", "uvm", "launch", NULL};
    const struct input *input = &job->inputs[0];
    const struct settings *how = job->settings;
    if (input->workload.type)
        return platform_has(job->platform, "uvm") ? paged : both;
    return !input->store && how->penalty_rule == PLACEMENT_IN_FLIGHT ? both : tasks;
}

const struct engine engine_placement = {
    .name = "placement",
    .summary = "device, managed or pinned memory for each task on an integrated GPU",
    .default_platform = "tx2",
    .view = VIEW_PLACEMENT,
    .default_policies = "device,managed,pinned,auto",
    .policies = placement_policies,
    .plugin_interface = POLICY_PLACEMENT,
    .settings = settings,
    .settings_size = sizeof(struct settings),
    .metrics = metrics,
    .headline = "time_ns,speedup_ratio,mean_response_ns,footprint_bytes,gpu_utilization_ratio,pairs",
    .ranks = "-time_ns,-mean_response_ns,-footprint_bytes",
    .sections = sections,
    .plain_files = true,
    .check_plain = placement_tasks_check,
    .replay = replay,
};
