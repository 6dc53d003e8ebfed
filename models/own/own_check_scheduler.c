/* The check of dram schedulers: every hook is asked twice, on a copy of the state too, while made-up requests go
 * through one channel in the program's loop; then the loop that skips cycles against every cycle. */
#include <string.h>

#include "models/dram/dram_platform.h"
#include "models/own/own_check_parts.h"
#include "models/own/own_services.h"

enum { REQUESTS = 800, CYCLES = 64, STEPS = 96, LIMIT = 100000, STREAMS = 3 };

/* What became of the requests of a run. */
struct fates {
    int64_t sched[REQUESTS], done[REQUESTS];
};

struct scheduler_scene {
    struct dram_channel channel;
    struct dram_hooks hooks; /* ours: each asks the policy's */
    struct dram_request requests[REQUESTS];
    struct fates fates;
    struct dram_latency latency[2];
    struct err err; /* of the first hook that broke a rule */
    int64_t now;
    uint32_t head;
};

/* --- the hooks between loop and policy: their state is the trial --- */

static struct scheduler_scene *scene_of(const struct own_trial *t)
{
    return t->scene;
}

static bool broken(const struct own_trial *t)
{
    return scene_of(t)->err.msg[0];
}

/* The hook ran on the state, then on the copy from before it: both are the same afterwards, and so are the answers. */
static void hold(struct own_trial *t, const char *hook, int64_t answer, int64_t again)
{
    struct err *err = &scene_of(t)->err;
    if (broken(t))
        return;
    if (answer != again || memcmp(t->state, t->before, t->policy->state_size) != 0)
        (void)own_broken(t, hook, err,
                         "does not do the same twice: it must not look at a clock, a file, a random source or memory "
                         "outside its state");
    else
        (void)own_answer_number(t, hook, answer, err);
}

static enum dram_leave ask_leaves(void *state, const struct dram_channel *channel, dram_banks hits)
{
    struct own_trial *t = state;
    own_note_state(t);
    const enum dram_leave leave = t->hooks->leaves(t->state, channel, hits);
    hold(t, "leaves", leave, t->hooks->leaves(t->before, channel, hits));
    if (leave > DRAM_LEAVE_CAP && !broken(t))
        (void)own_broken(t, "leaves", &scene_of(t)->err, "answers %d, which is no enum dram_leave", (int)leave);
    return leave;
}

static void ask_served(void *state, const struct dram_channel *channel, enum dram_class class, uint32_t row,
                       uint32_t seq)
{
    struct own_trial *t = state;
    own_note_state(t);
    t->hooks->served(t->state, channel, class, row, seq);
    t->hooks->served(t->before, channel, class, row, seq);
    hold(t, "served", 0, 0);
}

static dram_banks ask_stalled(const void *state)
{
    struct own_trial *t = (struct own_trial *)(uintptr_t)state;
    own_note_state(t);
    const dram_banks banks = t->hooks->stalled(t->state);
    if (own_same_state(t, "stalled", broken(t) ? NULL : &scene_of(t)->err) == 0)
        hold(t, "stalled", (int64_t)banks, (int64_t)t->hooks->stalled(t->state));
    return banks;
}

static void ask_alone(void *state, int64_t served)
{
    struct own_trial *t = state;
    own_note_state(t);
    t->hooks->alone(t->state, served);
    t->hooks->alone(t->before, served);
    hold(t, "alone", 0, 0);
}

static bool ask_asked(void *state, dram_banks banks)
{
    struct own_trial *t = state;
    own_note_state(t);
    const bool news = t->hooks->asked(t->state, banks);
    hold(t, "asked", news, t->hooks->asked(t->before, banks));
    return news;
}

static void ask_begin(void *state, int64_t now)
{
    struct own_trial *t = state;
    own_note_state(t);
    t->hooks->begin(t->state, now);
    t->hooks->begin(t->before, now);
    hold(t, "begin", 0, 0);
}

static void ask_advance(void *state, const struct dram_channel *channel, int64_t n)
{
    struct own_trial *t = state;
    own_note_state(t);
    t->hooks->advance(t->state, channel, n);
    t->hooks->advance(t->before, channel, n);
    hold(t, "advance", 0, 0);
}

static int64_t ask_next(void *state, const struct dram_channel *channel, int64_t now)
{
    struct own_trial *t = state;
    own_note_state(t);
    const int64_t next = t->hooks->next(t->state, channel, now);
    hold(t, "next", next, t->hooks->next(t->before, channel, now));
    if (next <= now && !broken(t))
        (void)own_broken(t, "next", &scene_of(t)->err, "says %lld at cycle %lld; expected a later cycle",
                         (long long)next, (long long)now);
    return next;
}

static struct dram_hooks watched(const struct dram_hooks *h)
{
    return (struct dram_hooks){.fifo = h->fifo,
                               .needs_hits = h->needs_hits,
                               .quiet = h->quiet,
                               .leaves = ask_leaves,
                               .served = h->served ? ask_served : NULL,
                               .stalled = h->stalled ? ask_stalled : NULL,
                               .alone = h->alone ? ask_alone : NULL,
                               .asked = h->asked ? ask_asked : NULL,
                               .begin = h->begin ? ask_begin : NULL,
                               .advance = h->advance ? ask_advance : NULL,
                               .next = h->next ? ask_next : NULL};
}

/* --- requests --- */

/* Phases of both classes, of one, of long rows; some begin after a pause in which the queues run empty. */
static void make_requests(struct dram_request *r, struct random *x)
{
    int64_t t = 0;
    for (uint32_t i = 0, pims = 30, end = 40; i < REQUESTS; i++) {
        if (i == end) {
            end += 20 + random_below(x, 150);
            pims = random_below(x, 2) ? random_below(x, 100) : 0;
            t += random_below(x, 2) ? random_below(x, 3000) : 0;
        }
        t += random_below(x, 3) ? 0 : random_below(x, 12);
        if (random_below(x, 100) < pims)
            r[i] = (struct dram_request){t, 4000 + i / 8, 0, 8, 1 | DRAM_IS_WRITE | DRAM_IS_PIM};
        else
            r[i] = (struct dram_request){t, 1 + random_below(x, 4), 0, (uint8_t)random_below(x, 16),
                                         random_below(x, 3) ? 1 : 1 | DRAM_IS_WRITE};
    }
}

static int fresh_channel(struct own_trial *t, struct err *err)
{
    struct scheduler_scene *s = t->scene;
    struct dram_platform platform;
    param_defaults(dram_params, &platform);
    if (dram_channel_init(&s->channel, &platform, err))
        return -1;
    memset(&s->fates, 0xff, sizeof s->fates);
    s->channel.fate = (struct dram_fate){.sched = s->fates.sched, .done = s->fates.done};
    s->now = 0;
    s->head = 0;
    memcpy(t->state, t->params, t->policy->state_size);
    return 0;
}

static int scheduler_open(struct own_trial *t, struct err *err)
{
    struct scheduler_scene *s = t->scene;
    const struct dram_policy *p = (const struct dram_policy *)t->policy;
    if (p->check && p->check(t->params, err))
        return err_at(err, "policy %s", t->policy->name);
    make_requests(s->requests, &t->random);
    s->hooks = watched(t->hooks);
    return fresh_channel(t, err);
}

/* --- cycle by cycle --- */

static void one_cycle(struct own_trial *t)
{
    struct scheduler_scene *s = t->scene;
    (void)offchip_dram_loop_step(&s->channel, &s->hooks, t, s->now);
    s->channel.completion_head = s->channel.completion_tail;
    const struct dram_request *r = &s->requests[s->head];
    if (s->head < REQUESTS && r->arrival <= s->now &&
        dram_channel_room(&s->channel, r->flags & DRAM_IS_PIM ? DRAM_PIM : DRAM_MEM)) {
        dram_enter(&s->channel, s->hooks.fifo, (int32_t)(s->now - s->channel.base), r->row, r->bank, r->flags, s->head);
        s->head++;
    }
    s->now++;
}

static int broken_to(const struct own_trial *t, struct err *err)
{
    if (!broken(t))
        return 0;
    *err = scene_of(t)->err;
    return -1;
}

static int scheduler_step(struct own_trial *t, struct err *err)
{
    const struct dram_policy *p = (const struct dram_policy *)t->policy;
    for (int i = 0; i < CYCLES; i++)
        one_cycle(t);
    if (p->favoured && own_answer_number(t, "favoured", p->favoured(t->state, DRAM_MEM), err))
        return -1;
    return broken_to(t, err);
}

/* --- the loop that skips cycles --- */

static bool finished(const struct scheduler_scene *s)
{
    return s->channel.stats.out[DRAM_MEM] + s->channel.stats.out[DRAM_PIM] == REQUESTS;
}

/* Where a run that skips differs from every cycle's; NULL: nowhere. */
static const char *difference(const struct fates *every, const struct fates *skips, bool ended)
{
    if (memcmp(every->sched, skips->sched, sizeof every->sched) != 0)
        return "what is selected when";
    return ended && memcmp(every->done, skips->done, sizeof every->done) != 0 ? "what is done when" : NULL;
}

static int feed(struct own_trial *t, bool quiet, const struct fates *every, bool ended, struct err *err)
{
    struct scheduler_scene *s = t->scene;
    if (fresh_channel(t, err))
        return -1;
    struct dram_hooks hooks = s->hooks;
    hooks.quiet = quiet;
    struct dram_feed feed = {
        .requests = s->requests, .count = REQUESTS, .vcs = 1, .limit = LIMIT, .latency = s->latency};
    offchip_dram_loop_feed(&s->channel, &hooks, t, &feed);
    const char *what = difference(every, &s->fates, ended && feed.finished);
    if (broken_to(t, err))
        return -1;
    if (ended != feed.finished)
        what = "whether the requests come to an end";
    if (!what)
        return 0;
    if (quiet)
        return err_set(err, "policy %s: without the promise `quiet` %s is another: see struct dram_hooks",
                       t->policy->name, what);
    return own_broken(t, t->hooks->advance || t->hooks->next ? "advance and next" : "leaves", err,
                      "goes by cycles that the loop does not visit: with them %s is another. advance() adds the cycles "
                      "that pass, next() says when leaves() may change by the clock alone",
                      what);
}

/* One stream through every cycle, then through the loop that skips. */
static int one_stream(struct own_trial *t, struct err *err)
{
    struct scheduler_scene *s = t->scene;
    make_requests(s->requests, &t->random);
    if (fresh_channel(t, err))
        return -1;
    while (s->now < LIMIT && !finished(s) && !broken(t))
        one_cycle(t);
    const bool ended = finished(s);
    const struct fates every = s->fates;
    if (broken_to(t, err) || feed(t, false, &every, ended, err))
        return -1;
    return t->hooks->quiet ? feed(t, true, &every, ended, err) : 0;
}

static int scheduler_after(struct own_trial *t, struct err *err)
{
    int rc = 0;
    for (int i = 0; i < STREAMS && rc == 0; i++)
        rc = one_stream(t, err);
    return rc;
}

static void scheduler_close(struct own_trial *t)
{
    (void)t;
}

const struct own_exam own_exam_scheduler = {.scene_size = sizeof(struct scheduler_scene),
                                            .steps = STEPS,
                                            .open = scheduler_open,
                                            .step = scheduler_step,
                                            .close = scheduler_close,
                                            .after = scheduler_after};
