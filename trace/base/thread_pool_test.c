#include "trace/base/thread_pool.h"

#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "trace/base/testing.h"

enum { PIECES = 40 };

struct work {
    unsigned done[PIECES];
    pthread_t by[PIECES];
};

static void add(void *ctx, size_t piece)
{
    struct work *w = ctx;
    w->done[piece]++;
    w->by[piece] = pthread_self();
}

/* Many turns of any size: what every thread wrote is there when the turn is over, and nothing is done twice. */
START_TEST(every_piece_is_done_once_in_every_turn)
{
    for (int threads = 0; threads < 6; threads++) {
        struct thread_pool *crew = thread_pool_open(threads);
        ck_assert(threads > 1 ? crew != NULL : crew == NULL);
        struct work w = {{0}, {0}};
        unsigned expected[PIECES] = {0};
        for (size_t turn = 0; turn < 2000; turn++) {
            thread_pool_run(crew, turn % (PIECES + 1), add, &w);
            for (size_t i = 0; i < PIECES; i++)
                ck_assert_uint_eq(w.done[i], expected[i] += i < turn % (PIECES + 1));
        }
        thread_pool_close(crew);
    }
}
END_TEST

struct meeting {
    pthread_barrier_t barrier;
};

static void meet(void *ctx, size_t piece)
{
    (void)piece;
    (void)pthread_barrier_wait(&((struct meeting *)ctx)->barrier);
}

/* As many pieces as threads, none of which ends before all have begun. */
START_TEST(pieces_run_at_the_same_time)
{
    struct meeting m;
    struct thread_pool *crew = thread_pool_open(3);
    (void)pthread_barrier_init(&m.barrier, NULL, 3);
    for (int turn = 0; turn < 100; turn++)
        thread_pool_run(crew, 3, meet, &m);
    thread_pool_close(crew);
    (void)pthread_barrier_destroy(&m.barrier);
}
END_TEST

/* Threads of this program that are not asleep, the caller not counted. */
static int awake(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int n = -1;
    for (struct dirent *d; (d = readdir(tasks));) {
        char state = 0;
        FILE *f = d->d_name[0] == '.' ? NULL : fopen(testing_text("/proc/self/task/%s/stat", d->d_name), "r");
        if (f && fscanf(f, "%*d (%*[^)]) %c", &state) == 1)
            n += state != 'S';
        if (f)
            (void)fclose(f);
    }
    (void)closedir(tasks);
    return n;
}

static void nothing(void *ctx, size_t piece)
{
    (void)ctx;
    (void)piece;
}

/* Threads that spin would be awake at every look. */
START_TEST(who_waits_for_the_next_turn_sleeps)
{
    struct thread_pool *crew = thread_pool_open(4);
    thread_pool_run(crew, 4, nothing, NULL);
    int looks = 0;
    while (awake() > 0 && looks++ < 3000)
        (void)nanosleep(&(struct timespec){0, 1000000}, NULL);
    ck_assert_int_lt(looks, 3000);
    thread_pool_close(crew);
}
END_TEST

START_TEST(no_more_threads_are_promised_than_can_be_made)
{
    ck_assert_int_eq(thread_pool_limit(0), 1);
    ck_assert_int_eq(thread_pool_limit(2), 2);
    ck_assert_int_le(thread_pool_limit(INT_MAX), 8 * (int)sysconf(_SC_NPROCESSORS_ONLN));
#ifndef __SANITIZE_ADDRESS__
    const struct rlimit little = {64 << 20, 64 << 20}; /* less than there is: no stack any more */
    const pid_t child = fork();
    if (child == 0)
        _exit(setrlimit(RLIMIT_AS, &little) || thread_pool_limit(16) > 8);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
#endif
}
END_TEST

TEST_MAIN("crew")
