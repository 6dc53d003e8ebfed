#include "trace/import/input_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zlib.h>
#include <zstd.h>

#include "trace/base/mem.h"
#include "trace/base/regular_file.h"
#include "trace/store/output.h"

enum {
    INPUT_BYTES = 128 << 10,                    /* compressed bytes asked for at a time */
    FILL_BYTES = 128 << 10,                     /* decompressed bytes made at a time */
    LINE_BYTES = 1 << 20,                       /* longest line */
    SHOWN_BYTES = 60,                           /* of a line, in an error */
    WINDOW_BYTES = LINE_BYTES + 2 * FILL_BYTES, /* decompressed bytes held */
    KEEP_BYTES = 8 << 10,                       /* a remainder this small is moved to the front before a fill */
    PEEK_BYTES = 64 << 10,
};

/* Memory that a compressed file may ask for: xz -9 needs 65 MiB, zstd --long=27 128 MiB. */
static const uint64_t decoder_memory_bytes = 256ULL << 20;

enum codec { CODEC_PLAIN, CODEC_GZIP, CODEC_XZ, CODEC_ZSTD, CODEC_DEFLATE, CODECS };
static const struct decoder {
    const char *name;
    int (*read)(struct input_stream *s, char *out, size_t room, size_t *made, struct err *err);
} decoders[CODECS];

struct input_stream {
    char *path; /* for messages */
    int fd;
    bool close_fd;
    bool part;               /* of a file: */
    uint64_t part_left;      /* its bytes still to be read */
    uint64_t expected, made; /* decompressed bytes */
    uint32_t crc, expected_crc;

    unsigned char *input; /* compressed bytes */
    size_t in_start, in_end;
    bool in_eof;
    uint64_t in_bytes; /* taken from the file */
    XXH3_state_t *hash;

    enum codec codec;
    bool member_open; /* inside a compressed member: the end of the input would be too early */
    z_stream gzip;
    lzma_stream xz;
    ZSTD_DCtx *zstd;

    char *window; /* decompressed bytes; one more byte than WINDOW_BYTES for the zero after a last line */
    size_t start, end;
    bool eof;
    uint64_t taken, lines;
    char begins[SHOWN_BYTES + 4]; /* the last line: as much as an error shows, and whether it goes on */

    void (*on_read)(void *ctx, uint64_t bytes);
    void *on_read_ctx;
};

/* --- compressed bytes --- */

static int input_fill(struct input_stream *s, struct err *err)
{
    if (s->in_eof)
        return 0;
    if (s->in_start > 0) {
        memmove(s->input, s->input + s->in_start, s->in_end - s->in_start);
        s->in_end -= s->in_start;
        s->in_start = 0;
    }
    size_t room = INPUT_BYTES - s->in_end;
    if (room == 0)
        return 0;
    ssize_t got;
    if (s->part && s->part_left < room)
        room = (size_t)s->part_left;
    do
        got = room ? read(s->fd, s->input + s->in_end, room) : 0;
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return err_set(err, "cannot read '%s' at byte %llu: %s", s->path, (unsigned long long)s->in_bytes,
                       strerror(errno));
    const size_t n = (size_t)got;
    s->part_left -= s->part ? n : 0;
    if (n == 0)
        s->in_eof = true;
    else
        XXH3_128bits_update(s->hash, s->input + s->in_end, n);
    s->in_end += n;
    s->in_bytes += n;
    if (s->on_read)
        s->on_read(s->on_read_ctx, s->in_bytes);
    return 0;
}

/* At least n bytes in the input buffer unless the file is shorter. */
static int input_need(struct input_stream *s, size_t n, struct err *err)
{
    while (s->in_end - s->in_start < n && !s->in_eof)
        if (input_fill(s, err))
            return -1;
    return 0;
}

static uint64_t input_offset(const struct input_stream *s)
{
    return s->in_bytes - (s->in_end - s->in_start);
}

static int corrupt(const struct input_stream *s, const char *what, struct err *err)
{
    return err_set(err, "byte %llu: corrupt %s data: %s", (unsigned long long)input_offset(s), decoders[s->codec].name,
                   what);
}

static int truncated(const struct input_stream *s, struct err *err)
{
    return err_set(err, "byte %llu: the file ends inside %s data", (unsigned long long)s->in_bytes,
                   decoders[s->codec].name);
}

/* --- decoders: make up to `room` bytes at `out`; *made = 0 only at the end --- */

static int read_plain(struct input_stream *s, char *out, size_t room, size_t *made, struct err *err)
{
    if (s->in_start == s->in_end && input_fill(s, err))
        return -1;
    size_t n = s->in_end - s->in_start;
    n = n < room ? n : room;
    memcpy(out, s->input + s->in_start, n);
    s->in_start += n;
    *made = n;
    return 0;
}

/* Between gzip members: another one, zero padding (as gzip(1) allows), or the end. */
static int next_gzip_member(struct input_stream *s, bool *more, struct err *err)
{
    *more = false;
    for (;;) {
        if (input_need(s, 2, err))
            return -1;
        if (s->in_start == s->in_end)
            return 0;
        if (s->input[s->in_start] != 0)
            break;
        s->in_start++;
    }
    if (s->in_end - s->in_start < 2 || s->input[s->in_start] != 0x1f || s->input[s->in_start + 1] != 0x8b)
        return corrupt(s, "bytes after the end that are no further member", err);
    if (inflateReset(&s->gzip) != Z_OK)
        return corrupt(s, "cannot start the next member", err);
    s->member_open = *more = true;
    return 0;
}

/* Some more of the open member; its end closes it. */
static int inflate_more(struct input_stream *s, char *out, size_t room, size_t *made, struct err *err)
{
    if (s->in_start == s->in_end && input_fill(s, err))
        return -1;
    if (s->in_start == s->in_end)
        return truncated(s, err);
    s->gzip.next_in = s->input + s->in_start;
    s->gzip.avail_in = (uInt)(s->in_end - s->in_start);
    s->gzip.next_out = (Bytef *)out;
    s->gzip.avail_out = (uInt)room;
    int rc = inflate(&s->gzip, Z_NO_FLUSH);
    s->in_start = s->in_end - s->gzip.avail_in;
    *made = room - s->gzip.avail_out;
    if (rc == Z_STREAM_END)
        s->member_open = false;
    else if (rc != Z_OK && rc != Z_BUF_ERROR)
        return corrupt(s, s->gzip.msg ? s->gzip.msg : "cannot be decoded", err);
    return 0;
}

static int read_gzip(struct input_stream *s, char *out, size_t room, size_t *made, struct err *err)
{
    *made = 0;
    while (*made == 0) {
        if (!s->member_open) {
            bool more;
            if (next_gzip_member(s, &more, err))
                return -1;
            if (!more)
                return 0;
        }
        if (inflate_more(s, out, room, made, err))
            return -1;
    }
    return 0;
}

static int read_deflate(struct input_stream *s, char *out, size_t room, size_t *made, struct err *err)
{
    *made = 0;
    while (*made == 0 && s->member_open) {
        if (inflate_more(s, out, room, made, err))
            return -1;
    }
    return 0;
}

/* What a part gives must be what its archive says of it. */
static int check_part(struct input_stream *s, const char *made, size_t n, struct err *err)
{
    s->made += n;
    s->crc = (uint32_t)crc32_z(s->crc, (const Bytef *)made, n);
    if (s->made > s->expected || (n == 0 && s->made < s->expected))
        return err_set(err, "it holds %s than the %llu bytes that the archive says", n ? "more" : "less",
                       (unsigned long long)s->expected);
    if (n == 0 && s->crc != s->expected_crc)
        return err_set(err, "its check sum is %08x; the archive says %08x", s->crc, s->expected_crc);
    return 0;
}

static const char *xz_message(lzma_ret rc)
{
    switch (rc) {
    case LZMA_MEMLIMIT_ERROR:
        return "it asks for more than 256 MiB of memory";
    case LZMA_MEM_ERROR:
        return "out of memory";
    case LZMA_FORMAT_ERROR:
        return "bytes after the end that are no further stream";
    case LZMA_OPTIONS_ERROR:
        return "unsupported options";
    default:
        return "cannot be decoded";
    }
}

static int read_xz(struct input_stream *s, char *out, size_t room, size_t *made, struct err *err)
{
    *made = 0;
    while (*made == 0 && s->member_open) {
        if (s->in_start == s->in_end && input_fill(s, err))
            return -1;
        s->xz.next_in = s->input + s->in_start;
        s->xz.avail_in = s->in_end - s->in_start;
        s->xz.next_out = (uint8_t *)out;
        s->xz.avail_out = room;
        lzma_ret rc = lzma_code(&s->xz, s->in_eof ? LZMA_FINISH : LZMA_RUN);
        s->in_start = s->in_end - s->xz.avail_in;
        *made = room - s->xz.avail_out;
        if (rc == LZMA_STREAM_END)
            s->member_open = false;
        else if (rc == LZMA_BUF_ERROR && s->in_eof)
            return *made ? 0 : truncated(s, err);
        else if (rc != LZMA_OK && rc != LZMA_BUF_ERROR)
            return corrupt(s, xz_message(rc), err);
    }
    return 0;
}

static int read_zstd(struct input_stream *s, char *out, size_t room, size_t *made, struct err *err)
{
    *made = 0;
    while (*made == 0) {
        if (s->in_start == s->in_end && input_fill(s, err))
            return -1;
        bool dry = s->in_start == s->in_end;
        if (dry && !s->member_open)
            return 0;
        ZSTD_inBuffer in = {s->input + s->in_start, s->in_end - s->in_start, 0};
        ZSTD_outBuffer to = {out, room, 0};
        size_t rc = ZSTD_decompressStream(s->zstd, &to, &in);
        s->in_start += in.pos;
        *made = to.pos;
        if (ZSTD_isError(rc)) {
            s->in_start = s->in_end; /* it does not say how far it came */
            return corrupt(s, ZSTD_getErrorName(rc), err);
        }
        s->member_open = rc != 0;
        if (dry && *made == 0 && s->member_open)
            return truncated(s, err);
    }
    return 0;
}

static const struct decoder decoders[CODECS] = {[CODEC_PLAIN] = {"plain", read_plain},
                                                [CODEC_GZIP] = {"gzip", read_gzip},
                                                [CODEC_XZ] = {"xz", read_xz},
                                                [CODEC_ZSTD] = {"zstd", read_zstd},
                                                [CODEC_DEFLATE] = {"deflate", read_deflate}};

/* --- the window of decompressed bytes --- */

/* Add at least one byte to the window, or set eof. The window has room (callers stay below WINDOW_BYTES). */
static int window_fill(struct input_stream *s, struct err *err)
{
    size_t held = s->end - s->start;
    if (s->start > 0 && (held < KEEP_BYTES || WINDOW_BYTES - s->end < FILL_BYTES)) {
        memmove(s->window, s->window + s->start, held);
        s->start = 0;
        s->end = held;
    }
    size_t room = WINDOW_BYTES - s->end;
    room = room < FILL_BYTES ? room : FILL_BYTES;
    size_t made = 0;
    if (decoders[s->codec].read(s, s->window + s->end, room, &made, err) ||
        (s->part && check_part(s, s->window + s->end, made, err)))
        return -1;
    s->end += made;
    s->eof = made == 0;
    return 0;
}

static int choose_codec(struct input_stream *s, struct err *err)
{
    static const unsigned char xz_magic[] = {0xfd, '7', 'z', 'X', 'Z', 0};
    if (input_need(s, sizeof xz_magic, err))
        return -1;
    const unsigned char *p = s->input + s->in_start;
    size_t n = s->in_end - s->in_start;
    s->member_open = true;
    if (n >= 3 && p[0] == 0x1f && p[1] == 0x8b && p[2] == 8) {
        s->codec = CODEC_GZIP;
        if (inflateInit2(&s->gzip, 15 + 16) != Z_OK)
            return err_set(err, "cannot start the gzip decoder");
    } else if (n >= sizeof xz_magic && memcmp(p, xz_magic, sizeof xz_magic) == 0) {
        if (lzma_stream_decoder(&s->xz, decoder_memory_bytes, LZMA_CONCATENATED) != LZMA_OK)
            return err_set(err, "cannot start the xz decoder");
        s->codec = CODEC_XZ;
    } else if (n >= 4 && p[0] == 0x28 && p[1] == 0xb5 && p[2] == 0x2f && p[3] == 0xfd) {
        s->codec = CODEC_ZSTD;
        s->zstd = ZSTD_createDCtx();
        if (!s->zstd)
            return err_set(err, "cannot start the zstd decoder");
    }
    return 0;
}

static struct input_stream *source_new(const char *path, struct err *err)
{
    struct input_stream *s = mem_zalloc(1, sizeof *s, err);
    if (!s)
        return NULL;
    s->fd = -1;
    s->input = malloc(INPUT_BYTES);
    s->window = malloc(WINDOW_BYTES + 1);
    s->hash = XXH3_createState();
    s->path = mem_strdup(path, err);
    if (!s->input || !s->window || !s->hash || !s->path) {
        err_set(err, "out of memory");
        input_stream_close(s);
        return NULL;
    }
    XXH3_128bits_reset(s->hash);
    return s;
}

/* Take over `fd`, -1: *err says why. */
static struct input_stream *source_of(const char *path, int fd, struct err *err)
{
    struct input_stream *s = fd < 0 ? NULL : source_new(path, err);
    if (!s) {
        if (fd > STDIN_FILENO)
            (void)close(fd);
        return NULL;
    }
    s->fd = fd;
    s->close_fd = strcmp(path, "-") != 0;
    if (output_reserved(s->fd))
        err_set(err, "'%s' is an input and the output", path);
    else if (choose_codec(s, err) == 0)
        return s;
    input_stream_close(s);
    return NULL;
}

struct input_stream *input_stream_open(const char *path, struct err *err)
{
    return source_of(path, strcmp(path, "-") == 0 ? STDIN_FILENO : regular_file_open(path, err), err);
}

struct input_stream *input_stream_open_piped(const char *path, struct err *err)
{
    struct stat st;
    if (stat(path, &st) || !S_ISFIFO(st.st_mode))
        return input_stream_open(path, err);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        err_set(err, "cannot open '%s': %s", path, strerror(errno));
    return source_of(path, fd, err);
}

struct input_stream *input_stream_open_part(const char *path, const struct input_stream_part *part, struct err *err)
{
    int fd = regular_file_open(path, err);
    struct input_stream *s = fd < 0 ? NULL : source_new(path, err);
    if (!s) {
        if (fd >= 0)
            (void)close(fd);
        return NULL;
    }
    s->fd = fd;
    s->close_fd = s->part = s->member_open = true;
    s->part_left = part->packed_bytes;
    s->expected = part->bytes;
    s->expected_crc = part->crc;
    s->codec = part->deflated ? CODEC_DEFLATE : CODEC_PLAIN;
    if (part->at > INT64_MAX || lseek(fd, (off_t)part->at, SEEK_SET) < 0)
        (void)err_set(err, "'%s': cannot go to byte %llu", path, (unsigned long long)part->at);
    else if (!part->deflated || inflateInit2(&s->gzip, -15) == Z_OK)
        return s;
    else
        s->codec = CODEC_PLAIN;
    input_stream_close(s);
    return NULL;
}

void input_stream_close(struct input_stream *s)
{
    if (!s)
        return;
    if (s->codec == CODEC_GZIP || s->codec == CODEC_DEFLATE)
        (void)inflateEnd(&s->gzip);
    if (s->codec == CODEC_XZ)
        lzma_end(&s->xz);
    ZSTD_freeDCtx(s->zstd);
    if (s->close_fd)
        (void)close(s->fd);
    XXH3_freeState(s->hash);
    free(s->input);
    free(s->window);
    free(s->path);
    free(s);
}

int input_stream_peek(struct input_stream *s, size_t n, const unsigned char **data, size_t *got, struct err *err)
{
    n = n < PEEK_BYTES ? n : PEEK_BYTES;
    while (s->end - s->start < n && !s->eof)
        if (window_fill(s, err))
            return -1;
    size_t held = s->end - s->start;
    *data = (const unsigned char *)s->window + s->start;
    *got = held < n ? held : n;
    return 0;
}

int input_stream_read(struct input_stream *s, void *buf, size_t n, size_t *got, struct err *err)
{
    *got = 0;
    while (*got < n) {
        size_t held = s->end - s->start;
        if (held == 0) {
            if (s->eof)
                break;
            if (window_fill(s, err))
                return -1;
            continue;
        }
        size_t take = held < n - *got ? held : n - *got;
        memcpy((char *)buf + *got, s->window + s->start, take);
        s->start += take;
        s->taken += take;
        *got += take;
    }
    return 0;
}

int input_stream_skip(struct input_stream *s, uint64_t n, struct err *err)
{
    while (n > 0) {
        size_t held = s->end - s->start;
        if (held == 0 && s->codec == CODEC_PLAIN && !s->part && s->fd >= 0 && s->in_start == s->in_end &&
            n <= INT64_MAX && lseek(s->fd, (off_t)n, SEEK_CUR) >= 0) {
            s->in_bytes += n;
            s->taken += n;
            return 0;
        }
        if (held == 0) {
            if (window_fill(s, err))
                return -1;
            if (s->eof)
                return 0;
            continue;
        }
        uint64_t take = held < n ? held : n;
        s->start += (size_t)take;
        s->taken += take;
        n -= take;
    }
    return 0;
}

size_t input_stream_mark(const void *text, size_t n)
{
    return n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* Hand out window[start, start+n) as a line and take `taken` bytes. */
static int give_line(struct input_stream *s, size_t n, size_t taken, char **line, size_t *length)
{
    const size_t mark = s->lines ? 0 : input_stream_mark(s->window + s->start, n);
    *line = s->window + s->start + mark;
    n -= mark;
    if (n > 0 && (*line)[n - 1] == '\r')
        n--;
    (*line)[n] = 0;
    *length = n;
    memcpy(s->begins, *line, n < SHOWN_BYTES ? n : SHOWN_BYTES);
    memcpy(s->begins + (n < SHOWN_BYTES ? n : SHOWN_BYTES), n > SHOWN_BYTES ? "..." : "", n > SHOWN_BYTES ? 4 : 1);
    s->start += taken;
    s->taken += taken;
    s->lines++;
    return 1;
}

int input_stream_line(struct input_stream *s, char **line, size_t *length, struct err *err)
{
    size_t seen = 0;
    for (;;) {
        size_t held = s->end - s->start;
        const char *nl = memchr(s->window + s->start + seen, '\n', held - seen);
        size_t n = nl ? (size_t)(nl - (s->window + s->start)) : held;
        if (n > LINE_BYTES)
            return err_set(err, "line %llu: longer than 1 MiB; this is no text file of records",
                           (unsigned long long)s->lines + 1);
        if (nl)
            return give_line(s, n, n + 1, line, length);
        if (s->eof)
            return held == 0 ? 0 : give_line(s, held, held, line, length);
        seen = held;
        if (window_fill(s, err))
            return -1;
    }
}

uint64_t input_stream_offset(const struct input_stream *s)
{
    return s->taken;
}

uint64_t input_stream_line_number(const struct input_stream *s)
{
    return s->lines;
}

const char *input_stream_place(const struct input_stream *s, char buf[SOURCE_PLACE])
{
    (void)snprintf(buf, SOURCE_PLACE, "line %llu '%s'", (unsigned long long)s->lines, s->begins);
    return buf;
}

uint64_t input_stream_compressed_offset(const struct input_stream *s)
{
    return s->in_bytes;
}

void input_stream_on_read(struct input_stream *s, void (*fn)(void *ctx, uint64_t bytes), void *ctx)
{
    s->on_read = fn;
    s->on_read_ctx = ctx;
}

bool input_stream_packed(const struct input_stream *s)
{
    return s->codec != CODEC_PLAIN;
}

int input_stream_unpack(struct input_stream *s, FILE *to, struct err *err)
{
    static const uint64_t free_bytes = 64ULL << 20, ratio = 200;
    for (size_t n = 1; n;) {
        if (s->start == s->end && !s->eof && window_fill(s, err))
            return -1;
        n = s->end - s->start;
        if (n && fwrite(s->window + s->start, 1, n, to) != n)
            return err_set(err, "it cannot be unpacked: %s", strerror(errno));
        s->start = s->end;
        s->taken += n;
        if (s->taken > free_bytes && s->taken / ratio > s->in_bytes)
            return err_set(err, "%llu bytes of it unpack to more than %llu times as many: unpack it by hand",
                           (unsigned long long)s->in_bytes, (unsigned long long)ratio);
    }
    return fflush(to) ? err_set(err, "it cannot be unpacked: %s", strerror(errno)) : 0;
}

void input_stream_hash(struct input_stream *s, char hash[33])
{
    const XXH128_hash_t value = XXH3_128bits_digest(s->hash);
    (void)snprintf(hash, 33, "%016llx%016llx", (unsigned long long)value.high64, (unsigned long long)value.low64);
}
