#include "trace/derived/tlp_sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/quantile.h"
#include "trace/derived/tlp_tally.h"
#include "trace/store/writer.h"

enum { TLP_EXTRAS = 3, READ_EXTRAS = 4, TOTALS = 64 };

struct total {
    char name[40];
    int64_t value;
};

struct tlp_sink {
    struct store *store;
    int index;
    struct writer packets, reads; /* reads.store: NULL until there is one */
    struct tlp_item *window;      /* held items from `first` on, in room for twice as many as are ever held */
    size_t first, held;
    bool unsorted;
    bool monotonic;    /* the file's order is that of time */
    int64_t last_seen; /* time of the last packet added */
    int64_t gone;      /* time of the last packet stored */
    uint64_t late, stored, poisoned, failed;
    uint64_t wire_bytes;
    struct tlp_match *match;
    struct tlp_tally *tally;
    struct tlp_flows *flows;
    struct quantile *latency;
    struct total totals[TOTALS];
    size_t total_count;
};

static int open_packets(struct tlp_sink *s, struct err *err)
{
    static const char *const extra[] = {"adapter_ticks", "sequence", "packet"};
    int stream = writer_stream(s->store, "tlp", TIME_NS, extra, TLP_EXTRAS, err);
    return stream < 0 ? -1 : writer_open(&s->packets, s->store, stream, TLP_EXTRAS, err);
}

struct tlp_sink *tlp_sink_open(struct store *store, int index, struct err *err)
{
    struct tlp_sink *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return NULL;
    s->store = store;
    s->index = index;
    s->monotonic = true;
    s->last_seen = s->gone = INT64_MIN;
    s->window = mem_zalloc(2 * (size_t)TLP_SINK_WINDOW, sizeof *s->window, err);
    s->match = s->window ? tlp_match_new(err) : NULL;
    s->tally = s->match ? tlp_tally_new(err) : NULL;
    s->flows = s->tally ? tlp_flows_new(err) : NULL;
    s->latency = s->flows ? quantile_new(err) : NULL;
    if (!s->latency || open_packets(s, err)) {
        tlp_sink_free(s);
        return NULL;
    }
    return s;
}

void tlp_sink_free(struct tlp_sink *s)
{
    if (!s)
        return;
    free(s->window);
    tlp_match_free(s->match);
    tlp_tally_free(s->tally);
    tlp_flows_free(s->flows);
    quantile_free(s->latency);
    writer_close(&s->packets);
    writer_close(&s->reads);
    free(s);
}

struct tlp_flows *tlp_sink_flows(struct tlp_sink *s)
{
    return s->flows;
}

uint16_t tlp_sink_direction(struct tlp_sink *s, const char *name)
{
    return tlp_tally_direction(s->tally, name);
}

void tlp_sink_defect(struct tlp_sink *s, enum tlp_type type, const char *defect)
{
    tlp_tally_defect(s->tally, type, defect);
}

void tlp_sink_total(struct tlp_sink *s, const char *name, int64_t value)
{
    if (s->total_count == TOTALS)
        return;
    struct total *t = &s->totals[s->total_count++];
    (void)snprintf(t->name, sizeof t->name, "%s", name);
    t->value = value;
}

/* --- storing --- */

static int open_reads(struct tlp_sink *s, struct err *err)
{
    static const char *const extra[] = {"received_bytes", "completions", "early", "error"};
    int stream = writer_stream(s->store, "tlp_reads", TIME_NS, extra, READ_EXTRAS, err);
    return stream < 0 ? -1 : writer_open(&s->reads, s->store, stream, READ_EXTRAS, err);
}

static int keep_read(struct tlp_sink *s, const struct tlp_read *done, struct err *err)
{
    if (!tlp_is_read(tlp_record_type(&done->request)))
        return 0;
    if (!done->early && !done->error)
        quantile_add(s->latency, done->latency);
    struct record r = done->request;
    const int64_t extra[READ_EXTRAS] = {done->received, done->completions, done->early, done->error};
    r.duration = done->latency;
    return (!s->reads.store && open_reads(s, err)) || writer_add(&s->reads, &r, extra, err) ? -1 : 0;
}

static int emit(struct tlp_sink *s, const struct tlp_item *item, struct err *err)
{
    const struct record *r = &item->record;
    enum tlp_type type = tlp_record_type(r);
    struct tlp_read done;
    if (r->time < s->gone)
        s->late++;
    else
        s->gone = r->time;
    s->stored++;
    s->poisoned += tlp_record_poisoned(r);
    s->failed += tlp_is_completion(type) && tlp_record_status(r) != TLP_SC;
    s->wire_bytes += item->wire;
    if (tlp_tally_add(s->tally, type, item->direction, (uint32_t)r->bytes, err))
        return -1;
    int closed = tlp_match_feed(s->match, r, item->side, item->reply, &done, err);
    if (closed < 0 || (closed && keep_read(s, &done, err)))
        return -1;
    const int64_t extra[TLP_EXTRAS] = {(int64_t)item->ticks, item->sequence, (int64_t)item->packet};
    return writer_add(&s->packets, r, extra, err);
}

static int by_time(const void *a, const void *b)
{
    const struct tlp_item *x = a, *y = b;
    if (x->record.time != y->record.time)
        return x->record.time < y->record.time ? -1 : 1;
    return x->packet < y->packet ? -1 : x->packet > y->packet;
}

/* Store the first n. */
static int release(struct tlp_sink *s, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++)
        if (emit(s, &s->window[s->first + i], err))
            return -1;
    s->held -= n;
    s->first = s->held ? s->first + n : 0;
    return 0;
}

/* Room for one more behind the last: what is held moves to the front only when the end of the room is reached. */
static struct tlp_item *slot(struct tlp_sink *s)
{
    if (s->first + s->held == 2 * (size_t)TLP_SINK_WINDOW) {
        memmove(s->window, s->window + s->first, s->held * sizeof *s->window);
        s->first = 0;
    }
    return &s->window[s->first + s->held++];
}

static void sort(struct tlp_sink *s)
{
    if (s->unsorted)
        qsort(s->window + s->first, s->held, sizeof *s->window, by_time);
    s->unsorted = false;
}

int tlp_sink_add(struct tlp_sink *s, const struct tlp_item *item, struct err *err)
{
    if (s->held == TLP_SINK_WINDOW) {
        sort(s);
        if (release(s, TLP_SINK_WINDOW / 2, err))
            return -1;
    }
    if (item->record.time < s->last_seen)
        s->monotonic = false;
    s->last_seen = item->record.time;
    if (s->held && item->record.time < s->window[s->first + s->held - 1].record.time)
        s->unsorted = true;
    struct tlp_item *kept = slot(s);
    *kept = *item;
    kept->record.group += (uint32_t)s->index * TLP_FLOWS_MOST;
    return 0;
}

int tlp_sink_drain(struct tlp_sink *s, int64_t time, struct err *err)
{
    size_t n = 0;
    sort(s);
    while (n < s->held && s->window[s->first + n].record.time < time)
        n++;
    return release(s, n, err);
}

int tlp_sink_commit(struct tlp_sink *s, struct err *err)
{
    if (writer_flush(&s->packets, err) || (s->reads.store && writer_flush(&s->reads, err)))
        return -1;
    return store_flush(s->store, err);
}

/* --- tables --- */

static int store_totals(struct tlp_sink *s, struct err *err)
{
    const struct tlp_match_counts *c = tlp_match_counts(s->match);
    const struct {
        const char *name;
        uint64_t value;
    } rows[] = {
        {"tlps", s->stored},
        {"wire_bytes", s->wire_bytes},
        {"poisoned", s->poisoned},
        {"error_completions", s->failed},
        {"late_packets", s->late},
        {"time_monotonic", s->monotonic},
        {"reads", c->reads},
        {"completed_reads", c->completed_reads},
        {"failed_reads", c->failed_reads},
        {"other_requests", c->others},
        {"completed_other_requests", c->completed_others},
        {"completions_matched", c->matched},
        {"completions_unmatched", c->unmatched},
        {"completions_early", c->early},
        {"tags_reused", c->reused},
        {"requests_unanswered", c->unanswered},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        tlp_sink_total(s, rows[i].name, (int64_t)rows[i].value);
    for (size_t i = 0; i < s->total_count; i++) {
        struct store_value row[] = {STORE_V_INT(s->index), STORE_V_TEXT(s->totals[i].name),
                                    STORE_V_INT(s->totals[i].value)};
        if (store_row(s->store, "tlp_totals", row, 3, err))
            return -1;
    }
    return 0;
}

static int store_flows(struct tlp_sink *s, struct err *err)
{
    for (uint32_t i = 0; i < tlp_flows_count(s->flows); i++) {
        const struct tlp_flow *f = tlp_flows_at(s->flows, i);
        char from[TLP_HOST_TEXT], to[TLP_HOST_TEXT];
        struct store_value row[] = {
            STORE_V_INT((int64_t)s->index * TLP_FLOWS_MOST + i),
            STORE_V_TEXT(tlp_flows_address(s->flows, f->source, from)),
            STORE_V_TEXT(tlp_flows_address(s->flows, f->destination, to)),
            f->vlan < 0 ? STORE_V_NULL : STORE_V_INT(f->vlan),
            STORE_V_INT(f->packets),
            STORE_V_INT(f->stamped),
            STORE_V_INT(tlp_flow_gaps(f)),
        };
        if (store_row(s->store, "tlp_flows", row, 7, err))
            return -1;
    }
    return 0;
}

static int store_latency(struct tlp_sink *s, struct err *err)
{
    static const double shares[] = {0, 0.25, 0.5, 0.75, 1};
    for (size_t i = 0; quantile_count(s->latency) && i < sizeof shares / sizeof *shares; i++) {
        struct store_value row[] = {STORE_V_TEXT("all"), STORE_V_REAL(shares[i]),
                                    STORE_V_REAL((double)quantile_at(s->latency, shares[i]))};
        if (store_row(s->store, "tlp_latency", row, 3, err))
            return -1;
    }
    return 0;
}

int tlp_sink_finish(struct tlp_sink *s, struct err *err)
{
    sort(s);
    if (release(s, s->held, err))
        return -1;
    tlp_match_end(s->match);
    if (writer_flush(&s->packets, err) || (s->reads.store && writer_flush(&s->reads, err)) ||
        tlp_tally_store(s->tally, s->store, err))
        return -1;
    return store_totals(s, err) || store_flows(s, err) || store_latency(s, err) ? -1 : 0;
}
