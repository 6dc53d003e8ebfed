/* own: what the C file of a policy of one's own includes. It ends with one of the OFFCHIP_ lines at the bottom, and
 * `offchip policy build FILE.c -o FILE.so` makes of it what `--policy ./FILE.so` loads (docs/adding-a-policy.md).
 *
 * Such a file says the same as one in models/: the struct of an interface with its head. Functions of the program that
 * it may call are those of models/own/own_names.h; all else is inline in these headers. A loop of its own it does not
 * have: schedulers are driven by the program's, through their hooks. */
#ifndef MODELS_OWN_OWN_H
#define MODELS_OWN_OWN_H

#include "models/dram/dram_policy.h"
#include "models/dram/loop.h"
#include "models/own/own_interface.h"
#include "models/placement/placement_policy.h"
#include "models/uvm/locality.h"
#include "models/uvm/prefetch/fixed.h"
#include "models/uvm/prefetch/tree.h"
#include "models/uvm/uvm_evict.h"
#include "models/uvm/uvm_policy.h"
#include "models/zerocopy/lane.h"
#include "models/zerocopy/pattern.h"
#include "models/zerocopy/row.h"
#include "models/zerocopy/window.h"
#include "trace/base/mem.h"
#include "trace/base/random.h"

/* The version of each interface: counted up when what its functions are told or asked changes its meaning, though not
 * its layout. A file that was built for another version or layout is refused. */
enum {
    OWN_UVM_PREFETCH_VERSION = 1,
    OWN_UVM_EVICT_VERSION = 1,
    OWN_DRAM_SCHEDULER_VERSION = 1,
    OWN_ZEROCOPY_PATTERN_VERSION = 1,
    OWN_PLACEMENT_VERSION = 1
};

/* The layout of what an interface shows: sizes and places of fields, mixed by FNV-1a's step. */
#define OWN_MIX(so_far, number)        (((so_far) ^ (uint64_t)(number)) * 0x100000001b3u)
#define OWN_SIZE(so_far, type)         OWN_MIX(so_far, sizeof(struct type))
#define OWN_FIELD(so_far, type, field) OWN_MIX(so_far, offsetof(struct type, field))

#define OWN_HEAD_LAYOUT                                                                                                \
    OWN_FIELD(OWN_SIZE(OWN_SIZE(OWN_SIZE(0xcbf29ce484222325u, policy_head), param), err), policy_head, state_size)
#define OWN_VIEW_LAYOUT                                                                                                \
    OWN_FIELD(                                                                                                         \
        OWN_FIELD(OWN_FIELD(OWN_SIZE(OWN_SIZE(OWN_SIZE(OWN_HEAD_LAYOUT, uvm_block), uvm_evict_view), uvm_evict_block), \
                            uvm_block, fault_pages),                                                                   \
                  uvm_evict_block, advice),                                                                            \
        uvm_evict_view, piece_age)
#define OWN_UVM_PREFETCH_LAYOUT                                                                                        \
    OWN_FIELD(OWN_FIELD(OWN_SIZE(OWN_SIZE(OWN_SIZE(OWN_SIZE(OWN_SIZE(OWN_VIEW_LAYOUT, uvm_policy), uvm_batch),         \
                                                   uvm_batch_block),                                                   \
                                          uvm_ahead),                                                                  \
                                 uvm_asks),                                                                            \
                        uvm_policy, plan),                                                                             \
              uvm_policy, stock)
#define OWN_UVM_EVICT_LAYOUT                                                                                           \
    OWN_FIELD(OWN_FIELD(OWN_SIZE(OWN_VIEW_LAYOUT, uvm_evict_policy), uvm_evict_policy, pick), uvm_evict_policy, stock)
#define OWN_DRAM_SCHEDULER_LAYOUT                                                                                      \
    OWN_FIELD(OWN_FIELD(OWN_FIELD(OWN_FIELD(OWN_SIZE(OWN_SIZE(OWN_SIZE(OWN_HEAD_LAYOUT, dram_policy), dram_hooks),     \
                                                     dram_channel),                                                    \
                                            dram_hooks, leaves),                                                       \
                                  dram_channel, waiting),                                                              \
                        dram_channel, bank),                                                                           \
              dram_channel, pim)
#define OWN_ZEROCOPY_PATTERN_LAYOUT                                                                                    \
    OWN_FIELD(OWN_SIZE(OWN_SIZE(OWN_SIZE(OWN_SIZE(OWN_SIZE(OWN_HEAD_LAYOUT, zerocopy_pattern), pattern_view),          \
                                         pattern_count),                                                               \
                                pattern_carry),                                                                        \
                       coalescer),                                                                                     \
              zerocopy_pattern, counter_new)
#define OWN_PLACEMENT_LAYOUT OWN_SIZE(OWN_SIZE(OWN_HEAD_LAYOUT, placement_policy), placement_overheads)

/* What the file exports, under the name `offchip_policy`. */
struct own_policy {
    char mark[8];       /* OWN_MARK */
    uint32_t interface; /* enum own_interface */
    uint32_t version;   /* of the interface */
    uint64_t layout;
    const void *policy;             /* the interface's struct */
    const struct dram_hooks *hooks; /* of a scheduler; else NULL */
    const struct dram_loops *loops; /* likewise */
};

#define OWN_MARK   "offchip"
#define OWN_SYMBOL "offchip_policy"

#define OWN_EXPORTED(NAME, type, policy, hooks, loops)                                                                 \
    _Static_assert(__builtin_types_compatible_p(__typeof__(policy), struct type), "expected a struct " #type);         \
    extern const struct own_policy offchip_policy;                                                                     \
    __attribute__((visibility("default"))) const struct own_policy offchip_policy = {                                  \
        OWN_MARK, OWN_##NAME, OWN_##NAME##_VERSION, OWN_##NAME##_LAYOUT, &(policy), hooks, loops};

#define OFFCHIP_UVM_PREFETCH(policy)     OWN_EXPORTED(UVM_PREFETCH, uvm_policy, policy, NULL, NULL)
#define OFFCHIP_UVM_EVICT(policy)        OWN_EXPORTED(UVM_EVICT, uvm_evict_policy, policy, NULL, NULL)
#define OFFCHIP_ZEROCOPY_PATTERN(policy) OWN_EXPORTED(ZEROCOPY_PATTERN, zerocopy_pattern, policy, NULL, NULL)
#define OFFCHIP_PLACEMENT(policy)        OWN_EXPORTED(PLACEMENT, placement_policy, policy, NULL, NULL)
/* The policy's `loops` are not asked. */
#define OFFCHIP_DRAM_SCHEDULER(policy, hooks)                                                                          \
    DRAM_LOOPS(own_loops, hooks)                                                                                       \
    OWN_EXPORTED(DRAM_SCHEDULER, dram_policy, policy, &(hooks), &own_loops)

#endif
