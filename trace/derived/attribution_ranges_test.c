/* Looks at the ranges themselves. */
#include "trace/derived/attribution.c"

#include "trace/base/random.h"
#include "trace/base/testing.h"

enum { TIMES = 64 };

/* The row of `thread` at `time`, by looking at every range: the one that began last, of those the one that ends first,
 * of those the last row. -1: none. */
static int64_t innermost(const struct nesting_range *ranges, size_t n, uint32_t thread, int64_t time)
{
    const struct nesting_range *best = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct nesting_range *r = &ranges[i];
        if (r->thread != thread || r->start > time || r->end <= time)
            continue;
        if (!best || r->start > best->start || (r->start == best->start && r->end < best->end) ||
            (r->start == best->start && r->end == best->end && r->row > best->row))
            best = r;
    }
    return best ? (int64_t)best->row : -1;
}

/* Of all threads: the row that they agree on. */
static int64_t expected(const struct nesting_range *ranges, size_t n, uint32_t threads, int64_t time)
{
    int64_t found = RANGE_MAP_NONE;
    for (uint32_t t = 0; t < threads; t++) {
        int64_t row = innermost(ranges, n, t, time);
        if (row >= 0 && found != RANGE_MAP_SEVERAL)
            found = found == RANGE_MAP_NONE || found == row ? row : RANGE_MAP_SEVERAL;
    }
    return found;
}

START_TEST(any_ranges_have_the_innermost_one_at_each_moment)
{
    struct random random = {20261123};
    for (int round = 0; round < 3000; round++) {
        struct nesting nesting = {0};
        struct range_map map = {0};
        struct nesting_range ranges[12];
        const uint32_t threads = 1 + random_below(&random, 3);
        const size_t n = random_below(&random, 13);
        for (size_t i = 0; i < n; i++) {
            const uint32_t start = random_below(&random, TIMES - 2);
            ranges[i] = (struct nesting_range){.start = start,
                                               .end = start + 1 + random_below(&random, TIMES - 1 - start),
                                               .row = random_below(&random, 4),
                                               .thread = random_below(&random, threads)};
        }
        nesting.items = malloc(sizeof ranges);
        memcpy(nesting.items, ranges, n * sizeof *ranges);
        nesting.count = n;
        WORKS(nesting_innermost(&nesting, &map, &err));
        WORKS(range_map_build(&map, &err));
        for (int64_t t = 0; t < TIMES; t++)
            ck_assert_int_eq(range_map_find(&map, t), expected(ranges, n, threads, t));
        range_map_release(&map);
        nesting_release(&nesting);
    }
}
END_TEST

START_TEST(a_range_that_never_ends_is_open_to_the_last_moment)
{
    struct range_map map = {0};
    struct nesting nesting = {0};
    struct nesting_range ranges[] = {{5, INT64_MAX, 1, 9}, {7, 8, 2, 9}};
    nesting.items = malloc(sizeof ranges);
    memcpy(nesting.items, ranges, sizeof ranges);
    nesting.count = 2;
    WORKS(nesting_innermost(&nesting, &map, &err));
    WORKS(range_map_build(&map, &err));
    ck_assert_int_eq(range_map_find(&map, 4), RANGE_MAP_NONE);
    ck_assert_int_eq(range_map_find(&map, 7), 2);
    ck_assert_int_eq(range_map_find(&map, INT64_MAX - 1), 1);
    range_map_release(&map);
    nesting_release(&nesting);
}
END_TEST

START_TEST(ranges_of_a_trace_are_read_with_their_names)
{
    struct store *store = GIVES(store_create(testing_file("n.db"), true, "test", &err));
    const struct store_value first[] = {STORE_V_INT(0), STORE_V_TEXT("load")},
                             unused[] = {STORE_V_INT(1), STORE_V_TEXT("a mark")};
    WORKS(store_row(store, "strings", first, 2, &err));
    WORKS(store_row(store, "strings", unused, 2, &err));
    static const struct record records[] = {
        {.kind = RECORD_RANGE, .time = 10, .duration = 5, .id = 0, .group = 7},
        {.kind = RECORD_RANGE, .time = 11, .id = 1, .group = 7},
        {.kind = RECORD_FAULT, .time = 12, .duration = 4, .addr = 0x1000},
        {.kind = RECORD_RANGE, .time = RECORD_TIME_MAX - 3, .duration = 9, .id = 44, .group = 8},
    };
    struct stream ns = {.name = "uvm", .unit = TIME_NS},
                  cycles = {.name = "core", .unit = TIME_CYCLES, .clock = "core"};
    int index;
    WORKS(store_stream_add(store, &cycles, &index, &err));
    WORKS(store_append(store, index, records, NULL, 1, &err));
    WORKS(store_stream_add(store, &ns, &index, &err));
    WORKS(store_append(store, index, records, NULL, 4, &err));
    WORKS(store_finish(store, &err));
    store_close(store);
    store = GIVES(store_open(testing_file("n.db"), &err));
    struct nesting nesting = {0};
    WORKS(nesting_read(&nesting, store, &err));
    ck_assert_uint_eq(nesting.count, 2);
    ck_assert_int_eq(nesting.items[0].start, 10);
    ck_assert_int_eq(nesting.items[0].end, 15);
    ck_assert_uint_eq(nesting.items[0].thread, 7);
    ck_assert_str_eq(nesting_name(&nesting, nesting.items[0].row), "load");
    ck_assert_int_eq(nesting.items[1].end, RECORD_TIME_MAX + 6);
    ck_assert_str_eq(nesting_name(&nesting, nesting.items[1].row), "");
    nesting_release(&nesting);
    store_close(store);
}
END_TEST

TEST_MAIN("attribution_ranges")
