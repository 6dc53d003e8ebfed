/* figures: what `plot` can draw, one or a few to a file. */
#ifndef REPLAY_FIGURE_FIGURES_H
#define REPLAY_FIGURE_FIGURES_H

#include "replay/figure/plot.h"

extern const struct figure figure_tiering, figure_pcie_share, figure_legacy_runs, figure_robust;
extern const struct figure figure_compare_times, figure_compare_bytes;
extern const struct figure figure_tlp_sizes, figure_tlp_latency;
extern const struct figure figure_placement_overhead, figure_placement_timeline;
extern const struct figure figure_uvm_speedup, figure_uvm_granularity, figure_uvm_locality, figure_uvm_timeline,
    figure_uvm_sensitivity;

extern const struct figure figure_pcie_toy, figure_pcie_sizes, figure_pcie_requests, figure_pcie_bandwidth,
    figure_pcie_amplification, figure_pcie_speedup;

extern const struct figure figure_dram_fairness, figure_dram_throughput, figure_dram_switches, figure_dram_sensitivity,
    figure_dram_ablation, figure_dram_character, figure_dram_llm, figure_dram_timeline, figure_dram_pairs;

#endif
