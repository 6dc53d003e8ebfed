#include "trace/import/dram_requests.h"

#include <stdio.h>
#include <string.h>

#include "trace/event/dram_map.h"
#include "trace/import/field.h"

int dram_requests_open(struct writer *requests, struct reader_context *context, const char *clock, bool packed,
                       struct err *err)
{
    struct stream stream = {
        .name = "requests", .unit = clock ? TIME_CYCLES : TIME_NONE, .space = packed ? ADDR_DRAM_PACKED : ADDR_BYTES};
    int index;
    if (store_stream_find(context->store, stream.name) >= 0)
        return err_set(err, "the trace has DRAM requests of another input: import each into a trace of its own");
    if (clock)
        (void)snprintf(stream.clock, sizeof stream.clock, "%s", clock);
    if (packed)
        (void)snprintf(stream.addr_layout, sizeof stream.addr_layout, "%s", DRAM_ADDR_LAYOUT);
    return store_stream_add(context->store, &stream, &index, err) ||
                   writer_open(requests, context->store, index, 0, err)
               ? -1
               : 0;
}

int dram_requests_finish(struct writer *requests, const struct reader_context *context, int rc, struct err *err)
{
    if (!rc)
        rc = requests->total ? writer_flush(requests, err) : reader_nothing(context, "request", err);
    writer_close(requests);
    return rc;
}

int dram_requests_read(struct reader_context *context, struct input_stream *source, bool packed, uint64_t bytes,
                       dram_parse *parse, void *ctx, struct err *err)
{
    struct writer requests = {0};
    char *line;
    size_t length;
    int rc = dram_requests_open(&requests, context, "dram", packed, err) ? -1 : 1;
    while (rc == 1 && (rc = input_stream_line(source, &line, &length, err)) == 1) {
        struct record r = {.id = requests.total, .bytes = bytes};
        if (strspn(line, " \t") == length)
            continue;
        const char *wrong = strlen(line) == length ? parse(ctx, line, &r) : "a zero byte in the line";
        if (!wrong)
            reader_time(context, r.time);
        if (wrong ? *wrong && reader_skip_line(context, wrong, source, err) : writer_add(&requests, &r, NULL, err))
            rc = -1;
    }
    return dram_requests_finish(&requests, context, rc, err);
}

enum probe dram_requests_probe(const unsigned char *head, size_t n, dram_parse *parse)
{
    const char *p = (const char *)head, *end = p + n;
    char line[256];
    while (reader_head_line(&p, end, line, sizeof line)) {
        struct record r;
        const char *wrong = *line ? parse(NULL, line, &r) : "";
        if (!wrong || *wrong)
            return wrong ? PROBE_NO : PROBE_YES;
    }
    return PROBE_NO;
}

int dram_words(char *line, char separator, char *words[DRAM_WORDS + 1])
{
    int n = 0;
    const bool blanks = separator == ' ';
    for (char *p = line;; *p++ = 0) {
        if (blanks)
            p += strspn(p, " \t");
        if (!*p && (blanks || n == 0))
            return n;
        words[n++] = p;
        if (n > DRAM_WORDS)
            return n;
        p = blanks ? p + strcspn(p, " \t") : strchrnul(p, separator);
        if (!*p)
            return n;
    }
}

bool dram_decimal(const char *word, uint64_t most, uint64_t *value)
{
    return field_digits(&word, value) && !*word && *value <= most;
}

bool dram_hexadecimal(const char *word, uint64_t *value)
{
    if (word[0] == '0' && (word[1] == 'x' || word[1] == 'X'))
        word += 2;
    const char *p = word;
    return field_hex_digits(&p, value) && !*p && p - word <= 16;
}

bool dram_number(const char *word, uint64_t *value)
{
    return word[0] == '0' && (word[1] == 'x' || word[1] == 'X') ? dram_hexadecimal(word, value)
                                                                : dram_decimal(word, UINT64_MAX, value);
}
