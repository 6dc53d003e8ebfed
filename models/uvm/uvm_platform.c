#include "models/uvm/uvm_platform.h"

#include <stddef.h>

#include "models/base/sections.h"
#include "trace/base/param.h"

/* Defaults are the TITAN V's; where each comes from stands in models/platforms/titanv.ini. */
const struct param uvm_platform_params[] = {
    PARAM_INT_ROW(uvm_platform, utlbs, "", 1, 1024, 40, "micro-TLBs that report faults"),
    PARAM_INT_ROW(uvm_platform, driver, "", 384, 9999, 580,
                  "major version of the driver, for what changed between versions"),
    PARAM_INT_ROW(uvm_platform, gpcs, "", 1, 1024, 6, "graphics processing clusters"),
    PARAM_INT_ROW(uvm_platform, utlb_faults, "", 1, 4096, 56, "outstanding faults of one micro-TLB, at most"),
    PARAM_CHOICE_ROW(uvm_platform, utlb, "blocked|free", UVM_UTLB_FREE,
                     "whether a micro-TLB full of faults also stops accesses to resident pages"),
    PARAM_INT_ROW(uvm_platform, utlb_merge, "", 0, 1, 1, "1: a micro-TLB reports a page once, 0: once for each actor"),
    PARAM_INT_ROW(uvm_platform, sm_parts, "", 1, 16, 1, "parts of a multiprocessor that report a page each"),
    PARAM_REAL_ROW(uvm_platform, fault_gap_ns, "ns", 0, 1e6, 14.5, "between two pages that a micro-TLB does not find"),
    PARAM_REAL_ROW(uvm_platform, walk_gap_ns, "ns", 0, 1e6, 14.5, "between two that it finds after a replay"),
    PARAM_REAL_ROW(uvm_platform, walk_ns, "ns", 0, 1e9, 640, "looking up the page of a repeated access"),
    PARAM_REAL_ROW(uvm_platform, fresh_ns, "ns", 0, 1e9, 0, "a load of data that has just come; 0: memory_ns"),
    PARAM_REAL_ROW(uvm_platform, gpu_fault_gap_ns, "ns", 0, 1e6, 8, "between two fault entries that the GPU writes"),
    PARAM_INT_ROW(uvm_platform, batch_faults, "", 1, 8192, 256, "raw faults of one batch, at most"),
    PARAM_INT_ROW(uvm_platform, routine_batches, "", 1, 1e6, 20, "batches of one routine, at most"),
    PARAM_REAL_ROW(uvm_platform, interrupt_ns, "ns", 0, 1e9, 3400, "first fault to first fetch"),
    PARAM_REAL_ROW(uvm_platform, top_half_ns, "ns", 0, 1e9, 0, "first fault to the PUT that its interrupt reads"),
    PARAM_REAL_ROW(uvm_platform, awake_ns, "ns", 0, 1e9, 0, "after a look at the buffer: so long does it read PUT"),
    PARAM_REAL_ROW(uvm_platform, poll_ns, "ns", 0, 1e9, 2000, "replay to the next fetch"),
    PARAM_REAL_ROW(uvm_platform, batch_before_ns, "ns", 0, 1e9, 5000, "per batch, before its services"),
    PARAM_REAL_ROW(uvm_platform, batch_after_ns, "ns", 0, 1e9, 10000, "per batch, flush and replay"),
    PARAM_REAL_ROW(uvm_platform, raw_fault_ns, "ns", 0, 1e9, 300, "per fault-buffer entry"),
    PARAM_REAL_ROW(uvm_platform, fault_page_ns, "ns", 0, 1e9, 300, "per page serviced as faulted"),
    PARAM_REAL_ROW(uvm_platform, service_ns, "ns", 0, 1e9, 13000, "per VA block in a batch, new to the GPU"),
    PARAM_REAL_ROW(uvm_platform, service_again_ns, "ns", 0, 1e9, 6000, "per VA block in a batch, used before"),
    PARAM_REAL_ROW(uvm_platform, new_block_ns, "ns", 0, 1e9, 30000, "first use of a VA block by the GPU"),
    PARAM_REAL_ROW(uvm_platform, moved_page_ns, "ns", 0, 1e9, 0, "CPU work per page made resident"),
    PARAM_REAL_ROW(uvm_platform, moved_run_ns, "ns", 0, 1e9, 0, "CPU work per contiguous run made resident"),
    PARAM_REAL_ROW(uvm_platform, unmap_run_ns, "ns", 0, 1e9, 1500, "per contiguous run that the CPU has mapped"),
    PARAM_REAL_ROW(uvm_platform, unmap_page_ns, "ns", 0, 1e9, 40, "per page that the CPU has mapped"),
    PARAM_REAL_ROW(uvm_platform, copy_run_ns, "ns", 0, 1e9, 300, "copy engine, per contiguous run"),
    PARAM_REAL_ROW(uvm_platform, h2d_bytes_per_s, "bytes/s", 1e6, 1e13, 12e9, "copies to the GPU"),
    PARAM_REAL_ROW(uvm_platform, d2h_bytes_per_s, "bytes/s", 1e6, 1e13, 11e9, "copies to the host"),
    PARAM_INT_ROW(uvm_platform, copy_engines, "", 1, 2, 1, "2: evictions are copied out while other copies come in"),
    PARAM_REAL_ROW(uvm_platform, evict_ns, "ns", 0, 1e9, 10000, "CPU work per evicted block"),
    PARAM_REAL_ROW(uvm_platform, trace_record_ns, "ns", 0, 1e9, 2500, "copy engine, per traced migration record"),
    PARAM_REAL_ROW(uvm_platform, trace_entry_ns, "ns", 0, 1e9, 140, "CPU work per entry fetched while traced"),
    PARAM_REAL_ROW(uvm_platform, cpu_fault_ns, "ns", 0, 1e9, 15800, "one CPU fault without its copy"),
    PARAM_REAL_ROW(uvm_platform, host, "", 0.01, 100, 1, "the CPU's times on this host, relative to those stated"),
    {0}};

struct uvm_platform uvm_platform_on_host(const struct uvm_platform *platform)
{
    struct uvm_platform p = *platform;
    double *const cpu[] = {
        &p.interrupt_ns,  &p.top_half_ns,    &p.awake_ns,      &p.poll_ns,       &p.batch_before_ns,  &p.batch_after_ns,
        &p.raw_fault_ns,  &p.trace_entry_ns, &p.fault_page_ns, &p.service_ns,    &p.service_again_ns, &p.new_block_ns,
        &p.moved_page_ns, &p.moved_run_ns,   &p.unmap_run_ns,  &p.unmap_page_ns, &p.evict_ns,         &p.cpu_fault_ns};
    for (size_t i = 0; i < sizeof cpu / sizeof *cpu; i++)
        *cpu[i] *= p.host;
    p.host = 1;
    return p;
}
