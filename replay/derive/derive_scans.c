#include "replay/derive/derive_scans.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "replay/derive/derive_space.h"
#include "trace/base/mem.h"
#include "trace/event/actor.h"

enum { RING = 2 * (LIST_MOST + 1), WORD = 8 };

int list_ends_open(struct list_ends *e, uint64_t sectors, struct err *err)
{
    *e = (struct list_ends){.pages = sectors / LIST_PAGE + 1};
    e->length = mem_zalloc(e->pages, LIST_PAGE, err);
    e->used = mem_zalloc(e->pages / 64 + 1, sizeof *e->used, err);
    return e->length && e->used ? 0 : -1;
}

void list_ends_release(struct list_ends *e)
{
    free(e->length);
    free(e->used);
    *e = (struct list_ends){0};
}

/* Several threads may add runs that end with the same sector: the longest stays. */
static void add(struct list_ends *e, uint64_t last, uint8_t n)
{
    uint8_t was = __atomic_load_n(&e->length[last], __ATOMIC_RELAXED);
    uint64_t page = last / LIST_PAGE, bit = 1ull << page % 64, *used = &e->used[page / 64];
    while (was < n && !__atomic_compare_exchange_n(&e->length[last], &was, n, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
    if (!(__atomic_load_n(used, __ATOMIC_RELAXED) & bit))
        (void)__atomic_fetch_or(used, bit, __ATOMIC_RELAXED);
}

void list_ends_add(struct list_ends *e, uint64_t first, uint64_t n)
{
    for (; n > LIST_MOST; n -= LIST_MOST, first += LIST_MOST)
        add(e, first + LIST_MOST - 1, LIST_MOST);
    add(e, first + n - 1, (uint8_t)n);
}

/* Look ahead for pages in which runs end, while there is room for them. */
static void seek_ahead(struct list_ends *e)
{
    while (e->found - e->taken < LIST_AHEAD && e->sought < e->pages) {
        uint64_t *word = &e->used[e->sought / 64];
        if (!*word) {
            e->sought = (e->sought / 64 + 1) * 64;
            continue;
        }
        e->sought = e->sought / 64 * 64 + (uint64_t)__builtin_ctzll(*word);
        *word &= *word - 1;
        __builtin_prefetch(&e->length[e->sought * LIST_PAGE], 1);
        __builtin_prefetch(&e->length[e->sought * LIST_PAGE + LIST_PAGE / 2], 1);
        e->ahead[e->found++ % LIST_AHEAD] = e->sought;
    }
}

/* The next page in which runs end; false: none. */
static bool seek_page(struct list_ends *e)
{
    seek_ahead(e);
    if (e->taken == e->found)
        return false;
    e->page = e->ahead[e->taken++ % LIST_AHEAD];
    return true;
}

/* The next run by its end, which is forgotten; false: none. at = 0: the page is not looked at yet. */
static bool next_run(struct list_ends *e, struct list_run *run)
{
    for (;; e->at = 0) {
        if (e->at == 0 && !seek_page(e))
            return false;
        for (; e->at < LIST_PAGE; e->at = e->at / WORD * WORD + WORD) {
            uint64_t eight, *word = (uint64_t *)&e->length[e->page * LIST_PAGE + e->at / WORD * WORD];
            memcpy(&eight, word, sizeof eight);
            if (!eight)
                continue;
            uint64_t byte = (uint64_t)__builtin_ctzll(eight) / 8,
                     sector = e->page * LIST_PAGE + e->at / WORD * WORD + byte;
            *run = (struct list_run){sector + 1 - e->length[sector], sector + 1};
            e->length[sector] = 0;
            e->at = e->at / WORD * WORD + 1; /* not 0: the page is looked at; the word is looked at again */
            return true;
        }
    }
}

static struct list_run *waiting(struct list_ends *e, uint32_t i)
{
    return &e->waiting[i % RING];
}

size_t list_ends_next(struct list_ends *e, struct list_run *lists, size_t cap)
{
    struct list_run run = {0};
    size_t n = 0;
    while (n < cap) {
        bool more = next_run(e, &run);
        while (more && e->from != e->to && waiting(e, e->to - 1)->first > run.first)
            e->to--; /* it lies in this one */
        if (more)
            *waiting(e, e->to++) = run;
        while (e->from != e->to && n < cap && (!more || waiting(e, e->from)->end + LIST_MOST <= run.end)) {
            struct list_run *w = waiting(e, e->from++);
            lists[n++] = (struct list_run){w->first > e->done ? w->first : e->done, w->end};
            e->done = w->end;
        }
        if (!more && e->from == e->to)
            break;
    }
    if (n == 0) {
        e->page = e->at = e->done = e->sought = 0;
        e->from = e->to = e->taken = e->found = 0;
    }
    return n;
}

static int note_reads(void *ctx, const struct program_op *op, struct err *err)
{
    struct derive_scans *s = ctx;
    if (op->access != RECORD_READ)
        return 0;
    if (op->bytes < 8)
        s->element = 4;
    for (int i = 0; i < op->lines; i++) {
        uint64_t page = op->line[i].addr / ACTOR_PAGE_BYTES;
        if (s->last_page == page + 1)
            continue;
        s->last_page = page + 1;
        if (derive_space_touch(&s->space, page, true, err))
            return -1;
    }
    return 0;
}

int derive_scans_open(struct derive_scans *s, const struct derive_source *source, struct store *out,
                      const struct derive_options *options, struct err *err)
{
    static const struct program_taker taker = {.op = note_reads};
    s->element = 8;
    if (derive_walk(source, options, &taker, s, NULL, err) || derive_space_merge(&s->space, NULL, NULL, err))
        return -1;
    if (s->space.count == 0)
        return 0;
    s->base = s->space.rows[0].first * ACTOR_PAGE_BYTES;
    struct store_value row[] = {STORE_V_INT(0),
                                STORE_V_TEXT("read"),
                                STORE_V_INT(s->base),
                                STORE_V_INT(s->element),
                                STORE_V_INT(derive_space_bytes(&s->space) / s->element),
                                STORE_V_NULL};
    if (store_row(out, "structures", row, 6, err))
        return -1;
    int stream = writer_stream(out, "scans", TIME_NONE, NULL, 0, err);
    if (stream < 0 || list_ends_open(&s->ends, derive_space_bytes(&s->space) / ACCESS_SECTOR, err))
        return -1;
    return writer_open(&s->writer, out, stream, 0, err);
}

/* What an instruction reads, as runs of sectors of the structure that `space` lays out. */
static void lists_lines(struct list_ends *ends, const struct derive_space *space, const struct access_line *line,
                        int lines)
{
    uint64_t first = 0, n = 0;
    for (int i = 0; i < lines; i++) {
        uint64_t sector = derive_space_offset(space, line[i].addr) / ACCESS_SECTOR;
        for (uint32_t rest = line[i].sectors; rest; rest &= rest - 1) {
            uint64_t at = sector + (uint64_t)__builtin_ctz(rest);
            if (n && at == first + n) {
                n++;
                continue;
            }
            if (n)
                list_ends_add(ends, first, n);
            first = at;
            n = 1;
        }
    }
    if (n)
        list_ends_add(ends, first, n);
}

int derive_scans_op(void *scans, const struct program_op *op, struct err *err)
{
    struct derive_scans *s = scans;
    (void)err;
    if (op->access == RECORD_READ && s->writer.records)
        lists_lines(&s->ends, &s->space, op->line, op->lines);
    return 0;
}

int derive_scans_end(void *scans, uint32_t launch, struct err *err)
{
    struct derive_scans *s = scans;
    struct list_run lists[512];
    if (!s->writer.records)
        return 0;
    uint64_t number = 0;
    for (size_t n; (n = list_ends_next(&s->ends, lists, sizeof lists / sizeof *lists)) > 0;)
        for (size_t i = 0; i < n; i++) {
            struct record r = {.kind = RECORD_SCAN,
                               .addr = s->base + lists[i].first * ACCESS_SECTOR,
                               .bytes = (lists[i].end - lists[i].first) * ACCESS_SECTOR,
                               .id = number++,
                               .group = launch};
            if (writer_add(&s->writer, &r, NULL, err))
                return -1;
        }
    struct record end = {.kind = RECORD_KERNEL_END, .group = launch};
    return writer_add(&s->writer, &end, NULL, err);
}

int derive_scans_flush(struct derive_scans *s, struct err *err)
{
    return s->writer.records ? writer_flush(&s->writer, err) : 0;
}

void derive_scans_close(struct derive_scans *s)
{
    derive_space_release(&s->space);
    writer_close(&s->writer);
    list_ends_release(&s->ends);
    *s = (struct derive_scans){0};
}

int derive_lists(const struct derive_source *source, struct store *out, const struct derive_options *options,
                 struct err *err)
{
    static const struct program_taker taker = {.op = derive_scans_op, .end = derive_scans_end};
    struct derive_options o = *options;
    struct derive_scans scans = {0};
    o.offloadable = true;
    int rc = derive_scans_open(&scans, source, out, &o, err);
    if (rc == 0 && !scans.writer.records)
        rc = err_set(err, "%s: nothing is read", source->name);
    if (rc == 0)
        rc = derive_walk(source, &o, &taker, &scans, NULL, err);
    if (rc == 0)
        rc = derive_scans_flush(&scans, err);
    derive_scans_close(&scans);
    return rc;
}

/* --- program_reads: lists of a generated program, made while they are asked for --- */

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

/* Note bytes in an allocation, on every page of them. */
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

/* Sector of a byte in the structure. */
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
            lists_lines(&p->ends, &p->space, lines, lines_of(p, a, turn, lines));
        }
    }
}

/* --- over the warps --- */

enum pass { NOTE, LIST };

/* Prefetch the cache lines that a body will change. */
static void expect(struct reader *r, const struct program_body *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        const struct program_access *a = &b->access[i];
        uint64_t bytes = program_stretch(a), last = a->addr + bytes - 1;
        if (bytes && a->kind == RECORD_READ && inside(r->of, a, a->addr, last))
            __builtin_prefetch(&r->of->ends.length[sector_of(r, last)], 1);
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
    struct program_launch shape = program_launch_of(p->program, launch);
    if (program_check_launch(&shape, launch, err))
        return -1;
    uint64_t warps = program_warps(&shape);
    int failed = 0;
#pragma omp parallel for schedule(dynamic) num_threads(p->threads) if (warps > UINT64_C(2) * WARPS) reduction(+ : failed)
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
    return !program_launch_of(p->program, launch).cpu;
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
