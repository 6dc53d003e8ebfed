#include "trace/derived/tlp_sink.h"

#include <stdlib.h>

#include "trace/base/mem.h"

enum { BUCKETS = 1 << 16 };
#define NONE UINT32_MAX

/* An open request or a parked completion. The nodes of one key form a FIFO, of which the first stands in the chain of
 * its bucket; all of them are of one sort, since a completion is parked only while its key has no open request, and a
 * request takes what is parked. Each node also stands in the list of its sort by age; the oldest of a sort is
 * therefore always the first of its key. Ours, since it is asked for every packet: a look-up in uthash takes three
 * times as long among few keys and ten times among many (trace/base/id_map.h). */
struct node {
    uint64_t key;
    struct tlp_read read; /* request; of a parked completion: the completion itself */
    uint32_t due;         /* bytes of data that the completions bring in all */
    uint32_t next;        /* in the bucket (first of a key), or in the free list */
    uint32_t same, last;  /* the key's FIFO; last is valid in its first node */
    uint32_t older, newer;
    bool parked;
};

struct ages {
    uint32_t oldest, newest;
};

struct tlp_match {
    struct node *nodes;
    size_t cap, used;
    uint32_t free; /* chained through next */
    size_t held;
    struct ages ages[2]; /* open, parked */
    struct tlp_match_counts counts;
    uint32_t head[BUCKETS];
};

struct tlp_match *tlp_match_new(struct err *err)
{
    struct tlp_match *m = mem_zalloc(1, sizeof *m, err);
    if (!m)
        return NULL;
    m->free = NONE;
    for (int i = 0; i < 2; i++)
        m->ages[i] = (struct ages){NONE, NONE};
    for (size_t i = 0; i < BUCKETS; i++)
        m->head[i] = NONE;
    return m;
}

void tlp_match_free(struct tlp_match *m)
{
    if (!m)
        return;
    free(m->nodes);
    free(m);
}

static uint64_t key_of(const struct record *packet, uint32_t side)
{
    return (packet->id & 0x3ffffff) | (uint64_t)side << 26; /* tag and requester */
}

/* The link that points at the first node of `key`, or at NONE. */
static uint32_t *find(struct tlp_match *m, uint64_t key)
{
    uint32_t *link = &m->head[key * 0x9e3779b97f4a7c15u >> 48];
    while (*link != NONE && m->nodes[*link].key != key)
        link = &m->nodes[*link].next;
    return link;
}

static void age_out(struct tlp_match *m, const struct node *n)
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
static void take(struct tlp_match *m, uint32_t *link)
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
static void abandon(struct tlp_match *m, bool parked)
{
    if (parked)
        m->counts.unmatched++;
    else
        m->counts.unanswered++;
    take(m, find(m, m->nodes[m->ages[parked].oldest].key));
}

static void expire(struct tlp_match *m, int64_t now)
{
    static const int64_t patience[2] = {TLP_MATCH_OPEN_NS, TLP_MATCH_PARK_NS};
    for (int parked = 0; parked < 2; parked++)
        while (m->ages[parked].oldest != NONE) {
            int64_t since = m->nodes[m->ages[parked].oldest].read.request.time;
            if (now < since || (uint64_t)now - (uint64_t)since <= (uint64_t)patience[parked])
                break;
            abandon(m, parked);
        }
}

static uint32_t new_node(struct tlp_match *m, struct err *err)
{
    if (m->held >= TLP_MATCH_MOST)
        abandon(m, m->ages[1].oldest != NONE);
    uint32_t i = m->free;
    if (i != NONE) {
        m->free = m->nodes[i].next;
        return i;
    }
    void *nodes = m->nodes;
    if (mem_grow(&nodes, &m->cap, m->used + 1, sizeof *m->nodes, err))
        return NONE;
    m->nodes = nodes;
    return (uint32_t)m->used++;
}

/* Put a packet at the end of its key's FIFO; its node, or NULL with *err set. */
static struct node *add(struct tlp_match *m, uint64_t key, const struct record *packet, bool parked, struct err *err)
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
static bool receive(struct tlp_match *m, struct tlp_read *read, uint32_t due, const struct record *c)
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

static void close_request(struct tlp_match *m, struct tlp_read *done, int64_t now)
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

static int feed_request(struct tlp_match *m, const struct record *packet, uint64_t key, uint32_t reply,
                        struct tlp_read *done, struct err *err)
{
    if (tlp_is_read(tlp_record_type(packet)))
        m->counts.reads++;
    else
        m->counts.others++;
    struct tlp_read read = {.request = *packet};
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

static int feed_completion(struct tlp_match *m, const struct record *packet, uint64_t key, struct tlp_read *done,
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

int tlp_match_feed(struct tlp_match *m, const struct record *packet, uint32_t side, uint32_t reply,
                   struct tlp_read *done, struct err *err)
{
    enum tlp_type type = tlp_record_type(packet);
    expire(m, packet->time);
    if (tlp_is_completion(type))
        return feed_completion(m, packet, key_of(packet, side), done, err);
    if (tlp_wants_reply(type))
        return feed_request(m, packet, key_of(packet, side), reply, done, err);
    return 0;
}

void tlp_match_end(struct tlp_match *m)
{
    for (int parked = 0; parked < 2; parked++)
        while (m->ages[parked].oldest != NONE)
            abandon(m, parked);
}

const struct tlp_match_counts *tlp_match_counts(const struct tlp_match *m)
{
    return &m->counts;
}
