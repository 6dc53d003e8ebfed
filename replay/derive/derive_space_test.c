#include "replay/derive/derive_space.h"

#include "replay/derive/testing_program.h"
#include "trace/base/random.h"
#include "trace/base/testing.h"
#include "trace/event/actor.h"

enum { BLOCKS = 12, PAGES = BLOCKS * ACTOR_BLOCK_PAGES };

static struct random state;

static uint64_t draw(uint64_t n)
{
    return random_below(&state, (uint32_t)n);
}

/* What is touched or allocated, page by page; in each VA block all from the first to the last such page. */
static bool in[PAGES], is_read[PAGES];

static void fill_blocks(void)
{
    for (uint64_t b = 0; b < PAGES; b += ACTOR_BLOCK_PAGES) {
        uint64_t first = b, last = b + ACTOR_BLOCK_PAGES;
        while (first < last && !in[first])
            first++;
        while (last > first && !in[last - 1])
            last--;
        for (uint64_t p = first; p < last; p++)
            in[p] = true;
    }
}

static void expect_rows(const struct derive_space *s, uint64_t base)
{
    size_t row = 0;
    uint64_t before = 0;
    for (uint64_t p = 0; p < PAGES; p++) {
        if (!in[p]) {
            ck_assert_uint_eq(derive_space_offset(s, (base + p) * ACTOR_PAGE_BYTES), UINT64_MAX);
            continue;
        }
        const uint64_t first = p;
        bool any = false;
        for (; p < PAGES && in[p]; p++) {
            any |= is_read[p];
            ck_assert_uint_eq(derive_space_offset(s, (base + p) * ACTOR_PAGE_BYTES + 7),
                              before + (p - first) * ACTOR_PAGE_BYTES + 7);
        }
        ck_assert_uint_lt(row, s->count);
        ck_assert_uint_eq(s->rows[row].first, base + first);
        ck_assert_uint_eq(s->rows[row].last, base + p - 1);
        ck_assert_uint_eq(s->rows[row].offset, before);
        ck_assert_int_eq(s->rows[row].read, any);
        before += (p - first) * ACTOR_PAGE_BYTES;
        row++;
        p--;
    }
    ck_assert_uint_eq(s->count, row);
    ck_assert_uint_eq(derive_space_bytes(s), before);
}

static void touch(struct derive_space *s, uint64_t base)
{
    for (uint64_t i = 0, n = draw(12); i < n; i++) {
        const uint64_t edge = (1 + draw(BLOCKS - 1)) * ACTOR_BLOCK_PAGES,
                       p = draw(2) ? draw(PAGES) : edge - 2 + draw(4);
        const bool reads = draw(3) == 0;
        in[p] = true;
        is_read[p] |= reads;
        WORKS(derive_space_touch(s, base + p, reads, &err));
    }
}

/* Allocations that begin and end within pages; those of no bytes, past the end of memory and on the device are none. */
static void allocate(struct store *store, uint64_t base)
{
    const uint64_t at = base * ACTOR_PAGE_BYTES;
    for (uint64_t i = 0, n = 1 + draw(4); i < n + 4; i++) {
        const uint64_t addr = draw(PAGES * (uint64_t)ACTOR_PAGE_BYTES),
                       most = PAGES * (uint64_t)ACTOR_PAGE_BYTES - addr;
        const uint64_t bytes = 1 + draw(draw(4) ? 3 * ACTOR_PAGE_BYTES : 5 << 20), end = bytes < most ? bytes : most;
        const struct store_value row[] = {STORE_V_INT(i),
                                          STORE_V_INT(i == n + 1   ? UINT64_MAX - 5
                                                      : i == n + 2 ? 0
                                                                   : at + addr),
                                          STORE_V_INT(i == n       ? 0
                                                      : i == n + 1 ? 7
                                                      : i > n      ? 1
                                                                   : end),
                                          STORE_V_TEXT(i >= n + 2 ? "device" : "managed"),
                                          STORE_V_NULL,
                                          STORE_V_NULL,
                                          STORE_V_NULL};
        WORKS(store_row(store, "allocations", row, 7, &err));
        for (uint64_t p = addr / ACTOR_PAGE_BYTES; i < n && p <= (addr + end - 1) / ACTOR_PAGE_BYTES; p++)
            in[p] = true;
    }
}

START_TEST(rows_are_what_is_touched_or_allocated_page_by_page)
{
    struct err err = {""};
    state = (struct random){5};
    for (int round = 0; round < 300; round++) {
        const uint64_t base = (1 + draw(1000)) * ACTOR_BLOCK_PAGES;
        struct derive_space s = {0};
        struct derive_memory memory = {0};
        struct store *store = round % 3 ? store_create_temporary(":memory:", NULL) : NULL;
        memset(in, 0, sizeof in);
        memset(is_read, 0, sizeof is_read);
        touch(&s, base);
        if (store)
            allocate(store, base);
        const struct derive_source source = {.store = store, .name = "test"};
        ck_assert_int_eq(store ? derive_memory_open(&memory, &source, &err) : 0, 0);
        ck_assert_msg(derive_space_merge(&s, store, &memory, &err) == 0, "%s", err.msg);
        fill_blocks();
        expect_rows(&s, base);
        derive_space_release(&s);
        derive_memory_release(&memory);
        if (store)
            store_close(store);
    }
}
END_TEST

static struct store *store;
static struct derive_memory memory;

static void add(uint64_t addr, uint64_t bytes, const char *kind)
{
    static int id;
    const struct store_value row[] = {STORE_V_INT(id++), STORE_V_INT(addr), STORE_V_INT(bytes), STORE_V_TEXT(kind),
                                      STORE_V_NULL,      STORE_V_NULL,      STORE_V_NULL};
    WORKS(store_row(store, "allocations", row, 7, &err));
}

static void open_recording(void)
{
    const struct derive_source source = {.store = store, .name = "test"};
    WORKS(derive_memory_open(&memory, &source, &err));
}

static void close_recording(void)
{
    derive_memory_release(&memory);
    store_close(store);
}

START_TEST(device_memory_stays_where_the_program_has_host_memory_too)
{
    store = store_create_temporary(":memory:", NULL);
    add(0x5000, 0x1000, "device");
    add(0x1000, 0x800, "device");
    add(0x9000, 0x1000, "pinned");
    open_recording();
    ck_assert(derive_memory_stays(&memory, 0x1000));
    ck_assert(derive_memory_stays(&memory, 0x17ff));
    ck_assert(!derive_memory_stays(&memory, 0x1800));
    ck_assert(!derive_memory_stays(&memory, 0xfff));
    ck_assert(derive_memory_stays(&memory, 0x5fff));
    ck_assert(!derive_memory_stays(&memory, 0x9000));
    close_recording();
}
END_TEST

START_TEST(a_program_with_device_memory_only_is_asked_what_if_not)
{
    store = store_create_temporary(":memory:", NULL);
    add(0x1000, 0x800, "device");
    open_recording();
    ck_assert(!derive_memory_stays(&memory, 0x1000));
    close_recording();
}
END_TEST

START_TEST(what_was_both_at_different_times_does_not_stay)
{
    store = store_create_temporary(":memory:", NULL);
    add(0x1000, 0x2000, "device");
    add(0x1800, 0x100, "managed");
    add(0x1000, 0x3000, "device"); /* again, and longer */
    add(0x8000, 0, "device");      /* empty */
    open_recording();
    ck_assert(derive_memory_stays(&memory, 0x17ff));
    ck_assert(!derive_memory_stays(&memory, 0x1800));
    ck_assert(derive_memory_stays(&memory, 0x1900));
    ck_assert(derive_memory_stays(&memory, 0x3fff));
    ck_assert(!derive_memory_stays(&memory, 0x8000));
    close_recording();
}
END_TEST

START_TEST(a_generated_program_says_it_of_each_allocation)
{
    struct vecadd v;
    for (int device = 0; device < 2; device++) {
        const struct program program = vecadd_program(&v, 1000, device);
        const struct derive_source source = {.program = &program, .name = "test"};
        WORKS(derive_memory_open(&memory, &source, &err));
        ck_assert_int_eq(derive_memory_stays(&memory, v.allocs[VECADD_FLAG].addr), device);
        ck_assert(!derive_memory_stays(&memory, v.allocs[VECADD_A].addr));
        derive_memory_release(&memory);
    }
}
END_TEST

TEST_MAIN("derive_space")
