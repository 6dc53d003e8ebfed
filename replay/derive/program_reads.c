
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "replay/derive/derive_scans.h"
#include "replay/derive/derive_space.h"
#include "trace/base/mem.h"
#include "trace/event/actor.h"

enum { WARPS = 1024 }; /* that a thread takes at once */

/* Pages first..last of a VA block that are known to be read. */
struct seen {
    uint64_t block, first, last;
};

/* What one thread has for itself. */
struct reader {
    struct program_reads *of;
    void *run;
    struct program_body body;
    /* For the structure: */
    struct derive_space space;
    struct seen seen[PROGRAM_ACCESSES]; /* by access of the body: the next warp's is mostly near */
    bool narrow;                        /* some lane reads less than 8 B */
    /* For the lists: */
    uint64_t from, end, sector;   /* a stretch of memory, and the first of its sectors in the structure */
    struct program_access before; /* whose sectors were added last; active 0: none */
};

struct program_reads {
    const struct program *program;
    const struct program_alloc *allocs;
    const char *name;
    struct derive_memory memory;
    struct derive_space space;
    struct list_ends ends;
    uint64_t element, base;
    struct reader *readers;
    int threads;
    uint32_t launch, kernels; /* the launch that comes next; kernels so far */
    bool listing;             /* lists of a launch are being handed out */
    uint64_t lists;           /* of it so far */
    struct list_run run[SCAN_BATCH];
    struct scan scan[SCAN_BATCH];
};

/* Whether all lines of the bytes first..last begin in the allocation that is meant, and that is not the GPU's own. */
static bool inside(const struct program_reads *p, const struct program_access *a, uint64_t first, uint64_t last)
{
    const struct program_alloc *own = &p->allocs[a->alloc];
    return !own->device && first <= last && first - first % ACCESS_LINE >= own->addr && last - own->addr < own->bytes;
}

/* The lines of a turn that are not the GPU's own; their number. */
static int lines_of(const struct program_reads *p, const struct program_access *a, uint64_t turn,
                    struct access_line lines[2 * ACCESS_LANES])
{
    int n = program_lines(a, turn, lines), to = 0;
    for (int i = 0; i < n; i++)
        if (!derive_memory_stays(&p->memory, lines[i].addr))
            lines[to++] = lines[i];
    return to;
}

/* --- which stretches are read --- */

static int note_page(struct reader *r, struct seen *seen, uint64_t page, struct err *err)
{
    uint64_t block = page / ACTOR_BLOCK_PAGES;
    if (seen->block != block)
        *seen = (struct seen){block, page, page};
    else if (page >= seen->first && page <= seen->last)
        return 0;
    seen->first = page < seen->first ? page : seen->first;
    seen->last = page > seen->last ? page : seen->last;
    return derive_space_touch(&r->space, page, true, err);
}

/* Bytes in an allocation, every page of them. */
static int note_bytes(struct reader *r, struct seen *seen, uint64_t first, uint64_t last, struct err *err)
{
    uint64_t page = first / ACTOR_PAGE_BYTES, end = last / ACTOR_PAGE_BYTES;
    for (uint64_t next; page <= end; page = next) { /* the first and the last of each VA block */
        next = (page / ACTOR_BLOCK_PAGES + 1) * ACTOR_BLOCK_PAGES;
        if (note_page(r, seen, page, err) || note_page(r, seen, next - 1 < end ? next - 1 : end, err))
            return -1;
    }
    return 0;
}

static int note_turn(struct reader *r, const struct program_access *a, uint64_t turn, struct seen *seen,
                     struct err *err)
{
    struct access_line lines[2 * ACCESS_LANES];
    int n = lines_of(r->of, a, turn, lines);
    r->narrow |= n && a->bytes < 8;
    for (int i = 0; i < n; i++)
        if (note_page(r, seen, lines[i].addr / ACTOR_PAGE_BYTES, err))
            return -1;
    return 0;
}

/* The same bytes in every turn, as far as they leave no page out: 1; 0: they do; -1. */
static int note_dense(struct reader *r, const struct program_access *a, uint64_t addr, uint64_t bytes, uint64_t turns,
                      struct seen *seen, struct err *err)
{
    uint64_t far = addr + (turns - 1) * (uint64_t)a->turn_stride;
    uint64_t first = a->turn_stride < 0 ? far : addr, last = (a->turn_stride < 0 ? addr : far) + bytes - 1;
    if (a->turn_stride > ACTOR_PAGE_BYTES || a->turn_stride < -ACTOR_PAGE_BYTES || !inside(r->of, a, first, last))
        return 0;
    r->narrow |= a->bytes < 8;
    return note_bytes(r, seen, first, last, err) ? -1 : 1;
}

static int note_access(struct reader *r, const struct program_access *a, uint64_t turns, struct seen *seen,
                       struct err *err)
{
    uint64_t bytes = program_span(a, ACTOR_PAGE_BYTES);
    int dense = bytes ? note_dense(r, a, program_addr(a, 0, 0), bytes, turns, seen, err) : 0;
    uint32_t rest = dense ? 0 : a->active;
    for (dense = dense ? dense : 1; rest && dense == 1;) {
        uint64_t first;
        rest = program_lanes_together(a, rest, &first, &bytes);
        dense = note_dense(r, a, first, bytes, turns, seen, err);
    }
    for (uint64_t turn = 0; turn < turns && dense == 0; turn++)
        if (note_turn(r, a, turn, seen, err))
            return -1;
    return dense < 0 ? -1 : 0;
}

/* --- the lists of a launch --- */

/* Where a byte stands in the structure, as a sector. */
static uint64_t sector_of(struct reader *r, uint64_t addr)
{
    const struct derive_space *s = &r->of->space;
    if (addr < r->from || addr >= r->end)
        for (size_t i = 0; i < s->count; i++)
            if (addr / ACTOR_PAGE_BYTES >= s->rows[i].first && addr / ACTOR_PAGE_BYTES <= s->rows[i].last) {
                r->from = s->rows[i].first * ACTOR_PAGE_BYTES;
                r->end = (s->rows[i].last + 1) * ACTOR_PAGE_BYTES;
                r->sector = s->rows[i].offset / ACCESS_SECTOR;
            }
    return r->sector + (addr - r->from) / ACCESS_SECTOR;
}

/* Whether each lane is in the sector that it was in one access before. */
static bool again(struct reader *r, const struct program_access *a, uint64_t addr)
{
    struct program_access *b = &r->before;
    bool fits =
        !a->lane && !a->row && a->lane_stride % ACCESS_SECTOR == 0 && addr % ACCESS_SECTOR + a->bytes <= ACCESS_SECTOR;
    bool same = fits && b->active == a->active && b->lane_stride == a->lane_stride && b->addr == addr / ACCESS_SECTOR;
    *b = (struct program_access){
        .addr = addr / ACCESS_SECTOR, .active = fits ? a->active : 0, .lane_stride = a->lane_stride};
    return same;
}

static void list_access(struct reader *r, const struct program_access *a, uint64_t turns)
{
    struct program_reads *p = r->of;
    struct access_line lines[2 * ACCESS_LANES];
    uint64_t bytes = program_stretch(a), addr = program_addr(a, 0, 0);
    for (uint64_t turn = 0; turn < turns; turn++, addr += (uint64_t)a->turn_stride) {
        if (bytes && inside(p, a, addr, addr + bytes - 1)) {
            uint64_t n = (addr + bytes - 1) / ACCESS_SECTOR - addr / ACCESS_SECTOR + 1;
            list_ends_add(&p->ends, sector_of(r, addr), n);
        } else if (bytes || !again(r, a, addr)) {
            derive_lists_lines(&p->ends, &p->space, lines, lines_of(p, a, turn, lines));
        }
    }
}

/* --- over the warps --- */

enum pass { NOTE, LIST };

/* Have the cache fetch what the stretches of a body will change. */
static void expect(struct reader *r, const struct program_body *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        const struct program_access *a = &b->access[i];
        uint64_t bytes = program_stretch(a), last = a->addr + bytes - 1;
        if (bytes && a->kind == RECORD_READ && inside(r->of, a, a->addr, last))
            list_ends_expect(&r->of->ends, sector_of(r, last));
    }
}

static int read_body(struct reader *r, enum pass pass, struct err *err)
{
    const struct program_body *b = &r->body;
    if (pass == LIST && b->turns == 1)
        expect(r, b);
    for (uint32_t i = 0; i < b->count; i++) {
        const struct program_access *a = &b->access[i];
        uint64_t turns = a->turn_stride ? b->turns : 1; /* the same again adds nothing */
        if (a->kind != RECORD_READ || !a->active)
            continue;
        if (pass == LIST)
            list_access(r, a, turns);
        else if (note_access(r, a, turns, &r->seen[i], err))
            return -1;
    }
    return 0;
}

static int read_warp(struct reader *r, enum pass pass, uint32_t launch, uint64_t warp, struct err *err)
{
    int more = 1;
    r->body.last = false;
    for (uint32_t index = 0; more == 1 && (index == 0 || !r->body.last); index++) {
        more = program_body_rows(r->of->program, r->run, launch, warp, index, &r->body, err);
        if (more == 1 && read_body(r, pass, err))
            return -1;
    }
    return more < 0 ? -1 : 0;
}

static int read_launch(struct program_reads *p, enum pass pass, uint32_t launch, struct err *err)
{
    struct program_launch shape = {0};
    p->program->ops->launch(p->program->state, launch, &shape);
    if (program_check_launch(&shape, launch, err))
        return -1;
    uint64_t warps = program_warps(&shape);
    int failed = 0;
#pragma omp parallel for schedule(dynamic) num_threads(p->threads) if (warps > 2 * WARPS) reduction(+ : failed)
    for (uint64_t first = 0; first < warps; first += WARPS) {
        struct reader *r = &p->readers[omp_get_thread_num()];
        struct err own = {""};
        int rc = 0;
        r->before.active = 0;
        for (uint64_t w = first; w < warps && w < first + WARPS && !rc; w++)
            rc = read_warp(r, pass, launch, w, &own);
        if (!rc)
            continue;
        failed++;
#pragma omp critical
        (void)err_set(err, "%s", own.msg);
    }
    return failed ? -1 : 0;
}

static bool is_kernel(const struct program_reads *p, uint32_t launch)
{
    struct program_launch shape = {0};
    p->program->ops->launch(p->program->state, launch, &shape);
    return !shape.cpu;
}

/* --- opening --- */

static void close_runs(struct program_reads *p)
{
    for (int i = 0; p->readers && i < p->threads; i++) {
        program_run_close(p->program, p->readers[i].run);
        p->readers[i].run = NULL;
    }
}

/* Within a run launches ascend: each pass has runs of its own. */
static int open_runs(struct program_reads *p, struct err *err)
{
    close_runs(p);
    for (int i = 0; i < p->threads; i++)
        if (program_run_open(p->program, &p->readers[i].run, err))
            return -1;
    return 0;
}

/* The threads' stretches as one. */
static int join(struct program_reads *p, struct err *err)
{
    p->element = 8;
    for (int i = 0; i < p->threads; i++) {
        const struct derive_space *s = &p->readers[i].space;
        for (uint32_t b = 0; b < s->numbers.count; b++)
            if (derive_space_touch(&p->space, s->blocks[b].first, true, err) ||
                derive_space_touch(&p->space, s->blocks[b].last, true, err))
                return -1;
        if (p->readers[i].narrow)
            p->element = 4;
    }
    if (derive_space_merge(&p->space, NULL, NULL, err))
        return -1;
    if (p->space.count == 0)
        return err_set(err, "%s: nothing is read", p->name);
    p->base = p->space.rows[0].first * ACTOR_PAGE_BYTES;
    return list_ends_open(&p->ends, derive_space_bytes(&p->space) / ACCESS_SECTOR, err);
}

static int prepare(struct program_reads *p, const struct derive_source *source, struct err *err)
{
    uint32_t launches = p->program->ops->launches(p->program->state);
    p->readers = mem_zalloc((size_t)p->threads, sizeof *p->readers, err);
    if (!p->readers || derive_memory_open(&p->memory, source, err) || open_runs(p, err))
        return -1;
    for (int i = 0; i < p->threads; i++) {
        p->readers[i].of = p;
        for (size_t k = 0; k < PROGRAM_ACCESSES; k++)
            p->readers[i].seen[k].block = UINT64_MAX;
    }
    for (uint32_t l = 0; l < launches; l++)
        if (program_like(p->program, l) == l && is_kernel(p, l) && read_launch(p, NOTE, l, err))
            return -1;
    return join(p, err);
}

struct program_reads *program_reads_open(const struct derive_source *source, int threads, struct err *err)
{
    size_t n;
    struct program_reads *p = mem_zalloc(1, sizeof *p, err);
    if (!p)
        return NULL;
    p->program = source->program;
    p->name = source->name;
    p->allocs = p->program->ops->allocs(p->program->state, &n);
    p->threads = threads > 1 ? threads : 1;
    if (prepare(p, source, err) == 0)
        return p;
    program_reads_close(p);
    return NULL;
}

void program_reads_close(struct program_reads *p)
{
    if (!p)
        return;
    close_runs(p);
    for (int i = 0; p->readers && i < p->threads; i++)
        derive_space_release(&p->readers[i].space);
    free(p->readers);
    derive_memory_release(&p->memory);
    derive_space_release(&p->space);
    list_ends_release(&p->ends);
    free(p);
}

/* --- as scans --- */

static void setup(void *state, struct scan_setup *s)
{
    const struct program_reads *p = state;
    *s = (struct scan_setup){.shape = SCAN_LISTS,
                             .structures = {{.name = "read",
                                             .base = p->base,
                                             .element = (uint32_t)p->element,
                                             .elements = derive_space_bytes(&p->space) / p->element}},
                             .structure_count = 1,
                             .threads_per_block = 128,
                             .visits = true};
}

static int start(void *state, struct err *err)
{
    struct program_reads *p = state;
    while (p->listing && list_ends_next(&p->ends, p->run, SCAN_BATCH) > 0)
        continue; /* what is left of a launch */
    p->launch = p->kernels = 0;
    p->listing = false;
    return open_runs(p, err);
}

static int next(void *state, struct scan_batch *batch, struct err *err)
{
    struct program_reads *p = state;
    uint32_t launches = p->program->ops->launches(p->program->state);
    if (!p->listing) {
        while (p->launch < launches && !is_kernel(p, p->launch))
            p->launch++;
        if (p->launch == launches)
            return 0;
        if (read_launch(p, LIST, p->launch++, err))
            return -1;
        p->listing = true;
        p->lists = 0;
    }
    size_t n = list_ends_next(&p->ends, p->run, SCAN_BATCH);
    for (size_t i = 0; i < n; i++)
        p->scan[i] = (struct scan){.first = p->run[i].first * ACCESS_SECTOR / p->element,
                                   .count = (p->run[i].end - p->run[i].first) * ACCESS_SECTOR / p->element,
                                   .lane = p->lists++};
    *batch = (struct scan_batch){.launch = p->kernels, .scans = p->scan, .n = n, .last = n < SCAN_BATCH};
    if (batch->last) {
        while (list_ends_next(&p->ends, p->run, SCAN_BATCH) > 0)
            continue;
        p->listing = false;
        p->kernels++;
    }
    return 1;
}

static uint64_t runs(void *state)
{
    (void)state;
    return 1;
}

const struct scan_ops program_reads_ops = {setup, start, next, runs};
