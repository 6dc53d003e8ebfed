/* chunk: up to 65,536 records of one stream as compressed columns: what one row of table `chunks` holds.
 *
 * docs/trace-format.md has its bytes; here are those of a column, and an example.
 *
 * Worked example. Three TOUCH records at times 100, 110, 120 of the pages 0x10000, 0x13000, 0x11000, bytes 4096, flags
 * 1 (offset, bytes, in hexadecimal):
 *     00  4f 43 4b 31  03 00 00 00  a8 97 85 17 ea c1 9d 37   "OCK1", 3 records, checksum
 *     10  08 00 00 00 00 00 00 00                             8 columns
 *     18  00 .. 11 00 00 00 00 00 00 00 ..                    kind: constant 17 (0x11), TOUCH
 *     38  00 .. 01 ..                                         flags: constant 1
 *     58  00 ..   78  00 ..                                   group, id: constant 0
 *     98  01 .. 64 00 .. 0a 00 ..                             time: progression from 100 by 10
 *     b8  00 ..                                               duration: constant 0
 *     d8  02 00 00 01 0c 00 00 00  03 00 00 00 00 00 00 00    addr: packed, raw, plain, 1 byte, shift 12; 3 bytes
 *     e8  00 00 01 00 00 00 00 00  00 00 00 00 00 00 00 00      first 0x10000, step 0
 *     f8  00 .. 00 10 00 ..                                   bytes: constant 4096
 *     118 00 03 01                                            addr: 0x10000 + (0, 3, 1) << 12
 *
 * The content hash is of the decoded records, whatever the encoding: XXH3 64 of the record count (8 bytes), then of
 * each column in turn with the hash so far as the seed: of its one value if all are equal, else of all values (8 bytes
 * each).
 *
 * A builder collects records and encodes them; a reader decodes them in batches. One thread per object. Nothing here
 * trusts the bytes it decodes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"
#include "trace/store/store.h"

/* --- one column of a chunk: up to 65,536 numbers, predicted, narrowed and compressed; and back ---
 *
 * A constant is stored as its value, a progression (value 0 plus a step) as two numbers, neither with data. Anything
 * else is packed: a predictor turns values into residuals, low zero bits and a bias are taken off, the rest is stored
 * in 1, 2, 4 or 8 bytes a value and compressed by blosc (lz4, or zstd) after a bit or byte shuffle. Arithmetic is
 * modulo 2^64.
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
 *              `first`; the key column stands before this one and is no constant */

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
    COLUMN_BITSHUFFLE, /* a blosc 1 buffer: bit shuffle, lz4 or zstd */
    COLUMN_SHUFFLE,    /* a blosc 1 buffer: byte shuffle, lz4 or zstd */
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

struct column_reader {
    struct column_head head;
    const unsigned char *packed; /* the narrowed values: in the chunk's bytes, or in `own` */
    unsigned char *own;          /* COLUMN_DATA_MAX bytes, allocated at first need */
    uint64_t *slots;             /* COLUMN_KEY_SLOTS values, allocated at first need */
    size_t at, count;
    uint64_t last;
};

enum {
    CHUNK_RECORDS = COLUMN_VALUES_MAX,
    CHUNK_FIXED = 8, /* columns every stream has */
    CHUNK_COLUMNS = CHUNK_FIXED + STORE_EXTRAS,
    CHUNK_HEAD_BYTES = 24,
    CHUNK_BYTES_MAX = CHUNK_HEAD_BYTES + CHUNK_COLUMNS * (COLUMN_HEAD_BYTES + COLUMN_DATA_MAX),
};

/* Positions of the fixed columns. A keyed column's key stands before it. */
enum chunk_column {
    CHUNK_KIND,
    CHUNK_FLAGS,
    CHUNK_GROUP,
    CHUNK_ID,
    CHUNK_TIME,
    CHUNK_DURATION,
    CHUNK_ADDR,
    CHUNK_BYTES
};

/* --- writing --- */

struct chunk_builder {
    int columns;
    bool dense;     /* half the bytes for a seventh more work: the caller's to set */
    size_t records; /* collected */
    struct chunk_builder_column {
        bool varies; /* else every value so far is `first` */
        uint64_t first;
        uint64_t *values; /* CHUNK_RECORDS, allocated when a column first varies */
        bool planned;
        struct column_plan plan;
        unsigned age, period;     /* chunks since the plan was chosen; chunks until it is chosen again */
        uint64_t plan_microbytes; /* bytes a record when the plan was new, times 2^20 */
    } column[CHUNK_COLUMNS];
    uint64_t kinds; /* bit k: a record of kind k */
    int64_t time_min, time_max;
    uint64_t content_hash; /* set by chunk_builder_encode() */
    struct column_scratch *scratch;
    unsigned char *out;
};

/* extras: how many extra columns, 0 to STORE_EXTRAS. */
int chunk_builder_init(struct chunk_builder *builder, int extras, struct err *err);
void chunk_builder_release(struct chunk_builder *builder);

/* Take at most n records, as many as there is room for; *taken says how many. extra (NULL: zeros) points at the first
 * record's value of the first extra column, the next column's is `pitch` values on. Fails for a record of a kind that
 * is never stored, or of a time or duration beyond RECORD_TIME_MAX. */
int chunk_builder_add(struct chunk_builder *builder, const struct record *records, const int64_t *extra, size_t pitch,
                      size_t n, size_t *taken, struct err *err);

/* Encode what was collected (at least one record). *data is valid until the next call. */
void chunk_builder_encode(struct chunk_builder *builder, const unsigned char **data, size_t *bytes);

/* Forget the records, keep the plans. */
void chunk_builder_reset(struct chunk_builder *builder);

/* --- reading --- */

struct chunk_reader {
    int columns;
    size_t left;
    struct column_reader column[CHUNK_COLUMNS];
    bool is_key[CHUNK_COLUMNS];
    struct {
        bool known;
        uint64_t value;
    } filled[CHUNK_FIXED];         /* fields of `records` that hold a constant all through */
    struct record *records;        /* STORE_BATCH */
    int64_t *extra;                /* STORE_EXTRAS * STORE_BATCH */
    uint64_t *tile[CHUNK_COLUMNS]; /* STORE_BATCH values of each key column */
    uint64_t *shared;              /* the same for the others, one after the other */
};

/* extras: how many extra columns chunks must have. */
int chunk_reader_init(struct chunk_reader *reader, int extras, struct err *err);
void chunk_reader_release(struct chunk_reader *reader);

/* Start on a chunk that must hold `records` records. data stays valid while reading. -1 with *err set if it is
 * damaged; the reader may then be used for another chunk. */
int chunk_reader_start(struct chunk_reader *reader, const unsigned char *data, size_t bytes, uint64_t records,
                       struct err *err);

/* The next at most STORE_BATCH records, valid until the next call on the reader. Returns 1, 0 at the chunk's end, -1
 * with *err set. */
int chunk_reader_next(struct chunk_reader *reader, const struct record **records, const int64_t **extra, size_t *n,
                      struct err *err);
