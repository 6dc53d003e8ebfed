/* offchip_facts: what several traces say of themselves, put together.
 *
 * A key of origin or parameters that every input has with the same value stays; others become input.N.KEY. Always so:
 * what belongs to the making of one file (when, where, by which command, from which source). kinds.STREAM becomes what
 * all inputs could see. Counts of skipped and dropped items are summed. */
#ifndef TRACE_IMPORT_OWN_OFFCHIP_FACTS_H
#define TRACE_IMPORT_OWN_OFFCHIP_FACTS_H

#include "trace/import/own/offchip_input.h"

/* skipped: how many items the inputs left out, all together. */
int offchip_facts(const struct offchip_inputs *inputs, struct store *store, uint64_t *skipped, struct err *err);

#endif
