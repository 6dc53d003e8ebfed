/* input_stream: bytes from a file or a pipe, decompressed on the way (gzip, xz, zstd found by content).
 *
 * Concatenated members (gzip), streams (xz) and frames (zstd) are one stream of bytes. Memory is bounded: 1.4 MiB, and
 * what the decoder needs (files that ask for more than 256 MiB are refused). Errors name the compressed byte, not the
 * path: the caller adds it. After an error only input_stream_close() and the three offsets are valid. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "trace/base/err.h"

struct input_stream;

/* Open `path`, a regular file; "-" is standard input. NULL with *err set on failure. */
struct input_stream *input_stream_open(const char *path, struct err *err);

/* The same, or a named pipe, whose writer is waited for: recordings and captures may come while they are made. */
struct input_stream *input_stream_open_piped(const char *path, struct err *err);

/* A part of an archive: packed_bytes from byte `at` on, as they are or deflated (RFC 1951), `bytes` of them unpacked
 * with the CRC-32 `crc`; whoever reads to the end learns whether they are. */
struct input_stream_part {
    uint64_t at, packed_bytes, bytes;
    uint32_t crc;
    bool deflated;
};
struct input_stream *input_stream_open_part(const char *path, const struct input_stream_part *part, struct err *err);

void input_stream_close(struct input_stream *source);

/* The next bytes without taking them, at most n (n <= 65536); *got < n only at the end. */
int input_stream_peek(struct input_stream *source, size_t n, const unsigned char **data, size_t *got, struct err *err);

/* Take up to n bytes; *got = 0 at the end. Corrupt compressed data is an error naming the byte. */
int input_stream_read(struct input_stream *source, void *buf, size_t n, size_t *got, struct err *err);

/* Pass over n bytes, or to the end; of a file that is not packed without reading them, so that input_stream_hash()
 * means nothing afterwards. */
int input_stream_skip(struct input_stream *source, uint64_t n, struct err *err);

/* The bytes of a mark at the begin of a text that say "UTF-8": 3 or 0. */
size_t input_stream_mark(const void *text, size_t n);

/* The next line without its end (LF or CRLF) and without that mark, ended by zero, valid until the next call. Lines
 * over max_bytes (1 MiB) are an error. Returns 1, 0 at the end, -1 with *err set. */
int input_stream_line(struct input_stream *source, char **line, size_t *length, struct err *err);

uint64_t input_stream_offset(const struct input_stream *source);      /* decompressed bytes taken so far */
uint64_t input_stream_line_number(const struct input_stream *source); /* of the line last returned, from 1 */

/* Where the line last returned is and how it began, whatever was done to it since: "line 17 'foo bar'"; `buf`. */
enum { SOURCE_PLACE = 96 };
const char *input_stream_place(const struct input_stream *source, char buf[SOURCE_PLACE]);

uint64_t input_stream_compressed_offset(const struct input_stream *source); /* bytes read from the file, for progress */

/* Call fn(ctx, bytes) after every read from the file with the compressed bytes read so far: for progress. */
void input_stream_on_read(struct input_stream *source, void (*fn)(void *ctx, uint64_t bytes), void *ctx);

/* Whether the bytes are decompressed on the way. */
bool input_stream_packed(const struct input_stream *source);

/* Write what is left of it to `to`. -1 with *err set; also where it is more than 64 MiB and 200 times what is packed.
 */
int input_stream_unpack(struct input_stream *source, FILE *to, struct err *err);

/* 32 hexadecimal digits (XXH3 128) over all compressed bytes read so far. */
void input_stream_hash(struct input_stream *source, char hash[33]);
