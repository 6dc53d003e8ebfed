/* lanes: sixteen 32-bit numbers, one per bank, compared at once; of more banks sixteen after sixteen. Each function is
 * there in SSE4.1 (x86-64-v2, what make asks for, has it) and in plain C. Arrays are 64-byte aligned. */
#pragma once

#include <stdint.h>
#include <string.h>

#if defined(__SSE4_1__)
#include <immintrin.h>
#endif

#define LANES_INLINE static inline __attribute__((always_inline))

/* Bit b is set where a[b] <= t. */
LANES_INLINE unsigned lanes_le(const int32_t a[16], int32_t t)
{
#if defined(__SSE4_1__)
    const __m128i v = _mm_set1_epi32(t), *p = (const __m128i *)a;
    const __m128i g0 = _mm_packs_epi32(_mm_cmpgt_epi32(p[0], v), _mm_cmpgt_epi32(p[1], v));
    const __m128i g1 = _mm_packs_epi32(_mm_cmpgt_epi32(p[2], v), _mm_cmpgt_epi32(p[3], v));
    return ~(unsigned)_mm_movemask_epi8(_mm_packs_epi16(g0, g1)) & 0xffff;
#else
    unsigned m = 0;
    for (int b = 0; b < 16; b++)
        m |= (unsigned)(a[b] <= t) << b;
    return m;
#endif
}

/* Bit b is set where a[b] == x. */
LANES_INLINE unsigned lanes_eq(const uint32_t a[16], uint32_t x)
{
#if defined(__SSE4_1__)
    const __m128i v = _mm_set1_epi32((int32_t)x), *p = (const __m128i *)a;
    const __m128i g0 = _mm_packs_epi32(_mm_cmpeq_epi32(p[0], v), _mm_cmpeq_epi32(p[1], v));
    const __m128i g1 = _mm_packs_epi32(_mm_cmpeq_epi32(p[2], v), _mm_cmpeq_epi32(p[3], v));
    return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(g0, g1));
#else
    unsigned m = 0;
    for (int b = 0; b < 16; b++)
        m |= (unsigned)(a[b] == x) << b;
    return m;
#endif
}

/* Bit b is set where a[b] comes before x, as sequence numbers that may wrap. */
LANES_INLINE unsigned lanes_before(const uint32_t a[16], uint32_t x)
{
#if defined(__SSE4_1__)
    const __m128i v = _mm_set1_epi32((int32_t)x), *p = (const __m128i *)a;
    const __m128i g0 = _mm_packs_epi32(_mm_sub_epi32(p[0], v), _mm_sub_epi32(p[1], v));
    const __m128i g1 = _mm_packs_epi32(_mm_sub_epi32(p[2], v), _mm_sub_epi32(p[3], v));
    return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(g0, g1)); /* saturation keeps the sign */
#else
    unsigned m = 0;
    for (int b = 0; b < 16; b++)
        m |= (unsigned)((int32_t)(a[b] - x) < 0) << b;
    return m;
#endif
}

/* The smallest a[b] > t; at least INT32_MAX - 1 if there is none (t >= 0). */
LANES_INLINE int32_t lanes_next(const int32_t a[16], int32_t t)
{
#if defined(__SSE4_1__)
    /* a - (t + 1) as an unsigned number: what is not above t becomes at least 2^31. */
    const __m128i v = _mm_set1_epi32(t + 1), *p = (const __m128i *)a;
    __m128i m = _mm_min_epu32(_mm_min_epu32(_mm_sub_epi32(p[0], v), _mm_sub_epi32(p[1], v)),
                              _mm_min_epu32(_mm_sub_epi32(p[2], v), _mm_sub_epi32(p[3], v)));
    m = _mm_min_epu32(m, _mm_shuffle_epi32(m, 0x4e));
    m = _mm_min_epu32(m, _mm_shuffle_epi32(m, 0xb1));
    const uint32_t d = (uint32_t)_mm_cvtsi128_si32(m);
    return d < (uint32_t)(INT32_MAX - 2 - t) ? t + 1 + (int32_t)d : INT32_MAX - 1;
#else
    int32_t best = INT32_MAX - 1;
    for (int b = 0; b < 16; b++)
        if (a[b] > t && a[b] < best)
            best = a[b];
    return best;
#endif
}

/* The largest a[b] over the banks of `mask`; 0 if the mask is empty and for negative numbers. */
LANES_INLINE int32_t lanes_max(const int32_t *a, uint64_t mask)
{
    int32_t best = 0;
    if (mask == 0xffff) {
        for (int b = 0; b < 16; b++)
            best = a[b] > best ? a[b] : best;
        return best;
    }
    for (; mask; mask &= mask - 1) {
        const int32_t x = a[__builtin_ctzll(mask)];
        best = x > best ? x : best;
    }
    return best;
}

/* Bit i is set where rows[i] == row, for the first n (n <= 64, rows holds 64). */
LANES_INLINE uint64_t lanes_find(const uint32_t rows[64], int n, uint32_t row)
{
    uint64_t m = 0;
    for (int i = 0; i < n; i += 16)
        m |= (uint64_t)lanes_eq(rows + i, row) << i;
    return m;
}

/* Bit i is set where a[i] == x, of 64 bytes. */
LANES_INLINE uint64_t lanes_bytes(const uint8_t a[64], uint8_t x)
{
    uint64_t m = 0;
#if defined(__SSE4_1__)
    const __m128i v = _mm_set1_epi8((char)x), *p = (const __m128i *)a;
    for (int i = 0; i < 4; i++)
        m |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128(&p[i]), v)) << 16 * i;
#else
    for (int i = 0; i < 64; i++)
        m |= (uint64_t)(a[i] == x) << i;
#endif
    return m;
}
