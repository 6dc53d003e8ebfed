/* html_figure: a figure as it stands inside a page. */
#ifndef REPLAY_REPORT_HTML_FIGURE_H
#define REPLAY_REPORT_HTML_FIGURE_H

#include "replay/figure/plot.h"

/* The figure as SVG in base64, freed by the caller; NULL if it cannot be drawn from this, or gnuplot is not there. */
char *html_figure(const struct figure *figure, const struct figure_input *input);

#endif
