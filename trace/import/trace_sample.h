/* trace_sample: a part of a trace, by time or by VA block, for what is too long to keep.
 *
 * By time: a record is in the window in which it begins, so that windows side by side hold each record once. Times
 * count from the trace's start, the earliest record of any stream that has times; `to` is outside. What began before
 * the window and reaches into it is left out, and counted by itself. Kernels, allocations, batches and services are
 * rows of tables: kernels that ran and allocations that were there at some time of the window are kept, batches that
 * began in it with their services.
 *
 * By VA block: about one 2 MiB block in N, chosen by a hash of its number, so that strides of addresses do not meet the
 * choice [SHARDS]; a record goes with the block of its first byte. Kernels, allocations, advice, copies, prefetches and
 * marks are the program's own and all kept; services are whole, as each is of one block; batches are not, and go.
 *
 * Counters and statistics of packets are of the whole and go. The trace says what it is: origin sample (a sentence),
 * sample.start, sample.from, sample.to (in sample.unit), sample.every; store_sample(). What was left out is in table
 * skipped. Nothing in it is complete by itself: whoever needs the whole refuses it (store_whole()).
 *
 * Example: records that begin at 5, 7, 9, 12 us, --from 2us --to 5us: the start is 5, so [7, 10) us, the second and
 * third.
 *
 * Source: SHARDS, Waldspurger et al., FAST 2015, section 3.1 (hash of the location, modulo). */
#ifndef TRACE_IMPORT_TRACE_SAMPLE_H
#define TRACE_IMPORT_TRACE_SAMPLE_H

#include "trace/store/store.h"

struct trace_sample {
    bool window;
    enum time_unit unit; /* of from and to: TIME_NS or TIME_CYCLES */
    int64_t from, to;    /* from 0 on; to INT64_MAX: to the end */
    int64_t every;       /* 0: every block */
};

/* NULL: not given; both texts NULL: no window. "1.5ms", "200us", "5000cycles". */
int trace_sample_parse(struct trace_sample *sample, const char *from, const char *to, int64_t every, struct err *err);

bool trace_sample_asked(const struct trace_sample *sample);

/* Whether the block of an address is chosen; every 0: all are. */
bool trace_sample_block(uint64_t addr, int64_t every);

/* Copy from a whole trace, finished or still written, to one that is being made. *kept: records. A stream without times
 * of that unit, or whose addresses are none of memory, is an error that names it; so is a sample. */
int trace_sample_copy(const struct trace_sample *sample, struct store *whole, struct store *to, uint64_t *kept,
                      struct err *err);

#endif
