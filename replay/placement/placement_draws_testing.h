/* placement_draws_testing: for placement_draws_bench.c, and its test: what becomes of a set of tasks when the
 * platform's uncertain numbers are drawn from their ranges (models/base/platform.h), those of [placement] and of
 * [gpu]: programs are run anew on every drawn GPU.
 *
 * CO is policy auto, D device, MO managed memory for all. Of each draw: mean response of CO over that of D and of MO,
 * side by side and in turn. And how far a task's time alone lies from that of the numbers as they stand: the error that
 * the ranges by themselves put into a prediction. */
#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/base/platform.h"
#include "models/gpu/gpu.h"
#include "models/policies.h"
#include "replay/placement/placement.h"
#include "trace/base/mem.h"

/* CO's mean response against another's, percent. */
struct placement_change {
    double stated, least, most; /* with the numbers as they stand; over the draws */
    uint32_t below;             /* draws in which it is below 0 */
};

/* |drawn time / stated time - 1| of a task alone, percent: geometric mean over draws, then over tasks; and the task
 * with the largest. */
struct placement_spread {
    double mean, worst;
};

enum { PLACEMENT_OVER_DEVICE, PLACEMENT_OVER_MANAGED, PLACEMENT_OVERS };

struct placement_draws {
    struct placement_change change[2][PLACEMENT_OVERS]; /* in turn, side by side */
    struct placement_spread spread[PLACEMENTS];
};

/* The tasks on one platform. */
struct draws_answer {
    double response[2][3]; /* in turn, side by side; device, managed, auto */
    double *alone;         /* PLACEMENTS for each task */
    size_t count;
    bool no_l2;
};

static const struct placement_policy *const draws_policies[3] = {&placement_device, &placement_managed,
                                                                 &placement_auto};

static inline int draws_respond(struct draws_answer *a, const struct placement_tasks *tasks,
                                const struct platform *platform, struct err *err)
{
    const struct placement_platform *hw = platform_section_get(platform, "placement");
    const struct gpu *gpu = platform_section_get(platform, "gpu");
    const struct placement_misses misses = {PLACEMENT_IN_FLIGHT, (double)gpu->sms};
    int rc = 0;
    for (int corun = 0; corun < 2; corun++)
        for (int p = 0; p < 3 && !rc; p++) {
            struct placement_set set;
            rc = placement_set_init(&set, tasks->count, err) ||
                         placement_set_run(&set, tasks, false, draws_policies[p], NULL, hw, misses, corun, err)
                     ? -1
                     : 0;
            a->response[corun][p] = rc ? 0 : set.schedule.mean_response_ms;
            for (size_t i = 0; i < tasks->count && !rc && p == 0; i++)
                for (int q = 0; q < PLACEMENTS; q++)
                    a->alone[PLACEMENTS * i + (size_t)q] = tasks->tasks[i].lo.compute_ms + set.overheads[i].ms[q];
            placement_set_release(&set);
        }
    return rc;
}

static inline int draws_answer(struct draws_answer *a, const struct platform *platform, const char *path, uint64_t cut,
                               struct err *err)
{
    const struct uvm_managed_settings managed = {.thrashing = UVM_THRASHING_DRIVER};
    const struct placement_program_options options = {cut, &managed, NULL};
    struct placement_tasks tasks;
    memset(a, 0, sizeof *a);
    if (placement_tasks_read(&tasks, path, err))
        return -1;
    a->count = tasks.count;
    a->alone = mem_zalloc(PLACEMENTS * tasks.count, sizeof *a->alone, err);
    int rc = !a->alone || placement_tasks_programs(&tasks, platform, &options, err) ? -1 : 0;
    for (size_t i = 0; i < tasks.count && !rc; i++)
        a->no_l2 = a->no_l2 || tasks.tasks[i].no_l2;
    rc = rc || draws_respond(a, &tasks, platform, err) ? -1 : 0;
    placement_tasks_release(&tasks);
    return rc;
}

static inline double draws_change(const struct draws_answer *a, int corun, int over)
{
    return 100 * (a->response[corun][2] / a->response[corun][over] - 1);
}

/* logs: sums over draws of the logarithm of each task's error; an error below one in ten thousand counts as that. */
static inline void draws_count(struct placement_draws *out, double *logs, const struct draws_answer *stated,
                               const struct draws_answer *drawn)
{
    for (int corun = 0; corun < 2; corun++)
        for (int over = 0; over < PLACEMENT_OVERS; over++) {
            struct placement_change *c = &out->change[corun][over];
            double x = draws_change(drawn, corun, over);
            c->least = fmin(c->least, x);
            c->most = fmax(c->most, x);
            c->below += x < 0;
        }
    for (size_t i = 0; i < PLACEMENTS * stated->count; i++)
        logs[i] += log(fmax(fabs(drawn->alone[i] / stated->alone[i] - 1), 1e-4));
}

static inline void draws_sum_up(struct placement_draws *out, const double *logs, const struct draws_answer *stated,
                                uint32_t draws)
{
    for (size_t p = 0; p < PLACEMENTS; p++) {
        double all = 0, worst = -INFINITY;
        if (p == PLACEMENT_PINNED && stated->no_l2)
            continue;
        for (size_t i = 0; i < stated->count; i++) {
            double one = logs[PLACEMENTS * i + p] / draws;
            all += one / (double)stated->count;
            worst = fmax(worst, one);
        }
        out->spread[p] = (struct placement_spread){100 * exp(all), 100 * exp(worst)};
    }
}

static inline int draws_draw(struct placement_draws *out, double *logs, const struct draws_answer *stated,
                             struct platform *drawn, const char *path, uint64_t cut, struct err *err)
{
    struct draws_answer a = {.alone = NULL};
    int rc = !drawn || draws_answer(&a, drawn, path, cut, err) ? -1 : 0;
    if (!rc)
        draws_count(out, logs, stated, &a);
    free(a.alone);
    platform_free(drawn);
    return rc;
}

/* `draws` draws of the tasks in a file; lower bounds of what is bounded. cut: as the setting. Pinned memory's spread is
 * 0 where a task has no L2 figures. */
static inline int placement_draws_run(struct placement_draws *out, const struct platform *platform, const char *path,
                                      uint32_t draws, uint64_t seed, uint64_t cut, struct err *err)
{
    struct draws_answer stated;
    memset(out, 0, sizeof *out);
    if (!platform_has(platform, "placement") || platform_whole(platform, "gpu", err))
        return err_set(err, "platform %s has no [placement], or not all of [gpu]", platform->name);
    int rc = draws_answer(&stated, platform, path, cut, err);
    double *logs = rc ? NULL : mem_zalloc(PLACEMENTS * stated.count, sizeof *logs, err);
    rc = logs ? 0 : -1;
    for (int corun = 0; corun < 2 && !rc; corun++)
        for (int over = 0; over < PLACEMENT_OVERS; over++)
            out->change[corun][over] =
                (struct placement_change){draws_change(&stated, corun, over), INFINITY, -INFINITY, 0};
    for (uint32_t i = 0; i < draws && !rc; i++)
        rc = draws_draw(out, logs, &stated, platform_draw(platform, seed, i, draws, err), path, cut, err);
    if (!rc)
        draws_sum_up(out, logs, &stated, draws);
    free(stated.alone);
    free(logs);
    return rc;
}
