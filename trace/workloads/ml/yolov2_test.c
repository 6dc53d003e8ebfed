/* The network is its own: by including it. */
#include "trace/workloads/ml/yolov2.c"

#include "trace/base/mem.h"
#include "trace/base/testing.h"

enum { SIDE = 64 };

struct net {
    struct workload workload;
    struct program program;
    const struct program_alloc *allocs;
    size_t count;
    struct yolov2_layer layers[YOLOV2_LAYERS];
    struct yolov2_launch launches[YOLOV2_KERNELS];
};

static void setup(struct net *n, const char *spec)
{
    struct err err = {""};
    ck_assert_msg(workload_open(&n->workload, spec, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(n->workload.type->program(n->workload.state, &n->program, &err), 0);
    n->allocs = n->program.ops->allocs(n->program.state, &n->count);
    yolov2_layers(SIDE, n->layers);
    yolov2_launches(n->layers, n->launches);
}

/* Call f with each body of a launch. */
static void each(struct net *n, uint32_t launch, void (*f)(void *, const struct program_body *), void *ctx)
{
    struct program_launch shape;
    struct program_body *body = mem_zalloc(1, sizeof *body, NULL);
    struct err err = {""};
    int more = 1;
    n->program.ops->launch(n->program.state, launch, &shape);
    for (uint64_t warp = 0; warp < program_warps(&shape); warp++, more = 1)
        for (uint32_t i = 0; more == 1; i++) {
            more = program_body(&n->program, (void *)(uintptr_t)n->program.state, launch, warp, i, body, &err);
            if (more < 0)
                ck_abort_msg("%s", err.msg);
            if (more == 1)
                f(ctx, body);
        }
    free(body);
}

struct stores {
    const struct net *n;
    uint16_t *times;         /* each element of `alloc` is stored */
    uint64_t loads, outside; /* elements loaded; accesses outside their array */
    unsigned alloc;
};

static void count_stores(void *ctx, const struct program_body *body)
{
    struct stores *s = ctx;
    for (uint32_t i = 0; i < body->count; i++) {
        const struct program_access *a = &body->access[i];
        const struct program_alloc *in = &s->n->allocs[a->alloc];
        for (uint32_t rest = a->kind == PROGRAM_BARRIER ? 0 : a->active; rest; rest &= rest - 1)
            for (uint64_t turn = 0; turn<body->turns; turn += body->turns> 1 ? body->turns - 1 : 1) {
                uint64_t at = program_addr(a, (unsigned)__builtin_ctz(rest), turn);
                s->outside += at < in->addr || at + 4 > in->addr + in->bytes;
            }
        s->loads += program_loads(a) ? body->turns * (uint64_t)__builtin_popcount(a->active) : 0;
        for (uint32_t rest = program_stores(a) && a->alloc == s->alloc ? a->active : 0; rest; rest &= rest - 1)
            for (uint64_t turn = 0; turn < body->turns; turn++)
                s->times[(program_addr(a, (unsigned)__builtin_ctz(rest), turn) - in->addr) / 4]++;
    }
}

/* Every kernel stores each element that is its own once and no other, and nothing lies outside its array. */
START_TEST(each_kernel_writes_its_elements_once)
{
    struct net n;
    setup(&n, "yolov2,side=64");
    for (uint32_t k = 0; k < YOLOV2_KERNELS; k++) {
        const struct yolov2_launch *l = &n.launches[k];
        unsigned alloc = l->kernel == YOLOV2_UNROLL ? WORKSPACE : OUTPUTS + l->layer;
        uint64_t numbers = n.allocs[alloc].bytes / 4;
        struct stores s = {.n = &n, .alloc = alloc, .times = mem_zalloc(numbers, sizeof *s.times, NULL)};
        each(&n, k, count_stores, &s);
        uint64_t twice = 0, wrong = 0;
        for (uint64_t i = 0; i < numbers && l->kernel != YOLOV2_SOFTMAX; i++)
            wrong += s.times[i] != (i >= l->first && i < l->first + l->count);
        ck_assert_msg(wrong == 0 && s.outside == 0, "kernel %u: %llu elements not once, %llu accesses outside", k,
                      (unsigned long long)wrong, (unsigned long long)s.outside);
        for (uint64_t i = 0; i < numbers && l->kernel == YOLOV2_SOFTMAX; i++)
            twice += s.times[i] == 2;
        ck_assert_uint_eq(twice, l->kernel == YOLOV2_SOFTMAX ? 80 * l->count : 0);
        if (l->kernel == YOLOV2_PRODUCT) { /* rows of weights for each tile of places, columns for each of filters */
            const struct yolov2_layer *c = &n.layers[l->layer];
            uint64_t depth = (uint64_t)c->in_channels * c->size * c->size, places = (uint64_t)c->side * c->side;
            ck_assert_uint_eq(s.loads, depth * c->filters * ((places + 31) / 32) +
                                           depth * places * ((c->filters + 31) / 32) + l->count);
        }
        free(s.times);
    }
    workload_close(&n.workload);
}
END_TEST

static const struct yolov2_layer *unrolled;
static uint64_t input_addr, workspace_addr, seen, differ;

static void check_unroll(void *ctx, const struct program_body *body)
{
    (void)ctx;
    const uint64_t side = unrolled->in_side, places = side * side, square = unrolled->size * unrolled->size;
    for (uint32_t i = 0; i < body->count; i += 2) {
        const struct program_access *from = &body->access[i], *to = &body->access[i + 1];
        for (uint32_t lane = 0; lane < PROGRAM_LANES; lane++) {
            if (!(to->active >> lane & 1))
                continue;
            uint64_t e = (program_addr(to, lane, 0) - workspace_addr) / 4, row = e / places, at = e % places;
            int64_t v = (int64_t)(at / side + row % square / unrolled->size) - unrolled->size / 2;
            int64_t h = (int64_t)(at % side + row % unrolled->size) - unrolled->size / 2;
            bool in = v >= 0 && h >= 0 && v < (int64_t)side && h < (int64_t)side;
            differ += (from->active >> lane & 1) != in;
            differ += in && program_addr(from, lane, 0) !=
                                input_addr + 4 * (row / square * places + (uint64_t)v * side + (uint64_t)h);
            seen++;
        }
    }
}

/* Against im2col's own formula. */
START_TEST(columns_are_the_numbers_around_each_place)
{
    struct net n;
    setup(&n, "yolov2,side=64");
    workspace_addr = n.allocs[WORKSPACE].addr;
    for (uint32_t k = 0; k < YOLOV2_KERNELS; k++) {
        const struct yolov2_launch *l = &n.launches[k];
        if (l->kernel != YOLOV2_UNROLL)
            continue;
        unrolled = &n.layers[l->layer];
        input_addr = n.allocs[l->input < 0 ? IMAGE : OUTPUTS + l->input].addr;
        seen = 0;
        each(&n, k, check_unroll, NULL);
        ck_assert_uint_eq(seen, l->count);
        ck_assert_uint_eq(differ, 0);
    }
    workload_close(&n.workload);
}
END_TEST

START_TEST(arrays_are_those_of_the_layers)
{
    struct net n;
    struct err err = {""};
    setup(&n, "yolov2,side=64");
    uint64_t both = 0, alone = 0, expect = 0;
    for (size_t i = 0; i < n.count; i++)
        *(n.allocs[i].twin || n.allocs[i].host ? &both : &alone) += n.allocs[i].bytes;
    for (int i = 0; i < YOLOV2_LAYERS; i++)
        expect += 4 * yolov2_numbers(&n.layers[i]);
    ck_assert_uint_eq(both, expect + 3ull * SIDE * SIDE * 4);
    ck_assert_uint_eq(alone, 4 * yolov2_workspace(&n.layers[2]));
    workload_close(&n.workload);
    ck_assert_int_eq(workload_open(&n.workload, "yolov2,side=100", &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "multiple of 32"));
}
END_TEST

TEST_MAIN("yolov2")
