/* placement: the engine. */
#ifndef REPLAY_PLACEMENT_PLACEMENT_H
#define REPLAY_PLACEMENT_PLACEMENT_H

#include "replay/run/engine.h"

extern const struct engine engine_placement;

#endif
