/* policy_build: the C file of a policy made into what --policy loads. */
#ifndef CMD_POLICY_POLICY_BUILD_H
#define CMD_POLICY_POLICY_BUILD_H

#include "models/own/own_load.h"

/* Compile `source` with the C compiler ($CC, else cc; $CFLAGS behind our own flags), load what comes of it, check it
 * with its defaults, and write it, sealed, to `output`, which takes its name when it is whole. The compiler's messages
 * go to stderr. NULL with *err set. */
const struct own_loaded *policy_build(const char *source, const char *output, bool replace, struct err *err);

#endif
