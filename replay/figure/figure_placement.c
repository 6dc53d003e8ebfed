/* Figures of the placement engine: overheads predicted and measured, and the co-run over time. */
#include "models/gpu/gpu.h"
#include "models/policies.h"
#include "replay/figure/figures.h"
#include "replay/placement/placement.h"
#include "replay/placement/placement_program.h"
#include "replay/placement/placement_set.h"
#include "replay/run/engine.h"

/* Tasks of the file under `auto` on the default platform. */
struct view {
    struct placement_tasks tasks;
    struct platform *platform;
    const struct placement_platform *hw;
    struct placement_misses misses;
};

static int view_open(struct view *view, const char *path, struct err *err)
{
    if (placement_tasks_read(&view->tasks, path, err))
        return -1;
    view->platform = platform_load(engine_placement.default_platform, err);
    if (!view->platform) {
        placement_tasks_release(&view->tasks);
        return -1;
    }
    if (placement_tasks_programs(&view->tasks, view->platform, &(struct placement_look){200000, NULL, NULL}, err)) {
        platform_free(view->platform);
        placement_tasks_release(&view->tasks);
        return -1;
    }
    view->hw = platform_section_get(view->platform, "placement");
    const struct gpu *gpu = platform_section_get(view->platform, "gpu");
    view->misses = (struct placement_misses){PLACEMENT_IN_FLIGHT, (double)gpu->sms};
    return 0;
}

static void view_close(struct view *view)
{
    platform_free(view->platform);
    placement_tasks_release(&view->tasks);
}

static int overhead(const struct figure_input *input, FILE *script, struct err *err)
{
    struct view view;
    if (view_open(&view, input->path, err))
        return -1;
    (void)fprintf(script, "$d << EOD\n");
    for (size_t i = 0; i < view.tasks.count; i++) {
        const struct placement_task *t = &view.tasks.tasks[i];
        struct placement_inputs in;
        struct placement_overheads o;
        placement_task_inputs(&t->lo, &in);
        placement_overheads(&in, view.hw, view.misses, &o);
        plot_quote(script, t->name);
        const double measured[] = {t->lo.measured_device_ms, t->lo.measured_managed_ms, t->lo.measured_pinned_ms};
        for (int p = 0; p < PLACEMENTS; p++) {
            if (p == PLACEMENT_PINNED && t->no_l2)
                (void)fprintf(script, " NaN");
            else
                (void)fprintf(script, " %.9g", t->lo.compute_ms + o.ms[p]);
            (void)fprintf(script, measured[p] > 0 ? " %.9g" : " NaN", measured[p]);
        }
        (void)fputc('\n', script);
    }
    (void)fprintf(
        script,
        "EOD\nset title 'Time under device, managed and pinned memory (%s)'\nset ylabel 'ms'\nset logscale y\n"
        "set style data histograms\nset style histogram clustered gap 1\nset style fill solid 0.9\n"
        "set xtics rotate by -30\nset key top right\n"
        "plot $d using 2:xtic(1) title 'device' linetype 1, $d using 4 title 'managed' linetype 2, "
        "$d using 6 title 'pinned' linetype 3, "
        "$d using ($0-0.2):3 with points linetype 8 title 'measured', "
        "$d using 0:5 with points linetype 8 notitle, $d using ($0+0.2):7 with points linetype 8 notitle\n",
        platform_name(view.platform));
    view_close(&view);
    return 0;
}

static void bars(FILE *script, const struct view *view, const struct placement_set *set)
{
    (void)fprintf(script, "$bars << EOD\n");
    for (size_t i = 0; i < view->tasks.count; i++) {
        const struct schedule_slot *s = &set->schedule.slots[i];
        (void)fprintf(script, "%.9g %.9g %zu %d\n", s->start_ms, s->finish_ms, i, (int)set->choice[i] + 1);
    }
    (void)fprintf(script, "EOD\nset ytics (");
    for (size_t i = 0; i < view->tasks.count; i++) {
        (void)fputs(i ? ", " : "", script);
        plot_quote(script, view->tasks.tasks[i].name);
        (void)fprintf(script, " %zu", i);
    }
    (void)fprintf(script, ")\n");
    for (size_t i = 0; i < view->tasks.count; i++) {
        const struct schedule_slot *s = &set->schedule.slots[i];
        if (s->partner > (int)i || (s->partner >= 0 && set->schedule.slots[s->partner].partner != (int)i))
            (void)fprintf(script, "set arrow from %.9g,%zu to %.9g,%d heads linecolor rgb '#444444' dashtype 2\n",
                          s->start_ms, i, s->start_ms, s->partner);
    }
}

static int timeline(const struct figure_input *input, FILE *script, struct err *err)
{
    struct view view;
    if (view_open(&view, input->path, err))
        return -1;
    struct placement_set set;
    int rc = placement_set_init(&set, view.tasks.count, err);
    if (!rc)
        rc = placement_set_run(&set, &view.tasks, false, &placement_auto, NULL, view.hw, view.misses, true, err);
    if (!rc) {
        bars(script, &view, &set);
        (void)fprintf(
            script,
            "set title 'Co-run under auto (%s): dashed lines join tasks that run side by side'\n"
            "set xlabel 'ms'\nset yrange [-0.6:%zu.4]\nset style fill solid 0.9\nset key outside right\n"
            "plot for [p=1:3] $bars using ($4==p ? $1 : NaN):3:1:2:($3-0.3):($3+0.3) with boxxyerror linetype p "
            "title word('device managed pinned', p)\n",
            platform_name(view.platform), view.tasks.count - 1);
    }
    placement_set_release(&set);
    view_close(&view);
    return rc;
}

const struct figure figure_placement_overhead = {"placement-overhead",
                                                 "time of each task under device, managed and pinned memory",
                                                 "Bateni et al. 2020, figure 8",
                                                 FIGURE_SPEC,
                                                 900,
                                                 480,
                                                 overhead,
                                                 NULL};
const struct figure figure_placement_timeline = {"placement-timeline",
                                                 "tasks over time under auto, pairs that overlap",
                                                 "Bateni et al. 2020, figures 6 and 7",
                                                 FIGURE_SPEC,
                                                 900,
                                                 480,
                                                 timeline,
                                                 NULL};
