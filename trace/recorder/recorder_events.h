/* recorder_events: what the messages of a recorded process become before they are written: put into the order of their
 * times; ranges put together from beginnings and ends; launches and accesses as records. All are zeroed to start. */
#ifndef TRACE_RECORDER_RECORDER_EVENTS_H
#define TRACE_RECORDER_RECORDER_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/base/err.h"
#include "trace/base/id_map.h"
#include "trace/derived/allocations.h"
#include "trace/event/record.h"
#include "trace/program/access.h"
#include "trace/recorder/wire/record_pipe.h"

/* --- messages in the order of their times, with bounded memory ---
 *
 * CUPTI delivers buffers of several threads and devices, and a kernel only when it has ended: what arrives is nearly
 * sorted. A heap of RECORD_ORDER_MESSAGES holds back the newest; a message that comes later than that is given out late
 * (nothing is lost). Equal times keep the order of arrival. */

enum { RECORD_ORDER_MESSAGES = 1 << 18 };

struct record_order {
    struct record_order_item {
        struct record_pipe_message message;
        uint64_t arrival;
    } * heap;
    size_t n, cap;
    uint64_t arrivals;
};

int record_order_put(struct record_order *order, const struct record_pipe_message *message, struct err *err);

/* Take the earliest message if more than `keep` are held. */
bool record_order_take(struct record_order *order, size_t keep, struct record_pipe_message *message);

/* Take the earliest message if its time is at most `until`. */
bool record_order_take_until(struct record_order *order, int64_t until, struct record_pipe_message *message);

void record_order_release(struct record_order *order);

/* --- the ranges that a program names itself (NVTX), from their beginnings and ends --- */

struct recorder_ranges {
    struct id_map names; /* number of a text: row of table strings */
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

/* --- the launches and accesses that a recorded process sends (trace/recorder/inject/sanitizer_inject.h), as records of
 * the stream "accesses" (trace/program/access.h) ---
 *
 * Messages: LAUNCH, then for each access ACCESS and the LANES or NARROW that it announces, then LAUNCH_END. Memory that
 * was allocated is an ALLOC record between them, and a row of table allocations. */

struct recorder_accesses {
    struct store *store;
    struct access_sink sink;
    bool in_launch;
    int64_t launches;
    struct access_op op;
    uint64_t addrs[ACCESS_LANES];
    int filled;       /* addresses of the access under way */
    int64_t expected; /* LANES or NARROW messages still to come */
    bool narrow;      /* which of them */
    uint64_t prefetches;
};

int recorder_accesses_open(struct recorder_accesses *accesses, struct store *store, struct err *err);

/* Whether a message is one of those above. */
bool recorder_accesses_wants(const struct record_pipe_message *message);

/* Take one; name: the text of a LAUNCH. A message that makes no sense here is an error. */
int recorder_accesses_take(struct recorder_accesses *accesses, const struct record_pipe_message *message,
                           const char *name, struct err *err);

/* An ALLOC record, whose row is written already. */
int recorder_accesses_alloc(struct recorder_accesses *accesses, const struct record *record, struct err *err);

/* The connection is over: end what is open, write what is held back. */
int recorder_accesses_finish(struct recorder_accesses *accesses, struct err *err);
void recorder_accesses_release(struct recorder_accesses *accesses);

#endif
