/* Any bytes as a platform file, through a file in memory: a platform with a number in it, or an error. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "models/base/platform.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {""};
    char path[40];
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct platform *platform = platform_load(path, &err);
    if (!platform && !*err.msg)
        abort();
    platform_free(platform);
    (void)close(fd);
    return 0;
}
