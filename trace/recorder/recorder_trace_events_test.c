#include "trace/recorder/recorder_trace.c"

#include <sys/wait.h>

#include "trace/base/testing.h"
#include "trace/recorder/testing_recorder.h"
#include "trace/store/store.h"

static struct err err;
static struct recorder_result result;

static struct record_pipe_message message(uint32_t kind, int64_t time, uint64_t number, uint64_t text)
{
    struct record_pipe_message m = {.type = RECORD_PIPE_RANGE, .kind = kind, .id = text};
    m.time = time;
    m.addr = number;
    m.group = 9;
    return m;
}

START_TEST(a_range_is_known_at_its_end_and_a_name_is_written_once)
{
    struct ranges ranges = {0};
    struct record r;
    int64_t name = -1;
    const struct record_pipe_message all[] = {message(2, 100, 1, 5), message(2, 150, 2, 6), message(1, 160, 3, 5),
                                              message(4, 200, 1, 0), message(4, 170, 2, 0), message(4, 300, 7, 0)};
    const int done[] = {0, 0, 1, 1, 1, 0};
    const int64_t names[] = {0, 1, -1, -1, -1, -1}, times[] = {0, 0, 160, 100, 150, 0},
                  lengths[] = {0, 0, 0, 100, 20, 0};
    for (size_t i = 0; i < 6; i++, name = -1) {
        ck_assert_int_eq(ranges_take(&ranges, &all[i], &r, &name, &err), done[i]);
        ck_assert_int_eq(name, names[i]);
        if (done[i]) {
            ck_assert_int_eq(r.time, times[i]);
            ck_assert_int_eq(r.duration, lengths[i]);
            ck_assert_uint_eq(r.id, i == 4 ? 1 : 0);
            ck_assert_uint_eq(r.group, 9);
        }
    }
    ck_assert_uint_eq(ranges.open_count, 0);
    id_map_release(&ranges.names);
    free(ranges.open);
}
END_TEST

static int take_name(void *ctx, const struct store_value *v, size_t n)
{
    if (n > 1)
        (void)strcat(strcat(ctx, v[1].s), " ");
    return 0;
}

START_TEST(a_programs_own_ranges_are_recorded_with_their_names)
{
    const char *path = testing_file("t.db"), *events = testing_file("events.csv");
    const struct recorder_options options = {.output = path, .unified_memory = true};
    char names[100] = "";
    const struct record *records;
    size_t n;
    FILE *f = fopen(events, "wb");
    (void)fputs("N,2,1000,1,77,load data\nN,2,1500,2,77,step\nK,1600,1700,kernel\nN,4,1800,2,77\n"
                "N,2,1900,3,77,step\nN,4,1950,3,77\nN,4,2000,1,77\nN,1,2100,4,77,here\nN,2,2200,5,77,left open\n",
                f);
    (void)fclose(f);
    setenv("STANDIN_EVENTS", events, 1);
    testing_record(&options, NULL, "init context play", &result);
    struct store *store = store_open(path, &err);
    ck_assert_msg(store, "%s", err.msg);
    ck_assert(store_complete(store));
    ck_assert_int_eq(store_rows(store, "strings", take_name, names, &err), 0);
    ck_assert_str_eq(names, "load data step here left open ");
    struct store_cursor *cursor = store_cursor_open(store, 0, &err);
    int ranges = 0;
    int64_t total = 0;
    while (store_cursor_next(cursor, &records, NULL, &n, &err) == 1)
        for (size_t i = 0; i < n; i++)
            if (records[i].kind == RECORD_RANGE) {
                ranges++;
                total += records[i].duration;
            }
    ck_assert_int_eq(ranges, 4);
    ck_assert_int_eq(total, 1000 + 300 + 50);
    store_cursor_close(cursor);
    store_close(store);
    ck_assert_uint_eq(result.files[0].skipped, 1);
    recorder_release(&result);
}
END_TEST

START_TEST(messages_come_out_by_time_and_equal_times_by_arrival)
{
    static const int64_t times[] = {5, 3, 9, 3, 1, 9, 3, 0, 7};
    struct order order = {0};
    for (size_t i = 0; i < 9; i++) {
        struct record_pipe_message m = {.id = i};
        m.time = times[i];
        ck_assert_int_eq(order_put(&order, &m, &err), 0);
    }
    static const uint64_t expected[] = {7, 4, 1, 3, 6, 0, 8, 2, 5};
    struct record_pipe_message m;
    for (size_t i = 0; i < 9; i++) {
        ck_assert(order_take(&order, 0, &m));
        ck_assert_uint_eq(m.id, expected[i]);
    }
    ck_assert(!order_take(&order, 0, &m));
    free(order.heap);
}
END_TEST

START_TEST(at_most_the_kept_number_is_held_back)
{
    struct order order = {0};
    struct record_pipe_message m = {0};
    for (int i = 0; i < 10; i++) {
        m.time = 10 - i;
        ck_assert_int_eq(order_put(&order, &m, &err), 0);
        if (i < 4)
            ck_assert(!order_take(&order, 4, &m));
        else
            ck_assert(order_take(&order, 4, &m));
    }
    ck_assert_uint_eq(order.n, 4);
    free(order.heap);
}
END_TEST

TEST_MAIN("recorder_trace_events")
