#include "trace/store/output.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "trace/base/testing.h"

static struct err err;

static int write_as(const char *path, const char *text, bool replace, int rc)
{
    struct output w;
    if (output_open(&w, path, replace, &err))
        return -2;
    (void)fputs(text, w.file);
    return output_close(&w, rc, &err);
}

static int write_to(const char *path, const char *text, int rc)
{
    return write_as(path, text, true, rc);
}

/* How many files lie beside it whose names begin like its own. */
static int beside(const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    DIR *dir = opendir(testing_text("%.*s", (int)(name - path), path));
    ck_assert_ptr_nonnull(dir);
    int n = 0;
    for (struct dirent *e; (e = readdir(dir));)
        n += strncmp(e->d_name, name, strlen(name)) == 0 && strcmp(e->d_name, name) != 0;
    closedir(dir);
    return n;
}

static void holds(const char *path, const char *text)
{
    char buf[64] = "";
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    (void)!fread(buf, 1, sizeof buf - 1, f);
    (void)fclose(f);
    ck_assert_str_eq(buf, text);
    ck_assert_int_eq(beside(path), 0);
}

START_TEST(a_file_is_there_whole_or_as_it_was)
{
    const char *path = testing_file("a.txt");
    ck_assert_int_eq(write_to(path, "first", -1), -1);
    ck_assert_int_ne(access(path, F_OK), 0);
    ck_assert_msg(write_to(path, "second", 0) == 0, "%s", err.msg);
    holds(path, "second");
    ck_assert_int_eq(write_to(path, "third", -1), -1);
    holds(path, "second");
}
END_TEST

START_TEST(nothing_is_replaced_unasked_also_what_came_meanwhile)
{
    const char *path = testing_file("late.txt");
    struct output w;
    ck_assert_int_eq(output_open(&w, path, false, &err), 0);
    (void)fputs("mine", w.file);
    ck_assert_int_eq(write_as(path, "theirs", false, 0), 0);
    ck_assert_int_eq(output_close(&w, 0, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "exists"));
    holds(path, "theirs");
    ck_assert_int_eq(output_try(path, false, &err), -1);
    ck_assert_int_eq(write_as(path, "more", false, 0), -2);
    ck_assert_int_eq(output_try(path, true, &err), 0);
    holds(path, "theirs");
}
END_TEST

START_TEST(what_is_replaced_leaves_its_permissions)
{
    const char *path = testing_file("mode.txt");
    struct stat st;
    ck_assert_int_eq(write_to(path, "old", 0), 0);
    ck_assert_int_eq(chmod(path, 0640), 0);
    ck_assert_int_eq(write_to(path, "new", 0), 0);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq(st.st_mode & 0777, 0640);
}
END_TEST

START_TEST(a_full_disk_is_an_error_that_names_the_file)
{
    const char *path = testing_file("full.txt");
    (void)write_to(path, "before", 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {3, RLIM_INFINITY};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    int rc = write_to(path, "more than three bytes", 0);
    const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
    ck_assert_int_eq(rc, -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "full.txt"));
    holds(path, "before");
}
END_TEST

START_TEST(what_cannot_be_written_is_found_before)
{
    ck_assert_int_eq(output_try(testing_file("no/folder.txt"), true, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "folder.txt"));
    ck_assert_int_eq(mkdir(testing_file("folder"), 0777), 0);
    ck_assert_int_eq(output_try(testing_file("folder"), true, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "it is a folder"));
    ck_assert_int_eq(output_try("", true, &err), -1);
    ck_assert_int_eq(output_try("-", true, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "standard output"));
    ck_assert_int_eq(output_try(testing_file("new.txt"), false, &err), 0);
    ck_assert_int_ne(access(testing_file("new.txt"), F_OK), 0);
    ck_assert_int_eq(beside(testing_file("new.txt")), 0);
}
END_TEST

START_TEST(links_are_followed_and_devices_stay_devices)
{
    const char *path = testing_file("real.txt"), *link = testing_file("link.txt");
    (void)write_to(path, "old", 0);
    ck_assert_int_eq(symlink("real.txt", link), 0);
    ck_assert_int_eq(write_to(link, "new", 0), 0);
    holds(path, "new");
    struct stat st;
    ck_assert_int_eq(lstat(link, &st), 0);
    ck_assert(S_ISLNK(st.st_mode));
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(write_as(link, "through", false, 0), 0);
    holds(path, "through");
    ck_assert_int_eq(write_to("/dev/null", "gone", 0), 0);
    ck_assert_int_eq(stat("/dev/null", &st), 0);
    ck_assert(S_ISCHR(st.st_mode));
}
END_TEST

START_TEST(one_file_is_known_by_all_its_names)
{
    const char *path = testing_file("one.txt");
    char other[300];
    (void)write_to(path, "", 0);
    ck_assert_int_eq(symlink(path, testing_file("soft.txt")), 0);
    ck_assert_int_eq(link(path, testing_file("hard.txt")), 0);
    int fd = open(path, O_RDONLY);
    (void)snprintf(other, sizeof other, "/proc/self/fd/%d", fd);
    ck_assert(output_same(path, testing_file("soft.txt")));
    ck_assert(output_same(testing_file("soft.txt"), testing_file("hard.txt")));
    ck_assert(output_same(path, other));
    ck_assert(!output_same(path, testing_file("two.txt")));
    (void)close(fd);
    (void)snprintf(other, sizeof other, "%.*s/./two.txt", (int)(strrchr(path, '/') - path), path);
    ck_assert(output_same(testing_file("two.txt"), other)); /* neither is there */
}
END_TEST

START_TEST(files_that_belong_together_come_together)
{
    const char *path[2] = {testing_file("a.part1"), testing_file("a.part2")};
    for (int good = 0; good < 2; good++) {
        struct output w[2];
        for (int i = 0; i < 2; i++) {
            ck_assert_int_eq(output_open(&w[i], path[i], true, &err), 0);
            (void)fputs("part", w[i].file);
        }
        if (!good) /* the second cannot be put on the disk */
            ck_assert_int_eq(close(fileno(w[1].file)), 0);
        ck_assert_int_eq(output_close_all(w, 2, 0, &err), good ? 0 : -1);
        for (int i = 0; i < 2; i++) {
            ck_assert_int_eq(access(path[i], F_OK) == 0, good);
            ck_assert_int_eq(beside(path[i]), 0);
        }
    }
}
END_TEST

START_TEST(one_process_at_a_time_has_a_locked_file)
{
    const char *path = testing_file("locked.txt");
    (void)write_to(path, "x", 0);
    int fd = output_lock(path, 0, &err), other = open(path, O_RDONLY);
    ck_assert_int_ge(fd, 0);
    (void)close(other); /* which ends no lock */
    ck_assert_int_eq(output_lock(path, 20, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "another command"));
    (void)close(fd);
    fd = output_lock(path, 0, &err);
    ck_assert_int_ge(fd, 0);
    (void)close(fd);
}
END_TEST

static void on_signal(int number)
{
    if (!output_abandon(number))
        return;
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

/* Die by SIGTERM with an open output; inside a hold too, from which the first signal must not tear us. */
static _Noreturn void write_and_die(const char *path, bool held)
{
    struct output w;
    (void)signal(SIGTERM, on_signal);
    if (output_open(&w, path, true, &err))
        _exit(1);
    (void)fputs("half", w.file);
    if (held)
        output_hold();
    (void)raise(SIGTERM);
    if (held && output_close(&w, 0, &err) == 0)
        output_release();
    _exit(2);
}

START_TEST(a_signal_leaves_what_was_there_or_what_is_whole)
{
    const char *path = testing_file("dying.txt");
    for (int held = 0; held < 2; held++) {
        int status;
        (void)write_to(path, "before", 0);
        pid_t child = fork();
        if (child == 0)
            write_and_die(path, held);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert(WIFSIGNALED(status));
        ck_assert_int_eq(WTERMSIG(status), SIGTERM);
        holds(path, held ? "half" : "before");
    }
}
END_TEST

/* What is called as temporaries are, and held by nobody, is a killed command's; other names are the user's own. */
START_TEST(what_a_killed_command_left_goes_with_the_next)
{
    const char *path = testing_file("k.db"), *left = testing_file("k.db.offchip-abc234");
    static const char *const others[] = {"k.db.backup", "k.db.offchip-abc23", "k.db.offchip-abc2345",
                                         "k.dc.offchip-abc234"};
    for (size_t i = 0; i < 4; i++)
        (void)testing_write(others[i], "mine", 4);
    int status;
    pid_t child = fork();
    struct output w;
    if (child == 0) {
        (void)output_begin(&w, path, true, true, &err);
        (void)raise(SIGKILL);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(beside(path), 4); /* others[0] to [2], and its own */
    ck_assert_int_eq(output_begin(&w, path, true, true, &err), 0);
    ck_assert_int_eq(beside(path), 4); /* ours now */
    ck_assert_int_eq(output_try(path, true, &err), 0);
    ck_assert_int_eq(access(w.temporary, F_OK), 0); /* held */
    ck_assert_int_eq(output_close(&w, 0, &err), 0);
    (void)testing_write("k.db.offchip-abc234", "left", 4);
    ck_assert_int_eq(write_to(path, "new", 0), 0);
    ck_assert_int_ne(access(left, F_OK), 0);
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(access(testing_file(others[i]), F_OK), 0);
}
END_TEST

/* Killed with an open file, or ended by exit() of a library. */
START_TEST(no_end_leaves_a_file_that_is_open)
{
    const char *path = testing_file("ended.txt");
    (void)write_to(path, "before", 0);
    for (int how = 0; how < 3; how++) {
        int status;
        pid_t child = fork();
        struct output w;
        if (child == 0 && how == 0 && output_begin(&w, path, true, true, &err) == 0)
            exit(1);
        if (child == 0 && output_open(&w, path, how == 1, &err) == 0)
            (void)raise(SIGKILL);
        if (child == 0)
            _exit(0);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        holds(path, "before");
    }
}
END_TEST

/* In place of the C library's: between opening and locking, another takes the file's place. */
static const char *to_be_replaced;
int fcntl(int fd, int command, ...)
{
    va_list rest;
    va_start(rest, command);
    const long argument = command == F_DUPFD_CLOEXEC ? va_arg(rest, int) : (long)va_arg(rest, void *);
    va_end(rest);
    if (to_be_replaced && command == F_OFD_SETLK)
        (void)rename(testing_file("other.txt"), to_be_replaced);
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

START_TEST(a_file_that_was_replaced_before_it_is_locked_is_not_taken)
{
    struct stat own, named;
    const char *path = testing_write("raced.txt", "old", 3);
    (void)testing_write("other.txt", "new file", 8);
    to_be_replaced = path;
    const int fd = output_lock(path, 0, &err);
    to_be_replaced = NULL;
    ck_assert(fd >= 0 && fstat(fd, &own) == 0 && stat(path, &named) == 0);
    ck_assert(own.st_ino == named.st_ino && own.st_size == 8);
    (void)close(fd);
}
END_TEST

enum { WRITERS = 4, TURNS = 10 };

static bool add_letters(int writer)
{
    const char *path = testing_file("turns.txt");
    (void)writer;
    for (int turn = 0; turn < TURNS; turn++) {
        char text[WRITERS * TURNS + 2] = "";
        int lock = output_lock(path, 20000, &err);
        FILE *f = fopen(path, "rb");
        if (lock < 0 || !f)
            return false;
        (void)!fgets(text, WRITERS * TURNS + 1, f);
        (void)fclose(f);
        if (write_to(path, strcat(text, "x"), 0))
            return false;
        (void)close(lock);
    }
    return true;
}

/* Each adds a letter to the file, which is replaced each time: none is lost, and who waits has the new file. */
START_TEST(a_lock_is_of_the_file_that_has_the_name)
{
    struct stat st;
    (void)write_to(testing_file("turns.txt"), "", 0);
    testing_at_once(WRITERS, add_letters);
    ck_assert(stat(testing_file("turns.txt"), &st) == 0 && st.st_size == WRITERS * TURNS);
}
END_TEST

START_TEST(what_is_put_aside_is_where_tmpdir_says_or_anywhere)
{
    char at[300];
    ck_assert_int_eq(setenv("TMPDIR", testing_dir(), 1), 0);
    FILE *f = output_aside(false, &err);
    ck_assert_ptr_nonnull(f);
    const ssize_t n = readlink(testing_text("/proc/self/fd/%d", fileno(f)), at, sizeof at - 1);
    ck_assert(n > 0 && strncmp(at, testing_dir(), strlen(testing_dir())) == 0);
    (void)fclose(f);
    ck_assert_int_eq(setenv("TMPDIR", "/nonexistent", 1), 0);
    for (int memory = 0; memory < 2; memory++) {
        f = output_aside(memory, &err);
        ck_assert(f && fputs("x", f) >= 0 && fclose(f) == 0);
    }
}
END_TEST

TEST_MAIN("output")
