#include "trace/base/random.h"
#include "trace/workloads/rodinia/check_testing.h"
#include "trace/workloads/rodinia/thread_testing.h"

enum { WORK, TABLE, SW, P, COORD, WORKS, THREADS = 512 };

/* What the data decides, drawn as the program's header says. */
struct data {
    int64_t n, dim, K, x;
    uint64_t seed;
    double saves;
    bool all;
};

static bool saves(const struct data *d, uint32_t launch, int64_t tid)
{
    struct random r = {d->seed + ((launch + UINT64_C(1)) * (uint64_t)d->n + (uint64_t)tid) * 0x9e3779b9u};
    return random_chance(&r, d->saves);
}

static int64_t slot_of(const struct data *d, int64_t tid)
{
    struct random r = {(uint64_t)tid};
    return d->all ? tid % d->K : (int64_t)random_below(&r, (uint32_t)d->K);
}

static int64_t assign(const struct data *d, int64_t tid)
{
    struct random r = {d->seed};
    int64_t centre = 0;
    if (d->all)
        return (int64_t)((uint64_t)tid * 2654435761u % (uint64_t)d->n);
    for (int64_t i = 0; i <= slot_of(d, tid); i++)
        centre = random_below(&r, (uint32_t)d->n);
    return centre;
}

/* One thread of kernel_compute_cost. */
static void cost(struct thread *t, const struct data *d)
{
    int64_t tid = (int64_t)t->block * THREADS + t->thread, num = d->n, x = (d->x + t->launch * INT64_C(40503)) % num;
    int64_t padded = ((d->K + 1) * (num + 1) * 4 + 255) / 256 * 256;
    unsigned work = t->launch ? WORKS : WORK;
    int64_t lower = (t->launch ? padded / 4 * (t->launch - 1) : 0) + tid * (d->K + 1);
    if (tid >= num)
        return;
    for (int64_t i = 0; i < d->dim; i++) {
        reads(t, true, COORD, i * num + tid);
        reads(t, true, COORD, i * num + x);
    }
    reads(t, true, P, 8 * tid);
    reads(t, true, P, 8 * tid + 6);
    bool saved = saves(d, t->launch, tid);
    thread_does(t, saved, RECORD_WRITE, SW, tid, 1);
    reads(t, saved, P, 8 * tid + 6);
    reads(t, saved, work, lower + d->K);
    writes(t, saved, work, lower + d->K);
    thread_does(t, !saved, RECORD_READ, P, 32 * tid + 16, 8);
    reads(t, !saved, TABLE, assign(d, tid));
    reads(t, !saved, work, lower + slot_of(d, tid));
    writes(t, !saved, work, lower + slot_of(d, tid));
}

static void compare(struct data d, uint32_t launches, const char *order)
{
    char spec[256];
    struct workload w;
    struct program_notes notes = {0};
    (void)snprintf(spec, sizeof spec,
                   "rodinia-streamcluster,n=%lld,dim=%lld,centres=%lld,x=%lld,seed=%llu,saves=%g,assign=%s,launches=%u,"
                   "order=%s",
                   (long long)d.n, (long long)d.dim, (long long)d.K, (long long)d.x, (unsigned long long)d.seed,
                   d.saves, d.all ? "all" : "centres", launches, order);
    struct program program = program_opened(&w, spec, 0, 0);
    struct thread t = {.notes = &notes, .program = &program, .threads = THREADS};
    for (; t.launch < launches; t.launch++)
        for (t.block = 0; t.block < (uint64_t)(d.n + THREADS - 1) / THREADS; t.block++)
            for (t.thread = 0; t.thread < THREADS; t.thread++) {
                t.when = 0;
                cost(&t, &d);
            }
    ck_assert_uint_eq(program.ops->launches(program.state), t.launch);
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(points_are_gone_over_as_the_kernel_does)
{
    compare((struct data){1024, 16, 2, 5, 1, 0, true}, 1, "ptx");
    compare((struct data){700, 7, 3, 699, 2, 0.3, false}, 3, "hoisted");
    compare((struct data){33, 1, 20, 0, 3, 1, false}, 2, "ptx");
    compare((struct data){1, 4, 1, 0, 4, 0, false}, 1, "ptx");
    compare((struct data){513, 9, 20, 100, 5, 0.02, true}, 1, "ptx");
}
END_TEST

/* Arrays in the order TABLE, SW, P, COORD, WORK. Source: emulations of Rodinia's kernel. */
START_TEST(a_thousand_points_make_the_emulated_counts)
{
    struct workload w;
    struct program program =
        program_opened(&w, "rodinia-streamcluster,n=1024,dim=16,centres=2,saves=0,assign=all,x=5", 0, 0);
    size_t n;
    struct program_alloc *allocs = (struct program_alloc *)program.ops->allocs(program.state, &n);
    ck_assert_uint_eq(n, 5);
    program_place(allocs + 1, 4, 0xC0000000u, 256);
    program_place(allocs, 1, allocs[COORD].addr + allocs[COORD].bytes, 256);
    CHECK_OPEN(&program, {0, .reads = {1184, 37888, 7040, 2816, 3584, 896}, .writes = {32, 1024, 384, 96, 384, 96}});
    workload_close(&w);
}
END_TEST

START_TEST(a_pair_of_coordinates_is_awaited_or_four_pairs_if_hoisted)
{
    uint32_t ptx, hoisted;
    ck_assert_uint_eq(stalls_of("rodinia-streamcluster", 0, 0, 0, &ptx), 1 << 2 | 1 << 4 | 1 << 6);
    ck_assert_uint_eq(stalls_of("rodinia-streamcluster,order=hoisted", 0, 0, 0, &hoisted), 0); /* behind the last */
    ck_assert_uint_eq(ptx, hoisted);
}
END_TEST

START_TEST(a_share_beyond_one_is_refused_and_huge_sizes_open_at_once)
{
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-streamcluster,saves=1.5"), "saves"));
    ck_assert_uint_eq(program_blocks("rodinia-streamcluster,n=67108864,dim=16384,launches=299", 0), 131072);
}
END_TEST

START_TEST(arrays_lie_as_the_program_allocates_them)
{
    CHECK_ARRAYS("rodinia-streamcluster,n=100,dim=7,centres=3", 1792 /* 4 x 101 x 4 */, 400, 100, 3200, 2800);
    CHECK_ARRAYS("rodinia-streamcluster,n=100,dim=7,centres=3,launches=3", 1792, 400, 100, 3200, 2800, 2 * 1792);
}
END_TEST

TEST_MAIN("rodinia_streamcluster")
