/* tlp_tally: PCIe packets counted by type, direction and size, and impossible ones by defect; the rows of tables
 * tlp_histogram and tlp_defects. */
#pragma once

#include <stdint.h>

#include "trace/event/tlp.h"
#include "trace/store/store.h"

enum { TLP_TALLY_DIRECTIONS = 4096, TLP_TALLY_DEFECTS = 64, TLP_TALLY_SIZES = 4097 };

struct tlp_tally;

struct tlp_tally *tlp_tally_new(struct err *err);
void tlp_tally_free(struct tlp_tally *tally); /* NULL is allowed */

/* The number of a direction by name, added if new; names beyond the limit share the last number. */
uint16_t tlp_tally_direction(struct tlp_tally *tally, const char *name);

/* Count one packet of 0..4096 bytes. */
int tlp_tally_add(struct tlp_tally *tally, enum tlp_type type, uint16_t direction, uint32_t bytes, struct err *err);

/* Count one impossible packet; defect is a phrase of tlp_decode() or tlp_check() (compared as a pointer). */
void tlp_tally_defect(struct tlp_tally *tally, enum tlp_type type, const char *defect);

/* Call fn for each type, direction and size counted, in that order; it returns 0 to go on, anything else stops. */
int tlp_tally_walk(const struct tlp_tally *tally,
                   int (*fn)(void *ctx, enum tlp_type type, const char *direction, uint32_t bytes, uint64_t count),
                   void *ctx);

/* Write tables tlp_histogram and tlp_defects. */
int tlp_tally_store(const struct tlp_tally *tally, struct store *store, struct err *err);
