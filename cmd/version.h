/* version: with what this build was made, and with which libraries it runs (--version). */
#ifndef CMD_VERSION_H
#define CMD_VERSION_H

#include <stddef.h>

/* Name of fact `index`, from 0, NULL after the last; *value is valid until the next call. One thread at a time. */
const char *version_fact(size_t index, const char **value);

#endif
