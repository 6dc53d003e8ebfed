/* A ledger of any bytes; one that is read is written and read again as the same. */
#include <stdint.h>
#include <stdlib.h>

#include "replay/calibrate/ledger.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = {""};
    struct ledger first, again;
    if (ledger_parse(&first, "fuzz", (const char *)data, size, &err))
        return 0;
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    if (f && ledger_write(&first, f) == 0 && fclose(f) == 0) {
        if (ledger_parse(&again, "fuzz", text, bytes, &err) || again.count != first.count)
            abort();
        ledger_release(&again);
    }
    free(text);
    ledger_release(&first);
    return 0;
}
