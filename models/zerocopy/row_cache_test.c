#include "models/zerocopy/row_cache.h"

#include "trace/base/random.h"
#include "trace/base/testing.h"

enum { MOST = 64 };

/* A plain cache of c rows, one lookup after the other. held: rows, in the order of lru the last asked for first. */
struct plain {
    uint32_t held[MOST], n, c;
    uint32_t order[MOST], known, count[MOST]; /* lfu: all rows that were asked for, counts outlive eviction */
};

static bool plain_lru(struct plain *p, uint32_t row)
{
    uint32_t at = 0;
    while (at < p->n && p->held[at] != row)
        at++;
    const bool hit = at < p->n;
    p->n += !hit && p->n < p->c;
    for (at = at < p->n ? at : p->n - 1; p->n && at > 0; at--)
        p->held[at] = p->held[at - 1];
    if (p->n)
        p->held[0] = row;
    return hit;
}

/* The row asked for changes places with the first of its equals; a cache has the first c. */
static bool plain_lfu(struct plain *p, uint32_t row)
{
    uint32_t at = 0, first = 0;
    while (at < p->known && p->order[at] != row)
        at++;
    const bool hit = at < p->known && at < p->c;
    if (at == p->known)
        p->order[p->known++] = row;
    else {
        while (p->count[p->order[first]] != p->count[row])
            first++;
        p->order[at] = p->order[first];
        p->order[first] = row;
    }
    p->count[row]++;
    for (uint32_t i = 1; i < p->known; i++) /* what is held was asked for as often as what is not, or more */
        ck_assert_uint_ge(p->count[p->order[i - 1]], p->count[p->order[i]]);
    return hit;
}

static void fill(uint64_t *rows, uint32_t *plain, size_t n, uint32_t kinds, uint64_t seed)
{
    struct random random = {seed};
    for (size_t i = 0; i < n; i++) {
        const uint32_t a = random_below(&random, kinds), b = random_below(&random, kinds);
        plain[i] = seed % 2 ? a * b / kinds : a;
        rows[i] = random_mix(plain[i] + seed); /* any numbers */
    }
}

START_TEST(caches_of_all_sizes_are_plain_caches_lookup_by_lookup)
{
    enum { N = 3000 };
    static uint64_t rows[N];
    static uint32_t plain[N], depths[N];
    for (uint64_t seed = 1; seed < 9; seed++)
        for (uint32_t kinds = 1; kinds <= MOST; kinds = 2 * kinds + (kinds > 2)) {
            fill(rows, plain, N, kinds < MOST ? kinds : MOST, seed);
            for (int cache = ROW_CACHE_LRU; cache <= ROW_CACHE_LFU; cache++) {
                ck_assert_int_eq(row_cache_depths((enum row_cache)cache, rows, N, depths, NULL), 0);
                for (uint32_t c = 0; c <= MOST; c += 1 + c / 4) {
                    struct plain p = {.c = c};
                    for (size_t i = 0; i < N; i++)
                        ck_assert_int_eq(cache == ROW_CACHE_LRU ? plain_lru(&p, plain[i]) : plain_lfu(&p, plain[i]),
                                         depths[i] < c);
                }
            }
        }
}
END_TEST

/* Rows up and down, so often that the timeline is moved together: of a sweep the row of place k was asked for k others
 * ago. */
START_TEST(a_timeline_of_many_parts_counts_the_same)
{
    enum { KINDS = 200000, SWEEPS = 10 };
    uint32_t *rows = malloc(SWEEPS * KINDS * sizeof *rows);
    for (uint32_t i = 0; i < SWEEPS * KINDS; i++)
        rows[i] = i / KINDS % 2 ? KINDS - 1 - i % KINDS : i % KINDS;
    ck_assert_int_eq(row_cache_numbered(ROW_CACHE_LRU, rows, SWEEPS * KINDS, KINDS, rows, NULL), 0);
    for (uint32_t i = KINDS; i < SWEEPS * KINDS; i++)
        if (rows[i] != i % KINDS)
            ck_abort_msg("lookup %u: %u, not %u", i, rows[i], i % KINDS);
    free(rows);
}
END_TEST

START_TEST(the_worked_example)
{
    static const uint64_t rows[] = {10, 20, 10, 30, 20, 10};
    static const uint32_t never = ROW_CACHE_NEVER;
    const uint32_t expected[3][6] = {
        {never, never, 1, never, 2, 2}, {never, never, 0, never, 1, 0}, {0, 1, 0, 2, 1, 0}};
    uint32_t depths[6];
    for (int cache = 0; cache < 3; cache++) {
        ck_assert_int_eq(row_cache_depths((enum row_cache)cache, rows, 6, depths, NULL), 0);
        ck_assert_mem_eq(depths, expected[cache], sizeof depths);
    }
    uint32_t distinct;
    uint64_t *hits = row_cache_curve(ROW_CACHE_COUNTED, rows, 6, &distinct, NULL);
    ck_assert(hits[0] == 0 && hits[1] == 3 && hits[2] == 5 && hits[3] == 6);
    ck_assert_uint_eq(row_cache_knee(hits, 3), 1); /* 1 of 3 rows: half of what all save; 2: two thirds, 5 of 6 */
    free(hits);
}
END_TEST

START_TEST(no_rows_and_one_row)
{
    uint32_t depths[1] = {7};
    static const uint64_t row = 3;
    for (int cache = 0; cache < 3; cache++) {
        ck_assert_int_eq(row_cache_depths((enum row_cache)cache, &row, 0, depths, NULL), 0);
        ck_assert_int_eq(row_cache_depths((enum row_cache)cache, &row, 1, depths, NULL), 0);
        ck_assert_uint_eq(depths[0], cache == ROW_CACHE_COUNTED ? 0 : ROW_CACHE_NEVER);
    }
}
END_TEST

TEST_MAIN("row_cache")
