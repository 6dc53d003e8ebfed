/* program_reads: what a generated program reads, launch by launch, as the lists of derive_scans.h, made while they are
 * asked for: no trace is written, and threads share a launch's warps.
 *
 * The program is gone over twice, body by body and not access by access: once for the stretches of memory that it
 * reads, then launch by launch for the lists. They are those of derive_lists(). */
#ifndef REPLAY_DERIVE_PROGRAM_READS_H
#define REPLAY_DERIVE_PROGRAM_READS_H

#include "replay/derive/derive.h"
#include "trace/workloads/scan.h"

struct program_reads;

/* source->program must be set, and stay while the reads are open. threads: at most so many at once. A program that
 * reads nothing which another mechanism could keep elsewhere is an error. */
struct program_reads *program_reads_open(const struct derive_source *source, int threads, struct err *err);
void program_reads_close(struct program_reads *reads);

/* State: a struct program_reads *. */
extern const struct scan_ops program_reads_ops;

#endif
