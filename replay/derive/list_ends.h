/* list_ends: what the instructions of a launch read, as lists in order of address; a byte for each sector of memory.
 *
 * What an instruction reads without a gap is a run of sectors. The lists of a launch are its runs in order of where
 * they begin (then of where they end), less what an earlier one holds already: each sector stands in one list. A byte
 * holds the length of the longest run that ends with its sector, which is enough: a run makes a list unless one that
 * begins before it ends behind it, and the list begins where the one before it ends, or with the run. Worked example:
 * runs 3..7, 4..7, 4..8 (the last one not in it): lists 3..7 and 7..8. With 2..9 besides: 2..9 alone. Memory: 1/32 of
 * the bytes read from, whatever their number. Runs may be added by several threads at once. */
#ifndef REPLAY_DERIVE_LIST_ENDS_H
#define REPLAY_DERIVE_LIST_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"

/* Sectors of a run, at most; sectors with a bit in `used`; pages that are fetched ahead. */
enum { LIST_MOST = 255, LIST_PAGE = 128, LIST_AHEAD = 8 };

struct list_run {
    uint64_t first, end; /* sectors */
};

/* Zeroed before open. */
struct list_ends {
    uint8_t *length; /* by last sector; 0: no run ends there */
    uint64_t *used;  /* pages in which runs end, a bit each */
    uint64_t pages;
    /* Where list_ends_next() stands. */
    uint64_t page, at; /* at: sector looked at next */
    uint64_t sought;   /* pages looked at for runs */
    uint64_t ahead[LIST_AHEAD];
    uint32_t taken, found; /* of ahead[], as a ring */
    uint64_t done;         /* end of the list handed out last */
    uint32_t from, to;     /* of waiting[], as a ring */
    struct list_run waiting[2 * (LIST_MOST + 1)];
};

int list_ends_open(struct list_ends *ends, uint64_t sectors, struct err *err);
void list_ends_release(struct list_ends *ends);

/* A run that ends with that sector will be added soon. */
static inline void list_ends_expect(const struct list_ends *ends, uint64_t last)
{
    __builtin_prefetch(&ends->length[last], 1);
}

/* A run of n >= 1 sectors; one of more than LIST_MOST, which no instruction makes, becomes several. */
void list_ends_add(struct list_ends *ends, uint64_t first, uint64_t n);

/* The next lists, at most cap >= 1; 0: there are no more, and none is left for the next launch. */
size_t list_ends_next(struct list_ends *ends, struct list_run *lists, size_t cap);

#endif
