#include "models/gpu/sms.c"

#include "models/base/sections.h"
#include "models/gpu/sms_testing.h"
#include "trace/base/param_value.h"
#include "trace/program/random_testing.h"

/* --- what is kept of a body --- */

START_TEST(accesses_without_a_lane_are_ordinary_instructions)
{
    static struct program_body body;
    struct program_alloc alloc = {.addr = 0x1000, .bytes = 4096};
    struct sm_body kept = {0};
    struct program_access *a = program_load(&body, &alloc, 0, 0, 4);
    a->before = 2;
    a->use = 3;
    program_load(&body, &alloc, 0, 0, 4)->active = 0;
    program_store(&body, &alloc, 0, 64, 4)->before = 1;
    body.after = 4;
    body.turns = 5;
    ck_assert_int_eq(sm_body_keep(&kept, &body, false, NULL), 0);
    ck_assert_uint_eq(kept.count, 2);
    ck_assert_uint_eq(kept.access[0].pos, 2);
    ck_assert_uint_eq(kept.access[0].need, 5);
    ck_assert_uint_eq(kept.access[1].pos, 5);
    ck_assert_uint_eq(kept.length, program_instructions(&body));
    ck_assert_uint_eq(kept.turns, 5);
    body.access[0].active = body.access[2].active = 0;
    ck_assert_int_eq(sm_body_keep(&kept, &body, false, NULL), 0);
    ck_assert_uint_eq(kept.count, 0);
    ck_assert_uint_eq(kept.length, 5 * (uint64_t)program_instructions(&body));
    ck_assert_uint_eq(kept.turns, 1);
    body.turns = UINT64_MAX;
    ck_assert_int_eq(sm_body_keep(&kept, &body, false, NULL), 0);
    ck_assert_uint_gt(kept.length, UINT32_MAX);
    sm_body_release(&kept);
}
END_TEST

START_TEST(a_kept_body_has_the_sectors_of_the_body)
{
    static struct program_body body;
    struct sm_body kept = {0};
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct program_random p;
        struct program program;
        program_random_init(&p, seed, &program);
        if (program_body(&program, &p, 0, 0, 0, &body, NULL) != 1)
            continue;
        ck_assert_int_eq(sm_body_keep(&kept, &body, false, NULL), 0);
        for (uint32_t i = 0, k = 0; i < body.count; i++) {
            const struct program_access *a = &body.access[i];
            if (a->kind == PROGRAM_BARRIER || a->active) {
                struct sectors_line line[SECTORS_LINES], expected[SECTORS_LINES];
                uint64_t lane[PROGRAM_LANES];
                for (unsigned l = 0; l < PROGRAM_LANES; l++)
                    lane[l] = program_addr(a, l, 3);
                struct sectors_of of = {.lane = lane, .active = a->active, .bytes = a->bytes};
                of.covers = a->kind == RECORD_WRITE;
                int n = sm_body_sectors(&kept, k++, 3, line);
                ck_assert_int_eq(n, sectors_of(&of, expected));
                for (int j = 0; j < n; j++)
                    ck_assert(line[j].line == expected[j].line && line[j].sectors == expected[j].sectors &&
                              line[j].whole == expected[j].whole);
            }
        }
    }
    sm_body_release(&kept);
}
END_TEST

/* --- schedulers --- */

/* Warp w of the block: number instructions, then a load of a line of its own. */
static int runs(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    struct program_access *a = program_load(body, &p->alloc, 0, warp * 128, 4);
    a->active = 1;
    a->before = (uint16_t)p->number;
    return index == 0;
}

/* Cycle in which each warp's packet leaves, on one scheduler. */
static void leave(uint32_t warps, uint64_t instructions, double dependent, int64_t *t)
{
    struct hand_program p;
    struct program program = hand_program(&p, 1, warps * 32, runs);
    struct gpu gpu;
    param_defaults(gpu_params, &gpu);
    gpu.l1_cycles = 20;
    gpu.schedulers = 1;
    gpu.dependent_cycles = dependent;
    struct sms_options o = {.gpu = &gpu, .program = &program, .sms = 1, .input_room = 512};
    struct sink sink = {.latency = 10};
    struct sms *s = sms_new(&o, NULL);
    p.number = instructions;
    sink_run(&sink, s, 1);
    ck_assert_uint_eq(sink.n, warps);
    for (size_t i = 0; i < warps; i++)
        t[(sink.note[i].packet.addr - 0x10000) / 128] = sink.note[i].t;
    sms_free(s);
    sink_release(&sink);
}

START_TEST(the_four_oldest_run_and_the_fifth_follows)
{
    int64_t t[8];
    leave(5, 10, 4, t);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(t[i], 1 + 40 + 21 + i); /* one memory instruction a cycle */
    ck_assert_int_eq(t[4], 1 + 80 + 21);
    leave(3, 7, 1, t); /* without latency one after the other, each 7 slots and one for the load */
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(t[i], 1 + 8 * i + 7 + 21);
}
END_TEST

/* Warp 0 waits for a load first, then runs: it is the oldest and takes a lane from the youngest. */
static int late_oldest(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    struct program_access *a = program_load(body, &p->alloc, 0, warp * 128, 4);
    a->active = 1;
    if (warp)
        a->before = 100;
    else
        body->after = 10;
    if (index == 1) {
        body->count = 0;
        program_load(body, &p->alloc, 0, 1 << 20, 4)->active = 1;
        body->after = 0;
    }
    return warp ? index == 0 : index < 2;
}

START_TEST(the_oldest_takes_a_lane_from_the_youngest)
{
    struct hand_program p;
    struct program program = hand_program(&p, 1, 5 * 32, late_oldest);
    struct gpu gpu;
    param_defaults(gpu_params, &gpu);
    gpu.l1_cycles = 20;
    gpu.schedulers = 1;
    struct sms_options o = {.gpu = &gpu, .program = &program, .sms = 1, .input_room = 512};
    struct sink sink = {.latency = 10};
    struct sms *s = sms_new(&o, NULL);
    sink_run(&sink, s, 1);
    /* warp 0: packet 22, reply 32; 10 instructions from 33 are needed at the turn's end: 73, load, packet 94 */
    ck_assert_int_eq(sink.note[0].t, 22);
    ck_assert_int_eq(sink.note[1].t, 94);
    for (size_t i = 2; i < 5; i++) /* 1 + 400 */
        ck_assert_int_eq(sink.note[i].t, 422 + (int64_t)i - 2);
    /* the youngest stood from 2 + 0 to 73, and lost one slot to the load of warp 0 before */
    ck_assert_int_gt(sink.note[5].t, 422 + 36);
    ck_assert_int_lt(sink.note[5].t, 422 + 46);
    sms_free(s);
    sink_release(&sink);
}
END_TEST

/* Four warps with 100 instructions before their load, a fifth with none. */
static int no_slot(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    struct program_access *a = program_load(body, &p->alloc, 0, warp * 128, 4);
    a->active = 1;
    a->before = warp < 4 ? 100 : 0;
    return index == 0;
}

START_TEST(a_memory_instruction_waits_while_older_warps_take_every_slot)
{
    struct hand_program p;
    struct program program = hand_program(&p, 1, 5 * 32, no_slot);
    struct gpu gpu;
    param_defaults(gpu_params, &gpu);
    gpu.l1_cycles = 20;
    gpu.schedulers = 1;
    struct sms_options o = {.gpu = &gpu, .program = &program, .sms = 1, .input_room = 512};
    struct sink sink = {.latency = 10};
    struct sms *s = sms_new(&o, NULL);
    sink_run(&sink, s, 1);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_uint_eq(sink.note[i].packet.addr, 0x10000 + 128 * i);
        ck_assert_int_eq(sink.note[i].t, 1 + 400 + 21 + (int64_t)i);
    }
    sms_free(s);
    sink_release(&sink);
}
END_TEST

/* Two loads in a row by each of two warps of one scheduler: greedy, the first issues both. */
static int twice(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    for (uint64_t i = 0; i < 2; i++) {
        struct program_access *a = program_load(body, &p->alloc, 0, (warp * 2 + i) * 128, 4);
        a->active = 1;
        a->use = 0;
    }
    return index == 0;
}

START_TEST(a_scheduler_stays_with_a_warp_that_can_go_on_and_schedulers_take_turns)
{
    for (uint64_t schedulers = 1; schedulers <= 2; schedulers++) {
        struct hand_program p;
        struct program program = hand_program(&p, 1, 64, twice);
        struct gpu gpu;
        param_defaults(gpu_params, &gpu);
        gpu.schedulers = (int64_t)schedulers;
        struct sms_options o = {.gpu = &gpu, .program = &program, .sms = 1, .input_room = 512};
        struct sink sink = {.latency = 10};
        struct sms *s = sms_new(&o, NULL);
        sink_run(&sink, s, 1);
        static const uint64_t order[2][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}};
        for (size_t i = 0; i < 4; i++)
            ck_assert_uint_eq((sink.note[i].packet.addr - 0x10000) / 128, order[schedulers - 1][i]);
        sms_free(s);
        sink_release(&sink);
    }
}
END_TEST

/* Warp 0 loads once, in cycle 13; warp 1 eight times in a row. */
static int late_and_long(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    for (uint64_t i = 0; i < (warp ? 8 : 1); i++) {
        struct program_access *a = program_load(body, &p->alloc, 0, (warp * 8 + i) * 128, 4);
        a->lane_stride = 4096; /* of one bank: 32 cycles */
        a->use = 0;
        a->before = warp ? 0 : 3;
    }
    return index == 0;
}

START_TEST(a_scheduler_stays_with_a_younger_warp_that_can_go_on)
{
    struct hand_program p;
    struct program program = hand_program(&p, 1, 64, late_and_long);
    struct gpu gpu;
    param_defaults(gpu_params, &gpu);
    gpu.schedulers = 1;
    struct sms_options o = {.gpu = &gpu, .program = &program, .sms = 1, .input_room = 512};
    struct sink sink = {.latency = 1000};
    struct sms *s = sms_new(&o, NULL);
    sink_run(&sink, s, 1);
    ck_assert_uint_eq(sink.n, 9 * 32);
    for (size_t i = 0; i < 9 * 32; i++)
        ck_assert_int_eq((sink.note[i].packet.addr - 0x10000) % 4096 < 1024, i >= 8 * 32);
    sms_free(s);
    sink_release(&sink);
}
END_TEST

TEST_MAIN("sm")
