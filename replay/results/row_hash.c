#include "replay/results/row_hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

struct row_hashing {
    XXH3_state_t xxh;
};

static struct row_hash hash_of(XXH128_hash_t h)
{
    return (struct row_hash){h.high64, h.low64};
}

struct row_hashing *row_hash_begin(struct err *err)
{
    struct row_hashing *hashing = (struct row_hashing *)XXH3_createState(); /* aligned as it must be */
    if (!hashing)
        err_set(err, "out of memory");
    else
        (void)XXH3_128bits_reset(&hashing->xxh);
    return hashing;
}

static void add(struct row_hashing *hashing, int type, const void *bytes, size_t n)
{
    const uint64_t head[2] = {(uint64_t)type, n};
    (void)XXH3_128bits_update(&hashing->xxh, head, sizeof head);
    (void)XXH3_128bits_update(&hashing->xxh, bytes, n);
}

void row_hash_values(struct row_hashing *hashing, sqlite3_stmt *stmt, int first, int end)
{
    for (int i = first; i < end; i++) {
        int type = sqlite3_column_type(stmt, i);
        if (type == SQLITE_INTEGER) {
            int64_t value = sqlite3_column_int64(stmt, i);
            add(hashing, type, &value, sizeof value);
        } else if (type == SQLITE_FLOAT) {
            double value = sqlite3_column_double(stmt, i);
            add(hashing, type, &value, sizeof value);
        } else { /* bytes first: asking for a text may change it */
            const void *bytes = sqlite3_column_blob(stmt, i);
            add(hashing, type, bytes ? bytes : "", (size_t)sqlite3_column_bytes(stmt, i));
        }
    }
}

struct row_hash row_hash_end(struct row_hashing *hashing)
{
    struct row_hash hash = hash_of(XXH3_128bits_digest(&hashing->xxh));
    (void)XXH3_freeState(&hashing->xxh);
    return hash;
}

struct row_hash row_hash_text(const char *text)
{
    return hash_of(XXH3_128bits(text, strlen(text)));
}

struct row_hash row_hash_run(const struct row_hash *content, const char *key, int64_t position)
{
    char text[160];
    int n = snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64 " %" PRId64 " %.100s", content->high, content->low,
                     position, key);
    return hash_of(XXH3_128bits(text, (size_t)n));
}

bool row_hash_equal(const struct row_hash *a, const struct row_hash *b)
{
    return a->high == b->high && a->low == b->low;
}

void row_hash_add(struct row_hash *sum, const struct row_hash *hash)
{
    sum->high += hash->high;
    sum->low += hash->low;
}

void row_hash_subtract(struct row_hash *sum, const struct row_hash *hash)
{
    sum->high -= hash->high;
    sum->low -= hash->low;
}

const char *row_hash_format(const struct row_hash *hash, char text[ROW_HASH_TEXT])
{
    (void)snprintf(text, ROW_HASH_TEXT, "%016" PRIx64 "%016" PRIx64, hash->high, hash->low);
    return text;
}

int row_hash_parse(const char *text, struct row_hash *hash)
{
    char again[ROW_HASH_TEXT], high[ROW_HASH_TEXT / 2 + 1] = "";
    if (!text || strlen(text) != ROW_HASH_TEXT - 1)
        return -1;
    memcpy(high, text, ROW_HASH_TEXT / 2);
    hash->high = strtoull(high, NULL, 16);
    hash->low = strtoull(text + ROW_HASH_TEXT / 2, NULL, 16);
    return strcmp(row_hash_format(hash, again), text) == 0 ? 0 : -1;
}
