/* reader: a foreign format turned into records.
 *
 * A reader is one file below trace/import/ and one name in readers[] (reader.c). Formats are found by
 * content: each reader's probe() sees the first bytes (after decompression: gzip, xz and zstd are found by content too)
 * and says how sure it is. Readers append records to the store in batches; items they must leave out are counted by
 * reason through reader_skip(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "trace/base/err.h"
#include "trace/event/record.h"
#include "trace/import/input_stream.h"
#include "trace/store/facts.h"

struct param; /* trace/base/param.h */

enum { READER_PROBE_BYTES = 4096 };

/* How sure a probe is. */
enum probe { PROBE_NO, PROBE_MAYBE, PROBE_YES };

enum { READER_REASONS = 32 };

/* Items left out, counted here so that a skip costs no database access; reader_flush() stores them. */
struct reader_skips {
    struct {
        char reason[80];
        uint64_t n;
    } rows[READER_REASONS];
    size_t count;
    uint64_t total; /* ever skipped */
};

/* What a reader writes to: the trace being made. It owns streams and facts. Zeroed before use. */
struct reader_context {
    struct store *store;
    struct reader_skips skips;
    const void *options;           /* the reader's options struct (import --set key=value), checked */
    bool strict;                   /* stop at the first skipped item, with its place */
    const char *path;              /* of the input, for messages; "-" is standard input */
    int file_index;                /* of several inputs, from 0 */
    int64_t launches;              /* kernels stored so far, over all inputs */
    char incomplete[256];          /* why the input is not whole, "" if it is: reader_incomplete() */
    bool inherited;                /* a trace of ours says so of itself, and why if that is known */
    char note[256];                /* what who reads the trace should know, "": nothing: reader_note() */
    char advice[160];              /* how what was left out could be kept, "" if nobody knows: a reader writes it */
    int64_t newest;                /* the latest time of the input so far: reader_time() */
    uint64_t late;                 /* items of all inputs that are earlier than one before them */
    uint64_t lost;                 /* migrations that the source gives no address, and what they moved: reader_lose() */
    double lost_bytes[2], lost_ns; /* [true]: to the GPU */
};

struct reader {
    const char *name;            /* as for --format: "cupti-csv" is trace/import/cupti_csv.c */
    const char *summary;         /* one line for `offchip list formats` */
    const struct param *options; /* NULL: none */
    size_t options_size;
    /* head: the first n decompressed bytes; path may help where content cannot (NAME.bel). */
    enum probe (*probe)(const char *path, const unsigned char *head, size_t n);
    /* Read the whole input into context->store. Formats of one stream of bytes read from `source`; formats that are
     * databases or folders open context->path themselves (then whole_file is true and source is NULL). -1: *err says
     * what is wrong and where (line, byte or packet). */
    int (*read)(struct reader_context *context, struct input_stream *source, struct err *err);
    bool whole_file;
    /* Of formats whose inputs belong together: all of them in one call; context->path is the first. NULL: one by one.
     */
    int (*read_all)(struct reader_context *context, const char *const *paths, size_t count, struct err *err);
};

extern const struct reader read_accelsim, read_accesses, read_csv, read_cupti_csv, read_cutracer, read_dram_csv,
    read_dramsim3, read_dramsys, read_nvbit, read_nettlp, read_nsys, read_offchip, read_pytorch, read_ramulator,
    read_table, read_uvmeval;
extern const struct reader *const readers[]; /* ends with NULL */

const struct reader *reader_find(const char *name);

/* The reader that claims this input: the first that is sure, else the only one that may be it. NULL with *err set if
 * none does (with the names there are) or several may (with their names). */
const struct reader *reader_probe(const char *path, const unsigned char *head, size_t n, struct err *err);

/* The next line of a probe's head, from *p on: without its end, and cut where it does not fit. False: there is none. */
bool reader_head_line(const char **p, const char *end, char *line, size_t size);

/* How to come by something that a reader takes, by the name of another tool's file; NULL: nothing is known of it. */
const char *reader_advice(const char *path);

/* Read one input: reader->read() and reader_flush(). The error gets the path in front. */
int reader_run(const struct reader *reader, struct reader_context *context, struct input_stream *source,
               struct err *err);

/* The input ends where it should not, but what was read is good: the trace is kept and marked incomplete, and the
 * reason (a whole sentence) is shown. */
void reader_incomplete(struct reader_context *context, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A sentence that import shows: what the input does not hold, and how it would. The first stands. */
void reader_note(struct reader_context *context, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Count an item left out: reason is a short phrase ("unknown counter kind"). With strict it is an error: returns -1
 * with *err set to place and reason. `place` is "line 17" or "byte 4096". */
int reader_skip(struct reader_context *context, const char *reason, const char *place, struct err *err);

/* The same for the source's last line, which is its place. */
int reader_skip_line(struct reader_context *context, const char *reason, const struct input_stream *source,
                     struct err *err);

/* Nothing could be kept of the input, of what it should hold ("request"): *err says so, and what was left out for which
 * reasons, with the advice. Always -1. */
int reader_nothing(const struct reader_context *context, const char *what, struct err *err);

/* Look at an item's time, in a format whose times should not fall: those that do are counted, and said. */
static inline void reader_time(struct reader_context *context, int64_t time)
{
    context->late += time < context->newest;
    context->newest = time > context->newest ? time : context->newest;
}

/* The stream of the trace with this name, unit, address space and extra columns, or a new one: several inputs of one
 * format go to one stream. Where a different stream has the name, the new one is called NAME-2, NAME-3 ... */
int reader_stream(struct reader_context *context, const struct stream *stream, int *index, struct err *err);

/* Add a kernel launch to table kernels; *id is what its KERNEL record carries, also its launch number. start_ns
 * INT64_MIN: time and duration are not known in ns. shape: the columns from grid_x on, READER_SHAPE of them, or NULL.
 */
enum { READER_SHAPE = 11 };
int reader_kernel(struct reader_context *context, const char *name, int64_t start_ns, int64_t duration_ns,
                  const struct store_value *shape, int64_t *id, struct err *err);

/* Take over a row of table skipped, or of dropped, of a trace that is read. */
int reader_count(struct reader_context *context, bool skipped, const struct store_value *row, struct err *err);

/* A migration of a source that does not say where: its bytes and time count as lost by it, but it is no record. 0. */
int reader_lose(struct reader_context *context, const struct record *migration);

/* Store the counts of reader_skip() and reader_lose() so far (tables skipped, dropped). reader_run() does it; a caller
 * of read() must. */
int reader_flush(struct reader_context *context, struct err *err);
