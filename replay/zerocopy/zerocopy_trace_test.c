#include "replay/zerocopy/zerocopy.h"

#include "replay/run/testing_replay.h"

/* A trace of scans: one structure of 1,000 8-byte elements at 4096, and these records. */
static struct store *begin(const char *name, const struct record *records, size_t n, bool structures)
{
    struct store *store = GIVES(store_create(testing_file(name), true, "test", &err));
    struct stream stream = {.name = "scans", .unit = TIME_NONE, .space = ADDR_BYTES};
    const struct store_value row[] = {STORE_V_INT(0), STORE_V_TEXT("edges"), STORE_V_INT(4096),
                                      STORE_V_INT(8), STORE_V_INT(1000),     STORE_V_NULL};
    int index;
    WORKS(store_stream_add(store, &stream, &index, &err));
    if (structures)
        WORKS(store_row(store, "structures", row, 6, &err));
    WORKS(store_append(store, index, records, NULL, n, &err));
    return store;
}

/* Its path. */
static const char *end(struct store *store, const char *name)
{
    WORKS(store_finish(store, &err));
    store_close(store);
    return testing_file(name);
}

static const char *make(const char *name, const struct record *records, size_t n, bool structures)
{
    return end(begin(name, records, n, structures), name);
}

static int replay(const char *path, struct replay_result *result, struct err *err)
{
    return testing_try_replay(
        result, (struct replay_request){.engine = engine_find("zerocopy"), .policy_list = "merged", .threads = 1}, path,
        err);
}

START_TEST(stored_scans_are_counted)
{
    const struct record r[] = {{.kind = RECORD_SCAN, .addr = 4096, .bytes = 256, .id = 3},
                               {.kind = RECORD_SCAN, .addr = 4096 + 256, .bytes = 128, .id = 9000},
                               {.kind = RECORD_KERNEL_END},
                               {.kind = RECORD_SCAN, .addr = 4096, .bytes = 32, .id = 1, .group = 1}};
    struct replay_result result;
    WORKS(replay(make("good.db", r, 4, true), &result, &err));
    ck_assert_int_eq(outcome_get(&result.runs[0], "requests_128")->whole, 3);
    ck_assert_int_eq(outcome_get(&result.runs[0], "requests_32")->whole, 1);
    ck_assert_int_eq(outcome_get(&result.runs[0], "launches")->whole, 2);
    replay_release(&result);
}
END_TEST

START_TEST(scans_that_make_no_sense_are_refused_with_their_number)
{
    static const struct record outside[] = {{.kind = RECORD_SCAN, .addr = 4096 + 8000, .bytes = 8, .id = 1}};
    static const struct record below[] = {{.kind = RECORD_SCAN, .addr = 8, .bytes = 8, .id = 1}};
    static const struct record unaligned[] = {{.kind = RECORD_SCAN, .addr = 4097, .bytes = 8, .id = 1}};
    static const struct record empty[] = {{.kind = RECORD_SCAN, .addr = 4096, .bytes = 0, .id = 1}};
    static const struct record huge[] = {{.kind = RECORD_SCAN, .addr = 4096, .bytes = ~7ULL, .id = 1}};
    static const struct record falling[] = {{.kind = RECORD_SCAN, .addr = 4160, .bytes = 8, .id = 1},
                                            {.kind = RECORD_SCAN, .addr = 4096, .bytes = 8, .id = 2}};
    static const struct {
        const char *name;
        const struct record *records;
        size_t n;
    } bad[] = {{"outside.db", outside, 1}, {"below.db", below, 1}, {"unaligned.db", unaligned, 1},
               {"empty.db", empty, 1},     {"huge.db", huge, 1},   {"falling.db", falling, 2}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct replay_result result;
        struct err err = {""};
        ck_assert_int_eq(replay(make(bad[i].name, bad[i].records, bad[i].n, true), &result, &err), -1);
        ck_assert_msg(strstr(err.msg, "record") != NULL, "%s", err.msg);
    }
    struct replay_result result;
    struct err err = {""};
    ck_assert_int_eq(replay(make("bare.db", empty, 1, false), &result, &err), -1);
    ck_assert_msg(strstr(err.msg, "structures") != NULL, "%s", err.msg);
}
END_TEST

/* What the origin says of the workload, one key each. */
START_TEST(the_setup_is_what_the_origin_says)
{
    static const struct {
        const char *key, *value;
        struct scan_setup setup;
        uint64_t runs;
    } rows[] = {
        {"note", "none", {.shape = SCAN_LISTS, .threads_per_block = 128, .visits = true}, 1},
        {"workload", "bfs", {.shape = SCAN_LISTS, .threads_per_block = 128, .visits = true}, 1},
        {"workload", "pagerank", {.shape = SCAN_LISTS, .threads_per_block = 128, .visits = true}, 1},
        {"workload", "sssp", {.shape = SCAN_LISTS, .threads_per_block = 128, .visits = true, .unmasked_head = true}, 1},
        {"workload.lanes", "7", {.shape = SCAN_LISTS, .threads_per_block = 128, .visits = true, .lanes = 7}, 1},
        {"workload.threads_per_block", "96", {.shape = SCAN_LISTS, .threads_per_block = 96, .visits = true}, 1},
        {"workload.reuse",
         "group4",
         {.shape = SCAN_LISTS, .threads_per_block = 128, .visits = true, .reuse = REUSE_GROUP4},
         1},
        {"workload.reuse", "other", {.shape = SCAN_LISTS, .threads_per_block = 128, .visits = true}, 1},
        {"workload.runs", "0", {.shape = SCAN_LISTS, .threads_per_block = 128, .visits = true}, 1},
        {"workload.runs", "1", {.shape = SCAN_LISTS, .threads_per_block = 128, .visits = true}, 1},
        {"workload.runs", "5", {.shape = SCAN_LISTS, .threads_per_block = 128, .visits = true}, 5},
        {"workload.runs", "many", {.shape = SCAN_LISTS, .threads_per_block = 128, .visits = true}, 1},
    };
    static const struct record r[] = {{.kind = RECORD_SCAN, .addr = 4096, .bytes = 8, .id = 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err err = {""};
        struct store *store = begin("keys.db", r, 1, true);
        ck_assert_int_eq(store_origin(store, rows[i].key, rows[i].value, &err), 0);
        store = store_open(end(store, "keys.db"), &err);
        struct zerocopy_trace *t = store ? zerocopy_trace_open(store, &err) : NULL;
        ck_assert_msg(t != NULL, "%s", err.msg);
        struct scan_setup s, as = rows[i].setup;
        zerocopy_trace_ops.setup(t, &s);
        ck_assert_msg(s.shape == as.shape && s.reuse == as.reuse && s.visits == as.visits &&
                          s.unmasked_head == as.unmasked_head && s.lanes == as.lanes &&
                          s.threads_per_block == as.threads_per_block,
                      "%s=%s", rows[i].key, rows[i].value);
        ck_assert_uint_eq(zerocopy_trace_ops.runs(t), rows[i].runs);
        zerocopy_trace_close(t);
        store_close(store);
    }
}
END_TEST

/* The structure and the origin's keys at both ends of what is taken. */
START_TEST(a_setup_that_cannot_be_is_refused)
{
    static const struct {
        int64_t base, element, elements;
        const char *key, *value;
        bool good;
    } rows[] = {
        {0, 4, 1, "note", "", true},
        {0, 16, 1, "workload.threads_per_block", "1", true},
        {0, 8, 1, "workload.threads_per_block", "1024", true},
        {0, 8, 1, "workload.threads_per_block", "0", false},
        {0, 8, 1, "workload.threads_per_block", "1025", false},
        {0, 8, INT64_C(1) << 46, "note", "", true},
        {0, 8, (INT64_C(1) << 46) + 1, "note", "", false},
        {0, 8, 0, "note", "", false},
        {0, 12, 1, "note", "", false},
        {INT64_C(1) << 47, 8, 1, "note", "", true},
        {(INT64_C(1) << 47) + 1, 8, 1, "note", "", false},
        {0, 8, 1, "workload", "gather", false}, /* rows of 4 B are no element */
        {0, 4, 1, "workload", "gather", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err err = {""};
        struct store *store = begin("setup.db", NULL, 0, false);
        const struct store_value row[] = {STORE_V_INT(0),
                                          STORE_V_TEXT("edges"),
                                          STORE_V_INT(rows[i].base),
                                          STORE_V_INT(rows[i].element),
                                          STORE_V_INT(rows[i].elements),
                                          STORE_V_NULL};
        ck_assert_int_eq(store_row(store, "structures", row, 6, &err), 0);
        ck_assert_int_eq(store_origin(store, rows[i].key, rows[i].value, &err), 0);
        store = store_open(end(store, "setup.db"), &err);
        struct zerocopy_trace *t = store ? zerocopy_trace_open(store, &err) : NULL;
        ck_assert_msg((t != NULL) == rows[i].good, "row %zu: %s", i, err.msg);
        if (t)
            zerocopy_trace_close(t);
        store_close(store);
    }
}
END_TEST

TEST_MAIN("zerocopy_trace")
