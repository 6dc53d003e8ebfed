/* decision_parts: what the files of the page share. */
#ifndef REPLAY_REPORT_DECISION_PARTS_H
#define REPLAY_REPORT_DECISION_PARTS_H

#include "replay/report/decision.h"

/* Text with nothing in it active; what is not UTF-8 becomes '?'. */
void decision_text(FILE *out, const char *text);
/* An element with formatted text inside. */
void decision_element(FILE *out, const char *tag, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A value as people read it, "242 us to 331 us", "16.0 MiB", "n/a". Returns buf. */
const char *decision_value(const struct compare_row *row, const char *metric, char *buf, size_t size);
/* What the link needs at least for a row's bytes; 0: not known. */
double decision_link_ns(const struct compare_result *result, const struct compare_row *row);

/* The sections of the page (in decision_more.c those behind the answer). */
void decision_sure(const struct decision *d, FILE *out);
void decision_why(const struct decision *d, FILE *out, const json_t *runs);
void decision_apply(const struct decision *d, FILE *out);
void decision_rest(const struct decision *d, FILE *out, const json_t *runs);

/* A figure with its words; what it does not draw stands below it. */
struct figure;
void decision_figure(FILE *out, const char *name, const json_t *runs, const json_t *robust, const char *caption);

#endif
