/* html: a report as one self-contained HTML file: table that sorts and filters, best policy of each input, figures. */
#ifndef REPLAY_HTML_H
#define REPLAY_HTML_H

#include <stdio.h>

#include "replay/report.h"

/* Write `report` (of a plain, unpivoted kind) and every figure that can be drawn from the runs. Names in the results
 * cannot become markup or script. */
int html_write(const struct report *report, const struct run_set *runs, const char *version, FILE *out,
               struct err *err);

#endif
