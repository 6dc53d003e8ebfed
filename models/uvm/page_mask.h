/* page_mask: 512 bits, one per 4 KiB page of a VA block, worked on a 64-bit word at a time.
 *
 * Bit p is page p of the block (bit p % 64 of word p / 64). Regions are half-open, [first, end), 0 <= first <= end <=
 * 512. Nothing here allocates or fails; `out` may be one of the operands. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { PAGE_MASK_PAGES = 512, PAGE_MASK_WORDS = 8 };

struct page_mask {
    uint64_t w[PAGE_MASK_WORDS];
};

static inline void page_mask_zero(struct page_mask *m)
{
    memset(m, 0, sizeof *m);
}

static inline bool page_mask_test(const struct page_mask *m, unsigned page)
{
    return m->w[page >> 6] >> (page & 63) & 1;
}

static inline void page_mask_set(struct page_mask *m, unsigned page)
{
    m->w[page >> 6] |= 1ull << (page & 63);
}

static inline void page_mask_clear(struct page_mask *m, unsigned page)
{
    m->w[page >> 6] &= ~(1ull << (page & 63));
}

/* Those bits of word `i` that lie in [first, end). */
static inline uint64_t page_mask_region_word(unsigned i, unsigned first, unsigned end)
{
    unsigned lo = i * 64, hi = lo + 64;
    if (first >= hi || end <= lo || first >= end)
        return 0;
    uint64_t from = first <= lo ? ~0ull : ~0ull << (first - lo);
    uint64_t to = end >= hi ? ~0ull : ~0ull >> (hi - end);
    return from & to;
}

/* Set every page of [first, end). */
static inline void page_mask_set_region(struct page_mask *m, unsigned first, unsigned end)
{
    for (unsigned i = first >> 6; i < PAGE_MASK_WORDS && i * 64 < end; i++)
        m->w[i] |= page_mask_region_word(i, first, end);
}

/* Clear every page of [first, end). */
static inline void page_mask_clear_region(struct page_mask *m, unsigned first, unsigned end)
{
    for (unsigned i = first >> 6; i < PAGE_MASK_WORDS && i * 64 < end; i++)
        m->w[i] &= ~page_mask_region_word(i, first, end);
}

static inline void page_mask_or(struct page_mask *out, const struct page_mask *a, const struct page_mask *b)
{
    for (int i = 0; i < PAGE_MASK_WORDS; i++)
        out->w[i] = a->w[i] | b->w[i];
}

static inline void page_mask_and(struct page_mask *out, const struct page_mask *a, const struct page_mask *b)
{
    for (int i = 0; i < PAGE_MASK_WORDS; i++)
        out->w[i] = a->w[i] & b->w[i];
}

static inline void page_mask_andnot(struct page_mask *out, const struct page_mask *a, const struct page_mask *b)
{
    for (int i = 0; i < PAGE_MASK_WORDS; i++)
        out->w[i] = a->w[i] & ~b->w[i];
}

static inline bool page_mask_any(const struct page_mask *m)
{
    uint64_t all = 0;
    for (int i = 0; i < PAGE_MASK_WORDS; i++)
        all |= m->w[i];
    return all != 0;
}

static inline bool page_mask_intersects(const struct page_mask *a, const struct page_mask *b)
{
    uint64_t all = 0;
    for (int i = 0; i < PAGE_MASK_WORDS; i++)
        all |= a->w[i] & b->w[i];
    return all != 0;
}

/* Whether every page of `part` is in `whole`. */
static inline bool page_mask_contains(const struct page_mask *whole, const struct page_mask *part)
{
    uint64_t missing = 0;
    for (int i = 0; i < PAGE_MASK_WORDS; i++)
        missing |= part->w[i] & ~whole->w[i];
    return missing == 0;
}

static inline bool page_mask_equal(const struct page_mask *a, const struct page_mask *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static inline unsigned page_mask_count(const struct page_mask *m)
{
    unsigned n = 0;
    for (int i = 0; i < PAGE_MASK_WORDS; i++)
        n += (unsigned)__builtin_popcountll(m->w[i]);
    return n;
}

/* Pages of `m` in [first, end). */
static inline unsigned page_mask_count_region(const struct page_mask *m, unsigned first, unsigned end)
{
    unsigned n = 0;
    for (unsigned i = first >> 6; i < PAGE_MASK_WORDS && i * 64 < end; i++)
        n += (unsigned)__builtin_popcountll(m->w[i] & page_mask_region_word(i, first, end));
    return n;
}

/* out = m with each page `by` up, 0 <= by <= 512; what would be page 512 and above is gone. */
static inline void page_mask_up(struct page_mask *out, const struct page_mask *m, unsigned by)
{
    const unsigned words = by >> 6, bits = by & 63;
    for (unsigned i = PAGE_MASK_WORDS; i-- > 0;) {
        const uint64_t high = i >= words ? m->w[i - words] : 0, low = i > words ? m->w[i - words - 1] : 0;
        out->w[i] = bits ? high << bits | low >> (64 - bits) : high;
    }
}

/* out = m with each page `by` down, 0 <= by <= 512; those below page `by` are gone. */
static inline void page_mask_down(struct page_mask *out, const struct page_mask *m, unsigned by)
{
    const unsigned words = by >> 6, bits = by & 63;
    for (unsigned i = 0; i < PAGE_MASK_WORDS; i++) {
        const unsigned from = i + words;
        const uint64_t low = from < PAGE_MASK_WORDS ? m->w[from] : 0;
        const uint64_t high = from + 1 < PAGE_MASK_WORDS ? m->w[from + 1] : 0;
        out->w[i] = bits ? low >> bits | high << (64 - bits) : low;
    }
}

/* Contiguous runs of set pages; a run may cross words. */
static inline unsigned page_mask_runs(const struct page_mask *m)
{
    unsigned n = 0;
    uint64_t carry = 0;
    for (int i = 0; i < PAGE_MASK_WORDS; i++) {
        n += (unsigned)__builtin_popcountll(m->w[i] & ~(m->w[i] << 1 | carry));
        carry = m->w[i] >> 63;
    }
    return n;
}

/* The first page at or after `from` that is set in m with the bits of `flip` turned; PAGE_MASK_PAGES: none. */
static inline unsigned page_mask_find(const struct page_mask *m, unsigned from, uint64_t flip)
{
    unsigned i = from >> 6;
    if (i >= PAGE_MASK_WORDS)
        return PAGE_MASK_PAGES;
    uint64_t word = (m->w[i] ^ flip) & ~0ull << (from & 63);
    while (!word)
        if (++i == PAGE_MASK_WORDS)
            return PAGE_MASK_PAGES;
        else
            word = m->w[i] ^ flip;
    return i * 64 + (unsigned)__builtin_ctzll(word);
}

/* The first set page at or after `from`, PAGE_MASK_PAGES if there is none. `from` may be PAGE_MASK_PAGES. */
static inline unsigned page_mask_next(const struct page_mask *m, unsigned from)
{
    return page_mask_find(m, from, 0);
}

static inline unsigned page_mask_next_clear(const struct page_mask *m, unsigned from)
{
    return page_mask_find(m, from, ~0ull);
}

/* for (each set page p, ascending) */
#define PAGE_MASK_EACH(p, m)                                                                                           \
    for (unsigned p = page_mask_next((m), 0); p < PAGE_MASK_PAGES; p = page_mask_next((m), p + 1))

/* for (each run [first, end) of set pages, ascending) */
#define PAGE_MASK_EACH_RUN(first, end, m)                                                                              \
    for (unsigned first = page_mask_next((m), 0), end = page_mask_next_clear((m), first); first < PAGE_MASK_PAGES;     \
         first = page_mask_next((m), end), end = page_mask_next_clear((m), first))

/* Every 16-page group (64 KiB, aligned in the mask) of `word` that holds a set bit, filled; four groups at once. */
static inline uint64_t page_mask_fill16(uint64_t word)
{
    const uint64_t low15 = 0x7FFF7FFF7FFF7FFFull;
    uint64_t top = (((word & low15) + low15) | word) & ~low15; /* bit 15 of each group that is not empty */
    return (top >> 15) * 0xFFFFull;
}
