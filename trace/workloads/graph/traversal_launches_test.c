/* Runs are the program's own: by including it. */
#include "trace/workloads/graph/traversal_program.c"

#include <math.h>

#include "trace/base/testing.h"
#include "trace/workloads/workload.h"

static const char *const specs[] = {"bfs,graph=kron,scale=9,roots=5",
                                    "bfs,graph=urand,scale=7,k=1,roots=7,iterations=2",
                                    "sssp,graph=kron,scale=8,roots=3",
                                    "sssp,graph=urand,scale=8,k=2,root=auto,update=jacobi,iterations=3",
                                    "cc,graph=kron,scale=9",
                                    "cc,graph=urand,scale=8,k=1,update=jacobi",
                                    "cc,graph=kron,scale=8,iterations=1",
                                    "pagerank,graph=kron,scale=8,tolerance=0.01"};

static void same_words(const uint64_t *a, const uint64_t *b, uint64_t bits)
{
    ck_assert_int_eq(a == NULL, b == NULL);
    if (a)
        ck_assert_mem_eq(a, b, (bits / 64 + 1) * sizeof *a);
}

static void same_launch(struct traversal_run *kept, struct traversal_run *own, uint32_t launch)
{
    ck_assert_int_eq(traversal_run_seek(kept, launch, NULL), 0);
    ck_assert_int_eq(traversal_run_seek(own, launch, NULL), 0);
    same_words(kept->t.active.bits, own->t.active.bits, own->t.graph.vertices);
    ck_assert_uint_eq(kept->t.active.count, own->t.active.count);
    same_words(kept->t.changes, own->t.changes, own->t.graph.elements);
    same_words(kept->t.own, own->t.own, own->t.graph.elements);
}

START_TEST(kept_launches_are_those_that_a_run_works_out)
{
    for (size_t i = 0; i < 2 * sizeof specs / sizeof *specs; i++) {
        struct workload w;
        struct traversal_launches all, none;
        struct traversal_run kept, own;
        ck_assert_int_eq(workload_open(&w, specs[i / 2], NULL), 0);
        const struct traversal *t = w.state;
        ck_assert_int_eq(traversal_launches_open(&all, t, i % 2, UINT64_MAX, NULL), 0);
        ck_assert_int_eq(traversal_launches_open(&none, t, i % 2, 0, NULL), 0);
        ck_assert(all.of && !none.of);
        ck_assert_mem_eq(all.starts, none.starts, (t->root_count + 1) * sizeof *all.starts);
        ck_assert_int_eq(traversal_run_open(&kept, t, &all, i % 2, NULL), 0);
        ck_assert_int_eq(traversal_run_open(&own, t, &none, i % 2, NULL), 0);
        uint32_t launches = (uint32_t)all.starts[t->root_count];
        for (uint32_t l = 0; l < launches; l++)
            same_launch(&kept, &own, l);
        same_launch(&kept, &own, launches / 2); /* back again */
        same_launch(&kept, &own, launches - 1);
        traversal_run_close(&kept);
        traversal_run_close(&own);
        traversal_launches_close(&all);
        traversal_launches_close(&none);
        workload_close(&w);
    }
}
END_TEST

START_TEST(too_much_to_keep_keeps_none)
{
    struct workload w;
    struct traversal_launches all, some;
    ck_assert_int_eq(workload_open(&w, specs[0], NULL), 0);
    ck_assert_int_eq(traversal_launches_open(&all, w.state, true, UINT64_MAX, NULL), 0);
    ck_assert_int_eq(traversal_launches_open(&some, w.state, true, all.bytes - 1, NULL), 0);
    ck_assert(!some.of);
    ck_assert_mem_eq(all.starts, some.starts, 6 * sizeof *all.starts);
    traversal_launches_close(&some);
    ck_assert_int_eq(traversal_launches_open(&some, w.state, true, all.bytes, NULL), 0);
    ck_assert(some.of);
    traversal_launches_close(&some);
    traversal_launches_close(&all);
    workload_close(&w);
}
END_TEST

START_TEST(a_few_launches_stand_for_all)
{
    struct workload w;
    struct program program;
    double amounts[256], all = 0, some = 0;
    uint32_t own[2] = {0};
    ck_assert_int_eq(workload_open(&w, "pagerank,graph=kron,scale=9", NULL), 0);
    ck_assert_int_eq(w.type->program(w.state, &program, NULL), 0);
    const struct traversal_launches *l = ((const struct traversal *)w.state)->launches;
    ck_assert_uint_le(l->kept, 256);
    for (uint32_t i = 0; i < l->kept; i++) {
        all += (double)l->of[i].elements;
        own[0] += program_like(&program, i) == i;
    }
    ck_assert_uint_lt(own[0], l->kept); /* some have the same frontier */
    ck_assert(w.type->spare(w.state, amounts));
    for (uint32_t i = 0; i < l->kept; i++) {
        const uint32_t like = program_like(&program, i);
        ck_assert_uint_eq(l->of[like].as, l->of[i].as);
        ck_assert_double_eq(amounts[i], (double)l->of[l->of[i].as].elements);
        some += amounts[i];
        own[1] += like == i;
    }
    ck_assert_uint_le(own[1], STEPS + 3);
    ck_assert_double_le(fabs(all - some), (double)l->of[0].elements / STEPS);
    workload_close(&w);
}
END_TEST

TEST_MAIN("traversal_launches")
