/* Rows of measured link times as CSV. */
#include <stdint.h>

#include "replay/calibrate/link_fit.h"
#include "trace/import/testing_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {""};
    struct link_rows rows = {0};
    struct input_stream *source = input_stream_from_memory(data, size, &err);
    if (source)
        (void)link_rows_csv(&rows, source, "fuzz", &err);
    input_stream_close(source);
    link_rows_release(&rows);
    return 0;
}
