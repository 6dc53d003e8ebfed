/* Any bytes as a chunk: the first says how many extra columns, the second whether the checksum is made to fit (so that
 * what lies behind it is reached). Whatever decodes is encoded and decoded again, and must be the same. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "trace/store/chunk.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

static void read_chunk(unsigned char *data, size_t bytes, int extras, struct chunk_builder *builder)
{
    struct chunk_reader reader;
    struct err err = {""};
    uint32_t claimed = 0;
    if (bytes >= 8)
        memcpy(&claimed, data + 4, 4);
    if (chunk_reader_init(&reader, extras, &err))
        return;
    if (chunk_reader_start(&reader, data, bytes, claimed, &err) == 0) {
        const struct record *records;
        const int64_t *extra;
        size_t n, taken, total = 0;
        while (chunk_reader_next(&reader, &records, &extra, &n, &err) == 1) {
            if (builder)
                (void)chunk_builder_add(builder, records, extra, n, n, &taken, &err);
            total += n;
        }
        assert(total <= claimed);
    }
    chunk_reader_release(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    if (size < 2)
        return 0;
    int extras = input[0] % (STORE_EXTRAS + 1);
    bool seal = input[1] & 1;
    size_t bytes = size - 2;
    unsigned char *data = malloc(bytes ? bytes : 1);
    struct chunk_builder builder;
    struct err err = {""};
    if (!data || chunk_builder_init(&builder, extras, &err))
        abort();
    memcpy(data, input + 2, bytes);
    if (seal && bytes >= CHUNK_HEAD_BYTES) {
        uint64_t sum = XXH3_64bits(data + 16, bytes - 16);
        memcpy(data, "OCK1", 4);
        memcpy(data + 8, &sum, 8);
    }
    read_chunk(data, bytes, extras, &builder);
    if (builder.records) {
        const unsigned char *again;
        size_t n;
        chunk_builder_encode(&builder, &again, &n);
        struct chunk_reader reader;
        if (chunk_reader_init(&reader, extras, &err) || chunk_reader_start(&reader, again, n, builder.records, &err))
            abort();
        chunk_reader_release(&reader);
    }
    chunk_builder_release(&builder);
    free(data);
    return 0;
}
