/* platform_inside: what a platform is made of, for the files of models/base/platform*.c alone. */
#ifndef MODELS_BASE_PLATFORM_TYPE_H
#define MODELS_BASE_PLATFORM_TYPE_H

#include "models/base/platform.h"

enum { PLATFORM_SECTIONS_MAX = 16, PLATFORM_DEPTH_MAX = 4 };

/* A section of one platform. */
struct platform_part {
    const struct platform_section *section;
    void *values;                    /* section->size bytes */
    struct platform_number *numbers; /* one for each row of the table */
    size_t count;
    bool stated;                       /* a number of it, or all */
    struct platform_borrowed borrowed; /* as NULL: its own */
    const char *none;                  /* NULL: not said */
};

struct platform {
    char name[64], summary[256], from[4500], gpus[512], compute[16];
    struct platform_part parts[PLATFORM_SECTIONS_MAX];
    size_t part_count;
    char **texts;
    size_t text_count, text_cap;
};

/* All sections with their general defaults and nothing stated. */
struct platform *platform_new(struct err *err);

/* A section as platform_new() leaves it. */
int platform_part_clear(struct platform *platform, struct platform_part *part, struct err *err);

/* The section of that name, or NULL. */
struct platform_part *platform_part(struct platform *platform, const char *section);

/* A copy that lives as long as the platform; NULL with *err set. */
char *platform_keep(struct platform *platform, const char *text, struct err *err);

/* Take `VALUE | ..` for one number. */
int platform_state(struct platform *platform, struct platform_part *part, const char *key, const char *text,
                   enum platform_state state, struct err *err);

/* +1: a time, which a factor multiplies; -1: a rate, which it divides; 0: neither. Cycles are neither: the clock that
 * they are counted in is a rate. */
int platform_moves(const struct param *row);

/* The number moved by a factor, within the row's range. */
double platform_times(const struct param *row, double value, double factor);

/* Read `name_or_file` into the platform, as its base or lender where depth > 0. */
int platform_read(struct platform *platform, const char *name_or_file, int depth, struct err *err);

/* A shipped platform: "" and *path where an installed file is to be read, else the embedded text. NULL with *err set if
 * there is none of that name. */
const char *platform_shipped_text(const char *name, char *path, size_t size, struct err *err);

#endif
