/* uvm_watch: what moves in a simulated run, told as it happens: what a recorder of the run would see, and more.
 *
 * Calls come from one thread. Pages are in their block's own numbering; nothing that is pointed at outlives the call.
 */
#ifndef REPLAY_UVM_RECORDER_UVM_WATCH_H
#define REPLAY_UVM_RECORDER_UVM_WATCH_H

#include "models/uvm/block.h"
#include "trace/event/record.h"

struct uvm_watched_move {
    uint32_t kind; /* RECORD_MIGRATE_H2D or RECORD_MIGRATE_D2H */
    const struct uvm_block *block;
    const struct page_mask *pages; /* copied, for `cause` */
    enum record_cause cause;
    const struct page_mask *besides; /* copied with them as RECORD_CAUSE_PREFETCH; disjoint; NULL: none */
    double start_ns, end_ns;         /* of the copies, ns since the first launch */
};

struct uvm_watch {
    void (*moved)(void *ctx, const struct uvm_watched_move *move);
    /* The CPU faults on a page. */
    void (*cpu_fault)(void *ctx, int64_t time_ns, uint64_t addr, enum record_access access);
    /* A launch of the GPU that began at start_ns is over. */
    void (*kernel)(void *ctx, const char *kernel, int64_t start_ns, int64_t end_ns);
    /* A batch is over: from its first fault, as far as that is known, to its replay; one of its pages. */
    void (*batch)(void *ctx, int64_t start_ns, int64_t end_ns, uint64_t addr, uint64_t faults_of_page);
    void *ctx;
};

#endif
