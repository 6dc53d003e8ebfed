/* platform: a set of hardware numbers, each with its source or range, read from an INI file.
 *
 * Sections are [platform] (name, summary, base, gpus, compute) and one for each kind of hardware: [gpu] [launch] [uvm]
 * [pcie] [dram] [placement] [legacy]. A param table beside its model describes each section; other keys are errors.
 * enum platform_kind says how a number is written, docs/platforms.md how a file is.
 *
 * A number that neither the file nor a general default gives has no value, and platform_whole() names it. A section may
 * be another platform's (`as = NAME | LOW..HIGH: why`): one factor between LOW and HIGH multiplies its times and
 * divides its rates; other numbers stay, and `unlent` is not borrowed. Own numbers may follow that line.
 *
 * Shipped files (models/platforms/X.ini) are embedded in the program; an installed file of the same name replaces one
 * (platform_shipped.c). A name with '/' or ".ini" is read from disk. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "trace/base/mem.h"

struct param; /* trace/base/param.h */

/* On what a number of a platform rests: a known source; assumed, fitted or another platform's, with a range LOW..HIGH.
 * How each is written: docs/platforms.md, "A file". The value is what is used when nothing is drawn. */
enum platform_kind { PLATFORM_SOURCED, PLATFORM_ASSUMED, PLATFORM_FITTED, PLATFORM_AS, PLATFORM_KINDS };

const char *platform_kind_name(enum platform_kind kind); /* "sourced", "assumed", "fitted", "as" */

/* A number that is no chip's own: of a standard, a driver, or how a model is run. `rest` would stand behind '|'. */
struct platform_general {
    const char *key, *rest;
};

/* One kind of hardware: the table and the size of the struct it fills. Register new ones in platform_sections[]. */
struct platform_section {
    const char *name;
    const struct param *params;
    size_t size;                            /* bytes of the struct */
    const struct platform_general *general; /* keys whose default in `params` may stand; ends with NULL; may be NULL */
    const char *unlent; /* a key with a general default that is its machine's alone, so is not borrowed; may be NULL */
};
extern const struct platform_section *const platform_sections[]; /* ends with NULL */

enum platform_state { PLATFORM_UNSTATED, PLATFORM_GENERAL, PLATFORM_STATED };

/* All that is known of a number; the value is in the section's struct. */
struct platform_number {
    enum platform_state state;
    enum platform_kind kind;
    bool borrowed;      /* with its whole section */
    bool moves;         /* with the factor of its borrowed section, not by itself */
    bool given;         /* by platform_set() */
    const char *as;     /* whose number it is; NULL: its own */
    const char *source; /* NULL where not stated */
    double low, high;   /* both the value where it has no range */
};

/* A section that is another platform's. */
struct platform_borrowed {
    const char *as, *why;
    double low, high; /* of the factor */
};

enum { PLATFORM_SECTIONS_MAX = 16 };

struct platform_part {
    const struct platform_section *section;
    void *values;                    /* section->size bytes */
    struct platform_number *numbers; /* one for each row of the table */
    size_t count;
    bool stated;                       /* a number of it, or all */
    struct platform_borrowed borrowed; /* as NULL: its own */
    const char *none;                  /* NULL: not said */
};

/* Its texts are there to be read; all else is asked for by the functions below. */
struct platform {
    char name[64], summary[256];
    char from[4500];  /* "shipped", "mine.ini, on base h200" */
    char gpus[512];   /* that the file is about, as a driver calls them, between commas; "" if it names none */
    char compute[16]; /* compute capability, "9.0"; "" where not said */
    struct platform_part parts[PLATFORM_SECTIONS_MAX];
    size_t part_count;
    struct mem_texts texts;
};

/* Read platform `name_or_file`. NULL with *err set (file and line) on failure. Freed with platform_free(). */
struct platform *platform_load(const char *name_or_file, struct err *err);
struct platform *platform_copy(const struct platform *platform, struct err *err);
void platform_free(struct platform *platform);

/* Whether the file names `gpu`, among them. Capitals do not count. */
bool platform_is_of(const struct platform *platform, const char *gpu);

/* The filled struct of a section, NULL only if no such section exists. Points into the platform. What is in it is the
 * platform's only where platform_whole() says so. */
const void *platform_section_get(const struct platform *platform, const char *section);

/* Whether the platform states any number of that section, its own or borrowed. */
bool platform_has(const struct platform *platform, const char *section);

/* Whether a section is the same in both, but for the rows named in `but` (ends with NULL; NULL: none). */
bool platform_same(const struct platform *a, const struct platform *b, const char *section, const char *const *but);

/* 0: every number of the section is stated, borrowed or general. -1: *err names the section or the numbers that lack,
 * the reason if the file gives one, and which shipped platforms have them. */
int platform_whole(const struct platform *platform, const char *section, struct err *err);

/* Which numbers have an effect where they are set. */
struct platform_scope {
    const char *const *sections;  /* that are read, ends with NULL; NULL: all, a bare key is of the first that has it */
    const char *const *besides;   /* single numbers of others, "pcie.lanes", ends with NULL; NULL: none */
    const struct param *settings; /* names that would have been right besides, for the message; NULL: none */
};

/* The section that `key` or section.key is of. NULL: *err says that there is none, that it is not read, or that two
 * that are read have it. scope NULL: every section is read. */
const struct platform_section *platform_section_of(const struct platform *platform, const char *key,
                                                   const struct platform_scope *scope, struct err *err);

/* Override that number. */
int platform_set(struct platform *platform, const char *key, const char *value, const struct platform_scope *scope,
                 struct err *err);

/* By row of the section's table. Both NULL if there is no such section or key. */
const struct platform_number *platform_number(const struct platform *platform, const char *section, const char *key);

/* NULL: its own, or none. */
const struct platform_borrowed *platform_borrowed(const struct platform *platform, const char *section);

/* Why the platform has nothing of the kind; NULL: it does not say, or it has. */
const char *platform_none(const struct platform *platform, const char *section);

/* Name of shipped platform i in alphabetical order, from 0; NULL past the last. Copied into buf. */
const char *platform_shipped(size_t i, char *buf, size_t size);

/* --- draws --- */

/* Platforms whose uncertain numbers are drawn from their ranges.
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

/* Return the value at a share of the axis' range, as platform_moved() does: whole numbers rounded, a choice by its
 * position. The second function is the inverse; for a choice it returns the middle of its part. */
double platform_axis_at(const struct platform_axis *axis, double share);
double platform_axis_share(const struct platform_axis *axis, double value);

/* The platform with one axis moved to a share of its range, 0 to 1, and all else as it is. */
struct platform *platform_moved(const struct platform *platform, size_t i, double share, struct err *err);
