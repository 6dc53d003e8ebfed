#include "replay/run/sweep_cache.h"

#include <math.h>
#include <pthread.h>

#include "trace/base/testing.h"

START_TEST(an_answer_is_found_by_its_text_and_the_first_one_stays)
{
    struct sweep_cache *s = sweep_cache_new(NULL);
    struct sweep_cache_value v = {0, 0};
    ck_assert(!sweep_cache_get(s, "a", &v));
    sweep_cache_put(s, "a", (struct sweep_cache_value){7, 0.5});
    sweep_cache_put(s, "a", (struct sweep_cache_value){8, 1.5});
    sweep_cache_put(s, "ab", (struct sweep_cache_value){9, 2.5});
    ck_assert(sweep_cache_get(s, "a", &v));
    ck_assert_int_eq(v.whole, 7);
    ck_assert(v.real == 0.5);
    ck_assert(sweep_cache_get(s, "ab", &v));
    ck_assert_int_eq(v.whole, 9);
    ck_assert_uint_eq(sweep_cache_count(s), 2);
    ck_assert(!sweep_cache_get(NULL, "a", &v));
    sweep_cache_put(NULL, "a", v);
    sweep_cache_free(s);
}
END_TEST

static void *work(void *arg)
{
    char text[32];
    for (int i = 0; i < 3000; i++) {
        struct sweep_cache_value v;
        (void)snprintf(text, sizeof text, "answer %d", i);
        if (sweep_cache_get(arg, text, &v))
            ck_assert_int_eq(v.whole, i);
        else
            sweep_cache_put(arg, text, (struct sweep_cache_value){i, 0});
    }
    return NULL;
}

START_TEST(threads_leave_each_answer_once)
{
    struct sweep_cache *s = sweep_cache_new(NULL);
    pthread_t ids[4];
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&ids[i], NULL, work, s), 0);
    for (int i = 0; i < 4; i++)
        (void)pthread_join(ids[i], NULL);
    ck_assert_uint_eq(sweep_cache_count(s), 3000);
    sweep_cache_free(s);
}
END_TEST

START_TEST(there_is_an_end_to_what_is_kept)
{
    struct sweep_cache *s = sweep_cache_new(NULL);
    char text[32];
    struct sweep_cache_value v;
    for (int i = 0; i <= SWEEP_CACHE_MAX; i++) {
        (void)snprintf(text, sizeof text, "%d", i);
        sweep_cache_put(s, text, (struct sweep_cache_value){i, 0});
    }
    ck_assert_uint_eq(sweep_cache_count(s), SWEEP_CACHE_MAX);
    ck_assert(!sweep_cache_get(s, text, &v));
    sweep_cache_free(s);
}
END_TEST

static int released;

static void release(void *object)
{
    free(object);
    released++;
}

START_TEST(an_object_is_kept_once_and_released_once)
{
    struct sweep_cache *s = sweep_cache_new(NULL);
    int *first = malloc(sizeof *first), *second = malloc(sizeof *second), *other = malloc(sizeof *other);
    released = 0;
    ck_assert_ptr_null(sweep_cache_object(s, "a"));
    ck_assert_ptr_eq(sweep_cache_keep(s, "a", first, release), first);
    ck_assert_ptr_eq(sweep_cache_object(s, "a"), first);
    ck_assert_ptr_eq(sweep_cache_keep(s, "a", second, release), first);
    ck_assert_int_eq(released, 1);
    ck_assert_ptr_eq(sweep_cache_keep(s, "b", other, release), other);
    ck_assert_ptr_eq(sweep_cache_object(s, "a"), first);
    sweep_cache_free(s);
    ck_assert_int_eq(released, 3);
    ck_assert_ptr_null(sweep_cache_object(NULL, "a"));
    ck_assert_ptr_null(sweep_cache_keep(NULL, "a", NULL, release));
}
END_TEST

START_TEST(the_least_time_so_far_has_its_name)
{
    struct progress p = {0};
    progress_best(NULL, 1, 5);
    progress_best(&p, 1, NAN);
    progress_best(&p, 1, 0);
    ck_assert_uint_eq(p.best, 0);
    progress_best(&p, 3, 1000);
    progress_best(&p, 2, 2000);
    ck_assert_uint_eq(p.best, 1000 << 8 | 3);
    progress_best(&p, 2, 500);
    ck_assert_uint_eq(p.best, 500 << 8 | 2);
}
END_TEST

TEST_MAIN("shared")
