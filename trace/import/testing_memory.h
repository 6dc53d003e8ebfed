/* testing_memory: an input whose bytes are in memory, read as a file would be; a reader's options as import has them.
 */
#pragma once

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/base/param_value.h"
#include "trace/import/input_stream.h"
#include "trace/import/reader.h"

static inline struct input_stream *input_stream_from_memory(const void *data, size_t n, struct err *err)
{
    char path[40];
    int fd = memfd_create("input", MFD_CLOEXEC);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct input_stream *s = n && write(fd, data, n) != (ssize_t)n ? NULL : input_stream_open(path, err);
    (void)close(fd);
    return s;
}

/* Its options when nothing is set, which stay until the next call; NULL: it has none. */
static inline const void *testing_defaults(const struct reader *reader)
{
    static _Alignas(16) char values[512];
    if (!reader->options || reader->options_size > sizeof values)
        return NULL;
    param_defaults(reader->options, values);
    return values;
}
