/* The figures. A new one is its file, its name in figures.h and a line here. */
#include "replay/figure/figures.h"

const struct figure *const figures[] = {
    &figure_pcie_share,         &figure_legacy_runs,        &figure_tiering,         &figure_uvm_speedup,
    &figure_uvm_locality,       &figure_uvm_timeline,       &figure_uvm_granularity, &figure_uvm_sensitivity,
    &figure_placement_overhead, &figure_placement_timeline, &figure_tlp_sizes,       &figure_tlp_latency,
    &figure_pcie_toy,           &figure_pcie_sizes,         &figure_pcie_requests,   &figure_pcie_bandwidth,
    &figure_pcie_amplification, &figure_pcie_speedup,       &figure_dram_fairness,   &figure_dram_throughput,
    &figure_dram_switches,      &figure_dram_sensitivity,   &figure_dram_ablation,   &figure_dram_character,
    &figure_dram_llm,           &figure_dram_timeline,      &figure_robust,          NULL};
