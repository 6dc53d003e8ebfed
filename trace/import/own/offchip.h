/* offchip: our own traces as inputs, so that what several processes recorded becomes one trace.
 *
 * One trace is taken over as it is. Of several, only what programs do can be put together: kernels, allocations,
 * advice, copies, faults, migrations and warp accesses. A generated workload, DRAM requests, captures and driver logs
 * are each a whole and are refused beside others. Streams of one name become one, in order of (time, input, position in
 * the input); a stream without time is one input after the other. They must agree in time unit, clock, address space
 * and extra columns: nothing is converted. Numbers of kernels (and of their launches) and of allocations are given
 * anew, in the same order of time; a record that refers to a number its trace lacks is an error. Counts of skipped and
 * dropped items are summed; rows of counters, and driver parameters, are kept of every input. Batches and services are
 * rebuilt by the caller from the merged records. Facts of table origin that all inputs share stay what they are
 * (kinds.STREAM: what all could see); the others, and what says of each input when, where and from what it was made,
 * become input.N.KEY. merge.clock says on what grounds times are taken to be of one clock. Whose a record is its extra
 * column process_id says, as before. One input that is incomplete makes the trace incomplete. The same trace twice is
 * refused. */
#ifndef TRACE_IMPORT_OWN_OFFCHIP_H
#define TRACE_IMPORT_OWN_OFFCHIP_H

#include "trace/import/reader.h"

extern const struct reader read_offchip;

#endif
