/* one_program_testing: a program through every view there is of it; each must have the same bytes and pages.
 *
 * Set `viewed` (and `w`, where it is a workload's), then compare_views(). */
#pragma once

#include "models/gpu/gpu.h"
#include "replay/derive/derive.h"
#include "replay/placement/program_totals.h"
#include "trace/base/testing.h"
#include "trace/program/pages.h"
#include "trace/program/walk.h"
#include "trace/workloads/scan.h"
#include "trace/workloads/workload.h"

static const struct workload *w; /* that the program is of; NULL: of none */
static struct program viewed;
static const struct program_alloc *allocs;
static size_t alloc_count;
static uint64_t first_sector[PROGRAM_ALLOCS + 1]; /* of each allocation, among those of all; whole pages */

enum { PAGE_SECTORS = ACTOR_PAGE_BYTES / ACCESS_SECTOR };

static inline uint64_t sectors_of(const struct program_alloc *a)
{
    return (a->bytes + ACTOR_PAGE_BYTES - 1) / ACTOR_PAGE_BYTES * PAGE_SECTORS;
}

/* The sector of an address; all of them if it lies in no allocation. */
static inline uint64_t sector_at(uint64_t addr)
{
    for (int pages = 0; pages < 2; pages++) /* in it; on one of its pages */
        for (size_t i = 0; i < alloc_count; i++)
            if (pages ? (addr - allocs[i].addr) / ACCESS_SECTOR < sectors_of(&allocs[i])
                      : addr - allocs[i].addr < allocs[i].bytes)
                return first_sector[i] + (addr - allocs[i].addr) / ACCESS_SECTOR;
    return first_sector[alloc_count];
}

static inline bool managed(uint64_t sector)
{
    size_t i = alloc_count - 1;
    while (sector < first_sector[i])
        i--;
    return !allocs[i].device;
}

static inline void lay_out(void)
{
    allocs = viewed.ops->allocs(viewed.state, &alloc_count);
    for (size_t i = 0; i < alloc_count; i++) {
        ck_assert_uint_eq(allocs[i].addr % ACCESS_SECTOR, 0);
        first_sector[i + 1] = first_sector[i] + sectors_of(&allocs[i]);
    }
}

/* A flag for each sector (and one for those of no allocation). */
static inline bool *flags(void)
{
    bool *f = GIVES(calloc(first_sector[alloc_count] + 1, sizeof *f));
    return f;
}

static inline uint64_t count(const bool *f)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < first_sector[alloc_count]; i++)
        n += f[i];
    return n;
}

/* The first managed sector (page: per = PAGE_SECTORS) in which two views differ; the number of sectors: none. */
static inline uint64_t differs(const bool *a, const bool *b, uint64_t per, bool only_managed)
{
    for (uint64_t i = 0; i < first_sector[alloc_count]; i += per) {
        bool in_a = false, in_b = false;
        for (uint64_t k = i; k < i + per; k++) {
            in_a |= a[k];
            in_b |= b[k];
        }
        if (in_a != in_b && (!only_managed || managed(i)))
            return i;
    }
    return first_sector[alloc_count];
}

#define SAME(a, b, per, only_managed, what)                                                                            \
    ck_assert_msg(differs(a, b, per, only_managed) == first_sector[alloc_count], "%s: %s differs at sector %llu",      \
                  spec, what, (unsigned long long)differs(a, b, per, only_managed))

/* --- instruction by instruction --- */

struct walked {
    bool *seen;
    bool *stored;                        /* sectors, of the launch under way */
    bool *touched;                       /* likewise, read or written */
    struct program_counts n;             /* of the walk */
    uint64_t loaded, stored_sectors;     /* atomics are in both */
    const struct program_totals *totals; /* to compare each launch with; NULL: no */
    uint32_t wrong;                      /* launches that differ from it */
};

static inline int take(void *ctx, const struct program_op *op, struct err *err)
{
    struct walked *to = ctx;
    (void)err;
    for (int i = 0; i < op->lines; i++) {
        for (uint32_t k = 0; k < 4; k++)
            if (op->line[i].sectors >> k & 1) {
                uint64_t s = sector_at(op->line[i].addr + k * ACCESS_SECTOR);
                to->seen[s] = to->touched[s] = true;
                to->stored[s] |= op->access == RECORD_WRITE || op->access == RECORD_ATOMIC;
            }
        unsigned sectors = (unsigned)__builtin_popcount(op->line[i].sectors);
        to->loaded += op->access == RECORD_WRITE ? 0 : sectors;
        to->stored_sectors += op->access == RECORD_WRITE || op->access == RECORD_ATOMIC ? sectors : 0;
    }
    return 0;
}

static inline int end_launch(void *ctx, uint32_t launch, struct err *err)
{
    struct walked *to = ctx;
    uint64_t pages = 0, stored = 0, all = first_sector[alloc_count];
    (void)err;
    for (uint64_t i = 0; i < all; i += PAGE_SECTORS) {
        bool page = false;
        for (uint64_t k = i; k < i + PAGE_SECTORS && managed(i); k++) {
            page |= to->touched[k];
            stored += to->stored[k];
        }
        pages += page;
    }
    memset(to->touched, 0, all);
    memset(to->stored, 0, all);
    if (to->totals) {
        const struct launch_totals *t = &to->totals->launch[launch];
        to->wrong +=
            t->touched_bytes != pages * ACTOR_PAGE_BYTES || (!t->cpu && t->modified_bytes != stored * ACCESS_SECTOR);
    }
    return 0;
}

static inline uint64_t three(const void *ctx, const struct program_launch *launch)
{
    (void)ctx;
    (void)launch;
    return 3;
}

static inline struct walked walk(bool waves, bool managed_only, const struct program_totals *totals)
{
    static const struct program_taker taker = {.op = take, .end = end_launch};
    struct program_walk how = {.resident = waves ? three : NULL, .managed_only = managed_only};
    struct walked to = {.seen = flags(), .stored = flags(), .touched = flags(), .totals = totals};
    WORKS(program_walk(&viewed, &how, &taker, &to, &to.n, &err));
    free(to.stored);
    free(to.touched);
    return to;
}

static const struct gpu gpu = {.sms = 4,
                               .clock_hz = 1000000000,
                               .warps_per_sm = 64,
                               .blocks_per_sm = 32,
                               .dram_bytes_per_s = 1e12,
                               .registers_per_sm = 65536,
                               .register_unit = 256,
                               .shared_bytes = 98304,
                               .issue_per_cycle = 4,
                               .dependent_cycles = 4,
                               .memory_ns = 300};

/* --- the other views --- */

struct requested {
    bool *seen;
    uint64_t sectors;
};

static inline void request(void *user, uint64_t addr, uint32_t bytes)
{
    struct requested *to = user;
    for (uint64_t at = addr; at < addr + bytes; at += ACCESS_SECTOR, to->sectors++)
        to->seen[sector_at(at)] = true;
}

static inline int take_record(void *ctx, const struct record *r, struct err *err)
{
    (void)err;
    if (r->kind != RECORD_KERNEL && r->kind != RECORD_KERNEL_END)
        request(ctx, r->addr, (uint32_t)r->bytes);
    return 0;
}

static const struct derive_options whole_program = {.last = UINT64_MAX, .l2_ways = 16, .gpu = &gpu};

/* What the dram view asks of memory through an L2 of that size. */
static inline struct requested dram_requests(int64_t l2_bytes)
{
    struct derive_source source = {.program = &viewed, .name = "it"};
    struct derive_options options = whole_program;
    struct program_counts counts;
    struct requested to = {.seen = flags()};
    options.l2_bytes = l2_bytes;
    WORKS(derive_dram_records(&source, &options, take_record, &to, &counts, &err));
    return to;
}

static inline int coalesce(void *ctx, const struct program_op *op, struct err *err)
{
    return derive_coalesce(ctx, op, err);
}

/* What the zero-copy view asks of the host, instruction by instruction. */
static inline struct requested link_requests(void)
{
    static const struct program_taker taker = {.op = coalesce};
    struct derive_source source = {.program = &viewed, .name = "it"};
    struct derive_options options = whole_program;
    struct program_counts counts;
    struct requested to = {.seen = flags()};
    struct coalescer coalescer;
    options.offloadable = true;
    coalescer_init(&coalescer, REUSE_NONE, request, &to);
    WORKS(derive_walk(&source, &options, &taker, &coalescer, &counts, &err));
    coalescer_release(&coalescer);
    return to;
}

/* The first sector of managed allocation k. */
static inline uint64_t managed_sector(const struct program_pages *pages, size_t k)
{
    size_t i = 0;
    while (pages->managed[i] != (int8_t)k)
        i++;
    return first_sector[i];
}

/* Every sector of every page that the page view touches. */
static inline bool *pages_touched(const struct program_pages *pages)
{
    struct err err = {""};
    bool *seen = flags();
    void *run = program_pages_ops.run_open(pages, &err);
    for (uint32_t l = 0; l < program_pages_ops.launches(pages); l++) {
        struct actor_launch launch;
        program_pages_ops.launch(pages, l, &launch);
        for (uint32_t a = 0; a < launch.actors; a++) {
            struct actor_at at = {0};
            struct actor_step s;
            int more;
            while ((more = program_pages_ops.step(run, l, a, &at, &s, &err)) == 1)
                for (uint32_t i = 0; i < s.count + s.stores; i++)
                    for (size_t k = 0; k < pages->count; k++) {
                        const struct actor_alloc *of = &pages->allocs[k];
                        uint64_t offset = (uint64_t)(s.page[i] - of->first_page) * ACTOR_PAGE_BYTES;
                        if (s.page[i] >= of->first_page && offset < of->bytes)
                            memset(&seen[managed_sector(pages, k) + offset / ACCESS_SECTOR], 1, PAGE_SECTORS);
                    }
            ck_assert_msg(more == 0, "%s", err.msg);
        }
    }
    program_pages_ops.run_close(run);
    return seen;
}

/* Where a structure lies: at its base, or, in a program of one allocation, there. */
static inline uint64_t base_of(const struct scan_structure *s)
{
    if (sector_at(s->base) < first_sector[alloc_count])
        return s->base;
    ck_assert_uint_eq(alloc_count, 1);
    ck_assert_uint_eq(allocs[0].addr % ACCESS_LINE, s->base % ACCESS_LINE);
    return allocs[0].addr;
}

/* The sectors of the elements that the closed form of the zero-copy view reads; NULL: it has none. */
static inline bool *elements_scanned(void)
{
    const struct workload_type *type = w ? w->type : NULL;
    const struct scan_ops *ops = !type ? NULL : type->produces == WORKLOAD_SCANS ? type->ops : type->scans;
    struct err err = {""};
    struct scan_setup setup;
    struct scan_batch batch;
    if (!ops)
        return NULL;
    ops->setup(w->state, &setup);
    if (ops->start(w->state, &err))
        return NULL;
    bool *seen = flags();
    while (ops->next(w->state, &batch, &err) == 1)
        for (size_t i = 0; i < batch.n; i++)
            for (size_t k = 0; k < setup.structure_count; k++) {
                const struct scan_structure *s = &setup.structures[k];
                uint64_t from = base_of(s) + batch.scans[i].first * s->element;
                uint64_t end = from + batch.scans[i].count * s->element;
                for (uint64_t at = from / ACCESS_SECTOR * ACCESS_SECTOR; at < end; at += ACCESS_SECTOR)
                    seen[sector_at(at)] = true;
            }
    return seen;
}

static inline void compare_managed(const char *spec, const struct walked *serial)
{
    struct err err = {""};
    static struct program_pages pages;
    struct program_totals totals;
    ck_assert_msg(program_pages_init(&pages, &viewed, NULL, &err) == 0, "%s: %s", spec, err.msg);
    bool *touched = pages_touched(&pages), *scanned = elements_scanned();
    SAME(serial->seen, touched, PAGE_SECTORS, true, "the page view");
    if (scanned)
        SAME(serial->seen, scanned, 1, true, "the closed form of the zero-copy view");
    ck_assert_msg(program_totals_init(&totals, &viewed, &gpu, &err) == 0, "%s: %s", spec, err.msg);
    struct walked again = walk(false, true, &totals);
    ck_assert_msg(again.wrong == 0, "%s: the placement view differs in %u launches", spec, again.wrong);
    SAME(serial->seen, again.seen, 1, true, "the walk over managed memory only");
    uint64_t instructions = 0;
    for (uint32_t l = 0; l < totals.launches; l++)
        instructions += totals.launch[l].instructions;
    ck_assert_msg(instructions == again.n.instructions, "%s: %llu instructions, by the placement view %llu", spec,
                  (unsigned long long)again.n.instructions, (unsigned long long)instructions);
    program_totals_release(&totals);
    struct requested link = link_requests();
    SAME(serial->seen, link.seen, 1, true, "the zero-copy view");
    ck_assert_uint_eq(link.sectors, again.n.sectors);
    free(link.seen);
    free(again.seen);
    free(scanned);
    free(touched);
}

/* `spec` is what failures call the program. */
static inline void compare_views(const char *spec)
{
    lay_out();
    struct walked serial = walk(false, false, NULL), waves = walk(true, false, NULL);
    ck_assert_msg(count(serial.seen) > 0, "%s: touches nothing", spec);
    SAME(serial.seen, waves.seen, 1, false, "the walk in waves");
    ck_assert_uint_eq(serial.n.instructions, waves.n.instructions);
    ck_assert_uint_eq(serial.n.sectors, waves.n.sectors);
    struct requested without = dram_requests(0), through = dram_requests(64 << 10);
    SAME(serial.seen, without.seen, 1, false, "the dram view without a cache");
    SAME(serial.seen, through.seen, 1, false, "the dram view");
    ck_assert_uint_eq(serial.loaded + serial.stored_sectors, without.sectors);
    ck_assert_uint_le(through.sectors, without.sectors);
    free(without.seen);
    free(through.seen);
    bool any = false;
    for (size_t i = 0; i < alloc_count; i++)
        any |= !allocs[i].device;
    ck_assert_msg(!w || any == (w->type->views != VIEW_DRAM), "%s: views and memory do not go together", spec);
    if (any)
        compare_managed(spec, &serial);
    free(serial.seen);
    free(waves.seen);
}
