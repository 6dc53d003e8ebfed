/* meter: progress on stderr for work that takes more than a second; only on a terminal unless --progress says so. */
#ifndef CMD_METER_H
#define CMD_METER_H

#include "replay/progress.h"

struct meter;

/* Start showing `progress` under `label`; NULL when nothing is to be shown, which meter_stop() accepts. */
struct meter *meter_start(struct progress *progress, const char *label);
void meter_stop(struct meter *meter);

#endif
