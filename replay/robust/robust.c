#include "replay/robust/robust.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "replay/robust/robust_inside.h"
#include "trace/base/mem.h"

enum { THREADS_MAX = 256 };

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

int robust_ask(struct robust_here *here, const struct robust_question *question, const struct platform *platform,
               struct err *err)
{
    *here = (struct robust_here){.values = mem_zalloc(question->answers, sizeof *here->values, err)};
    here->wins = here->values ? mem_zalloc(question->answers, sizeof *here->wins, err) : NULL;
    if (!here->wins || question->answer(question->ctx, platform, here->values, err)) {
        robust_here_release(here);
        return -1;
    }
    robust_judge(question, here);
    return 0;
}

void robust_here_release(struct robust_here *here)
{
    free(here->values);
    free(here->wins);
    *here = (struct robust_here){0};
}

/* --- which numbers --- */

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
    int rc = drawn ? robust_ask(&w->drawn[at], q, drawn, err) : -1;
    platform_free(drawn);
    return rc ? err_at(err, "draw %u of %u", at + 1, q->draws) : 0;
}

static void run_job(struct work *w, size_t job)
{
    struct err err = {""};
    int rc = job < w->axis_count
                 ? robust_walk(&w->walked[job], w->question, w->axes[job], &w->nominal, w->nominal.best, &err)
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
                              .margin = robust_margin(q, &w->nominal, w->nominal.best),
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
    robust_here_release(&w->nominal);
    for (size_t n = 0; w->walked && n < w->axis_count; n++)
        free(w->walked[n].flips);
    for (uint32_t at = 0; w->drawn && at < w->question->draws; at++)
        robust_here_release(&w->drawn[at]);
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
    int rc = find_axes(&w, err) || robust_ask(&w.nominal, question, question->platform, err) ? -1 : 0;
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
