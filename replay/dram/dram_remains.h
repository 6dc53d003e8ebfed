/* dram_remains: what the work that a cut leaves out would have left in L2, gap by gap (trace/program/cut.h).
 *
 * A cut keeps the same blocks of every launch, and every pass. Without the others their data would stay in L2 from
 * launch to launch, which the whole program's do not: between two stretches that are kept the work left out has
 * displaced them, and has left data of its own there, read and written. So the rest is put through an L2 of the same
 * shape, without time, when a simulation is made ready; what then stands there is put into the simulated L2 when it
 * comes to the gap, lines used longest ago first. Lines that were there and are not displaced stay. What was written
 * and is displaced does not go back to DRAM: that would have been while the work left out ran, and what that work has
 * written goes back in its place.
 * Source: caches warmed without time between samples, as in Wunderlich et al., SMARTS, ISCA 2003.
 * Differs: no L1 stands before it, so that lines that L1 has are used again; a sector written in part is readable; of a
 * gap only the end is walked, sixteen times as many sector accesses as L2 has sectors. */
#ifndef REPLAY_DRAM_DRAM_REMAINS_H
#define REPLAY_DRAM_DRAM_REMAINS_H

#include "replay/dram/dram_l2.h"
#include "trace/program/cut.h"

struct dram_remains;

/* Sector accesses that are walked of a gap. */
static inline uint64_t dram_remains_sectors(int64_t l2_bytes)
{
    return 16 * (uint64_t)l2_bytes / L2_SECTOR;
}

/* l2: an empty one, used and left empty. offset: added to the program's addresses. resident, ctx: as in
 * trace/program/walk.h. NULL with *err set. */
struct dram_remains *dram_remains_new(const struct program_rest *rest, struct dram_l2 *l2, uint64_t offset,
                                      uint64_t (*resident)(const void *ctx, const struct program_launch *launch),
                                      const void *ctx, struct err *err);
void dram_remains_free(struct dram_remains *remains); /* NULL is allowed */

/* What gap number *next and those behind it do to that L2, as far as the kept program has come to them: so many
 * launches have ended, and so many blocks of the one after them have begun. *next becomes the first gap ahead. */
void dram_remains_put(const struct dram_remains *remains, uint32_t *next, uint64_t ended, uint64_t blocks,
                      struct dram_l2 *l2);

#endif
