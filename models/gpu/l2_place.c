#include "models/gpu/l2_place.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"

enum { HASH_BITS = 10 };

/* Irreducible polynomials of degree 2 to 10, the smallest ones; x^5 + x^2 + 1 is the artifact's for 32 sets. */
static uint32_t polynomial(int degree)
{
    static const uint32_t table[] = {0x7, 0xb, 0x13, 0x25, 0x43, 0x83, 0x11b, 0x203, 0x409};
    return table[degree - 2];
}

/* The runs of address bits from the line up that are not the slice's. */
static int init_runs(struct l2_place *p, uint64_t slice_bits, struct err *err)
{
    uint64_t keep = ~slice_bits & ~(uint64_t)(L2_LINE - 1);
    int to = 0;
    while (keep) {
        const int shift = __builtin_ctzll(keep);
        const uint64_t above = ~(keep >> shift);
        const int bits = above ? __builtin_ctzll(above) : 64;
        if (p->runs == L2_PLACE_RUNS)
            return err_set(err, "an L2 slice is chosen by address bits in more than %d groups", L2_PLACE_RUNS);
        p->run[p->runs++] =
            (struct l2_run){(uint8_t)shift, (uint8_t)to, bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1};
        to += bits;
        keep &= bits + shift >= 64 ? 0 : ~UINT64_C(0) << (shift + bits);
    }
    return 0;
}

static uint64_t number(const struct l2_place *p, uint64_t addr)
{
    uint64_t n = 0;
    for (int i = 0; i < p->runs; i++)
        n |= (addr >> p->run[i].shift & p->run[i].mask) << p->run[i].to;
    return n;
}

uint64_t l2_place_number(const struct l2_place *p, uint64_t addr)
{
    return number(p, l2_place_left(p, addr));
}

static int init_hash(struct l2_place *p, struct err *err)
{
    const int degree = p->sets ? __builtin_ctzll(p->sets) : 0;
    if (!p->sets || p->sets & (p->sets - 1) || degree < 2 || degree > HASH_BITS)
        return err_set(err, "an L2 slice of %llu sets; hash ipoly needs a power of two from 4 to 1024",
                       (unsigned long long)p->sets);
    p->hash = mem_zalloc(8, sizeof *p->hash, err);
    if (!p->hash)
        return -1;
    uint16_t power[64]; /* x^i modulo the polynomial */
    for (uint32_t i = 0, r = 1; i < 64; i++) {
        power[i] = (uint16_t)r;
        r <<= 1;
        if (r >> degree)
            r ^= polynomial(degree);
    }
    for (unsigned bit = 0; bit + L2_LINE_BITS < 64; bit++) {
        const uint64_t n = number(p, UINT64_C(1) << (bit + L2_LINE_BITS));
        for (unsigned v = 0; n && v < 256; v++)
            p->hash[bit / 8][v] ^= v >> bit % 8 & 1 ? power[__builtin_ctzll(n)] : 0;
    }
    return 0;
}

int l2_place_init(struct l2_place *p, const struct l2_shape *shape, uint64_t sets, struct err *err)
{
    memset(p, 0, sizeof *p);
    p->sets = sets;
    p->mod = shape->mod;
    p->mod_shift = shape->mod_shift;
    return init_runs(p, shape->slice_bits, err) || (shape->hash == L2_HASH_IPOLY && init_hash(p, err)) ? -1 : 0;
}

void l2_place_release(struct l2_place *p)
{
    free(p->hash);
    p->hash = NULL;
}
