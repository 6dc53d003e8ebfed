#include "models/uvm/uvm_policy.h"

#include "models/policies.h"
#include "trace/base/testing.h"

static uint64_t next(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    return *s ^= *s << 17;
}

static struct uvm_block full_block(void)
{
    struct uvm_block b;
    uvm_block_init(&b, 0, UVM_BLOCK_BYTES);
    return b;
}

static void set_regions(struct page_mask *m, unsigned size, const int *regions)
{
    for (; *regions >= 0; regions++)
        page_mask_set_region(m, (unsigned)*regions * size, ((unsigned)*regions + 1) * size);
}

/* `count` faulted pages spread over the 64 KiB regions listed, one in each first, the rest filling up in order. */
static struct page_mask faults_in(const int *regions, unsigned count)
{
    struct page_mask m = {{0}};
    for (unsigned k = 0; count; k++)
        for (const int *r = regions; *r >= 0 && count; r++, count--)
            page_mask_set(&m, (unsigned)*r * 16 + k);
    return m;
}

static bool plan_is(const struct page_mask *plan, const struct page_mask *resident, const struct page_mask *faulted,
                    unsigned first, unsigned end)
{
    struct page_mask want = {{0}};
    page_mask_set_region(&want, first, end);
    page_mask_andnot(&want, &want, resident);
    page_mask_andnot(&want, &want, faulted);
    return page_mask_equal(plan, &want);
}

/* Specification 3.4 a, recorded on an H200. */
START_TEST(example_a_three_services_of_a_sequential_sweep_fill_the_block)
{
    struct uvm_block b = full_block();
    struct page_mask plan;
    struct page_mask f = faults_in((const int[]){0, 1, 2, 3, 4, 5, -1}, 35);
    uvm_tree_plan(&b, &f, UVM_TREE_THRESHOLD, &plan);
    ck_assert_uint_eq(page_mask_count(&plan), 93);
    ck_assert(plan_is(&plan, &b.resident, &f, 0, 128));
    page_mask_set_region(&b.resident, 0, 128);
    f = faults_in((const int[]){8, 9, 10, 12, 14, -1}, 29);
    uvm_tree_plan(&b, &f, UVM_TREE_THRESHOLD, &plan);
    ck_assert_uint_eq(page_mask_count(&plan), 99);
    ck_assert(plan_is(&plan, &b.resident, &f, 0, 256));
    page_mask_set_region(&b.resident, 0, 256);
    f = faults_in((const int[]){16, 17, 18, 20, 22, 25, 31, -1}, 32);
    uvm_tree_plan(&b, &f, UVM_TREE_THRESHOLD, &plan);
    ck_assert_uint_eq(page_mask_count(&plan), 224);
    ck_assert(plan_is(&plan, &b.resident, &f, 0, 512));
}
END_TEST

/* Specification 3.4 b, recorded on an H200: no region between 64 KiB and the root qualifies. */
START_TEST(example_b_the_root_moves_although_smaller_ancestors_fail)
{
    struct uvm_block b = full_block();
    page_mask_set_region(&b.resident, 0, 256);
    page_mask_set_region(&b.resident, 448, 464);
    struct page_mask f = {{0}}, plan;
    page_mask_set(&f, 429);
    uvm_tree_plan(&b, &f, UVM_TREE_THRESHOLD, &plan);
    ck_assert_uint_eq(page_mask_count(&plan), 239);
    ck_assert(plan_is(&plan, &b.resident, &f, 0, 512));
}
END_TEST

/* Specification 3.4 c, figure 2 of lee-2026: leaves l1, l2, ... are regions 0, 1, ... */
START_TEST(example_c_figure_2_of_the_paper)
{
    struct uvm_block b = full_block();
    set_regions(&b.resident, 16, (const int[]){0, 1, 5, 7, 10, 11, 14, 15, -1});
    struct page_mask f = {{0}}, plan, want = {{0}};
    page_mask_set(&f, 4 * 16 + 9);
    uvm_tree_plan(&b, &f, UVM_TREE_THRESHOLD, &plan);
    set_regions(&want, 16, (const int[]){2, 3, 4, 6, 8, 9, 12, 13, -1});
    page_mask_clear(&want, 4 * 16 + 9);
    ck_assert(page_mask_equal(&plan, &want));
    page_mask_set_region(&b.resident, 0, 256);
    page_mask_zero(&f);
    page_mask_set(&f, 300);
    uvm_tree_plan(&b, &f, UVM_TREE_THRESHOLD, &plan);
    ck_assert(plan_is(&plan, &b.resident, &f, 0, 512));
}
END_TEST

START_TEST(exactly_the_threshold_does_not_qualify)
{
    struct uvm_block b = full_block();
    page_mask_set_region(&b.resident, 0, 112);
    struct page_mask f = {{0}}, plan;
    page_mask_set(&f, 127); /* regions 0-7 are full: exactly 25 % of the block */
    uvm_tree_plan(&b, &f, 25, &plan);
    ck_assert(plan_is(&plan, &b.resident, &f, 0, 256)); /* 8 of 16 regions do qualify */
    uvm_tree_plan(&b, &f, 24, &plan);
    ck_assert(plan_is(&plan, &b.resident, &f, 0, 512));
}
END_TEST

START_TEST(pages_chosen_for_one_fault_do_not_count_for_another)
{
    /* Regions 0, 1, 2 fault: 3 of 4 bring region 3, 3 of 8 do not bring 4-7. With a cascade 4 + 1 of 8 would. */
    struct uvm_block b = full_block();
    set_regions(&b.resident, 16, (const int[]){0, 1, 5, -1});
    struct page_mask f = {{0}}, plan;
    page_mask_set(&f, 2 * 16);
    uvm_tree_plan(&b, &f, UVM_TREE_THRESHOLD, &plan);
    ck_assert(plan_is(&plan, &b.resident, &f, 0, 64));
    page_mask_set(&f, 9 * 16); /* a far fault changes nothing for the first */
    uvm_tree_plan(&b, &f, UVM_TREE_THRESHOLD, &plan);
    struct page_mask want = {{0}};
    page_mask_set_region(&want, 0, 64);
    page_mask_set_region(&want, 144, 160);
    page_mask_andnot(&want, &want, &b.resident);
    page_mask_andnot(&want, &want, &f);
    ck_assert(page_mask_equal(&plan, &want));
}
END_TEST

START_TEST(a_block_resident_nowhere_comes_whole_to_its_preferred_location)
{
    struct uvm_block b = full_block();
    struct page_mask f = {{0}}, plan;
    page_mask_set(&f, 77);
    b.populated = false;
    b.preferred = true;
    uvm_tree_plan(&b, &f, UVM_TREE_THRESHOLD, &plan);
    ck_assert_uint_eq(page_mask_count(&plan), 511);
    b.populated = true;
    uvm_tree_plan(&b, &f, UVM_TREE_THRESHOLD, &plan);
    ck_assert_uint_eq(page_mask_count(&plan), 15);
}
END_TEST

START_TEST(min_faults_holds_the_prefetcher_back)
{
    struct {
        int64_t threshold, min_faults;
    } state = {51, 3};
    struct uvm_block b = full_block();
    struct page_mask f = {{0}}, plan;
    page_mask_set(&f, 5);
    b.fault_pages = 1;
    uvm_tree.plan(&state, &b, &f, &plan);
    ck_assert(!page_mask_any(&plan));
    b.fault_pages = 2;
    uvm_tree.plan(&state, &b, &f, &plan);
    ck_assert_uint_eq(page_mask_count(&plan), 15);
}
END_TEST

/* Fault the pages of `order` one at a time where they are not resident; the number of faults. */
static unsigned faults_to_fill(int threshold, const uint16_t *order)
{
    struct uvm_block b = full_block();
    unsigned faults = 0;
    for (int i = 0; i < 512; i++) {
        if (page_mask_test(&b.resident, order[i]))
            continue;
        struct page_mask f = {{0}}, plan;
        page_mask_set(&f, order[i]);
        uvm_tree_plan(&b, &f, threshold, &plan);
        page_mask_or(&b.resident, &b.resident, &f);
        page_mask_or(&b.resident, &b.resident, &plan);
        faults++;
    }
    return faults;
}

/* Specification 3.6: the whole table. */
START_TEST(faults_to_fill_a_block_for_every_threshold)
{
    static const struct {
        int lo, hi;
        unsigned sequential;
        double random;
        unsigned first_pages;
    } rows[] = {{100, 100, 512, 512, 1}, {99, 99, 32, 32, 16},  {49, 49, 5, 8.1, 32},
                {24, 24, 3, 3, 64},      {12, 12, 2, 2, 128},   {6, 6, 2, 2, 256},
                {0, 3, 1, 1, 512},       {50, 53, 6, 13.8, 16}, {25, 25, 3, 4.2, 32}};
    uint64_t seed = 12345;
    uint16_t order[512];
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int t = rows[r].lo; t <= rows[r].hi; t++) {
            for (uint16_t i = 0; i < 512; i++)
                order[i] = i;
            ck_assert_msg(faults_to_fill(t, order) == rows[r].sequential, "threshold %d: %u", t,
                          faults_to_fill(t, order));
            struct uvm_block b = full_block();
            struct page_mask f = {{0}}, plan;
            page_mask_set(&f, 100);
            uvm_tree_plan(&b, &f, t, &plan);
            ck_assert_uint_eq(page_mask_count(&plan) + 1, rows[r].first_pages);
            double sum = 0;
            enum { SHUFFLES = 2000 };
            for (int s = 0; s < SHUFFLES; s++) {
                for (unsigned i = 511; i > 0; i--) {
                    unsigned j = (unsigned)(next(&seed) % (i + 1));
                    uint16_t x = order[i];
                    order[i] = order[j];
                    order[j] = x;
                }
                sum += faults_to_fill(t, order);
            }
            ck_assert_msg(sum / SHUFFLES - rows[r].random < 0.3 && rows[r].random - sum / SHUFFLES < 0.3,
                          "threshold %d: mean %g", t, sum / SHUFFLES);
        }
}
END_TEST

/* 768 write faults in recorded order: 128 blocks of the CPU's first touch, ascending, six faults each. */
START_TEST(sequential_cpu_writes_fault_six_times_per_block)
{
    static const unsigned moved[6] = {16, 16, 32, 64, 128, 256};
    unsigned faults = 0;
    for (int n = 0; n < 128; n++) {
        struct uvm_block b = full_block();
        b.populated = false;
        for (unsigned page = 0, k = 0; page < 512; page++) {
            if (page_mask_test(&b.resident, page))
                continue;
            struct page_mask f = {{0}}, plan;
            page_mask_set(&f, page);
            uvm_tree_plan(&b, &f, UVM_TREE_THRESHOLD, &plan);
            ck_assert(k < 6 && page_mask_count(&plan) + 1 == moved[k]);
            page_mask_or(&b.resident, &b.resident, &f);
            page_mask_or(&b.resident, &b.resident, &plan);
            b.populated = true;
            faults++;
            k++;
        }
    }
    ck_assert_uint_eq(faults, 768);
}
END_TEST

/* --- the rule of specification 3.2, page by page and level by level, on pages numbered from the block's start --- */

struct plain {
    int pages, lead; /* lead: pages before the first 64 KiB boundary */
    int threshold;
    bool resident[512], faulted[512], thrashing[512];
    bool plan[512];
};

static void plain_fill(const struct plain *p, bool *t, int from, int to)
{
    bool any = false, held = false;
    for (int i = from; i < to; i++) {
        any |= p->faulted[i];
        held |= p->thrashing[i];
    }
    for (int i = from; i < to && any && !held; i++)
        t[i] = true;
}

static void plain_plan(struct plain *p)
{
    bool t[512];
    for (int i = 0; i < p->pages; i++)
        t[i] = p->resident[i] || p->faulted[i];
    int first_big = p->lead, last_big = first_big + (p->pages - first_big) / 16 * 16;
    int ghosts = p->lead ? 16 - p->lead : 0;
    if (p->pages < first_big + 16) { /* no whole 64 KiB region */
        plain_fill(p, t, 0, p->pages);
        ghosts = 0;
    } else {
        plain_fill(p, t, 0, first_big);
        for (int i = first_big; i < last_big; i += 16)
            plain_fill(p, t, i, i + 16);
        plain_fill(p, t, last_big, p->pages);
    }
    int leaves = p->pages + ghosts;
    static int count[10][512];
    memset(count, 0, sizeof count);
    for (int i = 0; i < p->pages; i++)
        for (int level = 0; t[i] && level < 10; level++)
            count[level][(i + ghosts) >> level]++;
    memset(p->plan, 0, sizeof p->plan);
    for (int i = 0; i < p->pages; i++) {
        if (!p->faulted[i] || p->thrashing[i])
            continue;
        int from = 0, to = 0;
        for (int level = 0; level < 10; level++) {
            int lo = (i + ghosts) >> level << level, hi = lo + (1 << level) < leaves ? lo + (1 << level) : leaves;
            if (100 * count[level][(i + ghosts) >> level] > p->threshold * (hi - lo)) {
                from = lo;
                to = hi;
            }
            if (1 << level >= leaves)
                break;
        }
        for (int k = from; k < to; k++)
            if (k >= ghosts)
                p->plan[k - ghosts] = true;
    }
    for (int i = 0; i < p->pages; i++)
        p->plan[i] = p->plan[i] && !p->faulted[i] && !p->resident[i] && !p->thrashing[i];
}

static void random_case(uint64_t *seed, struct plain *p, struct uvm_block *b, struct page_mask *f, struct page_mask *th)
{
    uint64_t start = 0, end = 512;
    if (next(seed) % 2) {
        start = next(seed) % 512;
        end = start + 1 + next(seed) % (512 - start);
        if (next(seed) % 4 == 0)
            end = start + 40 < 512 ? start + 1 + next(seed) % 40 : end;
    }
    uvm_block_init(b, (1000 * 512 + start) * UVM_PAGE_BYTES, (1000 * 512 + end) * UVM_PAGE_BYTES);
    memset(p, 0, sizeof *p);
    p->pages = (int)(end - start);
    p->lead = (int)((16 - start % 16) % 16);
    static const int thresholds[] = {51, 50, 53, 54, 25, 24, 49, 75, 99, 100, 12, 6, 3, 0};
    p->threshold = next(seed) % 2 ? 51 : thresholds[next(seed) % 14];
    int patches = (int)(next(seed) % 6);
    for (int k = 0; k < patches; k++) { /* residency in aligned patches, as services leave it */
        int size = 1 << next(seed) % 9, at = (int)(next(seed) % (uint64_t)p->pages) / size * size;
        for (int i = at; i < at + size && i < p->pages; i++)
            p->resident[i] = true;
    }
    page_mask_zero(f);
    page_mask_zero(th);
    int faults = next(seed) % 8 ? 1 + (int)(next(seed) % 4) : 1 + (int)(next(seed) % 100);
    bool spread = next(seed) % 2, any = false;
    int near = (int)(next(seed) % (uint64_t)p->pages);
    for (int k = 0; k < faults; k++) {
        int i = spread ? (int)(next(seed) % (uint64_t)p->pages) : near + k;
        if (i < p->pages && !p->resident[i])
            any = p->faulted[i] = true;
    }
    if (!any) {
        p->resident[near] = false;
        p->faulted[near] = true;
    }
    if (next(seed) % 8 == 0)
        for (int k = 0; k < 5; k++)
            p->thrashing[next(seed) % (uint64_t)p->pages] = true;
    unsigned shift = uvm_block_page(b, (1000 * 512 + start) * UVM_PAGE_BYTES);
    for (int i = 0; i < p->pages; i++) {
        if (p->resident[i])
            page_mask_set(&b->resident, (unsigned)i + shift);
        if (p->faulted[i])
            page_mask_set(f, (unsigned)i + shift);
        if (p->thrashing[i])
            page_mask_set(th, (unsigned)i + shift);
    }
    b->thrashing = page_mask_any(th) ? th : NULL;
}

START_TEST(a_million_random_services_agree_with_the_rule_page_by_page)
{
    static struct plain p;
    uint64_t seed = 20261120;
    for (int n = 0; n < 1000000 / testing_step(); n++) {
        struct uvm_block b;
        struct page_mask f, th, plan, want = {{0}};
        random_case(&seed, &p, &b, &f, &th);
        plain_plan(&p);
        for (int i = 0; i < p.pages; i++)
            if (p.plan[i])
                page_mask_set(&want, (unsigned)i + b.first);
        uvm_tree_plan(&b, &f, p.threshold, &plan);
        if (!page_mask_equal(&plan, &want))
            ck_abort_msg("case %d: %d pages, lead %d, threshold %d: %u planned, %u expected", n, p.pages, p.lead,
                         p.threshold, page_mask_count(&plan), page_mask_count(&want));
    }
}
END_TEST

TEST_MAIN("tree")
