/* What evictions cost in time: the driver's example of three services without a free chunk. */
#include "models/policies.h"
#include "replay/uvm/uvm_driver.h"
#include "trace/base/testing.h"

enum { US = 1000, FETCH_NS = 1000 * US };

/* 2 MiB take 40 us in either direction; the CPU is done with a batch 30 us after its fetch. */
static const struct uvm_platform platform = {.batch_faults = 256,
                                             .batch_before_ns = 30 * US,
                                             .h2d_bytes_per_s = (2 << 20) / 40e-6,
                                             .d2h_bytes_per_s = (2 << 20) / 40e-6};

/* Three chunks hold blocks 0 to 2; a batch asks for blocks 3 to 5: us from its fetch to its end. */
static int64_t three_services(const char *evict, bool two_engines)
{
    static const uint32_t pages[2][3] = {{0, 512, 1024}, {1536, 2048, 2560}};
    struct uvm_memory memory;
    struct uvm_driver driver;
    struct err err = {""};
    int64_t end;
    struct actor_alloc alloc = {.name = "a", .bytes = 12 << 20, .host = true};
    actor_space_place(&alloc, 1);
    ck_assert_int_eq(actor_space_init(&alloc, 1, NULL), 0);
    ck_assert_int_eq(uvm_memory_init(&memory, &alloc, 1, 3, NULL), 0);
    ck_assert_int_eq(uvm_memory_evict_by(&memory, uvm_evict_find(evict), NULL, NULL), 0);
    ck_assert_int_eq(uvm_driver_init(&driver, &memory, &platform, uvm_policy_find("fixed"), NULL, false, NULL),
                     0); /* 2 MiB */
    driver.two_engines = two_engines;
    for (int batch = 0; batch < 2; batch++)
        ck_assert_msg(uvm_driver_batch(&driver, pages[batch], 3, batch * FETCH_NS, &end, &err) == 0, "%s", err.msg);
    ck_assert_uint_eq(memory.total.evictions, 3);
    ck_assert_uint_eq(memory.total.d2h, 3 * 512);
    uvm_driver_release(&driver);
    uvm_memory_release(&memory);
    return (end - FETCH_NS) / US;
}

START_TEST(v8_one_engine_two_and_evictions_that_begin_at_the_fetch)
{
    ck_assert_int_eq(three_services("lru", false), 30 + 3 * 80);
    ck_assert_int_eq(three_services("lru", true), 30 + 4 * 40);
    ck_assert_int_eq(three_services("unobtrusive", true), 4 * 40); /* out 0 to 120, in 40 to 160 */
}
END_TEST

TEST_MAIN("uvm_driver_room", v8_one_engine_two_and_evictions_that_begin_at_the_fetch)
