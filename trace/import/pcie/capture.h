/* capture: the read loop over a libpcap handle, file or live, that feeds PCIe packets to a sink.
 *
 * Framings: NetTLP over Ethernet, Linux cooked or plain IPv4 (trace/import/pcie/nettlp_frame.h); raw TLPs at a fixed
 * offset of each packet (options.tlp_offset, any link type); and the Agilent analyser's records (DLT_USER11, 158): 20
 * bytes of record header, then a link-layer frame 0xfb, 2 bytes of sequence, TLP, 4 bytes of LCRC, 0xfd; 0x5c starts a
 * DLLP and 0xbc an ordered set. Source: cyrozap/agilent-pcie-analyzer-re (record header, flags bit 28: 1 upstream).
 * Sizes come from headers; what a capture cut off does not matter as long as the TLP header is there. Packets that
 * cannot be are counted by reason, never summed. */
#ifndef TRACE_IMPORT_PCIE_CAPTURE_H
#define TRACE_IMPORT_PCIE_CAPTURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "trace/import/pcie/nettlp_frame.h"
#include "trace/pcie/tlp_sink.h"

enum capture_clock { CAPTURE_CLOCK_PCAP, CAPTURE_CLOCK_ADAPTER };

struct capture_options {
    struct nettlp_filter filter;
    int64_t tlp_offset; /* -1: by the link type */
    enum capture_clock clock;
    bool strict; /* damage (malformed, short, truncated header, bad datagram) is an error with the packet's number */
};

struct capture {
    struct capture_options options;
    struct tlp_sink *sink;
    bool microseconds; /* the handle gives time stamps in us, not ns (live) */
    int framing;       /* as capture_link() found it */
    enum nettlp_link link;
    uint64_t packets, cut_packets;           /* all; those of which the capture kept less than was on the wire */
    uint64_t skipped[NETTLP_VERDICTS];       /* by reason */
    uint64_t told[NETTLP_VERDICTS];          /* of them, already in the store */
    struct store *store;                     /* of a live capture */
    int64_t commit_ns;                       /* when it commits next, CLOCK_MONOTONIC */
    uint16_t flow_direction[TLP_FLOWS_MOST]; /* number + 1, 0: not asked for yet */
};

struct pcap;

/* Start: zeroes *capture. sink stays the caller's. */
void capture_init(struct capture *capture, const struct capture_options *options, struct tlp_sink *sink);

/* Choose the framing for a pcap link type (DLT). An unknown one is an error that says what to give. */
int capture_link(struct capture *capture, int dlt, struct err *err);

/* One packet: `kept` bytes at data of `wire` bytes, at time_ns. */
int capture_packet(struct capture *capture, int64_t time_ns, const unsigned char *data, size_t kept, size_t wire,
                   struct err *err);

/* Read until the end of the file, or, live (the handle does not block), until *stop is set. Time stamps of the handle
 * are in ns. A live capture commits every 0.75 s to capture->store. Returns 0, or 1 if the file ends inside a packet or
 * in zeros (*err says where; everything before is in the sink), or -1 with *err set. */
int capture_loop(struct capture *capture, struct pcap *pcap, bool live, const atomic_int *stop, struct err *err);

/* Hand the counts to the sink's totals and the skipped packets to the store (table skipped); then
 * tlp_sink_finish(). */
int capture_finish(struct capture *capture, struct store *store, struct err *err);

#endif
