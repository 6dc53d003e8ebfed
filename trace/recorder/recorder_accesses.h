/* recorder_accesses: the launches and accesses that a recorded process sends
 * (trace/recorder/inject/sanitizer_inject.h), as records of the stream "accesses" (trace/access/access.h).
 *
 * Messages: LAUNCH, then for each access ACCESS and the LANES or NARROW that it announces, then LAUNCH_END. Memory that
 * was allocated is an ALLOC record between them, and a row of table allocations. */
#ifndef TRACE_RECORDER_RECORDER_ACCESSES_H
#define TRACE_RECORDER_RECORDER_ACCESSES_H

#include <stdbool.h>

#include "trace/access/access.h"
#include "trace/recorder/wire/record_pipe.h"
#include "trace/uvm/allocations.h"

/* Zeroed to start. */
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
