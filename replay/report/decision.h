/* decision: the page of a comparison: the answer, how sure, why, how to have it, then everything else. One HTML file
 * without script that needs no network: plain tables, figures of replay/figure as SVG inside. */
#ifndef REPLAY_REPORT_DECISION_H
#define REPLAY_REPORT_DECISION_H

#include <stdio.h>

#include "replay/compare/compare.h"

struct decision {
    const struct compare_request *request;
    const struct compare_result *result;
    const char *command; /* that made it, to be shown */
    const char *version; /* of offchip */
};

/* -1 with *err set if the file could not be written or there is no memory. Without gnuplot there are no figures, which
 * the page says. */
int decision_write(const struct decision *decision, FILE *out, struct err *err);

#endif
