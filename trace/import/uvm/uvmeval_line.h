/* uvmeval_line: one line of a uvm-eval log, taken apart; trace/import/uvm/uvmeval.c says what there is. */
#ifndef TRACE_IMPORT_UVM_UVMEVAL_LINE_H
#define TRACE_IMPORT_UVM_UVMEVAL_LINE_H

#include <stdbool.h>
#include <stdint.h>

enum uvmeval_kind {
    UVMEVAL_OTHER,  /* a message of somebody else */
    UVMEVAL_BLANK,  /* empty, or a continuation line of kmsg */
    UVMEVAL_BAD,    /* one of ours by its letter, but not by its fields */
    UVMEVAL_START,  /* s */
    UVMEVAL_FAULT,  /* f, values[0..13] */
    UVMEVAL_END,    /* b; count 0 or 2: values[0] ns, values[1] status */
    UVMEVAL_BATCH,  /* b of batchd, values[0..29] */
    UVMEVAL_FAILED, /* e of batchd, values[0..30] */
    UVMEVAL_EVICT,  /* e, values[0] */
    UVMEVAL_PREFETCH,
    UVMEVAL_DISCARD,
    UVMEVAL_NOTICE, /* a */
    UVMEVAL_RANGE   /* values[0] start, values[1] bytes */
};

enum { UVMEVAL_FIELDS = 31 };

struct uvmeval_line {
    enum uvmeval_kind kind;
    bool numbered; /* from kmsg: sequence holds */
    uint64_t sequence;
    int count; /* of values */
    uint64_t values[UVMEVAL_FIELDS];
};

/* Take a line apart (ended by zero, without its line end). */
void uvmeval_line_parse(const char *text, struct uvmeval_line *line);

#endif
