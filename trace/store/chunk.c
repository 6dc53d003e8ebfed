#include "trace/store/chunk.h"

#include <blosc.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "trace/base/mem.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "chunks are little-endian, and so must the machine be");
_Static_assert(RECORD_KINDS <= 63, "a chunk's kinds are the bits of a signed 64-bit number");

/* --- columns --- */

/* Working memory of an encoder; about 1 MiB. */
struct column_scratch {
    uint64_t residuals[COLUMN_VALUES_MAX];
    uint64_t packed[COLUMN_VALUES_MAX];
    bool dense; /* as the builder's */
};

/* Values that a trial of predictors looks at. */
enum { SAMPLE = 4096 };

/* A key's slot: Fibonacci hashing, 2^64 / golden ratio (Knuth, The Art of Computer Programming 3, section 6.4). */
static inline unsigned slot_of(uint64_t key)
{
    return (unsigned)((key * 0x9E3779B97F4A7C15u) >> 54);
}

static inline uint64_t zigzag(uint64_t v)
{
    return (v << 1) ^ (0 - (v >> 63));
}

static inline uint64_t unzigzag(uint64_t v)
{
    return (v >> 1) ^ (0 - (v & 1));
}

static void predict(const uint64_t *v, size_t n, const uint64_t *key, enum column_predictor predictor, uint64_t *r)
{
    if (predictor == COLUMN_RAW) {
        for (size_t i = 0; i < n; i++)
            r[i] = v[i] - v[0];
        return;
    }
    if (predictor == COLUMN_KEYED) {
        uint64_t slots[COLUMN_KEY_SLOTS];
        for (size_t i = 0; i < COLUMN_KEY_SLOTS; i++)
            slots[i] = v[0];
        for (size_t i = 0; i < n; i++) {
            uint64_t *slot = &slots[slot_of(key[i])];
            r[i] = v[i] - *slot;
            *slot = v[i];
        }
        return;
    }
    r[0] = 0;
    if (predictor == COLUMN_XOR)
        for (size_t i = 1; i < n; i++)
            r[i] = v[i] ^ v[i - 1];
    else
        for (size_t i = 1; i < n; i++)
            r[i] = v[i] - v[i - 1];
}

static uint8_t width_of(uint64_t largest)
{
    return largest < (1u << 8) ? 1 : largest < (1u << 16) ? 2 : largest < (UINT64_C(1) << 32) ? 4 : 8;
}

/* Take off low zero bits and the bias (or fold the sign in); returns what the largest stored value needs. */
static void narrow(uint64_t *r, size_t n, struct column_head *head)
{
    uint64_t any = 0;
    int64_t lo = INT64_MAX, hi = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        int64_t v = (int64_t)r[i];
        any |= r[i];
        lo = v < lo ? v : lo;
        hi = v > hi ? v : hi;
    }
    unsigned shift = any ? (unsigned)__builtin_ctzll(any) : 0;
    uint64_t largest;
    head->step = 0;
    if (head->predictor == COLUMN_XOR) {
        largest = any >> shift;
        for (size_t i = 0; i < n; i++)
            r[i] >>= shift;
    } else if (head->predictor == COLUMN_RAW || head->predictor == COLUMN_DELTA) {
        largest = ((uint64_t)hi - (uint64_t)lo) >> shift;
        head->step = (uint64_t)lo;
        for (size_t i = 0; i < n; i++)
            r[i] = (r[i] - (uint64_t)lo) >> shift;
    } else {
        uint64_t a = zigzag((uint64_t)(lo >> shift)), b = zigzag((uint64_t)(hi >> shift));
        largest = a > b ? a : b;
        for (size_t i = 0; i < n; i++)
            r[i] = zigzag((uint64_t)((int64_t)r[i] >> shift));
    }
    head->shift = (uint8_t)shift;
    head->width = width_of(largest);
}

static void pack(const uint64_t *r, size_t n, unsigned width, void *out)
{
    uint8_t *b = out;
    uint16_t *h = out;
    uint32_t *w = out;
    switch (width) {
    case 1:
        for (size_t i = 0; i < n; i++)
            b[i] = (uint8_t)r[i];
        return;
    case 2:
        for (size_t i = 0; i < n; i++)
            h[i] = (uint16_t)r[i];
        return;
    case 4:
        for (size_t i = 0; i < n; i++)
            w[i] = (uint32_t)r[i];
        return;
    default:
        memcpy(out, r, n * sizeof *r);
    }
}

/* Compress `bytes` bytes; falls back to plain where that is not smaller. */
static void compress_values(const struct column_scratch *scratch, size_t bytes, enum column_codec codec,
                            struct column_head *head, unsigned char *out)
{
    int got = 0;
    if (codec != COLUMN_PLAIN)
        got =
            blosc_compress_ctx(scratch->dense ? 1 : 5, codec == COLUMN_BITSHUFFLE ? BLOSC_BITSHUFFLE : BLOSC_SHUFFLE,
                               head->width, bytes, scratch->packed, out, bytes, scratch->dense ? "zstd" : "lz4", 0, 1);
    head->codec = (uint8_t)codec;
    head->bytes = (uint32_t)got;
    if (got <= 0) {
        memcpy(out, scratch->packed, bytes);
        head->codec = COLUMN_PLAIN;
        head->bytes = (uint32_t)bytes;
    }
}

static void encode_packed(const uint64_t *v, size_t n, const uint64_t *key, const struct column_plan *plan,
                          struct column_scratch *scratch, struct column_head *head, unsigned char *out)
{
    *head = (struct column_head){.form = COLUMN_PACKED, .predictor = (uint8_t)plan->predictor, .first = v[0]};
    if (plan->predictor == COLUMN_KEYED)
        head->key = (uint8_t)plan->key;
    predict(v, n, key, plan->predictor, scratch->residuals);
    narrow(scratch->residuals, n, head);
    pack(scratch->residuals, n, head->width, scratch->packed);
    compress_values(scratch, n * head->width, plan->codec, head, out);
}

/* Encode n values (1 to COLUMN_VALUES_MAX) to out, which has room for COLUMN_DATA_MAX bytes. key has n values, NULL
 * unless plan->predictor is COLUMN_KEYED. */
static void column_encode(const uint64_t *v, size_t n, const uint64_t *key, const struct column_plan *plan,
                          struct column_scratch *scratch, struct column_head *head, unsigned char *out)
{
    uint64_t step = n > 1 ? v[1] - v[0] : 0;
    size_t i = 1;
    while (i < n && v[i] - v[i - 1] == step)
        i++;
    if (i < n) {
        encode_packed(v, n, key, plan, scratch, head, out);
        return;
    }
    *head = (struct column_head){.form = step ? COLUMN_PROGRESSION : COLUMN_CONSTANT, .first = v[0], .step = step};
}

/* What the sample costs under a plan, in bytes. */
static uint32_t cost(const uint64_t *v, size_t n, const uint64_t *key, const struct column_plan *plan,
                     struct column_scratch *scratch)
{
    unsigned char out[SAMPLE * 8];
    struct column_head head;
    encode_packed(v, n, key, plan, scratch, &head, out);
    return head.bytes;
}

/* Choose a plan for values like these n (1 to COLUMN_VALUES_MAX), by trial on a sample. keys[i], for i < key_count, is
 * the column at that position or NULL if it cannot be a key. */
static void column_choose(const uint64_t *v, size_t n, const uint64_t *const *keys, int key_count,
                          struct column_scratch *scratch, struct column_plan *plan)
{
    size_t from = n > SAMPLE ? (n - SAMPLE) / 2 : 0;
    size_t sample = n < SAMPLE ? n : SAMPLE;
    static const enum column_predictor order[] = {COLUMN_RAW, COLUMN_DELTA, COLUMN_ZIGZAG, COLUMN_XOR};
    uint32_t best = UINT32_MAX;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        struct column_plan trial = {order[i], COLUMN_BITSHUFFLE, -1};
        uint32_t bytes = cost(v + from, sample, NULL, &trial, scratch);
        if (bytes < best) {
            best = bytes;
            *plan = trial;
        }
    }
    for (int k = 0; k < key_count; k++) {
        if (!keys[k])
            continue;
        struct column_plan trial = {COLUMN_KEYED, COLUMN_BITSHUFFLE, k};
        uint32_t bytes = cost(v + from, sample, keys[k] + from, &trial, scratch);
        if (bytes < best - best / 8) { /* it is slower to read: it has to pay */
            best = bytes;
            *plan = trial;
        }
    }
    struct column_plan bytewise = {plan->predictor, COLUMN_SHUFFLE, plan->key};
    if (cost(v + from, sample, plan->key < 0 ? NULL : keys[plan->key] + from, &bytewise, scratch) < best)
        *plan = bytewise;
}

static void column_head_write(const struct column_head *head, unsigned char out[COLUMN_HEAD_BYTES])
{
    memset(out, 0, COLUMN_HEAD_BYTES);
    out[0] = head->form;
    out[1] = head->predictor;
    out[2] = head->codec;
    out[3] = head->width;
    out[4] = head->shift;
    out[5] = head->key;
    memcpy(out + 8, &head->bytes, 4);
    memcpy(out + 16, &head->first, 8);
    memcpy(out + 24, &head->step, 8);
}

/* -1 with *err set if the description makes no sense. */
static int column_head_read(struct column_head *head, const unsigned char in[COLUMN_HEAD_BYTES], struct err *err)
{
    *head = (struct column_head){in[0], in[1], in[2], in[3], in[4], in[5], 0, 0, 0};
    memcpy(&head->bytes, in + 8, 4);
    memcpy(&head->first, in + 16, 8);
    memcpy(&head->step, in + 24, 8);
    if (head->form != COLUMN_PACKED || head->predictor != COLUMN_KEYED)
        head->key = 0;
    if (head->form >= COLUMN_FORMS)
        return err_set(err, "form is %u; expected 0 to %d", head->form, COLUMN_FORMS - 1);
    if (head->form == COLUMN_CONSTANT)
        head->step = 0;
    if (head->form != COLUMN_PACKED)
        return head->bytes ? err_set(err, "%u bytes of data; expected none", (unsigned)head->bytes) : 0;
    if (head->predictor >= COLUMN_PREDICTORS)
        return err_set(err, "predictor is %u; expected 0 to %d", head->predictor, COLUMN_PREDICTORS - 1);
    if (head->codec >= COLUMN_CODECS)
        return err_set(err, "codec is %u; expected 0 to %d", head->codec, COLUMN_CODECS - 1);
    if (head->width != 1 && head->width != 2 && head->width != 4 && head->width != 8)
        return err_set(err, "width is %u; expected 1, 2, 4 or 8 bytes", head->width);
    if (head->shift > 63)
        return err_set(err, "shift is %u; expected at most 63", head->shift);
    return 0;
}

static int unpack_data(struct column_reader *reader, const unsigned char *data, struct err *err)
{
    size_t expected = reader->count * reader->head.width, size = 0, bytes = reader->head.bytes;
    if (reader->head.codec == COLUMN_PLAIN) {
        if (bytes != expected)
            return err_set(err, "%zu bytes of plain data; expected %zu", bytes, expected);
        reader->packed = data;
        return 0;
    }
    if (bytes < BLOSC_MIN_HEADER_LENGTH || blosc_cbuffer_validate(data, bytes, &size) || size != expected)
        return err_set(err, "the compressed data is damaged: it claims %zu bytes, expected %zu", size, expected);
    if (!reader->own) {
        reader->own = mem_zalloc(COLUMN_DATA_MAX, 1, err);
        if (!reader->own)
            return -1;
    }
    int got = blosc_decompress_ctx(data, reader->own, expected, 1);
    if (got < 0 || (size_t)got != expected)
        return err_set(err, "the compressed data is damaged");
    reader->packed = reader->own;
    return 0;
}

/* Start on the n values of a column: data has head->bytes bytes and stays valid while reading. The reader starts
 * zeroed and may be reused for other columns. -1 with *err set if data is corrupt. */
static int column_reader_start(struct column_reader *reader, const struct column_head *head, const unsigned char *data,
                               size_t n, struct err *err)
{
    reader->head = *head;
    reader->at = 0;
    reader->count = n;
    reader->last = head->first;
    if (head->form != COLUMN_PACKED)
        return 0;
    if (head->predictor == COLUMN_KEYED) {
        if (!reader->slots)
            reader->slots = mem_zalloc(COLUMN_KEY_SLOTS, sizeof *reader->slots, err);
        if (!reader->slots)
            return -1;
        for (size_t i = 0; i < COLUMN_KEY_SLOTS; i++)
            reader->slots[i] = head->first;
    }
    return unpack_data(reader, data, err);
}

/* Widen n stored values from position `at` on. */
static void widen(const unsigned char *packed, unsigned width, size_t at, size_t n, uint64_t *out)
{
    const unsigned char *p = packed + at * width;
    switch (width) {
    case 1:
        for (size_t i = 0; i < n; i++)
            out[i] = p[i];
        return;
    case 2:
        for (size_t i = 0; i < n; i++) {
            uint16_t v;
            memcpy(&v, p + i * 2, 2);
            out[i] = v;
        }
        return;
    case 4:
        for (size_t i = 0; i < n; i++) {
            uint32_t v;
            memcpy(&v, p + i * 4, 4);
            out[i] = v;
        }
        return;
    default:
        memcpy(out, p, n * 8);
    }
}

/* Residuals in out to values, in place. */
static void add_up(struct column_reader *reader, size_t n, const uint64_t *key, uint64_t *out)
{
    const struct column_head *head = &reader->head;
    unsigned shift = head->shift;
    uint64_t bias = head->step, last = reader->last;
    switch (head->predictor) {
    case COLUMN_RAW:
        bias += head->first;
        for (size_t i = 0; i < n; i++)
            out[i] = (out[i] << shift) + bias;
        return;
    case COLUMN_DELTA:
        for (size_t i = 0; i < n; i++)
            out[i] = last += (out[i] << shift) + bias;
        break;
    case COLUMN_ZIGZAG:
        for (size_t i = 0; i < n; i++)
            out[i] = last += unzigzag(out[i]) << shift;
        break;
    case COLUMN_XOR:
        for (size_t i = 0; i < n; i++)
            out[i] = last ^= out[i] << shift;
        break;
    default:
        for (size_t i = 0; i < n; i++) {
            uint64_t *slot = &reader->slots[slot_of(key[i])];
            out[i] = *slot += unzigzag(out[i]) << shift;
        }
        return;
    }
    reader->last = last;
}

/* The next n values (no more than are left); key has n values where the predictor is keyed. */
static void column_read(struct column_reader *reader, size_t n, const uint64_t *key, uint64_t *out)
{
    const struct column_head *head = &reader->head;
    if (head->form == COLUMN_PACKED) {
        widen(reader->packed, head->width, reader->at, n, out);
        add_up(reader, n, key, out);
    } else {
        uint64_t v = head->first + reader->at * head->step;
        for (size_t i = 0; i < n; i++, v += head->step)
            out[i] = v;
    }
    reader->at += n;
}

static void column_reader_release(struct column_reader *reader)
{
    free(reader->own);
    free(reader->slots);
    *reader = (struct column_reader){0};
}

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
    builder->scratch->dense = builder->dense;
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
#define PUT(column, field)                                                                                             \
    case column:                                                                                                       \
        for (size_t i = 0; i < count; i++)                                                                             \
            r[i].field = (__typeof__(r[i].field))v[i];                                                                 \
        break
    switch (c) {
        PUT(CHUNK_KIND, kind);
        PUT(CHUNK_FLAGS, flags);
        PUT(CHUNK_GROUP, group);
        PUT(CHUNK_ID, id);
        PUT(CHUNK_TIME, time);
        PUT(CHUNK_DURATION, duration);
        PUT(CHUNK_ADDR, addr);
        PUT(CHUNK_BYTES, bytes);
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
