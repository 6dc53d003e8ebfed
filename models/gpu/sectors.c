#include "models/gpu/sectors.h"

static uint64_t last_byte(uint64_t first, uint32_t bytes)
{
    uint64_t last = first + bytes - 1;
    return last < first ? UINT64_MAX : last;
}

/* Bytes low..high without a gap; `solid`: each of them is accessed. */
static int range(uint64_t low, uint64_t high, bool solid, uint64_t *out)
{
    int n = 0;
    for (uint64_t s = high / SECTOR_BYTES, end = low / SECTOR_BYTES;; s--) {
        uint64_t from = s * SECTOR_BYTES;
        out[n++] = s | (solid && low <= from && high >= from + SECTOR_BYTES - 1 ? SECTOR_WHOLE : 0);
        if (s == end)
            return n;
    }
}

/* Lanes more than a sector apart, downwards. */
static int apart(const struct sectors_of *a, uint64_t *out)
{
    int n = 0;
    uint64_t before = UINT64_MAX;
    for (uint32_t rest = a->active; rest;) {
        unsigned lane = a->stride > 0 ? 31 - (unsigned)__builtin_clz(rest) : (unsigned)__builtin_ctz(rest);
        rest &= ~(1u << lane);
        uint64_t first = a->first + lane * (uint64_t)a->stride;
        uint64_t low = first / SECTOR_BYTES, high = last_byte(first, a->bytes) / SECTOR_BYTES;
        if (high != low && high < before)
            out[n++] = high;
        if (low < before)
            out[n++] = low;
        before = low;
    }
    return n;
}

/* Bytes first..last (within a sector) of sector s, put where they belong among n that descend. */
static int put(uint64_t s, uint32_t bytes, uint64_t *out, uint32_t *cover, int n)
{
    int i = n;
    while (i > 0 && out[i - 1] < s)
        i--;
    if (i > 0 && out[i - 1] == s) {
        cover[i - 1] |= bytes;
        return n;
    }
    for (int j = n; j > i; j--) {
        out[j] = out[j - 1];
        cover[j] = cover[j - 1];
    }
    out[i] = s;
    cover[i] = bytes;
    return n + 1;
}

/* Bits first..last. */
static uint32_t bits(uint64_t first, uint64_t last)
{
    return (uint32_t)((UINT64_C(2) << last) - (UINT64_C(1) << first));
}

/* Any lanes. From the highest lane down, since that is mostly the order wanted. */
static int sorted(const struct sectors_of *a, uint64_t *out)
{
    uint32_t cover[SECTORS_MOST];
    int n = 0;
    for (uint32_t rest = a->active; rest;) {
        unsigned lane = 31 - (unsigned)__builtin_clz(rest);
        rest &= ~(1u << lane);
        uint64_t first = a->first + (a->lane ? a->lane[lane] : lane * (uint64_t)a->stride);
        uint64_t last = last_byte(first, a->bytes), low = first / SECTOR_BYTES, high = last / SECTOR_BYTES;
        if (low == high) {
            n = put(low, bits(first % SECTOR_BYTES, last % SECTOR_BYTES), out, cover, n);
            continue;
        }
        n = put(high, bits(0, last % SECTOR_BYTES), out, cover, n);
        n = put(low, bits(first % SECTOR_BYTES, SECTOR_BYTES - 1), out, cover, n);
    }
    for (int i = 0; a->covers && i < n; i++)
        out[i] |= cover[i] == UINT32_MAX ? SECTOR_WHOLE : 0;
    return n;
}

int sectors_of(const struct sectors_of *a, uint64_t out[SECTORS_MOST])
{
    if (!a->active)
        return 0;
    unsigned low = (unsigned)__builtin_ctz(a->active), high = 31 - (unsigned)__builtin_clz(a->active);
    uint64_t from = a->first + low * (uint64_t)a->stride, to = a->first + high * (uint64_t)a->stride;
    int64_t step = a->stride < 0 ? -a->stride : a->stride;
    bool down = a->stride < 0, wraps = down ? to > from : to < from;
    if (a->lane || wraps || step > INT64_C(1) << 40)
        return sorted(a, out);
    if (step > SECTOR_BYTES)
        return apart(a, out);
    uint32_t side = a->active >> low;
    if (side & (side + 1))
        return sorted(a, out);
    return range(down ? to : from, last_byte(down ? from : to, a->bytes), a->covers && step <= a->bytes, out);
}
