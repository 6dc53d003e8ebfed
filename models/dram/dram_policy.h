/* dram_policy: which mode (MEM or PIM) a channel is in, and which MEM request a bank gets next.
 *
 * A policy is compiled into the controller loop (models/dram/loop.h): its file ends with one #include that builds the
 * loops and a struct dram_policy. To add one: X.c, X_test.c and its line in models/policies.h. */
#ifndef MODELS_DRAM_DRAM_POLICY_H
#define MODELS_DRAM_DRAM_POLICY_H

#include "models/base/policy.h"
#include "models/dram/channel.h"
#include "models/dram/feed.h"

/* A policy's answer at the mode update. */
enum dram_leave { DRAM_STAY, DRAM_LEAVE, DRAM_LEAVE_CAP /* because a cap ran out */ };

struct dram_loops {
    /* Run a whole feed through a fresh channel. */
    void (*feed)(struct dram_channel *channel, void *state, struct dram_feed *feed);
    /* One controller cycle; returns the next cycle at which something may happen if nothing enters, INT64_MAX if none.
     * Completions are in channel->completions. */
    int64_t (*step)(struct dram_channel *channel, void *state, int64_t now);
    /* A request enters at the end of cycle `now`; dram_channel_room() must have said yes. */
    void (*push)(struct dram_channel *channel, int64_t now, uint32_t row, uint32_t bank, uint8_t flags, uint32_t id);
};

struct dram_policy {
    struct policy_head head;
    const struct dram_loops *loops;
    /* Check parameters against each other; NULL: nothing to check. */
    int (*check)(const void *state, struct err *err);
    /* Cycles so far in which `class` went first because the other alone was blacklisted; NULL: no blacklist. */
    int64_t (*favoured)(const void *state, enum dram_class class);
    /* With its defaults, what each side of a co-run is run alone under, to be compared with. Exactly one of the list.
     */
    bool alone;
};

/* Their heads (models/policies.h); ends with NULL. */
extern const struct policy_head *const dram_policies[];

/* The policy called `name`, or NULL. */
const struct dram_policy *dram_policy_find(const char *name);

/* The one that sides run alone under. */
const struct dram_policy *dram_policy_alone(void);

/* The functions of models/dram/loop.h that a policy without stalls, cycle counters and memory does not need. */
#define DRAM_PLAIN_LIMITS(NAME)                                                                                        \
    static inline void NAME##_begin(struct NAME *p, int64_t now)                                                       \
    {                                                                                                                  \
        (void)p;                                                                                                       \
        (void)now;                                                                                                     \
    }                                                                                                                  \
    static inline void NAME##_advance(struct NAME *p, const struct dram_channel *ch, int64_t n)                        \
    {                                                                                                                  \
        (void)p;                                                                                                       \
        (void)ch;                                                                                                      \
        (void)n;                                                                                                       \
    }                                                                                                                  \
    static inline int64_t NAME##_next(struct NAME *p, const struct dram_channel *ch, int64_t now)                      \
    {                                                                                                                  \
        (void)p;                                                                                                       \
        (void)ch;                                                                                                      \
        (void)now;                                                                                                     \
        return INT64_MAX;                                                                                              \
    }

#define DRAM_PLAIN_SELECTION(NAME)                                                                                     \
    enum { NAME##_asks = 0 };                                                                                          \
    static inline unsigned NAME##_stalled(const struct NAME *p)                                                        \
    {                                                                                                                  \
        (void)p;                                                                                                       \
        return 0;                                                                                                      \
    }                                                                                                                  \
    static inline bool NAME##_asked(struct NAME *p, unsigned banks)                                                    \
    {                                                                                                                  \
        (void)p;                                                                                                       \
        (void)banks;                                                                                                   \
        return false;                                                                                                  \
    }

#define DRAM_PLAIN_SERVED(NAME)                                                                                        \
    static inline void NAME##_served(struct NAME *p, const struct dram_channel *ch, enum dram_class class,             \
                                     uint32_t row, uint32_t seq)                                                       \
    {                                                                                                                  \
        (void)p;                                                                                                       \
        (void)ch;                                                                                                      \
        (void)class;                                                                                                   \
        (void)row;                                                                                                     \
        (void)seq;                                                                                                     \
    }

/* Used by the loops: close a feed's books at its end. */
void dram_feed_end(struct dram_channel *channel, struct dram_feed *feed, int64_t now);

#endif
