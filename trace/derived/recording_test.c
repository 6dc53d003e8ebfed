#include "trace/derived/recording.h"

#include "trace/base/testing.h"
#include "trace/derived/batches.h"

static const struct recording anyone = {RECORDING_ANY, RECORDING_ANY};

/* Two processes at the same addresses, the second one on two GPUs; a kernel nobody is named for. */
static const struct {
    enum record_kind kind;
    int64_t process, src, dst;
} rows[] = {
    {RECORD_KERNEL, 0, 0, 0},        {RECORD_CPU_FAULT, 803, 0, 0},   {RECORD_MIGRATE_H2D, 803, 0, 0},
    {RECORD_CPU_FAULT, 804, 0, 0},   {RECORD_MIGRATE_H2D, 804, 0, 0}, {RECORD_MIGRATE_H2D, 804, 0, 1},
    {RECORD_MIGRATE_D2H, 804, 1, 0}, {RECORD_FAULT, 804, 1, 0},       {RECORD_ALLOC, 805, 0, 0},
};
enum { ROWS = sizeof rows / sizeof *rows };

static struct store *make(const char *name, int64_t process_mask)
{
    struct stream stream = {.name = "uvm", .unit = TIME_NS, .extra = {"process_id", "src_id", "dst_id"}};
    struct record records[ROWS];
    int64_t extra[3 * ROWS];
    for (int i = 0; i < ROWS; i++) {
        records[i] = (struct record){.kind = rows[i].kind,
                                     .time = 1000 * (i + 1),
                                     .duration = 10,
                                     .addr = 0x7f0000000000,
                                     .bytes = 4096,
                                     .flags = RECORD_CAUSE_FAULT};
        extra[i] = rows[i].process & process_mask;
        extra[ROWS + i] = rows[i].src;
        extra[2 * ROWS + i] = rows[i].dst;
    }
    struct store *store = GIVES(store_create(testing_file(name), true, "test", &err));
    int index;
    WORKS(store_stream_add(store, &stream, &index, &err));
    WORKS(store_append(store, index, records, extra, ROWS, &err));
    return store;
}

/* The positions of the records of a recording, as a set of bits. */
static unsigned positions(struct store *store, struct recording of)
{
    struct err err = {""};
    struct recording_walk w = {0};
    unsigned set = 0;
    while (recording_walk_next(&w, store, of, &err))
        set |= 1u << (w.at.r->time / 1000 - 1);
    ck_assert_int_eq(store_walk_end(&w.at), 0);
    return set;
}

START_TEST(each_process_and_gpu_reads_its_own_records_and_those_of_nobody)
{
    struct store *store = make("several.db", -1);
    ck_assert_uint_eq(positions(store, anyone), 0x1ff);
    ck_assert_uint_eq(positions(store, (struct recording){803, 0}), 0x007);
    ck_assert_uint_eq(positions(store, (struct recording){804, 0}), 0x019);
    ck_assert_uint_eq(positions(store, (struct recording){804, 1}), 0x0e9);
    ck_assert_uint_eq(positions(store, (struct recording){RECORDING_ANY, 0}), 0x11f);
    store_close(store);
}
END_TEST

START_TEST(one_of_several_must_be_chosen)
{
    struct recording chosen;
    struct store *store = make("choose.db", -1);
    FAILS_WITH(recording_choose(&chosen, anyone, store, &err),
               "several recordings: GPU 0 of process 803; GPU 0 of process 804; GPU 1 of "
               "process 804");
    FAILS(recording_choose(&chosen, (struct recording){804, RECORDING_ANY}, store, &err));
    FAILS_WITH(recording_choose(&chosen, (struct recording){805, RECORDING_ANY}, store, &err), "no such recording");
    WORKS(recording_choose(&chosen, (struct recording){803, RECORDING_ANY}, store, &err));
    ck_assert_int_eq(chosen.gpu, 0);
    WORKS(recording_choose(&chosen, (struct recording){RECORDING_ANY, 1}, store, &err));
    ck_assert_int_eq(chosen.process, 804);
    store_close(store);
}
END_TEST

START_TEST(records_that_name_no_process_are_told_apart_by_gpu_alone)
{
    struct recording chosen;
    struct store *store = make("nobody.db", 0);
    FAILS_WITH(recording_choose(&chosen, anyone, store, &err), "GPU 0; GPU 1;");
    WORKS(recording_choose(&chosen, (struct recording){RECORDING_ANY, 0}, store, &err));
    ck_assert_uint_eq(positions(store, chosen), 0x11f);
    store_close(store);
}
END_TEST

START_TEST(services_of_several_processes_are_not_joined)
{
    /* The migrations of 804 to GPU 0 and to GPU 1 and that of 803 are three services of one batch each; 804's GPU 1
     * has a fault record besides. */
    size_t batches, services;
    struct store *store = make("batches.db", -1);
    WORKS(batches_write(store, &batches, &services, &err));
    ck_assert_uint_eq(services, 3);
    ck_assert_uint_eq(batches, 4);
    store_close(store);
}
END_TEST

START_TEST(a_trace_with_too_many_processes_is_refused)
{
    struct stream stream = {.name = "uvm", .unit = TIME_NS, .extra = {"process_id", "src_id", "dst_id"}};
    struct record records[RECORDINGS_MAX + 1] = {{0}};
    static int64_t extra[3 * (RECORDINGS_MAX + 1)];
    for (int i = 0; i <= RECORDINGS_MAX; i++) {
        records[i].kind = RECORD_MIGRATE_H2D;
        extra[i] = i + 1;
    }
    struct store *store = GIVES(store_create(testing_file("many.db"), true, "test", &err));
    struct recordings *found = calloc(1, sizeof *found);
    int index;
    WORKS(store_stream_add(store, &stream, &index, &err));
    WORKS(store_append(store, index, records, extra, RECORDINGS_MAX + 1, &err));
    FAILS_WITH(recordings_find(found, store, &err), "more than 1024");
    free(found);
    store_close(store);
}
END_TEST

TEST_MAIN("recording")
