/* tlp_sink: PCIe packets on their way into a trace; put in order of time, matched, counted and stored.
 *
 * A capture's packets are not in order of time, so the sink holds TLP_SINK_WINDOW of them, sorts them (equal times stay
 * in the order of the file) and lets the older half go: the order is exact as long as no packet is more than half a
 * window late; those that are keep their place and are counted (late_packets).
 * Streams: "tlp" (RECORD_TLP, trace/event/tlp.h; extra columns adapter_ticks, sequence, packet) and "tlp_reads", the
 * memory reads that got their answer, in order of completion: the request's record with duration = latency (0 if a
 * completion was seen before the request) and extra columns received_bytes, completions, early, error. Tables:
 * tlp_histogram, tlp_latency, tlp_flows, tlp_totals, tlp_defects. Order: open, direction and add as packets come,
 * finish, free. One capture file or live source per sink. */
#ifndef TRACE_PCIE_TLP_SINK_H
#define TRACE_PCIE_TLP_SINK_H

#include <stdint.h>

#include "trace/event/tlp.h"
#include "trace/pcie/tlp_flows.h"
#include "trace/store/store.h"

enum { TLP_SINK_WINDOW = 1 << 16 };

struct tlp_item {
    struct record record; /* as tlp_to_record() and the capture say; group is a number of tlp_flows_find() */
    uint64_t ticks;       /* adapter time stamp, 0: none */
    uint64_t packet;      /* position in the file, from 1 */
    uint32_t side;        /* address of the side that the requester is on, as tlp_match_feed() wants it */
    uint16_t sequence;
    uint16_t reply;     /* tlp_reply_bytes(): 0..4096 */
    uint16_t direction; /* number of tlp_sink_direction() */
    uint16_t wire;      /* tlp_wire_bytes() */
};

struct tlp_sink;

/* Of several captures in one trace, index says which this is, from 0. NULL with *err set on failure. */
struct tlp_sink *tlp_sink_open(struct store *store, int index, struct err *err);
void tlp_sink_free(struct tlp_sink *sink); /* NULL is allowed */

/* The capture's flows, to be kept in table tlp_flows. */
struct tlp_flows *tlp_sink_flows(struct tlp_sink *sink);

/* The number of a direction by name, for the histogram; names beyond the limit share the last number. */
uint16_t tlp_sink_direction(struct tlp_sink *sink, const char *name);

int tlp_sink_add(struct tlp_sink *sink, const struct tlp_item *item, struct err *err);

/* Store what is older than time; a live source calls it now and then. */
int tlp_sink_drain(struct tlp_sink *sink, int64_t time, struct err *err);

/* Write what was drained, packets and the reads that they answered, and commit: what a killed recording keeps. */
int tlp_sink_commit(struct tlp_sink *sink, struct err *err);

/* Count a packet that cannot be, by what is wrong with it. */
void tlp_sink_defect(struct tlp_sink *sink, enum tlp_type type, const char *defect);

/* Facts of the capture itself, added to table tlp_totals by tlp_sink_finish(). */
void tlp_sink_total(struct tlp_sink *sink, const char *name, int64_t value);

/* Store the rest and the tables. */
int tlp_sink_finish(struct tlp_sink *sink, struct err *err);

#endif
