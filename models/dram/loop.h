/* loop: the controller loop, built for one policy. Include it at the end of a policy's file, after
 *
 *     #define DRAM_LOOP_POLICY f3fs     (and, for a single queue of both classes, #define DRAM_LOOP_FIFO 1)
 *
 * and these, as `static inline` functions (or DRAM_PLAIN_POLICY for the trivial ones):
 *     struct f3fs                     state; the int64_t parameters of its table, then what it counts (zeroed)
 *     f3fs_leaves(p, ch, hits)        mode update of this cycle: not DRAM_STAY to change ch->mode; the state
 *                                     is reset then.
 *                                     hits: banks whose next request would hit, if f3fs_needs_hits and ch is in MEM
 *                                     mode with PIM waiting
 *     f3fs_served(p, ch, class, row, seq)   a request is being selected; ch->older is as before
 *     f3fs_stalled(p)                 banks that get no request in MEM mode
 *     f3fs_asked(p, banks)            (if f3fs_asks) the scan asked these idle banks; true if that was news
 *     f3fs_begin(p, now)              before the mode update of cycle `now`
 *     f3fs_advance(p, ch, n)          n cycles pass in which nothing changes
 *     f3fs_next(p, ch, now)           the next cycle at which leaves() may answer otherwise though nothing else
 *                                     changes; INT64_MAX: never
 * It defines f3fs_loops. Building it for AVX2 as well and choosing at run time gained nothing (measured: AMD EPYC with
 * AVX-512, gcc 12.2, -2 to +1 %): the hot work is on 16-bit masks. */
#include "models/dram/dram_policy.h"
#include "models/dram/lanes.h"

#ifndef DRAM_LOOP_FIFO
#define DRAM_LOOP_FIFO 0
#endif

#define LOOP_JOIN_(a, b, c) a##_##b##c
#define LOOP_JOIN(a, b, c)  LOOP_JOIN_(a, b, c)
#define POLICY(name)        LOOP_JOIN(DRAM_LOOP_POLICY, name, )
#define LOOP_FIFO           DRAM_LOOP_FIFO

#define LOOP(name)  LOOP_JOIN(DRAM_LOOP_POLICY, name, _loop)
#define LOOP_TARGET static inline __attribute__((always_inline))
#include "models/dram/loop_body.h"
#include "models/dram/loop_run.h"

static const struct dram_loops POLICY(loops) = {LOOP_JOIN(DRAM_LOOP_POLICY, feed, _loop),
                                                LOOP_JOIN(DRAM_LOOP_POLICY, step, _loop),
                                                LOOP_JOIN(DRAM_LOOP_POLICY, push, _loop)};
