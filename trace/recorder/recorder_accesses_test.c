#include "trace/recorder/recorder_machine.h"

#include <signal.h>
#include <sys/wait.h>

#include "trace/import/input_stream.h"
#include "trace/import/reader.h"
#include "trace/import/testing_access.h"
#include "trace/recorder/recorder_trace.h"
#include "trace/recorder/testing_recorder.h"
#include "trace/recorder/wire/sanitizer_abi.h"

/* liboffchip_accesses.so itself runs here: in a program that links none of this, loaded by a stand-in for the driver,
 * over a stand-in for the Sanitizer library that "runs" a text of recorded accesses through the code of the patch. The
 * oracle is reader `accesses` on the same text. */

static struct recorder_result result;
static struct err err;

/* Three kernels: `first`, 300 reads of a line each; `second`, irregular accesses; `third`, 40 writes of two lines. */
enum { FIRST = 300, SECOND = 7, THIRD = 40, ALL = FIRST + SECOND + THIRD };

static const char *write_kernels(void)
{
    const char *path = testing_file("kernels.txt");
    FILE *f = fopen(path, "w");
    (void)fputs("#kernel _Z5firstPKfS0_ grid 10,2,1 block 32,16,2 accesses 300\n", f);
    for (unsigned i = 0; i < FIRST; i++) {
        (void)fprintf(f, "7f%04x ffffffff 1 4 %u %u", i * 16, i / 15, i % 15);
        for (unsigned lane = 0; lane < 32; lane++)
            (void)fprintf(f, " %x", 0x10000 + i * 128 + lane * 4);
        (void)fputc('\n', f);
    }
    (void)fputs(
        "#kernel _ZN2ns6secondIiEEvPT_ grid 1,1,1 block 256,1,1 accesses 7\n"
        "a0 80000001 1 4 0 0 1000 2000\n"                       /* the outermost lanes */
        "b0 7 3 8 0 1 fffffffffffffff8 10 7\n"                  /* an atomic; down and up again */
        "c0 ff 2 1 4294967295 7 8 7 6 5 4 3 2 1\n"              /* a negative distance */
        "d0 fe 1 16 0 0 100 200 301 400 500 600 700\n"          /* six and one further addresses */
        "d8 fe 1 16 0 0 100 200 7f0000000301 400 500 600 700\n" /* far apart */
        "da ffffffff 1 4 0 0 80000000 1 2 5 7 9 b d f 11 13 15 17 19 1b 1d 1f 21 23 25 27 29 2b 2d 2f 31 33 35 37 39 "
        "3b 3d\n"                                                 /* just within 2 GiB: down */
        "e0 aaaaaaaa 4 2 0 0 1 2 3 4 5 6 7 8 9 a b c d e f 11\n", /* all but the last in step */
        f);
    (void)fputs("#kernel third grid 65535,65535,65535 block 1024,1,1 accesses 40\n", f);
    for (unsigned i = 0; i < THIRD; i++)
        (void)fprintf(f, "f0 3 2 4 0 %u %x %x\n", i, 0x40000 + i * 4096, 0x40080 + i * 4096);
    (void)fclose(f);
    return path;
}

static void record_text(const char *kernels, const char *output, const char *mode, const char *arguments,
                        struct recorder_options options)
{
    static char text[512], sanitizer[PATH_MAX + 64], patch[512];
    char *argv[TESTING_ARGS];
    testing_find_build("liboffchip_accesses.so");
    setenv("STANDIN_ACCESSES", kernels, 1);
    (void)unlink(output); /* of an earlier test */
    (void)snprintf(text, sizeof text, "%s-journal", output);
    (void)unlink(text); /* that was ended */
    if (mode)
        setenv("STANDIN_MODE", mode, 1);
    (void)snprintf(text, sizeof text, "%s", arguments);
    testing_argv(text, argv);
    (void)snprintf(sanitizer, sizeof sanitizer, "%s/standin/libsanitizer-public.so", testing_build());
    (void)snprintf(patch, sizeof patch, "%s", testing_write("patch.fatbin", "", 0));
    options.output = output;
    options.accesses = true;
    options.command_line = "offchip record --accesses -- target";
    options.sysfs = testing_file("sys");
    options.argv = argv;
    options.say = testing_say;
    *testing_said = testing_problems = 0;
    options.sanitizer = options.sanitizer ? options.sanitizer : sanitizer;
    options.patch = options.patch ? options.patch : patch;
    recorder_release(&result);
    ck_assert_msg(recorder_run(&options, &result, &err) == 0, "%s", err.msg);
}

static const char *record(const char *mode, const char *arguments, struct recorder_options options)
{
    static char output[512];
    (void)snprintf(output, sizeof output, "%s", testing_file("t.db"));
    record_text(write_kernels(), output, mode, arguments, options);
    return output;
}

static struct store *open_trace(const char *path)
{
    struct store *store = store_open(path, &err);
    ck_assert_msg(store != NULL, "%s", err.msg);
    return store;
}

/* Rows of table skipped or dropped. */
struct reason {
    const char *words;
    int64_t n;
};

static int find_reason(void *ctx, const struct store_value *v, size_t n)
{
    struct reason *r = ctx;
    (void)n;
    if (strstr(v[0].s, r->words))
        r->n += v[1].i;
    return 0;
}

static int64_t counted(const char *path, const char *table, const char *words)
{
    struct reason r = {words, 0};
    struct store *store = open_trace(path);
    ck_assert_int_eq(store_rows(store, table, find_reason, &r, &err), 0);
    store_close(store);
    return r.n;
}

static bool complete(const char *path)
{
    struct store *store = open_trace(path);
    bool c = store_complete(store);
    store_close(store);
    return c;
}

/* Instructions recorded of each launch, all launches, and whether each launch's records lie together. */
struct launches {
    int64_t instructions[16];
    int count, ends;
    bool together;
};

static struct launches count_launches(const char *path)
{
    struct launches l = {.together = true};
    struct store *store = open_trace(path);
    struct store_cursor *cursor = store_cursor_open(store, store_stream_find(store, "accesses"), &err);
    const struct record *r;
    const int64_t *extra;
    int64_t last = -1, current = -1;
    size_t n;
    while (store_cursor_next(cursor, &r, &extra, &n, &err) == 1)
        for (size_t i = 0; i < n; i++) {
            if (r[i].kind == RECORD_KERNEL) {
                current = r[i].group;
                l.count++;
            } else if (r[i].kind == RECORD_KERNEL_END) {
                l.ends++;
            }
            if (r[i].kind != RECORD_ACCESS)
                continue;
            l.together &= r[i].group == current;
            l.instructions[r[i].group % 16] += extra[i] != last;
            last = extra[i];
        }
    store_cursor_close(cursor);
    store_close(store);
    return l;
}

/* --- the recording and the reader say the same --- */

struct all {
    struct record *records;
    int64_t *access, *pc;
    size_t n;
};

static struct all read_all(struct store *store)
{
    int stream = store_stream_find(store, "accesses");
    ck_assert_int_ge(stream, 0);
    size_t total = (size_t)store_stream(store, stream)->records;
    struct all a = {calloc(total, sizeof(struct record)), calloc(total, 8), calloc(total, 8), 0};
    struct store_cursor *cursor = store_cursor_open(store, stream, &err);
    const struct record *r;
    const int64_t *extra;
    size_t n;
    while (store_cursor_next(cursor, &r, &extra, &n, &err) == 1)
        for (size_t i = 0; i < n; i++)
            if (r[i].kind != RECORD_ALLOC) {
                a.records[a.n] = r[i];
                a.access[a.n] = extra[i];
                a.pc[a.n++] = extra[n + i];
            }
    store_cursor_close(cursor);
    return a;
}

static void release_all(struct all *a)
{
    free(a->records);
    free(a->access);
    free(a->pc);
}

struct names {
    char text[512];
};

static int add_name(void *ctx, const struct store_value *v, size_t n)
{
    struct names *names = ctx;
    (void)n;
    size_t at = strlen(names->text);
    (void)snprintf(names->text + at, sizeof names->text - at, "%lld %s %lld,%lld,%lld %lld,%lld,%lld;",
                   (long long)v[0].i, v[1].s, (long long)v[5].i, (long long)v[6].i, (long long)v[7].i,
                   (long long)v[8].i, (long long)v[9].i, (long long)v[10].i);
    return 0;
}

static void expect_as_imported(const char *kernels, const char *path)
{
    struct store *recorded = open_trace(path), *imported;
    imported = testing_import(&read_accesses, kernels, true);
    ck_assert(store_complete(recorded));
    ck_assert(store_complete(imported));
    struct all a = read_all(recorded), b = read_all(imported);
    ck_assert_uint_eq(a.n, b.n);
    for (size_t i = 0; i < a.n; i++) {
        ck_assert_msg(memcmp(&a.records[i], &b.records[i], sizeof *a.records) == 0, "record %zu", i);
        ck_assert_int_eq(a.access[i], b.access[i]);
        ck_assert_int_eq(a.pc[i], b.pc[i]);
    }
    struct names mine = {""}, theirs = {""};
    ck_assert_int_eq(store_rows(recorded, "kernels", add_name, &mine, &err), 0);
    ck_assert_int_eq(store_rows(imported, "kernels", add_name, &theirs, &err), 0);
    ck_assert_str_eq(mine.text, theirs.text);
    release_all(&a);
    release_all(&b);
    store_close(recorded);
    store_close(imported);
}

START_TEST(a_recording_is_what_the_reader_makes_of_the_same_accesses)
{
    const char *path = record(NULL, "init context alloc kernels destroy", (struct recorder_options){0});
    expect_as_imported(testing_file("kernels.txt"), path);
    ck_assert_uint_eq(result.files[0].dropped, 0);
    ck_assert_uint_eq(result.files[0].skipped, 0);
}
END_TEST

START_TEST(the_h200s_accesses_come_through_whole)
{
    char text[512], output[512];
    (void)snprintf(text, sizeof text, "%s", testing_file("h200.txt"));
    struct input_stream *source = input_stream_open("fixtures/traces/accesses_h200.txt.xz", &err);
    ck_assert_msg(source != NULL, "%s", err.msg);
    FILE *f = fopen(text, "wb");
    static char buf[1 << 16];
    size_t got;
    do {
        ck_assert_int_eq(input_stream_read(source, buf, sizeof buf, &got, &err), 0);
        (void)fwrite(buf, 1, got, f);
    } while (got > 0);
    (void)fclose(f);
    input_stream_close(source);
    (void)snprintf(output, sizeof output, "%s", testing_file("h200.db"));
    setenv("OFFCHIP_RECORD_RING_BYTES", "65536", 1); /* 1,024 units, 63 times round and more */
    record_text(text, output, NULL, "init context kernels", (struct recorder_options){0});
    expect_as_imported(text, output);
    unsetenv("OFFCHIP_RECORD_RING_BYTES");
    struct launches l = count_launches(output);
    ck_assert_int_eq(l.instructions[0], 6144);
    ck_assert_int_eq(l.instructions[1], 2048);
    ck_assert_int_eq(l.instructions[2], 57120);
}
END_TEST

/* --- what is chosen --- */

START_TEST(kernels_are_chosen_by_mangled_or_demangled_name)
{
    static const struct {
        const char *regex;
        int64_t instructions;
        int launches;
    } cases[] = {{"^_Z5first", FIRST, 1},           {"first\\(float const\\*, float const\\*\\)", FIRST, 1},
                 {"ns::second<int>", SECOND, 1},    {"^third$", THIRD, 1},
                 {"first|third", FIRST + THIRD, 2}, {"nothing like this", 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = record(NULL, "init context kernels", (struct recorder_options){.kernel = cases[i].regex});
        struct launches l = count_launches(path);
        ck_assert_msg(l.count == cases[i].launches, "%s: %d launches", cases[i].regex, l.count);
        ck_assert_int_eq(l.instructions[0] + l.instructions[1], cases[i].instructions);
        ck_assert_int_eq(counted(path, "skipped", "not chosen"), 3 - cases[i].launches);
        ck_assert(complete(path)); /* what was not asked for is not missing */
        ck_assert(testing_told("none of the 3 kernel launches") == !cases[i].launches);
        ck_assert(testing_told("the first was of _Z5firstPKfS0_") == !cases[i].launches);
    }
}
END_TEST

START_TEST(past_the_limit_accesses_are_counted_and_the_recording_is_partial)
{
    const char *path = record(NULL, "init context kernels exit:7", (struct recorder_options){.limit = 302});
    struct launches l = count_launches(path);
    ck_assert_int_eq(l.instructions[0], FIRST);
    ck_assert_int_eq(l.instructions[1], 2);
    ck_assert_int_eq(l.instructions[2], 0);
    ck_assert_int_eq(l.count, 3); /* the third launch is known, and its accesses are counted */
    ck_assert_int_eq(l.ends, 3);
    ck_assert_int_eq(counted(path, "dropped", "past --limit"), ALL - 302);
    ck_assert(!complete(path));
    ck_assert(testing_told("the limit of 302 warp accesses was reached: 45 more"));
    ck_assert_int_eq(WEXITSTATUS(result.status), 7);
    path = record(NULL, "init context kernels", (struct recorder_options){.limit = ALL});
    ck_assert(complete(path));
}
END_TEST

/* --- the ring --- */

START_TEST(a_ring_that_is_smaller_than_a_launch_loses_nothing)
{
    setenv("OFFCHIP_RECORD_RING_BYTES", "1024", 1); /* 16 units */
    const char *path = record(NULL, "init context kernels kernels:1/3", (struct recorder_options){0});
    ck_assert(complete(path));
    struct launches l = count_launches(path);
    ck_assert_int_eq(l.count, 4);
    ck_assert_int_eq(l.instructions[0] + l.instructions[1] + l.instructions[2], ALL);
    ck_assert_int_eq(l.instructions[3], FIRST); /* begins where the one before left off */
    path = record(NULL, "init context kernels destroy", (struct recorder_options){0});
    expect_as_imported(testing_file("kernels.txt"), path);
    path = record(NULL, "init context kernels", (struct recorder_options){.touches = true});
    unsetenv("OFFCHIP_RECORD_RING_BYTES");
    ck_assert(complete(path)); /* 40 pages of the third kernel, one touch each */
}
END_TEST

START_TEST(what_finds_no_room_in_time_is_counted)
{
    setenv("OFFCHIP_RECORD_RING_BYTES", "128", 1); /* 2 units: an access of 32 lanes takes 4, or is in step */
    setenv("OFFCHIP_RECORD_RING_TICKS", "1000000", 1);
    const char *path = record(NULL, "init context kernels exit:6", (struct recorder_options){0});
    unsetenv("OFFCHIP_RECORD_RING_BYTES");
    unsetenv("OFFCHIP_RECORD_RING_TICKS");
    ck_assert_int_eq(WEXITSTATUS(result.status), 6);
    struct launches l = count_launches(path);
    int64_t lost = counted(path, "dropped", "the ring had no room in time");
    ck_assert_int_ge(lost, 1);
    ck_assert_int_eq(l.instructions[0] + l.instructions[1] + l.instructions[2] + lost, ALL);
    ck_assert(!complete(path));
}
END_TEST

START_TEST(a_kernel_that_dies_leaves_what_it_did_before)
{
    const char *path = record("trap", "init context kernels exit:6", (struct recorder_options){0});
    ck_assert_int_eq(WEXITSTATUS(result.status), 6);
    struct launches l = count_launches(path);
    ck_assert_int_eq(l.count, 1);
    ck_assert_int_eq(l.instructions[0], FIRST / 2 + 1);
    ck_assert_int_eq(counted(path, "dropped", "could not be read back"), 1);
    ck_assert_int_eq(counted(path, "dropped", "could not be recorded"), 2);
    ck_assert(!complete(path));
}
END_TEST

/* A launch that is still under way, too: what came out of its ring is on the disk within a second. */
START_TEST(a_recorder_that_is_killed_keeps_what_came_more_than_a_second_ago)
{
    char path[512], arguments[700];
    (void)snprintf(path, sizeof path, "%s", testing_file("killed.db"));
    (void)snprintf(arguments, sizeof arguments, "init context kernels:1/3 await:%s.never", path);
    const char *kernels = write_kernels();
    pid_t recorder = fork();
    ck_assert_int_ge(recorder, 0);
    if (recorder == 0) {
        record_text(kernels, path, "noend", arguments, (struct recorder_options){0});
        _exit(0);
    }
    ck_assert_int_gt(testing_await_written(path, NULL, FIRST + 1), FIRST);
    (void)kill(recorder, SIGKILL);
    ck_assert_int_eq(waitpid(recorder, NULL, 0), recorder);
    struct launches l = count_launches(path);
    ck_assert_int_eq(l.instructions[0], FIRST);
    ck_assert(!complete(path));
    (void)snprintf(arguments, sizeof arguments, "%s.never", path);
    (void)fclose(fopen(arguments, "wb")); /* the program need not wait any longer */
}
END_TEST

START_TEST(two_devices_have_a_ring_each_and_one_may_end)
{
    const char *path = record("twodevices", "init context:0 context:1 kernels", (struct recorder_options){0});
    expect_as_imported(testing_file("kernels.txt"), path);
    for (int touches = 0; touches < 2; touches++) {
        path = record("twodevices", "init context:0 context:1 kernels destroy:1 context:1 kernels destroy:0 destroy:1",
                      (struct recorder_options){.touches = touches});
        ck_assert(complete(path));
        struct launches l = count_launches(path);
        ck_assert_int_eq(l.count, 6);
        ck_assert(touches || l.instructions[4] == SECOND);
    }
    /* A context is destroyed while a launch in it, half of which was sent, has not come back: the next is sent all the
     * same. */
    path = record("twodevices,noend,drained", "init context:0 context:1 kernels:2/3 destroy:1 kernels:1/3 destroy:0",
                  (struct recorder_options){0});
    ck_assert_int_eq(counted(path, "dropped", "had not come back"), 1);
    ck_assert(!complete(path));
}
END_TEST

START_TEST(launches_that_do_not_come_back_are_counted)
{
    /* The first has the ring; its thread gives it back with the next launch, which it can only do if the first failed.
     */
    const char *path = record("noend", "init context kernels:1/3 exit:6", (struct recorder_options){0});
    ck_assert_int_eq(WEXITSTATUS(result.status), 6);
    ck_assert_int_eq(counted(path, "dropped", "had not come back"), 1);
    ck_assert(!complete(path));
    path = record("noend", "init context kernels:1/3 destroy context destroy", (struct recorder_options){0});
    ck_assert_int_eq(counted(path, "dropped", "had not come back"), 1);
}
END_TEST

START_TEST(a_ring_takes_what_memory_there_is)
{
    const char *path = record("nopinned", "init context kernels", (struct recorder_options){0});
    ck_assert(complete(path)); /* half a megabyte is pinned, not 16 */
    path = record("smallmemory", "init context kernels", (struct recorder_options){0});
    ck_assert(complete(path)); /* next to nothing is of the device */
    path = record("smallmemory", "init context kernels", (struct recorder_options){.touches = true});
    ck_assert(complete(path)); /* a smaller table */
    ck_assert_int_eq(count_launches(path).count, 3);
}
END_TEST

/* --- launches --- */

START_TEST(launches_of_several_threads_and_streams_do_not_mix)
{
    const char *path = record("threads", "init context kernels", (struct recorder_options){0});
    struct launches l = count_launches(path);
    int64_t sum = 0;
    for (int i = 0; i < 3; i++)
        sum += l.instructions[i];
    ck_assert_int_eq(sum, ALL);
    ck_assert(l.together);
    ck_assert_int_eq(l.count, 3);
    ck_assert(complete(path));
    path = record("threads", "init context kernels", (struct recorder_options){.limit = 100});
    l = count_launches(path);
    ck_assert_int_eq(l.instructions[0] + l.instructions[1] + l.instructions[2], 100);
    ck_assert_int_eq(counted(path, "dropped", "past --limit"), ALL - 100);
}
END_TEST

static int add_stream(void *ctx, const struct store_value *v, size_t n)
{
    (void)n;
    *(int64_t *)ctx = *(int64_t *)ctx * 10 + v[15].i;
    return 0;
}

/* A kernel that runs until others are over, which another thread launches: they are not kept waiting for ever. */
START_TEST(launches_that_wait_for_each_other_come_to_an_end)
{
    setenv("OFFCHIP_RECORD_TURN_MS", "20", 1);
    const char *path = record("threads,drained,waits", "init context kernels", (struct recorder_options){0});
    unsetenv("OFFCHIP_RECORD_TURN_MS");
    struct launches l = count_launches(path);
    ck_assert_int_eq(l.count, 1);
    ck_assert_int_eq(l.instructions[0], FIRST);
    ck_assert_int_eq(counted(path, "dropped", "while another one ran on"), 2);
    ck_assert(!complete(path));
}
END_TEST

START_TEST(streams_are_numbered_in_the_order_of_their_first_launch)
{
    const char *path = record(NULL, "init context kernels kernels:1/3", (struct recorder_options){0});
    int64_t streams = 0;
    struct store *store = open_trace(path);
    ck_assert_int_eq(store_rows(store, "kernels", add_stream, &streams, &err), 0);
    ck_assert_int_eq(streams, 120); /* 0, 1, 2 and 0 again */
    store_close(store);
}
END_TEST

START_TEST(a_launch_that_failed_gives_its_ring_back)
{
    const char *path = record("failedlaunch", "init context kernels", (struct recorder_options){.limit = ALL});
    struct launches l = count_launches(path);
    ck_assert_int_eq(l.count, 3);
    ck_assert_int_eq(l.instructions[0] + l.instructions[1] + l.instructions[2], ALL);
    ck_assert(complete(path));
}
END_TEST

START_TEST(launches_inside_graphs_are_counted)
{
    const char *path = record("graph", "init context kernels", (struct recorder_options){.kernel = "first|second"});
    ck_assert_int_eq(count_launches(path).count, 0);
    ck_assert_int_eq(counted(path, "dropped", "inside CUDA graphs"), 2);
    ck_assert(!complete(path));
}
END_TEST

/* Graphs give kernels whatever stands where launch data would: nothing of it may be followed. */
START_TEST(kernels_that_nobody_gave_a_ring_run_as_if_unpatched)
{
    const char *path = record("graphs", "init context kernels exit:6", (struct recorder_options){0});
    ck_assert(WIFEXITED(result.status));
    ck_assert_int_eq(WEXITSTATUS(result.status), 6);
    ck_assert_int_eq(count_launches(path).instructions[0], FIRST);
    ck_assert_int_eq(counted(path, "dropped", "inside CUDA graphs"), 2);
    path = record("graphs", "init context kernels exit:6", (struct recorder_options){.touches = true});
    ck_assert(WIFEXITED(result.status));
    ck_assert_int_eq(count_launches(path).count, 1);
}
END_TEST

START_TEST(kernels_launched_by_kernels_are_counted_and_not_mixed_in)
{
    const char *path = record("nested", "init context kernels", (struct recorder_options){0});
    struct launches l = count_launches(path);
    ck_assert_int_eq(l.instructions[0], FIRST);
    ck_assert_int_eq(l.instructions[2], THIRD);
    ck_assert_int_eq(counted(path, "dropped", "launched by kernels"), (FIRST + 10 + THIRD) / 10);
    ck_assert(!complete(path));
}
END_TEST

START_TEST(modules_may_be_loaded_by_a_launch_and_go_while_it_runs)
{
    const char *path = record("lazy,unload", "init context kernels", (struct recorder_options){0});
    struct names names = {""};
    struct store *store = open_trace(path);
    ck_assert_int_eq(store_rows(store, "kernels", add_name, &names, &err), 0);
    store_close(store);
    ck_assert_ptr_nonnull(strstr(names.text, "_Z5firstPKfS0_"));
    ck_assert_int_eq(count_launches(path).instructions[0], FIRST);
    ck_assert(complete(path));
}
END_TEST

START_TEST(prefetches_are_left_out_and_unfilled_units_are_counted)
{
    const char *path = record("prefetch", "init context kernels", (struct recorder_options){0});
    ck_assert_int_eq(count_launches(path).instructions[0], FIRST);
    ck_assert_int_eq(counted(path, "skipped", "prefetch"), 3);
    ck_assert(complete(path));
    path = record("hole", "init context kernels", (struct recorder_options){0});
    ck_assert_int_eq(count_launches(path).instructions[2], THIRD);
    ck_assert_int_eq(counted(path, "dropped", "not filled"), 3);
    ck_assert(!complete(path));
}
END_TEST

/* --- memory --- */

static int add_allocation(void *ctx, const struct store_value *v, size_t n)
{
    struct names *names = ctx;
    (void)n;
    size_t at = strlen(names->text);
    (void)snprintf(names->text + at, sizeof names->text - at, "%llx %lld %s%s;", (unsigned long long)v[1].i,
                   (long long)v[2].i, v[3].s, v[6].type == STORE_NULL ? "" : " freed");
    return 0;
}

START_TEST(allocations_of_the_program_are_recorded_and_ours_are_not)
{
    const char *path = record(NULL, "init context alloc kernels", (struct recorder_options){0});
    struct names names = {""};
    struct store *store = open_trace(path);
    ck_assert_int_eq(store_rows(store, "allocations", add_allocation, &names, &err), 0);
    ck_assert_str_eq(names.text,
                     "7e0000000000 4096 device freed;7f0000000000 67108864 managed;7d0000000000 8192 pinned;");
    ck_assert_str_eq(store_origin_get(store, "gpu.0.name"), "Stand-in GPU");
    ck_assert_str_eq(store_origin_get(store, "access_order"), "order of arrival");
    ck_assert_int_eq(store_stream_find(store, "uvm"), -1);
    store_close(store);
}
END_TEST

/* --- the program is never harmed --- */

START_TEST(a_program_that_is_killed_keeps_the_launches_before)
{
    const char *path = record(NULL, "init context alloc kernels:1/3 kill", (struct recorder_options){0});
    ck_assert(WIFSIGNALED(result.status));
    ck_assert_int_eq(WTERMSIG(result.status), SIGKILL);
    struct launches l = count_launches(path);
    ck_assert_int_eq(l.count, 1);
    ck_assert_int_eq(l.instructions[0], FIRST);
    ck_assert(!complete(path));
    path = record(NULL, "init context kernels segv", (struct recorder_options){0});
    ck_assert_int_eq(WTERMSIG(result.status), SIGSEGV);
    ck_assert_int_eq(count_launches(path).count, 3);
    path = record(NULL, "init context kernels _exit:3", (struct recorder_options){0});
    ck_assert_int_eq(WEXITSTATUS(result.status), 3);
    ck_assert_int_eq(count_launches(path).count, 3);
    ck_assert(!complete(path));
}
END_TEST

START_TEST(each_function_may_fail_and_the_program_runs_on)
{
    static const struct {
        const char *function, *table, *reason; /* NULL: nothing can be recorded */
        int64_t n;
        const char *problem;
    } cases[] = {
        {"sanitizerSubscribe", NULL, NULL, 0, "refused to start: STANDIN_ERROR (999)"},
        {"sanitizerEnableDomain", NULL, NULL, 0, "refused to start: STANDIN_ERROR (1)"},
        {"busy", NULL, NULL, 0, "another tool already uses the Sanitizer API"},
        {"otherdriver", NULL, NULL, 0, "does not fit this driver"},
        {"sanitizerAddPatchesFromFile", "dropped", "modules", 1, "could not be loaded onto the device"},
        {"sanitizerPatchInstructions", "dropped", "modules", 1, "a module could not be instrumented"},
        {"sanitizerPatchModule", "dropped", "modules", 1, "a module could not be instrumented"},
        {"sanitizerAlloc", "dropped", "could not be recorded", 3, NULL},
        {"sanitizerAllocHost", "dropped", "could not be recorded", 3, NULL},
        {"sanitizerMemcpyHostToDeviceAsync", "dropped", "could not be recorded", 3, NULL},
        {"sanitizerSetLaunchCallbackData", "dropped", "could not be recorded", 3, NULL},
        {"sanitizerStreamSynchronize", "dropped", "could not be read back", 3, NULL},
        {"sanitizerMemcpyDeviceToHost", "dropped", "could not be read back", 3, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = record(cases[i].function, "init context alloc kernels exit:5", (struct recorder_options){0});
        ck_assert_msg(WIFEXITED(result.status) && WEXITSTATUS(result.status) == 5, "%s", cases[i].function);
        ck_assert_uint_eq(result.file_count, 1);
        ck_assert_msg(!cases[i].problem || testing_told(cases[i].problem), "%s", cases[i].function);
        ck_assert_msg(result.files[0].fatal == !cases[i].table, "%s", cases[i].function);
        if (!cases[i].table) {
            ck_assert_int_eq(access(path, F_OK), -1);
            continue;
        }
        ck_assert_msg(counted(path, cases[i].table, cases[i].reason) == cases[i].n, "%s", cases[i].function);
        ck_assert(!complete(path));
    }
}
END_TEST

START_TEST(asynchronous_copies_that_cannot_be_patched_are_said_to_be_missing)
{
    const char *path = record("noasync", "init context kernels", (struct recorder_options){0});
    ck_assert(testing_told("asynchronous copies"));
    ck_assert_int_eq(count_launches(path).instructions[0], FIRST);
}
END_TEST

START_TEST(a_library_or_a_patch_that_is_not_there_or_not_one_is_said)
{
    char other[PATH_MAX + 64];
    record(NULL, "init context kernels exit:4", (struct recorder_options){.sanitizer = "/nonexistent/libsanitizer.so"});
    ck_assert_int_eq(WEXITSTATUS(result.status), 4);
    ck_assert(result.files[0].fatal);
    ck_assert(testing_told("/nonexistent/libsanitizer.so"));
    ck_assert(testing_told("OFFCHIP_SANITIZER"));
    (void)snprintf(other, sizeof other, "%s/standin/libcupti.so", testing_build());
    record(NULL, "init context kernels exit:4", (struct recorder_options){.sanitizer = other});
    ck_assert_int_eq(WEXITSTATUS(result.status), 4);
    ck_assert(testing_told("CUDA 12 or later"));
    const char *path = record(NULL, "init context kernels", (struct recorder_options){.patch = "/nonexistent.fatbin"});
    ck_assert(testing_told("/nonexistent.fatbin could not be loaded"));
    ck_assert(!complete(path));
    record(NULL, "init context kernels exit:4", (struct recorder_options){.kernel = "(unbalanced"});
    ck_assert(testing_told("not a regular expression"));
}
END_TEST

START_TEST(the_library_and_the_patch_are_found_by_their_variables_or_said_to_be_missing)
{
    char path[PATH_MAX];
    const char *patch = testing_write("own.fatbin", "", 0);
    setenv("OFFCHIP_SANITIZER", "/nonexistent.so", 1);
    ck_assert_int_eq(recorder_find_part(PART_SANITIZER, NULL, false, path, sizeof path, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "OFFCHIP_SANITIZER names /nonexistent.so"));
    setenv("OFFCHIP_SANITIZER", "/dev/null", 1);
    ck_assert_int_eq(recorder_find_part(PART_SANITIZER, NULL, false, path, sizeof path, &err), 0);
    ck_assert_str_eq(path, "/dev/null");
    setenv("OFFCHIP_ACCESS_PATCH", "/nonexistent.fatbin", 1);
    ck_assert_int_eq(recorder_find_patch(path, sizeof path, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "OFFCHIP_ACCESS_PATCH names /nonexistent.fatbin"));
    setenv("OFFCHIP_ACCESS_PATCH", patch, 1);
    ck_assert_int_eq(recorder_find_patch(path, sizeof path, &err), 0);
    ck_assert_ptr_nonnull(strstr(path, "own.fatbin"));
    unsetenv("OFFCHIP_ACCESS_PATCH");
    ck_assert(recorder_find_patch(path, sizeof path, &err) == 0 || strstr(err.msg, "nvcc"));
}
END_TEST

START_TEST(forked_children_are_left_alone_and_started_ones_have_files_of_their_own)
{
    const char *path = record(NULL, "init context child kernels", (struct recorder_options){0});
    ck_assert_uint_eq(result.file_count, 1);
    ck_assert(complete(path));
    record(NULL, "init context kernels spawn:init+context+kernels:1/3", (struct recorder_options){0});
    ck_assert_uint_eq(result.file_count, 2);
    int64_t instructions = 0;
    for (size_t i = 0; i < 2; i++) {
        ck_assert(complete(result.files[i].path));
        instructions += count_launches(result.files[i].path).instructions[0];
    }
    ck_assert_int_eq(instructions, 2 * FIRST);
}
END_TEST

START_TEST(a_program_whose_main_thread_ends_first_ends_with_its_last_thread)
{
    if (TESTING_MAIN_THREAD_STAYS)
        return;
    const char *path = record(NULL, "init context kernels thread:100 pthread_exit", (struct recorder_options){0});
    ck_assert(WIFEXITED(result.status));
    ck_assert_int_eq(WEXITSTATUS(result.status), 0);
    ck_assert_int_eq(count_launches(path).count, 3);
    ck_assert(complete(path));
}
END_TEST

START_TEST(a_program_that_closes_all_descriptors_is_not_written_into)
{
    record(NULL, "init context closeall kernels exit:2", (struct recorder_options){0});
    ck_assert_int_eq(WEXITSTATUS(result.status), 2);
    ck_assert(!result.files[0].complete);
}
END_TEST

/* --- messages that make no sense --- */

static struct record_pipe_message message(uint32_t type)
{
    return (struct record_pipe_message){.type = type};
}

/* Whether a trace takes these messages behind a greeting and text 0. */
static bool taken(bool accesses, const struct record_pipe_message *messages, size_t n)
{
    struct recorder_trace_summary summary;
    const struct recorder_trace_options options = {.path = testing_file("messages.db"),
                                                   .force = true,
                                                   .accesses = accesses,
                                                   .command_line = "test",
                                                   .sysfs = testing_file("sys")};
    struct record_pipe_message start[2] = {{.type = RECORD_PIPE_HELLO, .kind = RECORD_PIPE_MAGIC, .id = 1},
                                           {.type = RECORD_PIPE_TEXT}};
    start[0].bytes = RECORD_PIPE_VERSION;
    start[1].text_total = 1;
    start[1].text[0] = '?';
    struct recorder_trace *trace = recorder_trace_new(&options, &err);
    ck_assert_ptr_nonnull(trace);
    ck_assert_int_eq(recorder_trace_put(trace, start, 2, &err), 0);
    bool all = recorder_trace_put(trace, messages, n, &err) == 0;
    ck_assert_int_eq(recorder_trace_finish(trace, &summary, &err), 0);
    return all;
}

/* Records wait to be put in order: the end of the trace is where one is looked at. */
static bool taken_and_written(const struct record_pipe_message *one)
{
    struct recorder_trace_summary summary;
    const struct recorder_trace_options options = {
        .path = testing_file("record.db"), .force = true, .command_line = "test", .sysfs = testing_file("sys")};
    struct record_pipe_message hello = {.type = RECORD_PIPE_HELLO, .kind = RECORD_PIPE_MAGIC, .id = 1};
    hello.bytes = RECORD_PIPE_VERSION;
    struct recorder_trace *trace = recorder_trace_new(&options, &err);
    ck_assert_ptr_nonnull(trace);
    ck_assert_int_eq(recorder_trace_put(trace, &hello, 1, &err), 0);
    ck_assert_int_eq(recorder_trace_put(trace, one, 1, &err), 0);
    return recorder_trace_finish(trace, &summary, &err) == 0;
}

START_TEST(messages_that_make_no_sense_end_the_connection)
{
    struct record_pipe_message launch = message(RECORD_PIPE_LAUNCH), access = message(RECORD_PIPE_ACCESS);
    access.kind = 4;
    access.group = 3;
    access.flags = 1;
    struct record_pipe_message lanes = message(RECORD_PIPE_LANES), end = message(RECORD_PIPE_LAUNCH_END), more = access,
                               none = access, wide = access, nothing = access, uvm = message(RECORD_PIPE_UVM);
    more.duration = 1;
    none.group = 0;
    wide.kind = 129;
    nothing.duration = INT64_MAX;
    const struct record_pipe_message good[] = {launch, access, more, lanes, end, end, launch, launch};
    ck_assert_msg(taken(true, good, 8), "%s", err.msg);
    const struct record_pipe_message bad[][3] = {
        {access, end, end},  {launch, lanes, end},     {launch, more, access}, {launch, more, end}, {launch, none, end},
        {launch, wide, end}, {launch, nothing, lanes}, {launch, end, access},  {launch, uvm, end}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!taken(true, bad[i], 3), "case %zu", i);
    ck_assert(!taken(false, good, 1)); /* a recording of unified memory has none of these */
    struct record_pipe_message record = message(RECORD_PIPE_RECORD);
    record.time = 1;
    for (uint32_t kind = 0; kind < RECORD_KINDS; kind++) {
        bool ours = kind == RECORD_COPY || kind == RECORD_ALLOC || kind == RECORD_ADVISE || kind == RECORD_PREFETCH ||
                    kind == RECORD_FAULT || kind == RECORD_CPU_FAULT || kind == RECORD_FAULT_ENTRY ||
                    kind == RECORD_REPLAY || kind == RECORD_EVICT;
        record.kind = (typeof(record.kind))kind;
        ck_assert_msg(ours == taken_and_written(&record), "record of kind %u", kind);
    }
}
END_TEST

TEST_MAIN("recorder_accesses")
