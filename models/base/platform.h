/* platform: a set of hardware numbers, each with its source, read from an INI file.
 *
 * Sections are [platform] (name, summary, base) and one per kind of hardware: [gpu] [uvm] [pcie] [dram] [placement].
 * Each section is described by a param table that lives with its model; a key no table knows is an error. A value is
 * written `key = VALUE | where the number comes from`; the source is required. `base = titanv` starts from a shipped
 * platform. The shipped files (models/platforms/X.ini) are embedded in the program; a name with '/' or ".ini" is read
 * from disk. */
#ifndef MODELS_BASE_PLATFORM_H
#define MODELS_BASE_PLATFORM_H

#include "trace/base/param.h"

/* One kind of hardware: the table and the size of the struct it fills. Register new ones in platform_sections[]. */
struct platform_section {
    const char *name;
    const struct param *params;
    size_t size; /* bytes of the struct */
};
extern const struct platform_section *const platform_sections[]; /* ends with NULL */

struct platform;

/* Read platform `name_or_file`. NULL with *err set (file and line) on failure. Freed with platform_free(). */
struct platform *platform_load(const char *name_or_file, struct err *err);
void platform_free(struct platform *platform);

const char *platform_name(const struct platform *platform);
const char *platform_summary(const struct platform *platform);

/* The filled struct of a section (defaults where the file says nothing), NULL only if no such section exists. Points
 * into the platform. */
const void *platform_section_get(const struct platform *platform, const char *section);

/* Whether the file (or its base) sets any key of that section. */
bool platform_has(const struct platform *platform, const char *section);

/* Override one number: `key` alone where unique among sections, or section.key. `settings` are the names that would
 * have been right besides (NULL: none), for the message. */
int platform_set(struct platform *platform, const char *key, const char *value, const struct param *settings,
                 struct err *err);

/* Where a number comes from: the text after '|', or NULL if the default stands. */
const char *platform_source(const struct platform *platform, const char *section, const char *key);

/* Name of shipped platform i, from 0; NULL past the last. Copied into buf. */
const char *platform_shipped(size_t i, char *buf, size_t size);

#endif
