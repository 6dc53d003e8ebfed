#include "trace/base/random.h"
#include "trace/workloads/rodinia/check_testing.h"
#include "trace/workloads/rodinia/thread_testing.h"

enum { NODE, EDGE, MASK, UPD, VIS, COST, OVER, MOST = 2000, LISTED = 64 };

/* The search on the host, with the kernels' own arrays. */
static struct {
    uint32_t n, list[MOST][LISTED], degree[MOST], start[MOST];
    bool mask[MOST], updating[MOST], visited[MOST], over;
} s;

static void partner(uint32_t a, uint32_t b)
{
    ck_assert_uint_lt(s.degree[a], LISTED);
    s.list[a][s.degree[a]++] = b;
}

/* The generator, with the same draws. */
static void draw(uint32_t n, bool ring, uint64_t seed)
{
    struct random r = {seed};
    memset(&s, 0, sizeof s);
    s.n = n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = ring ? 1 : 2 + random_below(&r, 3);
        for (; k > 0; k--) {
            uint32_t other = ring ? (i + 1) % n : random_below(&r, n);
            partner(i, other);
            partner(other, i);
        }
    }
    for (uint32_t i = 1; i < n; i++)
        s.start[i] = s.start[i - 1] + s.degree[i - 1];
    s.mask[0] = s.visited[0] = true;
}

/* One thread; `when` is by edge and place in the loop, as lanes part. */
static void kernel(struct thread *t, uint32_t tid)
{
    thread_does(t, true, RECORD_READ, MASK, tid, 1);
    if (!s.mask[tid])
        return;
    s.mask[tid] = false;
    thread_does(t, true, RECORD_WRITE, MASK, tid, 1);
    reads(t, true, NODE, 2 * (int64_t)tid + 1);
    reads(t, s.degree[tid] > 0, NODE, 2 * (int64_t)tid);
    for (uint32_t i = 0; i < s.degree[tid]; i++) {
        uint32_t id = s.list[tid][i];
        t->when = 100 + 10 * i;
        reads(t, true, EDGE, (int64_t)s.start[tid] + i);
        thread_does(t, true, RECORD_READ, VIS, id, 1);
        if (s.visited[id])
            continue;
        reads(t, true, COST, tid);
        writes(t, true, COST, id);
        s.updating[id] = true;
        thread_does(t, true, RECORD_WRITE, UPD, id, 1);
        reads(t, true, NODE, 2 * (int64_t)tid + 1);
        reads(t, true, NODE, 2 * (int64_t)tid);
    }
}

static void kernel2(struct thread *t, uint32_t tid)
{
    thread_does(t, true, RECORD_READ, UPD, tid, 1);
    if (!s.updating[tid])
        return;
    s.mask[tid] = s.visited[tid] = s.over = true;
    thread_does(t, true, RECORD_WRITE, MASK, tid, 1);
    thread_does(t, true, RECORD_WRITE, VIS, tid, 1);
    thread_does(t, true, RECORD_WRITE, OVER, 0, 1);
    s.updating[tid] = false;
    thread_does(t, true, RECORD_WRITE, UPD, tid, 1);
}

static void compare(uint32_t n, bool ring, uint64_t seed, const char *order)
{
    struct workload w;
    struct program_notes notes = {0};
    const char *spec = testing_text("rodinia-bfs,n=%u,graph=%s,seed=%llu,order=%s", n, ring ? "ring" : "random",
                                    (unsigned long long)seed, order);
    struct program program = program_opened(&w, spec, 0, 0);
    struct thread t = {.notes = &notes, .program = &program, .threads = n < 512 ? n : 512};
    draw(n, ring, seed);
    do {
        s.over = false;
        for (int second = 0; second < 2; second++, t.launch++)
            for (uint32_t tid = 0; tid < n; tid++) {
                t.block = tid / t.threads;
                t.thread = tid % t.threads;
                t.when = 0;
                second ? kernel2(&t, tid) : kernel(&t, tid);
            }
    } while (s.over);
    ck_assert_uint_eq(program.ops->launches(program.state), t.launch);
    program_compare(&notes, &program);
    workload_close(&w);
}

START_TEST(every_level_is_that_of_a_search_with_the_kernels_flags)
{
    for (uint32_t n = 1; n < 40; n += 3)
        compare(n, false, n, n % 2 ? "ptx" : "hoisted");
    for (uint64_t seed = 0; seed < 5; seed++)
        compare(700, false, seed, "ptx");
    compare(1999, false, 1, "ptx");
    compare(64, true, 1, "ptx");
    compare(515, true, 1, "hoisted");
}
END_TEST

/* Level 0 of a ring of 64. Source: by hand, from the kernels. */
START_TEST(a_ring_makes_the_counts_made_by_hand)
{
    struct workload w;
    struct program program = program_opened(&w, "rodinia-bfs,n=64,graph=ring", 0, 0);
    /* MASK of 64 nodes; degree, start, then 5 loads an edge. */
    CHECK_OPEN(&program, {0, .reads = {14, 76, 14, 14, 7, 5}, .writes = {5, 5, 5, 5, 5, 4}},
               {1, .reads = {2, 64, 2, 2, 2, 1}, .writes = {8, 8, 8, 8, 7, 4}});
    ck_assert_uint_eq(program.ops->launches(program.state), 66);
    workload_close(&w);
}
END_TEST

START_TEST(degree_and_start_are_awaited_together_only_if_hoisted)
{
    uint32_t ptx, hoisted;
    ck_assert_uint_eq(stalls_of("rodinia-bfs,n=64,graph=ring", 0, 0, 1, &ptx), 0x4e & ~(1ull << 4));
    ck_assert_uint_eq(stalls_of("rodinia-bfs,n=64,graph=ring,order=hoisted", 0, 0, 1, &hoisted), 0xe);
    ck_assert_uint_eq(ptx, hoisted);
}
END_TEST

START_TEST(empty_graphs_are_refused)
{
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-bfs,n=0"), "n"));
    ck_assert_ptr_nonnull(strstr(program_refused("rodinia-bfs,n=16777217"), "16777216"));
}
END_TEST

START_TEST(arrays_lie_as_the_program_allocates_them)
{
    CHECK_ARRAYS("rodinia-bfs,n=65,graph=ring", 65 * 8, 130 * 4, 65, 65, 65, 65 * 4, 1);
}
END_TEST

TEST_MAIN("rodinia_bfs")
