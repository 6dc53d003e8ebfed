/* Any bytes as an array of NumPy that holds edges. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/graph/graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct graph_options options = {.undirected = size & 1, .relabel = size & 2};
    struct graph graph = {0};
    char path[32];
    int fd = memfd_create("array", MFD_CLOEXEC);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd >= 0 && write(fd, data, size) == (ssize_t)size)
        (void)graph_load(path, &graph_npy, &options, &graph, NULL);
    graph_release(&graph);
    (void)close(fd);
    return 0;
}
