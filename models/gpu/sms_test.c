#include "models/base/sections.h"
#include "models/gpu/sms_testing.h"
#include "trace/base/param_value.h"
#include "trace/program/random_testing.h"
#include "trace/program/walk.h"

/* In all timelines: a block placed in cycle 0 issues from cycle 1 on; a sector enters L1 in the cycle of issue, is
 * looked up 20 cycles later and is in the input buffer in the cycle after; the sink takes it there and then. An
 * ordinary instruction takes a warp 4 cycles. */
static struct gpu chip(void)
{
    struct gpu gpu;
    param_defaults(gpu_params, &gpu);
    gpu.l1_cycles = 20;
    return gpu;
}

struct setting {
    struct gpu gpu;
    uint32_t sms, input_room;
    int64_t launch_cycles;
};

/* Run it; the sink's notes and end stay. */
static struct sms_counts run(const struct program *program, const struct setting *at, struct sink *sink)
{
    struct sms_options o = {.gpu = &at->gpu,
                            .program = program,
                            .sms = at->sms,
                            .input_room = at->input_room,
                            .launch_cycles = at->launch_cycles};
    struct sms *s = GIVES(sms_new(&o, &err));
    sink_run(sink, s, at->sms);
    WORKS(sms_failed(s, &err));
    struct sms_counts c;
    sms_counts(s, &c);
    sms_free(s);
    return c;
}

static void check_times(const struct sink *sink, size_t n, const int64_t *times)
{
    ck_assert_uint_eq(sink->n, n);
    for (size_t i = 0; i < n; i++)
        ck_assert_int_eq(sink->note[i].t, times[i]);
}

#define TIMES(sink, ...) check_times(sink, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

static struct program_access *one_lane(struct program_body *body, const struct hand_program *p, uint64_t offset)
{
    struct program_access *a = program_load(body, &p->alloc, 0, offset, 4);
    a->active = 1;
    return a;
}

/* --- one warp --- */

static int four_sectors(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    program_load(body, &p->alloc, 0, warp * 128, 4);
    return index == 0;
}

START_TEST(a_load_is_a_packet_a_cycle_and_ends_with_its_last_reply)
{
    struct setting at = {chip(), 1, 512, 0};
    struct hand_program p;
    struct program program = hand_program(&p, 1, 32, four_sectors);
    struct sink sink = {.latency = 100};
    struct sms_counts c = run(&program, &at, &sink);
    TIMES(&sink, 22, 23, 24, 25);
    for (uint64_t i = 0; i < 4; i++)
        ck_assert_uint_eq(sink.note[i].packet.addr, 0x10060 - 32 * i);
    ck_assert_int_eq(sink.end, 125);
    ck_assert_uint_eq(c.instructions, 1);
    ck_assert_uint_eq(c.packets_read, 4);
    sink_release(&sink);
}
END_TEST

/* number: use of the first | before of the second << 8 */
static int two_loads(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    (void)warp;
    one_lane(body, p, 0)->use = (uint16_t)(p->number & 255);
    one_lane(body, p, 4096)->before = (uint16_t)(p->number >> 8);
    return index == 0;
}

START_TEST(a_value_is_waited_for_where_it_is_used)
{
    /* use, before, packet and end of the second */
    static const int64_t cases[][4] = {{1, 0, 144, 244}, /* issued in 123, behind the reply of 122 */
                                       {1, 3, 156, 256}, /* three instructions in between */
                                       {3, 5, 156, 256}, /* two at once, three when it is there */
                                       {6, 5, 144, 244}, /* needed by the second load itself */
                                       {7, 5, 43, 143},  /* behind it */
                                       {0, 5, 43, 143}}; /* not before the end of the turn */
    struct setting at = {chip(), 1, 512, 0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hand_program p;
        struct program program = hand_program(&p, 1, 32, two_loads);
        struct sink sink = {.latency = 100};
        p.number = (uint64_t)(cases[i][0] | cases[i][1] << 8);
        run(&program, &at, &sink);
        TIMES(&sink, 22, cases[i][2]);
        ck_assert_int_eq(sink.end, cases[i][3]);
        sink_release(&sink);
    }
}
END_TEST

/* The first value is needed third, the second not before the end. */
static int three_loads(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    (void)warp;
    one_lane(body, p, 0)->use = 4;
    one_lane(body, p, 4096)->use = 0;
    one_lane(body, p, 8192)->before = 5;
    return index == 0;
}

START_TEST(the_first_need_stops_whatever_is_loaded_behind_it)
{
    struct setting at = {chip(), 1, 512, 0};
    struct hand_program p;
    struct program program = hand_program(&p, 1, 32, three_loads);
    struct sink sink = {.latency = 100};
    run(&program, &at, &sink);
    /* loads in 1 and 2; two more instructions until 11; from 123 on three more, load in 135 */
    TIMES(&sink, 22, 23, 156);
    sink_release(&sink);
}
END_TEST

/* A sector read, written, and read again when the first value is there. */
static int read_write_read(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    (void)warp;
    one_lane(body, p, 0);
    struct program_access *a = program_store(body, &p->alloc, 0, 0, 4);
    a->active = 1;
    a->before = 1;
    one_lane(body, p, 0)->before = (uint16_t)p->number;
    return index == 0;
}

START_TEST(a_store_takes_its_sector_out_of_l1)
{
    struct setting at = {chip(), 1, 512, 0};
    struct hand_program p;
    struct program program = hand_program(&p, 1, 32, read_write_read);
    struct sink sink = {.latency = 100};
    struct sms_counts c = run(&program, &at, &sink);
    ck_assert_uint_eq(c.hits, 0);
    ck_assert_uint_eq(c.packets_read, 2);
    ck_assert(!sink.note[1].packet.whole);
    sink_release(&sink);
}
END_TEST

START_TEST(of_two_replies_in_a_cycle_the_second_counts_in_the_next)
{
    struct gpu gpu = chip();
    struct hand_program p;
    struct program program = hand_program(&p, 1, 32, four_sectors);
    struct sms_options o = {.gpu = &gpu, .program = &program, .sms = 1, .input_room = 8};
    struct sms *s = sms_new(&o, NULL);
    uint32_t token[4], n = 0;
    ck_assert_int_eq(sms_start(s, 0, NULL), 0);
    for (int64_t t = 0; n < 4; t++) {
        sms_step(s, t);
        if (sms_head(s, 0)) {
            token[n++] = sms_head(s, 0)->token;
            sms_pop(s, 0, t);
        }
    }
    for (n = 0; n < 4; n++)
        sms_reply(s, 0, token[n], 100);
    for (int64_t t = 101; t < 104; t++) {
        ck_assert(!sms_done(s));
        ck_assert_int_eq(sms_next(s), t);
        sms_step(s, t);
    }
    sms_step(s, 104);
    ck_assert(sms_done(s));
    sms_free(s);
}
END_TEST

static int store_and_load(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    (void)warp;
    program_store(body, &p->alloc, 0, 0, 4);
    one_lane(body, p, 4096);
    return index == 0;
}

START_TEST(a_store_stops_nobody_but_the_end)
{
    struct setting at = {chip(), 1, 512, 0};
    struct hand_program p;
    struct program program = hand_program(&p, 1, 16, store_and_load);
    struct sink sink = {.latency = 100};
    struct sms_counts c = run(&program, &at, &sink);
    TIMES(&sink, 22, 23, 24, 25, 26); /* four sectors written, then the load that was issued a cycle later */
    ck_assert_uint_eq(sink.note[0].packet.kind, RECORD_WRITE);
    ck_assert(sink.note[0].packet.whole);
    ck_assert_uint_eq(sink.note[4].packet.kind, RECORD_READ);
    ck_assert_uint_eq(c.packets_write, 4);
    ck_assert_int_eq(sink.end, 126);
    sink_release(&sink);
}
END_TEST

static int atomics(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    (void)warp;
    for (uint64_t i = 0; i < 2; i++) {
        struct program_access *a = program_load(body, &p->alloc, 0, i * 4096, 4);
        a->kind = RECORD_ATOMIC;
        a->use = 0;
    }
    return index == 0;
}

START_TEST(an_atomic_goes_past_l1_and_stalls_where_the_chip_says)
{
    struct setting at = {chip(), 1, 512, 0};
    struct hand_program p;
    struct program program = hand_program(&p, 1, 32, atomics);
    struct sink sink = {.latency = 100};
    struct sms_counts c = run(&program, &at, &sink);
    TIMES(&sink, 1, 2, 3, 4, 5, 6, 7, 8);
    ck_assert_uint_eq(c.packets_atomic, 8);
    sink_release(&sink);
    at.gpu.atomics_stall = 1;
    sink.latency = 100;
    run(&program, &at, &sink);
    TIMES(&sink, 1, 2, 3, 4, 105, 106, 107, 108);
    sink_release(&sink);
}
END_TEST

/* --- several warps --- */

static int barrier(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    program_barrier(body);
    body->access[0].before = warp ? 10 : 0;
    one_lane(body, p, warp * 4096);
    return index == 0;
}

START_TEST(a_barrier_holds_the_block_until_its_last_warp)
{
    struct setting at = {chip(), 1, 512, 0};
    struct hand_program p;
    struct program program = hand_program(&p, 1, 64, barrier);
    struct sink sink = {.latency = 100};
    run(&program, &at, &sink);
    TIMES(&sink, 63, 64); /* the second arrives in 1 + 10 x 4; both load in 42, one behind the other */
    sink_release(&sink);
}
END_TEST

static int ends_before_the_barrier(const struct hand_program *p, uint64_t warp, uint32_t index,
                                   struct program_body *body)
{
    if (warp == 1 && index == 1)
        return 0;
    if (warp != 1 || index == 0)
        body->after = warp == 1 ? 50 : 0;
    if (warp != 1) {
        program_barrier(body);
        one_lane(body, p, warp * 4096);
    }
    return index == 0;
}

START_TEST(a_warp_that_ends_is_not_waited_for)
{
    struct setting at = {chip(), 1, 512, 0};
    struct hand_program p;
    struct program program = hand_program(&p, 1, 96, ends_before_the_barrier);
    struct sink sink = {.latency = 100};
    run(&program, &at, &sink);
    TIMES(&sink, 222, 223); /* 1 + 50 x 4 = 201 */
    sink_release(&sink);
}
END_TEST

static int same_sector(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    one_lane(body, p, 0)->before = warp == 2 ? 50 : 0;
    return index == 0;
}

START_TEST(a_sector_on_its_way_is_not_asked_for_again)
{
    struct setting at = {chip(), 1, 512, 0};
    struct hand_program p;
    struct program program = hand_program(&p, 1, 96, same_sector);
    struct sink sink = {.latency = 100};
    struct sms_counts c = run(&program, &at, &sink);
    TIMES(&sink, 22);
    ck_assert_uint_eq(c.merged, 1);
    ck_assert_uint_eq(c.hits, 1);
    ck_assert_int_eq(sink.end, 221); /* the third: issued in 201, found in 221 */
    sink_release(&sink);
}
END_TEST

static int two_lines(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    if (index < 2)
        program_load(body, &p->alloc, 0, (warp * 2 + index) * 4096, 4)->lane_stride = 128;
    return index < 2;
}

static int two_stores(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    if (index < 2)
        program_store(body, &p->alloc, 0, (warp * 2 + index) * 4096, 4)->lane_stride = 128;
    return index < 2;
}

/* Three warps, twice 32 sectors each, on an input buffer of two from which nothing is taken before cycle 1000: what
 * was counted until then. Afterwards a packet leaves in each cycle, and all of them do. */
static struct sms_counts shut_until_1000(int (*fill)(const struct hand_program *, uint64_t, uint32_t,
                                                     struct program_body *))
{
    struct setting at = {chip(), 1, 2, 0};
    struct hand_program p;
    struct program program = hand_program(&p, 1, 96, fill);
    struct sms_options o = {.gpu = &at.gpu, .program = &program, .sms = 1, .input_room = 2};
    struct sink sink = {.latency = 100, .shut = 1000};
    struct sms_counts shut, c;
    struct sms *s = sms_new(&o, NULL);
    ck_assert_int_eq(sms_start(s, 0, NULL), 0);
    int64_t t = 0;
    while (t < 999)
        t = sink_cycle(&sink, s, 1, t);
    sms_counts(s, &shut);
    while (!sms_done(s))
        t = sink_cycle(&sink, s, 1, t);
    sms_counts(s, &c);
    ck_assert_uint_eq(c.packets_read + c.packets_write, 3 * 64);
    for (size_t i = 1; i < 64; i++)
        ck_assert_int_eq(sink.note[i].t, 1000 + (int64_t)i);
    sms_free(s);
    sink_release(&sink);
    return shut;
}

START_TEST(a_full_input_buffer_stops_miss_queue_pipeline_and_port)
{
    const struct sms_counts c = shut_until_1000(two_lines);
    ck_assert_uint_eq(c.instructions, 2); /* 2 + 16 + 20 sectors wait; the port holds 26 of the second load's 32 */
    ck_assert_uint_eq(c.packets_read, 18);
}
END_TEST

START_TEST(a_full_input_buffer_stops_stores_too)
{
    const struct sms_counts c = shut_until_1000(two_stores);
    ck_assert_uint_eq(c.packets_write, 18);
}
END_TEST

static int pim(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    for (uint64_t i = 0; i < 3; i++) {
        struct program_access *a = program_store(body, &p->alloc, 0, warp * 256 + i * 32, 4);
        a->kind = PROGRAM_PIM;
        a->active = 1;
    }
    return index == 0;
}

START_TEST(pim_accesses_leave_one_a_cycle_and_wait_for_nothing)
{
    struct setting at = {chip(), 2, 512, 0};
    struct hand_program p;
    struct program program = hand_program(&p, 2, 128, pim);
    struct sink sink = {.latency = 100};
    struct sms_counts c = run(&program, &at, &sink);
    ck_assert_uint_eq(sink.n, 24);
    for (size_t i = 0; i < 24; i++) {
        ck_assert_int_eq(sink.note[i].t, 1 + (int64_t)i / 2);
        ck_assert_uint_eq(sink.note[i].sm, i % 2);
        ck_assert_uint_eq(sink.note[i].packet.addr, 0x10000 + i % 2 * 1024 + i / 2 % 4 * 256 + i / 8 * 32);
        ck_assert_uint_eq(sink.note[i].packet.kind, PROGRAM_PIM);
    }
    ck_assert_uint_eq(c.packets_write, 24);
    ck_assert_int_eq(sink.end, 112);
    sink_release(&sink);
}
END_TEST

/* --- blocks and launches --- */

static int one_sector(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    one_lane(body, p, warp * 128);
    return index == 0;
}

START_TEST(launches_come_one_behind_the_other_with_a_gap)
{
    struct setting at = {chip(), 2, 512, 500};
    struct hand_program p;
    struct program program = hand_program(&p, 1, 1, one_sector);
    struct sink sink = {.latency = 100};
    p.launches = 3;
    struct sms_counts c = run(&program, &at, &sink);
    TIMES(&sink, 522, 1145, 1768); /* reply in 622, ended in 623, next block in 1123; L1 forgets */
    ck_assert_uint_eq(c.launches, 3);
    ck_assert_uint_eq(c.blocks, 3);
    sink_release(&sink);
}
END_TEST

START_TEST(blocks_go_one_a_cycle_to_each_multiprocessor_as_many_as_fit)
{
    struct setting at = {chip(), 3, 512, 0};
    struct hand_program p;
    struct program program = hand_program(&p, 8, 1, one_sector);
    struct sink sink = {.latency = 100};
    p.launch.blocks_most = 2;
    run(&program, &at, &sink);
    /* six at once, two a cycle later than those that make room: ended in 123 */
    TIMES(&sink, 22, 22, 22, 23, 23, 23, 145, 145);
    for (size_t i = 0; i < 8; i++) {
        ck_assert_uint_eq(sink.note[i].sm, i % 3);
        ck_assert_uint_eq(sink.note[i].packet.addr, 0x10000 + 128 * i);
    }
    sink_release(&sink);
    sink.latency = 100;
    p.launch.blocks_most = 0;
    p.launch.blocks = 4;
    at.gpu.spread_blocks = 1;
    at.sms = 2;
    run(&program, &at, &sink);
    ck_assert_uint_eq(sink.note[2].sm, 0);
    sink_release(&sink);
}
END_TEST

START_TEST(the_turn_of_multiprocessors_goes_on_from_launch_to_launch)
{
    struct setting at = {chip(), 3, 512, 0};
    struct hand_program p;
    struct program program = hand_program(&p, 5, 1, one_sector);
    struct sink sink = {.latency = 100};
    p.launch.blocks_most = 1;
    p.launches = 2;
    run(&program, &at, &sink);
    static const uint32_t sms[10] = {0, 1, 2, 0, 1, 0, 1, 2, 0, 2};
    ck_assert_uint_eq(sink.n, 10);
    uint64_t first = 0;
    for (size_t i = 0; i < 5; i++)
        ck_assert_uint_eq(sink.note[i].sm, sms[i]);
    for (size_t i = 5; i < 10; i++) /* block 0 of the second launch on multiprocessor 2 */
        first += sink.note[i].packet.addr == 0x10000 ? sink.note[i].sm : 0;
    ck_assert_uint_eq(first, 2);
    sink_release(&sink);
}
END_TEST

/* Block 0 is short; 3, which follows it, ends together with 1. */
static int two_end_together(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    static const uint16_t before[] = {0, 31, 1000, 0, 0, 0};
    one_lane(body, p, warp * 128)->before = before[warp];
    return index == 0;
}

START_TEST(of_two_with_room_the_one_behind_the_last_that_got_a_block_is_first)
{
    struct setting at = {chip(), 3, 512, 0};
    struct hand_program p;
    struct program program = hand_program(&p, 6, 1, two_end_together);
    struct sink sink = {.latency = 101}; /* a block takes 124 cycles, 31 instructions as many */
    p.launch.blocks_most = 1;
    run(&program, &at, &sink);
    static const uint32_t sms[6] = {0, 1, 2, 0, 1, 0};
    ck_assert_uint_eq(sink.n, 6);
    for (size_t i = 0; i < 6; i++)
        ck_assert_uint_eq(sink.note[i].sm, sms[(sink.note[i].packet.addr - 0x10000) / 128]);
    sink_release(&sink);
}
END_TEST

static int nothing(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    (void)warp;
    body->after = (uint32_t)p->number;
    return index == 0 && p->number;
}

START_TEST(kernels_that_access_nothing_end)
{
    struct setting at = {chip(), 80, 512, 0};
    for (uint64_t number = 0; number <= 7; number += 7) {
        struct hand_program p;
        struct program program = hand_program(&p, 100000, 64, nothing);
        struct sink sink = {.latency = 1};
        p.launches = 3;
        p.number = number;
        struct sms_counts c = run(&program, &at, &sink);
        ck_assert_uint_eq(c.blocks, 300000);
        ck_assert_uint_eq(sink.n, 0);
        sink_release(&sink);
    }
}
END_TEST

static int long_loop(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    (void)p;
    (void)warp;
    body->after = 1000;
    body->turns = 1000000000;
    return index == 0;
}

START_TEST(a_loop_of_a_trillion_instructions_is_one_step_of_the_clock_for_each_ring)
{
    struct setting at = {chip(), 1, 512, 0};
    at.gpu.dependent_cycles = 1;
    struct hand_program p;
    struct program program = hand_program(&p, 1, 32, long_loop);
    struct sms_options o = {.gpu = &at.gpu, .program = &program, .sms = 1, .input_room = 2};
    struct sms *s = sms_new(&o, NULL);
    ck_assert_int_eq(sms_start(s, 0, NULL), 0);
    int64_t t = sms_step(s, 0);
    for (int i = 0; i < 1000; i++)
        t = sms_step(s, t);
    ck_assert_int_gt(t, 500000);
    ck_assert(!sms_done(s));
    sms_free(s);
}
END_TEST

START_TEST(what_does_not_fit_is_refused)
{
    struct gpu gpu = chip();
    struct hand_program p;
    struct program program = hand_program(&p, 1, 32, four_sectors);
    struct sms_options o = {.gpu = &gpu, .program = &program, .sms = 80, .input_room = 2};
    p.launch.shared = 1 << 20;
    GIVES_NONE(sms_new(&o, &err), "");
    p.launch.shared = 0;
    o.sms = 81;
    GIVES_NONE(sms_new(&o, &err), "");
    o.sms = 0;
    GIVES_NONE(sms_new(&o, &err), "");
    o.sms = 80;
    gpu.schedulers = 1;
    gpu.warps_per_sm = 65;
    GIVES_NONE(sms_new(&o, &err), "");
}
END_TEST

static int no_body(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    if (warp == 40)
        return -1;
    return four_sectors(p, warp, index, body);
}

START_TEST(a_body_that_cannot_be_made_ends_the_run_with_its_error)
{
    struct gpu gpu = chip();
    struct hand_program p;
    struct program program = hand_program(&p, 100, 32, no_body);
    struct sms_options o = {.gpu = &gpu, .program = &program, .sms = 4, .input_room = 2};
    struct sms *s = sms_new(&o, NULL);
    struct sink sink = {.latency = 3};
    sink_run(&sink, s, 4);
    FAILS_AS(sms_failed(s, &err), "no such body");
    sms_free(s);
    sink_release(&sink);
}
END_TEST

/* --- whatever the program --- */

static int add_writes(void *ctx, const struct program_op *op, struct err *err)
{
    uint64_t *sums = ctx;
    (void)err;
    sums[0]++;
    for (int i = 0; i < op->lines && op->access == RECORD_WRITE; i++)
        for (uint64_t s = 0; s < 4; s++)
            if (op->line[i].sectors >> s & 1) {
                sums[1]++;
                sums[2] += (op->line[i].addr + 32 * s) * 0x9E3779B97F4A7C15u >> 7;
            }
    return 0;
}

START_TEST(packets_are_those_of_the_walk_and_all_come_back)
{
    struct setting at = {chip(), 1, 512, 0};
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct program_random p;
        struct program program;
        uint64_t walked[3] = {0}, sent[2] = {0};
        static const struct program_taker taker = {.op = add_writes};
        program_random_init(&p, seed, &program);
        ck_assert_int_eq(program_walk(&program, NULL, &taker, walked, NULL, NULL), 0);
        struct sink sink = {.latency = 1 + (int64_t)(seed % 300), .shut = seed % 5 ? 0 : 3000};
        at.sms = 1 + seed % 80;
        at.input_room = 1 + seed % 7 * 50;
        at.launch_cycles = (int64_t)(seed % 3 * 200);
        at.gpu.l1_ways = seed % 4 * 4;
        at.gpu.l1_allocate = seed % 2;
        at.gpu.l1_replacement = seed / 2 % 2;
        at.gpu.schedulers = 1 + (int64_t)(seed % 8);
        struct sms_counts c = run(&program, &at, &sink);
        ck_assert_uint_eq(c.instructions, walked[0]);
        ck_assert_uint_eq(c.packets_read + c.packets_write + c.packets_atomic, sink.n);
        ck_assert_uint_eq(sink.answered, sink.n);
        ck_assert_uint_eq(c.load_sectors, c.hits + c.merged + c.packets_read);
        for (size_t i = 0; i < sink.n; i++)
            if (sink.note[i].packet.kind == RECORD_WRITE) {
                sent[0]++;
                sent[1] += sink.note[i].packet.addr * 0x9E3779B97F4A7C15u >> 7;
            }
        ck_assert_uint_eq(sent[0], walked[1]);
        ck_assert_uint_eq(sent[1], walked[2]);
        sink_release(&sink);
    }
}
END_TEST

START_TEST(a_second_run_is_the_first_again)
{
    struct gpu gpu = chip();
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct program_random p;
        struct program program;
        program_random_init(&p, seed, &program);
        struct sms_options o = {.gpu = &gpu, .program = &program, .sms = 5, .input_room = 20};
        struct sink a = {.latency = 70}, b = {.latency = 70};
        struct sms *s = sms_new(&o, NULL);
        sink_run(&a, s, 5);
        sink_run(&b, s, 5);
        ck_assert_int_eq(a.end, b.end);
        ck_assert_uint_eq(a.n, b.n);
        for (size_t i = 0; i < a.n; i++)
            ck_assert(a.note[i].t == b.note[i].t && a.note[i].packet.addr == b.note[i].packet.addr);
        sms_free(s);
        sink_release(&a);
        sink_release(&b);
    }
}
END_TEST

/* Steps in every cycle change nothing. */
START_TEST(skipping_to_the_next_event_is_exact)
{
    struct gpu gpu = chip();
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct program_random p;
        struct program program;
        program_random_init(&p, seed, &program);
        struct sms_options o = {.gpu = &gpu, .program = &program, .sms = 5, .input_room = 20};
        struct sink a = {.latency = 70}, b = {.latency = 70};
        struct sms *s = sms_new(&o, NULL);
        sink_run(&a, s, 5);
        ck_assert_int_eq(sms_start(s, 0, NULL), 0);
        for (int64_t t = 0; !sms_done(s); t++) {
            sink_cycle(&b, s, 5, t);
            b.end = t;
        }
        ck_assert_int_eq(a.end, b.end);
        ck_assert_uint_eq(a.n, b.n);
        for (size_t i = 0; i < a.n; i++)
            ck_assert(a.note[i].t == b.note[i].t && a.note[i].packet.addr == b.note[i].packet.addr);
        sms_free(s);
        sink_release(&a);
        sink_release(&b);
    }
}
END_TEST

TEST_MAIN("sms")
