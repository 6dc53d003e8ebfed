#include "models/uvm/locality.h"

#include "trace/base/testing.h"

static struct uvm_batch batch_of(struct uvm_batch_block *blocks, const uint64_t *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        blocks[i] = (struct uvm_batch_block){.number = numbers[i], .faults = 1};
    return (struct uvm_batch){.blocks = blocks, .block_count = n};
}

START_TEST(a_block_seen_in_three_batches_counts_once)
{
    struct uvm_locality *w = calloc(1, sizeof *w);
    struct uvm_batch_block blocks[4];
    struct uvm_batch b = batch_of(blocks, (const uint64_t[]){5, 6}, 2);
    for (int i = 0; i < 3; i++)
        uvm_locality_add(w, &b);
    b = batch_of(blocks, (const uint64_t[]){6, 7, 8}, 3);
    uvm_locality_add(w, &b);
    ck_assert_double_eq(uvm_locality_r(w), 4 / 4.0);
    ck_assert_double_eq(uvm_locality_summed_r(w), 9 / 4.0);
    uvm_locality_next(w);
    ck_assert_double_eq(uvm_locality_r(w), 0);
    uvm_locality_add(w, &b);
    ck_assert_double_eq(uvm_locality_r(w), 3);
    free(w);
}
END_TEST

START_TEST(distinct_counts_agree_with_a_bitmap_over_many_windows)
{
    struct uvm_locality *w = calloc(1, sizeof *w);
    static bool seen[5000];
    struct uvm_batch_block blocks[256];
    uint64_t numbers[256], s = 1;
    for (int window = 0; window < 300; window++) {
        memset(seen, 0, sizeof seen);
        unsigned distinct = 0;
        for (int k = 0; k < 20; k++) {
            size_t n = 0;
            for (uint64_t v = 0; n < 256 && v < 5000;) {
                s = s * 6364136223846793005ull + 1442695040888963407ull;
                v += 1 + (s >> 33) % (window % 3 ? 60 : 9);
                if (v < 5000)
                    numbers[n++] = v;
            }
            for (size_t i = 0; i < n; i++) {
                distinct += !seen[numbers[i]];
                seen[numbers[i]] = true;
            }
            struct uvm_batch b = batch_of(blocks, numbers, n);
            uvm_locality_add(w, &b);
        }
        ck_assert_uint_eq(w->distinct, distinct);
        uvm_locality_next(w);
    }
    free(w);
}
END_TEST

START_TEST(more_blocks_than_slots_neither_hang_nor_lose_a_count)
{
    struct uvm_locality *w = calloc(1, sizeof *w);
    struct uvm_batch_block blocks[256];
    uint64_t numbers[256];
    for (uint64_t k = 0; k < 400; k++) {
        for (uint64_t i = 0; i < 256; i++)
            numbers[i] = k * 256 + i;
        struct uvm_batch b = batch_of(blocks, numbers, 256);
        uvm_locality_add(w, &b);
    }
    ck_assert_uint_eq(w->distinct, 400 * 256);
    free(w);
}
END_TEST

/* 2^24 windows have tags of their own. */
START_TEST(windows_stay_apart_where_their_tags_are_used_up)
{
    struct uvm_locality *w = calloc(1, sizeof *w);
    struct uvm_batch_block blocks[300];
    uint64_t numbers[300];
    for (int window = 0; window < 20; window++) {
        const size_t n = window % 2 ? 300 : 200;
        for (size_t i = 0; i < n; i++)
            numbers[i] = i * (window % 3 ? 1 : 41602); /* no two share a slot, or 200 share 21 */
        if (window == 0 || window == 11) /* the first of their tag, before and after: slots begin free again */
            numbers[0] = 123456;
        struct uvm_batch b = batch_of(blocks, numbers, n);
        uvm_locality_add(w, &b);
        uvm_locality_add(w, &b);
        ck_assert_uint_eq(w->distinct, n);
        ck_assert(window != 11 || w->number == 0);
        uvm_locality_next(w);
        if (window == 4)
            w->number = (1 << 24) - 8;
    }
    free(w);
}
END_TEST

TEST_MAIN("locality")
