#include "models/gpu/l1.h"

#include "trace/base/testing.h"
#include "trace/program/random_testing.h"

static struct l1 *make(uint32_t lines, uint32_t ways, enum l1_allocate allocate)
{
    struct l1_shape shape = {.lines = lines, .ways = ways, .allocate = allocate};
    struct l1 *l1 = l1_new(&shape, NULL);
    ck_assert_ptr_nonnull(l1);
    return l1;
}

START_TEST(the_worked_example)
{
    enum { A = 10, B = 20, C = 30 };
    struct l1 *l1 = make(2, 0, L1_ON_FILL);
    ck_assert_uint_eq(l1_read(l1, A, 1), 0);
    l1_fill(l1, A, 1);
    l1_fill(l1, B, 1);
    ck_assert_uint_eq(l1_read(l1, A, 1), 1);
    l1_fill(l1, C, 1);
    ck_assert_uint_eq(l1_read(l1, A, 3), 1);
    ck_assert_uint_eq(l1_read(l1, B, 1), 0);
    l1_free(l1);
}
END_TEST

START_TEST(a_store_drops_its_sector_and_an_empty_line_its_place)
{
    struct l1 *l1 = make(2, 0, L1_ON_FILL);
    l1_fill(l1, 1, 3);
    l1_fill(l1, 2, 1);
    l1_write(l1, 1, 1);
    ck_assert_uint_eq(l1_read(l1, 1, 3), 2);
    l1_write(l1, 2, 15);
    l1_fill(l1, 3, 1); /* in line 2's place */
    ck_assert_uint_eq(l1_read(l1, 1, 3), 2);
    ck_assert_uint_eq(l1_read(l1, 3, 1), 1);
    l1_write(l1, 77, 15);
    l1_free(l1);
}
END_TEST

START_TEST(a_line_that_waits_is_not_pushed_out)
{
    struct l1 *l1 = make(2, 2, L1_ON_MISS);
    ck_assert_uint_eq(l1_read(l1, 1, 1), 0);
    ck_assert_uint_eq(l1_read(l1, 2, 1), 0);
    ck_assert_uint_eq(l1_read(l1, 3, 1), 0); /* both wait: no place */
    l1_fill(l1, 3, 1);
    ck_assert_uint_eq(l1_read(l1, 3, 1), 0);
    l1_fill(l1, 1, 1);
    ck_assert_uint_eq(l1_read(l1, 4, 1), 0); /* takes line 1's place, in which nothing is awaited any more */
    l1_fill(l1, 2, 1);
    ck_assert_uint_eq(l1_read(l1, 2, 1), 1);
    ck_assert_uint_eq(l1_read(l1, 1, 1), 0);
    l1_free(l1);
}
END_TEST

START_TEST(random_replacement_is_a_seed_and_hits_less_than_lru_does_more_than_fits_in_turn)
{
    uint64_t hits[3] = {0};
    for (int k = 0; k < 3; k++) {
        struct l1_shape shape = {.lines = 100, .replacement = k ? L1_RANDOM : L1_LRU, .seed = k == 1 ? 5 : 6};
        struct l1 *l1 = l1_new(&shape, NULL);
        for (uint64_t i = 0; i < 12000; i++) {
            uint64_t line = i % 120;
            hits[k] += l1_read(l1, line, 1);
            l1_fill(l1, line, 1);
        }
        l1_free(l1);
    }
    ck_assert_uint_eq(hits[0], 0); /* least recently used loses all of a cycle that is too long */
    ck_assert_uint_gt(hits[1], 12000 / 2);
    ck_assert_uint_lt(hits[1], 12000 * 4 / 5);
    ck_assert_uint_ne(hits[1], hits[2]);
}
END_TEST

START_TEST(no_lines_or_more_ways_than_lines_are_refused)
{
    struct err err;
    ck_assert_ptr_null(l1_new(&(struct l1_shape){.lines = 0}, &err));
    ck_assert_ptr_null(l1_new(&(struct l1_shape){.lines = 4, .ways = 5}, &err));
}
END_TEST

/* --- against a list, searched from end to end --- */

enum { MOST = 64 };

struct plain {
    uint32_t lines, ways, n;
    bool on_miss;
    struct {
        uint64_t line, used;
        uint32_t valid, wait;
    } e[MOST];
    uint64_t now;
};

static int plain_find(const struct plain *p, uint64_t line)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->e[i].line == line)
            return (int)i;
    return -1;
}

static int plain_take(struct plain *p, uint64_t line)
{
    uint32_t sets = p->ways ? p->lines / p->ways : 1, room = p->ways ? p->ways : p->lines, of_set = 0;
    int oldest = -1;
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->e[i].line % sets != line % sets)
            continue;
        of_set++;
        if (!p->e[i].wait && (oldest < 0 || p->e[i].used < p->e[oldest].used))
            oldest = (int)i;
    }
    if (of_set == room && oldest < 0)
        return -1;
    if (of_set == room)
        p->e[oldest] = p->e[--p->n];
    p->e[p->n].line = line;
    p->e[p->n].valid = p->e[p->n].wait = 0;
    p->e[p->n].used = ++p->now;
    return (int)p->n++;
}

static uint32_t plain_read(struct plain *p, uint64_t line, uint32_t sectors)
{
    int i = plain_find(p, line);
    uint32_t found = i < 0 ? 0 : p->e[i].valid & sectors;
    if (found)
        p->e[i].used = ++p->now;
    if (p->on_miss && found != sectors) {
        i = i < 0 ? plain_take(p, line) : i;
        if (i >= 0)
            p->e[i].wait |= sectors & ~found;
    }
    return found;
}

static void plain_fill(struct plain *p, uint64_t line, uint32_t sectors)
{
    int i = plain_find(p, line);
    if (i >= 0)
        p->e[i].used = ++p->now;
    else if (!p->on_miss)
        i = plain_take(p, line);
    if (i < 0)
        return;
    p->e[i].valid |= sectors;
    p->e[i].wait &= ~sectors;
}

static void plain_write(struct plain *p, uint64_t line, uint32_t sectors)
{
    int i = plain_find(p, line);
    if (i < 0 || !(p->e[i].valid & sectors))
        return;
    p->e[i].valid &= ~sectors;
    if (!p->e[i].valid && !p->e[i].wait)
        p->e[i] = p->e[--p->n];
}

static void compare(uint64_t seed)
{
    uint64_t s = seed;
    static const uint32_t ways[] = {0, 0, 1, 2, 4, 8};
    struct plain p = {.ways = ways[seed % 6], .on_miss = seed / 6 % 2};
    uint32_t most = p.ways ? p.ways * (1 + (uint32_t)(program_draw(&s) % 8)) : 1 + (uint32_t)(program_draw(&s) % MOST);
    struct l1 *l1 = make(most, p.ways, p.on_miss ? L1_ON_MISS : L1_ON_FILL);
    p.lines = most;
    for (int i = 0; i < 3000; i++) {
        uint64_t line = program_draw(&s) % (2 * most + 3), what = program_draw(&s) % 8;
        uint32_t sectors = 1 + (uint32_t)(program_draw(&s) % 15);
        line = program_draw(&s) % 4 ? line : line << 30;
        if (what < 4) {
            ck_assert_uint_eq(l1_read(l1, line, sectors), plain_read(&p, line, sectors));
        } else if (what < 7) {
            l1_fill(l1, line, sectors);
            plain_fill(&p, line, sectors);
        } else if (program_draw(&s) % 300) {
            l1_write(l1, line, sectors);
            plain_write(&p, line, sectors);
        } else {
            p.lines = p.ways ? p.ways * (1 + (uint32_t)(program_draw(&s) % (most / p.ways)))
                             : 1 + (uint32_t)(program_draw(&s) % most);
            p.n = 0;
            l1_resize(l1, p.lines);
        }
    }
    l1_free(l1);
}

START_TEST(the_same_as_a_list_searched_from_end_to_end)
{
    for (uint64_t seed = 0; seed < 120; seed++)
        compare(seed);
}
END_TEST

TEST_MAIN("l1", the_worked_example, a_store_drops_its_sector_and_an_empty_line_its_place,
          a_line_that_waits_is_not_pushed_out,
          random_replacement_is_a_seed_and_hits_less_than_lru_does_more_than_fits_in_turn,
          no_lines_or_more_ways_than_lines_are_refused, the_same_as_a_list_searched_from_end_to_end)
