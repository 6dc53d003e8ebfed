#include "trace/derived/limits.h"

#include <dirent.h>
#include <jansson.h>
#include <sys/stat.h>

#include "trace/base/regular_file.h"
#include "trace/base/testing.h"

static struct store *fresh(const char *name)
{
    return GIVES(store_create(testing_file(name), OUTPUT_IN_PLACE, "test", &err));
}

static json_t *said_of(const char *name)
{
    json_t *said = json_array();
    struct store *store = GIVES(limits_open(testing_file(name), limits_collect, &said, &err));
    store_close(store);
    return said;
}

/* The sentences of a trace end in these, in this order; the array ends with NULL. */
static void says(const char *name, const char *const *ends)
{
    json_t *said = said_of(name);
    size_t n = 0;
    for (; ends[n]; n++) {
        const char *text = json_string_value(json_array_get(said, n));
        ck_assert_msg(text && limits_note(text) && strstr(text, name), "%s", ends[n]);
        ck_assert_msg(strcmp(text + strlen(text) - strlen(ends[n]), ends[n]) == 0, "%s, not %s", text, ends[n]);
    }
    ck_assert_uint_eq(json_array_size(said), n);
    json_decref(said);
}
#define SAYS(NAME, ...) says(NAME, (const char *const[]){__VA_ARGS__, NULL})

START_TEST(a_whole_trace_says_nothing)
{
    struct store *store = fresh("whole.db");
    WORKS(store_drop(store, "counted, and there were none", 0, &err));
    WORKS(store_finish(store, &err));
    store_close(store);
    says("whole.db", (const char *const[]){NULL});
    ck_assert(!limits_note("whole"));
}
END_TEST

START_TEST(a_writer_that_was_stopped_is_told_and_why_if_that_is_known)
{
    store_close(fresh("killed.db"));
    SAYS("killed.db", "is incomplete: it ends where its writer, or its source, was stopped");
    struct store *store = fresh("why.db");
    WORKS(store_origin(store, "state.why", "the disk was full", &err));
    WORKS(store_keep(store, &err));
    store_close(store);
    SAYS("why.db", "is incomplete: the disk was full");
}
END_TEST

static void put_kernel(struct store *store, int64_t id, int64_t device)
{
    struct store_value row[16] = {STORE_V_INT(id), STORE_V_TEXT("k")};
    for (int i = 2; i < 16; i++)
        row[i] = i == 14 ? STORE_V_INT(device) : STORE_V_NULL;
    WORKS(store_row(store, "kernels", row, 16, &err));
}

static void put_all(struct store *store)
{
    static const char *const facts[][2] = {{"sample", "the first 3 of 9 records"},
                                           {"kernels.chosen", "bfs"},
                                           {"addresses.chosen", "0-4095"},
                                           {"input.0.path", "a"},
                                           {"input.1.path", "b"},
                                           {"sample_every", "2"}};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        WORKS(store_origin(store, facts[i][0], facts[i][1], &err));
    WORKS(store_drop(store, "past --limit", 7, &err));
    WORKS(store_drop(store, "buffer full", 2, &err));
    WORKS(store_skip(store, "comment", 1, &err));
    put_kernel(store, 0, 0);
    put_kernel(store, 1, 3);
}

START_TEST(every_limit_is_a_sentence)
{
    struct store *store = fresh("all.db");
    put_all(store);
    WORKS(store_finish(store, &err));
    store_close(store);
    SAYS("all.db", "is incomplete: the first 3 of 9 records", "holds only kernels that match 'bfs'",
         "holds only accesses to 0-4095", "lacks what was lost when it was recorded: 7 x past --limit, 2 x buffer full",
         "lacks what was left out when it was made: 1 x comment", "is 2 traces put together",
         "holds the kernels of 2 GPUs");
}
END_TEST

START_TEST(reasons_without_room_are_counted)
{
    struct store *store = fresh("many.db");
    char reason[210];
    for (int i = 0; i < 9; i++) {
        (void)snprintf(reason, sizeof reason, "%d%0150d", i, 0);
        WORKS(store_drop(store, reason, 1, &err));
    }
    WORKS(store_finish(store, &err));
    store_close(store);
    SAYS("many.db", ", and 7 more reasons");
}
END_TEST

/* Two migrations, to GPUs 0 and `second`. */
static struct store *two_gpus(const char *name, int64_t second)
{
    const struct stream stream = {.name = "uvm", .unit = TIME_NS, .extra = {"process_id", "src_id", "dst_id"}};
    const struct record records[2] = {{.kind = RECORD_MIGRATE_H2D, .bytes = 4096}, {.kind = RECORD_MIGRATE_H2D}};
    const int64_t extra[6] = {803, 803, 0, 0, 0, second};
    struct store *store = fresh(name);
    int index;
    WORKS(store_stream_add(store, &stream, &index, &err));
    WORKS(store_append(store, index, records, extra, 2, &err));
    WORKS(store_finish(store, &err));
    store_close(store);
    return GIVES(store_open(testing_file(name), &err));
}

START_TEST(several_gpus_are_told_and_which_was_chosen)
{
    const struct recording any = {RECORDING_ANY, RECORDING_ANY}, one = {RECORDING_ANY, 1};
    struct store *store = two_gpus("gpus.db", 1);
    SAYS("gpus.db", "several GPUs or processes exchanged: GPU 0 of process 803; GPU 1 of process 803");
    json_t *said = json_array();
    WORKS(limits_tell_chosen(store, "gpus.db", any, limits_collect, &said, &err));
    ck_assert_uint_eq(json_array_size(said), 0); /* such an answer is refused */
    WORKS(limits_tell_chosen(store, "gpus.db", one, limits_collect, &said, &err));
    ck_assert_ptr_nonnull(strstr(json_string_value(json_array_get(said, 0)), "; this is of one: GPU 1 of process 803"));
    json_decref(said);
    store_close(store);
    store_close(two_gpus("gpu.db", 0));
    says("gpu.db", (const char *const[]){NULL});
}
END_TEST

START_TEST(what_is_made_of_a_trace_lacks_what_that_lacks)
{
    struct store *in = fresh("in.db"), *out = fresh("out.db");
    put_all(in);
    WORKS(store_skip(out, "comment", 4, &err));
    WORKS(store_keep(in, &err));
    store_close(in);
    in = GIVES(store_open(testing_file("in.db"), &err));
    WORKS(limits_finish(in, out, &err));
    store_close(in);
    store_close(out);
    SAYS("out.db", "is incomplete: it ends where its writer, or its source, was stopped",
         "holds only kernels that match 'bfs'", "holds only accesses to 0-4095",
         "lacks what was lost when it was recorded: 7 x past --limit, 2 x buffer full",
         "lacks what was left out when it was made: 5 x comment");
}
END_TEST

/* --- who opens traces --- */

/* Files that may open one without: they show all that it holds, look at what they wrote, or say it themselves. */
static const char *const openers[] = {"trace/store/store.c", "trace/derived/limits.c", "trace/import/offchip.c",
                                      "replay/run/input.c",  "cmd/cmd_import.c",       "cmd/cmd_info.c",
                                      "cmd/cmd_record.c",    "cmd/cmd_verify.c",       "cmd/cmd_advise.c"};

static bool may_open(const char *path)
{
    for (size_t i = 0; i < sizeof openers / sizeof *openers; i++)
        if (strcmp(path, openers[i]) == 0)
            return true;
    for (size_t n = strlen(path); n > 2 && path[n] != '/'; n--)
        if (strncmp(path + n, "_test", 5) == 0 || strncmp(path + n, "_fuzz", 5) == 0 ||
            strncmp(path + n, "_bench", 6) == 0 || strncmp(path + n, "testing", 7) == 0)
            return true;
    return false;
}

static size_t look_in(const char *folder)
{
    size_t files = 0;
    DIR *dir = opendir(folder);
    ck_assert_msg(dir != NULL, "%s", folder);
    for (const struct dirent *e; (e = readdir(dir));) {
        struct stat st;
        const char *path = testing_text("%s/%s", folder, e->d_name);
        const size_t n = strlen(path);
        if (e->d_name[0] == '.' || stat(path, &st))
            continue;
        if (S_ISDIR(st.st_mode)) {
            files += look_in(path);
        } else if (strcmp(path + n - 2, ".c") == 0) {
            struct err err = {""};
            size_t bytes;
            char *text = regular_file_read(path, 1 << 24, &bytes, &err);
            files++;
            ck_assert_msg(text != NULL, "%s", err.msg);
            ck_assert_msg(!strstr(text, "store_open(") || may_open(path),
                          "%s: store_open(): expected limits_open() or input_open()", path);
            free(text);
        }
    }
    (void)closedir(dir);
    return files;
}

START_TEST(whoever_answers_from_a_trace_asks_for_its_limits)
{
    ck_assert_uint_gt(look_in("cmd") + look_in("replay") + look_in("models") + look_in("trace"), 300);
}
END_TEST

TEST_MAIN("limits")
