#include "replay/placement/placement.h"
#include "replay/run/save.h"

#include <pthread.h>
#include <unistd.h>

#include "trace/base/testing.h"

enum { THREADS = 4, POINTS = 50 };

static struct input input;
static struct err err;

static void open_input(void)
{
    static const char text[] =
        "[a]\nbytes_hd = 1MiB\ncopies = 1\nkernels = 4\nkernel_bytes = 0..1MiB\ncompute_ms = 1\n";
    const char *path = testing_write("t.ini", text, sizeof text - 1);
    ck_assert_msg(input_open(&input, path, "", true, &err) == 0, "%s", err.msg);
}

/* Run two policies under one value of a platform's number; add them, or say whether they are there. */
static int point(struct save_queue *queue, int number, bool add)
{
    char set[64];
    const char *sets[] = {set};
    struct err own = {""};
    (void)snprintf(set, sizeof set, "l_hd=%de-9", number + 1);
    const struct replay_request request = {.engine = &engine_placement,
                                           .inputs = &input,
                                           .input_count = 1,
                                           .policy_list = "device,managed",
                                           .sets = sets,
                                           .set_count = 1};
    struct replay_result result;
    struct save_point saved;
    bool usage;
    if (replay_run(&request, &result, &usage, &own))
        return -2;
    int rc;
    if (!add)
        rc = save_queue_has(queue, &request, &result, &own);
    else if (save_point_init(&saved, &request, &result, 2 * number, &own))
        rc = -2;
    else
        rc = save_queue_add(queue, &saved, &own);
    replay_release(&result);
    return rc;
}

struct worker {
    struct save_queue *queue;
    int number, failures;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    for (int i = 0; i < POINTS; i++)
        w->failures += point(w->queue, w->number * POINTS + i, true) != 0;
    return NULL;
}

static void add_up(void *arg, size_t points)
{
    *(size_t *)arg += points;
}

START_TEST(points_of_all_threads_are_in_the_file_once)
{
    open_input();
    struct results *results = results_open(testing_file("r.db"), RESULTS_APPEND, &err);
    ck_assert_msg(results != NULL, "%s", err.msg);
    struct save_queue *queue = save_queue_open(results, NULL, 0, &err);
    ck_assert_ptr_nonnull(queue);
    size_t told = 0;
    save_queue_tell(queue, add_up, &told);
    struct worker workers[THREADS];
    pthread_t ids[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){queue, i, 0};
        ck_assert_int_eq(pthread_create(&ids[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(ids[i], NULL);
        ck_assert_int_eq(workers[i].failures, 0);
    }
    ck_assert_msg(save_queue_close(queue, &err) == 0, "%s", err.msg);
    ck_assert_int_eq(results_count(results, &err), 2 * THREADS * POINTS);
    ck_assert_uint_eq(told, THREADS * POINTS);
    queue = save_queue_open(results, NULL, 0, &err);
    ck_assert_int_eq(point(queue, 0, false), 1);
    ck_assert_int_eq(point(queue, THREADS * POINTS, false), 0);
    ck_assert_int_eq(save_queue_close(queue, &err), 0);
    results_close(results);
    input_close(&input);
}
END_TEST

START_TEST(a_point_is_in_the_file_soon_without_another_one)
{
    open_input();
    struct results *results = results_open(testing_file("soon.db"), RESULTS_APPEND, &err);
    struct save_queue *queue = save_queue_open(results, NULL, 0, &err);
    ck_assert_int_eq(point(queue, 0, true), 0); /* nobody asked to be told */
    ck_assert_int_eq(point(queue, 1, true), 0); /* in the pause after the first */
    int there = 0;
    for (int tries = 0; tries < 1000 && there != 1; tries++) {
        (void)usleep(10000);
        there = point(queue, 1, false);
    }
    ck_assert_int_eq(there, 1);
    ck_assert_int_eq(save_queue_close(queue, &err), 0);
    results_close(results);
    input_close(&input);
}
END_TEST

START_TEST(a_failed_write_is_told_to_who_adds_and_who_closes)
{
    open_input();
    results_close(results_open(testing_file("full.db"), RESULTS_APPEND, &err));
    struct results *results = results_open(testing_file("full.db"), RESULTS_READ, &err);
    struct save_queue *queue = save_queue_open(results, NULL, 0, &err);
    size_t told = 0;
    save_queue_tell(queue, add_up, &told);
    int rc = 0;
    for (int i = 0; i < 1000 && rc == 0; i++) {
        rc = point(queue, i, true);
        (void)usleep(10000);
    }
    ck_assert_int_eq(rc, -1);
    ck_assert_int_eq(save_queue_close(queue, &err), -1);
    ck_assert_uint_eq(told, 0);
    ck_assert_int_eq(save_queue_close(NULL, &err), 0); /* there was none to begin with */
    ck_assert_ptr_nonnull(strstr(err.msg, "full.db"));
    results_close(results);
    input_close(&input);
}
END_TEST

TEST_MAIN("save_queue")
