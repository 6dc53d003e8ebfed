/* An independent recording reproduced to the last record: bench_sparse of SpecAsync-UVM on an RTX 5070 Ti, driver
 * 595.91.07, prefetch thresholds 51 and 0 (results of its gate E9, program arguments `8 1 3 202610081`). The program
 * touches K random pages in each 2 MiB block of a managed array that the CPU wrote before; its page list is seeded
 * pseudo-random, so it is made again here: mt19937_64 and libstdc++'s std::shuffle, then a partial Fisher-Yates
 * shuffle per block.
 *
 * A service is recorded as one record per contiguous run of pages of one cause (faulted or prefetched). */
#include "models/uvm/uvm_policy.h"
#include "trace/base/testing.h"

/* --- mt19937_64: Matsumoto and Nishimura, parameters as in the C++ standard [rand.predef] --- */

struct mt {
    uint64_t x[312];
    int i;
};

static void mt_seed(struct mt *m, uint64_t seed)
{
    m->x[0] = seed;
    for (uint64_t i = 1; i < 312; i++)
        m->x[i] = 6364136223846793005ull * (m->x[i - 1] ^ m->x[i - 1] >> 62) + i;
    m->i = 312;
}

static uint64_t mt_next(struct mt *m)
{
    if (m->i == 312) {
        for (int i = 0; i < 312; i++) {
            uint64_t y = (m->x[i] & 0xFFFFFFFF80000000ull) | (m->x[(i + 1) % 312] & 0x7FFFFFFFull);
            m->x[i] = m->x[(i + 156) % 312] ^ y >> 1 ^ (y & 1 ? 0xB5026F5AA96619E9ull : 0);
        }
        m->i = 0;
    }
    uint64_t y = m->x[m->i++];
    y ^= y >> 29 & 0x5555555555555555ull;
    y ^= y << 17 & 0x71D67FFFEDA60000ull;
    y ^= y << 37 & 0xFFF7EEE000000000ull;
    return y ^ y >> 43;
}

/* uniform_int_distribution over 0 .. range - 1 as libstdc++ 11 and later do it for a 64-bit generator. */
static uint64_t mt_below(struct mt *m, uint64_t range)
{
    unsigned __int128 product = (unsigned __int128)mt_next(m) * range;
    if ((uint64_t)product < range)
        while ((uint64_t)product < -range % range)
            product = (unsigned __int128)mt_next(m) * range;
    return (uint64_t)(product >> 64);
}

static void swap(uint64_t *a, uint64_t *b)
{
    uint64_t x = *a;
    *a = *b;
    *b = x;
}

/* std::shuffle of libstdc++: two positions from one draw. */
static void mt_shuffle(struct mt *m, uint64_t *v, uint64_t n)
{
    uint64_t i = 1;
    if (n % 2 == 0)
        swap(&v[i++], &v[mt_below(m, 2)]);
    for (; i < n; i += 2) {
        uint64_t a = i + 1, b = i + 2, x = mt_below(m, a * b);
        swap(&v[i], &v[x / b]);
        swap(&v[i + 1], &v[x % b]);
    }
}

/* --- the page list pushed through the tree --- */

enum { SEED = 202610081 };

struct totals {
    uint64_t bytes, fault_bytes, records;
};

static void service(struct uvm_block *block, const struct page_mask *faulted, int threshold, struct totals *t)
{
    struct page_mask plan;
    uvm_tree_plan(block, faulted, threshold, &plan);
    uint64_t faults = page_mask_count(faulted);
    t->fault_bytes += faults * UVM_PAGE_BYTES;
    t->bytes += (faults + page_mask_count(&plan)) * UVM_PAGE_BYTES;
    t->records += page_mask_runs(faulted) + page_mask_runs(&plan);
    page_mask_or(&block->resident, &block->resident, faulted);
    page_mask_or(&block->resident, &block->resident, &plan);
}

/* Every block visited once in list order; its K pages fault together or one after the other. */
static struct totals run(uint64_t bytes, unsigned k_pages, int threshold, bool together)
{
    struct mt m;
    struct totals t = {0};
    uint64_t blocks = bytes / UVM_BLOCK_BYTES, *order = calloc(blocks, sizeof *order);
    mt_seed(&m, SEED);
    for (uint64_t b = 0; b < blocks; b++)
        order[b] = b;
    mt_shuffle(&m, order, blocks);
    for (uint64_t b = 0; b < blocks; b++) {
        uint64_t page[512];
        struct uvm_block block;
        struct page_mask all = {{0}};
        uvm_block_init(&block, order[b] * UVM_BLOCK_BYTES, (order[b] + 1) * UVM_BLOCK_BYTES);
        for (uint64_t p = 0; p < 512; p++)
            page[p] = p;
        for (unsigned k = 0; k < k_pages; k++) {
            swap(&page[k], &page[k + mt_next(&m) % (512 - k)]);
            (void)mt_next(&m); /* the word within the page */
            struct page_mask one = {{0}};
            page_mask_set(&one, (unsigned)page[k]);
            page_mask_set(&all, (unsigned)page[k]);
            if (!together && !page_mask_test(&block.resident, (unsigned)page[k]))
                service(&block, &one, threshold, &t);
        }
        if (together)
            service(&block, &all, threshold, &t);
    }
    free(order);
    return t;
}

START_TEST(the_generator_is_the_standard_one)
{
    struct mt m;
    mt_seed(&m, 5489);
    for (int i = 1; i < 10000; i++)
        (void)mt_next(&m);
    ck_assert_uint_eq(mt_next(&m), 9981545732273789042ull); /* [rand.predef]: the 10000th value */
}
END_TEST

START_TEST(threshold_51_moves_268435456_bytes_in_11802_records)
{
    struct totals t = run(8ull << 30, 1, 51, true);
    ck_assert_uint_eq(t.bytes, 268435456);
    ck_assert_uint_eq(t.records, 11802);
    ck_assert_uint_eq(t.fault_bytes, 16777216);
}
END_TEST

START_TEST(threshold_0_moves_8589934592_bytes_in_12276_records)
{
    struct totals t = run(8ull << 30, 1, 0, true);
    ck_assert_uint_eq(t.bytes, 8589934592ull);
    ck_assert_uint_eq(t.records, 12276);
    ck_assert_uint_eq(t.fault_bytes, 16777216);
}
END_TEST

START_TEST(eight_pages_a_block_move_between_250_54_and_253_69_million_bytes)
{
    double together = (double)run(1ull << 30, 8, 51, true).bytes / 1e6;
    double single = (double)run(1ull << 30, 8, 51, false).bytes / 1e6;
    ck_assert_msg(together >= 250.535 && together < 250.545, "%.3f", together);
    ck_assert_msg(single >= 253.685 && single < 253.695, "%.3f", single);
    ck_assert(together < 251.79 && single > 251.79); /* recorded */
}
END_TEST

START_TEST(the_host_fill_faults_6_times_per_block_at_51_and_once_at_0)
{
    static const struct {
        int threshold;
        unsigned faults;
    } rows[] = {{51, 6}, {0, 1}};
    for (int r = 0; r < 2; r++) {
        struct uvm_block block;
        struct totals t = {0};
        unsigned faults = 0;
        uvm_block_init(&block, 0, UVM_BLOCK_BYTES);
        for (unsigned p = 0; p < 512; p++)
            if (!page_mask_test(&block.resident, p)) {
                struct page_mask f = {{0}};
                page_mask_set(&f, p);
                service(&block, &f, rows[r].threshold, &t);
                faults++;
            }
        ck_assert_uint_eq(faults, rows[r].faults);
    }
}
END_TEST

TEST_MAIN("tree_sparse")
