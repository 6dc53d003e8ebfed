/* Any line under any header: parsed or refused; addresses only within the array. */
#include "trace/import/accelsim.c"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char line[4096];
    if (n < 2 || n > sizeof line)
        return 0;
    struct header header = {.version = data[0] % 8,
                            .lineinfo = data[0] & 8,
                            .owner = data[0] & 16,
                            .core = data[0] & 32,
                            .shared_base = data[0] & 64 ? 0x7f0000000000 : 0,
                            .local_base = data[0] & 128 ? 0x7f0001000000 : 0};
    struct op op;
    memcpy(line, data + 1, n - 1);
    line[n - 1] = 0;
    if (!parse_line(line, &header, &op) && (op.lanes < 0 || op.lanes > ADDRESSES))
        __builtin_trap();
    return 0;
}
