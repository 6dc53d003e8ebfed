/* access_ring: how a patched kernel hands its accesses, or the pages it touches first, to the host
 * while it runs: a ring of units in pinned memory of the host, which warps fill and a thread of the injected library
 * drains.
 *
 * A unit has 64 bytes. An access of lanes in step takes one; others take further ones behind it, with each lane's
 * distance from the first address (4 bytes) where all fit, else with its address: addresses are compressed before they
 * cross the link. A warp's leader reserves the units, the lanes write them, the leader commits the first: its `commit`
 * is then its number + 1. Numbers are never used twice, so what an earlier round left is no commit.
 *
 * Reserving: `room` counts the units that are free, and is only ever taken from by who then takes numbers from `head`.
 * It is granted units of the ring to begin with, and what the host has drained since, once. So numbers given out never
 * exceed what was drained by more than the ring has: no unit is written before it was read, and there are no holes. Who
 * finds no room waits, at most `patience` ticks of the clock and ACCESS_RING_POLLS looks, whichever is less; then the
 * access is counted as lost. After one such wait in which nothing at all was drained nobody waits any more until
 * something is: a launch whose host is gone is held up once, not at each access. No loop here has another end than
 * these.
 *
 * This header is compiled for the device (trace/recorder/inject/sanitizer_patch.cu) and for the host, where the
 * stand-in and the test play warps by it. Head, room and the rest are in the memory of the device, so that its atomics
 * stay there; of the host's memory a kernel reads `drained` only, one warp at a time, and only where room is short. */
#ifndef TRACE_RECORDER_WIRE_ACCESS_RING_H
#define TRACE_RECORDER_WIRE_ACCESS_RING_H

#include <stddef.h>
#include <stdint.h>

#include "trace/recorder/wire/sanitizer_abi.h"

#ifdef __CUDACC__
#define ACCESS_RING_FUNCTION static __device__ __forceinline__
#else
#include <time.h>
#define ACCESS_RING_FUNCTION static inline
#endif

enum { ACCESS_RING_POLLS = 1 << 20, ACCESS_UNIT_NARROW = 14, ACCESS_UNIT_WIDE = 7, ACCESS_UNITS_MOST = 6 };
#define ACCESS_RING_NONE (~0ull)
#define ACCESS_RING_OPEN 0x6f66663fu

/* How the addresses of the lanes behind the first are told. */
enum access_shape { ACCESS_IN_STEP, ACCESS_NARROW, ACCESS_WIDE, ACCESS_SHAPES };

struct access_unit {
    unsigned long long commit; /* of the first unit of an access: its number + 1; of the others: whatever was there */
    union {
        struct {
            uint64_t pc, address, stride;             /* address: of the first active lane; stride: in step */
            uint32_t mask, flags, bytes, block, warp; /* as in struct access_slot */
            uint32_t shape;                           /* enum access_shape */
        };
        int32_t narrow[ACCESS_UNIT_NARROW]; /* further active lanes: address - that of the first */
        uint64_t wide[ACCESS_UNIT_WIDE];    /* further active lanes: address */
    };
};

/* In the host's memory. */
struct access_ring_host {
    unsigned long long drained; /* units read, of all there ever were; the host's alone to write */
    uint64_t reserved[7];
    struct access_unit units[];
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
    uint32_t blocks;                 /* of that table */
    uint32_t open;                   /* ACCESS_RING_OPEN: a launch has the ring */
    unsigned long long grid, strays; /* number + 1 of the launch's grid; warp accesses of other grids */
};

/* An access as the host has it. */
struct access_slot {
    uint64_t pc;
    uint32_t mask;      /* active lanes */
    uint32_t flags;     /* SAN_FLAG_... */
    uint32_t bytes;     /* per lane */
    uint32_t block;     /* linear */
    uint32_t warp;      /* in the block */
    uint64_t addrs[32]; /* by lane; those of inactive lanes are not written */
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
ACCESS_RING_FUNCTION unsigned long long ring_load(const unsigned long long *p)
{
    return *(const volatile unsigned long long *)p;
}
ACCESS_RING_FUNCTION void ring_store(unsigned long long *p, unsigned long long value)
{
    __threadfence_system();
    *(volatile unsigned long long *)p = value;
}
ACCESS_RING_FUNCTION unsigned long long ring_add(unsigned long long *p, unsigned long long value)
{
    __threadfence();
    return atomicAdd(p, value);
}
ACCESS_RING_FUNCTION unsigned long long ring_count(unsigned long long *p)
{
    return atomicAdd(p, 1ull); /* a number alone, which nothing is read by */
}
ACCESS_RING_FUNCTION unsigned long long ring_exchange(unsigned long long *p, unsigned long long value)
{
    const unsigned long long before = atomicExch(p, value);
    __threadfence(); /* what the one before wrote is seen: nothing is granted twice */
    return before;
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
#else
static inline unsigned long long ring_load(const unsigned long long *p)
{
    return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}
static inline void ring_store(unsigned long long *p, unsigned long long value)
{
    __atomic_store_n(p, value, __ATOMIC_RELEASE);
}
static inline unsigned long long ring_add(unsigned long long *p, unsigned long long value)
{
    return __atomic_fetch_add(p, value, __ATOMIC_ACQ_REL);
}
static inline unsigned long long ring_count(unsigned long long *p)
{
    return __atomic_fetch_add(p, 1ull, __ATOMIC_RELAXED);
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
#endif

/* What stood there: the first value that comes stays. */
ACCESS_RING_FUNCTION unsigned long long ring_claim(unsigned long long *p, unsigned long long value)
{
#ifdef __CUDACC__
    return atomicCAS(p, 0ull, value);
#else
    unsigned long long none = 0;
    return __atomic_compare_exchange_n(p, &none, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ? 0 : none;
#endif
}

/* Whether a grid is the launch's own, the first that came; others are counted: a kernel that this one launches, or that
 * a graph does, may have been left the same ring. */
ACCESS_RING_FUNCTION int access_ring_owns(struct access_ring *ring, uint64_t grid)
{
    unsigned long long owner = ring_load(&ring->grid);
    if (owner == 0)
        owner = ring_claim(&ring->grid, grid + 1);
    if (owner == 0 || owner == grid + 1)
        return 1;
    (void)ring_count(&ring->strays);
    return 0;
}

/* --- the leader reserves --- */

/* Whether accesses of a block are wanted. */
ACCESS_RING_FUNCTION int access_ring_samples(const struct access_ring *ring, uint32_t block)
{
    return ring->every < 2 || (block + ring->phase) % ring->every == 0;
}

/* Count an access; whether it is to be recorded. */
ACCESS_RING_FUNCTION int access_ring_wants(struct access_ring *ring)
{
    return ring_count(&ring->taken) < ring->capacity;
}

/* Units of an access of so many lanes. */
ACCESS_RING_FUNCTION unsigned access_ring_units(enum access_shape shape, unsigned lanes)
{
    const unsigned each = shape == ACCESS_NARROW ? ACCESS_UNIT_NARROW : ACCESS_UNIT_WIDE;
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
    if (ring_exchange(&ring->polling, 1))
        return;
    const unsigned long long drained = ring_load(&ring->host->drained), known = ring_load(&ring->credited);
    if (drained != known) {
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
    (void)ring_count(&ring->lost);
    return ACCESS_RING_NONE;
}

/* --- the warp writes --- */

ACCESS_RING_FUNCTION struct access_unit *access_ring_unit(const struct access_ring *ring, unsigned long long number)
{
    return &ring->host->units[number & (ring->units - 1)];
}

/* Each active lane behind the first; rank: how many are before it. */
ACCESS_RING_FUNCTION void access_ring_lane(const struct access_ring *ring, unsigned long long number,
                                           enum access_shape shape, unsigned rank, uint64_t address, uint64_t first)
{
    const unsigned i = rank - 1;
    if (shape == ACCESS_NARROW)
        access_ring_unit(ring, number + 1 + i / ACCESS_UNIT_NARROW)->narrow[i % ACCESS_UNIT_NARROW] =
            (int32_t)(uint32_t)(address - first);
    else if (shape == ACCESS_WIDE)
        access_ring_unit(ring, number + 1 + i / ACCESS_UNIT_WIDE)->wide[i % ACCESS_UNIT_WIDE] = address;
}

/* The leader, before it commits: all but `commit`. */
ACCESS_RING_FUNCTION void access_ring_describe(struct access_unit *unit, enum access_shape shape, uint64_t pc,
                                               uint32_t mask, uint32_t flags, uint32_t bytes, uint32_t block,
                                               uint32_t warp, uint64_t address, uint64_t stride)
{
    unit->pc = pc;
    unit->mask = mask;
    unit->flags = flags;
    unit->bytes = bytes;
    unit->block = block;
    unit->warp = warp;
    unit->address = address;
    unit->stride = stride;
    unit->shape = shape;
}

/* The leader, when all lanes have written. */
ACCESS_RING_FUNCTION void access_ring_commit(const struct access_ring *ring, unsigned long long number)
{
    ring_store(&access_ring_unit(ring, number)->commit, number + 1);
}

/* --- which pages a patched kernel has touched, in the memory of the device ---
 *
 * Behind a struct access_ring, a hash table of the 2 MiB blocks that were touched, with two bits a page (read,
 * written). A page goes into the ring once when it is first read and once when it is first written, in the order in
 * which that came about, as an access of one lane and one byte. What a launch costs is bounded by the pages it touches,
 * not by its length: an access to a page that is known looks at one bit. `full` counts the touches of blocks for which
 * the table had no room, so that what is missing is known. */

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
            key = ring_claim(&table[at].key, number + 1);
        if (key == 0 || key == number + 1)
            return &table[at];
    }
    return (struct touch_block *)0;
}

ACCESS_RING_FUNCTION int touch_known(const unsigned words[TOUCH_WORDS], unsigned page)
{
    return TOUCH_LOOK(&words[page / 32]) >> page % 32 & 1;
}

/* Set a page's bit; whether it was not set before. */
ACCESS_RING_FUNCTION int touch_first(unsigned words[TOUCH_WORDS], unsigned page)
{
    return !touch_known(words, page) && !(touch_or(&words[page / 32], 1u << page % 32) >> page % 32 & 1);
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
                                            uint32_t warp, uint64_t grid)
{
    struct touch_block *place = touch_table_block(ring, address >> TOUCH_BLOCK_BITS);
    const int reads = (flags & SAN_FLAG_READ) && !(flags & SAN_FLAG_ATOMIC);
    const int writes = (flags & (SAN_FLAG_WRITE | SAN_FLAG_ATOMIC)) != 0;
    unsigned page = (unsigned)(address >> TOUCH_PAGE_BITS) & (TOUCH_WORDS * 32 - 1);
    uint64_t at = address >> TOUCH_PAGE_BITS << TOUCH_PAGE_BITS;
    if (!place) {
        (void)ring_count(&ring->full);
        return;
    }
    if ((!reads || touch_known(place->read, page)) && (!writes || touch_known(place->written, page)))
        return;
    if (!access_ring_owns(ring, grid))
        return;
    if (reads && touch_first(place->read, page))
        touch_append(ring, at, SAN_FLAG_READ, block, warp);
    if (writes && touch_first(place->written, page))
        touch_append(ring, at, flags & SAN_FLAG_ATOMIC ? SAN_FLAG_ATOMIC : SAN_FLAG_WRITE, block, warp);
}

#ifndef __CUDACC__

/* --- the host reads --- */

/* The access whose first unit is `number`: how many units it has; 0: it is not committed, or is none. */
static inline unsigned access_ring_read(const struct access_ring_host *host, uint64_t units, uint64_t number,
                                        struct access_slot *slot)
{
    const struct access_unit *u = &host->units[number & (units - 1)];
    if (ring_load(&u->commit) != number + 1 || u->mask == 0 || u->shape >= ACCESS_SHAPES)
        return 0;
    const enum access_shape shape = (enum access_shape)u->shape;
    const unsigned each = shape == ACCESS_NARROW ? ACCESS_UNIT_NARROW : ACCESS_UNIT_WIDE;
    unsigned rank = 0;
    *slot = (struct access_slot){u->pc, u->mask, u->flags, u->bytes, u->block, u->warp, {0}};
    for (uint32_t lane = 0; lane < 32; lane++) {
        if (!(slot->mask >> lane & 1))
            continue;
        const struct access_unit *further = &host->units[(number + 1 + (rank - 1) / each) & (units - 1)];
        const unsigned at = (rank - 1) % each;
        slot->addrs[lane] = rank == 0 || shape == ACCESS_IN_STEP ? u->address + rank * u->stride
                            : shape == ACCESS_NARROW             ? u->address + (uint64_t)(int64_t)further->narrow[at]
                                                                 : further->wide[at];
        rank++;
    }
    return access_ring_units(shape, rank);
}

/* Units up to `number` may be written again. */
static inline void access_ring_release(struct access_ring_host *host, uint64_t number)
{
    ring_store(&host->drained, number);
}

#endif
#endif
