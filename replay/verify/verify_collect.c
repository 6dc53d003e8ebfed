#include "replay/verify/verify_collect.h"

#include <stdlib.h>
#include <string.h>

#include "models/uvm/uvm_policy.h"
#include "trace/base/mem.h"
#include "trace/base/sorted.h"
#include "trace/base/units.h"
#include "trace/derived/summary.h"

enum { MAX_RECORD_BYTES = 64 << 20, PREFETCH_OFF = 101 };

void verify_input_release(struct verify_input *in)
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

int verify_collect(struct verify_input *in, struct store *store, struct recording wanted, struct err *err)
{
    memset(in, 0, sizeof *in);
    in->threshold = UVM_TREE_THRESHOLD;
    batches_init(&in->batches);
    services_init(&in->d2h, RECORD_MIGRATE_D2H);
    if (collect(in, store, wanted, err) == 0)
        return 0;
    verify_input_release(in);
    return -1;
}

/* --- silences --- */

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

int verify_silence_find(struct verify_silence *silence, struct verify_interval *kernels, size_t kernel_count,
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
