/* Kernels and requests are its own: by including it. */
#include "trace/workloads/pim/pim_program.c"

#include "trace/base/testing.h"

/* Requests per channel and operations that change the row, by arithmetic from the kernels' loops. */
static void count(const char *name, uint64_t *requests, double *changes)
{
    struct pim_ops ops = {0};
    WORKS(pim_ops_build(&ops, pim_kernel_find(name), 0, 4096, &err));
    *requests = 0;
    for (size_t i = 0; i < ops.count; i++)
        *requests += (uint64_t)pim_op_requests(&ops.op[i]);
    uint64_t n = 1;
    for (size_t i = 1; i < ops.count; i++)
        n += ops.op[i].row != ops.op[i - 1].row;
    *changes = 1 - (double)n / (double)*requests;
    pim_ops_release(&ops);
}

START_TEST(every_kernel_makes_the_papers_number_of_requests)
{
    static const struct {
        const char *name;
        uint64_t requests;
        double hits; /* share of requests in the row of the one before */
    } kernels[] = {{"add", 98304, .9375},       {"copy", 65536, .9375},    {"daxpy", 98304, .958},
                   {"scale", 65536, .996},      {"bn-fwd", 197632, .9375}, {"bn-bwd", 1017216, .948},
                   {"fc", 98368, .958},         {"kmeans", 83240, .969},   {"grim", 12288, .958},
                   {"softmax", 458 * 128, .998}};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        uint64_t requests;
        double hits;
        count(kernels[i].name, &requests, &hits);
        ck_assert_msg(requests == kernels[i].requests, "%s: %llu requests", kernels[i].name,
                      (unsigned long long)requests);
        ck_assert_msg(hits > kernels[i].hits - .001 && hits < kernels[i].hits + .001, "%s: hits %.4f", kernels[i].name,
                      hits);
    }
}
END_TEST

START_TEST(an_operation_goes_down_the_columns_of_bank_8_then_0)
{
    const struct pim_op op = {4096, 2, PIM_FULL}, scalar = {4096, 2, PIM_SCALAR};
    uint32_t bank, column;
    pim_op_request(&op, 0, &bank, &column);
    ck_assert_uint_eq(bank, 8);
    ck_assert_uint_eq(column, 23);
    pim_op_request(&op, 15, &bank, &column);
    ck_assert_uint_eq(bank, 0);
    ck_assert_uint_eq(column, 16);
    pim_op_request(&scalar, 1, &bank, &column);
    ck_assert_uint_eq(bank, 0);
}
END_TEST

START_TEST(a_limit_cuts_the_list)
{
    struct pim_ops ops = {.limit = 7};
    ck_assert_int_eq(pim_ops_build(&ops, pim_kernel_find("add"), 0, 4096, NULL), 0);
    ck_assert_uint_eq(ops.count, 7);
    pim_ops_release(&ops);
}
END_TEST

TEST_MAIN("pim_ops")
