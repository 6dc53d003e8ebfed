#include "replay/run/save.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "replay/run/engine.h"
#include "replay/run/robust.h"
#include "trace/base/clock.h"
#include "trace/base/json_tree.h"
#include "trace/base/mem.h"

static const char *own(struct save_point *point, char *text)
{
    const char *kept = mem_keep_own(&point->texts, text, NULL);
    point->failed |= !kept;
    return kept;
}

const char *save_text(struct save_point *point, const char *text)
{
    return own(point, mem_strdup(text ? text : "", NULL));
}

const char *save_json(struct save_point *point, json_t *value)
{
    char *text = json_tree_dump(value, JSON_COMPACT);
    json_decref(value);
    return own(point, text);
}

int save_point_check(const struct save_point *point, struct err *err)
{
    return point->failed ? err_set(err, "out of memory while writing results") : 0;
}

static int add_run(struct save_point *point, const struct run_case *run_case, const struct replay_result *result,
                   struct err *err)
{
    size_t i = point->count;
    struct results_run *run = &point->runs[i];
    char key[RUN_CASE_HASH], name[128];
    json_t *out = json_object();
    if (outcome_to_json(&result->runs[i], &out, err) || replay_key(run_case, result, i, key, err)) {
        json_decref(out);
        return -1;
    }
    replay_robust_put_run(result, i, &out);
    json_t *parts = json_object_get(out, "parts");
    run->key = save_text(point, key);
    run->policy = save_text(point, replay_policy_name(&result->policies[i], name, sizeof name));
    run->params = save_json(point, replay_policy_params_json(&result->policies[i]));
    run->metrics = save_json(point, json_incref(json_object_get(out, "metrics")));
    run->intervals = save_json(point, results_intervals(out));
    run->notes = save_json(point, json_incref(json_object_get(out, "notes")));
    run->parts = save_json(point, parts ? json_incref(parts) : json_object());
    run->baseline = i == result->baseline;
    json_decref(out);
    point->count++;
    return save_point_check(point, err);
}

/* What all runs of the request have in common. */
static struct results_run common_of(struct save_point *point, const struct run_case *run_case,
                                    const struct replay_result *result)
{
    const json_t *first = json_array_get(run_case->inputs, 0);
    return (struct results_run){.engine = result->engine->name,
                                .input = own(point, results_input_text(run_case->inputs)),
                                .input_hash = save_text(point, json_string_value(json_object_get(first, "hash"))),
                                .inputs = save_json(point, json_incref(run_case->inputs)),
                                .platform = save_text(point, run_case->platform),
                                .numbers = save_json(point, json_incref(result->base_numbers)),
                                .overrides = save_json(point, json_incref(result->overrides)),
                                .settings = save_json(point, replay_settings_json(result)),
                                .relative_to = save_json(point, replay_relative_to(result, NULL)),
                                .version = save_text(point, run_case->version)};
}

int save_point_init(struct save_point *point, const struct replay_request *request, const struct replay_result *result,
                    int64_t position, struct err *err)
{
    *point = (struct save_point){0};
    size_t n = result->policy_count + result->extra_baseline;
    struct run_case run_case;
    if (replay_case(request, result, &run_case, err))
        return -1;
    point->runs = mem_zalloc(n, sizeof *point->runs, err);
    int rc = point->runs ? 0 : -1;
    const struct results_run common = common_of(point, &run_case, result);
    for (size_t i = 0; i < n && !rc; i++) {
        point->runs[i] = common;
        point->runs[i].position = position < 0 ? -1 : position + (int64_t)i;
        rc = add_run(point, &run_case, result, err);
    }
    run_case_release(&run_case);
    if (rc)
        save_point_release(point);
    return rc;
}

void save_point_release(struct save_point *point)
{
    mem_texts_release(&point->texts);
    free(point->runs);
    *point = (struct save_point){0};
}

int replay_save(struct results *results, const struct replay_request *request, const struct replay_result *result,
                int64_t position, struct err *err)
{
    struct save_point point;
    if (save_point_init(&point, request, result, position, err))
        return -1;
    int rc = results_put(results, point.runs, point.count, err);
    save_point_release(&point);
    return rc;
}

int replay_saved(struct results *results, const struct replay_request *request, const struct replay_result *result,
                 struct err *err)
{
    struct run_case run_case;
    if (replay_case(request, result, &run_case, err))
        return -1;
    int there = 1;
    for (size_t i = 0; i < result->policy_count + result->extra_baseline && there == 1; i++) {
        char key[RUN_CASE_HASH];
        there = replay_key(&run_case, result, i, key, err) ? -1 : results_has(results, key, err);
    }
    run_case_release(&run_case);
    return there;
}

struct points {
    struct save_point *items;
    size_t count, cap;
};

struct save_queue {
    struct results *results;
    const char *sweep;            /* to be begun; NULL: none, or it has */
    int64_t points;               /* of it */
    pthread_mutex_t results_lock; /* of *results */
    pthread_t thread;
    pthread_mutex_t lock; /* of everything below */
    pthread_cond_t wake;
    struct points waiting;
    bool closing, failed;
    struct err err;
    void (*wrote)(void *arg, size_t points); /* NULL: nobody asks */
    void *arg;
};

static void points_release(struct points *points)
{
    for (size_t i = 0; i < points->count; i++)
        save_point_release(&points->items[i]);
    free(points->items);
    *points = (struct points){0};
}

/* All of them in one transaction. */
static int write_points(struct save_queue *queue, const struct points *points, struct err *err)
{
    size_t n = 0, at = 0;
    for (size_t i = 0; i < points->count; i++)
        n += points->items[i].count;
    struct results_run *runs = mem_zalloc(n, sizeof *runs, err);
    if (!runs)
        return -1;
    for (size_t i = 0; i < points->count; at += points->items[i++].count)
        memcpy(runs + at, points->items[i].runs, points->items[i].count * sizeof *runs);
    (void)pthread_mutex_lock(&queue->results_lock);
    int rc = queue->sweep ? results_sweep_begin(queue->results, queue->sweep, queue->points, err) : 0;
    queue->sweep = NULL;
    if (!rc)
        rc = results_put(queue->results, runs, n, err);
    (void)pthread_mutex_unlock(&queue->results_lock);
    free(runs);
    return rc;
}

/* With queue->lock held: let points gather. */
static void pause_writing(struct save_queue *queue)
{
    const struct timespec until = clock_after(CLOCK_MONOTONIC, SAVE_QUEUE_MS * 1000000L);
    while (!queue->closing && pthread_cond_timedwait(&queue->wake, &queue->lock, &until) == 0)
        ;
}

static void *writer(void *arg)
{
    struct save_queue *queue = arg;
    (void)pthread_mutex_lock(&queue->lock);
    for (;;) {
        while (!queue->closing && queue->waiting.count == 0)
            (void)pthread_cond_wait(&queue->wake, &queue->lock);
        if (queue->waiting.count == 0)
            break;
        struct points taken = queue->waiting;
        struct err err = {""};
        bool skip = queue->failed;
        queue->waiting = (struct points){0};
        (void)pthread_mutex_unlock(&queue->lock);
        int rc = skip ? 0 : write_points(queue, &taken, &err);
        if (!skip && !rc && queue->wrote)
            queue->wrote(queue->arg, taken.count);
        points_release(&taken);
        (void)pthread_mutex_lock(&queue->lock);
        if (rc) {
            queue->failed = true;
            queue->err = err;
        }
        pause_writing(queue);
    }
    (void)pthread_mutex_unlock(&queue->lock);
    return NULL;
}

struct save_queue *save_queue_open(struct results *results, const char *sweep, int64_t points, struct err *err)
{
    struct save_queue *queue = mem_zalloc(1, sizeof *queue, err);
    pthread_condattr_t attr;
    if (!queue)
        return NULL;
    queue->results = results;
    queue->sweep = sweep;
    queue->points = points;
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&queue->results_lock, NULL);
    (void)pthread_mutex_init(&queue->lock, NULL);
    (void)pthread_cond_init(&queue->wake, &attr);
    (void)pthread_condattr_destroy(&attr);
    if (pthread_create(&queue->thread, NULL, writer, queue) == 0)
        return queue;
    err_set(err, "no thread to write results with");
    free(queue);
    return NULL;
}

void save_queue_tell(struct save_queue *queue, void (*wrote)(void *arg, size_t points), void *arg)
{
    queue->wrote = wrote;
    queue->arg = arg;
}

int save_queue_has(struct save_queue *queue, const struct replay_request *request, const struct replay_result *result,
                   struct err *err)
{
    (void)pthread_mutex_lock(&queue->results_lock);
    int there = replay_saved(queue->results, request, result, err);
    (void)pthread_mutex_unlock(&queue->results_lock);
    return there;
}

int save_queue_add(struct save_queue *queue, struct save_point *point, struct err *err)
{
    (void)pthread_mutex_lock(&queue->lock);
    struct points *w = &queue->waiting;
    int rc = queue->failed ? err_set(err, "%s", queue->err.msg) : MEM_ADD(w->items, w->count, w->cap, err, *point);
    if (!rc)
        (void)pthread_cond_signal(&queue->wake);
    (void)pthread_mutex_unlock(&queue->lock);
    if (rc)
        save_point_release(point);
    return rc;
}

int save_queue_close(struct save_queue *queue, struct err *err)
{
    if (!queue)
        return 0;
    (void)pthread_mutex_lock(&queue->lock);
    queue->closing = true;
    (void)pthread_cond_signal(&queue->wake);
    (void)pthread_mutex_unlock(&queue->lock);
    (void)pthread_join(queue->thread, NULL);
    int rc = queue->failed ? err_set(err, "%s", queue->err.msg) : 0;
    (void)pthread_cond_destroy(&queue->wake);
    (void)pthread_mutex_destroy(&queue->lock);
    (void)pthread_mutex_destroy(&queue->results_lock);
    points_release(&queue->waiting);
    free(queue);
    return rc;
}
