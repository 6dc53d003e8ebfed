#include "replay/derive/derive_memory.h"

#include "replay/derive/testing_program.h"
#include "trace/base/testing.h"

static struct store *store;
static struct derive_memory memory;

static void add(uint64_t addr, uint64_t bytes, const char *kind)
{
    static int id;
    struct err err = {""};
    const struct store_value row[] = {STORE_V_INT(id++), STORE_V_INT(addr), STORE_V_INT(bytes), STORE_V_TEXT(kind),
                                      STORE_V_NULL,      STORE_V_NULL,      STORE_V_NULL};
    ck_assert_msg(store_row(store, "allocations", row, 7, &err) == 0, "%s", err.msg);
}

static void open_recording(void)
{
    struct err err = {""};
    const struct derive_source source = {.store = store, .name = "test"};
    ck_assert_msg(derive_memory_open(&memory, &source, &err) == 0, "%s", err.msg);
}

static void close_recording(void)
{
    derive_memory_release(&memory);
    store_close(store);
}

START_TEST(device_memory_stays_where_the_program_has_host_memory_too)
{
    store = store_create_memory(NULL);
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
    store = store_create_memory(NULL);
    add(0x1000, 0x800, "device");
    open_recording();
    ck_assert(!derive_memory_stays(&memory, 0x1000));
    close_recording();
}
END_TEST

START_TEST(what_was_both_at_different_times_does_not_stay)
{
    store = store_create_memory(NULL);
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
    struct err err = {""};
    for (int device = 0; device < 2; device++) {
        const struct program program = vecadd_program(&v, 1000, device);
        const struct derive_source source = {.program = &program, .name = "test"};
        ck_assert_int_eq(derive_memory_open(&memory, &source, &err), 0);
        ck_assert_int_eq(derive_memory_stays(&memory, v.allocs[VECADD_FLAG].addr), device);
        ck_assert(!derive_memory_stays(&memory, v.allocs[VECADD_A].addr));
        derive_memory_release(&memory);
    }
}
END_TEST

TEST_MAIN("derive_memory", device_memory_stays_where_the_program_has_host_memory_too,
          a_program_with_device_memory_only_is_asked_what_if_not, what_was_both_at_different_times_does_not_stay,
          a_generated_program_says_it_of_each_allocation)
