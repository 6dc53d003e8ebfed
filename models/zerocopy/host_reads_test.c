#include "models/zerocopy/host_reads.h"

#include <math.h>

#include "models/base/platform.h"
#include "models/gpu/sms_testing.h"
#include "trace/graph/graph_generate.h"
#include "trace/program/random_testing.h"

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state = random_mix(state);
    return state % below;
}

static struct platform *chip(struct gpu *gpu, struct pcie *pcie)
{
    struct platform *p = GIVES(platform_load("h200", NULL));
    *gpu = *(const struct gpu *)platform_section_get(p, "gpu");
    *pcie = *(const struct pcie *)platform_section_get(p, "pcie");
    return p;
}

static int keep(void *ctx, uint32_t number, const struct host_reads_count *count, struct err *err)
{
    (void)number;
    (void)err;
    *(struct host_reads_count *)ctx = *count;
    return 0;
}

/* On so many multiprocessors, without the time that a launch takes by itself. */
static struct host_reads_count run(const struct program *program, int64_t sms, enum request_rule rule)
{
    struct host_reads_count count = {0};
    struct gpu gpu;
    struct pcie pcie;
    struct platform *platform = chip(&gpu, &pcie);
    gpu.sms = sms;
    pcie.request = rule;
    const struct host_reads how = {.gpu = &gpu, .pcie = &pcie, .program = program, .on_launch = keep, .ctx = &count};
    WORKS(host_reads_run(&how, &err));
    platform_free(platform);
    return count;
}

/* Each warp reads a line of its own, then one of its words again. */
static int own_line(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    if (index > 1)
        return 0;
    struct program_access *a = program_load(body, &p->alloc, 0, warp * LINE_BYTES, 4);
    a->lane_stride = index ? 0 : 4;
    return 1;
}

START_TEST(a_line_is_one_request_and_takes_the_link_and_the_latency)
{
    struct hand_program p;
    struct program program = hand_program(&p, 1, 32, own_line);
    struct host_reads_count c = run(&program, 1, REQUEST_LINE);
    ck_assert_uint_eq(mix_requests(&c.mix), 1);
    ck_assert_uint_eq(c.mix.by_size[3], 1);
    ck_assert_uint_eq(c.sectors, 4);
    ck_assert_uint_eq(c.loads, 2);
    ck_assert_double_gt(c.time_ns, 1350 + 2.5);
    ck_assert_double_lt(c.time_ns, 1350 + 2.5 + 41 * 2); /* and L1, once more */
}
END_TEST

START_TEST(many_warps_take_what_their_requests_take)
{
    struct hand_program p;
    struct program program = hand_program(&p, 4096, 256, own_line);
    struct gpu gpu;
    struct pcie pcie;
    struct platform *platform = chip(&gpu, &pcie);
    struct host_reads_count c = run(&program, 32, REQUEST_LINE);
    double link = link_service_ns(&pcie, &c.mix);
    ck_assert_uint_eq(c.mix.by_size[3], 4096 * 8);
    ck_assert_double_gt(c.time_ns, link);
    ck_assert_double_lt(c.time_ns, link * 1.05 + 2 * pcie.load_ns);
    platform_free(platform);
}
END_TEST

/* Lanes anywhere in 4 KiB of the warp's own. */
static int scattered(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    if (index > 0)
        return 0;
    struct program_access *a = program_load(body, &p->alloc, 0, 0, 8);
    uint64_t *lane = program_scatter(body, a);
    state = p->number + warp;
    a->active = (uint32_t)draw(UINT64_C(1) << 32) | 1;
    for (int i = 0; i < WARP_LANES; i++)
        lane[i] = p->alloc.addr + warp * 4096 + draw(512) * 8;
    return 1;
}

/* What no cache can change: every warp has lines of its own and loads once. */
START_TEST(lines_that_nobody_shares_make_the_requests_of_the_coalescer)
{
    enum { WARPS = 96 };
    for (uint64_t seed = 1; seed <= 20; seed++) {
        enum request_rule rule = seed % 2 ? REQUEST_RUN : REQUEST_LINE;
        struct hand_program p;
        struct program program = hand_program(&p, WARPS / 4, 128, scattered);
        struct coalescer exact;
        p.number = seed * 1000;
        struct host_reads_count c = run(&program, 3, rule);
        coalescer_init(&exact, REUSE_NONE, NULL, NULL);
        exact.request = rule;
        for (uint64_t warp = 0; warp < WARPS; warp++) {
            struct program_body body = {.turns = 1};
            uint64_t sectors[WARP_LANES];
            size_t n = 0;
            scattered(&p, warp, 0, &body);
            for (int i = 0; i < WARP_LANES; i++)
                if (body.access[0].active >> i & 1)
                    sectors[n++] = body.access[0].lane[i] / SECTOR_BYTES;
            ck_assert_int_eq(coalescer_load(&exact, warp, sectors, n, NULL), 0);
        }
        for (int i = 0; i < LINE_SECTORS; i++)
            ck_assert_uint_eq(c.mix.by_size[i], exact.mix.by_size[i]);
        ck_assert_uint_eq(c.mix.host_lines, exact.mix.host_lines);
        coalescer_release(&exact);
    }
}
END_TEST

/* Half a line, and the other half: by one warp at once; by one that waits in between; by two. */
static int halves(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    uint32_t n = p->number == 0 ? 2 : 1;
    if (index > (p->number == 1))
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t half = p->number == 2 ? warp : n * index + i;
        struct program_access *a = program_load(body, &p->alloc, 0, half * 64, 4);
        a->active = 0xffff;
        a->use = 0;
    }
    return 1;
}

START_TEST(loads_of_a_warp_that_are_under_way_together_ask_for_a_line_once)
{
    for (uint64_t how = 0; how < 3; how++) {
        struct hand_program p;
        struct program program = hand_program(&p, 1, how == 2 ? 64 : 32, halves);
        p.number = how;
        struct host_reads_count c = run(&program, 1, REQUEST_RUN);
        ck_assert_uint_eq(c.sectors, 4);
        ck_assert_uint_eq(c.mix.by_size[3], how == 0);
        ck_assert_uint_eq(c.mix.by_size[1], how == 0 ? 0 : 2);
        ck_assert_uint_eq(c.mix.host_lines, 2);
    }
}
END_TEST

/* The same line again, by another warp (number even) or the same: some instructions later. */
static int again(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    if (index > 0)
        return 0;
    uint32_t n = p->number % 2 ? 2 : 1;
    for (uint32_t i = 0; i < n; i++) {
        struct program_access *a = program_load(body, &p->alloc, 0, 0, 4);
        a->use = 0;
        a->before = i + 1 == n && (warp || i) ? (p->number < 2 ? 4 : p->number < 4 ? 200 : 50) : 0;
    }
    return 1;
}

START_TEST(another_warp_asks_again_once_a_miss_has_left)
{
    for (uint64_t how = 0; how < 5; how++) { /* the last: 200 cycles later, before L2 has answered */
        struct hand_program p;
        struct program program = hand_program(&p, 1, how % 2 ? 32 : 64, again);
        p.number = how;
        struct host_reads_count c = run(&program, 1, REQUEST_LINE);
        ck_assert_uint_eq(mix_requests(&c.mix), how == 2 ? 2 : 1);
        ck_assert_double_lt(c.time_ns, 1350 + 600); /* nobody waits for another's answer twice */
    }
}
END_TEST

/* 50 instructions, 101 ns later; an answer takes 133 ns. */
START_TEST(another_warp_waits_for_memory_of_the_gpu_however_long_ago_it_was_asked_for)
{
    double ns[2];
    for (uint64_t late = 0; late < 2; late++) {
        struct hand_program p;
        struct program program = hand_program(&p, 1, 64, again);
        p.alloc.device = true;
        p.number = late ? 4 : 0;
        ns[late] = run(&program, 1, REQUEST_LINE).time_ns;
    }
    ck_assert_double_lt(ns[1], ns[0] + 20);
}
END_TEST

START_TEST(memory_of_the_gpu_makes_no_requests)
{
    struct hand_program p;
    struct program program = hand_program(&p, 8, 128, own_line);
    p.alloc.device = true;
    struct host_reads_count c = run(&program, 2, REQUEST_LINE);
    ck_assert_uint_eq(mix_requests(&c.mix), 0);
    ck_assert_double_lt(c.time_ns, 1000);
}
END_TEST

static struct host_reads_count sampled(const struct program *program, uint64_t most)
{
    struct host_reads_count count = {0};
    struct gpu gpu;
    struct pcie pcie;
    struct platform *platform = chip(&gpu, &pcie);
    const struct host_reads how = {
        .gpu = &gpu, .pcie = &pcie, .program = program, .most_loads = most, .on_launch = keep, .ctx = &count};
    ck_assert_int_eq(host_reads_run(&how, NULL), 0);
    platform_free(platform);
    return count;
}

/* Some warps read more lines than others, some one line again and again; one reads a hundred times as many, one behind
 * the other. */
static int uneven(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    if (index > 0)
        return 0;
    struct program_access *a = program_load(body, &p->alloc, 0, warp * 4096, 4);
    state = warp;
    a->turn_stride = warp == 3333 || draw(2) ? 64 : 0;
    body->turns = warp == 3333 ? 400 : 1 + draw(8);
    return 1;
}

START_TEST(a_sample_stands_for_the_launch)
{
    struct hand_program p;
    struct program program = hand_program(&p, 6000, 64, uneven);
    p.alloc.bytes = UINT64_C(1) << 26;
    struct host_reads_count all = sampled(&program, 0), some = sampled(&program, 10000);
    double requests = (double)mix_requests(&all.mix), of_sample = (double)mix_requests(&some.mix);
    ck_assert_uint_eq(all.sampled, 0);
    ck_assert_uint_gt(some.sampled, 0);
    ck_assert_uint_lt(some.sampled, 66);
    ck_assert_uint_eq(some.loads, all.loads);
    ck_assert_double_gt(some.error, 0);
    ck_assert_double_lt(some.error, 0.05);
    ck_assert_double_eq_tol(of_sample / requests, 1, 4 * some.error);
    ck_assert_double_eq_tol(some.time_ns / all.time_ns, 1, 0.03); /* the long warp is in it */
    ck_assert_double_gt(all.time_ns, 400 * 1350 / 2);
}
END_TEST

/* Of 32 warps of a block one or two read, one load behind the other, some of them for long: two such blocks are on a
 * multiprocessor. */
static int few_of_many(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    if (index > 0)
        return 0;
    state = warp * 7919;
    const bool reads = draw(20) == 0;
    struct program_access *a = program_load(body, &p->alloc, 0, warp * 512, 8);
    a->lane_stride = 8;
    a->turn_stride = 256;
    a->active = reads ? UINT32_MAX : 1;
    body->turns = reads ? 4 + 96 / (1 + draw(32)) : 1;
    return 1;
}

START_TEST(blocks_of_a_sample_go_to_the_multiprocessor_that_is_done)
{
    struct hand_program p;
    struct program program = hand_program(&p, 3000, 1024, few_of_many);
    p.alloc.bytes = UINT64_C(1) << 28;
    struct host_reads_count all = sampled(&program, 0), some = sampled(&program, 4000);
    ck_assert_uint_eq(some.sampled, 4);
    ck_assert_double_eq_tol(some.time_ns / all.time_ns, 1, 0.06);
}
END_TEST

START_TEST(a_launch_that_reads_nothing_of_the_host_is_sampled_too)
{
    struct hand_program p;
    struct program program = hand_program(&p, 6000, 64, own_line);
    p.alloc.bytes = UINT64_C(1) << 26;
    p.alloc.device = true;
    struct host_reads_count all = sampled(&program, 0), some = sampled(&program, 2000);
    ck_assert_uint_eq(mix_requests(&some.mix), 0);
    ck_assert_uint_eq(all.sampled, 0);
    ck_assert_uint_gt(some.sampled, 0);
    ck_assert_uint_lt(some.sampled, 66);
    ck_assert_uint_eq(some.loads, all.loads);
    ck_assert_double_eq_tol(some.time_ns / all.time_ns, 1, 0.05);
}
END_TEST

static int no_body(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    return warp == 3 ? -1 : own_line(p, warp, index, body);
}

START_TEST(a_body_that_cannot_be_made_is_an_error)
{
    struct hand_program p;
    struct program program = hand_program(&p, 2, 64, no_body);
    struct gpu gpu;
    struct pcie pcie;
    struct host_reads_count count;
    struct platform *platform = chip(&gpu, &pcie);
    const struct host_reads how = {.gpu = &gpu, .pcie = &pcie, .program = &program, .on_launch = keep, .ctx = &count};
    FAILS_AS(host_reads_run(&how, &err), "no such body");
    platform_free(platform);
}
END_TEST

struct told {
    struct host_reads_count of[8];
    uint32_t n;
};

static int tell(void *ctx, uint32_t number, const struct host_reads_count *count, struct err *err)
{
    struct told *told = ctx;
    (void)err;
    ck_assert_uint_eq(number, told->n);
    told->of[told->n++] = *count;
    return 0;
}

static unsigned bodies; /* asked for */

/* Launch by launch a turn more. */
static int more_turns(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                      struct err *err)
{
    const struct hand_program *p = run;
    (void)err;
#pragma omp atomic
    bodies++;
    if (index > 0)
        return 0;
    program_load(body, &p->alloc, 0, warp * 4096, 4)->turn_stride = 64;
    body->turns = 1 + launch;
    return 1;
}

static struct launch_weights *weigh(const struct program *program, uint32_t sms)
{
    struct launch_weights *weights = GIVES(launch_weights_open(program, sms, &err));
    struct launch_tally *tally = GIVES(launch_weights_tally(weights, &err));
    for (uint32_t i = 0; i < program->ops->launches(program->state); i++) {
        struct launch_weight weight;
        WORKS(launch_weigh(program, (void *)program->state, i, tally, &weight, &err));
        launch_weights_add(weights, i, tally);
    }
    launch_tally_free(tally);
    return weights;
}

/* Eight lines of a warp, launch by launch further on; p->number: every other launch waits for each of them. */
static int further_on(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                      struct err *err)
{
    const struct hand_program *p = run;
    (void)err;
    bodies++;
    for (uint32_t i = 0; i < 8 && index == 0; i++)
        program_load(body, &p->alloc, 0, (launch * 64 + warp) * 1024 + i * 128, 4)->use = p->number && launch % 2;
    return index == 0;
}

typedef int body_of(void *run, uint32_t launch, uint64_t warp, uint32_t index, struct program_body *body,
                    struct err *err);

/* Eight launches on three multiprocessors, their weights known or not; how: what is asked besides. */
static struct told tell_eight(body_of *body, uint32_t number, bool known, struct host_reads how)
{
    struct hand_program p;
    struct program program = hand_program(&p, 20, 64, own_line);
    struct program_ops ops = *program.ops;
    struct gpu gpu;
    struct pcie pcie;
    struct platform *platform = chip(&gpu, &pcie);
    struct told told = {.n = 0};
    ops.body = body;
    program.ops = &ops;
    p.launches = 8;
    p.number = number;
    gpu.sms = 3;
    struct launch_weights *weights = known ? weigh(&program, 3) : NULL;
    how.gpu = &gpu;
    how.pcie = &pcie;
    how.program = &program;
    how.weights = weights;
    how.on_launch = tell;
    how.ctx = &told;
    bodies = 0;
    WORKS(host_reads_run(&how, &err));
    launch_weights_close(weights);
    platform_free(platform);
    return told;
}

static struct told tell_alike(uint32_t number, bool alike, double stop_ns, unsigned *asked)
{
    bool stopped = false;
    const struct host_reads how = {.stop_ns = stop_ns, .stopped = &stopped, .alike = alike};
    const struct told told = tell_eight(further_on, number, true, how);
    *asked = bodies;
    return told;
}

/* Launches that weigh the same: one of them, and one to see whether they are; all where they are not. */
START_TEST(of_launches_that_weigh_the_same_two_are_simulated)
{
    for (uint32_t number = 0; number < 2; number++) {
        unsigned whole, few;
        struct told want = tell_alike(number, false, 1e9, &whole), got = tell_alike(number, true, 1e9, &few);
        uint32_t taken = 0;
        double all = 0;
        for (uint32_t i = 0; i < 8; i++) {
            all += want.of[i].time_ns;
            taken += got.of[i].taken;
            got.of[i].taken = false;
            ck_assert_uint_eq(want.of[i].loads, 320);
            ck_assert_mem_eq(&got.of[i], &want.of[i], sizeof want.of[i]);
        }
        ck_assert_uint_eq(taken, number ? 0 : 6);
        ck_assert_uint_eq(few, whole * (number ? 10 : 2) / 8);
        ck_assert_uint_eq(tell_alike(number, true, all * 0.98, &few).n, 0);
        ck_assert_uint_eq(tell_alike(number, true, all * 1.02, &few).n, 8);
        ck_assert(number == 0 || want.of[1].time_ns > 2 * want.of[0].time_ns);
    }
}
END_TEST

/* ns of all */
static int sum(void *ctx, uint32_t number, const struct host_reads_count *count, struct err *err)
{
    (void)number;
    (void)err;
    *(double *)ctx += count->time_ns;
    return 0;
}

enum { MANY = 160 };

/* On a link whose latency is so many times as long; NULL: all launches run. Stopped: 0. */
static double took_again(struct host_reads_count *took, bool again, double latency, double stop_ns, bool alike)
{
    struct hand_program p;
    struct program program = hand_program(&p, 20, 64, own_line);
    struct program_ops ops = *program.ops;
    struct gpu gpu;
    struct pcie pcie;
    struct platform *platform = chip(&gpu, &pcie);
    double ns = 0;
    bool stopped = false;
    ops.body = more_turns;
    program.ops = &ops;
    p.launches = MANY;
    gpu.sms = 3;
    pcie.load_ns *= latency;
    struct launch_weights *weights = alike ? weigh(&program, 3) : NULL;
    const struct host_reads how = {.gpu = &gpu,
                                   .pcie = &pcie,
                                   .program = &program,
                                   .took = took,
                                   .again = again,
                                   .weights = weights,
                                   .alike = alike,
                                   .stop_ns = stop_ns,
                                   .stopped = &stopped,
                                   .on_launch = sum,
                                   .ctx = &ns};
    bodies = 0;
    WORKS(host_reads_run(&how, &err));
    launch_weights_close(weights);
    platform_free(platform);
    return ns;
}

/* Launches of 1 to 160 turns: from 64 on several are within 1/64. */
START_TEST(many_launches_that_weigh_nearly_the_same_take_what_their_middle_takes)
{
    const double want = took_again(NULL, false, 1, 1e9, false);
    const unsigned all = bodies;
    ck_assert_double_eq_tol(took_again(NULL, false, 1, 1e9, true), want, want * 0.002);
    ck_assert_msg(bodies > all / 8 && bodies < all * 2 / 5, "%u of %u", bodies, all); /* all: weighed, too */
}
END_TEST

/* Launches of 1 to 160 turns: four of them say what all take with other numbers; with the same numbers they change
 * nothing. */
START_TEST(launches_are_asked_again_by_four_of_them)
{
    static struct host_reads_count took[MANY];
    const double first = took_again(took, false, 1, 0, false);
    const unsigned all = bodies;
    ck_assert_double_eq_tol(took_again(took, true, 1, 0, false), first, first * 1e-12);
    ck_assert_uint_lt(bodies, all / 20);
    for (int i = 0; i < 2; i++) {
        const double latency = i ? 3 : 0.5, want = took_again(NULL, false, latency, 0, false);
        ck_assert(fabs(want / first - 1) > 0.3);
        ck_assert_double_eq_tol(took_again(took, true, latency, 0, false), want, want * 0.01);
        ck_assert(took_again(took, true, latency, want * 0.98, false) == 0 &&
                  took_again(took, true, latency, want * 1.02, false) > 0);
    }
    ck_assert_uint_eq(host_reads_again(MANY), 4);
    ck_assert_uint_eq(host_reads_again(127), 127);
}
END_TEST

static struct told tell_launches(int threads, double stop_ns, bool known, bool *stopped)
{
    const struct host_reads how = {.threads = threads, .stop_ns = stop_ns, .stopped = stopped};
    return tell_eight(more_turns, 0, known, how);
}

static int eight_lines(const struct hand_program *p, uint64_t warp, uint32_t index, struct program_body *body)
{
    if (index > 0)
        return 0;
    bodies++;
    struct program_access *a = program_load(body, &p->alloc, 0, warp * 4096, 4);
    a->turn_stride = 128;
    body->turns = 8;
    return 1;
}

static struct host_reads_count stop_sample(double stop_ns, bool *stopped)
{
    struct hand_program p;
    const struct program program = hand_program(&p, 6000, 64, eight_lines);
    struct host_reads_count count = {0};
    struct gpu gpu;
    struct pcie pcie;
    struct platform *platform = chip(&gpu, &pcie);
    const struct host_reads how = {.gpu = &gpu,
                                   .pcie = &pcie,
                                   .program = &program,
                                   .most_loads = 100,
                                   .stop_ns = stop_ns,
                                   .stopped = stopped,
                                   .on_launch = keep,
                                   .ctx = &count};
    p.alloc.bytes = UINT64_C(1) << 26;
    bodies = 0;
    WORKS(host_reads_run(&how, &err));
    platform_free(platform);
    return count;
}

/* By fewer warps than the sample has, all of which are weighed; what is not stopped is sampled as ever. */
START_TEST(one_multiprocessor_stops_a_launch_of_many_loads)
{
    bool stopped = false;
    const struct host_reads_count want = stop_sample(0, &stopped);
    const unsigned all = bodies;
    ck_assert_uint_eq(want.sampled, 4);
    const struct host_reads_count got = stop_sample(want.time_ns * 1.2, &stopped);
    ck_assert(!stopped);
    ck_assert_mem_eq(&got, &want, sizeof want);
    ck_assert_uint_gt(bodies, all);
    (void)stop_sample(want.time_ns * 0.8, &stopped);
    ck_assert(stopped);
    ck_assert_uint_lt(bodies + 200, all);
}
END_TEST

START_TEST(launches_on_several_threads_are_told_in_order_and_as_one_thread_has_them)
{
    struct told one = tell_launches(1, 0, false, NULL), three = tell_launches(3, 0, true, NULL);
    ck_assert_uint_eq(one.n, 8);
    ck_assert_mem_eq(&one, &three, sizeof one);
    for (uint32_t i = 0; i < 8; i++)
        ck_assert_uint_eq(one.of[i].loads, (i + 1) * 40);
}
END_TEST

/* A limit that the launches alone pass needs none of them: 222 cycles each for a load that is answered. */
START_TEST(launches_stop_where_they_have_taken_too_long_and_no_sooner)
{
    struct told whole = tell_launches(1, 0, false, NULL);
    double all = 0;
    for (uint32_t i = 0; i < whole.n; i++)
        all += whole.of[i].time_ns;
    for (int way = 0; way < 6; way++)
        for (int pct = 1; pct < 200; pct += 6) {
            const bool known = way / 3;
            bool stopped = false;
            struct told told = tell_launches(1 + way % 3, all * pct / 100, known, &stopped);
            ck_assert_int_eq(stopped, pct < 100);
            ck_assert_uint_eq(told.n, stopped ? 0 : whole.n);
            if (!stopped)
                ck_assert_mem_eq(&told, &whole, sizeof told);
            ck_assert_int_eq(bodies == 0, known && all * pct / 100 < 8 * 222 / 1.98);
        }
}
END_TEST

/* What a launch that is not through is counted with. */
START_TEST(a_launch_takes_itself_and_an_answer_at_least)
{
    struct gpu gpu;
    struct pcie pcie;
    struct platform *platform = chip(&gpu, &pcie);
    unsigned seen = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct program_random random;
        struct program program;
        struct told told = {.n = 0};
        program_random_init(&random, seed, &program);
        gpu.sms = 1 + (int64_t)(seed % 3);
        struct launch_weights *weights = weigh(&program, (uint32_t)gpu.sms);
        const struct host_reads how = {
            .gpu = &gpu, .pcie = &pcie, .program = &program, .weights = weights, .on_launch = tell, .ctx = &told};
        WORKS(host_reads_run(&how, &err));
        for (uint32_t i = 0; i < told.n; i++) {
            struct launch_weight weight;
            ck_assert(launch_weights_get(weights, i, (uint32_t)gpu.sms, random.allocs, &weight));
            if (!weight.lines)
                continue;
            ck_assert_msg(told.of[i].time_ns > (double)(gpu.l2_cycles - gpu.l1_cycles - 1) / 2,
                          "seed %u, launch %u: %g ns", (unsigned)seed, (unsigned)i, told.of[i].time_ns);
            seen++;
        }
        launch_weights_close(weights);
    }
    ck_assert_uint_gt(seen, 200);
    platform_free(platform);
}
END_TEST

/* Of a launch that is sampled, what it loads is as it was weighed: here each warp twice. */
START_TEST(weights_that_are_known_are_taken)
{
    struct hand_program p;
    struct program program = hand_program(&p, 4096, 64, own_line);
    struct host_reads_count count[2];
    struct gpu gpu;
    struct pcie pcie;
    struct program_body body;
    struct platform *platform = chip(&gpu, &pcie);
    struct launch_weights *weights = GIVES(launch_weights_open(&program, (uint32_t)gpu.sms, &err));
    struct launch_tally *t = GIVES(launch_weights_tally(weights, &err));
    launch_tally_begin(t, 2);
    for (uint64_t i = 0; i < 2 * UINT64_C(8192); i++) {
        for (uint32_t k = 0; k < 2; k++) {
            RETURNS(program_body(&program, &p, 0, i / 2, k, &body, &err), 1);
            launch_tally_body(t, i / 2, &body);
        }
        launch_tally_end(t, i / 2);
    }
    launch_weights_add(weights, 0, t);
    for (int known = 0; known < 2; known++) {
        const struct host_reads how = {.gpu = &gpu,
                                       .pcie = &pcie,
                                       .program = &program,
                                       .weights = known ? weights : NULL,
                                       .most_loads = 1000,
                                       .on_launch = keep,
                                       .ctx = &count[known]};
        WORKS(host_reads_run(&how, &err));
    }
    ck_assert_uint_eq(count[0].loads, 2 * 8192);
    ck_assert_uint_eq(count[1].loads, 2 * count[0].loads);
    launch_tally_free(t);
    launch_weights_close(weights);
    platform_free(platform);
}
END_TEST

TEST_MAIN("host_reads")
