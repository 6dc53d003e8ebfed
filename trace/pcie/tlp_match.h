/* tlp_match: PCIe requests and the completions that answer them.
 *
 * A completion carries requester and tag of its request and travels the other way, so the key is (requester, 10-bit
 * tag, side of the requester). Each key has a FIFO, since a tag is reused before the capture shows the earlier request
 * complete; a completion that the capture shows before its request is parked and given to the next request of that
 * key. A request is complete when its bytes have arrived, or a completion says that nothing is left (byte count at
 * most its own bytes); a completion with an error status closes it.
 *
 * Packets are fed in the order of their time. Memory is bounded: at most TLP_MATCH_MOST requests and parked completions
 * are held, the oldest gives way (and counts as never completed, or unmatched).
 * Source: PCI Express Base Specification 4.0, sections 2.2.9 and 2.3.1.1 (byte count of split completions). */
#ifndef TRACE_PCIE_TLP_MATCH_H
#define TRACE_PCIE_TLP_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/err.h"
#include "trace/event/record.h"
#include "trace/event/tlp.h"

enum { TLP_MATCH_MOST = 1 << 18 };

/* How long a completion waits for its request: capture hosts reorder by microseconds. */
#define TLP_MATCH_PARK_NS 10000000
/* How long a request stays open. Source: base specification 4.0, 7.5.3.16, completion timeout range D: up to 64 s. */
#define TLP_MATCH_OPEN_NS 64000000000

/* A request that got its answer. */
struct tlp_read {
    struct record request; /* as given */
    int64_t latency;       /* of the last completion after the request; 0 if early */
    uint32_t received;     /* bytes */
    uint32_t completions;
    bool early; /* a completion was seen before it: no latency */
    bool error; /* closed by a completion with an error status */
};

struct tlp_match_counts {
    uint64_t reads;           /* memory reads fed */
    uint64_t completed_reads; /* of them, with all data */
    uint64_t failed_reads;    /* of them, closed by an error status */
    uint64_t others;          /* other non-posted requests: I/O, configuration, atomic */
    uint64_t completed_others;
    uint64_t matched;    /* completions given to a request */
    uint64_t unmatched;  /* completions whose request was never seen */
    uint64_t early;      /* of the matched: parked first */
    uint64_t reused;     /* requests whose tag was still open */
    uint64_t unanswered; /* requests never completed; those still open count once tlp_match_end() is called */
};

struct tlp_match;

struct tlp_match *tlp_match_new(struct err *err);
void tlp_match_free(struct tlp_match *match); /* NULL is allowed */

/* Feed one packet: a RECORD_TLP record, and the address of the side that the requester is on (the source of a request,
 * the destination of a completion). `reply` is tlp_reply_bytes() of a request. Posted packets are ignored. Returns 1 if
 * that closed a request (*done describes it, errors included), 0 if not, -1 with *err set when out of memory. */
int tlp_match_feed(struct tlp_match *match, const struct record *packet, uint32_t side, uint32_t reply,
                   struct tlp_read *done, struct err *err);

/* The capture is over: what is open or parked stays so. */
void tlp_match_end(struct tlp_match *match);

const struct tlp_match_counts *tlp_match_counts(const struct tlp_match *match);

#endif
