/* The gpu-* workloads: rates, shares and launches come out as the table says. */
#include "trace/base/testing.h"
#include "trace/workloads/stream.h"
#include "trace/workloads/workload.h"

struct counts {
    double reads, misses, writebacks, bytes_written, ends;
    int64_t last;
};

static void count(const char *spec, struct counts *c)
{
    static struct record records[4096];
    struct workload w;
    struct err err = {""};
    ck_assert_msg(!workload_open(&w, spec, &err), "%s", err.msg);
    memset(c, 0, sizeof *c);
    for (size_t n = 1; n;) {
        ck_assert_int_eq(w.type->next(w.state, records, 4096, &n, &err), 0);
        for (size_t i = 0; i < n; i++) {
            ck_assert_int_ge(records[i].time, c->last);
            c->last = records[i].time;
            c->reads += records[i].kind == RECORD_DRAM_READ;
            c->misses += records[i].kind == RECORD_DRAM_READ && !(records[i].flags & STREAM_L2_HIT);
            c->writebacks += records[i].kind == RECORD_DRAM_WRITEBACK;
            c->bytes_written += records[i].kind == RECORD_DRAM_WRITEBACK ? (double)records[i].bytes : 0;
            c->ends += records[i].kind == RECORD_KERNEL_END;
        }
    }
    workload_close(&w);
}

START_TEST(rate_misses_and_write_share_are_those_of_the_table)
{
    struct counts c;
    count("gpu-g2,set=o,cycles=200000", &c); /* .35, .50, write share .35 */
    ck_assert_double_eq_tol(c.reads / (double)c.last, .35, .01);
    ck_assert_double_eq_tol(c.misses / c.reads, .5, .01);
    ck_assert_double_eq_tol(c.bytes_written / (c.bytes_written + 32 * c.misses), .35, .02);
}
END_TEST

START_TEST(set_l_has_launches)
{
    struct counts c;
    count("gpu-g17,cycles=60000", &c); /* .45 x 60000 requests, 1500 per launch */
    ck_assert_double_eq_tol(c.ends, 18, 1.5);
    count("gpu-g17,set=o,cycles=60000", &c);
    ck_assert_double_eq(c.ends, 1);
}
END_TEST

START_TEST(eight_multiprocessors_ask_for_a_quarter)
{
    struct counts c;
    count("gpu-g2,set=o,sms=8,cycles=200000", &c);
    ck_assert_double_eq_tol(c.reads / (double)c.last, .35 * .2512, .01);
}
END_TEST

START_TEST(the_same_seed_gives_the_same_records)
{
    struct counts a, b, other;
    count("gpu-g6,channels=3,seed=7", &a);
    count("gpu-g6,channels=3,seed=7", &b);
    count("gpu-g6,channels=3,seed=8", &other);
    ck_assert_mem_eq(&a, &b, sizeof a);
    ck_assert(other.last != a.last || other.misses != a.misses);
}
END_TEST

START_TEST(llm_holds_both_sides)
{
    static struct record records[4096];
    struct workload w;
    struct err err = {""};
    ck_assert_msg(!workload_open(&w, "llm,scale=64", &err), "%s", err.msg);
    size_t pim = 0, mem = 0;
    for (size_t n = 1; n;) {
        ck_assert_int_eq(w.type->next(w.state, records, 4096, &n, &err), 0);
        for (size_t i = 0; i < n; i++) {
            pim += records[i].kind == RECORD_PIM;
            mem += records[i].kind == RECORD_DRAM_READ;
        }
    }
    workload_close(&w);
    /* 16 rows x 8 groups x 3 x 16 + 2 x 2, 2 x 458, 16 x 3 x 16 + 2 x 2 */
    ck_assert_uint_eq(pim, 6144 + 4 + 916 + 768 + 4);
    ck_assert_uint_gt(mem, 5000);
}
END_TEST

TEST_MAIN("gpu_streams", rate_misses_and_write_share_are_those_of_the_table, set_l_has_launches,
          eight_multiprocessors_ask_for_a_quarter, the_same_seed_gives_the_same_records, llm_holds_both_sides)
