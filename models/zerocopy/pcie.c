#include "models/zerocopy/pcie.h"

/* Defaults: PCIe 3.0 x16 framing (PCI Express Base Specification 3.0, section 4.2.2: 128b/130b, 4 B STP token, 4 B
 * LCRC; 3-DW completion header, 4-DW request header); no bound that a platform file does not state. */
const struct param pcie_params[] = {
    PARAM_REAL_ROW(pcie, gigatransfers, "GT/s", 2.5, 128, 8, "of a lane"),
    PARAM_INT_ROW(pcie, lanes, "", 1, 32, 16, "lanes"),
    PARAM_REAL_ROW(pcie, efficiency, "", 0.1, 1, 0.9, "share of the raw rate that data and headers can use"),
    PARAM_INT_ROW(pcie, completion_bytes, "bytes", 0, 64, 20, "overhead of a completion: header, token, LCRC"),
    PARAM_INT_ROW(pcie, request_bytes, "bytes", 0, 64, 24, "a read request on the wire"),
    PARAM_CHOICE_ROW(pcie, request, "run|line", 0, "a read for each run of a load's sectors, or for a line of them"),
    PARAM_INT_ROW(pcie, tags, "", 0, 1 << 20, 0, "outstanding requests; 0: no such bound"),
    PARAM_REAL_ROW(pcie, round_trip_ns, "ns", 1, 1e9, 1000, "of a request under load"),
    PARAM_REAL_ROW(pcie, host_bytes_per_s, "bytes/s", 0, 1e13, 0, "host memory, in 64 B lines; 0: no such bound"),
    PARAM_REAL_ROW(pcie, jump_ns, "ns", 0, 1e6, 0, "host memory, a read that begins where none ended; 0: not modelled"),
    PARAM_REAL_ROW(pcie, walk_ns, "ns", 0, 1e6, 0, "such a read beyond the reach: its translation; 0: not modelled"),
    PARAM_REAL_ROW(pcie, reach_bytes, "bytes", 0, 0x1p50, 0, "host memory whose translations the GPU has at hand"),
    PARAM_REAL_ROW(pcie, sharpness, "", 1, 1000, 12, "exponent that joins the bounds"),
    PARAM_REAL_ROW(pcie, load_ns, "ns", 0, 1e6, 0, "latency of a load, unloaded link; 0: not modelled"),
    PARAM_REAL_ROW(pcie, further_ns, "ns", 0, 1e6, 0, "a further request of a load; 0: not modelled"),
    PARAM_REAL_ROW(pcie, issue_sharpness, "", 1, 1000, 3.5, "exponent for too few warps"),
    PARAM_REAL_ROW(pcie, visit_ns, "ns", 0, 1e6, 0, "GPU memory read for an element, waited for"),
    PARAM_REAL_ROW(pcie, chain_sharpness, "", 1, 1000, 1.4, "exponent that joins the longest list with the transfer"),
    PARAM_REAL_ROW(pcie, launch_ns, "ns", 0, 1e9, 0, "start and end of a launch"),
    PARAM_REAL_ROW(pcie, vertex_ns, "ns", 0, 1e6, 0, "per vertex and launch; 0: not modelled"),
    PARAM_INT_ROW(pcie, copy_payload_bytes, "bytes", 16, 4096, 128, "payload of a block copy's completions"),
    PARAM_REAL_ROW(pcie, copy_setup_ns, "ns", 0, 1e9, 3160, "of one asynchronous copy"),
    /* Rows: gather then copy gives about half of zero-copy on an RTX 3090 (dissertation, section 3.5). Lists: fitted to
     * the four published BFS times of Subway on a V100 (dissertation, table 2.4). */
    PARAM_REAL_ROW(pcie, cpu_rows_bytes_per_s, "bytes/s", 1e6, 1e13, 23.5e9, "the CPU gathers rows"),
    PARAM_REAL_ROW(pcie, cpu_lists_bytes_per_s, "bytes/s", 1e6, 1e13, 3.5e9, "the CPU gathers active lists"),
    PARAM_REAL_ROW(pcie, peer_bytes_per_s, "bytes/s", 0, 1e13, 0, "from other GPUs, all links together; 0: none"),
    PARAM_BYTES_ROW(pcie, uvm_reserve_bytes, 0, 0x1p40, 322122547, "GPU memory that managed data cannot have"),
    PARAM_BYTES_ROW(pcie, l1_block_bytes, 0, 1 << 20, 1024, "shared memory that the system takes for a resident block"),
    PARAM_REAL_ROW(pcie, l1_together, "", 0, 1000, 0, "L1 re-fetch strength of blocks in step"),
    PARAM_REAL_ROW(pcie, l1_steady, "", 0, 1000, 0, "L1 re-fetch strength later; 0: not measured"),
    PARAM_REAL_ROW(pcie, l1_group, "", 0, 1000, 0, "L1 re-fetch strength between loads issued together"),
    {0}};

double pcie_raw_bytes_per_s(const struct pcie *p)
{
    return p->gigatransfers * 1e9 * (double)p->lanes * 128 / 130 / 8;
}

double pcie_copy_bytes_per_s(const struct pcie *p)
{
    double payload = (double)p->copy_payload_bytes;
    return p->efficiency * pcie_raw_bytes_per_s(p) * payload / (payload + (double)p->completion_bytes);
}
