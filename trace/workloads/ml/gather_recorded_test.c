#include "trace/base/testing.h"
#include "trace/program/access.h"
#include "trace/workloads/ml/gather.h"

enum { HOST = 0x10000, ROW = 256 };

static struct store *store;
static struct access_sink sink;

static void begin(const char *name)
{
    store = store_create(testing_file(name), OUTPUT_REPLACE, "test", NULL);
    ck_assert_int_eq(access_open(&sink, store, NULL), 0);
    ck_assert_int_eq(access_launch(&sink, 0, NULL), 0);
}

/* An array of 40 rows at HOST, or on the GPU. */
static void array(int number, uint64_t addr, const char *kind)
{
    ck_assert_int_eq(STORE_ROW(store, "allocations", NULL, STORE_V_INT(number), STORE_V_INT(addr),
                               STORE_V_INT(40 * ROW), STORE_V_TEXT(kind), STORE_V_NULL, STORE_V_NULL, STORE_V_NULL),
                     0);
}

/* Lanes of a warp read 4 bytes each, `by` apart. */
static void reads(uint32_t warp, uint64_t first, int lanes, uint64_t by, uint32_t access)
{
    uint64_t addrs[ACCESS_LANES];
    for (int l = 0; l < lanes; l++)
        addrs[l] = first + (uint64_t)l * by;
    const struct access_op op = {.addrs = addrs, .lanes = lanes, .bytes = 4, .access = access, .warp = warp};
    ck_assert_int_eq(access_add(&sink, &op, NULL), 0);
}

static void end(void)
{
    ck_assert_int_eq(access_launch_end(&sink, NULL) || access_flush(&sink, NULL) || store_finish(store, NULL), 0);
    access_close(&sink);
    store_close(store);
}

/* The rows that are found are these; the table has so many. */
static void found(const char *path, int64_t row_bytes, const uint64_t *rows, size_t n, uint64_t table)
{
    struct gather_lookups out = {0};
    struct err err = {""};
    ck_assert_msg(gather_read_rows(path, row_bytes, &out, &err) == 1, "%s", err.msg);
    ck_assert_uint_eq(out.n, n);
    ck_assert_mem_eq(out.rows, rows, n * sizeof *rows);
    ck_assert_uint_eq(out.table_rows, table);
    free(out.rows);
}

static void refused(const char *path, int64_t row_bytes, const char *says)
{
    struct gather_lookups out = {0};
    struct err err = {""};
    ck_assert_int_eq(gather_read_rows(path, row_bytes, &out, &err), -1);
    ck_assert_msg(strstr(err.msg, says), "%s", err.msg);
    free(out.rows);
}

START_TEST(a_read_of_a_rows_first_sector_is_a_lookup)
{
    static const uint64_t rows[] = {7, 7, 1, 0, 2, 1, 0, 3};
    begin("r.db");
    array(0, HOST, "managed");
    array(1, 16 * HOST, "device");
    for (int twice = 0; twice < 2; twice++) { /* a warp for each half of a row, the same row twice */
        reads(0, HOST + 7 * ROW, 32, 4, RECORD_READ);
        reads(1, HOST + 7 * ROW + 128, 32, 4, RECORD_READ);
    }
    for (uint64_t at = 0; at < ROW; at += 4) { /* a lane for each of rows 1, 0 and 2, an element at a time */
        const uint64_t addrs[] = {HOST + ROW + at, HOST + at, HOST + 2 * ROW + at};
        const struct access_op op = {.addrs = addrs, .lanes = 3, .bytes = 4, .access = RECORD_READ, .warp = 2};
        ck_assert_int_eq(access_add(&sink, &op, NULL), 0);
        reads(2, 16 * HOST + at, 3, 4, RECORD_READ); /* of an array that is not the table */
    }
    reads(2, HOST + ROW, 2, (uint64_t)-ROW, RECORD_READ); /* the next lookups of that warp: rows 1 and 0 */
    reads(2, HOST + 3 * ROW, 4, 4, RECORD_READ);
    reads(3, HOST + 4 * ROW, 32, 4, RECORD_WRITE);
    reads(3, HOST + 4 * ROW + 32, 24, 4, RECORD_READ); /* not from its beginning */
    end();
    found(testing_file("r.db"), ROW, rows, 8, 40);
}
END_TEST

START_TEST(the_array_is_the_only_one_or_said)
{
    static const uint64_t rows[] = {5}, second[] = {0};
    char path[400];
    begin("two.db");
    array(0, HOST, "managed");
    array(1, 2 * HOST, "pinned");
    reads(0, HOST + 5 * ROW, 32, 4, RECORD_READ);
    reads(0, 2 * HOST, 32, 4, RECORD_READ);
    end();
    refused(testing_file("two.db"), ROW, "two.db has 2 arrays");
    (void)snprintf(path, sizeof path, "%s@0x10000-%d", testing_file("two.db"), HOST + 10 * ROW - 1);
    found(path, ROW, rows, 1, 10);
    (void)snprintf(path, sizeof path, "%s@%d-%d", testing_file("two.db"), 2 * HOST, 2 * HOST + ROW);
    found(path, ROW, second, 1, 2); /* of the second row a byte */
    refused(path, 48, "sectors of 32");
    (void)snprintf(path, sizeof path, "%s@9-5", testing_file("two.db"));
    refused(path, ROW, "expected the bytes of an array");
    (void)snprintf(path, sizeof path, "%s@0-4095", testing_file("two.db"));
    refused(path, ROW, "nothing reads the first bytes of a row of 256 from 0 on, 4096 bytes");
    (void)snprintf(path, sizeof path, "%s@0-0x7fffffffffffffff", testing_file("two.db"));
    refused(path, ROW, "more than 2^40 rows");
}
END_TEST

START_TEST(what_lies_on_the_gpu_alone_is_a_table_too)
{
    static const uint64_t rows[] = {39, 39};
    begin("gpu.db");
    array(0, HOST, "device");
    reads(0, HOST + 39 * ROW, 1, 4, RECORD_READ);
    ck_assert_int_eq(access_launch(&sink, 1, NULL), 0); /* warps of another launch are other warps */
    reads(0, HOST + 39 * ROW, 1, 4, RECORD_READ);
    end();
    found(testing_file("gpu.db"), ROW, rows, 2, 40);
    begin("no-array.db");
    end();
    refused(testing_file("no-array.db"), ROW, "no-array.db has 0 arrays");
    ck_assert_ptr_nonnull(store = store_create(testing_file("none.db"), OUTPUT_REPLACE, "test", NULL));
    array(0, HOST, "device");
    ck_assert_int_eq(store_finish(store, NULL), 0);
    store_close(store);
    refused(testing_file("none.db"), ROW, "none.db holds no accesses; record --accesses makes such a trace");
}
END_TEST

TEST_MAIN("gather_recorded", a_read_of_a_rows_first_sector_is_a_lookup, the_array_is_the_only_one_or_said,
          what_lies_on_the_gpu_alone_is_a_table_too)
