/* uvm_remote: what the GPU's accesses to pages that it maps remotely cost, and what access counters make of them.
 *
 * Rule. A turn of a warp whose pages lie with the CPU sends its sectors over the link, split evenly over its pages:
 * each page's in requests of up to 128 B, at the cost of models/zerocopy/link.h for requests of that size. The link
 * serves one turn after the other; a turn takes the longer of its computing and one load's latency with its share of
 * the link. Copies of the driver do not wait for these requests, nor these for them. Access counters, where they are
 * on: requests to the pages of one 2 MiB block are counted; with the `threshold`-th a notification is pending that
 * names the 64 KiB regions that were asked for since the last one. Example. 4 pages of a turn with 16 sectors, one of
 * them remote: 4 sectors, one request of 128 B. Source: link.h; counters: driver 525 to 595, uvm_gpu_access_counters.c
 * (granularity 2 MiB, threshold 256, 32 regions). Differs: what the hardware counts as one access is not published;
 * here it is a request. */
#ifndef REPLAY_UVM_UVM_REMOTE_H
#define REPLAY_UVM_UVM_REMOTE_H

#include "models/gpu/gpu.h"
#include "models/zerocopy/link.h"
#include "trace/base/err.h"

enum { UVM_REMOTE_SECTORS = 4, UVM_REMOTE_THRESHOLD = 256, UVM_REMOTE_BATCH = 256 };

/* The counter of one block. */
struct uvm_counter {
    uint32_t count;   /* requests since the last notification */
    uint32_t regions; /* bit i: one of them was to region i */
    bool pending;
};

struct uvm_remote {
    double request_ns[UVM_REMOTE_SECTORS]; /* of the link, by sectors of a request; 0 without a link's numbers */
    double latency_ns;                     /* of one load */
    double free_ns;                        /* when the link has served all so far */
    uint64_t touches, bytes;               /* pages of turns; payload */
    struct uvm_counter *counters;          /* by block; NULL: off */
    uint32_t *pending;                     /* blocks with a notification, in order; room for all */
    uint32_t pending_count;
    uint64_t notifications;
};

/* pcie NULL: accesses are counted and cost no time. blocks: how many have a counter; 0: counters are off. */
int uvm_remote_init(struct uvm_remote *r, const struct pcie *pcie, const struct gpu *gpu, uint32_t blocks,
                    struct err *err);
void uvm_remote_release(struct uvm_remote *r);

/* What `pages` remote pages of a turn ask of the link that sends `sectors` for `all` pages; requests of one page into
 * *requests, its payload into *bytes. */
double uvm_remote_turn_ns(const struct uvm_remote *r, uint32_t pages, uint32_t all, uint32_t sectors,
                          uint32_t *requests, uint32_t *bytes);

/* `turns` turns follow each other from `time` on, each computing for compute_ns and asking link_ns of the link: when
 * the last has ended; the link is booked. */
int64_t uvm_remote_turns(struct uvm_remote *r, int64_t time, uint32_t compute_ns, double link_ns, uint32_t turns);

/* How long one of them takes with the link to itself. */
uint32_t uvm_remote_alone_ns(const struct uvm_remote *r, uint32_t compute_ns, double link_ns);

/* Requests went to a region of a block; true if they make the `threshold`-th, and with it a notification. */
bool uvm_remote_count(struct uvm_remote *r, uint32_t block, uint32_t region, uint64_t requests, uint32_t threshold);

/* Take the oldest notification: its block and regions; false if there is none. The counter starts anew. */
bool uvm_remote_take(struct uvm_remote *r, uint32_t *block, uint32_t *regions);

#endif
