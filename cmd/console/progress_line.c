#include "cmd/console/progress_line.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cmd/console/opt.h"
#include "trace/base/clock.h"

struct progress_line {
    struct progress *progress;
    const char *label;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stop, shown;
    int64_t start_ns;
};

static double since(const struct progress_line *m)
{
    return 1e-9 * (double)(clock_ns(CLOCK_MONOTONIC) - m->start_ns);
}

static void show(struct progress_line *m)
{
    uint64_t done = atomic_load(&m->progress->done), total = atomic_load(&m->progress->total);
    double seconds = since(m);
    done = total && done > total ? total : done;
    if (total && done)
        (void)fprintf(stderr, "\r%s: %3.0f %%, %.0f s, about %.0f s left ", m->label,
                      100.0 * (double)done / (double)total, seconds, seconds * (double)(total - done) / (double)done);
    else
        (void)fprintf(stderr, "\r%s: %llu done, %.0f s ", m->label, (unsigned long long)done, seconds);
    const uint64_t best = atomic_load(&m->progress->best);
    if (best)
        (void)fprintf(stderr, "; so far %s, %.4g ms ", m->progress->names[best & 255], (double)(best >> 8) / 1e6);
    m->shown = true;
}

static void *run(void *arg)
{
    struct progress_line *m = arg;
    (void)pthread_mutex_lock(&m->lock);
    while (!m->stop) {
        const struct timespec until = clock_after(CLOCK_MONOTONIC, 500000000);
        (void)pthread_cond_timedwait(&m->wake, &m->lock, &until);
        if (!m->stop && since(m) >= 1)
            show(m);
    }
    (void)pthread_mutex_unlock(&m->lock);
    return NULL;
}

struct progress_line *progress_line_start(struct progress *progress, const char *label)
{
    if (opt_quiet || opt_progress == 2 || (opt_progress == 0 && !isatty(STDERR_FILENO)))
        return NULL;
    struct progress_line *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->progress = progress;
    m->label = label;
    m->start_ns = clock_ns(CLOCK_MONOTONIC);
    pthread_condattr_t attr;
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&m->lock, NULL);
    (void)pthread_cond_init(&m->wake, &attr);
    (void)pthread_condattr_destroy(&attr);
    if (pthread_create(&m->thread, NULL, run, m)) {
        free(m);
        return NULL;
    }
    return m;
}

void progress_line_stop(struct progress_line *line)
{
    if (!line)
        return;
    (void)pthread_mutex_lock(&line->lock);
    line->stop = true;
    (void)pthread_cond_signal(&line->wake);
    (void)pthread_mutex_unlock(&line->lock);
    (void)pthread_join(line->thread, NULL);
    if (line->shown)
        (void)fputc('\n', stderr);
    (void)pthread_mutex_destroy(&line->lock);
    (void)pthread_cond_destroy(&line->wake);
    free(line);
}
