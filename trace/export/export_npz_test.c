#include "trace/export/export_npz.h"

#include "trace/base/testing.h"
#include "trace/import/zip.h"

enum { RECORDS = 70000 }; /* more than a chunk */

static struct record record(uint64_t i)
{
    const uint64_t z = i * UINT64_C(0x9E3779B97F4A7C15);
    return (struct record){.kind = i % 2 ? RECORD_FAULT : RECORD_KERNEL,
                           .time = i ? (int64_t)(z >> 2) : -RECORD_TIME_MAX,
                           .duration = (int64_t)(z >> 33),
                           .addr = i == 7 ? UINT64_MAX : z,
                           .bytes = z >> 7,
                           .flags = (uint32_t)z,
                           .id = ~z,
                           .group = (uint32_t)(z >> 32)};
}

static struct store *trace(enum time_unit unit)
{
    struct err err = {""};
    const char *path = testing_file("t.db");
    struct store *store = store_create(path, OUTPUT_REPLACE, "test", &err);
    struct stream stream = {.name = "uvm", .unit = unit, .extra = {"a/b", "a b", "plain"}};
    struct store_value kernel[16] = {STORE_V_INT(9), STORE_V_TEXT("bicg, \"x\"")};
    int index;
    ck_assert(store && store_stream_add(store, &stream, &index, &err) == 0);
    for (uint64_t i = 0; i < RECORDS; i++) {
        struct record r = record(i);
        const int64_t extra[3] = {(int64_t)i, -(int64_t)i, (int64_t)r.id};
        r.time = unit == TIME_NONE ? 0 : r.time;
        ck_assert_int_eq(store_append(store, index, &r, extra, 1, &err), 0);
    }
    ck_assert_msg(store_row(store, "kernels", kernel, 16, &err) == 0, "%s", err.msg);
    ck_assert(store_origin(store, "sample", "half of it", &err) == 0 && store_finish(store, &err) == 0);
    store_close(store);
    store = store_open(path, &err);
    ck_assert_msg(store != NULL, "%s", err.msg);
    return store;
}

/* Item i of an array, and what its header says. */
static uint64_t item(const unsigned char *npy, const char *dtype, size_t size, size_t count, size_t i)
{
    char shape[40];
    uint64_t v = 0;
    const size_t head = 10 + npy[8] + 256u * npy[9];
    (void)snprintf(shape, sizeof shape, "'shape': (%zu,), }", count);
    ck_assert_mem_eq(npy, "\x93NUMPY\x01\0", 8);
    ck_assert_uint_eq(head % 64, 0);
    ck_assert(memmem(npy, head, dtype, strlen(dtype)) && memmem(npy, head, shape, strlen(shape)) &&
              npy[head - 1] == '\n');
    for (size_t b = 0; b < size; b++)
        v |= (uint64_t)npy[head + i * size + b] << 8 * b;
    return v;
}

static const struct {
    const char *name, *dtype;
    size_t size;
} arrays[] = {{"kind.npy", "'|u1'", 1},        {"time_ns.npy", "'<i8'", 8},    {"dur_ns.npy", "'<i8'", 8},
              {"addr.npy", "'<u8'", 8},        {"bytes.npy", "'<u8'", 8},      {"flags.npy", "'<u4'", 4},
              {"id.npy", "'<u8'", 8},          {"group.npy", "'<u4'", 4},      {"extra_a_b.npy", "'<i8'", 8},
              {"extra_a_b_2.npy", "'<i8'", 8}, {"extra_plain.npy", "'<i8'", 8}};

static uint64_t expected(size_t array, uint64_t i)
{
    const struct record r = record(i);
    const uint64_t values[] = {
        r.kind, (uint64_t)r.time, (uint64_t)r.duration, r.addr, r.bytes, r.flags, r.id, r.group, i, -i, r.id};
    return values[array];
}

static const char *export(struct store *store)
{
    struct err err = {""};
    const char *path = testing_file("t.npz");
    FILE *to = fopen(path, "wb");
    struct exporter_context context = {.store = store, .to = to};
    ck_assert_msg(export_npz.write(&context, &err) == 0, "%s", err.msg);
    ck_assert_uint_eq(context.written, RECORDS);
    (void)fclose(to);
    return path;
}

START_TEST(every_column_is_an_array_of_its_values)
{
    struct store *store = trace(TIME_NS);
    const char *path = export(store);
    struct zip_member *m;
    struct err err = {""};
    size_t n, got;
    ck_assert_msg(zip_members(path, &m, &n, &err) == 0, "%s", err.msg);
    ck_assert_uint_eq(n, 11 + 4);
    for (size_t i = 0; i < n; i++) {
        unsigned char *npy = malloc(m[i].part.bytes + 1);
        struct source *s = source_open_part(path, &m[i].part, &err);
        ck_assert_msg(s && source_read(s, (char *)npy, m[i].part.bytes + 1, &got, &err) == 0 && got == m[i].part.bytes,
                      "%s", err.msg);
        source_close(s);
        for (size_t k = 0; i < 11 && k < RECORDS; k += k < 100 ? 1 : 97) {
            ck_assert_str_eq(m[i].name, arrays[i].name);
            ck_assert_uint_eq(item(npy, arrays[i].dtype, arrays[i].size, RECORDS, k), expected(i, k));
        }
        if (strcmp(m[i].name, "kinds.npy") == 0) /* 14 bytes each, the longest name's */
            ck_assert_mem_eq(npy + m[i].part.bytes - 14 * (RECORD_KINDS - RECORD_FAULT), "FAULT\0\0", 7);
        else if (strcmp(m[i].name, "kernel_id.npy") == 0)
            ck_assert_uint_eq(item(npy, "'<i8'", 8, 1, 0), 9);
        else if (strcmp(m[i].name, "kernel_name.npy") == 0)
            ck_assert_mem_eq(npy + m[i].part.bytes - 9, "bicg, \"x\"", 9);
        else if (i >= 11)
            ck_assert_mem_eq(npy + m[i].part.bytes - 10, "half of it", 10);
        free(npy);
    }
    free(m);
    store_close(store);
}
END_TEST

START_TEST(a_stream_without_time_has_no_array_of_times_and_the_same_trace_gives_the_same_bytes)
{
    static char first[1 << 23], second[1 << 23];
    struct store *store = trace(TIME_NONE);
    struct zip_member *m;
    struct err err = {""};
    size_t n;
    for (int round = 0; round < 2; round++) {
        FILE *f = fopen(export(store), "rb");
        n = fread(round ? second : first, 1, sizeof first, f);
        (void)fclose(f);
    }
    ck_assert_mem_eq(first, second, n);
    ck_assert_int_eq(zip_members(testing_file("t.npz"), &m, &n, &err), 0);
    ck_assert_uint_eq(n, 11 + 4 - 2);
    ck_assert_str_eq(m[1].name, "addr.npy");
    free(m);
    store_close(store);
}
END_TEST

TEST_MAIN("export_npz", every_column_is_an_array_of_its_values,
          a_stream_without_time_has_no_array_of_times_and_the_same_trace_gives_the_same_bytes)
