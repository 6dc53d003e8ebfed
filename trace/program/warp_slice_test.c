#include "trace/program/warp_slice.h"

#include "trace/program/random_testing.h"
#include "trace/program/walked_testing.h"

/* Two warps of one block: the first of 30 turns of 10 loads, the second of none. */
static const struct program_alloc allocs[] = {{.name = "a", .addr = 1 << 20, .bytes = 1 << 20}};

static const struct program_alloc *plain_allocs(const void *state, size_t *n)
{
    (void)state;
    *n = 1;
    return allocs;
}

static uint32_t plain_launches(const void *state)
{
    (void)state;
    return 1;
}

static void plain_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    (void)launch;
    *out = (struct program_launch){.kernel = "k", .blocks = 1, .threads = 64, .cpu = *(const bool *)state};
}

/* Load k of turn t at sector 10 t + k; by tables where k is odd. */
static int plain_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *b,
                      struct err *err)
{
    (void)run;
    (void)launch;
    (void)err;
    if (index)
        return 0;
    b->turns = 30;
    for (uint32_t k = 0; k < 10 && !warp; k++) {
        struct program_access *a = program_load(b, allocs, 0, 32 * k, 4);
        a->lane_stride = 0;
        a->turn_stride = 320;
        if (k % 2 == 0)
            continue;
        uint64_t *lane = program_scatter(b, a);
        for (int l = 0; l < PROGRAM_LANES; l++)
            lane[l] = a->addr;
    }
    return 1;
}

static const struct program_ops plain_ops = {
    .allocs = plain_allocs, .launches = plain_launches, .launch = plain_launch, .body = plain_body};

static struct warp_slice *middle_of(const struct program *program, double share, double around)
{
    return GIVES(warp_slice_new(program, share, around, &err));
}

/* A part of another program's warps, as a program. */
struct part {
    const struct program *whole;
    const struct warp_slice *middle;
    enum warp_slice_part of;
};

static const struct program_alloc *part_allocs(const void *state, size_t *n)
{
    const struct part *p = state;
    return p->whole->ops->allocs(p->whole->state, n);
}

static uint32_t part_launches(const void *state)
{
    const struct part *p = state;
    return p->whole->ops->launches(p->whole->state);
}

static void part_launch(const void *state, uint32_t launch, struct program_launch *out)
{
    const struct part *p = state;
    p->whole->ops->launch(p->whole->state, launch, out);
}

/* The programs of this test have no runs: they take their state. */
static int part_body(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *b, struct err *err)
{
    const struct part *p = run;
    return warp_slice_body(p->middle, p->of, launch, warp, p->whole, (void *)p->whole->state, launch, warp, index, b,
                           err);
}

static const struct program_ops part_ops = {
    .allocs = part_allocs, .launches = part_launches, .launch = part_launch, .body = part_body};

static void add_part(struct walked *list, const struct program *whole, const struct warp_slice *middle,
                     enum warp_slice_part of)
{
    const struct part part = {whole, middle, of};
    const struct program program = {&part_ops, &part, -1};
    walked_add(list, &program);
}

/* Loads from number `from` on. */
static void must_be(const struct walked *list, uint64_t from, size_t n)
{
    ck_assert_uint_eq(list->n, n);
    for (size_t i = 0; i < n; i++) {
        const uint64_t sector = (1 << 20) / 32 + from + i;
        ck_assert_uint_eq(list->op[i].addr, sector / 4 * 128 << 8 | 1u << sector % 4);
    }
}

START_TEST(the_worked_example)
{
    const bool cpu = false;
    const struct program program = {&plain_ops, &cpu, -1};
    struct warp_slice *m = middle_of(&program, 0.1, 1.0 / 6);
    struct walked head = {0}, kept = {0}, tail = {0};
    add_part(&head, &program, m, PROGRAM_HEAD);
    add_part(&tail, &program, m, PROGRAM_TAIL);
    walked_add(&kept, &m->adapter.program);
    must_be(&head, 80, 50);
    must_be(&kept, 130, 30);
    must_be(&tail, 250, 50);
    ck_assert(m->heads == 50 && m->accesses == 30 && m->tails == 50 && m->whole == 300);
    free(head.op);
    free(kept.op);
    free(tail.op);
    warp_slice_free(m);
}
END_TEST

START_TEST(what_the_cpu_does_stays_whole)
{
    const bool cpu = true;
    const struct program program = {&plain_ops, &cpu, -1};
    struct warp_slice *m = middle_of(&program, 0.1, 1);
    struct walked kept = {0};
    walked_add(&kept, &m->adapter.program);
    must_be(&kept, 0, 300);
    free(kept.op);
    warp_slice_free(m);
}
END_TEST

static bool same_warp(const struct walked_op *a, const struct walked_op *b)
{
    return a->launch == b->launch && a->block == b->block && a->warp == b->warp;
}

/* Instructions of the warp from number *at on; they must be those of the whole from `i` on. Returns the next. */
static size_t follow(const struct walked *whole, size_t i, const struct walked *part, size_t *at, size_t begin)
{
    for (; *at < part->n && same_warp(&part->op[*at], &whole->op[begin]); ++*at, i++) {
        ck_assert_uint_lt(i, whole->n);
        ck_assert(same_warp(&whole->op[i], &whole->op[begin]));
        ck_assert_uint_eq(whole->op[i].addr, part->op[*at].addr);
        ck_assert_uint_eq(whole->op[i].kind, part->op[*at].kind);
    }
    return i;
}

START_TEST(head_middle_and_tail_of_each_warp_are_the_warp_in_order)
{
    uint64_t left_out = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct program_random random;
        struct program program;
        program_random_init(&random, seed, &program);
        struct walked whole = {0}, part[3] = {{0}};
        struct warp_slice *m = middle_of(&program, 1.0 / (double)(1 + seed % 9), 1);
        walked_add(&whole, &program);
        for (int k = 0; k < 3; k++)
            add_part(&part[k], &program, m, (enum warp_slice_part)k);
        left_out += part[PROGRAM_HEAD].n && part[PROGRAM_TAIL].n;
        size_t at[3] = {0};
        for (size_t i = 0; i < whole.n;) {
            const size_t begin = i;
            for (int k = 0; k < 3; k++)
                i = follow(&whole, i, &part[k], &at[k], begin);
            ck_assert_msg(i > begin && (i == whole.n || !same_warp(&whole.op[i], &whole.op[begin])), "seed %d",
                          (int)seed);
        }
        for (int k = 0; k < 3; k++) {
            ck_assert_uint_eq(at[k], part[k].n);
            free(part[k].op);
        }
        free(whole.op);
        warp_slice_free(m);
    }
    ck_assert_uint_gt(left_out, 100);
}
END_TEST

TEST_MAIN("middle")
