#include "models/gpu/l1.c"

#include "trace/base/testing.h"
#include "trace/program/random_testing.h"

/* Sectors on their way. */
static uint32_t l1_coming(const struct l1 *l1)
{
    return l1->pending;
}

#define SAME(found, expected)                                                                                          \
    if ((found) != (expected))                                                                                         \
    ck_abort_msg("%s is %u; expected %u", #found, (unsigned)(found), (unsigned)(expected))

static struct l1 *make(uint32_t lines, uint32_t ways, enum l1_allocate allocate)
{
    struct l1_shape shape = {.lines = lines, .ways = ways, .allocate = allocate};
    struct l1 *l1 = GIVES(l1_new(&shape, NULL));
    return l1;
}

/* Sectors of a line that are there; what is not is asked for by load 7, or waited for. */
static uint32_t look(struct l1 *l1, uint64_t line, uint32_t sectors, uint32_t *token)
{
    struct l1_found found = l1_lookup(l1, line, sectors);
    for (uint32_t s = 0; s < L1_SECTORS; s++)
        if ((sectors & ~found.hit & ~found.pending) >> s & 1)
            token[s] = l1_fetch(l1, line, l1_lookup(l1, line, 15).entry, 1u << s, 7) + s;
    return found.hit;
}

/* It comes to no one else than load 7. */
static void fill(struct l1 *l1, uint32_t token)
{
    ck_assert_uint_eq(l1_fill(l1, token), 7);
    ck_assert_uint_eq(l1_next_waiter(l1), L1_NONE);
}

/* Read one sector, at once. */
static uint32_t read_(struct l1 *l1, uint64_t line, uint32_t sector)
{
    uint32_t token[L1_SECTORS], there = look(l1, line, 1u << sector, token);
    if (!there)
        fill(l1, token[sector]);
    return there;
}

START_TEST(the_worked_example)
{
    enum { A = 10, B = 20, C = 30 };
    struct l1 *l1 = make(2, 0, L1_ON_FILL);
    ck_assert_uint_eq(read_(l1, A, 0), 0);
    ck_assert_uint_eq(read_(l1, B, 0), 0);
    ck_assert_uint_eq(read_(l1, A, 0), 1);
    ck_assert_uint_eq(read_(l1, C, 0), 0);
    ck_assert_uint_eq(read_(l1, A, 1), 0);
    ck_assert_uint_eq(read_(l1, B, 0), 0);
    l1_free(l1);
}
END_TEST

START_TEST(the_first_asks_the_others_wait_and_all_are_answered_in_order)
{
    struct l1 *l1 = make(0, 0, L1_ON_FILL);
    uint32_t token = l1_fetch(l1, 7, L1_NONE, 4, 100) + 2, other = l1_fetch(l1, 7, token / 4, 1, 101);
    struct l1_found found = l1_lookup(l1, 7, 15);
    ck_assert_uint_eq(found.hit, 0);
    ck_assert_uint_eq(found.pending, 5);
    ck_assert_int_eq(l1_merge(l1, found.entry, 2, 102), 0);
    ck_assert_int_eq(l1_merge(l1, found.entry, 2, 103), 0);
    ck_assert_int_eq(l1_merge(l1, found.entry, 2, 104), 0);
    ck_assert_uint_eq(l1_coming(l1), 2);
    for (uint32_t i = 100; i < 105; i++)
        if (i != 101)
            ck_assert_uint_eq(i == 100 ? l1_fill(l1, token) : l1_next_waiter(l1), i);
    ck_assert_uint_eq(l1_next_waiter(l1), L1_NONE);
    ck_assert_uint_eq(l1_lookup(l1, 7, 15).pending, 1);
    ck_assert_uint_eq(l1_fill(l1, other), 101);
    ck_assert_uint_eq(l1_next_waiter(l1), L1_NONE);
    ck_assert_uint_eq(l1_lookup(l1, 7, 15).hit, 0); /* no line is kept */
    ck_assert_uint_eq(l1_coming(l1), 0);
    l1_free(l1);
}
END_TEST

START_TEST(a_store_drops_its_sector_and_an_empty_line_its_place)
{
    struct l1 *l1 = make(2, 0, L1_ON_FILL);
    read_(l1, 1, 0);
    read_(l1, 1, 1);
    read_(l1, 2, 0);
    l1_write(l1, 1, 1);
    ck_assert_uint_eq(l1_lookup(l1, 1, 3).hit, 2);
    l1_write(l1, 2, 15);
    read_(l1, 3, 0); /* in line 2's place */
    ck_assert_uint_eq(l1_lookup(l1, 1, 3).hit, 2);
    ck_assert_uint_eq(l1_lookup(l1, 3, 1).hit, 1);
    l1_write(l1, 77, 15);
    l1_free(l1);
}
END_TEST

START_TEST(a_line_that_waits_is_not_pushed_out)
{
    struct l1 *l1 = make(2, 2, L1_ON_MISS);
    uint32_t one[4], two[4], three[4], four[4];
    look(l1, 1, 1, one);
    look(l1, 2, 1, two);
    look(l1, 3, 1, three); /* both wait: no place */
    fill(l1, three[0]);
    ck_assert_uint_eq(l1_lookup(l1, 3, 1).hit, 0);
    fill(l1, one[0]);
    look(l1, 4, 1, four); /* takes line 1's place, in which nothing is awaited any more */
    fill(l1, two[0]);
    ck_assert_uint_eq(l1_lookup(l1, 2, 1).hit, 1);
    ck_assert_uint_eq(l1_lookup(l1, 1, 1).hit, 0);
    l1_free(l1);
}
END_TEST

START_TEST(a_line_that_waits_may_lose_its_tag)
{
    enum { A = 10, B = 20 };
    uint32_t first[L1_SECTORS], again[L1_SECTORS], other[L1_SECTORS];
    struct l1 *l1 = make(1, 0, L1_BY_TAG);
    (void)look(l1, A, 1, first);
    ck_assert_uint_eq(l1_lookup(l1, A, 1).pending, 1);
    (void)look(l1, B, 1, other); /* pushes A out */
    ck_assert_uint_eq(l1_lookup(l1, A, 1).pending, 0);
    (void)look(l1, A, 1, again); /* asked for twice, and B is out */
    ck_assert_uint_eq(l1_coming(l1), 3);
    fill(l1, first[0]); /* nobody keeps it */
    ck_assert_uint_eq(l1_lookup(l1, A, 1).hit, 0);
    fill(l1, again[0]);
    ck_assert_uint_eq(l1_lookup(l1, A, 1).hit, 1);
    fill(l1, other[0]);
    ck_assert_uint_eq(l1_lookup(l1, B, 1).hit, 0);
    ck_assert_uint_eq(l1_lookup(l1, A, 1).hit, 1);
    ck_assert_uint_eq(l1_coming(l1), 0);
    l1_free(l1);
}
END_TEST

/* Lines 64 apart meet in a set of low bits; hashed ones do not all. */
START_TEST(a_hash_spreads_lines_over_the_sets)
{
    for (int hashed = 0; hashed < 2; hashed++) {
        struct l1_shape shape = {.lines = 256, .ways = 4, .hashed = hashed};
        struct l1 *l1 = l1_new(&shape, NULL);
        uint32_t there = 0;
        for (int round = 0; round < 2; round++)
            for (uint64_t i = 0; i < 32; i++)
                there += read_(l1, i * 64, 0);
        ck_assert_uint_eq(there >= 24, hashed);
        ck_assert_uint_eq(there == 0, !hashed);
        l1_free(l1);
    }
}
END_TEST

START_TEST(random_replacement_is_a_seed_and_hits_less_than_lru_does_more_than_fits_in_turn)
{
    uint64_t hits[3] = {0};
    for (int k = 0; k < 3; k++) {
        struct l1_shape shape = {.lines = 100, .replacement = k ? L1_RANDOM : L1_LRU, .seed = k == 1 ? 5 : 6};
        struct l1 *l1 = l1_new(&shape, NULL);
        for (uint64_t i = 0; i < 12000; i++) {
            uint64_t line = i % 120;
            hits[k] += read_(l1, line, 0);
        }
        l1_free(l1);
    }
    ck_assert_uint_eq(hits[0], 0); /* least recently used loses all of a cycle that is too long */
    ck_assert_uint_gt(hits[1], 12000 / 2);
    ck_assert_uint_lt(hits[1], 12000 * 4 / 5);
    ck_assert_uint_ne(hits[1], hits[2]);
}
END_TEST

START_TEST(more_ways_than_lines_are_refused)
{
    struct err err;
    ck_assert_ptr_null(l1_new(&(struct l1_shape){.lines = 4, .ways = 5}, &err));
    ck_assert_ptr_null(l1_new(&(struct l1_shape){.lines = (1u << 23) + 1, .ways = 4}, &err));
    ck_assert_str_eq(err.msg, "an L1 of 8388609 lines; expected at most 2^23");
}
END_TEST

START_TEST(any_number_of_lines_may_be_on_their_way)
{
    enum { N = 5000 };
    static uint32_t token[N];
    uint64_t s = 5;
    struct l1 *l1 = make(100, 0, L1_ON_FILL);
    for (uint32_t round = 0; round < 4 * N; round++) {
        uint64_t line = program_draw(&s) % N;
        struct l1_found found = l1_lookup(l1, line * 977, 1);
        SAME(found.pending, token[line] != 0);
        if (found.pending) {
            SAME(l1_fill(l1, token[line] - 1), line);
            SAME(l1_next_waiter(l1), L1_NONE);
            token[line] = 0;
        } else if (!found.hit) {
            token[line] = l1_fetch(l1, line * 977, found.entry, 1, (uint32_t)line) + 1;
        }
    }
    ck_assert_uint_gt(l1_coming(l1), 2000);
    for (uint64_t line = 0; line < N; line++)
        SAME(l1_lookup(l1, line * 977, 1).pending, token[line] != 0);
    l1_free(l1);
}
END_TEST

/* --- against a list, searched from end to end --- */

enum { MOST = 64, LINES = 2 * MOST + 3, WAIT = 40 };

struct plain {
    uint32_t lines, ways, n, coming;
    bool on_miss;
    struct place {
        uint64_t line, used;
        uint32_t valid;
    } e[MOST];
    struct ask {
        uint32_t n, token, load[WAIT];
    } ask[LINES][4]; /* n = 0: not coming */
    uint64_t now;
};

static bool plain_stays(const struct plain *p, uint64_t line)
{
    bool coming = false;
    for (int i = 0; i < 4; i++)
        coming |= p->ask[line][i].n > 0;
    return p->on_miss && coming;
}

static struct place *plain_find(struct plain *p, uint64_t line)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->e[i].line == line)
            return &p->e[i];
    return NULL;
}

static void plain_place(struct plain *p, uint64_t line)
{
    uint32_t sets = p->ways ? p->lines / p->ways : 1, room = p->ways ? p->ways : p->lines, of_set = 0;
    int oldest = -1;
    if (!p->lines || plain_find(p, line))
        return;
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->e[i].line % sets != line % sets)
            continue;
        of_set++;
        if (!plain_stays(p, p->e[i].line) && (oldest < 0 || p->e[i].used < p->e[oldest].used))
            oldest = (int)i;
    }
    if (of_set == room && oldest < 0)
        return;
    if (of_set == room)
        p->e[oldest] = p->e[--p->n];
    p->e[p->n++] = (struct place){line, ++p->now, 0};
}

/* A load of some sectors, as a multiprocessor does it. */
static void both_read(struct plain *p, struct l1 *l1, uint64_t line, uint32_t sectors, uint32_t load)
{
    struct l1_found found = l1_lookup(l1, line, sectors);
    struct place *e = plain_find(p, line);
    uint32_t there = e ? e->valid & sectors : 0, entry = found.entry;
    SAME(found.hit, there);
    if (there)
        e->used = ++p->now;
    for (uint32_t s = 0; s < 4; s++) {
        struct ask *a = &p->ask[line][s];
        if (!(sectors >> s & 1) || there >> s & 1)
            continue;
        ck_assert_int_eq(found.pending >> s & 1, a->n > 0);
        if (a->n == WAIT)
            continue;
        if (a->n) {
            ck_assert_int_eq(l1_merge(l1, entry, s, load), 0);
        } else {
            if (p->on_miss)
                plain_place(p, line);
            a->token = l1_fetch(l1, line, entry, 1u << s, load) + s;
            entry = a->token / 4;
            p->coming++;
        }
        a->load[a->n++] = load;
    }
}

static void both_fill(struct plain *p, struct l1 *l1, uint64_t line, uint32_t sector)
{
    struct ask *a = &p->ask[line][sector];
    if (!a->n)
        return;
    for (uint32_t i = 0; i < a->n; i++)
        ck_assert_uint_eq(i ? l1_next_waiter(l1) : l1_fill(l1, a->token), a->load[i]);
    ck_assert_uint_eq(l1_next_waiter(l1), L1_NONE);
    a->n = 0;
    p->coming--;
    struct place *e = plain_find(p, line);
    if (!e && !p->on_miss) {
        plain_place(p, line);
        e = plain_find(p, line);
    }
    if (!e)
        return;
    e->used = ++p->now;
    e->valid |= 1u << sector;
}

static void both_write(struct plain *p, struct l1 *l1, uint64_t line, uint32_t sectors)
{
    struct place *e = plain_find(p, line);
    l1_write(l1, line, sectors);
    if (!e || !(e->valid & sectors))
        return;
    e->valid &= ~sectors;
    if (!e->valid && !plain_stays(p, line))
        *e = p->e[--p->n];
}

static void both_resize(struct plain *p, struct l1 *l1, uint32_t lines)
{
    l1_resize(l1, lines);
    p->lines = lines;
    p->n = p->coming = 0;
    memset(p->ask, 0, sizeof p->ask);
}

static void compare(uint64_t seed)
{
    uint64_t s = seed;
    static const uint32_t ways[] = {0, 0, 1, 2, 4, 8};
    static struct plain p;
    memset(&p, 0, sizeof p);
    p.ways = ways[seed % 6];
    p.on_miss = seed / 6 % 2;
    uint32_t most = p.ways ? p.ways * (1 + (uint32_t)(program_draw(&s) % 8)) : (uint32_t)(program_draw(&s) % MOST);
    struct l1 *l1 = make(most, p.ways, p.on_miss ? L1_ON_MISS : L1_ON_FILL);
    p.lines = most;
    for (int i = 0; i < 3000; i++) {
        uint64_t line = program_draw(&s) % (2 * most + 3), what = program_draw(&s) % 16;
        uint32_t sectors = 1 + (uint32_t)(program_draw(&s) % 15);
        if (what < 5)
            both_read(&p, l1, line, sectors, (uint32_t)(program_draw(&s) % 65536));
        else if (what < 15)
            both_fill(&p, l1, line, sectors % 4);
        else if (program_draw(&s) % 100)
            both_write(&p, l1, line, sectors);
        else
            both_resize(&p, l1, p.ways ? most : (uint32_t)(program_draw(&s) % (most + 1)));
        SAME(l1_coming(l1), p.coming);
    }
    l1_free(l1);
}

START_TEST(the_same_as_a_list_searched_from_end_to_end)
{
    for (uint64_t seed = 0; seed < 120; seed++)
        compare(seed);
}
END_TEST

/* --- who waits with whom: against a list of asks for each sector --- */

enum { JOIN = 20, OF_WARP = 4, ASKS = 64, OWN = 1 };

struct group {
    uint32_t asked, token, n, load[WAIT];
};

struct sector {
    bool there;
    uint32_t n;
    struct group ask[ASKS]; /* the oldest first */
};

static bool has_warp(const struct sector *s, uint32_t load)
{
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t j = 0; j < s->ask[i].n; j++)
            if (s->ask[i].load[j] / OF_WARP == load / OF_WARP)
                return true;
    return false;
}

/* Whether it asked. */
static bool sector_read(struct sector *s, struct l1 *l1, uint64_t line, uint32_t sector, uint32_t load, uint32_t t)
{
    l1_set_load(l1, t, load);
    struct l1_found found = l1_lookup(l1, line, 1u << sector);
    bool joins = s->n && (line == OWN || t - s->ask[s->n - 1].asked <= JOIN || has_warp(s, load));
    SAME(found.hit, (uint32_t)s->there << sector);
    SAME(found.pending, (uint32_t)(joins && !s->there) << sector);
    if (s->there || (joins && s->ask[s->n - 1].n == WAIT) || s->n == ASKS)
        return false;
    if (joins) {
        ck_assert_int_eq(l1_merge(l1, found.entry, sector, load), 0);
    } else {
        uint32_t token = l1_fetch(l1, line, found.entry, 1u << sector, load) + sector;
        s->ask[s->n++] = (struct group){.asked = t, .token = token};
    }
    struct group *last = &s->ask[s->n - 1];
    last->load[last->n++] = load;
    return !joins;
}

static bool sector_fill(struct sector *s, struct l1 *l1, bool kept)
{
    if (!s->n)
        return false;
    const struct group *a = &s->ask[0];
    for (uint32_t i = 0; i < a->n; i++)
        SAME(i ? l1_next_waiter(l1) : l1_fill(l1, a->token), a->load[i]);
    SAME(l1_next_waiter(l1), L1_NONE);
    memmove(&s->ask[0], &s->ask[1], --s->n * sizeof s->ask[0]);
    s->there = kept;
    return true;
}

START_TEST(other_warps_wait_with_a_miss_that_has_not_left_and_ask_for_themselves_later)
{
    enum { LINE_NUMBERS = 3 };
    static struct sector of[LINE_NUMBERS][L1_SECTORS];
    static const struct l1_lines own[] = {{100, 200}, {OWN, OWN + 1}};
    uint64_t asks = 0, again = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t s = seed;
        uint32_t lines = seed % 3 ? 16 : 0, coming = 0, t = UINT32_MAX - 1000; /* the clock goes round */
        struct l1_shape shape = {
            .lines = lines, .allocate = (enum l1_allocate)(seed / 3 % 3), .join_cycles = JOIN, .warp_loads = OF_WARP};
        shape.local = own;
        shape.local_count = 2;
        struct l1 *l1 = GIVES(l1_new(&shape, NULL));
        memset(of, 0, sizeof of);
        for (int i = 0; i < 3000; i++, t += (uint32_t)(program_draw(&s) % 8)) {
            uint64_t line = program_draw(&s) % LINE_NUMBERS, what = program_draw(&s) % 20;
            uint32_t sector = (uint32_t)(program_draw(&s) % L1_SECTORS);
            struct sector *at = &of[line][sector];
            bool under_way = at->n > 0;
            if (what < 14) {
                bool asked = sector_read(at, l1, line, sector, (uint32_t)(program_draw(&s) % 200), t);
                coming += asked;
                asks += asked;
                again += asked && under_way;
                ck_assert(!(asked && under_way && line == OWN));
            } else if (what < 17) {
                coming -= sector_fill(at, l1, lines > 0);
            } else if (at->there && shape.allocate == L1_ON_FILL) {
                l1_write(l1, line, 1u << sector);
                at->there = false;
            }
            SAME(l1_coming(l1), coming);
        }
        l1_free(l1);
    }
    ck_assert_uint_gt(asks, again);
    ck_assert_uint_gt(again, 1000);
}
END_TEST

TEST_MAIN("l1")
