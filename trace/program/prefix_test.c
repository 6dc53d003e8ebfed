#include "trace/program/prefix.h"

#include "trace/base/testing.h"
#include "trace/program/walk.h"
#include "trace/workloads/workload.h"

/* Instructions, in order, as a sum that their order and addresses change. */
struct seen {
    uint64_t count, most, sum;
};

static int take(void *ctx, const struct program_op *op, struct err *err)
{
    (void)err;
    struct seen *s = ctx;
    if (s->count < s->most)
        s->sum = s->sum * 31 + op->line[0].addr + op->line[0].sectors;
    s->count++;
    return 0;
}

static struct seen walk(const struct program *program, uint64_t most)
{
    struct err err = {""};
    struct seen s = {.most = most};
    const struct program_walk how = {0};
    const struct program_taker taker = {.op = take};
    ck_assert_msg(program_walk(program, &how, &taker, &s, NULL, &err) == 0, "%s", err.msg);
    return s;
}

START_TEST(each_warp_does_its_first_accesses_in_whole_turns)
{
    struct workload w;
    struct err err = {""};
    struct program whole;
    ck_assert_msg(workload_open(&w, "pim-add,channels=2,rows=3", &err) == 0, "%s", err.msg);
    ck_assert_int_eq(w.type->program(w.state, &whole, &err), 0);
    struct program_prefix *p = program_prefix_new(&whole, 100, &err);
    ck_assert_uint_eq(walk(program_prefix_program(p), 0).count, 2 * 144); /* turns of 48 */
    ck_assert_uint_eq(program_prefix_facts(p).accesses, 144);
    ck_assert_uint_eq(program_prefix_facts(p).whole, 3 * 8 * 48);
    ck_assert_uint_eq(walk(program_prefix_program(p), 144).sum, walk(&whole, 144).sum);
    program_prefix_free(p);
    p = program_prefix_new(&whole, 3 * 8 * 48, &err);
    ck_assert_uint_eq(walk(program_prefix_program(p), UINT64_MAX).sum, walk(&whole, UINT64_MAX).sum);
    program_prefix_free(p);
    p = program_prefix_new(&whole, 8 * 48 + 1, &err); /* into the second row's body */
    ck_assert_uint_eq(walk(program_prefix_program(p), 0).count, 2 * 9 * 48);
    program_prefix_free(p);
    workload_close(&w);
}
END_TEST

TEST_MAIN("prefix", each_warp_does_its_first_accesses_in_whole_turns)
