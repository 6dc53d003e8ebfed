/* recorder_ranges: the ranges that a program names itself (NVTX), from their beginnings and ends. */
#ifndef TRACE_RECORDER_RECORDER_RANGES_H
#define TRACE_RECORDER_RECORDER_RANGES_H

#include "trace/base/dense.h"
#include "trace/base/err.h"
#include "trace/event/record.h"
#include "trace/recorder/wire/record_pipe.h"

/* Zeroed to start. */
struct recorder_ranges {
    struct dense names; /* number of a text: row of table strings */
    struct recorder_range {
        uint64_t number;
        int64_t time, name;
        uint32_t thread;
    } * open;
    size_t open_count, cap;
};

/* Take a RANGE message. 1: *record is a range that ended, or a mark; 0: nothing is known yet; -1 with *err set. *name:
 * its row of table strings, if it is a new one that must be written; else it is left alone. An end without a beginning
 * is nothing. */
int recorder_ranges_take(struct recorder_ranges *ranges, const struct record_pipe_message *message,
                         struct record *record, int64_t *name, struct err *err);
void recorder_ranges_release(struct recorder_ranges *ranges);

#endif
