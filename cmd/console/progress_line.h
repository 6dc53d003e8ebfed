/* progress_line: progress on stderr for work that takes more than a second; only on a terminal unless --progress says
 * so. */
#pragma once

#include "replay/run/sweep_cache.h"

struct progress_line;

/* Start showing `progress` under `label`; NULL when nothing is to be shown, which progress_line_stop() accepts. */
struct progress_line *progress_line_start(struct progress *progress, const char *label);
void progress_line_stop(struct progress_line *line);
