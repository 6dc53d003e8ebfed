#include "replay/zerocopy/zerocopy_baseline.h"

#include <math.h>

#include "replay/zerocopy/zerocopy_uvm.h"

enum { CHUNK_BYTES = 2097152, FEW_CHUNKS = 50 };

/* Bytes moved without requests of their own: host lines are the bytes themselves. */
static int moved(struct zerocopy_run *run, double bytes, uint64_t runs, struct outcome *out)
{
    run->totals.payload_bytes = bytes;
    run->totals.host_dram_bytes = bytes;
    zerocopy_metrics(&run->totals, &run->context->setup, (double)runs, false, out);
    return 0;
}

static int copy_finish(struct zerocopy_run *run, uint64_t runs, struct outcome *out, struct err *err)
{
    (void)err;
    double bytes = zerocopy_structure_bytes(&run->context->setup);
    run->totals.time_ns = (double)runs * link_copy_ns(run->context->pcie, bytes, 1);
    outcome_note(out, "time of the block copy alone: the kernel then reads GPU memory");
    return moved(run, (double)runs * bytes, runs, out);
}

/* What the launch reads, gathered by the CPU and copied. */
static int gather_launch(struct zerocopy_run *run, struct err *err)
{
    (void)err;
    const struct pcie *p = run->context->pcie;
    double bytes = run->launch_elements * zerocopy_element_bytes(&run->context->setup);
    double rate = run->context->setup.shape == SCAN_LISTS ? p->cpu_lists_bytes_per_s : p->cpu_rows_bytes_per_s;
    run->totals.payload_bytes += bytes;
    run->totals.time_ns += bytes / rate * 1e9 + link_copy_ns(p, bytes, 1);
    return 0;
}

static int gather_finish(struct zerocopy_run *run, uint64_t runs, struct outcome *out, struct err *err)
{
    (void)err;
    return moved(run, run->totals.payload_bytes, runs, out);
}

/* --- unified memory --- */

uint64_t zerocopy_uvm_chunks(const struct zerocopy_context *c)
{
    double total = zerocopy_structure_bytes(&c->setup);
    double first = (double)c->setup.structures[0].elements * c->setup.structures[0].element;
    double memory = c->settings->gpu_memory_ratio > 0 ? first / c->settings->gpu_memory_ratio
                                                      : (double)(c->gpu->memory_bytes - c->pcie->uvm_reserve_bytes);
    return memory >= total ? 0 : (uint64_t)fmax(1, floor(memory / CHUNK_BYTES));
}

static int uvm_open(struct zerocopy_run *run, struct outcome *out, struct err *err)
{
    if (run->context->setup.scale > 0) {
        outcome_note(out, "unified memory depends on which vertices a level reaches; an expectation does not know");
        run->refused = true;
        return 0;
    }
    const struct scan_setup *s = &run->context->setup;
    if (run->context->settings->uvm_time == UVM_TIME_ENGINE) {
        run->uvm = zerocopy_uvm_new(s, err);
        return run->uvm ? 0 : -1;
    }
    uint64_t bytes = 0;
    for (size_t i = 0; i < s->structure_count; i++)
        bytes += s->structures[i].elements * s->structures[i].element;
    return paging_init(&run->paging, bytes, zerocopy_uvm_chunks(run->context), err);
}

static int uvm_scans(struct zerocopy_run *run, const struct scan *scans, size_t n, struct err *err)
{
    if (run->uvm)
        return zerocopy_uvm_add(run->uvm, scans, n, err);
    const struct scan_setup *s = &run->context->setup;
    for (size_t k = 0; k < n; k++) {
        uint64_t start = 0;
        for (size_t i = 0; i < s->structure_count; i++) {
            uint64_t element = s->structures[i].element;
            paging_touch(&run->paging, start + scans[k].first * element, scans[k].count * element);
            start += s->structures[i].elements * element;
        }
    }
    return 0;
}

static int uvm_launch(struct zerocopy_run *run, struct err *err)
{
    if (run->uvm)
        return zerocopy_uvm_launch(run->uvm, err);
    const struct pcie *p = run->context->pcie;
    double bytes = (double)run->paging.moved - run->totals.payload_bytes;
    run->totals.payload_bytes += bytes;
    run->totals.time_ns += bytes * (1e9 / pcie_copy_bytes_per_s(p) + p->uvm_ns_per_byte) + p->launch_ns;
    return 0;
}

static int uvm_finish(struct zerocopy_run *run, uint64_t runs, struct outcome *out, struct err *err)
{
    const struct zerocopy_context *c = run->context;
    if (run->uvm && zerocopy_uvm_run(run->uvm, c->gpu, c->uvm, zerocopy_uvm_chunks(c), &run->totals.time_ns,
                                     &run->totals.payload_bytes, err))
        return -1;
    if (run->paging.chunks && run->paging.chunks < FEW_CHUNKS)
        outcome_note(out, "GPU memory is only %llu chunks of 2 MiB: amplification depends on single chunks",
                     (unsigned long long)run->paging.chunks);
    if (runs > 1 && zerocopy_uvm_chunks(c) == 0)
        outcome_note(out,
                     "the structure fits GPU memory and stays there: time is that of moving it once, shared among %llu "
                     "traversals; reading it in GPU memory is not counted",
                     (unsigned long long)runs);
    return moved(run, run->totals.payload_bytes, runs, out);
}

const struct zerocopy_baseline zerocopy_uvm = {
    .head = {.name = "uvm",
             .summary = "baseline: unified memory, read-mostly, the driver's tree prefetcher",
             .source = "dissertation, section 2.5; driver 545.23.06, uvm_perf_prefetch.c",
             .baseline = true},
    .open = uvm_open,
    .scans = uvm_scans,
    .launch = uvm_launch,
    .finish = uvm_finish};

const struct zerocopy_baseline zerocopy_dma = {
    .head = {.name = "dma",
             .summary = "baseline: the CPU gathers what is needed, then a block copy",
             .source = "dissertation, section 3.5",
             .baseline = true},
    .cpu_gathers = true,
    .launch = gather_launch,
    .finish = gather_finish};

const struct zerocopy_baseline zerocopy_copy = {.head = {.name = "copy",
                                                         .summary = "baseline: one block copy of the whole structure",
                                                         .source = "dissertation, section 2.5 (cudaMemcpy)",
                                                         .baseline = true},
                                                .finish = copy_finish};

const struct zerocopy_baseline zerocopy_subgraph = {
    .head = {.name = "subgraph",
             .summary = "baseline: active lists gathered by the CPU, one copy per level",
             .source = "dissertation, table 2.4; Sabet et al., Subway, EuroSys 2020",
             .baseline = true},
    .cpu_gathers = true,
    .launch = gather_launch,
    .finish = gather_finish};
