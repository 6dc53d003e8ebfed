#include "trace/import/trace_sample.h"

#include "trace/base/testing.h"

/* Records of two streams, some with a duration; the extra column is the position. */
enum { RECORDS = 10000 };

static struct store *whole(enum time_unit unit, uint32_t kind)
{
    struct err err = {""};
    struct store *store = store_create_temporary(":memory:", &err);
    struct stream stream = {.name = "uvm", .unit = unit, .extra = {"at"}};
    int index;
    unsigned seed = 1;
    ck_assert_msg(store && store_stream_add(store, &stream, &index, &err) == 0, "%s", err.msg);
    for (int64_t i = 0; i < RECORDS; i++) {
        seed = seed * 1103515245u + 12345u;
        const struct record r = {.kind = i % 16 ? kind : RECORD_KERNEL,
                                 .time = unit == TIME_NONE ? 0 : 1000 + (i ? (seed >> 8) % 50000 : 0),
                                 .duration = seed >> 28,
                                 .addr = (uint64_t)i << 21,
                                 .bytes = 4096};
        ck_assert_int_eq(store_append(store, index, &r, &i, 1, &err), 0);
    }
    return store;
}

/* How often each position is in a sample; returns its records. */
static uint64_t take(struct store *from, const char *lo, const char *hi, int64_t every, unsigned char *times)
{
    struct err err = {""};
    struct trace_sample sample;
    struct store *to = store_create_temporary(":memory:", &err);
    const struct record *r;
    const int64_t *extra;
    uint64_t kept, found = 0;
    size_t n;
    ck_assert_msg(trace_sample_parse(&sample, lo, hi, every, &err) == 0, "%s", err.msg);
    ck_assert_msg(trace_sample_copy(&sample, from, to, &kept, &err) == 0, "%s", err.msg);
    ck_assert(store_sample(to) != NULL);
    struct store_cursor *cursor = store_cursor_open(to, 0, &err);
    while (store_cursor_next(cursor, &r, &extra, &n, &err) > 0)
        for (size_t i = 0; i < n; i++, found++) {
            times[extra[i]]++;
            ck_assert_uint_eq(r[i].addr >> 21, (uint64_t)extra[i]);
        }
    ck_assert_uint_eq(found, kept);
    store_cursor_close(cursor);
    store_close(to);
    return kept;
}

START_TEST(the_example_keeps_the_second_and_third)
{
    struct err err = {""};
    struct store *store = store_create_temporary(":memory:", &err);
    struct stream stream = {.name = "uvm", .unit = TIME_NS, .extra = {"at"}};
    int index;
    static const int64_t times[] = {9000, 5000, 12000, 7000}; /* in no order */
    static const unsigned char expected[] = {1, 0, 0, 1};
    unsigned char found[4] = {0};
    ck_assert_int_eq(store_stream_add(store, &stream, &index, &err), 0);
    for (int64_t i = 0; i < 4; i++)
        ck_assert_int_eq(
            store_append(store, index,
                         &(struct record){.kind = RECORD_FAULT, .time = times[i], .addr = (uint64_t)i << 21}, &i, 1,
                         &err),
            0);
    ck_assert_uint_eq(take(store, "2us", "5us", 1, found), 2);
    ck_assert_mem_eq(found, expected, 4);
    store_close(store);
}
END_TEST

/* Windows side by side, and with an open end, hold every record once. */
START_TEST(windows_side_by_side_hold_each_record_once)
{
    struct store *store = whole(TIME_NS, RECORD_MIGRATE_H2D);
    unsigned char times[RECORDS] = {0};
    uint64_t sum = take(store, NULL, "7us", 1, times) + take(store, "7us", "7001", 1, times) +
                   take(store, "7001", "33us", 1, times) + take(store, "33us", NULL, 1, times);
    ck_assert_uint_eq(sum, RECORDS);
    for (int i = 0; i < RECORDS; i++)
        ck_assert_uint_eq(times[i], 1);
    store_close(store);
}
END_TEST

/* A block is there with all of its records or with none, kernels always; at strides of addresses too, where every
 * N-th block by its number would be all or nothing. */
START_TEST(about_one_block_in_n_whatever_the_stride)
{
    struct store *store = whole(TIME_NONE, RECORD_ACCESS);
    unsigned char times[RECORDS] = {0};
    (void)take(store, NULL, NULL, 8, times);
    for (int i = 0; i < RECORDS; i++)
        ck_assert_uint_eq(times[i], i % 16 == 0 || trace_sample_block((uint64_t)i << 21, 8));
    for (uint64_t stride = 1; stride <= 4096; stride *= 8) {
        int chosen = 0;
        for (uint64_t i = 0; i < 8000; i++)
            chosen += trace_sample_block((i * stride << 21) + i, 8);
        ck_assert_msg(chosen > 880 && chosen < 1120, "stride %d: %d of 8000", (int)stride, chosen); /* 4 sigma */
    }
    store_close(store);
}
END_TEST

static void refuse(enum time_unit unit, uint32_t kind, const char *from, int64_t every, const char *says)
{
    struct err err = {""};
    struct trace_sample sample;
    uint64_t kept;
    struct store *store = whole(unit, kind), *to = store_create_temporary(":memory:", &err);
    ck_assert_int_eq(trace_sample_parse(&sample, from, NULL, every, &err), 0);
    ck_assert_int_eq(trace_sample_copy(&sample, store, to, &kept, &err), -1);
    ck_assert_msg(strstr(err.msg, says) != NULL, "'%s' is not in: %s", says, err.msg);
    store_close(store);
    store_close(to);
}

START_TEST(what_cannot_be_sampled_is_refused_by_name)
{
    refuse(TIME_NONE, RECORD_ACCESS, "1us", 1, "times of stream uvm are in no unit");
    refuse(TIME_CYCLES, RECORD_DRAM_READ, "1us", 1, "in cycles, not in ns");
    refuse(TIME_NS, RECORD_TLP, NULL, 2, "TLP");
    refuse(TIME_NONE, RECORD_TOUCH, NULL, 2, "no VA blocks that stand by themselves");
    static const struct {
        const char *from, *to, *says;
    } bad[] = {{"2us", "1us", "nothing lies between"},
               {"-1", NULL, "from the trace's start"},
               {"1cycles", "2us", "one is in cycles"},
               {"soon", NULL, "--from"},
               {NULL, "4.5cycles", "--to"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = {""};
        struct trace_sample sample;
        ck_assert_int_eq(trace_sample_parse(&sample, bad[i].from, bad[i].to, 1, &err), -1);
        ck_assert_msg(strstr(err.msg, bad[i].says) != NULL, "'%s' is not in: %s", bad[i].says, err.msg);
    }
}
END_TEST

START_TEST(a_sample_of_a_sample_is_refused_and_nothing_asked_is_nothing)
{
    struct err err = {""};
    struct trace_sample sample;
    uint64_t kept;
    struct store *store = whole(TIME_CYCLES, RECORD_DRAM_READ), *part = store_create_temporary(":memory:", &err),
                 *to = store_create_temporary(":memory:", &err);
    ck_assert_int_eq(trace_sample_parse(&sample, "10cycles", "20cycles", 1, &err), 0);
    ck_assert_int_eq(trace_sample_copy(&sample, store, part, &kept, &err), 0);
    ck_assert_int_eq(store_whole(store, &err), 0);
    ck_assert_int_eq(trace_sample_copy(&sample, part, to, &kept, &err), -1);
    ck_assert_msg(strstr(err.msg, "a sample already (records that begin from 10 cycles to 20 cycles of") != NULL, "%s",
                  err.msg);
    ck_assert(trace_sample_parse(&sample, NULL, NULL, 1, &err) == 0 && !trace_sample_asked(&sample));
    store_close(store);
    store_close(part);
    store_close(to);
}
END_TEST

struct ids {
    int64_t items[8];
    size_t count, column;
};

static int take_id(void *ctx, const struct store_value *v, size_t n)
{
    struct ids *ids = ctx;
    (void)n;
    ids->items[ids->count++ % 8] = v[ids->column].i;
    return 0;
}

/* Kernels that ran and allocations that were there at some time; batches that began in it, with their services. */
START_TEST(tables_go_with_their_records)
{
    struct err err = {""};
    struct store *store = whole(TIME_NS, RECORD_MIGRATE_H2D), *to = store_create_temporary(":memory:", &err);
    struct store_value kernel[16], batch[9], service[12];
    for (int i = 0; i < 16; i++)
        kernel[i] = STORE_V_NULL;
    /* The first record begins at 1000: the window is [11000, 21000). */
    static const int64_t kernels[][2] = {{5000, 6000}, {5000, 6001}, {20999, 5}, {21000, 5}, {11000, 0}};
    for (int64_t i = 0; i < 5; i++) {
        kernel[0] = STORE_V_INT(i + 1);
        kernel[1] = STORE_V_TEXT("k");
        kernel[3] = STORE_V_INT(kernels[i][0]);
        kernel[4] = STORE_V_INT(kernels[i][1]);
        ck_assert_int_eq(store_row(store, "kernels", kernel, 16, &err), 0);
    }
    for (int64_t i = 0; i < 3; i++) {
        for (int k = 0; k < 12; k++)
            batch[k < 9 ? k : 0] = service[k] = STORE_V_NULL;
        batch[0] = service[1] = STORE_V_INT(i);
        batch[1] = service[0] = STORE_V_INT(i);
        batch[2] = STORE_V_INT(1);
        batch[3] = service[3] = STORE_V_INT(10000 + i * 6000);
        batch[7] = service[10] = STORE_V_TEXT("record");
        service[2] = STORE_V_INT(i << 21);
        ck_assert_msg(store_row(store, "batches", batch, 9, &err) == 0 &&
                          store_row(store, "services", service, 12, &err) == 0,
                      "%s", err.msg);
    }
    struct trace_sample sample;
    uint64_t kept;
    ck_assert_int_eq(trace_sample_parse(&sample, "10us", "20us", 1, &err), 0);
    ck_assert_msg(trace_sample_copy(&sample, store, to, &kept, &err) == 0, "%s", err.msg);
    ck_assert_str_eq(store_origin_get(to, "sample.start"), "1000");
    struct ids ids = {{0}, 0, 0};
    ck_assert_int_eq(store_rows(to, "kernels", take_id, &ids, &err), 0);
    ck_assert(ids.count == 3 && ids.items[0] == 2 && ids.items[1] == 3 && ids.items[2] == 5);
    ids = (struct ids){{0}, 0, 0};
    ck_assert_int_eq(store_rows(to, "batches", take_id, &ids, &err), 0);
    ck_assert(ids.count == 1 && ids.items[0] == 1);
    ids = (struct ids){{0}, 0, 1};
    ck_assert_int_eq(store_rows(to, "services", take_id, &ids, &err), 0);
    ck_assert(ids.count == 1 && ids.items[0] == 1);
    store_close(store);
    store_close(to);
}
END_TEST

TEST_MAIN("trace_sample", the_example_keeps_the_second_and_third, windows_side_by_side_hold_each_record_once,
          about_one_block_in_n_whatever_the_stride, what_cannot_be_sampled_is_refused_by_name,
          a_sample_of_a_sample_is_refused_and_nothing_asked_is_nothing, tables_go_with_their_records)
