#include "trace/store/chunk.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "trace/base/testing.h"

/* A chunk's bytes, with a checksum that fits. */
static void seal(unsigned char *data, size_t bytes)
{
    uint64_t sum = XXH3_64bits(data + 16, bytes - 16);
    memcpy(data + 8, &sum, 8);
}

static struct chunk_builder builder;
static struct record records[1000];

/* Three records of the worked example of trace/store/chunk.h; *data may be written to. */
static size_t worked_example(unsigned char **data)
{
    static const struct record example[3] = {
        {.time = 100, .addr = 0x10000, .bytes = 4096, .flags = 1, .kind = RECORD_TOUCH},
        {.time = 110, .addr = 0x13000, .bytes = 4096, .flags = 1, .kind = RECORD_TOUCH},
        {.time = 120, .addr = 0x11000, .bytes = 4096, .flags = 1, .kind = RECORD_TOUCH},
    };
    size_t taken, bytes;
    const unsigned char *out;
    WORKS(chunk_builder_init(&builder, 0, &err));
    WORKS(chunk_builder_add(&builder, example, NULL, 0, 3, &taken, &err));
    ck_assert_uint_eq(taken, 3);
    chunk_builder_encode(&builder, &out, &bytes);
    *data = builder.out;
    return bytes;
}

START_TEST(the_worked_example_has_the_documented_bytes)
{
    static const unsigned char head[24] = {'O', 'C', 'K', '1', 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8};
    static const unsigned char kind[32] = {0, [16] = RECORD_TOUCH};
    static const unsigned char time[32] = {1, [16] = 100, [24] = 10};
    /* Packed, by the first value, plain, 1 byte each, 12 zero bits off, 3 bytes; first 0x10000, bias 0. */
    static const unsigned char addr[32] = {2, 0, 0, 1, 12, [8] = 3, [18] = 1};
    static const unsigned char addresses[3] = {0, 3, 1};
    unsigned char *data;
    size_t bytes = worked_example(&data);
    ck_assert_uint_eq(bytes, 24 + 8 * 32 + 3);
    ck_assert_int_eq(memcmp(data, head, 8), 0);
    ck_assert_int_eq(memcmp(data + 16, head + 16, 8), 0);
    ck_assert_int_eq(memcmp(data + 24 + CHUNK_KIND * 32, kind, 32), 0);
    ck_assert_int_eq(memcmp(data + 24 + CHUNK_TIME * 32, time, 32), 0);
    ck_assert_int_eq(memcmp(data + 24 + CHUNK_ADDR * 32, addr, 32), 0);
    ck_assert_int_eq(memcmp(data + 24 + 8 * 32, addresses, 3), 0);
    chunk_builder_release(&builder);
}
END_TEST

START_TEST(constants_of_one_chunk_do_not_leak_into_the_next)
{
    struct chunk_reader reader;
    size_t taken, bytes, n;
    const unsigned char *data;
    const struct record *out;
    WORKS(chunk_builder_init(&builder, 0, &err));
    WORKS(chunk_reader_init(&reader, 0, &err));
    for (int round = 0; round < 6; round++) {
        for (size_t i = 0; i < 1000; i++)
            records[i] = (struct record){.time = round % 2 ? 7 : (int64_t)(i * i),
                                         .addr = round % 3 ? 4096 : i % 7 * 64,
                                         .bytes = (uint64_t)round / 2,
                                         .flags = round == 3 ? (uint32_t)i % 5 : 1,
                                         .kind = RECORD_TOUCH};
        chunk_builder_reset(&builder);
        WORKS(chunk_builder_add(&builder, records, NULL, 0, 1000, &taken, &err));
        chunk_builder_encode(&builder, &data, &bytes);
        WORKS(chunk_reader_start(&reader, data, bytes, 1000, &err));
        RETURNS(chunk_reader_next(&reader, &out, NULL, &n, &err), 1);
        ck_assert_uint_eq(n, 1000);
        ck_assert_int_eq(memcmp(out, records, sizeof records), 0);
        WORKS(chunk_reader_next(&reader, &out, NULL, &n, &err));
    }
    chunk_reader_release(&reader);
    chunk_builder_release(&builder);
}
END_TEST

/* What a damaged or hostile chunk must be refused with. */
START_TEST(chunks_that_lie_are_refused)
{
    static const struct {
        size_t at;
        unsigned char value;
        bool sealed;
        const char *says;
    } wrong[] = {
        {0, 'X', true, "not a chunk"},
        {30, 9, false, "checksum"},
        {4, 4, true, "it claims 4 records; expected 3"},
        {7, 0x10, true, "records"},
        {16, 9, true, "it has 9 columns; expected 8"},
        {24 + CHUNK_ADDR * 32 + 11, 0x40, true, "column addr claims 1073741827 bytes; 3 are left"},
        {24 + CHUNK_ADDR * 32 + 8, 2, true, "column addr: 2 bytes of plain data; expected 3"},
        {24 + CHUNK_ADDR * 32 + 2, 1, true, "column addr: the compressed data is damaged"},
        {24 + CHUNK_ADDR * 32 + 1, COLUMN_KEYED, true, "column addr: its key is column 0"},
        {24 + CHUNK_KIND * 32 + 8, 1, true, "column kind: 1 bytes of data; expected none"},
    };
    struct chunk_reader reader;
    struct err err = {""};
    ck_assert_int_eq(chunk_reader_init(&reader, 0, &err), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        unsigned char *data;
        size_t bytes = worked_example(&data);
        data[wrong[i].at] = wrong[i].value;
        if (wrong[i].sealed)
            seal(data, bytes);
        ck_assert_int_eq(chunk_reader_start(&reader, data, bytes, 3, &err), -1);
        ck_assert_msg(strstr(err.msg, wrong[i].says) != NULL, "%s: %s", wrong[i].says, err.msg);
        const struct record *r;
        size_t n;
        ck_assert_int_eq(chunk_reader_next(&reader, &r, NULL, &n, &err), 0);
        chunk_builder_release(&builder);
    }
    unsigned char *data;
    size_t bytes = worked_example(&data);
    ck_assert_int_eq(chunk_reader_start(&reader, data, 23, 3, &err), -1);
    seal(data, bytes + 1);
    ck_assert_int_eq(chunk_reader_start(&reader, data, bytes + 1, 3, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "1 bytes follow"));
    chunk_reader_release(&reader);
    chunk_builder_release(&builder);
}
END_TEST

START_TEST(values_that_no_field_holds_are_refused)
{
    static const struct {
        size_t at;
        unsigned char value;
        const char *says;
    } wrong[] = {{24 + CHUNK_KIND * 32 + 16, 200, "column kind: value 200 is out of range"},
                 {24 + CHUNK_FLAGS * 32 + 20, 1, "column flags: value 4294967297 is out of range"},
                 {24 + CHUNK_TIME * 32 + 23, 0x40, "column time: a value beyond 2^62"},
                 {24 + CHUNK_TIME * 32 + 23, 0xBF, "column time: a value beyond 2^62"},
                 {24 + CHUNK_DURATION * 32 + 23, 0x40, "column duration: a value beyond 2^62"},
                 {24 + CHUNK_DURATION * 32 + 23, 0x80, "column duration: a value beyond 2^62"}};
    struct chunk_reader reader;
    WORKS(chunk_reader_init(&reader, 0, &err));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        unsigned char *data;
        const struct record *r;
        size_t n, bytes = worked_example(&data);
        data[wrong[i].at] = wrong[i].value;
        seal(data, bytes);
        WORKS(chunk_reader_start(&reader, data, bytes, 3, &err));
        FAILS_AS(chunk_reader_next(&reader, &r, NULL, &n, &err), wrong[i].says);
        chunk_builder_release(&builder);
    }
    chunk_reader_release(&reader);
}
END_TEST

START_TEST(times_beyond_2_to_the_62_are_not_written)
{
    static const struct {
        int64_t time, duration;
        int rc;
    } of[] = {{RECORD_TIME_MAX, RECORD_TIME_MAX, 0}, {-RECORD_TIME_MAX, 0, 0},     {RECORD_TIME_MAX + 1, 0, -1},
              {-RECORD_TIME_MAX - 1, 0, -1},         {0, RECORD_TIME_MAX + 1, -1}, {0, -1, -1}};
    struct chunk_builder b;
    size_t taken;
    WORKS(chunk_builder_init(&b, 0, &err));
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const struct record r = {.kind = RECORD_FAULT, .time = of[i].time, .duration = of[i].duration};
        RETURNS(chunk_builder_add(&b, &r, NULL, 0, 1, &taken, &err), of[i].rc);
        ck_assert_uint_eq(taken, of[i].rc ? 0 : 1);
    }
    ck_assert_uint_eq(b.records, 2);
    chunk_builder_release(&b);
}
END_TEST

/* 128 warps in turns that nothing tells, each reading on where it was, 8 lines at a time. */
START_TEST(dense_chunks_of_many_warps_are_smaller_and_read_the_same)
{
    enum { MANY = 16384, WARPS = 128 };
    size_t bytes[2], taken, n, at = 0;
    const unsigned char *data;
    uint64_t hash[2];
    struct err err = {""};
    for (int dense = 0; dense < 2; dense++) {
        uint64_t next[WARPS] = {0}, seed = 1;
        struct chunk_builder b;
        ck_assert_int_eq(chunk_builder_init(&b, 0, &err), 0);
        b.dense = dense;
        for (size_t i = 0; i < MANY; i++) {
            seed = i % 8 ? seed : seed * 6364136223846793005u + 1442695040888963407u;
            const uint64_t warp = seed >> 57;
            const struct record r = {.kind = RECORD_ACCESS,
                                     .id = warp / 8 << 32 | warp % 8,
                                     .addr = 0x7f0000000000 + warp * 524288 + i % 8 * 16384 + next[warp] * 128};
            next[warp] += i % 8 == 7;
            ck_assert_int_eq(chunk_builder_add(&b, &r, NULL, 0, 1, &taken, &err), 0);
        }
        chunk_builder_encode(&b, &data, &bytes[dense]);
        hash[dense] = b.content_hash;
        struct chunk_reader reader;
        const struct record *read;
        const int64_t *extra;
        ck_assert_int_eq(chunk_reader_init(&reader, 0, &err), 0);
        ck_assert_msg(chunk_reader_start(&reader, data, bytes[dense], MANY, &err) == 0, "%s", err.msg);
        for (at = 0; at < MANY; at += n) {
            ck_assert_msg(chunk_reader_next(&reader, &read, &extra, &n, &err) == 1, "%s", err.msg);
            ck_assert_uint_ge(read[0].addr, 0x7f0000000000);
        }
        chunk_reader_release(&reader);
        chunk_builder_release(&b);
    }
    ck_assert_uint_eq(hash[0], hash[1]);
    ck_assert_msg(bytes[1] * 10 < bytes[0] * 7, "%zu and %zu bytes", bytes[0], bytes[1]);
}
END_TEST

TEST_MAIN("chunk")
