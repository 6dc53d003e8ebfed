/* record_address: the Unix socket that a recorded program finds its recorder at.
 *
 * A name that begins with '@' stands in Linux's abstract namespace: there is no file, so a recorder that is killed
 * leaves nothing behind, and the kernel gives the name free. Any other name is a path. */
#ifndef TRACE_RECORDER_WIRE_RECORD_ADDRESS_H
#define TRACE_RECORDER_WIRE_RECORD_ADDRESS_H

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* The address of `name` and its length; 0: the name is too long. */
static inline socklen_t record_address(const char *name, struct sockaddr_un *address)
{
    size_t n = strlen(name);
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (n == 0 || n >= sizeof address->sun_path)
        return 0;
    memcpy(address->sun_path, name, n);
    if (name[0] != '@')
        return (socklen_t)sizeof *address;
    address->sun_path[0] = 0;
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
}

#endif
