/* column: up to 65,536 numbers of one column of a chunk, predicted, narrowed and compressed; and back.
 *
 * A column is one of three forms. A constant is stored as its value, a progression (value 0 plus a step) as two
 * numbers, neither with data. Anything else is packed: a predictor turns values into residuals, low zero bits and a
 * bias are taken off, the rest is stored in 1, 2, 4 or 8 bytes a value and compressed by blosc (lz4) after a bit or
 * byte shuffle. All arithmetic is modulo 2^64, so every value round-trips.
 *
 * A description, 32 bytes, little-endian: at byte 0 form, 1 predictor, 2 codec, 3 width of a stored value (1, 2, 4 or
 * 8), 4 shift, 5 key (position of the key column), 6 zero (2), 8 bytes of data (4), 12 zero (4), 16 first (8), 24 step
 * (8); numbers are those of the enums below and struct column_head. A constant is `first` throughout, a progression
 * first + i step. Of a packed column, s being the stored value and v starting as `first`, the value is
 *     raw      first + step + (s << shift)
 *     delta    v += step + (s << shift)
 *     zigzag   v += unzigzag(s) << shift, unzigzag(s) = (s >> 1) ^ -(s & 1)
 *     xor      v ^= s << shift
 *     keyed    slot[k] += unzigzag(s) << shift, k the top 10 bits of key x 0x9E3779B97F4A7C15, every slot at first
 *              `first`; the key column stands before this one and is no constant
 *
 * One thread per object. Nothing here trusts the bytes it decodes. */
#ifndef TRACE_STORE_COLUMN_H
#define TRACE_STORE_COLUMN_H

#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"

enum {
    COLUMN_VALUES_MAX = 65536,
    COLUMN_HEAD_BYTES = 32,
    COLUMN_KEY_SLOTS = 1024,
    /* Room that column_encode() needs at most for n values: plain 8-byte values. */
    COLUMN_DATA_MAX = COLUMN_VALUES_MAX * 8,
};

enum column_form { COLUMN_CONSTANT, COLUMN_PROGRESSION, COLUMN_PACKED, COLUMN_FORMS };

/* How a value is predicted; the residual is what is stored. Numbers are stored in files: append only. */
enum column_predictor {
    COLUMN_RAW,    /* by the first value of the column */
    COLUMN_DELTA,  /* by the value before it */
    COLUMN_ZIGZAG, /* as COLUMN_DELTA, with the sign of the residual in its lowest bit */
    COLUMN_XOR,    /* by the value before it, residual by exclusive or */
    COLUMN_KEYED,  /* as COLUMN_ZIGZAG, by the last value with the same key (hashed to 1,024 slots) */
    COLUMN_PREDICTORS
};

/* How packed values are stored. Numbers are stored in files: append only. */
enum column_codec {
    COLUMN_PLAIN,      /* little-endian, not compressed */
    COLUMN_BITSHUFFLE, /* a blosc 1 buffer: bit shuffle, lz4 */
    COLUMN_SHUFFLE,    /* a blosc 1 buffer: byte shuffle, lz4 */
    COLUMN_CODECS
};

/* The choices of an encoder that cost time to make; good for many chunks of one stream. */
struct column_plan {
    enum column_predictor predictor;
    enum column_codec codec;
    int key; /* position of the key column, -1: none */
};

/* One column's description in a chunk. */
struct column_head {
    uint8_t form, predictor, codec;
    uint8_t width;  /* bytes of a stored value: 1, 2, 4, 8; 0 unless packed */
    uint8_t shift;  /* low zero bits taken off a residual, 0 to 63 */
    uint8_t key;    /* position of the key column where the predictor is keyed, else 0 */
    uint32_t bytes; /* of data */
    uint64_t first; /* the constant; value 0; what predicts the first values */
    uint64_t step;  /* of a progression; the bias added to residuals of RAW and DELTA */
};

/* Working memory of an encoder; about 1 MiB. */
struct column_scratch {
    uint64_t residuals[COLUMN_VALUES_MAX];
    uint64_t packed[COLUMN_VALUES_MAX];
};

/* Choose a plan for values like these n (1 to COLUMN_VALUES_MAX), by trial on a sample. keys[i], for i < key_count, is
 * the column at that position or NULL if it cannot be a key. */
void column_choose(const uint64_t *values, size_t n, const uint64_t *const *keys, int key_count,
                   struct column_scratch *scratch, struct column_plan *plan);

/* Encode n values (1 to COLUMN_VALUES_MAX) to out, which has room for COLUMN_DATA_MAX bytes. key has n values, NULL
 * unless plan->predictor is COLUMN_KEYED. */
void column_encode(const uint64_t *values, size_t n, const uint64_t *key, const struct column_plan *plan,
                   struct column_scratch *scratch, struct column_head *head, unsigned char *out);

void column_head_write(const struct column_head *head, unsigned char out[COLUMN_HEAD_BYTES]);
/* -1 with *err set if the description makes no sense. */
int column_head_read(struct column_head *head, const unsigned char in[COLUMN_HEAD_BYTES], struct err *err);

/* Reads values of a column from its start. */
struct column_reader {
    struct column_head head;
    const unsigned char *packed; /* the narrowed values: in the chunk's bytes, or in `own` */
    unsigned char *own;          /* COLUMN_DATA_MAX bytes, allocated at first need */
    uint64_t *slots;             /* COLUMN_KEY_SLOTS values, allocated at first need */
    size_t at, count;
    uint64_t last;
};

/* Start on the n values of a column: data has head->bytes bytes and stays valid while reading. The reader starts
 * zeroed and may be reused for other columns. -1 with *err set if data is corrupt. */
int column_reader_start(struct column_reader *reader, const struct column_head *head, const unsigned char *data,
                        size_t n, struct err *err);
/* The next n values (no more than are left); key has n values where the predictor is keyed. */
void column_read(struct column_reader *reader, size_t n, const uint64_t *key, uint64_t *out);
void column_reader_release(struct column_reader *reader);

#endif
