/* stream: what a workload of DRAM requests says besides its records.
 *
 * The records themselves come from workload_type.next(): DRAM_READ, DRAM_WRITE, DRAM_WRITEBACK and PIM with packed
 * addresses (trace/event/dram_addr.h), time = DRAM cycles from the start of the pass at which the request is ready,
 * flags bit 0 = served by L2, group = launch; KERNEL_END after the last request of a launch. Requests of different
 * channels are independent. A DRAM_WRITEBACK belongs to the DRAM_READ before it: L2 makes it when that read misses. */
#ifndef TRACE_WORKLOADS_STREAM_H
#define TRACE_WORKLOADS_STREAM_H

enum {
    STREAM_L2_HIT = 1,     /* flags of DRAM_READ and DRAM_WRITE */
    STREAM_ONE_CHANNEL = 1 /* flags of KERNEL_END: the mark is that of the channel in addr only */
};

#endif
