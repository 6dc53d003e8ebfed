#include "replay/engine.h"
const struct engine *const engines[] = {0};
