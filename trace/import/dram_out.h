/* dram_out: records of a DRAM request trace on their way into the store, and the words of a text line; shared by the
 * readers dram_csv, ramulator and dramsim3. */
#ifndef TRACE_IMPORT_DRAM_OUT_H
#define TRACE_IMPORT_DRAM_OUT_H

#include "trace/import/reader.h"

/* One stream "requests", written in batches. Zeroed before dram_out_open(). */
struct dram_out {
    struct reader_context *context;
    int stream;
    size_t n;
    struct record *records; /* STORE_BATCH */
    uint64_t kept;
};

/* Make the stream. clock: "dram" or "core", NULL if the source has no times. packed: addresses are
 * trace/event/dram_map.h's.
 */
int dram_out_open(struct dram_out *out, struct reader_context *context, const char *clock, bool packed,
                  struct err *err);
/* Add one record; *record is copied. */
int dram_out_add(struct dram_out *out, const struct record *record, struct err *err);
/* Leave out the source's last line, which is wrong so. */
int dram_out_skip(struct dram_out *out, const char *wrong, const struct input_stream *source, struct err *err);
/* Write what is buffered; an input without any request is an error. */
int dram_out_finish(struct dram_out *out, struct err *err);
void dram_out_close(struct dram_out *out);

enum { DRAM_WORDS = 16 };

/* Split `line` in place at any of `separators` (a run of blanks is one, a comma each). Returns the number of words, at
 * most DRAM_WORDS + 1 (then the rest was not split). */
int dram_words(char *line, const char *separators, char *words[DRAM_WORDS + 1]);

/* Unsigned numbers, the whole word; false if it is not one or is above `most`. */
bool dram_decimal(const char *word, uint64_t most, uint64_t *value);
bool dram_hexadecimal(const char *word, uint64_t *value); /* 0x optional */
bool dram_number(const char *word, uint64_t *value);      /* decimal, or hexadecimal after 0x */

#endif
