#include "trace/store/chunk.h"

#include <blosc.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

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

/* --- encoding --- */

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
static void compress_values(const void *packed, size_t bytes, enum column_codec codec, struct column_head *head,
                            unsigned char *out)
{
    int got = 0;
    if (codec != COLUMN_PLAIN)
        got = blosc_compress_ctx(5, codec == COLUMN_BITSHUFFLE ? BLOSC_BITSHUFFLE : BLOSC_SHUFFLE, head->width, bytes,
                                 packed, out, bytes, "lz4", 0, 1);
    head->codec = (uint8_t)codec;
    head->bytes = (uint32_t)got;
    if (got <= 0) {
        memcpy(out, packed, bytes);
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
    compress_values(scratch->packed, n * head->width, plan->codec, head, out);
}

void column_encode(const uint64_t *v, size_t n, const uint64_t *key, const struct column_plan *plan,
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

void column_choose(const uint64_t *v, size_t n, const uint64_t *const *keys, int key_count,
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

/* --- the description in a chunk: form predictor codec width shift key 0 0, bytes (4), 0 (4), first (8), step (8) ---
 */

void column_head_write(const struct column_head *head, unsigned char out[COLUMN_HEAD_BYTES])
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

int column_head_read(struct column_head *head, const unsigned char in[COLUMN_HEAD_BYTES], struct err *err)
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

/* --- decoding --- */

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

int column_reader_start(struct column_reader *reader, const struct column_head *head, const unsigned char *data,
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

void column_read(struct column_reader *reader, size_t n, const uint64_t *key, uint64_t *out)
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

void column_reader_release(struct column_reader *reader)
{
    free(reader->own);
    free(reader->slots);
    *reader = (struct column_reader){0};
}
