/* One program, the same bytes and pages whichever engine asks: every generated program, at a small size, through every
 * view there is of it. */
#include "replay/run/one_program_testing.h"

/* A size for each program; at least one, or the test fails. */
static const char *const specs[] = {"conv2d,n=70",
                                    "conv2d,n=257",
                                    "fdtd2d,n=45,steps=2",
                                    "bicg,n=100",
                                    "bicg,n=300,unroll=1",
                                    "nw,bytes=200KiB",
                                    "nw,bytes=1MiB,order=ptx",
                                    "rodinia-nw,n=80",
                                    "rodinia-lud,n=96",
                                    "rodinia-srad-v1,rows=50,columns=21,iterations=2",
                                    "rodinia-nn,n=5120",
                                    "rodinia-pathfinder,cols=1024,rows=6",
                                    "rodinia-gaussian,n=64,iterations=3",
                                    "rodinia-hotspot,n=64,iterations=6",
                                    "rodinia-bfs,n=700",
                                    "rodinia-bfs,n=100,graph=ring",
                                    "rodinia-streamcluster,n=700,dim=7,launches=2",
                                    "rodinia-btree,n=5000,fan=17,queries=9,ranges=7",
                                    "rodinia-btree,n=300,queries=3,kernel=findK",
                                    "rodinia-lavamd,boxes=3",
                                    "rodinia-nn,n=5001",
                                    "rodinia-pathfinder,cols=700,rows=6",
                                    "rodinia-gaussian,n=45,iterations=3",
                                    "rodinia-hotspot,n=50,iterations=6",
                                    "rodinia-hotspot3d,nx=64,ny=16,nz=7,iterations=2",
                                    "rodinia-srad-v2,rows=64,cols=48,iterations=1",
                                    "rodinia-backprop,n=496",
                                    "rodinia-kmeans,n=700,features=6,clusters=2,iterations=2",
                                    "rodinia-cfd,n=500,iterations=1",
                                    "rodinia-cfd,n=500,iterations=1,window=64",
                                    "rodinia-huffman,blocks=16,runs=2,sms=2",
                                    "rodinia-huffman,blocks=1024,runs=1",
                                    "rodinia-dwt2d,width=100,height=70,levels=2",
                                    "rodinia-heartwall,template=3,area=7,points=3,frames=11",
                                    "rodinia-mummergpu,bases=3000,queries=300",
                                    "llm,scale=128",
                                    "triad,bytes=100000,blocks=3,threads=96",
                                    "triad,bytes=3MiB,unroll=4",
                                    "strided,bytes=1000000,chunk=33,threads=100",
                                    "stencil,n=130",
                                    "array,bytes=300001,blocks=7",
                                    "array,bytes=4MiB,pattern=random",
                                    "array,bytes=4MiB,pattern=sparse,pages_per_block=9",
                                    "array,bytes=1MiB,pattern=chain,step=5000",
                                    "array,bytes=4MiB,pattern=chunk,blocks=2,threads=64,launches=2",
                                    "array,bytes=4MiB,pattern=chunk-random,blocks=2,threads=64",
                                    "array,bytes=1MiB,offset=77,element=8",
                                    "bfs,scale=9,roots=2",
                                    "bfs,scale=9,roots=1,kernel=naive,element=4,base_offset=40",
                                    "cc,scale=8,kernel=merged",
                                    "sssp,scale=8,roots=2,weights=1:9,kernel=merged",
                                    "pagerank,scale=8,kernel=merged,iterations=3",
                                    "gather,count=300,table_rows=1000,row_bytes=100",
                                    "gather,count=300,table_rows=1000,row_bytes=512,kernel=naive",
                                    "pim-add,rows=2",
                                    "pim-copy,rows=2,channels=3",
                                    "pim-daxpy,rows=2",
                                    "pim-scale,rows=2,channels=32",
                                    "pim-bn-fwd,rows=2",
                                    "pim-bn-bwd,rows=1",
                                    "pim-fc,rows=9",
                                    "pim-kmeans,rows=1",
                                    "pim-grim,rows=2,channels=4",
                                    "pim-softmax,rows=2"};

static void compare(const char *spec)
{
    struct workload opened;
    struct err err = {""};
    ck_assert_msg(workload_open(&opened, spec, &err) == 0, "%s: %s", spec, err.msg);
    ck_assert_msg(opened.type->program(opened.state, &viewed, &err) == 0, "%s: %s", spec, err.msg);
    w = &opened;
    compare_views(spec);
    workload_close(&opened);
}

START_TEST(every_program_has_a_size_here)
{
    for (size_t i = 0; workload_types[i]; i++) {
        const struct workload_type *t = workload_types[i];
        size_t n = strlen(t->name);
        bool found = false;
        for (size_t k = 0; k < sizeof specs / sizeof *specs; k++)
            found |= strncmp(specs[k], t->name, n) == 0 && (specs[k][n] == ',' || !specs[k][n]);
        const bool one_view = !(t->views & (t->views - 1)); /* nothing to compare it with */
        ck_assert_msg(found || one_view || t->alias || !t->program || t->produces == WORKLOAD_LAUNCHES,
                      "%s has no row in specs[]", t->name);
        ck_assert_msg(!(t->views & VIEW_PLACEMENT) || t->program, "%s: a view of what program?", t->name);
    }
}
END_TEST

START_TEST(every_view_of_a_program_has_the_same_bytes_and_pages)
{
    compare(specs[_i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("one_program");
    TCase *each = tcase_create("each");
    tcase_set_timeout(each, TESTING_TIMEOUT_S);
    tcase_add_test(each, every_program_has_a_size_here);
    tcase_add_loop_test(each, every_view_of_a_program_has_the_same_bytes_and_pages, 0,
                        (int)(sizeof specs / sizeof *specs));
    suite_add_tcase(suite, each);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
