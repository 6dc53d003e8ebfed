/* The arithmetic of array is its own: by including it. */
#include "trace/workloads/micro/array.c"

#include "trace/workloads/program_testing.h"

START_TEST(stride_is_what_its_closed_form_scans)
{
    struct workload w;
    struct program program = program_opened(&w, "array,bytes=1MiB,element=8,offset=5,launches=3", 0, 0);
    const struct scan_ops *ops = w.type->scans;
    struct scan_setup setup;
    struct scan_batch batch;
    struct err err = {""};
    uint32_t launches = 0;
    ops->setup(w.state, &setup);
    ck_assert_int_eq(ops->start(w.state, &err), 0);
    for (; ops->next(w.state, &batch, &err) == 1; launches++) {
        ck_assert_uint_eq(batch.launch, launches);
        ck_assert_uint_eq(batch.n, 1);
        ck_assert(batch.last);
        ck_assert_uint_eq(batch.scans[0].first, 5);
        ck_assert_uint_eq(batch.scans[0].count, (1 << 20) / 8 - 5);
    }
    ck_assert_uint_eq(launches, program.ops->launches(program.state));
    ck_assert_uint_eq(setup.structures[0].element, 8);
    workload_close(&w);
}
END_TEST

START_TEST(other_patterns_have_no_closed_form)
{
    static const char *const patterns[] = {"random", "sparse", "chain", "chunk", "chunk-random"};
    for (int i = 0; i < 5; i++) {
        struct workload w;
        (void)program_opened(&w, testing_text("array,pattern=%s", patterns[i]), 0, 0);
        const struct scan_ops *ops = w.type->scans;
        struct scan_setup setup;
        ops->setup(w.state, &setup);
        ck_assert_uint_eq(setup.lanes, 0);
        FAILS_WITH(ops->start(w.state, &err), "pattern=stride");
        workload_close(&w);
    }
}
END_TEST

START_TEST(a_remainder_by_products_is_the_remainder)
{
    static const uint64_t dividers[] = {1, 2, 3, 5, 4096, 65535, 65537, 1 << 25, (1 << 26) - 1, 1ull << 63, UINT64_MAX};
    uint64_t state = 5;
    for (size_t k = 0; k < sizeof dividers / sizeof *dividers; k++) {
        uint64_t n = dividers[k];
        const struct modulo of = modulo_of(n);
        for (int i = 0; i < 2000; i++) {
            uint64_t x = hash(state++) >> i % 64, near = x / n * n - 1; /* where the quotient steps */
            ck_assert_uint_eq(modulo(&of, x), x % n);
            ck_assert_uint_eq(modulo(&of, near), near % n);
            ck_assert_uint_eq(modulo(&of, near + 1), (near + 1) % n);
        }
        ck_assert_uint_eq(modulo(&of, UINT64_MAX), UINT64_MAX % n);
    }
}
END_TEST

TEST_MAIN("array_scan")
