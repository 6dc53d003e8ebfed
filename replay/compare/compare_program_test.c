#include "replay/compare/compare_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "trace/base/testing.h"
#include "trace/program/random_testing.h"

static struct err err;

/* A random program whose first allocation is loaded alone, the others written alone; odd seeds: as it comes. */
static int tidy(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *b, struct err *e)
{
    const struct program_random *p = run;
    int rc = program_random_body(run, launch, warp, index, b, e);
    for (uint32_t i = 0; rc == 1 && i < b->count && p->seed % 2 == 0; i++) {
        struct program_access *a = &b->access[i];
        if (a->kind == PROGRAM_BARRIER || a->alloc == 2)
            continue;
        a->kind = a->alloc == 0 ? RECORD_READ : a->alloc == 1 ? RECORD_WRITE : RECORD_ATOMIC;
        a->use = a->kind == RECORD_WRITE ? 0 : a->use;
        a->lane = NULL; /* inside what is meant */
        a->lane_stride = a->bytes;
        a->turn_stride = 0;
        a->addr = p->allocs[a->alloc].addr + (a->addr - p->allocs[a->alloc].addr) % 256;
    }
    return rc;
}

static const struct program_ops tidy_ops = {.allocs = program_random_allocs,
                                            .launches = program_random_launches,
                                            .launch = program_random_launch,
                                            .body = tidy};

/* A hint names its allocations with ',' and ':' between: such a name is refused, and the rows beside it are not. */
START_TEST(a_name_that_no_hint_can_carry_is_refused)
{
    static const char *const names[] = {"a,b", "a:b", "a"};
    static const struct compare_set set = {.managed = {.thrashing = UVM_THRASHING_DRIVER}};
    struct platform *platform = platform_load("h200", &err);
    const struct compare_request request = {.threads = 1};
    for (size_t i = 0; i < 3; i++) {
        struct program_random random;
        struct program program;
        struct uvm_metrics prefetched;
        struct compare_program f = {.request = &request, .platform = platform, .set = &set};
        struct compare_result result = {0};
        program_random_init(&random, 2, &program);
        (void)snprintf(random.allocs[0].name, sizeof random.allocs[0].name, "%s", names[i]);
        program.ops = &tidy_ops;
        ck_assert_int_eq(actor_input_program(&f.touching, &program, &err), 0);
        f.touches = true;
        f.ops = f.touching.ops;
        f.actors = f.touching.state;
        f.allocs = f.touching.ops->allocs(f.touching.state, &f.alloc_count);
        f.counted =
            program_totals_init(&f.totals, &f.touching.program, platform_section_get(platform, "gpu"), &err) == 0;
        ck_assert_int_eq(compare_managed_rows(&f, &result, &prefetched, &err), 0);
        for (size_t r = 0; r < result.count; r++) {
            const struct compare_row *row = &result.rows[r];
            bool refused = row->outcome.note_count && strstr(row->outcome.notes[0], "has a ',' or ':'");
            ck_assert_int_eq(refused, i < 2 && strcmp(row->policy, "tree, read-mostly") == 0);
            ck_assert_int_eq(refused, !outcome_get(&row->outcome, "time_ns")->known);
        }
        compare_release(&result);
        compare_program_close(&f);
    }
    platform_free(platform);
}
END_TEST

/* However many there are, each counts. */
START_TEST(the_last_of_many_settings_reaches_every_engine)
{
    static const struct {
        const char *spec;
        enum compare_mechanism mechanism;
    } cases[] = {{"synth:triad,bytes=1MiB", COMPARE_ZEROCOPY},
                 {"synth:gather,row_bytes=512,graph=kron,scale=12,fan_outs=[10,10],batches=1", COMPARE_TIERED}};
    const char *sets[80];
    bool usage;
    for (int i = 0; i < 80; i++)
        sets[i] = "oversubscription_pct=0";
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double time[2] = {NAN, NAN};
        for (int slow = 0; slow < 2; slow++) {
            const struct compare_request request = {
                .spec = cases[c].spec, .platform = "h200", .sets = sets, .set_count = 80, .threads = 1};
            struct compare_result result;
            sets[79] = slow ? "host_bytes_per_s=1e9" : "oversubscription_pct=0";
            ck_assert_msg(compare_run(&request, &result, &usage, &err) == 0, "%s", err.msg);
            for (size_t i = 0; i < result.count; i++)
                if (result.rows[i].mechanism == cases[c].mechanism)
                    time[slow] = compare_time(&result.rows[i]);
            compare_release(&result);
        }
        ck_assert_double_gt(time[1], 1.5 * time[0]);
    }
}
END_TEST

TEST_MAIN("compare_program")
