/* Front end `corun` for request streams without a GPU model: a GPU kernel's beside a PIM kernel's or another GPU
 * kernel's, each also alone. Every channel is a separate closed loop before its memory partition. Times alone are those
 * under f3fs with its default caps and one virtual channel.
 *
 * A stream has arrival times, but does not say which request waits for which. A source is one side of a co-run on one
 * channel. Its requests are ready at their arrival (an offset from the start of the pass or launch). MEM requests need
 * a place in the window; PIM requests enter an input buffer at most once per pim_period. A launch ends when everything
 * is done; launch_gap cycles follow. A pass ends with its last launch; a repeated pass starts relaunch_gap later.
 *
 * Issued requests wait before their sub-partition's (bank mod 2) L2 to DRAM queues, of which one takes one request each
 * DRAM cycle, classes in turn, PIM first; then replay/dram/dram_partition.h. A read's write-back goes with it. Requests
 * marked as hits of L2 are answered at once. Streams are behind L2: interconnect and L2 are not simulated. */
#include <stdlib.h>
#include <string.h>

#include "replay/dram/dram_partition.h"
#include "trace/base/mem.h"
#include "trace/base/param_value.h"

/* MEM requests of a channel in flight at full occupancy, one coalesced 4-byte load per thread: 64 warps x 4 sectors x
 * 80 / 32; DRAM cycles between a pass and the next. */
enum { WINDOW = 640, RELAUNCH_GAP = 560 };

/* --- sources --- */

struct source {
    /* The source. */
    const struct dram_request *requests; /* of one class, with write-backs behind their reads */
    uint32_t count;
    size_t work; /* requests that need an answer: not write-backs */
    enum dram_class class;
    int64_t window; /* in flight; INT64_MAX: not limited */
    int64_t period; /* least cycles between two requests */
    int64_t launch_gap, relaunch_gap;
    bool repeat;
    /* Where it is: */
    uint32_t next;    /* position of the next request */
    int64_t base;     /* cycle of the launch's start */
    int64_t offset;   /* arrival of the launch's first request */
    int64_t earliest; /* of the next request, by the period */
    bool drains;      /* a launch has ended: nothing before all is done */
    int64_t in_flight;
    size_t done;        /* of this pass */
    bool again;         /* in a later pass */
    int64_t first_done; /* cycle in which the first pass was done, -1: not yet */
    int64_t *issued;    /* cycle each request of the pass was issued, by position */
};

/* Handles of requests that were issued; `tail - head` wait. */
struct issued {
    uint32_t *at;
    uint32_t head, tail, mask;
};

/* One side: its requests, and its results alone. */
struct side {
    const struct dram_stream *stream;
    enum dram_class class;
    int64_t alone_cycles;
    double alone_rate; /* requests into the controllers per cycle */
};

/* One channel's run. */
struct window {
    struct source source[2];
    const struct side *side[2]; /* of a source */
    int sources;
    struct dram_partition part;
    struct issued issued[DRAM_SUBS][2]; /* by class */
    uint32_t most_pim;                  /* issued and not yet in the partition */
    int last_in[DRAM_SUBS];
    uint32_t total;      /* requests of all sources */
    double core_cycles;  /* of a DRAM cycle */
    int64_t *timestamps; /* --requests: four arrays of the first passes' requests, then of later ones' */
    struct dram_commands commands;
    int64_t cycles;
};

/* The class's requests in a separate array, without window, period or gaps. A write-back goes with the request right
 * before it, whose miss in L2 makes it. One that follows another, or is the first (its victims lie on other channels),
 * is a write by itself and takes a place in the window until it is done. What L2 still has after the last launch goes
 * out right after it; that is no further launch. Released after failure too. */
static int source_init(struct source *s, const struct dram_stream *stream, uint32_t channel, enum dram_class class,
                       struct err *err)
{
    const struct dram_stream_channel *c = &stream->channel[channel];
    const bool pim = class == DRAM_PIM;
    struct dram_request *own = mem_zalloc(c->class_count[pim] + 1, sizeof *own, err);
    bool attaches = false; /* the request before is one that a write-back can go with */
    uint32_t last = 0;     /* that is no write-back */
    *s = (struct source){.requests = own, .class = class, .window = INT64_MAX, .period = 1, .first_done = -1};
    s->issued = own ? mem_zalloc(c->class_count[pim] + 1, sizeof *s->issued, err) : NULL;
    if (!s->issued)
        return -1;
    for (size_t i = 0; i < c->count; i++) {
        if (((c->requests[i].flags & DRAM_IS_PIM) != 0) != pim)
            continue;
        const bool posted = c->requests[i].flags & DRAM_IS_POSTED;
        own[s->count] = c->requests[i];
        if (posted && !attaches)
            own[s->count].flags &= (uint8_t)~DRAM_IS_POSTED;
        if (!posted)
            last = s->count;
        s->work += !posted || !attaches;
        s->count++;
        attaches = !posted;
    }
    for (uint32_t i = last; i < s->count; i++)
        own[i].flags &= (uint8_t)~DRAM_LAUNCH_END;
    return 0;
}

/* The cycle from which the next request may be issued, if nothing else stands in the way; INT64_MAX: not before
 * something in flight is done. */
static int64_t source_ready(const struct source *s)
{
    if (s->next == s->count || s->drains || s->in_flight >= s->window)
        return INT64_MAX;
    const int64_t at = s->base + s->requests[s->next].arrival - s->offset;
    return at > s->earliest ? at : s->earliest;
}

/* Whether a write-back follows request i. */
static bool source_evicts(const struct source *s, uint32_t i)
{
    return i + 1 < s->count && s->requests[i + 1].flags & DRAM_IS_POSTED;
}

/* Request `next` is issued at cycle t (it must be ready); its write-back, if it has one, goes with it. Returns its
 * position. */
static uint32_t source_issue(struct source *s, int64_t t)
{
    const uint32_t i = s->next++;
    s->issued[i] = t;
    s->in_flight++;
    s->earliest = t + s->period;
    bool end = s->requests[i].flags & DRAM_LAUNCH_END;
    if (s->next < s->count && s->requests[s->next].flags & DRAM_IS_POSTED)
        end |= (s->requests[s->next++].flags & DRAM_LAUNCH_END) != 0;
    s->drains = end;
    return i;
}

/* A request (not a write-back) is answered at cycle t. */
static void source_answer(struct source *s, int64_t t)
{
    s->in_flight--;
    s->done++;
    if (s->done == s->work) {
        s->again = true;
        if (s->first_done < 0)
            s->first_done = t;
        s->drains = false;
        s->done = 0;
        s->next = s->repeat ? 0 : s->count;
        s->offset = 0;
        s->base = t + 1 + s->relaunch_gap;
    } else if (s->drains && !s->in_flight) {
        s->drains = false;
        s->base = t + 1 + s->launch_gap;
        s->offset = s->next < s->count ? s->requests[s->next].arrival : 0;
    }
}

/* --- handles: the partition's ids, positions in the first source's requests, then in the second's; in a later pass
 * `total` more --- */

static uint32_t handle_of(const struct window *w, int source, uint32_t i)
{
    const struct source *s = &w->source[source];
    return (source ? w->source[0].count + i : i) + (s->again ? w->total : 0);
}

/* The request, and whose it is. */
static uint32_t position_of(const struct window *w, uint32_t handle, int *source)
{
    const uint32_t at = handle >= w->total ? handle - w->total : handle, first = w->source[0].count;
    *source = at >= first;
    return at >= first ? at - first : at;
}

/* The sources are set. Released after failure too. */
static int window_init(struct window *w, const struct replay_job *job, const struct replay_policy *policy, int vcs,
                       struct err *err)
{
    const struct dram_platform *dram = platform_section_get(job->platform, "dram");
    const struct gpu *gpu = platform_section_get(job->platform, "gpu");
    w->core_cycles = (double)gpu->clock_hz / (double)dram->clock_hz;
    w->most_pim = (uint32_t)dram->l2_queue;
    int64_t flying = w->most_pim; /* of a sub-partition and class, at most */
    for (int s = 0; s < w->sources; s++) {
        const int64_t most = w->source[s].window < w->source[s].count ? w->source[s].window : w->source[s].count;
        w->total += w->source[s].count;
        flying = w->source[s].class == DRAM_MEM && most > flying ? most : flying;
    }
    const uint32_t n = dram_ring_size(2 * (size_t)flying);
    for (int s = 0; s < DRAM_SUBS; s++)
        for (int class = 0; class < 2; class ++) {
            w->issued[s][class].mask = n - 1;
            if (!(w->issued[s][class].at = mem_zalloc(n, sizeof(uint32_t), err)))
                return -1;
        }
    return dram_partition_init(&w->part, job->platform, policy, vcs, err);
}

static void window_release(struct window *w)
{
    for (int s = 0; s < DRAM_SUBS; s++)
        for (int class = 0; class < 2; class ++)
            free(w->issued[s][class].at);
    for (int s = 0; s < 2; s++) {
        free((void *)(uintptr_t)w->source[s].requests);
        free(w->source[s].issued);
    }
    free(w->timestamps);
    dram_partition_release(&w->part);
}

static uint32_t waiting(const struct issued *q)
{
    return q->tail - q->head;
}

static int sub_of(const struct dram_request *r)
{
    return r->flags & DRAM_IS_PIM ? 0 : r->bank % DRAM_SUBS;
}

/* A source's request i is answered in cycle t. */
static void answer(struct window *w, int source, uint32_t i, int64_t t)
{
    struct source *s = &w->source[source];
    dram_answered(&w->part.channel->stats, s->class, t - s->issued[i]);
    source_answer(s, t);
}

/* Issue ready requests. */
static bool issue(struct window *w, int64_t t)
{
    bool moved = false;
    for (int s = 0; s < w->sources; s++) {
        struct source *src = &w->source[s];
        while (source_ready(src) <= t) {
            const struct dram_request *r = &src->requests[src->next];
            struct issued *to = &w->issued[sub_of(r)][src->class];
            if (src->class == DRAM_PIM && waiting(to) == w->most_pim)
                break;
            const uint32_t i = source_issue(src, t);
            moved = true;
            if (r->flags & DRAM_L2_HIT)
                answer(w, s, i, t);
            else
                to->at[to->tail++ & to->mask] = handle_of(w, s, i);
        }
    }
    return moved;
}

static void push(struct window *w, int sub, int vc, uint32_t handle)
{
    int source;
    const uint32_t i = position_of(w, handle, &source);
    const struct dram_request *r = &w->source[source].requests[i];
    dram_partition_push(&w->part, sub, vc,
                        (struct dram_waiting){r->row, handle, r->bank, (uint8_t)(r->flags & (DRAM_L2_HIT - 1))});
}

/* One request of a sub-partition enters its L2 to DRAM queue, with its write-back if it has one. */
static bool enter(struct window *w, int sub)
{
    for (int k = 0; k < 2; k++) {
        const int class = k == 0 ? !w->last_in[sub] : w->last_in[sub], vc = w->part.vcs == 2 ? class : 0;
        struct issued *from = &w->issued[sub][class];
        if (!waiting(from))
            continue;
        const uint32_t handle = from->at[from->head & from->mask];
        int source;
        const uint32_t i = position_of(w, handle, &source);
        const bool evicts = class == DRAM_MEM && source_evicts(&w->source[source], i);
        if (dram_partition_room(&w->part, sub, vc) < 1u + evicts)
            continue;
        from->head++;
        w->last_in[sub] = class;
        push(w, sub, vc, handle);
        if (evicts)
            push(w, sub, vc, handle + 1);
        return true;
    }
    return false;
}

/* Complete requests: return their credits and answer them. */
static bool finish(struct window *w, int64_t t)
{
    bool moved = false;
    const struct dram_completion *c;
    while ((c = dram_partition_done(&w->part, t))) {
        const uint32_t handle = c->id;
        const bool posted = c->flags & DRAM_IS_POSTED;
        int source;
        const uint32_t i = position_of(w, handle, &source);
        /* A write-back left L2 through its read's sub-partition. */
        dram_partition_leave(&w->part, sub_of(&w->source[source].requests[i - posted]));
        if (!posted)
            answer(w, source, i, t);
        moved = true;
    }
    return moved;
}

/* --- the loop --- */

/* The next cycle at which something can happen after a cycle in which nothing moved. */
static int64_t next_event(const struct window *w, int64_t t)
{
    const struct dram_partition *p = &w->part;
    int64_t next = p->next;
    for (int s = 0; s < w->sources; s++) {
        const int64_t ready = source_ready(&w->source[s]);
        if (ready > t && ready < next)
            next = ready;
    }
    for (int v = 0; v < DRAM_VCS; v++)
        if (p->wait_due[v] != INT64_MAX) {
            int64_t at = (int64_t)((double)p->wait_due[v] / w->core_cycles);
            at = at > t ? at : t + 1; /* rounded down: the cycle itself or the one before */
            next = at < next && p->wait_due[v] > (int64_t)((double)t * w->core_cycles) ? at : next;
        }
    if (p->done_next != INT64_MAX)
        next = p->done_next > t && p->done_next < next ? p->done_next : next;
    return next;
}

static bool all_done(const struct window *w)
{
    for (int s = 0; s < w->sources; s++)
        if (w->source[s].first_done < 0)
            return false;
    return true;
}

/* Run until every source has finished a pass, or `limit` cycles, or nothing can happen. Returns the cycles run. */
static int64_t window_run(struct window *w, int64_t limit)
{
    int64_t t = 0;
    while (t < limit) {
        const int64_t core = (int64_t)((double)t * w->core_cycles);
        dram_partition_step(&w->part, t);
        bool moved = finish(w, t);
        if (all_done(w))
            return t + 1;
        moved |= dram_partition_move(&w->part, t, core) != 0;
        for (int s = 0; s < DRAM_SUBS; s++)
            moved |= enter(w, s);
        moved |= issue(w, t);
        const int64_t next = moved ? t + 1 : next_event(w, t);
        if (next == INT64_MAX)
            return t + 1;
        t = next;
    }
    return limit;
}

/* --- sides --- */

struct corun {
    const struct replay_job *job;
    struct dram_stream stream[2];
    int streams;
    struct side side[2];
    int sides;
    uint32_t channels;
    bool repeat;
    struct dram_request_log request_log[2]; /* by stream: --requests, of the first passes; else empty */
};

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
        if (dram_stream_load(&c->stream[s], job->inputs, job->input_count, take[s], job->platform, job->progress, err))
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

static void set_up_source(const struct corun *c, struct source *s, const struct side *side)
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

/* Room for every request's cycles. */
static int window_watch(struct window *w, struct err *err)
{
    const size_t n = 2 * (size_t)w->total;
    int64_t *f = w->timestamps = mem_zalloc(n + 1, 4 * sizeof *w->timestamps, err);
    if (!f)
        return -1;
    memset(f, 0xff, n * 4 * sizeof *f);
    w->part.channel->timestamps = (struct dram_timestamps){f, f + n, f + 2 * n, f + 3 * n};
    return 0;
}

/* Hand the first passes' cycles to the streams' positions. */
static void window_report(const struct window *w, struct corun *c, uint32_t channel)
{
    const struct dram_timestamps *timestamps = &w->part.channel->timestamps;
    size_t from = 0;
    for (int s = 0; s < w->sources; s++) {
        const struct dram_stream_channel *requests = &w->side[s]->stream->channel[channel];
        struct dram_timestamps *to = &c->request_log[w->side[s]->stream - c->stream].channel[channel];
        const bool pim = w->side[s]->class == DRAM_PIM;
        for (size_t i = 0, k = from; i < requests->count; i++) {
            if (((requests->requests[i].flags & DRAM_IS_PIM) != 0) != pim)
                continue;
            to->enter[i] = timestamps->enter[k];
            to->sched[i] = timestamps->sched[k];
            to->column[i] = timestamps->column[k];
            to->done[i] = timestamps->done[k++];
        }
        from += w->source[s].count;
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
};

/* Index of a side in the totals; of a single side, by its class. */
static int place_of(const struct together *run, const struct side *side)
{
    return run->count == 1 ? side->class == DRAM_PIM : (int)(side - run->sides);
}

static int run_channel(struct window *w, struct corun *c, const struct together *run, uint32_t channel, struct err *err)
{
    const struct side *sides = run->sides;
    for (int s = 0; s < run->count; s++) {
        if (channel >= sides[s].stream->channels || !sides[s].stream->channel[channel].class_count[sides[s].class])
            continue;
        struct source *src = &w->source[w->sources];
        if (source_init(src, sides[s].stream, channel, sides[s].class, err))
            return -1;
        set_up_source(c, src, &sides[s]);
        src->repeat = run->repeat;
        w->side[w->sources++] = &sides[s];
    }
    if (!w->sources)
        return 0;
    if (window_init(w, c->job, run->policy, run->vcs, err) || (run->watch && window_watch(w, err)))
        return -1;
    w->commands.channel = channel;
    if (run->told)
        dram_commands_attach(&w->commands, w->part.channel, c->job);
    if (channel == 0 && run->told)
        dram_explain_attach(w->part.channel, c->job, run->policy,
                            run->count == 1 ? &sides[0].stream->channel[0] : NULL); /* two sides: ids are of neither */
    w->cycles = window_run(w, run->limit);
    if (run->watch)
        window_report(w, c, channel);
    return dram_channel_check(w->part.channel, false, err);
}

static void add_channel(struct dram_totals *totals, const struct window *w, const struct together *run)
{
    const struct dram_policy *rules = (const struct dram_policy *)run->policy->head;
    const struct dram_partition *part = &w->part;
    dram_stats_add(&totals->stats, &part->channel->stats);
    totals->channels++;
    totals->cycles = w->cycles > totals->cycles ? w->cycles : totals->cycles;
    totals->blacklists = rules->favoured_cycles != NULL;
    for (int k = 0; k < 2 && rules->favoured_cycles; k++)
        totals->favoured[k] += rules->favoured_cycles(part->state, (enum dram_class)k);
    for (int s = 0; s < w->sources; s++) {
        const int at = place_of(run, w->side[s]);
        const int64_t done = w->source[s].first_done;
        totals->starved[at] |= done < 0;
        if (done + 1 > totals->class_cycles[at])
            totals->class_cycles[at] = done + 1;
    }
}

/* All channels; results are added to *totals. */
static int run_channels(struct corun *c, const struct together *run, struct dram_totals *totals, struct err *err)
{
    int failed = 0;
#pragma omp parallel for schedule(dynamic)                                                                             \
    num_threads(c->job->threads) if (c->channels > 1 && !dram_options(c->job)->commands)
    for (uint32_t i = 0; i < c->channels; i++) {
        if (__atomic_load_n(&failed, __ATOMIC_RELAXED))
            continue;
        struct window w = {0};
        struct err mine = {""};
        const int rc = run_channel(&w, c, run, i, &mine);
#pragma omp critical(dram_corun)
        if (rc && !failed) {
            failed = 1;
            err_set(err, "channel %u: %s", i, mine.msg);
        } else if (!rc && w.sources) {
            add_channel(totals, &w, run);
        }
        window_release(&w);
    }
    return failed ? -1 : 0;
}

static int run_alone(struct corun *c, struct side *side, const struct replay_policy *policy, int vcs, int64_t limit,
                     struct err *err)
{
    struct dram_totals t = dram_totals_new();
    const struct together alone = {.sides = side, .count = 1, .policy = policy, .vcs = vcs, .limit = limit};
    int rc = run_channels(c, &alone, &t, err);
    if (!rc && t.starved[side->class])
        rc = err_set(err, "the %s side does not finish, even alone", side->class == DRAM_PIM ? "PIM" : "MEM");
    side->alone_cycles = t.class_cycles[side->class];
    if (t.cycles)
        side->alone_rate = (double)(t.stats.in[0] + t.stats.in[1]) / (double)t.cycles;
    return rc;
}

/* Each side alone: f3fs with its defaults. */
static int run_sides_alone(struct corun *c, struct err *err)
{
    const struct policy_head *alone = &dram_policy_alone_baseline()->head;
    struct replay_policy policy = {.head = alone, .params = mem_zalloc(1, alone->state_size, err)};
    if (!policy.params)
        return -1;
    param_defaults(alone->params, policy.params);
    int rc = 0;
    for (int s = 0; s < c->sides && !rc; s++)
        rc = run_alone(c, &c->side[s], &policy, 1, INT64_MAX, err);
    free(policy.params);
    return rc;
}

/* Report the sides' results alone, and the metrics. */
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

/* Warn of the sides that were done sooner than alone. */
static int note_faster(struct corun *c, const struct together *all, const struct dram_totals *t, struct outcome *run,
                       struct err *err)
{
    char how[200], label[160];
    int rc = 0;
    for (int s = 0; s < c->sides && !rc; s++) {
        const int at = place_of(all, &c->side[s]);
        struct side control = c->side[s];
        if (t->starved[at] || t->class_cycles[at] >= control.alone_cycles)
            continue;
        (void)snprintf(how, sizeof how, "under %s with vcs=%d", replay_policy_label(all->policy, label, sizeof label),
                       all->vcs);
        rc = run_alone(c, &control, all->policy, all->vcs, all->limit, err);
        if (!rc)
            dram_note_faster(run, control.class == DRAM_PIM ? "PIM" : "MEM", t->class_cycles[at],
                             c->side[s].alone_cycles, control.alone_cycles, how);
    }
    return rc;
}

static int run_policy(struct corun *c, size_t i, struct outcome *run, struct err *err)
{
    const struct replay_job *job = c->job;
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
                                 .watch = job->requests && i < job->listed_count};
    struct dram_totals t = dram_totals_new();
    for (int s = 0; s < c->streams && all.watch; s++)
        dram_request_log_clear(&c->request_log[s], &c->stream[s]);
    int rc = run_channels(c, &all, &t, err);
    for (int s = 0; s < c->streams && all.watch && !rc; s++)
        rc = dram_requests_write(job->requests, all.policy, &c->stream[s], &c->request_log[s], err);
    if (!rc) {
        report(c, &all, &t, run);
        rc = job->drawn ? 0 : note_faster(c, &all, &t, run, err); /* of a draw nobody reads the notes */
    }
    progress_add(job->progress, 1);
    return rc ? err_at(err, "%s", all.policy->head->name) : 0;
}

int dram_corun_streams_replay(const struct replay_job *job, struct outcome *runs, struct err *err)
{
    struct corun *c = mem_zalloc(1, sizeof *c, err);
    if (!c)
        return -1;
    c->job = job;
    int rc = find_sides(c, err);
    if (!rc)
        rc = run_sides_alone(c, err);
    for (int s = 0; s < c->streams && job->requests && !rc; s++)
        rc = dram_request_log_init(&c->request_log[s], &c->stream[s], err);
    if (job->requests)
        dram_requests_head(job->requests);
    if (job->progress)
        atomic_store(&job->progress->total, job->policy_count);
    for (size_t i = 0; i < job->policy_count && !rc; i++)
        rc = job->progress && atomic_load(&job->progress->cancelled) ? err_set(err, "cancelled")
                                                                     : run_policy(c, i, &runs[i], err);
    for (int s = 0; s < 2; s++) {
        dram_request_log_release(&c->request_log[s]);
        dram_stream_release(&c->stream[s]);
    }
    free(c);
    return rc;
}
