/* robust_options: --robust, --seed and --tie of the commands that draw, and what they print of it. */
#ifndef CMD_CONSOLE_ROBUST_OPTIONS_H
#define CMD_CONSOLE_ROBUST_OPTIONS_H

#include "cmd/console/opt.h"
#include "cmd/console/table.h"
#include "replay/run/engine.h"

/* Where the options are stored; begins as ROBUST_OPTIONS_NONE. */
struct robust_options {
    int64_t draws, seed, tie;
};
#define ROBUST_OPTIONS_NONE                                                                                            \
    {                                                                                                                  \
        0, -1, -1                                                                                                      \
    }

/* Rows of an option table; O: a struct robust_options. */
#define ROBUST_OPTIONS(O)                                                                                              \
    {                                                                                                                  \
        "robust",   0,                                                                                                 \
        OPT_INT,    "N",                                                                                               \
        &(O).draws, "draw unknown platform numbers N times: in how many draws does each policy win, what flips",       \
        1,          1000000},                                                                                          \
        {"seed", 0, OPT_INT, "SEED", &(O).seed, "of the draws of --robust (default: 1)", 0, INT64_MAX},                \
    {                                                                                                                  \
        "tie", 0, OPT_INT, "PCT", &(O).tie,                                                                            \
            "--robust: differences within so many per cent are ties (default: the model's measured error)", 0, 1000    \
    }

/* What was asked for. -1 with *err set: --seed or --tie without --robust, a usage error. */
int robust_options_take(const struct robust_options *options, struct replay_robust *robust, struct err *err);

/* The row of a table of runs: "58 of 64"; nothing without --robust. runs: with a baseline that is not listed. */
void robust_table_row(struct table *table, const struct replay_result *result, size_t runs);

/* Columns of csv: how many, their names (run NULL), or those of one run. None without --robust. */
size_t robust_csv_columns(const struct replay_result *result);
void robust_csv(struct table *table, const struct replay_result *result, const size_t *run);

#endif
