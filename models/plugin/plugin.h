/* plugin: what the C file of a user's own policy includes. The file ends with one of the OFFCHIP_ lines below. `offchip
 * policy build FILE.c -o FILE.so` compiles it for `--policy ./FILE.so` (docs/adding-a-policy.md).
 *
 * The file has the same struct of an interface with its head as one in models/. PLUGIN_API() declares the program's
 * functions that it may call; all others are inline in these headers. The program's loop calls a scheduler's hooks. */
#pragma once

#include "models/dram/loop.h"
#include "models/placement/placement_policy.h"
#include "models/uvm/locality.h"
#include "models/uvm/uvm_evict.h"
#include "models/uvm/uvm_policy.h"
#include "models/zerocopy/lane.h"
#include "models/zerocopy/window.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/base/random.h"

/* Counted up when what a policy is told or asked changes its meaning, though no size. */
enum { PLUGIN_VERSION = 3, PLUGIN_STRUCTS = 18 };

/* The sizes of what a policy and the program show each other: a file that was built with others is refused. */
#define PLUGIN_SIZES                                                                                                   \
    {                                                                                                                  \
        sizeof(struct err), sizeof(struct policy_head), sizeof(struct param), sizeof(struct uvm_policy),               \
            sizeof(struct uvm_block), sizeof(struct uvm_batch), sizeof(struct uvm_batch_block),                        \
            sizeof(struct uvm_batch_faults), sizeof(struct uvm_prefetch_requests), sizeof(struct uvm_evict_policy),    \
            sizeof(struct uvm_evict_view), sizeof(struct uvm_evict_block), sizeof(struct dram_policy),                 \
            sizeof(struct dram_hooks), sizeof(struct dram_channel), sizeof(struct zerocopy_pattern),                   \
            sizeof(struct pattern_view), sizeof(struct coalescer),                                                     \
    }

/* What the file exports, under the name `offchip_policy`. */
struct plugin {
    char mark[8];       /* PLUGIN_MARK */
    uint32_t interface; /* enum policy_interface */
    uint32_t version;
    uint32_t sizes[PLUGIN_STRUCTS];
    const void *policy;             /* the interface's struct */
    const struct dram_hooks *hooks; /* of a scheduler; else NULL */
    const struct dram_loops *loops; /* likewise */
};

#define PLUGIN_MARK   "offchip"
#define PLUGIN_SYMBOL "offchip_policy"

#define PLUGIN_EXPORT(interface, type, policy, hooks, loops)                                                           \
    _Static_assert(__builtin_types_compatible_p(__typeof__(policy), struct type), "expected a struct " #type);         \
    extern const struct plugin offchip_policy;                                                                         \
    __attribute__((visibility("default"))) const struct plugin offchip_policy = {                                      \
        PLUGIN_MARK, interface, PLUGIN_VERSION, PLUGIN_SIZES, &(policy), hooks, loops};

#define OFFCHIP_UVM_PREFETCH(policy)     PLUGIN_EXPORT(POLICY_UVM_PREFETCH, uvm_policy, policy, NULL, NULL)
#define OFFCHIP_UVM_EVICT(policy)        PLUGIN_EXPORT(POLICY_UVM_EVICT, uvm_evict_policy, policy, NULL, NULL)
#define OFFCHIP_ZEROCOPY_PATTERN(policy) PLUGIN_EXPORT(POLICY_ZEROCOPY_PATTERN, zerocopy_pattern, policy, NULL, NULL)
#define OFFCHIP_PLACEMENT(policy)        PLUGIN_EXPORT(POLICY_PLACEMENT, placement_policy, policy, NULL, NULL)
/* The policy's `loops` are not asked. */
#define OFFCHIP_DRAM_SCHEDULER(policy, hooks)                                                                          \
    DRAM_LOOPS_OF(plugin_loops, hooks)                                                                                 \
    PLUGIN_EXPORT(POLICY_DRAM_SCHEDULER, dram_policy, policy, &(hooks), &plugin_loops)
