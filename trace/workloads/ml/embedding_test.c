#include "trace/workloads/ml/gather.h"

#include <math.h>

#include "trace/base/testing.h"

/* The rows of all launches, and how many are of the first; the number of rows. */
static size_t rows_of(const char *spec, uint64_t *rows, size_t most, size_t *first)
{
    struct workload w;
    struct scan_setup setup;
    struct scan_batch batch;
    struct err err = {""};
    size_t n = 0;
    ck_assert_msg(workload_open(&w, spec, &err) == 0, "%s", err.msg);
    gather_ops.setup(w.state, &setup);
    ck_assert_int_eq(gather_ops.start(w.state, NULL), 0);
    *first = 0;
    while (gather_ops.next(w.state, &batch, NULL) > 0)
        for (size_t i = 0; i < batch.n; i++) {
            ck_assert_uint_lt(n, most);
            *first += batch.launch == 0;
            rows[n++] = batch.scans[i].first / (uint64_t)setup.row_elements;
            ck_assert_uint_lt(rows[n - 1], setup.structures[0].elements / (uint64_t)setup.row_elements);
        }
    workload_close(&w);
    return n;
}

enum { ROWS = 1000, LOOKUPS = 200000 };

static int more_first(const void *a, const void *b)
{
    return *(const int *)b - *(const int *)a;
}

/* The row of place k is asked for n / (k^s x sum of j^-s) times; within five standard deviations. */
START_TEST(rows_are_asked_for_by_zipfs_law)
{
    static uint64_t rows[LOOKUPS];
    static const double exponents[] = {0, 0.6, 1, 1.4, 3};
    size_t first;
    for (size_t e = 0; e < 5; e++) {
        int count[ROWS] = {0};
        char spec[128];
        double all = 0;
        (void)snprintf(spec, sizeof spec, "embedding,rows=%d,lookups=%d,zipf=%g", ROWS, LOOKUPS, exponents[e]);
        ck_assert_uint_eq(rows_of(spec, rows, LOOKUPS, &first), LOOKUPS);
        for (size_t i = 0; i < LOOKUPS; i++)
            count[rows[i]]++;
        qsort(count, ROWS, sizeof *count, more_first);
        for (int k = 1; k <= ROWS; k++)
            all += pow(k, -exponents[e]);
        for (int k = 1; k <= 64 && exponents[e] > 0; k *= 2) {
            const double expected = LOOKUPS * pow(k, -exponents[e]) / all;
            ck_assert_double_eq_tol(count[k - 1], expected, 5 * sqrt(expected) + (k > 8 ? expected / 10 : 0));
        }
        ck_assert_int_gt(count[0], 0);
        ck_assert(exponents[e] > 0 || count[0] < 2 * count[ROWS - 1]);
    }
}
END_TEST

START_TEST(every_place_has_a_row_of_its_own)
{
    static uint64_t rows[20000];
    size_t first;
    for (int n = 1; n < 40; n++) {
        char spec[96], seen[40] = {0};
        (void)snprintf(spec, sizeof spec, "embedding,rows=%d,lookups=20000,zipf=0.2", n);
        const size_t got = rows_of(spec, rows, 20000, &first);
        for (size_t i = 0; i < got; i++)
            seen[rows[i]] = 1;
        for (int r = 0; r < n; r++)
            ck_assert_msg(seen[r], "%d rows: %d is never asked for", n, r);
    }
}
END_TEST

START_TEST(lookups_go_to_the_tables_in_turn_and_to_batches_evenly)
{
    uint64_t rows[100];
    size_t first;
    ck_assert_uint_eq(rows_of("embedding,tables=3,rows=10,lookups=100,batches=3", rows, 100, &first), 100);
    ck_assert_uint_eq(first, 33);
    for (size_t i = 0; i < 100; i++)
        ck_assert_uint_eq(rows[i] / 10, i % 3);
}
END_TEST

/* 2 x 3 of '<i8': the same as text, one of each table in turn. */
START_TEST(indices_are_read_from_numpy_and_from_text)
{
    static const char head[] =
        "\x93NUMPY\1\0\x46\0{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), }          \n";
    static const int64_t items[] = {4, 0, 9, 7, 9, 1};
    static const char text[] = "user,item,place\n4,0,9\n# a break\n7, 9 1\n";
    static const char *const wrong[][2] = {{"i.npy", "i.npy: item 2: row 9; the table has 9"},
                                           {"i.csv", "i.csv: line 2: row 9; the table has 9"},
                                           {"cut.npy", "its shape needs 48"},
                                           {"word.csv", "line 2: 'x' is no row number"},
                                           {"head.csv", "no row numbers"}};
    char file[sizeof head - 1 + sizeof items];
    uint64_t rows[6];
    size_t first;
    struct workload w;
    memcpy(file, head, sizeof head - 1);
    file[8] = (char)(sizeof head - 1 - 10);
    memcpy(file + sizeof head - 1, items, sizeof items);
    (void)testing_write("i.npy", file, sizeof file);
    (void)testing_write("i.csv", text, sizeof text - 1);
    for (int i = 0; i < 12; i++) {
        if (i % 6 == 0)
            (void)rows_of(testing_text("embedding,tables=3,indices=%s", testing_file(wrong[i / 6][0])), rows, 6,
                          &first);
        ck_assert_uint_eq(rows[i % 6], (uint64_t)items[i % 6] + i % 3 * 10);
    }
    (void)testing_write("cut.npy", file, sizeof file - 8);
    (void)testing_write("word.csv", "1\n2,x\n", 6);
    (void)testing_write("head.csv", "row\n", 4);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        FAILS_WITH(workload_open(&w, testing_text("embedding,rows=9,indices=%s", testing_file(wrong[i][0])), &err),
                   wrong[i][1]);
    FAILS_WITH(workload_open(&w, "embedding,tables=1048576,rows=2000000", &err), "expected at most 2^40 rows in all");
    FAILS_WITH(workload_open(&w, "embedding,row_bytes=6", &err), "a multiple of 4");
}
END_TEST

TEST_MAIN("embedding")
