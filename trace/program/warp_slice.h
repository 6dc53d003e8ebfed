/* warp_slice: a program of which each warp does only a stretch in the middle of what it does.
 *
 * For programs of which one wave of blocks is too much already (trace/program/cut.h). The beginnings of all warps are
 * alike: they read what nobody has read yet, which later accesses find in L2; so what stands for a warp is its middle.
 * Of a warp of n accesses (barriers and those without a lane count) the same share is kept, at least one: as much is
 * left out before it as behind it, rounded to whole turns: the first that is kept is the one that the stretch begins
 * in, and whole turns follow until there is enough. A warp without accesses stays as it is, and so does what
 * the CPU does. What is left out is a head and a tail; of both only what is near in time: a share `around` of the warp
 * before its middle, and before its end. Worked example: turns of 10 accesses, 30 of them, a tenth kept, a sixth
 * around: 30 accesses are wanted from 135 on: turns 13 to 15; the head is turns 8 to 12, the tail 25 to 29. Source: the
 * middle of a run stands for it once caches are warm: Wunderlich et al., SMARTS, ISCA 2003. */
#pragma once

#include "trace/program/program_adapter.h"

struct warp_slice {
    struct program_adapter adapter;
    double share, around;
    struct warp_slice_spots *warp;          /* where the parts of each begin and end: of all launches */
    size_t *first;                          /* warp of each launch */
    uint64_t accesses, heads, tails, whole; /* of all warps of all launches: kept; walked around it; all */
};

enum warp_slice_part { PROGRAM_HEAD, PROGRAM_KEPT, PROGRAM_TAIL };

/* share: of each warp's accesses, above 0, at most 1; around: at least 0. All warps are looked at; a few words are kept
 * of each. NULL with *err set. */
struct warp_slice *warp_slice_new(const struct program *whole, double share, double around, struct err *err);
void warp_slice_free(struct warp_slice *middle); /* NULL is allowed */

/* Body `index` of a part of a warp. The bodies are those of `program` in its run, launch and warp, which must be the
 * ones that were launch and warp `of_launch`, `of_warp` of the whole. As program_ops.body. */
int warp_slice_body(const struct warp_slice *middle, enum warp_slice_part part, uint32_t of_launch, uint64_t of_warp,
                    const struct program *program, void *run, uint32_t launch, uint64_t warp, uint32_t index,
                    struct program_body *body, struct err *err);
