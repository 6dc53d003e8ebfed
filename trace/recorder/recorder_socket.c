#include "trace/recorder/recorder_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "trace/recorder/wire/record_address.h"
#include "trace/store/output.h"

enum { BACKLOG = 1024 };

/* A socket of that name; -1 with errno set. */
static int named(const char *name)
{
    struct sockaddr_un address;
    socklen_t length = record_address(name, &address);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, length) == 0)
        return fd;
    int code = errno;
    (void)close(fd);
    errno = code;
    return -1;
}

int recorder_socket_listen(char name[RECORDER_SOCKET_NAME], struct err *err)
{
    unsigned long long random[2] = {0};
    (void)getrandom(random, sizeof random, GRND_NONBLOCK);
    (void)snprintf(name, RECORDER_SOCKET_NAME, "@offchip-%ld-%016llx%016llx", (long)getpid(), random[0], random[1]);
    int fd = named(name);
    if (fd < 0)
        return err_set(err, "%s: the recorder's socket cannot be made: %s", name, strerror(errno));
    if (listen(fd, BACKLOG) == 0)
        return fd;
    err_set(err, "%s: the recorder's socket does not listen: %s", name, strerror(errno));
    (void)close(fd);
    return -1;
}

int recorder_socket_accept(int listener)
{
    for (;;) {
        struct ucred peer = {.uid = (uid_t)-1};
        socklen_t size = sizeof peer;
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 ||
            (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == geteuid() || peer.uid == 0)))
            return fd;
        (void)close(fd);
    }
}

int recorder_socket_claim(const char *path, struct err *err)
{
    char name[RECORDER_SOCKET_NAME];
    char *file = output_resolve(path, err);
    if (!file)
        return err_set(err, "out of memory");
    struct stat st = {0};
    char *slash = strrchr(file, '/');
    if (slash) /* its folder as the kernel knows it: the same through every mount and link */
        *slash = 0;
    (void)stat(slash && slash != file ? file : slash ? "/" : ".", &st);
    const char *last = slash ? slash + 1 : file;
    (void)snprintf(name, sizeof name, "@offchip-file-%llx-%llx-%016llx", (unsigned long long)st.st_dev,
                   (unsigned long long)st.st_ino, (unsigned long long)XXH3_64bits(last, strlen(last)));
    free(file);
    int fd = named(name);
    if (fd < 0 && errno == EADDRINUSE)
        return err_set(err, "another offchip record is writing '%s': give each recording a file of its own (-o)", path);
    return fd < 0 ? err_set(err, "'%s' cannot be reserved: %s", path, strerror(errno)) : fd;
}
