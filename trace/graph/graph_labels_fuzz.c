/* Any bytes as a file of labelled vertices; the first byte is the number of vertices. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "trace/graph/graph_labels.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct source *source = size ? source_from_memory(data + 1, size - 1, NULL) : NULL;
    uint32_t *labelled;
    uint64_t count;
    if (!source)
        return 0;
    if (graph_labels_read(source, data[0], &labelled, &count, NULL) == 0 && (count == 0 || count > data[0]))
        abort();
    free(labelled);
    source_close(source);
    return 0;
}
