#include "replay/uvm/locality_windows.h"

#include "trace/base/testing.h"

static void add(struct locality_windows *w, const char *kernel, uint64_t first, size_t n)
{
    struct uvm_batch_block blocks[64];
    for (size_t i = 0; i < n; i++)
        blocks[i] = (struct uvm_batch_block){first + i, 1, 1};
    struct uvm_batch batch = {.blocks = blocks, .block_count = n};
    ck_assert_int_eq(locality_windows_add(w, kernel, &batch, NULL), 0);
}

START_TEST(one_block_seen_in_twenty_batches_gives_a_twentieth)
{
    struct locality_windows w;
    struct uvm_metrics m = {0};
    ck_assert_int_eq(locality_windows_init(&w, NULL), 0);
    for (int i = 0; i < 40; i++)
        add(&w, "k", 3, 1);
    ck_assert_int_eq(locality_windows_close(&w, &m, NULL), 0);
    ck_assert_double_eq(m.r.median, 0.05);
    ck_assert_uint_eq(m.kernels[0].windows, 2);
    locality_windows_release(&w);
}
END_TEST

START_TEST(kernels_have_windows_of_their_own)
{
    static const char one[] = "one", two[] = "two";
    struct locality_windows w;
    struct uvm_metrics m = {0};
    ck_assert_int_eq(locality_windows_init(&w, NULL), 0);
    for (int i = 0; i < 20; i++)
        add(&w, one, 0, 1);
    for (int i = 0; i < 20; i++)
        add(&w, two, 0, 40);
    ck_assert_int_eq(locality_windows_close(&w, &m, NULL), 0);
    ck_assert_uint_eq(m.kernel_count, 2);
    ck_assert_double_eq(m.kernels[0].r.median, 0.05);
    ck_assert_double_eq(m.kernels[1].r.median, 2);
    ck_assert_double_eq(m.r.median, (0.05 + 2) / 2);
    locality_windows_release(&w);
}
END_TEST

START_TEST(a_short_run_has_one_short_window)
{
    struct locality_windows w;
    struct uvm_metrics m = {0};
    ck_assert_int_eq(locality_windows_init(&w, NULL), 0);
    for (int i = 0; i < 5; i++)
        add(&w, "k", 0, 10);
    ck_assert_int_eq(locality_windows_close(&w, &m, NULL), 0);
    ck_assert_double_eq(m.r.median, 2);
    locality_windows_release(&w);
}
END_TEST

START_TEST(quartiles_interpolate)
{
    double v[] = {4, 1, 3, 2, 5};
    struct uvm_quartiles q = locality_windows_quartiles(v, 5);
    ck_assert_double_eq(q.p25, 2);
    ck_assert_double_eq(q.median, 3);
    ck_assert_double_eq(q.p75, 4);
    double w[] = {1, 2};
    ck_assert_double_eq(locality_windows_quartiles(w, 2).p25, 1.25);
    ck_assert_double_nan(locality_windows_quartiles(w, 0).median);
}
END_TEST

TEST_MAIN("replay/locality_windows", one_block_seen_in_twenty_batches_gives_a_twentieth,
          kernels_have_windows_of_their_own, a_short_run_has_one_short_window, quartiles_interpolate)
