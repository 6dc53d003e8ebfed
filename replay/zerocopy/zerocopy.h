/* zerocopy: the engine. */
#ifndef REPLAY_ZEROCOPY_ZEROCOPY_H
#define REPLAY_ZEROCOPY_ZEROCOPY_H

#include "replay/run/engine.h"

extern const struct engine engine_zerocopy;

#endif
