/* The patch itself, lane by lane, on a machine that lets a store be seen whenever it likes unless something orders it.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "trace/base/random.h"
#include "trace/base/testing.h"

enum { WARPS = 3, LANES = 32, STACK = 32 << 10, PENDING = 4096, EACH = 60 };

/* What may be left out, one at a time. */
enum { EVERY_WORD = 1, READ_FIRST = 2, ALL = 3 };

/* A store that is not seen yet. */
struct pending {
    uint64_t *at;
    uint64_t value;
};

struct lane {
    ucontext_t context;
    bool runs, inside, waits; /* inside: of an access */
    unsigned turn;
    unsigned long long given[2];
    char stack[STACK];
};

static struct {
    unsigned order; /* RELEASE | ... */
    struct random random;
    struct lane lanes[WARPS][LANES];
    uint32_t together[WARPS]; /* who met last */
    struct pending pending[PENDING];
    size_t waiting;
    unsigned warp, lane; /* that runs; warp WARPS: the host */
    bool hurry;          /* nobody waits for room */
    unsigned long long ticks;
    const unsigned long long *drained;
    unsigned long long seen; /* of it, maybe some time ago */
    ucontext_t scheduler;
} gpu;

/* --- its memory --- */

static void yield(void)
{
    struct lane *l = &gpu.lanes[gpu.warp][gpu.lane];
    swapcontext(&l->context, &gpu.scheduler);
}

/* Others may run here; the host is not in a hurry. */
static void anything(void)
{
    if (gpu.warp < WARPS && random_below(&gpu.random, 4) == 0)
        yield();
}

static void land(size_t i)
{
    *gpu.pending[i].at = gpu.pending[i].value;
    gpu.pending[i] = gpu.pending[--gpu.waiting];
}

static void ring_put(uint64_t *at, uint64_t word)
{
    ck_assert_uint_lt(gpu.waiting, PENDING);
    gpu.pending[gpu.waiting++] = (struct pending){at, word};
}

static void ring_put_pair(uint64_t *at, uint64_t first, uint64_t second)
{
    ring_put(at, first);
    ring_put(at + 1, second);
}

static unsigned long long ring_load(const unsigned long long *p)
{
    anything();
    if (p != gpu.drained)
        return *p;
    gpu.seen = random_below(&gpu.random, 2) ? gpu.seen : *p;
    return gpu.seen;
}

static unsigned long long ring_look(const unsigned long long *p)
{
    return random_below(&gpu.random, 2) ? 0 : *p;
}

static void ring_store(unsigned long long *p, unsigned long long value)
{
    *p = value;
    anything();
}

static unsigned long long ring_add(unsigned long long *p, unsigned long long value)
{
    anything();
    *p += value;
    return *p - value;
}

static unsigned long long ring_exchange(unsigned long long *p, unsigned long long value)
{
    anything();
    const unsigned long long before = *p;
    *p = value;
    return before;
}

static unsigned long long ring_swap(unsigned long long *p, unsigned long long expected, unsigned long long value)
{
    anything();
    const unsigned long long before = *p;
    *p = before == expected ? value : before;
    return before;
}

static void ring_fence(void)
{
}

static unsigned long long ring_clock(void)
{
    return gpu.hurry ? gpu.ticks++ : 0;
}

static void ring_nap(void)
{
    yield();
}

/* --- its warps --- */

static const struct {
    uint32_t x, y, z;
} gridDim = {WARPS, 1, 1}, blockDim = {LANES, 1, 1};
#define blockIdx  ((struct { uint32_t x, y, z; }){gpu.warp, 0, 0})
#define threadIdx ((struct { uint32_t x, y, z; }){gpu.lane, 0, 0})

/* Until all lanes that still run are here; what the one asked for gave. */
static unsigned long long meet(unsigned long long value, int from)
{
    struct lane *lanes = gpu.lanes[gpu.warp], *l = &lanes[gpu.lane];
    const unsigned turn = l->turn++ & 1;
    l->given[turn] = value;
    l->waits = true;
    yield();
    return lanes[from < 0 ? (int)gpu.lane : from].given[turn];
}

static uint32_t __activemask(void)
{
    (void)meet(0, -1);
    return gpu.together[gpu.warp];
}

static unsigned long long __shfl_sync(uint32_t mask, unsigned long long value, int from)
{
    (void)mask;
    return meet(value, from);
}

static uint32_t __match_any_sync(uint32_t mask, unsigned long long value)
{
    uint32_t same = 0;
    (void)meet(value, -1);
    const unsigned turn = (gpu.lanes[gpu.warp][gpu.lane].turn - 1) & 1;
    for (uint32_t lane = 0; lane < LANES; lane++)
        same |= (uint32_t)(mask >> lane & 1 && gpu.lanes[gpu.warp][lane].given[turn] == value) << lane;
    return same;
}

static int __all_sync(uint32_t mask, int value)
{
    int all = 1;
    (void)meet((unsigned)value, -1);
    const unsigned turn = (gpu.lanes[gpu.warp][gpu.lane].turn - 1) & 1;
    for (uint32_t lane = 0; lane < LANES; lane++)
        all &= !(mask >> lane & 1) || gpu.lanes[gpu.warp][lane].given[turn];
    return all;
}

#define __ffs               __builtin_ffs
#define __popc(x)           ((unsigned)__builtin_popcount(x))
#define __isShared(address) ((uint64_t)(address) == 1)
#define __isLocal(address)  ((uint64_t)(address) == 2)
#define PATCH_FUNCTION      static inline
#define PATCH_ENTRY         static
#define ACCESS_RING_MODEL

static uint32_t lane_number(void)
{
    return gpu.lane;
}

static uint64_t grid_number(void)
{
    return 7;
}

#include "trace/recorder/inject/sanitizer_patch.cu"

/* --- what each lane does --- */

enum { UNITS = 16, PAGES = 40, BLOCKS = 4 };

static struct {
    struct access_ring ring __attribute__((aligned(ACCESS_RING_ALIGNED)));
    unsigned long long table[BLOCKS * TOUCH_TABLE_BYTES / 8];
} device;
static union {
    struct access_ring_host ring;
    char bytes[sizeof(struct access_ring_host) + UNITS * sizeof(struct access_unit)];
} host;
static bool touches, torn, looking;
static uint64_t next, came, after[WARPS]; /* after: what the warp's next access is behind */
static unsigned known[PAGES][2];

/* Of every shape, and of some lanes only: 0 is none. */
static uint64_t address_of(uint64_t warp, uint64_t n, uint64_t lane)
{
    const uint64_t hash = ((warp << 40 | n << 20 | lane) + 1) * 0x9E3779B97F4A7C15;
    if (touches)
        return (((hash >> 40) % PAGES) + 1) << TOUCH_PAGE_BITS;
    if (n % 5 == 1 && hash >> 63)
        return 0;
    return n % 3 == 0 ? 0x7000 + n * 4096 + lane * 4 : n % 3 == 1 ? 0x7f0000000000 + (hash >> 40) : hash | 4;
}

static void lane_runs(void)
{
    const unsigned warp = gpu.warp, lane = gpu.lane;
    struct lane *l = &gpu.lanes[warp][lane];
    for (uint64_t n = 0; n < EACH; n++) {
        void *user = (void *)access_ring_handle(&device.ring), *at = (void *)address_of(warp, n, lane);
        l->inside = true;
        l->turn = 0;
        if (touches)
            (void)(n % 2 ? offchip_touch_async(user, 0, at, 0, 4)
                         : offchip_touch(user, 0, at, 4, SAN_FLAG_WRITE, NULL));
        else
            (void)(n % 2 ? offchip_access_async(user, n, at, 0, 4)
                         : offchip_access(user, n, at, 4, SAN_FLAG_READ, NULL));
        l->inside = false;
        l->waits = true;
        yield();
    }
    l->runs = false;
    yield();
}

static bool warp_meets(unsigned warp)
{
    struct lane *lanes = gpu.lanes[warp];
    uint32_t inside = 0, waits = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        if (lanes[i].runs && !lanes[i].waits)
            return true;
        waits |= (uint32_t)lanes[i].runs << i;
        inside |= (uint32_t)lanes[i].inside << i;
    }
    gpu.together[warp] = inside ? inside : waits;
    for (uint32_t i = 0; i < LANES; i++)
        if (gpu.together[warp] >> i & 1)
            lanes[i].waits = false;
    return waits != 0;
}

/* --- the host --- */

static bool is_whole(const struct access_told *u, const uint64_t *addrs)
{
    uint64_t n = 0;
    const uint32_t count = (uint32_t)__popc(u->mask);
    if (touches) {
        const uint64_t page = (u->address >> TOUCH_PAGE_BITS) - 1;
        return page < PAGES && u->mask == 1 && u->bytes == 1 && known[page][u->flags & 1]++ == 0;
    }
    for (uint32_t lane = 0; lane < LANES; lane++)
        if (address_of(u->block, u->pc, lane)) {
            if (!(u->mask >> lane & 1) || n >= count ||
                access_told_address(u, addrs, (uint32_t)n++) != address_of(u->block, u->pc, lane))
                return false;
        }
    if (u->block >= WARPS || u->pc < after[u->block])
        return false;
    after[u->block] = u->pc + 1;
    return n == count && u->warp == 0 && u->bytes == 4 && u->flags == SAN_FLAG_READ;
}

/* The host believes the first word of an access: as if all others had their tags. */
static void believe(void)
{
    if (host.ring.units[next & (UNITS - 1)].words[0] >> 32 != access_ring_tag(next))
        return;
    for (uint64_t number = next; number < next + ACCESS_UNITS_MOST; number++)
        for (unsigned i = 0; i < ACCESS_UNIT_WORDS; i++) {
            uint64_t *word = &host.ring.units[number & (UNITS - 1)].words[i];
            *word = (uint64_t)access_ring_tag(number) << 32 | (uint32_t)*word;
        }
}

/* Looks, and reads some time later what it has seen to be there. */
static bool host_reads(void)
{
    static struct access_told u;
    static uint64_t addrs[32];
    gpu.warp = WARPS;
    if (!(gpu.order & EVERY_WORD))
        believe();
    if (!access_ring_next(&host.ring, UNITS, next, &u, addrs))
        return looking && (torn = true);
    looking = !looking;
    if (looking && !(gpu.order & READ_FIRST))
        access_ring_release(&host.ring, next + u.units);
    if (looking)
        return true;
    torn |= !is_whole(&u, addrs);
    next += u.units;
    came++;
    access_ring_release(&host.ring, next);
    return true;
}

/* --- a run --- */

static void begin(uint64_t seed, unsigned order, bool hurry)
{
    memset(&gpu, 0, sizeof gpu);
    memset(&device, 0, sizeof device);
    memset(&host, 0, sizeof host);
    memset(known, 0, sizeof known);
    memset(after, 0, sizeof after);
    gpu.random.state = seed;
    gpu.order = order;
    gpu.hurry = hurry;
    gpu.drained = &host.ring.drained;
    torn = looking = false;
    next = came = 0;
    device.ring = access_ring_empty(&host.ring, UNITS, 0, 1);
    device.ring.blocks = BLOCKS;
    device.ring.launch = 1;
    for (gpu.warp = 0; gpu.warp < WARPS; gpu.warp++)
        for (gpu.lane = 0; gpu.lane < LANES; gpu.lane++) {
            struct lane *l = &gpu.lanes[gpu.warp][gpu.lane];
            l->runs = true;
            ck_assert_int_eq(getcontext(&l->context), 0);
            l->context.uc_stack.ss_sp = l->stack;
            l->context.uc_stack.ss_size = sizeof l->stack;
            makecontext(&l->context, lane_runs, 0);
        }
}

static void step(void)
{
    if (gpu.waiting && random_below(&gpu.random, 4) == 0)
        land(random_below(&gpu.random, gpu.waiting));
    if (random_below(&gpu.random, 8) == 0)
        (void)host_reads();
    gpu.warp = (unsigned)random_below(&gpu.random, WARPS);
    gpu.lane = (unsigned)random_below(&gpu.random, LANES);
    for (unsigned i = 0; i < LANES; i++, gpu.lane = (gpu.lane + 1) % LANES)
        if (gpu.lanes[gpu.warp][gpu.lane].runs && !gpu.lanes[gpu.warp][gpu.lane].waits) {
            swapcontext(&gpu.scheduler, &gpu.lanes[gpu.warp][gpu.lane].context);
            return;
        }
}

/* Whether every access came whole, or was counted as lost. */
static bool run(uint64_t seed, unsigned order, bool hurry)
{
    begin(seed, order, hurry);
    for (bool runs = true; runs && !torn;) {
        step();
        runs = false;
        for (unsigned warp = 0; warp < WARPS; warp++)
            runs |= warp_meets(warp);
    }
    while (gpu.waiting)
        land(0);
    while (!torn && host_reads())
        ;
    return !torn && next == device.ring.head && (hurry || device.ring.lost == 0);
}

static bool some_run_tears(unsigned order)
{
    for (uint64_t seed = 1; seed <= 20; seed++)
        if (!run(seed, order, false))
            return true;
    return false;
}

START_TEST(each_access_comes_whole_whenever_stores_are_seen)
{
    touches = false;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        ck_assert_msg(run(seed, ALL, false), "seed %llu", (unsigned long long)seed);
        ck_assert_uint_eq(came, WARPS * EACH);
    }
}
END_TEST

START_TEST(what_a_slow_drain_loses_is_counted_to_the_access)
{
    touches = false;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        ck_assert(run(seed, ALL, true));
        ck_assert_uint_eq(came + device.ring.lost, WARPS * EACH);
        ck_assert(came > 0 && device.ring.lost > 0);
    }
}
END_TEST

START_TEST(each_page_comes_once_and_whole)
{
    touches = true;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        ck_assert_msg(run(seed, ALL, false), "seed %llu", (unsigned long long)seed);
        ck_assert_uint_eq(came, 2 * PAGES);
    }
    ck_assert(some_run_tears(ALL & ~EVERY_WORD));
}
END_TEST

START_TEST(without_any_one_part_of_the_order_accesses_tear)
{
    touches = false;
    ck_assert(some_run_tears(ALL & ~EVERY_WORD));
    ck_assert(some_run_tears(ALL & ~READ_FIRST));
}
END_TEST

TEST_MAIN("access_ring_order")
