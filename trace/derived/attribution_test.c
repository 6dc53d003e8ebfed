#include "trace/derived/attribution.h"

#include "trace/base/testing.h"

/* Launches of a at 100..200 and 300..400, of b at 350..450; memory at 0x10000 (32 KiB) and, inside it, at 0x14000. */
static struct store *make(void)
{
    struct store *store = GIVES(store_create(testing_file("o.db"), true, "test", &err));
    static const struct {
        const char *name;
        int64_t start, duration;
    } kernels[] = {{"a", 100, 100}, {"a", 300, 100}, {"b", 350, 100}, {"never timed", 0, 0}};
    for (int64_t i = 0; i < 4; i++) {
        const struct store_value row[16] = {STORE_V_INT(i), STORE_V_TEXT(kernels[i].name), STORE_V_INT(i),
                                            STORE_V_INT(kernels[i].start), STORE_V_INT(kernels[i].duration)};
        WORKS(store_row(store, "kernels", row, 16, &err));
    }
    const struct store_value first[7] = {STORE_V_INT(0), STORE_V_INT(0x10000), STORE_V_INT(0x8000),
                                         STORE_V_TEXT("managed"), STORE_V_TEXT("x")};
    const struct store_value second[7] = {STORE_V_INT(1), STORE_V_INT(0x14000), STORE_V_INT(0x1000),
                                          STORE_V_TEXT("pinned")};
    WORKS(store_row(store, "allocations", first, 7, &err));
    WORKS(store_row(store, "allocations", second, 7, &err));
    WORKS(store_finish(store, &err));
    store_close(store);
    return GIVES(store_open(testing_file("o.db"), &err));
}

START_TEST(a_time_belongs_to_the_kernel_that_runs)
{
    struct attribution o;
    struct store *store = make();
    WORKS(attribution_init(&o, store, ATTRIBUTION_KERNEL, NULL, 0, &err));
    ck_assert_uint_eq(o.count, 5);
    static const struct {
        int64_t time;
        const char *owner;
    } cases[] = {{99, "(outside kernels)"},
                 {100, "a"},
                 {199, "a"},
                 {200, "(outside kernels)"},
                 {349, "a"},
                 {350, "(ambiguous: several kernels at once)"},
                 {399, "(ambiguous: several kernels at once)"},
                 {400, "b"},
                 {450, "(outside kernels)"},
                 {INT64_MAX, "(outside kernels)"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(o.items[attribution_find(&o, cases[i].time)].name, cases[i].owner);
    ck_assert_uint_eq(o.items[0].launches, 2);
    ck_assert_int_eq(o.items[0].time_ns, 200);
    attribution_release(&o);
    static const uint64_t one_process[] = {3, 2};
    WORKS(attribution_init(&o, store, ATTRIBUTION_KERNEL, one_process, 2, &err));
    ck_assert_uint_eq(o.count, 4);
    ck_assert_str_eq(o.items[attribution_find(&o, 350)].name, "b"); /* a is another one's */
    attribution_release(&o);
    store_close(store);
}
END_TEST

START_TEST(an_address_belongs_to_the_allocation_that_holds_it)
{
    struct attribution o;
    struct store *store = make();
    WORKS(attribution_init(&o, store, ATTRIBUTION_ALLOCATION, NULL, 0, &err));
    ck_assert_uint_eq(o.count, 4);
    ck_assert_str_eq(o.items[attribution_find(&o, 0x10000)].name, "0 managed x");
    ck_assert_str_eq(o.items[attribution_find(&o, 0x14fff)].name, "(ambiguous: several allocations)");
    ck_assert_str_eq(o.items[attribution_find(&o, 0x15000)].name, "0 managed x");
    ck_assert_str_eq(o.items[attribution_find(&o, 0x18000)].name, "(outside known allocations)");
    ck_assert_str_eq(o.items[1].name, "1 pinned");
    attribution_release(&o);
    store_close(store);
}
END_TEST

/* Thread 1: step at 100..400, copy in it at 150..200; another step, marked only. Thread 2: copy at 180..250. */
START_TEST(a_time_belongs_to_the_innermost_range)
{
    struct attribution o;
    struct store *store = GIVES(store_create(testing_file("r.db"), true, "test", &err));
    static const char *const names[] = {"copy", "step", "only a mark", "copy"};
    for (int64_t i = 0; i < 4; i++) {
        const struct store_value row[] = {STORE_V_INT(i), STORE_V_TEXT(names[i])};
        WORKS(store_row(store, "strings", row, 2, &err));
    }
    static const struct record records[] = {
        {.kind = RECORD_RANGE, .time = 150, .duration = 50, .id = 0, .group = 1},
        {.kind = RECORD_RANGE, .time = 100, .duration = 300, .id = 1, .group = 1},
        {.kind = RECORD_RANGE, .time = 120, .id = 2, .group = 1},
        {.kind = RECORD_RANGE, .time = 180, .duration = 70, .id = 3, .group = 2},
    };
    struct stream stream = {.name = "uvm", .unit = TIME_NS};
    int index;
    WORKS(store_stream_add(store, &stream, &index, &err));
    WORKS(store_append(store, index, records, NULL, 4, &err));
    WORKS(store_finish(store, &err));
    store_close(store);
    store = GIVES(store_open(testing_file("r.db"), &err));
    WORKS(attribution_init(&o, store, ATTRIBUTION_RANGE, NULL, 0, &err));
    ck_assert_uint_eq(o.count, 4);
    static const struct {
        int64_t time;
        const char *owner;
    } cases[] = {{99, "(outside ranges)"},
                 {100, "step"},
                 {120, "step"},
                 {150, "copy"},
                 {199, "copy"}, /* of both threads */
                 {200, "(ambiguous: threads in several ranges)"},
                 {250, "step"},
                 {400, "(outside ranges)"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(o.items[attribution_find(&o, cases[i].time)].name, cases[i].owner);
    const struct owner *copy = &o.items[strcmp(o.items[0].name, "copy") != 0];
    ck_assert_uint_eq(copy->launches, 2);
    ck_assert_int_eq(copy->time_ns, 120);
    attribution_release(&o);
    store_close(store);
}
END_TEST

START_TEST(a_trace_that_names_none_has_none)
{
    struct attribution o;
    struct store *store = GIVES(store_create(testing_file("n.db"), true, "test", &err));
    WORKS(store_finish(store, &err));
    store_close(store);
    store = GIVES(store_open(testing_file("n.db"), &err));
    WORKS(attribution_init(&o, store, ATTRIBUTION_KERNEL, NULL, 0, &err));
    ck_assert_uint_eq(o.count, 0);
    attribution_release(&o);
    store_close(store);
}
END_TEST

TEST_MAIN("attribution")
