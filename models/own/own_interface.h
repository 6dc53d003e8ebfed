/* own_interface: what can be loaded as a policy of one's own. */
#ifndef MODELS_OWN_OWN_INTERFACE_H
#define MODELS_OWN_OWN_INTERFACE_H

/* What such a file can be. */
enum own_interface {
    OWN_ANY,              /* of a file: whatever it is; of an engine: it takes none */
    OWN_UVM_PREFETCH,     /* struct uvm_policy */
    OWN_UVM_EVICT,        /* struct uvm_evict_policy */
    OWN_DRAM_SCHEDULER,   /* struct dram_policy and struct dram_hooks */
    OWN_ZEROCOPY_PATTERN, /* struct zerocopy_pattern */
    OWN_PLACEMENT,        /* struct placement_policy */
    OWN_INTERFACES
};

#endif
