/* gather: programs that copy rows of a table in host memory, which differ in the rows: what they share. */
#pragma once

#include "trace/base/param.h"
#include "trace/workloads/scan.h"
#include "trace/workloads/workload.h"

enum { GATHER_ELEMENT = 4, GATHER_VECTOR = 16 };
enum gather_kernel { GATHER_NAIVE, GATHER_SHIFT };

struct gather_given {
    uint64_t *rows; /* row numbers; the gather's from then on, and freed by it */
    size_t n;
    uint64_t batches, table_rows; /* batches: launches that share the rows, as many each */
    int64_t row_bytes, element;   /* a lane copies so many bytes: GATHER_ELEMENT or GATHER_VECTOR */
    int64_t reuse, sorted;        /* enum scan_reuse; sorted: rows of a batch by number */
    const char *recorded;         /* as gather's key */
};

/* The state of the functions below. NULL with *err set. */
void *gather_new(const struct gather_given *given, struct err *err);
void gather_close(void *state);

struct gather_lookups {
    uint64_t *rows; /* row numbers in their order; freed with free() in any case */
    size_t n;
    uint64_t table_rows; /* that the table has at least */
};

/* Row numbers of a file of NumPy (.npy, whole numbers of any shape), of text (numbers between commas or blanks, a first
 * line without numbers and lines that begin with # left out), or a recording of accesses. *out is zero before; its
 * table_rows, if any, is what the table has. An error names the place. Returns 1 for a recording. */
int gather_read_rows(const char *path, int64_t row_bytes, struct gather_lookups *out, struct err *err);

/* Of a recording, FILE or FILE@FIRST-LAST (gather_recorded.c); 0: it is none. */
int gather_recorded_rows(const char *path, int64_t row_bytes, struct gather_lookups *out, struct err *err);

extern const struct scan_ops gather_ops;
int gather_next(void *state, struct record *records, size_t cap, size_t *n, struct err *err);
int gather_as_program(void *state, struct program *out, struct err *err);
int gather_as_kernel(void *state, const char *kernel, struct program *out, struct err *err);

/* Of a workload_type with such a state. */
#define GATHER_VIEWS                                                                                                   \
    .produces = WORKLOAD_SCANS, .ops = &gather_ops, .next = gather_next, .views = VIEW_ALL,                            \
    .program = gather_as_program, .program_as = gather_as_kernel
