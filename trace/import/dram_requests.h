/* dram_requests: the stream "requests" of a DRAM request trace, and the words of its text lines; shared by the readers
 * dram_csv, ramulator and dramsim3. */
#ifndef TRACE_IMPORT_DRAM_REQUESTS_H
#define TRACE_IMPORT_DRAM_REQUESTS_H

#include "trace/import/reader.h"
#include "trace/store/store.h"

/* Open *requests on a new stream. clock: "dram" or "core", NULL if the source has no times. packed: addresses are
 * trace/event/dram_map.h's. */
int dram_requests_open(struct writer *requests, struct reader_context *context, const char *clock, bool packed,
                       struct err *err);
/* Write what is buffered, unless rc says that reading failed, and close. A source without any request is an error. */
int dram_requests_finish(struct writer *requests, const struct reader_context *context, int rc, struct err *err);

/* Make a request of a line, which is changed: NULL, or why the line is left out; "": it is passed over. */
typedef const char *dram_parse(void *ctx, char *line, struct record *r);

/* All lines, with times in cycles of "dram"; a request has its number and `bytes` where `parse` does not say them. */
int dram_requests_read(struct reader_context *context, struct input_stream *source, bool packed, uint64_t bytes,
                       dram_parse *parse, void *ctx, struct err *err);
/* Whether the first line that is not passed over, whole within the head, is a request. */
enum probe dram_requests_probe(const unsigned char *head, size_t n, dram_parse *parse);

enum { DRAM_WORDS = 16 };

/* Split `line` in place at each `separator`; ' ' is a run of blanks. Returns the number of words, at most
 * DRAM_WORDS + 1 (then the rest was not split). */
int dram_words(char *line, char separator, char *words[DRAM_WORDS + 1]);

/* Unsigned numbers, the whole word; false if it is not one or is above `most`. */
bool dram_decimal(const char *word, uint64_t most, uint64_t *value);
bool dram_hexadecimal(const char *word, uint64_t *value); /* 0x optional */
bool dram_number(const char *word, uint64_t *value);      /* decimal, or hexadecimal after 0x */

#endif
