/* tlp_sink: PCIe packets on their way into a trace; put in order of time, matched, counted and stored.
 *
 * The sink holds TLP_SINK_WINDOW packets, sorts them (equal times stay in the order of the file) and lets the older
 * half go: the order is exact unless a packet is more than half a window late, which is counted (late_packets).
 * Streams: "tlp" (RECORD_TLP, trace/event/tlp.h; extra columns adapter_ticks, sequence, packet) and "tlp_reads", the
 * memory reads that got their answer, in order of completion: the request's record with duration = latency (0 if a
 * completion was seen before the request) and extra columns received_bytes, completions, early, error. Tables:
 * tlp_histogram, tlp_latency, tlp_flows, tlp_totals, tlp_defects. Order: open, direction and add as packets come,
 * finish, free. One capture file or live source per sink. */
#pragma once

#include <stdint.h>

#include "trace/base/err.h"
#include "trace/event/record.h"
#include "trace/event/tlp.h"
#include "trace/store/store.h"

/* --- who sends PCIe packets to whom in a capture; sequence gaps and the adapter's clock of each ---
 *
 * A flow is (source, destination, VLAN). Its number goes into the record's group; table tlp_flows keeps the rest.
 * Frames whose time stamp is 0 come from software (libtlp): they have no sequence and no clock.
 * Source: NetTLP adapter RTL (10-bit sequence up to v0.18, 16-bit later; a 156.25 MHz tick is 6.4 ns). */

/* Beyond these, all further flows share the last number. */
enum { TLP_FLOWS_MOST = 4096 };

struct tlp_flow {
    uint32_t source, destination; /* IPv4 in host order */
    int32_t vlan;                 /* -1: none */
    uint64_t packets;             /* with a TLP, sound or not */
    uint64_t stamped;             /* of them, with a time stamp */
    uint16_t sequence, sequence_most;
    uint64_t gaps10, gaps16; /* breaks of the sequence, counted modulo 1,024 and 65,536 */
    uint64_t ticks;          /* unwrapped, since the first stamped packet */
    uint64_t stamp;          /* the last */
    int64_t first_ns;        /* capture time of the first stamped packet */
};

struct tlp_flows;

enum { TLP_HOST_TEXT = 48 };
/* A host's address in text. */
const char *tlp_flows_address(uint32_t host, char text[TLP_HOST_TEXT]);

/* The number of a flow, from 0, added if new. */
uint32_t tlp_flows_find(struct tlp_flows *flows, uint32_t source, uint32_t destination, int32_t vlan);

struct tlp_flow *tlp_flows_at(struct tlp_flows *flows, uint32_t number);

/* Count one packet of the flow: its sequence and time stamp (32 bits, 0: none). Returns the time on the adapter's clock
 * in ns, counted from the capture time of the flow's first stamped packet; time_ns itself without a stamp. */
int64_t tlp_flow_packet(struct tlp_flow *flow, uint16_t sequence, uint64_t stamp, int64_t time_ns);

/* --- the sink --- */

enum { TLP_SINK_WINDOW = 1 << 16 };

struct tlp_item {
    struct record record; /* as tlp_to_record() and the capture say; group is a number of tlp_flows_find() */
    uint64_t ticks;       /* adapter time stamp, 0: none */
    uint64_t packet;      /* position in the file, from 1 */
    uint32_t side;        /* host of the requester: a request's source, a completion's destination */
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

/* A fact of the capture itself for table tlp_totals; name: a string constant. */
void tlp_sink_total(struct tlp_sink *sink, const char *name, int64_t value);

/* Store the rest and the tables. */
int tlp_sink_finish(struct tlp_sink *sink, struct err *err);
