/* The sections that a platform file may have, and which of their numbers have a general default: facts of a standard or
 * of a driver, and how a model is run. A platform states all others, or it refuses. */
#include "models/base/sections.h"
#include "models/base/platform.h"
#include "models/dram/dram_platform.h"
#include "models/gpu/gpu.h"
#include "models/gpu/launch.h"
#include "models/placement/overhead.h"
#include "models/uvm/legacy.h"
#include "models/uvm/uvm_platform.h"
#include "models/zerocopy/link.h"

static const struct platform_general gpu_general[] = {
    {"l2_ways", "assumed 12..32: NVIDIA does not say; Accel-Sim's configurations take 16 to 32"},
    {"register_unit", "occupancy calculator of compute capability 3.0 to 9.0: 256 of a warp"},
    {"spread_blocks", "CUDA programming guide, hardware multithreading: blocks are placed as long as they fit"},
    {"schedulers", "CUDA programming guide, compute capability 5.0 to 9.0: four warp schedulers"},
    {"atomics_stall", "how the model is run: a warp waits where it uses the value"},
    {"l1_carve", "how the model is run: L1 is what shared memory leaves"},
    {"l1_ways", "assumed 0..64: NVIDIA does not say; GPGPU-Sim's configuration of Volta has one set"},
    {"l1_sets", "assumed low..hash: NVIDIA does not say"},
    {"l1_replacement", "assumed lru..random: NVIDIA does not say"},
    {"l1_allocate", "assumed fill..miss: streaming as in Khairy et al., ISCA 2020, section III-A"},
    {"l1_cycles", "assumed 20..40: Jia et al. 2018, table 3.1: 28 on a V100"},
    {"l2_cycles", "assumed 150..300: Jia et al. 2018, table 3.1: 193 on a V100"},
    {"block_shared_bytes", "CUDA C++ programming guide, compute capability below 8.0: none"},
    {"block_gap_ns", "not modelled: measured on an H100 only"},
    {"l1_banks", "assumed 2..4: as GPGPU-Sim's configuration of Volta"},
    {"miss_queue", "assumed 8..64: as GPGPU-Sim's configuration of Volta"},
    {0}};

static const struct platform_general uvm_general[] = {
    {"utlb_merge", "how the model is run: a micro-TLB reports a page once for all that wait for it"},
    {"batch_faults", "driver default uvm_perf_fault_batch_count"},
    {"routine_batches", "driver default uvm_perf_fault_max_batches_per_service"},
    {"trace_record_ns", "assumed 1000..5000: what tracing costs a migration record, 2,500 ns in recordings of an H200"},
    {"trace_entry_ns", "assumed 0..300: what tracing costs a fault entry, 140 ns in recordings of an H200"},
    {"host",
     "assumed 0.33..3.5: beside the H200's an RTX 5070 Ti's desktop took 0.34 to 0.63 (driver 595.91.07, 8 GiB, "
     "one to 512 pages a VA block), guests with a T4 1.3 to 3.6 (driver 595.71.05, batches of one fault)"},
    {0}};

static const struct platform_general pcie_general[] = {
    {"completion_bytes", "PCI Express Base Specification 3.0, section 4.2.2: header, token and LCRC of a completion"},
    {"request_bytes", "PCI Express Base Specification 3.0, section 4.2.2: a read request with its framing"},
    {"request", "assumed run..line: measured on an H200 only, which reads by lines; docs/zerocopy-engine.md"},
    {"host_bytes_per_s", "no such bound was measured"},
    {"jump_ns", "not modelled: not measured on any machine; fixtures/cuda/zero_copy_link.cu measures it"},
    {"walk_ns", "not modelled: not measured on any machine; fixtures/cuda/zero_copy_link.cu measures it"},
    {"reach_bytes", "without effect while walk_ns is 0"},
    {"sharpness", "assumed 8..1000: a smooth maximum, which no measurement identifies"},
    {"load_ns", "not modelled: no latency was measured"},
    {"further_ns", "not modelled: not measured on any machine; fixtures/cuda/zero_copy_link.cu measures it"},
    {"issue_sharpness", "assumed 2..4: 2 fits an RTX 3090, 3.5 an H200; without effect while load_ns is 0"},
    {"visit_ns", "not modelled: measured on an H200 only"},
    {"chain_sharpness", "assumed 1..4: a smooth maximum; without effect while load_ns is 0"},
    {"vertex_ns", "not modelled"},
    {"peer_bytes_per_s", "no link to other GPUs is stated"},
    {"l1_together", "not modelled: measured on an H200 only"},
    {"l1_steady", "not modelled: measured on an H200 only"},
    {"l1_group", "not modelled: measured on an H200 only"},
    {0}};

/* What the paper's controller leaves out; a device's own numbers are stated (models/dram/dram_platform_test.c). */
static const struct platform_general dram_general[] = {
    {"rcdwr", "how the model is run: derived from rcd and wl, as GPGPU-Sim does"},
    {"rrdl", "not modelled: one rrd, as in GPGPU-Sim"},
    {"faw", "not modelled, as in GPGPU-Sim"},
    {"wtrl", "not modelled: one cdlr, as in GPGPU-Sim"},
    {"rtw", "how the model is run: derived from cl, burst_cycles and wl, as GPGPU-Sim does"},
    {"rtp", "how the model is run: burst_cycles, as in GPGPU-Sim"},
    {"ppd", "not modelled, as in GPGPU-Sim"},
    {"sids", "how the model is run: one"},
    {"ccdr", "not modelled, as in GPGPU-Sim"},
    {"rpab", "how the model is run: rp"},
    {"command_bus", "how the model is run: one column and one row command a cycle, as GPGPU-Sim's dual bus"},
    {"act_bus", "not modelled, as in GPGPU-Sim"},
    {"pre_bus", "not modelled, as in GPGPU-Sim"},
    {"column_bus", "not modelled, as in GPGPU-Sim"},
    {"refresh", "not modelled, as in GPGPU-Sim"},
    {"refi", "without effect while refresh is none"},
    {"rfc", "without effect while refresh is not all"},
    {"rfcb", "without effect while refresh is not bank"},
    {"rrefd", "without effect while refresh is not bank"},
    {"mem_share", "how the model is run: all, or those that are left"},
    {"act_pj", "no figure is public: no energy is given"},
    {"bit_pj", "no figure is public: no energy is given"},
    {"refresh_nj", "no figure is public: no energy is given"},
    {"background_mw", "no figure is public: no energy is given"},
    {0}};

static const struct platform_section gpu_section = {"gpu", gpu_params, sizeof(struct gpu), gpu_general, NULL};
static const struct platform_section dram_section = {"dram", dram_params, sizeof(struct dram_platform), dram_general,
                                                     NULL};
static const struct platform_section uvm_section = {"uvm", uvm_platform_params, sizeof(struct uvm_platform),
                                                    uvm_general, "host"};
static const struct platform_section launch_section = {"launch", launch_params, sizeof(struct launch), NULL, NULL};
static const struct platform_section pcie_section = {"pcie", pcie_params, sizeof(struct pcie), pcie_general, NULL};

static const struct platform_section batch_section = {"batch", batch_params, sizeof(struct link_batch), NULL, NULL};

const struct platform_section *const platform_sections[] = {&gpu_section,    &uvm_section,    &dram_section,
                                                            &pcie_section,   &launch_section, &placement_section,
                                                            &legacy_section, &batch_section,  NULL};
