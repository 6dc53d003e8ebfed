#include "models/gpu/l2_place.h"

#include "trace/base/testing.h"

/* Long division, bit by bit. */
static uint64_t modulo(uint64_t number, uint64_t polynomial, int degree)
{
    for (int i = 63; i >= degree; i--)
        if (number >> i & 1)
            number ^= polynomial << (i - degree);
    return number;
}

static int init(struct l2_place *p, uint64_t slice_bits, uint64_t sets, bool hashed, struct err *err)
{
    const struct l2_shape shape = {.slice_bits = slice_bits, .hash = hashed ? L2_HASH_IPOLY : 0};
    return l2_place_init(p, &shape, sets, err);
}

START_TEST(the_worked_example)
{
    struct l2_place p;
    ck_assert_int_eq(init(&p, 0, 32, true, NULL), 0);
    ck_assert_uint_eq(l2_place_set(&p, 32 * L2_LINE), 5);
    ck_assert_uint_eq(l2_place_set(&p, 33 * L2_LINE), 4);
    l2_place_release(&p);
}
END_TEST

START_TEST(the_hash_is_the_remainder_of_the_number_in_the_slice)
{
    const uint64_t polynomial[] = {0x7, 0xb, 0x13, 0x25, 0x43, 0x83, 0x11b, 0x203, 0x409};
    uint64_t x = 1;
    for (int degree = 2; degree <= 10; degree++) {
        struct l2_place p;
        ck_assert_int_eq(init(&p, 0x3f00, UINT64_C(1) << degree, true, NULL), 0);
        for (int i = 0; i < 2000; i++) {
            x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
            const uint64_t addr = x >> (i % 40), number = (addr >> 14) << 1 | (addr >> 7 & 1);
            ck_assert_uint_eq(l2_place_number(&p, addr), number);
            ck_assert_uint_eq(l2_place_set(&p, addr), modulo(number, polynomial[degree - 2], degree));
            ck_assert_uint_eq(l2_place_set(&p, addr ^ 0x3f7f), l2_place_set(&p, addr)); /* the slice and the byte */
        }
        l2_place_release(&p);
    }
}
END_TEST

START_TEST(without_a_hash_it_is_the_number_modulo_the_sets)
{
    struct l2_place p;
    ck_assert_int_eq(init(&p, 0x80, 48, false, NULL), 0);
    for (uint64_t line = 0; line < 1000; line++)
        ck_assert_uint_eq(l2_place_set(&p, line * L2_LINE), line / 2 % 48);
    l2_place_release(&p);
}
END_TEST

START_TEST(what_cannot_be_is_refused)
{
    struct l2_place p;
    struct err err;
    const uint64_t sets[] = {0, 2, 24, 2048};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        ck_assert_int_eq(init(&p, 0, sets[i], true, &err), -1);
        ck_assert_ptr_nonnull(strstr(err.msg, "expected") ? err.msg : strstr(err.msg, "needs a power of two"));
        l2_place_release(&p);
    }
    ck_assert_int_eq(init(&p, 0x55555 << 7, 32, false, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "more than 8 groups"));
    l2_place_release(&p);
}
END_TEST

TEST_MAIN("l2_place", the_worked_example, the_hash_is_the_remainder_of_the_number_in_the_slice,
          without_a_hash_it_is_the_number_modulo_the_sets, what_cannot_be_is_refused)
