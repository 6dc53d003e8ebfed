#include "trace/program/cut.h"

#include "trace/program/random_testing.h"
#include "trace/program/walked_testing.h"

/* Two launches of 100 blocks of one warp that loads a sector of its own; with three, the middle one is the CPU's. */
static const struct program_alloc allocs[] = {{.name = "a", .addr = 1 << 20, .bytes = 1 << 20}};

static const struct program_alloc *plain_allocs(const void *state, size_t *n)
{
    (void)state;
    *n = 1;
    return allocs;
}

static uint32_t plain_launches(const void *state)
{
    return *(const uint32_t *)state;
}

static void plain_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    *out = (struct program_launch){.kernel = "k", .blocks = 100, .threads = 32};
    out->cpu = *(const uint32_t *)state == 3 && launch == 1;
}

static int plain_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *b,
                      struct err *err)
{
    (void)run;
    (void)launch;
    (void)err;
    if (index)
        return 0;
    program_load(b, allocs, 0, 32 * warp, 4)->lane_stride = 0;
    return 1;
}

static const struct program_ops plain_ops = {
    .allocs = plain_allocs, .launches = plain_launches, .launch = plain_launch, .body = plain_body};

static struct program_rest *rest_of(const struct program *program, const struct program_cut *cut, uint64_t sectors,
                                    const struct warp_slice *middle)
{
    return GIVES(program_rest_new(program, cut, sectors, middle, true, &err));
}

START_TEST(the_worked_example)
{
    static const uint32_t launch[] = {0, 0, 0, 0, 1, 1, 1, 1, 2}, blocks[] = {0, 5, 10, 15, 0, 5, 10, 15, 0};
    static const uint64_t first[] = {0, 15, 40, 65, 90, 0, 15, 40, 65, 90},
                          count[] = {10, 20, 20, 20, 10, 10, 20, 20, 20, 10};
    static const uint32_t gap_of[] = {0, 1, 2, 3, 4, 4, 5, 6, 7, 8};
    uint32_t n = 2, gaps;
    const struct program program = {&plain_ops, &n, -1};
    struct program_cut *cut = walked_cut(&program, 40, 1);
    struct program_rest *rest = rest_of(&program, cut, UINT64_MAX, NULL);
    const struct program_rest_point *point = rest->point;
    gaps = rest->gaps;
    ck_assert_uint_eq(gaps, 9);
    for (uint32_t g = 0; g < gaps; g++)
        ck_assert(point[g].launch == launch[g] && point[g].block == blocks[g]);
    const struct program *p = &rest->adapter.program;
    ck_assert_uint_eq(p->ops->launches(p->state), 10);
    struct walked list = {0};
    walked_add(&list, p);
    size_t at = 0;
    for (uint32_t l = 0; l < 10; l++) {
        ck_assert_uint_eq(rest->part[l].gap, gap_of[l]);
        for (uint64_t i = 0; i < count[l]; i++, at++) {
            ck_assert_uint_eq(list.op[at].launch, l);
            ck_assert_uint_eq((list.op[at].addr >> 8) / 128, ((1 << 20) + 32 * (first[l] + i)) / 128);
        }
    }
    ck_assert_uint_eq(at, list.n);
    free(list.op);
    program_rest_free(rest);
    program_cut_free(cut);
}
END_TEST

START_TEST(of_a_long_gap_the_end_is_there)
{
    static const uint64_t wave[] = {1, 3, 7};
    uint32_t n = 2, gaps;
    const struct program program = {&plain_ops, &n, -1};
    for (int w = 0; w < 3; w++)
        for (uint64_t sectors = 1; sectors < 60; sectors++) {
            struct program_cut *cut = walked_cut(&program, 40, wave[w]);
            struct program_rest *all = rest_of(&program, cut, UINT64_MAX, NULL);
            struct program_rest *some = rest_of(&program, cut, sectors, NULL);
            struct walked whole = {0}, end = {0};
            walked_add(&whole, &all->adapter.program);
            walked_add(&end, &some->adapter.program);
            gaps = all->gaps;
            /* From the back, gap by gap: what is there is the whole gap's end, and enough of it. */
            size_t i = whole.n, k = end.n;
            for (uint32_t g = gaps; g-- > 0;) {
                size_t in_whole = 0, in_end = 0;
                while (i - in_whole > 0 && all->part[whole.op[i - in_whole - 1].launch].gap == g)
                    in_whole++;
                while (k - in_end > 0 && some->part[end.op[k - in_end - 1].launch].gap == g)
                    in_end++;
                ck_assert_uint_ge(in_end, in_whole < sectors ? in_whole : sectors);
                ck_assert_uint_le(in_end, in_whole);
                ck_assert_uint_lt(in_end, sectors + 2 * wave[w]);
                for (size_t j = 1; j <= in_end; j++)
                    ck_assert_uint_eq(whole.op[i - j].addr, end.op[k - j].addr);
                i -= in_whole;
                k -= in_end;
            }
            ck_assert(i == 0 && k == 0);
            free(whole.op);
            free(end.op);
            program_rest_free(all);
            program_rest_free(some);
            program_cut_free(cut);
        }
}
END_TEST

/* One launch of 100 blocks of a warp that loads four sectors, one a turn; a middle of two of them, one on both sides.
 */
static int turns_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *b,
                      struct err *err)
{
    const int rc = plain_body(run, launch, 4 * warp, index, b, err);
    b->turns = 4;
    b->access[0].turn_stride = 32;
    return rc;
}

START_TEST(heads_come_before_the_kept_wave_and_tails_behind_it)
{
    static const struct program_ops turns_ops = {
        .allocs = plain_allocs, .launches = plain_launches, .launch = plain_launch, .body = turns_body};
    uint32_t n = 1, gaps;
    const struct program program = {&turns_ops, &n, -1};
    struct program_cut *cut = walked_cut(&program, 40, 10); /* one of ten waves: the fifth */
    struct warp_slice *middle = GIVES(warp_slice_new(&cut->adapter.program, 0.5, 1, &err));
    struct program_rest *rest = rest_of(&program, cut, UINT64_MAX, middle);
    const struct program_rest_point *point = rest->point;
    gaps = rest->gaps;
    struct walked list = {0};
    walked_add(&list, &rest->adapter.program);
    ck_assert_uint_eq(gaps, 2);
    ck_assert(point[0].launch == 0 && point[0].block == 0 && point[1].launch == 1 && point[1].block == 0);
    ck_assert_uint_eq(list.n, 400 - 20);
    for (size_t i = 0; i < list.n; i++) { /* 40 blocks whole, ten heads, ten tails, 50 blocks */
        const size_t sector = i < 160 ? i : i < 170 ? 160 + 4 * (i - 160) : i < 180 ? 163 + 4 * (i - 170) : i + 20;
        ck_assert_uint_eq(list.op[i].addr >> 8, ((1 << 20) + 32 * sector) / 128 * 128);
        ck_assert_uint_eq(list.op[i].addr & 0xff, 1u << sector % 4);
        ck_assert_uint_eq(rest->part[(uint32_t)list.op[i].launch].gap, i < 170 ? 0 : 1);
    }
    struct program_rest *before = GIVES(program_rest_new(&program, cut, UINT64_MAX, middle, false, &err));
    struct walked some = {0};
    gaps = before->gaps;
    walked_add(&some, &before->adapter.program);
    ck_assert(gaps == 1 && some.n == 170);
    ck_assert_mem_eq(some.op, list.op, some.n * sizeof *some.op);
    free(list.op);
    free(some.op);
    program_rest_free(rest);
    program_rest_free(before);
    for (uint64_t sectors = 1; sectors <= 5; sectors++) { /* less than a block does: its last is there, not none */
        struct program_rest *end = rest_of(&program, cut, sectors, NULL);
        for (size_t i = 0; i < end->parts; i++)
            ck_assert_uint_ge(end->part[i].blocks, 1);
        ck_assert_uint_eq(end->parts, 2);
        program_rest_free(end);
    }
    warp_slice_free(middle);
    program_cut_free(cut);
}
END_TEST

static int by_all(const void *a, const void *b)
{
    const struct walked_op *x = a, *y = b;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    return x->kind < y->kind ? -1 : x->kind > y->kind;
}

START_TEST(what_is_kept_and_the_rest_are_the_whole)
{
    struct err err = {""};
    uint32_t gaps, with_gaps = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct program_random random;
        struct program program;
        program_random_init(&random, seed, &program);
        struct walked whole = {0}, both = {0};
        walked_add(&whole, &program);
        struct program_cut *cut = walked_cut(&program, 1 + whole.n / (1 + seed % 7), 1 + seed % 3);
        struct warp_slice *middle =
            seed % 2 ? warp_slice_new(&cut->adapter.program, 1.0 / (double)(1 + seed % 5), 1, &err) : NULL;
        struct program_rest *rest = rest_of(&program, cut, UINT64_MAX, middle);
        walked_add(&both, middle ? &middle->adapter.program : &cut->adapter.program);
        walked_add(&both, &rest->adapter.program);
        const struct program_rest_point *point = rest->point;
        gaps = rest->gaps;
        for (uint32_t g = 1; g < gaps; g++)
            ck_assert(point[g].launch > point[g - 1].launch ||
                      (point[g].launch == point[g - 1].launch && point[g].block > point[g - 1].block));
        with_gaps += gaps > 0;
        ck_assert_uint_eq(whole.n, both.n);
        if (whole.n) {
            qsort(whole.op, whole.n, sizeof *whole.op, by_all);
            qsort(both.op, both.n, sizeof *both.op, by_all);
        }
        for (size_t i = 0; i < whole.n; i++)
            ck_assert_msg(by_all(&whole.op[i], &both.op[i]) == 0, "seed %llu", (unsigned long long)seed);
        program_rest_free(rest);
        warp_slice_free(middle);
        program_cut_free(cut);
        free(whole.op);
        free(both.op);
    }
    ck_assert_uint_gt(with_gaps, 100);
}
END_TEST

TEST_MAIN("rest")
