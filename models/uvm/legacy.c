#include "models/uvm/legacy.h"
#include "trace/base/param.h"

#include <string.h>

enum { PAGE = 4096 };

/* Defaults are GM200's; where each comes from stands in models/platforms/gm200.ini. */
static const struct param params[] = {
    PARAM_REAL_ROW(legacy_platform, launch_ns, "ns", 0, 1e9, 46350, "a synchronous launch without managed memory"),
    PARAM_REAL_ROW(legacy_platform, present_ns, "ns", 0, 1e9, 79650, "added by any managed memory"),
    PARAM_REAL_ROW(legacy_platform, copy_in_bytes_per_s, "bytes/s", 1e6, 1e12, 13e9, "bulk copy of dirty pages"),
    PARAM_REAL_ROW(legacy_platform, fault_ns, "ns", 0, 1e9, 7620, "one CPU fault without its copy"),
    PARAM_INT_ROW(legacy_platform, run_pages, "pages", 1, 1 << 20, 1, "pages that one CPU fault brings back"),
    PARAM_REAL_ROW(legacy_platform, copy_back_bytes_per_s, "bytes/s", 1e6, 1e12, 13e9, "copy of a run to the host"),
    PARAM_REAL_ROW(legacy_platform, mapped_bytes_per_s, "bytes/s", 1e6, 1e12, 12e9,
                   "GPU access to mapped pinned memory"),
    {0}};

const struct platform_section legacy_section = {"legacy", params, sizeof(struct legacy_platform), NULL, NULL};

void legacy_launch(const struct legacy_platform *hw, int64_t pages, enum legacy_touch touch, struct legacy_cost *cost)
{
    memset(cost, 0, sizeof *cost);
    if (touch == LEGACY_WRITE)
        cost->h2d_bytes = pages * PAGE;
    if (touch != LEGACY_NONE) {
        cost->faults = (pages + hw->run_pages - 1) / hw->run_pages;
        cost->d2h_bytes = pages * PAGE;
    }
    cost->copy_in_ns = (double)cost->h2d_bytes / hw->copy_in_bytes_per_s * 1e9;
    cost->fault_ns = (double)cost->faults * hw->fault_ns;
    cost->copy_back_ns = (double)cost->d2h_bytes / hw->copy_back_bytes_per_s * 1e9;
    cost->time_ns =
        hw->launch_ns + (pages ? hw->present_ns : 0) + cost->copy_in_ns + cost->fault_ns + cost->copy_back_ns;
}

void legacy_mapped(const struct legacy_platform *hw, int64_t gpu_bytes, struct legacy_cost *cost)
{
    memset(cost, 0, sizeof *cost);
    cost->time_ns = hw->launch_ns + (double)gpu_bytes / hw->mapped_bytes_per_s * 1e9;
}

const struct policy_head uvm_pinned = {.name = "pinned",
                                       .summary = "legacy mode: mapped pinned memory instead of managed memory",
                                       .source = "Wilt 2017: the alternative it names",
                                       .baseline = true};
