/* platform_draw: platforms whose uncertain numbers are drawn from their ranges.
 *
 * What can be drawn is a list of axes: every number that is assumed, fitted or another chip's and whose range has a
 * width, and one axis for the factor of each borrowed section, along which all its times and rates move together. A
 * position on an axis is a share from 0 (low) to 1 (high): evenly spaced, or evenly in the logarithm where the range
 * spans more than a factor of four, and always for a section's factor. Whole numbers are rounded; a choice takes each
 * of its names for an equal share. Numbers that are known, texts and what --set gave stay.
 *
 * A set of N draws is a Latin hypercube: on each axis every draw takes another one of N equal shares, in an order of
 * the axis's own, and a place within it, both made from the seed, the axis's name and nothing else. So a draw does not
 * change when another platform number becomes known.
 * Worked example: 100 draws of a time `assumed 10..1000` hold exactly 50 below 100. */
#ifndef MODELS_BASE_PLATFORM_DRAW_H
#define MODELS_BASE_PLATFORM_DRAW_H

#include <stddef.h>
#include <stdint.h>

#include "models/base/platform.h"

/* Draw `at` (from 0) of `draws`; a new platform, freed by the caller, NULL with *err set on failure. */
struct platform *platform_draw(const struct platform *platform, uint64_t seed, uint32_t at, uint32_t draws,
                               struct err *err);

struct platform_axis {
    const char *section;
    const struct param *row; /* NULL: the factor of the borrowed section */
    enum platform_kind kind;
    double low, high, value; /* value: where nothing is drawn */
};

/* Axis i, from 0; false past the last. The texts are the platform's. */
bool platform_axis(const struct platform *platform, size_t i, struct platform_axis *axis);

/* "uvm.utlb"; of a section's factor "uvm.as". Returns buf. */
const char *platform_axis_name(const struct platform_axis *axis, char *buf, size_t size);

/* What stands on the axis at a share of its range, as platform_moved() puts it: whole numbers rounded, a choice's
 * position. The second one is the way back: a share at which `value` (in range) stands; of a choice the middle of its
 * part. */
double platform_axis_at(const struct platform_axis *axis, double share);
double platform_axis_share(const struct platform_axis *axis, double value);

/* The platform with one axis moved to a share of its range, 0 to 1, and all else as it is. */
struct platform *platform_moved(const struct platform *platform, size_t i, double share, struct err *err);

#endif
