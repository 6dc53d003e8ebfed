/* Any bytes as a task file, through a file in memory: at least one task, or an error. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "replay/placement/placement_tasks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {""};
    struct placement_tasks tasks;
    char path[40];
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int rc = placement_tasks_read(&tasks, path, &err);
    if (rc ? !*err.msg : !tasks.count)
        abort();
    placement_tasks_release(&tasks);
    (void)close(fd);
    return 0;
}
