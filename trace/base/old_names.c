#include "trace/base/old_names.h"

#include <stddef.h>
#include <string.h>

/* In the order of the alphabet. */
static const struct {
    const char *name, *now;
} rows[] = {
    {"--adapter-ip", "--set adapter=ADDRESS of import"},
    {"--clock", "--set clock=pcap|adapter"},
    {"--force-injection", "env -u CUDA_INJECTION64_PATH offchip record .."},
    {"--keep-accesses", "record --accesses, and derive from it"},
    {"--keep-dirty", "write-backs are in the trace by their kind"},
    {"--nettlp-port", "--set ports=LO-HI of import"},
    {"--no-config", "there is no configuration to leave out"},
    {"--robust-all", "--robust N, of the rows near the best"},
    {"--seed", "--robust N with another N"},
    {"--tie", "--robust N, with the models' measured errors"},
    {"--time-limit", "timeout S offchip record .."},
    {"--tlp-offset", "--set tlp_offset=K of import"},
    {"compare-bytes", "bars --metric h2d_bytes,d2h_bytes"},
    {"dram-ablation", "bars --metric fairness_index,system_throughput"},
    {"dram-character",
     "bars --metric noc_arrival_per_kcycle,dram_arrival_per_kcycle,bank_parallelism,mem_row_hit_ratio"},
    {"dram-fairness", "bars --metric fairness_index --over vcs --aggregate declared"},
    {"dram-llm", "bars --metric concurrent_speedup_ratio,ideal_speedup_ratio --over vcs"},
    {"dram-pairs", "bars --metric fairness_index,system_throughput"},
    {"dram-sensitivity", "lines --metric fairness_index --over KEY"},
    {"dram-switches", "bars --metric mode_switches --over vcs --aggregate declared"},
    {"dram-throughput", "stacked --metric mem_speedup_ratio,pim_speedup_ratio --aggregate declared"},
    {"dram-timeline", "no figure; replay dram --commands FILE writes what a channel did"},
    {"legacy-runs", "lines --metric time_ns --over run_pages"},
    {"npz", "csv, or SQL (docs/python.md)"},
    {"pcie-amplification", "bars --metric read_amplification_ratio"},
    {"pcie-bandwidth", "bars --metric link_bytes_per_s"},
    {"pcie-requests", "bars --metric requests"},
    {"pcie-share", "lines --metric bandwidth_bytes_per_s --over sm_share_pct"},
    {"pcie-sizes", "shares --metric requests_32,requests_64,requests_96,requests_128"},
    {"pcie-speedup", "bars --metric speedup_ratio"},
    {"pcie-toy", "bars --metric link_bytes_per_s,host_dram_bytes_per_s"},
    {"placement-timeline", "timeline"},
    {"relaunch_gap", "launch_gap"},
    {"robust", "tornado"},
    {"tiering", "lines --metric hit_ratio --over local_pct"},
    {"uvm-granularity", "lines --metric speedup_ratio --over granularity"},
    {"uvm-locality", "box"},
    {"uvm-sensitivity", "lines --metric speedup_ratio"},
    {"uvm-speedup", "bars --metric speedup_ratio"},
    {"uvm-timeline", "timeline"},
};

const char *old_name(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return rows[i].now;
    return NULL;
}
