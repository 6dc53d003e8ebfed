#include "trace/base/mem.h"
#include "trace/base/testing.h"
#include "trace/program/access.h"
#include "trace/workloads/ml/gather.h"

enum { HOST = 0x10000, PINNED = 0x20000, ROW = 256 };

static struct store *store;
static struct access_sink sink;

/* A trace whose first arrays of 40 rows are these, by their kinds. */
static void begin(const char *name, const char *const *kinds, int arrays)
{
    store = store_create(testing_file(name), OUTPUT_REPLACE, "test", NULL);
    ck_assert_int_eq(access_open(&sink, store, NULL) || access_launch(&sink, 0, NULL), 0);
    for (int i = 0; i < arrays; i++)
        ck_assert_int_eq(STORE_ROW(store, "allocations", NULL, STORE_V_INT(i), STORE_V_INT(HOST * (i + 1)),
                                   STORE_V_INT(40 * ROW), STORE_V_TEXT(kinds[i]), STORE_V_NULL, STORE_V_NULL,
                                   STORE_V_NULL),
                         0);
}

/* Lanes of a warp access 4 bytes each, `by` apart. */
static void lanes(uint32_t warp, uint64_t first, int count, uint64_t by, uint32_t access)
{
    uint64_t addrs[ACCESS_LANES];
    for (int l = 0; l < count; l++)
        addrs[l] = first + (uint64_t)l * by;
    const struct access_op op = {.addrs = addrs, .lanes = count, .bytes = 4, .access = access, .warp = warp};
    ck_assert_int_eq(access_add(&sink, &op, NULL), 0);
}

static void end(void)
{
    ck_assert_int_eq(access_launch_end(&sink, NULL) || access_flush(&sink, NULL) || store_finish(store, NULL), 0);
    access_close(&sink);
    store_close(store);
}

/* The rows in `text`, and how many the table has; or what the refusal says. */
static void read_is(const char *file, int64_t row_bytes, const char *text)
{
    struct gather_lookups out = {0};
    struct err err = {""};
    char got[200] = "";
    if (gather_read_rows(file, row_bytes, &out, &err) == 1) {
        for (size_t i = 0; i < out.n; i++)
            (void)mem_add_text(got, sizeof got, "%d ", (int)out.rows[i]);
        (void)mem_add_text(got, sizeof got, "of %d", (int)out.table_rows);
    }
    ck_assert_msg(strcmp(got, text) == 0 || strstr(err.msg, text), "%s: '%s', %s", file, got, err.msg);
    free(out.rows);
}

START_TEST(a_read_of_a_rows_first_sector_is_a_lookup)
{
    static const char *const kinds[] = {"managed", "device"};
    begin("r.db", kinds, 2);
    for (int twice = 0; twice < 2; twice++) { /* a warp for each half of a row, the same row twice */
        lanes(0, HOST + 7 * ROW, 32, 4, RECORD_READ);
        lanes(1, HOST + 7 * ROW + 128, 32, 4, RECORD_READ);
    }
    for (uint64_t at = 0; at < ROW; at += 4) { /* a lane for each of rows 2, 1 and 0, an element at a time */
        lanes(2, HOST + 2 * ROW + at, 3, (uint64_t)-ROW, RECORD_READ);
        lanes(2, PINNED + at, 3, 4, RECORD_READ); /* of an array that is not the table */
    }
    lanes(2, HOST + ROW, 2, (uint64_t)-ROW, RECORD_READ); /* the next lookups of that warp: rows 1 and 0 */
    lanes(2, HOST + 3 * ROW, 4, 4, RECORD_READ);
    ck_assert_int_eq(access_launch(&sink, 1, NULL), 0); /* warps of another launch are other warps */
    lanes(2, HOST + 3 * ROW, 4, 4, RECORD_READ);
    lanes(3, HOST + 4 * ROW, 32, 4, RECORD_WRITE);
    lanes(3, HOST + 4 * ROW + 32, 24, 4, RECORD_READ); /* not from its beginning */
    end();
    read_is(testing_file("r.db"), ROW, "7 7 2 1 0 1 0 3 3 of 40");
}
END_TEST

START_TEST(the_array_is_the_only_one_or_said)
{
    static const char *const kinds[] = {"managed", "pinned", "device"};
    static const struct {
        const char *range, *says;
        int64_t row_bytes;
    } cases[] = {{"", "two.db has 2 arrays", ROW},
                 {"@0x10000-75775", "5 of 40", ROW},
                 {"@0x20000-0x20100", "0 of 2", ROW}, /* of the second row a byte */
                 {"@0x20000-0x20100", "sectors of 32", 48},
                 {"@9-5", "expected the bytes of an array", ROW},
                 {"@0-4095", "nothing reads the first bytes of a row of 256 from 0 on, 4096 bytes", ROW},
                 {"@0-0x7fffffffffffffff", "more than 2^40 rows", ROW}};
    begin("two.db", kinds, 2);
    lanes(0, HOST + 5 * ROW, 32, 4, RECORD_READ);
    lanes(0, PINNED, 32, 4, RECORD_READ);
    end();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        read_is(testing_text("%s%s", testing_file("two.db"), cases[i].range), cases[i].row_bytes, cases[i].says);
    begin("gpu.db", kinds + 2, 1); /* what lies on the GPU alone */
    lanes(0, HOST + 39 * ROW, 32, 4, RECORD_READ);
    end();
    read_is(testing_file("gpu.db"), ROW, "39 of 40");
    begin("no-array.db", kinds, 0);
    end();
    read_is(testing_file("no-array.db"), ROW, "no-array.db has 0 arrays");
    ck_assert_ptr_nonnull(store = store_create(testing_file("none.db"), OUTPUT_REPLACE, "test", NULL));
    ck_assert_int_eq(store_finish(store, NULL), 0);
    store_close(store);
    read_is(testing_file("none.db"), ROW, "none.db holds no accesses; record --accesses makes such a trace");
}
END_TEST

TEST_MAIN("gather_recorded")
