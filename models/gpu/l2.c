#include "models/gpu/l2.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

#if defined(__SSE4_1__)
#include <immintrin.h>
#endif

/* In which set of its slice a line stands.
 *
 * Its number in the slice is the address above the line, without the bits that choose the slice. Its set is that number
 * modulo the sets, or the number as a polynomial over GF(2) modulo an irreducible one of as many bits; the latter is
 * linear in the bits of the address, without the remainder that may say the slice, so it is one table for each byte.
 * Worked example, 32 sets, x^5 + x^2 + 1, no slice bits: line 32 is x^5, which is x^2 + 1: set 5; line 33 is set 4. */

enum { L2_PLACE_RUNS = 8, L2_LINE_BITS = 7 };

/* Address bits above the line that belong to its number in the slice. */
struct l2_run {
    uint8_t shift, to;
    uint64_t mask;
};

struct l2_place {
    uint64_t sets; /* of a slice */
    struct l2_run run[L2_PLACE_RUNS];
    int runs;
    uint32_t mod; /* as in struct l2_shape */
    int mod_shift;
    uint16_t (*hash)[256]; /* by byte of the address above the line; NULL: none */
};

/* The address without the remainder that says the slice. */
static inline uint64_t l2_place_left(const struct l2_place *p, uint64_t addr)
{
    if (!p->mod)
        return addr;
    return (addr >> p->mod_shift) / p->mod << p->mod_shift | (addr & ((UINT64_C(1) << p->mod_shift) - 1));
}

enum { HASH_BITS = 10 };

/* Irreducible polynomials of degree 2 to 10, the smallest ones; x^5 + x^2 + 1 is the artifact's for 32 sets. */
static uint32_t polynomial(int degree)
{
    static const uint32_t table[] = {0x7, 0xb, 0x13, 0x25, 0x43, 0x83, 0x11b, 0x203, 0x409};
    return table[degree - 2];
}

/* The runs of address bits from the line up that are not the slice's. */
static int init_runs(struct l2_place *p, uint64_t slice_bits, struct err *err)
{
    uint64_t keep = ~slice_bits & ~(uint64_t)(L2_LINE - 1);
    int to = 0;
    while (keep) {
        const int shift = __builtin_ctzll(keep);
        const uint64_t above = ~(keep >> shift);
        const int bits = above ? __builtin_ctzll(above) : 64;
        if (p->runs == L2_PLACE_RUNS)
            return err_set(err, "an L2 slice is chosen by address bits in more than %d groups", L2_PLACE_RUNS);
        p->run[p->runs++] =
            (struct l2_run){(uint8_t)shift, (uint8_t)to, bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1};
        to += bits;
        keep &= bits + shift >= 64 ? 0 : ~UINT64_C(0) << (shift + bits);
    }
    return 0;
}

static uint64_t number(const struct l2_place *p, uint64_t addr)
{
    uint64_t n = 0;
    for (int i = 0; i < p->runs; i++)
        n |= (addr >> p->run[i].shift & p->run[i].mask) << p->run[i].to;
    return n;
}

static int init_hash(struct l2_place *p, struct err *err)
{
    const int degree = p->sets ? __builtin_ctzll(p->sets) : 0;
    if (!p->sets || p->sets & (p->sets - 1) || degree < 2 || degree > HASH_BITS)
        return err_set(err, "an L2 slice of %llu sets; hash ipoly needs a power of two from 4 to 1024",
                       (unsigned long long)p->sets);
    p->hash = mem_zalloc(8, sizeof *p->hash, err);
    if (!p->hash)
        return -1;
    uint16_t power[64]; /* x^i modulo the polynomial */
    for (uint32_t i = 0, r = 1; i < 64; i++) {
        power[i] = (uint16_t)r;
        r <<= 1;
        if (r >> degree)
            r ^= polynomial(degree);
    }
    for (unsigned bit = 0; bit + L2_LINE_BITS < 64; bit++) {
        const uint64_t n = number(p, UINT64_C(1) << (bit + L2_LINE_BITS));
        for (unsigned v = 0; n && v < 256; v++)
            p->hash[bit / 8][v] ^= v >> bit % 8 & 1 ? power[__builtin_ctzll(n)] : 0;
    }
    return 0;
}

/* Of the shape slice_bits, mod, mod_shift and hash; sets > 0 where a hash is asked for. Released after failure too. */
static int l2_place_init(struct l2_place *p, const struct l2_shape *shape, uint64_t sets, struct err *err)
{
    memset(p, 0, sizeof *p);
    p->sets = sets;
    p->mod = shape->mod;
    p->mod_shift = shape->mod_shift;
    return init_runs(p, shape->slice_bits, err) || (shape->hash == L2_HASH_IPOLY && init_hash(p, err)) ? -1 : 0;
}

static void l2_place_release(struct l2_place *p)
{
    free(p->hash);
    p->hash = NULL;
}

/* The number in the slice of the line at addr. */
static uint64_t l2_place_number(const struct l2_place *p, uint64_t addr)
{
    return number(p, l2_place_left(p, addr));
}

/* The set of the line at addr; there is at least one. */
static inline uint64_t l2_place_set(const struct l2_place *p, uint64_t addr)
{
    if (!p->hash)
        return l2_place_number(p, addr) % p->sets;
    uint64_t set = 0;
    addr = l2_place_left(p, addr);
    const uint16_t(*table)[256] = (const uint16_t(*)[256])p->hash;
    for (uint64_t rest = addr >> L2_LINE_BITS; rest; rest >>= 8)
        set ^= (*table++)[rest & 0xff];
    return set;
}

/* --- the cache --- */

enum { SECTORS = L2_LINE / L2_SECTOR, LANES = 4 };

struct way {
    uint64_t line; /* line number of the address + 1, 0: empty */
    uint32_t used; /* when, in accesses; 0: empty */
    uint8_t valid, dirty, pending;
    uint8_t entry[SECTORS]; /* where pending: in the table of misses */
};

struct miss {
    uint32_t way;
    uint8_t sector, count;
    uint32_t *order; /* of the way */
    uint32_t waiter[L2_MERGES_MAX];
};

struct l2 {
    struct l2_place place;
    uint64_t sets, ways, stride; /* sets of a slice; ways of a set, and with those that fill its lanes up */
    uint32_t now;
    uint32_t slices, misses, merges;
    struct way *way; /* by slice, set and way */
    /* By slice and set what a search looks at, `stride` each: the low bits of the line's number; then `used`, of a way
     * that is reserved or none UINT32_MAX. */
    uint32_t *quick;
    struct miss *miss;  /* by slice */
    uint8_t *free_miss; /* by slice: a stack of entries */
    uint32_t *free_count;
};

struct place {
    uint64_t line, first; /* number of the line; the first way of its set */
    uint32_t *tag, *order;
};

static struct place place_of(const struct l2 *l2, uint32_t slice, uint64_t addr)
{
    const uint64_t first = (slice * l2->sets + l2_place_set(&l2->place, addr)) * l2->stride;
    uint32_t *tag = &l2->quick[2 * first];
    return (struct place){addr / L2_LINE, first, tag, tag + l2->stride};
}

/* --- made and freed --- */

static int init_ways(struct l2 *l2, struct err *err)
{
    const size_t sets = (size_t)(l2->slices * l2->sets);
    l2->way = mem_zalloc(sets * l2->stride + 1, sizeof *l2->way, err);
    l2->quick = l2->way ? mem_zalloc(2 * sets * l2->stride + 1, sizeof *l2->quick, err) : NULL;
    for (size_t set = 0; l2->quick && set < sets; set++)
        for (uint64_t i = l2->ways; i < l2->stride; i++)
            l2->quick[(2 * set + 1) * l2->stride + i] = UINT32_MAX;
    return l2->quick ? 0 : -1;
}

static int init_misses(struct l2 *l2, struct err *err)
{
    l2->miss = mem_zalloc((size_t)l2->slices * l2->misses, sizeof *l2->miss, err);
    l2->free_miss = mem_zalloc((size_t)l2->slices * l2->misses, sizeof *l2->free_miss, err);
    l2->free_count = mem_zalloc(l2->slices, sizeof *l2->free_count, err);
    if (!l2->miss || !l2->free_miss || !l2->free_count)
        return -1;
    for (uint32_t s = 0; s < l2->slices; s++) {
        l2->free_count[s] = l2->misses;
        for (uint32_t i = 0; i < l2->misses; i++)
            l2->free_miss[s * l2->misses + i] = (uint8_t)(l2->misses - 1 - i);
    }
    return 0;
}

static int check(const struct l2_shape *shape, uint32_t slices, struct err *err)
{
    const long long bytes = shape->bytes, ways = shape->ways;
    if (bytes < 0 || ways < 1)
        return err_set(err, "an L2 of %lld bytes and %lld ways; expected at least 0 and 1", bytes, ways);
    if (bytes && bytes / L2_LINE / slices < ways)
        return err_set(err, "an L2%s of %lld bytes has fewer lines than its %lld ways", slices > 1 ? " slice" : "",
                       bytes / slices, ways);
    if (shape->misses > L2_MISSES_MAX || shape->merges > L2_MERGES_MAX || (shape->misses && !shape->merges))
        return err_set(err, "an L2 slice has %u misses in flight of %u requests each; expected at most %d, of 1 to %d",
                       shape->misses, shape->merges, L2_MISSES_MAX, L2_MERGES_MAX);
    return 0;
}

struct l2 *l2_open(const struct l2_shape *shape, struct err *err)
{
    const uint32_t slices = shape->slices ? shape->slices : 1;
    if (check(shape, slices, err))
        return NULL;
    struct l2 *l2 = mem_zalloc(1, sizeof *l2, err);
    if (!l2)
        return NULL;
    l2->slices = slices;
    l2->ways = (uint64_t)shape->ways;
    l2->sets = (uint64_t)(shape->bytes / L2_LINE / shape->ways) / slices;
    l2->misses = shape->misses;
    l2->merges = shape->merges;
    l2->stride = (l2->ways + LANES - 1) / LANES * LANES;
    if (l2_place_init(&l2->place, shape, l2->sets, err) || init_ways(l2, err) || (l2->misses && init_misses(l2, err))) {
        l2_free(l2);
        return NULL;
    }
    return l2;
}

struct l2 *l2_new(int64_t bytes, int64_t ways, struct err *err)
{
    return l2_open(&(struct l2_shape){.bytes = bytes, .ways = ways}, err);
}

void l2_free(struct l2 *l2)
{
    if (!l2)
        return;
    l2_place_release(&l2->place);
    free(l2->way);
    free(l2->quick);
    free(l2->miss);
    free(l2->free_miss);
    free(l2->free_count);
    free(l2);
}

/* --- a line at a time --- */

/* Of four numbers, those that equal x. */
static inline unsigned equal(const uint32_t a[LANES], uint32_t x)
{
#if defined(__SSE4_1__)
    const __m128i v = _mm_loadu_si128((const __m128i *)a);
    return (unsigned)_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(v, _mm_set1_epi32((int32_t)x))));
#else
    unsigned m = 0;
    for (int i = 0; i < LANES; i++)
        m |= (unsigned)(a[i] == x) << i;
    return m;
#endif
}

/* The least of n numbers, n a multiple of four. */
static inline uint32_t least(const uint32_t *a, uint64_t n)
{
#if defined(__SSE4_1__)
    __m128i m = _mm_loadu_si128((const __m128i *)a);
    for (uint64_t i = LANES; i < n; i += LANES)
        m = _mm_min_epu32(m, _mm_loadu_si128((const __m128i *)&a[i]));
    m = _mm_min_epu32(m, _mm_shuffle_epi32(m, 0x4e));
    m = _mm_min_epu32(m, _mm_shuffle_epi32(m, 0xb1));
    return (uint32_t)_mm_cvtsi128_si32(m);
#else
    uint32_t m = a[0];
    for (uint64_t i = 1; i < n; i++)
        m = a[i] < m ? a[i] : m;
    return m;
#endif
}

/* The way that holds the line, or UINT64_MAX. */
static uint64_t find(const struct l2 *l2, const struct place *p)
{
    for (uint64_t i = 0; i < l2->stride; i += LANES)
        for (unsigned some = equal(&p->tag[i], (uint32_t)p->line); some; some &= some - 1) {
            const uint64_t at = p->first + i + (unsigned)__builtin_ctz(some);
            if (l2->way[at].line == p->line + 1)
                return at;
        }
    return UINT64_MAX;
}

/* The first way that may hold the line, or UINT64_MAX. */
static uint64_t find_tag(const struct l2 *l2, const struct place *p)
{
    for (uint64_t i = 0; i < l2->stride; i += LANES) {
        const unsigned some = equal(&p->tag[i], (uint32_t)p->line);
        if (some)
            return p->first + i + (unsigned)__builtin_ctz(some);
    }
    return UINT64_MAX;
}

/* The way to be used for a line that is not there: empty, else used longest ago; none that is reserved. */
static uint64_t choose(const struct l2 *l2, const struct place *p)
{
    const uint32_t used = least(p->order, l2->stride);
    if (used == UINT32_MAX)
        return UINT64_MAX;
    for (uint64_t i = 0;; i += LANES) {
        const unsigned some = equal(&p->order[i], used);
        if (some)
            return p->first + i + (unsigned)__builtin_ctz(some);
    }
}

/* Give the way to the line; what it held of written sectors goes back. */
static void replace(struct l2 *l2, uint64_t at, const struct place *p, struct l2_result *r)
{
    struct way *w = &l2->way[at];
    r->write_back = w->dirty;
    r->victim = w->dirty ? (w->line - 1) * L2_LINE : 0;
    w->line = p->line + 1;
    p->tag[at - p->first] = (uint32_t)p->line;
    w->valid = w->dirty = 0;
}

/* The way of the set that was used first after `used`; NULL: none. */
static const struct way *next_used(const struct l2 *l2, const struct way *set, uint32_t used)
{
    const struct way *next = NULL;
    for (uint64_t i = 0; i < l2->ways; i++)
        if (set[i].used > used && (!next || set[i].used < next->used))
            next = &set[i];
    return next;
}

/* The clock of accesses begins anew: each set keeps its order. */
static void renumber(struct l2 *l2)
{
    for (uint64_t set = 0; set < l2->slices * l2->sets; set++) {
        struct way *w = &l2->way[set * l2->stride], *next;
        for (uint32_t n = 0; (next = (struct way *)next_used(l2, w, n)); next->used = ++n)
            ;
        for (uint64_t i = 0; i < l2->ways; i++)
            l2->quick[(2 * set + 1) * l2->stride + i] = w[i].pending ? UINT32_MAX : w[i].used;
    }
    l2->now = (uint32_t)l2->ways;
}

/* The way is the one used last. */
static void touch(struct l2 *l2, uint64_t at, const struct place *p)
{
    if (l2->now == UINT32_MAX - 1)
        renumber(l2);
    struct way *w = &l2->way[at];
    w->used = ++l2->now;
    p->order[at - p->first] = w->pending ? UINT32_MAX : w->used;
}

struct l2_result l2_access(struct l2 *l2, uint64_t addr, uint32_t sectors, bool reads, bool writes)
{
    struct l2_result r = {0};
    if (!l2->sets) {
        r.fetch = reads ? sectors : 0;
        r.write_back = writes ? sectors : 0;
        r.victim = addr;
        return r;
    }
    const struct place p = place_of(l2, 0, addr);
    uint64_t at = find(l2, &p);
    if (at == UINT64_MAX)
        replace(l2, at = choose(l2, &p), &p, &r);
    struct way *w = &l2->way[at];
    touch(l2, at, &p);
    if (reads)
        r.fetch = sectors & ~(uint32_t)w->valid;
    w->valid |= (uint8_t)sectors;
    if (writes)
        w->dirty |= (uint8_t)sectors;
    return r;
}

int l2_flush(struct l2 *l2, int (*fn)(void *ctx, uint64_t addr, uint32_t sectors), void *ctx)
{
    for (uint64_t i = 0; i < l2->slices * l2->sets * l2->stride; i++) {
        const uint32_t dirty = l2->way[i].dirty;
        l2->way[i].dirty = 0;
        const int rc = dirty ? fn(ctx, (l2->way[i].line - 1) * L2_LINE, dirty) : 0;
        if (rc)
            return rc;
    }
    return 0;
}

/* --- a sector at a time --- */

/* A read of a sector that is on its way to way `at`. */
static enum l2_answer take_pending(struct l2 *l2, const struct l2_request *q, uint64_t at, const struct place *p)
{
    const unsigned sector = (unsigned)(q->addr / L2_SECTOR % SECTORS);
    struct way *w = &l2->way[at];
    struct miss *m = &l2->miss[(size_t)q->slice * l2->misses + w->entry[sector]];
    if (m->count == l2->merges)
        return L2_WAIT;
    m->waiter[m->count++] = q->waiter;
    touch(l2, at, p);
    w->dirty |= (uint8_t)(q->writes << sector);
    return L2_MERGED;
}

/* An entry of the table of misses for a sector of way `at`. */
static uint32_t add_miss(struct l2 *l2, const struct l2_request *q, uint64_t at, uint32_t *order, unsigned sector)
{
    const uint32_t entry = l2->free_miss[q->slice * l2->misses + --l2->free_count[q->slice]];
    struct miss *m = &l2->miss[(size_t)q->slice * l2->misses + entry];
    m->way = (uint32_t)at;
    m->order = order;
    m->sector = (uint8_t)sector;
    m->count = 1;
    m->waiter[0] = q->waiter;
    return entry;
}

/* A cache of no bytes: reads fetch and are never joined; a write goes through as the victim of itself. */
static enum l2_answer take_nothing(struct l2 *l2, const struct l2_request *q, struct l2_result *r, uint32_t *miss)
{
    const uint32_t sector = 1u << (q->addr / L2_SECTOR % SECTORS);
    const uint32_t needs = (uint32_t)q->reads + q->writes;
    if (q->room < needs || (q->reads && !l2->free_count[q->slice]))
        return L2_WAIT;
    r->write_back = q->writes ? sector : 0;
    r->victim = q->addr & ~(uint64_t)(L2_LINE - 1);
    if (!q->reads)
        return L2_HIT;
    *miss = add_miss(l2, q, UINT32_MAX, NULL, 0);
    return L2_FETCH;
}

enum l2_answer l2_lookup(struct l2 *l2, const struct l2_request *q, struct l2_result *r, uint32_t *miss)
{
    *r = (struct l2_result){0};
    if (!l2->sets)
        return take_nothing(l2, q, r, miss);
    const struct place p = place_of(l2, q->slice, q->addr);
    const unsigned sector = (unsigned)(q->addr / L2_SECTOR % SECTORS);
    const uint8_t bit = (uint8_t)(1u << sector);
    uint64_t at = find(l2, &p);
    const bool there = at != UINT64_MAX;
    if (there && q->reads && l2->way[at].pending & bit && !(l2->way[at].valid & bit))
        return take_pending(l2, q, at, &p);
    const bool fetches = q->reads && !(there && l2->way[at].valid & bit);
    if (!there && (at = choose(l2, &p)) == UINT64_MAX)
        return L2_WAIT;
    struct way *w = &l2->way[at];
    const uint32_t sends = (uint32_t)fetches + (!there && w->dirty);
    if (sends > q->room || (fetches && !l2->free_count[q->slice]))
        return L2_WAIT;
    if (!there)
        replace(l2, at, &p, r);
    touch(l2, at, &p);
    w->dirty |= q->writes ? bit : 0;
    w->valid |= q->writes && q->whole ? bit : 0;
    if (!fetches)
        return L2_HIT;
    uint32_t *order = &p.order[at - p.first];
    *miss = add_miss(l2, q, at, order, sector);
    w->pending |= bit;
    *order = UINT32_MAX;
    w->entry[sector] = (uint8_t)*miss;
    r->fetch = bit;
    return L2_FETCH;
}

uint32_t l2_fill(struct l2 *l2, uint32_t slice, uint32_t miss, const uint32_t **waiters)
{
    struct miss *m = &l2->miss[(size_t)slice * l2->misses + miss];
    if (m->way != UINT32_MAX) {
        struct way *w = &l2->way[m->way];
        w->pending &= (uint8_t) ~(1u << m->sector);
        w->valid |= (uint8_t)(1u << m->sector);
        *m->order = w->pending ? UINT32_MAX : w->used;
    }
    l2->free_miss[slice * l2->misses + l2->free_count[slice]++] = (uint8_t)miss;
    *waiters = m->waiter;
    return m->count;
}

void l2_prefetch(const struct l2 *l2, uint32_t slice, uint64_t addr)
{
    if (!l2->sets)
        return;
    const struct place p = place_of(l2, slice, addr);
    for (uint64_t i = 0; i < 2 * l2->stride; i += 64 / sizeof *p.tag)
        __builtin_prefetch(&p.tag[i]);
}

void l2_prefetch_line(const struct l2 *l2, uint32_t slice, uint64_t addr)
{
    if (!l2->sets)
        return;
    const struct place p = place_of(l2, slice, addr);
    uint64_t at = find_tag(l2, &p);
    if (at == UINT64_MAX)
        at = choose(l2, &p);
    if (at != UINT64_MAX)
        __builtin_prefetch(&l2->way[at], 1);
}

void l2_prefetch_fill(const struct l2 *l2, uint32_t slice, uint32_t miss)
{
    __builtin_prefetch(&l2->miss[(size_t)slice * l2->misses + miss]);
}

void l2_prefetch_way(const struct l2 *l2, uint32_t slice, uint32_t miss)
{
    const struct miss *m = &l2->miss[(size_t)slice * l2->misses + miss];
    if (m->way == UINT32_MAX)
        return;
    __builtin_prefetch(&l2->way[m->way], 1);
    __builtin_prefetch(m->order, 1);
}

void l2_put(struct l2 *l2, uint32_t slice, uint64_t addr, uint32_t valid, uint32_t dirty)
{
    if (!l2->sets)
        return;
    const struct place p = place_of(l2, slice, addr);
    uint64_t at = find(l2, &p);
    struct l2_result ignored;
    if (at == UINT64_MAX && (at = choose(l2, &p)) == UINT64_MAX)
        return;
    if (l2->way[at].line != p.line + 1)
        replace(l2, at, &p, &ignored);
    touch(l2, at, &p);
    l2->way[at].valid |= (uint8_t)valid;
    l2->way[at].dirty |= (uint8_t)dirty;
}

void l2_each(const struct l2 *l2, void (*fn)(void *ctx, uint64_t addr, uint32_t valid, uint32_t dirty), void *ctx)
{
    for (uint64_t set = 0; set < l2->slices * l2->sets; set++) {
        const struct way *first = &l2->way[set * l2->stride];
        for (const struct way *w = next_used(l2, first, 0); w; w = next_used(l2, first, w->used))
            fn(ctx, (w->line - 1) * L2_LINE, w->valid, w->dirty);
    }
}

void l2_clear(struct l2 *l2)
{
    const size_t sets = (size_t)(l2->slices * l2->sets);
    memset(l2->way, 0, sets * l2->stride * sizeof *l2->way);
    for (size_t set = 0; set < sets; set++)
        memset(&l2->quick[2 * set * l2->stride], 0, (l2->stride + l2->ways) * sizeof *l2->quick);
    l2->now = 0;
}
