#include "models/gpu/l1.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

/* A fully associative cache finds a line by hash and its oldest by a list; one of sets looks at each line of the set.
 */
enum { NONE = UINT32_MAX };

struct entry {
    uint64_t line;
    uint64_t used;              /* sets: when, in uses */
    uint32_t previous, next;    /* fully associative: towards the oldest, the newest; next also links free entries */
    uint8_t valid, wait, taken; /* sectors there; sectors awaited (on miss); whether a line has the entry */
};

struct l1 {
    struct l1_shape shape;
    uint32_t most, lines, sets;
    uint32_t fresh, free; /* entries never taken since it was emptied; list of those given up */
    uint32_t oldest, newest;
    uint64_t now, random;
    uint32_t *hash; /* entry + 1; 0: free */
    uint32_t hash_mask, hash_shift;
    struct entry *entry;
};

struct l1 *l1_new(const struct l1_shape *shape, struct err *err)
{
    if (shape->lines == 0 || shape->ways > shape->lines) {
        err_set(err, "an L1 of %u lines with %u ways; expected a line, and no more ways than lines", shape->lines,
                shape->ways);
        return NULL;
    }
    struct l1 *l1 = mem_zalloc(1, sizeof *l1, err);
    if (!l1)
        return NULL;
    l1->shape = *shape;
    l1->most = shape->lines;
    uint32_t slots = 4, bits = 2;
    for (; slots < 2 * (uint64_t)shape->lines; slots *= 2)
        bits++;
    l1->hash_mask = slots - 1;
    l1->hash_shift = 64 - bits;
    l1->hash = mem_zalloc(slots, sizeof *l1->hash, err);
    l1->entry = l1->hash ? mem_zalloc(shape->lines, sizeof *l1->entry, err) : NULL;
    if (!l1->entry) {
        l1_free(l1);
        return NULL;
    }
    l1->random = shape->seed;
    l1_resize(l1, shape->lines);
    return l1;
}

void l1_free(struct l1 *l1)
{
    if (!l1)
        return;
    free(l1->hash);
    free(l1->entry);
    free(l1);
}

void l1_resize(struct l1 *l1, uint32_t lines)
{
    l1->lines = lines < l1->most ? lines : l1->most;
    l1->sets = l1->shape.ways ? l1->lines / l1->shape.ways : 0;
    if (l1->shape.ways)
        memset(l1->entry, 0, l1->most * sizeof *l1->entry);
    else
        memset(l1->hash, 0, (l1->hash_mask + (size_t)1) * sizeof *l1->hash);
    l1->fresh = 0;
    l1->free = l1->oldest = l1->newest = NONE;
}

/* --- finding --- */

static uint32_t slot_of(const struct l1 *l1, uint64_t line)
{
    return (uint32_t)(line * 0x9E3779B97F4A7C15u >> l1->hash_shift);
}

static struct entry *find_hashed(const struct l1 *l1, uint64_t line)
{
    for (uint32_t i = slot_of(l1, line); l1->hash[i]; i = (i + 1) & l1->hash_mask)
        if (l1->entry[l1->hash[i] - 1].line == line)
            return &l1->entry[l1->hash[i] - 1];
    return NULL;
}

static struct entry *set_of(const struct l1 *l1, uint64_t line)
{
    return &l1->entry[line % l1->sets * l1->shape.ways];
}

static struct entry *find(const struct l1 *l1, uint64_t line)
{
    if (!l1->shape.ways)
        return find_hashed(l1, line);
    struct entry *set = set_of(l1, line);
    for (uint32_t i = 0; i < l1->shape.ways; i++)
        if (set[i].taken && set[i].line == line)
            return &set[i];
    return NULL;
}

static void hash_add(struct l1 *l1, uint32_t number)
{
    uint32_t i = slot_of(l1, l1->entry[number].line);
    while (l1->hash[i])
        i = (i + 1) & l1->hash_mask;
    l1->hash[i] = number + 1;
}

/* Take an entry out of the hash and close the gap behind it. */
static void hash_remove(struct l1 *l1, uint32_t number)
{
    uint32_t i = slot_of(l1, l1->entry[number].line);
    while (l1->hash[i] != number + 1)
        i = (i + 1) & l1->hash_mask;
    for (uint32_t j = i;;) {
        j = (j + 1) & l1->hash_mask;
        if (!l1->hash[j])
            break;
        uint32_t home = slot_of(l1, l1->entry[l1->hash[j] - 1].line);
        if (((j - home) & l1->hash_mask) >= ((j - i) & l1->hash_mask)) {
            l1->hash[i] = l1->hash[j];
            i = j;
        }
    }
    l1->hash[i] = 0;
}

/* --- order of use --- */

static void unlink_(struct l1 *l1, const struct entry *e)
{
    *(e->previous == NONE ? &l1->oldest : &l1->entry[e->previous].next) = e->next;
    *(e->next == NONE ? &l1->newest : &l1->entry[e->next].previous) = e->previous;
}

static void append(struct l1 *l1, struct entry *e)
{
    uint32_t number = (uint32_t)(e - l1->entry);
    e->previous = l1->newest;
    e->next = NONE;
    *(l1->newest == NONE ? &l1->oldest : &l1->entry[l1->newest].next) = number;
    l1->newest = number;
}

static void use(struct l1 *l1, struct entry *e)
{
    e->used = ++l1->now;
    if (l1->shape.ways || l1->newest == (uint32_t)(e - l1->entry))
        return;
    unlink_(l1, e);
    append(l1, e);
}

/* --- taking and giving up --- */

static uint32_t draw(struct l1 *l1, uint32_t n)
{
    uint64_t z = l1->random += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (uint32_t)(((z ^ z >> 31) >> 32) * n >> 32);
}

static void give_up(struct l1 *l1, struct entry *e)
{
    e->taken = e->valid = e->wait = 0;
    if (l1->shape.ways)
        return;
    hash_remove(l1, (uint32_t)(e - l1->entry));
    unlink_(l1, e);
    e->next = l1->free;
    l1->free = (uint32_t)(e - l1->entry);
}

/* The one that goes, of n entries that are all taken; NULL if all of them wait. */
static struct entry *victim(struct l1 *l1, struct entry *set, uint32_t n)
{
    if (l1->shape.replacement == L1_RANDOM) {
        uint32_t first = draw(l1, n);
        for (uint32_t i = 0; i < n; i++)
            if (!set[(first + i) % n].wait)
                return &set[(first + i) % n];
        return NULL;
    }
    struct entry *best = NULL;
    if (l1->shape.ways) {
        for (uint32_t i = 0; i < n; i++)
            if (!set[i].wait && (!best || set[i].used < best->used))
                best = &set[i];
        return best;
    }
    for (uint32_t i = l1->oldest; i != NONE; i = l1->entry[i].next)
        if (!l1->entry[i].wait)
            return &l1->entry[i];
    return NULL;
}

/* A free entry for a line of fully associative ones, or of its set; one is made free if need be. */
static struct entry *room(struct l1 *l1, uint64_t line)
{
    struct entry *set = l1->shape.ways ? set_of(l1, line) : l1->entry;
    uint32_t n = l1->shape.ways ? l1->shape.ways : l1->lines;
    for (uint32_t i = 0; l1->shape.ways && i < n; i++)
        if (!set[i].taken)
            return &set[i];
    if (!l1->shape.ways && l1->free == NONE && l1->fresh < l1->lines)
        return &l1->entry[l1->fresh++];
    if (l1->shape.ways || l1->free == NONE) {
        struct entry *e = victim(l1, set, n);
        if (!e)
            return NULL;
        give_up(l1, e);
        if (l1->shape.ways)
            return e;
    }
    struct entry *e = &l1->entry[l1->free];
    l1->free = e->next;
    return e;
}

/* Give the line a place; NULL if it gets none. */
static struct entry *take(struct l1 *l1, uint64_t line)
{
    struct entry *e = room(l1, line);
    if (!e)
        return NULL;
    e->line = line;
    e->valid = e->wait = 0;
    e->taken = 1;
    e->used = ++l1->now;
    if (!l1->shape.ways) {
        hash_add(l1, (uint32_t)(e - l1->entry));
        append(l1, e);
    }
    return e;
}

/* --- what the multiprocessor asks --- */

uint32_t l1_read(struct l1 *l1, uint64_t line, uint32_t sectors)
{
    struct entry *e = find(l1, line);
    uint32_t found = e ? e->valid & sectors : 0;
    if (found)
        use(l1, e);
    if (l1->shape.allocate == L1_ON_MISS && found != sectors) {
        e = e ? e : take(l1, line);
        if (e)
            e->wait |= (uint8_t)(sectors & ~found);
    }
    return found;
}

void l1_fill(struct l1 *l1, uint64_t line, uint32_t sectors)
{
    struct entry *e = find(l1, line);
    if (e)
        use(l1, e);
    else if (l1->shape.allocate == L1_ON_FILL)
        e = take(l1, line);
    if (!e)
        return;
    e->valid |= (uint8_t)sectors;
    e->wait &= (uint8_t)~sectors;
}

void l1_write(struct l1 *l1, uint64_t line, uint32_t sectors)
{
    struct entry *e = find(l1, line);
    if (!e || !(e->valid & sectors))
        return;
    e->valid &= (uint8_t)~sectors;
    if (!e->valid && !e->wait)
        give_up(l1, e);
}
