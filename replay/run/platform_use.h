/* platform_use: which platform a run is of, and what it takes from it: sections, numbers, and on what these rest. */
#pragma once

#include <jansson.h>

#include "models/base/platform.h"
#include "trace/store/store.h"

/* platform_choice: the platform of a run: the named one, else that of the recorded GPU, else the engine's default. A
 * recording whose GPU no platform describes gets none: the user must choose.
 *
 * GPUs are compared by their driver's name, as `record` and Nsight Systems keep it (origin gpu.N.name, gpu.name.N),
 * with the list `gpus` of each shipped platform. */

enum platform_choice_how {
    PLATFORM_CHOICE_GIVEN,
    PLATFORM_CHOICE_DEFAULT,
    PLATFORM_CHOICE_RECORDED,
};

struct platform_choice {
    enum platform_choice_how how;
    char name[256]; /* of the platform, or a file; a given one is not kept here */
    char gpu[128];  /* that the recording names; "": none */
};

/* The choice where no platform was named and no recording names its GPU. */
void platform_choice_default(const char *name, struct platform_choice *choice);

/* The platform of a recording: 1; 0: it names no GPU; -1 with *err set: several, or one that no platform is of. */
int platform_choice_recorded(const struct store *store, struct platform_choice *choice, struct err *err);

/* The GPU that it names; NULL: none, or several. */
const char *platform_choice_gpu(const struct store *store);

/* Where a GPU of that name stands among generations: its compute capability, "9.0"; "" where the name does not tell. */
const char *platform_choice_compute(const char *gpu);

/* --- what a run takes from it --- */

struct outcome;
struct replay_result;

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

/* The sentences alone, of any run that takes these sections; ends with NULL. */
void platform_use_note_borrowed(const struct platform *platform, const char *const *sections, struct outcome *run);

/* {"from":"shipped","chosen":"default"|"given"|"recording","gpu":null,"sections":[..],"numbers":45,"sourced":..,
 * "assumed":..,"fitted":..,"as":..,"given":..,"borrowed":[{"section","as","low","high","why"},..]}. NULL: no memory. */
json_t *platform_use_json(const struct replay_result *result);

/* --- its numbers as JSON --- */

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
