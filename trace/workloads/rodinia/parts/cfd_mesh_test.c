#include "trace/workloads/rodinia/parts/cfd_mesh.h"

#include <stdbool.h>

#include "trace/base/testing.h"

START_TEST(neighbours_are_those_of_the_worked_example)
{
    const struct cfd_mesh mesh = {384, 16, 1, 1};
    static const int64_t of_5[CFD_NEIGHBOURS] = {4, 6, -1, 21}, of_last[CFD_NEIGHBOURS] = {382, -1, 367, -1};
    for (unsigned j = 0; j < CFD_NEIGHBOURS; j++) {
        ck_assert_int_eq(cfd_neighbour(&mesh, 5, j), of_5[j]);
        ck_assert_int_eq(cfd_neighbour(&mesh, 383, j), of_last[j]);
        ck_assert_int_eq(cfd_neighbour(&mesh, 500, j), of_last[j]); /* padding */
    }
}
END_TEST

/* The last window is no whole one. */
START_TEST(elements_are_permuted_within_their_windows)
{
    enum { N = 1000, WINDOW = 64 };
    const struct cfd_mesh mesh = {N, 16, WINDOW, 7};
    bool seen[N] = {false};
    int moved = 0;
    for (int64_t i = 0; i + 1 < N; i++) {
        int64_t to = cfd_neighbour(&mesh, i, 1); /* of i + 1 */
        ck_assert_int_eq(to / WINDOW, (i + 1) / WINDOW);
        ck_assert_int_lt(to, N);
        ck_assert(!seen[to]);
        seen[to] = true;
        moved += to != i + 1;
    }
    ck_assert_int_gt(moved, N / 2);
}
END_TEST

TEST_MAIN("cfd_mesh", neighbours_are_those_of_the_worked_example, elements_are_permuted_within_their_windows)
