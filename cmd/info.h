/* info: adds to *root, like json_tree_put(), what `info` derives from a trace. */
#pragma once

#include <jansson.h>

#include "trace/derived/attribution.h"

/* info_counters: what `info` says of a trace's hardware counters per kernel, as JSON.
 *
 * "counters": a row per kernel: launches, each counter's total over them (null if the kernel has none), and what
 * follows from them: mean_request_bytes (sectors x 32 / requests), link_requests (bytes up / 16), link_payload_bytes.
 * "request_sizes", of kernels that make any: rows of kernel, size_bytes, at_least, at_most: how many requests have the
 * size; equal where it follows. Bounds are taken launch by launch and added. A trace without such counters gets no key.
 */
int info_counters_json(struct store *store, json_t **root, struct err *err);

/* info_migration: the bytes that unified memory moved to the GPU, as JSON.
 *
 * "migration": h2d_bytes; h2d_distinct_bytes, counting each 4 KiB page once; remigration_ratio, the first over the
 * second; bytes_per_fault, bytes moved by fault service over faulted 4 KiB pages; fault_to_migration_ns, from a batch's
 * fault record to its first copy: batches, min, q1, median, q3, max. Null: not known. A trace without such migrations
 * gets no key.
 *
 * Example: 64 KiB moved for 2 faulted pages, evicted, 4 KiB moved again for 1: h2d_bytes 69632, distinct 65536,
 * remigration_ratio 1.0625, bytes_per_fault 69632 / 3. */
int info_migration_json(struct store *store, json_t **root, struct err *err);

/* info_faults: what `info` says of single faults, as JSON.
 *
 * "single_faults": faults, the entries of the fault buffer; duplicates, of a page that the same batch has already;
 * leftovers, of a page that an earlier batch had, written before the GPU was told to try again what that one faulted:
 * nothing was left to be done; batches; clients; replay_min_ns, _median_ns and _max_ns, from an entry's writing to the
 * replay of its batch, both by the GPU's clock. "by_client": a row for each: gpc, client, faults, duplicates,
 * leftovers. A trace without such faults gets no key.
 *
 * Example: P written at 10 and 20 in batch 1, replayed at 100, and at 90 in batch 2, at 150: 1 duplicate, 1 leftover.
 */
int info_faults_json(struct store *store, json_t **root, struct err *err);

/* What `info --by` has as rows, and what they make together: *total as a row, with time_ns of all kernels
 * (ATTRIBUTION_KERNEL), fault_pages, batches and services too. Both are the caller's; null: not known. */
int info_rows_json(struct store *store, enum attribution_by by, json_t **rows, json_t **total, struct err *err);
