#include "models/gpu/l2.c"

#include "trace/base/testing.h"

/* As if used four thousand million times: the clock of uses begins anew after `left` more. */
static void l2_age(struct l2 *l2, uint32_t left)
{
    l2->now = UINT32_MAX - 1 - left;
}

/* Long division, bit by bit. */
static uint64_t modulo(uint64_t number, uint64_t polynomial, int degree)
{
    for (int i = 63; i >= degree; i--)
        if (number >> i & 1)
            number ^= polynomial << (i - degree);
    return number;
}

static int place_init(struct l2_place *p, uint64_t slice_bits, uint64_t sets, bool hashed, struct err *err)
{
    const struct l2_shape shape = {.slice_bits = slice_bits, .hash = hashed ? L2_HASH_IPOLY : 0};
    return l2_place_init(p, &shape, sets, err);
}

START_TEST(the_worked_example_of_the_hash)
{
    struct l2_place p;
    ck_assert_int_eq(place_init(&p, 0, 32, true, NULL), 0);
    ck_assert_uint_eq(l2_place_set(&p, 32 * L2_LINE), 5);
    ck_assert_uint_eq(l2_place_set(&p, 33 * L2_LINE), 4);
    l2_place_release(&p);
}
END_TEST

START_TEST(the_hash_is_the_remainder_of_the_number_in_the_slice)
{
    const uint64_t polynomial[] = {0x7, 0xb, 0x13, 0x25, 0x43, 0x83, 0x11b, 0x203, 0x409};
    uint64_t x = 1;
    for (int degree = 2; degree <= 10; degree++) {
        struct l2_place p;
        ck_assert_int_eq(place_init(&p, 0x3f00, UINT64_C(1) << degree, true, NULL), 0);
        for (int i = 0; i < 2000; i++) {
            x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
            const uint64_t addr = x >> (i % 40), number = (addr >> 14) << 1 | (addr >> 7 & 1);
            ck_assert_uint_eq(l2_place_number(&p, addr), number);
            ck_assert_uint_eq(l2_place_set(&p, addr), modulo(number, polynomial[degree - 2], degree));
            ck_assert_uint_eq(l2_place_set(&p, addr ^ 0x3f7f), l2_place_set(&p, addr)); /* the slice and the byte */
        }
        l2_place_release(&p);
    }
}
END_TEST

START_TEST(without_a_hash_it_is_the_number_modulo_the_sets)
{
    struct l2_place p;
    ck_assert_int_eq(place_init(&p, 0x80, 48, false, NULL), 0);
    for (uint64_t line = 0; line < 1000; line++)
        ck_assert_uint_eq(l2_place_set(&p, line * L2_LINE), line / 2 % 48);
    l2_place_release(&p);
}
END_TEST

START_TEST(sets_and_slices_that_cannot_be_are_refused)
{
    struct l2_place p;
    struct err err;
    const uint64_t sets[] = {0, 2, 24, 2048};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        ck_assert_int_eq(place_init(&p, 0, sets[i], true, &err), -1);
        ck_assert_ptr_nonnull(strstr(err.msg, "expected") ? err.msg : strstr(err.msg, "needs a power of two"));
        l2_place_release(&p);
    }
    ck_assert_int_eq(place_init(&p, 0x55555 << 7, 32, false, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "more than 8 groups"));
    l2_place_release(&p);
}
END_TEST

static struct l2_result read_(struct l2 *l2, uint64_t addr, uint32_t sectors)
{
    return l2_access(l2, addr, sectors, true, false);
}

START_TEST(the_worked_example_of_two_ways)
{
    struct l2 *l2 = l2_new(256, 2, NULL);
    ck_assert_uint_eq(read_(l2, 0x1000, 3).fetch, 3);
    struct l2_result r = l2_access(l2, 0x2000, 8, false, true);
    ck_assert_uint_eq(r.fetch | r.write_back, 0);
    ck_assert_uint_eq(read_(l2, 0x1000, 15).fetch, 12);
    r = read_(l2, 0x3000, 15);
    ck_assert_uint_eq(r.fetch, 15);
    ck_assert_uint_eq(r.write_back, 8);
    ck_assert_uint_eq(r.victim, 0x2000);
    l2_free(l2);
}
END_TEST

START_TEST(what_fits_is_fetched_once_and_what_does_not_every_time)
{
    struct l2 *l2 = l2_new(128 * 64, 4, NULL);
    uint64_t fetched = 0;
    for (int pass = 0; pass < 3; pass++)
        for (uint64_t line = 0; line < 64; line++)
            fetched += (unsigned)__builtin_popcount(read_(l2, line * 128, 15).fetch);
    ck_assert_uint_eq(fetched, 4 * 64);
    fetched = 0;
    for (int pass = 0; pass < 3; pass++)
        for (uint64_t line = 1000; line < 1000 + 80; line++) /* five lines a set of four: least recently used loses */
            fetched += (unsigned)__builtin_popcount(read_(l2, line * 128, 15).fetch);
    ck_assert_uint_eq(fetched, 3 * 4 * 80);
    l2_free(l2);
}
END_TEST

static int add_sectors(void *ctx, uint64_t addr, uint32_t sectors)
{
    (void)addr;
    *(uint64_t *)ctx += (unsigned)__builtin_popcount(sectors);
    return 0;
}

START_TEST(every_written_sector_goes_back_exactly_once)
{
    struct l2 *l2 = l2_new(128 * 16, 2, NULL);
    uint64_t back = 0;
    for (uint64_t line = 0; line < 100; line++)
        back += (unsigned)__builtin_popcount(l2_access(l2, line * 128, 5, false, true).write_back);
    ck_assert_int_eq(l2_flush(l2, add_sectors, &back), 0);
    ck_assert_uint_eq(back, 2 * 100);
    ck_assert_int_eq(l2_flush(l2, add_sectors, &back), 0);
    ck_assert_uint_eq(back, 2 * 100);
    l2_free(l2);
}
END_TEST

START_TEST(without_a_cache_every_access_goes_to_dram)
{
    struct l2 *l2 = l2_new(0, 16, NULL);
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(read_(l2, 0x1000, 3).fetch, 3);
        struct l2_result r = l2_access(l2, 0x1000, 9, true, true);
        ck_assert_uint_eq(r.fetch, 9);
        ck_assert_uint_eq(r.write_back, 9);
        ck_assert_uint_eq(r.victim, 0x1000);
    }
    l2_free(l2);
    GIVES_NONE(l2_new(1024, 16, &err), "");
    GIVES_NONE(l2_new(1024, 0, &err), "");
}
END_TEST

/* --- a sector at a time --- */

static struct l2 *timed(int64_t bytes, int64_t ways, uint32_t misses, uint32_t merges)
{
    struct err err = {""};
    struct l2 *l2 = l2_open(&(struct l2_shape){.bytes = bytes, .ways = ways, .misses = misses, .merges = merges}, &err);
    ck_assert_msg(l2 != NULL, "%s", err.msg);
    return l2;
}

START_TEST(misses_and_merges_are_taken_up_to_their_limits)
{
    l2_free(timed(128 * 64, 4, L2_MISSES_MAX, L2_MERGES_MAX));
    l2_free(timed(128 * 64, 4, 1, 1));
    static const uint32_t bad[][2] = {{L2_MISSES_MAX + 1, 1}, {1, L2_MERGES_MAX + 1}, {1, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct l2_shape shape = {.bytes = 128 * 64, .ways = 4, .misses = bad[i][0], .merges = bad[i][1]};
        GIVES_NONE(l2_open(&shape, &err), "expected at most 255, of 1 to 8");
    }
}
END_TEST

static struct l2_result back;
static uint32_t entry;

static enum l2_answer ask(struct l2 *l2, uint64_t addr, char kind, uint32_t waiter)
{
    const struct l2_request q = {.addr = addr,
                                 .waiter = waiter,
                                 .room = 2,
                                 .reads = kind == 'r' || kind == 'a',
                                 .writes = kind != 'r',
                                 .whole = kind == 'w'};
    return l2_lookup(l2, &q, &back, &entry);
}

START_TEST(a_sector_on_its_way_is_joined_up_to_its_limit)
{
    struct l2 *l2 = timed(256, 2, 4, 2);
    ck_assert_int_eq(ask(l2, 0x1000, 'r', 7), L2_FETCH);
    const uint32_t first = entry;
    ck_assert_int_eq(ask(l2, 0x1000, 'r', 8), L2_MERGED);
    ck_assert_int_eq(ask(l2, 0x1000, 'r', 9), L2_WAIT);
    ck_assert_int_eq(ask(l2, 0x1020, 'r', 9), L2_FETCH); /* the next sector is one of its own */
    const uint32_t *waiters;
    ck_assert_uint_eq(l2_fill(l2, 0, first, &waiters), 2);
    ck_assert_uint_eq(waiters[0], 7);
    ck_assert_uint_eq(waiters[1], 8);
    ck_assert_int_eq(ask(l2, 0x1000, 'r', 9), L2_HIT);
    l2_free(l2);
}
END_TEST

START_TEST(a_set_whose_ways_are_all_reserved_makes_others_wait)
{
    struct l2 *l2 = timed(256, 2, 4, 4);
    const uint32_t *waiters;
    ck_assert_int_eq(ask(l2, 0x1000, 'r', 0), L2_FETCH);
    const uint32_t first = entry;
    ck_assert_int_eq(ask(l2, 0x2000, 'r', 1), L2_FETCH);
    ck_assert_int_eq(ask(l2, 0x3000, 'r', 2), L2_WAIT);
    ck_assert_int_eq(ask(l2, 0x3000, 'w', 2), L2_WAIT);
    l2_fill(l2, 0, first, &waiters);
    ck_assert_int_eq(ask(l2, 0x3000, 'r', 2), L2_FETCH);
    ck_assert_int_eq(ask(l2, 0x2000, 'r', 3), L2_MERGED); /* the other one is still there */
    l2_free(l2);
}
END_TEST

START_TEST(the_table_of_misses_is_a_limit)
{
    struct l2 *l2 = timed(1024, 8, 2, 4);
    const uint32_t *waiters;
    ck_assert_int_eq(ask(l2, 0x1000, 'r', 0), L2_FETCH);
    ck_assert_int_eq(ask(l2, 0x1020, 'r', 0), L2_FETCH);
    ck_assert_int_eq(ask(l2, 0x1040, 'r', 0), L2_WAIT);
    ck_assert_int_eq(ask(l2, 0x1040, 'w', 0), L2_HIT); /* a write needs none */
    l2_fill(l2, 0, entry, &waiters);
    ck_assert_int_eq(ask(l2, 0x1060, 'r', 0), L2_FETCH);
    l2_free(l2);
}
END_TEST

START_TEST(a_part_written_is_unreadable_until_it_is_fetched)
{
    struct l2 *l2 = timed(256, 2, 4, 4);
    const uint32_t *waiters;
    ck_assert_int_eq(ask(l2, 0x1000, 'p', 0), L2_HIT);
    ck_assert_int_eq(ask(l2, 0x1000, 'p', 0), L2_HIT); /* further parts change nothing */
    ck_assert_int_eq(ask(l2, 0x1000, 'r', 0), L2_FETCH);
    l2_fill(l2, 0, entry, &waiters);
    ck_assert_int_eq(ask(l2, 0x1000, 'r', 0), L2_HIT);
    ck_assert_int_eq(ask(l2, 0x1020, 'w', 0), L2_HIT);
    ck_assert_int_eq(ask(l2, 0x1020, 'r', 0), L2_HIT); /* a whole one is readable at once */
    ck_assert_int_eq(ask(l2, 0x2000, 'w', 0), L2_HIT);
    ck_assert_int_eq(ask(l2, 0x3000, 'w', 0), L2_HIT); /* one request takes both written sectors back */
    ck_assert_uint_eq(back.write_back, 3);
    ck_assert_uint_eq(back.victim, 0x1000);
    l2_free(l2);
}
END_TEST

START_TEST(what_it_sends_needs_room)
{
    struct l2 *l2 = timed(256, 2, 4, 4);
    ck_assert_int_eq(ask(l2, 0x1000, 'w', 0), L2_HIT);
    ck_assert_int_eq(ask(l2, 0x2000, 'w', 0), L2_HIT);
    struct l2_request q = {.addr = 0x3000, .reads = true, .room = 1};
    ck_assert_int_eq(l2_lookup(l2, &q, &back, &entry), L2_WAIT); /* a fetch and a write-back */
    q.room = 2;
    ck_assert_int_eq(l2_lookup(l2, &q, &back, &entry), L2_FETCH);
    ck_assert_uint_eq(back.write_back, 1);
    l2_free(l2);
}
END_TEST

/* The rule of kernels on 32 sets, bit by bit as the artifact writes it: b address bits 7, 14 to 17, a from 18 on. */
static unsigned set_by_hand(uint64_t addr)
{
    static const uint16_t takes[5] = {0x3e69, 0x7cd2, 0x47cd, 0x0f9a, 0x1f34};
    const unsigned b = (unsigned)((addr >> 7 & 1) | (addr >> 14 & 15) << 1), a = (unsigned)(addr >> 18 & 0x7fff);
    unsigned set = 0;
    for (int i = 0; i < 5; i++)
        set |= ((b >> i & 1) ^ ((unsigned)__builtin_popcount(a & takes[i]) & 1)) << i;
    return set;
}

START_TEST(the_hash_of_32_sets_is_the_artifacts)
{
    /* s0 = b0^a0^a3^a5^a6^a9^a10^a11^a12^a13 and so on: two lines share a set of one way where both rules say so. */
    struct l2_shape shape = {
        .bytes = 32 * 128, .ways = 1, .slice_bits = 0x3f00, .hash = L2_HASH_IPOLY, .misses = 1, .merges = 1};
    struct l2 *l2 = l2_open(&shape, NULL);
    uint64_t x = 88172645463325252;
    unsigned together = 0;
    uint64_t held[32] = {0};
    for (int i = 0; i < 20000; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        const uint64_t addr = x & 0x1ffffffc0 & ~UINT64_C(0x3f7f);
        ck_assert_int_eq(ask(l2, addr, 'w', 0), L2_HIT);
        const unsigned set = set_by_hand(addr);
        const bool evicts = held[set] && held[set] != addr + 1;
        if (evicts != (back.write_back != 0) || (evicts && back.victim != held[set] - 1))
            ck_abort_msg("line 0x%llx: set %u", (unsigned long long)addr, set);
        together += evicts;
        held[set] = addr + 1;
    }
    ck_assert_uint_gt(together, 19000);
    l2_free(l2);
}
END_TEST

/* A second writing of the rules: one list of lines per set, oldest first, no tables; whole writes, all at once. */
struct plain {
    uint64_t line[16][4];
    unsigned valid[16][4], dirty[16][4];
};

static void plain_take(struct plain *p, uint64_t addr, char kind, struct l2_result *r, bool *fetch)
{
    const uint64_t line = addr / 128 + 1;
    const unsigned set = (unsigned)(addr / 128 % 16), bit = 1u << (addr / 32 % 4);
    int at = -1;
    *r = (struct l2_result){0};
    for (int i = 0; i < 4; i++)
        at = p->line[set][i] == line ? i : at;
    unsigned valid = 0, dirty = 0;
    if (at < 0) {
        at = 0;
        r->write_back = p->dirty[set][0];
        r->victim = (p->line[set][0] - 1) * 128;
    } else {
        valid = p->valid[set][at];
        dirty = p->dirty[set][at];
    }
    for (int i = at; i < 3; i++) {
        p->line[set][i] = p->line[set][i + 1];
        p->valid[set][i] = p->valid[set][i + 1];
        p->dirty[set][i] = p->dirty[set][i + 1];
    }
    *fetch = kind == 'r' && !(valid & bit);
    p->line[set][3] = line;
    p->valid[set][3] = valid | (kind == 'p' ? 0 : bit);
    p->dirty[set][3] = dirty | (kind == 'r' ? 0 : bit);
}

START_TEST(what_is_filled_at_once_equals_plain_lists)
{
    struct l2 *l2 = timed(16 * 4 * 128, 4, 1, 1);
    struct plain p = {0};
    uint64_t x = 1234567;
    for (int i = 0; i < 200000; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        const uint64_t addr = (x >> 8) % 400 * 32;
        const char kind = "rwp"[x % 3];
        if (i > 1000 && i % 61 == 0)
            l2_age(l2, (uint32_t)i % 7); /* the order in each set stays as the clock begins anew */
        struct l2_result r;
        bool fetch;
        plain_take(&p, addr, kind, &r, &fetch);
        const enum l2_answer got = ask(l2, addr, kind, 0);
        const uint32_t *waiters;
        if (got == L2_FETCH)
            l2_fill(l2, 0, entry, &waiters);
        if ((got == L2_FETCH) != fetch || back.write_back != r.write_back || (r.write_back && back.victim != r.victim))
            ck_abort_msg("access %d: %c 0x%llx", i, kind, (unsigned long long)addr);
    }
    l2_free(l2);
}
END_TEST

struct lines {
    uint64_t addr[8];
    uint32_t valid[8], dirty[8], n;
};

static void note(void *ctx, uint64_t addr, uint32_t valid, uint32_t dirty)
{
    struct lines *l = ctx;
    ck_assert_uint_lt(l->n, 8);
    l->addr[l->n] = addr;
    l->valid[l->n] = valid;
    l->dirty[l->n++] = dirty;
}

START_TEST(what_is_put_is_there_until_displaced)
{
    struct l2 *l2 = timed(2 * 3 * 128, 3, 1, 1); /* two sets of three ways */
    const struct l2_request reads = {.addr = 0, .reads = true, .room = 2};
    struct lines l = {.n = 0};
    l2_put(l2, 0, 0 * 256, 1, 1);
    l2_put(l2, 0, 1 * 256, 2, 0);
    l2_put(l2, 0, 2 * 256, 4, 0);
    l2_put(l2, 0, 0 * 256, 6, 4); /* used last again, with more sectors */
    l2_put(l2, 0, 128, L2_WHOLE, 0);
    l2_each(l2, note, &l);
    ck_assert(l.n == 4 && l.addr[0] == 256 && l.addr[1] == 512 && l.addr[2] == 0 && l.addr[3] == 128);
    ck_assert(l.valid[0] == 2 && l.valid[2] == 7 && l.dirty[2] == 5);
    l2_put(l2, 0, 3 * 256, 1, 0);
    l2_put(l2, 0, 4 * 256, 1, 0); /* lines 1 and 2 have made room */
    ck_assert_int_eq(l2_lookup(l2, &reads, &back, &entry), L2_HIT);
    /* What was put as written goes back like what was written. */
    struct l2_request next = {.addr = 5 * 256, .reads = true, .room = 2};
    ck_assert_int_eq(l2_lookup(l2, &next, &back, &entry), L2_FETCH);
    const uint32_t *waiters;
    l2_fill(l2, 0, entry, &waiters);
    l2_put(l2, 0, 4 * 256, 1, 0);
    l2_put(l2, 0, 5 * 256, 1, 0);
    next.addr = 6 * 256;
    ck_assert_int_eq(l2_lookup(l2, &next, &back, &entry), L2_FETCH);
    ck_assert(back.write_back == 5 && back.victim == 0);
    l2_fill(l2, 0, entry, &waiters);
    l2_clear(l2);
    l.n = 0;
    l2_each(l2, note, &l);
    ck_assert_uint_eq(l.n, 0);
    ck_assert_int_eq(l2_lookup(l2, &reads, &back, &entry), L2_FETCH);
    ck_assert_uint_eq(back.write_back, 0);
    l2_free(l2);
}
END_TEST

START_TEST(slices_have_sets_of_their_own)
{
    struct l2_shape shape = {.bytes = 4 * 128, .ways = 1, .slices = 4, .slice_bits = 0x300, .misses = 1, .merges = 1};
    struct l2 *l2 = l2_open(&shape, NULL);
    for (uint32_t s = 0; s < 4; s++)
        l2_put(l2, s, 0x1000 + s * 256, L2_WHOLE, 0);
    for (uint32_t s = 0; s < 4; s++) {
        const struct l2_request q = {.addr = 0x1000 + s * 256, .slice = s, .reads = true, .room = 2};
        ck_assert_int_eq(l2_lookup(l2, &q, &back, &entry), L2_HIT);
    }
    l2_free(l2);
    shape.slices = 8;
    GIVES_NONE(l2_open(&shape, &err), "");
    shape = (struct l2_shape){.bytes = 24 * 128, .ways = 1, .hash = L2_HASH_IPOLY};
    GIVES_NONE(l2_open(&shape, &err), "24 sets");
}
END_TEST

/* Of five channels of 256 B, the lines of one fill a cache of five sets and two ways, as if they stood side by side;
 * by the whole line number they would have two of the sets. */
START_TEST(lines_of_a_channel_that_is_a_remainder_stand_side_by_side)
{
    for (uint32_t mod = 0; mod <= 5; mod += 5) {
        const struct l2_shape shape = {.bytes = 10 * L2_LINE, .ways = 2, .slices = 1, .mod = mod, .mod_shift = 8};
        struct l2 *l2 = l2_open(&shape, NULL);
        uint32_t fetched[2] = {0, 0};
        for (int pass = 0; pass < 2; pass++)
            for (uint64_t line = 0; line < 10; line++) {
                const uint64_t addr = (line / 2 * 5 + 3) * 256 + line % 2 * L2_LINE;
                const struct l2_result r = l2_access(l2, addr, 1, true, true);
                fetched[pass] += r.fetch;
                ck_assert(!r.write_back || r.victim % 1280 / 256 == 3);
            }
        ck_assert_uint_eq(fetched[0], 10);
        ck_assert_uint_eq(fetched[1], mod ? 0 : 10);
        l2_free(l2);
    }
}
END_TEST

TEST_MAIN("l2")
