/* info_counters: what `info` says of a trace's hardware counters per kernel, as JSON.
 *
 * "counters": a row per kernel: launches, each counter's total over them (null if the kernel has none), and what
 * follows from them: mean_request_bytes (sectors x 32 / requests), link_requests (bytes up / 16), link_payload_bytes.
 * "request_sizes": rows of kernel, size_bytes, at_least, at_most: how many requests have the size; equal where it
 * follows. Bounds are taken launch by launch and added. A trace without such counters gets no key. */
#ifndef REPLAY_INFO_INFO_COUNTERS_H
#define REPLAY_INFO_INFO_COUNTERS_H

#include <jansson.h>

#include "trace/store/store.h"

/* Add the keys to *root, as json_tree_put() does. */
int info_counters_json(struct store *store, json_t **root, struct err *err);

#endif
