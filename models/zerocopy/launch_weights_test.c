#include "models/zerocopy/launch_weights.h"

#include "models/gpu/sectors.h"
#include "models/gpu/sms_testing.h"
#include "trace/program/program_adapter.h"
#include "trace/program/random_testing.h"

static struct err err;

static int one_load(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    if (index > 0)
        return 0;
    program_load(body, &p->alloc, 0, warp * 4096, 4);
    return 1;
}

START_TEST(what_threads_counted_of_a_launch_is_known_for_its_program)
{
    static struct launch_weight w;
    struct hand_program p, q;
    struct program program = hand_program(&p, 4, 32, one_load), other = hand_program(&q, 4, 32, one_load);
    struct launch_weights *all = launch_weights_open(&program, 3, &err);
    struct launch_tally *t = launch_weights_tally(all, &err);
    struct program_body body;
    ck_assert(!launch_weights_get(all, 0, 3, &p.alloc, &w));
    for (uint64_t warp = 0; warp < 4; warp++) {
        launch_tally_begin(t, 1);
        ck_assert_int_eq(program_body(&program, &p, 0, warp, 0, &body, &err), 1);
        launch_tally_body(t, warp, &body);
        launch_tally_end(t, warp);
        launch_weights_add(all, 0, t);
    }
    ck_assert(launch_weights_get(all, 0, 3, &p.alloc, &w));
    ck_assert_uint_eq(w.lines, 4);
    ck_assert_uint_eq(w.of_sm[0], 2);
    ck_assert(!launch_weights_get(all, 0, 4, &p.alloc, &w)); /* on another GPU */
    ck_assert(launch_weights_are_of(all, &program));
    ck_assert(!launch_weights_are_of(all, &other));
    ck_assert(!launch_weights_are_of(NULL, &program));
    launch_tally_free(t);
    launch_weights_close(all);
    launch_weights_close(NULL);
}
END_TEST

START_TEST(two_parts_of_a_launch_weigh_as_all_of_it)
{
    static struct launch_weight got, is;
    struct hand_program p;
    struct program programs[4];
    struct launch_weights *of[4];
    for (uint64_t i = 0; i < 4; i++) { /* 6, 12 and 30 blocks, and from the two the third */
        const uint64_t blocks[] = {6, 12, 30, 30};
        programs[i] = hand_program(&p, blocks[i], 32, one_load);
        struct launch_tally *t = launch_tally_new(&programs[i], 3, true, &err);
        of[i] = launch_weights_open(&programs[i], 3, &err);
        if (i < 3) {
            ck_assert_int_eq(launch_weigh(&programs[i], &p, 0, t, &is, &err), 0);
            launch_weights_add(of[i], 0, t);
        }
        launch_tally_free(t);
    }
    launch_weights_continue(of[3], 0, of[0], of[1], 3);
    ck_assert(launch_weights_get(of[3], 0, 3, &p.alloc, &got));
    ck_assert_mem_eq(&got, &is, sizeof is);
    ck_assert_uint_eq(got.lines, 30);
    for (uint64_t i = 0; i < 4; i++)
        launch_weights_close(of[i]);
}
END_TEST

/* Names, launches and GPUs are told apart; the first weight of a launch stays. */
START_TEST(what_somebody_went_over_is_kept_by_name)
{
    static struct launch_weight w, got;
    static const char *const names[] = {"merged", "aligned"};
    struct hand_program p;
    struct program program = hand_program(&p, 4, 32, one_load);
    struct launch_weights *all = launch_weights_open(&program, 3, &err);
    ck_assert(!launch_weights_kept(all, "merged", 0, 3, &got));
    for (uint32_t launch = 0; launch < 500; launch += 7)
        for (int n = 0; n < 2; n++) {
            w = (struct launch_weight){.loads = launch + 1, .lines = (uint64_t)n, .heaviest = 9};
            launch_weights_keep(all, names[n], launch, 3, &w);
            w.loads = 0;
            launch_weights_keep(all, names[n], launch, 3, &w);
            launch_weights_keep(all, names[n], launch + 1, 4, &w); /* another GPU */
        }
    for (uint32_t launch = 0; launch < 600; launch++)
        for (int n = 0; n < 2; n++) {
            const bool there = launch < 500 && launch % 7 == 0;
            ck_assert(launch_weights_kept(all, names[n], launch, 3, &got) == there);
            ck_assert(!there || (got.loads == launch + 1 && got.lines == (uint64_t)n && got.heaviest == 9));
            ck_assert(!launch_weights_kept(all, names[n], launch, 4, &got));
        }
    launch_weights_keep(all, "a name that is longer than any pattern has", 0, 3, &w);
    ck_assert(!launch_weights_kept(all, "a name that is longer than any pattern has", 0, 3, &got));
    launch_weights_close(all);
}
END_TEST

/* Launch 0, gone over for its weight, on three multiprocessors. */
static int weigh(const struct program *program, void *run, struct launch_weight *w)
{
    struct launch_tally *t = launch_tally_new(program, 3, false, &err);
    ck_assert_ptr_nonnull(t);
    int rc = launch_weigh(program, run, 0, t, w, &err);
    launch_tally_free(t);
    return rc;
}

/* Warp w of a block reads a line w + 1 times, each time the next one; the last warp waits longest. */
static int lines(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    if (index > 0)
        return 0;
    struct program_access *a = program_load(body, &p->alloc, 0, warp * 4096, 4);
    a->turn_stride = 128;
    body->turns = warp % 4 + 1 + (warp / 4 == p->number);
    return 1;
}

START_TEST(a_launch_weighs_the_lines_of_its_multiprocessors)
{
    static struct launch_weight w;
    struct hand_program p;
    struct program program = hand_program(&p, 10, 128, lines);
    p.number = 7;
    ck_assert_int_eq(weigh(&program, &p, &w), 0);
    ck_assert_uint_eq(w.lines, 10 * 10 + 4);
    ck_assert_uint_eq(w.loads, w.lines);
    ck_assert_uint_eq(w.of_sm[0], 40); /* blocks 0, 3, 6, 9 */
    ck_assert_uint_eq(w.of_sm[1], 34); /* 1, 4 and 7, the heaviest */
    ck_assert_uint_eq(w.of_sm[2], 30);
    ck_assert_uint_eq(w.heaviest, 7);
    p.alloc.device = true;
    ck_assert_int_eq(weigh(&program, &p, &w), 0);
    ck_assert_uint_eq(w.lines, 0);
    ck_assert_uint_eq(w.loads, 104);
}
END_TEST

/* A load of each kind: at a stride, in rows, in a table, of some lanes. */
static int any_load(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    static const int64_t strides[] = {0, 4, 8, 36, 100, 128, 132, 256, -4, -200};
    if (index > 0)
        return 0;
    struct program_access *a = program_load(body, &p->alloc, 0, 100000 + warp * 52, 4);
    a->lane_stride = strides[warp % 10];
    a->active = warp % 3 ? UINT32_MAX : (uint32_t)(warp * 2654435761u) | 1u << warp % 32;
    if (warp % 4 == 1 && body->rows) {
        a->row = (uint8_t)(1 << warp / 4 % 5);
        a->row_stride = (int32_t)(warp * 20 % 3000);
    } else if (warp % 4 == 2) {
        uint64_t *lane = program_scatter(body, a);
        for (uint64_t l = 0; l < 32; l++)
            lane[l] = p->alloc.addr + (warp * 31 + l * l * 77) % 30000;
    }
    return 1;
}

/* The lines of each lane's address, each once. */
START_TEST(a_load_weighs_the_lines_of_its_lanes)
{
    static struct launch_weight w;
    static struct program_body body;
    enum { WARPS = 4000 };
    struct hand_program p;
    struct program program = hand_program(&p, WARPS, 32, any_load);
    uint64_t expected = 0;
    for (uint64_t warp = 0; warp < WARPS; warp++) {
        uint64_t lane[PROGRAM_LANES];
        struct sectors_line line[SECTORS_LINES];
        body.count = body.lane_sets = 0;
        body.rows = true;
        (void)any_load(&p, warp, 0, &body);
        for (unsigned l = 0; l < PROGRAM_LANES; l++)
            lane[l] = program_addr(body.access, l, 0);
        expected +=
            (uint64_t)sectors_of(&(struct sectors_of){.lane = lane, .active = body.access->active, .bytes = 4}, line);
    }
    ck_assert_int_eq(weigh(&program, &p, &w), 0);
    ck_assert_uint_eq(w.lines, expected);
}
END_TEST

/* Warp `number` has no second body. */
static int lacking(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    if (warp == p->number && index == 1)
        return -1;
    program_load(body, &p->alloc, 0, 0, 4);
    body->last = warp == 0; /* nobody asks for more */
    return index < 2;
}

START_TEST(a_body_that_cannot_be_made_is_told_unless_nobody_asks_for_it)
{
    static struct launch_weight w;
    struct hand_program p;
    struct program program = hand_program(&p, 10, 128, lacking);
    for (uint64_t warp = 0; warp < 40; warp++) {
        err.msg[0] = 0;
        p.number = warp;
        ck_assert_int_eq(weigh(&program, &p, &w), warp ? -1 : 0);
        ck_assert_str_eq(err.msg, warp ? "no such body" : "");
    }
    p.number = UINT64_MAX;
    ck_assert_int_eq(weigh(&program, &p, &w), 0);
    ck_assert_uint_eq(w.loads, 39 * 2 + 1);
}
END_TEST

/* --- allocations told apart --- */

/* Bodies of every other warp from `first` on. */
static void count(struct launch_tally *t, const struct program *program, uint32_t launch, uint64_t first)
{
    struct program_launch shape = {0};
    struct program_body body;
    program->ops->launch(program->state, launch, &shape);
    launch_tally_begin(t, program_warps_of_block(&shape));
    for (uint64_t warp = first; warp < program_warps(&shape); warp += 2) {
        for (uint32_t i = 0; program_body_rows(program, (void *)program->state, launch, warp, i, &body, &err) == 1; i++)
            launch_tally_body(t, warp, &body);
        launch_tally_end(t, warp);
    }
}

static void check_placed(const struct program *program, uint32_t launch, const struct launch_tally *t, uint64_t on_gpu)
{
    static struct launch_weight apart, alone;
    struct program_placed placed;
    program_placed_init(&placed, program, on_gpu);
    const struct program *p = &placed.adapter.program;
    struct launch_tally *own = launch_tally_new(p, 3, false, &err);
    void *run;
    size_t n;
    ck_assert_int_eq(program_run_open(p, &run, &err), 0);
    ck_assert_int_eq(launch_weigh(p, run, launch, own, &alone, &err), 0);
    ck_assert(launch_tally_get(t, p->ops->allocs(p->state, &n), &apart));
    ck_assert_mem_eq(&apart, &alone, sizeof alone);
    program_run_close(p, run);
    launch_tally_free(own);
}

START_TEST(told_apart_and_added_they_weigh_as_each_program_alone)
{
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct program_random state;
        struct program program;
        program_random_init(&state, seed, &program);
        struct launch_tally *t[3];
        for (int i = 0; i < 3; i++)
            t[i] = launch_tally_new(&program, 3, true, &err);
        for (uint32_t l = 0; l < program.ops->launches(program.state); l++) {
            count(t[0], &program, l, 0);
            count(t[1], &program, l, 1);
            launch_tally_begin(t[2], 1);
            launch_tally_add(t[2], t[seed % 2]);
            launch_tally_add(t[2], t[1 - seed % 2]);
            for (uint64_t on_gpu = 0; on_gpu < 16; on_gpu++)
                check_placed(&program, l, t[2], on_gpu);
        }
        for (int i = 0; i < 3; i++)
            launch_tally_free(t[i]);
    }
}
END_TEST

/* The example of the head; and warps behind that outweigh others in part only, or in nothing. */
static int nested(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    static const struct program_alloc both[] = {{.addr = 0x1000000}, {.addr = 0x2000000}};
    (void)p;
    if (index > 0 || warp > 3)
        return 0;
    program_load(body, both, 0, 0, 4);
    if (warp % 2)
        program_load(body, both, 1, 0, 4);
    body->turns = warp < 2 ? 3 - warp : 1;
    return 1;
}

static const struct program_alloc *two_allocs(const void *state, size_t *n)
{
    static const struct program_alloc two[] = {{.addr = 0x1000000, .bytes = 4096}, {.addr = 0x2000000, .bytes = 4096}};
    (void)state;
    *n = 2;
    return two;
}

START_TEST(the_heaviest_depends_on_what_lies_on_the_gpu)
{
    static struct launch_weight w;
    struct hand_program p;
    struct program program = hand_program(&p, 4, 32, nested);
    struct program_ops ops = *program.ops;
    struct program_alloc placed[2];
    size_t n;
    ops.allocs = two_allocs;
    program.ops = &ops;
    memcpy(placed, two_allocs(NULL, &n), sizeof placed);
    struct launch_tally *t = launch_tally_new(&program, 3, true, &err);
    struct program_body body;
    launch_tally_begin(t, 1);
    for (uint64_t warp = 4; warp-- > 0;) { /* in any order */
        ck_assert_int_eq(program_body(&program, &p, 0, warp, 0, &body, &err), 1);
        launch_tally_body(t, warp, &body);
        launch_tally_end(t, warp);
    }
    ck_assert(launch_tally_get(t, placed, &w));
    ck_assert_uint_eq(w.heaviest, 0);
    ck_assert_uint_eq(w.lines, 3 + 4 + 1 + 2);
    placed[0].device = true;
    ck_assert(launch_tally_get(t, placed, &w));
    ck_assert_uint_eq(w.heaviest, 1);
    ck_assert_uint_eq(w.lines, 3);
    ck_assert_uint_eq(w.loads, 10);
    launch_tally_free(t);
}
END_TEST

/* Each is the heaviest of some placement of the two: there is room for a thousand. */
START_TEST(too_many_chains_are_not_told)
{
    static struct launch_weight w;
    static struct program_alloc many[PROGRAM_ALLOCS];
    struct hand_program p;
    struct program program = hand_program(&p, 1, 32, nested);
    struct program_ops ops = *program.ops;
    struct program_body body = {.turns = 1, .count = 1, .access = {{.active = 1, .bytes = 4, .kind = RECORD_READ}}};
    ops.allocs = program_random_allocs;
    program.ops = &ops;
    for (int i = 0; i < 4; i++)
        many[i] = (struct program_alloc){.addr = 4096, .bytes = 4096};
    struct program_random state = {.seed = 1};
    memcpy(state.allocs, many, sizeof state.allocs);
    program.state = &state;
    struct launch_tally *t = launch_tally_new(&program, 3, true, &err);
    for (uint32_t chains = 1000; chains <= 2000; chains += 1000) { /* longer in one, shorter in the other */
        launch_tally_begin(t, 1);
        for (uint64_t warp = 0; warp < chains; warp++) {
            for (uint8_t k = 0; k < 2; k++) {
                body.access[0].alloc = k;
                body.turns = k ? warp + 1 : chains - warp;
                launch_tally_body(t, warp, &body);
            }
            launch_tally_end(t, warp);
        }
        ck_assert(launch_tally_get(t, many, &w) == (chains == 1000));
    }
    launch_tally_free(t);
}
END_TEST

/* The example of the head, and parts that together are the whole. */
START_TEST(parts_take_the_blocks_of_their_multiprocessors)
{
    static struct launch_part part;
    static const uint64_t expected[] = {0, 40, 132, 172, 264};
    struct hand_program p;
    struct program program = hand_program(&p, 300, 128, lines);
    struct program_launch shape;
    launch_part_init(&part, &program, &p, 0, 132, 2, 0);
    part.of[1] = 40;
    part.program.ops->launch(part.program.state, 0, &shape);
    ck_assert_uint_eq(shape.blocks, 5);
    for (uint64_t warp = 0; warp < 20; warp++) {
        struct program_body body;
        ck_assert_int_eq(program_body(&part.program, &part, 0, warp, 0, &body, NULL), 1);
        ck_assert_uint_eq(body.access[0].addr, p.alloc.addr + (expected[warp / 4] * 4 + warp % 4) * 4096);
    }
    uint64_t blocks = 0;
    for (uint32_t first = 0; first < 33; first++) {
        launch_part_init(&part, &program, &p, 0, 132, 4, first);
        part.program.ops->launch(part.program.state, 0, &shape);
        blocks += shape.blocks;
    }
    ck_assert_uint_eq(blocks, 300);
}
END_TEST

TEST_MAIN("launch_weights")
