/* The programs of traversals and gathers make, access by access, the requests that the patterns count in closed form:
 * the same number of each size, launch by launch, under each reuse rule that a coalescer can play. */
#include "models/policies.h"
#include "models/zerocopy/pattern.h"
#include "trace/base/testing.h"
#include "trace/program/walk.h"
#include "trace/workloads/workload.h"

enum { LAUNCHES = 256, STRUCTURES = 2 };

static const struct zerocopy_pattern *const patterns[] = {&zerocopy_naive, &zerocopy_merged, &zerocopy_aligned,
                                                          &zerocopy_shift};

static const struct zerocopy_pattern *pattern_called(const char *name)
{
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (strcmp(patterns[i]->head.name, name) == 0)
            return patterns[i];
    ck_abort_msg("no pattern '%s'", name);
}

/* By launch and structure. */
struct counted {
    struct request_mix mix[LAUNCHES][STRUCTURES];
    uint32_t launches;
};

/* --- in closed form --- */

static void count_scans(const struct workload *w, const struct zerocopy_pattern *pattern, enum scan_reuse reuse,
                        struct counted *out)
{
    const struct scan_ops *ops = w->type->ops;
    struct pattern_counter *counters[STRUCTURES];
    struct pattern_view views[STRUCTURES];
    struct scan_setup s;
    struct scan_batch batch;
    memset(out, 0, sizeof *out);
    ops->setup(w->state, &s);
    for (size_t i = 0; i < s.structure_count; i++) {
        views[i] = (struct pattern_view){.shape = s.shape,
                                         .reuse = reuse,
                                         .base = s.structures[i].base,
                                         .element = s.structures[i].element,
                                         .round = LINE_BYTES / s.structures[0].element,
                                         .unmasked_head = s.unmasked_head,
                                         .row = (uint64_t)s.row_elements,
                                         .block_warps = (uint64_t)s.threads_per_block / WARP_LANES};
        counters[i] = pattern->counter_new(&views[i], NULL);
    }
    ck_assert_int_eq(ops->start(w->state, NULL), 0);
    while (ops->next(w->state, &batch, NULL) > 0)
        for (size_t i = 0; i < s.structure_count; i++) {
            struct pattern_count count;
            ck_assert_int_eq(pattern->count(counters[i], batch.scans, batch.n, NULL), 0);
            if (!batch.last)
                continue;
            ck_assert_uint_lt(batch.launch, LAUNCHES);
            ck_assert_int_eq(pattern->finish(counters[i], &count, NULL), 0);
            out->mix[batch.launch][i] = count.mix;
            out->launches = batch.launch + 1;
        }
    for (size_t i = 0; i < s.structure_count; i++)
        pattern->counter_free(counters[i]);
}

/* --- access by access --- */

struct expanding {
    struct scan_setup setup;
    struct coalescer of[STRUCTURES];
    struct counted *out;
};

static int begin_launch(void *ctx, const struct record *kernel, struct err *err)
{
    struct expanding *e = ctx;
    (void)kernel;
    (void)err;
    for (size_t i = 0; i < e->setup.structure_count; i++) {
        coalescer_launch(&e->of[i]);
        e->of[i].mix = (struct request_mix){0};
    }
    return 0;
}

static int take_op(void *ctx, const struct program_op *op, struct err *err)
{
    struct expanding *e = ctx;
    uint64_t sectors[4 * 2 * ACCESS_LANES];
    size_t n = 0, structure = e->setup.structure_count;
    ck_assert_uint_eq(op->access, RECORD_READ);
    for (size_t i = 0; i < e->setup.structure_count; i++) {
        const struct scan_structure *s = &e->setup.structures[i];
        if (op->line[0].addr + LINE_BYTES > s->base && op->line[0].addr < s->base + s->elements * s->element)
            structure = i;
    }
    ck_assert_uint_lt(structure, e->setup.structure_count);
    for (int i = 0; i < op->lines; i++)
        for (uint64_t s = 0; s < LINE_SECTORS; s++)
            if (op->line[i].sectors >> s & 1)
                sectors[n++] = op->line[i].addr / SECTOR_BYTES + s;
    ck_assert_uint_le(n, 128);
    return coalescer_load(&e->of[structure], op->id, sectors, n, err);
}

static int end_launch(void *ctx, uint32_t launch, struct err *err)
{
    struct expanding *e = ctx;
    (void)err;
    ck_assert_uint_lt(launch, LAUNCHES);
    for (size_t i = 0; i < e->setup.structure_count; i++)
        e->out->mix[launch][i] = e->of[i].mix;
    e->out->launches = launch + 1;
    return 0;
}

static void expand_program(const struct workload *w, enum scan_reuse reuse, struct counted *out)
{
    static const struct program_taker taker = {begin_launch, take_op, end_launch};
    static const struct program_walk host_only = {.managed_only = true};
    struct expanding e = {.out = out};
    struct program program;
    memset(out, 0, sizeof *out);
    ((const struct scan_ops *)w->type->ops)->setup(w->state, &e.setup);
    for (size_t i = 0; i < e.setup.structure_count; i++)
        coalescer_init(&e.of[i], reuse, NULL, NULL);
    WORKS(w->type->program(w->state, &program, &err));
    WORKS(program_walk(&program, &host_only, &taker, &e, NULL, &err));
    for (size_t i = 0; i < e.setup.structure_count; i++)
        coalescer_release(&e.of[i]);
}

/* --- the comparison --- */

static void compare(const char *spec, const char *kernel)
{
    static const enum scan_reuse rules[] = {REUSE_NONE, REUSE_PREVWARP, REUSE_WARP};
    static struct counted closed, expanded;
    struct workload w;
    struct err err = {""};
    const char *whole = testing_text("%s,kernel=%s", spec, kernel);
    ck_assert_msg(workload_open(&w, whole, &err) == 0, "%s: %s", whole, err.msg);
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
        uint64_t requests = 0;
        count_scans(&w, pattern_called(kernel), rules[r], &closed);
        expand_program(&w, rules[r], &expanded);
        ck_assert_msg(closed.launches == expanded.launches, "%s: %u launches, by the program %u", whole,
                      closed.launches, expanded.launches);
        for (uint32_t l = 0; l < closed.launches; l++)
            for (size_t i = 0; i < STRUCTURES; i++) {
                const struct request_mix *a = &closed.mix[l][i], *b = &expanded.mix[l][i];
                for (int size = 0; size < LINE_SECTORS; size++)
                    ck_assert_msg(a->by_size[size] == b->by_size[size],
                                  "%s, rule %d, launch %u, structure %zu: %llu requests of %d B, by the program %llu",
                                  whole, (int)rules[r], l, i, (unsigned long long)a->by_size[size], 32 * (size + 1),
                                  (unsigned long long)b->by_size[size]);
                ck_assert_uint_eq(a->host_lines, b->host_lines);
                requests += mix_requests(a);
            }
        ck_assert_uint_gt(requests, 0);
    }
    workload_close(&w);
}

/* Every algorithm, kernel, width of elements and start of the list, over one graph. */
static void compare_traversals(const char *graph)
{
    static const char *const kernels[] = {"naive", "merged", "aligned"};
    static const char *const algorithms[] = {
        "bfs,root=auto",   "bfs,roots=5",     "sssp,root=auto,weights=1:9",          "sssp,roots=3,update=jacobi",
        "cc,iterations=3", "cc,iterations=1", "pagerank,tolerance=0.1,iterations=4", "pagerank,iterations=1"};
    static const int offsets[] = {0, 8, 4080};
    int n = 0;
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
        for (int element = 4; element <= 16; element *= 2)
            for (size_t o = 0; o < sizeof offsets / sizeof *offsets; o++)
                for (size_t k = 0; k < 3 && offsets[o] % element == 0; k++) {
                    if (n++ % testing_step())
                        continue;
                    const char *spec = testing_text("%s,graph=%s,element=%d,base_offset=%d,threads_per_block=%d",
                                                    algorithms[i], graph, element, offsets[o], 64 << k);
                    compare(spec, kernels[k]);
                }
}

START_TEST(programs_over_kron_make_the_counted_requests)
{
    compare_traversals("kron,scale=8"); /* a third of its vertices is isolated */
}
END_TEST

START_TEST(programs_over_urand_make_the_counted_requests)
{
    compare_traversals("urand,scale=7,k=2");
}
END_TEST

/* 71 vertices: blocks and warps that are not full; a hub, isolated vertices, a vertex with each degree up to 33. */
START_TEST(programs_over_an_odd_graph_make_the_counted_requests)
{
    char text[16384];
    size_t n = 0;
    for (int v = 1; v < 34; v++)
        for (int i = 0; i < v; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%d %d\n", v, (v * 7 + i * 5) % 70);
    for (int i = 0; i < 70; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "40 %d\n%d 1\n", i, i % 3 + 67);
    n += (size_t)snprintf(text + n, sizeof text - n, "66 70\n70 1\n");
    ck_assert_uint_lt(n, sizeof text);
    compare_traversals(testing_write("odd.el", text, n));
}
END_TEST

/* The scans are in the order of the output, which a loop is not: blocks=0. */
START_TEST(gather_programs_make_the_counted_requests)
{
    static const int row_bytes[] = {4, 36, 124, 128, 132, 512, 1028, 2312};
    static const char *const kernels[] = {"naive", "shift"};
    for (size_t i = 0; i < sizeof row_bytes / sizeof *row_bytes; i += (size_t)testing_step())
        for (int threads = 32; threads <= 256; threads += 224)
            for (int k = 0; k < 2; k++) {
                char spec[200];
                (void)snprintf(spec, sizeof spec,
                               "gather,blocks=0,count=101,table_rows=333,row_bytes=%d,threads_per_block=%d",
                               row_bytes[i], threads);
                compare(spec, kernels[k]);
                (void)snprintf(spec, sizeof spec,
                               "gather,blocks=0,graph=kron,scale=7,labelled_pct=50,batches=5,row_bytes=%d",
                               row_bytes[i]);
                compare(spec, kernels[k]);
            }
}
END_TEST

TEST_MAIN("zerocopy_program")
