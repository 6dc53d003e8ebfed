/* recorder_start: start the program, told through its environment what to load and whom to send to. */
#ifndef TRACE_RECORDER_RECORDER_START_H
#define TRACE_RECORDER_RECORDER_START_H

#include <sys/types.h>

#include "trace/recorder/recorder.h"

/* Start options->argv, which finds the recorder at `socket_name`. -1 with *err set if a library is missing or the
 * program cannot be run; then nothing runs. */
int recorder_start(const struct recorder_options *options, const char *socket_name, pid_t *child, struct err *err);

#endif
