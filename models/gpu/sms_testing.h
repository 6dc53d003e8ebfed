/* sms_testing: programs by hand, and a sink that answers every packet after so many cycles; for tests.
 *
 * The sink takes at most one packet a cycle from each multiprocessor and notes it. */
#pragma once

#include "models/gpu/sms.h"
#include "trace/base/testing.h"

/* A program of one allocation at 0x10000; `fill` makes body `index` of a warp, as program_ops.body. */
struct hand_program {
    struct program_alloc alloc;
    struct program_launch launch;
    uint32_t launches;
    int (*fill)(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body);
    uint64_t number; /* for fill */
};

static inline const struct program_alloc *hand_allocs(const void *state, size_t *n)
{
    *n = 1;
    return &((const struct hand_program *)state)->alloc;
}

static inline uint32_t hand_launches(const void *state)
{
    return ((const struct hand_program *)state)->launches;
}

static inline void hand_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    (void)launch;
    *out = ((const struct hand_program *)state)->launch;
}

static inline int hand_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                            struct err *err)
{
    const struct hand_program *p = run;
    (void)launch;
    int rc = p->fill(p, warp, index, body);
    return rc < 0 ? err_set(err, "no such body") : rc;
}

static inline struct program hand_program(struct hand_program *p, uint64_t blocks, uint32_t threads,
                                          int (*fill)(const struct hand_program *, uint64_t, uint32_t,
                                                      struct program_body *))
{
    static const struct program_ops ops = {
        .allocs = hand_allocs, .launches = hand_launches, .launch = hand_launch, .body = hand_body};
    *p = (struct hand_program){.alloc = {.name = "a", .addr = 0x10000, .bytes = 1 << 24},
                               .launch = {.kernel = "k", .blocks = blocks, .threads = threads},
                               .launches = 1,
                               .fill = fill};
    return (struct program){&ops, p, -1};
}

/* --- the sink --- */

struct sink_note {
    int64_t t;
    uint32_t sm;
    struct sms_packet packet;
};

struct sink {
    int64_t latency; /* cycles from taking to the reply, >= 1 */
    int64_t shut;    /* takes nothing before this cycle */
    int64_t end;     /* cycle of the step, pop or reply after which all was done */
    struct sink_note *note;
    size_t n, cap, answered;
    uint64_t steps;
    bool forgets; /* keep no notes of what is answered */
};

static inline void sink_take(struct sink *k, struct sms *s, uint32_t sm, int64_t t)
{
    if (k->n == k->cap) {
        if (k->forgets && k->answered > k->cap / 2) {
            memmove(k->note, k->note + k->answered, (k->n - k->answered) * sizeof *k->note);
            k->n -= k->answered;
            k->answered = 0;
        } else {
            k->cap = k->cap ? 2 * k->cap : 1024;
            k->note = realloc(k->note, k->cap * sizeof *k->note);
            ck_assert_ptr_nonnull(k->note);
        }
    }
    k->note[k->n++] = (struct sink_note){t, sm, *sms_head(s, sm)};
    sms_pop(s, sm, t);
}

/* One cycle; returns the next in which something happens. */
static inline int64_t sink_cycle(struct sink *k, struct sms *s, uint32_t sms, int64_t t)
{
    sms_step(s, t);
    k->steps++;
    bool waits = false;
    for (uint32_t i = 0; i < (sms + 63) / 64; i++)
        for (uint64_t rest = sms_heads(s)[i]; rest; rest &= rest - 1) {
            uint32_t sm = i * 64 + (uint32_t)__builtin_ctzll(rest);
            if (t >= k->shut)
                sink_take(k, s, sm, t);
            waits |= sms_head(s, sm) != NULL;
        }
    for (; k->answered < k->n && k->note[k->answered].t + k->latency <= t; k->answered++)
        sms_reply(s, k->note[k->answered].sm, k->note[k->answered].packet.token, t);
    int64_t next = sms_next(s);
    if (waits && (t < k->shut ? k->shut : t + 1) < next)
        next = t < k->shut ? k->shut : t + 1;
    if (k->answered < k->n && k->note[k->answered].t + k->latency < next)
        next = k->note[k->answered].t + k->latency;
    return next;
}

/* From cycle 0 to the end. */
static inline void sink_run(struct sink *k, struct sms *s, uint32_t sms)
{
    WORKS(sms_start(s, 0, &err));
    for (int64_t t = 0, next; !sms_done(s); t = next) {
        next = sink_cycle(k, s, sms, t);
        k->end = t;
        if (!sms_done(s) && next == INT64_MAX)
            ck_abort_msg("nothing happens any more in cycle %lld", (long long)t);
        if (next <= t && !sms_done(s))
            ck_abort_msg("cycle %lld after %lld", (long long)next, (long long)t);
    }
}

static inline void sink_release(struct sink *k)
{
    free(k->note);
    *k = (struct sink){0};
}
