/* measured: errors of predicted times against measurements, by mechanism and machine; those of docs/accuracy.md,
 * written by `make accuracy` (measured_errors.h). */
#pragma once

/* Mean error, a ratio: of 4 rows or more of that mechanism ("managed") on the platform of that name, else of all
 * machines' rows. 0: nobody has measured it. Either may be NULL. */
double measured_error(const char *mechanism, const char *platform);
