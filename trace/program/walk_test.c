#include "trace/program/walk.h"

#include "trace/base/testing.h"
#include "trace/program/emit.h"
#include "trace/program/random_testing.h"

enum { OPS = 1 << 20, SEEDS = 60 };

/* An instruction as it was taken, and how many barriers its warp had passed. */
struct taken {
    uint64_t id, digest; /* of its lines */
    uint32_t launch, access, bytes, phase;
};

struct list {
    struct taken *op;
    size_t n, sizes[8]; /* ops at the end of each launch */
    uint32_t begun, ended;
};

static struct taken room[2][OPS];

static uint64_t digest(const struct access_line *line, int n)
{
    uint64_t d = (uint64_t)n;
    for (int i = 0; i < n; i++)
        d = (d ^ line[i].addr ^ line[i].sectors) * 0x9E3779B97F4A7C15u;
    return d;
}

static int take_launch(void *ctx, const struct record *kernel, struct err *err)
{
    struct list *l = ctx;
    (void)err;
    ck_assert_uint_eq(kernel->group, l->begun++);
    return 0;
}

static int take(void *ctx, const struct program_op *op, struct err *err)
{
    struct list *l = ctx;
    (void)err;
    ck_assert_uint_lt(l->n, OPS);
    ck_assert_uint_eq(op->launch + 1, l->begun);
    l->op[l->n++] = (struct taken){op->id, digest(op->line, op->lines), op->launch, op->access, op->bytes, 0};
    return 0;
}

static int take_end(void *ctx, uint32_t launch, struct err *err)
{
    struct list *l = ctx;
    (void)err;
    ck_assert_uint_eq(launch, l->ended++);
    l->sizes[launch] = l->n;
    return 0;
}

static uint64_t resident(const void *ctx, const struct program_launch *launch)
{
    (void)launch;
    return *(const uint64_t *)ctx;
}

static struct program_counts walk(const struct program *program, uint64_t blocks, struct list *list)
{
    static const struct program_taker taker = {take_launch, take, take_end};
    struct program_walk how = {.resident = blocks ? resident : NULL, .ctx = &blocks};
    struct program_counts counts;
    *list = (struct list){.op = room[0]};
    WORKS(program_walk(program, &how, &taker, list, &counts, &err));
    ck_assert_uint_eq(counts.instructions, list->n);
    ck_assert_uint_eq(counts.launches, list->ended);
    return counts;
}

/* The program's instructions, warp by warp, straight from its bodies. */
static void expand(const struct program *program, struct list *list)
{
    static struct program_body body;
    struct access_line line[2 * ACCESS_LANES];
    list->n = 0;
    for (uint32_t l = 0; l < program->ops->launches(program->state); l++) {
        struct program_launch shape = {0};
        program->ops->launch(program->state, l, &shape);
        uint64_t warps = (shape.threads + 31) / 32;
        for (uint64_t w = 0; w < shape.blocks * warps; w++) {
            uint32_t phase = 0;
            for (uint32_t i = 0; program_body(program, (void *)program->state, l, w, i, &body, NULL) == 1; i++)
                for (uint64_t t = 0; t < body.turns; t++)
                    for (uint32_t k = 0; k < body.count; k++) {
                        const struct program_access *a = &body.access[k];
                        phase += a->kind == PROGRAM_BARRIER;
                        int n = a->kind == PROGRAM_BARRIER ? 0 : program_lines(a, t, line);
                        if (n)
                            list->op[list->n++] = (struct taken){
                                (w / warps) << 32 | w % warps, digest(line, n), l, a->kind, a->bytes, phase};
                    }
        }
    }
}

static bool same(const struct taken *a, const struct taken *b)
{
    return a->id == b->id && a->digest == b->digest && a->launch == b->launch && a->access == b->access &&
           a->bytes == b->bytes;
}

START_TEST(serially_a_warp_goes_to_its_end_before_the_next_begins)
{
    struct program_random state;
    struct program program;
    struct list found = {0}, expected = {.op = room[1]};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        program_random_init(&state, seed, &program);
        (void)walk(&program, 0, &found);
        expand(&program, &expected);
        ck_assert_uint_eq(found.n, expected.n);
        for (size_t i = 0; i < found.n; i++)
            ck_assert(same(&found.op[i], &expected.op[i]));
    }
}
END_TEST

/* Where each warp of a launch stands in `expected`, and where it begins. */
struct place {
    uint64_t id;
    size_t at, end;
};

static size_t places_of(const struct list *expected, uint32_t launch, struct place *places)
{
    size_t n = 0;
    for (size_t i = 0; i < expected->n; i++)
        if (expected->op[i].launch == launch) {
            if (n == 0 || places[n - 1].id != expected->op[i].id)
                places[n++] = (struct place){expected->op[i].id, i, i};
            places[n - 1].end = i + 1;
        }
    return n;
}

/* Every op of `found` is the next of its warp; none stands behind a barrier that a warp of its block has not reached;
 * no more than `most` blocks have begun and not ended. */
static void check_order(const struct list *found, const struct list *expected, uint64_t most)
{
    static struct place places[1024];
    ck_assert_uint_eq(found->n, expected->n);
    for (size_t i = 0, n = 0; i < found->n; i++) {
        const struct taken *op = &found->op[i];
        uint64_t open = 0, last = UINT64_MAX;
        struct place *own = NULL;
        if (i == 0 || op->launch != found->op[i - 1].launch)
            n = places_of(expected, op->launch, places);
        for (size_t p = 0; p < n; p++)
            if (places[p].id == op->id)
                own = &places[p];
        ck_assert_ptr_nonnull(own);
        ck_assert_uint_lt(own->at, own->end);
        ck_assert(same(op, &expected->op[own->at]));
        uint32_t phase = expected->op[own->at++].phase;
        for (size_t p = 0; p < n; p++) {
            bool ended = places[p].at == places[p].end;
            if (places[p].id >> 32 == op->id >> 32 && !ended)
                ck_assert_uint_ge(expected->op[places[p].at].phase, phase);
            bool begun = places[p].at > 0 && expected->op[places[p].at - 1].id == places[p].id &&
                         expected->op[places[p].at - 1].launch == op->launch;
            if (begun && !ended && places[p].id >> 32 != last) {
                last = places[p].id >> 32;
                open++;
            }
        }
        ck_assert_uint_le(open, most);
    }
}

START_TEST(in_waves_every_warp_does_the_same_and_barriers_hold_it)
{
    struct program_random state;
    struct program program;
    struct list found = {0}, expected = {.op = room[1]};
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        for (uint64_t blocks = 1; blocks <= 7; blocks += 2) {
            program_random_init(&state, seed, &program);
            (void)walk(&program, blocks, &found);
            expand(&program, &expected);
            check_order(&found, &expected, blocks);
        }
}
END_TEST

/* A warp in waves, the plain way: every place is looked at in every round. */
struct plain {
    uint64_t warp, turn;
    uint32_t index, access;
    bool loaded, done, held;
    struct program_body body;
};

static void plain_advance(const struct program *program, uint32_t launch, struct plain *p, uint32_t warps,
                          struct list *list)
{
    struct access_line line[2 * ACCESS_LANES];
    while (!p->loaded || p->access == p->body.count) {
        if (p->loaded && p->body.count && ++p->turn < p->body.turns) {
            p->access = 0;
            break;
        }
        p->index += p->loaded;
        p->loaded = true;
        p->turn = p->access = 0;
        p->done = program_body(program, (void *)program->state, launch, p->warp, p->index, &p->body, NULL) == 0;
        if (p->done)
            return;
    }
    const struct program_access *a = &p->body.access[p->access++];
    p->held = a->kind == PROGRAM_BARRIER;
    int n = p->held ? 0 : program_lines(a, p->turn, line);
    if (n)
        list->op[list->n++] =
            (struct taken){(p->warp / warps) << 32 | p->warp % warps, digest(line, n), launch, a->kind, a->bytes, 0};
}

static void plain_launch(const struct program *program, uint32_t launch, uint64_t places, struct list *list)
{
    static struct plain at[64];
    struct program_launch shape = {0};
    program->ops->launch(program->state, launch, &shape);
    uint32_t warps = program_warps_of_block(&shape);
    uint64_t next = 0, ended = 0;
    for (uint64_t p = 0; p < places; p++)
        for (uint32_t i = 0; i < warps; i++)
            at[p * warps + i] = (struct plain){.warp = p * warps + i, .done = p >= shape.blocks};
    next = places < shape.blocks ? places : shape.blocks;
    while (ended < shape.blocks)
        for (uint64_t p = 0; p < places; p++) {
            uint32_t done = 0, stopped = 0;
            for (uint32_t i = 0; i < warps; i++)
                done += at[p * warps + i].done;
            for (uint32_t i = 0; i < warps && done < warps; i++) {
                struct plain *warp = &at[p * warps + i];
                if (!warp->done && !warp->held)
                    plain_advance(program, launch, warp, warps, list);
                stopped += warp->done || warp->held;
            }
            if (done == warps || stopped < warps)
                continue;
            for (uint32_t i = done = 0; i < warps; i++) {
                at[p * warps + i].held = false;
                done += at[p * warps + i].done;
            }
            ended += done == warps;
            for (uint32_t i = 0; i < warps && done == warps && next < shape.blocks; i++)
                at[p * warps + i] = (struct plain){.warp = next * warps + i};
            next += done == warps && next < shape.blocks;
        }
}

START_TEST(rounds_go_over_the_places_and_over_the_warps_of_each)
{
    struct program_random state;
    struct program program;
    struct list found = {0}, expected = {.op = room[1]};
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        for (uint64_t places = 1; places <= 7; places += 2) {
            program_random_init(&state, seed, &program);
            (void)walk(&program, places, &found);
            expected.n = 0;
            for (uint32_t l = 0; l < program.ops->launches(program.state); l++)
                plain_launch(&program, l, places, &expected);
            ck_assert_uint_eq(found.n, expected.n);
            for (size_t i = 0; i < found.n; i++)
                if (!same(&found.op[i], &expected.op[i]))
                    ck_abort_msg("seed %llu, %llu places: instruction %zu", (unsigned long long)seed,
                                 (unsigned long long)places, i);
        }
}
END_TEST

/* --- small programs written down --- */

static const struct program_alloc memory[] = {{.name = "a", .addr = 4096, .bytes = 1 << 20},
                                              {.name = "b", .addr = 4 << 20, .bytes = 1 << 20, .device = true}};

static const struct program_alloc *allocs(const void *state, size_t *n)
{
    (void)state;
    *n = 2;
    return memory;
}

static uint32_t three(const void *state)
{
    (void)state;
    return 3;
}

/* Launch 0 is empty, launch 1 has 2 blocks of 40 threads, launch 2 one thread. */
static void shape(const void *state, uint32_t launch, struct program_launch *out)
{
    (void)state;
    *out = (struct program_launch){.kernel = "k", .blocks = launch == 1 ? 2 : 1, .threads = launch == 1 ? 40 : 1};
}

/* Two turns: load, barrier, store; warp 1 of a block has no barrier and two turns more. */
static int steps(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body, struct err *err)
{
    (void)run;
    (void)err;
    if (launch == 0 || index > 0)
        return 0;
    (void)program_load(body, memory, 0, 0, 4);
    if (launch == 1 && warp % 2 == 0)
        program_barrier(body);
    (void)program_store(body, memory, 1, 0, 4);
    body->turns = launch == 1 && warp % 2 ? 4 : 2;
    return 1;
}

static const struct program_ops small_ops = {.allocs = allocs, .launches = three, .launch = shape, .body = steps};
static const struct program small = {&small_ops, &small_ops, -1};

START_TEST(empty_kernels_and_partial_warps_are_walked)
{
    struct list list = {0};
    for (uint64_t blocks = 0; blocks < 4; blocks++) {
        struct program_counts counts = walk(&small, blocks, &list);
        ck_assert_uint_eq(counts.launches, 3);
        ck_assert_uint_eq(list.sizes[0], 0);
        ck_assert_uint_eq(list.sizes[1], 2 * (4 + 8));
        ck_assert_uint_eq(list.sizes[2], 2 * (4 + 8) + 4);
        ck_assert_uint_eq(counts.lines, list.n); /* 128 B each */
        ck_assert_uint_eq(counts.sectors, 4 * list.n);
    }
}
END_TEST

START_TEST(warps_take_turns_one_instruction_each_and_wait_at_barriers)
{
    static const char expected[] = "0r 1r 1w 1r 1w 1r 1w 1r 1w 0w 0r 0w ";
    struct list list = {0};
    char found[128] = "";
    (void)walk(&small, 1, &list);
    for (size_t i = 0; i < list.n && list.op[i].launch == 1 && list.op[i].id >> 32 == 0; i++)
        (void)sprintf(found + strlen(found), "%u%c ", (unsigned)list.op[i].id,
                      list.op[i].access == RECORD_READ ? 'r' : 'w');
    ck_assert_str_eq(found, expected);
}
END_TEST

START_TEST(what_is_in_gpu_memory_in_any_case_can_be_left_out)
{
    static const struct program_taker taker = {.op = take, .launch = take_launch};
    struct list list = {.op = room[0]};
    struct program_walk how = {.managed_only = true};
    ck_assert_int_eq(program_walk(&small, &how, &taker, &list, NULL, NULL), 0);
    ck_assert_uint_eq(list.n, 2 + 4 + 2 + 4 + 2);
    for (size_t i = 0; i < list.n; i++)
        ck_assert_uint_eq(list.op[i].access, RECORD_READ);
}
END_TEST

/* Tiles of a width that changes from warp to warp, of lanes or, for whoever asks so, in rows. */
static int tiles(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body, struct err *err)
{
    const struct emit e = {
        .body = body, .allocs = memory, .active = UINT32_MAX >> (9 * warp + 5 * launch) % 32, .bytes = 4};
    (void)run;
    (void)err;
    if (index > 0)
        return 0;
    emit_tile(&e, emit_load(&e, 0, 5, 0, 1), 4u << warp, 300, launch);
    emit_again(&e, body->access, RECORD_WRITE, 1);
    emit_tile(&e, emit_load(&e, 0, 7, 0, 1), 8, launch, 1000);
    body->turns = 3;
    return 1;
}

START_TEST(tiles_in_rows_are_walked_as_their_lanes_are)
{
    static const struct program_ops ops = {.allocs = allocs, .launches = three, .launch = shape, .body = tiles};
    static const struct program program = {&ops, &ops, -1};
    struct list found = {0}, expected = {.op = room[1]};
    for (uint64_t blocks = 0; blocks < 3; blocks++) {
        (void)walk(&program, blocks, &found);
        expand(&program, &expected); /* asks for lanes */
        if (blocks) {
            check_order(&found, &expected, blocks);
            continue;
        }
        ck_assert_uint_eq(found.n, expected.n);
        for (size_t i = 0; i < found.n; i++)
            ck_assert(same(&found.op[i], &expected.op[i]));
    }
}
END_TEST

static int refuse(void *ctx, const struct program_op *op, struct err *err)
{
    (void)ctx;
    return op->launch == 1 ? err_set(err, "enough") : 0;
}

START_TEST(a_taker_that_fails_ends_the_walk)
{
    static const struct program_taker taker = {.op = refuse};
    for (uint64_t blocks = 0; blocks < 2; blocks++) {
        struct program_walk how = {.resident = blocks ? resident : NULL, .ctx = &blocks};
        FAILS_AS(program_walk(&small, &how, &taker, NULL, NULL, &err), "enough");
    }
}
END_TEST

TEST_MAIN("walk")
