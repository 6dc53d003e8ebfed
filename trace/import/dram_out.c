#include "trace/import/dram_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/base/mem.h"
#include "trace/event/dram_map.h"
#include "trace/import/field.h"

int dram_out_open(struct dram_out *out, struct reader_context *context, const char *clock, bool packed, struct err *err)
{
    struct stream stream = {
        .name = "requests", .unit = clock ? TIME_CYCLES : TIME_NONE, .space = packed ? ADDR_DRAM_PACKED : ADDR_BYTES};
    if (clock)
        (void)snprintf(stream.clock, sizeof stream.clock, "%s", clock);
    if (packed)
        (void)snprintf(stream.addr_layout, sizeof stream.addr_layout, "%s", DRAM_ADDR_LAYOUT);
    out->context = context;
    out->records = mem_zalloc(STORE_BATCH, sizeof *out->records, err);
    if (!out->records)
        return -1;
    return store_stream_add(context->store, &stream, &out->stream, err);
}

static int flush(struct dram_out *out, struct err *err)
{
    const int rc = out->n ? store_append(out->context->store, out->stream, out->records, NULL, out->n, err) : 0;
    out->n = 0;
    return rc;
}

int dram_out_add(struct dram_out *out, const struct record *record, struct err *err)
{
    out->records[out->n++] = *record;
    out->kept++;
    return out->n == STORE_BATCH ? flush(out, err) : 0;
}

int dram_out_skip(struct dram_out *out, const char *wrong, const struct input_stream *source, struct err *err)
{
    char place[SOURCE_PLACE];
    return reader_skip(out->context, wrong, input_stream_place(source, place), err);
}

int dram_out_finish(struct dram_out *out, struct err *err)
{
    if (!out->kept)
        return err_set(err, "no request in it");
    return flush(out, err);
}

void dram_out_close(struct dram_out *out)
{
    free(out->records);
    memset(out, 0, sizeof *out);
}

int dram_words(char *line, const char *separators, char *words[DRAM_WORDS + 1])
{
    int n = 0;
    const bool blanks = strchr(separators, ' ') != NULL;
    char *p = line;
    for (;;) {
        if (blanks)
            p += strspn(p, " \t");
        if (!*p && (blanks || n == 0))
            return n;
        words[n++] = p;
        if (n > DRAM_WORDS)
            return n;
        p += strcspn(p, separators);
        if (!*p)
            return n;
        *p++ = 0;
    }
}

bool dram_decimal(const char *word, uint64_t most, uint64_t *value)
{
    uint64_t v = 0;
    if (!*word)
        return false;
    for (const char *p = word; *p; p++) {
        const unsigned digit = (unsigned)(*p - '0');
        if (digit > 9 || v > (UINT64_MAX - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    *value = v;
    return v <= most;
}

bool dram_hexadecimal(const char *word, uint64_t *value)
{
    if (word[0] == '0' && (word[1] == 'x' || word[1] == 'X'))
        word += 2;
    uint64_t v = 0;
    const char *p = word;
    for (; *p; p++) {
        const unsigned digit = field_hex_values[(unsigned char)*p];
        if (digit > 15)
            return false;
        v = v << 4 | digit;
    }
    *value = v;
    return p > word && p - word <= 16;
}

bool dram_number(const char *word, uint64_t *value)
{
    if (word[0] == '0' && (word[1] == 'x' || word[1] == 'X'))
        return dram_hexadecimal(word, value);
    return dram_decimal(word, UINT64_MAX, value);
}
