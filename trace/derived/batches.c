#include "trace/derived/batches.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/sorted.h"
#include "trace/derived/summary.h"

/* As stored. */
static const char *const rule_names[] = {
    "first",        "block-not-ascending", "gap", "gap-over-256-faults", "gap-in-short-run",
    "fault-record", "no-fault-record"};

/* --- services --- */

void services_init(struct services *s, enum record_kind kind)
{
    memset(s, 0, sizeof *s);
    s->kind = kind;
}

void services_release(struct services *s)
{
    free(s->migrations);
    free(s->items);
    services_init(s, s->kind);
}

int services_add(struct services *s, const struct record *records, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct record *r = &records[i];
        if (r->kind != (uint32_t)s->kind || (r->flags != RECORD_CAUSE_FAULT && r->flags != RECORD_CAUSE_PREFETCH) ||
            r->bytes == 0 || r->bytes > UINT64_MAX - r->addr)
            continue;
        if (MEM_ADD(
                s->migrations, s->migration_count, s->migration_cap, err,
                (struct migration){r->time, r->time + r->duration, r->addr, r->bytes, s->migration_count, r->flags}))
            return -1;
    }
    return 0;
}

SORTED_AS(by_time, struct migration, ORDER_OF(x->start_ns, y->start_ns) ?: ORDER_OF(x->order, y->order))

static void sort(struct services *s)
{
    for (size_t i = 1; i < s->migration_count; i++)
        if (by_time(&s->migrations[i - 1], &s->migrations[i]) > 0) {
            sort_items(s->migrations, s->migration_count, sizeof *s->migrations, by_time);
            return;
        }
}

static uint64_t block_of(uint64_t addr)
{
    return addr & ~(uint64_t)(SERVICES_BLOCK_BYTES - 1);
}

/* Add the pages that a migration touches, whole or in part; more than a uint32_t holds stay UINT32_MAX. */
static void add_pages(uint32_t *sum, const struct migration *m)
{
    uint64_t pages = (m->addr + m->bytes - 1) / SERVICES_PAGE_BYTES - m->addr / SERVICES_PAGE_BYTES + 1;
    *sum = pages > UINT32_MAX - *sum ? UINT32_MAX : *sum + (uint32_t)pages;
}

static bool continues(const struct migration *previous, const struct migration *m)
{
    return m->start_ns == previous->end_ns && block_of(m->addr) == block_of(previous->addr) && m->addr > previous->addr;
}

int services_rebuild(struct services *s, struct err *err)
{
    sort(s);
    s->count = 0;
    for (size_t i = 0; i < s->migration_count; i++) {
        const struct migration *m = &s->migrations[i];
        if (i == 0 || !continues(m - 1, m)) {
            if (MEM_ADD(s->items, s->count, s->cap, err,
                        (struct service){.start_ns = m->start_ns, .block_addr = block_of(m->addr), .first = i}))
                return -1;
        }
        struct service *item = &s->items[s->count - 1];
        item->end_ns = m->end_ns;
        item->records++;
        if (m->cause == RECORD_CAUSE_FAULT) {
            add_pages(&item->fault_pages, m);
            item->fault_bytes = summary_bytes(item->fault_bytes, m->bytes);
        } else {
            add_pages(&item->prefetch_pages, m);
            item->prefetch_bytes = summary_bytes(item->prefetch_bytes, m->bytes);
        }
    }
    return 0;
}

/* --- batches --- */

enum { SHORT_RUN = 8, OUTLIER = 5, LOOK_BACK = 64, LATE_NS = 1000000 };

void batches_init(struct batches *b)
{
    memset(b, 0, sizeof *b);
    services_init(&b->services, RECORD_MIGRATE_H2D);
}

void batches_release(struct batches *b)
{
    services_release(&b->services);
    free(b->records);
    free(b->replays);
    free(b->items);
    batches_init(b);
}

int batches_add(struct batches *b, const struct record *records, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct record *r = &records[i];
        if (r->kind == RECORD_REPLAY &&
            MEM_ADD(b->replays, b->replay_count, b->replay_cap, err, ((struct replay){r->group, r->time})))
            return -1;
        if (r->kind != RECORD_FAULT)
            continue;
        if (MEM_ADD(
                b->records, b->record_count, b->record_cap, err,
                (struct fault_record){r->time, r->time + r->duration, r->addr, r->bytes, b->record_count, r->group}))
            return -1;
    }
    return services_add(&b->services, records, n, err);
}

static int add_recording(struct batches *b, struct store *store, struct recording of, struct err *err)
{
    struct recording_walk w = {0};
    while (recording_walk_next(&w, store, of, err)) {
        /* A driver's log (reader uvmeval) tells its batches itself; its FAULT records are single faults. */
        const char *name = store_stream(store, w.stream)->name;
        if (strcmp(name, "faults") != 0 && strcmp(name, "batches") != 0)
            w.at.failed = batches_add(b, w.at.r, 1, err);
    }
    return store_walk_end(&w.at);
}

SORTED_AS(by_start, struct fault_record, ORDER_OF(x->start_ns, y->start_ns) ?: ORDER_OF(x->order, y->order))

/* --- by time and address alone --- */

static int64_t gap_before(const struct service *s)
{
    return s->start_ns - s[-1].end_ns;
}

/* The median gap between the services of a run of n >= 2; gaps has room for n. */
static int64_t median_gap(const struct service *run, size_t n, int64_t *gaps)
{
    for (size_t i = 1; i < n; i++)
        gaps[i - 1] = gap_before(&run[i]);
    sort_items(gaps, n - 1, sizeof *gaps, sorted_by_i64);
    return gaps[(n - 1) / 2];
}

static struct batch *open_batch(struct batches *b, size_t service, enum batch_rule rule, struct err *err)
{
    const struct batch batch = {.first = service, .record = -1, .rule = rule, .confidence = 0.9};
    return MEM_ADD(b->items, b->count, b->cap, err, batch) ? NULL : &b->items[b->count - 1];
}

/* Cut one run of ascending blocks, services [from, to), into batches. */
static int cut_run(struct batches *b, size_t from, size_t to, enum batch_rule begin, int64_t *gaps, struct err *err)
{
    const struct service *services = b->services.items;
    int64_t median = to - from > 1 ? median_gap(services + from, to - from, gaps) : 0;
    uint64_t faults = 0;
    struct batch *batch = open_batch(b, from, begin, err);
    for (size_t i = from; batch && i < to; i++) {
        int64_t gap = i > from ? gap_before(&services[i]) : 0;
        if (gap > BATCHES_GAP_NS) {
            bool usual = median > BATCHES_GAP_NS, full = faults + services[i].fault_pages > BATCHES_FAULT_LIMIT;
            bool outlier = to - from < SHORT_RUN && gap / OUTLIER > median;
            if (usual || full || outlier) {
                batch->confidence = batch->confidence < 0.7 ? batch->confidence : 0.7;
                batch = open_batch(b, i, usual ? BATCH_GAP : full ? BATCH_GAP_FULL : BATCH_GAP_OUTLIER, err);
                if (!batch)
                    return -1;
                batch->confidence = 0.7;
                faults = 0;
            } else {
                batch->confidence = 0.5;
            }
        }
        faults += services[i].fault_pages;
        batch->fault_pages = faults;
        batch->count++;
    }
    return batch ? 0 : -1;
}

static int cut_services(struct batches *b, struct err *err)
{
    size_t n = b->services.count;
    const struct service *s = b->services.items;
    int64_t *gaps = mem_zalloc(n, sizeof *gaps, err);
    if (!gaps)
        return -1;
    int rc = 0;
    for (size_t from = 0, to; rc == 0 && from < n; from = to) {
        for (to = from + 1; to < n && s[to].block_addr > s[to - 1].block_addr;)
            to++;
        rc = cut_run(b, from, to, from == 0 ? BATCH_FIRST : BATCH_BLOCK, gaps, err);
    }
    for (size_t i = 0; i < b->count; i++) {
        struct batch *batch = &b->items[i];
        batch->start_ns = s[batch->first].start_ns;
        batch->end_ns = s[batch->first + batch->count - 1].end_ns;
    }
    free(gaps);
    return rc;
}

/* --- by fault records --- */

static bool holds_page(const struct batches *b, const struct service *s, uint64_t addr)
{
    for (uint32_t i = 0; i < s->records; i++) {
        const struct migration *m = &b->services.migrations[s->first + i];
        if (addr >= m->addr && addr - m->addr < m->bytes)
            return true;
    }
    return false;
}

/* The record that service i belongs to, or -1; `previous` is the record of the service before. *high: the first record
 * that starts after the service. Of the records that started before it the last LOOK_BACK are looked at. */
static int64_t choose_record(const struct batches *b, size_t i, size_t *high, int64_t previous)
{
    const struct service *s = &b->services.items[i];
    while (*high < b->record_count && b->records[*high].start_ns <= s->start_ns)
        (*high)++;
    bool ascends = i > 0 && s->block_addr > s[-1].block_addr;
    int64_t stay = -1, next = -1;
    for (size_t r = *high > LOOK_BACK ? *high - LOOK_BACK : 0; r < *high; r++) {
        const struct fault_record *f = &b->records[r];
        if (f->end_ns < s->start_ns || (int64_t)r < previous)
            continue;
        if ((int64_t)r == previous)
            stay = previous;
        else if (next < 0 || (holds_page(b, s, f->addr) && !holds_page(b, s, b->records[next].addr)))
            next = (int64_t)r;
    }
    /* Past the end of its record, but right behind a service of it: the copy engine lagged behind the driver. */
    if (next < 0 && stay < 0 && previous >= 0 && ascends && gap_before(s) <= BATCHES_GAP_NS &&
        s->start_ns - b->records[previous].end_ns <= LATE_NS)
        return previous;
    if (next < 0 || stay < 0 || !ascends)
        return next >= 0 ? next : stay;
    /* In the time of two records: the ascending order goes on, unless only the later one names a page of it. */
    bool named = holds_page(b, s, b->records[next].addr) && block_of(b->records[previous].addr) != s->block_addr;
    return named ? next : stay;
}

static void add_service(struct batches *b, struct batch *batch, size_t i)
{
    if (batch->count == 0)
        batch->first = i;
    batch->count++;
    batch->fault_pages += b->services.items[i].fault_pages;
}

/* One batch per fault record and per group of services outside all of them, in order of start. */
static int batch_records(struct batches *b, const int64_t *record_of, struct err *err)
{
    size_t service = 0, n = b->services.count;
    for (size_t r = 0; r <= b->record_count; r++) {
        for (bool first = true; service < n && record_of[service] < 0 &&
                                (r == b->record_count || b->services.items[service].start_ns < b->records[r].start_ns);
             service++) {
            const struct service *s = &b->services.items[service];
            bool joins = !first && s->block_addr > s[-1].block_addr && gap_before(s) <= BATCHES_GAP_NS;
            struct batch *batch = joins ? &b->items[b->count - 1] : open_batch(b, service, BATCH_NO_RECORD, err);
            if (!batch)
                return -1;
            if (!joins) {
                batch->start_ns = s->start_ns;
                batch->confidence = 0.5;
            }
            batch->end_ns = s->end_ns;
            add_service(b, batch, service);
            first = false;
        }
        if (r == b->record_count)
            break;
        struct batch *batch = open_batch(b, service, BATCH_RECORD, err);
        if (!batch)
            return -1;
        batch->start_ns = b->records[r].start_ns;
        batch->end_ns = b->records[r].end_ns;
        batch->record = (int64_t)r;
        batch->confidence = 0.99;
        for (; service < n && record_of[service] == (int64_t)r; service++)
            add_service(b, batch, service);
    }
    return 0;
}

/* Make the services of each record one stretch: what lies between two of its services is its own too. */
static void close_ranks(int64_t *record_of, size_t n)
{
    int64_t last = -1;
    size_t open = 0; /* services from here on have no record yet */
    for (size_t i = 0; i < n; i++) {
        if (record_of[i] < 0)
            continue;
        for (size_t k = open; k < i && record_of[i] == last; k++)
            record_of[k] = last;
        last = record_of[i];
        open = i + 1;
    }
}

/* Rebuilt batches that hold exactly the services of one fault record. */
static size_t count_confirmed(const struct batch *rebuilt, size_t n, const int64_t *record_of, size_t services)
{
    size_t confirmed = 0;
    for (size_t i = 0; i < n; i++) {
        size_t from = rebuilt[i].first, to = from + rebuilt[i].count;
        int64_t r = record_of[from];
        bool same = r >= 0 && record_of[to - 1] == r && (from == 0 || record_of[from - 1] != r) &&
                    (to == services || record_of[to] != r);
        for (size_t s = from; same && s < to; s++)
            same = record_of[s] == r;
        confirmed += same;
    }
    return confirmed;
}

/* Memory that comes without data leaves no migration, and CUPTI ends such a batch before it is made: its replay does.
 */
static void end_by_replays(struct batches *b)
{
    if (!b->replay_count)
        return;
    sort_items(b->replays, b->replay_count, sizeof *b->replays, sorted_by_u32);
    for (struct fault_record *f = b->records; f < b->records + b->record_count; f++) {
        size_t at = 0;
        SORTED_FIRST(at, b->replay_count, i, b->replays[i].number < f->number);
        const struct replay *of = &b->replays[at];
        const bool one = at < b->replay_count && of->number == f->number &&
                         (at + 1 == b->replay_count || of[1].number != f->number); /* two GPUs count both from 1 */
        if (f->number && one && of->time_ns > f->end_ns)
            f->end_ns = of->time_ns;
    }
}

static int use_records(struct batches *b, struct err *err)
{
    size_t n = b->services.count, high = 0;
    int64_t *record_of = mem_zalloc(n, sizeof *record_of, err);
    if (!record_of)
        return -1;
    sort_items(b->records, b->record_count, sizeof *b->records, by_start);
    end_by_replays(b);
    int64_t previous = -1;
    for (size_t i = 0; i < n; i++) {
        record_of[i] = choose_record(b, i, &high, previous);
        previous = record_of[i] >= 0 ? record_of[i] : previous;
    }
    close_ranks(record_of, n);
    b->confirmed = count_confirmed(b->items, b->count, record_of, n);
    b->count = 0;
    int rc = batch_records(b, record_of, err);
    free(record_of);
    return rc;
}

int batches_rebuild(struct batches *b, struct err *err)
{
    b->count = b->rebuilt = b->confirmed = 0;
    if (services_rebuild(&b->services, err) || cut_services(b, err))
        return -1;
    b->rebuilt = b->count;
    return b->record_count > 0 ? use_records(b, err) : 0;
}

/* Write the rows; the first batch and service get the numbers given. */
static int store_rows_of(const struct batches *b, size_t first_batch, size_t first_service, struct store *store,
                         struct err *err)
{
    for (size_t i = 0; i < b->count; i++) {
        const struct batch *batch = &b->items[i];
        const struct fault_record *record = batch->record < 0 ? NULL : &b->records[batch->record];
        if (STORE_ROW(store, "batches", err, STORE_V_INT(first_batch + i), STORE_V_INT(first_service + batch->first),
                      STORE_V_INT(batch->count), STORE_V_INT(batch->start_ns), STORE_V_INT(batch->end_ns),
                      b->services.count ? STORE_V_INT(batch->fault_pages) : STORE_V_NULL,
                      record && record->number ? STORE_V_INT(record->value) : STORE_V_NULL,
                      STORE_V_TEXT(rule_names[batch->rule]), STORE_V_REAL(batch->confidence)))
            return -1;
        for (size_t k = batch->first; k < batch->first + batch->count; k++) {
            const struct service *s = &b->services.items[k];
            if (STORE_ROW(store, "services", err, STORE_V_INT(first_service + k), STORE_V_INT(first_batch + i),
                          STORE_V_INT(s->block_addr), STORE_V_INT(s->start_ns), STORE_V_INT(s->end_ns),
                          STORE_V_INT(s->fault_pages), STORE_V_INT(s->prefetch_pages),
                          STORE_V_INT(s->fault_bytes > INT64_MAX ? INT64_MAX : s->fault_bytes),
                          STORE_V_INT(s->prefetch_bytes > INT64_MAX ? INT64_MAX : s->prefetch_bytes),
                          STORE_V_INT(s->records), STORE_V_TEXT("contiguous-time-block-address"), STORE_V_REAL(0.99)))
                return -1;
        }
    }
    return 0;
}

/* Those of one recording, behind the counts so far. */
static int write_recording(struct store *store, struct recording of, size_t *batch_count, size_t *service_count,
                           struct err *err)
{
    struct batches b;
    batches_init(&b);
    int rc = add_recording(&b, store, of, err);
    if (rc == 0)
        rc = batches_rebuild(&b, err);
    if (rc == 0)
        rc = store_rows_of(&b, *batch_count, *service_count, store, err);
    *batch_count += b.count;
    *service_count += b.services.count;
    batches_release(&b);
    return rc;
}

/* Whether any stream has what batches and services are made of: of captures and accesses nothing is read again. */
static bool has_any(const struct store *store)
{
    static const uint64_t wanted = 1ULL << RECORD_FAULT | 1ULL << RECORD_MIGRATE_H2D | 1ULL << RECORD_MIGRATE_D2H;
    for (int i = 0; i < store_stream_count(store); i++)
        if (store_stream(store, i)->kinds & wanted)
            return true;
    return false;
}

static int write_recordings(struct store *store, size_t *batches, size_t *services, struct err *err)
{
    struct recordings r;
    int rc = recordings_find(&r, store, err);
    if (r.count == 0)
        r.items[r.count++] = (struct recording){RECORDING_ANY, RECORDING_ANY};
    for (size_t i = 0; rc == 0 && i < r.count; i++)
        rc = write_recording(store, r.items[i], batches, services, err);
    return rc;
}

int batches_write(struct store *store, size_t *batch_count, size_t *service_count, struct err *err)
{
    size_t batches = 0, services = 0;
    if (store_flush(store, err))
        return -1;
    int rc = has_any(store) ? write_recordings(store, &batches, &services, err) : 0;
    if (batch_count)
        *batch_count = batches;
    if (service_count)
        *service_count = services;
    return rc;
}
