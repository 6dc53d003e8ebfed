/* recorder_socket: where recorded programs connect to, and who may record into a file; neither leaves a file behind.
 *
 * Both are names of Linux's abstract namespace (trace/recorder/wire/record_address.h), which the kernel frees with
 * the process that has them, however it ends. They are of one network namespace: a program that the target starts in
 * another one (unshare -n, a container of its own) does not find the recorder and runs unrecorded. */
#ifndef TRACE_RECORDER_RECORDER_SOCKET_H
#define TRACE_RECORDER_RECORDER_SOCKET_H

#include "trace/base/err.h"

enum { RECORDER_SOCKET_NAME = 64 };

/* Listen; name gets what a program is told. The descriptor, or -1 with *err set. */
int recorder_socket_listen(char name[RECORDER_SOCKET_NAME], struct err *err);

/* The next connection, -1 if there is none. Only this user and root may connect: others are turned away. */
int recorder_socket_accept(int listener);

/* Have the file `path` for ourselves until the returned descriptor is closed. -1 with *err set if another recorder on
 * this machine writes it. */
int recorder_socket_claim(const char *path, struct err *err);

#endif
