/* One program, the same bytes and pages whichever engine asks: every generated program, at a small size, through every
 * view there is of it. */
#include "replay/run/one_program_testing.h"

#include "models/base/platform.h"
#include "models/zerocopy/host_reads.h"
#include "replay/placement/program_totals.h"

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
                                    "matmul,n=96",
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
                                    "embedding,tables=3,rows=100,lookups=300,batches=2,row_bytes=100",
                                    "kv-load,blocks=9,layers=2,block_bytes=1040",
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
        const bool found = testing_names(specs, sizeof specs / sizeof *specs, t->name);
        const bool one_view = !(t->views & (t->views - 1)); /* nothing to compare it with */
        ck_assert_msg(found || one_view || t->alias || !t->program || t->produces == WORKLOAD_LAUNCHES,
                      "%s has no row in specs[]", t->name);
        ck_assert_msg(!(t->views & VIEW_PLACEMENT) || t->program, "%s: a view of what program?", t->name);
    }
}
END_TEST

START_LOOP(every_view_of_a_program_has_the_same_bytes_and_pages, sizeof specs / sizeof *specs)
{
    compare(specs[_i]);
}
END_TEST

/* Bodies that do the same, field by field. */
static bool alike(const struct program_body *a, const struct program_body *b)
{
    bool same = a->count == b->count && a->after == b->after && a->turns == b->turns && a->last == b->last;
    for (uint32_t i = 0; i < a->count && same; i++) {
        const struct program_access *x = &a->access[i], *y = &b->access[i];
        same = x->active == y->active && x->bytes == y->bytes && x->before == y->before && x->use == y->use &&
               x->kind == y->kind && x->alloc == y->alloc && x->turn_stride == y->turn_stride;
        for (uint32_t rest = x->active; rest && x->kind != PROGRAM_BARRIER; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctz(rest);
            same &= program_addr(x, lane, 0) == program_addr(y, lane, 0);
        }
    }
    return same;
}

static bool same_launches(const struct program *p, uint32_t first, uint32_t other)
{
    static struct program_body a, b;
    struct program_launch x = {0}, y = {0};
    struct err err = {""};
    void *one, *two;
    p->ops->launch(p->state, first, &x);
    p->ops->launch(p->state, other, &y);
    bool same = strcmp(x.kernel, y.kernel) == 0 && x.blocks == y.blocks && x.threads == y.threads &&
                x.registers == y.registers && x.shared == y.shared && x.blocks_most == y.blocks_most && x.cpu == y.cpu;
    ck_assert(program_run_open(p, &one, &err) == 0 && program_run_open(p, &two, &err) == 0);
    for (uint64_t warp = 0; same && warp < program_warps(&x); warp++)
        for (uint32_t i = 0, more = 1; same && more; i++) {
            int rc = program_body(p, one, first, warp, i, &a, &err);
            ck_assert_int_ge(rc, 0);
            same = rc == program_body(p, two, other, warp, i, &b, &err) && (!rc || alike(&a, &b));
            more = rc == 1 && !a.last;
        }
    program_run_close(p, one);
    program_run_close(p, two);
    return same;
}

/* With more launches than specs[] has. */
static const char *const repeating[] = {"fdtd2d,n=45,steps=3",
                                        "rodinia-srad-v1,rows=50,columns=21,iterations=3",
                                        "rodinia-srad-v2,rows=64,cols=48,iterations=3",
                                        "rodinia-hotspot3d,nx=64,ny=16,nz=7,iterations=5",
                                        "rodinia-kmeans,n=700,features=6,clusters=2,iterations=3",
                                        "rodinia-cfd,n=500,iterations=2",
                                        "rodinia-cfd,n=500,iterations=2,window=64"};

START_LOOP(launches_that_are_said_to_be_the_same_are,
           sizeof specs / sizeof *specs + sizeof repeating / sizeof *repeating)
{
    const size_t own = sizeof specs / sizeof *specs;
    const char *spec = (size_t)_i < own ? specs[_i] : repeating[(size_t)_i - own];
    struct workload opened;
    struct err err = {""};
    struct program p;
    uint32_t repeats = 0;
    ck_assert_msg(workload_open(&opened, spec, &err) == 0, "%s: %s", spec, err.msg);
    ck_assert_msg(opened.type->program(opened.state, &p, &err) == 0, "%s: %s", spec, err.msg);
    for (uint32_t l = 0; l < p.ops->launches(p.state); l++) {
        uint32_t like = program_like(&p, l);
        ck_assert_msg(like <= l && program_like(&p, like) == like, "%s: launch %u is like %u", spec, l, like);
        ck_assert_msg(like == l || same_launches(&p, like, l), "%s: launch %u is not launch %u", spec, l, like);
        repeats += like != l;
    }
    ck_assert_msg(repeats || (size_t)_i < own, "%s: no launch is said to repeat one", spec);
    workload_close(&opened);
}
END_TEST

struct read_counts {
    struct host_reads_count of[64];
    uint32_t n;
};

static int keep_count(void *ctx, uint32_t number, const struct host_reads_count *count, struct err *err)
{
    struct read_counts *c = ctx;
    (void)err;
    ck_assert_uint_lt(number, 64);
    c->of[number] = *count;
    c->n++;
    return 0;
}

static void ask_engines(const struct program *p, const struct platform *h200, struct program_totals *totals,
                        struct read_counts *reads)
{
    const struct host_reads how = {.gpu = platform_section_get(h200, "gpu"),
                                   .pcie = platform_section_get(h200, "pcie"),
                                   .program = p,
                                   .threads = 2,
                                   .on_launch = keep_count,
                                   .ctx = reads};
    WORKS(program_totals_init(totals, p, how.gpu, &err));
    WORKS(host_reads_run(&how, &err));
}

START_LOOP(launches_that_are_not_worked_out_again_are_answered_as_if_they_were, sizeof repeating / sizeof *repeating)
{
    const char *spec = repeating[_i];
    struct read_counts a = {.n = 0}, b = {.n = 0};
    struct program_totals x, y;
    struct workload opened;
    struct program p, plain;
    struct err err = {""};
    struct platform *h200 = platform_load("h200", &err);
    ck_assert_ptr_nonnull(h200);
    ck_assert_msg(workload_open(&opened, spec, &err) == 0, "%s: %s", spec, err.msg);
    ck_assert_msg(opened.type->program(opened.state, &p, &err) == 0, "%s: %s", spec, err.msg);
    struct program_ops ops = *p.ops;
    ops.like = NULL;
    plain = p;
    plain.ops = &ops;
    ask_engines(&p, h200, &x, &a);
    ask_engines(&plain, h200, &y, &b);
    ck_assert_uint_eq(x.launches, y.launches);
    ck_assert_uint_eq(a.n, x.launches);
    ck_assert_uint_eq(b.n, x.launches);
    for (uint32_t l = 0; l < x.launches; l++) {
        ck_assert_int_eq(memcmp(&a.of[l].mix, &b.of[l].mix, sizeof a.of[l].mix), 0);
        ck_assert_double_eq(a.of[l].time_ns, b.of[l].time_ns);
        ck_assert_double_eq(x.launch[l].ms, y.launch[l].ms);
        ck_assert_uint_eq(x.launch[l].modified_bytes, y.launch[l].modified_bytes);
        ck_assert_uint_eq(x.launch[l].touched_bytes, y.launch[l].touched_bytes);
        ck_assert_uint_eq(x.launch[l].accesses, y.launch[l].accesses);
    }
    program_totals_release(&x);
    program_totals_release(&y);
    workload_close(&opened);
    platform_free(h200);
}
END_TEST

TEST_MAIN("one_program")
