/* directory: which streams and chunks an open trace database has, read from its tables and checked; and the bytes of
 * one chunk. Used by the store and by the SQL view; names of a trace never reach SQL text. */
#pragma once

#include "trace/store/sqlite.h"
#include "trace/store/store.h"

enum { DIRECTORY_STREAMS_MAX = 4096 };

struct directory_chunk {
    int64_t chunk; /* key in table chunks */
    uint64_t first_record;
    uint32_t records;
    int64_t time_min, time_max;
    uint64_t kinds; /* bit k: a record of kind k is in it */
    uint64_t content_hash;
};

struct directory_stream {
    struct stream info; /* records, time_first and time_last filled in */
    int extras;         /* used extra columns */
    struct directory_chunk *chunks;
    size_t count, cap;
};

struct directory {
    struct directory_stream *streams;
    size_t count, cap;
    int64_t next_chunk; /* one above the largest key */
};

/* Read both tables; *directory starts zeroed. -1 with *err set if db lacks them or they contradict themselves; what was
 * read must be released all the same. */
int directory_read(struct directory *directory, sqlite3 *db, struct err *err);
void directory_release(struct directory *directory);

int directory_add_stream(struct directory *directory, const struct stream *stream, struct err *err);
int directory_add_chunk(struct directory *directory, size_t stream, const struct directory_chunk *chunk,
                        struct err *err);

/* The position of the stream called `name`, -1: none. */
int directory_find(const struct directory *directory, const char *name);

/* Bytes of a chunk, reused from one to the next; freed with free(data). */
struct directory_bytes {
    unsigned char *data;
    size_t bytes, cap;
};

/* Copy the bytes of chunk `chunk` to *bytes. *stmt starts as NULL, is prepared at first need and finalized by the
 * caller; no lock is held between calls. */
int directory_fetch(sqlite3 *db, sqlite3_stmt **stmt, int64_t chunk, struct directory_bytes *bytes, struct err *err);
