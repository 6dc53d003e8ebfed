#include "trace/recorder/wire/access_ring_testing.h"

#include <stdbool.h>

#include "trace/base/testing.h"

/* The very code that runs on the device, one warp at a time; of many: access_ring_order_test.c. */

enum { BLOCKS = 64, UNITS = 1 << 16 };

static struct access_ring *ring;

static void make(uint64_t blocks, uint64_t units)
{
    const size_t units_bytes = units * sizeof(struct access_unit);
    struct access_ring_host *host = calloc(1, sizeof *host + units_bytes);
    ring = calloc(1, sizeof *ring + blocks * TOUCH_TABLE_BYTES);
    ck_assert(host && ring);
    *ring = access_ring_empty(host, units, 0, 0);
    ring->blocks = blocks & 0xffffff;
    ring->launch = 1;
}

static void release(void)
{
    free(ring->host);
    free(ring);
}

/* The touch of that number: an access of one lane. */
static struct access_slot touch_at(uint64_t number)
{
    struct access_slot slot;
    ck_assert_uint_eq(access_ring_read(ring->host, ring->units, number, &slot), 1);
    ck_assert_uint_eq(slot.mask, 1);
    ck_assert_uint_eq(slot.bytes, 1);
    ck_assert_uint_eq(slot.pc, 0);
    return slot;
}

START_TEST(a_page_stands_there_once_for_reads_and_once_for_writes_in_the_order_they_came)
{
    make(BLOCKS, UNITS);
    touch_table_touch(ring, 0x7f0000001abc, SAN_FLAG_READ, 7, 1, 0);
    touch_table_touch(ring, 0x7f0000001000, SAN_FLAG_READ, 8, 2, 0);
    touch_table_touch(ring, 0x7f0000000ffc, SAN_FLAG_WRITE, 9, 3, 0);
    touch_table_touch(ring, 0x7f0000001ffc, SAN_FLAG_WRITE, 10, 4, 0);
    touch_table_touch(ring, 0x10000000, SAN_FLAG_READ | SAN_FLAG_WRITE | SAN_FLAG_ATOMIC, 11, 5, 0);
    touch_table_touch(ring, 0x10000000, SAN_FLAG_READ, 12, 6, 0);
    touch_table_touch(ring, 0x10000000, SAN_FLAG_PREFETCH, 13, 7, 0);
    static const struct {
        uint64_t page;
        uint32_t flags, block, warp;
    } expected[] = {{0x7f0000001000, SAN_FLAG_READ, 7, 1},
                    {0x7f0000000000, SAN_FLAG_WRITE, 9, 3},
                    {0x7f0000001000, SAN_FLAG_WRITE, 10, 4},
                    {0x10000000, SAN_FLAG_ATOMIC, 11, 5},
                    {0x10000000, SAN_FLAG_READ, 12, 6}};
    ck_assert_uint_eq(ring->head, sizeof expected / sizeof *expected);
    for (uint64_t i = 0; i < ring->head; i++) {
        const struct access_slot slot = touch_at(i);
        ck_assert_uint_eq(slot.addrs[0], expected[i].page);
        ck_assert_uint_eq(slot.flags, expected[i].flags);
        ck_assert_uint_eq(slot.block, expected[i].block);
        ck_assert_uint_eq(slot.warp, expected[i].warp);
    }
    release();
}
END_TEST

/* As the patch does it, whose every lane looks before one goes on. */
static bool touch(uint64_t address, unsigned flags)
{
    const bool known = touch_table_knows(ring, address, flags);
    if (!known)
        touch_table_touch(ring, address, flags, 0, 0, 0);
    return known;
}

START_TEST(what_is_known_is_known_at_a_look_and_only_in_its_launch)
{
    const uint64_t a = 0x7f0000001000, bytes = BLOCKS * TOUCH_TABLE_BYTES;
    make(BLOCKS, UNITS);
    void *before = malloc(bytes);
    ck_assert_ptr_nonnull(before);
    for (unsigned launch = 1; launch <= TOUCH_LAUNCHES; launch++) {
        ring->launch = launch & 255;
        ck_assert(!touch(a, SAN_FLAG_READ));
        memcpy(before, ring + 1, bytes);
        ck_assert(touch(a + 4095, SAN_FLAG_READ));
        ck_assert(!touch_table_knows(ring, a, SAN_FLAG_WRITE));
        ck_assert(!touch_table_knows(ring, a + 4096, SAN_FLAG_READ));
        ck_assert(!touch_table_knows(ring, a + (1 << TOUCH_BLOCK_BITS), SAN_FLAG_READ));
        ck_assert_mem_eq(before, ring + 1, bytes);
        ck_assert(!touch(a, SAN_FLAG_WRITE));
        ck_assert(touch(a, SAN_FLAG_ATOMIC | SAN_FLAG_READ));
        ck_assert_uint_eq(ring->head, 2 * launch);
    }
    free(before);
    release();
}
END_TEST

START_TEST(what_has_no_room_is_counted)
{
    make(4, 2);
    for (unsigned i = 0; i < 10; i++)
        touch_table_touch(ring, (uint64_t)i << TOUCH_BLOCK_BITS, SAN_FLAG_READ, 0, 0, 0);
    ck_assert_uint_eq(ring->head, 2);
    ck_assert_uint_eq(ring->lost, 2);
    ck_assert_uint_eq(ring->full, 6);
    release();
}
END_TEST

TEST_MAIN("access_ring_touches")
