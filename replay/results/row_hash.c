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

static struct row_hash seal_of(XXH128_hash_t h)
{
    return (struct row_hash){h.high64, h.low64};
}

struct row_hashing *row_hash_begin(struct err *err)
{
    struct row_hashing *sealing = (struct row_hashing *)XXH3_createState(); /* aligned as it must be */
    if (!sealing)
        err_set(err, "out of memory");
    else
        (void)XXH3_128bits_reset(&sealing->xxh);
    return sealing;
}

static void add(struct row_hashing *sealing, int type, const void *bytes, size_t n)
{
    const uint64_t head[2] = {(uint64_t)type, n};
    (void)XXH3_128bits_update(&sealing->xxh, head, sizeof head);
    (void)XXH3_128bits_update(&sealing->xxh, bytes, n);
}

void row_hash_values(struct row_hashing *sealing, sqlite3_stmt *stmt, int first, int end)
{
    for (int i = first; i < end; i++) {
        int type = sqlite3_column_type(stmt, i);
        if (type == SQLITE_INTEGER) {
            int64_t value = sqlite3_column_int64(stmt, i);
            add(sealing, type, &value, sizeof value);
        } else if (type == SQLITE_FLOAT) {
            double value = sqlite3_column_double(stmt, i);
            add(sealing, type, &value, sizeof value);
        } else { /* bytes first: asking for a text may change it */
            const void *bytes = sqlite3_column_blob(stmt, i);
            add(sealing, type, bytes ? bytes : "", (size_t)sqlite3_column_bytes(stmt, i));
        }
    }
}

struct row_hash row_hash_end(struct row_hashing *sealing)
{
    struct row_hash seal = seal_of(XXH3_128bits_digest(&sealing->xxh));
    (void)XXH3_freeState(&sealing->xxh);
    return seal;
}

struct row_hash row_hash_text(const char *text)
{
    return seal_of(XXH3_128bits(text, strlen(text)));
}

struct row_hash row_hash_run(const struct row_hash *content, const char *key, int64_t position)
{
    char text[160];
    int n = snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64 " %" PRId64 " %.100s", content->high, content->low,
                     position, key);
    return seal_of(XXH3_128bits(text, (size_t)n));
}

bool row_hash_equal(const struct row_hash *a, const struct row_hash *b)
{
    return a->high == b->high && a->low == b->low;
}

void row_hash_add(struct row_hash *sum, const struct row_hash *seal)
{
    sum->high += seal->high;
    sum->low += seal->low;
}

void row_hash_subtract(struct row_hash *sum, const struct row_hash *seal)
{
    sum->high -= seal->high;
    sum->low -= seal->low;
}

const char *row_hash_format(const struct row_hash *seal, char text[SEAL_TEXT])
{
    (void)snprintf(text, SEAL_TEXT, "%016" PRIx64 "%016" PRIx64, seal->high, seal->low);
    return text;
}

int row_hash_parse(const char *text, struct row_hash *seal)
{
    char again[SEAL_TEXT], high[SEAL_TEXT / 2 + 1] = "";
    if (!text || strlen(text) != SEAL_TEXT - 1)
        return -1;
    memcpy(high, text, SEAL_TEXT / 2);
    seal->high = strtoull(high, NULL, 16);
    seal->low = strtoull(text + SEAL_TEXT / 2, NULL, 16);
    return strcmp(row_hash_format(seal, again), text) == 0 ? 0 : -1;
}
