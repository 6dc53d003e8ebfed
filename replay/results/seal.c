#include "replay/results/results_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

struct sealing {
    XXH3_state_t xxh;
};

static struct seal seal_of(XXH128_hash_t h)
{
    return (struct seal){h.high64, h.low64};
}

struct sealing *seal_begin(struct err *err)
{
    struct sealing *sealing = (struct sealing *)XXH3_createState(); /* aligned as it must be */
    if (!sealing)
        err_set(err, "out of memory");
    else
        (void)XXH3_128bits_reset(&sealing->xxh);
    return sealing;
}

static void add(struct sealing *sealing, int type, const void *bytes, size_t n)
{
    const uint64_t head[2] = {(uint64_t)type, n};
    (void)XXH3_128bits_update(&sealing->xxh, head, sizeof head);
    (void)XXH3_128bits_update(&sealing->xxh, bytes, n);
}

void seal_values(struct sealing *sealing, sqlite3_stmt *stmt, int first, int end)
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

struct seal seal_end(struct sealing *sealing)
{
    struct seal seal = seal_of(XXH3_128bits_digest(&sealing->xxh));
    (void)XXH3_freeState(&sealing->xxh);
    return seal;
}

struct seal seal_text(const char *text)
{
    return seal_of(XXH3_128bits(text, strlen(text)));
}

struct seal seal_run(const struct seal *content, const char *key, int64_t position)
{
    char text[160];
    int n = snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64 " %" PRId64 " %.100s", content->high, content->low,
                     position, key);
    return seal_of(XXH3_128bits(text, (size_t)n));
}

bool seal_equal(const struct seal *a, const struct seal *b)
{
    return a->high == b->high && a->low == b->low;
}

void seal_add(struct seal *sum, const struct seal *seal)
{
    sum->high += seal->high;
    sum->low += seal->low;
}

void seal_subtract(struct seal *sum, const struct seal *seal)
{
    sum->high -= seal->high;
    sum->low -= seal->low;
}

const char *seal_format(const struct seal *seal, char text[SEAL_TEXT])
{
    (void)snprintf(text, SEAL_TEXT, "%016" PRIx64 "%016" PRIx64, seal->high, seal->low);
    return text;
}

int seal_parse(const char *text, struct seal *seal)
{
    char again[SEAL_TEXT], high[SEAL_TEXT / 2 + 1] = "";
    if (!text || strlen(text) != SEAL_TEXT - 1)
        return -1;
    memcpy(high, text, SEAL_TEXT / 2);
    seal->high = strtoull(high, NULL, 16);
    seal->low = strtoull(text + SEAL_TEXT / 2, NULL, 16);
    return strcmp(seal_format(seal, again), text) == 0 ? 0 : -1;
}
