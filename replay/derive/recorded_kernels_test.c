/* What is generated is what was recorded: three kernels on an H200, every access of every warp in its order, by kind,
 * bytes a lane, lines and sectors (fixtures/traces/accesses_h200.txt.xz). Only the order among warps is the GPU's own.
 * Where the arrays lay when it was recorded stands here: what was recorded has no allocations. */
#include "replay/derive/derive.h"
#include "trace/import/reader.h"
#include "trace/import/testing_access.h"
#include "trace/workloads/workload.h"

enum { OPS = 60000, LINES = 32 };

struct op {
    uint64_t id;
    size_t number; /* in the order in which they came */
    uint32_t access, bytes;
    int lines;
    struct access_line line[LINES];
};

struct list {
    size_t n;
    struct op op[OPS];
};

static struct list recorded, generated;

static int take(void *ctx, const struct program_op *op, struct err *err)
{
    struct list *l = ctx;
    (void)err;
    if (l->n == OPS || op->lines > LINES)
        ck_abort_msg("instruction %zu of %d lines", l->n, op->lines);
    struct op *o = &l->op[l->n];
    *o = (struct op){op->id, l->n++, op->access, op->bytes, op->lines, {{0}}};
    memcpy(o->line, op->line, (size_t)op->lines * sizeof *op->line);
    return 0;
}

static int by_warp(const void *a, const void *b)
{
    const struct op *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static const struct program_taker taker = {.op = take};

static void record(const char *kernel)
{
    const struct derive_options options = {.last = UINT64_MAX, .kernel = kernel};
    struct store *in = testing_import(&read_accesses, "fixtures/traces/accesses_h200.txt.xz", true);
    const struct derive_source source = {.store = in, .name = "h200"};
    recorded.n = 0;
    WORKS(derive_walk(&source, &options, &taker, &recorded, NULL, &err));
    store_close(in);
}

static void generate(const char *spec, const uint64_t *at)
{
    struct workload w;
    struct program program;
    size_t n;
    WORKS(workload_open(&w, spec, &err));
    WORKS(w.type->program(w.state, &program, &err));
    struct program_alloc *allocs = (struct program_alloc *)program.ops->allocs(program.state, &n);
    for (size_t i = 0; i < n; i++)
        allocs[i].addr = at[i];
    generated.n = 0;
    WORKS(program_walk(&program, NULL, &taker, &generated, NULL, &err));
    workload_close(&w);
}

static bool same(const struct op *a, const struct op *b)
{
    bool is = a->id == b->id && a->access == b->access && a->bytes == b->bytes && a->lines == b->lines;
    for (int i = 0; i < a->lines && is; i++)
        is = a->line[i].addr == b->line[i].addr && a->line[i].sectors == b->line[i].sectors;
    return is;
}

static void compare(const char *kernel, const char *spec, const uint64_t *at, size_t instructions)
{
    record(kernel);
    generate(spec, at);
    ck_assert_uint_eq(recorded.n, instructions);
    ck_assert_uint_eq(generated.n, instructions);
    qsort(recorded.op, instructions, sizeof *recorded.op, by_warp);
    qsort(generated.op, instructions, sizeof *generated.op, by_warp);
    for (size_t i = 0; i < instructions; i++) {
        const struct op *r = &recorded.op[i], *g = &generated.op[i];
        if (!same(r, g))
            ck_abort_msg("%s, block %llu, warp %llu: line %llx of %d by access %u; generated %llx of %d by %u", kernel,
                         (unsigned long long)(r->id >> 32), (unsigned long long)(r->id & UINT32_MAX),
                         (unsigned long long)r->line[0].addr, r->lines, r->access, (unsigned long long)g->line[0].addr,
                         g->lines, g->access);
    }
}

START_TEST(vector_add)
{
    static const uint64_t at[] = {0x7f25c7e00000, 0x7f25c7e40000, 0x7f25c7e80000};
    compare("vecadd", "triad,bytes=768KiB,blocks=256,threads=256", at, 6144);
}
END_TEST

START_TEST(strided_read)
{
    static const uint64_t at[] = {0x7f25c7e00000};
    compare("strided", "strided,bytes=256KiB,chunk=32", at, 2048);
}
END_TEST

START_TEST(stencil)
{
    static const uint64_t at[] = {0x7f25c7ec0000, 0x7f25ac600000};
    compare("conv", "stencil,n=512", at, 57120);
}
END_TEST

TEST_MAIN("recorded_kernels")
