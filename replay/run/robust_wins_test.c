#include "replay/run/robust.c"

#include <math.h>

#include "trace/base/testing.h"

enum { ANSWERS = 5, ROUNDS = 20000 };

static uint64_t state = 11;
static unsigned any(unsigned n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

/* Few different values, so that many are equal; every state; intervals. */
static struct robust_value any_value(void)
{
    if (any(4) == 0)
        return (struct robust_value){.state = (enum robust_state)(1 + any(3))};
    const double lo = 1 + any(6);
    return any(2) ? robust_point(lo) : robust_between(lo, lo + any(3));
}

/* a at its worst end, times 1 + the larger error, is still better than b at its best end. */
static bool surely_beats(const struct robust_question *q, const struct robust_value *v, size_t a, size_t b)
{
    const double room = 1 + (q->errors ? fmax(q->errors[a], q->errors[b]) : 0);
    if (v[a].state != ROBUST_STANDS || v[b].state != ROBUST_STANDS)
        return false;
    return q->more_is_better ? v[a].lo > room * v[b].hi : room * v[a].hi < v[b].lo;
}

/* Positive: a is the better estimate. */
static double lead(const struct robust_question *q, const struct robust_value *v, size_t a, size_t b)
{
    return (v[b].value - v[a].value) * (q->more_is_better ? -1 : 1);
}

START_TEST(what_nothing_beats_wins_and_the_first_of_the_best_is_best)
{
    static const double errors[ANSWERS] = {0, 0.25, 0, 0.5, 0.125};
    for (int round = 0; round < ROUNDS; round++) {
        const struct robust_question q = {
            .answers = 1 + any(ANSWERS), .errors = any(2) ? errors : NULL, .more_is_better = any(2)};
        struct robust_value v[ANSWERS];
        bool wins[ANSWERS];
        struct robust_here here = {.values = v, .wins = wins};
        for (size_t a = 0; a < q.answers; a++)
            v[a] = any_value();
        judge(&q, &here);
        size_t best = ROBUST_NONE;
        for (size_t b = q.answers; b-- > 0;) {
            bool beaten = v[b].state != ROBUST_STANDS;
            for (size_t a = 0; a < q.answers; a++)
                beaten |= surely_beats(&q, v, a, b);
            ck_assert(wins[b] == !beaten);
            if (!beaten && (best == ROBUST_NONE || lead(&q, v, b, best) >= 0))
                best = b;
        }
        ck_assert_uint_eq(here.best, best);
        for (size_t of = 0; of < q.answers; of++) {
            double least = NAN; /* the lead over the best of the others is the least over any */
            for (size_t a = 0; a < q.answers; a++)
                if (a != of && v[a].state == ROBUST_STANDS && v[of].state == ROBUST_STANDS)
                    least = fmin(least, q.more_is_better ? v[of].value / v[a].value : v[a].value / v[of].value);
            const double margin = margin_of(&q, &here, of);
            ck_assert(isnan(least) ? isnan(margin) : margin == least);
        }
        ck_assert(isnan(margin_of(&q, &here, ROBUST_NONE)));
    }
}
END_TEST

START_TEST(what_is_no_value_is_unbounded)
{
    static const double no[][2] = {{-1, 1}, {2, 1}, {NAN, 1}, {1, NAN}, {0, INFINITY}, {-INFINITY, 0}};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        ck_assert_int_eq(robust_between(no[i][0], no[i][1]).state, ROBUST_UNBOUNDED);
    for (double lo = 0; lo < 4; lo++)
        for (double hi = lo; hi < 4; hi++) {
            const struct robust_value v = robust_between(lo, hi);
            ck_assert(v.state == ROBUST_STANDS && v.lo == lo && v.hi == hi && v.value == (lo + hi) / 2);
        }
}
END_TEST

TEST_MAIN("robust_wins")
