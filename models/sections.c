/* The sections that a platform file may have. */
#include "models/base/platform.h"
#include "models/dram/dram_platform.h"
#include "models/gpu/gpu.h"
#include "models/placement/placement_platform.h"
#include "models/uvm/legacy.h"
#include "models/uvm/uvm_platform.h"
#include "models/zerocopy/pcie.h"

static const struct platform_section gpu_section = {"gpu", gpu_params, sizeof(struct gpu)};
static const struct platform_section dram_section = {"dram", dram_params, sizeof(struct dram_platform)};
static const struct platform_section uvm_section = {"uvm", uvm_platform_params, sizeof(struct uvm_platform)};
static const struct platform_section pcie_section = {"pcie", pcie_params, sizeof(struct pcie)};

const struct platform_section *const platform_sections[] = {
    &gpu_section, &uvm_section, &dram_section, &pcie_section, &placement_section, &legacy_section, NULL};
