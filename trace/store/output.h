/* output: files that are whole, or what they were. Every file of offchip is written through this module.
 *
 * A file is made in its folder, without a name, and takes its name only when it is whole and on the disk: whatever
 * fails or kills the program before, what was at PATH stays. Where the file system cannot do that, and for what is
 * written by name, it is called PATH.offchip-XXXXXX meanwhile; what a killed command left of these is removed by the
 * next that writes PATH. A symbolic link is followed, the permissions of a file that is replaced are kept; a device or
 * a pipe is written to directly.
 *
 *     if (output_try(path, force, err)) return -1;      before the work
 *     struct output w;
 *     if (output_open(&w, path, force, err)) return -1;
 *     int rc = ... fprintf(w.file, ...) ...;
 *     return output_close(&w, rc, err);
 *
 * What others write, such as SQLite (dbfile.h): output_begin(), then w.temporary or w.fd.
 * One thread per object; any thread may have some. A program that dies by a signal calls output_abandon() before. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "trace/base/err.h"

enum { OUTPUT_MAX = 32 }; /* files at once */

enum output_place {
    OUTPUT_NEW,      /* it takes its name when it is whole; a file of that name is an error */
    OUTPUT_REPLACE,  /* likewise, in place of what is there */
    OUTPUT_IN_PLACE, /* as OUTPUT_NEW, but under its name from the beginning: for what is crash-safe */
};

struct output {
    FILE *file;      /* NULL: others write it */
    char *path;      /* what it will be, links followed */
    char *temporary; /* what it is called meanwhile; NULL: a device or a pipe, or it has no name */
    int fd;          /* of the file, locked while it is made; 0: a device or a pipe */
    bool replace;    /* what is there may be replaced */
    bool synced;     /* others wrote it, and it is on the disk */
    mode_t mode;     /* permissions to end with */
    int slot;        /* in the table of temporaries; -1: none */
};

/* Whether `path` could be written: -1 with *err set if it is a folder, its folder is missing or cannot be written to,
 * or it exists and may not be replaced. Nothing is left behind. */
int output_try(const char *path, bool replace, struct err *err);

/* Whether two names are of one file, through links; also of a file that is not made yet. */
bool output_same(const char *a, const char *b);

/* The file that `path` is or will be: absolute, links followed. Freed with free(); NULL: no memory. */
char *output_resolve(const char *path, struct err *err);

/* Remember the file at `path`, if there is one, as to be replaced. Inputs that nobody named beforehand, such as the
 * parts of a folder, ask whether they are one; then no output takes its name any more. Before other threads start. */
void output_reserve(const char *path);
bool output_reserved(int fd);

/* Have the existing file `path` for ourselves until the returned descriptor is closed: after everything else that the
 * process has open of it, or SQLite's own locks go with it. It is the file of that name then, whoever replaced it while
 * we waited. -1 with *err set if another process still has it after wait_ms. */
int output_lock(const char *path, int wait_ms, struct err *err);

/* A file for what is put aside while a command runs, gone when it is closed: in memory, else in TMPDIR, /tmp or
 * /var/tmp, the first that can have it. NULL with *err set. */
FILE *output_aside(bool memory, struct err *err);

/* Make the temporary file, empty; named: with a name even where it needs none. -1 with *err set, naming the file, if it
 * cannot be made or path exists and may not be replaced; then there is nothing to close. */
int output_begin(struct output *output, const char *path, bool replace, bool named, struct err *err);

/* The same, without a name where that can be, open for writing; it can be read too unless it is a device or a pipe. */
int output_open(struct output *output, const char *path, bool replace, struct err *err);

/* Put on the disk what was written so far (of a file written by name: all that will be); -1 with *err set, naming the
 * file, if that or an earlier write failed. */
int output_flush(struct output *output, struct err *err);

/* With rc 0, give the file its name; otherwise, and if anything could not be written, remove it. Returns rc, or -1 with
 * *err set. An output that is all zero is allowed. */
int output_close(struct output *output, int rc, struct err *err);

/* output_close() of files that belong together: all are on the disk before the first takes its name, and no signal
 * comes between. */
int output_close_all(struct output *outputs, size_t n, int rc, struct err *err);

/* For a signal handler: remove every temporary file. False: a file is just taking its name; then the same signal is
 * raised anew when that is done, and the handler must let the program go on. */
bool output_abandon(int signal);

/* Around what no signal may cut in two; may be nested. */
void output_hold(void);
void output_release(void);
