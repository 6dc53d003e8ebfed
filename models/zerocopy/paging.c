#include "models/zerocopy/paging.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

enum { REGION_BYTES = 65536, BLOCK_BYTES = 2097152, BLOCK_REGIONS = 32, THRESHOLD_PCT = 51 };

struct paging_block {
    uint32_t resident; /* bit: 64 KiB region */
    uint32_t older, newer;
};

int paging_init(struct paging *p, uint64_t bytes, uint64_t chunks, struct err *err)
{
    uint64_t blocks = bytes / BLOCK_BYTES + 1;
    if (blocks >= UINT32_MAX)
        return err_set(err, "a structure of %llu bytes is too large for unified memory", (unsigned long long)bytes);
    *p = (struct paging){.bytes = bytes, .chunks = chunks, .block_count = blocks};
    p->oldest = p->newest = (uint32_t)blocks;
    p->blocks = mem_zalloc(blocks, sizeof *p->blocks, err);
    return p->blocks ? 0 : -1;
}

void paging_release(struct paging *p)
{
    free(p->blocks);
    memset(p, 0, sizeof *p);
}

static void unlink_block(struct paging *p, uint32_t b)
{
    struct paging_block *k = &p->blocks[b];
    uint32_t none = (uint32_t)p->block_count;
    if (k->older != none)
        p->blocks[k->older].newer = k->newer;
    else
        p->oldest = k->newer;
    if (k->newer != none)
        p->blocks[k->newer].older = k->older;
    else
        p->newest = k->older;
}

static void make_newest(struct paging *p, uint32_t b)
{
    uint32_t none = (uint32_t)p->block_count;
    p->blocks[b].older = p->newest;
    p->blocks[b].newer = none;
    if (p->newest != none)
        p->blocks[p->newest].newer = b;
    else
        p->oldest = b;
    p->newest = b;
}

/* Regions that region r's service makes resident: itself, and the largest part of the tree above the threshold. */
static uint32_t grow(uint32_t resident, unsigned r)
{
    uint32_t want = resident | 1U << r;
    for (unsigned size = BLOCK_REGIONS; size > 1; size /= 2) {
        uint32_t part = (size == 32 ? ~0U : (1U << size) - 1) << (r / size * size);
        if ((unsigned)__builtin_popcount(want & part) * 100 > THRESHOLD_PCT * size)
            return want | part;
    }
    return want;
}

static uint64_t bytes_of(const struct paging *p, uint32_t b, uint32_t regions)
{
    uint64_t bytes = (uint64_t)__builtin_popcount(regions) * REGION_BYTES, end = (uint64_t)(b + 1ULL) * BLOCK_BYTES;
    if (end <= p->bytes)
        return bytes;
    /* The structure ends inside this block: its last region is cut. */
    uint64_t last = (p->bytes - (uint64_t)b * BLOCK_BYTES - 1) / REGION_BYTES;
    if (regions >> last & 1)
        bytes -= (last + 1) * REGION_BYTES - (p->bytes - (uint64_t)b * BLOCK_BYTES);
    return bytes;
}

static void service(struct paging *p, uint32_t b, unsigned r)
{
    struct paging_block *k = &p->blocks[b];
    if (k->resident) {
        unlink_block(p, b);
    } else if (p->chunks && p->in_use == p->chunks) {
        uint32_t victim = p->oldest;
        unlink_block(p, victim);
        p->blocks[victim].resident = 0;
        p->evictions++;
    } else {
        p->in_use++;
    }
    uint32_t want = grow(k->resident, r);
    uint64_t left = p->bytes - (uint64_t)b * BLOCK_BYTES;
    if (left < BLOCK_BYTES)
        want &= (uint32_t)((1ULL << ((left + REGION_BYTES - 1) / REGION_BYTES)) - 1);
    p->moved += bytes_of(p, b, want & ~k->resident);
    k->resident = want;
    make_newest(p, b);
}

void paging_touch(struct paging *p, uint64_t offset, uint64_t n)
{
    for (uint64_t region = offset / REGION_BYTES; region <= (offset + n - 1) / REGION_BYTES; region++) {
        uint32_t b = (uint32_t)(region / BLOCK_REGIONS);
        unsigned r = (unsigned)(region % BLOCK_REGIONS);
        if (!(p->blocks[b].resident >> r & 1))
            service(p, b, r);
    }
}
