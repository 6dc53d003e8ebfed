#include "models/uvm/page_mask.h"

#include "trace/base/testing.h"

static uint64_t next(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    return *s ^= *s << 17;
}

/* A mask and the same as an array, of clustered random pages. */
static void fill(uint64_t *seed, struct page_mask *m, bool page[PAGE_MASK_PAGES])
{
    page_mask_zero(m);
    memset(page, 0, PAGE_MASK_PAGES);
    unsigned regions = (unsigned)(next(seed) % 12);
    for (unsigned i = 0; i < regions; i++) {
        unsigned a = (unsigned)(next(seed) % 513), b = a + (unsigned)(next(seed) % 90);
        b = b > 512 ? 512 : b;
        page_mask_set_region(m, a, b);
        for (unsigned p = a; p < b; p++)
            page[p] = true;
    }
}

START_TEST(region_words_cover_exactly_the_region)
{
    for (unsigned a = 0; a <= 512; a += 3)
        for (unsigned b = a; b <= 512; b += 5) {
            struct page_mask m = {{0}};
            page_mask_set_region(&m, a, b);
            ck_assert_uint_eq(page_mask_count(&m), b - a);
            unsigned wrong = 0;
            for (unsigned p = 0; p < 512; p++)
                wrong += page_mask_test(&m, p) != (p >= a && p < b);
            ck_assert_uint_eq(wrong, 0);
            ck_assert_uint_eq(page_mask_runs(&m), a != b);
        }
}
END_TEST

START_TEST(counts_runs_and_iteration_agree_with_a_page_array)
{
    uint64_t seed = 1;
    for (int round = 0; round < 3000; round++) {
        struct page_mask m;
        bool page[PAGE_MASK_PAGES];
        fill(&seed, &m, page);
        unsigned count = 0, runs = 0, a = (unsigned)(next(&seed) % 513), b = a + (unsigned)(next(&seed) % (513 - a));
        unsigned inside = 0, wrong = 0;
        for (unsigned p = 0; p < 512; p++) {
            wrong += page_mask_test(&m, p) != page[p];
            count += page[p];
            runs += page[p] && !(p && page[p - 1]);
            inside += page[p] && p >= a && p < b;
        }
        ck_assert_uint_eq(page_mask_count(&m), count);
        ck_assert_int_eq(page_mask_any(&m), count > 0);
        ck_assert_uint_eq(page_mask_runs(&m), runs);
        ck_assert_uint_eq(page_mask_count_region(&m, a, b), inside);
        unsigned seen = 0, last = 0;
        PAGE_MASK_EACH(p, &m)
        {
            wrong += !page[p] || (seen && p <= last);
            last = p;
            seen++;
        }
        ck_assert_uint_eq(seen, count);
        unsigned run_pages = 0, run_count = 0;
        PAGE_MASK_EACH_RUN(first, end, &m)
        {
            wrong += end <= first || !page[first] || (end < 512 && page[end]);
            run_pages += end - first;
            run_count++;
        }
        ck_assert_uint_eq(run_pages, count);
        ck_assert_uint_eq(run_count, runs);
        ck_assert_uint_eq(wrong, 0);
        page_mask_clear_region(&m, a, b);
        ck_assert_uint_eq(page_mask_count(&m), count - inside);
    }
}
END_TEST

START_TEST(set_algebra_agrees_with_a_page_array)
{
    uint64_t seed = 7;
    for (int round = 0; round < 2000; round++) {
        struct page_mask a, b, either, both, only;
        bool pa[PAGE_MASK_PAGES], pb[PAGE_MASK_PAGES];
        fill(&seed, &a, pa);
        fill(&seed, &b, pb);
        page_mask_or(&either, &a, &b);
        page_mask_and(&both, &a, &b);
        page_mask_andnot(&only, &a, &b);
        bool contains = true;
        unsigned wrong = 0;
        for (unsigned p = 0; p < 512; p++) {
            wrong += page_mask_test(&either, p) != (pa[p] || pb[p]);
            wrong += page_mask_test(&both, p) != (pa[p] && pb[p]);
            wrong += page_mask_test(&only, p) != (pa[p] && !pb[p]);
            contains &= pa[p] || !pb[p];
        }
        ck_assert_uint_eq(wrong, 0);
        ck_assert_int_eq(page_mask_contains(&a, &b), contains);
        ck_assert_int_eq(page_mask_intersects(&a, &b), page_mask_any(&both));
        ck_assert(page_mask_contains(&either, &a) && page_mask_equal(&a, &a));
    }
}
END_TEST

START_TEST(groups_of_16_fill_when_any_page_is_set)
{
    for (unsigned i = 0; i < 64; i++)
        ck_assert_uint_eq(page_mask_fill16(1ull << i), 0xFFFFull << (i / 16 * 16));
    ck_assert_uint_eq(page_mask_fill16(0), 0);
    ck_assert_uint_eq(page_mask_fill16(0x8000000000010000ull), 0xFFFF0000FFFF0000ull);
    ck_assert_uint_eq(page_mask_fill16(~0ull), ~0ull);
}
END_TEST

START_TEST(pages_moved_are_those_of_an_array_moved)
{
    uint64_t seed = 11;
    bool page[PAGE_MASK_PAGES];
    for (unsigned by = 0; by <= PAGE_MASK_PAGES; by++) {
        struct page_mask m, up, down, in_place[2];
        fill(&seed, &m, page);
        page_mask_set(&m, 0);
        page_mask_set(&m, PAGE_MASK_PAGES - 1);
        page[0] = page[PAGE_MASK_PAGES - 1] = true;
        in_place[0] = in_place[1] = m;
        page_mask_up(&up, &m, by);
        page_mask_down(&down, &m, by);
        for (unsigned p = 0; p < PAGE_MASK_PAGES; p++) {
            ck_assert_uint_eq(page_mask_test(&up, p), p >= by && page[p - by]);
            ck_assert_uint_eq(page_mask_test(&down, p), p + by < PAGE_MASK_PAGES && page[p + by]);
        }
        page_mask_up(&in_place[0], &in_place[0], by);
        page_mask_down(&in_place[1], &in_place[1], by);
        ck_assert(page_mask_equal(&in_place[0], &up) && page_mask_equal(&in_place[1], &down));
    }
}
END_TEST

TEST_MAIN("page_mask")
