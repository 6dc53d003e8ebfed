/* platform_form: how a number stands in a platform file, and on what it rests.
 *
 *     key = VALUE | SOURCE                              known: a data sheet, a paper, a measurement
 *     key = VALUE | assumed LOW..HIGH: WHY              not known on this chip
 *     key = VALUE | fitted LOW..HIGH: TO WHAT           chosen so that the model gives WHAT
 *     key = VALUE | as NAME LOW..HIGH: WHY              platform NAME's, not this chip's own
 *     as = NAME | LOW..HIGH: WHY                        the whole section is NAME's; LOW..HIGH multiplies its times
 *     as = none | WHY                                   the chip has nothing of the kind, or nothing is known
 *
 * LOW and HIGH are written like the value; a text (a DRAM's map) has none, nor has it a range. The value is what is
 * used when nothing is drawn. A source that begins with `assumed`, `fitted` or `as` is one of these forms, or an error.
 */
#ifndef MODELS_BASE_PLATFORM_FORM_H
#define MODELS_BASE_PLATFORM_FORM_H

#include "trace/base/err.h"

enum platform_kind { PLATFORM_SOURCED, PLATFORM_ASSUMED, PLATFORM_FITTED, PLATFORM_AS, PLATFORM_KINDS };

const char *platform_kind_name(enum platform_kind kind); /* "sourced", "assumed", "fitted", "as" */

/* The parts of a line. All point into the text that was cut. */
struct platform_form {
    enum platform_kind kind;
    const char *value;
    const char *as;         /* NAME, NULL: none */
    const char *low, *high; /* NULL: no range */
    const char *why;        /* the source, WHY or WHAT; not empty */
};

/* Cut what stands behind `key =` into its parts; `text` is written to. -1 with *err set: what was expected. */
int platform_form_cut(char *text, const char *key, struct platform_form *form, struct err *err);

/* The same of a section's `as = NAME | LOW..HIGH: WHY` and `as = none | WHY`. */
int platform_form_cut_section(char *text, struct platform_form *form, struct err *err);

#endif
