#include "replay/run/robust.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/run/measured.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"
#include "trace/base/param.h"
#include "trace/base/thread_pool.h"

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
    return (struct robust_value){ROBUST_STANDS, lo == hi ? lo : lo + (hi - lo) / 2, lo, hi, 0};
}

struct robust_value robust_metric(const struct metric_value *v)
{
    if (!v->known && !v->interval)
        return (struct robust_value){.state = v->lower_bound ? ROBUST_BEATEN : ROBUST_REFUSED};
    if (v->unbound)
        return (struct robust_value){.state = ROBUST_UNBOUNDED};
    struct robust_value value = v->interval ? robust_between(v->lo, v->hi) : robust_point(v->real);
    if (v->known && value.state == ROBUST_STANDS && value.lo <= v->real && v->real <= value.hi)
        value.value = v->real;
    return value;
}

static double error_of(const struct robust_question *q, size_t answer)
{
    return q->errors ? q->errors[answer] : 0;
}

bool robust_beats(const struct robust_value *a, const struct robust_value *b, double error, bool more_is_better)
{
    if (a->state != ROBUST_STANDS)
        return false;
    const double common = fmin(a->common, b->common);
    return more_is_better ? a->lo > (b->hi - common) * (1 + error) : (a->hi - common) * (1 + error) < b->lo;
}

static bool beats(const struct robust_question *q, const struct robust_value *values, size_t a, size_t b)
{
    return robust_beats(&values[a], &values[b], fmax(error_of(q, a), error_of(q, b)), q->more_is_better);
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

/* Lead of answer `of` over the best other, as a ratio of their values; NAN if either has none. */
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

/* --- one number alone, to either end of its range --- */

/* Effect of moving one number. */
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
    struct platform *moved = platform_moved(w->question->platform, w->index, share, err);
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

/* Between `from`, where the answer's winning is `before`, and `to`, where it is not: the nearest share that differs. */
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
                   struct err *err)
{
    struct robust_here here = *nominal;
    bool there = platform_axis_at(w->axis, end) == w->axis->value;
    if (!there && ask(w, end, &here, err))
        return -1;
    walked->number.margin[end] = margin_of(w->question, &here, nominal->best);
    walked->number.best[end] = here.best;
    for (size_t a = 0; a < w->question->answers && !there; a++)
        if (flip(w, walked, nominal, a, end, err))
            return -1;
    return 0;
}

/* Axis i of the platform, moved alone; nominal is where nothing is moved. */
static int walk_axis(struct robust_walked *walked, const struct robust_question *question, size_t i,
                     const struct robust_here *nominal, struct err *err)
{
    struct walk w = {.question = question, .axis = &walked->number.axis, .index = i};
    *walked = (struct robust_walked){.flips = mem_zalloc(2 * question->answers, sizeof *walked->flips, err)};
    int rc = walked->flips ? 0 : -1;
    if (!rc && !platform_axis(question->platform, i, &walked->number.axis))
        rc = err_set(err, "there is no number %zu to move", i);
    for (int end = 0; end < 2 && !rc; end++)
        rc = walk_to(&w, walked, nominal, end, err);
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

/* Jobs are first the numbers, each on its own, then the draws. Each writes where no other does. */
struct work {
    const struct robust_question *question;
    struct robust_here nominal;
    size_t *axes; /* indices of platform_axis() */
    size_t axis_count, axis_cap;
    struct robust_walked *walked; /* one for each axis */
    struct robust_here *drawn;    /* one for each draw */
    size_t jobs;
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
    for (size_t i = 0; platform_axis(w->question->platform, i, &axis); i++)
        if (in_use(w->question, &axis) && MEM_ADD(w->axes, w->axis_count, w->axis_cap, err, i))
            return -1;
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

/* Nothing more is begun behind a job that failed. */
static void run_job(void *ctx, size_t job)
{
    struct work *w = ctx;
    struct err err = {""};
    (void)pthread_mutex_lock(&w->lock);
    bool stop = w->failed < job;
    (void)pthread_mutex_unlock(&w->lock);
    if (stop || !(job < w->axis_count ? walk_axis(&w->walked[job], w->question, w->axes[job], &w->nominal, &err)
                                      : draw(w, (uint32_t)(job - w->axis_count), &err)))
        return;
    (void)pthread_mutex_lock(&w->lock);
    if (job < w->failed) {
        w->failed = job;
        w->err = err;
    }
    (void)pthread_mutex_unlock(&w->lock);
}

static int run_all(struct work *w, struct err *err)
{
    const int most = w->jobs < INT_MAX ? (int)w->jobs : INT_MAX, threads = w->question->threads;
    struct thread_pool *pool = thread_pool_open(threads < most ? threads : most);
    (void)pthread_mutex_init(&w->lock, NULL);
    thread_pool_run(pool, w->jobs, run_job, w);
    (void)pthread_mutex_destroy(&w->lock);
    thread_pool_close(pool);
    return w->failed < w->jobs ? err_set(err, "%s", w->err.msg) : 0;
}

/* --- results --- */

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

const char *robust_at(const struct platform_axis *axis, double value, char *buf, size_t size)
{
    if (axis->row && axis->row->type == PARAM_CHOICE)
        return param_choice(axis->row, llround(value), buf, size);
    bool whole = axis->row && axis->row->type != PARAM_REAL;
    (void)snprintf(buf, size, whole ? "%.0f" : "%.6g", value);
    return buf;
}

static void append_flips(const struct robust *r, size_t answer, const char *between, char *buf, size_t size)
{
    size_t said = 0;
    for (size_t f = 0; f < r->flip_count; f++) {
        char name[96], at[64];
        const struct platform_axis *axis = &r->numbers[r->flips[f].number].axis;
        if (r->flips[f].answer == answer)
            (void)mem_add_text(buf, size, "%s%s=%s", said++ ? between : "", platform_axis_name(axis, name, sizeof name),
                               robust_at(axis, r->flips[f].at, at, sizeof at));
    }
}

const char *robust_say_flips(const struct robust *robust, size_t answer, char *buf, size_t size)
{
    buf[0] = 0;
    append_flips(robust, answer, "; ", buf, size);
    return buf;
}

const char *robust_say(const struct robust *r, size_t answer, char *buf, size_t size)
{
    bool nominal = r->nominal[answer], holds = robust_holds(r, answer);
    char flips[64] = "", ties[40] = "";
    (void)robust_say_flips(r, answer, flips, sizeof flips);
    if (r->ties[answer])
        (void)snprintf(ties, sizeof ties, " (%u of them tied)", r->ties[answer]);
    (void)snprintf(buf, size, "%swins in %u of %u draws%s%s%s",
                   holds     ? "robust: "
                   : nominal ? "not robust: "
                             : "",
                   r->wins[answer], r->draws, ties, holds ? ", and no number alone changes that" : "",
                   !*flips   ? ""
                   : nominal ? "; flips when "
                             : "; would win when ");
    append_flips(r, answer, ", ", buf, size);
    return buf;
}

/* --- JSON --- */

static json_t *at_json(const struct platform_axis *axis, double value)
{
    char name[64];
    if (axis->row && axis->row->type == PARAM_CHOICE)
        return json_string(param_choice(axis->row, llround(value), name, sizeof name));
    return axis->row && axis->row->type != PARAM_REAL ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *name_json(const char *const *names, size_t answer)
{
    return answer == ROBUST_NONE ? json_null() : json_tree_text(names[answer]);
}

static json_t *flip_json(const struct robust *r, const struct robust_flip *flip, const char *const *names)
{
    const struct platform_axis *axis = &r->numbers[flip->number].axis;
    char name[96];
    return json_pack("{s:s,s:o,s:b,s:o}", "number", platform_axis_name(axis, name, sizeof name), "at",
                     at_json(axis, flip->at), "wins", flip->wins, "best", name_json(names, flip->best));
}

json_t *robust_answer_json(const struct robust *r, size_t answer, const char *const *names)
{
    json_t *flips = json_array();
    for (size_t f = 0; f < r->flip_count; f++)
        if (r->flips[f].answer == answer)
            json_tree_add(&flips, flip_json(r, &r->flips[f], names));
    return json_pack("{s:I,s:I,s:I,s:b,s:o}", "draws", (json_int_t)r->draws, "wins", (json_int_t)r->wins[answer],
                     "ties", (json_int_t)r->ties[answer], "nominal", r->nominal[answer], "flips", flips);
}

void robust_put_wins(const struct robust *r, size_t answer, json_t **metrics)
{
    json_tree_put(metrics, "robust_draws", json_integer((json_int_t)r->draws));
    json_tree_put(metrics, "robust_wins", json_integer((json_int_t)r->wins[answer]));
    json_tree_put(metrics, "robust_ties", json_integer((json_int_t)r->ties[answer]));
}

static json_t *number_json(const struct robust_number *n, const char *const *names)
{
    char name[96];
    const struct platform_axis *axis = &n->axis;
    return json_pack("{s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "number", platform_axis_name(axis, name, sizeof name),
                     "unit", axis->row ? axis->row->unit : "factor", "kind", platform_kind_name(axis->kind), "low",
                     at_json(axis, axis->low), "high", at_json(axis, axis->high), "value", at_json(axis, axis->value),
                     "low_margin", json_tree_real(n->margin[0]), "high_margin", json_tree_real(n->margin[1]),
                     "low_best", name_json(names, n->best[0]), "high_best", name_json(names, n->best[1]));
}

json_t *robust_json(const struct robust *r, const char *const *names)
{
    json_t *answers = json_array(), *numbers = json_array(), *wins = json_array(), *ties = json_array(),
           *errors = json_array();
    for (size_t a = 0; a < r->answers; a++) {
        json_tree_add(&answers, json_tree_text(names[a]));
        json_tree_add(&wins, json_integer((json_int_t)r->wins[a]));
        json_tree_add(&errors, json_real(r->errors[a]));
        json_tree_add(&ties, json_integer((json_int_t)r->ties[a]));
    }
    for (size_t n = 0; n < r->number_count; n++)
        json_tree_add(&numbers, number_json(&r->numbers[n], names));
    return json_pack("{s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:o}", "draws", (json_int_t)r->draws, "seed",
                     (json_int_t)r->seed, "answers", answers, "wins", wins, "ties", ties, "ties_within", errors, "best",
                     name_json(names, r->best), "margin", json_tree_real(r->margin), "unanswered", (json_int_t)r->none,
                     "numbers", numbers);
}

const struct metric replay_robust_metrics[] = {
    {"robust_draws", METRIC_INT, METRIC_SUM, "draws of unknown platform numbers (--robust)"},
    {"robust_wins", METRIC_INT, METRIC_SUM,
     "of them, those in which no other policy is better beyond the model's error"},
    {"robust_ties", METRIC_INT, METRIC_SUM, "of these, those in which another policy wins too"},
    {0}};

/* Inputs that are opened once more, for one answer at a time. */
struct opened {
    struct opened *next;
    struct input inputs[];
};

struct asking {
    const struct replay_request *request;
    const struct replay_robustness *robustness;
    pthread_mutex_t lock; /* of what follows */
    struct opened *idle;
};

/* --- inputs --- */

static void close_inputs(struct opened *opened, size_t count)
{
    while (count-- > 0)
        input_close(&opened->inputs[count]);
    free(opened);
}

static struct opened *open_inputs(const struct replay_request *request, struct err *err)
{
    struct opened *opened = mem_zalloc(1, sizeof *opened + request->input_count * sizeof *opened->inputs, err);
    for (size_t i = 0; opened && i < request->input_count; i++) {
        const struct input *in = &request->inputs[i];
        if (input_open(&opened->inputs[i], in->spec, in->role, request->engine->plain_files, err)) {
            close_inputs(opened, i);
            return NULL;
        }
    }
    return opened;
}

static struct opened *take_inputs(struct asking *asking, struct err *err)
{
    (void)pthread_mutex_lock(&asking->lock);
    struct opened *opened = asking->idle;
    if (opened)
        asking->idle = opened->next;
    (void)pthread_mutex_unlock(&asking->lock);
    return opened ? opened : open_inputs(asking->request, err);
}

static void give_inputs(struct asking *asking, struct opened *opened)
{
    (void)pthread_mutex_lock(&asking->lock);
    opened->next = asking->idle;
    asking->idle = opened;
    (void)pthread_mutex_unlock(&asking->lock);
}

/* --- one answer --- */

/* A metric that is known; -1: it is not, or there is none. */
static double known(const struct outcome *run, const char *name)
{
    const struct metric_value *v = outcome_get(run, name);
    return v && v->known ? v->real : -1;
}

static int run_on(const struct asking *asking, const struct platform *platform, const struct input *inputs,
                  struct robust_value *values, struct err *err)
{
    struct replay_request request = *asking->request;
    struct replay_result result;
    request.drawn_platform = platform;
    request.inputs = inputs;
    request.draws = 0;
    request.requests = NULL;
    request.engine_options = NULL;
    request.threads = 1;
    request.progress = NULL;
    request.sweep_cache = NULL;
    if (replay_prepare(&request, &result, err) || replay_execute(&request, &result, err))
        return -1;
    for (size_t i = 0; i < result.policy_count; i++) {
        values[i] = robust_metric(outcome_get(&result.runs[i], asking->robustness->metric));
        if (known(&result.runs[i], "starved") > 0 || known(&result.runs[i], "fairness_index") == 0)
            values[i] = (struct robust_value){.state = ROBUST_STARVED};
    }
    replay_release(&result);
    return 0;
}

static int answer(void *ctx, const struct platform *platform, struct robust_value *values, struct err *err)
{
    struct asking *asking = ctx;
    struct progress *progress = asking->request->progress;
    if (progress && atomic_load_explicit(&progress->cancelled, memory_order_relaxed))
        return err_set(err, "cancelled");
    struct opened *opened = take_inputs(asking, err);
    if (!opened)
        return -1;
    int rc = run_on(asking, platform, opened->inputs, values, err);
    give_inputs(asking, opened);
    progress_add(progress, 1);
    return rc;
}

/* --- all --- */

double replay_robust_error(const struct replay_result *result, size_t policy)
{
    const char *own = result->policies[policy].head->measured;
    return measured_error(own ? own : result->engine->measured, result->platform->name);
}

static struct replay_robustness *new_robustness(const struct replay_result *result, struct err *err)
{
    struct replay_robustness *r = mem_zalloc(1, sizeof *r, err);
    if (!r)
        return NULL;
    const size_t decides = replay_decides(result, &r->more_is_better);
    if (decides < SIZE_MAX)
        (void)snprintf(r->metric, sizeof r->metric, "%s", result->engine->metrics[decides].name);
    else
        (void)engine_rank(result->engine, 0, r->metric, sizeof r->metric, &r->more_is_better);
    r->names = mem_zalloc(result->policy_count + 1, sizeof *r->names, err);
    bool ok = r->names;
    for (size_t i = 0; ok && i < result->policy_count; i++) {
        char label[256];
        ok = (r->names[i] = mem_strdup(replay_policy_label(&result->policies[i], label, sizeof label), err)) != NULL;
    }
    if (ok)
        return r;
    replay_robustness_free(r);
    return NULL;
}

void replay_robustness_free(struct replay_robustness *r)
{
    for (size_t i = 0; r && r->names && r->names[i]; i++)
        free(r->names[i]);
    if (r) {
        free((void *)r->names);
        robust_release(&r->robust);
    }
    free(r);
}

/* A question with errors to be freed. */
static int run_question(struct asking *asking, const struct replay_result *result, struct replay_robustness *r,
                        struct err *err)
{
    const struct replay_request *request = asking->request;
    double *errors = mem_zalloc(result->policy_count, sizeof *errors, err);
    if (!errors)
        return -1;
    for (size_t i = 0; i < result->policy_count; i++)
        errors[i] = replay_robust_error(result, i);
    const struct robust_question asked = {.platform = result->platform,
                                          .sections = result->sections,
                                          .answers = result->policy_count,
                                          .errors = errors,
                                          .more_is_better = r->more_is_better,
                                          .answer = answer,
                                          .ctx = asking,
                                          .draws = result->draws,
                                          .seed = 1,
                                          .threads = request->threads};
    if (request->progress) {
        atomic_store(&request->progress->done, 0);
        atomic_store(&request->progress->total, robust_calls(&asked));
    }
    int rc = robust_run(&r->robust, &asked, err);
    free(errors);
    return rc;
}

/* "ties within 15 %", "ties within 6 to 15 %" */
static const char *say_ties(const struct replay_result *result, char *buf, size_t size)
{
    double lo = INFINITY, hi = 0;
    for (size_t i = 0; i < result->policy_count; i++) {
        lo = fmin(lo, 100 * replay_robust_error(result, i));
        hi = fmax(hi, 100 * replay_robust_error(result, i));
    }
    if (hi == 0)
        (void)snprintf(buf, size, "any difference counts, as the model's error has not been measured");
    else if (lo == hi)
        (void)snprintf(buf, size, "differences within %.3g %% are ties", hi);
    else
        (void)snprintf(buf, size, "differences within %.3g to %.3g %% are ties", lo, hi);
    return buf;
}

static void say(struct replay_result *result, const struct replay_robustness *r)
{
    char text[900], ties[120];
    (void)say_ties(result, ties, sizeof ties);
    for (size_t i = 0; i < result->policy_count; i++) {
        outcome_note(&result->runs[i], "%s", robust_say(&r->robust, i, text, sizeof text));
        outcome_note(&result->runs[i],
                     "draws: %zu assumed, fitted and borrowed numbers within their ranges, seed %llu; %s of %s wins; "
                     "%s; a share of draws is no probability",
                     r->robust.number_count, (unsigned long long)r->robust.seed, r->more_is_better ? "most" : "least",
                     r->metric, ties);
    }
}

int replay_robust(const struct replay_request *request, struct replay_result *result, struct err *err)
{
    if (result->draws == 0)
        return 0;
    struct replay_robustness *r = new_robustness(result, err);
    struct asking asking = {.request = request, .robustness = r, .lock = PTHREAD_MUTEX_INITIALIZER};
    int rc = r ? run_question(&asking, result, r, err) : -1;
    while (asking.idle) {
        struct opened *opened = asking.idle;
        asking.idle = opened->next;
        close_inputs(opened, request->input_count);
    }
    (void)pthread_mutex_destroy(&asking.lock);
    if (rc) {
        replay_robustness_free(r);
        return err_at(err, "--robust");
    }
    result->robustness = r;
    say(result, r);
    return 0;
}

/* --- JSON --- */

void replay_robust_put_run(const struct replay_result *result, size_t run, json_t **object)
{
    const struct replay_robustness *r = result->robustness;
    if (!r || run >= result->policy_count)
        return;
    json_t *metrics = json_incref(json_object_get(*object, "metrics"));
    json_tree_put(object, "robust", robust_answer_json(&r->robust, run, (const char *const *)r->names));
    robust_put_wins(&r->robust, run, &metrics);
    json_tree_put(object, "metrics", metrics);
}

void replay_robust_put(const struct replay_result *result, json_t **root)
{
    const struct replay_robustness *r = result->robustness;
    if (!r)
        return;
    json_t *all = robust_json(&r->robust, (const char *const *)r->names);
    json_tree_put(&all, "metric", json_string(r->metric));
    json_tree_put(&all, "more_is_better", json_boolean(r->more_is_better));
    json_tree_put(root, "robust", all);
}

void replay_robust_put_settings(const struct replay_result *result, json_t **settings)
{
    if (result->draws)
        json_tree_put(settings, "robust", json_integer((json_int_t)result->draws));
}
