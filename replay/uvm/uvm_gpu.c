#include "replay/uvm/uvm_gpu.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "models/zerocopy/link.h"
#include "replay/uvm/uvm_driver.h"
#include "trace/base/mem.h"

enum { NONE = 0xFFFFFFFF };

/* A place on a multiprocessor that holds one actor at a time. */
struct uvm_slot {
    int64_t time;
    uint64_t pending; /* loads of the step that are not satisfied */
    uint32_t actor;   /* NONE: takes the next one */
    uint32_t turns;   /* of the step in hand that are still to be done; 0: the next step is to be asked for */
    uint32_t next;    /* in its bucket */
    uint32_t utlb;
    uint32_t part;         /* of the multiprocessor */
    uint32_t stored_count; /* pages stored to that are not satisfied */
    bool listed;           /* in its micro-TLB's list of slots with stores under way */
    struct actor_at at;
    struct actor_step step;
    uint32_t stored[ACTOR_STORES];
};

/* A page that a micro-TLB has listed since the last replay. */
struct uvm_listed {
    uint32_t page;
    uint32_t epoch;   /* of the gpu, else it is free */
    uint32_t late_ns; /* after the replay: when the answer was there; four seconds at most */
    uint32_t parts;   /* of the multiprocessors that were told that it is missing */
};

/* Places beside each other on a multiprocessor whose actors end together: a block's. */
struct uvm_group {
    int64_t end_ns; /* of the last that ended */
    uint32_t left;  /* actors that have not */
};

struct uvm_utlb_state {
    uint32_t outstanding;
    uint32_t waiting_count, storing_count;
    uint32_t listed; /* entries of the table in use */
    double next_report_ns;
    uint32_t *waiting;        /* slots, oldest first */
    uint32_t *storing;        /* slots with stores under way */
    struct uvm_listed *table; /* pages reported since the last replay, NONE where free: open addressing; one touch, one
                        look-up, so no uthash (trace/base/id_map.h) */
};

/* Room for `slots` slots; only grows, between launches. */
static int reserve_slots(struct uvm_gpu *g, uint64_t slots, struct err *err)
{
    if (slots <= g->slots_cap)
        return 0;
    if (slots > 1 << 20)
        return err_set(err, "%llu actors resident at once; expected at most 1,048,576", (unsigned long long)slots);
    uint32_t utlbs = (uint32_t)g->platform->utlbs;
    free(g->slots);
    free(g->waiting);
    g->slots_cap = 0;
    g->slots = mem_zalloc(slots, sizeof *g->slots, err);
    /* Slots are spread evenly, but whole multiprocessors and groups make some lists longer: count them at a launch. */
    g->waiting = mem_zalloc(2 * slots, sizeof *g->waiting, err);
    free(g->resumed);
    free(g->groups);
    g->groups = mem_zalloc(slots, sizeof *g->groups, err);
    g->resumed = mem_zalloc((slots + 63) / 64, sizeof *g->resumed, err);
    if (!g->slots || !g->waiting || !g->resumed || !g->groups)
        return -1;
    for (uint32_t u = 0; u < utlbs; u++)
        g->utlbs[u].waiting = g->utlbs[u].storing = NULL;
    g->slots_cap = (uint32_t)slots;
    return 0;
}

int uvm_gpu_init(struct uvm_gpu *g, const struct actor_ops *ops, const void *state, const struct gpu *gpu,
                 const struct uvm_platform *platform, struct uvm_memory *memory, struct err *err)
{
    memset(g, 0, sizeof *g);
    g->ops = ops;
    g->state = state;
    g->memory = memory;
    g->platform = platform;
    g->gpu = gpu;
    g->sms = (uint32_t)gpu->sms;
    g->blocked = platform->utlb == UVM_UTLB_BLOCKED;
    g->launch_count = ops->launches(state);
    g->launch = NONE;
    g->epoch = 1;
    g->interrupt_ns = UVM_GPU_NEVER;
    g->awake_ns = UVM_GPU_ASLEEP;
    memset(g->heads, 0xff, sizeof g->heads);
    uint32_t utlbs = (uint32_t)platform->utlbs, table = 2;
    while (table < 4 * platform->utlb_faults)
        table *= 2;
    g->table_mask = table - 1;
    g->utlbs = mem_zalloc(utlbs, sizeof *g->utlbs, err);
    g->reported = mem_zalloc(utlbs, sizeof *g->reported * table, err);
    g->quiet = mem_zalloc(g->launch_count + 1, sizeof *g->quiet, err);
    if (!g->utlbs || !g->reported || !g->quiet || fault_buffer_init(&g->ring, platform, err))
        return -1;
    for (uint32_t u = 0; u < utlbs; u++)
        g->utlbs[u].table = g->reported + (size_t)u * table;
    if (ops->run_open && !(g->run = ops->run_open(state, err)))
        return -1;
    if (!ops->run_open)
        g->run = (void *)state;
    return 0;
}

void uvm_gpu_release(struct uvm_gpu *g)
{
    if (g->ops && g->ops->run_close && g->run)
        g->ops->run_close(g->run);
    free(g->slots);
    free(g->utlbs);
    free(g->waiting);
    free(g->resumed);
    free(g->groups);
    free(g->reported);
    free(g->quiet);
    fault_buffer_release(&g->ring);
    uvm_remote_release(&g->remote);
    memset(g, 0, sizeof *g);
}

/* --- the link, for pages that lie with the CPU --- */

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
        r->request_ns[k] = link_time_ns(pcie, gpu, &launch, &bound) / MANY;
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

/* How long one turn takes with the link to itself. */
static uint32_t alone_ns(const struct uvm_remote *r, uint32_t compute_ns, double link_ns)
{
    double remote = r->latency_ns + link_ns;
    return remote > compute_ns ? (uint32_t)(remote + 0.5) : compute_ns;
}

/* After the first turn none waits for the link any more: a turn takes no less than its share of it. */
int64_t uvm_remote_turns(struct uvm_remote *r, int64_t time, uint32_t compute_ns, double link_ns, uint32_t turns)
{
    uint32_t alone = alone_ns(r, compute_ns, link_ns);
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

/* --- the calendar --- */

static void enqueue(struct uvm_gpu *g, uint32_t slot)
{
    int64_t base = (g->now - g->phase) >> UVM_GPU_BUCKET_SHIFT;
    int64_t bucket = (g->slots[slot].time - g->phase) >> UVM_GPU_BUCKET_SHIFT;
    if (bucket < base)
        bucket = base;
    if (bucket >= base + UVM_GPU_BUCKETS)
        bucket = base + UVM_GPU_BUCKETS - 1; /* looked at again when its turn comes */
    uint32_t b = (uint32_t)(bucket % UVM_GPU_BUCKETS);
    g->slots[slot].next = NONE;
    if (g->heads[b] == NONE)
        g->heads[b] = slot;
    else
        g->slots[g->tails[b]].next = slot;
    g->tails[b] = slot;
    g->busy[b / 64] |= 1ull << (b % 64);
    g->queued++;
}

/* The first bucket in use at or after now's; its absolute number, or -1. */
static int64_t next_bucket(const struct uvm_gpu *g)
{
    if (!g->queued)
        return -1;
    int64_t base = (g->now - g->phase) >> UVM_GPU_BUCKET_SHIFT;
    uint32_t from = (uint32_t)(base % UVM_GPU_BUCKETS), word = from / 64;
    uint64_t bits = g->busy[word] & ~0ull << (from % 64);
    for (uint32_t i = 0; i <= UVM_GPU_BUCKETS / 64; i++) {
        if (bits) {
            uint32_t b = word * 64 + (uint32_t)__builtin_ctzll(bits);
            return base + (b >= from ? b - from : b + UVM_GPU_BUCKETS - from);
        }
        word = (word + 1) % (UVM_GPU_BUCKETS / 64);
        bits = g->busy[word];
    }
    return -1;
}

/* --- launches --- */

/* When a block starts for which there is a place from `time` on: no sooner than all that came before it. */
static int64_t start_block(struct uvm_gpu *g, int64_t time)
{
    const int64_t at = g->launch_start_ns + (int64_t)(g->block_gap_ns * (double)g->blocks_started++);
    return at > time ? at : time;
}

static void fill_slots(struct uvm_gpu *g, int64_t time)
{
    uint64_t places = (uint64_t)g->sms * g->per_sm;
    uint32_t n = (uint32_t)(places < g->current.actors ? places : g->current.actors);
    uint32_t utlbs = (uint32_t)g->platform->utlbs, together = g->current.together ? g->current.together : 1;
    for (uint32_t u = 0; u < utlbs; u++)
        g->utlbs[u].waiting_count = g->utlbs[u].storing_count = 0;
    g->together = together;
    g->slots_used = g->next_actor = n;
    memset(g->groups, 0, ((size_t)n + together - 1) / together * sizeof *g->groups);
    for (uint32_t i = 0; i < n; i++) {
        struct uvm_slot *s = &g->slots[i];
        uint32_t sm = i / together % g->sms;
        s->part = i % together % (uint32_t)g->platform->sm_parts;
        s->utlb = (uint32_t)((uint64_t)sm * utlbs / g->sms);
        s->time = i % together ? g->slots[i - 1].time : start_block(g, time);
        s->actor = i;
        s->at = (struct actor_at){0};
        g->groups[i / together].left++;
        s->pending = 0;
        s->stored_count = 0;
        s->listed = false;
        g->utlbs[s->utlb].waiting_count++;
    }
    uint32_t *storage = g->waiting;
    for (uint32_t u = 0; u < utlbs; u++) {
        g->utlbs[u].waiting = storage;
        storage += g->utlbs[u].waiting_count;
        g->utlbs[u].storing = storage;
        storage += g->utlbs[u].waiting_count;
        g->utlbs[u].waiting_count = 0;
    }
    for (uint32_t i = 0; i < n; i++)
        enqueue(g, i);
}

/* Actors on a multiprocessor: as told, or as many warps as the blocks that fit have. */
static int choose_residents(struct uvm_gpu *g, struct err *err)
{
    const struct actor_launch *l = &g->current;
    uint32_t together = l->together ? l->together : 1;
    g->per_sm = l->per_sm;
    if (g->per_sm)
        return 0;
    if (!l->threads) {
        g->per_sm = (uint32_t)g->gpu->warps_per_sm;
        return 0;
    }
    g->per_sm = occupancy_blocks(g->gpu, l->threads, l->registers, l->shared, l->blocks_most) * together;
    return g->per_sm ? 0 : occupancy_refuse(g->launch, l->threads, l->registers, l->shared, err);
}
/* From a load to its use. What comes while a launch runs is in L2 when it is loaded. Of a launch that begins with all
 * memory there only that is which came last: a load finds it there with the share of the memory that L2 holds. */
static double load_ns(const struct uvm_gpu *g)
{
    const double fresh = g->platform->fresh_ns, far = g->gpu->memory_ns;
    uint64_t pages = 0;
    if (fresh <= 0)
        return far;
    for (uint32_t b = 0; b < g->memory->block_count; b++)
        pages += g->memory->blocks[b].block.end - g->memory->blocks[b].block.first;
    if (g->memory->pages_in - g->memory->pages_out < pages)
        return fresh;
    const double share = (double)g->gpu->l2_bytes / ((double)pages * UVM_PAGE_BYTES);
    return share < 1 ? share * fresh + (1 - share) * far : fresh;
}

/* Whether the GPU has all memory, and has touched it; g->readonly: what of it is mapped for reading. */
static bool all_there(struct uvm_gpu *g, bool *touched)
{
    const struct uvm_memory *m = g->memory;
    *touched = true;
    g->readonly = 0;
    for (uint32_t b = 0; b < m->block_count; b++) {
        const unsigned pages = m->blocks[b].block.end - m->blocks[b].block.first;
        if (page_mask_count(&m->access[b]) != pages)
            return false;
        *touched = *touched && page_mask_count(&m->used[b]) == pages;
        for (uint32_t w = 0; m->any_readonly && w < PAGE_MASK_WORDS; w++)
            g->readonly = (g->readonly ^ m->readonly[b].w[w]) * UINT64_C(0x9e3779b97f4a7c15) + b;
    }
    return !m->any_remote;
}

static uint32_t like(const struct uvm_gpu *g)
{
    return g->ops->like ? g->ops->like(g->state, g->launch) : g->launch;
}

/* The launch that has begun ends at once, if it is known when. Undisturbed is what begins while the GPU runs on without
 * end. */
static bool known(struct uvm_gpu *g, bool undisturbed)
{
    bool touched;
    g->phase = 0;
    g->timed = undisturbed && all_there(g, &touched) ? g->events + 1 : 0;
    if (!g->timed)
        return false;
    g->touches_before = g->touches;
    g->now = g->now > g->launch_start_ns ? g->now : g->launch_start_ns;
    g->phase = g->launch_start_ns & ((1 << UVM_GPU_BUCKET_SHIFT) - 1);
    const struct uvm_time *t = &g->times[like(g)];
    const uint64_t ns = atomic_load_explicit(&t->ns, memory_order_acquire);
    touched = touched && atomic_load_explicit(&t->readonly, memory_order_relaxed) == g->readonly;
    if (!ns || !(touched || g->quiet[like(g)] == g->events + 1))
        return false;
    g->launch_end_ns = g->launch_start_ns + (int64_t)(ns - 1);
    g->now = g->launch_start_ns + ((int64_t)(ns - 1) >> UVM_GPU_BUCKET_SHIFT << UVM_GPU_BUCKET_SHIFT);
    g->touches += atomic_load_explicit(&t->touches, memory_order_relaxed);
    return true;
}

/* The launch has ended. Where nothing has happened meanwhile others like it need not run. */
static void keep_time(struct uvm_gpu *g)
{
    if (g->timed != g->events + 1)
        return;
    struct uvm_time *t = &g->times[like(g)];
    g->quiet[like(g)] = g->timed;
    atomic_store_explicit(&t->touches, g->touches - g->touches_before, memory_order_relaxed);
    atomic_store_explicit(&t->readonly, g->readonly, memory_order_relaxed);
    atomic_store_explicit(&t->ns, (uint64_t)(g->launch_end_ns - g->launch_start_ns) + 1, memory_order_release);
}

static int end_launch(struct uvm_gpu *g)
{
    const int64_t end_ns = g->launch_end_ns;
    if (g->calls && g->current.waited)
        g->launch_end_ns = (int64_t)(launch_wait_ns(g->calls, &g->host_ns, (double)end_ns) + 0.5);
    return g->on_launch_end ? g->on_launch_end(g->ctx, g->current.kernel, end_ns) : 0;
}

/* 1: the GPU's next launch has begun; 0: there is none, or it is the CPU's; -1. */
static int begin_launch(struct uvm_gpu *g, int64_t time, struct err *err)
{
    g->launch++; /* NONE + 1 is 0 */
    g->cpu_phase = false;
    if (g->launch == g->launch_count) {
        g->finished = true;
        return 0;
    }
    g->ops->launch(g->state, g->launch, &g->current);
    if (g->current.cpu) {
        g->cpu_phase = true;
        g->events++;
        return 0;
    }
    if (g->current.actors == 0)
        return err_set(err, "launch %u has no actors", g->launch);
    if (choose_residents(g, err) || reserve_slots(g, (uint64_t)g->sms * g->per_sm, err))
        return -1;
    struct gpu loads = *g->gpu;
    loads.memory_ns = load_ns(g);
    issue_init(&g->issue, &loads, g->current.actors, g->per_sm);
    g->waited_kib = 0;
    g->waited_ns = 0;
    uint64_t places = (uint64_t)g->sms * g->per_sm;
    g->resident = (uint32_t)(g->current.actors < places ? g->current.actors : places);
    g->actors_done = 0;
    if (g->calls)
        time = (int64_t)(launch_start_ns(g->calls, &g->host_ns, (double)time) + 0.5);
    g->launch_start_ns = g->launch_end_ns = time;
    g->block_gap_ns = g->current.threads ? g->gpu->block_gap_ns : 0;
    g->blocks_started = 0;
    return 1;
}

static int next_launch(struct uvm_gpu *g, int64_t time, bool undisturbed, struct err *err)
{
    int rc;
    while ((rc = begin_launch(g, time, err)) == 1 && known(g, undisturbed)) {
        if (end_launch(g))
            return -1;
        time = g->launch_end_ns;
    }
    if (rc == 1)
        fill_slots(g, g->launch_start_ns);
    return rc < 0 ? -1 : 0;
}

int uvm_gpu_next_launch(struct uvm_gpu *g, int64_t time, struct err *err)
{
    return next_launch(g, time, false, err);
}

/* --- touches and faults --- */

static inline bool reach(struct uvm_gpu *g, uint32_t page)
{
    uint32_t block = page / ACTOR_BLOCK_PAGES, word = page / 64 % PAGE_MASK_WORDS;
    uint64_t bit = 1ull << (page % 64);
    if (!(g->memory->access[block].w[word] & bit))
        return false;
    if (!(g->memory->used[block].w[word] & bit))
        g->memory->used[block].w[word] |= bit;
    return true;
}

/* The same for a write: a mapping for reading does not do. */
static inline bool reach_to_write(struct uvm_gpu *g, uint32_t page)
{
    uint32_t block = page / ACTOR_BLOCK_PAGES, word = page / 64 % PAGE_MASK_WORDS;
    if (g->memory->any_readonly && g->memory->readonly[block].w[word] >> (page % 64) & 1)
        return false;
    return reach(g, page);
}

/* Whether a loaded page of a step is there: an atomic writes it. */
static inline bool reach_load(struct uvm_gpu *g, const struct actor_step *step, unsigned i)
{
    return step->writes >> i & 1 ? reach_to_write(g, step->page[i]) : reach(g, step->page[i]);
}

/* The place of a page in a micro-TLB's table: listed, or free; NULL if the table is full. */
static struct uvm_listed *find_listed(struct uvm_gpu *g, struct uvm_utlb_state *u, uint32_t page)
{
    uint32_t at = page * 2654435769u >> 7 & g->table_mask;
    while (u->table[at].epoch == g->epoch) {
        if (u->table[at].page == page)
            return &u->table[at];
        at = (at + 1) & g->table_mask;
    }
    return u->listed <= g->table_mask / 4 * 3 ? &u->table[at] : NULL;
}

/* When a micro-TLB had the answer of a page that it lists. */
static int64_t answer_ns(const struct uvm_gpu *g, const struct uvm_listed *l)
{
    return g->replay_ns + l->late_ns;
}

/* The micro-TLB walks for a page, one after the other. When the answer is there. */
static int64_t walk(struct uvm_gpu *g, struct uvm_utlb_state *u, uint32_t page, struct uvm_listed *l, int64_t time,
                    double gap_ns)
{
    double at = u->next_report_ns > (double)time ? u->next_report_ns : (double)time;
    u->next_report_ns = at + gap_ns;
    if (l) {
        double late = at - (double)g->replay_ns;
        *l = (struct uvm_listed){page, g->epoch, late < UINT32_MAX ? (uint32_t)late : UINT32_MAX, 0};
        u->listed++;
    }
    return (int64_t)at;
}

/* Whether a fault's interrupt reads PUT: the driver has looked a moment before, not behind it. */
static bool top_half(const struct uvm_gpu *g, int64_t written)
{
    return written > g->answer_ns && written <= g->awake_ns;
}

/* The run stops when the first fault in the buffer has made the driver read PUT. */
static void interrupt(struct uvm_gpu *g)
{
    if (g->interrupt_ns == UVM_GPU_NEVER)
        return;
    const int64_t first = fault_buffer_first_ns(&g->ring), from = first < g->answer_ns ? g->answer_ns : first;
    const int64_t look = from + (top_half(g, first) ? (int64_t)g->platform->top_half_ns : g->interrupt_ns);
    if (look < g->stop_ns)
        g->stop_ns = look;
}

bool uvm_gpu_top_half(struct uvm_gpu *g)
{
    return fault_buffer_any(&g->ring) && top_half(g, fault_buffer_first_ns(&g->ring));
}

/* Report a miss of part `part` of a multiprocessor to a micro-TLB that has room. */
static void report(struct uvm_gpu *g, struct uvm_utlb_state *u, uint32_t page, unsigned part, int64_t time)
{
    struct uvm_listed *l = find_listed(g, u, page);
    bool known = l && l->epoch == g->epoch;
    if (known && g->platform->utlb_merge && l->parts >> part & 1)
        return;
    u->outstanding++;
    if (known)
        time = time > answer_ns(g, l) ? time : answer_ns(g, l);
    else
        time = walk(g, u, page, l, time, g->platform->fault_gap_ns);
    if (l)
        l->parts |= 1u << part;
    fault_buffer_report(&g->ring, page, (uint32_t)(u - g->utlbs), time);
    interrupt(g);
}

/* What a micro-TLB reports of a page. */
static uint32_t entry(const struct uvm_gpu *g, uint32_t page, bool write)
{
    return write && g->memory->any_read_mostly ? page | UVM_FAULT_WRITE : page;
}

/* Reports what is pending of a slot, in order, as far as there is room. */
static void report_pending(struct uvm_gpu *g, struct uvm_slot *s, int64_t time)
{
    struct uvm_utlb_state *u = &g->utlbs[s->utlb];
    uint32_t limit = (uint32_t)g->platform->utlb_faults;
    for (uint64_t rest = s->pending; rest && u->outstanding < limit; rest &= rest - 1)
        report(g, u, entry(g, s->step.page[__builtin_ctzll(rest)], s->step.writes & rest & -rest), s->part, time);
}

static void mark_dirty(struct uvm_gpu *g, uint32_t page)
{
    uint32_t block = page / ACTOR_BLOCK_PAGES;
    if (g->memory->allocs[g->memory->blocks[block].alloc].advice & ACTOR_READ_MOSTLY)
        g->memory->dirty[block].w[page / 64 % PAGE_MASK_WORDS] |= 1ull << (page % 64);
}

/* Ask for every page that a fresh turn loads; what is out of reach becomes pending. */
static void load_pages(struct uvm_gpu *g, struct uvm_slot *s)
{
    uint64_t pending = 0;
    for (uint32_t i = 0; i < s->step.count; i++)
        pending |= (uint64_t)!reach_load(g, &s->step, i) << i;
    for (uint64_t rest = s->step.writes; rest; rest &= rest - 1)
        mark_dirty(g, s->step.page[__builtin_ctzll(rest)]);
    s->pending = pending;
    g->touches += s->step.accesses;
}

/* Ask for a page that is stored to; out of reach it stays under way, once. Whether that is new. */
static bool store_page(struct uvm_gpu *g, struct uvm_slot *s, uint32_t page)
{
    mark_dirty(g, page);
    if (reach_to_write(g, page))
        return false;
    for (uint32_t i = 0; i < s->stored_count; i++)
        if (s->stored[i] == page)
            return false;
    s->stored[s->stored_count++] = page;
    struct uvm_utlb_state *u = &g->utlbs[s->utlb];
    if (u->outstanding < (uint32_t)g->platform->utlb_faults)
        report(g, u, entry(g, page, true), s->part, s->time);
    return true;
}

static uint32_t compute_ns(struct uvm_gpu *g, const struct actor_step *step)
{
    if (step->compute_ns != ACTOR_COMPUTE_AUTO)
        return step->compute_ns;
    /* Who is in the calendar runs, and this one. */
    const double running = g->queued + 1 < g->resident ? (double)(g->queued + 1) / (double)g->resident : 1;
    if (step->waits != g->waited_kib) {
        g->waited_kib = step->waits;
        g->waited_ns = issue_wait_ns(&g->issue, false, step->waits);
    }
    const double wait = step->count ? g->issue.load_ns : g->waited_ns;
    return (uint32_t)(issue_ns(&g->issue, step->instructions, step->sectors, wait, running) + 0.5);
}

/* What the remote pages of so many turns of a step ask of the link, each; 0: it has none. */
static double remote_ns(struct uvm_gpu *g, const struct actor_step *step, uint32_t turns)
{
    const struct uvm_memory *m = g->memory;
    struct uvm_remote *r = &g->remote;
    uint32_t all = step->count + step->stores, pages = 0, requests, bytes;
    for (uint32_t i = 0; i < all; i++)
        pages += m->remote[step->page[i] / ACTOR_BLOCK_PAGES].w[step->page[i] / 64 % PAGE_MASK_WORDS] >>
                     (step->page[i] % 64) &
                 1;
    if (!pages)
        return 0;
    double ns = uvm_remote_turn_ns(r, pages, all, step->sectors, &requests, &bytes);
    r->touches += (uint64_t)pages * turns;
    r->bytes += (uint64_t)pages * turns * bytes;
    return ns > 0 ? ns : 1e-9; /* a link without numbers still has its pages */
}

/* Count the requests of so many turns to remote pages; enough of them to a block make a notification. */
static void count_remote(struct uvm_gpu *g, const struct actor_step *step, uint32_t turns, int64_t time)
{
    uint32_t all = step->count + step->stores, requests, bytes;
    (void)uvm_remote_turn_ns(&g->remote, 1, all, step->sectors, &requests, &bytes);
    const struct uvm_memory *m = g->memory;
    for (uint32_t i = 0; i < all; i++) {
        uint32_t page = step->page[i], block = page / ACTOR_BLOCK_PAGES;
        if (!(m->remote[block].w[page / 64 % PAGE_MASK_WORDS] >> (page % 64) & 1))
            continue;
        uint32_t threshold = m->evict->access_counter_threshold
                                 ? (uint32_t)m->evict->access_counter_threshold(m->evict_state, &m->view, block)
                                 : UVM_REMOTE_THRESHOLD;
        if (uvm_remote_count(&g->remote, block, page % ACTOR_BLOCK_PAGES / UVM_BIG_PAGES, (uint64_t)requests * turns,
                             threshold) &&
            g->interrupt_ns != UVM_GPU_NEVER && time + g->interrupt_ns < g->stop_ns)
            g->stop_ns = time + g->interrupt_ns;
    }
}

/* So many turns of a slot's step, one after the other. */
static void take_turns(struct uvm_gpu *g, struct uvm_slot *s, uint32_t turns)
{
    uint32_t ns = compute_ns(g, &s->step);
    double link = g->memory->any_remote ? remote_ns(g, &s->step, turns) : 0;
    if (link > 0)
        s->time = uvm_remote_turns(&g->remote, s->time, ns, link, turns);
    else
        s->time += (int64_t)turns * ns;
    s->turns -= turns;
    if (link > 0 && g->remote.counters)
        count_remote(g, &s->step, turns, s->time);
}

/* The loads of a turn are there: compute, then store. Whether a store asked for something new. */
static bool end_turn(struct uvm_gpu *g, struct uvm_slot *s, uint32_t number)
{
    bool asked = false;
    take_turns(g, s, 1);
    for (uint32_t i = s->step.count; i < s->step.count + s->step.stores; i++)
        asked |= store_page(g, s, s->step.page[i]);
    if (s->stored_count && !s->listed) {
        struct uvm_utlb_state *u = &g->utlbs[s->utlb];
        u->storing[u->storing_count++] = number;
        s->listed = true;
    }
    return asked;
}

/* The turns that begin before `limit` and ask for nothing that this one did not, at once. */
static void skip_turns(struct uvm_gpu *g, struct uvm_slot *s, int64_t limit)
{
    if (!s->turns || s->time >= limit)
        return;
    uint32_t ns = compute_ns(g, &s->step), turns = s->turns;
    if (g->memory->any_remote) {
        double link = remote_ns(g, &s->step, 0);
        ns = link > 0 ? alone_ns(&g->remote, ns, link) : ns;
    }
    if (ns && (uint64_t)(limit - s->time + ns - 1) / ns < turns)
        turns = (uint32_t)((uint64_t)(limit - s->time + ns - 1) / ns);
    take_turns(g, s, turns);
    g->touches += (uint64_t)turns * s->step.accesses;
}

/* A block's warps give up their places together: the next ones start when the last has ended. */
static void start_group(struct uvm_gpu *g, uint32_t number)
{
    uint32_t first = number / g->together * g->together;
    struct uvm_group *group = &g->groups[number / g->together];
    const int64_t time = g->next_actor < g->current.actors ? start_block(g, group->end_ns) : 0;
    for (uint32_t i = first; i < first + g->together && i < g->slots_used && g->next_actor < g->current.actors; i++) {
        struct uvm_slot *s = &g->slots[i];
        s->actor = g->next_actor++;
        s->at = (struct actor_at){0};
        s->time = time;
        group->left++;
        if (i != number)
            enqueue(g, i);
    }
}

/* The actor ended; when all have, the next launch starts. */
static int end_actor(struct uvm_gpu *g, uint32_t number, struct err *err)
{
    struct uvm_slot *s = &g->slots[number];
    struct uvm_group *group = &g->groups[number / g->together];
    s->actor = NONE;
    if (s->time > g->launch_end_ns)
        g->launch_end_ns = s->time;
    if (s->time > group->end_ns)
        group->end_ns = s->time;
    if (--group->left == 0)
        start_group(g, number);
    if (++g->actors_done < g->current.actors)
        return 0;
    keep_time(g);
    return end_launch(g) ? -1 : next_launch(g, g->launch_end_ns, g->stop_ns == UVM_GPU_NEVER, err);
}

/* The next turn of a slot: 1: there is one; 0: the actor has none, or the slot no actor; -1 with *err set. *ended: the
 * actor has ended, or waits for its stores. */
static int next_turn(struct uvm_gpu *g, struct uvm_slot *s, bool *ended, struct err *err)
{
    *ended = false;
    if (s->turns)
        return 1;
    if (s->actor == NONE)
        return 0;
    int rc = g->ops->step(g->run, g->launch, s->actor, &s->at, &s->step, err);
    *ended = rc == 0;
    s->turns = rc <= 0 ? 0 : s->step.turns ? s->step.turns : 1;
    return rc;
}

/* Whether the slot must wait for stores: there may be no room for those of the next turn. */
static bool stores_full(const struct uvm_slot *s)
{
    return s->stored_count && s->stored_count + s->step.stores > ACTOR_STORES;
}

/* Run one slot until it faults, is blocked, finds no work, or reaches `limit`. */
static int run_slot(struct uvm_gpu *g, uint32_t number, int64_t limit, struct err *err)
{
    struct uvm_slot *s = &g->slots[number];
    struct uvm_utlb_state *u = &g->utlbs[s->utlb];
    while (s->time < limit) {
        bool ended, wait = g->blocked && u->outstanding == (uint32_t)g->platform->utlb_faults;
        int rc = wait ? 1 : next_turn(g, s, &ended, err);
        if (rc < 0)
            return -1;
        if (rc == 0 && !ended)
            return 0; /* no actor is left for this slot, or those beside it go on */
        if (rc == 0 && !s->stored_count) {
            uint32_t launch = g->launch;
            if (end_actor(g, number, err))
                return -1;
            if (g->launch != launch)
                return 0; /* the slots were filled anew */
            continue;
        }
        if (wait || rc == 0 || stores_full(s)) {
            u->waiting[u->waiting_count++] = number;
            return 0;
        }
        load_pages(g, s);
        if (s->pending) {
            report_pending(g, s, s->time);
            u->waiting[u->waiting_count++] = number;
            return 0;
        }
        bool asked = end_turn(g, s, number);
        if (limit > g->stop_ns)
            limit = g->stop_ns;
        if (!asked)
            skip_turns(g, s, limit);
    }
    enqueue(g, number);
    return 0;
}

/* Of the slot whose turn is next its step, of the one behind it the slot. */
static inline void look_ahead(const struct uvm_gpu *g, uint32_t slot)
{
    if (slot == NONE)
        return;
    const struct uvm_slot *s = &g->slots[slot];
    if (s->next != NONE) {
        const char *behind = (const char *)&g->slots[s->next];
        __builtin_prefetch(behind, 1);
        __builtin_prefetch(behind + 64, 1);
    }
    if (g->ops->expect && !s->turns && s->actor != NONE)
        g->ops->expect(g->run, g->launch, s->actor, &s->at);
}

int uvm_gpu_run(struct uvm_gpu *g, int64_t until, struct err *err)
{
    g->stop_ns = until;
    if (fault_buffer_any(&g->ring))
        interrupt(g);
    for (int64_t bucket; (bucket = next_bucket(g)) >= 0;) {
        const uint32_t launch = g->launch; /* the next one has buckets of its own */
        int64_t start = g->phase + (bucket << UVM_GPU_BUCKET_SHIFT), end = start + (1ll << UVM_GPU_BUCKET_SHIFT);
        if (start >= g->stop_ns)
            break;
        if (start > g->now)
            g->now = start;
        uint32_t b = (uint32_t)(bucket % UVM_GPU_BUCKETS), later = NONE, later_tail = NONE;
        while (g->heads[b] != NONE && g->launch == launch) {
            uint32_t slot = g->heads[b];
            g->heads[b] = g->slots[slot].next;
            look_ahead(g, g->heads[b]);
            g->queued--;
            int64_t limit = end < g->stop_ns ? end : g->stop_ns;
            if (g->slots[slot].time >= end) {
                enqueue(g, slot); /* it lay beyond the calendar */
            } else if (g->slots[slot].time >= limit) {
                g->slots[slot].next = NONE;
                if (later == NONE)
                    later = slot;
                else
                    g->slots[later_tail].next = slot;
                later_tail = slot;
            } else if (run_slot(g, slot, limit, err)) {
                return -1;
            }
        }
        if (g->heads[b] == NONE)
            g->busy[b / 64] &= ~(1ull << (b % 64));
        for (uint32_t slot = later; slot != NONE;) {
            uint32_t next = g->slots[slot].next;
            enqueue(g, slot);
            slot = next;
        }
        if (g->stop_ns < end)
            break;
    }
    if (g->stop_ns != UVM_GPU_NEVER && g->stop_ns > g->now)
        g->now = g->stop_ns;
    return 0;
}

/* --- replays --- */

/* The stores of a slot ask again. */
static void retry_stores(struct uvm_gpu *g, struct uvm_slot *s, int64_t time)
{
    struct uvm_utlb_state *u = &g->utlbs[s->utlb];
    uint32_t kept = 0, limit = (uint32_t)g->platform->utlb_faults;
    g->touches += s->stored_count;
    for (uint32_t i = 0; i < s->stored_count; i++) {
        if (reach_to_write(g, s->stored[i]))
            continue;
        s->stored[kept++] = s->stored[i];
        if (u->outstanding < limit)
            report(g, u, entry(g, s->stored[i], true), s->part, time);
    }
    s->stored_count = kept;
}

/* Whether a slot that waits, for no load, waits for its stores. */
static bool needs_stores(const struct uvm_slot *s)
{
    return s->stored_count && (!s->turns || stores_full(s));
}

/* A waiting slot asks again; true if it goes on. */
static bool retry(struct uvm_gpu *g, uint32_t number, int64_t time)
{
    struct uvm_slot *s = &g->slots[number];
    if (s->pending) {
        g->touches += (uint64_t)__builtin_popcountll(s->pending);
        struct uvm_utlb_state *u = &g->utlbs[s->utlb];
        for (uint64_t rest = s->pending; rest; rest &= rest - 1) {
            if (!reach_load(g, &s->step, (unsigned)__builtin_ctzll(rest)))
                continue;
            s->pending &= ~(rest & -rest);
            uint32_t page = s->step.page[__builtin_ctzll(rest)];
            struct uvm_listed *l = find_listed(g, u, page);
            int64_t there =
                l && l->epoch == g->epoch ? answer_ns(g, l) : walk(g, u, page, l, time, g->platform->walk_gap_ns);
            s->time = s->time > there ? s->time : there;
        }
        if (s->pending) {
            report_pending(g, s, time);
            return false;
        }
        s->time = (s->time > time ? s->time : time) + (int64_t)g->platform->walk_ns;
        (void)end_turn(g, s, number);
        return true;
    }
    if (s->time < time)
        s->time = time;
    return !needs_stores(s);
}

static void replay_stores(struct uvm_gpu *g, struct uvm_utlb_state *u, int64_t time)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < u->storing_count; i++) {
        struct uvm_slot *s = &g->slots[u->storing[i]];
        retry_stores(g, s, time);
        s->listed = s->stored_count > 0;
        if (s->listed)
            u->storing[kept++] = u->storing[i];
    }
    u->storing_count = kept;
}

/* What a replay lets go on, block after block over the multiprocessors: so do new blocks come to those that end. */
static void enqueue_resumed(struct uvm_gpu *g)
{
    for (uint32_t word = 0; word < (g->slots_cap + 63) / 64; word++) {
        for (uint64_t rest = g->resumed[word]; rest; rest &= rest - 1)
            enqueue(g, word * 64 + (uint32_t)__builtin_ctzll(rest));
        g->resumed[word] = 0;
    }
}

/* The cache gets ready what a slot is asked for so many slots later. */
enum { AHEAD = 6 };

static inline void look_at_pending(const struct uvm_slot *s)
{
    __builtin_prefetch(s);
    __builtin_prefetch(&s->step);
    __builtin_prefetch(s->step.page);
}

void uvm_gpu_replay(struct uvm_gpu *g, int64_t time)
{
    fault_buffer_replay(&g->ring, time);
    g->epoch++;
    g->events++;
    g->replay_ns = time;
    uint32_t limit = (uint32_t)g->platform->utlb_faults;
    for (uint32_t n = 0; n < (uint32_t)g->platform->utlbs; n++) {
        struct uvm_utlb_state *u = &g->utlbs[n];
        u->outstanding = u->listed = 0;
        u->next_report_ns = (double)time;
        replay_stores(g, u, time);
        uint32_t kept = 0, i = 0;
        for (; i < u->waiting_count; i++) {
            if (g->blocked && u->outstanding == limit)
                break;
            uint32_t slot = u->waiting[i];
            if (i + AHEAD < u->waiting_count)
                look_at_pending(&g->slots[u->waiting[i + AHEAD]]);
            if (retry(g, slot, time))
                g->resumed[slot / 64] |= 1ull << (slot % 64);
            else
                u->waiting[kept++] = slot;
        }
        if (kept != i)
            memmove(u->waiting + kept, u->waiting + i, (u->waiting_count - i) * sizeof *u->waiting);
        u->waiting_count -= i - kept;
    }
    enqueue_resumed(g);
}
