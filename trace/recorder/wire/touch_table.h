/* touch_table: which pages a patched kernel has touched, in the memory of the device.
 *
 * Behind a struct access_ring, a hash table of the 2 MiB blocks that were touched, with two bits a page (read,
 * written). A page goes into the ring once when it is first read and once when it is first written, in the order in
 * which that came about, as an access of one lane and one byte. What a launch costs is bounded by the pages it touches,
 * not by its length: an access to a page that is known looks at one bit. `full` counts the touches of blocks for which
 * the table had no room, so that what is missing is known.
 * This header is compiled for the device (trace/recorder/inject/sanitizer_patch.cu) and for the host. */
#ifndef TRACE_RECORDER_WIRE_TOUCH_TABLE_H
#define TRACE_RECORDER_WIRE_TOUCH_TABLE_H

#include "trace/recorder/wire/access_ring.h"
#include "trace/recorder/wire/sanitizer_abi.h"

enum { TOUCH_PAGE_BITS = 12, TOUCH_BLOCK_BITS = 21, TOUCH_WORDS = 16, TOUCH_PROBES = 64 };

struct touch_block {
    unsigned long long key; /* number of the block + 1; 0: free */
    unsigned read[TOUCH_WORDS], written[TOUCH_WORDS];
};

/* What stands there now, while others may write it. */
#ifdef __CUDACC__
#define TOUCH_LOOK(at) (*(at))
#else
#define TOUCH_LOOK(at) __atomic_load_n(at, __ATOMIC_RELAXED)
#endif

/* What stood there. */
ACCESS_RING_FUNCTION unsigned long long touch_claim(unsigned long long *key, unsigned long long value)
{
#ifdef __CUDACC__
    return atomicCAS(key, 0ull, value);
#else
    unsigned long long free_key = 0;
    return __atomic_compare_exchange_n(key, &free_key, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ? 0 : free_key;
#endif
}

ACCESS_RING_FUNCTION unsigned touch_or(unsigned *word, unsigned bit)
{
#ifdef __CUDACC__
    return atomicOr(word, bit);
#else
    return __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
#endif
}

/* The table's place of a block, taken if it is new; NULL: the table is full there. */
ACCESS_RING_FUNCTION struct touch_block *touch_table_block(struct access_ring *ring, unsigned long long number)
{
    struct touch_block *table = (struct touch_block *)(ring + 1);
    unsigned long long mask = ring->blocks - 1, at = (number * 0x9E3779B97F4A7C15ull >> 20) & mask;
    for (int i = 0; i < TOUCH_PROBES; i++, at = (at + 1) & mask) {
        unsigned long long key = TOUCH_LOOK(&table[at].key);
        if (key == 0)
            key = touch_claim(&table[at].key, number + 1);
        if (key == 0 || key == number + 1)
            return &table[at];
    }
    return (struct touch_block *)0;
}

/* Set a page's bit; whether it was not set before. */
ACCESS_RING_FUNCTION int touch_first(unsigned words[TOUCH_WORDS], unsigned page)
{
    unsigned bit = 1u << page % 32;
    return !(TOUCH_LOOK(&words[page / 32]) & bit) && !(touch_or(&words[page / 32], bit) & bit);
}

ACCESS_RING_FUNCTION void touch_append(struct access_ring *ring, uint64_t page, unsigned flag, uint32_t block,
                                       uint32_t warp)
{
    const unsigned long long number = access_ring_reserve(ring, 1);
    if (number == ACCESS_RING_NONE)
        return;
    access_ring_describe(access_ring_unit(ring, number), ACCESS_IN_STEP, 0, 1, flag, 1, block, warp, page, 0);
    access_ring_commit(ring, number);
}

/* One thread for all that touch the page together. flags: SAN_FLAG_... */
ACCESS_RING_FUNCTION void touch_table_touch(struct access_ring *ring, uint64_t address, unsigned flags, uint32_t block,
                                            uint32_t warp)
{
    struct touch_block *place = touch_table_block(ring, address >> TOUCH_BLOCK_BITS);
    unsigned page = (unsigned)(address >> TOUCH_PAGE_BITS) & (TOUCH_WORDS * 32 - 1);
    uint64_t at = address >> TOUCH_PAGE_BITS << TOUCH_PAGE_BITS;
    if (!place) {
        (void)ring_count(&ring->full);
        return;
    }
    if ((flags & SAN_FLAG_READ) && !(flags & SAN_FLAG_ATOMIC) && touch_first(place->read, page))
        touch_append(ring, at, SAN_FLAG_READ, block, warp);
    if ((flags & (SAN_FLAG_WRITE | SAN_FLAG_ATOMIC)) && touch_first(place->written, page))
        touch_append(ring, at, flags & SAN_FLAG_ATOMIC ? SAN_FLAG_ATOMIC : SAN_FLAG_WRITE, block, warp);
}

#endif
