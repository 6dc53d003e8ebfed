#include "trace/derived/tlp_sink.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/quantile.h"
#include "trace/base/sorted.h"
#include "trace/derived/tlp_tally.h"
#include "trace/store/store.h"

/* --- flows --- */

enum { SLOTS = 4 * TLP_FLOWS_MOST };

struct tlp_flows {
    uint32_t count, last;
    struct tlp_flow rows[TLP_FLOWS_MOST];
    uint16_t slots[SLOTS]; /* number + 1, 0: free; asked for every packet: see trace/base/id_map.h for uthash */
};

static bool same_flow(const struct tlp_flow *f, uint32_t source, uint32_t destination, int32_t vlan)
{
    return f->source == source && f->destination == destination && f->vlan == vlan;
}

const char *tlp_flows_address(uint32_t host, char text[TLP_HOST_TEXT])
{
    struct in_addr v4 = {htonl(host)};
    return inet_ntop(AF_INET, &v4, text, TLP_HOST_TEXT);
}

uint32_t tlp_flows_find(struct tlp_flows *flows, uint32_t source, uint32_t destination, int32_t vlan)
{
    if (flows->count && same_flow(&flows->rows[flows->last], source, destination, vlan))
        return flows->last;
    uint64_t key = ((uint64_t)source << 32 | destination) * 0x9e3779b97f4a7c15u + (uint64_t)(uint32_t)vlan;
    size_t slot = (size_t)((key * 0xbf58476d1ce4e5b9u) >> 40) % SLOTS;
    for (; flows->slots[slot]; slot = (slot + 1) % SLOTS) {
        uint32_t number = flows->slots[slot] - 1u;
        if (same_flow(&flows->rows[number], source, destination, vlan))
            return flows->last = number;
    }
    if (flows->count == TLP_FLOWS_MOST)
        return TLP_FLOWS_MOST - 1;
    uint32_t number = flows->count++;
    flows->slots[slot] = (uint16_t)(number + 1);
    flows->rows[number] = (struct tlp_flow){.source = source, .destination = destination, .vlan = vlan};
    return flows->last = number;
}

struct tlp_flow *tlp_flows_at(struct tlp_flows *flows, uint32_t number)
{
    return &flows->rows[number];
}

int64_t tlp_flow_packet(struct tlp_flow *f, uint16_t sequence, uint64_t stamp, int64_t time_ns)
{
    f->packets++;
    if (!stamp)
        return time_ns;
    if (f->stamped++) {
        f->gaps10 += ((f->sequence + 1u) & 0x3ff) != (sequence & 0x3ffu);
        f->gaps16 += ((f->sequence + 1u) & 0xffff) != sequence;
        f->ticks += (uint64_t)(int64_t)(int32_t)(uint32_t)(stamp - f->stamp); /* wraps every 27.49 s */
    } else {
        f->first_ns = time_ns;
    }
    f->sequence = sequence;
    f->stamp = stamp;
    if (sequence > f->sequence_most)
        f->sequence_most = sequence;
    /* A tick is 32/5 ns; computed in unsigned arithmetic, modulo 2^64, since stamps can be anything. */
    int64_t ticks = (int64_t)f->ticks;
    int64_t ns = ticks / 5 * 32 + ticks % 5 * 32 / 5;
    return (int64_t)((uint64_t)f->first_ns + (uint64_t)ns);
}

/* Breaks of the sequence: modulo 1,024 unless a number above 1,023 was seen. */
static uint64_t flow_gaps(const struct tlp_flow *f)
{
    return f->sequence_most > 0x3ff ? f->gaps16 : f->gaps10;
}

/* --- requests and the completions that answer them ---
 *
 * A completion carries requester and tag of its request and travels the other way, so the key is (requester, 10-bit
 * tag, side of the requester). Each key has a FIFO, since a tag is reused before the capture shows the earlier request
 * complete; a completion that the capture shows before its request is parked and given to the next request of that
 * key. A request is complete when its bytes have arrived, or a completion says that nothing is left (byte count at
 * most its own bytes); a completion with an error status closes it.
 *
 * Packets are fed in the order of their time. Memory is bounded: at most MATCH_MOST requests and parked completions
 * are held, the oldest gives way (and counts as never completed, or unmatched).
 * Source: PCI Express Base Specification 4.0, sections 2.2.9 and 2.3.1.1 (byte count of split completions). */

enum { MATCH_MOST = 1 << 18 };

/* How long a completion waits for its request: capture hosts reorder by microseconds. */
#define MATCH_PARK_NS 10000000
/* How long a request stays open. Source: base specification 4.0, 7.5.3.16, completion timeout range D: up to 64 s. */
#define MATCH_OPEN_NS 64000000000

/* A request that got its answer. */
struct read {
    struct record request; /* as given */
    int64_t latency;       /* of the last completion after the request; 0 if early */
    uint32_t received;     /* bytes */
    uint32_t completions;
    bool early; /* a completion was seen before it: no latency */
    bool error; /* closed by a completion with an error status */
};

struct match_counts {
    uint64_t reads;           /* memory reads fed */
    uint64_t completed_reads; /* of them, with all data */
    uint64_t failed_reads;    /* of them, closed by an error status */
    uint64_t others;          /* other non-posted requests: I/O, configuration, atomic */
    uint64_t completed_others;
    uint64_t matched;    /* completions given to a request */
    uint64_t unmatched;  /* completions whose request was never seen */
    uint64_t early;      /* of the matched: parked first */
    uint64_t reused;     /* requests whose tag was still open */
    uint64_t unanswered; /* requests never completed; those still open count once match_end() is called */
};

enum { BUCKETS = 1 << 16 };
#define NONE UINT32_MAX

/* An open request or a parked completion. The nodes of one key form a FIFO, of which the first stands in the chain of
 * its bucket; all of them are of one sort, since a completion is parked only while its key has no open request, and a
 * request takes what is parked. Each node also stands in the list of its sort by age; the oldest of a sort is
 * therefore always the first of its key. Ours, since it is asked for every packet: a look-up in uthash takes three
 * times as long among few keys and ten times among many (trace/base/id_map.h). */
struct node {
    uint64_t key;
    struct read read;    /* request; of a parked completion: the completion itself */
    uint32_t due;        /* bytes of data that the completions bring in all */
    uint32_t next;       /* in the bucket (first of a key), or in the free list */
    uint32_t same, last; /* the key's FIFO; last is valid in its first node */
    uint32_t older, newer;
    bool parked;
};

struct ages {
    uint32_t oldest, newest;
};

struct match {
    struct node *nodes;
    size_t cap, used;
    uint32_t free; /* chained through next */
    size_t held;
    struct ages ages[2]; /* open, parked */
    struct match_counts counts;
    uint32_t head[BUCKETS];
};

static void match_init(struct match *m)
{
    m->free = NONE;
    for (int i = 0; i < 2; i++)
        m->ages[i] = (struct ages){NONE, NONE};
    for (size_t i = 0; i < BUCKETS; i++)
        m->head[i] = NONE;
}

static uint64_t key_of(const struct record *packet, uint32_t side)
{
    return (packet->id & 0x3ffffff) | (uint64_t)side << 26; /* tag and requester */
}

/* The link that points at the first node of `key`, or at NONE. */
static uint32_t *find(struct match *m, uint64_t key)
{
    uint32_t *link = &m->head[key * 0x9e3779b97f4a7c15u >> 48];
    while (*link != NONE && m->nodes[*link].key != key)
        link = &m->nodes[*link].next;
    return link;
}

static void age_out(struct match *m, const struct node *n)
{
    struct ages *a = &m->ages[n->parked];
    if (n->older == NONE)
        a->oldest = n->newer;
    else
        m->nodes[n->older].newer = n->newer;
    if (n->newer == NONE)
        a->newest = n->older;
    else
        m->nodes[n->newer].older = n->older;
}

/* Take the first node of a key, which *link points at. */
static void take(struct match *m, uint32_t *link)
{
    uint32_t i = *link;
    struct node *n = &m->nodes[i];
    age_out(m, n);
    if (n->same != NONE) {
        m->nodes[n->same].next = n->next;
        m->nodes[n->same].last = n->last;
        *link = n->same;
    } else {
        *link = n->next;
    }
    n->next = m->free;
    m->free = i;
    m->held--;
}

/* Give up on the oldest of a sort: its partner never came. */
static void abandon(struct match *m, bool parked)
{
    if (parked)
        m->counts.unmatched++;
    else
        m->counts.unanswered++;
    take(m, find(m, m->nodes[m->ages[parked].oldest].key));
}

static void expire(struct match *m, int64_t now)
{
    static const int64_t patience[2] = {MATCH_OPEN_NS, MATCH_PARK_NS};
    for (int parked = 0; parked < 2; parked++)
        while (m->ages[parked].oldest != NONE) {
            int64_t since = m->nodes[m->ages[parked].oldest].read.request.time;
            if (now < since || (uint64_t)now - (uint64_t)since <= (uint64_t)patience[parked])
                break;
            abandon(m, parked);
        }
}

static uint32_t new_node(struct match *m, struct err *err)
{
    if (m->held >= MATCH_MOST)
        abandon(m, m->ages[1].oldest != NONE);
    uint32_t i = m->free;
    if (i != NONE) {
        m->free = m->nodes[i].next;
        return i;
    }
    return mem_grow((void **)&m->nodes, &m->cap, m->used + 1, sizeof *m->nodes, err) ? NONE : (uint32_t)m->used++;
}

/* Put a packet at the end of its key's FIFO; its node, or NULL with *err set. */
static struct node *add(struct match *m, uint64_t key, const struct record *packet, bool parked, struct err *err)
{
    uint32_t i = new_node(m, err);
    if (i == NONE)
        return NULL;
    struct ages *a = &m->ages[parked];
    struct node *n = &m->nodes[i];
    *n = (struct node){.key = key, .next = NONE, .same = NONE, .last = i, .older = a->newest, .newer = NONE};
    n->read.request = *packet;
    n->parked = parked;
    if (a->newest == NONE)
        a->oldest = i;
    else
        m->nodes[a->newest].newer = i;
    a->newest = i;
    uint32_t *link = find(m, key);
    if (*link == NONE) {
        *link = i;
    } else {
        struct node *first = &m->nodes[*link];
        m->nodes[first->last].same = i;
        first->last = i;
    }
    m->held++;
    return n;
}

/* One completion reaches its request; whether that closes it. */
static bool receive(struct match *m, struct read *read, uint32_t due, const struct record *c)
{
    read->completions++;
    read->received += (uint32_t)c->bytes;
    m->counts.matched++;
    if (tlp_record_status(c) != TLP_SC) {
        read->error = true;
        return true;
    }
    return read->received >= due || tlp_record_byte_count(c) <= c->bytes;
}

static void close_request(struct match *m, struct read *done, int64_t now)
{
    bool early = done->early || now < done->request.time;
    done->latency = early ? 0 : now - done->request.time;
    if (!tlp_is_read(tlp_record_type(&done->request)))
        m->counts.completed_others++;
    else if (done->error)
        m->counts.failed_reads++;
    else
        m->counts.completed_reads++;
}

static int feed_request(struct match *m, const struct record *packet, uint64_t key, uint32_t reply, struct read *done,
                        struct err *err)
{
    if (tlp_is_read(tlp_record_type(packet)))
        m->counts.reads++;
    else
        m->counts.others++;
    struct read read = {.request = *packet};
    uint32_t *link = find(m, key);
    if (*link != NONE && !m->nodes[*link].parked)
        m->counts.reused++;
    for (; *link != NONE && m->nodes[*link].parked; link = find(m, key)) {
        struct record completion = m->nodes[*link].read.request;
        take(m, link);
        m->counts.early++;
        read.early = true;
        if (receive(m, &read, reply, &completion)) {
            *done = read;
            close_request(m, done, packet->time);
            return 1;
        }
    }
    struct node *n = add(m, key, packet, false, err);
    if (!n)
        return -1;
    n->read = read;
    n->due = reply;
    return 0;
}

static int feed_completion(struct match *m, const struct record *packet, uint64_t key, struct read *done,
                           struct err *err)
{
    uint32_t *link = find(m, key);
    if (*link == NONE || m->nodes[*link].parked)
        return add(m, key, packet, true, err) ? 0 : -1;
    struct node *n = &m->nodes[*link];
    if (!receive(m, &n->read, n->due, packet))
        return 0;
    *done = n->read;
    close_request(m, done, packet->time);
    take(m, link);
    return 1;
}

/* Feed one packet: a RECORD_TLP record, and the address of the side that the requester is on (the source of a request,
 * the destination of a completion). `reply` is tlp_reply_bytes() of a request. Posted packets are ignored. Returns 1 if
 * that closed a request (*done describes it, errors included), 0 if not, -1 with *err set when out of memory. */
static int match_feed(struct match *m, const struct record *packet, uint32_t side, uint32_t reply, struct read *done,
                      struct err *err)
{
    enum tlp_type type = tlp_record_type(packet);
    expire(m, packet->time);
    if (tlp_is_completion(type))
        return feed_completion(m, packet, key_of(packet, side), done, err);
    if (tlp_wants_reply(type))
        return feed_request(m, packet, key_of(packet, side), reply, done, err);
    return 0;
}

/* The capture is over: what is open or parked stays so. */
static void match_end(struct match *m)
{
    for (int parked = 0; parked < 2; parked++)
        while (m->ages[parked].oldest != NONE)
            abandon(m, parked);
}

/* --- the sink --- */

enum { TLP_EXTRAS = 3, READ_EXTRAS = 4, TOTALS = 64 };

struct total {
    const char *name;
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
    struct match match;
    struct tlp_tally *tally;
    struct tlp_flows flows;
    struct quantile *latency;
    struct total totals[TOTALS];
    size_t total_count;
};

static int open_writer(struct tlp_sink *s, struct writer *w, const char *name, const char *const *extra, int extras,
                       struct err *err)
{
    int stream = writer_stream(s->store, name, TIME_NS, extra, extras, err);
    return stream < 0 ? -1 : writer_open(w, s->store, stream, extras, err);
}

struct tlp_sink *tlp_sink_open(struct store *store, int index, struct err *err)
{
    static const char *const extra[] = {"adapter_ticks", "sequence", "packet"};
    struct tlp_sink *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return NULL;
    s->store = store;
    s->index = index;
    s->monotonic = true;
    s->last_seen = s->gone = INT64_MIN;
    s->window = mem_zalloc(2 * (size_t)TLP_SINK_WINDOW, sizeof *s->window, err);
    match_init(&s->match);
    s->tally = s->window ? tlp_tally_new(err) : NULL;
    s->latency = s->tally ? quantile_new(err) : NULL;
    if (!s->latency || open_writer(s, &s->packets, "tlp", extra, TLP_EXTRAS, err)) {
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
    free(s->match.nodes);
    tlp_tally_free(s->tally);
    quantile_free(s->latency);
    writer_close(&s->packets);
    writer_close(&s->reads);
    free(s);
}

struct tlp_flows *tlp_sink_flows(struct tlp_sink *s)
{
    return &s->flows;
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
    if (s->total_count < TOTALS)
        s->totals[s->total_count++] = (struct total){name, value};
}

/* --- storing --- */

static int keep_read(struct tlp_sink *s, const struct read *done, struct err *err)
{
    if (!tlp_is_read(tlp_record_type(&done->request)))
        return 0;
    if (!done->early && !done->error)
        quantile_add(s->latency, done->latency);
    static const char *const names[] = {"received_bytes", "completions", "early", "error"};
    struct record r = done->request;
    const int64_t extra[READ_EXTRAS] = {done->received, done->completions, done->early, done->error};
    r.duration = done->latency;
    return (!s->reads.store && open_writer(s, &s->reads, "tlp_reads", names, READ_EXTRAS, err)) ||
                   writer_add(&s->reads, &r, extra, err)
               ? -1
               : 0;
}

static int emit(struct tlp_sink *s, const struct tlp_item *item, struct err *err)
{
    const struct record *r = &item->record;
    enum tlp_type type = tlp_record_type(r);
    struct read done;
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
    int closed = match_feed(&s->match, r, item->side, item->reply, &done, err);
    if (closed < 0 || (closed && keep_read(s, &done, err)))
        return -1;
    const int64_t extra[TLP_EXTRAS] = {(int64_t)item->ticks, item->sequence, (int64_t)item->packet};
    return writer_add(&s->packets, r, extra, err);
}

SORTED_AS(by_time, struct tlp_item, ORDER_OF(x->record.time, y->record.time) ?: ORDER_OF(x->packet, y->packet))

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
        sort_items(s->window + s->first, s->held, sizeof *s->window, by_time);
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
    const struct match_counts *c = &s->match.counts;
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
        if (STORE_ROW(s->store, "tlp_totals", err, STORE_V_INT(s->index), STORE_V_TEXT(s->totals[i].name),
                      STORE_V_INT(s->totals[i].value)))
            return -1;
    }
    return 0;
}

static int store_flows(struct tlp_sink *s, struct err *err)
{
    for (uint32_t i = 0; i < s->flows.count; i++) {
        const struct tlp_flow *f = &s->flows.rows[i];
        char from[TLP_HOST_TEXT], to[TLP_HOST_TEXT];
        if (STORE_ROW(s->store, "tlp_flows", err, STORE_V_INT((int64_t)s->index * TLP_FLOWS_MOST + i),
                      STORE_V_TEXT(tlp_flows_address(f->source, from)),
                      STORE_V_TEXT(tlp_flows_address(f->destination, to)),
                      f->vlan < 0 ? STORE_V_NULL : STORE_V_INT(f->vlan), STORE_V_INT(f->packets),
                      STORE_V_INT(f->stamped), STORE_V_INT(flow_gaps(f))))
            return -1;
    }
    return 0;
}

static int store_latency(struct tlp_sink *s, struct err *err)
{
    static const double shares[] = {0, 0.25, 0.5, 0.75, 1};
    for (size_t i = 0; quantile_count(s->latency) && i < sizeof shares / sizeof *shares; i++)
        if (STORE_ROW(s->store, "tlp_latency", err, STORE_V_TEXT("all"), STORE_V_REAL(shares[i]),
                      STORE_V_REAL((double)quantile_at(s->latency, shares[i]))))
            return -1;
    return 0;
}

int tlp_sink_finish(struct tlp_sink *s, struct err *err)
{
    sort(s);
    if (release(s, s->held, err))
        return -1;
    match_end(&s->match);
    if (writer_flush(&s->packets, err) || (s->reads.store && writer_flush(&s->reads, err)) ||
        tlp_tally_store(s->tally, s->store, err))
        return -1;
    return store_totals(s, err) || store_flows(s, err) || store_latency(s, err) ? -1 : 0;
}
