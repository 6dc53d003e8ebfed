#include "replay/report/plot.h"
#include "replay/uvm/tape_testing.h"
#include "trace/store/store.h"

/* What a figure writes for these inputs; freed by the caller. NULL with *err set if it refuses. */
static char *script_of(const char *name, const struct figure_input *input, struct err *err)
{
    const struct figure *figure = figure_find(name);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(figure);
    int rc = plot_script(figure, input, out, err);
    (void)fclose(out);
    if (rc) {
        free(text);
        return NULL;
    }
    return text;
}

/* How many marks of a script stand in these ms. */
static size_t marks(const char *script, double from_ms, double to_ms)
{
    size_t count = 0;
    bool data = false;
    for (const char *line = script; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        char *end;
        const double ms = strtod(line, &end);
        data = strncmp(line, "$d", 2) == 0 || (data && strncmp(line, "EOD", 3) != 0);
        count += data && end != line && ms >= from_ms && ms < to_ms;
    }
    return count;
}

START_TEST(a_recording_gives_its_timeline)
{
    struct tape t;
    struct err err = {""};
    const char *path = testing_file("t.db");
    tape_init(&t, "none", NULL, 0x40000000, 8 * UVM_BLOCK_BYTES);
    tape_cpu_writes(&t);
    tape_random(&t, 8, 60, 20, 3);
    struct stream stream = {.name = "uvm", .unit = TIME_NS, .space = ADDR_BYTES};
    int index;
    struct store *store = store_create(path, true, "test", &err);
    ck_assert_msg(store && store_stream_add(store, &stream, &index, &err) == 0 &&
                      store_append(store, index, t.records, NULL, t.count, &err) == 0 && store_finish(store, &err) == 0,
                  "%s", err.msg);
    store_close(store);
    store = store_open(path, &err);
    ck_assert_msg(store != NULL, "%s", err.msg);
    struct figure_input input = {.path = path, .store = store};
    int rc = plot_draw(figure_find("timeline"), &input, testing_file("timeline.svg"), true, &err);
    ck_assert_msg(rc == 0 || strstr(err.msg, "not installed"), "%s", err.msg);
    /* Windows side by side: every mark of the whole lies in one of them, with its own time. */
    char *whole = script_of("timeline", &input, &err);
    const int64_t half = 300000;
    input.window = true;
    input.to_ns = half;
    char *first = script_of("timeline", &input, &err);
    input.from_ns = half;
    input.to_ns = INT64_MAX;
    char *second = script_of("timeline", &input, &err);
    ck_assert_msg(whole && first && second, "%s", err.msg);
    ck_assert(strstr(whole, "title \"evicted\"") == NULL &&
              strstr(whole, "title \"the program's own prefetch\"") == NULL);
    ck_assert(marks(first, 0, half / 1e6) > 0 && marks(second, half / 1e6, 1e9) > 0 && marks(whole, 0, 1e9) > 0 &&
              marks(first, half / 1e6, 1e9) == 0 && marks(second, 0, half / 1e6) == 0);
    free(whole);
    free(first);
    free(second);
    input.from_ns = INT64_C(1) << 50;
    ck_assert_ptr_null(script_of("timeline", &input, &err));
    ck_assert_ptr_nonnull(strstr(err.msg, "no migration or fault begins in that part"));
    store_close(store);
    tape_release(&t);
}
END_TEST

/* Of a file of tasks there is another timeline, on the platform that was named. */
START_TEST(tasks_stand_on_their_platform)
{
    static const char *const platforms[] = {NULL, "agx"}, *const named[] = {"\"tx2\"", "\"agx\""};
    static const char *const names[] = {"timeline", "placement-overhead"};
    for (int i = 0; i < 4; i++) {
        struct err err = {""};
        const struct figure_input input = {.path = "fixtures/tasks/table4.ini", .platform = platforms[i % 2]};
        char *script = script_of(names[i / 2], &input, &err);
        ck_assert_msg(script && strstr(script, named[i % 2]) && strstr(script, "gaussian"), "%s", err.msg);
        free(script);
    }
    struct err err = {""};
    ck_assert_ptr_null(
        script_of("timeline", &(struct figure_input){"fixtures/tasks/table4.ini", .platform = "v100"}, &err));
    ck_assert_ptr_nonnull(strstr(err.msg, "no [placement] numbers"));
}
END_TEST

TEST_MAIN("figure_timeline")
