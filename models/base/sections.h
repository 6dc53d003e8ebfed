/* The rows of the sections of platform files, for those who read a section whole. */
#pragma once

#include "trace/base/param.h"

extern const struct param gpu_params[], uvm_platform_params[], pcie_params[], dram_params[], launch_params[],
    batch_params[];
