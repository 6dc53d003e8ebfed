/* derive_scans: the reads of each launch as the lists that the zerocopy engine replays.
 *
 * A list is what a warp instruction reads without a gap. Lists of a launch are in order of address, without sectors of
 * an earlier list (struct list_ends), so each sector is read once per launch. The structure is the memory read, without
 * its gaps. Where no sector is read twice, pattern merged makes the requests of the accesses themselves; naive shows
 * those of a thread per list. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "replay/derive/derive.h"
#include "replay/derive/derive_space.h"
#include "trace/base/err.h"
#include "trace/store/store.h"
#include "trace/workloads/scan.h"

/* The runs of adjacent sectors that the instructions of a launch read, as lists in order of address.
 *
 * A byte for each sector (1/32 of the memory) holds the length of the longest run that ends with it. A run makes a list
 * unless one that begins before it ends behind it; the list begins at the end of the list before, or with the run.
 * Example: runs 3..7, 4..7, 4..8 (ends excluded): lists 3..7 and 7..8; with 2..9 as well: 2..9 alone. Several threads
 * may add runs. */

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

/* A run of n >= 1 sectors; one of more than LIST_MOST, which no instruction makes, becomes several. */
void list_ends_add(struct list_ends *ends, uint64_t first, uint64_t n);

/* The next lists, at most cap >= 1; 0: there are no more, and none is left for the next launch. */
size_t list_ends_next(struct list_ends *ends, struct list_run *lists, size_t cap);

/* Zeroed before open. */
struct derive_scans {
    struct derive_space space;
    uint64_t element, base; /* bytes of an element; address of the structure */
    struct writer writer;
    struct list_ends ends; /* of the launch */
    uint64_t last_page;    /* touched, + 1; 0: none */
};

/* Go over the accesses once for the structure, and describe it in `out`. Without any read nothing is written. */
int derive_scans_open(struct derive_scans *scans, const struct derive_source *source, struct store *out,
                      const struct derive_options *options, struct err *err);
/* As a struct program_taker has them. */
int derive_scans_op(void *scans, const struct program_op *op, struct err *err);
int derive_scans_end(void *scans, uint32_t launch, struct err *err);
int derive_scans_flush(struct derive_scans *scans, struct err *err);
void derive_scans_close(struct derive_scans *scans);

/* All of it: the lists of a source and nothing else, for an engine that asks for them. Without any read an error. */
int derive_lists(const struct derive_source *source, struct store *out, const struct derive_options *options,
                 struct err *err);

/* The lists of derive_lists() of a generated program, made while they are asked for: no trace is written, and threads
 * share a launch's warps. The program is gone over twice: for the memory that it reads, then for the lists. */
struct program_reads;

/* source->program must be set, and stay while the reads are open. threads: at most so many at once. A program that
 * reads nothing which another mechanism could keep elsewhere is an error. */
struct program_reads *program_reads_open(const struct derive_source *source, int threads, struct err *err);
void program_reads_close(struct program_reads *reads);

/* State: a struct program_reads *. */
extern const struct scan_ops program_reads_ops;
