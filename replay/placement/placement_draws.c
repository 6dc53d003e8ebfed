#include "replay/placement/placement_draws.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/base/platform.h"
#include "models/gpu/gpu.h"
#include "models/policies.h"
#include "replay/placement/placement_program.h"
#include "replay/placement/placement_set.h"
#include "trace/base/mem.h"

/* The tasks on one platform. */
struct answer {
    double response[2][3]; /* in turn, side by side; device, managed, auto */
    double *alone;         /* PLACEMENTS for each task */
    size_t count;
    bool no_l2;
};

static const struct placement_policy *const compared[3] = {&placement_device, &placement_managed, &placement_auto};

static int respond(struct answer *a, const struct placement_tasks *tasks, const struct platform *platform,
                   struct err *err)
{
    const struct placement_platform *hw = platform_section_get(platform, "placement");
    const struct gpu *gpu = platform_section_get(platform, "gpu");
    const struct placement_misses misses = {PLACEMENT_IN_FLIGHT, (double)gpu->sms};
    int rc = 0;
    for (int corun = 0; corun < 2; corun++)
        for (int p = 0; p < 3 && !rc; p++) {
            struct placement_set set;
            rc = placement_set_init(&set, tasks->count, err) ||
                         placement_set_run(&set, tasks, false, compared[p], NULL, hw, misses, corun, err)
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

static int answer(struct answer *a, const struct platform *platform, const char *path, uint64_t cut, struct err *err)
{
    const struct uvm_managed_settings managed = {.copy_engines = 2, .thrashing = UVM_THRASHING_DRIVER};
    const struct placement_look look = {cut, &managed, NULL};
    struct placement_tasks tasks;
    memset(a, 0, sizeof *a);
    if (placement_tasks_read(&tasks, path, err))
        return -1;
    a->count = tasks.count;
    a->alone = mem_zalloc(PLACEMENTS * tasks.count, sizeof *a->alone, err);
    int rc = !a->alone || placement_tasks_programs(&tasks, platform, &look, err) ? -1 : 0;
    for (size_t i = 0; i < tasks.count && !rc; i++)
        a->no_l2 = a->no_l2 || tasks.tasks[i].no_l2;
    rc = rc || respond(a, &tasks, platform, err) ? -1 : 0;
    placement_tasks_release(&tasks);
    return rc;
}

static double change(const struct answer *a, int corun, int over)
{
    return 100 * (a->response[corun][2] / a->response[corun][over] - 1);
}

/* logs: sums over draws of the logarithm of each task's error; an error below one in ten thousand counts as that. */
static void count(struct placement_draws *out, double *logs, const struct answer *stated, const struct answer *drawn)
{
    for (int corun = 0; corun < 2; corun++)
        for (int over = 0; over < PLACEMENT_OVERS; over++) {
            struct placement_change *c = &out->change[corun][over];
            double x = change(drawn, corun, over);
            c->least = fmin(c->least, x);
            c->most = fmax(c->most, x);
            c->below += x < 0;
        }
    for (size_t i = 0; i < PLACEMENTS * stated->count; i++)
        logs[i] += log(fmax(fabs(drawn->alone[i] / stated->alone[i] - 1), 1e-4));
}

static void sum_up(struct placement_draws *out, const double *logs, const struct answer *stated, uint32_t draws)
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

static int draw(struct placement_draws *out, double *logs, const struct answer *stated, struct platform *drawn,
                const char *path, uint64_t cut, struct err *err)
{
    struct answer a = {.alone = NULL};
    int rc = !drawn || answer(&a, drawn, path, cut, err) ? -1 : 0;
    if (!rc)
        count(out, logs, stated, &a);
    free(a.alone);
    platform_free(drawn);
    return rc;
}

int placement_draws_run(struct placement_draws *out, const struct platform *platform, const char *path, uint32_t draws,
                        uint64_t seed, uint64_t cut, struct err *err)
{
    struct answer stated;
    memset(out, 0, sizeof *out);
    if (!platform_has(platform, "placement") || platform_whole(platform, "gpu", err))
        return err_set(err, "platform %s has no [placement], or not all of [gpu]", platform_name(platform));
    int rc = answer(&stated, platform, path, cut, err);
    double *logs = rc ? NULL : mem_zalloc(PLACEMENTS * stated.count, sizeof *logs, err);
    rc = logs ? 0 : -1;
    for (int corun = 0; corun < 2 && !rc; corun++)
        for (int over = 0; over < PLACEMENT_OVERS; over++)
            out->change[corun][over] = (struct placement_change){change(&stated, corun, over), INFINITY, -INFINITY, 0};
    for (uint32_t i = 0; i < draws && !rc; i++)
        rc = draw(out, logs, &stated, platform_draw(platform, seed, i, draws, err), path, cut, err);
    if (!rc)
        sum_up(out, logs, &stated, draws);
    free(stated.alone);
    free(logs);
    return rc;
}
