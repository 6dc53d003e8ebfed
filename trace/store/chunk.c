#include "trace/store/chunk.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "trace/base/mem.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "chunks are little-endian, and so must the machine be");
_Static_assert(RECORD_KINDS <= 63, "a chunk's kinds are the bits of a signed 64-bit number");

static const char magic[4] = {'O', 'C', 'K', '1'};

/* Records looked at together when their fields are spread to columns: 14 KiB, which stays in the first-level cache. */
enum { TILE = 256 };

/* Chunks after which a column's plan is chosen again, at most; and sooner if it got this much worse (in 1/8). */
enum { PLAN_PERIOD = 64, PLAN_WORSE = 10 };

/* --- writing --- */

int chunk_builder_init(struct chunk_builder *builder, int extras, struct err *err)
{
    *builder = (struct chunk_builder){.columns = CHUNK_FIXED + extras};
    builder->scratch = mem_zalloc(1, sizeof *builder->scratch, err);
    builder->out = builder->scratch ? mem_zalloc(CHUNK_BYTES_MAX, 1, err) : NULL;
    if (builder->out)
        return 0;
    chunk_builder_release(builder);
    return -1;
}

void chunk_builder_release(struct chunk_builder *builder)
{
    for (int c = 0; c < CHUNK_COLUMNS; c++)
        free(builder->column[c].values);
    free(builder->scratch);
    free(builder->out);
    *builder = (struct chunk_builder){0};
}

/* Copy n fields of `size` bytes, `stride` bytes apart, to the column; constant columns are only looked at. */
static inline __attribute__((always_inline)) int spread(struct chunk_builder *builder, int c, const void *from,
                                                        size_t stride, size_t size, size_t n, struct err *err)
{
    struct chunk_builder_column *column = &builder->column[c];
    const unsigned char *p = from;
    size_t at = builder->records;
    uint64_t different = 0;
#define FIELD(i) (size == 4 ? *(const uint32_t *)(p + (i)*stride) : *(const uint64_t *)(p + (i)*stride))
    if (at == 0) {
        column->first = FIELD(0);
        column->varies = false;
    }
    if (!column->varies) {
        for (size_t i = 0; i < n; i++)
            different |= FIELD(i) ^ column->first;
        if (!different)
            return 0;
        if (!column->values)
            column->values = malloc(CHUNK_RECORDS * sizeof *column->values);
        if (!column->values)
            return err_set(err, "out of memory: %zu bytes for a column", CHUNK_RECORDS * sizeof *column->values);
        for (size_t i = 0; i < at; i++)
            column->values[i] = column->first;
        column->varies = true;
    }
    uint64_t *to = column->values + at;
    for (size_t i = 0; i < n; i++)
        to[i] = FIELD(i);
#undef FIELD
    return 0;
}

/* Not 0 if a column's value is beyond RECORD_TIME_MAX, where times and durations end. */
static uint64_t beyond(int c, uint64_t value)
{
    const uint64_t most = RECORD_TIME_MAX;
    return c == CHUNK_TIME ? value + most > 2 * most : value > most;
}

static int spread_tile(struct chunk_builder *builder, const struct record *r, const int64_t *extra, size_t pitch,
                       size_t n, struct err *err)
{
    static const int64_t zeros[TILE];
    int rc = 0;
    rc |= spread(builder, CHUNK_KIND, &r->kind, sizeof *r, 4, n, err);
    rc |= spread(builder, CHUNK_FLAGS, &r->flags, sizeof *r, 4, n, err);
    rc |= spread(builder, CHUNK_GROUP, &r->group, sizeof *r, 4, n, err);
    rc |= spread(builder, CHUNK_ID, &r->id, sizeof *r, 8, n, err);
    rc |= spread(builder, CHUNK_TIME, &r->time, sizeof *r, 8, n, err);
    rc |= spread(builder, CHUNK_DURATION, &r->duration, sizeof *r, 8, n, err);
    rc |= spread(builder, CHUNK_ADDR, &r->addr, sizeof *r, 8, n, err);
    rc |= spread(builder, CHUNK_BYTES, &r->bytes, sizeof *r, 8, n, err);
    for (int c = CHUNK_FIXED; c < builder->columns; c++)
        rc |= spread(builder, c, extra ? extra + (size_t)(c - CHUNK_FIXED) * pitch : zeros, sizeof *extra, 8, n, err);
    return rc;
}

int chunk_builder_add(struct chunk_builder *builder, const struct record *records, const int64_t *extra, size_t pitch,
                      size_t n, size_t *taken, struct err *err)
{
    size_t room = CHUNK_RECORDS - builder->records;
    n = n < room ? n : room;
    *taken = 0;
    if (builder->records == 0 && n) {
        builder->kinds = 0;
        builder->time_min = builder->time_max = records[0].time;
    }
    for (size_t from = 0; from < n; from += TILE) {
        size_t count = n - from < TILE ? n - from : TILE;
        const struct record *r = records + from;
        uint64_t kinds = 0, far = 0;
        int64_t lo = builder->time_min, hi = builder->time_max;
        for (size_t i = 0; i < count; i++) {
            kinds |= UINT64_C(1) << (r[i].kind < RECORD_SKIPPED ? r[i].kind : 0);
            lo = r[i].time < lo ? r[i].time : lo;
            hi = r[i].time > hi ? r[i].time : hi;
            far |= beyond(CHUNK_TIME, (uint64_t)r[i].time) | beyond(CHUNK_DURATION, (uint64_t)r[i].duration);
        }
        if (kinds & 1)
            return err_set(err, "a record of a kind that is never stored");
        if (far)
            return err_set(err, "a time or duration beyond 2^62");
        if (spread_tile(builder, r, extra ? extra + from : NULL, pitch, count, err))
            return -1;
        builder->kinds |= kinds;
        builder->time_min = lo;
        builder->time_max = hi;
        builder->records += count;
        *taken += count;
    }
    return 0;
}

static void plan(struct chunk_builder *builder, int c)
{
    const uint64_t *keys[CHUNK_COLUMNS] = {NULL};
    static const int possible[] = {CHUNK_KIND, CHUNK_FLAGS, CHUNK_GROUP, CHUNK_ID};
    for (size_t i = 0; i < sizeof possible / sizeof *possible; i++)
        if (possible[i] < c && builder->column[possible[i]].varies)
            keys[possible[i]] = builder->column[possible[i]].values;
    struct chunk_builder_column *column = &builder->column[c];
    column_choose(column->values, builder->records, keys, CHUNK_FIXED, builder->scratch, &column->plan);
    column->period = !column->planned ? 1 : column->period < PLAN_PERIOD ? column->period * 2 : PLAN_PERIOD;
    column->planned = true;
    column->age = 0;
    column->plan_microbytes = 0;
}

/* Encode column c to `out`; returns the bytes of its data. */
static size_t encode(struct chunk_builder *builder, int c, struct column_head *head, unsigned char *out)
{
    struct chunk_builder_column *column = &builder->column[c];
    if (!column->varies) {
        *head = (struct column_head){.form = COLUMN_CONSTANT, .first = column->first};
        return 0;
    }
    int key = column->plan.key;
    bool lost_key = column->planned && key >= 0 && !builder->column[key].varies;
    if (!column->planned || lost_key || column->age >= column->period)
        plan(builder, c);
    key = column->plan.key;
    column_encode(column->values, builder->records, key < 0 ? NULL : builder->column[key].values, &column->plan,
                  builder->scratch, head, out);
    column->age++;
    uint64_t microbytes = ((uint64_t)head->bytes << 20) / builder->records;
    if (!column->plan_microbytes)
        column->plan_microbytes = microbytes;
    else if (microbytes > column->plan_microbytes / 8 * PLAN_WORSE)
        column->age = column->period = 1; /* something changed: choose again for the next chunk */
    return head->bytes;
}

void chunk_builder_encode(struct chunk_builder *builder, const unsigned char **data, size_t *bytes)
{
    unsigned char *heads = builder->out + CHUNK_HEAD_BYTES;
    unsigned char *at = heads + (size_t)builder->columns * COLUMN_HEAD_BYTES;
    uint64_t content = XXH3_64bits(&builder->records, sizeof builder->records);
    for (int c = 0; c < builder->columns; c++) {
        const struct chunk_builder_column *column = &builder->column[c];
        struct column_head head;
        at += encode(builder, c, &head, at);
        column_head_write(&head, heads + (size_t)c * COLUMN_HEAD_BYTES);
        content = column->varies
                      ? XXH3_64bits_withSeed(column->values, builder->records * sizeof *column->values, content)
                      : XXH3_64bits_withSeed(&column->first, sizeof column->first, content);
    }
    builder->content_hash = content;
    uint32_t records = (uint32_t)builder->records;
    uint16_t columns = (uint16_t)builder->columns;
    *bytes = (size_t)(at - builder->out);
    *data = builder->out;
    memset(builder->out, 0, CHUNK_HEAD_BYTES);
    memcpy(builder->out, magic, sizeof magic);
    memcpy(builder->out + 4, &records, 4);
    memcpy(builder->out + 16, &columns, 2);
    uint64_t sum = XXH3_64bits(builder->out + 16, *bytes - 16);
    memcpy(builder->out + 8, &sum, 8);
}

void chunk_builder_reset(struct chunk_builder *builder)
{
    builder->records = 0;
}

/* --- reading --- */

int chunk_reader_init(struct chunk_reader *reader, int extras, struct err *err)
{
    *reader = (struct chunk_reader){.columns = CHUNK_FIXED + extras};
    reader->records = mem_zalloc(STORE_BATCH, sizeof *reader->records, err);
    reader->shared = mem_zalloc(STORE_BATCH, sizeof *reader->shared, err);
    reader->extra = mem_zalloc((size_t)STORE_BATCH * STORE_EXTRAS, sizeof *reader->extra, err);
    if (reader->records && reader->shared && reader->extra)
        return 0;
    chunk_reader_release(reader);
    return -1;
}

void chunk_reader_release(struct chunk_reader *reader)
{
    for (int c = 0; c < CHUNK_COLUMNS; c++) {
        column_reader_release(&reader->column[c]);
        free(reader->tile[c]);
    }
    free(reader->records);
    free(reader->shared);
    free(reader->extra);
    *reader = (struct chunk_reader){0};
}

static const char *column_name(int c)
{
    static const char *const names[CHUNK_COLUMNS] = {"kind", "flags", "group",   "id",      "time",    "duration",
                                                     "addr", "bytes", "extra 1", "extra 2", "extra 3", "extra 4"};
    return names[c];
}

/* A keyed column's key must stand before it and vary. */
static int note_key(struct chunk_reader *reader, int c, const struct column_head *heads, struct err *err)
{
    if (heads[c].form != COLUMN_PACKED || heads[c].predictor != COLUMN_KEYED)
        return 0;
    int key = heads[c].key;
    if (key >= c || heads[key].form == COLUMN_CONSTANT)
        return err_set(err, "its key is column %d, which is not a varying column before it", key);
    reader->is_key[key] = true;
    if (!reader->tile[key])
        reader->tile[key] = mem_zalloc(STORE_BATCH, sizeof *reader->tile[key], err);
    return reader->tile[key] ? 0 : -1;
}

static int start_columns(struct chunk_reader *reader, const unsigned char *data, size_t bytes, size_t records,
                         struct err *err)
{
    struct column_head heads[CHUNK_COLUMNS];
    size_t at = CHUNK_HEAD_BYTES + (size_t)reader->columns * COLUMN_HEAD_BYTES;
    memset(reader->is_key, 0, sizeof reader->is_key);
    for (int c = 0; c < reader->columns; c++) {
        const char *name = column_name(c);
        if (column_head_read(&heads[c], data + CHUNK_HEAD_BYTES + (size_t)c * COLUMN_HEAD_BYTES, err) ||
            note_key(reader, c, heads, err))
            return err_at(err, "column %s", name);
        if (heads[c].bytes > bytes - at)
            return err_set(err, "column %s claims %u bytes; %zu are left", name, (unsigned)heads[c].bytes, bytes - at);
        if (column_reader_start(&reader->column[c], &heads[c], data + at, records, err))
            return err_at(err, "column %s", name);
        at += heads[c].bytes;
    }
    return at == bytes ? 0 : err_set(err, "%zu bytes follow the last column", bytes - at);
}

int chunk_reader_start(struct chunk_reader *reader, const unsigned char *data, size_t bytes, uint64_t records,
                       struct err *err)
{
    reader->left = 0;
    if (bytes < CHUNK_HEAD_BYTES + (size_t)reader->columns * COLUMN_HEAD_BYTES || memcmp(data, magic, sizeof magic))
        return err_set(err, "not a chunk of columns");
    uint32_t count;
    uint16_t columns;
    uint64_t sum;
    memcpy(&count, data + 4, 4);
    memcpy(&sum, data + 8, 8);
    memcpy(&columns, data + 16, 2);
    if (sum != XXH3_64bits(data + 16, bytes - 16))
        return err_set(err, "its bytes are damaged: the checksum does not match");
    if (count == 0 || count > CHUNK_RECORDS || count != records)
        return err_set(err, "it claims %u records; expected %llu, at most %d", (unsigned)count,
                       (unsigned long long)records, CHUNK_RECORDS);
    if (columns != reader->columns)
        return err_set(err, "it has %u columns; expected %d", columns, reader->columns);
    if (start_columns(reader, data, bytes, count, err))
        return -1;
    reader->left = count;
    return 0;
}

/* One fixed column's n values into the field of every record; a constant that stands there already is left alone. */
static int gather(struct chunk_reader *reader, int c, size_t n, struct err *err)
{
    struct column_reader *column = &reader->column[c];
    struct record *r = reader->records;
    bool constant = column->head.form == COLUMN_CONSTANT;
    uint64_t first = column->head.first, any = 0;
    if (constant && reader->filled[c].known && reader->filled[c].value == first)
        return 0;
    uint64_t *v = reader->is_key[c] ? reader->tile[c] : reader->shared;
    size_t count = constant ? STORE_BATCH : n;
    if (constant)
        for (size_t i = 0; i < count; i++)
            v[i] = first;
    else
        column_read(column, n, reader->is_key[column->head.key] ? reader->tile[column->head.key] : NULL, v);
    reader->filled[c].known = false;
#define PUT(field)                                                                                                     \
    for (size_t i = 0; i < count; i++)                                                                                 \
    r[i].field = (__typeof__(r[i].field))v[i]
    if (c <= CHUNK_GROUP)
        for (size_t i = 0; i < count; i++)
            any = c == CHUNK_KIND ? (v[i] > any ? v[i] : any) : any | v[i];
    if (any > UINT32_MAX || (c == CHUNK_KIND && any >= RECORD_SKIPPED))
        return err_set(err, "column %s: value %llu is out of range", column_name(c), (unsigned long long)any);
    uint64_t far = 0;
    if (c == CHUNK_TIME || c == CHUNK_DURATION)
        for (size_t i = 0; i < count; i++)
            far |= beyond(c, v[i]);
    if (far)
        return err_set(err, "column %s: a value beyond 2^62", column_name(c));
    switch (c) {
    case CHUNK_KIND:
        PUT(kind);
        break;
    case CHUNK_FLAGS:
        PUT(flags);
        break;
    case CHUNK_GROUP:
        PUT(group);
        break;
    case CHUNK_ID:
        PUT(id);
        break;
    case CHUNK_TIME:
        PUT(time);
        break;
    case CHUNK_DURATION:
        PUT(duration);
        break;
    case CHUNK_ADDR:
        PUT(addr);
        break;
    default:
        PUT(bytes);
        break;
    }
#undef PUT
    if (constant) {
        reader->filled[c].known = true;
        reader->filled[c].value = first;
    }
    return 0;
}

int chunk_reader_next(struct chunk_reader *reader, const struct record **records, const int64_t **extra, size_t *n,
                      struct err *err)
{
    size_t count = reader->left < STORE_BATCH ? reader->left : STORE_BATCH;
    if (count == 0)
        return 0;
    for (int c = 0; c < CHUNK_FIXED; c++)
        if (gather(reader, c, count, err)) {
            reader->left = 0;
            return -1;
        }
    for (int c = CHUNK_FIXED; c < reader->columns; c++) {
        struct column_reader *column = &reader->column[c];
        uint64_t *out = (uint64_t *)reader->extra + (size_t)(c - CHUNK_FIXED) * count;
        column_read(column, count, reader->is_key[column->head.key] ? reader->tile[column->head.key] : NULL, out);
    }
    reader->left -= count;
    *records = reader->records;
    *n = count;
    if (extra)
        *extra = reader->columns > CHUNK_FIXED ? reader->extra : NULL;
    return 1;
}
