#include "replay/derive/derive.h"

#include "replay/derive/testing_program.h"
#include "replay/run/testing_replay.h"

static const struct metric metrics[] = {{"time_ns", METRIC_INT, METRIC_SUM, ""}, {0}};
static struct vecadd vecadd;

/* An exported program, as a recorder would leave it if told so. */
static struct store *recording(void)
{
    const struct program program = vecadd_program(&vecadd, 1000, false);
    const struct derive_source source = {.program = &program, .name = "test"};
    const struct derive_options all = {.last = UINT64_MAX};
    struct program_counts counts;
    const char *path = testing_file("recording.db");
    struct store *store = GIVES(store_create(path, OUTPUT_REPLACE, "test", &err));
    WORKS(derive_accesses(&source, store, &all, &counts, &err));
    WORKS(store_finish(store, &err));
    store_close(store);
    store = GIVES(store_open(path, &err));
    return store;
}

static struct outcome notes(struct store *store, enum workload_view view)
{
    struct outcome o;
    const struct derive_source source = {.store = store, .name = "test"};
    WORKS(outcome_init(&o, metrics, &err));
    derive_notes(&source, view, &o);
    return o;
}

START_TEST(what_a_recording_lacks_is_said)
{
    struct store *store = recording();
    struct outcome o = notes(store, VIEW_UVM);
    ck_assert(testing_noted(&o, "what waits for what is not recorded"));
    ck_assert(testing_noted(&o, "time_ns is without it"));
    outcome_release(&o);
    o = notes(store, VIEW_DRAM);
    ck_assert(testing_noted(&o, "in the order of the recording: kernel, block, warp, instruction"));
    outcome_release(&o);
    store_close(store);
}
END_TEST

START_TEST(a_workload_without_the_view_names_those_that_it_has)
{
    const struct workload_type type = {.name = "w", .views = VIEW_DRAM | VIEW_ZEROCOPY}, none = {.name = "n"};
    FAILS_AS(derive_no_view(&type, VIEW_UVM, &err), "workload w has no pages to touch; its views: zerocopy, dram");
    FAILS_AS(derive_no_view(&none, VIEW_DRAM, &err), "workload n makes no DRAM requests; its views: none");
}
END_TEST

START_TEST(a_view_for_one_replay_leaves_nothing_behind)
{
    struct err err = {""};
    struct store *store = recording();
    const struct derive_source source = {.store = store, .name = "accesses"};
    ck_assert_int_eq(setenv("SQLITE_TMPDIR", testing_dir(), 1), 0);
    struct store *touches = derive_view(&source, VIEW_UVM, &err), *lists = derive_view(&source, VIEW_ZEROCOPY, &err);
    ck_assert_msg(touches && lists, "%s", err.msg);
    ck_assert_int_ge(store_stream_find(touches, "touches"), 0);
    ck_assert_int_ge(store_stream_find(lists, "scans"), 0);
    ck_assert_str_eq(store_path(touches), "accesses");
    /* the recording */
    ck_assert_int_eq(system(testing_text("test $(ls %s | wc -l) -eq 1", testing_dir())), 0);
    store_close(touches);
    store_close(lists);
    store_close(store);
}
END_TEST

START_TEST(a_trace_without_accesses_is_no_program)
{
    struct store *store = GIVES(store_create_temporary(":memory:", &err));
    const struct input input = {.spec = "t.db", .role = "", .store = store};
    struct derive_input in;
    ck_assert(!derive_input_is(&input, VIEW_UVM));
    FAILS_WITH(derive_input_open(&in, &input, VIEW_UVM, &err), "t.db holds no accesses");
    store_close(store);
}
END_TEST

static struct vecadd vecadd;

START_TEST(launches_written_to_a_trace_are_read_as_they_were)
{
    const struct program program = vecadd_program(&vecadd, 1000, false);
    const struct derive_source generated = {.program = &program, .name = "test"};
    struct store *store = GIVES(store_create_temporary(":memory:", &err));
    WORKS(derive_launches_write(&generated, store, &err));
    const struct derive_source recorded = {.store = store, .name = "test"};
    struct derive_launches launches = {0};
    struct program_launch l;
    WORKS(derive_launches_open(&launches, &recorded, &err));
    derive_launches_get(&launches, 2, &l);
    ck_assert_uint_eq(l.blocks, vecadd_blocks(&vecadd));
    ck_assert_uint_eq(l.threads, VECADD_THREADS);
    ck_assert_uint_eq(l.registers, 20);
    ck_assert_uint_eq(l.shared, 1024);
    derive_launches_get(&launches, 1, &l); /* of the CPU: no shape */
    ck_assert_uint_eq(l.threads, 0);
    derive_launches_get(&launches, 99, &l); /* not in the table */
    ck_assert_uint_eq(l.blocks, 0);
    derive_launches_release(&launches);
    store_close(store);
}
END_TEST

static void put(struct store *store, int64_t id, int64_t grid, int64_t x, int64_t y)
{
    struct store_value row[16] = {STORE_V_INT(id), STORE_V_TEXT("k"), STORE_V_INT(id)};
    for (int i = 3; i < 16; i++)
        row[i] = STORE_V_NULL;
    for (int i = 5; i < 11; i++)
        row[i] = STORE_V_INT(1);
    row[5] = STORE_V_INT(grid);
    row[8] = x ? STORE_V_INT(x) : STORE_V_NULL;
    row[9] = STORE_V_INT(y);
    WORKS(store_row(store, "kernels", row, 16, &err));
}

START_TEST(a_shape_that_cannot_be_is_not_known)
{
    struct store *store = GIVES(store_create_temporary(":memory:", &err));
    const struct derive_source source = {.store = store, .name = "test"};
    struct derive_launches launches = {0};
    struct program_launch l;
    put(store, 0, 7, 32, 8);
    put(store, 1, -1, 1024, 2);
    put(store, 2, 1, 0, 1);
    put(store, 3, INT64_MAX, INT64_MAX, INT64_MAX);
    put(store, INT64_C(1) << 50, 5, 64, 1); /* far from the others: no room for what is between */
    WORKS(derive_launches_open(&launches, &source, &err));
    derive_launches_get(&launches, 0, &l);
    ck_assert_uint_eq(l.blocks, 7);
    ck_assert_uint_eq(l.threads, 256);
    for (uint64_t id = 1; id < 4; id++) {
        derive_launches_get(&launches, id, &l);
        ck_assert_uint_eq(l.threads, 0);
        ck_assert_uint_eq(l.blocks, id == 2);
    }
    derive_launches_get(&launches, UINT64_C(1) << 50, &l);
    ck_assert_uint_eq(l.blocks, 5);
    derive_launches_get(&launches, (UINT64_C(1) << 50) - 1, &l);
    ck_assert_uint_eq(l.blocks, 0);
    derive_launches_release(&launches);
    store_close(store);
}
END_TEST

static int count_name(void *ctx, uint64_t id, const char *name)
{
    ck_assert_str_eq(name, id == 1 ? "check" : "vecadd");
    return ++*(int *)ctx == 3 ? 7 : 0;
}

START_TEST(names_stop_where_the_caller_says)
{
    const struct program program = vecadd_program(&vecadd, 1000, false);
    const struct derive_source source = {.program = &program, .name = "test"};
    int names = 0;
    RETURNS(derive_launches_names(&source, count_name, &names, &err), 7);
    ck_assert_int_eq(names, 3);
}
END_TEST

TEST_MAIN("derive_source")
