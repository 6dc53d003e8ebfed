/* record: the one noun for what is stored; one event of GPU traffic.
 *
 * The table of kinds (record_kinds[]) says for each kind which fields are used and what the bits of `flags` and `id`
 * mean; docs/trace-format.md prints the same table. Times and durations are in the time unit of the record's stream
 * (struct stream), addresses in its address space; neither is converted on import. Order is (time, position). */
#pragma once

#include <stdint.h>

/* The numbers are stored in files: append only. */
enum record_kind {
    RECORD_NONE,
    RECORD_KERNEL,      /* a kernel ran; group = launch number. In a stream of touches: a generated launch */
    RECORD_ALLOC,       /* flags = enum record_alloc; group = 1: the CPU wrote all of it before the first launch */
    RECORD_ADVISE,      /* flags = enum record_advice */
    RECORD_PREFETCH,    /* the program's own cudaMemPrefetchAsync */
    RECORD_COPY,        /* an explicit copy: time, duration, bytes; flags = enum record_copy */
    RECORD_FAULT,       /* GPU fault (CUPTI kind 4: one batch): time, duration, addr; bytes = value; flags = access */
    RECORD_CPU_FAULT,   /* time, addr; id = program counter; flags = access */
    RECORD_MIGRATE_H2D, /* time, duration, addr, bytes; flags = enum record_cause */
    RECORD_MIGRATE_D2H, /* as MIGRATE_H2D */
    RECORD_EVICT,       /* time, addr, bytes; id = the address that needed the room, 0: not known */
    RECORD_THRASH,      /* time, addr, bytes */
    RECORD_THROTTLE,    /* time, duration, addr */
    RECORD_REMOTE_MAP,  /* time, addr, bytes; flags = cause: 1 coherence 2 thrashing 3 policy 4 no memory 5 eviction */
    RECORD_MIGRATE_D2D, /* as MIGRATE_H2D, between GPUs */
    RECORD_TLP,         /* a PCIe packet; bytes = payload or requested bytes; bits in trace/event/tlp.h */
    RECORD_ACCESS,      /* one warp's access to one 128 B line: addr = line, bytes = bytes per lane; group = launch */
    RECORD_TOUCH,       /* an actor touches a page (trace/event/actor.h): addr = page address; group = launch */
    RECORD_SCAN,        /* an actor reads `bytes` bytes of a structure from addr on; group = launch */
    RECORD_DRAM_READ,   /* addr (bytes or packed, trace/event/dram_map.h); bytes; id = request number */
    RECORD_DRAM_WRITE,  /* as DRAM_READ */
    RECORD_DRAM_WRITEBACK, /* an L2 write-back: as DRAM_READ, bytes = 32, 64, 96 or 128 */
    RECORD_PIM,            /* one all-bank PIM request: as DRAM_READ */
    RECORD_KERNEL_END,     /* mark: everything of launch `group` before this point is done before what follows */
    RECORD_BARRIER,        /* mark: actors of `group` wait for each other */
    RECORD_RANGE,          /* a stretch that the program itself named (NVTX); duration 0: a mark; group = thread */
    RECORD_FAULT_ENTRY,    /* one entry of the GPU's fault buffer: time, addr; id = GPU time; group = batch */
    RECORD_REPLAY,         /* the GPU may try again what faulted: time; id = GPU time; group = batch */
    RECORD_SKIPPED,        /* from readers only, never stored: an input item left out; the reason is in the reader */
    RECORD_KINDS
};

enum record_alloc { RECORD_ALLOC_DEVICE = 1, RECORD_ALLOC_MANAGED, RECORD_ALLOC_PINNED, RECORD_ALLOC_REGISTERED };

/* cudaMemoryAdvise's numbers. */
enum record_advice {
    RECORD_ADVISE_READ_MOSTLY = 1,
    RECORD_ADVISE_UNSET_READ_MOSTLY,
    RECORD_ADVISE_PREFERRED_LOCATION,
    RECORD_ADVISE_UNSET_PREFERRED_LOCATION,
    RECORD_ADVISE_ACCESSED_BY,
    RECORD_ADVISE_UNSET_ACCESSED_BY
};

/* Access types, as CUPTI numbers them (CUpti_ActivityUnifiedMemoryAccessType). */
enum record_access { RECORD_READ = 1, RECORD_WRITE = 2, RECORD_ATOMIC = 3, RECORD_PREFETCH_ACCESS = 4 };

/* Migration causes, as CUPTI numbers them (CUpti_ActivityUnifiedMemoryMigrationCause). */
enum record_cause {
    RECORD_CAUSE_UNKNOWN,
    RECORD_CAUSE_USER,
    RECORD_CAUSE_FAULT, /* CUPTI's COHERENCE: a CPU or GPU fault */
    RECORD_CAUSE_PREFETCH,
    RECORD_CAUSE_EVICTION,
    RECORD_CAUSE_ACCESS_COUNTERS
};

/* Directions of an explicit copy. */
enum record_copy { RECORD_COPY_H2D = 1, RECORD_COPY_D2H, RECORD_COPY_D2D, RECORD_COPY_H2H, RECORD_COPY_P2P };

/* The latest time, and the longest duration, that readers take from foreign files and the store from anyone; the
 * earliest time is as far from 0. Sums and differences of two of them fit 63 bits. In ns 146 years. */
#define RECORD_TIME_MAX ((INT64_C(1) << 62) - 1)

struct record {
    int64_t time;     /* in the stream's time unit; 0 where it has none */
    int64_t duration; /* same unit, >= 0 */
    uint64_t addr;
    uint64_t bytes;
    uint64_t id;    /* who */
    uint32_t group; /* within what: launch, flow, batch */
    uint32_t flags;
    uint32_t kind; /* enum record_kind */
    uint32_t reserved;
};

/* Time unit of a stream. Never converted on import; an engine converts with its platform's clock, or refuses. */
enum time_unit { TIME_NONE, TIME_NS, TIME_CYCLES };

/* Address space of a stream. */
enum addr_space { ADDR_BYTES, ADDR_DRAM_PACKED };

struct record_kind_info {
    const char *name;   /* as in CSV files and SQL: "MIGRATE_H2D" */
    const char *fields; /* which fields mean something: "time duration addr bytes flags" */
    const char *flags;  /* what the flags are, "" if unused */
    const char *id;     /* what the id is, "" if unused */
};

/* Indexed by enum record_kind. */
extern const struct record_kind_info record_kinds[RECORD_KINDS];

/* The kind called `name` (exact), or RECORD_NONE. */
enum record_kind record_kind_find(const char *name);

/* The direction that a tool's text names ("Memcpy HtoD (Pinned -> Device)", "Device-to-Host"), 0: none. */
uint32_t record_copy_find(const char *text);

const char *time_unit_name(enum time_unit unit);    /* "none", "ns", "cycles" */
const char *addr_space_name(enum addr_space space); /* "bytes", "dram-packed" */
