#include "replay/placement/program_totals.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "models/gpu/l2.h"
#include "models/gpu/occupancy.h"
#include "trace/base/mem.h"
#include "trace/program/program_adapter.h"
#include "trace/program/walk.h"

/* --- counting, body by body --- */

/* Several threads may count bodies of one launch into separate totals. One of them finds each first touch or change, so
 * sums are equal. */
struct counting {
    const struct program *program;
    const struct program_pages *pages; /* of it */
    const struct gpu *gpu;
    const struct program_alloc *allocs;
    size_t alloc_count;
    uint64_t *page_bits;   /* touched in this launch, by page of the page view */
    uint64_t *sector_bits; /* modified in this launch */
    uint64_t first_sector[PROGRAM_ALLOCS];
    size_t page_words, sector_words;
    uint8_t origin[PROGRAM_ALLOCS]; /* by managed allocation: its number in the program */
    /* The launch that is counted. */
    uint32_t launch;
    uint64_t warps, per_sm; /* per_sm: resident */
    struct issue issue;
};

/* Set a bit; whether it was clear. */
static bool fresh(uint64_t *bits, uint64_t i)
{
    uint64_t bit = 1ull << (i & 63), *word = &bits[i >> 6];
    return !(__atomic_load_n(word, __ATOMIC_RELAXED) & bit) && !(__atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit);
}

/* --- pages --- */

/* Bytes of an allocation's pages, the last one whole. */
static uint64_t page_bytes(uint64_t bytes)
{
    return (bytes + ACTOR_PAGE_BYTES - 1) / ACTOR_PAGE_BYTES * ACTOR_PAGE_BYTES;
}

/* Bytes from .. to of managed allocation i. */
static void touch_inside(struct counting *c, size_t i, uint64_t from, uint64_t to, bool writes, struct launch_totals *t)
{
    const struct actor_alloc *a = &c->pages->allocs[i];
    for (uint32_t p = actor_page(a, from); p <= actor_page(a, to); p++)
        if (fresh(c->page_bits, p))
            t->touched_bytes += ACTOR_PAGE_BYTES;
    t->touched |= 1ull << c->origin[i];
    t->modified |= writes ? 1ull << c->origin[i] : 0;
    t->loaded |= writes ? 0 : 1ull << c->origin[i];
}

/* Count the managed bytes of first .. last. */
static void touch(struct counting *c, uint64_t first, uint64_t last, bool writes, struct launch_totals *t)
{
    for (size_t i = 0; i < c->pages->count; i++) {
        const struct actor_alloc *a = &c->pages->allocs[i];
        uint64_t end = a->addr + page_bytes(a->bytes);
        if (last >= a->addr && first < end)
            touch_inside(c, i, first > a->addr ? first - a->addr : 0, (last < end ? last : end - 1) - a->addr, writes,
                         t);
    }
}

/* Bounds of the bytes that an access touches in all turns; false if some lie outside its allocation. */
static bool inside(const struct counting *c, const struct program_access *a, uint64_t first, uint64_t bytes,
                   uint64_t turns, uint64_t *low, uint64_t *high)
{
    const struct actor_alloc *alloc = &c->pages->allocs[c->pages->managed[a->alloc]];
    uint64_t far = first + (turns - 1) * (uint64_t)a->turn_stride;
    *low = a->turn_stride < 0 ? far : first;
    *high = (a->turn_stride < 0 ? first : far) + bytes - 1;
    return *low >= alloc->addr && *low <= *high && *high - alloc->addr < page_bytes(alloc->bytes);
}

/* The same bytes in every turn, `stride` further on. Turns no more than a page apart leave no page out between them;
 * where that would reach beyond the allocation, each is looked at by itself. */
static void touch_turns(struct counting *c, const struct program_access *a, uint64_t first, uint64_t bytes,
                        uint64_t turns, struct launch_totals *t)
{
    const struct actor_alloc *alloc = &c->pages->allocs[c->pages->managed[a->alloc]];
    bool writes = a->kind != RECORD_READ;
    uint64_t low, high;
    bool dense = a->turn_stride <= ACTOR_PAGE_BYTES && a->turn_stride >= -ACTOR_PAGE_BYTES;
    if (inside(c, a, first, bytes, turns, &low, &high) && dense)
        touch_inside(c, (size_t)c->pages->managed[a->alloc], low - alloc->addr, high - alloc->addr, writes, t);
    else
        for (uint64_t turn = 0; turn < turns; turn++, first += (uint64_t)a->turn_stride)
            touch(c, first, first + bytes - 1, writes, t);
}

static void touch_access(struct counting *c, const struct program_access *a, uint64_t turns, struct launch_totals *t)
{
    if (!a->active || a->kind == PROGRAM_BARRIER || c->allocs[a->alloc].device)
        return;
    uint64_t bytes = program_stretch(a), from = program_pages_addr(c->pages, a, 0, 0), low, high;
    if (!bytes && (bytes = program_span(a, ACTOR_PAGE_BYTES)) && !inside(c, a, from, bytes, turns, &low, &high))
        bytes = 0;
    if (bytes) {
        touch_turns(c, a, from, bytes, turns, t);
        return;
    }
    for (uint32_t rest = a->active; rest;) {
        uint64_t first;
        rest = program_lanes_together(a, rest, &first, &bytes);
        touch_turns(c, a, first + c->pages->moved[a->alloc], bytes, turns, t);
    }
}

/* --- instructions, sectors --- */

/* The managed allocation that holds a line's first byte, looked for in the one that is meant first. */
static int alloc_of_line(const struct counting *c, unsigned meant, uint64_t line)
{
    for (size_t i = 0; i <= c->alloc_count; i++) {
        size_t a = i ? i - 1 : meant;
        uint64_t from = c->allocs[a].addr / ACCESS_LINE * ACCESS_LINE;
        if (line >= from && line < c->allocs[a].addr + c->allocs[a].bytes)
            return c->allocs[a].device ? -1 : (int)a;
    }
    return -1;
}

/* Sectors first .. last that are modified for the first time. */
static uint64_t fresh_sectors(struct counting *c, uint64_t first, uint64_t last)
{
    uint64_t count = 0;
    for (uint64_t word = first / 64; word <= last / 64; word++) {
        uint64_t bits = ~UINT64_C(0);
        if (word == first / 64)
            bits &= ~UINT64_C(0) << first % 64;
        if (word == last / 64)
            bits &= ~UINT64_C(0) >> (63 - last % 64);
        if (bits & ~__atomic_load_n(&c->sector_bits[word], __ATOMIC_RELAXED))
            count += (uint64_t)__builtin_popcountll(bits &
                                                    ~__atomic_fetch_or(&c->sector_bits[word], bits, __ATOMIC_RELAXED));
    }
    return count;
}

/* Bytes of which no sector is left out, in the allocation that is meant; false: they are not. */
static bool modify_bytes(struct counting *c, unsigned alloc, uint64_t first, uint64_t bytes, struct launch_totals *t)
{
    const struct program_alloc *own = &c->allocs[alloc];
    uint64_t at = first - own->addr;
    if (at >= own->bytes || bytes > own->bytes - at)
        return false;
    if (own->device)
        return true;
    at += own->addr % ACCESS_LINE;
    uint64_t fresh_bytes = ACCESS_SECTOR * fresh_sectors(c, c->first_sector[alloc] + at / ACCESS_SECTOR,
                                                         c->first_sector[alloc] + (at + bytes - 1) / ACCESS_SECTOR);
    t->modified_bytes += fresh_bytes;
    t->modified_of[alloc] += fresh_bytes;
    return true;
}

/* One turn, all lanes in the allocation that is meant; false: some may not be. */
static bool modify_inside(struct counting *c, const struct program_access *a, uint64_t turn, struct launch_totals *t)
{
    uint64_t bytes = program_span(a, ACCESS_SECTOR), first;
    if (bytes)
        return modify_bytes(c, a->alloc, program_addr(a, 0, turn), bytes, t);
    for (uint32_t rest = a->active; rest;) {
        rest = program_lanes_together(a, rest, &first, &bytes);
        if (!modify_bytes(c, a->alloc, first + turn * (uint64_t)a->turn_stride, bytes, t))
            return false;
    }
    return true;
}

/* One turn, line by line, wherever they lie. */
static void modify_lines(struct counting *c, const struct program_access *a, uint64_t turn, struct launch_totals *t)
{
    struct access_line lines[2 * ACCESS_LANES];
    int n = program_lines(a, turn, lines);
    for (int i = 0; i < n; i++) {
        int alloc = alloc_of_line(c, a->alloc, lines[i].addr);
        if (alloc < 0)
            continue;
        uint64_t from = c->allocs[alloc].addr / ACCESS_LINE * ACCESS_LINE;
        uint64_t sector = c->first_sector[alloc] + (lines[i].addr - from) / ACCESS_SECTOR;
        for (uint32_t k = 0; k < ACCESS_LINE / ACCESS_SECTOR; k++)
            if (lines[i].sectors >> k & 1 && fresh(c->sector_bits, sector + k)) {
                t->modified_bytes += ACCESS_SECTOR;
                t->modified_of[alloc] += ACCESS_SECTOR;
            }
    }
}

static void modify(struct counting *c, const struct program_access *a, uint64_t turns, struct launch_totals *t)
{
    turns = a->turn_stride ? turns : 1; /* the same again changes nothing */
    for (uint64_t turn = 0; turn < turns; turn++)
        if (!modify_inside(c, a, turn, t))
            modify_lines(c, a, turn, t);
}

static void count_instructions(struct counting *c, const struct program_body *b, struct launch_totals *t)
{
    uint64_t stalls = program_stalls(b);
    uint32_t pending = 0; /* loads since the last wait */
    bool stores = false;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct program_access *a = &b->access[i];
        if (stalls >> i & 1) {
            t->waits += b->turns;
            pending = 0;
        }
        if (a->kind == PROGRAM_BARRIER || !a->active)
            continue;
        t->accesses += b->turns;
        t->instructions += c->allocs[a->alloc].device ? 0 : b->turns;
        if (program_loads(a)) {
            t->loads += b->turns;
            pending++;
        }
        if (program_stores(a))
            modify(c, a, b->turns, t);
        stores |= program_stores(a);
    }
    t->waits += pending ? b->turns : 0;
    t->storing += stores ? b->turns : 0;
}

/* Count one body of a warp, without its time. */
static void counting_body(struct counting *c, const struct program_body *body, struct launch_totals *t)
{
    for (uint32_t k = 0; k < body->count; k++)
        touch_access(c, &body->access[k], body->turns, t);
    if (!t->cpu)
        count_instructions(c, body, t);
}

/* --- time --- */

static double counting_step_ns(const struct actor_step *s, const struct issue *issue)
{
    return s->compute_ns != ACTOR_COMPUTE_AUTO
               ? s->compute_ns
               : issue_ns(issue, s->instructions, s->sectors, issue_wait_ns(issue, s->count > 0, s->waits), 1);
}

/* --- launches --- */

/* The launch comes: sets `cpu` and `resident` of zeroed totals. -1: it does not fit. */
static int counting_begin(struct counting *c, uint32_t launch, struct launch_totals *t, struct err *err)
{
    struct program_launch shape = program_launch_of(c->program, launch);
    if (program_check_launch(&shape, launch, err))
        return -1;
    t->cpu = shape.cpu;
    t->waited = shape.waited;
    uint32_t blocks = occupancy_blocks(c->gpu, shape.threads, shape.registers, shape.shared, shape.blocks_most);
    if (!blocks && !shape.cpu)
        return occupancy_refuse(launch, shape.threads, shape.registers, shape.shared, err);
    uint64_t sms = (uint64_t)c->gpu->sms;
    t->resident = shape.cpu ? 0 : blocks * sms;
    c->launch = launch;
    c->warps = program_warps(&shape);
    c->per_sm = t->cpu ? 1 : t->resident / sms * program_warps_of_block(&shape);
    issue_init(&c->issue, c->gpu, c->warps, c->per_sm);
    memset(c->page_bits, 0, c->page_words * sizeof *c->page_bits);
    memset(c->sector_bits, 0, c->sector_words * sizeof *c->sector_bits);
    return 0;
}

/* It has ended: its longest warp, and all warps one after the other, ns. */
static void counting_end(const struct counting *c, double longest, double all, struct launch_totals *t)
{
    uint64_t sms = (uint64_t)c->gpu->sms, share = (c->warps + sms - 1) / sms;
    t->places = (double)(c->warps < sms * c->per_sm ? c->warps : sms * c->per_sm);
    all /= t->places;
    t->ms = (all > longest ? all : longest) / 1e6;
    t->warps = t->cpu ? 0 : (double)(share < c->per_sm ? share : c->per_sm);
}

/* Add a counted launch's modified bytes, by allocation, to all launches' and zero the row. */
static void add_modified(struct program_totals *totals, uint32_t launch, uint64_t *modified_of)
{
    for (size_t i = 0; i < totals->alloc_count; i++)
        totals->modified_of[i] += modified_of[i] * totals->times[launch];
    memset(modified_of, 0, totals->alloc_count * sizeof *modified_of);
}

static int counting_open(struct counting *c, const struct program_pages *pages, const struct gpu *gpu, struct err *err)
{
    uint64_t sectors = 0;
    *c = (struct counting){.program = pages->program, .pages = pages, .gpu = gpu};
    c->allocs = c->program->ops->allocs(c->program->state, &c->alloc_count);
    for (size_t i = 0; i < c->alloc_count; i++) {
        c->first_sector[i] = sectors;
        if (c->allocs[i].device)
            continue;
        c->origin[pages->managed[i]] = (uint8_t)i;
        sectors += (c->allocs[i].bytes / ACCESS_LINE + 2) * (ACCESS_LINE / ACCESS_SECTOR);
    }
    c->page_words = actor_space_pages(pages->allocs, pages->count) / 64 + 1;
    c->sector_words = sectors / 64 + 1;
    c->page_bits = mem_zalloc(c->page_words, sizeof *c->page_bits, err);
    c->sector_bits = mem_zalloc(c->sector_words, sizeof *c->sector_bits, err);
    return c->page_bits && c->sector_bits ? 0 : -1;
}

static void counting_close(struct counting *c)
{
    free(c->page_bits);
    free(c->sector_bits);
}

/* --- all of it --- */

/* Totals without a launch counted. */
static int open_totals(struct program_totals *totals, const struct program *program, struct err *err)
{
    memset(totals, 0, sizeof *totals);
    totals->allocs = program->ops->allocs(program->state, &totals->alloc_count);
    totals->launches = program->ops->launches(program->state);
    totals->launch = mem_zalloc(totals->launches ? totals->launches : 1, sizeof *totals->launch, err);
    totals->times = mem_zalloc(totals->launches ? totals->launches : 1, sizeof *totals->times, err);
    if (!totals->launch || !totals->times)
        return -1;
    for (uint32_t l = 0; l < totals->launches; l++)
        totals->times[program_like(program, l)]++;
    return 0;
}

/* All launches that no other is like are counted. */
static void finish_totals(struct program_totals *totals, const struct program *program)
{
    double all = 0, last = 0;
    for (uint32_t l = 0; l < totals->launches; l++) {
        const struct launch_totals *t = &totals->launch[l];
        totals->launch[l] = totals->launch[program_like(program, l)];
        totals->kernels += !t->cpu;
        if (t->cpu || !t->storing)
            continue;
        all += (double)t->modified_bytes;
        last += (double)t->modified_bytes * fmin(1, t->places / (double)t->storing);
    }
    totals->last_stored = all > 0 ? last / all : 0;
}

void program_totals_release(struct program_totals *totals)
{
    free(totals->launch);
    free(totals->times);
    memset(totals, 0, sizeof *totals);
}

/* --- from parts of it --- */

static void continue_launch(struct launch_totals *t, const struct launch_totals *a, const struct launch_totals *b,
                            double by)
{
    uint64_t *const counts[] = {&t->touched_bytes, &t->modified_bytes, &t->accesses, &t->instructions,
                                &t->loads,         &t->waits,          &t->storing};
    const uint64_t first[] = {a->touched_bytes, a->modified_bytes, a->accesses, a->instructions,
                              a->loads,         a->waits,          a->storing};
    *t = *b;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        *counts[i] += (uint64_t)llround((double)(*counts[i] - first[i]) * by);
    t->ms += (b->ms - a->ms) * by;
}

int program_totals_continue(struct program_totals *totals, const struct program *program,
                            const struct program_totals_part part[2], struct err *err)
{
    const struct program_totals *a = part[0].totals, *b = part[1].totals;
    double modified = 0, in_part = 0;
    if (open_totals(totals, program, err)) {
        program_totals_release(totals);
        return -1;
    }
    for (uint32_t l = 0; l < totals->launches; l++) {
        const uint64_t all = program_launch_of(program, l).blocks, had = part[0].blocks[l], has = part[1].blocks[l];
        continue_launch(&totals->launch[l], &a->launch[l], &b->launch[l],
                        has > had ? (double)(all - has) / (double)(has - had) : 0);
        modified += (double)totals->launch[l].modified_bytes;
        in_part += (double)b->launch[l].modified_bytes;
    }
    for (size_t i = 0; i < totals->alloc_count && in_part > 0; i++)
        totals->modified_of[i] = (uint64_t)((double)b->modified_of[i] * modified / in_part);
    finish_totals(totals, program);
    return 0;
}

/* --- copies --- */

struct copying {
    const struct program_totals *totals;
    struct program_copies *copies;
    uint64_t cpu_new, gpu_new; /* allocations whose latest bytes only one side has */
};

/* Copy every allocation of `which`. */
static void copy_all(struct copying *g, uint64_t which, int64_t *bytes, int64_t *copies)
{
    for (size_t i = 0; i < g->totals->alloc_count; i++)
        if (which >> i & 1) {
            *bytes += (int64_t)g->totals->allocs[i].bytes;
            ++*copies;
        }
    g->copies->copied |= which;
}

static void launch(struct copying *g, const struct launch_totals *t)
{
    struct program_copies *c = g->copies;
    if (t->cpu) {
        copy_all(g, g->gpu_new & t->touched, &c->back_bytes, &c->back_copies);
        g->gpu_new &= ~t->touched;
        g->cpu_new |= t->modified;
        return;
    }
    if (g->cpu_new) {
        c->dirty_kernels++;
        c->dirty_bytes += (int64_t)t->touched_bytes;
    }
    copy_all(g, g->cpu_new, &c->in_bytes, &c->in_copies);
    g->cpu_new = 0;
    for (size_t i = 0; i < g->totals->alloc_count; i++)
        if (!g->totals->allocs[i].scratch)
            g->gpu_new |= t->modified & 1ull << i;
}

void program_copies_count(struct program_copies *copies, const struct program_totals *totals)
{
    *copies = (struct program_copies){0};
    struct copying g = {.totals = totals, .copies = copies};
    for (size_t i = 0; i < totals->alloc_count; i++)
        if (totals->allocs[i].host && !totals->allocs[i].device)
            g.cpu_new |= 1ull << i;
    for (uint32_t l = 0; l < totals->launches; l++)
        launch(&g, &totals->launch[l]);
    copy_all(&g, g.gpu_new, &copies->last_bytes, &copies->last_copies);
    copies->back_bytes += copies->last_bytes;
    copies->back_copies += copies->last_copies;
}

/* --- totals_watch: the totals, counted while somebody else takes the steps --- */

/* The page view of the program, which counts its steps as they pass, so that bodies are made once for both. The totals
 * are those of program_totals_init(), to the bit, if each actor of each distinct launch takes all its steps, once and
 * in order, and every run ends a launch before any begins the next. */

enum { NONE = 0xFFFFFFFF };

struct totals_watch {
    const struct program_pages *pages;
    struct launch_weights *weights; /* NULL: nobody asks for them */
    struct program_totals totals;
    pthread_mutex_t lock; /* of what follows, between launches */
    struct counting counting;
    uint32_t launch; /* that is counted; NONE: none */
    uint32_t warps_of_block;
    double *ns; /* of each of its warps */
    size_t ns_cap;
};

/* One run, and what it has counted of its launch. */
struct run {
    struct totals_watch *watch;
    void *pages;
    uint32_t launch; /* NONE: none */
    struct launch_totals counts;
    struct launch_tally *tally;           /* NULL: nobody asks for it */
    uint64_t modified_of[PROGRAM_ALLOCS]; /* counts.modified_of */
    double ns, turn;                      /* of the actor so far; of the first turn of its body */
    double turns;                         /* of that body */
};

/* All warps of the launch are through. In their order, as sums of doubles depend on it. */
static void end_launch(struct totals_watch *w)
{
    double longest = 0, all = 0;
    if (w->launch == NONE)
        return;
    for (uint64_t i = 0; i < w->counting.warps; i++) {
        longest = w->ns[i] > longest ? w->ns[i] : longest;
        all += w->ns[i];
    }
    counting_end(&w->counting, longest, all, &w->totals.launch[w->launch]);
    w->launch = NONE;
}

static int begin_launch(struct totals_watch *w, uint32_t launch, struct err *err)
{
    end_launch(w);
    if (counting_begin(&w->counting, launch, &w->totals.launch[launch], err))
        return -1;
    if (mem_grow((void **)&w->ns, &w->ns_cap, w->counting.warps, sizeof *w->ns, err))
        return -1;
    w->launch = launch;
    struct actor_launch shape;
    program_pages_ops.launch(w->pages, launch, &shape);
    w->warps_of_block = shape.together;
    return 0;
}

/* Add the run's counts to the launch's. */
static void hand_in(struct run *r)
{
    const struct launch_totals *c = &r->counts;
    if (r->launch == NONE)
        return;
    struct launch_totals *t = &r->watch->totals.launch[r->launch];
    t->touched_bytes += c->touched_bytes;
    t->modified_bytes += c->modified_bytes;
    t->touched |= c->touched;
    t->modified |= c->modified;
    t->loaded |= c->loaded;
    t->accesses += c->accesses;
    t->instructions += c->instructions;
    t->loads += c->loads;
    t->waits += c->waits;
    t->storing += c->storing;
    add_modified(&r->watch->totals, r->launch, r->modified_of);
    if (r->tally)
        launch_weights_add(r->watch->weights, r->launch, r->tally);
}

static int go_to(struct run *r, uint32_t launch, struct err *err)
{
    struct totals_watch *w = r->watch;
    (void)pthread_mutex_lock(&w->lock);
    hand_in(r);
    int rc = w->launch == launch ? 0 : begin_launch(w, launch, err);
    r->launch = rc ? NONE : launch;
    r->counts = (struct launch_totals){.cpu = w->totals.launch[launch].cpu, .modified_of = r->modified_of};
    if (r->tally)
        launch_tally_begin(r->tally, w->warps_of_block);
    (void)pthread_mutex_unlock(&w->lock);
    return rc;
}

/* The actor comes to a new body. 1; 0: it has none; -1. */
static int begin_body(struct run *r, uint32_t actor, uint32_t index, struct err *err)
{
    const struct program_body *body;
    r->ns = index ? r->ns + r->turn * r->turns : 0;
    r->turn = 0;
    int rc = program_pages_body(r->pages, r->launch, actor, index, &body, err);
    if (rc == 1) {
        counting_body(&r->watch->counting, body, &r->counts);
        r->turns = (double)body->turns;
        if (r->tally)
            launch_tally_body(r->tally, actor, body);
    }
    return rc;
}

static int step(void *run, uint32_t launch, uint32_t actor, struct actor_at *at, struct actor_step *step,
                struct err *err)
{
    struct run *r = run;
    struct totals_watch *w = r->watch;
    if (r->launch != launch && go_to(r, launch, err))
        return -1;
    const bool first = at->turn == 0;
    int rc = first && at->access == 0 ? begin_body(r, actor, at->body, err) : 1;
    if (rc == 1)
        rc = program_pages_ops.step(r->pages, launch, actor, at, step, err);
    if (rc == 1 && first && !r->counts.cpu)
        r->turn += counting_step_ns(step, &w->counting.issue);
    if (rc == 0)
        w->ns[actor] = r->ns;
    if (rc == 0 && r->tally)
        launch_tally_end(r->tally, actor);
    return rc;
}

static void *run_open(const void *state, struct err *err)
{
    struct totals_watch *w = (struct totals_watch *)state;
    struct run *r = mem_zalloc(1, sizeof *r, err);
    if (!r)
        return NULL;
    r->watch = w;
    r->launch = NONE;
    r->tally = w->weights ? launch_weights_tally(w->weights, err) : NULL;
    r->pages = w->weights && !r->tally ? NULL : program_pages_ops.run_open(w->pages, err);
    if (r->pages)
        return r;
    launch_tally_free(r->tally);
    free(r);
    return NULL;
}

static void run_close(void *run)
{
    struct run *r = run;
    (void)pthread_mutex_lock(&r->watch->lock);
    hand_in(r);
    (void)pthread_mutex_unlock(&r->watch->lock);
    program_pages_ops.run_close(r->pages);
    launch_tally_free(r->tally);
    free(r);
}

static const struct actor_alloc *allocs(const void *state, size_t *n)
{
    return program_pages_ops.allocs(((const struct totals_watch *)state)->pages, n);
}

static uint32_t launches(const void *state)
{
    return program_pages_ops.launches(((const struct totals_watch *)state)->pages);
}

static void launch_of(const void *state, uint32_t launch, struct actor_launch *out)
{
    program_pages_ops.launch(((const struct totals_watch *)state)->pages, launch, out);
}

static uint32_t like(const void *state, uint32_t launch)
{
    return program_pages_ops.like(((const struct totals_watch *)state)->pages, launch);
}

const struct actor_ops totals_watch_ops = {.allocs = allocs,
                                           .launches = launches,
                                           .launch = launch_of,
                                           .step = step,
                                           .run_open = run_open,
                                           .run_close = run_close,
                                           .like = like};

struct totals_watch *totals_watch_open(const struct program_pages *pages, const struct gpu *gpu,
                                       struct launch_weights *weights, struct err *err)
{
    struct totals_watch *w = mem_zalloc(1, sizeof *w, err);
    if (!w)
        return NULL;
    w->pages = pages;
    w->weights = weights;
    w->launch = NONE;
    (void)pthread_mutex_init(&w->lock, NULL);
    if (open_totals(&w->totals, pages->program, err) == 0 && counting_open(&w->counting, pages, gpu, err) == 0)
        return w;
    totals_watch_close(w);
    return NULL;
}

void totals_watch_end(struct totals_watch *w, struct program_totals *totals)
{
    end_launch(w);
    finish_totals(&w->totals, w->pages->program);
    *totals = w->totals;
    w->totals = (struct program_totals){0};
}

void totals_watch_close(struct totals_watch *w)
{
    if (!w)
        return;
    program_totals_release(&w->totals);
    counting_close(&w->counting);
    (void)pthread_mutex_destroy(&w->lock);
    free(w->ns);
    free(w);
}

/* --- all of it, by one run --- */

/* Count a warp: a body's counts follow from the steps of its first turn. */
static int count_warp(void *run, uint32_t launch, uint32_t warp, struct err *err)
{
    struct actor_step taken;
    int rc = 1;
    for (uint32_t i = 0; rc == 1; i++)
        for (struct actor_at at = {.body = i}; rc == 1 && at.body == i && at.turn == 0;)
            rc = step(run, launch, warp, &at, &taken, err);
    return rc;
}

static int count_all(struct totals_watch *w, struct err *err)
{
    void *run = run_open(w, err);
    int rc = run ? 0 : -1;
    for (uint32_t l = 0; l < w->totals.launches && !rc; l++) {
        const struct program_launch shape = program_launch_of(w->pages->program, l);
        for (uint64_t warp = 0; w->totals.times[l] && warp < program_warps(&shape) && !rc; warp++)
            rc = count_warp(run, l, (uint32_t)warp, err);
    }
    if (run)
        run_close(run);
    return rc;
}

int program_totals_init(struct program_totals *totals, const struct program *program, const struct gpu *gpu,
                        struct err *err)
{
    struct program_pages *pages = mem_zalloc(1, sizeof *pages, err);
    *totals = (struct program_totals){0};
    struct totals_watch *w =
        pages && program_pages_init(pages, program, NULL, err) == 0 ? totals_watch_open(pages, gpu, NULL, err) : NULL;
    int rc = w && count_all(w, err) == 0 ? 0 : -1;
    if (!rc)
        totals_watch_end(w, totals);
    totals_watch_close(w);
    free(pages);
    return rc;
}

/* --- program_hits: how much of what a program accesses its GPU's L2 serves --- */

/* Run the program's warps through models/gpu/l2.h. Resident blocks take turns, one instruction of each warp after the
 * other (trace/program/walk.h). A loaded sector is a hit if the cache has it; a stored one always. Only managed memory
 * counts, but all memory has its place in the cache. A program of more than `cut` memory instructions runs in part: the
 * same share of each kernel's blocks, rounded up to whole waves of resident blocks; where a single wave is more than
 * that share, the first turns of each loop. The rest counts as what ran. Example: cut 1,000 of 4,000 instructions in 8
 * blocks, 2 resident: one wave, all of it. With 8 resident the wave is all 8 blocks, and every loop ends after a
 * quarter of its turns. Differs: without L1, whose hits count as accesses to L2, mostly hits; phases of the CPU bypass
 * the cache. */
struct part {
    struct program_adapter adapter; /* first */
    const struct program_totals *totals;
    double share;  /* of the blocks of a kernel; 1: all */
    double *turns; /* by launch: share of the turns of its loops */
    struct l2 *l2;
    struct program_hits *hits;
    uint32_t launch; /* under way */
};

/* The first blocks of a launch, in whole waves. */
static void part_launch(const void *state, uint32_t number, struct program_launch *out)
{
    const struct part *part = state;
    program_adapter_launch(state, number, out);
    uint64_t resident = part->totals->launch[number].resident;
    if (part->share >= 1 || !resident)
        return;
    uint64_t blocks = (uint64_t)((double)out->blocks * part->share) + 1;
    blocks = (blocks + resident - 1) / resident * resident;
    if (blocks < out->blocks)
        out->blocks = blocks;
}

/* Of the turns of a kernel that takes a single wave. */
static double share_of_turns(const struct part *part, uint32_t number)
{
    struct program_launch all = {0};
    program_adapter_launch(part, number, &all);
    uint64_t resident = part->totals->launch[number].resident;
    double blocks = (double)all.blocks * part->share;
    if (part->share >= 1 || !resident || blocks >= (double)resident)
        return 1;
    return blocks / (double)(all.blocks < resident ? all.blocks : resident);
}

static int part_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                     struct err *err)
{
    const struct program_adapter_run *r = run;
    const double turns = ((const struct part *)r->adapter)->turns[launch];
    int rc = r->adapter->whole.ops->body(r->run, launch, warp, index, body, err);
    if (turns < 1)
        body->turns = (uint64_t)((double)body->turns * turns) + 1;
    return rc;
}

static const struct program_ops part_ops = {PROGRAM_ADAPTER_OPS(program_adapter_launches, part_launch, part_body)};

static int begin(void *ctx, const struct record *kernel, struct err *err)
{
    struct part *part = ctx;
    (void)err;
    part->launch = kernel->group;
    return 0;
}

static bool managed(const struct program_totals *t, uint64_t line)
{
    for (size_t i = 0; i < t->alloc_count; i++)
        if (t->allocs[i].device && line - t->allocs[i].addr < t->allocs[i].bytes)
            return false;
    return true;
}

static int access_lines_of(void *ctx, const struct program_op *op, struct err *err)
{
    struct part *part = ctx;
    (void)err;
    if (part->totals->launch[part->launch].cpu)
        return 0;
    bool reads = op->access != RECORD_WRITE, writes = op->access != RECORD_READ;
    part->hits->instructions++;
    for (int i = 0; i < op->lines; i++) {
        const struct access_line *line = &op->line[i];
        struct l2_result r = l2_access(part->l2, line->addr, line->sectors, reads, writes);
        if (!managed(part->totals, line->addr))
            continue;
        unsigned sectors = (unsigned)__builtin_popcount(line->sectors);
        part->hits->sectors += sectors;
        part->hits->hits += sectors - (unsigned)__builtin_popcount(r.fetch);
    }
    return 0;
}

static uint64_t resident(const void *ctx, const struct program_launch *launch)
{
    const struct part *part = ctx;
    (void)launch;
    return part->totals->launch[part->launch].resident;
}

int program_hits_run(struct program_hits *hits, const struct program *program, const struct program_totals *totals,
                     const struct gpu *gpu, uint64_t cut, struct err *err)
{
    memset(hits, 0, sizeof *hits);
    uint64_t all = 0;
    for (uint32_t l = 0; l < totals->launches; l++)
        all += totals->launch[l].accesses;
    struct part part = {.totals = totals, .hits = hits};
    program_adapter_init(&part.adapter, program, &part_ops);
    part.share = cut && all > cut ? (double)cut / (double)all : 1;
    part.l2 = l2_new(gpu->l2_bytes, gpu->l2_ways, err);
    part.turns = part.l2 ? mem_zalloc(totals->launches, sizeof *part.turns, err) : NULL;
    for (uint32_t l = 0; part.turns && l < totals->launches; l++)
        part.turns[l] = share_of_turns(&part, l);
    struct program_walk waves = {.resident = resident, .ctx = &part};
    struct program_taker taker = {.launch = begin, .op = access_lines_of};
    int rc = part.turns ? program_walk(&part.adapter.program, &waves, &taker, &part, NULL, err) : -1;
    hits->cut = part.share < 1;
    free(part.turns);
    l2_free(part.l2);
    return rc;
}
