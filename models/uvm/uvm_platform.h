/* uvm_platform: what unified memory costs on a machine; section [uvm] of a platform file.
 *
 * The time of one batch, ns:
 *   CPU:  batch_before + raw_fault x entries (with tracing trace_entry x entries more)
 *         + for each service: service + new_block (first use of the block by the GPU) or service_again
 *           + fault_page x faulted pages
 *           + moved_run x runs and moved_page x pages made resident + unmap_run x runs and unmap_page x pages of those
 *           that the CPU has mapped
 *           + (evict + service_again) x evicted blocks: a service that evicts begins anew
 *   copy engine, behind the CPU part of its service: copy_run x runs + bytes / h2d_bytes_per_s, after what an
 *           eviction copies back (d2h_bytes_per_s); with tracing, trace_record for each migration record
 *   both done, batch_after, and the replay reaches the multiprocessors.
 * A machine is a GPU in a host. What the host's CPU does takes `host` times as long as stated here: interrupt,
 * top_half, awake, poll, batch_before and batch_after, raw_fault, trace_entry, fault_page, service, service_again,
 * new_block, moved_*, unmap_*, evict, cpu_fault. The GPU's and the link's own are fault_gap, gpu_fault_gap, walk*,
 * fresh, copy_run, trace_record, launch and the rates. `host` is 1 where the other numbers were measured, and says
 * nothing of another machine: a section that is borrowed has the default's range, not the lender's. `offchip calibrate
 * uvm` fits it. Source of the form: driver 545.23.06, uvm_gpu_replayable_faults.c and uvm_va_block.c (what is done per
 * batch, per block, per contiguous run and per page); of the numbers: the platform files. */
#pragma once

#include <stdint.h>

enum uvm_utlb { UVM_UTLB_BLOCKED, UVM_UTLB_FREE };

struct uvm_platform {
    int64_t utlbs;           /* micro-TLBs that report faults; multiprocessors are spread over them evenly */
    int64_t gpcs;            /* graphics processing clusters: each has a memory management unit for its micro-TLBs */
    int64_t driver;          /* major version of the driver, for what changed between versions */
    int64_t utlb_faults;     /* outstanding faults of one of them, at most */
    int64_t utlb;            /* enum uvm_utlb: does a full one also stop accesses to resident pages? */
    int64_t utlb_merge;      /* 1: it reports a page once for all its actors, 0: once for each */
    int64_t sm_parts;        /* parts of a multiprocessor; a page is reported once for each that asks */
    double fault_gap_ns;     /* between two pages that a micro-TLB looks for and does not find */
    double walk_gap_ns;      /* between two that it finds after a replay */
    double walk_ns;          /* an access that a replay repeats looks its page up before it reads it */
    double fresh_ns;         /* a load of data that a copy has just brought: it lies in L2; 0: memory_ns of [gpu] */
    double gpu_fault_gap_ns; /* between two entries that the GPU writes */
    int64_t batch_faults;    /* raw faults of one batch, at most */
    int64_t routine_batches;
    double interrupt_ns; /* first fault to first fetch */
    double top_half_ns;  /* first fault to the PUT that the interrupt itself reads, */
    double awake_ns;     /* if the fault comes so soon after the driver's last look */
    double poll_ns;      /* replay to the next time PUT is read, of the same routine */
    double batch_before_ns, batch_after_ns;
    double raw_fault_ns;     /* per entry fetched, sorted and coalesced */
    double fault_page_ns;    /* per distinct page serviced as faulted */
    double service_ns;       /* per VA block in a batch that the GPU has not used before */
    double service_again_ns; /* the same of one that it has */
    double new_block_ns;     /* first use by the GPU: chunk, page tables, DMA mapping */
    double moved_page_ns;    /* per page made resident: population, copy command, page table entry */
    double moved_run_ns;     /* per contiguous run of them: population, mapping */
    double unmap_run_ns;     /* per contiguous run that the CPU has mapped */
    double unmap_page_ns;    /* per page that the CPU has mapped */
    double copy_run_ns;      /* copy engine, per contiguous run */
    double h2d_bytes_per_s, d2h_bytes_per_s;
    int64_t copy_engines;   /* 2: evictions are copied out while other copies come in */
    double evict_ns;        /* CPU, per evicted block */
    double trace_record_ns; /* copy engine, per migration record while CUPTI traces */
    double trace_entry_ns;  /* CPU, per entry fetched while CUPTI traces */
    double cpu_fault_ns;    /* one CPU fault without its copy */
    double host;            /* the CPU's times here, relative to those stated */
};

/* The same platform with the CPU's times as they are on its host, and `host` 1: what the engine runs on. */
struct uvm_platform uvm_platform_on_host(const struct uvm_platform *platform);
