/* html: runs as one self-contained HTML file: the best policy of each input first, then a table of all runs that sorts
 * and filters, then figures; a section for each engine. */
#ifndef REPLAY_REPORT_HTML_H
#define REPLAY_REPORT_HTML_H

#include <stdio.h>

#include "replay/report/report.h"

/* Write the runs, with the metrics of a comma-separated list (NULL: the headline of each engine) and those by which
 * policies rank, and every figure that can be drawn from them. Names in the results cannot become markup or script,
 * and the page asks for nothing outside itself. */
int html_write(const struct run_set *runs, const char *metrics, const char *version, FILE *out, struct err *err);

#endif
