#define TESTING_FORK CK_FORK

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "trace/recorder/recorder.c"
#include "trace/recorder/testing_recorder.h"
#include "trace/store/store.h"

/* How recordings end: by the user, by a kill, by a program that ends in its own way; and what is there then. */

enum { EVENTS = 200, PLAYS = 70 };

static int per_play = EVENTS; /* events */
static struct recorder_result result;
static struct err err;

static void write_events(int n)
{
    const char *path = testing_file("events.csv");
    FILE *f = fopen(path, "wb");
    (void)fputs("K,1000,900000,kernel\n", f);
    for (int i = 1; i < n; i++)
        (void)fprintf(f, "1,%d,%d,7f00%08x,4096,0,0,0,0,2\n", 1000 + i * 10, 1005 + i * 10, i * 4096);
    (void)fclose(f);
    setenv("STANDIN_EVENTS", path, 1);
}

static void record(const char *output, const char *mode, const char *arguments)
{
    const struct recorder_options options = {.output = output, .unified_memory = true};
    write_events(per_play);
    testing_record(&options, mode, arguments, &result);
}

static char noticed[300]; /* a file: the recorder has said that it waits for those left behind */

static void on_said(const char *text)
{
    if (strstr(text, "still record"))
        (void)fclose(fopen(noticed, "wb"));
}

/* The same in a process of its own, in a process group of its own; its number. It exits with 1 if it was stopped, with
 * 2 if the program goes on then, else as the program does. */
static pid_t record_apart(const char *output, const char *arguments)
{
    (void)unlink(output);
    (void)snprintf(noticed, sizeof noticed, "%s.noticed", output);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        const struct recorder_options options = {.output = output, .unified_memory = true, .say = on_said};
        (void)setpgid(0, 0);
        write_events(per_play);
        testing_record(&options, NULL, arguments, &result);
        _exit(result.stopped ? result.left_running ? 2 : 1 : WEXITSTATUS(result.status));
    }
    return child;
}

static void await_file(const char *path)
{
    for (int i = 0; i < 12000 && access(path, F_OK); i++)
        testing_wait_ms(10);
    ck_assert_msg(access(path, F_OK) == 0, "no %s", path);
}

static void make_file(const char *path)
{
    (void)fclose(fopen(path, "wb"));
}

/* ^C until it has had its effect: of two that come close together a process may see one. How it ended. */
static int interrupt(pid_t recorder)
{
    int status = 0;
    while (waitpid(recorder, &status, WNOHANG) == 0) {
        (void)kill(recorder, SIGINT);
        testing_wait_ms(300);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Bytes that a socket holds which nobody reads. */
static int most_held(void)
{
    int bytes = 0, fd = socket(AF_UNIX, SOCK_STREAM, 0);
    socklen_t length = sizeof bytes;
    ck_assert_int_eq(getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, &length), 0);
    (void)close(fd);
    return bytes;
}

/* The same, up to where what the program played once is in the trace. */
static pid_t record_up_to_play(const char *output, const char *arguments)
{
    pid_t child = record_apart(output, arguments);
    ck_assert_int_eq(testing_await_written(output, NULL, EVENTS), EVENTS);
    return child;
}

static int ended_with(pid_t child)
{
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Records of a trace; -1: there is none. */
static int64_t records_of(const char *path, bool *complete)
{
    struct store *store = store_open(path, &err);
    if (!store)
        return -1;
    int64_t n = store_stream_count(store) ? (int64_t)store_stream(store, 0)->records : 0;
    *complete = store_complete(store);
    store_close(store);
    return n;
}

START_TEST(a_recorder_that_is_killed_has_lost_at_most_a_second_and_leaves_nothing_behind)
{
    const char *path = testing_file("t0.db"), *temporary = testing_file("tmp");
    bool complete = true;
    ck_assert_int_eq(mkdir(temporary, 0700), 0);
    setenv("TMPDIR", temporary, 1);
    pid_t recorder = record_up_to_play(path, "init context play sleep:4000");
    ck_assert_int_eq(kill(recorder, SIGKILL), 0);
    ck_assert_int_eq(ended_with(recorder), -1);
    ck_assert_int_eq(records_of(path, &complete), EVENTS);
    ck_assert(!complete);
    ck_assert_int_eq(rmdir(temporary), 0); /* empty */
    int claim = socket_claim(path, &err);
    ck_assert_int_ge(claim, 0);
    (void)close(claim);
}
END_TEST

START_TEST(an_interrupt_is_the_programs_and_a_second_one_stops_waiting)
{
    const char *path = testing_file("t1.db");
    bool complete = true;
    pid_t recorder = record_up_to_play(path, "init context play sleep:20000");
    (void)kill(recorder, SIGINT); /* to the recorder alone: the program knows nothing of it */
    testing_wait_ms(300);
    ck_assert_int_eq(waitpid(recorder, NULL, WNOHANG), 0);
    ck_assert_int_eq(interrupt(recorder), 2); /* the program still runs */
    ck_assert_int_eq(records_of(path, &complete), EVENTS);
    ck_assert(!complete);
}
END_TEST

START_TEST(one_interrupt_ends_the_wait_for_what_a_program_left_in_the_background)
{
    const char *path = testing_file("t2.db");
    char arguments[800], reached[300];
    (void)snprintf(reached, sizeof reached, "%s.reached", path);
    (void)snprintf(arguments, sizeof arguments, "daemon:init+context+play+reach:%s+sleep:20000 await:%s", reached,
                   reached);
    pid_t recorder = record_up_to_play(path, arguments);
    await_file(noticed); /* the program is over, and what it left is waited for */
    ck_assert_int_eq(waitpid(recorder, NULL, WNOHANG), 0);
    ck_assert_int_eq(interrupt(recorder), 1);
    bool complete = true;
    ck_assert_int_eq(records_of(path, &complete), EVENTS);
    ck_assert(!complete);
}
END_TEST

static int find_loss(void *ctx, const struct store_value *v, size_t n)
{
    if (n > 1 && strstr(v[0].s, "did not take"))
        *(int64_t *)ctx += v[1].i;
    return 0;
}

/* `start`: what the program does before it launches, the recorder's stop among it. */
static void lose_to_a_stopped_recorder(const char *path, const char *start)
{
    char arguments[400];
    int64_t lost = 0;
    (void)snprintf(arguments, sizeof arguments, "%s", start);
    per_play = most_held() * 4 / PLAYS / (int)sizeof(struct record_pipe_message) + 1;
    for (int i = 0; i < PLAYS; i++)
        (void)strcat(arguments, " play");
    ck_assert_int_eq(ended_with(record_apart(path, arguments)), 0);
    struct store *store = store_open(path, &err);
    ck_assert_msg(store, "%s", err.msg);
    ck_assert_int_eq(store_rows(store, "dropped", find_loss, &lost, &err), 0);
    int64_t there = (int64_t)store_stream(store, 0)->records;
    store_close(store);
    ck_assert_msg(lost > 0, "%lld of %d are there, the rest is not said to be lost", (long long)there,
                  PLAYS * per_play);
    ck_assert_int_ge(there + lost, PLAYS * per_play);
    ck_assert_int_le(there + lost, PLAYS * per_play + 100); /* facts, texts, the end mark */
}

START_TEST(what_a_stopped_recorder_did_not_take_is_counted_to_the_last_message)
{
    lose_to_a_stopped_recorder(testing_file("t3.db"), "init context stop");
    lose_to_a_stopped_recorder(testing_file("t13.db"), "stop init context"); /* it finds all at once */
}
END_TEST

/* Connections are read in any order. */
START_TEST(a_report_that_is_read_before_its_process_is_heard_of_is_counted_all_the_same)
{
    const char *path = testing_file("t14.db");
    int64_t lost = 0;
    record(path, NULL, "report:5 sleep:200 init context play report:7");
    ck_assert_uint_eq(testing_problems, 0);
    ck_assert_uint_eq(result.file_count, 1);
    struct store *store = store_open(path, &err);
    ck_assert_int_eq(store_rows(store, "dropped", find_loss, &lost, &err), 0);
    ck_assert(!store_complete(store));
    store_close(store);
    ck_assert_int_eq(lost, 12);
    recorder_release(&result);
    record(testing_file("t15.db"), NULL, "report:9");
    ck_assert(testing_told("9 messages came too late"));
    recorder_release(&result);
}
END_TEST

START_TEST(a_second_recorder_of_one_file_is_refused_before_it_runs_anything)
{
    const char *path = testing_file("t4.db"), *mark = testing_file("mark");
    bool complete = false;
    char arguments[400], go[300];
    (void)snprintf(go, sizeof go, "%s.go", path);
    (void)snprintf(arguments, sizeof arguments, "init context play await:%s", go);
    pid_t recorder = record_up_to_play(path, arguments);
    char *argv[] = {"touch", (char *)(uintptr_t)mark, NULL};
    const struct recorder_options options = {
        .output = path, .force = true, .cupti = "x", .command_line = "", .argv = argv};
    ck_assert_int_eq(recorder_run(&options, &result, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "another offchip record"));
    ck_assert_int_eq(access(mark, F_OK), -1);
    make_file(go);
    ck_assert_int_eq(ended_with(recorder), 0);
    ck_assert_int_eq(records_of(path, &complete), EVENTS);
    ck_assert(complete);
}
END_TEST

START_TEST(a_name_with_a_process_in_it_is_tried_before_the_program_runs_too)
{
    const char *mark = testing_file("mark");
    char *argv[] = {"touch", (char *)(uintptr_t)mark, NULL};
    const struct recorder_options options = {
        .output = "/nonexistent/folder/t-%p.db", .cupti = "x", .command_line = "", .argv = argv};
    ck_assert_int_eq(recorder_run(&options, &result, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "/nonexistent/folder"));
    ck_assert_int_eq(access(mark, F_OK), -1);
}
END_TEST

START_TEST(a_program_whose_main_thread_ends_first_ends_with_its_last_thread)
{
    if (TESTING_MAIN_THREAD_STAYS)
        return;
    bool complete = false;
    const char *path = testing_file("t6.db");
    record(path, NULL, "init context play thread:300 pthread_exit");
    ck_assert(WIFEXITED(result.status));
    ck_assert_int_eq(WEXITSTATUS(result.status), 0);
    ck_assert_int_eq(records_of(path, &complete), EVENTS);
    ck_assert(complete);
    recorder_release(&result);
}
END_TEST

START_TEST(a_program_that_leaves_by_the_back_door_loses_milliseconds)
{
    bool complete = true;
    const char *path = testing_file("t7.db");
    struct testing_watch watch;
    record(path, NULL, testing_watch_start(&watch, path, NULL, EVENTS, "init context play", "_exit:3"));
    testing_watch_end(&watch);
    ck_assert_int_eq(WEXITSTATUS(result.status), 3);
    ck_assert_int_eq(records_of(path, &complete), EVENTS);
    ck_assert(!complete);
    recorder_release(&result);
}
END_TEST

START_TEST(what_was_complete_when_the_program_last_waited_survives_whatever_follows_at_once)
{
    static const char *const ends[] = {"sync _exit:3", "sync kill"};
    setenv("OFFCHIP_RECORD_FLUSH_US", "1000000", 1); /* the helper comes too late */
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        bool complete = true;
        char arguments[80];
        const char *path = testing_file("t16.db");
        (void)snprintf(arguments, sizeof arguments, "init context play %s", ends[i]);
        record(path, NULL, arguments);
        ck_assert_int_eq(records_of(path, &complete), EVENTS);
        ck_assert(!complete);
        recorder_release(&result);
    }
    unsetenv("OFFCHIP_RECORD_FLUSH_US");
}
END_TEST

START_TEST(times_in_which_nobody_flushed_are_counted)
{
    for (int stalls = 0; stalls < 2; stalls++) {
        const char *path = testing_file("t19.db");
        setenv("OFFCHIP_RECORD_FLUSH_US", stalls ? "1000" : "1000000", 1);
        record(path, NULL, "init context play sync stall:0.1 play");
        struct store *store = store_open(path, &err);
        const char *gaps = store_origin_get(store, "flush_gaps");
        const char *longest = store_origin_get(store, "flush_gap_longest_us");
        ck_assert_msg(!gaps == !stalls && !longest == !stalls, "%d: %s, %s us", stalls, gaps ? gaps : "none",
                      longest ? longest : "none");
        ck_assert(!gaps || (atoi(gaps) >= 1 && atoi(longest) >= 90000));
        store_close(store);
        recorder_release(&result);
    }
    unsetenv("OFFCHIP_RECORD_FLUSH_US");
}
END_TEST

START_TEST(a_reset_that_cupti_does_not_follow_is_one_sentence_and_incomplete)
{
    bool complete = true;
    const char *path = testing_file("t17.db");
    record(path, "resetrefuses", "init context play destroy context play");
    ck_assert_uint_eq(testing_problems, 1);
    ck_assert(testing_told("reset its device"));
    ck_assert(testing_told("behind the reset are not recorded"));
    ck_assert_int_ge(records_of(path, &complete), EVENTS);
    ck_assert(!complete);
    recorder_release(&result);
    path = testing_file("t18.db");
    record(path, NULL, "init context play destroy context play"); /* it follows */
    ck_assert_uint_eq(testing_problems, 0);
    ck_assert_int_eq(records_of(path, &complete), 2 * EVENTS);
    ck_assert(complete);
    recorder_release(&result);
}
END_TEST

START_TEST(a_daemon_is_recorded_beyond_the_end_of_the_program_that_began_it)
{
    bool complete = false;
    const char *path = testing_file("t8.db");
    char arguments[800], reached[300];
    (void)snprintf(reached, sizeof reached, "%s.reached", path);
    (void)snprintf(arguments, sizeof arguments, "daemon:init+context+reach:%s+sleep:600+play await:%s exit:4", reached,
                   reached);
    record(path, NULL, arguments);
    ck_assert_int_eq(WEXITSTATUS(result.status), 4);
    ck_assert_int_eq(records_of(path, &complete), EVENTS);
    ck_assert(complete);
    recorder_release(&result);
}
END_TEST

static double cpu_s(int who)
{
    struct rusage u;
    (void)getrusage(who, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* What one costs the recorder is printed, not judged: times are no test. */
START_TEST(many_short_processes_at_once_are_whole_files_of_their_own)
{
    const char *temporary = testing_file("many-tmp");
    ck_assert_int_eq(mkdir(temporary, 0700), 0);
    setenv("TMPDIR", temporary, 1);
    double before = cpu_s(RUSAGE_SELF);
    record(testing_file("t-%p.db"), NULL, "storm:60+init+context+play");
    ck_assert_uint_eq(result.file_count, 60);
    ck_assert_uint_eq(testing_problems, 0);
    (void)printf("%.1f ms of processor time a short process\n",
                 1e3 * (cpu_s(RUSAGE_SELF) - before) / (double)result.file_count);
    for (size_t i = 0; i < result.file_count; i++) {
        bool complete = false;
        ck_assert_int_eq(records_of(result.files[i].path, &complete), EVENTS);
        ck_assert(complete);
    }
    ck_assert_int_eq(rmdir(temporary), 0); /* empty */
    recorder_release(&result);
}
END_TEST

/* More connections than are served at once: the others wait, and what they have sent is there when their turn comes. */
START_TEST(a_process_beyond_those_served_at_once_waits_and_loses_nothing)
{
    const char *path = testing_file("t12.db");
    bool complete = false;
    record(path, NULL, "connect:300 init context play");
    ck_assert_uint_eq(testing_problems, 0);
    ck_assert(!result.failed);
    size_t files = 0;
    for (size_t i = 0; i < result.file_count; i++)
        if (result.files[i].path[0]) {
            ck_assert_int_eq(records_of(result.files[i].path, &complete), EVENTS);
            ck_assert(complete);
            files++;
        }
    ck_assert_uint_eq(files, 1);
    recorder_release(&result);
}
END_TEST

START_TEST(a_kernel_longer_than_what_is_held_back_stands_behind_what_happened_in_it)
{
    const char *path = testing_file("t10.db");
    const struct recorder_options options = {.output = path, .unified_memory = true};
    const char *events = testing_file("long.csv");
    FILE *f = fopen(events, "wb");
    for (int i = 1; i <= 10; i++)
        (void)fprintf(f, "1,%d,%d,7f00%08x,4096,0,0,0,0,2\n", 2000 + i * 10, 2005 + i * 10, i * 4096);
    (void)fputs("K,1000,900000,kernel\n", f);
    (void)fclose(f);
    setenv("STANDIN_EVENTS", events, 1);
    struct testing_watch watch;
    testing_record(&options, NULL, testing_watch_start(&watch, path, NULL, 5, "init context play:1/2", "play:2/2"),
                   &result);
    testing_watch_end(&watch);
    bool complete = false;
    ck_assert_int_eq(records_of(path, &complete), 11);
    ck_assert(complete);
    struct store *store = store_open(path, &err);
    ck_assert_str_eq(store_origin_get(store, "late_records"), "1");
    store_close(store);
    recorder_release(&result);
}
END_TEST

TEST_MAIN("recorder_ends")
