/* style: how a series looks, the same in every figure. Colours mean policies: a policy has its hue
 * wherever it is drawn, its variants (parameters) are lighter or darker, and another eviction policy has a hue of its
 * own. What is no policy, a virtual channel or a size, is blue-grey or brown, by its number. In grey, fills, dashes and
 * points tell series apart: no two of one figure have the same while there are others.
 *
 * Policies stand in the order of `offchip list policies`, their variants by their numbers. */
#ifndef REPLAY_FIGURE_STYLE_H
#define REPLAY_FIGURE_STYLE_H

#include <stdio.h>

#include "replay/results/case_table.h"

struct style {
    unsigned colour; /* 0xRRGGBB */
    int fill;        /* 0: solid, else the number of a pattern of gnuplot */
    int dash, point; /* of gnuplot */
};

/* Styles of n series by the names of their policies ("fixed:granularity=4KiB", "tree+random"), as case tables give
 * them. The hue depends on the name alone; what tells series apart in grey, and the lightness, give way to a series
 * before that would look the same. */
void style_policies(const char *engine, char *const *names, size_t n, struct style *out);

/* The i-th of what is no policy. */
struct style style_plain(size_t i);

/* The i-th of lines that are cases: in all colours, since no line is a policy there. */
struct style style_line(size_t i);

/* The order in which two policies of an engine stand: negative, 0 or positive. */
int style_order(const char *engine, const char *a, const char *b);

/* Put the series of a table into that order, unless the engine has no list of policies. */
int style_sort(struct case_table *table, struct err *err);

/* "set linetype FIRST .." and so on: lines and points are drawn as `linetype FIRST + i`. */
void style_put_lines(FILE *script, const struct style *styles, size_t n, size_t first);
/* " linecolor .. fillstyle .." of a bar. */
void style_put_fill(FILE *script, const struct style *style);

#endif
