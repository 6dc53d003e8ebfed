/* capture: PCIe packets of a file or a network interface: the read loop over a libpcap handle that feeds a sink.
 *
 * Framings: NetTLP over Ethernet, Linux cooked or plain IPv4; raw TLPs at a fixed
 * offset of each packet (options.tlp_offset, any link type); and the Agilent analyser's records (DLT_USER11, 158): 20
 * bytes of record header, then a link-layer frame 0xfb, 2 bytes of sequence, TLP, 4 bytes of LCRC, 0xfd; 0x5c starts a
 * DLLP and 0xbc an ordered set. Source: cyrozap/agilent-pcie-analyzer-re (record header, flags bit 28: 1 upstream).
 * Sizes come from headers; what a capture cut off does not matter as long as the TLP header is there. Packets that
 * cannot be are counted by reason, never summed. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"
#include "trace/derived/tlp_sink.h"
#include "trace/import/reader.h"
#include "trace/store/store.h"

/* What came of a frame. NETTLP_TLP: a PCIe packet is there; all others are skipped, counted by name. */
enum nettlp_verdict {
    NETTLP_TLP,
    NETTLP_NOT_IP, /* another EtherType, or another version */
    NETTLP_NOT_UDP,
    NETTLP_FRAGMENT,
    NETTLP_OTHER_HOST, /* neither end is the adapter asked for */
    NETTLP_OTHER_PORT,
    NETTLP_ADAPTER_MESSAGE,  /* configuration or command, 6 bytes */
    NETTLP_BAD_DATAGRAM,     /* lengths in IPv4 or UDP header that cannot be */
    NETTLP_TRUNCATED_HEADER, /* the capture kept too little to see the TLP header */
    NETTLP_MALFORMED,        /* a TLP that cannot be: never summed */
    NETTLP_SHORT,            /* a well-formed header, but the frame was cut on the wire: never summed */
    NETTLP_NOT_A_TLP,        /* another kind of link-layer packet in an analyser's file (DLLP, ordered set) */
    NETTLP_OTHER_LINK,       /* a packet of an interface whose link type holds no TLPs, beside others */
    NETTLP_VERDICTS
};

/* The reason as counted in table skipped: "malformed", "short", "not UDP". */
const char *nettlp_reason(enum nettlp_verdict verdict);

/* Which frames are wanted. Zeroed: the default ports, every host. */
struct nettlp_filter {
    uint16_t port_lo, port_hi; /* 0, 0: 14198, 0x3000-0x30ff, 0x4000-0x40ff */
    uint32_t adapter;          /* IPv4 address in host order, 0: any; one end must have it */
};

/* The link layers understood, as pcap's DLT numbers (pcap/dlt.h). */
enum nettlp_link { NETTLP_LINK_ETHERNET, NETTLP_LINK_COOKED, NETTLP_LINK_COOKED2, NETTLP_LINK_IP };

/* "192.168.10.1" to host order, "LO-HI" or "PORT" (decimal or 0x) to a filter. */
int nettlp_parse_address(const char *text, uint32_t *address, struct err *err);
int nettlp_parse_ports(const char *text, struct nettlp_filter *filter, struct err *err);

/* --- the loop --- */

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
    int (*dlt_of)(
        void *ctx); /* of captures of several interfaces: the link type of the next packet; NULL: all share one */
    void *dlt_ctx;
    int dlt;           /* of the packet before */
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

/* --- PCIe packets from a network interface, as they pass, into a trace ---
 *
 * The interface is opened through libpcap in promiscuous mode; only headers are kept (256 bytes of each frame), time
 * stamps are ns where the interface gives them. What the kernel had to drop is counted in table dropped. */

struct live;

/* Open `interface` ("eth0", "any"). NULL with *err set: no such interface, no permission (says what grants it), or a
 * link layer that cannot hold NetTLP frames. */
struct live *live_open(const char *interface, const struct capture_options *options, struct err *err);
void live_close(struct live *live); /* NULL is allowed */

/* Store packets until *stop becomes other than 0 (looked at least every 100 ms) or the interface goes away; then write
 * the tables. The trace is not finished: that is the caller's. */
int live_run(struct live *live, struct store *store, const atomic_int *stop, struct err *err);

/* After live_run(): frames seen, PCIe packets that cannot be, frames that the kernel dropped. */
struct live_counts {
    uint64_t frames, damaged, dropped;
};
struct live_counts live_counts(const struct live *live);
