#include "replay/run/robust.h"

#include <math.h>
#include <pthread.h>

#include "models/gpu/gpu.h"
#include "models/uvm/uvm_platform.h"
#include "trace/base/testing.h"

static const char wide[] = "[platform]\nname = wide\n[gpu]\nsms = 80 | sheet\n"
                           "memory_ns = 100 | assumed 10..1000: log\ndependent_cycles = 4 | fitted 2..6: linear\n"
                           "[uvm]\nas = titanv | 0.25..4: another host\nutlbs = 30 | assumed 20..40: whole\n";
static const char narrow[] = "[platform]\nname = narrow\n[gpu]\nsms = 80 | sheet\n"
                             "memory_ns = 100 | assumed 100..100: no width\ndependent_cycles = 4 | fitted 4..4: none\n";

enum model { MEMORY, CYCLES, UTLBS, FACTOR, CHOICE, STARVED, FAILS };

/* Two answers: one moves with a number of the platform, the other is `other`. */
struct asked {
    enum model model;
    double other;
    pthread_mutex_t lock;
    double seen[4096];
    size_t count;
};

static double moving(const struct asked *asked, const struct platform *platform)
{
    const struct gpu *gpu = platform_section_get(platform, "gpu");
    const struct uvm_platform *uvm = platform_section_get(platform, "uvm");
    switch (asked->model) {
    case CYCLES:
        return gpu->dependent_cycles;
    case UTLBS:
        return (double)uvm->utlbs;
    case FACTOR:
        return platform_borrowed(platform, "uvm")->low < platform_borrowed(platform, "uvm")->high
                   ? 1
                   : platform_borrowed(platform, "uvm")->low;
    case CHOICE:
        return uvm->utlb == UVM_UTLB_FREE ? 1 : 3;
    default:
        return gpu->memory_ns;
    }
}

static int answer(void *ctx, const struct platform *platform, struct robust_value *values, struct err *err)
{
    struct asked *asked = ctx;
    double value = moving(asked, platform);
    (void)pthread_mutex_lock(&asked->lock);
    if (asked->count < sizeof asked->seen / sizeof *asked->seen)
        asked->seen[asked->count++] = value;
    (void)pthread_mutex_unlock(&asked->lock);
    if (asked->model == FAILS && value > 500)
        return err_set(err, "the model breaks");
    values[0] = robust_point(value);
    values[1] = robust_point(asked->other);
    if (asked->model == STARVED)
        values[0].state = ROBUST_STARVED;
    return 0;
}

static struct platform *load(const char *text)
{
    struct err err = {""};
    struct platform *p = strchr(text, '\n') ? platform_load(testing_write("x.ini", text, strlen(text)), &err)
                                            : platform_load(text, &err);
    ck_assert_msg(p != NULL, "%s", err.msg);
    return p;
}

static const char *const gpu_only[] = {"gpu", NULL}, *const uvm_only[] = {"uvm", NULL};

/* The question of one model; runs it. */
struct trial {
    struct asked asked;
    struct platform *platform;
    struct robust_question question;
    double errors[2];
    struct robust robust;
};

static void setup(struct trial *t, const char *text, enum model model, double other)
{
    *t = (struct trial){.asked = {.model = model, .other = other, .lock = PTHREAD_MUTEX_INITIALIZER},
                        .platform = load(text)};
    t->question =
        (struct robust_question){.platform = t->platform,
                                 .sections = model == UTLBS || model == FACTOR || model == CHOICE ? uvm_only : gpu_only,
                                 .answers = 2,
                                 .errors = t->errors,
                                 .answer = answer,
                                 .ctx = &t->asked,
                                 .draws = 64,
                                 .seed = 1,
                                 .threads = 2};
}

static void run(struct trial *t)
{
    WORKS(robust_run(&t->robust, &t->question, &err));
}

static void teardown(struct trial *t)
{
    robust_release(&t->robust);
    platform_free(t->platform);
}

/* The flip of an answer by the number called so; NULL: none. */
static const struct robust_flip *flip_of(const struct robust *r, size_t who, const char *number)
{
    for (size_t f = 0; f < r->flip_count; f++) {
        char name[96];
        platform_axis_name(&r->numbers[r->flips[f].number].axis, name, sizeof name);
        if (r->flips[f].answer == who && strcmp(name, number) == 0)
            return &r->flips[f];
    }
    return NULL;
}

START_TEST(without_width_every_draw_is_the_nominal_one)
{
    struct trial t;
    setup(&t, narrow, MEMORY, 120);
    run(&t);
    ck_assert_uint_ge(t.asked.count, 65);
    for (size_t i = 0; i < t.asked.count; i++)
        ck_assert_double_eq(t.asked.seen[i], 100);
    ck_assert_uint_eq(t.robust.wins[0], 64);
    ck_assert_uint_eq(t.robust.wins[1], 0);
    ck_assert_uint_eq(t.robust.flip_count, 0);
    ck_assert(robust_holds(&t.robust, 0) && !robust_holds(&t.robust, 1));
    for (size_t n = 0; n < t.robust.number_count; n++)
        ck_assert_double_eq(t.robust.numbers[n].margin[0], 1.2);
    teardown(&t);
}
END_TEST

START_TEST(draws_stay_in_range_and_hit_each_stratum_once)
{
    static const uint32_t sizes[] = {1, 5, 64, 100};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct trial t;
        unsigned hit[100] = {0};
        setup(&t, wide, MEMORY, 0);
        t.question.sections = (const char *const[]){NULL}; /* no number alone: the nominal answer, then the draws */
        t.question.draws = sizes[s];
        run(&t);
        ck_assert_uint_eq(t.asked.count, 1 + sizes[s]);
        ck_assert_double_eq(t.asked.seen[0], 100);
        for (size_t i = 1; i < t.asked.count; i++) {
            ck_assert(t.asked.seen[i] >= 10 && t.asked.seen[i] <= 1000);
            hit[(size_t)(log(t.asked.seen[i] / 10) / log(100) * sizes[s])]++;
        }
        for (uint32_t k = 0; k < sizes[s]; k++)
            ck_assert_uint_eq(hit[k], 1);
        teardown(&t);
    }
}
END_TEST

/* A time that is the number itself, against a constant: it wins below it. */
START_TEST(wins_are_the_share_of_the_range_below_the_crossing)
{
    static const double crossings[] = {15, 50, 99, 101, 333, 900};
    for (size_t c = 0; c < sizeof crossings / sizeof *crossings; c++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            struct trial t;
            setup(&t, wide, MEMORY, crossings[c]);
            t.question.seed = seed;
            run(&t);
            double share = log(crossings[c] / 10) / log(100);
            ck_assert_msg(fabs(t.robust.wins[0] - 64 * share) <= 1, "%u of 64 for %g", t.robust.wins[0], share);
            ck_assert_uint_eq(t.robust.wins[0] + t.robust.wins[1], 64);
            for (size_t who = 0; who < 2; who++) {
                const struct robust_flip *f = flip_of(&t.robust, who, "gpu.memory_ns");
                ck_assert(f && f->best == (crossings[c] > 100 ? 1 : 0));
                ck_assert_msg(fabs(log(f->at / crossings[c])) / log(100) <= 1. / 256, "flips at %g, not %g", f->at,
                              crossings[c]);
                ck_assert(f->wins == ((who == 0) == (f->at <= crossings[c])) && f->wins != t.robust.nominal[who]);
            }
            ck_assert_ptr_null(flip_of(&t.robust, 0, "gpu.dependent_cycles"));
            ck_assert(!robust_holds(&t.robust, 0));
            teardown(&t);
        }
}
END_TEST

/* Linear below a factor of four, and only the end on whose side the crossing lies. */
START_TEST(a_narrow_range_is_crossed_evenly)
{
    struct trial t;
    setup(&t, wide, CYCLES, 5);
    run(&t);
    const struct robust_flip *f = flip_of(&t.robust, 0, "gpu.dependent_cycles");
    ck_assert(f && f->at >= 5 && f->at <= 5 + 4. / 256 && !f->wins);
    ck_assert_msg(fabs(t.robust.wins[0] - 48.) <= 1, "%u", t.robust.wins[0]);
    ck_assert_uint_eq(t.robust.flip_count, 2);
    teardown(&t);
}
END_TEST

START_TEST(differences_within_the_error_are_ties)
{
    struct trial t;
    setup(&t, wide, MEMORY, 100);
    t.errors[0] = 0.1;
    t.errors[1] = 0.5;
    run(&t);
    ck_assert(t.robust.nominal[0] && t.robust.nominal[1]);
    double slower = (log(100 * 1.5 / 10)) / log(100), faster = 1 - log(100 / 1.5 / 10) / log(100);
    ck_assert(fabs(t.robust.wins[0] - 64 * slower) <= 1 && fabs(t.robust.wins[1] - 64 * faster) <= 1);
    ck_assert_uint_eq(t.robust.ties[0], t.robust.ties[1]);
    ck_assert_uint_eq(t.robust.wins[0] + t.robust.wins[1] - t.robust.ties[0], 64);
    const struct robust_flip *f = flip_of(&t.robust, 0, "gpu.memory_ns");
    ck_assert(f && f->at >= 150 && f->at <= 150 * pow(100, 1. / 256) && !f->wins && f->best == 1);
    teardown(&t);
}
END_TEST

START_TEST(more_may_be_better)
{
    struct trial t;
    setup(&t, wide, MEMORY, 500);
    t.question.more_is_better = true;
    run(&t);
    double share = 1 - log(500 / 10.) / log(100);
    ck_assert(!t.robust.nominal[0] && t.robust.best == 1);
    ck_assert_msg(fabs(t.robust.wins[0] - 64 * share) <= 1, "%u", t.robust.wins[0]);
    ck_assert_double_eq(t.robust.margin, 5);
    teardown(&t);
}
END_TEST

START_TEST(whole_numbers_choices_and_sections_flip)
{
    struct trial t;
    setup(&t, wide, UTLBS, 32.5);
    run(&t);
    const struct robust_flip *f = flip_of(&t.robust, 0, "uvm.utlbs");
    ck_assert(f && f->at == 33);
    teardown(&t);

    setup(&t, "titanv", CHOICE, 2);
    run(&t);
    f = flip_of(&t.robust, 0, "uvm.utlb");
    ck_assert(f && f->at == UVM_UTLB_BLOCKED && !f->wins && t.robust.wins[0] == 32);
    ck_assert_uint_eq(t.robust.flip_count, 2);
    teardown(&t);

    setup(&t, wide, FACTOR, 2);
    run(&t);
    f = flip_of(&t.robust, 0, "uvm.as");
    ck_assert_msg(f && f->at >= 2 && f->at <= 2 * pow(16, 1.01 / 256), "flips at %.17g", f ? f->at : 0);
    ck_assert_uint_eq(t.robust.wins[0], 48);
    teardown(&t);
}
END_TEST

START_TEST(what_does_not_stand_never_wins)
{
    struct trial t;
    setup(&t, wide, STARVED, 1e9);
    run(&t);
    ck_assert_uint_eq(t.robust.wins[0], 0);
    ck_assert_uint_eq(t.robust.wins[1], 64);
    ck_assert(isnan(t.robust.margin) && t.robust.best == 1);
    teardown(&t);

    setup(&t, wide, STARVED, INFINITY);
    run(&t);
    ck_assert_uint_eq(t.robust.wins[0] + t.robust.wins[1], 0);
    ck_assert_uint_eq(t.robust.none, 64);
    ck_assert(t.robust.best == ROBUST_NONE && !robust_holds(&t.robust, 0));
    teardown(&t);
}
END_TEST

/* An interval wins until something else is better than its best end. */
static int intervals(void *ctx, const struct platform *platform, struct robust_value *values, struct err *err)
{
    (void)ctx, (void)platform, (void)err;
    values[0] = robust_between(50, 150);
    values[1] = robust_point(90);
    values[2] = robust_point(149);
    values[3] = robust_between(151, 1000);
    return 0;
}

START_TEST(intervals_that_overlap_tie)
{
    struct trial t;
    setup(&t, wide, MEMORY, 0);
    t.question.answers = 4;
    t.question.errors = NULL;
    t.question.answer = intervals;
    run(&t);
    static const bool wins[] = {true, true, false, false};
    for (size_t a = 0; a < 4; a++)
        ck_assert_msg(t.robust.nominal[a] == wins[a] && t.robust.wins[a] == (wins[a] ? 64 : 0), "answer %zu", a);
    ck_assert_uint_eq(t.robust.ties[1], 64);
    ck_assert_uint_eq(t.robust.ties[2], 0);
    teardown(&t);
    struct robust_value a = robust_between(50, 150), b = robust_between(90, 190);
    ck_assert(!robust_beats(&a, &b, 0.06, false));
    a.common = 100; /* of the width, the other has 80 of it: 50 to 70 beside 90 to 110 */
    b.common = 80;
    ck_assert(robust_beats(&a, &b, 0.06, false) && !robust_beats(&b, &a, 0.06, false));
    ck_assert(robust_beats(&b, &a, 0.06, true));
    ck_assert_int_eq(robust_between(1, INFINITY).state, ROBUST_UNBOUNDED);
    ck_assert_int_eq(robust_point(NAN).state, ROBUST_UNBOUNDED);
}
END_TEST

static void same(const struct robust *a, const struct robust *b)
{
    ck_assert_uint_eq(a->number_count, b->number_count);
    ck_assert_uint_eq(a->flip_count, b->flip_count);
    ck_assert_mem_eq(a->wins, b->wins, a->answers * sizeof *a->wins);
    for (size_t n = 0; n < a->number_count; n++)
        ck_assert_mem_eq(a->numbers[n].margin, b->numbers[n].margin, sizeof a->numbers[n].margin);
    for (size_t f = 0; f < a->flip_count; f++)
        ck_assert(a->flips[f].at == b->flips[f].at && a->flips[f].number == b->flips[f].number &&
                  a->flips[f].answer == b->flips[f].answer);
}

START_TEST(the_number_of_threads_changes_nothing)
{
    struct trial one, many, other;
    setup(&one, wide, MEMORY, 130);
    setup(&many, wide, MEMORY, 130);
    setup(&other, wide, MEMORY, 130);
    one.question.draws = many.question.draws = other.question.draws = 37;
    one.question.threads = 1;
    many.question.threads = 7;
    other.question.seed = 2;
    run(&one);
    run(&many);
    run(&other);
    same(&one.robust, &many.robust);
    double sum[3] = {0};
    const struct trial *trials[] = {&one, &many, &other};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < trials[i]->asked.count; k++)
            sum[i] += trials[i]->asked.seen[k];
    ck_assert_double_eq_tol(sum[0], sum[1], 1e-6);
    ck_assert(fabs(sum[0] - sum[2]) > 1e-3);
    ck_assert_uint_ge(one.asked.count, robust_calls(&one.question));
    teardown(&one);
    teardown(&many);
    teardown(&other);
}
END_TEST

START_TEST(a_failure_says_where)
{
    struct trial t;
    struct err err = {""};
    setup(&t, wide, FAILS, 130);
    ck_assert_int_eq(robust_run(&t.robust, &t.question, &err), -1);
    ck_assert_pstr_eq(err.msg, "with gpu.memory_ns = 1000: the model breaks");
    t.question.sections = (const char *const[]){NULL};
    t.question.threads = 1;
    ck_assert_int_eq(robust_run(&t.robust, &t.question, &err), -1);
    ck_assert_msg(strncmp(err.msg, "draw ", 5) == 0 && strstr(err.msg, " of 64: the model breaks"), "%s", err.msg);
    struct err again = err;
    t.question.threads = 7;
    for (int i = 0; i < 20; i++) { /* the first draw that fails, whichever fails first */
        ck_assert_int_eq(robust_run(&t.robust, &t.question, &again), -1);
        ck_assert_str_eq(again.msg, err.msg);
    }
    t.question.answers = 0;
    ck_assert_int_eq(robust_run(&t.robust, &t.question, &err), -1);
    teardown(&t);
}
END_TEST

/* Numbers that all flip an answer, a choice of three names with it; fails at one call. */
struct brittle {
    size_t calls, fails_at;
};

static int brittle(void *ctx, const struct platform *platform, struct robust_value *values, struct err *err)
{
    struct brittle *b = ctx;
    const struct gpu *gpu = platform_section_get(platform, "gpu");
    if (++b->calls == b->fails_at)
        return err_set(err, "call %zu breaks", b->calls);
    values[0] = robust_point(gpu->memory_ns + 10 * gpu->dependent_cycles + 8 * (double)gpu->l1_allocate);
    values[1] = robust_point(150);
    return 0;
}

START_TEST(a_failure_at_any_call_is_told)
{
    static const char text[] = "[platform]\nname = three\n[gpu]\nsms = 80 | sheet\n"
                               "memory_ns = 100 | assumed 10..1000: log\ndependent_cycles = 4 | fitted 2..6: linear\n"
                               "l1_allocate = fill | assumed fill..tag: three\n";
    struct trial t;
    struct brittle b = {0};
    setup(&t, text, MEMORY, 0);
    t.question.answer = brittle;
    t.question.ctx = &b;
    t.question.draws = 5;
    t.question.threads = 1;
    run(&t);
    const struct robust_flip *f = flip_of(&t.robust, 0, "gpu.l1_allocate");
    ck_assert(f && f->at == 2 && !f->wins && f->best == 1);
    const size_t calls = b.calls;
    ck_assert_uint_gt(calls, robust_calls(&t.question)); /* ends, draws, and what lies between */
    robust_release(&t.robust);
    for (size_t at = 1; at <= calls; at++) {
        b = (struct brittle){.fails_at = at};
        FAILS_WITH(robust_run(&t.robust, &t.question, &err), testing_text("call %zu breaks", at));
        ck_assert_uint_eq(b.calls, at);
    }
    teardown(&t);
}
END_TEST

TEST_MAIN("robust")
