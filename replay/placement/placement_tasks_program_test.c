#include "replay/placement/placement_tasks.h"

#include "replay/placement/program_testing.h"
#include "trace/base/testing.h"

static const char whole[] =
    "[platform]\nname = hand\n[gpu]\nsms = 2 | test\nmemory_bytes = 1GiB | test\nl1_bytes = 65536 | "
    "test\nregisters_per_sm = 65536 | test\nshared_bytes = 65536 | test\nclock_hz = 1000000000 | test\nwarps_per_sm = "
    "64 | test\n"
    "blocks_per_sm = 32 | test\nl2_bytes = 524288 | test\nl2_ways = 16 | test\ndram_bytes_per_s = 1e12 | test\n"
    "issue_per_cycle = 1 | test\ndependent_cycles = 1 | test\nmemory_ns = 100 | test\n[placement]\nl_hd = 1e-8 | "
    "test\n";

static struct platform *load(const char *text)
{
    return GIVES(platform_load(testing_write("p.ini", text, strlen(text)), &err));
}

static struct placement_tasks tasks;

static const struct placement_keys *place(struct hand *h, struct platform *p)
{
    WORKS(placement_tasks_program(&tasks, "hand", &h->program, p, &(struct placement_program_options){0}, &err));
    ck_assert_uint_eq(tasks.count, 1);
    return &tasks.tasks[0].lo;
}

START_TEST(the_hand_worked_program_is_the_task_it_should_be)
{
    struct hand h;
    struct platform *p = load(whole);
    hand_make(&h);
    const struct placement_keys *k = place(&h, p);
    /* a in; the CPU reads b: b out; it wrote a: a in; at the end b out. */
    ck_assert_int_eq(k->bytes_hd, 2 * 8192);
    ck_assert_int_eq(k->bytes_dh, 2 * 8192);
    ck_assert_int_eq(k->copies, 4);
    ck_assert_int_eq(k->kernels, 2);
    ck_assert_int_eq(k->dirty_kernels, 2);
    ck_assert_int_eq(k->dirty_bytes, 6 * 4096);
    ck_assert_int_eq(k->kernel_bytes, 3 * 4096);
    ck_assert_int_eq(k->shared_bytes, 2 * 8192);
    ck_assert_int_eq(k->private_bytes, 4096);
    ck_assert_double_eq(k->l2_instructions, 4 * 16 * 2 + 2);
    ck_assert_double_eq_tol(k->l2_hit_ratio, 264. / 520, 1e-12);
    ck_assert_double_eq(k->ilp, 2);
    ck_assert_double_eq_tol(k->tlp, (2. * 192 + 3) / 195, 1e-12);
    ck_assert_double_eq_tol(k->compute_ms, 17 * 103e-6, 1e-12);
    ck_assert_double_eq(k->cpu_ms, 0);
    ck_assert(!tasks.tasks[0].bounded);
    ck_assert(!tasks.tasks[0].no_l2);
    struct placement_inputs in;
    placement_task_inputs(k, &in);
    ck_assert_double_eq(in.dirty_mapped_bytes, 6 * 4096);
    ck_assert_double_eq(in.mapped_bytes, 6 * 4096);
    placement_tasks_release(&tasks);
    platform_free(p);
}
END_TEST

START_TEST(every_byte_of_every_allocation_is_copied_or_private)
{
    struct platform *p = load(whole);
    for (int which = 0; which < 8; which++) {
        struct hand h;
        hand_make(&h);
        for (int i = 0; i < 3; i++)
            h.allocs[i].host = which >> i & 1;
        const struct placement_keys *k = place(&h, p);
        ck_assert_int_eq(k->shared_bytes + k->private_bytes, 8192 + 8192 + 4096);
        /* The CPU's phase writes a in any case; b is copied in if the CPU wrote it, s never. */
        ck_assert_int_eq(k->bytes_hd, 8192 * (1 + (which & 1) + (which >> 1 & 1)));
        placement_tasks_release(&tasks);
    }
    platform_free(p);
}
END_TEST

START_TEST(a_number_that_the_platform_lacks_is_named)
{
    static const char *const lines[] = {"l2_bytes = 524288 | test\n", "warps_per_sm = 64 | test\n",
                                        "memory_ns = 100 | test\n"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[sizeof whole];
        const char *at = strstr(whole, lines[i]);
        (void)snprintf(text, sizeof text, "%.*s%s", (int)(at - whole), whole, at + strlen(lines[i]));
        const char *key = testing_text("states no gpu.%.*s;", (int)strcspn(lines[i], " "), lines[i]);
        struct platform *p = load(text);
        struct hand h;
        hand_make(&h);
        FAILS_WITH(placement_tasks_program(&tasks, "hand", &h.program, p, &(struct placement_program_options){0}, &err),
                   key);
        platform_free(p);
    }
}
END_TEST

START_TEST(shipped_integrated_platforms_state_what_programs_need)
{
    static const char *const names[] = {"tx2", "agx", "px2"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct platform *p = GIVES(platform_load(names[i], &err));
        struct hand h;
        hand_make(&h);
        WORKS(placement_tasks_program(&tasks, "hand", &h.program, p, &(struct placement_program_options){0}, &err));
        ck_assert_ptr_nonnull(platform_number(p, "gpu", "registers_per_sm")->source);
        ck_assert_ptr_nonnull(platform_number(p, "gpu", "shared_bytes")->source);
        placement_tasks_release(&tasks);
        platform_free(p);
    }
}
END_TEST

TEST_MAIN("placement_program")
