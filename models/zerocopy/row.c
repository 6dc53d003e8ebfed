#include "models/zerocopy/row.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

static int load(struct pattern_carry *carry, struct coalescer *c, struct err *err)
{
    int rc = coalescer_load(c, carry->warp, carry->sectors, carry->n, err);
    carry->warp++;
    carry->lanes = carry->n = 0;
    return rc;
}

int row_expand(const struct pattern_view *view, bool shift, const struct scan *scans, size_t n,
               struct pattern_carry *carry, struct coalescer *c, struct err *err)
{
    uint64_t row = view->row;
    bool rotate = shift && row > WARP_LANES && row % WARP_LANES != 0;
    if (n == 0)
        return carry->lanes ? load(carry, c, err) : 0;
    for (size_t i = 0; i < n; i++) {
        bool link = !view->residency || residency_of(view->residency, scans[i].first / row) == RESIDENCY_LINK;
        uint64_t by = rotate ? (scans[i].lane * row - scans[i].first) % WARP_LANES : 0;
        for (uint64_t k = 0; k < row; k++) {
            uint64_t column = k + by < row ? k + by : k + by - row;
            uint64_t addr = view->base + (scans[i].first + column) * view->element;
            uint64_t first = addr / SECTOR_BYTES, last = (addr + view->element - 1) / SECTOR_BYTES;
            if (link && (carry->n == 0 || carry->sectors[carry->n - 1] != last))
                for (uint64_t s = first; s <= last; s++)
                    carry->sectors[carry->n++] = s;
            if (++carry->lanes == WARP_LANES && load(carry, c, err))
                return -1;
        }
    }
    return 0;
}

struct pattern_counter {
    struct pattern_view view;
    bool shift;
    struct pattern_carry carry;
    struct coalescer coalescer;
};

struct pattern_counter *row_counter_new(const struct pattern_view *view, bool shift, struct err *err)
{
    struct pattern_counter *c = mem_zalloc(1, sizeof *c, err);
    if (!c)
        return NULL;
    c->view = *view;
    c->shift = shift;
    /* Neighbouring warps run together: what L1 keeps is what the previous warp touched. */
    coalescer_init(&c->coalescer, view->reuse == REUSE_L1 ? REUSE_PREVWARP : view->reuse, NULL, NULL);
    c->coalescer.request = view->request;
    return c;
}

void row_counter_free(struct pattern_counter *c)
{
    if (c)
        coalescer_release(&c->coalescer);
    free(c);
}

int row_count(struct pattern_counter *c, const struct scan *scans, size_t n, struct err *err)
{
    return n ? row_expand(&c->view, c->shift, scans, n, &c->carry, &c->coalescer, err) : 0;
}

int row_finish(struct pattern_counter *c, struct pattern_count *count, struct err *err)
{
    if (row_expand(&c->view, c->shift, NULL, 0, &c->carry, &c->coalescer, err))
        return -1;
    *count = (struct pattern_count){.mix = c->coalescer.mix,
                                    .loads = c->carry.warp,
                                    .lane_loads = c->carry.warp * WARP_LANES,
                                    .longest = 1,
                                    .longest_load = 1};
    c->carry = (struct pattern_carry){0};
    coalescer_launch(&c->coalescer);
    c->coalescer.mix = (struct request_mix){0};
    return 0;
}
