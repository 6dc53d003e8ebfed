/* fault_buffer: the GPU's replayable fault buffer: what the GPU writes, and what the driver fetches and flushes.
 *
 * The GPU writes one entry per gap_ns and moves PUT. Which ready entry it writes next is not public: recordings of
 * stride reads show neither the oldest nor the lowest page. Here the order is a hash of the cluster of multiprocessors
 * and the page; it changes with each replay and is the same in every run. A fetch takes entries from GET up to the PUT
 * that the driver read last, a flush drops the rest up to there. What is written later survives. A replay drops entries
 * that are not written yet: their accesses ask again.
 *
 * GET, PUT and the end of what is under way are offsets into one array, which a replay moves up. The buffer has room
 * for as many entries as the micro-TLBs can list (assumed; a real one has what the firmware says); a replay drops the
 * newest beyond that, so twice that is enough. Source: uvm_gpu_replayable_faults.c of drivers 525.60.13 to 595.45.04,
 * the same in all: fetch_fault_buffer_entries() (merging), fault_buffer_flush_locked(). Differs: an entry is valid when
 * PUT has passed it; a real GPU may write out of order. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/uvm/uvm_platform.h"
#include "trace/base/err.h"

/* In an entry's page: the access writes. Only memory that is read-mostly asks. */
#define UVM_FAULT_WRITE (1u << 31)

#define FAULT_BUFFER_NEVER INT64_MAX

struct uvm_entry {
    int64_t time_ns; /* when it became ready; once it is written, when it was */
    uint32_t page;   /* with UVM_FAULT_WRITE for a write, where some memory is read-mostly */
    uint32_t utlb;
};

/* The last entry that a fetch kept of a micro-TLB. */
struct uvm_last_kept {
    uint64_t fetch; /* the number of that fetch */
    uint32_t at;    /* index of the kept entry */
};

struct fault_buffer {
    struct uvm_entry *entries; /* [get, written) in the buffer, [written, count) under way, in no order */
    struct uvm_entry *sorting; /* scratch of as many */
    uint64_t *keys;            /* scratch of twice as many: for sorting, then whose turn it is */
    struct uvm_turns *turns;   /* those that are ready */
    size_t cap;
    size_t get, put; /* put: the driver's copy */
    size_t written, count;
    size_t exact;   /* behind a PUT that was read so many stand in their very order: those of a fetch, as a flush throws
                       the others away. Set to SIZE_MAX where it does not */
    double gap_ns;  /* from one entry of the GPU to the next */
    double next_ns; /* when the GPU may write the next one */
    int64_t soon_ns;   /* no entry under way is written earlier; FAULT_BUFFER_NEVER: none is */
    uint64_t *cluster; /* of each micro-TLB, as a part of a hash: they go to the clusters in turn */
    struct uvm_last_kept *last;
    uint32_t *instances; /* of the entries kept of a fetch */
    uint32_t *kept;      /* their pages */
    uint64_t fetches, replays;
};

/* What a fetch took. */
struct uvm_fetched {
    uint32_t raw;       /* entries taken */
    uint32_t kept;      /* of them not merged with another */
    int64_t first_ns;   /* when the first of them was written */
    uint32_t page;      /* the first page in order of address, */
    uint32_t instances; /* and the entries merged into its first kept one */
};

/* Empty. Released with fault_buffer_release() in any case. */
int fault_buffer_init(struct fault_buffer *r, const struct uvm_platform *p, struct err *err);
void fault_buffer_release(struct fault_buffer *r);

/* A micro-TLB has a miss ready. */
void fault_buffer_report(struct fault_buffer *r, uint32_t page, uint32_t utlb, int64_t ready_ns);

/* The driver reads PUT: everything that was to be reported by `time_ns` has been. */
void fault_buffer_read_put(struct fault_buffer *r, int64_t time_ns);

/* Take at most `max` entries from GET up to the PUT that was read: the pages of all of them to pages[]. */
struct uvm_fetched fault_buffer_fetch(struct fault_buffer *r, uint32_t max, uint32_t *pages);

/* Throw away what lies between GET and the PUT that was read; how many entries. */
size_t fault_buffer_flush(struct fault_buffer *r);

/* The same, PUT read again at `time_ns`. */
size_t fault_buffer_flush_again(struct fault_buffer *r, int64_t time_ns);

/* A replay at `time_ns`: what is not written by then, or finds no room, never is. */
void fault_buffer_replay(struct fault_buffer *r, int64_t time_ns);

/* When the first entry at or after GET was written, or will be; FAULT_BUFFER_NEVER: there is none. */
int64_t fault_buffer_first_ns(struct fault_buffer *r);

/* Entries written or under way. */
static inline bool fault_buffer_any(const struct fault_buffer *r)
{
    return r->count > r->get;
}
