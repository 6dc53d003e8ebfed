/* access_ring: how a patched kernel hands its accesses, or the pages it touches first, to the host while it runs: a
 * ring of units in pinned memory of the host, filled by warps and drained by a thread of the injected library.
 *
 * A unit has 64 bytes, eight words. An access of lanes in step takes one; others take further ones behind it, with each
 * lane's distance from the first address (a word) where all fit, else with its address (two): addresses are compressed
 * before they cross the link. A warp's leader reserves the units, then leader and lanes write them.
 *
 * Reserving: `room` counts the units that are free, and is only ever taken from by who then takes numbers from `head`.
 * It is granted units of the ring to begin with, and what the host has drained since, once. So numbers given out never
 * exceed what was drained by more than the ring has: no unit is written before it was read, and there are no holes. Who
 * finds no room waits, at most `patience` ticks of the clock and ACCESS_RING_POLLS looks, whichever is less; then the
 * access is counted as lost. After one such wait in which nothing at all was drained nobody waits any more until
 * something is: a launch whose host is gone is held up once, not at each access. Every loop here ends so.
 *
 * Order: none is needed among the stores of an access, and no fence. A word is stored whole; half of it is data, half a
 * tag of the number of its unit. Numbers are never used twice, so the host has an access when all of its words have
 * their tags. (One release to the system for each access held up a multiprocessor of an H100 for 13 to 18 us.) A unit
 * is written only after it was read: the host reads, then releases `drained`; who learns of it acquires that, then adds
 * to `room`; and a number that hangs on what was added is not known earlier, nor is a store made before its address is.
 * Looks at the table of touches may be late, which costs a second look.
 *
 * This header is compiled for the device (trace/recorder/inject/sanitizer_patch.cu) and for the host, where the
 * stand-in and the test play warps by it. Head, room and the rest are in the memory of the device, so that its atomics
 * stay there; of the host's memory a kernel reads `drained` only, one warp at a time, and only where room is short. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/recorder/wire/sanitizer_abi.h"

#ifdef __CUDACC__
#define ACCESS_RING_FUNCTION static __device__ __forceinline__
#define RING_ROLLED          _Pragma("unroll 1")
#else
#include <time.h>
#define RING_ROLLED
#define ACCESS_RING_FUNCTION static inline
#endif

enum {
    ACCESS_RING_POLLS = 1 << 20,
    ACCESS_UNIT_WORDS = 8,
    ACCESS_UNIT_WIDE = ACCESS_UNIT_WORDS / 2,
    ACCESS_UNITS_MOST = 9
};
#define ACCESS_RING_NONE (~0ull)
#define ACCESS_RING_OPEN 0x6f66663fu

/* How the addresses of the lanes behind the first are told. */
enum access_shape { ACCESS_IN_STEP, ACCESS_NARROW, ACCESS_WIDE, ACCESS_SHAPES };

/* Of the first unit: the active lanes; flags, shape, warp and bytes; the first address, low half first; the program
 * counter; the block; the stride. Of the others: distances, or addresses as the first. */
struct access_unit {
    uint64_t words[ACCESS_UNIT_WORDS]; /* data, and above it the tag */
};

/* In the host's memory. */
struct access_ring_host {
    unsigned long long drained; /* units read, of all there ever were; the host's alone to write */
    uint64_t reserved[7];
    struct access_unit units[]; /* aligned to 16 bytes */
};

/* In the device's memory. */
struct access_ring {
    unsigned long long taken;    /* accesses; of touches none is counted here */
    unsigned long long capacity; /* numbers past it are counted, and not recorded */
    uint32_t every, phase;       /* only blocks whose number + phase is a multiple of `every` are recorded; 0, 1: all */
    unsigned long long head;     /* units reserved, of all there ever were */
    unsigned long long room;     /* signed: units that may be reserved */
    unsigned long long credited; /* drained units that room was granted */
    unsigned long long lost;     /* accesses that waited in vain */
    unsigned long long polling;  /* 1: a warp looks at `drained` */
    unsigned long long hopeless; /* 1: a whole wait saw nothing drained */
    unsigned long long units;    /* of the ring: a power of two */
    unsigned long long patience; /* ticks */
    struct access_ring_host *host;
    unsigned long long full;         /* touches without room in the table behind this */
    uint32_t blocks : 24;            /* of that table: a power of two */
    uint32_t launch : 8;             /* what marks its bytes: 1 to TOUCH_LAUNCHES */
    uint32_t open;                   /* ACCESS_RING_OPEN: a launch has the ring */
    unsigned long long grid, strays; /* number + 1 of the launch's grid; warp accesses of other grids */
};

/* A ring that is empty, `at` units after its beginning; of accesses without end. */
static inline struct access_ring access_ring_empty(struct access_ring_host *host, uint64_t units, uint64_t at,
                                                   uint64_t patience)
{
    struct access_ring ring = {0};
    ring.capacity = ~0ull;
    ring.head = ring.credited = at;
    ring.room = ring.units = units;
    ring.patience = patience;
    ring.host = host;
    ring.open = ACCESS_RING_OPEN;
    return ring;
}

/* --- what a launch is given, in place of the ring's address ---
 *
 * A patched kernel that nobody gave anything (in a CUDA graph, or launched by another kernel) finds whatever stood
 * there, and must run as if it were not patched. So the address comes with a sum of it in the bits that no address has:
 * 15 at the top, 8 at the bottom. What passes for one by chance must still be an open ring. */

enum { ACCESS_RING_ALIGNED = 256, ACCESS_RING_ADDRESS_BITS = 49 };

ACCESS_RING_FUNCTION uint64_t ring_sum(uint64_t address)
{
    const uint64_t sum = ((address >> 8) + 1) * 0x9E3779B97F4A7C15ull;
    return (sum >> 41 & 0xff) | sum >> ACCESS_RING_ADDRESS_BITS << ACCESS_RING_ADDRESS_BITS;
}

/* 0: the address does not allow it. */
static inline uint64_t access_ring_handle(const void *ring)
{
    const uint64_t address = (uint64_t)ring;
    if (!ring || address % ACCESS_RING_ALIGNED || address >> ACCESS_RING_ADDRESS_BITS)
        return 0;
    return address | ring_sum(address);
}

/* The ring of what the launch has; NULL: it has none. */
ACCESS_RING_FUNCTION struct access_ring *access_ring_of(const void *handle)
{
    const uint64_t value = (uint64_t)handle;
    const uint64_t address = value & (((uint64_t)1 << ACCESS_RING_ADDRESS_BITS) - ACCESS_RING_ALIGNED);
    if (address == 0 || (address | ring_sum(address)) != value)
        return (struct access_ring *)0;
    return ((struct access_ring *)address)->open == ACCESS_RING_OPEN ? (struct access_ring *)address
                                                                     : (struct access_ring *)0;
}

/* --- what device and host do in their own words --- */

#ifdef __CUDACC__
/* Ring and table lie in global memory: said so, there is no second path for shared memory. */
#define RING_AT(p) "l"(__cvta_generic_to_global(p))
ACCESS_RING_FUNCTION unsigned long long ring_load(const unsigned long long *p)
{
    unsigned long long value;
    asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(value) : RING_AT(p) : "memory");
    return value;
}
ACCESS_RING_FUNCTION void ring_fence()
{
#if __CUDA_ARCH__ >= 700
    asm volatile("fence.acq_rel.sys;" ::: "memory");
#else
    __threadfence_system();
#endif
}
/* What was written before is seen before it. A release, not __threadfence_system(), which empties the first-level cache
 * each time (CCTL.IVALL). */
ACCESS_RING_FUNCTION void ring_store(unsigned long long *p, unsigned long long value)
{
#if __CUDA_ARCH__ >= 700
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::RING_AT(p), "l"(value) : "memory");
#else
    __threadfence_system();
    *(volatile unsigned long long *)p = value;
#endif
}
/* Two words; each is seen whole, either first. */
ACCESS_RING_FUNCTION void ring_put_pair(uint64_t *at, uint64_t first, uint64_t second)
{
    asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::RING_AT(at), "l"(first), "l"(second) : "memory");
}
ACCESS_RING_FUNCTION void ring_put(uint64_t *at, uint64_t word)
{
    asm volatile("st.volatile.global.u64 [%0], %1;" ::RING_AT(at), "l"(word) : "memory");
}
/* These order nothing. */
ACCESS_RING_FUNCTION unsigned long long ring_add(unsigned long long *p, unsigned long long value)
{
    unsigned long long before;
    asm volatile("atom.global.add.u64 %0, [%1], %2;" : "=l"(before) : RING_AT(p), "l"(value) : "memory");
    return before;
}
ACCESS_RING_FUNCTION unsigned long long ring_exchange(unsigned long long *p, unsigned long long value)
{
    unsigned long long before;
    asm volatile("atom.global.exch.b64 %0, [%1], %2;" : "=l"(before) : RING_AT(p), "l"(value) : "memory");
    return before;
}
/* What stood there: if it is what was expected, the value stands there now. */
ACCESS_RING_FUNCTION unsigned long long ring_swap(unsigned long long *p, unsigned long long expected,
                                                  unsigned long long value)
{
    unsigned long long before;
    asm volatile("atom.global.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(before)
                 : RING_AT(p), "l"(expected), "l"(value)
                 : "memory");
    return before;
}
/* What stands there now, or stood there some time ago: a plain load, of the whole word that others change. */
ACCESS_RING_FUNCTION unsigned long long ring_look(const unsigned long long *p)
{
    return *p;
}
ACCESS_RING_FUNCTION unsigned long long ring_clock()
{
    return (unsigned long long)clock64();
}
ACCESS_RING_FUNCTION void ring_nap()
{
#if __CUDA_ARCH__ >= 700
    __nanosleep(500);
#endif
}
#elif !defined ACCESS_RING_MODEL /* else a test has words of its own */
static inline unsigned long long ring_load(const unsigned long long *p)
{
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}
static inline void ring_store(unsigned long long *p, unsigned long long value)
{
    __atomic_store_n(p, value, __ATOMIC_RELEASE);
}
static inline void ring_put(uint64_t *at, uint64_t word)
{
    __atomic_store_n(at, word, __ATOMIC_RELAXED);
}
static inline void ring_put_pair(uint64_t *at, uint64_t first, uint64_t second)
{
    ring_put(at + 1, second);
    ring_put(at, first);
}
static inline unsigned long long ring_add(unsigned long long *p, unsigned long long value)
{
    return __atomic_fetch_add(p, value, __ATOMIC_ACQ_REL);
}
static inline unsigned long long ring_exchange(unsigned long long *p, unsigned long long value)
{
    return __atomic_exchange_n(p, value, __ATOMIC_ACQ_REL);
}
static inline unsigned long long ring_clock(void) /* a tick is 1 ns */
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (unsigned long long)t.tv_sec * 1000000000ull + (unsigned long long)t.tv_nsec;
}
static inline void ring_nap(void)
{
    const struct timespec t = {0, 500};
    (void)nanosleep(&t, NULL);
}
static inline unsigned long long ring_swap(unsigned long long *p, unsigned long long expected, unsigned long long value)
{
    (void)__atomic_compare_exchange_n(p, &expected, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}
static inline unsigned long long ring_look(const unsigned long long *p)
{
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}
static inline void ring_fence(void) /* what stands around it orders by itself */
{
}
#endif

/* Whether a grid is the launch's own, the first that came; others are counted: a kernel that this one launches, or that
 * a graph does, may have been left the same ring. */
ACCESS_RING_FUNCTION int access_ring_owns(struct access_ring *ring, uint64_t grid)
{
    unsigned long long owner = ring_load(&ring->grid);
    if (owner == 0)
        owner = ring_swap(&ring->grid, 0, grid + 1);
    if (owner == 0 || owner == grid + 1)
        return 1;
    (void)ring_add(&ring->strays, 1);
    return 0;
}

/* --- the leader reserves --- */

/* Whether accesses of a block are wanted. */
ACCESS_RING_FUNCTION int access_ring_samples(const struct access_ring *ring, uint32_t block)
{
    return ring->every < 2 || (block + ring->phase) % ring->every == 0;
}

/* Units of an access of so many lanes. */
ACCESS_RING_FUNCTION unsigned access_ring_units(enum access_shape shape, unsigned lanes)
{
    const unsigned each = shape == ACCESS_NARROW ? ACCESS_UNIT_WORDS : ACCESS_UNIT_WIDE;
    return shape == ACCESS_IN_STEP ? 1 : 1 + (lanes - 1 + each - 1) / each;
}

ACCESS_RING_FUNCTION unsigned long long ring_try(struct access_ring *ring, unsigned long long units)
{
    if ((long long)ring_load(&ring->room) < (long long)units)
        return ACCESS_RING_NONE;
    if ((long long)ring_add(&ring->room, 0 - units) >= (long long)units)
        return ring_add(&ring->head, units);
    (void)ring_add(&ring->room, units);
    return ACCESS_RING_NONE;
}

/* Grant what was drained since the last look, unless another warp is about to. */
ACCESS_RING_FUNCTION void ring_learn(struct access_ring *ring)
{
    if (ring_load(&ring->polling) || ring_exchange(&ring->polling, 1))
        return;
    ring_fence(); /* what the one before wrote is seen: nothing is granted twice */
    const unsigned long long drained = ring_load(&ring->host->drained), known = ring_load(&ring->credited);
    if (drained != known) {
        ring_fence(); /* what the host has read comes before what is written into the room */
        ring_store(&ring->credited, drained);
        ring_store(&ring->hopeless, 0);
        (void)ring_add(&ring->room, drained - known);
    }
    ring_store(&ring->polling, 0);
}

/* Numbers for `units` units: the first; ACCESS_RING_NONE: there was no room in time, and that is counted. */
ACCESS_RING_FUNCTION unsigned long long access_ring_reserve(struct access_ring *ring, unsigned units)
{
    unsigned long long number = ring_try(ring, units);
    if (number != ACCESS_RING_NONE)
        return number;
    const unsigned long long start = ring_clock(), known = ring_load(&ring->credited);
    RING_ROLLED
    for (int polls = 0; polls < ACCESS_RING_POLLS; polls++) {
        ring_learn(ring);
        number = ring_try(ring, units);
        if (number != ACCESS_RING_NONE)
            return number;
        if (ring_load(&ring->hopeless) || ring_clock() - start >= ring->patience)
            break;
        ring_nap();
    }
    if (ring_load(&ring->credited) == known)
        ring_store(&ring->hopeless, 1);
    (void)ring_add(&ring->lost, 1);
    return ACCESS_RING_NONE;
}

/* --- the warp writes --- */

ACCESS_RING_FUNCTION struct access_unit *access_ring_unit(const struct access_ring *ring, unsigned long long number)
{
    return &ring->host->units[number & (ring->units - 1)];
}

/* The tag of a unit's words: never 0, which memory that nobody wrote has. */
ACCESS_RING_FUNCTION uint32_t access_ring_tag(unsigned long long number)
{
    return (uint32_t)number << 1 | 1;
}

/* A word of data in its lower half. */
ACCESS_RING_FUNCTION uint64_t ring_word(unsigned long long number, uint64_t data)
{
    return (uint64_t)access_ring_tag(number) << 32 | (uint32_t)data;
}

/* Each active lane behind the first; rank: how many are before it. */
ACCESS_RING_FUNCTION void access_ring_lane(const struct access_ring *ring, unsigned long long number,
                                           enum access_shape shape, unsigned rank, uint64_t address, uint64_t first)
{
    const unsigned i = rank - 1;
    if (shape == ACCESS_NARROW) {
        number += 1 + i / ACCESS_UNIT_WORDS;
        ring_put(&access_ring_unit(ring, number)->words[i % ACCESS_UNIT_WORDS], ring_word(number, address - first));
    } else if (shape == ACCESS_WIDE) {
        const unsigned word = i % ACCESS_UNIT_WIDE * 2;
        number += 1 + i / ACCESS_UNIT_WIDE;
        ring_put_pair(&access_ring_unit(ring, number)->words[word], ring_word(number, address),
                      ring_word(number, address >> 32));
    }
}

enum { ACCESS_FLAG_BITS = 8, ACCESS_SHAPE_BITS = 2, ACCESS_WARP_BITS = 8, ACCESS_BYTES_BITS = 14 };

/* The leader. stride: what fits a word, of lanes in step; bytes: of a lane. Flags that we do not know are left out. */
ACCESS_RING_FUNCTION void access_ring_describe(const struct access_ring *ring, unsigned long long number,
                                               enum access_shape shape, uint64_t pc, uint32_t mask, uint32_t flags,
                                               uint32_t bytes, uint32_t block, uint32_t warp, uint64_t address,
                                               uint64_t stride)
{
    uint64_t *words = access_ring_unit(ring, number)->words;
    const uint32_t packed =
        (((bytes << ACCESS_WARP_BITS | warp) << ACCESS_SHAPE_BITS | (uint32_t)shape) << ACCESS_FLAG_BITS) |
        (flags & ((1u << ACCESS_FLAG_BITS) - 1));
    ring_put_pair(words, ring_word(number, mask), ring_word(number, packed));
    ring_put_pair(words + 2, ring_word(number, address), ring_word(number, address >> 32));
    ring_put_pair(words + 4, ring_word(number, pc), ring_word(number, pc >> 32));
    ring_put_pair(words + 6, ring_word(number, block), ring_word(number, shape == ACCESS_IN_STEP ? stride : 0));
}

/* --- which pages a patched kernel has touched, in the memory of the device ---
 *
 * Behind a struct access_ring, a hash table of the 2 MiB blocks that were touched: their keys, then two bytes a page
 * (read, written), marked by the launch's number; bytes, so that neighbours are not all in one sector. A page goes into
 * the ring once when it is first read and once when it is first written, in that order, as an access of one lane and
 * one byte. An access to a known page loads its key and its byte, maybe out of date, and writes nothing; else one lane
 * for each page looks again, past the caches. `full` counts touches of blocks for which the table had no room. */

enum {
    TOUCH_PAGE_BITS = 12,
    TOUCH_BLOCK_BITS = 21,
    TOUCH_PAGES = 1 << (TOUCH_BLOCK_BITS - TOUCH_PAGE_BITS),
    TOUCH_PROBES = 64,
    TOUCH_LAUNCHES = 255,
    TOUCH_TABLE_BYTES = 8 + 2 * TOUCH_PAGES /* a block */
};
#define TOUCH_NO_PLACE (~0u)

ACCESS_RING_FUNCTION uint32_t touch_place(const struct access_ring *ring, uint64_t number)
{
    return ((uint32_t)number * 0x9E3779B1u >> 8) & (ring->blocks - 1);
}

ACCESS_RING_FUNCTION unsigned long long *touch_keys(const struct access_ring *ring)
{
    return (unsigned long long *)(ring + 1);
}

/* The word of a page's byte; written: of those written, not read. */
ACCESS_RING_FUNCTION unsigned long long *touch_word(const struct access_ring *ring, uint32_t place, unsigned page,
                                                    unsigned written)
{
    return touch_keys(ring) + (ring->blocks + (place * 2 + written) * (TOUCH_PAGES / 8) + page / 8);
}

ACCESS_RING_FUNCTION int touch_reads(unsigned flags)
{
    return (flags & SAN_FLAG_READ) && !(flags & SAN_FLAG_ATOMIC);
}

ACCESS_RING_FUNCTION int touch_writes(unsigned flags)
{
    return (flags & (SAN_FLAG_WRITE | SAN_FLAG_ATOMIC)) != 0;
}

/* Whether a page is known: by plain loads, which may be out of date and then say no. Each lane for itself. */
ACCESS_RING_FUNCTION int touch_table_knows(const struct access_ring *ring, uint64_t address, unsigned flags)
{
    const uint64_t number = address >> TOUCH_BLOCK_BITS;
    const uint32_t place = touch_place(ring, number);
    const unsigned page = (unsigned)(address >> TOUCH_PAGE_BITS) % TOUCH_PAGES, writes = (unsigned)touch_writes(flags);
    if (ring_look(touch_keys(ring) + place) != number + 1 || (writes && touch_reads(flags)))
        return 0;
    return (uint8_t)(ring_look(touch_word(ring, place, page, writes)) >> page % 8 * 8) == ring->launch;
}

/* The table's place of a block, taken if it is new; TOUCH_NO_PLACE: the table is full there. */
ACCESS_RING_FUNCTION uint32_t touch_table_block(struct access_ring *ring, uint64_t number)
{
    uint32_t at = touch_place(ring, number);
    RING_ROLLED
    for (int i = 0; i < TOUCH_PROBES; i++, at = (at + 1) & (ring->blocks - 1)) {
        unsigned long long key = ring_look(touch_keys(ring) + at); /* once it stands there it stays */
        if (key == 0)
            key = ring_swap(touch_keys(ring) + at, 0, number + 1);
        if (key == 0 || key == number + 1)
            return at;
    }
    return TOUCH_NO_PLACE;
}

/* Mark a page's byte; whether it was not marked before. Each of the word's bytes changes once a launch at most. */
ACCESS_RING_FUNCTION int touch_first(struct access_ring *ring, uint32_t place, unsigned page, unsigned written,
                                     uint64_t grid)
{
    unsigned long long *word = touch_word(ring, place, page, written), stands = ring_load(word), seen;
    const unsigned shift = page % 8 * 8;
    while ((stands >> shift & 255) != ring->launch && access_ring_owns(ring, grid)) {
        seen = stands;
        stands = ring_swap(word, seen, (seen & ~(255ull << shift)) | (unsigned long long)ring->launch << shift);
        if (stands == seen)
            return 1;
    }
    return 0;
}

ACCESS_RING_FUNCTION void touch_append(struct access_ring *ring, uint64_t page, unsigned flag, uint32_t block,
                                       uint32_t warp)
{
    const unsigned long long number = access_ring_reserve(ring, 1);
    if (number == ACCESS_RING_NONE)
        return;
    access_ring_describe(ring, number, ACCESS_IN_STEP, 0, 1, flag, 1, block, warp, page, 0);
}

/* One thread for all that touch the page together. flags: SAN_FLAG_... */
ACCESS_RING_FUNCTION void touch_table_touch(struct access_ring *ring, uint64_t address, unsigned flags, uint32_t block,
                                            uint32_t warp, uint64_t grid)
{
    const uint32_t place = touch_table_block(ring, address >> TOUCH_BLOCK_BITS);
    const unsigned page = (unsigned)(address >> TOUCH_PAGE_BITS) % TOUCH_PAGES;
    const uint64_t at = address >> TOUCH_PAGE_BITS << TOUCH_PAGE_BITS;
    if (place == TOUCH_NO_PLACE)
        (void)ring_add(&ring->full, 1);
    else if (touch_reads(flags) && touch_first(ring, place, page, 0, grid))
        touch_append(ring, at, SAN_FLAG_READ, block, warp);
    if (place != TOUCH_NO_PLACE && touch_writes(flags) && touch_first(ring, place, page, 1, grid))
        touch_append(ring, at, flags & SAN_FLAG_ATOMIC ? SAN_FLAG_ATOMIC : SAN_FLAG_WRITE, block, warp);
}

#ifndef __CUDACC__

/* --- the host reads --- */

/* An access as its units tell it. */
struct access_told {
    uint64_t pc, address, stride;       /* address: of the first active lane; stride: in step */
    uint32_t mask, flags, bytes, block; /* active lanes; SAN_FLAG_...; per lane; linear */
    uint32_t warp, units;               /* in the block; that it takes */
    enum access_shape shape;
};

/* The data of words of a unit; false: some are not there yet. */
static inline bool access_ring_words(const struct access_ring_host *host, uint64_t units, uint64_t number, unsigned n,
                                     uint32_t data[ACCESS_UNIT_WORDS])
{
    const uint64_t *words = host->units[number & (units - 1)].words;
    uint32_t other = 0;
    for (unsigned i = 0; i < n; i++) {
        const uint64_t word = __atomic_load_n(&words[i], __ATOMIC_RELAXED);
        other |= (uint32_t)(word >> 32) ^ access_ring_tag(number);
        data[i] = (uint32_t)word;
    }
    return other == 0;
}

/* The access whose first unit is `number`, and, unless they are in step, the addresses of its active lanes, in lane
 * order; false: not all of it is there, or it is none. */
static inline bool access_ring_next(const struct access_ring_host *host, uint64_t units, uint64_t number,
                                    struct access_told *told, uint64_t addrs[32])
{
    uint32_t w[ACCESS_UNIT_WORDS];
    if (!access_ring_words(host, units, number, ACCESS_UNIT_WORDS, w) || w[0] == 0)
        return false;
    const uint32_t shape = w[1] >> ACCESS_FLAG_BITS & ((1u << ACCESS_SHAPE_BITS) - 1),
                   n = (uint32_t)__builtin_popcount(w[0]);
    *told =
        (struct access_told){.pc = w[4] | (uint64_t)w[5] << 32,
                             .address = w[2] | (uint64_t)w[3] << 32,
                             .stride = (uint64_t)(int64_t)(int32_t)w[7],
                             .mask = w[0],
                             .flags = w[1] & ((1u << ACCESS_FLAG_BITS) - 1),
                             .bytes = w[1] >> (ACCESS_FLAG_BITS + ACCESS_SHAPE_BITS + ACCESS_WARP_BITS),
                             .block = w[6],
                             .warp = w[1] >> (ACCESS_FLAG_BITS + ACCESS_SHAPE_BITS) & ((1u << ACCESS_WARP_BITS) - 1),
                             .shape = (enum access_shape)shape};
    if (shape >= ACCESS_SHAPES)
        return false;
    told->units = access_ring_units(told->shape, n);
    addrs[0] = told->address;
    const uint32_t each = told->shape == ACCESS_NARROW ? ACCESS_UNIT_WORDS : ACCESS_UNIT_WIDE;
    for (uint32_t i = 1; i < n && told->shape != ACCESS_IN_STEP; i++) {
        const uint32_t left = n - i < each ? n - i : each, width = ACCESS_UNIT_WORDS / each,
                       at = (i - 1) % each * width;
        if (at == 0 && !access_ring_words(host, units, number + 1 + (i - 1) / each, left * width, w))
            return false;
        addrs[i] = width == 1 ? told->address + (uint64_t)(int64_t)(int32_t)w[at] : w[at] | (uint64_t)w[at + 1] << 32;
    }
    return true;
}

/* Of the i-th active lane. */
static inline uint64_t access_told_address(const struct access_told *told, const uint64_t addrs[32], uint32_t i)
{
    return told->shape == ACCESS_IN_STEP ? told->address + i * told->stride : addrs[i];
}

/* Units up to `number` may be written again. */
static inline void access_ring_release(struct access_ring_host *host, uint64_t number)
{
    ring_store(&host->drained, number);
}

#endif
