#include "replay/uvm/uvm_answer.h"

#include "models/base/sections.h"
#include "replay/uvm/tape_testing.h"
#include "trace/base/param_value.h"

enum { BASE = 0x40000000 };

static struct uvm_platform platform(void)
{
    struct uvm_platform p;
    param_defaults(uvm_platform_params, &p);
    return p;
}

static struct uvm_open_loop run(const struct uvm_recording *r, const char *policy, const char *setting,
                                enum uvm_hidden hidden, const struct uvm_platform *p)
{
    void *params;
    const struct uvm_policy *pol = tape_policy(policy, setting, &params);
    struct uvm_open_loop out;
    struct uvm_open_loop_run job = {.recording = r, .policy = pol, .params = params, .platform = p, .hidden = hidden};
    WORKS(uvm_open_loop_run(&job, &out, &err));
    free(params);
    return out;
}

START_TEST(the_recording_policy_follows_its_own_recording_exactly)
{
    struct uvm_platform p = platform();
    struct tape t;
    struct uvm_recording r;
    tape_init(&t, "tree", NULL, BASE, 20 * UVM_BLOCK_BYTES);
    tape_cpu_writes(&t);
    tape_random(&t, 20, 50, 60, 9);
    tape_load(&t, &r);
    struct uvm_open_loop own = run(&r, "tree", NULL, UVM_HIDDEN_FORCED, &p);
    ck_assert_uint_eq(own.services_exact, t.services);
    ck_assert_uint_eq(own.all.faults, t.faults);
    ck_assert_uint_eq(own.all.batches, t.batches);
    ck_assert_uint_eq(own.all.h2d_bytes, t.bytes);
    ck_assert_uint_eq(own.common_pages, own.recorded_pages);
    uvm_recording_release(&r);
    tape_release(&t);
}
END_TEST

/* Without prefetch nothing is hidden: another policy's run in recorded order is the run itself, made directly. */
START_TEST(a_recording_without_prefetch_gives_any_policys_run_in_its_order)
{
    static const char *const policies[][2] = {
        {"tree", NULL}, {"fixed", "granularity=64KiB"}, {"fixed", "granularity=2MiB"}, {"adaptive", NULL}};
    struct uvm_platform p = platform();
    struct tape none;
    struct uvm_recording r;
    tape_init(&none, "none", NULL, BASE, 20 * UVM_BLOCK_BYTES);
    tape_cpu_writes(&none);
    tape_random(&none, 20, 50, 60, 4);
    tape_load(&none, &r);
    for (size_t i = 0; i < 4; i++) {
        struct tape t;
        tape_init(&t, policies[i][0], policies[i][1], BASE, 20 * UVM_BLOCK_BYTES);
        tape_random(&t, 20, 50, 60, 4);
        struct uvm_open_loop out = run(&r, policies[i][0], policies[i][1], UVM_HIDDEN_UNTOUCHED, &p);
        ck_assert_uint_eq(out.all.faults, t.faults);
        ck_assert_uint_eq(out.all.batches, t.batches);
        ck_assert_uint_eq(out.all.services, t.services);
        ck_assert_uint_eq(out.all.h2d_bytes, t.bytes);
        ck_assert(out.covers);
        tape_release(&t);
    }
    uvm_recording_release(&r);
    tape_release(&none);
}
END_TEST

START_TEST(time_is_the_cost_models_for_a_single_service)
{
    struct uvm_platform p = platform();
    struct tape t;
    struct uvm_recording r;
    tape_init(&t, "tree", NULL, BASE, UVM_BLOCK_BYTES);
    struct page_mask touched[TAPE_BLOCKS] = {0};
    page_mask_set(&touched[0], 5);
    tape_batch(&t, touched);
    tape_load(&t, &r);
    double cpu = p.batch_before_ns + p.service_ns + p.new_block_ns + p.raw_fault_ns + p.fault_page_ns +
                 16 * p.moved_page_ns + p.unmap_run_ns + 16 * p.unmap_page_ns;
    double copy = p.copy_run_ns + 65536 / p.h2d_bytes_per_s * 1e9;
    struct uvm_open_loop out = run(&r, "tree", NULL, UVM_HIDDEN_FORCED, &p);
    ck_assert_int_eq(out.all.time_ns, (int64_t)(p.interrupt_ns + cpu + copy + p.batch_after_ns));
    uvm_recording_release(&r);
    tape_release(&t);
}
END_TEST

/* A batch that follows at once is found by looking; the first one behind a pause, by an interrupt. */
START_TEST(a_batch_waits_for_an_interrupt_or_for_a_look)
{
    struct uvm_platform p = platform();
    p.interrupt_ns = 1000000;
    p.poll_ns = 100;
    for (int pauses = 0; pauses < 2; pauses++) {
        struct tape t;
        struct uvm_recording r;
        tape_init(&t, "none", NULL, BASE, UVM_BLOCK_BYTES);
        for (unsigned k = 0; k < 4; k++) {
            struct page_mask touched[TAPE_BLOCKS] = {0};
            page_mask_set(&touched[0], 5 * k);
            tape_batch(&t, touched);
            t.now += pauses && k % 2 ? 10000000 : 0;
        }
        tape_load(&t, &r);
        const double page = p.service_ns + p.raw_fault_ns + p.fault_page_ns + p.moved_page_ns + p.moved_run_ns +
                            p.unmap_run_ns + p.unmap_page_ns + p.copy_run_ns + 4096 / p.h2d_bytes_per_s * 1e9;
        struct uvm_open_loop out = run(&r, "none", NULL, UVM_HIDDEN_FORCED, &p);
        ck_assert_uint_eq(out.all.batches, 4);
        ck_assert_double_eq_tol((double)out.all.time_ns,
                                4 * (p.batch_before_ns + p.batch_after_ns + page) + p.new_block_ns +
                                    3 * (p.service_again_ns - p.service_ns) +
                                    (pauses ? 2 * p.interrupt_ns + 2 * p.poll_ns : p.interrupt_ns + 3 * p.poll_ns),
                                4);
        uvm_recording_release(&r);
        tape_release(&t);
    }
}
END_TEST

START_TEST(batches_hold_at_most_256_pages)
{
    struct uvm_platform p = platform();
    struct tape t;
    struct uvm_recording r;
    tape_init(&t, "tree", NULL, BASE, 4 * UVM_BLOCK_BYTES);
    struct page_mask touched[TAPE_BLOCKS] = {0};
    for (unsigned k = 0; k < 128; k++)
        page_mask_set(&touched[k % 4], k / 4 * 16); /* one page of every 64 KiB: everything comes */
    tape_batch(&t, touched);
    tape_load(&t, &r);
    ck_assert_uint_eq(r.prefetch_pages, 2048 - 128);
    struct uvm_open_loop out = run(&r, "none", NULL, UVM_HIDDEN_TOUCHED, &p);
    ck_assert_uint_eq(out.all.faults, 2048);
    ck_assert_uint_eq(out.all.batches, 1 + (2048 - 128) / 256 + 1);
    ck_assert(out.covers);
    uvm_recording_release(&r);
    tape_release(&t);
}
END_TEST

START_TEST(pages_that_go_back_must_come_again)
{
    struct uvm_platform p = platform();
    struct tape t;
    struct uvm_recording r;
    tape_init(&t, "none", NULL, BASE, UVM_BLOCK_BYTES);
    struct page_mask touched[TAPE_BLOCKS] = {0};
    page_mask_set_region(&touched[0], 0, 8);
    tape_batch(&t, touched);
    tape_add(&t, (struct record){.kind = RECORD_MIGRATE_D2H,
                                 .time = t.now,
                                 .duration = 100,
                                 .addr = BASE,
                                 .bytes = 4 * 4096,
                                 .flags = RECORD_CAUSE_FAULT});
    t.now += 200000;
    page_mask_clear_region(&t.blocks[0].resident, 0, 4);
    tape_batch(&t, touched);
    tape_load(&t, &r);
    struct uvm_open_loop out = run(&r, "none", NULL, UVM_HIDDEN_UNTOUCHED, &p);
    ck_assert_uint_eq(out.all.faults, 12);
    ck_assert_uint_eq(out.all.back_bytes, 4 * 4096);
    out = run(&r, "fixed", NULL, UVM_HIDDEN_UNTOUCHED, &p);
    ck_assert_uint_eq(out.all.faults, 12);
    ck_assert_uint_eq(out.all.h2d_bytes, (512 + 4) * 4096);
    uvm_recording_release(&r);
    tape_release(&t);
}
END_TEST

/* The GPU wrote the second block first: nothing was copied, and no record says that it was there. */
START_TEST(memory_without_records_comes_back_under_any_policy)
{
    struct uvm_platform p = platform();
    struct tape t;
    struct uvm_recording r;
    tape_init(&t, "tree", NULL, BASE, 2 * UVM_BLOCK_BYTES);
    tape_allocation(&t, BASE, 2 * UVM_BLOCK_BYTES);
    struct page_mask touched[TAPE_BLOCKS] = {0};
    page_mask_set(&touched[0], 5);
    tape_batch(&t, touched);
    for (int b = 0; b < 2; b++)
        tape_add(&t, (struct record){.kind = RECORD_MIGRATE_D2H,
                                     .time = t.now + b * 1000000,
                                     .duration = 100,
                                     .addr = BASE + (uint64_t)b * UVM_BLOCK_BYTES,
                                     .bytes = 16 * 4096,
                                     .flags = RECORD_CAUSE_PREFETCH});
    tape_load(&t, &r);
    static const char *const policies[] = {"none", "fixed"};
    static const unsigned pages[] = {1 + 16, 16 + 16}; /* of the first block what the policy brought */
    for (int i = 0; i < 2; i++)
        ck_assert_uint_eq(run(&r, policies[i], NULL, UVM_HIDDEN_UNTOUCHED, &p).all.back_bytes, pages[i] * 4096);
    uvm_recording_release(&r);
    tape_release(&t);
}
END_TEST

TEST_MAIN("uvm_answer_open_loop")
