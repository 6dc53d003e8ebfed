/* platform_json: a platform's numbers as JSON. */
#ifndef REPLAY_RUN_PLATFORM_JSON_H
#define REPLAY_RUN_PLATFORM_JSON_H

#include <jansson.h>

#include "models/base/platform.h"

/* The value of a row: integers exact, a choice by its name, a text that is not given null. NULL: no memory. */
json_t *platform_json_value(const struct param *row, const void *owner);

/* {"uvm.service_ns":13000,..}: every number, whether stated or not. NULL: no memory. */
json_t *platform_json_numbers(const struct platform *platform);

/* {"name":..,"summary":..,"sections":{"uvm":{"service_ns":{"value","unit","kind","source","low","high"},..},..}}: the
 * numbers that are stated, borrowed or general, of the sections that the platform has. low and high are the value's own
 * where it has no range, null of a text. NULL: no memory. */
json_t *platform_json_list(const struct platform *platform);

/* What a number of the list rests on, with whose it is: "titanv, factor 0.5..1.25: ..", "a general default: ..". */
const char *platform_json_source(const struct platform *platform, const char *section, const struct platform_number *n,
                                 char *buf, size_t size);

#endif
