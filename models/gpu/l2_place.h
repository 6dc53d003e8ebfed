/* l2_place: in which set of its slice of L2 (models/gpu/l2.h) a line stands.
 *
 * Its number in the slice is the address above the line, without the bits that choose the slice. Its set is that number
 * modulo the sets, or the number as a polynomial over GF(2) modulo an irreducible one of as many bits; the latter is
 * linear in the bits of the address, without the remainder that may say the slice, so it is one table for each byte.
 * Worked example, 32 sets, x^5 + x^2 + 1, no slice bits: line 32 is x^5, which is x^2 + 1: set 5; line 33 is set 4. */
#ifndef MODELS_GPU_L2_PLACE_H
#define MODELS_GPU_L2_PLACE_H

#include "models/gpu/l2.h"

enum { L2_PLACE_RUNS = 8, L2_LINE_BITS = 7 };

/* Address bits above the line that belong to its number in the slice. */
struct l2_run {
    uint8_t shift, to;
    uint64_t mask;
};

struct l2_place {
    uint64_t sets; /* of a slice */
    struct l2_run run[L2_PLACE_RUNS];
    int runs;
    uint32_t mod; /* as in struct l2_shape */
    int mod_shift;
    uint16_t (*hash)[256]; /* by byte of the address above the line; NULL: none */
};

/* Of the shape slice_bits, mod, mod_shift and hash; sets > 0 where a hash is asked for. Released after failure too. */
int l2_place_init(struct l2_place *p, const struct l2_shape *shape, uint64_t sets, struct err *err);
void l2_place_release(struct l2_place *p);

/* The address without the remainder that says the slice. */
static inline uint64_t l2_place_left(const struct l2_place *p, uint64_t addr)
{
    if (!p->mod)
        return addr;
    return (addr >> p->mod_shift) / p->mod << p->mod_shift | (addr & ((UINT64_C(1) << p->mod_shift) - 1));
}

/* The number in the slice of the line at addr. */
uint64_t l2_place_number(const struct l2_place *p, uint64_t addr);

/* The set of the line at addr; there is at least one. */
static inline uint64_t l2_place_set(const struct l2_place *p, uint64_t addr)
{
    if (!p->hash)
        return l2_place_number(p, addr) % p->sets;
    uint64_t set = 0;
    addr = l2_place_left(p, addr);
    const uint16_t(*table)[256] = (const uint16_t(*)[256])p->hash;
    for (uint64_t rest = addr >> L2_LINE_BITS; rest; rest >>= 8)
        set ^= (*table++)[rest & 0xff];
    return set;
}

#endif
