#include "trace/import/nettlp.c"

#include <pthread.h>
#include <sys/stat.h>

#include "trace/base/testing.h"
#include "trace/event/testing_tlp.h"

static struct reader_context context;
static struct nettlp_options options = {.tlp_offset = -1};

/* Read a capture file into a fresh trace and open that for reading. The error, or "". */
static struct store *imported(const char *path, char *message)
{
    struct err err = {""};
    const char *trace = testing_file("capture.db");
    struct store *store = store_create(trace, true, "test", &err);
    ck_assert_msg(store != NULL, "%s", err.msg);
    context = (struct reader_context){.store = store, .options = &options, .strict = context.strict, .path = path};
    struct input_stream *source = input_stream_open_piped(path, &err);
    ck_assert_msg(source != NULL, "%s", err.msg);
    message[0] = 0;
    if (reader_run(&read_nettlp, &context, source, &err))
        strcpy(message, err.msg);
    input_stream_close(source);
    bool whole = !message[0] && !context.incomplete[0];
    ck_assert_int_eq((whole ? store_finish : store_keep)(store, &err), 0);
    store_close(store);
    store = store_open(trace, &err);
    ck_assert_msg(store != NULL, "%s", err.msg);
    return store;
}

static struct store *good(const char *path)
{
    char message[sizeof(struct err)];
    struct store *store = imported(path, message);
    ck_assert_str_eq(message, "");
    return store;
}

struct lookup {
    const char *type, *name;
    int64_t size, sum;
};

static int add_size(void *ctx, const struct store_value *v, size_t n)
{
    struct lookup *l = ctx;
    (void)n;
    if (strcmp(v[0].s, l->type) == 0 && (l->size < 0 || v[2].i == l->size))
        l->sum += v[3].i;
    return 0;
}

/* Packets of a type, of that size (-1: any). */
static int64_t packets(struct store *store, const char *type, int64_t size)
{
    struct lookup l = {.type = type, .size = size};
    ck_assert_int_eq(store_rows(store, "tlp_histogram", add_size, &l, NULL), 0);
    return l.sum;
}

static int add_total(void *ctx, const struct store_value *v, size_t n)
{
    struct lookup *l = ctx;
    (void)n;
    if (strcmp(v[1].s, l->name) == 0)
        l->sum += v[2].i;
    return 0;
}

static int64_t total(struct store *store, const char *name)
{
    struct lookup l = {.name = name};
    ck_assert_int_eq(store_rows(store, "tlp_totals", add_total, &l, NULL), 0);
    return l.sum;
}

static int add_skip(void *ctx, const struct store_value *v, size_t n)
{
    struct lookup *l = ctx;
    (void)n;
    if (strcmp(v[0].s, l->name) == 0)
        l->sum += v[1].i;
    return 0;
}

static int64_t skipped(struct store *store, const char *reason)
{
    struct lookup l = {.name = reason};
    ck_assert_int_eq(store_rows(store, "skipped", add_skip, &l, NULL), 0);
    return l.sum;
}

static uint8_t packet[BUILD_MOST], frame[BUILD_MOST + 256];

static size_t framed(const struct build_tlp *t, const struct build_frame *f)
{
    return build_frame(frame, f, packet, build_tlp(packet, t));
}

/* A read of 512 bytes at t and its two completions 1 and 2 us later, all cut to 128 bytes. */
static void put_read(FILE *f, const struct build_pcap *c, int64_t t, unsigned tag)
{
    struct build_tlp read = {.byte0 = 0x00, .length = 128, .enables = 0xff, .tag = tag, .requester = 0x1900};
    struct build_tlp reply = {.byte0 = 0x4a,
                              .length = 64,
                              .byte_count = 512,
                              .tag = tag,
                              .requester = 0x1900,
                              .completer = 0x1b00,
                              .payload = 256};
    struct build_frame out = {.tags = 1, .vlan = 100, .stamp = 1},
                       in = {.source = BUILD_HOST, .destination = BUILD_ADAPTER};
    size_t n = framed(&read, &out);
    build_pcap_packet(f, c, t, frame, n, n);
    n = framed(&reply, &in);
    build_pcap_packet(f, c, t + 1000, frame, n, n);
    reply.byte_count = 256;
    n = framed(&reply, &in);
    build_pcap_packet(f, c, t + 2000, frame, n, n);
}

START_TEST(a_read_and_its_completions_are_found_in_every_byte_order_and_unit)
{
    for (int v = 0; v < 4; v++) {
        struct build_pcap c = {.micro = v & 1, .big = v & 2, .snaplen = 128, .link = 1};
        const char *path = testing_file("read.pcap");
        FILE *f = build_pcap_open(path, &c);
        put_read(f, &c, 1563714472668702958, 4);
        (void)fclose(f);
        struct store *store = good(path);
        ck_assert_int_eq(packets(store, "MRd", 512), 1);
        ck_assert_int_eq(packets(store, "CplD", 256), 2);
        ck_assert_int_eq(total(store, "packets"), 3);
        ck_assert_int_eq(total(store, "truncated_packets"), 2);
        ck_assert_int_eq(total(store, "completed_reads"), 1);
        const struct stream *s = store_stream(store, store_stream_find(store, "tlp"));
        ck_assert_uint_eq(s->records, 3);
        ck_assert_int_eq(s->time_first, v & 1 ? 1563714472668702000 : 1563714472668702958);
        ck_assert_int_eq(s->time_last - s->time_first, 2000);
        ck_assert_uint_eq(store_stream(store, store_stream_find(store, "tlp_reads"))->records, 1);
        store_close(store);
    }
}
END_TEST

/* A block of pcapng: its type, two words of head, data. */
static void put_block(FILE *f, uint32_t type, uint32_t a, uint32_t b, const void *data, uint32_t bytes)
{
    const uint32_t padded = (bytes + 3) / 4 * 4, length = 20 + padded, head[4] = {type, length, a, b};
    static const char zeros[4];
    ck_assert(fwrite(head, sizeof head, 1, f) == 1 && (bytes == 0 || fwrite(data, bytes, 1, f) == 1) &&
              fwrite(zeros, 1, padded - bytes, f) == padded - bytes && fwrite(&length, 4, 1, f) == 1);
}

START_TEST(each_packet_has_the_link_type_of_its_interface)
{
    enum { USB = 220, RAW_IP = 101 };
    const struct build_tlp read = {.byte0 = 0x00, .length = 1, .enables = 0x0f};
    const struct build_frame f = {.source = 1, .destination = 2, .port = 0x3000};
    uint32_t block[3 + 64] = {0};
    const uint32_t n = (uint32_t)framed(&read, &f), section[2] = {UINT32_MAX, UINT32_MAX};
    const char *path = testing_file("several.pcapng");
    FILE *file = fopen(path, "wb");
    ck_assert(file && n <= 64 * 4);
    put_block(file, 0x0a0d0d0a, 0x1a2b3c4d, 1, section, 8);
    put_block(file, 1, USB, 65535, NULL, 0);
    put_block(file, 1, 1, 262144, NULL, 0);
    put_block(file, 1, RAW_IP, 0, NULL, 0);
    for (uint32_t i = 0; i < 6; i++) { /* interface 2 has the datagram alone */
        const uint32_t of = i % 3, bytes = of == 2 ? n - 14 : n;
        block[0] = 1000 + i;
        block[1] = block[2] = bytes;
        memcpy(block + 3, frame + n - bytes, bytes);
        put_block(file, 6, of, 0, block, 12 + bytes);
    }
    ck_assert_int_eq(fclose(file), 0);
    struct store *store = good(path);
    ck_assert_int_eq(packets(store, "MRd", -1), 4);
    ck_assert_int_eq(skipped(store, "an interface's link type that holds no TLP"), 2);
    store_close(store);
}
END_TEST

START_TEST(pcapng_time_stamps_follow_their_resolution)
{
    for (unsigned digits = 3; digits <= 9; digits += 3) {
        const char *path = testing_file("read.pcapng");
        FILE *f = build_pcapng_open(path, 1, 262144, digits);
        struct build_tlp read = {.byte0 = 0x00, .length = 1, .enables = 0x0f};
        size_t n = framed(&read, &(struct build_frame){0});
        build_pcapng_packet(f, 1234567, frame, n, n);
        (void)fclose(f);
        struct store *store = good(path);
        int64_t unit = digits == 9 ? 1 : digits == 6 ? 1000 : 1000000;
        ck_assert_int_eq(store_stream(store, store_stream_find(store, "tlp"))->time_first, 1234567 * unit);
        ck_assert_int_eq(packets(store, "MRd", 4), 1);
        store_close(store);
    }
}
END_TEST

START_TEST(damage_is_counted_by_reason_and_never_summed)
{
    struct build_pcap c = {.snaplen = 128, .link = 1};
    const char *path = testing_file("damaged.pcap");
    FILE *f = build_pcap_open(path, &c);
    struct build_tlp zero = {0}, write = {.byte0 = 0x40, .length = 64, .enables = 0xff, .payload = 256};
    struct build_frame from = {.stamp = 1};
    for (int i = 0; i < 41; i++) {
        size_t n = framed(&zero, &from);
        build_pcap_packet(f, &c, i, frame, n, n);
    }
    size_t n = framed(&write, &from);
    for (int i = 0; i < 5; i++)
        build_pcap_packet(f, &c, 100 + i, frame, n, n - 8 * (size_t)(i + 1)); /* cut on the wire */
    build_pcap_packet(f, &c, 200, frame, n, n);
    build_pcap_packet(f, &c, 201, frame, 50, n); /* the capture kept too little */
    write.payload = 252;
    n = framed(&write, &from);
    build_pcap_packet(f, &c, 202, frame, n, n); /* the payload is too short */
    n = framed(&zero, &(struct build_frame){.ethertype = 0x0806});
    build_pcap_packet(f, &c, 203, frame, n, n);
    (void)fclose(f);
    struct store *store = good(path);
    ck_assert_int_eq(skipped(store, "malformed"), 42);
    ck_assert_int_eq(skipped(store, "short"), 5);
    ck_assert_int_eq(skipped(store, "truncated_header"), 1);
    ck_assert_int_eq(skipped(store, "not IPv4"), 1);
    ck_assert_int_eq(packets(store, "MRd", -1), 0);
    ck_assert_int_eq(packets(store, "MWr", -1), 1);
    ck_assert_int_eq(packets(store, "MWr", 256), 1);
    ck_assert_int_eq(total(store, "packets"), 41 + 5 + 4);
    store_close(store);
    context.strict = true;
    char message[sizeof(struct err)];
    store_close(imported(path, message));
    context.strict = false;
    ck_assert_ptr_nonnull(strstr(message, "packet 1: malformed: first byte enables 0 with a length over 1 DW"));
}
END_TEST

START_TEST(every_type_lands_in_the_histogram_with_its_size)
{
    static const struct {
        struct build_tlp t;
        const char *name;
        int64_t size;
    } rows[] = {
        {{.byte0 = 0x20, .length = 0, .enables = 0xff, .addr = 0x100000000}, "MRd", 4096},
        {{.byte0 = 0x00, .length = 1, .enables = 0}, "MRd", 0},
        {{.byte0 = 0x21, .length = 2, .enables = 0xff}, "MRdLk", 8},
        {{.byte0 = 0x60, .length = 25, .enables = 0x3f, .payload = 100, .digest = true, .prefixes = 2}, "MWr", 98},
        {{.byte0 = 0x02, .length = 1, .enables = 0x03}, "IORd", 2},
        {{.byte0 = 0x42, .length = 1, .enables = 0x0f, .payload = 4}, "IOWr", 4},
        {{.byte0 = 0x04, .length = 1, .enables = 0x0f}, "CfgRd0", 4},
        {{.byte0 = 0x44, .length = 1, .enables = 0x01, .payload = 4}, "CfgWr0", 1},
        {{.byte0 = 0x05, .length = 1, .enables = 0x0f}, "CfgRd1", 4},
        {{.byte0 = 0x45, .length = 1, .enables = 0x0f, .payload = 4}, "CfgWr1", 4},
        {{.byte0 = 0x34, .length = 0}, "Msg", 0},
        {{.byte0 = 0x70, .length = 2, .payload = 8}, "MsgD", 8},
        {{.byte0 = 0x0a, .byte_count = 4}, "Cpl", 0},
        {{.byte0 = 0x4a, .length = 1, .byte_count = 2, .lower = 0x42, .payload = 4, .digest = true}, "CplD", 2},
        {{.byte0 = 0x0b, .byte_count = 4}, "CplLk", 0},
        {{.byte0 = 0x4b, .length = 2, .byte_count = 8, .payload = 8}, "CplDLk", 8},
        {{.byte0 = 0x6c, .length = 2, .payload = 8}, "FetchAdd", 8},
        {{.byte0 = 0x4d, .length = 1, .payload = 4}, "Swap", 4},
        {{.byte0 = 0x4e, .length = 8, .payload = 32}, "CAS", 32},
    };
    enum { N = sizeof rows / sizeof *rows };
    struct build_pcap c = {.snaplen = 65535, .link = 1};
    const char *path = testing_file("types.pcap");
    FILE *f = build_pcap_open(path, &c);
    for (int i = 0; i < N; i++) {
        size_t n = framed(&rows[i].t, &(struct build_frame){.tags = (unsigned)i % 3, .vlan = 101, .port = 14198});
        build_pcap_packet(f, &c, i, frame, n, n);
    }
    (void)fclose(f);
    struct store *store = good(path);
    for (int i = 0; i < N; i++)
        ck_assert_msg(packets(store, rows[i].name, rows[i].size) == 1, "%s", rows[i].name);
    ck_assert_int_eq(total(store, "tlps"), N);
    ck_assert_int_eq(skipped(store, "malformed"), 0);
    store_close(store);
}
END_TEST

START_TEST(packets_out_of_order_are_sorted_and_matched)
{
    enum { READS = 50000 };
    struct build_pcap c = {.snaplen = 128, .link = 1};
    const char *path = testing_file("order.pcap");
    FILE *f = build_pcap_open(path, &c);
    /* Groups of eight reads, written last group first within 100. */
    for (int block = 0; block < READS / 800; block++)
        for (int group = 99; group >= 0; group--)
            for (int i = 0; i < 8; i++)
                put_read(f, &c, 1000000 + (block * 800 + group * 8 + i) * 3000, (unsigned)i);
    (void)fclose(f);
    struct store *store = good(path);
    int64_t reads = READS / 800 * 800;
    ck_assert_int_eq(total(store, "reads"), reads);
    ck_assert_int_eq(total(store, "completed_reads"), reads);
    ck_assert_int_eq(total(store, "completions_matched"), 2 * reads);
    ck_assert_int_eq(total(store, "completions_early"), 0);
    ck_assert_int_eq(total(store, "late_packets"), 0);
    ck_assert_int_eq(total(store, "time_monotonic"), 0);
    struct store_cursor *cursor = store_cursor_open(store, store_stream_find(store, "tlp"), NULL);
    const struct record *r;
    const int64_t *extra;
    size_t n, seen = 0;
    int64_t last = 0;
    while (store_cursor_next(cursor, &r, &extra, &n, NULL) == 1)
        for (size_t i = 0; i < n; i++, seen++) {
            ck_assert_int_ge(r[i].time, last);
            last = r[i].time;
        }
    ck_assert_uint_eq(seen, (size_t)reads * 3);
    store_cursor_close(cursor);
    cursor = store_cursor_open(store, store_stream_find(store, "tlp_reads"), NULL);
    while (store_cursor_next(cursor, &r, &extra, &n, NULL) == 1)
        for (size_t i = 0; i < n; i++) {
            ck_assert_int_eq(r[i].duration, 2000);
            ck_assert_int_eq(extra[i], 512);
            ck_assert_int_eq(extra[n + i], 2);
        }
    store_cursor_close(cursor);
    store_close(store);
}
END_TEST

START_TEST(a_capture_that_ends_inside_a_packet_keeps_what_came_before)
{
    struct build_pcap c = {.snaplen = 128, .link = 1};
    const char *path = testing_file("cut.pcap");
    FILE *f = build_pcap_open(path, &c);
    put_read(f, &c, 0, 4);
    put_read(f, &c, 5000, 5);
    (void)fclose(f);
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq(truncate(path, st.st_size - 3), 0);
    struct store *store = good(path);
    ck_assert(!store_complete(store));
    ck_assert_ptr_nonnull(strstr(context.incomplete, "the capture ends inside packet 6"));
    ck_assert_int_eq(total(store, "completed_reads"), 1);
    ck_assert_int_eq(total(store, "requests_unanswered"), 1);
    store_close(store);
}
END_TEST

START_TEST(a_capture_filled_up_with_zeros_ends_where_they_begin)
{
    struct build_pcap c = {.snaplen = 128, .link = 1};
    const char *path = testing_file("filled.pcap");
    FILE *f = build_pcap_open(path, &c);
    put_read(f, &c, 0, 4);
    (void)fclose(f);
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq(truncate(path, st.st_size + ((off_t)1 << 32)), 0);
    struct store *store = good(path);
    ck_assert(!store_complete(store));
    ck_assert_ptr_nonnull(strstr(context.incomplete, "packet 4: it has 0 bytes"));
    ck_assert_int_eq(total(store, "completed_reads"), 1);
    store_close(store);
}
END_TEST

START_TEST(raw_packets_start_at_the_offset_that_is_given)
{
    struct build_pcap c = {.snaplen = 65535, .link = 150};
    const char *path = testing_file("user.pcap");
    FILE *f = build_pcap_open(path, &c);
    struct build_tlp read = {.byte0 = 0x00, .length = 16, .enables = 0xff, .tag = 9};
    struct build_tlp reply = {.byte0 = 0x4a, .length = 16, .byte_count = 64, .tag = 9, .payload = 64};
    size_t n = build_tlp(frame + 7, &read);
    build_pcap_packet(f, &c, 10, frame, n + 7 + 4, n + 7 + 4);
    n = build_tlp(frame + 7, &reply);
    build_pcap_packet(f, &c, 60, frame, 24, n + 7);
    (void)fclose(f);
    char message[sizeof(struct err)];
    options.tlp_offset = -1;
    store_close(imported(path, message));
    ck_assert_ptr_nonnull(strstr(message, "--set tlp_offset=K"));
    options.tlp_offset = 7;
    struct store *store = good(path);
    ck_assert_int_eq(packets(store, "MRd", 64), 1);
    ck_assert_int_eq(packets(store, "CplD", 64), 1);
    ck_assert_int_eq(total(store, "completed_reads"), 1);
    store_close(store);
    options.tlp_offset = -1;
}
END_TEST

START_TEST(an_agilent_analysers_records_have_a_direction)
{
    const char *path = testing_file("agilent.pcapng");
    FILE *f = build_pcapng_open(path, 158, 65535, 9);
    uint8_t data[BUILD_MOST] = {0};
    struct build_tlp read = {.byte0 = 0x00, .length = 16, .enables = 0xff, .tag = 9};
    struct build_tlp reply = {.byte0 = 0x4a, .length = 16, .byte_count = 64, .tag = 9, .payload = 64};
    for (int i = 0; i < 2; i++) {
        memset(data, 0, 20);
        data[19] = i ? 0 : 0x10;
        data[20] = 0xfb;
        size_t n = build_tlp(data + 23, i ? &reply : &read);
        memset(data + 23 + n, 0, 4);
        data[23 + n + 4] = 0xfd;
        build_pcapng_packet(f, 100 + (uint64_t)i, data, 23 + n + 5, 23 + n + 5);
    }
    data[20] = 0x5c; /* a DLLP */
    build_pcapng_packet(f, 110, data, 28, 28);
    (void)fclose(f);
    struct store *store = good(path);
    ck_assert_int_eq(total(store, "completed_reads"), 1);
    ck_assert_int_eq(skipped(store, "not a TLP"), 1);
    store_close(store);
}
END_TEST

static void *write_fifo(void *ctx)
{
    struct build_pcap c = {.snaplen = 128, .link = 1};
    FILE *f = build_pcap_open(ctx, &c);
    for (int i = 0; i < 10000; i++)
        put_read(f, &c, i * 3000, (unsigned)i & 255);
    (void)fclose(f);
    return NULL;
}

START_TEST(a_capture_can_come_through_a_fifo)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s", testing_file("fifo"));
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    pthread_t writer;
    ck_assert_int_eq(pthread_create(&writer, NULL, write_fifo, path), 0);
    struct store *store = good(path);
    ck_assert_int_eq(pthread_join(writer, NULL), 0);
    ck_assert_int_eq(total(store, "completed_reads"), 10000);
    store_close(store);
}
END_TEST

START_TEST(what_is_no_capture_is_refused)
{
    char message[sizeof(struct err)];
    store_close(imported(testing_write("bad.pcap", "\x4d\x3c\xb2\xa1garbage", 11), message));
    ck_assert_ptr_nonnull(strstr(message, "not a capture that can be read"));
    struct build_pcap c = {.snaplen = 128, .link = 105};
    const char *path = testing_file("wifi.pcap");
    (void)fclose(build_pcap_open(path, &c));
    store_close(imported(path, message));
    ck_assert_ptr_nonnull(strstr(message, "link type 105"));
    c.link = 1;
    FILE *f = build_pcap_open(path, &c);
    put_read(f, &c, 0, 1);
    build_pcap_packet(f, &c, 0, frame, 0, 0);
    (void)fseek(f, -8, SEEK_CUR);
    build_put(f, false, 0x7fffffff, 4); /* a captured length of 2 GiB */
    (void)fclose(f);
    struct store *store = imported(path, message);
    ck_assert_ptr_nonnull(strstr(message, "packet 4"));
    ck_assert(!store_complete(store));
    ck_assert_int_eq(total(store, "completed_reads"), 1);
    store_close(store);
    ck_assert_int_eq(read_nettlp.probe("x", (const unsigned char *)"\x0a\x0d\x0d\x0a", 4), PROBE_YES);
    ck_assert_int_eq(read_nettlp.probe("x", (const unsigned char *)"kind,", 5), PROBE_NO);
}
END_TEST

START_TEST(the_adapters_clock_ticks_every_six_point_four_nanoseconds)
{
    struct build_pcap c = {.snaplen = 128, .link = 1};
    const char *path = testing_file("clock.pcap");
    FILE *f = build_pcap_open(path, &c);
    struct build_tlp write = {.byte0 = 0x40, .length = 1, .enables = 0x0f, .payload = 4};
    for (uint32_t i = 0; i < 5; i++) {
        size_t n = framed(&write, &(struct build_frame){.stamp = 100 + 43 * i, .sequence = (uint16_t)i});
        build_pcap_packet(f, &c, 1000 + 1400 * i, frame, n, n);
    }
    (void)fclose(f);
    options.clock = CAPTURE_CLOCK_ADAPTER;
    struct store *store = good(path);
    options.clock = CAPTURE_CLOCK_PCAP;
    const struct stream *s = store_stream(store, store_stream_find(store, "tlp"));
    ck_assert_int_eq(s->time_first, 1000);
    ck_assert_int_eq(s->time_last, 1000 + 4 * 43 * 32 / 5);
    store_close(store);
}
END_TEST

TEST_MAIN("nettlp")
