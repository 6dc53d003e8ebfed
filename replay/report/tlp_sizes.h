/* tlp_sizes: the PCIe packets of a trace by type and size, and how long its reads took, as JSON; what `info` prints and
 * figures of captures draw.
 *
 * "tlp_histogram": rows of type, direction, size_bytes, count; "tlp_types": packets and bytes by type; "tlp": totals of
 * the captures (packets, reads, completed_reads, ...); "tlp_latency_ns": minimum, quartiles (the lower of two) and
 * maximum over the completed reads whose request was seen first, null if there is none; "tlp_flows" and "tlp_defects".
 * Impossible packets stand under "skipped" (malformed, short) only. A trace without packets gets no key. */
#pragma once

#include <jansson.h>

#include "trace/base/quantile.h"
#include "trace/store/store.h"

/* Add the keys to *root, as json_tree_put() does. */
int tlp_sizes_json(struct store *store, json_t **root, struct err *err);

/* Latencies of a trace's completed reads (stream tlp_reads) in ns, freed with quantile_free(); NULL with *err set. */
struct quantile *tlp_sizes_latency(struct store *store, struct err *err);
