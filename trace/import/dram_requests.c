#include "trace/import/dram_requests.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "trace/event/dram_map.h"
#include "trace/import/field.h"

static int open_requests(struct writer *requests, struct reader_context *context, const struct dram_form *form,
                         struct err *err)
{
    struct stream stream = {.name = "requests",
                            .unit = form->clock ? TIME_CYCLES : TIME_NONE,
                            .space = form->packed ? ADDR_DRAM_PACKED : ADDR_BYTES};
    int index;
    if (store_stream_find(context->store, stream.name) >= 0)
        return err_set(err, "the trace has DRAM requests of another input: import each into a trace of its own");
    (void)snprintf(stream.clock, sizeof stream.clock, "%s", form->clock ? form->clock : "");
    (void)snprintf(stream.addr_layout, sizeof stream.addr_layout, "%s", form->packed ? DRAM_ADDR_LAYOUT : "");
    return store_stream_add(context->store, &stream, &index, err) ||
                   writer_open(requests, context->store, index, 0, err)
               ? -1
               : 0;
}

static int take_line(struct writer *requests, struct reader_context *context, struct input_stream *source,
                     const struct dram_form *form, char *line, size_t length, struct err *err)
{
    const char *wrong = strlen(line) == length ? NULL : "a zero byte in the line";
    const int most = form->two ? 2 : 1;
    struct record r;
    for (int i = 0; i < most && !wrong; i++) {
        r = (struct record){.id = requests->total, .bytes = form->bytes};
        wrong = form->parse(form->ctx, i ? NULL : line, &r);
        if (!wrong && form->clock)
            reader_time(context, r.time);
        if (!wrong && writer_add(requests, &r, NULL, err))
            return -1;
    }
    return wrong && *wrong ? reader_skip_line(context, wrong, source, err) : 0;
}

int dram_requests_read(struct reader_context *context, struct input_stream *source, const struct dram_form *form,
                       struct err *err)
{
    struct writer requests = {0};
    char *line = form->first;
    size_t length = line ? strlen(line) : 0;
    int rc = open_requests(&requests, context, form, err) ? -1 : 1;
    while (rc == 1 && (line || (rc = input_stream_line(source, &line, &length, err)) == 1)) {
        if (strspn(line, " \t") < length && take_line(&requests, context, source, form, line, length, err))
            rc = -1;
        line = NULL;
    }
    if (!rc)
        rc = requests.total ? writer_flush(&requests, err) : reader_nothing(context, "request", err);
    writer_close(&requests);
    return rc;
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

static bool is_in(const char *word, const char *list)
{
    const size_t n = strlen(word);
    for (; *list; list += strcspn(list, " "), list += *list == ' ')
        if (strcspn(list, " ") == n && strncasecmp(list, word, n) == 0)
            return n > 0;
    return false;
}

bool dram_kind(const char *word, const char *reads, const char *writes, struct record *r)
{
    const bool read = is_in(word, reads);
    r->kind = read ? RECORD_DRAM_READ : RECORD_DRAM_WRITE;
    return read || is_in(word, writes);
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
