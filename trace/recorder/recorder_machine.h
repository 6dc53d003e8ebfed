/* recorder_machine: what a recording says of the machine itself: the driver's version and its memory module's
 * parameters; and the file that it goes to. */
#ifndef TRACE_RECORDER_RECORDER_MACHINE_H
#define TRACE_RECORDER_RECORDER_MACHINE_H

#include "trace/store/store.h"

/* Origin "driver" and table parameters, as far as this user may read them. sysfs: "/sys". */
int recorder_machine_write(struct store *store, const char *sysfs, struct err *err);

#endif
