#include "trace/import/reader.h"

#include "trace/base/testing.h"
#include "trace/derived/batches.h"
#include "trace/import/testing_memory.h"

/* What came of a log. */
struct found {
    int rc;
    struct err err;
    uint64_t skipped, kinds[RECORD_KINDS], evict_bytes;
    int64_t dropped;
    int batches, services;
    struct {
        int64_t services, start, fault_pages, raw;
    } batch[8];
    struct record touches[128];
    size_t touch_count;
};

static int take_batch(void *ctx, const struct store_value *v, size_t n)
{
    struct found *f = ctx;
    ck_assert_uint_eq(n, 9);
    if (f->batches < 8) {
        f->batch[f->batches].services = v[2].i;
        f->batch[f->batches].start = v[3].i;
        f->batch[f->batches].fault_pages = v[5].i;
        f->batch[f->batches].raw = v[6].i;
    }
    f->batches++;
    return 0;
}

static int take_service(void *ctx, const struct store_value *v, size_t n)
{
    (void)v;
    (void)n;
    ((struct found *)ctx)->services++;
    return 0;
}

static int take_drop(void *ctx, const struct store_value *v, size_t n)
{
    (void)n;
    ((struct found *)ctx)->dropped += v[1].i;
    return 0;
}

static struct found read_log(const char *text, size_t n)
{
    static struct found f;
    struct err err;
    memset(&f, 0, sizeof f);
    struct input_stream *source = input_stream_from_memory(text, n, &err);
    struct store *store = store_create(testing_file("t.db"), true, "test", &err);
    struct reader_context context = {.store = store, .path = "log"};
    f.rc = reader_run(&read_uvmeval, &context, source, &f.err);
    f.skipped = context.skips.total;
    if (f.rc == 0) {
        ck_assert_int_eq(batches_write(store, NULL, NULL, &err), 0);
        ck_assert_int_eq(store_finish(store, &err), 0);
    }
    store_close(store);
    input_stream_close(source);
    store = store_open(testing_file("t.db"), &err);
    store_rows(store, "batches", take_batch, &f, &err);
    store_rows(store, "services", take_service, &f, &err);
    store_rows(store, "dropped", take_drop, &f, &err);
    for (int s = 0; s < store_stream_count(store); s++) {
        struct store_cursor *cursor = store_cursor_open(store, s, &err);
        const struct record *records;
        size_t count;
        while (store_cursor_next(cursor, &records, NULL, &count, &err) == 1)
            for (size_t i = 0; i < count; i++) {
                f.kinds[records[i].kind]++;
                if (records[i].kind == RECORD_EVICT)
                    f.evict_bytes += records[i].bytes;
                if (records[i].kind == RECORD_TOUCH && f.touch_count < 128)
                    f.touches[f.touch_count++] = records[i];
            }
        store_cursor_close(cursor);
    }
    store_close(store);
    return f;
}

static size_t put_fault(char *to, uint64_t addr, uint64_t time, int access, int instances, int utlb)
{
    return (size_t)sprintf(to, "f,%llx,%llu,0,%d,2,%d,0,0,0,127,%d,0,1,63\n", (unsigned long long)addr,
                           (unsigned long long)time, access, instances, utlb);
}

/* The study's vector addition on one warp: 64 pages read, of which a uTLB has 56 outstanding, then 32 written. */
static size_t vector_add(char *to)
{
    static const uint64_t base = 0x7fb144000000, block = 2u << 20;
    char *p = to;
    p += sprintf(p, "s,\n");
    for (uint64_t i = 0; i < 24; i++)
        p += put_fault(p, base + i * 4096, 1000 + 32 * (24 - i), 1, 1, 1);
    for (uint64_t i = 0; i < 32; i++)
        p += put_fault(p, base + block + i * 4096, 500 + 32 * i, 1, 1, 1);
    p += sprintf(p, "b,\ns,\n");
    for (uint64_t i = 24; i < 32; i++)
        p += put_fault(p, base + i * 4096, 5000, 1, 1, 1);
    p += sprintf(p, "b,\ns,\n");
    for (uint64_t i = 0; i < 32; i++)
        p += put_fault(p, base + 2 * block + i * 4096, 9000, 2, 1, 1);
    p += sprintf(p, "b,\n");
    for (uint64_t a = 0; a < 3; a++)
        p += sprintf(p, "uvm range destroy va_range->node.start, va_range->size: 0x%llx, 2097152\n",
                     (unsigned long long)(base + a * block));
    return (size_t)(p - to);
}

START_TEST(a_vector_addition_of_one_warp_is_batches_of_56_8_and_32)
{
    char text[16384];
    struct found f = read_log(text, vector_add(text));
    ck_assert_msg(f.rc == 0, "%s", f.err.msg);
    ck_assert_int_eq(f.batches, 3);
    ck_assert_int_eq(f.batch[0].fault_pages, 56);
    ck_assert_int_eq(f.batch[1].fault_pages, 8);
    ck_assert_int_eq(f.batch[2].fault_pages, 32);
    ck_assert_int_eq(f.batch[0].services, 2);
    ck_assert_int_eq(f.batch[0].start, 500);
    ck_assert_int_eq(f.services, 4);
    ck_assert_uint_eq(f.kinds[RECORD_FAULT], 96);
    ck_assert_uint_eq(f.skipped, 0);
}
END_TEST

START_TEST(its_touches_are_three_steps_of_one_actor_in_the_order_of_arrival)
{
    char text[16384];
    struct found f = read_log(text, vector_add(text));
    ck_assert_uint_eq(f.kinds[RECORD_ALLOC], 3);
    ck_assert_uint_eq(f.touch_count, 96);
    for (size_t i = 0; i < 96; i++) {
        ck_assert_int_eq(f.touches[i].time, i < 56 ? 0 : i < 64 ? 1 : 2);
        ck_assert_uint_eq(f.touches[i].id, 1);
        ck_assert_uint_eq(f.touches[i].flags, i < 64 ? RECORD_READ : RECORD_WRITE);
    }
    ck_assert_uint_eq(f.touches[0].addr, 0x7fb144200000); /* time stamp 500, though not the lowest address */
}
END_TEST

START_TEST(duplicates_count_as_raw_faults_and_one_page)
{
    char text[1024], *p = text;
    p += sprintf(p, "s,\n");
    p += put_fault(p, 0x7f0000000000, 10, 1, 5, 0);
    p += put_fault(p, 0x7f0000000000, 11, 2, 2, 0);
    p += sprintf(p, "b,1234,0\n");
    struct found f = read_log(text, (size_t)(p - text));
    ck_assert_int_eq(f.batch[0].raw, 7);
    ck_assert_int_eq(f.batch[0].fault_pages, 1);
    ck_assert_uint_eq(f.kinds[RECORD_ALLOC], 1); /* no range in the log: the VA block */
}
END_TEST

START_TEST(evictions_are_pages_where_an_address_is_no_blocks_first)
{
    char text[1024], *p = text;
    p += sprintf(p, "s,\n");
    p += put_fault(p, 0x7f0000000000, 10, 1, 1, 0);
    size_t start = (size_t)sprintf(p, "e,7f0000400000\ne,7f0000401000\nb,1,0\n");
    struct found f = read_log(text, (size_t)(p - text) + start);
    ck_assert_uint_eq(f.evict_bytes, 8192);
    start = (size_t)sprintf(p, "e,7f0000400000\nb,1,0\n");
    f = read_log(text, (size_t)(p - text) + start);
    ck_assert_uint_eq(f.evict_bytes, 2u << 20);
}
END_TEST

START_TEST(a_cut_log_and_a_gap_in_its_numbers_are_counted_as_loss)
{
    char text[2048], *p = text;
    p += sprintf(p, "4,10,1,-;s,\n4,11,1,-;");
    p += put_fault(p, 0x7f0000000000, 10, 1, 1, 0);
    p += sprintf(p, "4,15,1,-;");
    p += put_fault(p, 0x7f0000001000, 10, 1, 1, 0);
    struct found f = read_log(text, (size_t)(p - text));
    ck_assert_msg(f.rc == 0, "%s", f.err.msg);
    ck_assert_int_eq(f.batches, 1);
    ck_assert_int_eq(f.dropped, 4); /* three lines, one end */
}
END_TEST

START_TEST(a_batch_in_a_line_is_left_out)
{
    static const char text[] =
        "b,363795213599097,736221,32,9,29,3,3,1,0,0,0,3,12288,3,1,1,15790,35196,0,534863,493736,18104,315251,34254,"
        "290,124063,112010,1,1,1\n";
    struct found f = read_log(text, sizeof text - 1);
    ck_assert_int_eq(f.rc, -1);
    ck_assert_ptr_nonnull(strstr(f.err.msg, "1 left out: batch in a line"));
}
END_TEST

START_TEST(foreign_and_broken_lines_are_left_out_with_their_reason)
{
    char text[2048], *p = text;
    p += sprintf(p, "usb 1-1: new device\ns,\nf,12,13\n");
    p += put_fault(p, 0x7f0000000000, 10, 9, 1, 0); /* access type */
    p += put_fault(p, 0x7f0000000000, 10, 1, 1, 0);
    p += sprintf(p, "d,1\na,1,2\nvrange,0x1000,0\nb,\ne,7f0000000000\n");
    struct found f = read_log(text, (size_t)(p - text));
    ck_assert_msg(f.rc == 0, "%s", f.err.msg);
    ck_assert_uint_eq(f.skipped, 7);
    ck_assert_uint_eq(f.kinds[RECORD_FAULT], 1);
}
END_TEST

START_TEST(a_log_without_a_batch_is_refused_and_a_line_without_end_too)
{
    struct found f = read_log("vrange,0x1000,4096\n", 19);
    ck_assert_int_eq(f.rc, -1);
    char *endless = malloc(3u << 20);
    memset(endless, 'f', 3u << 20);
    f = read_log(endless, 3u << 20);
    free(endless);
    ck_assert_int_eq(f.rc, -1);
}
END_TEST

START_TEST(the_probe_knows_a_log_by_its_fields)
{
    char text[256];
    size_t n = put_fault(text, 0x7f0000000000, 10, 1, 1, 0);
    ck_assert_int_eq(read_uvmeval.probe("x", (unsigned char *)text, n), PROBE_YES);
    ck_assert_int_eq(read_uvmeval.probe("x", (const unsigned char *)"s,\n", 3), PROBE_MAYBE);
    ck_assert_int_eq(read_uvmeval.probe("x", (const unsigned char *)"a,b,c\n1,2,3\n", 12), PROBE_NO);
}
END_TEST

TEST_MAIN("uvmeval")
