/* live: PCIe packets from a network interface, as they pass, into a trace.
 *
 * The interface is opened through libpcap in promiscuous mode; only headers are kept (256 bytes of each frame), time
 * stamps are ns where the interface gives them. What the kernel had to drop is counted in table dropped. */
#ifndef TRACE_IMPORT_PCIE_LIVE_H
#define TRACE_IMPORT_PCIE_LIVE_H

#include <stdatomic.h>
#include <stdint.h>

#include "trace/import/pcie/capture.h"
#include "trace/store/store.h"

struct live;

/* Open `interface` ("eth0", "any"). NULL with *err set: no such interface, no permission (says what grants it), or a
 * link layer that cannot hold NetTLP frames. */
struct live *live_open(const char *interface, const struct capture_options *options, struct err *err);
void live_close(struct live *live); /* NULL is allowed */

/* Store packets until *stop becomes other than 0 (looked at least every 100 ms) or the interface goes away; then write
 * the tables. The trace is not finished: that is the caller's. */
int live_run(struct live *live, struct store *store, const atomic_int *stop, struct err *err);

/* After live_run(): frames seen, PCIe packets that cannot be, frames that the kernel dropped. */
uint64_t live_frames(const struct live *live);
uint64_t live_damaged(const struct live *live);
uint64_t live_dropped(const struct live *live);

#endif
