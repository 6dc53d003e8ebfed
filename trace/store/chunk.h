/* chunk: up to 65,536 records of one stream as compressed columns: what one row of table `chunks` holds.
 *
 * Bytes, little-endian: "OCK1", records (4), XXH3-64 of everything from byte 16 on (8), number of columns (2), zero
 * (6), a description of 32 bytes for each column (trace/store/column.h), then the columns' data in the same order.
 * Columns are kind, flags, group, id, time, duration, addr, bytes, then the stream's extra columns.
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
 * A builder collects records and encodes them; a reader decodes them in batches. One thread per object. */
#ifndef TRACE_STORE_CHUNK_H
#define TRACE_STORE_CHUNK_H

#include <stdbool.h>

#include "trace/store/column.h"
#include "trace/store/store.h"

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

#endif
