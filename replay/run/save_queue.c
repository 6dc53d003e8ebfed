#include "replay/run/save.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "trace/base/mem.h"

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
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += SAVE_QUEUE_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
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
    int rc = queue->failed ? err_set(err, "%s", queue->err.msg)
                           : mem_grow((void **)&w->items, &w->cap, w->count + 1, sizeof *w->items, err);
    if (!rc) {
        w->items[w->count++] = *point;
        (void)pthread_cond_signal(&queue->wake);
    }
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
