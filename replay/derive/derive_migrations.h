/* derive_migrations: what a recording's migrations do to GPU memory, as DRAM requests with times.
 *
 * A copy to the GPU (MIGRATE_H2D) writes its pages into GPU memory, a copy to the CPU (MIGRATE_D2H) reads them: a
 * request of a line of 128 B each, at even distances over the record's own time, so copies are bursts at the link's
 * rate as recorded or simulated. Addresses are the managed ones: inside a 2 MiB VA block these are those of its
 * physical chunk (driver 545.23.06, uvm_va_block.c: a block's GPU memory is one chunk or parts of one); where chunks
 * lie is taken as if physical memory followed the address space. Times are ns from the recording's first kernel or
 * migration on. Copies by cudaMemcpy() are recorded without addresses and stand nowhere here; copy engines pass L2 by.
 */
#ifndef REPLAY_DERIVE_DERIVE_MIGRATIONS_H
#define REPLAY_DERIVE_DERIVE_MIGRATIONS_H

#include "replay/derive/derive.h"

enum { MIGRATIONS_LINE = 128, MIGRATIONS_MOST = 2 << 20 /* bytes of one record: a VA block's */ };

/* Requests as stream "migrations" of `out`: DRAM_WRITE and DRAM_READ, numbered from 0 in order of the recording. A
 * recording without migrations, of several processes or GPUs, or with a migration that no driver makes is an error. The
 * source is a store; options are not looked at. */
int derive_migrations(const struct derive_source *source, struct store *out, const struct derive_options *options,
                      struct program_counts *counts, struct err *err);

/* The same from a store to `take`, each request as a record; *n gets how many. */
int derive_migrations_records(struct store *recording, derive_take take, void *ctx, uint64_t *n, struct err *err);

/* When the accesses of a program can reach DRAM at the earliest beside the migrations of a run of it: not before its
 * kernel's start, the end of the copy of each page that the instruction needs, and what its warp's earlier loads have
 * waited for. Pages that no record brings are taken as there. */
struct derive_arrivals;

/* The recording must hold a kernel for each launch that is taken, and bring no page twice: which accesses came before
 * its eviction is not in it. NULL with *err set. */
struct derive_arrivals *derive_arrivals_new(struct store *recording, struct err *err);
void derive_arrivals_free(struct derive_arrivals *a);

/* The next launch begins. */
int derive_arrivals_launch(struct derive_arrivals *a, struct err *err);
/* The ns of an instruction, in order of the walk; < 0 with *err set. */
int64_t derive_arrivals_op(struct derive_arrivals *a, const struct program_op *op, struct err *err);
/* Whether every kernel of the recording has had its launch, and every VA block that faults brought an access (a fault's
 * prefetch stays inside its block): a run of another size of the program is refused. */
int derive_arrivals_end(const struct derive_arrivals *a, struct err *err);

#endif
