#include "trace/recorder/wire/access_ring_testing.h"

#include <stdlib.h>

#include "trace/base/random.h"
#include "trace/base/testing.h"
#include "trace/recorder/wire/sanitizer_abi.h"

/* Many warps at a time: access_ring_order_test.c. */

#define SECONDS_60 60000000000ull

static struct access_ring_host *host_new(uint64_t units)
{
    struct access_ring_host *host = calloc(1, sizeof *host + units * sizeof *host->units);
    ck_assert_ptr_nonnull(host);
    return host;
}

/* Access number n of a warp: of every shape, with every number of lanes. */
static struct access_slot access_of(uint32_t warp, uint64_t n)
{
    struct random random = {(uint64_t)warp << 32 | n};
    struct access_slot s = {.pc = n, .flags = SAN_FLAG_READ, .bytes = 4, .block = warp / 2, .warp = warp % 2};
    const uint64_t kind = random_below(&random, 4), first = random_next(&random),
                   step = random_next(&random) >> random_below(&random, 64);
    s.mask = random_below(&random, 3) ? 0 : UINT32_MAX;
    while (s.mask == 0)
        s.mask = (uint32_t)(random_next(&random) | random_next(&random)) >> random_below(&random, 32);
    for (uint32_t lane = 0; lane < 32; lane++)
        if (s.mask >> lane & 1)
            s.addrs[lane] = kind < 2    ? first + lane * step
                            : kind == 2 ? first + random_below(&random, UINT32_C(1) << 31)
                                        : random_next(&random);
    return s;
}

static void expect_same(const struct access_slot *a, const struct access_slot *b)
{
    ck_assert(a->pc == b->pc && a->mask == b->mask && a->flags == b->flags && a->bytes == b->bytes);
    for (uint32_t lane = 0; lane < 32; lane++)
        ck_assert_msg(!(a->mask >> lane & 1) || a->addrs[lane] == b->addrs[lane], "access %llu, lane %u",
                      (unsigned long long)a->pc, lane);
}

/* --- one warp --- */

START_TEST(every_shape_comes_back_as_it_was)
{
    enum { UNITS = 16 };
    struct access_ring_host *host = host_new(UNITS);
    const uint64_t start = (UINT64_C(1) << 40) - 3; /* wraps at once, and again and again */
    struct access_ring ring = access_ring_empty(host, UNITS, start, SECONDS_60);
    struct access_slot read;
    uint64_t at = start;
    unsigned shapes[ACCESS_UNITS_MOST + 1] = {0};
    access_ring_release(host, at);
    for (uint64_t n = 0; n < 20000; n++) {
        const struct access_slot put = access_of(3, n);
        ck_assert_uint_eq(access_ring_read(host, UNITS, at, &read), 0);
        ck_assert(access_ring_play(&ring, &put));
        const unsigned units = access_ring_read(host, UNITS, at, &read);
        ck_assert(units >= 1 && units <= ACCESS_UNITS_MOST);
        expect_same(&put, &read);
        at += units;
        shapes[units]++;
        ck_assert_uint_eq(ring.head, at);
        access_ring_release(host, at);
    }
    for (unsigned units = 1; units <= ACCESS_UNITS_MOST; units++)
        ck_assert_msg(shapes[units] > 100, "%u accesses of %u units", shapes[units], units);
    ck_assert_uint_eq(ring.lost, 0);
    free(host);
}
END_TEST

START_TEST(an_access_in_step_takes_a_quarter_of_a_slot_and_less)
{
    ck_assert_uint_eq(sizeof(struct access_unit), 64);
    ck_assert_uint_eq(sizeof(struct access_ring), 128);
    ck_assert_uint_eq(access_ring_units(ACCESS_IN_STEP, 32), 1);
    ck_assert_uint_eq(access_ring_units(ACCESS_NARROW, 32), 5); /* 31 distances, 8 in a unit */
    ck_assert_uint_eq(access_ring_units(ACCESS_WIDE, 32), 9);   /* 31 addresses, 4 in a unit */
    ck_assert_uint_eq(access_ring_units(ACCESS_WIDE, 5), 2);
    ck_assert_uint_eq(access_ring_units(ACCESS_WIDE, 6), 3);
}
END_TEST

START_TEST(what_no_warp_wrote_is_not_read)
{
    enum { UNITS = 8 };
    struct access_ring_host *host = host_new(UNITS);
    struct access_slot read;
    for (uint64_t n = 0; n < UNITS; n++)
        ck_assert_uint_eq(access_ring_read(host, UNITS, n, &read), 0);
    struct access_ring ring = access_ring_empty(host, UNITS, 0, 0);
    struct access_slot one = {.mask = 3, .bytes = 4, .addrs = {1, UINT64_C(1) << 40}};
    ck_assert(access_ring_play(&ring, &one)); /* two units, of eight words and of two */
    ck_assert_uint_eq(access_ring_read(host, UNITS, 0, &read), 2);
    ck_assert_uint_eq(access_ring_read(host, UNITS, UNITS, &read), 0); /* of an earlier round */
    for (unsigned word = 0; word < ACCESS_UNIT_WORDS + 2; word++) {    /* any one of them not seen yet */
        uint64_t *at = &host->units[word / ACCESS_UNIT_WORDS].words[word % ACCESS_UNIT_WORDS], there = *at;
        *at = 0;
        ck_assert_uint_eq(access_ring_read(host, UNITS, 0, &read), 0);
        *at = there;
    }
    ck_assert_uint_eq(access_ring_read(host, UNITS, 0, &read), 2);
    host->units[0].words[1] |= 3u << ACCESS_FLAG_BITS; /* no shape */
    ck_assert_uint_eq(access_ring_read(host, UNITS, 0, &read), 0);
    free(host);
}
END_TEST

/* --- nobody drains --- */

START_TEST(who_finds_no_room_waits_once_and_is_counted)
{
    enum { UNITS = 8, PATIENCE = 20000000 }; /* 20 ms */
    struct access_ring_host *host = host_new(UNITS);
    struct access_ring ring = access_ring_empty(host, UNITS, 0, PATIENCE);
    struct access_slot one = {.mask = 1, .bytes = 4}, read;
    for (int i = 0; i < UNITS; i++)
        ck_assert(access_ring_play(&ring, &one));
    const unsigned long long before = ring_clock();
    ck_assert(!access_ring_play(&ring, &one));
    ck_assert_uint_ge(ring_clock() - before, PATIENCE);
    ck_assert_uint_eq(ring.hopeless, 1);
    for (int i = 0; i < 1000; i++) /* at 20 ms each this test would not end */
        ck_assert(!access_ring_play(&ring, &one));
    ck_assert_uint_eq(ring.lost, 1001);
    ck_assert_uint_eq(ring.head, UNITS); /* no number was given for nothing */
    for (uint64_t n = 0; n < UNITS; n++)
        ck_assert_uint_eq(access_ring_read(host, UNITS, n, &read), 1);
    access_ring_release(host, 3); /* somebody drains again */
    for (int i = 0; i < 3; i++)
        ck_assert(access_ring_play(&ring, &one));
    ck_assert_uint_eq(ring.hopeless, 0);
    ck_assert(!access_ring_play(&ring, &one));
    ck_assert_uint_eq(ring.lost, 1002);
    free(host);
}
END_TEST

TEST_MAIN("access_ring")
