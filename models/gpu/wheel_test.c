#include "models/gpu/wheel.h"

#include "trace/base/testing.h"
#include "trace/program/random_testing.h"

/* Against a plain table of cycles, at random; 70 actors, times up to twice the ring. */
START_TEST(wakes_whom_a_table_wakes_and_when)
{
    enum { ACTORS = 70, CYCLES = 6000 };
    static bool table[CYCLES][ACTORS];
    struct wheel w;
    uint64_t s = 3, due[2];
    ck_assert_int_eq(wheel_init(&w, ACTORS, NULL), 0);
    wheel_reset(&w, 0);
    for (int64_t now = -1; now < 4000;) {
        for (int i = 0; i < 3; i++) {
            uint32_t actor = (uint32_t)(program_draw(&s) % ACTORS);
            int64_t t = now + 1 + (int64_t)(program_draw(&s) % (program_draw(&s) % 2 ? 20 : 2 * WHEEL_CYCLES));
            wheel_set(&w, actor, t);
            table[t > now + WHEEL_CYCLES ? now + WHEEL_CYCLES : t][actor] = true;
        }
        int64_t first = now + 1;
        for (bool any = false; !any; first += !any)
            for (int i = 0; i < ACTORS; i++)
                any |= table[first][i];
        ck_assert_int_eq(w.next, first);
        int64_t to = now + 1 + (int64_t)(program_draw(&s) % 40);
        ck_assert_int_eq(wheel_take(&w, to, due), first <= to);
        for (uint32_t i = 0; i < ACTORS; i++) {
            bool expected = false;
            for (int64_t t = now + 1; t <= to; t++) {
                expected |= table[t][i];
                table[t][i] = false;
            }
            ck_assert_int_eq(first <= to && due[i / 64] >> i % 64 & 1, expected);
        }
        now = to;
    }
    wheel_reset(&w, 5000);
    ck_assert_int_eq(w.next, INT64_MAX);
    wheel_set(&w, 3, 5000);
    ck_assert_int_eq(w.next, 5000);
    wheel_release(&w);
}
END_TEST

TEST_MAIN("wheel")
