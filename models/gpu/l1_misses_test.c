#include "models/gpu/l1_misses.h"

#include "trace/base/testing.h"
#include "trace/program/random_testing.h"

START_TEST(the_first_asks_the_others_wait_and_all_are_answered_in_order)
{
    struct l1_misses *m = l1_misses_new(NULL);
    uint32_t entry;
    uint64_t line;
    ck_assert_uint_eq(l1_misses_pending(m, 7, &entry), 0);
    uint32_t token = l1_misses_add(m, 7, 2, 100);
    uint32_t other = l1_misses_add(m, 7, 0, 101);
    ck_assert_uint_eq(l1_misses_pending(m, 7, &entry), 5);
    ck_assert_int_eq(l1_misses_merge(m, entry, 2, 102), 0);
    ck_assert_int_eq(l1_misses_merge(m, entry, 2, 103), 0);
    ck_assert_uint_eq(l1_misses_count(m), 2);
    ck_assert_uint_eq(l1_misses_take(m, token, &line), 100);
    ck_assert_uint_eq(line, 7);
    ck_assert_uint_eq(l1_misses_next(m), 102);
    ck_assert_uint_eq(l1_misses_next(m), 103);
    ck_assert_uint_eq(l1_misses_next(m), UINT32_MAX);
    ck_assert_uint_eq(l1_misses_pending(m, 7, &entry), 1);
    ck_assert_uint_eq(l1_misses_take(m, other, &line), 101);
    ck_assert_uint_eq(l1_misses_next(m), UINT32_MAX);
    ck_assert_uint_eq(l1_misses_pending(m, 7, &entry), 0);
    l1_misses_free(m);
}
END_TEST

enum { LINES = 3000, MOST = 40 };

struct asked {
    bool there;
    uint32_t token, n, load[MOST];
};

static void answer(struct l1_misses *m, struct asked *a, uint64_t line)
{
    uint64_t found;
    ck_assert_uint_eq(l1_misses_take(m, a->token, &found), a->load[0]);
    ck_assert_uint_eq(found, line);
    for (uint32_t i = 1; i < a->n; i++)
        ck_assert_uint_eq(l1_misses_next(m), a->load[i]);
    ck_assert_uint_eq(l1_misses_next(m), UINT32_MAX);
    *a = (struct asked){0};
}

START_TEST(the_same_as_a_plain_table)
{
    static struct asked table[LINES][4];
    struct l1_misses *m = l1_misses_new(NULL);
    uint64_t s = 1;
    uint32_t there = 0;
    for (int i = 0; i < 150000; i++) {
        /* grows beyond what it was made for, then shrinks, and so on */
        uint64_t line = program_draw(&s) % LINES, number = line << 20;
        uint32_t sector = (uint32_t)(program_draw(&s) % 4), load = (uint32_t)(program_draw(&s) % 65536), entry;
        struct asked *a = &table[line][sector];
        bool grow = i / 30000 % 2 == 0;
        uint32_t pending = l1_misses_pending(m, number, &entry);
        ck_assert(((pending >> sector & 1) != 0) == a->there);
        if (a->there && (program_draw(&s) % 8 < (grow ? 1 : 5) || a->n == MOST)) {
            answer(m, a, number);
            there--;
        } else if (a->there) {
            ck_assert_int_eq(l1_misses_merge(m, entry, sector, load), 0);
            a->load[a->n++] = load;
        } else if (grow || program_draw(&s) % 4 == 0) {
            a->token = l1_misses_add(m, number, sector, load);
            a->there = true;
            a->n = 1;
            a->load[0] = load;
            there++;
        }
        ck_assert_uint_eq(l1_misses_count(m), there);
    }
    l1_misses_reset(m);
    uint32_t entry;
    ck_assert_uint_eq(l1_misses_count(m), 0);
    for (uint64_t line = 0; line < LINES; line++)
        ck_assert_uint_eq(l1_misses_pending(m, line << 20, &entry), 0);
    l1_misses_free(m);
}
END_TEST

TEST_MAIN("l1_misses", the_first_asks_the_others_wait_and_all_are_answered_in_order, the_same_as_a_plain_table)
