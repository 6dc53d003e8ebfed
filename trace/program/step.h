/* step: what steps of the view of pages are made from: what one memory instruction touches in a turn (pages, for how
 * many turns the same ones, sectors), and a step kept for bodies alike. */
#ifndef TRACE_PROGRAM_STEP_H
#define TRACE_PROGRAM_STEP_H

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

/* --- the step of a body of one turn, kept for bodies that differ from it by where they lie ---
 *
 * The warps of a grid mostly do the same, so many bytes further on. A body that lies whole sectors further on, all of
 * its accesses by as much and inside their allocations, makes the same step on other pages, as long as accesses share a
 * page where they did and nowhere else: it is not worked out again. Where an access has two pages, or the step many,
 * all must lie as many pages further on. Bodies with scattered lanes, or of several turns, are not kept.
 * Example: loads of 128 B at bytes 256 and 4,480 make a step of pages 0 and 1; 512 B further on the same step; 3,712 B
 * further on, at bytes 3,968 and 8,192, pages 0 and 2. */

/* Zeroed: nothing is kept. */
struct kept_step {
    uint32_t count, after; /* of the body */
    bool whole;            /* each access leaves no page out and lies inside its allocation, and `step` is the step */
    struct program_access access[PROGRAM_ACCESSES];
    uint64_t bytes[PROGRAM_ACCESSES], last[PROGRAM_ACCESSES]; /* of the stretch; page of its last byte */
    uint8_t place[PROGRAM_ACCESSES];                          /* of its page in step.page, if it has one only */
    bool apart;                                               /* each has one page at most, and they are few */
    struct actor_step step;
};

/* Whether a body is the kept one but for its addresses. */
bool kept_step_alike(const struct kept_step *kept, const struct program_body *body);

/* The step of such a body, if it is the kept one, moved. */
bool kept_step_get(const struct kept_step *kept, const struct program_pages *pages, const struct program_body *body,
                   struct actor_step *step);

/* Keep a body of one turn, and the step that it is. */
void kept_step_put(struct kept_step *kept, const struct program_pages *pages, const struct program_body *body,
                   const struct actor_step *step);

#endif
