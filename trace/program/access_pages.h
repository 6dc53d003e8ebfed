/* access_pages: what one memory instruction touches in a turn: pages, for how many turns the same ones, sectors. */
#ifndef TRACE_PROGRAM_ACCESS_PAGES_H
#define TRACE_PROGRAM_ACCESS_PAGES_H

#include "trace/program/pages.h"

/* The pages of one access, each once. */
struct access_pages {
    uint32_t page[2 * PROGRAM_LANES];
    uint32_t n;
    uint32_t most; /* the highest of them */
};

/* The pages of an access in a turn, in the order of its lanes. None for an allocation that is not managed. */
void access_pages(const struct program_pages *pages, const struct program_access *access, uint64_t turn,
                  struct access_pages *out);

/* How many turns from `turn` on, that one included, all accesses of the body stay on their pages; at most UINT32_MAX.
 */
uint32_t access_pages_turns(const struct program_pages *pages, const struct program_body *body, uint64_t turn);

/* Sectors of 32 B that an access touches in a turn, without those of the access before it (NULL: none), where that one
 * is beside it. */
uint32_t access_sectors(const struct program_access *access, uint64_t turn, const struct program_access *before);

#endif
