/* l1_misses: the sectors that one multiprocessor has asked for and not yet got, each with the loads that wait for it: a
 * second load of a sector that is on its way asks for nothing and waits with the first.
 *
 * A miss has a token, 4 x its line's entry + sector, that comes back with the reply, so an answer finds its waiters
 * without a search. Loads are numbers of the caller's, below 65,536; there may be any number of misses and waiters. */
#ifndef MODELS_GPU_L1_MISSES_H
#define MODELS_GPU_L1_MISSES_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/err.h"

struct l1_misses;

struct l1_misses *l1_misses_new(struct err *err);
void l1_misses_free(struct l1_misses *m); /* NULL is allowed */

/* Forget all of them. */
void l1_misses_reset(struct l1_misses *m);

/* Sectors (mask) of a line that are on their way; *entry: the line's, for the calls below, valid until the next one
 * that adds or takes away. */
uint32_t l1_misses_pending(const struct l1_misses *m, uint64_t line, uint32_t *entry);

/* Load `load` waits for a sector that is on its way. -1: no memory. */
int l1_misses_merge(struct l1_misses *m, uint32_t entry, uint32_t sector, uint32_t load);

/* A sector is asked for by load `load`: its token, or UINT32_MAX: no memory. */
uint32_t l1_misses_add(struct l1_misses *m, uint64_t line, uint32_t sector, uint32_t load);

/* The sector has arrived: its line and number, and the load that asked first; then the others, one a call, in the order
 * in which they came, UINT32_MAX after the last. Between the two calls nothing may be added. */
uint32_t l1_misses_take(struct l1_misses *m, uint32_t token, uint64_t *line);
uint32_t l1_misses_next(struct l1_misses *m);

/* Sectors on their way. */
uint32_t l1_misses_count(const struct l1_misses *m);

#endif
