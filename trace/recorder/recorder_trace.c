#include "trace/recorder/recorder_trace.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/id_map.h"
#include "trace/base/mem.h"
#include "trace/base/regular_file.h"
#include "trace/derived/allocations.h"
#include "trace/derived/batches.h"
#include "trace/derived/limits.h"
#include "trace/event/uvm_event.h"
#include "trace/program/access.h"
#include "trace/store/store.h"

/* --- what a recording says of the machine, and the file that it goes to --- */

int recorder_trace_path(const char *pattern, int64_t process, bool numbered, char path[RECORDER_TRACE_PATH],
                        struct err *err)
{
    char host[128] = "host", out[RECORDER_TRACE_PATH];
    size_t n = 0;
    bool named = false;
    (void)gethostname(host, sizeof host - 1);
    for (const char *p = pattern; *p; p++) {
        char piece[160] = {*p};
        if (*p == '%' && p[1] == 'p') {
            (void)snprintf(piece, sizeof piece, "%" PRId64, process);
            named = true;
        } else if (*p == '%' && p[1] == 'h') {
            (void)snprintf(piece, sizeof piece, "%s", host);
        }
        if (*p == '%' && (p[1] == 'p' || p[1] == 'h' || p[1] == '%'))
            p++;
        size_t length = strlen(piece);
        if (n + length >= sizeof out)
            return err_set(err, "%s: the file name is too long", pattern);
        memcpy(out + n, piece, length);
        n += length;
    }
    out[n] = 0;
    const char *base = strrchr(out, '/'), *dot = strrchr(base ? base : out, '.');
    int stem = dot && dot != out && dot[-1] != '/' ? (int)(dot - out) : (int)n;
    int written = numbered && !named
                      ? snprintf(path, RECORDER_TRACE_PATH, "%.*s.%" PRId64 "%s", stem, out, process, out + stem)
                      : snprintf(path, RECORDER_TRACE_PATH, "%s", out);
    return written < 0 || written >= RECORDER_TRACE_PATH ? err_set(err, "%s: the file name is too long", pattern) : 0;
}

/* Every parameter of the driver's memory module, as text. */
static int write_parameters(struct store *store, const char *sysfs, struct err *err)
{
    char folder[300], path[600], name[300], value[256];
    (void)snprintf(folder, sizeof folder, "%s/module/nvidia_uvm/parameters", sysfs);
    DIR *dir = opendir(folder);
    if (!dir)
        return 0; /* no such module here, or not readable: not known */
    struct dirent *e;
    int rc = 0;
    while (rc == 0 && (e = readdir(dir))) {
        if (e->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof path, "%s/%.250s", folder, e->d_name);
        (void)snprintf(name, sizeof name, "nvidia_uvm.%.250s", e->d_name);
        if (regular_file_line(path, "", value, sizeof value)) /* some are for root only */
            rc = STORE_ROW(store, "parameters", err, STORE_V_TEXT(name), STORE_V_TEXT(value));
    }
    closedir(dir);
    return rc;
}

/* Origin "driver" and table parameters, as far as this user may read them. sysfs: "/sys". */
static int write_machine(struct store *store, const char *sysfs, struct err *err)
{
    char line[256];
    const bool known = regular_file_line("/proc/driver/nvidia/version", "", line, sizeof line);
    return (known && store_origin(store, "driver", line, err)) || write_parameters(store, sysfs, err) ? -1 : 0;
}

/* --- messages in the order of their times, with bounded memory ---
 *
 * CUPTI delivers buffers of several threads and devices, and a kernel only when it has ended: what arrives is nearly
 * sorted. A heap of ORDER_MESSAGES holds back the newest; a message that comes later than that is given out late
 * (nothing is lost). Equal times keep the order of arrival. */

enum { ORDER_MESSAGES = 1 << 18 };

struct order {
    struct order_item {
        struct record_pipe_message message;
        uint64_t arrival;
    } * heap;
    size_t n, cap;
    uint64_t arrivals;
};

static bool earlier(const struct order_item *a, const struct order_item *b)
{
    return a->message.time != b->message.time ? a->message.time < b->message.time : a->arrival < b->arrival;
}

static int order_put(struct order *order, const struct record_pipe_message *message, struct err *err)
{
    if (mem_grow((void **)&order->heap, &order->cap, order->n + 1, sizeof *order->heap, err))
        return -1;
    const struct order_item item = {*message, order->arrivals++};
    size_t i = order->n++;
    while (i > 0 && earlier(&item, &order->heap[(i - 1) / 2])) {
        order->heap[i] = order->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    order->heap[i] = item;
    return 0;
}

/* Take the earliest message if more than `keep` are held. */
static bool order_take(struct order *order, size_t keep, struct record_pipe_message *message)
{
    if (order->n <= keep)
        return false;
    *message = order->heap[0].message;
    const struct order_item last = order->heap[--order->n];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= order->n)
            break;
        if (child + 1 < order->n && earlier(&order->heap[child + 1], &order->heap[child]))
            child++;
        if (!earlier(&order->heap[child], &last))
            break;
        order->heap[i] = order->heap[child];
        i = child;
    }
    if (order->n > 0)
        order->heap[i] = last;
    return true;
}

/* --- the ranges that a program names itself (NVTX), from their beginnings and ends --- */

struct ranges {
    struct id_map names; /* number of a text: row of table strings */
    struct open_range {
        uint64_t number;
        int64_t time, name;
        uint32_t thread;
    } * open;
    size_t open_count, cap;
};

enum { MARK = 1, BEGIN = 2, MOST_OPEN = 1 << 20 };

static int name_of(struct ranges *r, uint64_t text, uint32_t *row, int64_t *name, struct err *err)
{
    uint64_t before = r->names.count;
    if (id_map_number(&r->names, text, row, err))
        return -1;
    if (r->names.count > before)
        *name = *row;
    return 0;
}

static int range_begin(struct ranges *r, const struct record_pipe_message *m, int64_t *name, struct err *err)
{
    uint32_t row;
    if (r->open_count == MOST_OPEN)
        return err_set(err, "more than %d ranges are open at once", MOST_OPEN);
    if (name_of(r, m->id, &row, name, err))
        return -1;
    return MEM_ADD(r->open, r->open_count, r->cap, err, (struct open_range){m->addr, m->time, row, m->group});
}

/* Ranges are mostly nested: the one that ends is among the last that began. */
static int range_end(struct ranges *r, const struct record_pipe_message *m, struct record *record)
{
    for (size_t i = r->open_count; i-- > 0;) {
        const struct open_range o = r->open[i];
        if (o.number != m->addr || m->time < o.time)
            continue;
        *record = (struct record){.kind = RECORD_RANGE,
                                  .time = o.time,
                                  .duration = m->time - o.time,
                                  .id = (uint64_t)o.name,
                                  .group = o.thread};
        r->open[i] = r->open[--r->open_count];
        return 1;
    }
    return 0;
}

/* Take a RANGE message. 1: *record is a range that ended, or a mark; 0: nothing is known yet; -1 with *err set. *name:
 * its row of table strings, if it is a new one that must be written; else it is left alone. An end without a beginning
 * is nothing. */
static int ranges_take(struct ranges *r, const struct record_pipe_message *m, struct record *record, int64_t *name,
                       struct err *err)
{
    uint32_t row;
    if (m->kind & BEGIN)
        return range_begin(r, m, name, err);
    if (!(m->kind & MARK))
        return range_end(r, m, record);
    if (name_of(r, m->id, &row, name, err))
        return -1;
    *record = (struct record){.kind = RECORD_RANGE, .time = m->time, .id = row, .group = m->group};
    return 1;
}

/* --- the launches and accesses that a recorded process sends (trace/recorder/inject/sanitizer_inject.c), as records of
 * the stream "accesses" (trace/program/access.h) ---
 *
 * Messages: LAUNCH, then for each access ACCESS and the LANES or NARROW that it announces, then LAUNCH_END. Memory that
 * was allocated is an ALLOC record between them, and a row of table allocations. */

struct accesses {
    struct store *store;
    struct access_sink sink;
    bool in_launch;
    int64_t launches;
    struct access_op op;
    uint64_t addrs[ACCESS_LANES];
    int filled;       /* addresses of the access under way */
    int64_t expected; /* LANES or NARROW messages still to come */
    bool narrow;      /* which of them */
    uint64_t prefetches;
};

static int accesses_open(struct accesses *a, struct store *store, struct err *err)
{
    a->store = store;
    return access_open(&a->sink, store, err) || store_origin(store, "access_order", "order of arrival", err) ? -1 : 0;
}

/* Whether a message is one of those above. */
static bool accesses_wants(const struct record_pipe_message *m)
{
    return m->type == RECORD_PIPE_LAUNCH || m->type == RECORD_PIPE_ACCESS || m->type == RECORD_PIPE_LANES ||
           m->type == RECORD_PIPE_NARROW || m->type == RECORD_PIPE_PAGES || m->type == RECORD_PIPE_LAUNCH_END;
}

static int end_launch(struct accesses *a, struct err *err)
{
    if (!a->in_launch)
        return 0;
    a->in_launch = false;
    return access_launch_end(&a->sink, err);
}

static struct store_value dimension(uint64_t value, uint64_t mask)
{
    return value & mask ? STORE_V_INT(value & mask) : STORE_V_NULL;
}

static int take_launch(struct accesses *a, const struct record_pipe_message *m, const char *name, struct err *err)
{
    if (end_launch(a, err)) /* its end was lost */
        return -1;
    int64_t id = a->launches++;
    a->in_launch = true;
    if (STORE_ROW(a->store, "kernels", err, STORE_V_INT(id), STORE_V_TEXT(name), STORE_V_INT(id), STORE_V_NULL,
                  STORE_V_NULL, dimension(m->addr, UINT32_MAX), dimension(m->addr >> 32, UINT16_MAX),
                  dimension(m->addr >> 48, UINT16_MAX), dimension(m->bytes, UINT16_MAX),
                  dimension(m->bytes >> 16, UINT16_MAX), dimension(m->bytes >> 32, UINT16_MAX), STORE_V_NULL,
                  STORE_V_NULL, STORE_V_NULL, STORE_V_INT(m->flags), STORE_V_INT(m->kind)))
        return -1;
    return access_launch(&a->sink, id, err);
}

/* The access is whole. */
static int add_access(struct accesses *a, struct err *err)
{
    return a->op.access ? access_add(&a->sink, &a->op, err) : 0;
}

static int take_access(struct accesses *a, const struct record_pipe_message *m, struct err *err)
{
    int lanes = __builtin_popcount(m->group);
    bool narrow = m->flags & RECORD_PIPE_ACCESS_NARROW;
    int each = narrow ? RECORD_PIPE_NARROW_EACH : RECORD_PIPE_LANES_EACH;
    int64_t most = (lanes + each - 2) / each;
    if (!a->in_launch || lanes == 0 || m->kind == 0 || m->kind > ACCESS_MOST_BYTES ||
        (m->duration != 0 && m->duration != most))
        return err_set(err, "an access makes no sense: %s launch, %d lanes, %u bytes per lane, %lld further messages",
                       a->in_launch ? "in a" : "outside of any", lanes, m->kind, (long long)m->duration);
    a->op = (struct access_op){.addrs = a->addrs,
                               .lanes = lanes,
                               .bytes = m->kind,
                               .access = access_of_flags(m->flags & ~RECORD_PIPE_ACCESS_NARROW),
                               .block = (uint32_t)((uint64_t)m->time >> 32),
                               .warp = (uint32_t)m->time,
                               .pc = m->id};
    a->prefetches += a->op.access == 0;
    a->narrow = narrow;
    a->addrs[0] = m->addr;
    a->filled = 1;
    a->expected = m->duration;
    if (a->expected)
        return 0;
    for (; a->filled < lanes; a->filled++)
        a->addrs[a->filled] = a->addrs[a->filled - 1] + m->extra;
    return add_access(a, err);
}

static int take_lanes(struct accesses *a, const struct record_pipe_message *m, struct err *err)
{
    int each = a->narrow ? RECORD_PIPE_NARROW_EACH : RECORD_PIPE_LANES_EACH;
    for (int i = 0; i < each && a->filled < a->op.lanes; i++)
        a->addrs[a->filled++] = a->narrow ? a->addrs[0] + (uint64_t)(int64_t)m->narrow[i] : m->lanes[i];
    return --a->expected == 0 ? add_access(a, err) : 0;
}

/* Each is an access of one lane and one byte. */
static int take_pages(struct accesses *a, const struct record_pipe_message *m, struct err *err)
{
    if (!a->in_launch || m->kind == 0 || m->kind > RECORD_PIPE_PAGES_EACH)
        return err_set(err, "touches make no sense: %s launch, %u in a message",
                       a->in_launch ? "in a" : "outside of any", m->kind);
    for (uint32_t i = 0; i < m->kind; i++) {
        a->addrs[0] = (m->pages[i].page | (uint64_t)m->pages[i].page_high << 32) << 12;
        a->op = (struct access_op){.addrs = a->addrs,
                                   .lanes = 1,
                                   .bytes = 1,
                                   .access = access_of_flags(m->pages[i].flags),
                                   .block = m->pages[i].block,
                                   .warp = m->pages[i].warp};
        if (add_access(a, err))
            return -1;
    }
    return 0;
}

/* Take one; name: the text of a LAUNCH. A message that makes no sense here is an error. */
static int accesses_take(struct accesses *a, const struct record_pipe_message *m, const char *name, struct err *err)
{
    uint32_t further = a->narrow ? RECORD_PIPE_NARROW : RECORD_PIPE_LANES;
    bool is_further = m->type == RECORD_PIPE_LANES || m->type == RECORD_PIPE_NARROW;
    if (a->expected > 0 ? m->type != further : is_further)
        return err_set(err, "%lld messages with addresses are expected, and one of type %u came",
                       (long long)a->expected, m->type);
    switch (m->type) {
    case RECORD_PIPE_LAUNCH:
        return take_launch(a, m, name, err);
    case RECORD_PIPE_ACCESS:
        return take_access(a, m, err);
    case RECORD_PIPE_LANES:
    case RECORD_PIPE_NARROW:
        return take_lanes(a, m, err);
    case RECORD_PIPE_PAGES:
        return take_pages(a, m, err);
    default:
        return end_launch(a, err);
    }
}

/* An ALLOC record, whose row is written already. */
static int accesses_alloc(struct accesses *a, const struct record *record, struct err *err)
{
    struct record r = *record;
    const int64_t extra[ACCESS_EXTRAS] = {a->sink.accesses, 0};
    r.time = 0; /* the stream has none; table allocations has */
    return writer_add(&a->sink.writer, &r, extra, err);
}

/* The connection is over: end what is open, write what is held back. */
static int accesses_finish(struct accesses *a, struct err *err)
{
    if (end_launch(a, err) || access_flush(&a->sink, err))
        return -1;
    return a->prefetches ? store_skip(a->store, "prefetch instructions", a->prefetches, err) : 0;
}

/* --- the trace of a process --- */

enum { EXTRAS = 4, REASONS = 32, FACTS_MAX = 4096, PROBLEMS_MAX = 256 };

/* A fact or a count that came before the file exists: its texts are those of `texts`. */
struct program_fact {
    const char *key, *value;
};
struct reason {
    const char *text;
    uint64_t n;
    bool dropped;
};

struct recorder_trace {
    struct recorder_trace_options options;
    char path[RECORDER_TRACE_PATH];
    char *pattern;
    struct store *store;
    struct record_pipe_texts texts;
    struct order order;
    struct allocations allocations;
    struct accesses accesses;
    struct ranges ranges;
    int64_t launches;
    struct program_fact *facts;
    size_t fact_count, fact_cap;
    struct reason reasons[REASONS];
    size_t reason_count;
    const char **problems;
    size_t problem_count, problem_cap;
    struct recorder_trace_summary summary;
    bool hello, ending;
    bool single_faults;      /* by the driver's event queue */
    int64_t client;          /* of the fault being written */
    int64_t tick_ms;         /* of the last tick; 0: none yet */
    int64_t newest, horizon; /* latest event so far, and at the last tick */
    int64_t written;         /* latest event that was written */
    uint64_t late;           /* events that came after a later one was written */
    uint64_t unsaved;        /* written since the last tick */
    struct writer writer;    /* of stream uvm */
};

struct recorder_trace *recorder_trace_new(const struct recorder_trace_options *options, struct err *err)
{
    struct recorder_trace *t = mem_zalloc(1, sizeof *t, err);
    if (!t)
        return NULL;
    t->options = *options;
    t->pattern = mem_strdup(options->path, err);
    if (!t->pattern) {
        free(t);
        return NULL;
    }
    return t;
}

const char *recorder_trace_problem(const struct recorder_trace *t, size_t index)
{
    return index < t->problem_count ? t->problems[index] : NULL;
}

/* --- the file --- */

static int open_file(struct recorder_trace *t, struct err *err)
{
    struct stream stream = {
        .name = "uvm", .unit = TIME_NS, .space = ADDR_BYTES, .extra = {"process_id", "src_id", "dst_id"}};
    int index;
    if (t->single_faults)
        memcpy(stream.extra[EXTRAS - 1], "client", sizeof "client");
    if (t->store)
        return 0;
    if (recorder_trace_path(t->pattern, t->summary.process, t->options.numbered, t->path, err))
        return -1;
    /* What is replaced stays until the recording is over; a new file is crash-safe from the beginning, unless it is
     * over already: then there is nothing to be saved from, and much less to wait for. */
    enum output_place place = t->options.force ? OUTPUT_REPLACE : t->ending ? OUTPUT_NEW : OUTPUT_IN_PLACE;
    t->store = store_create(t->path, place, t->options.command_line, err);
    if (!t->store)
        return -1;
    memcpy(t->summary.path, t->path, sizeof t->path);
    if (store_origin(t->store, "format", "record", err) || write_machine(t->store, t->options.sysfs, err))
        return -1;
    if (t->options.accesses)
        return accesses_open(&t->accesses, t->store, err);
    if (store_stream_add(t->store, &stream, &index, err) ||
        writer_open(&t->writer, t->store, index, t->single_faults ? EXTRAS : EXTRAS - 1, err) ||
        store_origin(t->store, "kinds.uvm",
                     t->options.only_counters ? "ALLOC ADVISE PREFETCH"
                     : t->single_faults
                         ? "KERNEL ALLOC ADVISE PREFETCH COPY FAULT CPU_FAULT MIGRATE_H2D MIGRATE_D2H EVICT THRASH "
                           "THROTTLE REMOTE_MAP MIGRATE_D2D FAULT_ENTRY REPLAY"
                         : "KERNEL ALLOC ADVISE PREFETCH COPY FAULT CPU_FAULT MIGRATE_H2D MIGRATE_D2H THRASH THROTTLE "
                           "REMOTE_MAP MIGRATE_D2D",
                     err))
        return -1;
    return 0;
}

/* --- events, in the order of time --- */

static int push(struct recorder_trace *t, const struct record *record, int64_t process, int64_t src, int64_t dst,
                struct err *err)
{
    const int64_t extra[EXTRAS] = {process, src, dst, t->client};
    t->summary.records++;
    return writer_add(&t->writer, record, extra, err);
}

/* Always 0. The text is one of `texts`, or the program's. */
static int count(struct recorder_trace *t, bool dropped, const char *text, uint64_t n)
{
    *(dropped ? &t->summary.dropped : &t->summary.skipped) += n;
    for (size_t i = 0; i < t->reason_count; i++)
        if (t->reasons[i].dropped == dropped && strcmp(t->reasons[i].text, text) == 0) {
            t->reasons[i].n += n;
            return 0;
        }
    if (t->reason_count == REASONS)
        return 0; /* the sum is right, the reason is one of too many */
    t->reasons[t->reason_count++] = (struct reason){text, n, dropped};
    return 0;
}

static int take_kernel(struct recorder_trace *t, const struct record_pipe_message *m, struct err *err)
{
    if (m->time <= 0 || m->duration < m->time)
        return count(t, false, m->time <= 0 ? "no start time" : "kernel ends before it starts", 1);
    int64_t id = t->launches++;
    if (STORE_ROW(t->store, "kernels", err, STORE_V_INT(id), STORE_V_TEXT(record_pipe_text_get(&t->texts, m->id)),
                  STORE_V_INT(id), STORE_V_INT(m->time), STORE_V_INT(m->duration - m->time),
                  STORE_V_INT(m->addr & UINT32_MAX), STORE_V_INT(m->addr >> 32 & UINT16_MAX),
                  STORE_V_INT(m->addr >> 48), STORE_V_INT(m->bytes & UINT16_MAX),
                  STORE_V_INT(m->bytes >> 16 & UINT16_MAX), STORE_V_INT(m->bytes >> 32 & UINT16_MAX),
                  STORE_V_INT(m->bytes >> 48), STORE_V_INT(m->extra & UINT32_MAX), STORE_V_INT(m->extra >> 32),
                  STORE_V_INT(m->flags), STORE_V_INT(m->kind)))
        return -1;
    const struct record record = {.time = m->time,
                                  .duration = m->duration - m->time,
                                  .id = (uint64_t)id,
                                  .group = (uint32_t)id,
                                  .kind = RECORD_KERNEL};
    return push(t, &record, t->summary.process, 0, 0, err);
}

static int take_range(struct recorder_trace *t, const struct record_pipe_message *m, struct err *err)
{
    struct record record;
    int64_t name = -1;
    if (m->time <= 0)
        return count(t, false, "no start time", 1);
    int done = ranges_take(&t->ranges, m, &record, &name, err);
    if (done < 0)
        return -1;
    if (name >= 0 &&
        STORE_ROW(t->store, "strings", err, STORE_V_INT(name), STORE_V_TEXT(record_pipe_text_get(&t->texts, m->id))))
        return -1;
    return done ? push(t, &record, t->summary.process, 0, 0, err) : 0;
}

static int take_uvm(struct recorder_trace *t, const struct record_pipe_message *m, struct err *err)
{
    const struct uvm_event event = {m->kind, (uint64_t)m->time, (uint64_t)m->duration, m->addr, m->bytes, m->flags};
    struct record record;
    const char *reason = uvm_event_record(&event, &record);
    if (reason)
        return count(t, false, reason, 1);
    return push(t, &record, m->group, (int64_t)(m->extra & UINT32_MAX), (int64_t)(m->extra >> 32), err);
}

static int take_record(struct recorder_trace *t, const struct record_pipe_message *m, struct err *err)
{
    struct record record = {.time = m->time,
                            .duration = m->duration,
                            .addr = m->addr,
                            .bytes = m->bytes,
                            .id = m->id,
                            .group = m->group,
                            .flags = m->flags,
                            .kind = m->kind};
    static const uint64_t made = 1ULL << RECORD_COPY | 1ULL << RECORD_ALLOC | 1ULL << RECORD_ADVISE |
                                 1ULL << RECORD_PREFETCH | 1ULL << RECORD_FAULT | 1ULL << RECORD_CPU_FAULT |
                                 1ULL << RECORD_FAULT_ENTRY | 1ULL << RECORD_REPLAY | 1ULL << RECORD_EVICT;
    if (m->kind >= RECORD_SKIPPED || !(made >> m->kind & 1))
        return err_set(err, "a message carries a record of kind %u, which the recorder does not make", m->kind);
    if (m->time <= 0 || m->duration < 0)
        return count(t, false, m->time <= 0 ? "no start time" : "ends before it starts", 1);
    if (m->kind == RECORD_ALLOC && (m->flags < RECORD_ALLOC_DEVICE || m->flags > RECORD_ALLOC_REGISTERED))
        return count(t, false, "unknown kind of allocation", 1);
    const char *site = m->extra && m->kind == RECORD_ALLOC ? record_pipe_text_get(&t->texts, m->extra) : NULL;
    if (m->kind == RECORD_ALLOC && allocations_add(&t->allocations, t->store, &record, site, err))
        return -1;
    t->client = m->kind == RECORD_FAULT_ENTRY ? (int64_t)m->extra : 0;
    int rc = t->options.accesses ? accesses_alloc(&t->accesses, &record, err)
                                 : push(t, &record, t->summary.process, 0, 0, err);
    t->client = 0;
    return rc;
}

static int take_event(struct recorder_trace *t, const struct record_pipe_message *m, struct err *err)
{
    if (m->type != RECORD_PIPE_UVM && (m->time > RECORD_TIME_MAX || m->duration > RECORD_TIME_MAX))
        return count(t, false, "time out of range", 1);
    switch (m->type) {
    case RECORD_PIPE_KERNEL:
        return take_kernel(t, m, err);
    case RECORD_PIPE_UVM:
        return take_uvm(t, m, err);
    case RECORD_PIPE_RANGE:
        return take_range(t, m, err);
    case RECORD_PIPE_FREE:
        return allocations_end(&t->allocations, t->store, m->addr, m->time, err);
    default:
        return take_record(t, m, err);
    }
}

/* The file begins with its first event. */
static int write_event(struct recorder_trace *t, const struct record_pipe_message *m, struct err *err)
{
    t->unsaved++;
    t->late += m->time < t->written;
    if (m->time > t->written)
        t->written = m->time;
    return open_file(t, err) ? -1 : take_event(t, m, err);
}

/* --- messages, as they come --- */

static int take_fact(struct recorder_trace *t, const struct record_pipe_message *m, struct err *err)
{
    if (t->fact_count == FACTS_MAX)
        return err_set(err, "more than %d facts", FACTS_MAX);
    t->single_faults |= strcmp(record_pipe_text_get(&t->texts, m->id), RECORD_PIPE_FAULT_SOURCE) == 0;
    return MEM_ADD(
        t->facts, t->fact_count, t->fact_cap, err,
        (struct program_fact){record_pipe_text_get(&t->texts, m->id), record_pipe_text_get(&t->texts, m->addr)});
}

static int take_problem(struct recorder_trace *t, const struct record_pipe_message *m, struct err *err)
{
    if (t->problem_count == PROBLEMS_MAX)
        return 0;
    if (MEM_ADD(t->problems, t->problem_count, t->problem_cap, err, record_pipe_text_get(&t->texts, m->id)))
        return -1;
    t->summary.fatal |= m->flags == RECORD_PIPE_FATAL;
    return 0;
}

static int take_counter(struct recorder_trace *t, const struct record_pipe_message *m, struct err *err)
{
    double value;
    char how[300];
    memcpy(&value, &m->bytes, sizeof value);
    const char *name = record_pipe_text_get(&t->texts, m->id), *kernel = record_pipe_text_get(&t->texts, m->addr);
    const char *metric = record_pipe_text_get(&t->texts, m->extra);
    (void)snprintf(how, sizeof how, "launch %u, CUPTI %.200s", m->group, metric ? metric : "?");
    const char *unit = strstr(name, "bytes") ? "bytes" : strstr(name, "sectors") ? "sectors" : "";
    t->unsaved++;
    if (open_file(t, err))
        return -1;
    return STORE_ROW(t->store, "counters", err, STORE_V_TEXT(kernel ? kernel : "?"), STORE_V_TEXT(name),
                     STORE_V_REAL(value), STORE_V_TEXT(unit), STORE_V_TEXT(how));
}

/* A message of a recording of accesses: in order of arrival, there is no other. */
static int take_access_message(struct recorder_trace *t, const struct record_pipe_message *m, struct err *err)
{
    if (accesses_wants(m))
        return accesses_take(&t->accesses, m, record_pipe_text_get(&t->texts, m->id), err);
    if (m->type != RECORD_PIPE_FREE && (m->type != RECORD_PIPE_RECORD || m->kind != RECORD_ALLOC))
        return err_set(err, "a recording of accesses has no message of type %u", m->type);
    return take_event(t, m, err);
}

static int take_message(struct recorder_trace *t, const struct record_pipe_message *m, struct err *err)
{
    if (!t->hello && m->type != RECORD_PIPE_HELLO)
        return err_set(err, "the first message is of type %u, not a greeting", m->type);
    if (m->type == RECORD_PIPE_TEXT)
        return record_pipe_text_put(&t->texts, m, err);
    if (record_pipe_check(m, &t->texts, err))
        return -1;
    switch (m->type) {
    case RECORD_PIPE_HELLO:
        t->hello = true;
        t->summary.process = (int64_t)m->id;
        return 0;
    case RECORD_PIPE_FACT:
        return take_fact(t, m, err);
    case RECORD_PIPE_PROBLEM:
        return take_problem(t, m, err);
    case RECORD_PIPE_SKIP:
    case RECORD_PIPE_DROP:
        return count(t, m->type == RECORD_PIPE_DROP, record_pipe_text_get(&t->texts, m->id), m->bytes);
    case RECORD_PIPE_COUNTER:
        return take_counter(t, m, err);
    case RECORD_PIPE_BYE:
        t->summary.ended = true;
        return 0;
    default:
        break;
    }
    struct record_pipe_message earliest;
    if (!t->options.accesses && accesses_wants(m))
        return err_set(err, "only a recording of accesses has messages of type %u", m->type);
    if (t->options.accesses) {
        t->unsaved++;
        return open_file(t, err) ? -1 : take_access_message(t, m, err);
    }
    if (order_put(&t->order, m, err))
        return -1;
    if (m->time > t->newest)
        t->newest = m->time;
    return order_take(&t->order, ORDER_MESSAGES, &earliest) ? write_event(t, &earliest, err) : 0;
}

int recorder_trace_tick(struct recorder_trace *t, int64_t now_ms, struct err *err)
{
    struct record_pipe_message m;
    if (t->tick_ms && now_ms - t->tick_ms < RECORDER_TRACE_HOLD_MS)
        return 0;
    bool first = t->tick_ms == 0;
    t->tick_ms = now_ms;
    while (!first && t->order.n > 0 && t->order.heap[0].message.time <= t->horizon && order_take(&t->order, 0, &m))
        if (write_event(t, &m, err))
            return -1;
    t->horizon = t->newest;
    if (!t->store || t->unsaved == 0)
        return 0;
    t->unsaved = 0;
    int failed = t->options.accesses ? access_flush(&t->accesses.sink, err) : writer_flush(&t->writer, err);
    return failed || store_flush(t->store, err) ? -1 : 0;
}

bool recorder_trace_lost(struct recorder_trace *t, const struct record_pipe_message *report)
{
    if (!t || !t->hello || t->summary.process != (int64_t)report->id)
        return false;
    (void)count(t, true, "messages that the recorder did not take before the program ended", report->addr);
    return true;
}

int recorder_trace_put(struct recorder_trace *t, const struct record_pipe_message *messages, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++)
        if (take_message(t, &messages[i], err))
            return -1;
    return 0;
}

static int write_rest(struct recorder_trace *t, struct err *err)
{
    struct record_pipe_message m;
    while (order_take(&t->order, 0, &m))
        if (write_event(t, &m, err))
            return -1;
    if (t->options.accesses ? accesses_finish(&t->accesses, err) : writer_flush(&t->writer, err))
        return -1;
    t->summary.records += t->accesses.sink.writer.total;
    if (t->ranges.open_count)
        (void)count(t, false, "ranges of the program that did not end", t->ranges.open_count);
    if (allocations_finish(&t->allocations, t->store, err))
        return -1;
    for (size_t i = 0; i < t->fact_count; i++)
        if (store_origin(t->store, t->facts[i].key, t->facts[i].value, err))
            return -1;
    for (size_t i = 0; i < t->reason_count; i++)
        if (t->reasons[i].dropped ? store_drop(t->store, t->reasons[i].text, t->reasons[i].n, err)
                                  : store_skip(t->store, t->reasons[i].text, t->reasons[i].n, err))
            return -1;
    char key[32];
    (void)snprintf(key, sizeof key, "%" PRIu64, t->late);
    if (t->late && store_origin(t->store, "late_records", key, err))
        return -1;
    for (size_t i = 0; i < t->problem_count; i++) {
        (void)snprintf(key, sizeof key, "problem.%zu", i + 1);
        if (store_origin(t->store, key, t->problems[i], err))
            return -1;
    }
    return 0;
}

void recorder_trace_discard(struct recorder_trace *t)
{
    access_close(&t->accesses.sink);
    writer_close(&t->writer);
    id_map_release(&t->ranges.names);
    free(t->ranges.open);
    store_close(t->store);
    free(t->order.heap);
    record_pipe_texts_release(&t->texts);
    free(t->facts);
    free(t->problems);
    allocations_release(&t->allocations);
    free(t->pattern);
    free(t);
}

int recorder_trace_finish(struct recorder_trace *t, struct recorder_trace_summary *summary, struct err *err)
{
    int rc = 0;
    t->ending = true;
    t->summary.complete = t->summary.ended && t->summary.dropped == 0;
    if (t->hello && !t->summary.fatal && open_file(t, err))
        rc = -1;
    if (rc == 0 && t->store)
        rc = write_rest(t, err);
    if (rc == 0 && t->store && !t->options.accesses)
        rc = batches_write(t->store, NULL, NULL, err);
    if (rc == 0 && t->store && t->summary.complete && !t->options.accesses && t->options.cut)
        t->summary.cut = t->options.cut(t->store);
    t->summary.complete &= !t->summary.cut;
    if (rc == 0 && t->store && (!t->summary.ended || t->summary.cut))
        rc = store_origin(t->store, "state.why", t->summary.cut ? LIMITS_CUT : LIMITS_NO_END, err);
    if (rc == 0 && t->store)
        rc = (t->summary.complete ? store_finish : store_keep)(t->store, err);
    if (rc)
        t->summary.complete = false;
    if (rc && t->options.force)
        t->summary.path[0] = 0; /* what it should have replaced is still there */
    *summary = t->summary;
    recorder_trace_discard(t);
    return rc;
}
