#include "models/zerocopy/warp.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/sorted.h"

void mix_range(struct request_mix *m, uint64_t first, uint64_t last)
{
    while (first <= last) {
        uint64_t end = first | (LINE_SECTORS - 1);
        mix_run(m, first, end < last ? end : last);
        first = end + 1;
    }
}

void coalescer_init(struct coalescer *c, enum scan_reuse reuse, request_sink sink, void *user)
{
    memset(c, 0, sizeof *c);
    c->reuse = reuse;
    c->sink = sink;
    c->user = user;
    c->warp = UINT64_MAX;
}

void coalescer_release(struct coalescer *c)
{
    free(c->seen);
    memset(c, 0, sizeof *c);
}

static void forget_warp(struct coalescer *c)
{
    if (c->used)
        memset(c->seen, 0, c->seen_size * sizeof *c->seen);
    c->used = 0;
}

void coalescer_launch(struct coalescer *c)
{
    forget_warp(c);
    c->warp = UINT64_MAX;
    c->previous_count = 0;
}

static size_t slot(const struct coalescer *c, uint64_t sector)
{
    size_t i = (size_t)((sector * 0x9E3779B97F4A7C15ULL) >> 32) & (c->seen_size - 1);
    while (c->seen[i] && c->seen[i] != sector + 1)
        i = (i + 1) & (c->seen_size - 1);
    return i;
}

static int grow(struct coalescer *c, struct err *err)
{
    struct coalescer bigger = *c;
    bigger.seen_size = c->seen_size ? 2 * c->seen_size : 256;
    bigger.seen = mem_zalloc(bigger.seen_size, sizeof *bigger.seen, err);
    if (!bigger.seen)
        return -1;
    for (size_t i = 0; i < c->seen_size; i++)
        if (c->seen[i])
            bigger.seen[slot(&bigger, c->seen[i] - 1)] = c->seen[i];
    free(c->seen);
    c->seen = bigger.seen;
    c->seen_size = bigger.seen_size;
    return 0;
}

/* Whether the warp has requested `sector` before; remembers it. -1: out of memory. */
static int remember(struct coalescer *c, uint64_t sector, struct err *err)
{
    if (2 * (c->used + 1) > c->seen_size && grow(c, err))
        return -1;
    size_t i = slot(c, sector);
    if (c->seen[i])
        return 1;
    c->seen[i] = sector + 1;
    c->used++;
    return 0;
}

/* Mostly sorted already: insertion is quickest. */
static size_t sort_unique(uint64_t *sectors, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint64_t s = sectors[i];
        size_t j = i;
        for (; j > 0 && sectors[j - 1] > s; j--)
            sectors[j] = sectors[j - 1];
        sectors[j] = s;
    }
    size_t to = 0;
    for (size_t i = 0; i < n; i++)
        if (to == 0 || sectors[to - 1] != sectors[i])
            sectors[to++] = sectors[i];
    return to;
}

static void emit(struct coalescer *c, uint64_t first, uint64_t last)
{
    mix_run(&c->mix, first, last);
    if (c->sink)
        c->sink(c->user, first * SECTOR_BYTES, (uint32_t)((last - first + 1) * SECTOR_BYTES));
}

/* Whether one request asks for the sector and for the next of a load. */
static bool joins(const struct coalescer *c, uint64_t sector, uint64_t next)
{
    return (c->request == REQUEST_LINE || next == sector + 1) && next / LINE_SECTORS == sector / LINE_SECTORS;
}

static void emit_requests(struct coalescer *c, const uint64_t *sectors, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t j = i + 1;
        while (j < n && joins(c, sectors[j - 1], sectors[j]))
            j++;
        emit(c, sectors[i], sectors[j - 1]);
        i = j;
    }
}

/* Leave out what the rule says is held; returns how many sectors are left, -1 with *err set. */
static int filter(struct coalescer *c, const uint64_t *touched, size_t n, uint64_t *wanted, struct err *err)
{
    int left = 0;
    for (size_t i = 0; i < n; i++) {
        int held = 0;
        if (c->reuse == REUSE_WARP)
            held = remember(c, touched[i], err);
        else if (c->reuse == REUSE_PREVWARP)
            held = sort_find(&touched[i], c->previous, c->previous_count, sizeof *touched, sorted_by_u64) != NULL;
        if (held < 0)
            return -1;
        if (!held)
            wanted[left++] = touched[i];
    }
    return left;
}

int coalescer_load(struct coalescer *c, uint64_t warp, const uint64_t *sectors, size_t n, struct err *err)
{
    uint64_t touched[128], wanted[128];
    assert(n <= 128);
    if (n == 0)
        return 0;
    memcpy(touched, sectors, n * sizeof *touched);
    n = sort_unique(touched, n);
    if (warp != c->warp)
        forget_warp(c);
    c->warp = warp;
    int left = filter(c, touched, n, wanted, err);
    if (left < 0)
        return -1;
    emit_requests(c, wanted, (size_t)left);
    memcpy(c->previous, touched, n * sizeof *touched);
    c->previous_count = n;
    return 0;
}
