/* touch_buffer: where a patched kernel notes the pages that it touches, in the memory of the device; one buffer a
 * launch.
 *
 * A header; behind it a hash table of the 2 MiB blocks that were touched, with two bits a page (read, written); behind
 * that the touches themselves, each page appended once when it is first read and once when it is first written, in the
 * order in which that came about. What a launch costs is bounded by the pages it touches, not by its length: an access
 * to a page that is known looks at one bit. `taken` counts past the capacity too, and `full` the touches of blocks for
 * which the table had no room, so that what is missing is known.
 * This header is compiled for the device (trace/recorder/inject/sanitizer_patch.cu) and for the host, which reads the
 * touches. Its header begins as that of access_buffer.h does. */
#ifndef TRACE_RECORDER_WIRE_TOUCH_BUFFER_H
#define TRACE_RECORDER_WIRE_TOUCH_BUFFER_H

#include "trace/recorder/wire/access_buffer.h"
#include "trace/recorder/wire/sanitizer_abi.h"

enum { TOUCH_PAGE_BITS = 12, TOUCH_BLOCK_BITS = 21, TOUCH_WORDS = 16, TOUCH_PROBES = 64 };

struct touch_buffer {
    unsigned long long taken; /* touches, in the order of appending */
    unsigned long long capacity;
    unsigned long long blocks; /* of the table: a power of two */
    unsigned long long full;
    uint64_t reserved[4];
};

struct touch_block {
    unsigned long long key; /* number of the block + 1; 0: free */
    unsigned read[TOUCH_WORDS], written[TOUCH_WORDS];
};

struct touch_entry {
    uint64_t page; /* byte address of the page | SAN_FLAG_READ, _WRITE or _ATOMIC; 0: not written yet */
    uint64_t who;  /* linear block << 32 | warp in it */
};

/* Bytes of a buffer. */
static inline uint64_t touch_buffer_bytes(uint64_t blocks, uint64_t capacity)
{
    return sizeof(struct touch_buffer) + blocks * sizeof(struct touch_block) + capacity * sizeof(struct touch_entry);
}

ACCESS_BUFFER_FUNCTION struct touch_entry *touch_buffer_entries(struct touch_buffer *buffer)
{
    return (struct touch_entry *)((struct touch_block *)(buffer + 1) + buffer->blocks);
}

/* What stands there now, while others may write it. */
#ifdef __CUDACC__
#define TOUCH_LOOK(at) (*(at))
#else
#define TOUCH_LOOK(at) __atomic_load_n(at, __ATOMIC_RELAXED)
#endif

ACCESS_BUFFER_FUNCTION unsigned long long touch_add(unsigned long long *n)
{
#ifdef __CUDACC__
    return atomicAdd(n, 1ull);
#else
    return __atomic_fetch_add(n, 1ull, __ATOMIC_RELAXED);
#endif
}

/* What stood there. */
ACCESS_BUFFER_FUNCTION unsigned long long touch_claim(unsigned long long *key, unsigned long long value)
{
#ifdef __CUDACC__
    return atomicCAS(key, 0ull, value);
#else
    unsigned long long free_key = 0;
    return __atomic_compare_exchange_n(key, &free_key, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ? 0 : free_key;
#endif
}

ACCESS_BUFFER_FUNCTION unsigned touch_or(unsigned *word, unsigned bit)
{
#ifdef __CUDACC__
    return atomicOr(word, bit);
#else
    return __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
#endif
}

/* The table's place of a block, taken if it is new; NULL: the table is full there. */
ACCESS_BUFFER_FUNCTION struct touch_block *touch_buffer_block(struct touch_buffer *buffer, unsigned long long number)
{
    struct touch_block *table = (struct touch_block *)(buffer + 1);
    unsigned long long mask = buffer->blocks - 1, at = (number * 0x9E3779B97F4A7C15ull >> 20) & mask;
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
ACCESS_BUFFER_FUNCTION int touch_first(unsigned words[TOUCH_WORDS], unsigned page)
{
    unsigned bit = 1u << page % 32;
    return !(TOUCH_LOOK(&words[page / 32]) & bit) && !(touch_or(&words[page / 32], bit) & bit);
}

ACCESS_BUFFER_FUNCTION void touch_append(struct touch_buffer *buffer, uint64_t page, unsigned flag, uint64_t who)
{
    unsigned long long number = touch_add(&buffer->taken);
    if (number >= buffer->capacity)
        return;
    struct touch_entry *entry = touch_buffer_entries(buffer) + number;
    entry->who = who;
    entry->page = page | flag;
}

/* One thread for all that touch the page together. flags: SAN_FLAG_... */
ACCESS_BUFFER_FUNCTION void touch_buffer_touch(struct touch_buffer *buffer, uint64_t address, unsigned flags,
                                               uint64_t who)
{
    struct touch_block *block = touch_buffer_block(buffer, address >> TOUCH_BLOCK_BITS);
    unsigned page = (unsigned)(address >> TOUCH_PAGE_BITS) & (TOUCH_WORDS * 32 - 1);
    uint64_t at = address >> TOUCH_PAGE_BITS << TOUCH_PAGE_BITS;
    if (!block) {
        (void)touch_add(&buffer->full);
        return;
    }
    if ((flags & SAN_FLAG_READ) && !(flags & SAN_FLAG_ATOMIC) && touch_first(block->read, page))
        touch_append(buffer, at, SAN_FLAG_READ, who);
    if ((flags & (SAN_FLAG_WRITE | SAN_FLAG_ATOMIC)) && touch_first(block->written, page))
        touch_append(buffer, at, flags & SAN_FLAG_ATOMIC ? SAN_FLAG_ATOMIC : SAN_FLAG_WRITE, who);
}

#endif
