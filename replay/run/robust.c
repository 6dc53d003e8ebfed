#include "replay/run/robust.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/base/param.h"

enum { THREADS_MAX = 256 };

/* All answers on one platform. */
struct robust_here {
    struct robust_value *values;
    bool *wins;
    size_t best;
};

/* --- who wins --- */

struct robust_value robust_point(double value)
{
    return robust_between(value, value);
}

struct robust_value robust_between(double lo, double hi)
{
    if (!isfinite(lo) || !isfinite(hi) || lo < 0 || hi < lo)
        return (struct robust_value){.state = ROBUST_UNBOUNDED};
    return (struct robust_value){ROBUST_STANDS, lo == hi ? lo : lo + (hi - lo) / 2, lo, hi};
}

static double error_of(const struct robust_question *q, size_t answer)
{
    return q->errors ? q->errors[answer] : 0;
}

static bool beats(const struct robust_question *q, const struct robust_value *values, size_t a, size_t b)
{
    if (values[a].state != ROBUST_STANDS)
        return false;
    double room = 1 + fmax(error_of(q, a), error_of(q, b));
    return q->more_is_better ? values[a].lo > values[b].hi * room : values[a].hi * room < values[b].lo;
}

static bool better(const struct robust_question *q, const struct robust_value *a, const struct robust_value *b)
{
    return q->more_is_better ? a->value > b->value : a->value < b->value;
}

/* Fill wins and best from the values. */
static void judge(const struct robust_question *q, struct robust_here *here)
{
    here->best = ROBUST_NONE;
    for (size_t b = 0; b < q->answers; b++) {
        bool wins = here->values[b].state == ROBUST_STANDS;
        for (size_t a = 0; a < q->answers && wins; a++)
            wins = !beats(q, here->values, a, b);
        here->wins[b] = wins;
        if (wins && (here->best == ROBUST_NONE || better(q, &here->values[b], &here->values[here->best])))
            here->best = b;
    }
}

/* How far answer `of` leads the best of the others: the ratio of their values; NAN if either does not stand. */
static double margin_of(const struct robust_question *q, const struct robust_here *here, size_t of)
{
    const struct robust_value *other = NULL, *v = here->values;
    for (size_t i = 0; i < q->answers; i++)
        if (i != of && v[i].state == ROBUST_STANDS && (!other || better(q, &v[i], other)))
            other = &v[i];
    if (of == ROBUST_NONE || !other || v[of].state != ROBUST_STANDS)
        return NAN;
    double margin = q->more_is_better ? v[of].value / other->value : other->value / v[of].value;
    return isfinite(margin) ? margin : NAN;
}

static void release(struct robust_here *here)
{
    free(here->values);
    free(here->wins);
    *here = (struct robust_here){0};
}

/* -1 with *err set: there is nothing to release. */
static int ask_on(struct robust_here *here, const struct robust_question *question, const struct platform *platform,
                  struct err *err)
{
    *here = (struct robust_here){.values = mem_zalloc(question->answers, sizeof *here->values, err)};
    here->wins = here->values ? mem_zalloc(question->answers, sizeof *here->wins, err) : NULL;
    if (!here->wins || question->answer(question->ctx, platform, here->values, err)) {
        release(here);
        return -1;
    }
    judge(question, here);
    return 0;
}

/* --- one number alone, from where it stands to either end of its range --- */

/* What moving one number does. */
struct robust_walked {
    struct robust_number number;
    struct robust_flip *flips; /* at most two for each answer; `number` is not set */
    size_t flip_count;
};

/* A bracket no wider than this share of the range is a crossing. */
static const double narrow = 1. / 256;

/* A place on the axis that was asked. */
struct place {
    double value;
    struct robust_here here;
};

struct walk {
    const struct robust_question *question;
    const struct platform_axis *axis;
    size_t index; /* of the axis */
    struct place *places;
    size_t count, cap;
};

static struct platform *moved_to(const struct walk *w, double share, struct err *err)
{
    return platform_moved(w->question->platform, w->index, share, err);
}

/* The answers at a share of the axis, looked up where its value has been asked before; *here stays the walk's. */
static int ask(struct walk *w, double share, struct robust_here *here, struct err *err)
{
    double value = platform_axis_at(w->axis, share);
    for (size_t i = 0; i < w->count; i++)
        if (w->places[i].value == value) {
            *here = w->places[i].here;
            return 0;
        }
    if (mem_grow((void **)&w->places, &w->cap, w->count + 1, sizeof *w->places, err))
        return -1;
    struct platform *moved = moved_to(w, share, err);
    struct place *place = &w->places[w->count];
    place->value = value;
    int rc = moved ? ask_on(&place->here, w->question, moved, err) : -1;
    platform_free(moved);
    if (rc) {
        char name[96];
        return err_at(err, "with %s = %.6g", platform_axis_name(w->axis, name, sizeof name), value);
    }
    w->count++;
    *here = place->here;
    return 0;
}

/* Between `from`, where the answer's winning is `before`, and `to`, where it is not: the nearest share known to differ.
 */
static int bisect(struct walk *w, size_t answer, bool before, double from, double *to, struct err *err)
{
    while (fabs(*to - from) > narrow) {
        struct robust_here here;
        double middle = (from + *to) / 2;
        if (ask(w, middle, &here, err))
            return -1;
        if (here.wins[answer] == before)
            from = middle;
        else
            *to = middle;
    }
    return 0;
}

/* The first name of a choice, from where it stands towards `end`, at which the answer's winning is not `before`. */
static int step(struct walk *w, size_t answer, bool before, double end, double *share, bool *found, struct err *err)
{
    double last = platform_axis_at(w->axis, end), by = last > w->axis->value ? 1 : -1;
    for (double value = w->axis->value; value != last && !*found;) {
        struct robust_here here;
        value += by;
        *share = platform_axis_share(w->axis, value);
        if (ask(w, *share, &here, err))
            return -1;
        *found = here.wins[answer] != before;
    }
    return 0;
}

/* Where one answer flips on the way to an end (share 0 or 1), if it does. */
static int flip(struct walk *w, struct robust_walked *walked, const struct robust_here *nominal, size_t answer,
                double end, struct err *err)
{
    struct robust_here here;
    bool before = nominal->wins[answer], found = false;
    double share = end;
    if (w->axis->row && w->axis->row->type == PARAM_CHOICE) {
        if (step(w, answer, before, end, &share, &found, err))
            return -1;
    } else if (ask(w, end, &here, err)) {
        return -1;
    } else if ((found = here.wins[answer] != before)) {
        if (bisect(w, answer, before, platform_axis_share(w->axis, w->axis->value), &share, err))
            return -1;
    }
    if (!found)
        return 0;
    if (ask(w, share, &here, err))
        return -1;
    walked->flips[walked->flip_count++] = (struct robust_flip){
        .answer = answer, .at = platform_axis_at(w->axis, share), .wins = here.wins[answer], .best = here.best};
    return 0;
}

static int walk_to(struct walk *w, struct robust_walked *walked, const struct robust_here *nominal, int end,
                   size_t best, struct err *err)
{
    struct robust_here here = *nominal;
    bool there = platform_axis_at(w->axis, end) == w->axis->value;
    if (!there && ask(w, end, &here, err))
        return -1;
    walked->number.margin[end] = margin_of(w->question, &here, best);
    walked->number.best[end] = here.best;
    for (size_t a = 0; a < w->question->answers && !there; a++)
        if (flip(w, walked, nominal, a, end, err))
            return -1;
    return 0;
}

/* Axis i of the platform, moved alone; nominal is where nothing is moved. */
static int walk_axis(struct robust_walked *walked, const struct robust_question *question, size_t i,
                     const struct robust_here *nominal, size_t nominal_best, struct err *err)
{
    struct walk w = {.question = question, .axis = &walked->number.axis, .index = i};
    *walked = (struct robust_walked){.flips = mem_zalloc(2 * question->answers, sizeof *walked->flips, err)};
    int rc = walked->flips ? 0 : -1;
    if (!rc && !platform_axis(question->platform, i, &walked->number.axis))
        rc = err_set(err, "there is no number %zu to move", i);
    for (int end = 0; end < 2 && !rc; end++)
        rc = walk_to(&w, walked, nominal, end, nominal_best, err);
    for (size_t p = 0; p < w.count; p++)
        release(&w.places[p].here);
    free(w.places);
    if (rc) {
        free(walked->flips);
        walked->flips = NULL;
    }
    return rc;
}

/* --- which numbers --- */

/* What the workers share: jobs are first the numbers, each on its own, then the draws. Each writes where no other does.
 */
struct work {
    const struct robust_question *question;
    struct robust_here nominal;
    size_t *axes; /* indices of platform_axis() */
    size_t axis_count, axis_cap;
    struct robust_walked *walked; /* one for each axis */
    struct robust_here *drawn;    /* one for each draw */
    size_t jobs;
    atomic_size_t next;
    pthread_mutex_t lock; /* of everything below */
    size_t failed;        /* the first job that failed; jobs: none */
    struct err err;
};

static bool in_use(const struct robust_question *question, const struct platform_axis *axis)
{
    for (size_t i = 0; question->sections && question->sections[i]; i++)
        if (strcmp(question->sections[i], axis->section) == 0)
            return true;
    return !question->sections;
}

static int find_axes(struct work *w, struct err *err)
{
    struct platform_axis axis;
    for (size_t i = 0; platform_axis(w->question->platform, i, &axis); i++) {
        if (!in_use(w->question, &axis))
            continue;
        if (mem_grow((void **)&w->axes, &w->axis_cap, w->axis_count + 1, sizeof *w->axes, err))
            return -1;
        w->axes[w->axis_count++] = i;
    }
    return 0;
}

size_t robust_calls(const struct robust_question *question)
{
    struct platform_axis axis;
    size_t calls = 1 + question->draws;
    for (size_t i = 0; platform_axis(question->platform, i, &axis); i++)
        if (in_use(question, &axis))
            calls += (size_t)(axis.value != axis.low) + (axis.value != axis.high);
    return calls;
}

/* --- the jobs --- */

static int draw(struct work *w, uint32_t at, struct err *err)
{
    const struct robust_question *q = w->question;
    struct platform *drawn = platform_draw(q->platform, q->seed, at, q->draws, err);
    int rc = drawn ? ask_on(&w->drawn[at], q, drawn, err) : -1;
    platform_free(drawn);
    return rc ? err_at(err, "draw %u of %u", at + 1, q->draws) : 0;
}

static void run_job(struct work *w, size_t job)
{
    struct err err = {""};
    int rc = job < w->axis_count
                 ? walk_axis(&w->walked[job], w->question, w->axes[job], &w->nominal, w->nominal.best, &err)
                 : draw(w, (uint32_t)(job - w->axis_count), &err);
    if (!rc)
        return;
    (void)pthread_mutex_lock(&w->lock);
    if (job < w->failed) {
        w->failed = job;
        w->err = err;
    }
    (void)pthread_mutex_unlock(&w->lock);
}

static void *worker(void *arg)
{
    struct work *w = arg;
    for (;;) {
        size_t job = atomic_fetch_add(&w->next, 1);
        (void)pthread_mutex_lock(&w->lock);
        bool stop = w->failed < job;
        (void)pthread_mutex_unlock(&w->lock);
        if (stop || job >= w->jobs)
            return NULL;
        run_job(w, job);
    }
}

static int run_all(struct work *w, struct err *err)
{
    pthread_t ids[THREADS_MAX];
    int started = 0, threads = w->question->threads > THREADS_MAX ? THREADS_MAX : w->question->threads;
    (void)pthread_mutex_init(&w->lock, NULL);
    while (started + 1 < threads && pthread_create(&ids[started], NULL, worker, w) == 0)
        started++;
    (void)worker(w);
    while (started-- > 0)
        (void)pthread_join(ids[started], NULL);
    (void)pthread_mutex_destroy(&w->lock);
    return w->failed < w->jobs ? err_set(err, "%s", w->err.msg) : 0;
}

/* --- what came of them --- */

static void count_wins(struct robust *robust, const struct robust_here *here)
{
    size_t winners = 0;
    for (size_t a = 0; a < robust->answers; a++)
        winners += here->wins[a];
    for (size_t a = 0; a < robust->answers; a++) {
        robust->wins[a] += here->wins[a];
        robust->ties[a] += here->wins[a] && winners > 1;
    }
    robust->none += winners == 0;
}

static int collect_flips(struct robust *robust, const struct work *w, struct err *err)
{
    size_t count = 0;
    for (size_t n = 0; n < w->axis_count; n++)
        count += w->walked[n].flip_count;
    robust->flips = mem_zalloc(count + 1, sizeof *robust->flips, err);
    if (!robust->flips)
        return -1;
    for (size_t a = 0; a < robust->answers; a++)
        for (size_t n = 0; n < w->axis_count; n++)
            for (size_t f = 0; f < w->walked[n].flip_count; f++)
                if (w->walked[n].flips[f].answer == a) {
                    robust->flips[robust->flip_count] = w->walked[n].flips[f];
                    robust->flips[robust->flip_count++].number = n;
                }
    return 0;
}

static int collect(struct robust *robust, const struct work *w, struct err *err)
{
    const struct robust_question *q = w->question;
    *robust = (struct robust){.draws = q->draws,
                              .seed = q->seed,
                              .answers = q->answers,
                              .best = w->nominal.best,
                              .margin = margin_of(q, &w->nominal, w->nominal.best),
                              .errors = mem_zalloc(q->answers, sizeof *robust->errors, err),
                              .wins = mem_zalloc(q->answers, sizeof *robust->wins, err),
                              .ties = mem_zalloc(q->answers, sizeof *robust->ties, err),
                              .nominal = mem_zalloc(q->answers, sizeof *robust->nominal, err),
                              .numbers = mem_zalloc(w->axis_count + 1, sizeof *robust->numbers, err),
                              .number_count = w->axis_count};
    if (!robust->errors || !robust->wins || !robust->ties || !robust->nominal || !robust->numbers ||
        collect_flips(robust, w, err)) {
        robust_release(robust);
        return -1;
    }
    for (size_t a = 0; a < q->answers && q->errors; a++)
        robust->errors[a] = q->errors[a];
    memcpy(robust->nominal, w->nominal.wins, q->answers * sizeof *robust->nominal);
    for (uint32_t at = 0; at < q->draws; at++)
        count_wins(robust, &w->drawn[at]);
    for (size_t n = 0; n < w->axis_count; n++)
        robust->numbers[n] = w->walked[n].number;
    return 0;
}

static void work_release(struct work *w)
{
    release(&w->nominal);
    for (size_t n = 0; w->walked && n < w->axis_count; n++)
        free(w->walked[n].flips);
    for (uint32_t at = 0; w->drawn && at < w->question->draws; at++)
        release(&w->drawn[at]);
    free(w->walked);
    free(w->drawn);
    free(w->axes);
}

int robust_run(struct robust *robust, const struct robust_question *question, struct err *err)
{
    struct work w = {.question = question};
    *robust = (struct robust){0};
    if (question->answers == 0)
        return err_set(err, "there are no answers to compare");
    int rc = find_axes(&w, err) || ask_on(&w.nominal, question, question->platform, err) ? -1 : 0;
    w.jobs = w.failed = w.axis_count + question->draws;
    if (!rc)
        w.walked = mem_zalloc(w.axis_count + 1, sizeof *w.walked, err);
    if (!rc && w.walked)
        w.drawn = mem_zalloc((size_t)question->draws + 1, sizeof *w.drawn, err);
    if (!w.drawn)
        rc = -1;
    if (!rc)
        rc = run_all(&w, err) || collect(robust, &w, err) ? -1 : 0;
    work_release(&w);
    return rc;
}

void robust_release(struct robust *robust)
{
    free(robust->errors);
    free(robust->wins);
    free(robust->ties);
    free(robust->nominal);
    free(robust->numbers);
    free(robust->flips);
    *robust = (struct robust){0};
}

bool robust_holds(const struct robust *robust, size_t answer)
{
    bool holds = robust->nominal[answer] && robust->wins[answer] == robust->draws;
    for (size_t f = 0; f < robust->flip_count; f++)
        holds &= robust->flips[f].answer != answer;
    return holds;
}
