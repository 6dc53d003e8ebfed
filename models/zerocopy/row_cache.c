#include "models/zerocopy/row_cache.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/id_map.h"
#include "trace/base/mem.h"
#include "trace/graph/graph_reorder.h"

enum { FAR = 24 }; /* lookups ahead that memory is asked for */

int row_cache_number(const uint64_t *rows, size_t n, uint32_t *numbers, uint32_t *distinct, struct err *err)
{
    struct id_map map = {0};
    int rc = n < UINT32_MAX ? 0 : err_set(err, "%zu lookups in a cache; expected at most 2^32 - 2", n);
    for (size_t i = 0; i < n && !rc; i++)
        rc = id_map_number(&map, rows[i], &numbers[i], err);
    *distinct = map.count;
    id_map_release(&map);
    return rc;
}

/* --- lru --- */

enum { EIGHT = 8, WORD = 64, WORDS = 32, GROUP = WORD * WORDS, GROUPS = 32, SUPER = GROUP * GROUPS };

/* A bit for each lookup, set when its row is asked for again; how many are set before each word in its group, before
 * each group in its super, before each super up to the last that is begun. */
struct timeline {
    uint64_t *bits;
    uint16_t *word, *group;
    uint32_t *super;
    uint32_t end, room; /* bits */
    uint32_t dead;      /* bits that are set */
    uint32_t *at;       /* of each row its last lookup's bit, + 1; 0: none */
    uint32_t *of;       /* of each bit its row */
};

static void timeline_close(struct timeline *t)
{
    free(t->bits);
    free(t->word);
    free(t->group);
    free(t->super);
    free(t->at);
    free(t->of);
}

static int timeline_open(struct timeline *t, uint32_t distinct, size_t n, struct err *err)
{
    const uint64_t want = n < 3 * (uint64_t)distinct ? n : 3 * (uint64_t)distinct;
    const uint64_t supers = want / SUPER + 1;
    *t = (struct timeline){.room =
                               supers * SUPER > UINT32_MAX ? UINT32_MAX / SUPER * SUPER : (uint32_t)(supers * SUPER)};
    const size_t words = t->room / WORD;
    return (t->bits = mem_zalloc(words, sizeof *t->bits, err)) && (t->word = mem_zalloc(words, sizeof *t->word, err)) &&
                   (t->group = mem_zalloc(words / WORDS, sizeof *t->group, err)) &&
                   (t->super = mem_zalloc(supers + EIGHT, sizeof *t->super, err)) &&
                   (t->at = mem_zalloc((size_t)distinct + 1, sizeof *t->at, err)) &&
                   (t->of = mem_zalloc(t->room, sizeof *t->of, err))
               ? 0
               : -1;
}

/* Trips of words and groups are as many each time: a compiler makes vectors of them. Those of supers are few: most rows
 * that are asked for were asked for not long ago. */
static inline void set(struct timeline *t, uint32_t bit)
{
    const uint32_t w = bit / WORD, g = bit / GROUP, last = (t->end - 1) / SUPER;
    uint16_t *word = t->word + (size_t)g * WORDS, *group = t->group + (size_t)bit / SUPER * GROUPS;
    t->bits[w] |= 1ULL << bit % WORD;
    t->dead++;
    for (uint32_t i = 0; i < WORDS; i++)
        word[i] = (uint16_t)(word[i] + (i > w % WORDS));
    for (uint32_t i = 0; i < GROUPS; i++)
        group[i] = (uint16_t)(group[i] + (i > g % GROUPS));
    for (uint32_t i = bit / SUPER / EIGHT * EIGHT; i <= last; i += EIGHT)
        for (uint32_t k = 0; k < EIGHT; k++)
            t->super[i + k] += i + k > bit / SUPER;
}

/* Bits behind this one, which is not set, that are not set. */
static inline uint32_t behind(const struct timeline *t, uint32_t bit)
{
    const uint32_t w = bit / WORD, here = (uint32_t)__builtin_popcountll(t->bits[w] & ((1ULL << bit % WORD) - 1));
    const uint32_t before = t->super[bit / SUPER] + t->group[bit / GROUP] + t->word[w] + here;
    return t->end - 1 - bit - (t->dead - before);
}

/* Bits that are not set to the front, in their order. */
static void move_together(struct timeline *t)
{
    uint32_t n = 0;
    for (uint32_t w = 0; w * WORD < t->end; w++)
        for (uint64_t live = ~t->bits[w]; live; live &= live - 1) {
            t->of[n] = t->of[w * WORD + (uint32_t)__builtin_ctzll(live)];
            t->at[t->of[n]] = n + 1;
            n++;
        }
    memset(t->bits, 0, t->room / 8);
    memset(t->word, 0, t->room / WORD * sizeof *t->word);
    memset(t->group, 0, t->room / GROUP * sizeof *t->group);
    memset(t->super, 0, t->room / SUPER * sizeof *t->super);
    t->end = n;
    t->dead = 0;
}

static int lru(const uint32_t *rows, size_t n, uint32_t distinct, uint32_t *depths, struct err *err)
{
    struct timeline t;
    int rc = timeline_open(&t, distinct, n, err);
    for (size_t i = 0; i < n && !rc; i++) {
        const uint32_t row = rows[i];
        if (i + FAR < n)
            __builtin_prefetch(&t.at[rows[i + FAR]]);
        if (t.end == t.room)
            move_together(&t);
        const uint32_t at = t.at[row];
        depths[i] = at ? behind(&t, at - 1) : ROW_CACHE_NEVER;
        if (at)
            set(&t, at - 1);
        if (t.end % SUPER == 0)
            t.super[t.end / SUPER] = t.dead;
        t.of[t.end] = row;
        t.at[row] = ++t.end;
    }
    timeline_close(&t);
    return rc;
}

/* --- lfu --- */

static int lfu(const uint32_t *rows, size_t n, uint32_t distinct, uint32_t *depths, struct err *err)
{
    struct standing {
        uint32_t place, count;
    } *of = mem_zalloc((size_t)distinct + 1, sizeof *of, err);
    uint32_t *order = of ? mem_zalloc((size_t)distinct + 1, sizeof *order, err) : NULL, known = 0;
    uint32_t *first = order ? mem_zalloc(n + 2, sizeof *first, err) : NULL; /* place of those of this count */
    for (size_t i = 0; first && i < n; i++) {
        const uint32_t row = rows[i];
        if (i + FAR < n)
            __builtin_prefetch(&of[rows[i + FAR]]);
        struct standing *s = &of[row];
        if (s->count == 0) { /* behind all others */
            depths[i] = ROW_CACHE_NEVER;
            order[known] = row;
            s->place = known++;
            s->count = 1;
            continue;
        }
        depths[i] = s->place;
        /* Of this count all stand from first[count] on; those of a higher one before. Where none has a count, that is
         * where the first to have it comes to stand. */
        const uint32_t to = first[s->count], other = order[to];
        order[s->place] = other;
        of[other].place = s->place;
        order[to] = row;
        s->place = to;
        first[s->count++]++;
    }
    free(of);
    free(order);
    const bool done = first;
    free(first);
    return done ? 0 : -1;
}

/* --- counted --- */

static int counted(const uint32_t *rows, size_t n, uint32_t distinct, uint32_t *depths, struct err *err)
{
    double *count = mem_zalloc((size_t)distinct + 1, sizeof *count, err);
    for (size_t i = 0; count && i < n; i++)
        count[rows[i]]++;
    uint32_t *place = count ? graph_rank(count, distinct, err) : NULL;
    for (size_t i = 0; place && i < n; i++)
        depths[i] = place[rows[i]];
    const bool done = place;
    free(count);
    free(place);
    return done ? 0 : -1;
}

int row_cache_numbered(enum row_cache cache, const uint32_t *numbers, size_t n, uint32_t distinct, uint32_t *depths,
                       struct err *err)
{
    return cache == ROW_CACHE_LRU   ? lru(numbers, n, distinct, depths, err)
           : cache == ROW_CACHE_LFU ? lfu(numbers, n, distinct, depths, err)
                                    : counted(numbers, n, distinct, depths, err);
}

int row_cache_depths(enum row_cache cache, const uint64_t *rows, size_t n, uint32_t *depths, struct err *err)
{
    uint32_t distinct;
    return row_cache_number(rows, n, depths, &distinct, err) ||
                   row_cache_numbered(cache, depths, n, distinct, depths, err)
               ? -1
               : 0;
}

/* --- all sizes --- */

uint64_t *row_cache_curve(enum row_cache cache, const uint64_t *rows, size_t n, uint32_t *distinct, struct err *err)
{
    uint32_t *depths = mem_zalloc(n + 1, sizeof *depths, err);
    uint64_t *hits = NULL;
    if (depths && row_cache_number(rows, n, depths, distinct, err) == 0 &&
        row_cache_numbered(cache, depths, n, *distinct, depths, err) == 0)
        hits = mem_zalloc((size_t)*distinct + 1, sizeof *hits, err);
    for (size_t i = 0; hits && i < n; i++)
        if (depths[i] != ROW_CACHE_NEVER)
            hits[depths[i] + 1]++;
    for (uint32_t c = 1; hits && c <= *distinct; c++)
        hits[c] += hits[c - 1];
    free(depths);
    return hits;
}

uint32_t row_cache_knee(const uint64_t *hits, uint32_t most)
{
    uint32_t knee = 0;
    double highest = 0;
    for (uint32_t c = 1; c < most; c++) {
        const double above = (double)(hits[c] - hits[0]) * most - (double)(hits[most] - hits[0]) * c;
        if (above > highest) {
            highest = above;
            knee = c;
        }
    }
    return knee;
}
