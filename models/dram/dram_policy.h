/* dram_policy: which mode (MEM or PIM) a channel is in, and which MEM request a bank gets next.
 *
 * A policy is one file: its hooks, the line that builds the controller loop (models/dram/loop.h) with them, and a
 * struct dram_policy. To add one: X.c, X_test.c and its line in models/policies.h. */
#ifndef MODELS_DRAM_DRAM_POLICY_H
#define MODELS_DRAM_DRAM_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "models/base/policy.h"
#include "models/dram/channel.h"

/* Requests that wait in files' order before one channel and enter it as soon as there is room.
 *
 * Open loop with back-pressure: after each controller cycle at most one request enters; it must have arrived and its
 * class must have room. With one virtual channel only the oldest is tried; with two the oldest of each class, round
 * robin, PIM first at the start. This is the front end `direct`. */
struct dram_feed {
    const struct dram_request *requests; /* ascending arrival; ids are positions */
    uint32_t count;
    const uint32_t *ids[2]; /* two virtual channels: positions by class; else NULL */
    uint32_t ids_count[2];
    int vcs;       /* 1 or 2 */
    int64_t limit; /* cycles at most; INT64_MAX: none */
    /* Results: */
    int64_t cycles; /* last completion + 1, or the limit, or where nothing could happen any more */
    bool finished;  /* every request was served */
    bool stuck;     /* nothing can ever happen again */
};

/* Used by the loops: the next request of each class; with one virtual channel, head[0] is the next of all. */
struct dram_feed_heads {
    uint32_t head[2];
    int64_t arrival[2];   /* INT64_MAX: none left */
    enum dram_class last; /* the class that entered last */
};

static inline int64_t dram_feed_arrival(const struct dram_feed *feed, int class, uint32_t head)
{
    return head == feed->ids_count[class] ? INT64_MAX : feed->requests[feed->ids[class][head]].arrival;
}

/* A policy's answer at the mode update. */
enum dram_leave { DRAM_STAY, DRAM_LEAVE, DRAM_LEAVE_CAP /* because a cap ran out */ };

/* What a policy adds to the controller loop. `state` is the policy's own struct, zeroed at the start: the int64_t
 * parameters of its table and what it counts. All but `leaves` may be left out. Each file makes one constant of it. */
struct dram_hooks {
    bool fifo;       /* both classes wait in one queue, whose head alone is looked at */
    bool needs_hits; /* leaves() is told of row hits */
    /* In MEM mode with no PIM request waiting, leaves() stays and changes nothing, stalled() is 0, advance() does
     * nothing and next() is never: models/dram/loop_mem/ takes such cycles, and calls asked() and alone() at their end.
     */
    bool quiet;
    bool loaded; /* set by the program for a policy of one's own: that next() lies ahead is not taken for granted */
    /* Mode update of this cycle: not DRAM_STAY to change channel->mode; the state is reset then. hits: banks whose next
     * request would hit, if needs_hits and the channel is in MEM mode with PIM waiting; else 0. */
    enum dram_leave (*leaves)(void *state, const struct dram_channel *channel, dram_banks hits);
    /* A request is being selected; channel->older is as before. */
    void (*served)(void *state, const struct dram_channel *channel, enum dram_class class, uint32_t row, uint32_t seq);
    dram_banks (*stalled)(const void *state);     /* banks that get no request in MEM mode */
    void (*alone)(void *state, int64_t served);   /* instead of served() for so many MEM requests, if quiet */
    bool (*asked)(void *state, dram_banks banks); /* the scan asked these idle banks; true if that was news */
    void (*begin)(void *state, int64_t now);      /* before the mode update of cycle `now` */
    void (*advance)(void *state, const struct dram_channel *channel, int64_t n); /* n cycles pass unchanged */
    /* The next cycle at which leaves() may answer otherwise though nothing else changes; INT64_MAX: never. */
    int64_t (*next)(void *state, const struct dram_channel *channel, int64_t now);
};

struct dram_loops {
    /* Run a whole feed through a fresh channel. */
    void (*feed)(struct dram_channel *channel, void *state, struct dram_feed *feed);
    /* One controller cycle; returns the next cycle at which something may happen if nothing enters, INT64_MAX if none.
     * Completions are in channel->completions. */
    int64_t (*step)(struct dram_channel *channel, void *state, int64_t now);
    /* A request enters at the end of cycle `now`; dram_channel_room() must have said yes. */
    void (*push)(struct dram_channel *channel, int64_t now, uint32_t row, uint32_t bank, uint8_t flags, uint32_t id);
};

/* The source of most. */
#define DRAM_ARTIFACT "gupta-2025-f3fs section III; artifact GPGPU-Sim-4.0.1 (branch ISPASS_2025, commit 1eea352) "

struct dram_policy {
    struct policy_head head;
    const struct dram_loops *loops;
    /* Check parameters against each other; NULL: nothing to check. */
    int (*check)(const void *state, struct err *err);
    /* Cycles so far in which `class` went first because the other alone was blacklisted; NULL: no blacklist. */
    int64_t (*favoured)(const void *state, enum dram_class class);
    /* With its defaults, what each side of a co-run runs alone under, for comparison. Exactly one of the list. */
    bool alone;
};

/* Their heads (models/policies.h); ends with NULL. */
extern const struct policy_head *const dram_policies[];

/* The one that sides run alone under. */
const struct dram_policy *dram_policy_alone(void);

/* Used by the loops: close a feed's books at its end. */
void dram_feed_end(struct dram_channel *channel, struct dram_feed *feed, int64_t now);

#endif
