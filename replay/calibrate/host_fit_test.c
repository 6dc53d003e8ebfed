#include "replay/calibrate/host_fit.h"

#include <math.h>
#include <stdlib.h>

#include "replay/run/testing_replay.h"
#include "replay/uvm/uvm_managed.h"
#include "trace/base/random.h"

enum { BLOCK = 2 << 20, PAGE = 4096 };

/* A recording of n batches, each of two pages, `of_block` batches of one block, with `value` entries of a page: it
 * begins `behind` the replay of the one before, first copies `before` later, for 4,000 ns, and ends `after` the copy.
 */
static struct uvm_recording batches(int n, int of_block, int64_t behind, int64_t before, int64_t after, uint64_t value)
{
    struct uvm_recording r;
    int64_t time = 1000000;
    uvm_recording_init(&r);
    r.traced = true;
    for (int i = 0; i < n; i++) {
        const uint64_t addr = (uint64_t)(100 + i / of_block) * BLOCK + (uint64_t)(i % of_block) * 64 * PAGE;
        const int64_t start = time + behind, copy = start + before;
        time = copy + 4000 + after;
        const struct record records[] = {
            {.kind = RECORD_FAULT, .time = start, .duration = time - start, .addr = addr, .bytes = value, .flags = 1},
            {.kind = RECORD_MIGRATE_H2D,
             .time = copy,
             .duration = 4000,
             .addr = addr,
             .bytes = 2 * PAGE,
             .flags = RECORD_CAUSE_FAULT}};
        WORKS(uvm_recording_add(&r, records, 2, &err));
    }
    WORKS(uvm_recording_finish(&r, &err));
    return r;
}

static int fit_of(struct uvm_recording r, const struct uvm_platform *p, struct host_fit *f)
{
    *f = (struct host_fit){0};
    WORKS(host_fit_add(f, &r, p, &err));
    uvm_recording_release(&r);
    const int rc = host_fit_solve(f);
    free(f->rows);
    return rc;
}

START_TEST(the_worked_example)
{
    const struct uvm_platform p = {.batch_before_ns = 10000, .service_ns = 5000, .batch_faults = 256};
    struct host_fit f;
    ck_assert_int_eq(fit_of(batches(20, 1, 0, 5000, 2500, 1), &p, &f), 0);
    ck_assert_double_eq(f.host, 0.5);
    ck_assert_double_eq_tol(f.error, 0.03 * 0.5, 1e-12);
    ck_assert_uint_eq(f.fit.rows, 19); /* how long the first one was waited for is not known */
    ck_assert_int_eq(fit_of(batches(HOST_FIT_BATCHES, 1, 0, 5000, 2500, 1), &p, &f), -1);
    ck_assert_int_eq(fit_of(batches(20, 1, 1, 5000, 2500, 1), &p, &f), -1); /* an interrupt woke the driver */
}
END_TEST

START_TEST(every_time_is_in_its_place)
{
    const struct uvm_platform p = {.poll_ns = 100,
                                   .batch_before_ns = 1000,
                                   .batch_after_ns = 2000,
                                   .raw_fault_ns = 10,
                                   .trace_entry_ns = 5,
                                   .fault_page_ns = 20,
                                   .service_ns = 3000,
                                   .service_again_ns = 2500,
                                   .new_block_ns = 4000,
                                   .moved_page_ns = 30,
                                   .moved_run_ns = 40,
                                   .unmap_run_ns = 50,
                                   .unmap_page_ns = 60,
                                   .batch_faults = 5,
                                   .interrupt_ns = 1e9,
                                   .copy_run_ns = 1e9,
                                   .trace_record_ns = 1e9,
                                   .evict_ns = 1e9};
    /* Two faulted pages with two entries each; 40 of the wait lie before the first fault. */
    const double stated = 60 + 1000 + 2000 + 4 * 15 + 2 * 20 + 3000 + 4000 + 2 * (30 + 60) + 40 + 50;
    struct host_fit f;
    ck_assert_int_eq(fit_of(batches(20, 1, 40, 20000, 860, 2), &p, &f), 0);
    ck_assert_double_eq_tol(f.host, 20860 / stated, 1e-12);
    ck_assert_double_eq_tol(f.entries_ratio, 60 / stated, 1e-12);
    ck_assert_int_eq(fit_of(batches(20, 1, -40, 20040, 860, 3), &p, &f),
                     0); /* six entries, of which five are a batch */
    ck_assert_double_eq_tol(f.host, 20860 / (stated + 40 + 15), 1e-12);
    ck_assert_int_eq(fit_of(batches(20, 4, 40, 20000, 860, 2), &p, &f), 0); /* most are not the first of their block */
    ck_assert_double_eq_tol(f.host, 20860 / (stated - 4000 - 500), 1e-12);
}
END_TEST

START_TEST(advice_and_evictions_are_left_out)
{
    const struct uvm_platform p = {.batch_before_ns = 10000, .batch_faults = 256};
    struct host_fit f;
    struct uvm_recording r = batches(20, 1, 0, 5000, 2500, 1);
    r.advised = true;
    ck_assert_int_eq(fit_of(r, &p, &f), -1);
    r = batches(20, 1, 0, 5000, 2500, 1);
    r.evictions = 1;
    ck_assert_int_eq(fit_of(r, &p, &f), -1);
}
END_TEST

/* What the engine makes of a host is found again in what a recorder would have seen of the run. */
static void find_again(const char *spec, double host)
{
    char set[2][32] = {"traced=1"};
    const char *sets[] = {set[0], set[1]};
    struct store *store = GIVES(store_create_temporary(":memory:", &err));
    const struct uvm_recording_output to = {.store = store};
    struct replay_result result;
    struct uvm_recording r;
    struct host_fit f;
    (void)snprintf(set[1], sizeof set[1], "uvm.host=%.6g", host);
    testing_replay(&result,
                   (struct replay_request){.engine = engine_find("uvm"),
                                           .platform = "h200",
                                           .policy_list = "tree",
                                           .sets = sets,
                                           .set_count = 2,
                                           .threads = 1,
                                           .engine_options = &to},
                   spec);
    WORKS(store_flush(store, &err));
    WORKS(uvm_recording_load(&r, store, (struct recording){RECORDING_ANY, RECORDING_ANY}, &err));
    ck_assert_int_eq(fit_of(r, platform_section_get(result.platform, "uvm"), &f), 0);
    ck_assert_msg(fabs(f.host - host) <= 2 * f.error && fabs(f.host / host - 1) < 0.08 && f.error < 0.12 * f.host,
                  "%s: %g, found %g +- %g", spec, host, f.host, f.error);
    store_close(store);
    replay_release(&result);
}

START_TEST(a_host_is_found_again_in_a_simulated_recording)
{
    struct random seed = {5};
    find_again("synth:array,bytes=32MiB", 0.4);
    find_again("synth:array,bytes=32MiB", 1);
    for (int i = 0; i < 2; i++)
        find_again("synth:array,bytes=32MiB", 0.33 * pow(10, random_below(&seed, 1000) / 1e3));
    find_again("synth:nw,bytes=16MiB", 0.4);
}
END_TEST

TEST_MAIN("host_fit")
