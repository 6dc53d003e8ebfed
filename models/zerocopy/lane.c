#include "models/zerocopy/lane.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

void lane_reader_release(struct lane_reader *r)
{
    free(r->held);
    memset(r, 0, sizeof *r);
}

/* Whether load j of a list of `count` is issued together with load j - 1. */
static inline bool same_group(uint64_t j, uint64_t count)
{
    return j % 4 != 0 && j < count - count % 4;
}

/* A bitmap over the sectors of the lists, cleared. */
static int hold(struct lane_reader *r, const struct scan *scans, size_t n, struct err *err)
{
    const struct pattern_view *v = r->view;
    uint64_t first = (v->base + scans[0].first * v->element) / SECTOR_BYTES;
    uint64_t last = (v->base + (scans[n - 1].first + scans[n - 1].count) * v->element) / SECTOR_BYTES;
    size_t words = (size_t)((last - first) / 64 + 1);
    if (mem_grow((void **)&r->held, &r->held_cap, words, sizeof *r->held, err))
        return -1;
    memset(r->held, 0, words * sizeof *r->held);
    r->held_first = first;
    r->held_sectors = last - first + 1;
    return 0;
}

/* Whether the sector is held; it is from now on. */
static inline bool take(struct lane_reader *r, uint64_t sector)
{
    uint64_t i = sector - r->held_first, bit = 1ULL << (i % 64);
    bool was = (r->held[i / 64] & bit) != 0;
    r->held[i / 64] |= bit;
    return was;
}

/* The run being built; sectors come in ascending order. */
struct run {
    uint64_t first, last;
    bool open;
};

static inline void run_add(struct run *run, struct request_mix *mix, uint64_t sector, bool line)
{
    if (run->open) {
        if (sector == run->last)
            return;
        if ((line || sector == run->last + 1) && sector / LINE_SECTORS == run->last / LINE_SECTORS) {
            run->last = sector;
            return;
        }
        mix_run(mix, run->first, run->last);
    }
    *run = (struct run){sector, sector, true};
}

/* One load of the warp under one reuse rule. The rule is a constant in each caller, so that it costs nothing. */
static inline __attribute__((always_inline)) void read_load(struct lane_reader *r, const struct lane *lanes, size_t n,
                                                            uint64_t j, enum scan_reuse reuse)
{
    uint32_t element = r->view->element;
    struct run run = {0};
    bool line = r->view->request == REQUEST_LINE;
    for (size_t i = 0; i < n; i++) {
        uint64_t addr = lanes[i].addr + j * element, first = addr / SECTOR_BYTES;
        uint64_t last = (addr + element - 1) / SECTOR_BYTES;
        if (reuse == REUSE_GROUP4 && same_group(j, lanes[i].count) && (addr - 1) / SECTOR_BYTES == last)
            continue;
        for (uint64_t s = first; s <= last; s++)
            if (reuse != REUSE_WARP || !take(r, s))
                run_add(&run, &r->mix, s, line);
    }
    if (run.open)
        mix_run(&r->mix, run.first, run.last);
    r->loads++;
    r->lane_loads += n;
}

/* Whether lanes never meet in a line: each list is a line or longer, so that at each load they are a line or more
 * apart; and elements lie in one sector each. */
static bool apart(const struct lane_reader *r, const struct lane *lanes, size_t n)
{
    uint32_t element = r->view->element;
    bool known = r->view->reuse == REUSE_NONE || (r->view->reuse == REUSE_GROUP4 && element <= 8);
    if (!known || lanes[0].addr % element)
        return false;
    for (size_t i = 1; i < n; i++)
        if (lanes[i].addr < lanes[i - 1].addr + LINE_BYTES)
            return false;
    return true;
}

/* Sectors that a lane asks for when its four loads issued together ask for one once: one for each group, one for each
 * load left over, and one wherever a sector begins inside a group. An element is 1 << shift bytes, of at most a quarter
 * of a sector. */
static inline uint64_t group4_sectors(const struct lane *lane, int shift)
{
    uint64_t groups = lane->count / 4;
    uint64_t begin = -lane->addr % SECTOR_BYTES >> shift; /* load that begins a sector, and each SECTOR_BYTES later */
    bool inside = begin % 4 && begin < 4 * groups;
    return groups + lane->count % 4 + (inside ? (4 * groups - 1 - begin) / (SECTOR_BYTES >> shift) + 1 : 0);
}

/* read_warp() in closed form, of lanes apart. */
static void count_apart(struct lane_reader *r, const struct lane *lanes, size_t n)
{
    uint64_t sectors = 0, longest = 0, loads = 0;
    int shift = __builtin_ctz(r->view->element);
    bool group4 = r->view->reuse == REUSE_GROUP4;
    for (size_t i = 0; i < n; i++) {
        sectors += group4 ? group4_sectors(&lanes[i], shift) : lanes[i].count;
        longest = lanes[i].count > longest ? lanes[i].count : longest;
        loads += lanes[i].count;
    }
    r->mix.by_size[0] += sectors;
    r->mix.host_lines += sectors;
    r->loads += longest;
    r->lane_loads += loads;
}

/* The lanes from load j on, j a multiple of four: groups of loads stay as they are. */
static void count_rest(struct lane_reader *r, struct lane *lanes, size_t n, uint64_t j)
{
    for (size_t i = 0; i < n; i++)
        lanes[i] = (struct lane){lanes[i].addr + j * r->view->element, lanes[i].count - j};
    count_apart(r, lanes, n);
}

static void read_warp(struct lane_reader *r, struct lane *lanes, size_t n)
{
    for (uint64_t j = 0; n > 0; j++) {
        size_t left = 0;
        for (size_t i = 0; i < n; i++) {
            lanes[left] = lanes[i];
            left += lanes[i].count > j;
        }
        n = left;
        if (n == 0)
            break;
        if (j % 4 == 0 && apart(r, lanes, n)) {
            count_rest(r, lanes, n, j);
            break;
        }
        if (r->view->reuse == REUSE_GROUP4)
            read_load(r, lanes, n, j, REUSE_GROUP4);
        else if (r->view->reuse == REUSE_NONE)
            read_load(r, lanes, n, j, REUSE_NONE);
        else
            read_load(r, lanes, n, j, REUSE_WARP);
    }
}

/* read_warp(), or what the warp before asked for. */
static void read_alike(struct lane_reader *r, const struct lane *lanes, size_t n)
{
    struct lane_warp *w = &r->last;
    uint64_t from = lanes[0].addr - lanes[0].addr % LINE_BYTES;
    bool same = w->n == n;
    for (size_t i = 0; i < n && same; i++)
        same = lanes[i].addr - from == w->lane[i].addr && lanes[i].count == w->lane[i].count;
    if (!same) {
        struct lane_reader one = {.view = r->view};
        struct lane work[WARP_LANES];
        for (size_t i = 0; i < n; i++)
            w->lane[i] = (struct lane){lanes[i].addr - from, lanes[i].count};
        memcpy(work, lanes, n * sizeof *work); /* read_warp() moves lanes */
        read_warp(&one, work, n);
        w->n = n;
        w->mix = one.mix;
        w->loads = one.loads;
        w->lane_loads = one.lane_loads;
    }
    mix_add(&r->mix, &w->mix);
    r->loads += w->loads;
    r->lane_loads += w->lane_loads;
}

int lane_read_block(struct lane_reader *r, const struct scan *scans, size_t n, struct err *err)
{
    bool held = r->view->reuse == REUSE_WARP || r->view->reuse == REUSE_L1;
    if (r->view->reuse == REUSE_L1 && hold(r, scans, n, err))
        return -1;
    for (size_t i = 0; i < n;) {
        struct lane lanes[WARP_LANES];
        size_t k = 0, start = i;
        for (; i < n && scans[i].lane / WARP_LANES == scans[start].lane / WARP_LANES && k < WARP_LANES; i++) {
            lanes[k++] = (struct lane){r->view->base + scans[i].first * r->view->element, scans[i].count};
            if (scans[i].count > r->longest)
                r->longest = scans[i].count;
        }
        if (held && r->view->reuse == REUSE_WARP && hold(r, scans + start, k, err))
            return -1;
        if (held)
            read_warp(r, lanes, k);
        else if (apart(r, lanes, k))
            count_apart(r, lanes, k);
        else
            read_alike(r, lanes, k);
    }
    return 0;
}

int lane_expand(const struct pattern_view *view, const struct scan *scans, size_t n, struct coalescer *c,
                struct err *err)
{
    for (size_t i = 0; i < n;) {
        size_t end = i;
        uint64_t warp = scans[i].lane / WARP_LANES, longest = 0;
        for (; end < n && scans[end].lane / WARP_LANES == warp; end++)
            longest = scans[end].count > longest ? scans[end].count : longest;
        for (uint64_t j = 0; j < longest; j++) {
            uint64_t sectors[2 * WARP_LANES * 2];
            size_t k = 0;
            for (size_t l = i; l < end && k < sizeof sectors / sizeof *sectors - 1; l++) {
                uint64_t addr = view->base + (scans[l].first + j) * view->element;
                bool same = view->reuse == REUSE_GROUP4 && same_group(j, scans[l].count) &&
                            (addr - 1) / SECTOR_BYTES == (addr + view->element - 1) / SECTOR_BYTES;
                if (j < scans[l].count && !same)
                    k = pattern_add_sectors(sectors, k, addr, view->element);
            }
            if (coalescer_load(c, warp, sectors, k, err))
                return -1;
        }
        i = end;
    }
    return 0;
}

/* --- rows --- */

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
        bool link = !view->residency || residency_at(view->residency, &scans[i], row) == RESIDENCY_LINK;
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

/* --- what L1 no longer holds --- */

/* Loads issued together: nvcc unrolls such loops by four (measured: H200, CUDA 13.0, machine code). */
enum { GROUP_LOADS = 4 };

/* Of 256 KiB L1 and shared memory a kernel can have 228 KB as shared memory: H100 architecture white paper, table 2. */
static const double shared_share = 228.0 / 256;

double l1_resident_blocks(const struct gpu *gpu, double warps, double blocks_per_sm)
{
    double fit = floor((double)gpu->warps_per_sm / warps);
    fit = fmax(1, fmin(fit, (double)gpu->blocks_per_sm));
    return blocks_per_sm > 0 ? fmin(fit, blocks_per_sm) : fit;
}

/* p = 1 - exp(-x p), the solution above 0 where there is one. */
static double lost(double x)
{
    if (x <= 1)
        return 0;
    double p = 1;
    for (int i = 0; i < 200; i++)
        p = 1 - exp(-x * p);
    return p;
}

static double fetches(const struct pcie *p, double strength, double load, double sector_loads)
{
    double groups = ceil(sector_loads / GROUP_LOADS), gone = lost(strength * load);
    double within = 1 - exp(-p->l1_group * load * gone);
    return 1 + (groups - 1) * gone + (sector_loads - groups) * within;
}

double l1_fetches(const struct pcie *p, const struct gpu *gpu, const struct l1_kernel *k)
{
    if (p->l1_steady <= 0)
        return 1;
    double fit = l1_resident_blocks(gpu, k->warps, 0), resident = l1_resident_blocks(gpu, k->warps, k->blocks_per_sm);
    double shared = resident < fit ? shared_share * (double)gpu->l1_bytes : resident * (double)p->l1_block_bytes;
    double lines = ((double)gpu->l1_bytes - shared) / LINE_BYTES;
    double per_sm = fmin(resident, ceil(k->blocks / (double)gpu->sms));
    double load = per_sm * k->warps * k->lines_per_warp / fmax(lines, 1);
    double steady = fetches(p, p->l1_steady, load, k->sector_loads);
    double first = fmin(1, per_sm * (double)gpu->sms / fmax(k->blocks, 1));
    return first * fetches(p, fmax(p->l1_together, p->l1_steady), load, k->sector_loads) + (1 - first) * steady;
}
