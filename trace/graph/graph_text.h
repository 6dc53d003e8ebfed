/* graph_text: numbers and edges in lines of text graph formats. */
#ifndef TRACE_GRAPH_GRAPH_TEXT_H
#define TRACE_GRAPH_GRAPH_TEXT_H

#include <stdio.h>

#include "trace/graph/graph.h"

/* Take an unsigned decimal number at *p (blanks before it are skipped); it must end at a blank or the line's end.
 * Moves *p past it. False if there is none or it exceeds 2^64 - 1. */
bool graph_take_u64(const char **p, uint64_t *value);

/* The same, signed and 64-bit. */
bool graph_take_i64(const char **p, int64_t *value);

/* A real number, locale-free, finite. */
bool graph_take_real(const char **p, double *value);

/* Whether only blanks are left. */
bool graph_line_done(const char *p);

/* The next line in the first n bytes of a file that is no comment and not empty, from *at on, cut to the buffer; false
 * if there is none. */
bool graph_head_line(const unsigned char *head, size_t n, size_t *at, char *line, size_t size);

/* Write a line for each element, "source target [weight]"; the first vertex has the number `first`. */
void graph_text_edges(FILE *file, const struct graph *graph, uint64_t first, bool weighted);

#endif
