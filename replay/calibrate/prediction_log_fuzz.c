/* A ledger of any bytes; one that is read is written and read again as the same. */
#include <stdint.h>
#include <stdlib.h>

#include "replay/calibrate/prediction_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {""};
    struct prediction_log first, again;
    if (prediction_log_parse(&first, "fuzz", (const char *)data, size, &err))
        return 0;
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    if (f && prediction_log_write(&first, f) == 0 && fclose(f) == 0) {
        if (prediction_log_parse(&again, "fuzz", text, bytes, &err) || again.count != first.count)
            abort();
        prediction_log_release(&again);
    }
    free(text);
    prediction_log_release(&first);
    return 0;
}
