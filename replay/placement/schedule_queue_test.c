#include "replay/placement/schedule_queue.h"

#include <math.h>
#include <stdint.h>

#include "trace/base/testing.h"

static uint64_t state = 3;
static double any(double hi)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return hi * (double)(state >> 40) / 0x1p24;
}

/* Against a look at everybody, over queues of 1 to 40 with offers that come and go. */
START_TEST(the_first_that_fits_is_what_a_plain_search_finds)
{
    for (size_t count = 1; count <= 40; count++) {
        struct schedule_queue queue;
        struct schedule_offer offers[40] = {{0}};
        ck_assert_int_eq(schedule_queue_init(&queue, count, NULL), 0);
        for (int round = 0; round < 300; round++) {
            size_t at = (size_t)any((double)count - 0.01), from = (size_t)any((double)count + 1.99);
            bool device = any(1) < 0.5;
            offers[at] = (struct schedule_offer){any(1) < 0.7, device ? any(4) : INFINITY, device ? -1 : floor(any(4))};
            schedule_queue_set(&queue, at, offers[at]);
            double x = floor(any(5));
            size_t expect[3] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
            for (size_t i = count; i-- > from;) {
                expect[0] = offers[i].waiting ? i : expect[0];
                expect[1] = offers[i].waiting && offers[i].exec_ms <= x ? i : expect[1];
                expect[2] = offers[i].waiting && offers[i].idle_ms >= x ? i : expect[2];
            }
            ck_assert_uint_eq(schedule_queue_first(&queue, from), expect[0]);
            ck_assert_uint_eq(schedule_queue_device(&queue, from, x), expect[1]);
            ck_assert_uint_eq(schedule_queue_managed(&queue, from, x), expect[2]);
        }
        schedule_queue_release(&queue);
    }
}
END_TEST

TEST_MAIN("schedule_queue", the_first_that_fits_is_what_a_plain_search_finds)
