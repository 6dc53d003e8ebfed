#include "replay/uvm/uvm_fault_log.h"

#include "replay/uvm/actor_input.h"
#include "trace/base/testing.h"
#include "trace/import/reader.h"
#include "trace/import/testing_access.h"

#define BASE 0x7f5000000000ull

/* A log of batches of `per_batch` faults on every `step`-th page of one VA block, up to page `end`; then `tail`. */
static struct uvm_fault_log read_log(unsigned step, unsigned end, unsigned per_batch, const char *tail)
{
    const char *path = testing_file("faults.log");
    FILE *f = fopen(path, "w");
    unsigned n = 0;
    for (unsigned page = 0; page < end; page += step, n++) {
        if (n % per_batch == 0)
            (void)fprintf(f, "%ss,\n", n ? "b,\n" : "");
        (void)fprintf(f, "f,%llx,%u,0,1,2,1,0,0,0,127,1,%u,1,63\n", BASE + 4096ull * page, 1000 * (n + 1), n % 4);
    }
    (void)fprintf(f, "%sb,\n", tail);
    (void)fclose(f);
    struct store *store = testing_import(&read_uvmeval, path, true);
    ck_assert(uvm_input_stored(store) == UVM_INPUT_FAULT_LOG);
    struct actor_trace *trace = GIVES(actor_trace_open(store, &err));
    size_t count;
    const struct actor_alloc *allocs = actor_trace_ops.allocs(trace, &count);
    struct uvm_fault_log log;
    WORKS(uvm_fault_log_read(&log, store, allocs, count, &err));
    actor_trace_close(trace);
    store_close(store);
    return log;
}

/* 64 pages in batches of 8: the first batch of each 64 KiB would have brought the second one's eight pages. */
START_TEST(faults_on_pages_that_would_have_come_show_prefetching_off)
{
    struct uvm_fault_log log = read_log(1, 64, 8, "");
    ck_assert_uint_eq(log.batches, 8);
    ck_assert_uint_eq(log.faults, 64);
    ck_assert_uint_ge(log.against, 32);
    ck_assert_int_eq(log.prefetch, UVM_LOG_PREFETCH_OFF);
}
END_TEST

START_TEST(a_prefetched_page_in_the_log_shows_prefetching_on)
{
    struct uvm_fault_log log = read_log(16, 64, 8, "p,7f5000001000\n");
    ck_assert_uint_eq(log.prefetched, 1);
    ck_assert_int_eq(log.prefetch, UVM_LOG_PREFETCH_ON);
}
END_TEST

/* One page of each 64 KiB: the others would have come, and none of them faults. */
START_TEST(faults_that_fit_both_leave_it_open)
{
    struct uvm_fault_log log = read_log(16, 64, 1, "");
    ck_assert_uint_gt(log.would_bring, 0);
    ck_assert_uint_lt(log.against, log.faults);
    log = read_log(16, 17, 8, "");
    ck_assert_uint_eq(log.against, 0);
    ck_assert_uint_eq(log.would_bring, 30);
    ck_assert_int_eq(log.prefetch, UVM_LOG_PREFETCH_OPEN);
}
END_TEST

/* Whole 64 KiB pieces in one batch: nothing would have come besides, so it makes no difference. */
START_TEST(nothing_to_bring_makes_no_difference)
{
    struct uvm_fault_log log = read_log(1, 16, 16, "");
    ck_assert_uint_eq(log.would_bring, 0);
    ck_assert_int_eq(log.prefetch, UVM_LOG_PREFETCH_OFF);
}
END_TEST

TEST_MAIN("uvm_fault_log")
