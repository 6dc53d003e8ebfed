#include "trace/import/testing_memory.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "trace/base/testing.h"

/* --- compressed members, made here so that no fixture is needed --- */

static size_t as_gzip(const void *data, size_t n, unsigned char *out, size_t cap)
{
    z_stream z = {0};
    ck_assert_int_eq(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)data;
    z.avail_in = (uInt)n;
    z.next_out = out;
    z.avail_out = (uInt)cap;
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t made = cap - z.avail_out;
    (void)deflateEnd(&z);
    return made;
}

static size_t as_xz(const void *data, size_t n, unsigned char *out, size_t cap)
{
    size_t made = 0;
    ck_assert_int_eq(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL, data, n, out, &made, cap), LZMA_OK);
    return made;
}

static size_t as_zstd(const void *data, size_t n, unsigned char *out, size_t cap)
{
    size_t made = ZSTD_compress(out, cap, data, n, 1);
    ck_assert(!ZSTD_isError(made));
    return made;
}

typedef size_t (*encoder)(const void *, size_t, unsigned char *, size_t);
static const encoder encoders[] = {as_gzip, as_xz, as_zstd};

enum { BIG = 3 << 20 };

/* Lines "line 0\nline 1\n..." of about BIG bytes. */
static char *big_text(size_t *n, size_t *lines)
{
    char *text = GIVES(malloc(BIG + 64));
    size_t used = 0, count = 0;
    while (used < BIG)
        used += (size_t)sprintf(text + used, "line %zu\n", count++);
    *n = used;
    *lines = count;
    return text;
}

static void expect_lines(struct input_stream *s, size_t lines)
{
    struct err err;
    char *line, want[64];
    size_t length;
    /* One check for each line: a million of ck_assert() take seconds. */
    for (size_t i = 0; i < lines; i++) {
        const int rc = input_stream_line(s, &line, &length, &err);
        (void)snprintf(want, sizeof want, "line %zu", i);
        if (rc != 1 || strcmp(line, want) != 0 || length != strlen(want) || input_stream_line_number(s) != i + 1)
            ck_abort_msg("line %zu: %d '%s', number %zu", i, rc, rc == 1 ? line : err.msg,
                         (size_t)input_stream_line_number(s));
    }
}

START_TEST(every_codec_gives_the_same_lines_from_memory_and_file)
{
    size_t n, lines, length;
    char *text = big_text(&n, &lines), *line;
    unsigned char *packed = malloc(2 * BIG);
    for (size_t e = 0; e < 3; e++) {
        size_t made = encoders[e](text, n, packed, 2 * BIG);
        struct input_stream *s = GIVES(input_stream_from_memory(packed, made, &err));
        expect_lines(s, lines);
        WORKS(input_stream_line(s, &line, &length, &err));
        ck_assert_uint_eq(input_stream_offset(s), n);
        ck_assert_uint_eq(input_stream_compressed_offset(s), made);
        char from_memory[33], from_file[33];
        input_stream_hash(s, from_memory);
        input_stream_close(s);
        s = GIVES(input_stream_open(testing_write("packed", packed, made), &err));
        expect_lines(s, lines);
        WORKS(input_stream_line(s, &line, &length, &err));
        input_stream_hash(s, from_file);
        ck_assert_str_eq(from_memory, from_file);
        input_stream_close(s);
    }
    free(packed);
    free(text);
}
END_TEST

START_TEST(concatenated_members_are_one_stream)
{
    for (size_t e = 0; e < 3; e++) {
        unsigned char packed[1024];
        size_t made = encoders[e]("line 0\nli", 9, packed, sizeof packed);
        made += encoders[e]("ne 1\n", 5, packed + made, sizeof packed - made);
        made += encoders[e]("", 0, packed + made, sizeof packed - made);
        made += encoders[e]("line 2\n", 7, packed + made, sizeof packed - made);
        struct input_stream *s = GIVES(input_stream_from_memory(packed, made, &err));
        expect_lines(s, 3);
        char *line;
        size_t length;
        WORKS(input_stream_line(s, &line, &length, &err));
        input_stream_close(s);
    }
}
END_TEST

START_TEST(a_cut_file_is_an_error_with_its_byte_for_every_codec)
{
    size_t n, lines;
    char *text = big_text(&n, &lines);
    unsigned char *packed = malloc(2 * BIG);
    char *buf = malloc(2 * BIG);
    for (size_t e = 0; e < 3; e++) {
        size_t made = encoders[e](text, n, packed, 2 * BIG) / 2;
        struct input_stream *s = GIVES(input_stream_from_memory(packed, made, &err));
        size_t got;
        FAILS_WITH(input_stream_read(s, buf, 2 * BIG, &got, &err),
                   testing_text("byte %zu: the file ends inside", made));
        input_stream_close(s);
    }
    free(buf);
    free(packed);
    free(text);
}
END_TEST

START_TEST(a_flipped_byte_is_an_error_with_its_place_for_every_codec)
{
    size_t n, lines;
    char *text = big_text(&n, &lines);
    unsigned char *packed = malloc(2 * BIG);
    char *buf = malloc(2 * BIG);
    for (size_t e = 0; e < 3; e++) {
        size_t made = encoders[e](text, n, packed, 2 * BIG);
        for (size_t i = made / 2; i < made / 2 + 64; i++)
            packed[i] ^= 0x5a;
        struct err err = {""};
        struct input_stream *s = input_stream_from_memory(packed, made, &err);
        ck_assert_ptr_nonnull(s);
        size_t got;
        ck_assert_int_eq(input_stream_read(s, buf, 2 * BIG, &got, &err), -1);
        ck_assert_msg(strncmp(err.msg, "byte ", 5) == 0 && strstr(err.msg, "corrupt"), "%s", err.msg);
        input_stream_close(s);
    }
    free(buf);
    free(packed);
    free(text);
}
END_TEST

START_TEST(zero_padding_after_gzip_is_allowed_and_garbage_is_not)
{
    unsigned char packed[256] = {0};
    size_t made = as_gzip("x\n", 2, packed, sizeof packed), got;
    char buf[16];
    struct input_stream *s = GIVES(input_stream_from_memory(packed, made + 100, &err));
    WORKS(input_stream_read(s, buf, sizeof buf, &got, &err));
    ck_assert_uint_eq(got, 2);
    input_stream_close(s);
    packed[made] = 'G';
    s = GIVES(input_stream_from_memory(packed, made + 100, &err));
    FAILS_WITH(input_stream_read(s, buf, sizeof buf, &got, &err), "after the end");
    input_stream_close(s);
}
END_TEST

START_TEST(line_ends_are_lf_or_crlf_and_the_last_may_lack_one)
{
    struct input_stream *s = GIVES(input_stream_from_memory("a\r\n\n\rb\nlast", 11, &err));
    char *line;
    size_t length;
    static const char *const want[] = {"a", "", "\rb", "last"};
    for (size_t i = 0; i < 4; i++) {
        RETURNS(input_stream_line(s, &line, &length, &err), 1);
        ck_assert_str_eq(line, want[i]);
    }
    WORKS(input_stream_line(s, &line, &length, &err));
    WORKS(input_stream_line(s, &line, &length, &err));
    input_stream_close(s);
}
END_TEST

START_TEST(the_place_of_a_line_shows_it_as_it_was)
{
    char want[SOURCE_PLACE], buf[SOURCE_PLACE], *line;
    size_t length;
    const char *text = testing_text("a,b c\r\n\n%060d\n%061d", 1, 2);
    struct input_stream *s = GIVES(input_stream_from_memory(text, strlen(text), &err));
    for (int i = 1; i <= 4; i++) {
        RETURNS(input_stream_line(s, &line, &length, &err), 1);
        (void)snprintf(want, sizeof want, "line %d '%.60s%s'", i, line, length > 60 ? "..." : "");
        memset(line, 0, length); /* a reader takes it to pieces */
        ck_assert_str_eq(input_stream_place(s, buf), want);
    }
    input_stream_close(s);
}
END_TEST

START_TEST(a_line_of_a_mebibyte_passes_and_one_byte_more_is_an_error)
{
    char *text = malloc((1 << 20) + 16);
    memset(text, 'x', (1 << 20) + 16);
    memcpy(text, "ok\n", 3);
    text[3 + (1 << 20)] = '\n';
    struct err err = {""};
    char *line;
    size_t length;
    struct input_stream *s = input_stream_from_memory(text, (1 << 20) + 16, &err);
    ck_assert_int_eq(input_stream_line(s, &line, &length, &err), 1);
    ck_assert_int_eq(input_stream_line(s, &line, &length, &err), 1);
    ck_assert_uint_eq(length, 1 << 20);
    input_stream_close(s);
    text[3 + (1 << 20)] = 'x';
    s = input_stream_from_memory(text, (1 << 20) + 16, &err);
    ck_assert_int_eq(input_stream_line(s, &line, &length, &err), 1);
    ck_assert_int_eq(input_stream_line(s, &line, &length, &err), -1);
    ck_assert_msg(strncmp(err.msg, "line 2: ", 8) == 0, "%s", err.msg);
    input_stream_close(s);
    free(text);
}
END_TEST

START_TEST(peek_takes_nothing_and_stops_at_the_end)
{
    struct input_stream *s = GIVES(input_stream_from_memory("hello\nworld\n", 12, &err));
    const unsigned char *data;
    size_t got, length;
    WORKS(input_stream_peek(s, 65536, &data, &got, &err));
    ck_assert_uint_eq(got, 12);
    ck_assert_uint_eq(input_stream_offset(s), 0);
    char *line;
    RETURNS(input_stream_line(s, &line, &length, &err), 1);
    ck_assert_str_eq(line, "hello");
    WORKS(input_stream_peek(s, 3, &data, &got, &err));
    ck_assert_uint_eq(got, 3);
    ck_assert_int_eq(memcmp(data, "wor", 3), 0);
    input_stream_close(s);
}
END_TEST

START_TEST(an_empty_input_ends_at_once)
{
    struct input_stream *s = GIVES(input_stream_from_memory(NULL, 0, &err));
    char *line;
    size_t length;
    WORKS(input_stream_line(s, &line, &length, &err));
    input_stream_close(s);
}
END_TEST

START_TEST(what_is_unpacked_is_whole_and_no_bomb)
{
    enum { MIB = 1 << 20 };
    char *zeros = calloc(MIB, 1), *packed;
    size_t n;
    FILE *f = open_memstream(&packed, &n), *to = fopen("/dev/null", "w");
    size_t most = ZSTD_compressBound(MIB), bytes;
    char *frame = malloc(most);
    bytes = ZSTD_compress(frame, most, zeros, MIB, 3);
    for (int i = 0; i < 65; i++) /* 64 MiB are free */
        ck_assert_uint_eq(fwrite(frame, 1, bytes, f), bytes);
    ck_assert_int_eq(fclose(f), 0);
    struct input_stream *s = GIVES(input_stream_from_memory(packed, bytes, &err));
    ck_assert(input_stream_packed(s));
    WORKS(input_stream_unpack(s, to, &err));
    ck_assert_uint_eq(input_stream_offset(s), MIB);
    input_stream_close(s);
    s = GIVES(input_stream_from_memory(packed, n, &err));
    FAILS_WITH(input_stream_unpack(s, to, &err), "more than 200 times");
    input_stream_close(s);
    s = GIVES(input_stream_from_memory("plain", 5, &err));
    ck_assert(!input_stream_packed(s));
    input_stream_close(s);
    (void)fclose(to);
    free(frame);
    free(packed);
    free(zeros);
}
END_TEST

START_TEST(missing_files_and_directories_are_named)
{
    struct err err = {""};
    ck_assert_ptr_null(input_stream_open("/nonexistent/file", &err));
    ck_assert_str_eq(err.msg, "cannot open '/nonexistent/file': No such file or directory");
    ck_assert_ptr_null(input_stream_open("/tmp", &err));
    ck_assert_str_eq(err.msg, "cannot open '/tmp': it is a directory, not a file");
}
END_TEST

TEST_MAIN("source")
