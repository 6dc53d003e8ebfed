/* Advice, the program's own prefetches and access counters, as the driver has them: which pages fault, move and stay.
 */
#include "replay/uvm/uvm_driver.h"

#include "trace/base/testing.h"

static struct uvm_memory memory;
static struct uvm_driver driver;
static struct actor_alloc alloc;
static const struct uvm_platform platform = {.batch_faults = 256, .h2d_bytes_per_s = 1e10, .d2h_bytes_per_s = 1e10};

static void setup(uint64_t bytes, uint64_t chunks, bool host, uint32_t advice)
{
    alloc = (struct actor_alloc){.name = "a", .bytes = bytes, .host = host, .advice = advice};
    actor_space_place(&alloc, 1);
    ck_assert_int_eq(actor_space_init(&alloc, 1, NULL), 0);
    ck_assert_int_eq(uvm_memory_init(&memory, &alloc, 1, chunks, NULL), 0);
    ck_assert_int_eq(uvm_driver_init(&driver, &memory, &platform, uvm_policy_stock(), NULL, false, NULL), 0);
}

static void teardown(void)
{
    struct err err = {""};
    ck_assert_msg(uvm_memory_check(&memory, &err) == 0, "%s", err.msg);
    uvm_driver_release(&driver);
    uvm_memory_release(&memory);
}

/* A batch of n faults on pages from `first` on. */
static void fault(uint32_t first, uint32_t n)
{
    uint32_t pages[256];
    int64_t end;
    struct err err = {""};
    for (uint32_t i = 0; i < n; i++)
        pages[i] = first + i;
    ck_assert_msg(uvm_driver_batch(&driver, pages, n, 0, &end, &err) == 0, "%s", err.msg);
}

static unsigned mapped(uint32_t block)
{
    return page_mask_count(&memory.remote[block]);
}

START_TEST(a1_preferred_host_faults_once_for_every_page_that_the_cpu_has_mapped)
{
    setup(2 << 20, 0, true, ACTOR_PREFERRED_HOST);
    for (uint32_t page = 0; page < 512; page++) {
        fault(page, 1);
        ck_assert_uint_eq(mapped(0), page + 1);
    }
    ck_assert_uint_eq(memory.total.mapped, 512);
    ck_assert_uint_eq(memory.pages_in, 0);
    ck_assert_uint_eq(driver.records, 0);
    teardown();
}
END_TEST

START_TEST(a2_preferred_host_maps_a_block_that_is_nowhere_at_once)
{
    setup(2 << 20, 0, false, ACTOR_PREFERRED_HOST);
    fault(77, 1);
    ck_assert_uint_eq(memory.total.mapped, 1);
    ck_assert_uint_eq(mapped(0), 512);
    teardown();
}
END_TEST

START_TEST(a3_read_mostly_memory_is_duplicated_and_leaves_without_a_copy)
{
    int64_t end;
    setup(4 << 20, 1, true, ACTOR_READ_MOSTLY);
    fault(100, 1);
    ck_assert_uint_eq(memory.facts[0].resident, 16);
    ck_assert_uint_eq(driver.records, 3); /* 96-99 with it, 100 faulted, 101-111 with it */
    uvm_driver_cpu_touch(&driver, 100, 0, &end);
    ck_assert_uint_eq(driver.cpu_faults, 0);
    ck_assert_uint_eq(memory.facts[0].resident, 16);
    fault(512, 1);
    ck_assert_uint_eq(memory.total.evictions, 1);
    ck_assert_uint_eq(memory.total.d2h, 0);
    ck_assert_uint_eq(memory.total.dropped, 16);
    teardown();
}
END_TEST

START_TEST(a4_a_write_to_a_duplicate_faults_again_and_copies_nothing)
{
    int64_t end;
    uint32_t write = 100 | UVM_FAULT_WRITE;
    setup(4 << 20, 1, true, ACTOR_READ_MOSTLY);
    fault(100, 1);
    uint64_t h2d = memory.total.h2d;
    memory.dirty[0].w[1] |= 1ull << 36;
    ck_assert_int_eq(uvm_driver_batch(&driver, &write, 1, 0, &end, NULL), 0);
    ck_assert_uint_eq(memory.total.h2d, h2d);
    ck_assert_uint_eq(memory.total.mapped, 1);
    ck_assert(!page_mask_test(&memory.blocks[0].host_valid, 100)); /* it left the CPU */
    ck_assert(!page_mask_test(&memory.readonly[0], 100) && page_mask_test(&memory.readonly[0], 101));
    fault(512, 1);
    ck_assert_uint_eq(memory.total.d2h, 1);
    teardown();
}
END_TEST

START_TEST(a_first_touch_that_writes_read_mostly_memory_moves_it)
{
    int64_t end;
    uint32_t write = 100 | UVM_FAULT_WRITE;
    setup(2 << 20, 0, true, ACTOR_READ_MOSTLY);
    ck_assert_int_eq(uvm_driver_batch(&driver, &write, 1, 0, &end, NULL), 0);
    ck_assert(!page_mask_test(&memory.readonly[0], 100) && page_mask_test(&memory.readonly[0], 101));
    ck_assert(!page_mask_test(&memory.blocks[0].host_mapped, 100));
    teardown();
}
END_TEST

/* Nobody else holds what the driver brought, and each page is written on its own all the same. */
START_TEST(what_comes_of_read_mostly_memory_comes_for_reading)
{
    int64_t end, then;
    uint32_t write = 101 | UVM_FAULT_WRITE;
    struct uvm_platform costs = platform;
    costs.unmap_run_ns = 1000;
    setup(4 << 20, 1, false, ACTOR_READ_MOSTLY);
    driver.platform = &costs;
    ck_assert_int_eq(uvm_driver_batch(&driver, &(uint32_t){100}, 1, 0, &end, NULL), 0);
    ck_assert(page_mask_test(&memory.readonly[0], 100) && page_mask_test(&memory.readonly[0], 101));
    ck_assert_int_eq(uvm_driver_batch(&driver, &write, 1, end, &then, NULL), 0);
    ck_assert(page_mask_test(&memory.readonly[0], 100) && !page_mask_test(&memory.readonly[0], 101));
    ck_assert_int_ge(then - end, 1000);
    ck_assert_uint_eq(memory.total.h2d, 0);
    driver.platform = &platform;
    teardown();
}
END_TEST

/* The end of the batch of a first fault on page 100 of two blocks, with nothing but unmapping taking time. */
static int64_t unmapping(uint32_t advice, uint32_t page, uint64_t pages, uint64_t runs)
{
    int64_t end;
    struct uvm_platform costs = platform;
    costs.unmap_page_ns = 7;
    costs.unmap_run_ns = 1000;
    costs.h2d_bytes_per_s = 1e18;
    setup(4 << 20, 0, true, advice);
    driver.platform = &costs;
    ck_assert_int_eq(uvm_driver_batch(&driver, &page, 1, 0, &end, NULL), 0);
    ck_assert_uint_eq(driver.work.unmapped_pages, pages);
    ck_assert_uint_eq(driver.work.unmapped_runs, runs);
    driver.platform = &platform;
    return end;
}

/* The advice, given behind the CPU's writes, has taken its write access from the CPU: a fault that reads leaves the
 * CPU's page tables alone. A page that is written, or that the CPU has taken back, is unmapped as any other. */
START_TEST(a_copy_of_read_mostly_memory_stays_mapped_by_the_cpu)
{
    int64_t end;
    ck_assert_int_eq(unmapping(0, 100, 16, 1), 1000 + 16 * 7);
    teardown();
    ck_assert_int_eq(unmapping(ACTOR_READ_MOSTLY, 100 | UVM_FAULT_WRITE, 1, 1), 1000 + 7);
    uvm_driver_cpu_touch(&driver, 100, 0, &end);
    ck_assert_uint_eq(driver.cpu_faults, 1);
    fault(100, 1);
    ck_assert_uint_eq(driver.work.unmapped_pages, 2);
    ck_assert_uint_eq(driver.work.unmapped_runs, 2);
    teardown();
    ck_assert_int_eq(unmapping(ACTOR_READ_MOSTLY | ACTOR_ADVISED_FIRST, 100, 16, 1), 1000 + 16 * 7);
    teardown();
    ck_assert_int_le(unmapping(ACTOR_READ_MOSTLY, 100, 0, 0), 1); /* a batch takes a nanosecond at least */
    fault(112, 16);
    ck_assert_uint_eq(driver.work.unmapped_pages, 0);
    ck_assert_uint_eq(memory.total.h2d, 32);
    teardown();
    const bool all = true;
    setup(4 << 20, 2, true, ACTOR_READ_MOSTLY);
    ck_assert_int_eq(uvm_driver_prefetch(&driver, &all, 0, &end, NULL), 0);
    ck_assert_uint_eq(driver.work.unmapped_runs, 0);
    teardown();
}
END_TEST

START_TEST(accessed_by_maps_what_is_there_and_follows_it)
{
    int64_t end;
    setup(4 << 20, 1, true, ACTOR_ACCESSED_BY);
    ck_assert_uint_eq(mapped(0), 512); /* no fault ever */
    teardown();
    setup(4 << 20, 1, false, ACTOR_ACCESSED_BY);
    ck_assert_uint_eq(mapped(0), 0);
    fault(0, 1); /* resident nowhere: the requester gets it */
    ck_assert_uint_eq(memory.facts[0].resident, 16);
    fault(512, 1); /* evicted: mapped from then on */
    ck_assert_uint_eq(mapped(0), 16);
    uvm_driver_cpu_touch(&driver, 512, 0, &end);
    ck_assert_uint_eq(mapped(1), 16); /* what the CPU took stays within reach */
    teardown();
}
END_TEST

START_TEST(a6_a_prefetch_is_no_fault_and_one_copy_a_block)
{
    int64_t end;
    const bool none = false, all = true; /* by allocation: there is one */
    setup(4 << 20, 2, true, 0);
    ck_assert_int_eq(uvm_driver_prefetch(&driver, &none, 7, &end, NULL), 0);
    ck_assert_int_eq(end, 7);
    ck_assert_int_eq(uvm_driver_prefetch(&driver, &all, 0, &end, NULL), 0);
    ck_assert_uint_eq(driver.work.copied_runs, 2);
    ck_assert_uint_eq(driver.work.unmapped_runs, 2);
    ck_assert_uint_eq(driver.records, 2);
    ck_assert_uint_eq(driver.batches + memory.total.faults, 0);
    ck_assert_int_eq(end, (4 << 20) / 10); /* one copy after the other */
    teardown();
}
END_TEST

/* The CPU's work on a block is hidden behind the copy of the one before, however long it would be page by page. */
START_TEST(a_prefetch_takes_what_its_copies_take)
{
    int64_t end;
    const bool all = true;
    struct uvm_platform slow = platform;
    slow.moved_page_ns = slow.unmap_page_ns = 1e6;
    slow.moved_run_ns = 1000;
    setup(64 << 20, 0, true, 0);
    driver.platform = &slow;
    ck_assert_int_eq(uvm_driver_prefetch(&driver, &all, 0, &end, NULL), 0);
    ck_assert_int_eq(end, 1000 + (64 << 20) / 10);
    teardown();
}
END_TEST

/* Two arrays, one of which the CPU has not written: a call behind the other, a block copied, a block zeroed. */
START_TEST(calls_of_prefetches_follow_each_other)
{
    static const struct launch calls = {
        .prefetch_call_ns = 100000, .prefetch_block_ns = 3000, .zero_bytes_per_s = 5e11, .alone_ns = 7};
    struct actor_alloc two[2] = {{.name = "a", .bytes = 64 << 20, .host = true}, {.name = "b", .bytes = 8 << 20}};
    const bool both[2] = {true, true}, second[2] = {false, true};
    const double copied = 32 * ((2 << 20) / 10.0 + 3000), zeroed = (8 << 20) / 500.0;
    for (int way = 0; way < 2; way++) {
        int64_t end;
        actor_space_place(two, 2);
        ck_assert_int_eq(actor_space_init(two, 2, NULL), 0);
        ck_assert_int_eq(uvm_memory_init(&memory, two, 2, 0, NULL), 0);
        ck_assert_int_eq(uvm_driver_init(&driver, &memory, &platform, uvm_policy_stock(), NULL, false, NULL), 0);
        driver.calls = &calls;
        ck_assert_int_eq(uvm_driver_prefetch(&driver, way ? second : both, 50, &end, NULL), 0);
        ck_assert_double_eq_tol((double)end, 50 + 100000 + zeroed + (way ? 0 : 100000 + copied), 1);
        teardown();
    }
}
END_TEST

START_TEST(c1_a_notification_brings_the_regions_that_were_asked_for)
{
    int64_t end;
    setup(2 << 20, 0, true, ACTOR_ACCESSED_BY);
    ck_assert_int_eq(uvm_driver_notification(&driver, 0, 0x23, 0, &end, NULL), 0);
    ck_assert_uint_eq(memory.facts[0].resident, 48); /* 2/4, 3/8, 1/2: the tree adds nothing */
    ck_assert_uint_eq(driver.records, 2);
    ck_assert_uint_eq(driver.batches + memory.total.faults, 0);
    ck_assert_uint_eq(mapped(0), 512 - 48);
    teardown();
}
END_TEST

START_TEST(c3_a_notification_of_pages_that_came_meanwhile_moves_nothing)
{
    int64_t end;
    setup(4 << 20, 0, true, 0);
    fault(0, 1);
    fault(512, 1);
    ck_assert_int_eq(uvm_driver_notification(&driver, 0, 1, 5, &end, NULL), 0);
    ck_assert_int_eq(end, 5);
    ck_assert_uint_eq(memory.view.newest, 1); /* the order of service is as it was */
    teardown();
}
END_TEST

/* One page goes back and forth every 100 us until it is thrashing, then its throttles are used up. */
static int64_t fight(int rounds)
{
    int64_t now = 0, end;
    uint32_t page = 5;
    setup(2 << 20, 0, true, 0);
    ck_assert_int_eq(uvm_driver_detect_thrashing(&driver, UVM_LAPSE_FIXED, NULL), 0);
    for (int i = 0; i < rounds; i++, now += 100000)
        if (i % 2 == 0)
            ck_assert_int_eq(uvm_driver_batch(&driver, &page, 1, now, &end, NULL), 0);
        else
            uvm_driver_cpu_touch(&driver, page, now, &end);
    return now;
}

START_TEST(a_throttled_fault_moves_nothing_and_the_cpu_sleeps)
{
    int64_t now = fight(5), end;
    uint32_t page = 5;
    ck_assert_uint_eq(driver.thrashing.thrashing, 16); /* the tree took all of its 64 KiB */
    uvm_driver_cpu_touch(&driver, page, now, &end);    /* free for 500 us from now on */
    ck_assert(page_mask_test(&memory.blocks[0].host_mapped, 5));
    uint64_t came = memory.pages_in;
    ck_assert_int_eq(uvm_driver_batch(&driver, &page, 1, now + 100000, &end, NULL), 0);
    ck_assert(driver.throttled);
    ck_assert_uint_eq(memory.pages_in, came);
    ck_assert_uint_eq(driver.batch.block_count, 0);
    ck_assert_int_eq(uvm_driver_batch(&driver, &page, 1, now + 500001, &end, NULL), 0);
    ck_assert(!driver.throttled);
    ck_assert_uint_eq(memory.pages_in, came + 1); /* alone: thrashing pages leave the tree */
    uvm_driver_cpu_touch(&driver, page, now + 600000, &end);
    ck_assert_int_ge(end, now + 1000001); /* the GPU was free until then */
    teardown();
}
END_TEST

START_TEST(a_page_pinned_to_the_cpu_is_mapped_until_the_pin_is_over)
{
    int64_t now = fight(5), end;
    uint32_t page = 5;
    driver.thrashing.blocks[0].pages[5].throttles = UVM_THRASHING_PIN;
    uvm_driver_cpu_touch(&driver, page, now, &end);
    ck_assert_uint_eq(driver.thrashing.pins, 1);
    ck_assert_uint_eq(mapped(0), 1); /* the GPU reaches it there */
    int64_t until = uvm_driver_unpin(&driver, now);
    ck_assert_int_eq(until, now + driver.thrashing.pin_ns);
    ck_assert_int_eq(uvm_driver_unpin(&driver, until), INT64_MAX);
    ck_assert_uint_eq(mapped(0), 0);
    uint64_t came = memory.pages_in;
    ck_assert_int_eq(uvm_driver_batch(&driver, &page, 1, until, &end, NULL), 0);
    ck_assert_uint_eq(memory.pages_in, came + 1);
    teardown();
}
END_TEST

/* --- a policy that breaks the rules --- */

static struct uvm_victim bad_pick(void *state, const struct uvm_evict_view *view)
{
    (void)state;
    return uvm_evict_whole(view->block_count);
}

static uint64_t ahead(void *state, const struct uvm_evict_view *view, uint64_t needed)
{
    (void)state;
    (void)view;
    (void)needed;
    return 1;
}

static uint64_t free_chunks(const void *state)
{
    (void)state;
    return 2;
}

/* Before a batch, on its way and behind it; a notification and a prefetch too. */
START_TEST(a_victim_that_there_is_not_stops_whatever_needed_it)
{
    enum { BEFORE, WITHIN, BEHIND, NOTIFIED, PREFETCHED, WAYS };
    for (int way = 0; way < WAYS; way++) {
        const struct uvm_evict_policy policy = {.head = {.name = "bad"},
                                                .pick = bad_pick,
                                                .before_batch = way == BEFORE ? ahead : NULL,
                                                .keep_free = way == BEHIND ? free_chunks : NULL};
        const bool all = true;
        uint32_t page = 2 * ACTOR_BLOCK_PAGES;
        struct err err = {""};
        int64_t end;
        setup(6 << 20, way == BEHIND ? 3 : 2, true, way == NOTIFIED ? ACTOR_ACCESSED_BY : 0);
        fault(0, 1);
        fault(ACTOR_BLOCK_PAGES, 1);
        memory.evict = &policy;
        const int rc = way == NOTIFIED     ? uvm_driver_notification(&driver, 2, 1, 0, &end, &err)
                       : way == PREFETCHED ? uvm_driver_prefetch(&driver, &all, 0, &end, &err)
                                           : uvm_driver_batch(&driver, &page, 1, 0, &end, &err);
        ck_assert_msg(rc == -1, "way %d", way);
        ck_assert_msg(strstr(err.msg, "eviction policy bad picks VA block") != NULL, "%s", err.msg);
        uvm_driver_release(&driver);
        uvm_memory_release(&memory);
    }
}
END_TEST

TEST_MAIN("replay/uvm_driver")
