/* derive: an engine's view of the accesses of a program, recorded or generated; man offchip-derive says what each is.
 *
 * A source is a recording of accesses (stream "accesses", trace/program/access.h) or a generated program, whose
 * instructions trace/program/walk.h makes; what is derived is the same for both.
 * touches: page touches, behind a managed ALLOC per stretch of address space (derive_space.h).
 * requests: TLP records MRd and MWr with 4-word headers (models/zerocopy/warp.h), their histogram, and the reads as
 *     lists (derive_scans.h).
 * dram: DRAM_READ for each run of adjacent sectors that an L2 (models/gpu/l2.h) fetches, DRAM_WRITEBACK for each that
 *     goes back.
 * The order is that of the accesses; launches are kept (KERNEL, KERNEL_END, group). There is no time. Memory that is
 * the GPU's in any case (derive_space.h) has no touches and no requests over the link. Example: vector add of 65,536
 * floats, 2,048 warps: 6,144 touches of 192 pages; 4,096 reads and 2,048 writes of 128 B; through an L2 that holds it
 * all, 4,096 fetches and 2,048 write-backs of 128 B. */
#pragma once

#include "models/gpu/gpu.h"
#include "models/zerocopy/warp.h"
#include "replay/run/input.h"
#include "replay/run/outcome.h"
#include "trace/program/walk.h"
#include "trace/store/store.h"

/* What is derived from. One of the two is set. */
struct derive_source {
    struct store *store;           /* with accesses */
    const struct program *program; /* generated */
    const char *name;              /* as errors call it */
};

struct derive_options {
    uint64_t first, last; /* only accesses to lines with a byte in first..last; 0, UINT64_MAX: all */
    const char *kernel;   /* only launches whose kernel's name matches this extended regular expression; NULL: all */
    int64_t l2_bytes, l2_ways;
    bool offloadable; /* leave out what is in GPU memory in any case; touches and requests set it themselves */
    /* A generated program: as many blocks at once as are resident on `gpu` (NULL: one), their warps taking turns, an
     * instruction each; dram sets it itself. Else blocks ascend, a block's warps one after the other, each to its end.
     * A recording has its order. */
    bool waves;
    const struct gpu *gpu;
};

/* Go over the accesses of a source. counts may be NULL. A trace without accesses is an error, and so is a source of
 * which the options leave nothing. `launch` gets a KERNEL record: id is the row of table kernels, group the launch. */
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

/* derive_dram() without a trace: hands each record (DRAM_READ, DRAM_WRITEBACK, PIM, KERNEL, KERNEL_END) to `sink`,
 * which returns 0, or -1 with *err set. */
typedef int (*derive_sink)(void *ctx, const struct record *record, struct err *err);
int derive_dram_records(const struct derive_source *source, const struct derive_options *options, derive_sink sink,
                        void *ctx, struct program_counts *counts, struct err *err);

/* --- an input of a replay as what its accesses can be derived from, and what a recording of them lacks --- */

/* The program of an input for one engine's view of it. */
struct derive_input {
    struct derive_source source;
    struct program program;
};

/* Fill *in for `view`. A trace without accesses or a workload without the view is an error that says what it holds. The
 * input must stay open, and *in where it is. */
int derive_input_open(struct derive_input *in, const struct input *input, enum workload_view view, struct err *err);

/* Whether the input is a recording of accesses, or a generated program that has the view. */
bool derive_input_is(const struct input *input, enum workload_view view);

/* 0 unless "NAME,key=value.." is of a program without that view: as derive_no_view(). */
int derive_view_check(const char *program, enum workload_view view, struct err *err);

/* "workload NAME has no pages to touch; its views: dram"; always -1. */
int derive_no_view(const struct workload_type *type, enum workload_view view, struct err *err);

/* The view of an input, touches for VIEW_UVM or lists for VIEW_ZEROCOPY, in a temporary trace without a name, which is
 * gone when it is closed. NULL with *err set on failure. Of a generated program only lists. */
struct store *derive_view(const struct derive_source *source, enum workload_view view, struct err *err);

/* Say what a recording lacks for this view besides its limits: times, what waits for what. Nothing for a generated
 * program, but for dram that it has no times. */
void derive_notes(const struct derive_source *source, enum workload_view view, struct outcome *outcome);

/* The launches of a source, their kernels' names and shapes.
 *
 * A generated program states them. A recording has them in table kernels, with 0 for unrecorded blocks, threads,
 * registers, shared. Zeroed before open. */
struct derive_launches {
    const struct program *program;
    struct derive_launch { /* recorded, in the order of the ids of table kernels; kernel is NULL */
        uint64_t id;
        struct program_launch launch;
    } * rows;
    size_t count, cap;
};

int derive_launches_open(struct derive_launches *launches, const struct derive_source *source, struct err *err);
void derive_launches_release(struct derive_launches *launches);

/* The launch whose KERNEL record has this id. */
void derive_launches_get(const struct derive_launches *launches, uint64_t id, struct program_launch *out);

/* Call fn for every launch's kernel name and id; as store_rows(). */
int derive_launches_names(const struct derive_source *source, int (*fn)(void *ctx, uint64_t id, const char *name),
                          void *ctx, struct err *err);

/* Fill table kernels of `out`: the recording's rows as they are, or the program's launches. */
int derive_launches_write(const struct derive_source *source, struct store *out, struct err *err);
