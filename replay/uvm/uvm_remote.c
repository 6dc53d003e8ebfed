#include "replay/uvm/uvm_remote.h"

#include <stdlib.h>
#include <string.h>

#include "models/zerocopy/link.h"
#include "trace/base/mem.h"

int uvm_remote_init(struct uvm_remote *r, const struct pcie *pcie, const struct gpu *gpu, uint32_t blocks,
                    struct err *err)
{
    enum { MANY = 1000000 };
    *r = (struct uvm_remote){0};
    for (int k = 0; pcie && k < UVM_REMOTE_SECTORS; k++) {
        struct link_launch launch = {.resident_warps = 1};
        enum link_bound bound;
        launch.mix.by_size[k] = MANY;
        launch.mix.host_lines = (uint64_t)MANY * (uint64_t)(k / 2 + 1);
        r->request_ns[k] = (link_time_ns(pcie, gpu, &launch, &bound) - pcie->launch_ns) / MANY;
    }
    if (pcie)
        r->latency_ns = pcie->load_ns > 0 ? pcie->load_ns : pcie->round_trip_ns;
    if (!blocks)
        return 0;
    r->counters = mem_zalloc(blocks, sizeof *r->counters, err);
    r->pending = mem_zalloc(blocks, sizeof *r->pending, err);
    return r->counters && r->pending ? 0 : -1;
}

void uvm_remote_release(struct uvm_remote *r)
{
    free(r->counters);
    free(r->pending);
    *r = (struct uvm_remote){0};
}

double uvm_remote_turn_ns(const struct uvm_remote *r, uint32_t pages, uint32_t all, uint32_t sectors,
                          uint32_t *requests, uint32_t *bytes)
{
    uint32_t share = (sectors + all - 1) / all;
    if (!share)
        share = 1;
    uint32_t rest = share % UVM_REMOTE_SECTORS, whole = share / UVM_REMOTE_SECTORS;
    *requests = whole + (rest > 0);
    *bytes = share * SECTOR_BYTES;
    return pages * (whole * r->request_ns[UVM_REMOTE_SECTORS - 1] + (rest ? r->request_ns[rest - 1] : 0));
}

uint32_t uvm_remote_alone_ns(const struct uvm_remote *r, uint32_t compute_ns, double link_ns)
{
    double remote = r->latency_ns + link_ns;
    return remote > compute_ns ? (uint32_t)(remote + 0.5) : compute_ns;
}

/* After the first turn none waits for the link any more: a turn takes no less than its share of it. */
int64_t uvm_remote_turns(struct uvm_remote *r, int64_t time, uint32_t compute_ns, double link_ns, uint32_t turns)
{
    uint32_t alone = uvm_remote_alone_ns(r, compute_ns, link_ns);
    int64_t start = (double)time < r->free_ns ? (int64_t)(r->free_ns + 0.5) : time;
    int64_t last = start + (int64_t)(turns - 1) * alone;
    r->free_ns = (double)last + link_ns;
    return last + alone;
}

bool uvm_remote_count(struct uvm_remote *r, uint32_t block, uint32_t region, uint64_t requests, uint32_t threshold)
{
    struct uvm_counter *c = &r->counters[block];
    c->regions |= 1u << region;
    if (c->pending)
        return false;
    c->count += requests < threshold ? (uint32_t)requests : threshold;
    c->pending = c->count >= threshold;
    if (c->pending)
        r->pending[r->pending_count++] = block;
    return c->pending;
}

bool uvm_remote_take(struct uvm_remote *r, uint32_t *block, uint32_t *regions)
{
    if (!r->pending_count)
        return false;
    *block = r->pending[0];
    *regions = r->counters[*block].regions;
    r->counters[*block] = (struct uvm_counter){0};
    r->pending_count--;
    memmove(r->pending, r->pending + 1, r->pending_count * sizeof *r->pending);
    r->notifications++;
    return true;
}
