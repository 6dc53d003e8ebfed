#include "replay/verify/verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/uvm/block.h"
#include "models/uvm/uvm_policy.h"
#include "replay/results/results.h"
#include "replay/uvm/actor_input.h"
#include "replay/uvm/uvm_fault_log.h"
#include "replay/verify/verify_block.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/base/sorted.h"
#include "trace/base/units.h"
#include "trace/base/version.h"
#include "trace/derived/batches.h"
#include "trace/derived/limits.h"
#include "trace/derived/summary.h"

/* Plays that the search for unrecorded allocation edges may take in all. */
enum { EDGE_BUDGET = 50000, NAMED_EDGES = 8 };

const struct metric verify_metrics[] = {
    {"services", METRIC_INT, METRIC_SUM, "services rebuilt from host-to-device records"},
    {"services_exact", METRIC_INT, METRIC_SUM,
     "services whose prefetched pages are exactly those of the driver's tree"},
    {"prefetch_precision_ratio", METRIC_REAL, METRIC_MEAN, "predicted pages that were prefetched / predicted pages"},
    {"prefetch_recall_ratio", METRIC_REAL, METRIC_MEAN, "prefetched pages that were predicted / prefetched pages"},
    {"batches", METRIC_INT, METRIC_SUM, "fault batches: GPU fault records where there are any, else rebuilt"},
    {"batches_rebuilt", METRIC_INT, METRIC_SUM, "fault batches by time and address alone"},
    {"batches_confirmed", METRIC_INT, METRIC_SUM, "rebuilt batches that hold exactly one fault record's services"},
    {"recorded_bytes", METRIC_INT, METRIC_SUM, "bytes recorded from host to device"},
    {"expected_bytes", METRIC_INT, METRIC_SUM,
     "recorded_bytes and, where records are missing, what the CPU had populated of the memory in use and no record "
     "moves"},
    {"d2h_bytes", METRIC_INT, METRIC_SUM, "bytes recorded from device to host"},
    {"d2h_services", METRIC_INT, METRIC_SUM, "services rebuilt from device-to-host records"},
    {"d2h_services_exact", METRIC_INT, METRIC_SUM, "of these, those that are exactly what the tree gives for the CPU"},
    {"cpu_faults", METRIC_INT, METRIC_SUM, "CPU faults recorded"},
    {"cpu_populated_bytes", METRIC_INT, METRIC_SUM, "memory populated on the CPU, from CPU faults by the tree"},
    {0}};

/* --- what is read of a trace: the events of every 2 MiB stretch, batches, kernels, losses --- */

struct verify_interval {
    int64_t start_ns, end_ns;
    uint64_t bytes; /* moved */
};

/* What the program says of a range of memory: an allocation, advice, a prefetch of its own. */
struct verify_range {
    int64_t time_ns;
    uint64_t addr, bytes;
    enum verify_event_type type;
};

struct verify_input {
    struct batches batches; /* with the host-to-device services */
    struct services d2h;
    struct verify_event *events; /* in order of (block, time, order) */
    size_t event_count, event_cap;
    struct verify_range *ranges;
    size_t range_count, range_cap;
    struct verify_interval *kernels, *activity;
    size_t kernel_count, kernel_cap, activity_count, activity_cap;
    uint64_t records; /* of unified memory */
    uint64_t h2d_bytes, d2h_bytes;
    uint64_t too_large; /* migrations over 64 MiB, which are not followed */
    uint64_t dropped;   /* records the source says it lost */
    int threshold;      /* of the tree; 101: prefetching was off */
};

enum { MAX_RECORD_BYTES = 64 << 20, PREFETCH_OFF = 101 };

static void input_release(struct verify_input *in)
{
    batches_release(&in->batches);
    services_release(&in->d2h);
    free(in->events);
    free(in->ranges);
    free(in->kernels);
    free(in->activity);
    memset(in, 0, sizeof *in);
}

static uint64_t block_of(uint64_t addr)
{
    return addr & ~(uint64_t)(UVM_BLOCK_BYTES - 1);
}

static int push(struct verify_input *in, struct verify_event event, struct err *err)
{
    event.order = in->event_count;
    return MEM_ADD(in->events, in->event_count, in->event_cap, err, event);
}

/* One event per stretch that [addr, addr + bytes) touches, from `from` on. */
static int push_range(struct verify_input *in, enum verify_event_type type, int64_t time, uint64_t addr, uint64_t bytes,
                      uint64_t from, struct err *err)
{
    uint64_t last = addr + bytes - 1;
    for (uint64_t block = block_of(from);; block += UVM_BLOCK_BYTES) {
        uint64_t lo = addr > block ? addr : block;
        uint64_t hi = last - block < UVM_BLOCK_BYTES ? last : block + UVM_BLOCK_BYTES - 1;
        unsigned first = (unsigned)((lo - block) / UVM_PAGE_BYTES), end = (unsigned)((hi - block) / UVM_PAGE_BYTES) + 1;
        struct verify_event event = {.time_ns = time,
                                     .block = block,
                                     .first = (uint16_t)first,
                                     .pages = (uint16_t)(end - first),
                                     .type = (uint16_t)type};
        if (push(in, event, err))
            return -1;
        if (last - block < UVM_BLOCK_BYTES)
            return 0;
    }
}

static int push_activity(struct verify_input *in, int64_t start, int64_t end, uint64_t bytes, struct err *err)
{
    return MEM_ADD(in->activity, in->activity_count, in->activity_cap, err,
                   (struct verify_interval){start, end, bytes});
}

static int take_migration(struct verify_input *in, const struct record *r, struct err *err)
{
    bool h2d = r->kind == RECORD_MIGRATE_H2D;
    in->records++;
    uint64_t *sum = h2d ? &in->h2d_bytes : &in->d2h_bytes;
    *sum = summary_bytes(*sum, r->bytes);
    if (r->bytes == 0 || r->bytes > UINT64_MAX - r->addr)
        return 0;
    if (r->bytes > MAX_RECORD_BYTES) {
        in->too_large++;
        return 0;
    }
    enum verify_event_type other = h2d ? VERIFY_H2D_OTHER : VERIFY_D2H_OTHER;
    if (r->flags != RECORD_CAUSE_FAULT && r->flags != RECORD_CAUSE_PREFETCH) /* makes no service */
        return push_range(in, other, r->time, r->addr, r->bytes, r->addr, err);
    /* Services lie in one stretch; what reaches over it is followed as a plain move. */
    uint64_t next = block_of(r->addr) + UVM_BLOCK_BYTES;
    if (r->addr + (r->bytes - 1) >= next && next != 0)
        return push_range(in, other, r->time, next, r->addr + r->bytes - next, next, err);
    return 0;
}

static int take_range(struct verify_input *in, const struct record *r, enum verify_event_type type, struct err *err)
{
    if (r->bytes == 0 || r->bytes > UINT64_MAX - r->addr)
        return 0;
    return MEM_ADD(in->ranges, in->range_count, in->range_cap, err,
                   (struct verify_range){r->time, r->addr, r->bytes, type});
}

static int take(struct verify_input *in, const struct record *r, struct err *err)
{
    const int64_t end = r->time + r->duration;
    switch (r->kind) {
    case RECORD_MIGRATE_H2D:
    case RECORD_MIGRATE_D2H:
        return take_migration(in, r, err);
    case RECORD_CPU_FAULT:
        in->records++;
        return push_range(in, r->flags == RECORD_READ ? VERIFY_CPU_READ : VERIFY_CPU_WRITE, r->time, r->addr, 1,
                          r->addr, err);
    case RECORD_FAULT:
        in->records++;
        return push_range(in, VERIFY_FAULT_RECORD, end, r->addr, 1, r->addr, err);
    case RECORD_THRASH:
    case RECORD_THROTTLE:
    case RECORD_REMOTE_MAP:
        in->records++;
        return push_range(in, VERIFY_HELD_BACK, r->time, r->addr, 1, r->addr, err);
    case RECORD_KERNEL:
        return MEM_ADD(in->kernels, in->kernel_count, in->kernel_cap, err, (struct verify_interval){r->time, end, 0});
    case RECORD_ALLOC:
        return r->flags == RECORD_ALLOC_MANAGED ? take_range(in, r, VERIFY_ALLOC, err) : 0;
    case RECORD_ADVISE:
        return take_range(in, r, r->flags == RECORD_ADVISE_READ_MOSTLY ? VERIFY_DUPLICATED : VERIFY_HELD_BACK, err);
    case RECORD_PREFETCH:
        return take_range(in, r, (int64_t)r->id < 0 ? VERIFY_SENT_CPU : VERIFY_SENT_GPU, err);
    default:
        return 0;
    }
}

static int read_records(struct verify_input *in, struct store *store, struct recording of, struct err *err)
{
    struct recording_walk w = {0};
    while (recording_walk_next(&w, store, of, err))
        w.at.failed = batches_add(&in->batches, w.at.r, 1, err) || services_add(&in->d2h, w.at.r, 1, err) ||
                      take(in, w.at.r, err);
    return store_walk_end(&w.at);
}

static int push_services(struct verify_input *in, const struct services *services, enum verify_event_type type,
                         struct err *err)
{
    for (size_t i = 0; i < services->count; i++) {
        const struct service *s = &services->items[i];
        struct verify_event event = {
            .time_ns = s->start_ns, .block = s->block_addr, .service = (uint32_t)i, .type = (uint16_t)type};
        if (push(in, event, err))
            return -1;
        if (type == VERIFY_H2D && push_activity(in, s->start_ns, s->end_ns, s->fault_bytes + s->prefetch_bytes, err))
            return -1;
    }
    return 0;
}

static int by_place_and_time(const void *a, const void *b)
{
    const struct verify_event *x = a, *y = b;
    return ORDER_OF(x->block, y->block) ?: ORDER_OF(x->time_ns, y->time_ns) ?: ORDER_OF(x->order, y->order);
}

/* Ranges matter to those stretches that anything else happens in. */
static int push_ranges(struct verify_input *in, struct err *err)
{
    if (in->range_count == 0 || in->event_count == 0)
        return 0;
    sort_items(in->events, in->event_count, sizeof *in->events, by_place_and_time);
    size_t known = in->event_count, limit = 4 * known + (1 << 20);
    for (size_t a = 0; a < in->range_count; a++) {
        const struct verify_range *range = &in->ranges[a];
        uint64_t last = range->addr + range->bytes - 1;
        size_t lo = 0;
        SORTED_FIRST(lo, known, i, in->events[i].block < block_of(range->addr));
        for (uint64_t done = UINT64_MAX; lo < known && in->events[lo].block <= last && in->event_count < limit; lo++) {
            uint64_t block = in->events[lo].block;
            if (block == done)
                continue;
            done = block;
            uint64_t from = range->addr > block ? range->addr : block;
            uint64_t to = last - block < UVM_BLOCK_BYTES ? last : block + UVM_BLOCK_BYTES - 1;
            if (push_range(in, range->type, range->time_ns, from, to - from + 1, from, err))
                return -1;
        }
    }
    return 0;
}

/* parameters(name, value) */
static int take_parameter(void *ctx, const struct store_value *v, size_t n)
{
    struct verify_input *in = ctx;
    int64_t value;
    if (n < 2 || !v[0].s || !v[1].s || units_parse_int(v[1].s, &value, NULL))
        return 0;
    const char *module = "nvidia_uvm.", *name = v[0].s;
    name += strncmp(name, module, strlen(module)) == 0 ? strlen(module) : 0;
    if (strcmp(name, "uvm_perf_prefetch_enable") == 0 && value == 0)
        in->threshold = PREFETCH_OFF;
    if (strcmp(name, "uvm_perf_prefetch_threshold") == 0 && value >= 0 && value <= 100 && in->threshold != PREFETCH_OFF)
        in->threshold = (int)value;
    return 0;
}

static int take_dropped(void *ctx, const struct store_value *v, size_t n)
{
    struct verify_input *in = ctx;
    if (n >= 2 && v[1].type == STORE_INT)
        in->dropped += (uint64_t)v[1].i;
    return 0;
}

static int collect(struct verify_input *in, struct store *store, struct recording wanted, struct err *err)
{
    struct recording of;
    if (recording_choose(&of, wanted, store, err) || read_records(in, store, of, err))
        return -1;
    if (store_rows(store, "parameters", take_parameter, in, err) || store_rows(store, "dropped", take_dropped, in, err))
        return -1;
    if (batches_rebuild(&in->batches, err) || services_rebuild(&in->d2h, err) ||
        push_services(in, &in->batches.services, VERIFY_H2D, err) || push_services(in, &in->d2h, VERIFY_D2H, err))
        return -1;
    for (size_t i = 0; i < in->batches.record_count; i++)
        if (push_activity(in, in->batches.records[i].start_ns, in->batches.records[i].end_ns, 0, err))
            return -1;
    if (push_ranges(in, err))
        return -1;
    sort_items(in->events, in->event_count, sizeof *in->events, by_place_and_time);
    return 0;
}

static int read_input(struct verify_input *in, struct store *store, struct recording wanted, struct err *err)
{
    memset(in, 0, sizeof *in);
    in->threshold = UVM_TREE_THRESHOLD;
    batches_init(&in->batches);
    services_init(&in->d2h, RECORD_MIGRATE_D2H);
    if (collect(in, store, wanted, err) == 0)
        return 0;
    input_release(in);
    return -1;
}

/* --- silences: stretches in which kernels ran and nothing was recorded, although records came steadily --- */

/* Kernels that overlap are one stretch of work. In it, the gaps between the records (services, fault batches) are
 * sorted; a gap is a silence if it is over 10 times their 95th percentile, over 1 ms and over 2 % of the stretch. With
 * fewer than 8 records nothing is said. The three numbers are ours. Measured: H200, driver 580.159.04, 2026-11
 * (fixtures/ traces): in two complete recordings the longest gap is 2.5 and 3.0 times the percentile, in one that lost
 * its tail the silence is 209 times as long. */

struct verify_silence {
    size_t count;           /* silences found */
    int64_t longest_ns;     /* the longest, */
    int64_t from_ns, to_ns; /* where it is, */
    int64_t usual_ns;       /* the 95th percentile of the gaps of its stretch, */
    int64_t stretch_ns;     /* and how long that stretch of work is */
    double lost_bytes;      /* what the silences would have moved at the pace of the rest of their stretches */
    bool tail;              /* it reaches to the end of the work */
};

enum { MIN_RECORDS = 8, TIMES_USUAL = 10, MIN_NS = 1000000, SHARE = 50 /* a fiftieth of the work */ };

/* One stretch of work [from, to) and the activity that starts in it; gaps has room for n + 1. */
static void judge(struct verify_silence *s, int64_t from, int64_t to, const struct verify_interval *activity, size_t n,
                  int64_t *gaps)
{
    if (n < MIN_RECORDS)
        return;
    int64_t end = activity[0].end_ns;
    size_t count = 0;
    for (size_t i = 1; i < n; i++) {
        gaps[count++] = activity[i].start_ns > end ? activity[i].start_ns - end : 0;
        end = activity[i].end_ns > end ? activity[i].end_ns : end;
    }
    sort_items(gaps, count, sizeof *gaps, sorted_by_i64);
    int64_t usual = gaps[count - 1 - count / 20];
    int64_t limit = usual > INT64_MAX / TIMES_USUAL ? INT64_MAX : usual * TIMES_USUAL;
    limit = limit > MIN_NS ? limit : MIN_NS;
    limit = limit > (to - from) / SHARE ? limit : (to - from) / SHARE;
    double silent = 0, bytes = (double)activity[0].bytes;
    end = activity[0].end_ns;
    for (size_t i = 1; i <= n; i++) {
        int64_t next = i < n ? activity[i].start_ns : to;
        if (next > end && next - end > limit) {
            s->count++;
            silent += (double)(next - end);
            if (next - end > s->longest_ns)
                *s = (struct verify_silence){s->count, next - end, end, next, usual, to - from, s->lost_bytes, i == n};
        }
        if (i < n) {
            end = activity[i].end_ns > end ? activity[i].end_ns : end;
            bytes += (double)activity[i].bytes;
        }
    }
    if (silent > 0 && silent < (double)(to - from))
        s->lost_bytes += silent * bytes / ((double)(to - from) - silent);
}

/* kernels and activity are sorted by start in place. */
static int find_silences(struct verify_silence *silence, struct verify_interval *kernels, size_t kernel_count,
                         struct verify_interval *activity, size_t activity_count, struct err *err)
{
    memset(silence, 0, sizeof *silence);
    int64_t *gaps = mem_zalloc(activity_count + 1, sizeof *gaps, err);
    if (!gaps)
        return -1;
    sort_items(kernels, kernel_count, sizeof *kernels, sorted_by_i64);
    sort_items(activity, activity_count, sizeof *activity, sorted_by_i64);
    size_t a = 0;
    for (size_t k = 0; k < kernel_count;) {
        int64_t from = kernels[k].start_ns, to = kernels[k].end_ns;
        for (k++; k < kernel_count && kernels[k].start_ns <= to; k++)
            to = kernels[k].end_ns > to ? kernels[k].end_ns : to;
        while (a < activity_count && activity[a].start_ns < from)
            a++;
        size_t first = a;
        while (a < activity_count && activity[a].start_ns < to)
            a++;
        if (a > first)
            judge(silence, from, to, activity + first, a - first, gaps);
    }
    free(gaps);
    return 0;
}

/* --- the check --- */

/* Stretches in use: runs of adjacent ones that the CPU populated, of which something moved. */
struct stretches {
    uint64_t next; /* address behind the last stretch; 0: none yet */
    uint64_t unmoved_pages, moved_pages;
};

struct checking {
    struct verify *verify;
    struct outcome *out; /* its outcome */
    struct verify_input in;
    struct verify_counts sum;
    struct stretches range;
    uint64_t unmoved_pages; /* of ranges in use */
    uint64_t edges_found;
    struct {
        uint64_t block;
        struct verify_edges edges;
    } found[NAMED_EDGES]; /* the first of them */
    bool renewed;         /* memory was freed and allocated again */
};

/* --- one stretch after the other --- */

/* Allocation edges in a stretch that the recording names. */
static void recorded_edges(const struct verify_block *block, struct verify_edges *edges)
{
    edges->count = 0;
    for (size_t i = 0; i < block->count; i++) {
        const struct verify_event *e = &block->events[i];
        if (e->type != VERIFY_ALLOC)
            continue;
        verify_edge_add(edges->page, &edges->count, VERIFY_EDGES, e->first);
        verify_edge_add(edges->page, &edges->count, VERIFY_EDGES, (uint64_t)e->first + e->pages);
    }
}

static void close_stretches(struct checking *c)
{
    if (c->range.moved_pages > 0)
        c->unmoved_pages += c->range.unmoved_pages;
    c->range = (struct stretches){0};
}

static void keep_edges(struct checking *c, uint64_t block, const struct verify_edges *edges)
{
    if (c->edges_found < NAMED_EDGES) {
        c->found[c->edges_found].block = block;
        c->found[c->edges_found].edges = *edges;
    }
    c->edges_found++;
}

static void play_block(struct checking *c, const struct verify_block *block, bool infer, long *budget)
{
    struct verify_counts counts, plain;
    struct verify_edges edges;
    static const struct verify_edges none;
    uint64_t addr = block->events[0].block;
    recorded_edges(block, &edges);
    verify_block_play(block, &edges, &counts);
    if (counts.exact != counts.services && edges.count > 0) {
        /* A runtime may carve small allocations out of one driver range. */
        verify_block_play(block, &none, &plain);
        if (plain.exact > counts.exact)
            counts = plain;
    }
    if (infer && verify_block_infer(block, &edges, &counts, budget))
        keep_edges(c, addr, &edges);
    verify_counts_add(&c->sum, &counts);
    if (addr != c->range.next || counts.cpu_pages == 0)
        close_stretches(c);
    if (counts.cpu_pages > 0) {
        c->range.next = addr + UVM_BLOCK_BYTES;
        c->range.unmoved_pages += counts.unmoved_pages;
        c->range.moved_pages += counts.moved_pages;
    }
}

static void play_all(struct checking *c, bool infer)
{
    long budget = EDGE_BUDGET;
    memset(&c->sum, 0, sizeof c->sum);
    c->range = (struct stretches){0};
    c->unmoved_pages = c->edges_found = 0;
    for (size_t from = 0, to; from < c->in.event_count; from = to) {
        for (to = from + 1; to < c->in.event_count && c->in.events[to].block == c->in.events[from].block;)
            to++;
        struct verify_block block = {.events = c->in.events + from,
                                     .count = to - from,
                                     .h2d = &c->in.batches.services,
                                     .d2h = &c->in.d2h,
                                     .threshold = c->in.threshold,
                                     .renewed = c->renewed};
        play_block(c, &block, infer, &budget);
    }
    close_stretches(c);
}

/* Whether silences can be a loss: what never moved is at least a third of what they would have moved at the usual
 * pace. A kernel that computes in silence has little left to move. */
static bool lost_in_silence(const struct checking *c, const struct verify_silence *s)
{
    double unmoved = (double)c->unmoved_pages * UVM_PAGE_BYTES;
    return s->count > 0 && c->unmoved_pages >= UVM_BIG_PAGES && 3 * unmoved >= s->lost_bytes;
}

/* --- findings --- */

/* "at 1795196458154 ns, address 0x7f7618000000" relative to the first kernel where there is one. */
static const char *place(const struct checking *c, enum verify_violation kind, char buf[96])
{
    const struct verify_place *p = &c->sum.place[kind];
    const double ms = c->in.kernel_count ? 1e-6 * ((double)p->time_ns - (double)c->in.kernels[0].start_ns) : 0;
    if (c->in.kernel_count > 0)
        (void)snprintf(buf, 96, "first %.3f ms %s the first kernel's start, at address 0x%" PRIx64, fabs(ms),
                       ms < 0 ? "before" : "after", p->addr);
    else
        (void)snprintf(buf, 96, "first at %" PRId64 " ns, address 0x%" PRIx64, p->time_ns, p->addr);
    return buf;
}

/* A contradiction: it makes the recording incomplete. */
static bool contradicted(struct checking *c, enum verify_violation kind, const char *what)
{
    char where[96];
    if (c->sum.violations[kind] == 0)
        return false;
    outcome_note(c->out, "%" PRIu64 " %s: %s.", c->sum.violations[kind], what, place(c, kind, where));
    return true;
}

static bool check_services(struct checking *c)
{
    char where[96];
    uint64_t n = c->sum.violations[VERIFY_MISMATCH], open = c->sum.violations[VERIFY_MISMATCH_OPEN];
    const struct verify_place *p = &c->sum.place[VERIFY_MISMATCH];
    const struct services *services = &c->in.batches.services;
    if (n > 0)
        outcome_note(c->out,
                     "%" PRIu64 " of %" PRIu64 " services did not prefetch what the tree gives, which means records "
                     "are missing; %s: %u pages predicted and not recorded, %u recorded and not predicted.",
                     n, c->sum.services, place(c, VERIFY_MISMATCH, where), p->surplus, p->missing);
    p = &c->sum.place[VERIFY_MISMATCH_OPEN];
    if (open == 1 && p->missing == 0 && p->time_ns == services->items[services->count - 1].start_ns)
        outcome_note(c->out,
                     "The last service recorded is cut off, or an allocation's edge cuts it (%s): %u pages that the "
                     "tree adds are not recorded.",
                     place(c, VERIFY_MISMATCH_OPEN, where), p->surplus);
    else if (open > 0)
        outcome_note(c->out,
                     "%" PRIu64 " of %" PRIu64 " services did not prefetch what the tree gives, in VA blocks whose "
                     "pages the recording does not all explain (populated on the GPU, before it began, or lost); %s: "
                     "%u pages predicted and not recorded, %u recorded and not predicted.",
                     open, c->sum.services, place(c, VERIFY_MISMATCH_OPEN, where), p->surplus, p->missing);
    return n > 0;
}

static bool check_closure(struct checking *c)
{
    bool bad = check_services(c);
    bad |= contradicted(c, VERIFY_TWICE, "pages moved to the GPU while they were there, so moves back are missing");
    bad |= contradicted(c, VERIFY_CPU_READ_LOST, "CPU reads faulted on pages on the GPU without a recorded move back");
    bad |=
        contradicted(c, VERIFY_CPU_WRITE_LOST, "CPU writes faulted on pages on the GPU without a recorded move back");
    bad |= contradicted(c, VERIFY_RETURNED, "pages came back from the GPU that no record moves there");
    bad |= contradicted(c, VERIFY_NAMED,
                        "pages that fault batches name stayed on the CPU by the records, so moves are missing");
    return bad;
}

static bool check_silence(struct checking *c, const struct verify_silence *s)
{
    if (!lost_in_silence(c, s))
        return false;
    char unmoved[32];
    units_human_bytes((double)c->unmoved_pages * UVM_PAGE_BYTES, unmoved, sizeof unmoved);
    outcome_note(c->out,
                 "Nothing is recorded for %.1f ms from %.3f ms after the first kernel's start%s, although records "
                 "were at most %.3f ms apart otherwise, and %s that the CPU had populated in the same memory never "
                 "moved.",
                 1e-6 * (double)s->longest_ns, 1e-6 * (double)(s->from_ns - c->in.kernels[0].start_ns),
                 s->tail ? ", until the kernel ended" : "", 1e-6 * (double)s->usual_ns, unmoved);
    return true;
}

static void note_edges(struct checking *c)
{
    for (uint64_t k = 0; k < c->edges_found && k < NAMED_EDGES; k++) {
        const struct verify_edges *edges = &c->found[k].edges;
        char where[VERIFY_EDGES * 24] = "";
        for (unsigned i = 0; i < edges->count; i++)
            (void)mem_add_text(where, sizeof where, "%s0x%" PRIx64, i ? " and " : "",
                               c->found[k].block + (uint64_t)edges->page[i] * UVM_PAGE_BYTES);
        outcome_note(c->out,
                     "An allocation's edge at %s is inferred: with it every record of the 2 MiB at 0x%" PRIx64
                     " is what the rules give, without it not.",
                     where, c->found[k].block);
    }
    if (c->edges_found > NAMED_EDGES)
        outcome_note(c->out, "Allocation edges are inferred in %" PRIu64 " VA blocks more.",
                     c->edges_found - NAMED_EDGES);
}

static void note_rest(struct checking *c, bool complete)
{
    char bytes[32];
    units_human_bytes((double)c->unmoved_pages * UVM_PAGE_BYTES, bytes, sizeof bytes);
    if (complete && c->unmoved_pages > 0)
        outcome_note(c->out,
                     "%s that the CPU had populated in the memory in use never moved: not touched by a kernel, as far "
                     "as the records show.",
                     bytes);
    if (c->renewed)
        outcome_note(c->out, "CPU writes fault anew on memory that had moved to the GPU and no record "
                             "moves back: taken as freed and allocated again.");
    if (c->sum.violations[VERIFY_UNPOPULATED] > 0) {
        char where[96];
        outcome_note(c->out,
                     "%" PRIu64 " pages moved to the GPU that no recorded CPU fault had populated (%s): populated "
                     "before the recording began, or CPU fault records are missing.",
                     c->sum.violations[VERIFY_UNPOPULATED], place(c, VERIFY_UNPOPULATED, where));
    }
    note_edges(c);
    if (c->in.too_large > 0)
        outcome_note(c->out, "%" PRIu64 " migrations of more than 64 MiB are not followed.", c->in.too_large);
    size_t outside = 0, first = 0, count = c->in.batches.count;
    for (size_t i = 0; i < count; i++)
        if (c->in.batches.items[i].rule == BATCH_NO_RECORD && outside++ == 0)
            first = i;
    if (outside > 0)
        outcome_note(c->out,
                     "%zu of %zu batches have no GPU fault record, though others do: fault records are missing%s.",
                     outside, count,
                     outside == count - first
                         ? " from there to the end (the driver's event queue has them, where it can be read)"
                         : "");
    if (c->in.batches.record_count == 0 && c->sum.services > 0)
        outcome_note(c->out, "There is no GPU fault record: batches are rebuilt from time and address alone.");
}

/* --- the whole --- */

/* What records say that cannot be is n/a. */
static void put_bytes(struct outcome *o, const char *name, uint64_t bytes)
{
    if (bytes <= INT64_MAX)
        outcome_int(o, name, (int64_t)bytes);
}

static void fill(struct checking *c)
{
    struct outcome *o = c->out;
    const struct verify_counts *s = &c->sum;
    uint64_t expected = c->in.h2d_bytes;
    if (!c->verify->complete && expected <= INT64_MAX)
        expected += c->unmoved_pages * UVM_PAGE_BYTES;
    outcome_int(o, "services", (int64_t)s->services);
    outcome_int(o, "services_exact", (int64_t)s->exact);
    if (s->predicted_pages > 0)
        outcome_real(o, "prefetch_precision_ratio", (double)s->agreed_pages / (double)s->predicted_pages);
    if (s->prefetched_pages > 0)
        outcome_real(o, "prefetch_recall_ratio", (double)s->agreed_pages / (double)s->prefetched_pages);
    outcome_int(o, "batches", (int64_t)c->in.batches.count);
    outcome_int(o, "batches_rebuilt", (int64_t)c->in.batches.rebuilt);
    if (c->in.batches.record_count > 0)
        outcome_int(o, "batches_confirmed", (int64_t)c->in.batches.confirmed);
    put_bytes(o, "recorded_bytes", c->in.h2d_bytes);
    if (c->verify->complete || s->cpu_faults > 0)
        put_bytes(o, "expected_bytes", expected);
    put_bytes(o, "d2h_bytes", c->in.d2h_bytes);
    outcome_int(o, "d2h_services", (int64_t)s->d2h_services);
    outcome_int(o, "d2h_services_exact", (int64_t)s->d2h_exact);
    outcome_int(o, "cpu_faults", (int64_t)s->cpu_faults);
    if (s->cpu_faults > 0)
        outcome_int(o, "cpu_populated_bytes", (int64_t)s->cpu_pages * UVM_PAGE_BYTES);
}

static void note_size(struct checking *c)
{
    char recorded[32], expected[32];
    if (c->in.h2d_bytes > INT64_MAX)
        return;
    units_human_bytes((double)c->in.h2d_bytes, recorded, sizeof recorded);
    units_human_bytes((double)c->in.h2d_bytes + (double)c->unmoved_pages * UVM_PAGE_BYTES, expected, sizeof expected);
    if (c->sum.cpu_faults > 0)
        outcome_note(c->out,
                     "%s of %s are recorded as moved to the GPU: the CPU had populated the rest of that memory, and no "
                     "record moves it.",
                     recorded, expected);
    else
        outcome_note(c->out, "%s are recorded as moved to the GPU; how much should be is not known without CPU faults.",
                     recorded);
}

static int check(struct checking *c, struct store *store, struct err *err)
{
    struct verify *v = c->verify;
    /* Without inferred edges first: do CPU writes on GPU pages ever get an answer, and is anything else wrong? */
    play_all(c, false);
    if (c->sum.violations[VERIFY_CPU_WRITE_LOST] > 0 && c->sum.cpu_writes_answered == 0 &&
        c->sum.violations[VERIFY_CPU_READ_LOST] == 0) {
        c->renewed = true;
        play_all(c, false);
    }
    struct verify_silence silence;
    if (find_silences(&silence, c->in.kernels, c->in.kernel_count, c->in.activity, c->in.activity_count, err))
        return -1;
    play_all(c, true);
    bool lost = c->in.dropped > 0 || !store_complete(store) || lost_in_silence(c, &silence) ||
                c->sum.violations[VERIFY_TWICE] > 0 || c->sum.violations[VERIFY_CPU_READ_LOST] > 0 ||
                c->sum.violations[VERIFY_CPU_WRITE_LOST] > 0;
    /* Where records are lost for certain, services cut off by the loss must not be explained by edges. */
    if (lost)
        play_all(c, false);
    bool bad = check_closure(c);
    bad |= check_silence(c, &silence);
    v->complete = !bad && c->in.dropped == 0 && store_complete(store);
    if (!v->complete)
        note_size(c);
    note_rest(c, v->complete);
    return 0;
}

/* --- a driver's log --- */

/* Verify of a driver's log of faults (replay/uvm/uvm_fault_log.h), the outcome already initialised: its batches are as
 * logged; it has no migrations to follow, but shows whether the prefetcher was at work. */
static int check_log(struct verify *v, struct store *store, struct err *err)
{
    struct actor_trace *trace = actor_trace_open(store, err);
    if (!trace)
        return -1;
    size_t n;
    const struct actor_alloc *allocs = actor_trace_ops.allocs(trace, &n);
    struct uvm_fault_log log;
    int64_t batches = 0, dropped = 0;
    int rc = uvm_fault_log_read(&log, store, allocs, n, err) || store_row_count(store, "batches", &batches, err) ||
                     store_row_count(store, "dropped", &dropped, err)
                 ? -1
                 : 0;
    actor_trace_close(trace);
    if (rc)
        return -1;
    outcome_int(&v->outcome, "batches", batches);
    outcome_note(&v->outcome,
                 "A driver's log of faults: batches are as logged, and there are no migrations to follow.");
    uvm_fault_log_note(&log, &v->outcome);
    v->complete = store_complete(store) && !dropped;
    return 0;
}

/* What the trace itself says. */
static int note_limits(struct verify *v, struct store *store, struct recording wanted, struct err *err)
{
    const char *name = store_path(store);
    json_t *limits = json_array();
    int rc = limits_tell(store, name, limits_collect, &limits, err) ||
                     limits_tell_chosen(store, name, wanted, limits_collect, &limits, err) ||
                     json_tree_check(limits, err)
                 ? -1
                 : 0;
    outcome_note_all(&v->outcome, limits);
    json_decref(limits);
    return rc;
}

int verify_run(struct verify *verify, struct store *store, struct recording wanted, struct err *err)
{
    memset(verify, 0, sizeof *verify);
    if (outcome_init(&verify->outcome, verify_metrics, err))
        return -1;
    if (note_limits(verify, store, wanted, err)) {
        verify_release(verify);
        return -1;
    }
    if (uvm_input_stored(store) == UVM_INPUT_FAULT_LOG) {
        int bad = check_log(verify, store, err);
        if (bad)
            verify_release(verify);
        return bad;
    }
    struct checking c = {.verify = verify, .out = &verify->outcome};
    int rc = read_input(&c.in, store, wanted, err);
    if (rc == 0) {
        verify->nothing = c.in.records == 0;
        rc = check(&c, store, err);
        if (rc == 0)
            fill(&c);
        input_release(&c.in);
    }
    if (rc)
        verify_release(verify);
    return rc;
}

void verify_release(struct verify *verify)
{
    outcome_release(&verify->outcome);
}

/* --- a results file --- */

const struct metric verify_results_metrics[] = {
    {"runs", METRIC_INT, METRIC_SUM, "runs"},
    {"other_release_runs", METRIC_INT, METRIC_SUM, "runs that another release of offchip made"},
    {"metrics", METRIC_INT, METRIC_SUM, "rows in table metrics"},
    {"parts", METRIC_INT, METRIC_SUM, "rows in table parts"},
    {"platforms", METRIC_INT, METRIC_SUM, "sets of platform numbers"},
    {0}};

static int check_file(const char *path, struct results_counts *counts, struct err *err)
{
    struct results *results = results_open(path, RESULTS_READ, err);
    int failed = results ? results_check(results, counts, err) : -1;
    results_close(results);
    return failed;
}

int verify_results(struct verify *verify, const char *path, struct err *err)
{
    struct results_counts counts;
    *verify = (struct verify){.complete = true};
    if (check_file(path, &counts, err) || outcome_init(&verify->outcome, verify_results_metrics, err))
        return -1;
    struct outcome *o = &verify->outcome;
    outcome_int(o, "runs", counts.runs);
    outcome_int(o, "other_release_runs", counts.foreign);
    outcome_int(o, "metrics", counts.metrics);
    outcome_int(o, "parts", counts.parts);
    outcome_int(o, "platforms", counts.platforms);
    verify->complete = !counts.sweeps;
    if (counts.sweeps)
        outcome_note(o, "%lld sweeps of it have not ended: the same commands go on from there",
                     (long long)counts.sweeps);
    if (counts.foreign)
        outcome_note(o,
                     "%lld of %lld runs were made by another release of offchip than this one, %s, whose models may "
                     "give other numbers",
                     (long long)counts.foreign, (long long)counts.runs, offchip_release);
    return 0;
}
