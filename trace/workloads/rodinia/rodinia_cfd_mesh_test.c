/* What the program draws or lists when it is opened: its own functions, by including it. */
#include "trace/workloads/rodinia/rodinia_cfd.c"

#include "trace/base/testing.h"

START_TEST(neighbours_are_those_of_the_worked_example)
{
    const struct cfd mesh = {.n = 384, .x = 16, .window = 1, .seed = 1};
    static const int64_t of_5[NEIGHBOURS] = {4, 6, -1, 21}, of_last[NEIGHBOURS] = {382, -1, 367, -1};
    for (unsigned j = 0; j < NEIGHBOURS; j++) {
        ck_assert_int_eq(neighbour(&mesh, 5, j), of_5[j]);
        ck_assert_int_eq(neighbour(&mesh, 383, j), of_last[j]);
        ck_assert_int_eq(neighbour(&mesh, 500, j), of_last[j]); /* padding */
    }
}
END_TEST

/* The last window is no whole one. */
START_TEST(elements_are_permuted_within_their_windows)
{
    enum { COUNT = 1000, WINDOW = 64 };
    const struct cfd mesh = {.n = COUNT, .x = 16, .window = WINDOW, .seed = 7};
    bool seen[COUNT] = {false};
    int moved = 0;
    for (int64_t i = 0; i + 1 < COUNT; i++) {
        int64_t to = neighbour(&mesh, i, 1); /* of i + 1 */
        ck_assert_int_eq(to / WINDOW, (i + 1) / WINDOW);
        ck_assert_int_lt(to, COUNT);
        ck_assert(!seen[to]);
        seen[to] = true;
        moved += to != i + 1;
    }
    ck_assert_int_gt(moved, COUNT / 2);
}
END_TEST

TEST_MAIN("rodinia_cfd_mesh")
