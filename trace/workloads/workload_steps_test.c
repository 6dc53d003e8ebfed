/* Generated workloads walked step by step. */
#include "trace/event/actor.h"

#include "trace/base/testing.h"
#include "trace/workloads/workload.h"

/* What all of a workload's steps come to. */
struct sum {
    uint64_t launches, actors, steps, touches, distinct, first_page, last_page;
};

static struct sum walk(const char *spec)
{
    struct workload w;
    struct err err = {""};
    ck_assert_msg(workload_open(&w, spec, &err) == 0, "%s", err.msg);
    const struct actor_ops *ops = w.type->ops;
    size_t n;
    const struct actor_alloc *allocs = ops->allocs(w.state, &n);
    uint32_t pages = actor_space_pages(allocs, n);
    unsigned char *seen = calloc(pages, 1);
    struct sum sum = {.launches = ops->launches(w.state), .first_page = UINT64_MAX};
    for (uint32_t l = 0; l < sum.launches; l++) {
        struct actor_launch launch;
        ops->launch(w.state, l, &launch);
        sum.actors += launch.actors;
        for (uint32_t a = 0; a < launch.actors; a++) {
            struct actor_step step;
            for (uint32_t i = 0; ops->step(w.state, l, a, i, &step, &err) == 1; i++, sum.steps++)
                for (uint32_t t = 0; t < step.count; t++) {
                    ck_assert_uint_lt(step.page[t], pages);
                    ck_assert_uint_le(step.count, ACTOR_TOUCHES);
                    sum.distinct += !seen[step.page[t]];
                    seen[step.page[t]] = 1;
                    sum.touches++;
                }
        }
    }
    free(seen);
    workload_close(&w);
    return sum;
}

static uint64_t pages_of(uint64_t bytes)
{
    return (bytes + 4095) / 4096;
}

START_TEST(conv2d_touches_all_of_a_and_all_inner_rows_of_b)
{
    uint64_t n = 1024; /* sqrt(8 MiB / 8) */
    struct sum s = walk("conv2d,bytes=8MiB");
    ck_assert_uint_eq(s.actors, n / 32 * (n / 8));
    ck_assert_uint_eq(s.distinct, pages_of(n * n * 4) + (n - 2)); /* B without its first and last row: a page each */
}
END_TEST

START_TEST(fdtd2d_touches_every_page_of_its_three_arrays)
{
    uint64_t n = 1024; /* sqrt(12 MiB / 12) */
    struct sum s = walk("fdtd2d,bytes=12MiB,steps=2");
    ck_assert_uint_eq(s.launches, 6);
    ck_assert_uint_eq(s.distinct, 3 * pages_of(n * n * 4));
}
END_TEST

START_TEST(bicg_reads_the_matrix_by_rows_and_by_columns)
{
    uint64_t n = 2048; /* sqrt(16 MiB / 4) */
    struct sum one = walk("bicg,bytes=16MiB,kernel=1"), two = walk("bicg,bytes=16MiB,kernel=2"),
               both = walk("bicg,bytes=16MiB");
    ck_assert_uint_eq(one.actors, n / 256);
    ck_assert_uint_eq(one.steps, n / 256 * n);
    ck_assert_uint_eq(two.actors, n / 32);
    ck_assert_uint_eq(two.steps, n / 32 * (n / 128));
    ck_assert_uint_eq(one.distinct, n * 2 + 2 + 2); /* A has two pages a row; r and s two each */
    ck_assert_uint_eq(two.distinct, n * 2 + 2 + 2); /* p and q */
    ck_assert_uint_eq(both.distinct, n * 2 + 8);
}
END_TEST

START_TEST(nw_walks_every_tile_once)
{
    struct sum s = walk("nw,bytes=8MiB");
    uint64_t tiles = (1024 - 1) / 16, columns = tiles * 16 + 1;
    ck_assert_uint_eq(s.launches, 2 * tiles - 1);
    ck_assert_uint_eq(s.actors, tiles * tiles);
    ck_assert_uint_eq(s.steps, 3 * tiles * tiles);
    /* The first row of the reference, and what of its second lies in the same page, is not read. */
    ck_assert_uint_eq(s.distinct, 2 * pages_of(columns * columns * 4) - (columns + 1) * 4 / 4096);
}
END_TEST

START_TEST(array_patterns_touch_what_they_say)
{
    ck_assert_uint_eq(walk("array,bytes=8MiB").distinct, 2048);
    ck_assert_uint_eq(walk("array,bytes=8MiB").touches, 8ull << 20 >> 7);
    ck_assert_uint_eq(walk("array,bytes=8MiB,pattern=random").touches, 512);
    ck_assert_uint_eq(walk("array,bytes=8MiB,pattern=sparse,pages_per_block=4").distinct, 16);
    ck_assert_uint_eq(walk("array,bytes=8MiB,pattern=chain,step=64KiB").distinct, 128);
    ck_assert_uint_eq(walk("triad,bytes=12MiB").distinct, 3072);
}
END_TEST

START_TEST(random_reads_page_h_of_i)
{
    struct workload w;
    ck_assert_int_eq(workload_open(&w, "array,bytes=64MiB,pattern=random", NULL), 0);
    const struct actor_ops *ops = w.type->ops;
    struct actor_step step;
    ck_assert_int_eq(ops->step(w.state, 0, 1, 0, &step, NULL), 1); /* threads 32 to 63 */
    for (uint64_t i = 32; i < 64; i++) {
        uint64_t h = i * 0x9E3779B97F4A7C15u;
        h ^= h >> 29;
        h *= 0xBF58476D1CE4E5B9u;
        h ^= h >> 32;
        ck_assert_uint_eq(step.page[i - 32], h % 16384);
    }
    workload_close(&w);
}
END_TEST

START_TEST(records_say_all_there_is)
{
    struct workload w;
    struct err err = {""};
    ck_assert_int_eq(workload_open(&w, "conv2d,bytes=128KiB", &err), 0);
    struct record r[7];
    uint64_t touches = 0, allocs = 0, kernels = 0, ends = 0;
    for (size_t n = 1; n;) {
        ck_assert_int_eq(w.type->next(w.state, r, 7, &n, &err), 0);
        for (size_t i = 0; i < n; i++) {
            touches += r[i].kind == RECORD_TOUCH;
            allocs += r[i].kind == RECORD_ALLOC;
            kernels += r[i].kind == RECORD_KERNEL;
            ends += r[i].kind == RECORD_KERNEL_END;
        }
    }
    ck_assert_uint_eq(touches, walk("conv2d,bytes=128KiB").touches);
    ck_assert_uint_eq(allocs, 2);
    ck_assert_uint_eq(kernels, 1);
    ck_assert_uint_eq(ends, 1);
    workload_close(&w);
}
END_TEST

TEST_MAIN("workload_steps", conv2d_touches_all_of_a_and_all_inner_rows_of_b,
          fdtd2d_touches_every_page_of_its_three_arrays, bicg_reads_the_matrix_by_rows_and_by_columns,
          nw_walks_every_tile_once, array_patterns_touch_what_they_say, random_reads_page_h_of_i,
          records_say_all_there_is)
