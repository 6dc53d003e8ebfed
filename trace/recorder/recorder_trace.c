#include "trace/recorder/recorder_trace.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/mem.h"
#include "trace/derived/allocations.h"
#include "trace/derived/batches.h"
#include "trace/event/uvm_event.h"
#include "trace/recorder/recorder_events.h"
#include "trace/store/store.h"

enum { EXTRAS = 3, REASONS = 32, FACTS_MAX = 4096, PROBLEMS_MAX = 256 };

/* A fact or a count that came before the file exists. */
struct fact {
    char *key, *value;
};
struct reason {
    char *text;
    uint64_t n;
    bool dropped;
};

struct recorder_trace {
    struct recorder_trace_options options;
    char path[RECORDER_TRACE_PATH];
    char *pattern;
    struct store *store;
    int stream;
    struct record_pipe_texts texts;
    struct record_order order;
    struct allocations allocations;
    struct recorder_accesses accesses;
    struct recorder_ranges ranges;
    int64_t launches;
    struct fact *facts;
    size_t fact_count, fact_cap;
    struct reason reasons[REASONS];
    size_t reason_count;
    char **problems;
    size_t problem_count, problem_cap;
    struct recorder_trace_summary summary;
    bool hello, ending;
    int64_t tick_ms;         /* of the last tick; 0: none yet */
    int64_t newest, horizon; /* latest event so far, and at the last tick */
    int64_t written;         /* latest event that was written */
    uint64_t late;           /* events that came after a later one was written */
    uint64_t unsaved;        /* written since the last tick */
    size_t n;
    /* Made with the file: a process of which nothing is recorded costs as little as it can. */
    struct recorder_batch {
        struct record records[STORE_BATCH];
        int64_t extra[EXTRAS][STORE_BATCH];
        int64_t columns[EXTRAS * STORE_BATCH];
    } * batch;
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
    static const struct stream stream = {
        .name = "uvm", .unit = TIME_NS, .space = ADDR_BYTES, .extra = {"process_id", "src_id", "dst_id"}};
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
    if (store_origin(t->store, "format", "record", err) || recorder_machine_write(t->store, t->options.sysfs, err))
        return -1;
    if (t->options.accesses)
        return recorder_accesses_open(&t->accesses, t->store, err);
    if (store_stream_add(t->store, &stream, &t->stream, err) ||
        store_origin(t->store, "kinds.uvm",
                     "KERNEL ALLOC ADVISE PREFETCH COPY FAULT CPU_FAULT MIGRATE_H2D MIGRATE_D2H THRASH THROTTLE "
                     "REMOTE_MAP MIGRATE_D2D",
                     err))
        return -1;
    return 0;
}

/* --- events, in the order of time --- */

static int flush(struct recorder_trace *t, struct err *err)
{
    for (int e = 0; t->n && e < EXTRAS; e++)
        memcpy(t->batch->columns + (size_t)e * t->n, t->batch->extra[e], t->n * sizeof *t->batch->columns);
    size_t n = t->n;
    t->n = 0;
    return n ? store_append(t->store, t->stream, t->batch->records, t->batch->columns, n, err) : 0;
}

static int push(struct recorder_trace *t, const struct record *record, int64_t process, int64_t src, int64_t dst,
                struct err *err)
{
    if (!t->batch && !(t->batch = mem_zalloc(1, sizeof *t->batch, err)))
        return -1;
    size_t i = t->n++;
    t->batch->records[i] = *record;
    t->batch->extra[0][i] = process;
    t->batch->extra[1][i] = src;
    t->batch->extra[2][i] = dst;
    t->summary.records++;
    return t->n == STORE_BATCH ? flush(t, err) : 0;
}

static int count(struct recorder_trace *t, bool dropped, const char *text, uint64_t n, struct err *err)
{
    *(dropped ? &t->summary.dropped : &t->summary.skipped) += n;
    for (size_t i = 0; i < t->reason_count; i++)
        if (t->reasons[i].dropped == dropped && strcmp(t->reasons[i].text, text) == 0) {
            t->reasons[i].n += n;
            return 0;
        }
    if (t->reason_count == REASONS)
        return 0; /* the sum is right, the reason is one of too many */
    char *copy = mem_strdup(text, err);
    if (!copy)
        return -1;
    t->reasons[t->reason_count++] = (struct reason){copy, n, dropped};
    return 0;
}

static int take_kernel(struct recorder_trace *t, const struct record_pipe_message *m, struct err *err)
{
    if (m->time <= 0 || m->duration < m->time)
        return count(t, false, m->time <= 0 ? "no start time" : "kernel ends before it starts", 1, err);
    int64_t id = t->launches++;
    const struct store_value row[] = {
        STORE_V_INT(id),
        STORE_V_TEXT(record_pipe_text_get(&t->texts, m->id)),
        STORE_V_INT(id),
        STORE_V_INT(m->time),
        STORE_V_INT(m->duration - m->time),
        STORE_V_INT(m->addr & UINT32_MAX),
        STORE_V_INT(m->addr >> 32 & UINT16_MAX),
        STORE_V_INT(m->addr >> 48),
        STORE_V_INT(m->bytes & UINT16_MAX),
        STORE_V_INT(m->bytes >> 16 & UINT16_MAX),
        STORE_V_INT(m->bytes >> 32 & UINT16_MAX),
        STORE_V_INT(m->bytes >> 48),
        STORE_V_INT(m->extra & UINT32_MAX),
        STORE_V_INT(m->extra >> 32),
        STORE_V_INT(m->flags),
        STORE_V_INT(m->kind),
    };
    if (store_row(t->store, "kernels", row, sizeof row / sizeof *row, err))
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
        return count(t, false, "no start time", 1, err);
    int done = recorder_ranges_take(&t->ranges, m, &record, &name, err);
    if (done < 0)
        return -1;
    const struct store_value row[] = {STORE_V_INT(name), STORE_V_TEXT(record_pipe_text_get(&t->texts, m->id))};
    if (name >= 0 && store_row(t->store, "strings", row, 2, err))
        return -1;
    return done ? push(t, &record, t->summary.process, 0, 0, err) : 0;
}

static int take_uvm(struct recorder_trace *t, const struct record_pipe_message *m, struct err *err)
{
    const struct uvm_event event = {m->kind, (uint64_t)m->time, (uint64_t)m->duration, m->addr, m->bytes, m->flags};
    struct record record;
    const char *reason = uvm_event_record(&event, &record);
    if (reason)
        return count(t, false, reason, 1, err);
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
    if (m->kind != RECORD_COPY && m->kind != RECORD_ALLOC && m->kind != RECORD_ADVISE && m->kind != RECORD_PREFETCH)
        return err_set(err, "a message carries a record of kind %u, which the recorder does not make", m->kind);
    if (m->time <= 0 || m->duration < 0)
        return count(t, false, m->time <= 0 ? "no start time" : "ends before it starts", 1, err);
    if (m->kind == RECORD_ALLOC && (m->flags < RECORD_ALLOC_DEVICE || m->flags > RECORD_ALLOC_REGISTERED))
        return count(t, false, "unknown kind of allocation", 1, err);
    const char *site = m->extra ? record_pipe_text_get(&t->texts, m->extra) : NULL;
    if (m->kind == RECORD_ALLOC && allocations_add(&t->allocations, t->store, &record, site, err))
        return -1;
    return t->options.accesses ? recorder_accesses_alloc(&t->accesses, &record, err)
                               : push(t, &record, t->summary.process, 0, 0, err);
}

static int take_event(struct recorder_trace *t, const struct record_pipe_message *m, struct err *err)
{
    if (m->type != RECORD_PIPE_UVM && (m->time > RECORD_TIME_MAX || m->duration > RECORD_TIME_MAX))
        return count(t, false, "time out of range", 1, err);
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
    if (mem_grow((void **)&t->facts, &t->fact_cap, t->fact_count + 1, sizeof *t->facts, err))
        return -1;
    struct fact fact = {mem_strdup(record_pipe_text_get(&t->texts, m->id), err),
                        mem_strdup(record_pipe_text_get(&t->texts, m->addr), err)};
    t->facts[t->fact_count++] = fact;
    return fact.key && fact.value ? 0 : -1;
}

static int take_problem(struct recorder_trace *t, const struct record_pipe_message *m, struct err *err)
{
    if (t->problem_count == PROBLEMS_MAX)
        return 0;
    if (mem_grow((void **)&t->problems, &t->problem_cap, t->problem_count + 1, sizeof *t->problems, err))
        return -1;
    char *text = mem_strdup(record_pipe_text_get(&t->texts, m->id), err);
    if (!text)
        return -1;
    t->problems[t->problem_count++] = text;
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
    const struct store_value row[] = {STORE_V_TEXT(kernel ? kernel : "?"), STORE_V_TEXT(name), STORE_V_REAL(value),
                                      STORE_V_TEXT(unit), STORE_V_TEXT(how)};
    t->unsaved++;
    return open_file(t, err) || store_row(t->store, "counters", row, 5, err) ? -1 : 0;
}

/* A message of a recording of accesses: in order of arrival, there is no other. */
static int take_accesses(struct recorder_trace *t, const struct record_pipe_message *m, struct err *err)
{
    if (recorder_accesses_wants(m))
        return recorder_accesses_take(&t->accesses, m, record_pipe_text_get(&t->texts, m->id), err);
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
        return count(t, m->type == RECORD_PIPE_DROP, record_pipe_text_get(&t->texts, m->id), m->bytes, err);
    case RECORD_PIPE_COUNTER:
        return take_counter(t, m, err);
    case RECORD_PIPE_BYE:
        t->summary.ended = true;
        return 0;
    default:
        break;
    }
    struct record_pipe_message earliest;
    if (!t->options.accesses && recorder_accesses_wants(m))
        return err_set(err, "only a recording of accesses has messages of type %u", m->type);
    if (t->options.accesses) {
        t->unsaved++;
        return open_file(t, err) ? -1 : take_accesses(t, m, err);
    }
    if (record_order_put(&t->order, m, err))
        return -1;
    if (m->time > t->newest)
        t->newest = m->time;
    return record_order_take(&t->order, RECORD_ORDER_MESSAGES, &earliest) ? write_event(t, &earliest, err) : 0;
}

int recorder_trace_tick(struct recorder_trace *t, int64_t now_ms, struct err *err)
{
    struct record_pipe_message m;
    if (t->tick_ms && now_ms - t->tick_ms < RECORDER_TRACE_HOLD_MS)
        return 0;
    bool first = t->tick_ms == 0;
    t->tick_ms = now_ms;
    while (!first && record_order_take_until(&t->order, t->horizon, &m))
        if (write_event(t, &m, err))
            return -1;
    t->horizon = t->newest;
    if (!t->store || t->unsaved == 0)
        return 0;
    t->unsaved = 0;
    int failed = t->options.accesses ? access_flush(&t->accesses.sink, err) : flush(t, err);
    return failed || store_flush(t->store, err) ? -1 : 0;
}

bool recorder_trace_lost(struct recorder_trace *t, const struct record_pipe_message *report)
{
    struct err err;
    if (!t || !t->hello || t->summary.process != (int64_t)report->id)
        return false;
    (void)count(t, true, "messages that the recorder did not take before the program ended", report->addr, &err);
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
    while (record_order_take(&t->order, 0, &m))
        if (write_event(t, &m, err))
            return -1;
    if (t->options.accesses ? recorder_accesses_finish(&t->accesses, err) : flush(t, err))
        return -1;
    t->summary.records += t->accesses.sink.writer.total;
    if (t->ranges.open_count && count(t, false, "ranges of the program that did not end", t->ranges.open_count, err))
        return -1;
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

static void release(struct recorder_trace *t)
{
    recorder_accesses_release(&t->accesses);
    recorder_ranges_release(&t->ranges);
    store_close(t->store);
    record_order_release(&t->order);
    record_pipe_texts_release(&t->texts);
    for (size_t i = 0; i < t->fact_count; i++) {
        free(t->facts[i].key);
        free(t->facts[i].value);
    }
    for (size_t i = 0; i < t->reason_count; i++)
        free(t->reasons[i].text);
    for (size_t i = 0; i < t->problem_count; i++)
        free(t->problems[i]);
    free(t->facts);
    free(t->problems);
    allocations_release(&t->allocations);
    free(t->pattern);
    free(t->batch);
    free(t);
}

void recorder_trace_discard(struct recorder_trace *t)
{
    release(t);
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
    if (rc == 0 && t->store)
        rc = (t->summary.complete ? store_finish : store_keep)(t->store, err);
    if (rc)
        t->summary.complete = false;
    if (rc && t->options.force)
        t->summary.path[0] = 0; /* what it should have replaced is still there */
    *summary = t->summary;
    release(t);
    return rc;
}
