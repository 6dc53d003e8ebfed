/* policy_build: the C file of a policy made into what --policy loads. */
#ifndef CMD_POLICY_POLICY_BUILD_H
#define CMD_POLICY_POLICY_BUILD_H

#include "models/plugin/plugin_load.h"

/* Compile `source` with the C compiler ($CC, else cc; $CFLAGS behind our own flags), load what comes of it, and write
 * it to `output`, which takes its name when it is whole. The compiler's messages go to stderr. The loaded head; NULL
 * with *err set. */
const struct policy_head *policy_build(const char *source, const char *output, bool replace, struct err *err);

#endif
