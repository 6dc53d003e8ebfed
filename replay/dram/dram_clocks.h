/* dram_clocks: the core clock and the DRAM clock, side by side.
 *
 * Core cycle c ticks at c / core_hz, DRAM cycle k at k / dram_hz, both at 0, and DRAM first in a tie. The times are
 * added up in double, period by period, as the artifact does: it decides which of two nearly equal ones comes first. */
#ifndef REPLAY_DRAM_DRAM_CLOCKS_H
#define REPLAY_DRAM_DRAM_CLOCKS_H

#include <stdint.h>

struct dram_clocks {
    int64_t core, dram; /* next cycle of each clock: whoever does a cycle counts it */
    double core_time, dram_time, core_period, dram_period;
};

enum { DRAM_TICK_DRAM = 1, DRAM_TICK_CORE = 2 };

static inline void dram_clocks_init(struct dram_clocks *c, int64_t core_hz, int64_t dram_hz)
{
    *c = (struct dram_clocks){.core_period = 1.0 / (double)core_hz, .dram_period = 1.0 / (double)dram_hz};
}

/* The clocks that tick next: one, or both. */
static inline unsigned dram_clocks_tick(struct dram_clocks *c)
{
    const double now = c->core_time < c->dram_time ? c->core_time : c->dram_time;
    unsigned ticks = 0;
    if (c->dram_time <= now) {
        c->dram_time += c->dram_period;
        ticks |= DRAM_TICK_DRAM;
    }
    if (c->core_time <= now) {
        c->core_time += c->core_period;
        ticks |= DRAM_TICK_CORE;
    }
    return ticks;
}

#endif
