#include "trace/workloads/rodinia/check_testing.h"
#include "trace/workloads/rodinia/thread_testing.h"

enum { I, IN, IS, JE, JW, SUM, SUM2, DN, DS, DW, DE, C, THREADS = 512 };

/* The index arrays as main() fills them. */
struct image {
    int64_t R, C, n, iN[64], iS[64], jW[64], jE[64];
};

static void fill(struct image *m, int64_t rows, int64_t columns)
{
    *m = (struct image){.R = rows, .C = columns, .n = rows * columns};
    for (int64_t i = 0; i < rows; i++) {
        m->iN[i] = i - 1;
        m->iS[i] = i + 1;
    }
    for (int64_t j = 0; j < columns; j++) {
        m->jW[j] = j - 1;
        m->jE[j] = j + 1;
    }
    m->iN[0] = m->jW[0] = 0;
    m->iS[rows - 1] = rows - 1;
    m->jE[columns - 1] = columns - 1;
}

static void srad(struct thread *t, const struct image *m, bool hoisted)
{
    int64_t e = (int64_t)t->block * THREADS + t->thread, row = (e + 1) % m->R - 1, col = (e + 1) / m->R;
    if (e >= m->n)
        return;
    if ((e + 1) % m->R == 0) {
        row = m->R - 1;
        col--;
    }
    int64_t n = m->iN[row] + m->R * col, s = m->iS[row] + m->R * col, w = row + m->R * m->jW[col],
            east = row + m->R * m->jE[col];
    reads(t, true, IN, row);
    reads(t, true, I, e);
    reads(t, !hoisted, I, n);
    reads(t, true, IS, row);
    reads(t, !hoisted, I, s);
    reads(t, true, JW, col);
    reads(t, !hoisted, I, w);
    reads(t, true, JE, col);
    reads(t, true, I, hoisted ? n : east);
    reads(t, hoisted, I, s);
    reads(t, hoisted, I, w);
    reads(t, hoisted, I, east);
    for (unsigned array = DN; array <= C; array++)
        writes(t, true, array, e);
}

static void srad2(struct thread *t, const struct image *m, bool hoisted)
{
    int64_t e = (int64_t)t->block * THREADS + t->thread, row = e % m->R, col = e / m->R;
    if (e >= m->n)
        return;
    reads(t, true, IS, row);
    reads(t, true, JE, col);
    reads(t, true, DN, e);
    reads(t, true, DS, e);
    reads(t, !hoisted, C, m->iS[row] + m->R * col);
    reads(t, true, C, e);
    reads(t, true, DW, e);
    reads(t, true, DE, e);
    reads(t, !hoisted, C, row + m->R * m->jE[col]);
    reads(t, true, I, e);
    reads(t, hoisted, C, m->iS[row] + m->R * col);
    reads(t, hoisted, C, row + m->R * m->jE[col]);
    writes(t, true, I, e);
}

static void reduce(struct thread *t, int64_t no, int64_t mul, int64_t blocks)
{
    int64_t bx = (int64_t)t->block, tx = t->thread, ei = bx * THREADS + tx, nf = THREADS - (blocks * THREADS - no);
    bool full = nf == THREADS || bx != blocks - 1;
    int64_t df = 0;
    reads(t, ei < no, SUM, ei * mul);
    reads(t, ei < no, SUM2, ei * mul);
    for (int64_t i = 2; !full && i <= THREADS; i = 2 * i)
        if (nf >= i)
            df = i;
    if (tx != (full ? THREADS : df) - 1)
        return;
    for (int64_t i = bx * THREADS + df; !full && i < bx * THREADS + nf; i++) {
        reads(t, true, SUM, i);
        reads(t, true, SUM2, i);
    }
    writes(t, true, SUM, bx * mul * THREADS);
    writes(t, true, SUM2, bx * mul * THREADS);
}

static void prepare(struct thread *t, const struct image *m)
{
    int64_t e = (int64_t)t->block * THREADS + t->thread;
    reads(t, e < m->n, I, e);
    writes(t, e < m->n, SUM, e);
    reads(t, e < m->n, I, e);
    writes(t, e < m->n, SUM2, e);
}

static void scale(struct thread *t, const struct image *m)
{
    int64_t e = (int64_t)t->block * THREADS + t->thread;
    reads(t, e < m->n, I, e);
    writes(t, e < m->n, I, e);
}

#define EACH_THREAD(t, blocks, call)                                                                                   \
    do {                                                                                                               \
        for ((t)->block = 0; (t)->block < (uint64_t)(blocks); (t)->block++)                                            \
            for ((t)->thread = 0; (t)->thread < THREADS; (t)->thread++) {                                              \
                (t)->when = 0;                                                                                         \
                call;                                                                                                  \
            }                                                                                                          \
        (t)->launch++;                                                                                                 \
    } while (0)

static void compare(int64_t rows, int64_t columns, int iterations, bool hoisted)
{
    struct workload w;
    struct image m;
    struct program_notes notes = {0};
    const char *spec = testing_text("rodinia-srad-v1,rows=%lld,columns=%lld,iterations=%d,order=%s", (long long)rows,
                                    (long long)columns, iterations, hoisted ? "hoisted" : "ptx");
    struct program program = program_opened(&w, spec, 0, 0);
    struct thread t = {.notes = &notes, .program = &program, .threads = THREADS};
    fill(&m, rows, columns);
    int64_t blocks = (m.n + THREADS - 1) / THREADS;
    EACH_THREAD(&t, blocks, scale(&t, &m));
    for (int i = 0; i < iterations; i++) {
        EACH_THREAD(&t, blocks, prepare(&t, &m));
        int64_t left = blocks, no = m.n, mul = 1;
        while (left) {
            EACH_THREAD(&t, left, reduce(&t, no, mul, left));
            no = left;
            mul *= THREADS;
            left = left == 1 ? 0 : (left + THREADS - 1) / THREADS;
        }
        EACH_THREAD(&t, blocks, srad(&t, &m, hoisted));
        EACH_THREAD(&t, blocks, srad2(&t, &m, hoisted));
    }
    EACH_THREAD(&t, blocks, scale(&t, &m));
    ck_assert_uint_eq(program.ops->launches(program.state), t.launch);
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(images_of_any_shape_are_gone_over_as_the_source_does)
{
    static const int64_t sizes[][2] = {{64, 16}, {16, 64}, {1, 1},   {1, 40}, {40, 1},
                                       {33, 31}, {7, 61},  {50, 21}, {3, 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int hoisted = 0; hoisted < 2; hoisted++)
            compare(sizes[i][0], sizes[i][1], 1, hoisted);
    compare(64, 9, 3, false);
}
END_TEST

/* Sums of more than 512 blocks are reduced three times: stride 1, 512, 262,144 elements. */
START_TEST(large_images_are_reduced_three_times)
{
    const char *spec = "rodinia-srad-v1,rows=1024,columns=512,iterations=1";
    ck_assert_uint_eq(program_launches(spec), 8);
    ck_assert_uint_eq(program_blocks(spec, 3), 2);
    ck_assert_uint_eq(program_blocks(spec, 4), 1);
    CHECK_LAUNCHES(spec, {3, .reads = {64, 2048, 2048, 2048, 2048, 2048}},
                   {4, .reads = {2, 4, 4, 4, 4, 4}, .writes = {2, 2, 2, 2, 2, 2}});
}
END_TEST

/* Source: emulations of Rodinia's kernels. */
START_TEST(a_small_image_makes_the_emulated_counts)
{
    CHECK_LAUNCHES("rodinia-srad-v1,rows=64,columns=16",
                   {1, .reads = {64, 2048, 256, 64, 128, 32}, .writes = {64, 2048, 256, 64, 256, 64}},
                   {2, .reads = {64, 2048, 256, 64, 256, 64}, .writes = {4, 4, 4, 4, 4, 4}},
                   {4, .reads = {288, 9216, 992, 320, 148, 38}, .writes = {160, 5120, 640, 160, 640, 160}},
                   {5, .reads = {320, 10240, 1200, 336, 778, 195}, .writes = {32, 1024, 128, 32, 128, 32}});
    CHECK_LAUNCHES("rodinia-srad-v1,rows=16,columns=64", /* rows and columns exchanged: another */
                   {4, .reads = {288, 9216, 828, 350, 148, 38}});
}
END_TEST

START_TEST(each_index_is_waited_for_unless_hoisted)
{
    uint32_t ptx, hoisted;
    ck_assert_uint_eq(stalls_of("rodinia-srad-v1", 4, 0, 0, &ptx), 0x3fa);
    ck_assert_uint_eq(stalls_of("rodinia-srad-v1,order=hoisted", 4, 0, 0, &hoisted), 1ull << 5 | 1ull << 9);
    ck_assert_uint_eq(ptx, hoisted);
    ck_assert_uint_eq(stalls_of("rodinia-srad-v1", 5, 0, 0, &ptx), 0x7e6);
}
END_TEST

START_TEST(empty_images_are_refused_and_huge_ones_open_at_once)
{
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-srad-v1,rows=0"), "rows"));
    ck_assert_uint_eq(program_launches("rodinia-srad-v1,rows=32768,columns=32768"), 2 + 100 * 7);
}
END_TEST

START_TEST(arrays_lie_as_the_program_allocates_them)
{
    CHECK_ARRAYS("rodinia-srad-v1,rows=33,columns=31", 33 * 31 * 4, 132, 132, 124, 124, 33 * 31 * 4, 33 * 31 * 4,
                 33 * 31 * 4, 33 * 31 * 4, 33 * 31 * 4, 33 * 31 * 4, 33 * 31 * 4);
}
END_TEST

TEST_MAIN("rodinia_srad_v1")
