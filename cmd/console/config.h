/* config: what the user wants where the command line does not say: from the environment, else from a configuration
 * file, in the form of platform files:
 *
 *     [defaults]
 *     platform = h200        ; in place of each engine's own default: replay, sweep and compare
 *     jobs = 4
 *     format = csv
 *     [placement]
 *     platform = tx2     ; of one engine, or of compare
 *
 * The file is OFFCHIP_CONFIG, if that is set (empty: none), else offchip/config below XDG_CONFIG_HOME or ~/.config.
 * OFFCHIP_PLATFORM, OFFCHIP_FORMAT, OFFCHIP_JOBS and OFFCHIP_PROGRESS come before it; NO_COLOR and COLUMNS before its
 * colour and columns. No other key changes a result than platform, and answers say where that came from. */
#ifndef CMD_CONSOLE_CONFIG_H
#define CMD_CONSOLE_CONFIG_H

#include "cmd/console/opt.h"

/* Read both, once. -1 with *err set, naming the place: a key that is not known, a value that cannot be. Before it
 * nothing is set. */
int config_load(struct err *err);

/* The platform for an engine (or "compare") where neither the command line nor a recording names one; *from: the
 * variable or the file, valid to the end. NULL: not said. */
const char *config_platform(const char *engine, const char **from);

/* Fill the options of a command that were not given: format (where results are always printed), jobs, progress; and
 * columns and colour of what is printed. */
int config_apply(const struct opt *options, struct err *err);

#endif
