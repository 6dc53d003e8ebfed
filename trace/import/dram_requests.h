/* dram_requests: the stream "requests" of a DRAM request trace, and the words of its text lines; shared by the readers
 * dram_csv, ramulator and dramsim3. */
#pragma once

#include "trace/import/reader.h"
#include "trace/store/store.h"

/* Make a request of a line, which is changed: NULL, or why the line is left out; "": it is passed over. */
typedef const char *dram_parse(void *ctx, char *line, struct record *r);

/* What a reader's lines are. */
struct dram_form {
    const char *clock; /* "dram"; NULL: the source has no times */
    bool packed;
    uint64_t bytes; /* of a request whose line does not say them */
    dram_parse *parse;
    void *ctx;
    bool two;    /* a line may hold a second request: parse is asked for it, without a line; then "" is none */
    char *first; /* a line that was read before; NULL: none */
};

/* All lines; a request has its number. */
int dram_requests_read(struct reader_context *context, struct input_stream *source, const struct dram_form *form,
                       struct err *err);
/* Whether the first line that is not passed over, whole within the head, is a request. */
enum probe dram_requests_probe(const unsigned char *head, size_t n, dram_parse *parse);

enum { DRAM_WORDS = 16 };

/* Split `line` in place at each `separator`; ' ' is a run of blanks. Returns the number of words, at most
 * DRAM_WORDS + 1 (then the rest was not split). */
int dram_words(char *line, char separator, char *words[DRAM_WORDS + 1]);

/* Whether a word, of any case, is in one of the lists, whose words blanks divide: *r becomes a read or a write. */
bool dram_kind(const char *word, const char *reads, const char *writes, struct record *r);

/* Unsigned numbers, the whole word; false if it is not one or is above `most`. */
bool dram_decimal(const char *word, uint64_t most, uint64_t *value);
bool dram_hexadecimal(const char *word, uint64_t *value); /* 0x optional */
bool dram_number(const char *word, uint64_t *value);      /* decimal, or hexadecimal after 0x */
