#include "trace/base/thread_pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

struct thread_pool {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    void (*fn)(void *ctx, size_t piece);
    void *ctx;
    size_t next, pieces; /* next piece to be taken */
    size_t busy;         /* pieces taken and not done */
    bool leave;
    int helpers;
    pthread_t thread[];
};

/* Take pieces until there are none; the lock is held before and after. */
static void take(struct thread_pool *c)
{
    while (c->next < c->pieces) {
        size_t piece = c->next++;
        c->busy++;
        (void)pthread_mutex_unlock(&c->lock);
        c->fn(c->ctx, piece);
        (void)pthread_mutex_lock(&c->lock);
        if (--c->busy == 0 && c->next == c->pieces)
            (void)pthread_cond_signal(&c->done);
    }
}

static void *help(void *arg)
{
    struct thread_pool *c = arg;
    (void)pthread_mutex_lock(&c->lock);
    while (!c->leave) {
        take(c);
        if (!c->leave)
            (void)pthread_cond_wait(&c->work, &c->lock);
    }
    (void)pthread_mutex_unlock(&c->lock);
    return NULL;
}

struct thread_pool *thread_pool_open(int threads)
{
    struct thread_pool *c = threads > 1 ? calloc(1, sizeof *c + (size_t)(threads - 1) * sizeof c->thread[0]) : NULL;
    if (!c)
        return NULL;
    (void)pthread_mutex_init(&c->lock, NULL);
    (void)pthread_cond_init(&c->work, NULL);
    (void)pthread_cond_init(&c->done, NULL);
    while (c->helpers < threads - 1 && pthread_create(&c->thread[c->helpers], NULL, help, c) == 0)
        c->helpers++;
    return c;
}

void thread_pool_close(struct thread_pool *c)
{
    if (!c)
        return;
    (void)pthread_mutex_lock(&c->lock);
    c->leave = true;
    (void)pthread_cond_broadcast(&c->work);
    (void)pthread_mutex_unlock(&c->lock);
    for (int i = 0; i < c->helpers; i++)
        (void)pthread_join(c->thread[i], NULL);
    (void)pthread_cond_destroy(&c->done);
    (void)pthread_cond_destroy(&c->work);
    (void)pthread_mutex_destroy(&c->lock);
    free(c);
}

void thread_pool_run(struct thread_pool *c, size_t pieces, void (*fn)(void *ctx, size_t piece), void *ctx)
{
    for (size_t i = 0; !c && i < pieces; i++)
        fn(ctx, i);
    if (!c || !pieces)
        return;
    (void)pthread_mutex_lock(&c->lock);
    c->fn = fn;
    c->ctx = ctx;
    c->next = 0;
    c->pieces = pieces;
    (void)pthread_cond_broadcast(&c->work);
    take(c);
    while (c->busy)
        (void)pthread_cond_wait(&c->done, &c->lock);
    (void)pthread_mutex_unlock(&c->lock);
}

/* --- how many there can be --- */

static void *pass(void *gate)
{
    (void)pthread_mutex_lock(gate);
    (void)pthread_mutex_unlock(gate);
    return NULL;
}

/* So many are there at once, behind a gate. */
int thread_pool_limit(int wanted)
{
    enum { EACH = 8 };
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const int most = processors > 0 && processors < 4096 ? (int)processors * EACH : EACH;
    const int n = wanted < most ? wanted : most;
    pthread_t *made = n > 1 ? calloc((size_t)n, sizeof *made) : NULL;
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    int count = 0;
    (void)pthread_mutex_lock(&gate);
    while (made && count < n - 1 && pthread_create(&made[count], NULL, pass, &gate) == 0)
        count++;
    (void)pthread_mutex_unlock(&gate);
    for (int i = 0; i < count; i++)
        (void)pthread_join(made[i], NULL);
    free(made);
    return n <= 1 ? 1 : count == n - 1 ? n : 1 + count / 2;
}
