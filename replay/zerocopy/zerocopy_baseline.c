#include "replay/zerocopy/zerocopy_baseline.h"

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
