/* Any bytes: the source decompresses them or says what is wrong; memory stays bounded. */
#include "trace/import/testing_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err err;
    struct input_stream *s = input_stream_from_memory(data, n, &err);
    if (!s)
        return 0;
    const unsigned char *head;
    size_t got, length;
    char *line;
    int rc = input_stream_peek(s, 4096, &head, &got, &err);
    /* A few kilobytes can unpack to gigabytes: stop where a reader would long have been at work. */
    while (rc >= 0 && input_stream_offset(s) < (8u << 20) && (rc = input_stream_line(s, &line, &length, &err)) > 0)
        if (line[length] != 0)
            __builtin_trap();
    input_stream_close(s);
    return 0;
}
