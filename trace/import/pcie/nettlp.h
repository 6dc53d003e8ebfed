/* nettlp: PCIe packets in pcap and pcapng captures, from a file or a pipe.
 *
 * NetTLP's encapsulation in Ethernet, IPv4 and UDP (every adapter release), an Analyser's pcapng, or raw TLPs at a
 * fixed offset (option tlp_offset, for DLT_USER captures). Time stamps become ns whatever the file's unit. What is
 * found goes to the streams and tables of trace/pcie/tlp_sink.h; what cannot be is counted by reason: malformed, short
 * (cut on the wire), truncated_header, and for packets of other protocols what they are. A file that ends inside a
 * packet gives an incomplete trace with everything before. */
#ifndef TRACE_IMPORT_PCIE_NETTLP_H
#define TRACE_IMPORT_PCIE_NETTLP_H

#include "trace/import/pcie/capture.h"
#include "trace/import/reader.h"

struct nettlp_options {
    int64_t tlp_offset;
    int64_t clock;
    const char *ports, *adapter;
};

void nettlp_defaults(struct nettlp_options *options);

/* Check the texts. */
int nettlp_capture_options(const struct nettlp_options *options, bool strict, struct capture_options *capture,
                           struct err *err);

#endif
