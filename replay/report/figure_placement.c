/* Figures of the placement engine: overheads predicted and measured, and the co-run over time. */
#include <math.h>
#include <stdlib.h>

#include "models/gpu/gpu.h"
#include "models/policies.h"
#include "replay/placement/placement.h"
#include "replay/placement/placement_tasks.h"
#include "replay/report/chart.h"
#include "replay/run/engine.h"
#include "trace/base/mem.h"

static char device[] = "device", managed[] = "managed", pinned[] = "pinned";
static char *const memories[PLACEMENTS] = {device, managed, pinned};

/* Tasks of the file on the platform that the command named, else the engine's default. */
struct view {
    struct placement_tasks tasks;
    struct platform *platform;
    const struct placement_platform *hw;
    struct placement_misses misses;
};

static void view_close(struct view *view)
{
    platform_free(view->platform);
    placement_tasks_release(&view->tasks);
}

static int view_open(struct view *view, const struct figure_input *input, struct err *err)
{
    if (placement_tasks_read(&view->tasks, input->path, err))
        return -1;
    view->platform = platform_load(input->platform ? input->platform : engine_placement.default_platform, err);
    const bool able =
        view->platform && platform_has(view->platform, "placement") && platform_has(view->platform, "gpu");
    if (view->platform && !able)
        (void)err_set(err, "platform %s has no [placement] numbers", view->platform->name);
    if (!able || placement_tasks_programs(&view->tasks, view->platform,
                                          &(struct placement_program_options){200000, NULL, NULL}, err)) {
        view_close(view);
        return -1;
    }
    view->hw = platform_section_get(view->platform, "placement");
    const struct gpu *gpu = platform_section_get(view->platform, "gpu");
    view->misses = (struct placement_misses){PLACEMENT_IN_FLIGHT, (double)gpu->sms};
    return 0;
}

/* Times of a task under each memory at one end of its input; NAN: not known. */
static void times_of(const struct view *view, const struct placement_task *t, const struct placement_keys *end,
                     double ms[PLACEMENTS])
{
    struct placement_inputs in;
    struct placement_overheads o;
    placement_task_inputs(end, &in);
    placement_overheads(&in, view->hw, view->misses, &o);
    for (int p = 0; p < PLACEMENTS; p++)
        ms[p] = p == PLACEMENT_PINNED && t->no_l2 ? NAN : end->compute_ms + o.ms[p];
}

/* Write measured points beside the bars; returns whether there are any. */
static bool measured_data(FILE *script, const struct placement_tasks *tasks, const bool *drawn, size_t bars)
{
    bool any = false;
    for (size_t i = 0; i < tasks->count; i++) {
        const struct placement_keys *k = &tasks->tasks[i].lo;
        const double measured[PLACEMENTS] = {k->measured_device_ms, k->measured_managed_ms, k->measured_pinned_ms};
        for (size_t p = 0, bar = 0; p < PLACEMENTS; p++) {
            double half;
            if (drawn[p] && measured[p] > 0) {
                (void)fprintf(script, "%s%.6g %.9g\n", any ? "" : "$measured << EOD\n", chart_at(i, bar, bars, &half),
                              measured[p]);
                any = true;
            }
            bar += drawn[p];
        }
    }
    (void)fputs(any ? "EOD\n" : "", script);
    return any;
}

static int overhead_chart(const struct figure_input *input, FILE *script, const struct view *view, char *const *names,
                          struct err *err)
{
    struct chart chart;
    bool drawn[PLACEMENTS] = {false};
    size_t bars = 0;
    if (chart_init(&chart, "placement", names, view->tasks.count, memories, PLACEMENTS, err))
        return -1;
    for (size_t i = 0; i < view->tasks.count; i++) {
        const struct placement_task *t = &view->tasks.tasks[i];
        double lo[PLACEMENTS], hi[PLACEMENTS];
        times_of(view, t, &t->lo, lo);
        times_of(view, t, &t->hi, hi);
        for (size_t p = 0; p < PLACEMENTS; p++) {
            chart.bars[i * PLACEMENTS + p] =
                (struct chart_bar){true, (lo[p] + hi[p]) / 2, fmin(lo[p], hi[p]), fmax(lo[p], hi[p])};
            drawn[p] |= !isnan(lo[p]);
        }
    }
    for (size_t p = 0; p < PLACEMENTS; p++)
        bars += drawn[p];
    plot_title(input, script, "Time of each task by its memory", view->platform->name);
    chart.labels = "task";
    (void)fputs("set ylabel 'time (ms)'\nset yrange [0:*]\n", script);
    const bool any = measured_data(script, &view->tasks, drawn, bars);
    chart_write(input, script, &chart);
    (void)fputs(any ? ", $measured using 1:2 with points linecolor rgb '#000000' pointtype 2 title 'measured'\n" : "\n",
                script);
    chart_release(&chart);
    return 0;
}

static int overhead(const struct figure_input *input, FILE *script, struct err *err)
{
    struct view view;
    if (view_open(&view, input, err))
        return -1;
    char **names = mem_zalloc(view.tasks.count, sizeof *names, err);
    for (size_t i = 0; names && i < view.tasks.count; i++)
        names[i] = view.tasks.tasks[i].name;
    int rc = names ? overhead_chart(input, script, &view, names, err) : -1;
    free((void *)names);
    view_close(&view);
    return rc;
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
            (void)fprintf(
                script,
                "set arrow from %.9g,%zu to %.9g,%d nohead front linecolor rgb '#444444' linewidth 1.5 dashtype 2\n",
                s->start_ms, i, s->start_ms, s->partner);
    }
}

/* Only memory that a task got is drawn and named. */
static void draw_timeline(const struct figure_input *input, FILE *script, const struct view *view,
                          const struct placement_set *set)
{
    struct style styles[PLACEMENTS];
    size_t drawn = 0;
    style_policies("placement", memories, PLACEMENTS, styles);
    (void)plot_taller(input, ((double)view->tasks.count - 7) * PLOT_LINE);
    bool overlap = false;
    for (size_t i = 0; i < view->tasks.count; i++)
        overlap |= set->schedule.slots[i].partner >= 0;
    plot_title(input, script,
               overlap ? "Tasks under auto: dashed lines join those that overlap"
                       : "Tasks under auto, one after another",
               view->platform->name);
    bars(script, view, set);
    (void)fprintf(script,
                  "set xlabel 'time (ms)'\nset ylabel 'task'\nset grid xtics noytics\nset yrange [-0.6:%zu.4]\nplot ",
                  view->tasks.count - 1);
    for (size_t p = 0; p < PLACEMENTS; p++) {
        bool any = false;
        for (size_t i = 0; i < view->tasks.count; i++)
            any |= (size_t)set->choice[i] == p;
        if (!any)
            continue;
        (void)fprintf(script, "%s$bars using ($4==%zu ? $1 : NaN):3:1:2:($3-0.3):($3+0.3) with boxxyerror",
                      drawn++ ? ", " : "", p + 1);
        style_put_fill(script, &styles[p]);
        (void)fprintf(script, " title '%s'", memories[p]);
    }
    (void)fputc('\n', script);
}

int figure_tasks_timeline(const struct figure_input *input, FILE *script, struct err *err)
{
    struct view view;
    if (view_open(&view, input, err))
        return -1;
    struct placement_set set;
    int rc = placement_set_init(&set, view.tasks.count, err);
    if (!rc)
        rc = placement_set_run(&set, &view.tasks, false, &placement_auto, NULL, view.hw, view.misses, true, err);
    if (!rc)
        draw_timeline(input, script, &view, &set);
    placement_set_release(&set);
    view_close(&view);
    return rc;
}

const struct figure figure_placement_overhead = {
    .name = "placement-overhead",
    .summary = "time of each task under device, managed and pinned memory",
    .needs = "a task file",
    .source = "Bateni et al. 2020, figure 8",
    .kinds = FIGURE_SPEC,
    .width = 900,
    .height = 480,
    .write = overhead,
};
