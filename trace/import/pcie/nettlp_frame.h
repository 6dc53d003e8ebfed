/* nettlp_frame: where in a captured frame the PCIe packet is; Ethernet, VLAN tags, IPv4 or IPv6, UDP and the NetTLP
 * header.
 *
 * Ethernet (14, or Linux cooked 16 or 20, or none) [4 per VLAN tag] IPv4 (20-60) UDP (8) NetTLP (6) TLP. Adapters send
 * IPv4; IPv6 (40 and up to eight extension headers) is what a host or a tunnel between may make of it.
 * Source: NetTLP adapter RTL v0.1 to v0.22.5 and libtlp (ports and header by release), NetTLP/tcpdump (ports); IEEE
 * 802.1Q and 802.1ad (tags), RFC 791, RFC 8200, RFC 768. Ports: 14198 up to v0.14, then 0x3000 + tag for completions
 * and, from v0.22, 0x4000 + tag for requests. The NetTLP header is a 16-bit sequence (10 bits up to v0.18) and a 32-bit
 * time stamp; before NetTLP, port 14198 carried a 3-bit version that was not 0 and a 40-bit time stamp. The time stamp
 * counts 6.4 ns ticks of the adapter's 156.25 MHz Ethernet clock; frames sent by libtlp have 0. */
#ifndef TRACE_IMPORT_PCIE_NETTLP_FRAME_H
#define TRACE_IMPORT_PCIE_NETTLP_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"

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
    NETTLP_VERDICTS
};

/* The reason as counted in table skipped: "malformed", "short", "not UDP". */
const char *nettlp_reason(enum nettlp_verdict verdict);

/* Which frames are wanted. Zeroed: the default ports, every host. */
struct nettlp_filter {
    uint16_t port_lo, port_hi; /* 0, 0: 14198, 0x3000-0x30ff, 0x4000-0x40ff */
    uint32_t adapter;          /* IPv4 address in host order, 0: any; one end must have it, and IPv6 is left out */
};

/* The link layers understood, as pcap's DLT numbers (pcap/dlt.h). */
enum nettlp_link { NETTLP_LINK_ETHERNET, NETTLP_LINK_COOKED, NETTLP_LINK_COOKED2, NETTLP_LINK_IP };

struct nettlp_frame {
    uint32_t source, destination;                /* IPv4, host order; 0: IPv6 */
    const unsigned char *source6, *destination6; /* 16 bytes each inside the frame; NULL: IPv4 */
    int32_t vlan;                                /* the innermost tag's number, -1: none */
    uint16_t port;
    uint16_t sequence;  /* as on the wire */
    uint64_t stamp;     /* adapter ticks of 6.4 ns; 0: none */
    size_t tlp_offset;  /* in the captured bytes */
    size_t tlp_bytes;   /* announced by UDP: prefixes, header, payload, ECRC */
    size_t frame_bytes; /* the frame ends here by its IP length; origlen below it: cut on the wire */
};

/* Find the TLP in `captured` bytes of a frame that had `wire` bytes. NETTLP_TLP promises nothing about the TLP itself,
 * nor that all of its header was captured. */
enum nettlp_verdict nettlp_frame_parse(enum nettlp_link link, const struct nettlp_filter *filter,
                                       const unsigned char *data, size_t captured, size_t wire,
                                       struct nettlp_frame *frame);

/* "192.168.10.1" to host order, "LO-HI" or "PORT" (decimal or 0x) to a filter. */
int nettlp_parse_address(const char *text, uint32_t *address, struct err *err);
int nettlp_parse_ports(const char *text, struct nettlp_filter *filter, struct err *err);

#endif
