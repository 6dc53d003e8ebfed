/* version: what this build of offchip is, and with which libraries it runs. */
#ifndef TRACE_VERSION_H
#define TRACE_VERSION_H

#include <stddef.h>

/* As git names the sources; the release where there is no git. Stands in origins, results and the keys of results. Both
 * texts are written by make, which looks at them every time. */
extern const char offchip_version[];
/* Compiler's name and the flags that tell builds apart. */
extern const char offchip_build[];

/* Name of fact `index`, from 0, NULL after the last; *value is valid until the next call. One thread at a time. */
const char *version_fact(size_t index, const char **value);

#endif
