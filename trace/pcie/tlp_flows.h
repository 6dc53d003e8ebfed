/* tlp_flows: who sends PCIe packets to whom in a capture; sequence gaps and the adapter's clock of each.
 *
 * A flow is (source, destination, VLAN). Its number goes into the record's group; table tlp_flows keeps the rest.
 * Frames whose time stamp is 0 come from software (libtlp): they have no sequence and no clock.
 * Source: NetTLP adapter RTL (10-bit sequence up to v0.18, 16-bit later; a 156.25 MHz tick is 6.4 ns). */
#ifndef TRACE_PCIE_TLP_FLOWS_H
#define TRACE_PCIE_TLP_FLOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/base/err.h"

/* Beyond these, all further flows share the last number. */
enum { TLP_FLOWS_MOST = 4096 };

struct tlp_flow {
    uint32_t source, destination; /* hosts: IPv4 in host order, or what tlp_flows_host() says */
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

struct tlp_flows *tlp_flows_new(struct err *err);
void tlp_flows_free(struct tlp_flows *flows); /* NULL is allowed */

/* An IPv6 address (16 bytes) as a host: a number of 240.0.0.0/12, which no IPv4 host has. Beyond TLP_FLOWS_MOST of them
 * all further ones share the last. */
uint32_t tlp_flows_host(struct tlp_flows *flows, const unsigned char address[16]);

enum { TLP_HOST_TEXT = 48 };
/* A host's address in text. */
const char *tlp_flows_address(const struct tlp_flows *flows, uint32_t host, char text[TLP_HOST_TEXT]);

/* The number of a flow, from 0, added if new. */
uint32_t tlp_flows_find(struct tlp_flows *flows, uint32_t source, uint32_t destination, int32_t vlan);

uint32_t tlp_flows_count(const struct tlp_flows *flows);
struct tlp_flow *tlp_flows_at(struct tlp_flows *flows, uint32_t number);

/* Count one packet of the flow: its sequence and time stamp (32 bits, 0: none). Returns the time on the adapter's clock
 * in ns, counted from the capture time of the flow's first stamped packet; time_ns itself without a stamp. */
int64_t tlp_flow_packet(struct tlp_flow *flow, uint16_t sequence, uint64_t stamp, int64_t time_ns);

/* Breaks of the sequence: modulo 1,024 unless a number above 1,023 was seen. */
uint64_t tlp_flow_gaps(const struct tlp_flow *flow);

#endif
