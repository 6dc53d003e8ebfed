#include "trace/program/program_adapter.h"

#include "trace/base/testing.h"
#include "trace/program/pages.h"
#include "trace/program/walk.h"
#include "trace/workloads/workload.h"

/* Instructions in order, as a sum that their order and addresses change. */
static int take(void *ctx, const struct program_op *op, struct err *err)
{
    uint64_t *sum = ctx;
    (void)err;
    *sum = *sum * 31 + op->line[0].addr + op->line[0].sectors + op->access;
    return 0;
}

static uint64_t walk(const struct program *program, bool managed_only)
{
    uint64_t sum = 0;
    const struct program_walk how = {.managed_only = managed_only};
    const struct program_taker taker = {.op = take};
    WORKS(program_walk(program, &how, &taker, &sum, NULL, &err));
    return sum;
}

START_TEST(memory_is_placed_and_the_rest_is_the_same)
{
    struct workload w;
    struct program whole;
    size_t n;
    WORKS(workload_open(&w, "triad,bytes=1MiB", &err));
    WORKS(w.type->program(w.state, &whole, &err));
    for (uint64_t on_gpu = 0; on_gpu < 8; on_gpu++) {
        struct program_placed p;
        program_placed_init(&p, &whole, on_gpu);
        const struct program *made = &p.adapter.program;
        const struct program_alloc *allocs = made->ops->allocs(made->state, &n);
        ck_assert_uint_eq(n, 3);
        for (size_t i = 0; i < n; i++)
            ck_assert_int_eq(allocs[i].device, on_gpu >> i & 1);
        ck_assert_uint_eq(walk(made, false), walk(&whole, false));
        if (on_gpu)
            ck_assert_uint_ne(walk(made, true), walk(&whole, true));
    }
    workload_close(&w);
}
END_TEST

/* As pages: what is placed has none. */
START_TEST(what_is_placed_has_no_pages)
{
    static struct program_pages pages;
    struct workload w;
    struct program whole;
    WORKS(workload_open(&w, "conv2d,bytes=1MiB", &err));
    WORKS(w.type->program(w.state, &whole, &err));
    struct program_placed p;
    program_placed_init(&p, &whole, 1);
    WORKS(program_pages_init(&pages, &p.adapter.program, NULL, &err));
    size_t n;
    const struct actor_alloc *allocs = program_pages_ops.allocs(&pages, &n);
    ck_assert_uint_eq(n, 1);
    ck_assert_str_eq(allocs[0].name, "B");
    workload_close(&w);
}
END_TEST

/* Instructions, in order, as a sum that their order and addresses change. */
struct seen {
    uint64_t count, most, sum;
};

static int take_seen(void *ctx, const struct program_op *op, struct err *err)
{
    (void)err;
    struct seen *s = ctx;
    if (s->count < s->most)
        s->sum = s->sum * 31 + op->line[0].addr + op->line[0].sectors;
    s->count++;
    return 0;
}

static struct seen walk_seen(const struct program *program, uint64_t most)
{
    struct seen s = {.most = most};
    const struct program_walk how = {0};
    const struct program_taker taker = {.op = take_seen};
    WORKS(program_walk(program, &how, &taker, &s, NULL, &err));
    return s;
}

START_TEST(each_warp_does_its_first_accesses_in_whole_turns)
{
    struct workload w;
    struct program whole;
    WORKS(workload_open(&w, "pim-add,channels=2,rows=3", &err));
    WORKS(w.type->program(w.state, &whole, &err));
    struct program_prefix *p = GIVES(program_prefix_new(&whole, 100, &err));
    ck_assert_uint_eq(walk_seen(&p->adapter.program, 0).count, 2 * 144); /* turns of 48 */
    ck_assert_uint_eq(p->accesses, 144);
    ck_assert_uint_eq(p->whole, 3 * 8 * 48);
    ck_assert_uint_eq(walk_seen(&p->adapter.program, 144).sum, walk_seen(&whole, 144).sum);
    program_prefix_free(p);
    p = GIVES(program_prefix_new(&whole, 3 * 8 * 48, &err));
    ck_assert_uint_eq(walk_seen(&p->adapter.program, UINT64_MAX).sum, walk_seen(&whole, UINT64_MAX).sum);
    program_prefix_free(p);
    p = GIVES(program_prefix_new(&whole, 8 * 48 + 1, &err)); /* into the second row's body */
    ck_assert_uint_eq(walk_seen(&p->adapter.program, 0).count, 2 * 9 * 48);
    program_prefix_free(p);
    workload_close(&w);
}
END_TEST

START_TEST(of_each_launch_the_first_blocks_are_the_same)
{
    struct workload w;
    struct program whole;
    struct program_first p;
    uint64_t blocks[2];
    WORKS(workload_open(&w, "rodinia-gaussian,n=64", &err));
    WORKS(w.type->program(w.state, &whole, &err));
    program_first_init(&p, &whole, blocks);
    for (blocks[0] = blocks[1] = 1; blocks[1] <= 256; blocks[1] *= 4) {
        const struct seen s = walk_seen(&p.adapter.program, UINT64_MAX);
        ck_assert_uint_eq(program_launch_of(&p.adapter.program, 1).blocks, blocks[1]);
        ck_assert_uint_eq(s.sum, walk_seen(&whole, s.count).sum);
        ck_assert_int_eq(s.count == walk_seen(&whole, 0).count, blocks[1] == 256);
    }
    workload_close(&w);
}
END_TEST

TEST_MAIN("wrapped")
