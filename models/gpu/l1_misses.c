#include "models/gpu/l1_misses.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

enum { NONE = UINT32_MAX, SECTORS = 4, LINES = 256 };

struct waiter {
    uint32_t load, next;
};

/* A line with sectors on their way. */
struct entry {
    uint64_t line;
    uint16_t first[SECTORS];               /* loads */
    uint32_t more[SECTORS], last[SECTORS]; /* waiters besides; free entry: more[0] links */
    uint32_t pending;
};

struct l1_misses {
    struct entry *entry;
    struct waiter *waiter;
    uint32_t *hash; /* entry + 1; 0: free */
    size_t entries, waiters;
    uint32_t used, waiters_used; /* ever taken */
    uint32_t free, waiters_free; /* lists */
    uint32_t hash_mask, hash_shift;
    uint32_t count, walk;
};

static uint32_t slot_of(const struct l1_misses *m, uint64_t line)
{
    return (uint32_t)(line * 0x9E3779B97F4A7C15u >> m->hash_shift);
}

static void hash_add(struct l1_misses *m, uint32_t number)
{
    uint32_t i = slot_of(m, m->entry[number].line);
    while (m->hash[i])
        i = (i + 1) & m->hash_mask;
    m->hash[i] = number + 1;
}

/* Room for n lines. */
static int grow(struct l1_misses *m, size_t n)
{
    struct err err;
    uint32_t bits = 1;
    while ((UINT64_C(1) << bits) < 2 * n)
        bits++;
    uint32_t *hash = mem_zalloc((size_t)1 << bits, sizeof *hash, &err);
    if (!hash || mem_grow((void **)&m->entry, &m->entries, n, sizeof *m->entry, &err)) {
        free(hash);
        return -1;
    }
    free(m->hash);
    m->hash = hash;
    m->hash_mask = (1u << bits) - 1;
    m->hash_shift = 64 - bits;
    for (uint32_t i = 0; i < m->used; i++)
        if (m->entry[i].pending)
            hash_add(m, i);
    return 0;
}

struct l1_misses *l1_misses_new(struct err *err)
{
    struct l1_misses *m = mem_zalloc(1, sizeof *m, err);
    if (!m)
        return NULL;
    if (grow(m, LINES)) {
        err_set(err, "no memory for misses");
        l1_misses_free(m);
        return NULL;
    }
    l1_misses_reset(m);
    return m;
}

void l1_misses_free(struct l1_misses *m)
{
    if (!m)
        return;
    free(m->entry);
    free(m->waiter);
    free(m->hash);
    free(m);
}

void l1_misses_reset(struct l1_misses *m)
{
    memset(m->hash, 0, (m->hash_mask + (size_t)1) * sizeof *m->hash);
    m->used = m->waiters_used = m->count = 0;
    m->free = m->waiters_free = m->walk = NONE;
}

uint32_t l1_misses_pending(const struct l1_misses *m, uint64_t line, uint32_t *entry)
{
    for (uint32_t i = slot_of(m, line); m->hash[i]; i = (i + 1) & m->hash_mask)
        if (m->entry[m->hash[i] - 1].line == line) {
            *entry = m->hash[i] - 1;
            return m->entry[*entry].pending;
        }
    *entry = NONE;
    return 0;
}

int l1_misses_merge(struct l1_misses *m, uint32_t number, uint32_t sector, uint32_t load)
{
    struct err err;
    struct entry *e = &m->entry[number];
    uint32_t w = m->waiters_free;
    if (w != NONE) {
        m->waiters_free = m->waiter[w].next;
    } else {
        w = m->waiters_used;
        if (w == m->waiters && mem_grow((void **)&m->waiter, &m->waiters, w + (size_t)1, sizeof *m->waiter, &err))
            return -1;
        m->waiters_used++;
    }
    m->waiter[w] = (struct waiter){load, NONE};
    *(e->more[sector] == NONE ? &e->more[sector] : &m->waiter[e->last[sector]].next) = w;
    e->last[sector] = w;
    return 0;
}

/* An entry for a line that has none. */
static uint32_t begin(struct l1_misses *m, uint64_t line)
{
    uint32_t number = m->free;
    if (number != NONE) {
        m->free = m->entry[number].more[0];
    } else {
        if (m->used == m->entries && grow(m, 2 * m->entries))
            return NONE;
        number = m->used++;
    }
    m->entry[number].line = line;
    m->entry[number].pending = 0;
    hash_add(m, number);
    return number;
}

uint32_t l1_misses_add(struct l1_misses *m, uint64_t line, uint32_t sector, uint32_t load)
{
    uint32_t number;
    l1_misses_pending(m, line, &number);
    if (number == NONE)
        number = begin(m, line);
    if (number == NONE)
        return NONE;
    struct entry *e = &m->entry[number];
    e->pending |= 1u << sector;
    e->first[sector] = (uint16_t)load;
    e->more[sector] = NONE;
    m->count++;
    return number * SECTORS + sector;
}

/* Take an entry out of the hash and close the gap behind it. */
static void end(struct l1_misses *m, uint32_t number)
{
    uint32_t i = slot_of(m, m->entry[number].line);
    while (m->hash[i] != number + 1)
        i = (i + 1) & m->hash_mask;
    for (uint32_t j = (i + 1) & m->hash_mask; m->hash[j]; j = (j + 1) & m->hash_mask) {
        uint32_t home = slot_of(m, m->entry[m->hash[j] - 1].line);
        if (((j - home) & m->hash_mask) < ((j - i) & m->hash_mask))
            continue;
        m->hash[i] = m->hash[j];
        i = j;
    }
    m->hash[i] = 0;
    m->entry[number].more[0] = m->free;
    m->free = number;
}

uint32_t l1_misses_take(struct l1_misses *m, uint32_t token, uint64_t *line)
{
    uint32_t number = token / SECTORS, sector = token % SECTORS;
    struct entry *e = &m->entry[number];
    *line = e->line;
    m->walk = e->more[sector];
    m->count--;
    e->pending &= ~(1u << sector);
    if (!e->pending)
        end(m, number);
    return e->first[sector];
}

uint32_t l1_misses_next(struct l1_misses *m)
{
    uint32_t w = m->walk;
    if (w == NONE)
        return NONE;
    struct waiter found = m->waiter[w];
    m->walk = found.next;
    m->waiter[w].next = m->waiters_free;
    m->waiters_free = w;
    return found.load;
}

uint32_t l1_misses_count(const struct l1_misses *m)
{
    return m->count;
}
