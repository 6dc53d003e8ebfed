/* units: numbers with a unit suffix, as people write them, to integers and back.
 *
 * Of options and settings; words of other tools' tables are in trace/import/text_table.h. Parsing is locale-free and
 * checks range; the whole text must be used up. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "trace/base/err.h"

/* A plain integer, decimal or 0x hexadecimal, optional sign. */
int units_parse_int(const char *text, int64_t *value, struct err *err);

/* "LO:HI", two of these. */
int units_parse_range(const char *text, int64_t *lo, int64_t *hi, struct err *err);

/* A plain decimal number; "inf" and "nan" are refused. */
int units_parse_real(const char *text, double *value, struct err *err);

/* Bytes: 4096, 64KiB, 1.5GiB, 12kB, 9GB (KiB MiB GiB TiB are binary; kB MB GB TB decimal; a bare K M G T is binary).
 * Fractions must give a whole number of bytes. */
int units_parse_bytes(const char *text, int64_t *bytes, struct err *err);

/* A time in ns: 500ns, 2us, 1.5ms, 3s; a bare number is nanoseconds. Fractions must give whole nanoseconds. */
int units_parse_ns(const char *text, int64_t *ns, struct err *err);

/* "64KiB" for 65536, "100" for 100: the largest binary unit that divides `bytes`. Returns buf. */
const char *units_format_bytes(int64_t bytes, char *buf, size_t size);

/* For people, three significant digits: "86.7 MiB", "38.9 ms". Returns buf. */
const char *units_human_bytes(double bytes, char *buf, size_t size);
const char *units_human_ns(double ns, char *buf, size_t size);
/* Every digit, in groups of three: "1,234,567". Returns buf. */
const char *units_human_count(int64_t count, char *buf, size_t size);
