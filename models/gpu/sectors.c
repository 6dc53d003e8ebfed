#include "models/gpu/sectors.h"

enum { LINE = 128, SECTOR = 32 };

static uint64_t last_byte(uint64_t first, uint32_t bytes)
{
    uint64_t last = first + bytes - 1;
    return last < first ? UINT64_MAX : last;
}

static uint32_t bits(uint64_t first, uint64_t last)
{
    return (uint32_t)((UINT64_C(2) << last) - (UINT64_C(1) << first));
}

/* Bytes low..high of one line, all accessed: the sectors that are covered whole. */
static uint8_t whole(uint64_t low, uint64_t high)
{
    uint64_t from = (low + SECTOR - 1) / SECTOR, to = (high + 1) / SECTOR;
    return from < to ? (uint8_t)bits(from, to - 1) : 0;
}

/* Bytes low..high without a gap; `solid`: each of them is accessed. */
static int range(uint64_t low, uint64_t high, bool solid, struct sectors_line *out)
{
    int n = 0;
    for (uint64_t l = high / LINE, end = low / LINE;; l--) {
        uint64_t from = l == end ? low % LINE : 0, to = l == high / LINE ? high % LINE : LINE - 1;
        out[n++] = (struct sectors_line){l, (uint8_t)bits(from / SECTOR, to / SECTOR), solid ? whole(from, to) : 0};
        if (l == end)
            return n;
    }
}

/* Sector number s joins those above it. */
static int below(uint64_t s, struct sectors_line *out, int n)
{
    if (n == 0 || out[n - 1].line != s / SECTORS_OF_LINE)
        out[n++] = (struct sectors_line){s / SECTORS_OF_LINE, 0, 0};
    out[n - 1].sectors |= (uint8_t)(1u << s % SECTORS_OF_LINE);
    return n;
}

/* Lanes more than a sector apart, downwards. */
static int apart(const struct sectors_of *a, struct sectors_line *out)
{
    int n = 0;
    for (uint32_t rest = a->active; rest;) {
        unsigned lane = a->stride > 0 ? 31 - (unsigned)__builtin_clz(rest) : (unsigned)__builtin_ctz(rest);
        rest &= ~(1u << lane);
        uint64_t first = a->first + lane * (uint64_t)a->stride;
        n = below(last_byte(first, a->bytes) / SECTOR, out, n);
        n = below(first / SECTOR, out, n);
    }
    return n;
}

/* --- lanes anywhere --- */

/* Which bytes of each sector of a line are accessed. */
struct cover {
    uint32_t sector[SECTORS_OF_LINE];
};

struct sorter {
    struct sectors_line *out; /* descending */
    int n;
    bool covers;
    struct cover cover[SECTORS_LINES];
};

/* Where a line is; it is put there if need be. */
static int place(struct sorter *s, uint64_t line)
{
    int i = s->n;
    while (i > 0 && s->out[i - 1].line < line)
        i--;
    if (i > 0 && s->out[i - 1].line == line)
        return i - 1;
    for (int j = s->n++; j > i; j--) {
        s->out[j] = s->out[j - 1];
        if (s->covers)
            s->cover[j] = s->cover[j - 1];
    }
    s->out[i] = (struct sectors_line){line, 0, 0};
    if (s->covers)
        s->cover[i] = (struct cover){{0}};
    return i;
}

/* Bytes first..last, all accessed. */
static void put(struct sorter *s, uint64_t first, uint64_t last)
{
    for (uint64_t line = last / LINE, end = first / LINE;; line--) {
        uint64_t from = line == end ? first % LINE : 0, to = line == last / LINE ? last % LINE : LINE - 1;
        int i = place(s, line);
        s->out[i].sectors |= (uint8_t)bits(from / SECTOR, to / SECTOR);
        for (uint64_t k = from / SECTOR; s->covers && k <= to / SECTOR; k++)
            s->cover[i].sector[k] |= bits(k == from / SECTOR ? from % SECTOR : 0, k == to / SECTOR ? to % SECTOR : 31);
        if (line == end)
            return;
    }
}

static uint64_t byte_of(const struct sectors_of *a, unsigned lane)
{
    return a->first + (a->lane ? a->lane[lane] : lane * (uint64_t)a->stride);
}

/* Any lanes, from the highest down, mostly the order wanted; lanes that continue each other (a tile's row) together. */
static int sorted(const struct sectors_of *a, struct sectors_line *out)
{
    struct sorter s;
    s.out = out;
    s.n = 0;
    s.covers = a->covers;
    for (uint32_t rest = a->active; rest;) {
        unsigned lane = 31 - (unsigned)__builtin_clz(rest);
        uint64_t first = byte_of(a, lane), last = last_byte(first, a->bytes);
        for (rest &= ~(1u << lane); rest; rest &= ~(1u << lane)) {
            lane = 31 - (unsigned)__builtin_clz(rest);
            uint64_t at = byte_of(a, lane);
            if (at != first && (at > first || first - at != a->bytes))
                break;
            first = at;
        }
        put(&s, first, last);
    }
    for (int i = 0; a->covers && i < s.n; i++)
        for (unsigned k = 0; k < SECTORS_OF_LINE; k++)
            out[i].whole |= (uint8_t)((s.cover[i].sector[k] == UINT32_MAX) << k);
    return s.n;
}

int sectors_of(const struct sectors_of *a, struct sectors_line out[SECTORS_LINES])
{
    if (!a->active)
        return 0;
    unsigned low = (unsigned)__builtin_ctz(a->active), high = 31 - (unsigned)__builtin_clz(a->active);
    uint64_t from = a->first + low * (uint64_t)a->stride, to = a->first + high * (uint64_t)a->stride;
    int64_t step = a->stride < 0 ? -a->stride : a->stride;
    bool down = a->stride < 0, wraps = down ? to > from : to < from;
    if (a->lane || wraps || step > INT64_C(1) << 40)
        return sorted(a, out);
    if (step > SECTOR)
        return apart(a, out);
    uint32_t side = a->active >> low;
    if (side & (side + 1))
        return sorted(a, out);
    return range(down ? to : from, last_byte(down ? from : to, a->bytes), a->covers && step <= a->bytes, out);
}
