/* uvm_recording: a recording of unified memory, ready to be replayed: fault batches, pages that came back, memory.
 *
 * Use: init, add every batch of records (or load a trace), finish, read; release. After finish nothing changes and
 * several replays may read at the same time.
 * Batches and services are rebuilt by trace/derived/batches.h. A piece is the part of one allocation in one VA block.
 * Without ALLOC records pieces are inferred: neighbouring VA blocks are one allocation, whose first and last block end
 * where the pages seen end, if the stock prefetcher explains the block's services better so. CPU faults tell which
 * pages held data (each brought what the prefetcher brings the CPU); without them all did. */
#pragma once

#include "models/base/platform.h"
#include "models/uvm/block.h"
#include "trace/base/range_map.h"
#include "trace/derived/batches.h"

struct uvm_piece {
    uint64_t start, end;        /* bytes, page-aligned */
    struct uvm_block shape;     /* of it, nothing resident */
    struct page_mask populated; /* pages that hold data at the start */
    struct page_mask touched;   /* pages that faulted */
    bool migrated;              /* some page went to the GPU */
    bool unrecorded;            /* the GPU may have touched pages of it without a record: they held no data */
};

/* One VA block in one event: its migrations. */
struct uvm_visit {
    uint32_t piece;
    uint32_t count;
    const struct migration *migrations; /* in address order */
};

enum uvm_event_kind {
    UVM_EVENT_BATCH,    /* a fault batch: visits are its services, in order */
    UVM_EVENT_BACK,     /* the CPU faulted: one service back to the host */
    UVM_EVENT_EVICT,    /* evicted to the host */
    UVM_EVENT_USER_IN,  /* moved to the GPU by the program's own prefetch */
    UVM_EVENT_USER_OUT, /* and back */
};

struct uvm_moved {
    uint64_t fault_bytes, prefetch_bytes; /* to the GPU, for faults and besides */
    uint64_t user_bytes;                  /* to the GPU by the program's own prefetches */
    uint64_t back_bytes;                  /* to the host */
    uint64_t evictions;                   /* of VA blocks */
};

struct uvm_event {
    struct uvm_moved moved;
    int64_t start_ns, end_ns;
    enum uvm_event_kind kind;
    size_t first, count; /* visits [first, first + count) */
    bool routine_end;    /* of a batch: the next one is the 21st or starts over 150 us later (inferred) */
};

struct uvm_recording {
    struct batches batches;  /* host to device */
    struct services back;    /* device to host */
    struct migration *moves; /* evictions and the program's own prefetches */
    uint8_t *move_kinds;
    size_t move_count, move_cap, move_kind_cap;
    struct uvm_cpu_fault {
        int64_t time_ns;
        uint64_t addr;
        uint64_t order;
    } * cpu_faults;
    size_t cpu_fault_count, cpu_fault_cap;
    struct uvm_allocation {
        uint64_t start, end; /* page-aligned */
        uint64_t bytes;      /* as recorded */
        int64_t time_ns;
        size_t order;                                 /* among the managed ones, as recorded */
    } * allocations;                                  /* managed ones, by ALLOC records */
    size_t allocation_count, allocation_cap, managed; /* managed: recorded, also such as have no bytes */
    struct uvm_piece *pieces;                         /* by address */
    size_t piece_count, piece_cap;
    struct uvm_visit *visits;
    size_t visit_count, visit_cap;
    struct uvm_event *events; /* by time */
    size_t event_count, event_cap;
    uint64_t structure_bytes;                                     /* of the allocations that were migrated from */
    uint64_t fault_pages, prefetch_pages, back_bytes, user_bytes; /* as recorded */
    uint64_t touched_pages;                                       /* distinct pages that faulted */
    uint64_t moved_pages;                                         /* distinct pages that went to the GPU */
    uint64_t evictions;                                           /* VA blocks, as recorded */
    uint64_t evictions_joined; /* records counted to the eviction before them that may be one of their own */
    uint64_t kernels;
    uint64_t *kernel_ids; /* rows of table kernels, one for each of them */
    size_t kernel_cap;
    struct range_map spans; /* when some kernel ran; built */
    int64_t kernel_ns;      /* of them together */
    size_t edges_cut;       /* inferred pieces that end before their VA block does */
    bool known_sizes;       /* from ALLOC records */
    bool known_data;        /* there are CPU faults to tell which pages hold data */
    bool more_memory;       /* allocations overlap, or are more than can be looked at: pieces are not all there is */
    bool advised;           /* advice, access counters or thrashing decided where pages lie */
    bool gpu_faults_only;   /* only faults of the GPU moved pages before the last batch */
    bool all_recorded;      /* allocations and CPU faults are recorded: no other memory can have been touched */
    bool unrecorded;        /* a piece is, or not all_recorded */
    bool sizes_certain;     /* structure_bytes are those of the allocations that were touched, and no others' */
    bool simulated;         /* by `replay --recording`: it says under which policy, and whether it was traced */
    bool traced;
    bool cut;         /* its trace is not whole (trace/derived/limits.h), or ends before what it shows */
    bool open_end;    /* it is but for its end: the program's last kernels may not be recorded */
    char policy[256]; /* "": it does not say */
};

void uvm_recording_init(struct uvm_recording *recording);
void uvm_recording_release(struct uvm_recording *recording);

int uvm_recording_add(struct uvm_recording *recording, const struct record *records, size_t n, struct err *err);
int uvm_recording_finish(struct uvm_recording *recording, struct err *err);

/* init, add the one recording of the trace that fits `wanted`, finish. */
int uvm_recording_load(struct uvm_recording *recording, struct store *store, struct recording wanted, struct err *err);

/* Whether a trace's own records show that its end is missing; a trace that cannot be read does not. */
bool uvm_recording_ends_early(struct store *store);

/* The piece that holds `addr`, or NULL. */
struct uvm_piece *uvm_recording_piece(const struct uvm_recording *recording, uint64_t addr);

/* The pages of a visit that lie in its piece: moved for a fault, and moved besides. */
void uvm_visit_pages(const struct uvm_recording *recording, const struct uvm_visit *visit, struct page_mask *faulted,
                     struct page_mask *prefetched);

/* --- uvm_gain: how much of the kernels' time fault service covers, and the most that is to be gained --- */

/* Bound on the gain. Served is the time within kernels in which a fault batch was under way (kind-4 records; without
 * them, copies for faults). Any change leaves the rest of the kernels and must move the same bytes, so it gains at most
 * kernel_ns / max(kernel_ns - served_ns, moved_ns). */
struct uvm_gain {
    int64_t kernel_ns; /* in which some kernel ran; 0: none is recorded, and nothing can be said */
    int64_t served_ns; /* 0 .. kernel_ns */
    double moved_ns;   /* the bytes to the GPU at the link's best rate; 0: that is not known */
    bool records;      /* from fault records; else service is at least that, and what may be gained is not known */
    bool cut;          /* nor is it of a recording that is not whole */
};

/* platform: NULL: no link is known. Bytes that came again behind an eviction need not move: each page counts once. */
struct uvm_gain uvm_gain_of(const struct uvm_recording *recording, const struct platform *platform);

/* The largest speed-up that is left: INFINITY where none is known. */
double uvm_gain_most(const struct uvm_gain *gain);
/* Whether that is to be said: where the link is not known it is a limit only if it says to leave all as it is. */
bool uvm_gain_limits(const struct uvm_gain *gain);

/* "fault service covers 66 ms of the kernels' 66.3 ms; moving the same bytes takes at least 4.9 ms: at most 13.6x";
 * below 1.1x: "at most 1.05x, leave it". "" where nothing can be said. Returns text. */
const char *uvm_gain_say(const struct uvm_gain *gain, char *text, size_t size);
