/* Front end `corun` of streams of requests that are no programs: a GPU kernel's beside a PIM kernel's (or another GPU
 * kernel's), each also alone. Every channel is a run of its own (replay/dram/dram_window.c). Times alone are those
 * under f3fs with its default caps and one virtual channel. Programs: replay/dram/corun_programs.c. */

#include <stdlib.h>
#include <string.h>

#include "replay/dram/dram_files.h"
#include "replay/dram/dram_partition.h"
#include "replay/dram/dram_simulation.h"
#include "trace/base/mem.h"
#include "trace/base/param_value.h"

/* MEM requests of a channel in flight at full occupancy, one coalesced 4-byte load per thread: 64 warps x 4 sectors x
 * 80 / 32; DRAM cycles between a pass and the next. */
enum { WINDOW = 640, RELAUNCH_GAP = 560 };

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
    struct dram_latency *took;
    struct dram_commands commands;
    int64_t cycles;
    int64_t *fate; /* four arrays of the first passes' requests, then of later ones' */
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
    c->repeat = c->sides == 2 && ((const struct dram_settings *)job->settings)->loop;
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
    s->relaunch_gap = RELAUNCH_GAP;
    if (side->class == DRAM_PIM)
        s->period = dram->pim_period;
    else
        s->window = WINDOW;
}

/* --- runs --- */

static void lane_release(struct lane *lane)
{
    dram_window_release(&lane->window);
    for (int s = 0; s < 2; s++)
        dram_source_release(&lane->source[s]);
    free(lane->took);
    free(lane->fate);
}

/* Room for every request's cycles. */
static int lane_watch(struct lane *lane, struct err *err)
{
    const size_t n = 2 * (size_t)lane->window.total;
    int64_t *f = lane->fate = mem_zalloc(n + 1, 4 * sizeof *lane->fate, err);
    if (!f)
        return -1;
    memset(f, 0xff, n * 4 * sizeof *f);
    lane->window.part.channel->fate = (struct dram_fate){f, f + n, f + 2 * n, f + 3 * n};
    return 0;
}

/* Hand the first passes' cycles to the streams' positions. */
static void lane_report(struct lane *lane, struct corun *c, uint32_t channel)
{
    const struct dram_fate *fate = &lane->window.part.channel->fate;
    size_t from = 0;
    for (int s = 0; s < lane->window.sources; s++) {
        const struct dram_stream_channel *requests = &lane->side[s]->stream->channel[channel];
        struct dram_fate *to = &c->fates[lane->side[s]->stream - c->stream].channel[channel];
        const bool pim = lane->side[s]->class == DRAM_PIM;
        for (size_t i = 0, k = from; i < requests->count; i++) {
            if (((requests->requests[i].flags & DRAM_IS_PIM) != 0) != pim)
                continue;
            to->enter[i] = fate->enter[k];
            to->sched[i] = fate->sched[k];
            to->column[i] = fate->column[k];
            to->done[i] = fate->done[k++];
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

/* Where the totals keep what is of a side: of one only by its class. */
static int place_of(const struct together *run, const struct side *side)
{
    return run->count == 1 ? side->class == DRAM_PIM : (int)(side - run->sides);
}

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
    if (dram_window_init(p, c->job, run->policy, run->vcs, err))
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

static void add_lane(struct dram_totals *totals, const struct lane *lane, const struct together *run)
{
    const struct dram_policy *rules = (const struct dram_policy *)run->policy->head;
    const struct dram_partition *part = &lane->window.part;
    dram_stats_add(&totals->stats, &part->channel->stats);
    totals->channels++;
    totals->cycles = lane->cycles > totals->cycles ? lane->cycles : totals->cycles;
    totals->blacklists = rules->favoured != NULL;
    for (int k = 0; k < 2 && rules->favoured; k++)
        totals->favoured[k] += rules->favoured(part->state, (enum dram_class)k);
    for (int k = 0; k < DRAM_TOOK && lane->took; k++)
        dram_latency_merge(&totals->took[k], &lane->took[k]);
    for (int s = 0; s < lane->window.sources; s++) {
        const int at = place_of(run, lane->side[s]);
        const int64_t done = lane->source[s].first_done;
        totals->starved[at] |= done < 0;
        if (done + 1 > totals->class_cycles[at])
            totals->class_cycles[at] = done + 1;
    }
}

/* All channels; results are added to *totals. */
static int run_channels(struct corun *c, const struct together *run, struct dram_totals *totals, struct err *err)
{
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
            add_lane(totals, &lane, run);
        }
        lane_release(&lane);
    }
    return failed ? -1 : 0;
}

static int run_alone(struct corun *c, struct side *side, const struct replay_policy *policy, struct err *err)
{
    struct dram_totals t = dram_totals_new();
    const struct together alone = {.sides = side, .count = 1, .policy = policy, .vcs = 1, .limit = INT64_MAX};
    int rc = run_channels(c, &alone, &t, err);
    if (!rc && t.starved[side->class])
        rc = err_set(err, "the %s side alone makes no end", side->class == DRAM_PIM ? "PIM" : "MEM");
    side->alone_cycles = t.class_cycles[side->class];
    if (t.cycles)
        side->alone_rate = (double)(t.stats.in[0] + t.stats.in[1]) / (double)t.cycles;
    return rc;
}

/* Each side alone: f3fs with its defaults. */
static int run_sides_alone(struct corun *c, struct err *err)
{
    const struct policy_head *alone = &dram_policy_alone()->head;
    struct replay_policy policy = {.head = alone, .params = mem_zalloc(1, alone->state_size, err)};
    if (!policy.params)
        return -1;
    param_defaults(alone->params, policy.params);
    int rc = 0;
    for (int s = 0; s < c->sides && !rc; s++)
        rc = run_alone(c, &c->side[s], &policy, err);
    free(policy.params);
    return rc;
}

/* What the sides were alone, and the metrics. */
static void report(const struct corun *c, const struct together *all, struct dram_totals *t, struct outcome *run)
{
    for (int s = 0; s < c->sides; s++) {
        const struct side *side = &c->side[s];
        t->alone_cycles[place_of(all, side)] = side->alone_cycles;
        t->requests[side->class] += side->stream->class_count[side->class];
    }
    t->two_gpu_kernels = c->sides == 2 && c->side[1].class == DRAM_MEM;
    if (c->side[0].class == DRAM_MEM && !t->two_gpu_kernels && t->cycles && c->side[0].alone_rate > 0)
        t->mem_arrival_ratio = (double)t->stats.in[DRAM_MEM] / (double)t->cycles / c->side[0].alone_rate;
    struct dram_stream about = c->stream[0];
    about.untimed |= c->stream[1].untimed;
    dram_metrics_fill(run, c->job, &about, NULL, t);
}

static int run_policy(struct corun *c, size_t i, struct outcome *run, struct err *err)
{
    const struct replay_job *job = c->job;
    const bool listed = i < job->listed_count;
    int64_t longest = 0;
    for (int s = 0; s < c->sides; s++)
        longest = c->side[s].alone_cycles > longest ? c->side[s].alone_cycles : longest;
    const struct together all = {.sides = c->side,
                                 .count = c->sides,
                                 .policy = &job->policies[i],
                                 .vcs = (int)((const struct dram_settings *)job->settings)->vcs,
                                 .repeat = c->repeat,
                                 .limit = dram_run_limit(job->settings, longest),
                                 .told = true,
                                 .watch = job->requests && listed,
                                 .took = job->latencies && listed};
    struct dram_totals t = dram_totals_new();
    int rc = all.took && !(t.took = mem_zalloc(DRAM_TOOK, sizeof *t.took, err)) ? -1 : 0;
    for (int s = 0; s < c->streams && all.watch; s++)
        dram_fates_clear(&c->fates[s], &c->stream[s]);
    if (!rc)
        rc = run_channels(c, &all, &t, err);
    for (int s = 0; s < c->streams && all.watch && !rc; s++)
        rc = dram_requests_write(job->requests, all.policy, &c->stream[s], &c->fates[s], err);
    if (!rc && all.took)
        dram_latencies_write(job->latencies, all.policy, t.took);
    if (!rc)
        report(c, &all, &t, run);
    free(t.took);
    progress_add(job->progress, 1);
    return rc ? err_at(err, "%s", all.policy->head->name) : 0;
}

int dram_corun_replay(const struct replay_job *job, struct outcome *runs, struct err *err)
{
    struct corun *c = mem_zalloc(1, sizeof *c, err);
    if (!c)
        return -1;
    c->job = job;
    int rc = find_sides(c, err);
    if (!rc)
        rc = run_sides_alone(c, err);
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
