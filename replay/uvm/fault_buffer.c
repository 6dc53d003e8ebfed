#include "replay/uvm/fault_buffer.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

#define WRITTEN UINT32_MAX /* a micro-TLB's number, of an entry of the scratch that is done */

#define NO_ENTRY UINT32_MAX

/* A key's place among the chains: its first TURN_BITS bits. */
enum { TURN_BITS = 12, TURN_SHIFT = 64 - TURN_BITS, TURN_CHAINS = 1 << TURN_BITS };

/* The entries of the scratch that are ready, to be taken by their keys, which are scattered evenly: few begin alike. */
struct uvm_turns {
    uint64_t words;                    /* bit i: a chain of word i has an entry */
    uint64_t chains[TURN_CHAINS / 64]; /* bit: the chain has an entry */
    uint32_t first[TURN_CHAINS];       /* NO_ENTRY: none */
    uint32_t next[];                   /* [cap]: in the chain, of an entry that waits; NO_ENTRY: the last */
};

_Static_assert(TURN_CHAINS == 64 * 64, "one word tells of all the others");

int fault_buffer_init(struct fault_buffer *r, const struct uvm_platform *p, struct err *err)
{
    size_t utlbs = (size_t)p->utlbs, batch = (size_t)p->batch_faults;
    *r = (struct fault_buffer){.cap = 2 * utlbs * (size_t)p->utlb_faults,
                               .exact = batch,
                               .gap_ns = p->gpu_fault_gap_ns,
                               .soon_ns = FAULT_BUFFER_NEVER};
    r->entries = mem_zalloc(r->cap, sizeof *r->entries, err);
    r->sorting = mem_zalloc(r->cap, sizeof *r->sorting, err);
    r->keys = mem_zalloc(2 * r->cap, sizeof *r->keys, err);
    r->turns = mem_zalloc(1, sizeof *r->turns + r->cap * sizeof *r->turns->next, err);
    r->cluster = mem_zalloc(utlbs, sizeof *r->cluster, err);
    r->last = mem_zalloc(utlbs, sizeof *r->last, err);
    r->instances = mem_zalloc(batch, sizeof *r->instances, err);
    r->kept = mem_zalloc(batch, sizeof *r->kept, err);
    if (!r->entries || !r->sorting || !r->keys || !r->turns || !r->cluster || !r->last || !r->instances || !r->kept)
        return -1;
    memset(r->turns->first, 0xff, sizeof r->turns->first);
    for (size_t i = 0; i < utlbs; i++)
        r->cluster[i] = i % (uint64_t)p->gpcs * UINT64_C(0xD6E8FEB86659FD93);
    return 0;
}

void fault_buffer_release(struct fault_buffer *r)
{
    free(r->entries);
    free(r->sorting);
    free(r->keys);
    free(r->turns);
    free(r->cluster);
    free(r->last);
    free(r->instances);
    free(r->kept);
    *r = (struct fault_buffer){0};
}

void fault_buffer_report(struct fault_buffer *r, uint32_t page, uint32_t utlb, int64_t ready_ns)
{
    int64_t written = r->next_ns > (double)ready_ns ? (int64_t)r->next_ns : ready_ns;
    r->entries[r->count++] = (struct uvm_entry){ready_ns, page, utlb};
    if (written < r->soon_ns)
        r->soon_ns = written;
}

/* Bits of an entry's index in a key. */
enum { INDEX_BITS = 22, DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

#define INDEX_MASK ((UINT64_C(1) << INDEX_BITS) - 1)

/* Sort n keys by the bits above those of the index, which ascends already; `other` is scratch of as many. */
static const uint64_t *sort_keys(uint64_t *keys, uint64_t *other, size_t n)
{
    uint64_t differ = 0;
    for (size_t i = 1; i < n; i++)
        differ |= keys[i] ^ keys[0];
    for (unsigned shift = INDEX_BITS; shift < 64 && differ >> shift; shift += DIGIT_BITS) {
        if (!(differ >> shift & (DIGITS - 1)))
            continue;
        uint32_t start[DIGITS + 1] = {0};
        for (size_t i = 0; i < n; i++)
            start[(keys[i] >> shift & (DIGITS - 1)) + 1]++;
        for (unsigned i = 0; i < DIGITS; i++)
            start[i + 1] += start[i];
        for (size_t i = 0; i < n; i++)
            other[start[keys[i] >> shift & (DIGITS - 1)]++] = keys[i];
        uint64_t *t = keys;
        keys = other;
        other = t;
    }
    return keys;
}

/* Whether entries are in order of readiness. */
static bool in_order(const struct uvm_entry *e, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (e[i].time_ns < e[i - 1].time_ns)
            return false;
    return true;
}

/* Copy entries under way to the scratch, in order of readiness; returns how many. */
static size_t sort_coming(struct fault_buffer *r)
{
    const uint64_t most = UINT64_MAX >> INDEX_BITS; /* an hour: what is later than that counts as that late */
    size_t n = r->count - r->written;
    const struct uvm_entry *e = r->entries + r->written;
    int64_t first = FAULT_BUFFER_NEVER;
    if (in_order(e, n)) {
        memcpy(r->sorting, e, n * sizeof *e);
        return n;
    }
    for (size_t i = 0; i < n; i++)
        first = e[i].time_ns < first ? e[i].time_ns : first;
    for (size_t i = 0; i < n; i++) {
        uint64_t late = (uint64_t)(e[i].time_ns - first);
        r->keys[i] = (late < most ? late : most) << INDEX_BITS | i;
    }
    const uint64_t *keys = sort_keys(r->keys, r->keys + r->cap, n);
    for (size_t i = 0; i < n; i++)
        r->sorting[i] = e[keys[i] & INDEX_MASK];
    return n;
}

/* The place of an entry in the order of writing, until the next replay. */
static uint64_t turn_of(const struct fault_buffer *r, const struct uvm_entry *e)
{
    uint64_t x = (e->page & ~UVM_FAULT_WRITE) ^ r->cluster[e->utlb] ^ r->replays * UINT64_C(0x94D049BB133111EB);
    x = (x ^ x >> 32) * UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 32) * UINT64_C(0xBF58476D1CE4E5B9);
    return x >> INDEX_BITS;
}

/* An entry waits for its turn: in the chain of the keys that begin as its own. */
static void turns_add(struct uvm_turns *t, const uint64_t *keys, uint32_t entry)
{
    unsigned chain = (unsigned)(keys[entry] >> TURN_SHIFT);
    t->next[entry] = t->first[chain];
    t->first[chain] = entry;
    t->chains[chain / 64] |= UINT64_C(1) << chain % 64;
    t->words |= UINT64_C(1) << chain / 64;
}

/* Whose turn it is, of those that wait: it waits no more. */
static uint32_t turns_take(struct uvm_turns *t, const uint64_t *keys)
{
    unsigned word = (unsigned)__builtin_ctzll(t->words);
    unsigned chain = word * 64 + (unsigned)__builtin_ctzll(t->chains[word]);
    uint32_t *best = &t->first[chain];
    for (uint32_t *at = &t->next[*best]; *at != NO_ENTRY; at = &t->next[*at])
        if (keys[*at] < keys[*best])
            best = at;
    uint32_t entry = *best;
    *best = t->next[entry];
    if (t->first[chain] == NO_ENTRY && !(t->chains[word] &= t->chains[word] - 1))
        t->words &= t->words - 1;
    return entry;
}

/* Nobody waits any more. */
static void turns_end(struct uvm_turns *t)
{
    if (t->words)
        memset(t->first, 0xff, sizeof t->first);
    for (; t->words; t->words &= t->words - 1)
        t->chains[__builtin_ctzll(t->words)] = 0;
}

/* Keep the unwritten ones of n sorted entries behind the written ones, and note when the first can be written. */
static void keep_rest(struct fault_buffer *r, size_t n)
{
    size_t at = r->written;
    r->soon_ns = FAULT_BUFFER_NEVER;
    for (size_t i = 0; i < n; i++) {
        if (r->sorting[i].utlb == WRITTEN)
            continue;
        int64_t ready = r->sorting[i].time_ns;
        r->entries[at++] = r->sorting[i];
        if (r->next_ns > (double)ready)
            ready = (int64_t)r->next_ns;
        r->soon_ns = ready < r->soon_ns ? ready : r->soon_ns;
    }
}

/* Whether the GPU, never idle, writes n entries more by `time_ns`. *next_ns: when it is free again, at the latest. */
static bool written_by(const struct fault_buffer *r, const struct uvm_entry *e, size_t n, int64_t time_ns,
                       double *next_ns)
{
    double last = r->next_ns;
    for (size_t i = 0; i < n; i++)
        last = (double)e[i].time_ns > last ? (double)e[i].time_ns : last;
    *next_ns = last + r->gap_ns * (double)n;
    return *next_ns <= (double)time_ns;
}

/* Write entries that nobody inspects one by one, if all are ready by `time_ns`. */
static bool write_rest(struct fault_buffer *r, size_t n, int64_t time_ns)
{
    size_t at = r->written;
    double next_ns;
    for (size_t i = 0; i < n; i++)
        if (r->sorting[i].utlb != WRITTEN)
            r->entries[at++] = r->sorting[i];
    if (!written_by(r, r->entries + r->written, at - r->written, time_ns, &next_ns))
        return false;
    r->next_ns = next_ns;
    r->written = at;
    r->soon_ns = FAULT_BUFFER_NEVER;
    return true;
}

/* The GPU writes what it can by `time_ns`: whenever it is free, the entry whose turn it is among those that are ready.
 * Behind the first `exact` the order is open if all are written. */
static void write_until(struct fault_buffer *r, int64_t time_ns, size_t exact)
{
    if (r->soon_ns > time_ns)
        return;
    size_t n = sort_coming(r), ready = 0, waiting = 0;
    for (size_t done = 0;; done++) {
        double at = r->next_ns;
        if (!waiting && ready < n && (double)r->sorting[ready].time_ns > at)
            at = (double)r->sorting[ready].time_ns;
        if (at > (double)time_ns || (!waiting && ready == n))
            break;
        if (done == exact && write_rest(r, n, time_ns)) {
            turns_end(r->turns);
            return;
        }
        for (; ready < n && (double)r->sorting[ready].time_ns <= at; ready++, waiting++) {
            r->keys[ready] = turn_of(r, &r->sorting[ready]) << INDEX_BITS | ready;
            turns_add(r->turns, r->keys, (uint32_t)ready);
        }
        struct uvm_entry *e = &r->sorting[turns_take(r->turns, r->keys)];
        waiting--;
        r->entries[r->written++] = (struct uvm_entry){(int64_t)at, e->page, e->utlb};
        e->utlb = WRITTEN;
        r->next_ns = at + r->gap_ns;
    }
    turns_end(r->turns);
    keep_rest(r, n);
}

void fault_buffer_read_put(struct fault_buffer *r, int64_t time_ns)
{
    write_until(r, time_ns, r->exact);
    r->put = r->written;
}

/* The kept entry of the same page and micro-TLB, or the last kept one of the page; `kept`: there is none. */
static uint32_t merge_into(struct fault_buffer *r, const struct uvm_entry *e, uint32_t kept)
{
    uint32_t page = e->page & ~UVM_FAULT_WRITE;
    const struct uvm_last_kept *last = &r->last[e->utlb];
    if (last->fetch == r->fetches && (r->kept[last->at] & ~UVM_FAULT_WRITE) == page)
        return last->at;
    if (kept && (r->kept[kept - 1] & ~UVM_FAULT_WRITE) == page && e->page <= r->kept[kept - 1])
        return kept - 1;
    return kept;
}

struct uvm_fetched fault_buffer_fetch(struct fault_buffer *r, uint32_t max, uint32_t *pages)
{
    struct uvm_fetched f = {.first_ns = r->get < r->put ? r->entries[r->get].time_ns : FAULT_BUFFER_NEVER};
    r->fetches++;
    for (; r->get < r->put && f.raw < max; r->get++, f.raw++) {
        const struct uvm_entry *e = &r->entries[r->get];
        uint32_t at = merge_into(r, e, f.kept);
        pages[f.raw] = e->page;
        if (at < f.kept) {
            r->instances[at]++;
            r->kept[at] |= e->page & UVM_FAULT_WRITE;
            continue;
        }
        r->kept[f.kept] = e->page;
        r->instances[f.kept] = 1;
        r->last[e->utlb] = (struct uvm_last_kept){r->fetches, f.kept++};
    }
    for (uint32_t i = 0; i < f.kept; i++) {
        uint32_t page = r->kept[i] & ~UVM_FAULT_WRITE;
        if (i && page >= f.page)
            continue;
        f.page = page;
        f.instances = r->instances[i];
    }
    return f;
}

size_t fault_buffer_flush_again(struct fault_buffer *r, int64_t time_ns)
{
    double next_ns;
    if (!written_by(r, r->entries + r->written, r->count - r->written, time_ns, &next_ns)) {
        fault_buffer_read_put(r, time_ns);
        return fault_buffer_flush(r);
    }
    r->next_ns = next_ns;
    r->soon_ns = FAULT_BUFFER_NEVER;
    r->put = r->written = r->count;
    return fault_buffer_flush(r);
}

size_t fault_buffer_flush(struct fault_buffer *r)
{
    size_t dropped = r->put - r->get;
    r->get = r->put;
    return dropped;
}

void fault_buffer_replay(struct fault_buffer *r, int64_t time_ns)
{
    double next_ns;
    const size_t room = r->cap / 2;
    bool full = r->count - r->get > room;
    if (full || !written_by(r, r->entries + r->written, r->count - r->written, time_ns, &next_ns)) {
        write_until(r, time_ns, SIZE_MAX);
        if (r->written - r->get > room)
            r->written = r->get + room;
        if (r->put > r->written)
            r->put = r->written;
        r->count = r->written;
        r->soon_ns = FAULT_BUFFER_NEVER;
    }
    memmove(r->entries, r->entries + r->get, (r->count - r->get) * sizeof *r->entries);
    r->replays++;
    r->put -= r->get;
    r->written -= r->get;
    r->count -= r->get;
    r->get = 0;
}

int64_t fault_buffer_first_ns(struct fault_buffer *r)
{
    return r->get < r->written ? r->entries[r->get].time_ns : r->soon_ns;
}
