/* derive: an engine's view of the accesses of a program, recorded or generated.
 *
 * A source is a recording of accesses (stream "accesses", trace/program/access.h) or a generated program, whose
 * instructions trace/program/walk.h makes; what is derived is the same for both.
 * touches: one step per warp instruction, with the 4 KiB pages it reaches: loads, which are waited for, stores, which
 *     are not, atomics; actors are warps numbered by first appearance in their launch; before them one managed ALLOC
 *     per stretch of address space that is touched or stands in table allocations (gaps below 2 MiB inside a VA block
 *     are filled, as a VA block is one). Of a generated program: its page view (trace/program/pages.h), as `synth`
 *     writes it.
 * requests: the PCIe reads and writes that the accesses make when the data is in host memory: per warp instruction and
 *     128 B line one request per run of adjacent 32 B sectors (models/zerocopy/warp.h), as TLP records MRd and MWr with
 *     4-word headers, and their histogram; with a reuse rule, less what an earlier load still holds. And the reads as
 *     lists for the zerocopy engine (replay/derive/derive_scans.h).
 * dram: the requests that reach DRAM through an L2 (models/gpu/l2.h): DRAM_READ for each run of adjacent sectors that
 *     is fetched, DRAM_WRITEBACK for each that goes back; what is still dirty at the end goes back then.
 * accesses: the expansion of a generated program as a recording of it.
 * Order is that of the accesses; launches are kept (KERNEL, KERNEL_END, group). There is no time, but for dram where
 * `migrations` or `span_ns` is given: then nothing marks a launch's end. Memory that is the
 * GPU's own whatever mechanism is asked about (derive_space.h) has no touches and no requests over the link.
 * Worked example: vector add of 65,536 floats, 2,048 warps: 6,144 touches of 192 pages; 4,096 reads and 2,048 writes of
 * 128 B; through an L2 that holds it all, 4,096 fetches and 2,048 write-backs of 128 B. */
#ifndef REPLAY_DERIVE_DERIVE_H
#define REPLAY_DERIVE_DERIVE_H

#include "models/gpu/gpu.h"
#include "models/zerocopy/warp.h"
#include "trace/program/walk.h"
#include "trace/store/store.h"

/* What is derived from; see derive_source.h. One of the two is set. */
struct derive_source {
    struct store *store;           /* with accesses */
    const struct program *program; /* generated */
    const char *name;              /* as errors call it */
};

/* Which warp of a generated program goes next. A recording has its order. */
enum derive_order {
    DERIVE_AUTO,   /* dram: in waves; else one after the other */
    DERIVE_SERIAL, /* blocks ascending, a block's warps one after the other, each to its end */
    DERIVE_WAVES,  /* as many blocks at once as are resident on `gpu`; their warps take turns, an instruction each */
};

struct derive_options {
    uint64_t first, last;  /* only accesses to lines with a byte in first..last; 0, UINT64_MAX: all */
    const char *kernel;    /* only launches whose kernel's name matches this extended regular expression; NULL: all */
    enum scan_reuse reuse; /* requests: REUSE_NONE, REUSE_PREVWARP, REUSE_WARP */
    int64_t l2_bytes, l2_ways;
    struct store *migrations; /* dram: a recording of the program under unified memory: its copies besides, and the
                                 requests no sooner than these let them (derive_migrations.h). NULL: there is no time */
    int64_t span_ns;          /* dram: the requests at even distances over this time; 0: there is no time */
    bool offloadable;         /* leave out what is in GPU memory in any case; touches and requests set it themselves */
    enum derive_order order;
    const struct gpu *gpu; /* for waves; else may be NULL */
};

/* Go over the accesses of a source. counts may be NULL. A trace without accesses is an error, and so is a source of
 * which the options leave nothing. The taker's `launch` gets a KERNEL record with id = row of table kernels and group =
 * launch. */
int derive_walk(const struct derive_source *source, const struct derive_options *options,
                const struct program_taker *taker, void *ctx, struct program_counts *counts, struct err *err);

int derive_touches(const struct derive_source *source, struct store *out, const struct derive_options *options,
                   struct program_counts *counts, struct err *err);
int derive_requests(const struct derive_source *source, struct store *out, const struct derive_options *options,
                    struct program_counts *counts, struct err *err);
int derive_dram(const struct derive_source *source, struct store *out, const struct derive_options *options,
                struct program_counts *counts, struct err *err);
/* The requests of one instruction, into a coalescer. */
int derive_coalesce(struct coalescer *coalescer, const struct program_op *op, struct err *err);
/* Generated programs only. */
int derive_accesses(const struct derive_source *source, struct store *out, const struct derive_options *options,
                    struct program_counts *counts, struct err *err);

/* derive_dram() for who needs no trace: each record (DRAM_READ, DRAM_WRITEBACK, PIM, KERNEL, KERNEL_END) to `take`,
 * which returns 0, or -1 with *err set. */
typedef int (*derive_take)(void *ctx, const struct record *record, struct err *err);
int derive_dram_records(const struct derive_source *source, const struct derive_options *options, derive_take take,
                        void *ctx, struct program_counts *counts, struct err *err);

#endif
