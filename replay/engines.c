/* The engines. A new one is a folder of its own and a line here. */
#include "replay/compare/compare.h"
#include "replay/dram/dram.h"
#include "replay/placement/placement.h"
#include "replay/uvm/uvm.h"
#include "replay/zerocopy/zerocopy.h"

const struct engine *const engines[] = {&engine_uvm, &engine_dram, &engine_zerocopy, &engine_placement, NULL};

const struct engine *const engines_results_only[] = {&engine_compare, NULL};
