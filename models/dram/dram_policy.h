/* dram_policy: which mode (MEM or PIM) a channel is in, and which MEM request a bank gets next.
 *
 * A policy is one file: its hooks, the line that builds the controller loop (models/dram/loop.h) with them, and a
 * struct dram_policy. To add one: X.c, X_test.c and its line in models/policies.h. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "models/base/policy.h"
#include "models/dram/channel.h"

/* Requests that wait in order before one channel and enter it as soon as there is room.
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
enum dram_switch { DRAM_STAY, DRAM_SWITCH, DRAM_SWITCH_CAP /* because a cap ran out */ };

/* What a policy adds to the controller loop. `state` is the policy's own struct, zeroed at the start: the int64_t
 * parameters of its table and what it counts. Only `switch_mode` is required. Each file makes one constant of it. */
struct dram_hooks {
    bool fifo;       /* both classes wait in one queue, of which only the head is considered */
    bool needs_hits; /* switch_mode() gets row hits */
    /* Promises that while the channel is in MEM mode and no PIM request waits, switch_mode() stays and changes nothing,
     * stalled_banks() is 0, advance() does nothing and next_change() is never. models/dram/loop_mem/ runs such cycles
     * and calls on_scan() and on_mem_only() at their end. */
    bool skip_mem_only;
    bool from_plugin; /* set by the program for a policy from a file: next_change() may lie in the past */
    /* Mode update of this cycle: not DRAM_STAY to change channel->mode and to reset the state. hits: banks whose next
     * request would hit, if needs_hits and the channel is in MEM mode with PIM waiting; else 0. */
    enum dram_switch (*switch_mode)(void *state, const struct dram_channel *channel, dram_banks hits);
    /* A request is issued from its queue to the bank slots; channel->older is as before. */
    void (*on_issue)(void *state, const struct dram_channel *channel, enum dram_class class, uint32_t row,
                     uint32_t seq);
    dram_banks (*stalled_banks)(const void *state);   /* banks that get no request in MEM mode */
    void (*on_mem_only)(void *state, int64_t issued); /* in place of on_issue() for skipped cycles: MEM requests */
    bool (*on_scan)(void *state, dram_banks banks);   /* the scan reached these idle banks; true if that is new */
    void (*on_cycle)(void *state, int64_t now);       /* each visited cycle, before its mode update */
    void (*advance)(void *state, const struct dram_channel *channel, int64_t n); /* n cycles pass unchanged */
    /* Returns the next cycle in which switch_mode() may answer otherwise if nothing else changes; INT64_MAX: never. */
    int64_t (*next_change)(void *state, const struct dram_channel *channel, int64_t now);
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
    /* Returns the cycles so far in which only the other class was blacklisted; NULL: no blacklist. */
    int64_t (*favoured_cycles)(const void *state, enum dram_class class);
    /* With its defaults, the policy under which each side of a co-run runs alone, for comparison. Exactly one. */
    bool alone_baseline;
};

/* Their heads (models/policies.h); ends with NULL. */
extern const struct policy_head *const dram_policies[];

/* Returns the policy under which sides run alone. */
const struct dram_policy *dram_policy_alone_baseline(void);

/* Used by the loops: completes the statistics at the end of a feed. */
void dram_feed_end(struct dram_channel *channel, struct dram_feed *feed, int64_t now);
