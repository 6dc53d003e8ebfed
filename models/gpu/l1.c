#include "models/gpu/l1.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/random.h"

/* A line with an entry has a place, or sectors on their way, or both. Lines with a place are a list by age in their
 * set; a hash finds the entry of a line. */
struct entry {
    uint64_t line;
    uint32_t older, newer;      /* in the set; free entry: newer links */
    uint16_t first[L1_SECTORS]; /* the load that asked */
    uint32_t way;               /* random: place in the set */
    uint8_t valid, pending, placed;
    uint8_t shared : L1_SECTORS; /* sectors that more than one load waits for */
    uint8_t lost : 1;            /* by tag: pushed out while it waited, and no longer in the hash */
};

/* Where shared: of the waiters besides the first, the last of a ring; and the cycle in which a sector was last fetched;
 * apart, so that an entry stays small. */
struct others {
    uint32_t last[L1_SECTORS];
    uint32_t fetched[L1_SECTORS];
};

/* fetches: it did not merge with those before it but fetched again; those behind it wait for that answer. */
struct waiter {
    uint32_t load : 31, fetches : 1;
    uint32_t next;
};

struct set {
    uint32_t oldest, newest, lines;
};

/* A slot of the hash. Bits 63..24: the hash of the line, whose top bits are its home; 23..0: entry + 1, 0: free. */
enum { FIRST_ENTRIES = 64, ENTRY_BITS = 24 };

struct l1 {
    struct l1_shape shape; /* lines: the most */
    uint32_t sets, ways;   /* 0 sets: keeps nothing */
    uint64_t *hash;
    uint32_t hash_mask, hash_shift;
    struct entry *entry;
    struct others *others; /* by entry */
    struct waiter *waiter;
    struct set *set;
    uint32_t *member;          /* random: entry of each way */
    size_t entries, waiters;   /* room */
    uint32_t used, live, free; /* entries ever taken, in use; list */
    uint32_t waiters_used, waiters_free;
    uint32_t pending;
    uint32_t walk, walk_end;
    uint32_t now, who; /* of l1_set_load(): cycle, modulo 2^32, and warp */
    struct random random;
};

/* --- the hash --- */

static uint64_t mix(uint64_t line)
{
    return line * 0x9E3779B97F4A7C15u;
}

static uint32_t find(const struct l1 *l1, uint64_t line)
{
    uint64_t h = mix(line);
    for (uint32_t i = (uint32_t)(h >> l1->hash_shift); l1->hash[i]; i = (i + 1) & l1->hash_mask)
        if ((l1->hash[i] ^ h) >> ENTRY_BITS == 0) {
            uint32_t number = (uint32_t)(l1->hash[i] & ((1u << ENTRY_BITS) - 1)) - 1;
            if (l1->entry[number].line == line)
                return number;
        }
    return L1_NONE;
}

static void hash_add(struct l1 *l1, uint32_t number)
{
    uint64_t h = mix(l1->entry[number].line);
    uint32_t i = (uint32_t)(h >> l1->hash_shift);
    while (l1->hash[i])
        i = (i + 1) & l1->hash_mask;
    l1->hash[i] = h >> ENTRY_BITS << ENTRY_BITS | (number + 1);
}

/* Take an entry out and close the gap behind it. */
static void hash_remove(struct l1 *l1, uint32_t number)
{
    uint64_t own = mix(l1->entry[number].line) >> ENTRY_BITS << ENTRY_BITS | (number + 1);
    uint32_t i = (uint32_t)(own >> l1->hash_shift);
    while (l1->hash[i] != own)
        i = (i + 1) & l1->hash_mask;
    for (uint32_t j = (i + 1) & l1->hash_mask; l1->hash[j]; j = (j + 1) & l1->hash_mask) {
        uint32_t home = (uint32_t)(l1->hash[j] >> l1->hash_shift);
        if (((j - home) & l1->hash_mask) < ((j - i) & l1->hash_mask))
            continue;
        l1->hash[i] = l1->hash[j];
        i = j;
    }
    l1->hash[i] = 0;
}

/* --- entries --- */

/* Two entries in a line of this machine's memory. */
static int grow_entries(struct l1 *l1, size_t n, struct err *err)
{
    n += n % 2;
    struct entry *entry = aligned_alloc(64, n * sizeof *entry);
    struct others *others = entry ? realloc(l1->others, n * sizeof *others) : NULL;
    if (!others) {
        free(entry);
        return err_set(err, "out of memory");
    }
    if (l1->used)
        memcpy(entry, l1->entry, l1->used * sizeof *entry);
    free(l1->entry);
    l1->entry = entry;
    l1->others = others;
    l1->entries = n;
    return 0;
}

/* Room for n entries. */
static int grow(struct l1 *l1, size_t n, struct err *err)
{
    uint32_t bits = 4;
    if (grow_entries(l1, n, err))
        return -1;
    while ((UINT64_C(1) << bits) < l1->entries + l1->entries / 2)
        bits++;
    if (bits > ENTRY_BITS)
        return err_set(err, "more than 2^%d lines of an L1 there and on their way", ENTRY_BITS - 1);
    uint64_t *hash = mem_zalloc((size_t)1 << bits, sizeof *hash, err);
    if (!hash)
        return -1;
    free(l1->hash);
    l1->hash = hash;
    l1->hash_mask = (1u << bits) - 1;
    l1->hash_shift = 64 - bits;
    for (uint32_t i = 0; i < l1->used; i++)
        if (l1->entry[i].placed || (l1->entry[i].pending && !l1->entry[i].lost))
            hash_add(l1, i);
    return 0;
}

static uint32_t take_entry(struct l1 *l1, uint64_t line)
{
    uint32_t number = l1->free;
    if (number != L1_NONE) {
        l1->free = l1->entry[number].newer;
    } else {
        if (l1->used == l1->entries && grow(l1, 2 * l1->entries, NULL))
            return L1_NONE;
        number = l1->used++;
    }
    l1->entry[number].line = line;
    struct entry *e = &l1->entry[number];
    e->valid = e->pending = e->placed = e->shared = e->lost = 0;
    l1->live++;
    hash_add(l1, number);
    return number;
}

static void drop_entry(struct l1 *l1, uint32_t number)
{
    if (!l1->entry[number].lost)
        hash_remove(l1, number);
    l1->entry[number].newer = l1->free;
    l1->free = number;
    l1->live--;
}

/* --- places --- */

static struct set *set_of(const struct l1 *l1, uint64_t line)
{
    uint64_t number = l1->shape.hashed ? mix(line) >> 32 : line;
    return &l1->set[l1->sets & (l1->sets - 1) ? number % l1->sets : number & (l1->sets - 1)];
}

static void unlink_(struct l1 *l1, struct set *set, const struct entry *e)
{
    *(e->older == L1_NONE ? &set->oldest : &l1->entry[e->older].newer) = e->newer;
    *(e->newer == L1_NONE ? &set->newest : &l1->entry[e->newer].older) = e->older;
}

static void append(struct l1 *l1, struct set *set, uint32_t number)
{
    struct entry *e = &l1->entry[number];
    e->older = set->newest;
    e->newer = L1_NONE;
    *(set->newest == L1_NONE ? &set->oldest : &l1->entry[set->newest].newer) = number;
    set->newest = number;
}

static void use(struct l1 *l1, uint32_t number)
{
    struct set *set = set_of(l1, l1->entry[number].line);
    if (set->newest == number || l1->shape.replacement == L1_RANDOM)
        return;
    unlink_(l1, set, &l1->entry[number]);
    append(l1, set, number);
}

/* The line loses its place, and its entry if nothing is on its way. */
static void give_up(struct l1 *l1, uint32_t number)
{
    struct entry *e = &l1->entry[number];
    struct set *set = set_of(l1, e->line);
    unlink_(l1, set, e);
    set->lines--;
    if (l1->member) {
        uint32_t *member = &l1->member[(size_t)(set - l1->set) * l1->ways];
        member[e->way] = member[set->lines];
        l1->entry[member[e->way]].way = e->way;
    }
    e->placed = e->valid = 0;
    if (!e->pending) {
        drop_entry(l1, number);
    } else if (l1->shape.allocate == L1_BY_TAG) {
        hash_remove(l1, number);
        e->lost = 1;
    }
}

static bool stays(const struct l1 *l1, uint32_t number)
{
    return l1->shape.allocate == L1_ON_MISS && l1->entry[number].pending;
}

/* The line of a full set that goes; L1_NONE: all stay. */
static uint32_t victim(struct l1 *l1, const struct set *set)
{
    if (l1->member) {
        const uint32_t *member = &l1->member[(size_t)(set - l1->set) * l1->ways];
        uint32_t first = random_below(&l1->random, l1->ways);
        for (uint32_t i = 0; i < l1->ways; i++)
            if (!stays(l1, member[(first + i) % l1->ways]))
                return member[(first + i) % l1->ways];
        return L1_NONE;
    }
    uint32_t number = set->oldest;
    while (number != L1_NONE && stays(l1, number))
        number = l1->entry[number].newer;
    return number;
}

/* Prefetch the hash slot of the next victim and the entry of the one after it. */
static void prefetch_victims(const struct l1 *l1, const struct set *set)
{
    if (set->oldest == L1_NONE)
        return;
    const struct entry *e = &l1->entry[set->oldest];
    l1_prefetch(l1, e->line);
    if (e->newer != L1_NONE)
        __builtin_prefetch(&l1->entry[e->newer], 1);
}

static void place(struct l1 *l1, uint32_t number)
{
    if (!l1->sets)
        return;
    struct entry *e = &l1->entry[number];
    struct set *set = set_of(l1, e->line);
    if (set->lines == l1->ways) {
        uint32_t goes = victim(l1, set);
        if (goes == L1_NONE)
            return;
        give_up(l1, goes);
        prefetch_victims(l1, set);
    }
    append(l1, set, number);
    if (l1->member) {
        e->way = set->lines;
        l1->member[(uint32_t)(set - l1->set) * l1->ways + e->way] = number;
    }
    set->lines++;
    e->placed = 1;
}

/* --- its life --- */

static int init(struct l1 *l1, struct err *err)
{
    const struct l1_shape *s = &l1->shape;
    if (s->lines && s->ways > s->lines)
        return err_set(err, "an L1 of %u lines has %u ways; expected at most a way for each line", s->lines, s->ways);
    if (s->lines > 1u << (ENTRY_BITS - 1))
        return err_set(err, "an L1 of %u lines; expected at most 2^%d", s->lines, ENTRY_BITS - 1);
    uint32_t sets = s->ways ? s->lines / s->ways : 1;
    l1->set = mem_zalloc(sets, sizeof *l1->set, err);
    if (!l1->set || grow(l1, FIRST_ENTRIES, err)) /* most launches use few */
        return -1;
    if (s->replacement == L1_RANDOM && !(l1->member = mem_zalloc(s->lines, sizeof *l1->member, err)))
        return -1;
    l1->random = (struct random){s->seed};
    l1_resize(l1, s->lines);
    return 0;
}

struct l1 *l1_new(const struct l1_shape *shape, struct err *err)
{
    struct l1 *l1 = mem_zalloc(1, sizeof *l1, err);
    if (!l1)
        return NULL;
    l1->shape = *shape;
    if (!init(l1, err))
        return l1;
    l1_free(l1);
    return NULL;
}

void l1_free(struct l1 *l1)
{
    if (!l1)
        return;
    free(l1->hash);
    free(l1->entry);
    free(l1->others);
    free(l1->waiter);
    free(l1->set);
    free(l1->member);
    free(l1);
}

void l1_resize(struct l1 *l1, uint32_t lines)
{
    lines = lines < l1->shape.lines ? lines : l1->shape.lines;
    l1->ways = l1->shape.ways ? l1->shape.ways : lines;
    l1->sets = l1->ways ? lines / l1->ways : 0;
    for (uint32_t i = 0; i < l1->sets; i++)
        l1->set[i] = (struct set){L1_NONE, L1_NONE, 0};
    if (l1->live)
        memset(l1->hash, 0, (l1->hash_mask + (size_t)1) * sizeof *l1->hash);
    l1->used = l1->live = l1->waiters_used = l1->pending = 0;
    l1->free = l1->waiters_free = l1->walk = L1_NONE;
}

/* --- lookups, misses and fills --- */

/* Whether a load of warp `who` waits for the pending sector. */
static bool waits(const struct l1 *l1, uint32_t number, uint32_t sector)
{
    const struct entry *e = &l1->entry[number];
    if (e->first[sector] / l1->shape.warp_loads == l1->who)
        return true;
    if (!(e->shared >> sector & 1))
        return false;
    uint32_t last = l1->others[number].last[sector], w = last;
    do {
        w = l1->waiter[w].next;
        if (l1->waiter[w].load / l1->shape.warp_loads == l1->who)
            return true;
    } while (w != last);
    return false;
}

/* Whether any load merges with pending misses of the line. */
static bool is_local(const struct l1_shape *shape, uint64_t line)
{
    for (uint32_t i = 0; i < shape->local_count; i++)
        if (line >= shape->local[i].first && line < shape->local[i].end)
            return true;
    return false;
}

/* Sectors (mask) fetched too long ago for a warp to merge with that does not wait for them yet. */
static uint32_t left(const struct l1 *l1, uint32_t number, uint32_t pending)
{
    uint32_t mask = 0;
    for (uint32_t rest = pending; rest; rest &= rest - 1) {
        uint32_t sector = (uint32_t)__builtin_ctz(rest);
        if (l1->now - l1->others[number].fetched[sector] > l1->shape.join_cycles && !waits(l1, number, sector))
            mask |= 1u << sector;
    }
    return mask;
}

struct l1_found l1_lookup(struct l1 *l1, uint64_t line, uint32_t sectors)
{
    uint32_t number = find(l1, line);
    if (number == L1_NONE)
        return (struct l1_found){0, 0, L1_NONE};
    const struct entry *e = &l1->entry[number];
    struct l1_found found = {e->valid & sectors, e->pending & ~e->valid & sectors, number};
    if (found.pending && l1->shape.join_cycles && !is_local(&l1->shape, line))
        found.pending &= ~left(l1, number, found.pending);
    if (found.hit)
        use(l1, number);
    return found;
}

void l1_set_load(struct l1 *l1, int64_t t, uint32_t load)
{
    l1->now = (uint32_t)t;
    l1->who = load / l1->shape.warp_loads;
}

void l1_prefetch(const struct l1 *l1, uint64_t line)
{
    __builtin_prefetch(&l1->hash[mix(line) >> l1->hash_shift]);
    if (l1->sets)
        __builtin_prefetch(set_of(l1, line), 1);
}

void l1_prefetch_entry(const struct l1 *l1, uint64_t line)
{
    uint64_t slot = l1->hash[mix(line) >> l1->hash_shift];
    if (slot)
        __builtin_prefetch(&l1->entry[(uint32_t)(slot & ((1u << ENTRY_BITS) - 1)) - 1], 1);
    if (!l1->sets)
        return;
    const struct set *set = set_of(l1, line);
    if (set->lines == l1->ways)
        __builtin_prefetch(&l1->entry[set->oldest], 1);
}

void l1_prefetch_fill(const struct l1 *l1, uint32_t token)
{
    __builtin_prefetch(&l1->entry[token / L1_SECTORS], 1);
}

static int wait_for(struct l1 *l1, uint32_t number, uint32_t sector, uint32_t load, bool fetches)
{
    struct entry *e = &l1->entry[number];
    uint32_t w = l1->waiters_free;
    if (w != L1_NONE) {
        l1->waiters_free = l1->waiter[w].next;
    } else {
        w = l1->waiters_used;
        if (mem_grow((void **)&l1->waiter, &l1->waiters, w + (size_t)1, sizeof *l1->waiter, NULL))
            return -1;
        l1->waiters_used++;
    }
    uint32_t *end = &l1->others[number].last[sector], last = e->shared >> sector & 1 ? *end : L1_NONE;
    l1->waiter[w] = (struct waiter){load & INT32_MAX, fetches, last == L1_NONE ? w : l1->waiter[last].next};
    if (last != L1_NONE)
        l1->waiter[last].next = w;
    *end = w;
    e->shared = (e->shared | 1u << sector) & ((1u << L1_SECTORS) - 1);
    return 0;
}

int l1_merge(struct l1 *l1, uint32_t number, uint32_t sector, uint32_t load)
{
    return wait_for(l1, number, sector, load, false);
}

uint32_t l1_fetch(struct l1 *l1, uint64_t line, uint32_t entry, uint32_t sectors, uint32_t load)
{
    if (entry == L1_NONE && (entry = take_entry(l1, line)) == L1_NONE)
        return L1_NONE;
    struct entry *e = &l1->entry[entry];
    if (l1->shape.allocate != L1_ON_FILL && !e->placed)
        place(l1, entry);
    for (uint32_t s = 0; s < L1_SECTORS; s++) {
        if (!(sectors >> s & 1))
            continue;
        if (e->pending >> s & 1) {
            if (wait_for(l1, entry, s, load, true))
                return L1_NONE;
        } else {
            e->first[s] = (uint16_t)load;
        }
        if (l1->shape.join_cycles)
            l1->others[entry].fetched[s] = l1->now;
    }
    e->pending |= (uint8_t)sectors;
    l1->pending += (uint32_t)__builtin_popcount(sectors);
    return entry * L1_SECTORS;
}

static void free_waiter(struct l1 *l1, uint32_t w)
{
    l1->waiter[w].next = l1->waiters_free;
    l1->waiters_free = w;
}

/* Those that share a sector wait no more: all, or those before one that has asked for itself, who is first then.
 * Returns whether there is such a one. */
static bool let_go(struct l1 *l1, uint32_t number, uint32_t sector)
{
    struct entry *e = &l1->entry[number];
    uint32_t last = l1->others[number].last[sector], before = L1_NONE, w = l1->waiter[last].next;
    l1->walk = w;
    while (!l1->waiter[w].fetches && w != last) {
        before = w;
        w = l1->waiter[w].next;
    }
    l1->walk_end = l1->waiter[w].fetches ? before : last;
    if (!l1->waiter[w].fetches || w == last)
        e->shared = e->shared & ~(1u << sector) & ((1u << L1_SECTORS) - 1);
    if (!l1->waiter[w].fetches)
        return false;
    if (before == L1_NONE)
        l1->walk = L1_NONE;
    e->first[sector] = (uint16_t)l1->waiter[w].load;
    if (w != last)
        l1->waiter[last].next = l1->waiter[w].next;
    free_waiter(l1, w);
    return true;
}

uint32_t l1_fill(struct l1 *l1, uint32_t token)
{
    uint32_t number = token / L1_SECTORS, sector = token % L1_SECTORS;
    struct entry *e = &l1->entry[number];
    uint32_t load = e->first[sector];
    l1->walk = l1->walk_end = L1_NONE;
    if (!(e->shared >> sector & 1) || !let_go(l1, number, sector))
        e->pending &= (uint8_t) ~(1u << sector);
    l1->pending--;
    if (e->placed)
        use(l1, number);
    else if (l1->shape.allocate == L1_ON_FILL)
        place(l1, number);
    if (e->placed)
        e->valid |= (uint8_t)(1u << sector);
    else if (!e->pending)
        drop_entry(l1, number);
    return load;
}

uint32_t l1_next_waiter(struct l1 *l1)
{
    uint32_t w = l1->walk;
    if (w == L1_NONE)
        return L1_NONE;
    l1->walk = w == l1->walk_end ? L1_NONE : l1->waiter[w].next;
    free_waiter(l1, w);
    return l1->waiter[w].load;
}

void l1_write(struct l1 *l1, uint64_t line, uint32_t sectors)
{
    uint32_t number = find(l1, line);
    if (number == L1_NONE || !(l1->entry[number].valid & sectors))
        return;
    l1->entry[number].valid &= (uint8_t)~sectors;
    if (!l1->entry[number].valid && !stays(l1, number))
        give_up(l1, number);
}
