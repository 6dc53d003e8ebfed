/* thrashing: pages that CPU and GPU take from each other, and what the driver does about them.
 *
 * Events are migrations of a page to another processor by faults, prefetch or access counters; not evictions,
 * duplications and explicit calls. A block gets a table of its pages at an event whose destination is not that of the
 * one before, no more than `lapse` earlier. From then on a page's events that follow each other within `lapse` are
 * counted; with the third the page is thrashing. Before a fault on such a page is served, a hint: nothing; throttle
 * (the GPU's fault is left for a later replay, the CPU sleeps, until the nap is over); or pin (the page goes to a
 * place, whoever else fights for it maps it there, until the pin is over). One processor at a time is free of
 * throttling; ten throttles pin. thrashing.c has the hint's order. Example, us: a page moves to the GPU at 1000, the
 * CPU 1100, GPU 1200, CPU 1300, GPU 1400: thrashing. The CPU faults at 1500: it is free until 2000. The GPU at 1600:
 * throttled until 2000. Source: driver 525.60.13 to 595.45.04, uvm_perf_thrashing.c, thrashing_event_cb(),
 * get_hint_for_migration_thrashing(); defaults: uvm_perf_thrashing_* . From 590 on nap, epoch and pin are fixed at the
 * start and lapse adapts: `driver590_code` is what the code does (an 8-bit vote is compared with an unsigned 32, so
 * that lapse grows to its limit), `driver590_spec` what its names say; neither was seen on hardware. Differs: one GPU,
 * which reaches the CPU's memory, and a CPU that does not reach the GPU's (x86 over PCIe); permission revocations are
 * not events; a reset page's next event is its first [inferred]; a pin that ends resets the page. */
#pragma once

#include "models/uvm/block.h"

enum uvm_processor { UVM_CPU, UVM_GPU, UVM_NOBODY };
enum uvm_lapse { UVM_LAPSE_FIXED, UVM_LAPSE_SPEC, UVM_LAPSE_CODE };
enum uvm_hint { UVM_HINT_NONE, UVM_HINT_THROTTLE, UVM_HINT_PIN };

enum {
    UVM_THRASHING_COUNT = 3,   /* uvm_perf_thrashing_threshold */
    UVM_THRASHING_PIN = 10,    /* uvm_perf_thrashing_pin_threshold */
    UVM_THRASHING_RESETS = 4,  /* uvm_perf_thrashing_max_resets */
    UVM_THRASHING_BATCHES = 5, /* batches with a throttled page that end a routine */
    UVM_THRASHING_LAPSE_NS = 500000,
    UVM_THRASHING_LAPSE_MIN_NS = 5000,
    UVM_THRASHING_LAPSE_MAX_NS = 500000000
};

struct uvm_thrashing_page {
    int64_t last_ns; /* of its events */
    int64_t end_ns;  /* of throttling */
    int64_t pin_ns;  /* until when it is pinned */
    uint8_t count, throttles;
    uint8_t processors; /* that it went to or that faulted: bits 1 << enum uvm_processor */
    uint8_t throttled;  /* now, the same bits */
    uint8_t counted;    /* throttled and counted in this period */
    uint8_t free, pin;  /* enum uvm_processor */
    bool seen;          /* had an event */
};

struct uvm_thrashing_block {
    int64_t last_ns, thrashed_ns; /* of its events; of those on thrashing pages, 0: none */
    bool any;                     /* there was an event */
    uint8_t to;                   /* its destination */
    uint8_t resets;
    uint16_t pinned;                  /* pages */
    struct page_mask thrashing;       /* pages that are: no prefetcher takes them */
    struct uvm_thrashing_page *pages; /* UVM_BLOCK_PAGES of them; NULL: no table */
};

struct uvm_thrashing {
    struct uvm_thrashing_block *blocks;
    uint32_t block_count;
    int64_t lapse_ns, nap_ns, epoch_ns, pin_ns;
    enum uvm_lapse adapt;
    int vote;
    uint64_t thrashing, throttles, pins; /* pages that became so; counted throttles; pins */
    bool failed;                         /* no memory for a table: that block is taken to be quiet */
};

/* Released with uvm_thrashing_release() in any case. */
int uvm_thrashing_init(struct uvm_thrashing *t, uint32_t blocks, enum uvm_lapse adapt, struct err *err);
void uvm_thrashing_release(struct uvm_thrashing *t);

/* Pages of a block moved to a processor. */
void uvm_thrashing_event(struct uvm_thrashing *t, uint32_t block, const struct page_mask *pages, enum uvm_processor to,
                         int64_t now_ns);

/* What to do about a fault of `by` on a page. UVM_HINT_PIN: *place gets where; until pages[page].pin_ns. */
enum uvm_hint uvm_thrashing_hint(struct uvm_thrashing *t, uint32_t block, unsigned page, enum uvm_processor by,
                                 int64_t now_ns, enum uvm_processor *place);

/* The pin of a page is over at `now_ns`: forget the page. False if it is pinned for longer, or not at all. */
bool uvm_thrashing_unpin(struct uvm_thrashing *t, uint32_t block, unsigned page, int64_t now_ns);
