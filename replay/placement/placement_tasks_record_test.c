#include "replay/placement/placement_tasks.h"

#include "trace/base/testing.h"

enum { RECORDS = 64 };

/* One stream of what is given; the task of it. */
static int go(const struct record *records, size_t n, const char *kinds, struct placement_tasks *tasks, struct err *err)
{
    const char *path = testing_file("t.db");
    struct stream s = {.name = "uvm", .unit = TIME_NS};
    int stream;
    (void)unlink(path);
    struct store *store = store_create(path, true, "test", err);
    ck_assert_msg(store && store_stream_add(store, &s, &stream, err) == 0, "%s", err->msg);
    ck_assert_int_eq(store_append(store, stream, records, NULL, n, err), 0);
    ck_assert(!kinds || store_origin(store, "kinds.uvm", kinds, err) == 0);
    ck_assert_int_eq(store_finish(store, err), 0);
    store_close(store);
    store = store_open(path, err);
    ck_assert_msg(store != NULL, "%s", err->msg);
    int rc = placement_tasks_record(tasks, store, err);
    store_close(store);
    return rc;
}

enum { MS = 1000000, BIG = 64 << 10 };

static const struct record example[] = {
    {.kind = RECORD_KERNEL, .time = 0, .duration = 10 * MS},
    {.kind = RECORD_FAULT, .time = MS / 2, .duration = MS},
    {.kind = RECORD_MIGRATE_H2D,
     .time = MS,
     .duration = MS,
     .addr = 1 << 20,
     .bytes = BIG,
     .flags = RECORD_CAUSE_FAULT},
    {.kind = RECORD_MIGRATE_H2D,
     .time = 3 * MS,
     .duration = 2 * MS,
     .addr = (1 << 20) + BIG,
     .bytes = BIG,
     .flags = RECORD_CAUSE_PREFETCH},
    {.kind = RECORD_KERNEL, .time = 20 * MS, .duration = MS},
    {.kind = RECORD_MIGRATE_D2H, .time = 30 * MS, .duration = MS, .addr = 1 << 20, .bytes = BIG}};
enum { EXAMPLE = sizeof example / sizeof *example };

START_TEST(managed_memory_is_answered_from_its_migrations)
{
    struct placement_tasks tasks;
    WORKS(go(example, EXAMPLE, NULL, &tasks, &err));
    const struct placement_task *t = &tasks.tasks[0];
    ck_assert_double_eq(t->migrated_hd, 2 * BIG);
    ck_assert_double_eq(t->migrated_dh, BIG);
    ck_assert_int_eq(t->lo.bytes_hd, 2 * BIG);
    ck_assert_int_eq(t->lo.bytes_dh, BIG);
    ck_assert_int_eq(t->hi.bytes_dh, 2 * BIG); /* all that ever moved */
    ck_assert_int_eq(t->lo.kernels, 2);
    ck_assert_int_eq(t->lo.dirty_kernels, 1); /* nothing moved in the second */
    ck_assert_int_eq(t->hi.dirty_kernels, 2);
    ck_assert_int_eq(t->lo.dirty_bytes, 2 * BIG);
    ck_assert_double_eq_tol(t->lo.compute_ms, 6.5 + 1, 1e-9);
    ck_assert_double_eq_tol(t->hi.compute_ms, 10 + 1, 1e-9);
    ck_assert_double_eq(placement_task_bytes(&t->lo, PLACEMENT_DEVICE), 4 * BIG);
    ck_assert_int_eq(t->lo.copies, 2);
    ck_assert_int_eq(t->hi.copies, 2);
    placement_tasks_release(&tasks);
    WORKS(go(example, EXAMPLE - 1, NULL, &tasks, &err)); /* nothing came back */
    ck_assert_int_eq(tasks.tasks[0].lo.copies, 1);
    ck_assert_int_eq(tasks.tasks[0].hi.copies, 2);
    placement_tasks_release(&tasks);
}
END_TEST

START_TEST(what_was_evicted_and_came_back_is_no_copy)
{
    struct record records[EXAMPLE + 3];
    memcpy(records, example, sizeof example);
    records[EXAMPLE] = (struct record){
        .kind = RECORD_MIGRATE_D2H, .time = 6 * MS, .addr = 1 << 20, .bytes = BIG, .flags = RECORD_CAUSE_EVICTION};
    records[EXAMPLE + 1] = example[2];
    records[EXAMPLE + 1].time = 7 * MS;
    records[EXAMPLE + 2] =
        (struct record){.kind = RECORD_ALLOC, .addr = 1 << 20, .bytes = 4 * BIG, .flags = RECORD_ALLOC_MANAGED};
    struct placement_tasks tasks;
    WORKS(go(records, EXAMPLE + 3, NULL, &tasks, &err));
    const struct placement_task *t = &tasks.tasks[0];
    ck_assert_double_eq(t->migrated_hd, 3 * BIG); /* as recorded */
    ck_assert_int_eq(t->lo.bytes_hd, 2 * BIG);    /* but a copy brings each page once */
    ck_assert_int_eq(t->hi.bytes_hd, 4 * BIG);
    ck_assert_int_eq(t->lo.bytes_dh, 0);
    ck_assert_double_eq(placement_task_bytes(&t->lo, PLACEMENT_MANAGED), 4 * BIG);
    placement_tasks_release(&tasks);
}
END_TEST

START_TEST(copies_are_what_they_were)
{
    const struct record records[] = {
        {.kind = RECORD_COPY, .time = 0, .duration = MS, .bytes = 3 * BIG, .flags = RECORD_COPY_H2D},
        {.kind = RECORD_KERNEL, .time = MS, .duration = 2 * MS},
        {.kind = RECORD_COPY, .time = 4 * MS, .duration = MS, .bytes = BIG, .flags = RECORD_COPY_D2H}};
    struct placement_tasks tasks;
    WORKS(go(records, 3, NULL, &tasks, &err));
    const struct placement_task *t = &tasks.tasks[0];
    ck_assert_int_eq(t->lo.bytes_hd, 3 * BIG);
    ck_assert_int_eq(t->hi.bytes_hd, 3 * BIG);
    ck_assert_int_eq(t->lo.copies, 2);
    ck_assert_int_eq(t->hi.copies, 2);
    ck_assert_double_eq(t->lo.compute_ms, 2);
    ck_assert_double_eq(t->hi.compute_ms, 2);
    ck_assert_double_eq(t->migrated_hd, 0);
    placement_tasks_release(&tasks);
}
END_TEST

START_TEST(without_faults_everything_is_between_nothing_and_all)
{
    const struct record records[] = {{.kind = RECORD_ALLOC, .bytes = 4 * BIG, .flags = RECORD_ALLOC_MANAGED},
                                     {.kind = RECORD_KERNEL, .time = MS, .duration = 2 * MS}};
    struct placement_tasks tasks;
    FAILS_WITH(go(records, 2, "KERNEL ALLOC", &tasks, &err), "no record of migrations");
    WORKS(go(records, 2, "KERNEL ALLOC MIGRATE_H2D", &tasks, &err));
    const struct placement_task *t = &tasks.tasks[0];
    ck_assert_int_eq(t->lo.bytes_hd, 0);
    ck_assert_int_eq(t->hi.bytes_hd, 4 * BIG);
    ck_assert_double_eq(t->lo.compute_ms, 0);
    ck_assert_double_eq(t->hi.compute_ms, 2);
    placement_tasks_release(&tasks);
}
END_TEST

START_TEST(what_cannot_be_placed_is_refused)
{
    struct placement_tasks tasks;
    FAILS_WITH(go(&example[1], 2, NULL, &tasks, &err), "no kernel with a time");
}
END_TEST

static uint64_t state = 5;
static uint64_t any(uint64_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % n;
}

/* Against maps of every ms and of every page. */
START_TEST(random_recordings_served_time_and_moved_pages_are_those_of_a_map)
{
    for (int round = 0; round < 60; round++) {
        struct record r[RECORDS];
        bool served[200] = {false}, moved[200] = {false}, kernel[200] = {false};
        int64_t now = 0, dirty = 0;
        size_t n = 0, kernels = 1 + any(4);
        for (size_t k = 0; k < kernels; k++) {
            int64_t from = now + (int64_t)any(5), ms = 1 + (int64_t)any(30);
            r[n++] = (struct record){.kind = RECORD_KERNEL, .time = from * MS, .duration = ms * MS};
            now = from + ms;
            for (int64_t t = from; t < now; t++)
                kernel[t] = true;
        }
        size_t first_move = n;
        for (size_t m = any(20); m; m--) {
            int64_t from = (int64_t)any(150), ms = 1 + (int64_t)any(6);
            uint64_t page = any(150), pages = 1 + any(20);
            r[n++] = (struct record){.kind = RECORD_MIGRATE_H2D,
                                     .time = from * MS,
                                     .duration = ms * MS,
                                     .addr = page << 12,
                                     .bytes = pages << 12};
            for (int64_t t = from; t < from + ms; t++)
                served[t] = true;
            for (uint64_t p = page; p < page + pages; p++)
                moved[p] = true;
        }
        for (size_t k = 0; k < kernels; k++) {
            bool hit = false;
            for (int64_t t = r[k].time / MS; t < (r[k].time + r[k].duration) / MS; t++)
                hit |= served[t];
            dirty += hit;
        }
        int64_t free_ms = 0, pages = 0;
        for (size_t t = 0; t < 200; t++) {
            free_ms += kernel[t] && !served[t];
            pages += moved[t];
        }
        struct placement_tasks tasks;
        WORKS(go(r, n, NULL, &tasks, &err));
        const struct placement_task *t = &tasks.tasks[0];
        ck_assert_double_eq_tol(t->lo.compute_ms, (double)free_ms, 1e-6);
        ck_assert_int_eq(t->lo.shared_bytes, pages << 12);
        ck_assert_int_eq(t->lo.dirty_kernels, n > first_move && dirty == 0 ? 1 : dirty);
        placement_tasks_release(&tasks);
    }
}
END_TEST

TEST_MAIN("placement_record")
