/* platform_use: what a run takes from its platform: which sections, and on what their numbers rest. */
#ifndef REPLAY_RUN_PLATFORM_USE_H
#define REPLAY_RUN_PLATFORM_USE_H

#include "replay/run/engine.h"

/* The numbers of the sections in use. */
struct platform_use {
    size_t numbers;
    size_t kinds[PLATFORM_KINDS]; /* of them, by enum platform_kind; those given by --set count as sourced */
    size_t given;                 /* by --set */
};

/* -1 with *err set: a section in use is not whole. sections ends with NULL. */
int platform_use_check(const struct platform *platform, const char *const *sections, struct err *err);

void platform_use_count(const struct platform *platform, const char *const *sections, struct platform_use *use);

/* The first line of every table: "platform titanv (shipped, default of uvm): 45 numbers of [uvm] [gpu], 18 known, 11
 * assumed, 14 fitted, 2 borrowed". Returns buf. */
const char *platform_use_head(const struct replay_result *result, char *buf, size_t size);

/* Whether a note is such a line. */
bool platform_use_is_head(const char *note);

/* Notes to a run: that line, and a sentence for each section in use that is another platform's. */
void platform_use_note(const struct replay_result *result, struct outcome *run);

/* {"from":"shipped","chosen":"default"|"given"|"recording","gpu":null,"sections":[..],"numbers":45,"sourced":..,
 * "assumed":..,"fitted":..,"as":..,"given":..,"borrowed":[{"section","as","low","high","why"},..]}. NULL: no memory. */
json_t *platform_use_json(const struct replay_result *result);

#endif
