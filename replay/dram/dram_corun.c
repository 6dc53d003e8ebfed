#include "replay/dram/dram_corun.h"

#include <stdlib.h>
#include <string.h>

#include "replay/dram/dram_commands.h"
#include "replay/dram/dram_latencies.h"
#include "replay/dram/dram_metrics.h"
#include "replay/dram/dram_requests.h"
#include "replay/dram/dram_window.h"
#include "trace/base/mem.h"

enum {
    WINDOW_DEFAULT = 640
}; /* full occupancy, one coalesced 4-byte load per thread: 64 warps x 4 sectors x 80 / 32 */

/* One side: whose requests, and what they were alone. */
struct side {
    const struct dram_stream *stream;
    enum dram_class class;
    int64_t alone_cycles;
    double alone_rate; /* requests into the controllers per cycle */
};

struct corun {
    const struct replay_job *job;
    struct dram_stream stream[2];
    int streams;
    struct side side[2];
    int sides;
    uint32_t channels;
    bool repeat;
    struct dram_fates fates[2]; /* by stream: --requests, of the first passes; else empty */
};

/* One channel's run. */
struct lane {
    struct dram_window window;
    struct dram_source source[2];
    struct dram_latency *latency, *took;
    struct dram_commands commands;
    int64_t cycles;
    int64_t *fate; /* eight arrays: those that are written, those of the first passes */
    const struct side *side[2];
};

/* --- inputs --- */

static int find_sides(struct corun *c, struct err *err)
{
    const struct replay_job *job = c->job;
    uint64_t take[2] = {0, 0};
    int mems = 0, pims = 0;
    for (size_t i = 0; i < job->input_count; i++) {
        const bool mem = strcmp(job->inputs[i].role, "mem") == 0;
        mems += mem;
        pims += strcmp(job->inputs[i].role, "pim") == 0;
        take[mem && mems > 1] |= UINT64_C(1) << i;
    }
    if (job->input_count > 63 || mems > 2 || pims > 1 || mems + pims > 2)
        return err_set(err, "%d --mem and %d --pim; expected two sides at most ('offchip sweep' runs all pairs)", mems,
                       pims);
    c->streams = take[1] ? 2 : 1;
    for (int s = 0; s < c->streams; s++)
        if (dram_stream_load(&c->stream[s], job->inputs, job->input_count, take[s], job->platform, DRAM_CLOCK_DRAM,
                             job->progress, err))
            return -1;
    for (int s = 0; s < c->streams; s++)
        for (int class = 0; class < 2; class ++)
            if (c->stream[s].class_count[class] && c->sides < 2)
                c->side[c->sides++] = (struct side){&c->stream[s], (enum dram_class) class, -1, 0};
            else if (c->stream[s].class_count[class])
                return err_set(err, "more than two sides: expected MEM and PIM requests, or two --mem");
    if (!c->sides)
        return err_set(err, "%s holds no DRAM requests", job->inputs[0].spec);
    for (int s = 0; s < c->streams; s++)
        c->channels = c->stream[s].channels > c->channels ? c->stream[s].channels : c->channels;
    const struct dram_settings *set = job->settings;
    c->repeat = set->loop != 0;
    return 0;
}

static void set_up_source(const struct corun *c, struct dram_source *s, const struct side *side)
{
    const struct dram_settings *set = c->job->settings;
    const struct dram_platform *dram = platform_section_get(c->job->platform, "dram");
    const struct gpu *gpu = platform_section_get(c->job->platform, "gpu");
    s->launch_gap =
        set->launch_gap >= 0
            ? set->launch_gap
            : (int64_t)((double)dram->launch_latency * (double)dram->clock_hz / (double)gpu->clock_hz + 0.5);
    s->relaunch_gap = set->relaunch_gap >= 0 ? set->relaunch_gap : 560;
    if (side->class == DRAM_PIM) {
        s->period = dram->pim_period;
        return;
    }
    const double window = (double)(set->mem_window ? set->mem_window : WINDOW_DEFAULT) * set->window_scale;
    s->window = window < 1 ? 1 : (int64_t)(window + 0.5);
}

/* --- runs --- */

static void lane_release(struct lane *lane)
{
    dram_window_release(&lane->window);
    for (int s = 0; s < 2; s++)
        dram_source_release(&lane->source[s]);
    free(lane->latency);
    free(lane->took);
    free(lane->fate);
}

/* Room for every request's cycles. */
static int lane_watch(struct lane *lane, struct err *err)
{
    size_t n = 0;
    for (int s = 0; s < lane->window.sources; s++)
        n += lane->source[s].count;
    lane->fate = mem_zalloc(n + 1, 8 * sizeof *lane->fate, err);
    if (!lane->fate)
        return -1;
    memset(lane->fate, 0xff, n * 8 * sizeof *lane->fate);
    int64_t *f = lane->fate;
    lane->window.part.channel->fate = (struct dram_fate){f, f + n, f + 2 * n, f + 3 * n};
    lane->window.first = (struct dram_fate){f + 4 * n, f + 5 * n, f + 6 * n, f + 7 * n};
    return 0;
}

/* Hand the first passes' cycles to the streams' positions. */
static void lane_report(struct lane *lane, struct corun *c, uint32_t channel)
{
    size_t from = 0;
    dram_window_keep(&lane->window);
    for (int s = 0; s < lane->window.sources; s++) {
        const struct dram_stream_channel *requests = &lane->side[s]->stream->channel[channel];
        struct dram_fate *to = &c->fates[lane->side[s]->stream - c->stream].channel[channel];
        const bool pim = lane->side[s]->class == DRAM_PIM;
        for (size_t i = 0, k = from; i < requests->count; i++) {
            if (((requests->requests[i].flags & DRAM_IS_PIM) != 0) != pim)
                continue;
            to->enter[i] = lane->window.first.enter[k];
            to->sched[i] = lane->window.first.sched[k];
            to->column[i] = lane->window.first.column[k];
            to->done[i] = lane->window.first.done[k++];
        }
        from += lane->source[s].count;
    }
}

/* What runs on every channel. */
struct together {
    const struct side *sides;
    int count; /* of sides */
    const struct replay_policy *policy;
    int vcs;
    bool repeat;   /* a side that is done starts again until the other is */
    int64_t limit; /* cycles */
    bool told;     /* --explain and --commands tell of it: of the policies, not of a side alone */
    bool watch;    /* every request's cycles are wanted */
    bool took;     /* --latencies wants it */
};

static int lane_run(struct lane *lane, struct corun *c, const struct together *run, uint32_t channel, struct err *err)
{
    struct dram_window *p = &lane->window;
    const struct side *sides = run->sides;
    for (int s = 0; s < run->count; s++) {
        if (channel >= sides[s].stream->channels || !sides[s].stream->channel[channel].class_count[sides[s].class])
            continue;
        struct dram_source *src = &lane->source[p->sources];
        if (dram_source_init(src, sides[s].stream, channel, sides[s].class, err))
            return -1;
        set_up_source(c, src, &sides[s]);
        lane->side[p->sources] = &sides[s];
        src->repeat = run->repeat;
        p->sources++;
    }
    if (!p->sources)
        return 0;
    p->source = lane->source;
    p->stats = lane->latency = mem_zalloc(2, sizeof *lane->latency, err);
    if (!p->stats || dram_window_init(p, c->job, run->policy, run->vcs, err))
        return -1;
    if (run->watch && lane_watch(lane, err))
        return -1;
    if (run->took && !(p->took = lane->took = mem_zalloc(DRAM_TOOK, sizeof *lane->took, err)))
        return -1;
    lane->commands.channel = channel;
    if (run->told)
        dram_commands_attach(&lane->commands, p->part.channel, c->job);
    if (channel == 0 && run->told)
        dram_explain_attach(p->part.channel, c->job, run->policy,
                            run->count == 1 ? &sides[0].stream->channel[0] : NULL); /* two sides: ids are of neither */
    lane->cycles = dram_window_run(p, run->limit);
    if (run->watch)
        lane_report(lane, c, channel);
    return dram_channel_check(p->part.channel, false, err);
}

/* All channels; results are added to *totals. */
static int run_channels(struct corun *c, const struct together *run, struct dram_totals *totals, struct err *err)
{
    const struct dram_policy *rules = (const struct dram_policy *)run->policy->head;
    int failed = 0;
#pragma omp parallel for schedule(dynamic) num_threads(c->job->threads) if (c->channels > 1 && !c->job->commands)
    for (uint32_t i = 0; i < c->channels; i++) {
        if (__atomic_load_n(&failed, __ATOMIC_RELAXED))
            continue;
        struct lane lane = {0};
        struct err mine = {""};
        const int rc = lane_run(&lane, c, run, i, &mine);
#pragma omp critical(dram_corun)
        if (rc && !failed) {
            failed = 1;
            err_set(err, "channel %u: %s", i, mine.msg);
        } else if (!rc && lane.window.sources) {
            dram_stats_add(&totals->stats, &lane.window.part.channel->stats);
            totals->channels++;
            totals->cycles = lane.cycles > totals->cycles ? lane.cycles : totals->cycles;
            totals->blacklists = rules->favoured != NULL;
            for (int class = 0; class < 2 && rules->favoured; class ++)
                totals->favoured[class] += rules->favoured(lane.window.part.state, (enum dram_class) class);
            for (int k = 0; k < 2; k++)
                dram_latency_merge(&totals->latency[k], &lane.latency[k]);
            for (int k = 0; k < DRAM_TOOK && lane.took; k++)
                dram_latency_merge(&totals->took[k], &lane.took[k]);
            for (int s = 0; s < lane.window.sources; s++) {
                const int at = run->count == 1 || lane.window.sources == 2 ? s : lane.source[s].class == DRAM_PIM;
                const int64_t done = lane.source[s].first_done;
                totals->starved[at] |= done < 0;
                if (done + 1 > totals->class_cycles[at])
                    totals->class_cycles[at] = done + 1;
            }
        }
        lane_release(&lane);
    }
    return failed ? -1 : 0;
}

static int totals_init(struct dram_totals *totals, struct err *err)
{
    memset(totals, 0, sizeof *totals);
    totals->latency = mem_zalloc(2, sizeof *totals->latency, err);
    totals->core_cycles = totals->noc_packets = -1;
    totals->mem_arrival_ratio = -1;
    for (int k = 0; k < 2; k++)
        totals->class_cycles[k] = totals->alone_cycles[k] = totals->stats.last_out[k] = totals->stats.first_in[k] = -1;
    return totals->latency ? 0 : -1;
}

/* Each side alone. */
static int run_alone(struct corun *c, struct err *err)
{
    const struct policy_head *alone = &dram_policy_alone()->head;
    struct replay_policy policy = {.head = alone, .params = mem_zalloc(1, alone->state_size, err)};
    if (!policy.params)
        return -1;
    param_defaults(alone->params, policy.params);
    int rc = 0;
    for (int s = 0; s < c->sides && !rc; s++) {
        struct dram_totals t;
        rc = totals_init(&t, err);
        if (!rc)
            rc = run_channels(
                c,
                &(struct together){.sides = &c->side[s], .count = 1, .policy = &policy, .vcs = 1, .limit = INT64_MAX},
                &t, err);
        if (!rc && t.starved[0])
            rc = err_set(err, "the %s side alone makes no end", c->side[s].class == DRAM_PIM ? "PIM" : "MEM");
        c->side[s].alone_cycles = t.class_cycles[0];
        if (t.cycles)
            c->side[s].alone_rate = (double)(t.stats.in[0] + t.stats.in[1]) / (double)t.cycles;
        free(t.latency);
    }
    free(policy.params);
    return rc;
}

static int64_t limit_of(const struct corun *c)
{
    const struct dram_settings *set = c->job->settings;
    if (set->run_limit_cycles)
        return set->run_limit_cycles;
    int64_t longest = 0;
    for (int s = 0; s < c->sides; s++)
        longest = c->side[s].alone_cycles > longest ? c->side[s].alone_cycles : longest;
    int64_t limit;
    bool none = !set->run_limit_factor || __builtin_mul_overflow(longest, set->run_limit_factor, &limit);
    return none ? INT64_MAX : limit;
}

static int run_policy(struct corun *c, size_t i, struct outcome *run, struct err *err)
{
    const struct dram_settings *set = c->job->settings;
    const bool watch = c->job->requests && i < c->job->listed_count;
    const bool took = c->job->latencies && i < c->job->listed_count;
    struct dram_totals t;
    if (totals_init(&t, err))
        return -1;
    if (took && !(t.took = mem_zalloc(DRAM_TOOK, sizeof *t.took, err))) {
        free(t.latency);
        return -1;
    }
    for (int s = 0; s < c->streams && watch; s++)
        dram_fates_clear(&c->fates[s], &c->stream[s]);
    const struct together all = {.sides = c->side,
                                 .count = c->sides,
                                 .policy = &c->job->policies[i],
                                 .vcs = (int)set->vcs,
                                 .repeat = c->repeat && c->sides == 2,
                                 .limit = limit_of(c),
                                 .told = true,
                                 .watch = watch,
                                 .took = took};
    int rc = run_channels(c, &all, &t, err);
    for (int s = 0; s < c->streams && watch && !rc; s++)
        rc = dram_requests_write(c->job->requests, &c->job->policies[i], &c->stream[s], &c->fates[s], err);
    if (took && !rc)
        dram_latencies_write(c->job->latencies, &c->job->policies[i], t.took);
    /* One side only: it has its place by class. */
    const bool pim_only = c->sides == 1 && c->side[0].class == DRAM_PIM;
    if (pim_only) {
        t.class_cycles[1] = t.class_cycles[0];
        t.starved[1] = t.starved[0];
        t.class_cycles[0] = -1;
        t.starved[0] = false;
    }
    for (int s = 0; s < c->sides; s++) {
        t.alone_cycles[pim_only ? 1 : s] = c->side[s].alone_cycles;
        t.requests[c->side[s].class] += c->side[s].stream->class_count[c->side[s].class];
    }
    t.two_gpu_kernels = c->sides == 2 && c->side[1].class == DRAM_MEM;
    if (c->side[0].class == DRAM_MEM && !t.two_gpu_kernels && t.cycles && c->side[0].alone_rate > 0)
        t.mem_arrival_ratio = (double)t.stats.in[DRAM_MEM] / (double)t.cycles / c->side[0].alone_rate;
    if (!rc) {
        struct dram_stream about = c->stream[0];
        about.untimed |= c->stream[1].untimed;
        dram_metrics_fill(run, c->job, &about, &t);
    }
    free(t.latency);
    free(t.took);
    progress_add(c->job->progress, 1);
    return rc ? err_at(err, "%s", c->job->policies[i].head->name) : 0;
}

int dram_corun_replay(const struct replay_job *job, struct outcome *runs, struct err *err)
{
    struct corun *c = mem_zalloc(1, sizeof *c, err);
    if (!c)
        return -1;
    c->job = job;
    int rc = find_sides(c, err);
    if (!rc)
        rc = run_alone(c, err);
    for (int s = 0; s < c->streams && job->requests && !rc; s++)
        rc = dram_fates_init(&c->fates[s], &c->stream[s], err);
    if (job->requests)
        dram_requests_head(job->requests);
    if (job->progress)
        atomic_store(&job->progress->total, job->policy_count);
    for (size_t i = 0; i < job->policy_count && !rc; i++)
        rc = job->progress && atomic_load(&job->progress->cancelled) ? err_set(err, "cancelled")
                                                                     : run_policy(c, i, &runs[i], err);
    for (int s = 0; s < 2; s++) {
        dram_fates_release(&c->fates[s]);
        dram_stream_release(&c->stream[s]);
    }
    free(c);
    return rc;
}
