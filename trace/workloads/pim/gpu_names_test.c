#include <string.h>

#include "trace/base/testing.h"
#include "trace/workloads/workload.h"

START_TEST(each_number_is_the_program_of_table_ii)
{
    static const char *const names[] = {"btree",    "backprop",   "bfs",     "cfd",       "dwt2d",
                                        "gaussian", "heartwall",  "hotspot", "hotspot3d", "huffman",
                                        "kmeans",   "lavamd",     "lud",     "mummergpu", "nn",
                                        "nw",       "pathfinder", "srad-v1", "srad-v2",   "streamcluster"};
    for (int i = 0; i < 20; i++) {
        const char *name = testing_text("gpu-g%d", i + 1);
        const char *is = testing_text("rodinia-%s", names[i]);
        const struct workload_type *t = GIVES(workload_find(name));
        ck_assert_str_eq(t->alias, is);
        ck_assert_ptr_nonnull(workload_find(is));
    }
}
END_TEST

START_TEST(it_is_the_same_program)
{
    struct workload a, b;
    struct program p, q;
    WORKS(workload_open(&a, "gpu-g15", &err));
    WORKS(workload_open(&b, "rodinia-nn", &err));
    WORKS(a.type->program(a.state, &p, &err));
    WORKS(b.type->program(b.state, &q, &err));
    struct program_body *x = calloc(2, sizeof *x), *y = x + 1;
    RETURNS(program_body(&p, (void *)p.state, 0, 1234, 0, x, &err), 1);
    RETURNS(program_body(&q, (void *)q.state, 0, 1234, 0, y, &err), 1);
    ck_assert_uint_eq(x->count, y->count);
    for (uint32_t i = 0; i < x->count; i++)
        ck_assert_uint_eq(program_addr(&x->access[i], 5, 0), program_addr(&y->access[i], 5, 0));
    free(x);
    workload_close(&a);
    workload_close(&b);
}
END_TEST

START_TEST(old_keys_have_a_meaning_or_are_refused_by_name)
{
    struct workload w;
    struct workload_wish wish;
    WORKS(workload_open(&w, "gpu-g3,cycles=60000,sms=8,seed=7", &err));
    w.type->wish(w.state, &wish);
    ck_assert_int_eq(wish.sms, 8);
    ck_assert_uint_eq(wish.requests, 600000);
    workload_close(&w);
    FAILS(workload_open(&w, "gpu-g3,set=l", &err));
}
END_TEST

TEST_MAIN("gpu_names")
