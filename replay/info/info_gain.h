/* info_gain: what `info` says of a recording of managed memory: how much of its kernels' time fault service covers, and
 * what can be gained at most (replay/uvm/recording/uvm_gain.h), as JSON.
 *
 * "fault_service": for each recording of the trace (trace/uvm/recording.h) process and gpu (null where it does not
 * say), kernel_ns, served_ns, gain_at_most_ratio (null where there is no limit or none is known) and "said": the
 * sentence that `replay uvm` has of it, or why the recording cannot be looked at. A trace without migrations, or whose
 * recordings name no kernel, gets no key. */
#ifndef REPLAY_INFO_INFO_GAIN_H
#define REPLAY_INFO_INFO_GAIN_H

#include <jansson.h>

#include "trace/store/store.h"

/* Add the key to *root, as json_tree_put() does. */
int info_gain_json(struct store *store, json_t **root, struct err *err);

#endif
