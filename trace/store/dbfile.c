#include "trace/store/dbfile.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/base/mem.h"
#include "trace/base/regular_file.h"

/* The first bytes of every SQLite database, and where it says how it is journaled (SQLite file format, section 1.3). */
static const char magic[16] = "SQLite format 3";
enum {
    HEAD_BYTES = 100,
    JOURNAL_BYTE = 18,
    JOURNAL_ROLLBACK = 1,
    CHANGES_BYTE = 24,
    PAGES_BYTE = 28,
    ID_BYTE = 68,
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

/* A journal that is not of this file would be rolled back into it. It may as well be that of a file which somebody else
 * made just now, so it is removed only in place of that. */
static int check_journals(const struct output *file, struct err *err)
{
    for (int i = 0; i < JOURNALS; i++) {
        char *journal = journal_path(file->path, i, err);
        if (!journal)
            return -1;
        bool there = access(journal, F_OK) == 0, made = access(file->path, F_OK) == 0;
        int wrong = 0;
        if (there && file->replace)
            (void)unlink(journal);
        else if (there && !made)
            wrong = err_set(err, "cannot create '%s': '%s' is left from a file that is gone; --force removes it",
                            file->path, journal);
        free(journal);
        if (wrong)
            return -1;
    }
    return 0;
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

/* SQLite follows no link and asks where they lead; a file without a name is behind one, of /proc. */
static int open_followed(const char *path, int flags, int mode)
{
    return open(path, strncmp(path, "/proc/", 6) ? flags : flags & ~O_NOFOLLOW, mode);
}

static int stat_followed(const char *path, struct stat *st)
{
    return strncmp(path, "/proc/", 6) ? lstat(path, st) : stat(path, st);
}

static bool follows;

static void set_follow(void)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    follows = vfs->iVersion > 2 && !vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_followed) &&
              !vfs->xSetSystemCall(vfs, "lstat", (sqlite3_syscall_ptr)stat_followed);
}

bool dbfile_follow(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, set_follow);
    return follows;
}

/* Nobody else knows of the file, and what fails leaves nothing of it: it needs no journal on the disk. */
static int fill(const char *temporary, int (*make)(sqlite3 *db, void *ctx, struct err *err), void *ctx, sqlite3 **db,
                struct err *err)
{
    static const char alone[] = "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF";
    if (open_at(temporary, SQLITE_OPEN_READWRITE, db, err))
        return -1;
    int failed =
        sqlite3_exec(*db, alone, NULL, NULL, NULL) ? err_set(err, "%s", sqlite3_errmsg(*db)) : make(*db, ctx, err);
    if (!failed)
        return 0;
    sqlite3_close(*db);
    *db = NULL;
    return -1;
}

int dbfile_close(struct output *file, int rc, struct err *err)
{
    if (!file->path)
        return rc;
    output_hold();
    int failed = rc || output_flush(file, err) || check_journals(file, err) ? -1 : 0;
    failed = output_close(file, failed, err);
    output_release();
    return failed;
}

void dbfile_remove(const char *path)
{
    (void)unlink(path);
    for (int i = 0; i < JOURNALS; i++) {
        char *journal = journal_path(path, i, NULL);
        if (journal)
            (void)unlink(journal);
        free(journal);
    }
}

int dbfile_replace(const char *made, const char *path, struct err *err)
{
    struct output file = {.path = mem_strdup(path, err), .temporary = mem_strdup(made, err), .replace = true};
    int failed = file.path && file.temporary ? 0 : -1;
    struct stat old;
    if (stat(path, &old) == 0)
        (void)chmod(made, old.st_mode & 0777);
    output_hold();
    if (!failed && (output_flush(&file, err) || check_journals(&file, err)))
        failed = -1;
    if (!failed && rename(made, path))
        failed = err_set(err, "cannot rename '%s' to '%s': %s", made, path, strerror(errno));
    output_release();
    free(file.path);
    free(file.temporary);
    return failed;
}

/* Its name at once, and open it there. */
static int take_place(struct output *file, const char *path, sqlite3 **db, struct err *err)
{
    sqlite3_close(*db);
    *db = NULL;
    char *plain = plain_path(path, "", err);
    int failed = dbfile_close(file, plain ? 0 : -1, err);
    if (!failed && open_at(plain, SQLITE_OPEN_READWRITE, db, err))
        failed = err_at(err, "cannot create '%s'", path);
    free(plain);
    return failed;
}

int dbfile_create(struct output *file, const char *path, enum output_place place,
                  int (*make)(sqlite3 *db, void *ctx, struct err *err), void *ctx, sqlite3 **db, struct err *err)
{
    char own[40];
    *db = NULL;
    if (output_begin(file, path, place == OUTPUT_REPLACE, !dbfile_follow(), err))
        return -1;
    (void)snprintf(own, sizeof own, "/proc/self/fd/%d", file->fd);
    int failed = file->fd ? 0 : err_set(err, "cannot create '%s': it exists and is not a file", path);
    if (!failed && fill(file->temporary ? file->temporary : own, make, ctx, db, err))
        failed = err_at(err, "cannot create '%s'", path);
    if (failed)
        return output_close(file, failed, err);
    return place == OUTPUT_IN_PLACE ? take_place(file, path, db, err) : 0;
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

/* What unpacks a file that begins so; NULL: it is not packed. */
static const char *unpacks(const unsigned char *head, size_t n)
{
    static const struct {
        char begins[7], program[8];
    } packed[] = {{"\x1f\x8b", "gzip -d"},
                  {"\xfd"
                   "7zXZ",
                   "xz -d"},
                  {"\x28\xb5\x2f\xfd", "zstd -d"}};
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (n > strlen(packed[i].begins) && memcmp(head, packed[i].begins, strlen(packed[i].begins)) == 0)
            return packed[i].program;
    return NULL;
}

static int check_head(const char *path, int fd, struct err *err)
{
    struct stat st;
    unsigned char head[HEAD_BYTES];
    if (fstat(fd, &st))
        return err_set(err, "cannot read '%s': %s", path, strerror(errno));
    if (st.st_size == 0)
        return err_set(err, "'%s' is empty", path);
    ssize_t got = pread(fd, head, sizeof head, 0);
    if (got < 0)
        return err_set(err, "cannot read '%s': %s", path, strerror(errno));
    if (unpacks(head, (size_t)got))
        return err_set(err,
                       "'%s' is packed: if it is a trace, '%s %s' unpacks it; 'offchip import' makes a trace of it",
                       path, unpacks(head, (size_t)got), path);
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

/* Bytes of the head of `path` that there are; 0: it is no database. */
static size_t read_head(const char *path, unsigned char head[HEAD_BYTES])
{
    int fd = regular_file_open(path, NULL);
    ssize_t got = fd < 0 ? 0 : pread(fd, head, HEAD_BYTES, 0);
    if (fd >= 0)
        (void)close(fd);
    return got >= (ssize_t)sizeof magic && memcmp(head, magic, sizeof magic) == 0 ? (size_t)got : 0;
}

bool dbfile_is_database(const char *path)
{
    unsigned char head[HEAD_BYTES];
    return read_head(path, head) > 0;
}

uint32_t dbfile_application_id(const char *path)
{
    unsigned char head[HEAD_BYTES];
    return read_head(path, head) == sizeof head ? big_endian(head + ID_BYTE) : 0;
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
    int fd = regular_file_open(path, err);
    if (fd < 0)
        return -1;
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
