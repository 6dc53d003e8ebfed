/* bliss: two applications, MEM and PIM; the one with a long run of requests is blacklisted.
 *
 * At every selection: the same class as the one before counts one more, another class starts at 0; above `threshold`
 * the class is blacklisted and the count starts at 0. Every `interval` cycles (and at cycle 0) both flags, the count
 * and the class before are cleared. With exactly one class blacklisted the other goes first whenever it has requests
 * waiting; with none or both the rules are frfcfs's. Worked example: threshold 4: the sixth PIM request in a row
 * blacklists PIM (counts 0, 1, 2, 3, 4, 5), then every fifth. Source: gupta-2025-f3fs section III; policy 0 of the
 * artifact. Differs: when a blacklist forces a switch the artifact clears copies of frfcfs's state and leaves the state
 * itself as it was, so that banks left ready may be refused service for good and the channel stops. That is bug=1; by
 * default the state is cleared as at any other switch. */
#include "models/dram/loop.h"
#include "models/dram/scheduler/frfcfs_rules.h"
#include "trace/base/param.h"

struct bliss {
    struct frfcfs_rules rules;
    int64_t threshold, interval, bug;
    int64_t clear_at, count;
    int before;        /* class selected last + 1; 0: none */
    unsigned black;    /* bit of each blacklisted class */
    int64_t cycles[4]; /* spent with that set of blacklisted classes */
};

static const struct param params[] = {
    PARAM_INT_ROW(bliss, threshold, "requests", 0, 1e12, 4, "requests of one class in a row before it is blacklisted"),
    PARAM_INT_ROW(bliss, interval, "cycles", 1, 1e12, 10000, "cycles between clearings"),
    PARAM_INT_ROW(bliss, bug, "", 0, 1, 0, "1: the artifact's forced switches, which may stop the channel for good"),
    {0}};

static inline void bliss_on_cycle(void *state, int64_t now)
{
    struct bliss *p = state;
    if (__builtin_expect(now >= p->clear_at, 0)) {
        p->clear_at = (now / p->interval + 1) * p->interval;
        p->count = 0;
        p->before = 0;
        p->black = 0;
    }
    p->cycles[p->black]++;
}

static inline enum dram_switch bliss_switch_mode(void *state, const struct dram_channel *ch, dram_banks hits)
{
    struct bliss *p = state;
    if (p->black == 1u << DRAM_MEM || p->black == 1u << DRAM_PIM) {
        const enum dram_class favoured = p->black == 1u << DRAM_PIM ? DRAM_MEM : DRAM_PIM;
        const bool stay =
            ch->waiting[favoured] ? ch->mode == favoured : ch->mode != favoured || !ch->waiting[!favoured];
        if (stay)
            return DRAM_STAY;
        if (!p->bug)
            frfcfs_rules_end_phase(&p->rules, ch->mode);
        return DRAM_SWITCH;
    }
    if (!frfcfs_rules_switch(&p->rules, ch, hits))
        return DRAM_STAY;
    frfcfs_rules_end_phase(&p->rules, ch->mode);
    return DRAM_SWITCH;
}

static inline void bliss_on_issue(void *state, const struct dram_channel *ch, enum dram_class class, uint32_t row,
                                  uint32_t seq)
{
    struct bliss *p = state;
    frfcfs_rules_on_issue(p, ch, class, row, seq);
    p->count = p->before == (int)class + 1 ? p->count + 1 : 0;
    p->before = (int)class + 1;
    if (p->count > p->threshold) {
        p->black |= 1u << class;
        p->count = 0;
    }
}

static inline void bliss_advance(void *state, const struct dram_channel *ch, int64_t n)
{
    struct bliss *p = state;
    (void)ch;
    p->cycles[p->black] += n;
}

static inline int64_t bliss_next_change(void *state, const struct dram_channel *ch, int64_t now)
{
    struct bliss *p = state;
    (void)ch, (void)now;
    return p->before || p->black ? p->clear_at : INT64_MAX;
}

DRAM_LOOPS(bliss, .needs_hits = true, .switch_mode = bliss_switch_mode, .on_issue = bliss_on_issue,
           .stalled_banks = frfcfs_rules_stalled_banks, .on_scan = frfcfs_rules_on_scan, .on_cycle = bliss_on_cycle,
           .advance = bliss_advance, .next_change = bliss_next_change)

static int64_t favoured_cycles(const void *state, enum dram_class class)
{
    return ((const struct bliss *)state)->cycles[1u << !class];
}

const struct dram_policy dram_bliss = {
    .head = {.name = "bliss",
             .summary = "a class with a long run of requests is blacklisted for a while",
             .source = DRAM_ARTIFACT "dram_sched_bliss",
             .params = params,
             .state_size = sizeof(struct bliss)},
    .loops = &bliss_loops,
    .favoured_cycles = favoured_cycles};
