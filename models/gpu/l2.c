#include "models/gpu/l2.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

enum { RUNS = 8, HASH_BITS = 10, SECTORS = L2_LINE / L2_SECTOR };

/* Small, for what a set is made of is looked at again and again. */
struct way {
    uint32_t used; /* when, in accesses; 0: empty */
    uint8_t valid, dirty, pending;
};

/* A sector on its way. */
struct miss {
    uint32_t way;
    uint8_t sector, count;
    uint32_t waiter[L2_MERGES_MAX];
};

/* Address bits above the line that belong to its number in the slice. */
struct run {
    uint8_t shift, to;
    uint64_t mask;
};

struct l2 {
    uint64_t sets, ways; /* sets of a slice */
    uint32_t now;
    uint32_t slices, misses, merges;
    /* By slice, set and way: */
    uint32_t *tag;  /* the low bits of `line` over the sets: most other lines differ here */
    uint64_t *line; /* line number of the address + 1, 0: empty */
    struct way *way;
    uint8_t (*entry)[SECTORS]; /* where pending: in the table of misses */
    struct run run[RUNS];
    int runs;
    bool hashed;
    int degree;            /* of the hash: the sets' bits */
    uint16_t (*hash)[256]; /* by byte of the number */
    struct miss *miss;     /* by slice */
    uint8_t *free_miss;    /* by slice: a stack of entries */
    uint32_t *free_count;
};

/* --- where a line stands --- */

/* Irreducible polynomials of degree 2 to 10, the smallest ones; x^5 + x^2 + 1 is the artifact's for 32 sets. */
static uint32_t polynomial(int degree)
{
    static const uint32_t table[] = {0x7, 0xb, 0x13, 0x25, 0x43, 0x83, 0x11b, 0x203, 0x409};
    return table[degree - 2];
}

static int init_hash(struct l2 *l2, struct err *err)
{
    const int degree = l2->sets ? __builtin_ctzll(l2->sets) : 0;
    if (!l2->sets || l2->sets & (l2->sets - 1) || degree < 2 || degree > HASH_BITS)
        return err_set(err, "an L2 slice of %llu sets; hash ipoly needs a power of two from 4 to 1024",
                       (unsigned long long)l2->sets);
    l2->hash = mem_zalloc(8, sizeof *l2->hash, err);
    if (!l2->hash)
        return -1;
    uint16_t bit[64]; /* x^i modulo the polynomial */
    for (uint32_t i = 0, r = 1; i < 64; i++) {
        bit[i] = (uint16_t)r;
        r <<= 1;
        if (r >> degree)
            r ^= polynomial(degree);
    }
    for (int byte = 0; byte < 8; byte++)
        for (unsigned v = 0; v < 256; v++)
            for (int b = 0; b < 8; b++)
                l2->hash[byte][v] ^= v >> b & 1 ? bit[8 * byte + b] : 0;
    l2->hashed = true;
    l2->degree = degree;
    return 0;
}

/* The runs of address bits from the line up that are not the slice's. */
static int init_runs(struct l2 *l2, uint64_t slice_bits, struct err *err)
{
    uint64_t keep = ~slice_bits & ~(uint64_t)(L2_LINE - 1);
    int to = 0;
    while (keep) {
        const int shift = __builtin_ctzll(keep);
        const uint64_t above = ~(keep >> shift);
        const int bits = above ? __builtin_ctzll(above) : 64;
        if (l2->runs == RUNS)
            return err_set(err, "an L2 slice is chosen by address bits in more than %d groups", RUNS);
        l2->run[l2->runs++] =
            (struct run){(uint8_t)shift, (uint8_t)to, bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1};
        to += bits;
        keep &= bits + shift >= 64 ? 0 : ~UINT64_C(0) << (shift + bits);
    }
    return 0;
}

static uint64_t number_of(const struct l2 *l2, uint64_t addr)
{
    uint64_t n = 0;
    for (int i = 0; i < l2->runs; i++)
        n |= (addr >> l2->run[i].shift & l2->run[i].mask) << l2->run[i].to;
    return n;
}

/* Where a line can be. */
struct place {
    uint64_t line, first; /* number of the line; the first way of its set */
    uint32_t tag;
};

static struct place place_of(const struct l2 *l2, uint32_t slice, uint64_t addr)
{
    uint64_t n = number_of(l2, addr), set = 0;
    const uint32_t tag = (uint32_t)(l2->hashed ? n >> l2->degree : n / l2->sets);
    if (l2->hashed)
        for (int byte = 0; n; byte++, n >>= 8)
            set ^= l2->hash[byte][n & 0xff];
    else
        set = n % l2->sets;
    return (struct place){addr / L2_LINE, (slice * l2->sets + set) * l2->ways, tag};
}

/* --- made and freed --- */

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
        return err_set(err, "an L2 slice of %u misses of %u; expected at most %d, of 1 to %d", shape->misses,
                       shape->merges, L2_MISSES_MAX, L2_MERGES_MAX);
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
    const size_t lines = (size_t)(slices * l2->sets * l2->ways);
    l2->tag = mem_zalloc(lines + 1, sizeof *l2->tag, err);
    l2->line = mem_zalloc(lines + 1, sizeof *l2->line, err);
    l2->way = mem_zalloc(lines + 1, sizeof *l2->way, err);
    l2->entry = mem_zalloc(lines + 1, sizeof *l2->entry, err);
    if (!l2->tag || !l2->line || !l2->way || !l2->entry || init_runs(l2, shape->slice_bits, err) ||
        (shape->hash == L2_HASH_IPOLY && init_hash(l2, err)) || (l2->misses && init_misses(l2, err))) {
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
    free(l2->tag);
    free(l2->line);
    free(l2->entry);
    free(l2->way);
    free(l2->hash);
    free(l2->miss);
    free(l2->free_miss);
    free(l2->free_count);
    free(l2);
}

/* --- a line at a time --- */

/* The way that holds the line, or UINT64_MAX. */
static uint64_t find(const struct l2 *l2, const struct place *p)
{
    const uint32_t *tag = &l2->tag[p->first];
    for (uint64_t i = 0; i < l2->ways; i++)
        if (tag[i] == p->tag && l2->line[p->first + i] == p->line + 1)
            return p->first + i;
    return UINT64_MAX;
}

/* The way to be used for a line that is not there: empty, else used longest ago; none that is reserved. */
static uint64_t choose(const struct l2 *l2, const struct place *p)
{
    const struct way *set = &l2->way[p->first];
    uint64_t best = UINT64_MAX;
    uint32_t used = UINT32_MAX;
    for (uint64_t i = 0; i < l2->ways; i++)
        if (set[i].used < used && !set[i].pending) {
            best = p->first + i;
            used = set[i].used;
        }
    return best;
}

/* Give the way to the line; what it held of written sectors goes back. */
static void replace(struct l2 *l2, uint64_t at, const struct place *p, struct l2_result *r)
{
    struct way *w = &l2->way[at];
    r->write_back = w->dirty;
    r->victim = w->dirty ? (l2->line[at] - 1) * L2_LINE : 0;
    l2->line[at] = p->line + 1;
    l2->tag[at] = p->tag;
    w->valid = w->dirty = 0;
}

/* The clock of accesses begins anew: each set keeps its order. */
static void renumber(struct l2 *l2)
{
    for (uint64_t set = 0; set < l2->slices * l2->sets; set++) {
        struct way *w = &l2->way[set * l2->ways];
        for (uint32_t next = 1;; next++) { /* the next oldest of those above `next` */
            struct way *oldest = NULL;
            for (uint64_t i = 0; i < l2->ways; i++)
                if (w[i].used >= next && (!oldest || w[i].used < oldest->used))
                    oldest = &w[i];
            if (!oldest)
                break;
            oldest->used = next;
        }
    }
    l2->now = (uint32_t)l2->ways;
}

static void touch(struct l2 *l2, uint64_t at)
{
    if (l2->now == UINT32_MAX - 1)
        renumber(l2);
    l2->way[at].used = ++l2->now;
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
    touch(l2, at);
    if (reads)
        r.fetch = sectors & ~(uint32_t)w->valid;
    w->valid |= (uint8_t)sectors;
    if (writes)
        w->dirty |= (uint8_t)sectors;
    return r;
}

int l2_flush(struct l2 *l2, int (*fn)(void *ctx, uint64_t addr, uint32_t sectors), void *ctx)
{
    for (uint64_t i = 0; i < l2->slices * l2->sets * l2->ways; i++) {
        const uint32_t dirty = l2->way[i].dirty;
        l2->way[i].dirty = 0;
        const int rc = dirty ? fn(ctx, (l2->line[i] - 1) * L2_LINE, dirty) : 0;
        if (rc)
            return rc;
    }
    return 0;
}

/* --- a sector at a time --- */

static void join(struct miss *m, uint32_t waiter)
{
    m->waiter[m->count++] = waiter;
}

/* A read of a sector that is on its way to way `at`. */
static enum l2_answer take_pending(struct l2 *l2, const struct l2_question *q, uint64_t at, unsigned sector)
{
    struct miss *m = &l2->miss[(size_t)q->slice * l2->misses + l2->entry[at][sector]];
    if (m->count == l2->merges)
        return L2_WAIT;
    join(m, q->waiter);
    touch(l2, at);
    l2->way[at].dirty |= (uint8_t)(q->writes << sector);
    return L2_MERGED;
}

/* An entry of the table of misses for a sector of way `at`. */
static uint32_t add_miss(struct l2 *l2, const struct l2_question *q, uint64_t at, unsigned sector)
{
    const uint32_t entry = l2->free_miss[q->slice * l2->misses + --l2->free_count[q->slice]];
    struct miss *m = &l2->miss[(size_t)q->slice * l2->misses + entry];
    m->way = (uint32_t)at;
    m->sector = (uint8_t)sector;
    m->count = 0;
    join(m, q->waiter);
    return entry;
}

/* A cache of no bytes: reads fetch and are never joined; a write goes through as the victim of itself. */
static enum l2_answer take_nothing(struct l2 *l2, const struct l2_question *q, struct l2_result *r, uint32_t *miss)
{
    const uint32_t sector = 1u << (q->addr / L2_SECTOR % SECTORS);
    const uint32_t needs = (uint32_t)q->reads + q->writes;
    if (q->room < needs || (q->reads && !l2->free_count[q->slice]))
        return L2_WAIT;
    r->write_back = q->writes ? sector : 0;
    r->victim = q->addr & ~(uint64_t)(L2_LINE - 1);
    if (!q->reads)
        return L2_HIT;
    *miss = add_miss(l2, q, UINT32_MAX, 0);
    return L2_FETCH;
}

enum l2_answer l2_take(struct l2 *l2, const struct l2_question *q, struct l2_result *r, uint32_t *miss)
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
        return take_pending(l2, q, at, sector);
    const bool fetches = q->reads && !(there && l2->way[at].valid & bit);
    if (!there && (at = choose(l2, &p)) == UINT64_MAX)
        return L2_WAIT;
    struct way *w = &l2->way[at];
    const uint32_t sends = (uint32_t)fetches + (!there && w->dirty);
    if (sends > q->room || (fetches && !l2->free_count[q->slice]))
        return L2_WAIT;
    if (!there)
        replace(l2, at, &p, r);
    touch(l2, at);
    w->dirty |= q->writes ? bit : 0;
    w->valid |= q->writes && q->whole ? bit : 0;
    if (!fetches)
        return L2_HIT;
    *miss = add_miss(l2, q, at, sector);
    w->pending |= bit;
    l2->entry[at][sector] = (uint8_t)*miss;
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
    }
    l2->free_miss[slice * l2->misses + l2->free_count[slice]++] = (uint8_t)miss;
    *waiters = m->waiter;
    return m->count;
}

void l2_expect(const struct l2 *l2, uint32_t slice, uint64_t addr)
{
    if (!l2->sets)
        return;
    const uint64_t first = place_of(l2, slice, addr).first;
    for (uint64_t i = 0; i < l2->ways; i += 64 / sizeof *l2->tag)
        __builtin_prefetch(&l2->tag[first + i]);
    for (uint64_t i = 0; i < l2->ways; i += 64 / sizeof *l2->way)
        __builtin_prefetch(&l2->way[first + i]);
}

void l2_expect_fill(const struct l2 *l2, uint32_t slice, uint32_t miss)
{
    const struct miss *m = &l2->miss[(size_t)slice * l2->misses + miss];
    if (m->way != UINT32_MAX)
        __builtin_prefetch(&l2->way[m->way]);
}

void l2_put(struct l2 *l2, uint32_t slice, uint64_t addr)
{
    if (!l2->sets)
        return;
    const struct place p = place_of(l2, slice, addr);
    uint64_t at = find(l2, &p);
    struct l2_result ignored;
    if (at == UINT64_MAX && (at = choose(l2, &p)) == UINT64_MAX)
        return;
    if (l2->line[at] != p.line + 1)
        replace(l2, at, &p, &ignored);
    touch(l2, at);
    l2->way[at].valid = (1u << SECTORS) - 1;
}
