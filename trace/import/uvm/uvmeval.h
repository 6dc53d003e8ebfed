/* uvmeval: logs of the patched NVIDIA drivers of the SC'21 study of unified memory (repository uvm-eval): every fault
 * and every batch as the driver saw it.
 *
 * Lines may be raw /dev/kmsg ("prio,seq,usec,flags;TEXT"), dmesg ("[  sec.usec] TEXT") or cleaned (TEXT alone). The
 * same letter means different things in different drivers; fields decide (without the letter; "faults" is drivers
 * 460.27.04 and 525.60.13, "batchd" 460.27.04, "ac" access counters 525.60.13): s,                 a batch begins s,N
 * the same (ac) f, 14 fields       one coalesced fault: address (hex), GPU time in ns, fault type, access type, access
 * mask, instances, client type, mmu engine type, client, mmu engine, uTLB, GPC, channel, ve b,                 the
 * batch ends            b,NS,STATUS  the same, its duration b, 30 fields       a whole batch (batchd)    e, 31 fields a
 * failed one e,ADDR             evicted: a 4 KiB page (460) or a VA block (525); p,ADDR  a prefetched page; d  a
 * discarded fault vrange,0xA,N       a managed range; also "uvm range destroy ... : 0xA, N" and a bare "0xA, N" a, 12
 * fields       an access counter's notification: left out
 *
 * Becomes, for faults: stream "faults" (ns of the GPU's clock; FAULT: bytes = instances, group = batch; EVICT;
 * MIGRATE_H2D for prefetched pages; extra columns utlb, gpc, client, fault_type), in each batch in the order of
 * arrival, which the log has lost (it is sorted by address) and the time stamps (32 ns steps) tell; tables batches and
 * services; and stream "touches" for replay: the actors are the uTLBs, a step is what one of them had outstanding in
 * one batch, at most 64 pages. Sound with prefetching off (the study's logs): a touch that a prefetch satisfied is not
 * in a log. For batchd: a FAULT record and a row of table batches per batch, counters summed. A gap in kmsg's numbers
 * inside a batch is counted as dropped lines; a batch without its end makes one dropped. Source: print statements of
 * uvm-eval 632b47b; logs of a TITAN V, driver 460.27.04. */
#ifndef TRACE_IMPORT_UVM_UVMEVAL_H
#define TRACE_IMPORT_UVM_UVMEVAL_H

#include "trace/import/reader.h"

extern const struct reader read_uvmeval;

#endif
