#include "trace/store/dbfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/mem.h"

/* The first bytes of every SQLite database, and where it says how it is journaled (SQLite file format, section 1.3). */
static const char magic[16] = "SQLite format 3";
enum {
    HEAD_BYTES = 100,
    JOURNAL_BYTE = 18,
    JOURNAL_ROLLBACK = 1,
    CHANGES_BYTE = 24,
    PAGES_BYTE = 28,
    VALID_FOR_BYTE = 92
};

/* `path` plus `suffix` so that SQLite takes it for a file name: never a URI, never ":memory:". */
static char *plain_path(const char *path, const char *suffix, struct err *err)
{
    size_t n = strlen(path) + strlen(suffix) + 3;
    char *plain = mem_zalloc(n, 1, err);
    if (plain)
        (void)snprintf(plain, n, "%s%s%s", path[0] == '/' ? "" : "./", path, suffix);
    return plain;
}

/* --- making --- */

enum { JOURNALS = 3 };

static char *journal_path(const char *path, int which, struct err *err)
{
    static const char *const suffixes[JOURNALS] = {"-journal", "-wal", "-shm"};
    return plain_path(path, suffixes[which], err);
}

static void remove_journals(const char *path)
{
    for (int i = 0; i < JOURNALS; i++) {
        char *journal = journal_path(path, i, NULL);
        if (journal)
            (void)unlink(journal);
        free(journal);
    }
}

/* A journal without its file would be rolled back into the new one. It may as well be that of a file which somebody
 * else made just now, so it is not removed. */
static int check_journals(const char *target, const char *path, struct err *err)
{
    for (int i = 0; i < JOURNALS; i++) {
        char *journal = journal_path(target, i, err);
        if (!journal)
            return -1;
        bool there = access(journal, F_OK) == 0, made = access(target, F_OK) == 0;
        int wrong = 0;
        if (there && !made)
            wrong = err_set(err, "cannot create '%s': '%s' is left from a file that is gone; --force removes it", path,
                            journal);
        free(journal);
        if (wrong)
            return -1;
    }
    return 0;
}

static int check_target(const char *path, bool force, struct err *err)
{
    struct stat st;
    if (!path[0])
        return err_set(err, "the name of the file to write is empty");
    if (stat(path, &st))
        return errno == ENOENT ? 0 : err_set(err, "cannot create '%s': %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return err_set(err, "cannot create '%s': it exists and is not a file", path);
    return force ? 0 : err_set(err, "'%s' exists; --force overwrites it", path);
}

static int fill(const char *temporary, int (*make)(sqlite3 *db, void *ctx, struct err *err), void *ctx, struct err *err)
{
    sqlite3 *db = NULL;
    int failed;
    if (sqlite3_open_v2(temporary, &db, SQLITE_OPEN_READWRITE, NULL))
        failed = err_set(err, "%s", db ? sqlite3_errmsg(db) : "out of memory");
    else
        failed = make(db, ctx, err);
    if (sqlite3_close(db) && !failed)
        failed = err_set(err, "it cannot be closed");
    return failed;
}

/* Give the finished file its name; without force only if nobody else took it meanwhile. */
static int take_place(const char *temporary, const char *target, const char *path, bool force, struct err *err)
{
    if (force) {
        remove_journals(target);
        return rename(temporary, target) ? err_set(err, "cannot create '%s': %s", path, strerror(errno)) : 0;
    }
    if (check_journals(target, path, err))
        return -1;
    if (renameat2(AT_FDCWD, temporary, AT_FDCWD, target, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno == EINVAL || errno == ENOSYS) { /* a file system without that */
        if (link(temporary, target) == 0) {
            (void)unlink(temporary);
            return 0;
        }
    }
    return errno == EEXIST ? err_set(err, "'%s' exists; --force overwrites it", path)
                           : err_set(err, "cannot create '%s': %s", path, strerror(errno));
}

static int open_at(const char *plain, int flags, sqlite3 **db, struct err *err)
{
    if (sqlite3_open_v2(plain, db, flags, NULL) == SQLITE_OK)
        return 0;
    err_set(err, "%s", *db ? sqlite3_errmsg(*db) : "out of memory");
    sqlite3_close(*db);
    *db = NULL;
    return -1;
}

int dbfile_create(const char *path, bool force, int (*make)(sqlite3 *db, void *ctx, struct err *err), void *ctx,
                  sqlite3 **db, struct err *err)
{
    *db = NULL;
    if (check_target(path, force, err))
        return -1;
    char *target = realpath(path, NULL); /* through a symbolic link, if it is one */
    if (!target)
        target = plain_path(path, "", err);
    char *temporary = target ? plain_path(target, ".XXXXXX", err) : NULL;
    int failed = temporary ? 0 : -1;
    int fd = failed ? -1 : mkstemp(temporary);
    if (!failed && fd < 0)
        failed = err_set(err, "cannot create '%s': %s", path, strerror(errno));
    if (!failed) {
        mode_t mask = umask(0);
        (void)umask(mask);
        (void)fchmod(fd, 0666 & ~mask);
        (void)close(fd);
        failed = fill(temporary, make, ctx, err) ? err_at(err, "cannot create '%s'", path)
                                                 : take_place(temporary, target, path, force, err);
        if (failed) {
            remove_journals(temporary);
            (void)unlink(temporary);
        }
    }
    if (!failed && open_at(target, SQLITE_OPEN_READWRITE, db, err))
        failed = err_at(err, "cannot create '%s'", path);
    free(temporary);
    free(target);
    return failed;
}

/* --- opening --- */

static uint32_t big_endian(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The size that the head states, 0: it states none that counts (SQLite file format, section 1.3.7). */
static uint64_t stated_size(const unsigned char head[HEAD_BYTES])
{
    uint32_t page = (uint32_t)head[16] << 8 | head[17];
    bool counts = memcmp(head + CHANGES_BYTE, head + VALID_FOR_BYTE, 4) == 0;
    return counts ? (uint64_t)big_endian(head + PAGES_BYTE) * (page == 1 ? 65536 : page) : 0;
}

/* Whether somebody is writing, or died while writing. */
static bool has_journal(const char *path)
{
    struct stat st;
    char *journal = journal_path(path, 0, NULL);
    bool has = !journal || (stat(journal, &st) == 0 && st.st_size > 0);
    free(journal);
    return has;
}

static int check_head(const char *path, int fd, struct err *err)
{
    struct stat st;
    unsigned char head[HEAD_BYTES];
    if (fstat(fd, &st))
        return err_set(err, "cannot read '%s': %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return err_set(err, "cannot open '%s': it is a %s, not a file", path,
                       S_ISDIR(st.st_mode) ? "directory" : "pipe or device");
    if (st.st_size == 0)
        return err_set(err, "'%s' is empty", path);
    ssize_t got = pread(fd, head, sizeof head, 0);
    if (got < 0)
        return err_set(err, "cannot read '%s': %s", path, strerror(errno));
    if ((size_t)got < sizeof magic || memcmp(head, magic, sizeof magic) != 0)
        return err_set(
            err,
            "'%s' is not an offchip file: it is no SQLite database ('offchip import' makes a trace of a foreign file)",
            path);
    if ((size_t)got < sizeof head)
        return err_set(err, "'%s' is cut off after %zd bytes", path, got);
    if (head[JOURNAL_BYTE] != JOURNAL_ROLLBACK)
        return err_set(err, "'%s' has a write-ahead log; take it back with: sqlite3 FILE 'PRAGMA journal_mode=DELETE'",
                       path);
    if (stated_size(head) > (uint64_t)st.st_size && !has_journal(path))
        return err_set(err, "'%s' is cut off: it has %llu of %llu bytes", path, (unsigned long long)st.st_size,
                       (unsigned long long)stated_size(head));
    return 0;
}

/* Ask for something that needs the file's first page. */
static int first_read(sqlite3 *db)
{
    return sqlite3_exec(db, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
}

/* A killed writer's last transaction: rolled back by whoever may write to the file. */
static int roll_back(const char *path, const char *plain, struct err *err)
{
    sqlite3 *db = NULL;
    int failed = open_at(plain, SQLITE_OPEN_READWRITE, &db, err);
    if (!failed) {
        (void)sqlite3_busy_timeout(db, DBFILE_BUSY_MS);
        failed = first_read(db) ? err_set(err, "%s", sqlite3_errmsg(db)) : 0;
    }
    sqlite3_close(db);
    return failed ? err_at(err, "'%s' was being written when its writer died, and cannot be put right", path) : 0;
}

int dbfile_open(const char *path, enum dbfile_mode mode, sqlite3 **db, struct err *err)
{
    *db = NULL;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return err_set(err, "cannot open '%s': %s", path, strerror(errno));
    int failed = check_head(path, fd, err);
    (void)close(fd);
    char *plain = failed ? NULL : plain_path(path, "", err);
    if (!plain)
        return -1;
    int flags = mode == DBFILE_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    for (int attempt = 0; !failed; attempt++) {
        if (open_at(plain, flags, db, err)) {
            failed = err_at(err, "cannot open '%s'", path);
            break;
        }
        (void)sqlite3_busy_timeout(*db, DBFILE_BUSY_MS);
        if (first_read(*db) == SQLITE_OK)
            break;
        bool hot = sqlite3_extended_errcode(*db) == SQLITE_READONLY_ROLLBACK;
        if (!hot || attempt)
            failed = err_set(err, "'%s': %s", path, sqlite3_errmsg(*db));
        sqlite3_close(*db);
        *db = NULL;
        if (!failed)
            failed = roll_back(path, plain, err);
    }
    free(plain);
    return failed;
}
